"""Copies on disk of what cannot be read in place: made once, removed when nobody reads them any more."""

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import Any


class Spill:
    """A folder for such copies; it goes when this object does, or the process ends in an orderly way.

    Beside the system's temporary files (``TMPDIR`` says where): a copy needs as much room as what it stands for.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gramian-"))
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name: str) -> Path:
        """Return a path in the folder."""
        return self.folder / name

    def keep_while(self, owner: Any) -> None:
        """Keep the folder for as long as ``owner`` lives."""
        owner._spill = self  # noqa: SLF001
