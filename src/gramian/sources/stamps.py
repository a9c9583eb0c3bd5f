"""Whether a file is still the one that was opened: its size and its time of change."""

import os
from pathlib import Path
from typing import NamedTuple

from gramian.errors import InputError


class Stamp(NamedTuple):
    """A file, its size in bytes and its time of change in nanoseconds, when it was opened.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     stamp = Stamp.of(Path(file.name))
    ...     file.write(b"more") + (file.flush() or 0)
    ...     stamp.require_unchanged()
    Traceback (most recent call last):
    ...
    gramian.errors.InputError: ... changed while it was read: it had 0 bytes and has 4. ...
    """

    path: Path
    size: int
    changed: int

    @classmethod
    def of(cls, path: Path) -> "Stamp":
        """Take the stamp of a file."""
        found = path.stat()
        return cls(path, found.st_size, found.st_mtime_ns)

    def require_unchanged(self) -> None:
        """Refuse a file that is gone, or has another size or time of change."""
        try:
            found = os.stat(self.path)  # noqa: PTH116 - the path object's own way costs twice as much, block after block
        except OSError as error:
            message = f"{self.path} is gone while it was read ({error.strerror}). Fit again when the file is complete."
            raise InputError(message) from error
        if found.st_size != self.size:
            self._refuse(f"it had {self.size:,} bytes and has {found.st_size:,}")
        if found.st_mtime_ns != self.changed:
            self._refuse("its time of change moved")

    def _refuse(self, what: str) -> None:
        message = (
            f"{self.path} changed while it was read: {what}. Nothing is kept; fit again when the file is complete."
        )
        raise InputError(message)
