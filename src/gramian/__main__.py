"""``python -m gramian``: the command line."""

from gramian.cli.main import run

if __name__ == "__main__":
    run()
