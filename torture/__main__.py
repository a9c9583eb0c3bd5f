"""``python -m torture``."""

import sys

from torture.board import main

if __name__ == "__main__":  # Processes of the pool import it too.
    sys.exit(main())
