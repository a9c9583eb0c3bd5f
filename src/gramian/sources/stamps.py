"""Whether a file is still the one that was opened: its size, its times of change and its place on the disk."""

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from gramian.errors import InputError


class Stamp(NamedTuple):
    """A file when it was opened: its size in bytes, its times of change in nanoseconds, its number on the disk.

    ``changed`` can be set by hand (``cp -p``, ``touch -r``), ``touched`` and ``inode`` cannot: the first moves whenever
    content or name of a file changes, the second is another one for a file put in its place.

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
    touched: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> "Stamp":
        """Take the stamp of a file."""
        found = path.stat()
        return cls(path, found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

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

    def kept(self) -> list[object]:
        """Return what a checkpoint keeps, to know the file again in another process."""
        return [str(self.path.resolve()), self.size, self.changed, self.touched, self.inode]

    def _refuse(self, what: str) -> None:
        message = (
            f"{self.path} changed while it was read: {what}. Nothing is kept; fit again when the file is complete."
        )
        raise InputError(message)


class StoreStamp(Stamp):
    """The description of a store that is a folder of many files.

    Chunks are too many to look at after each window, so :meth:`require_unchanged` looks at the description alone; what
    a checkpoint keeps tells of every file.
    """

    __slots__ = ()

    def kept(self) -> list[object]:
        """Return the store's place, and a digest of name, size and times of each file. Cost: a look at each file."""
        folder, digest = self.path.parent, hashlib.sha256()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            found = path.stat()
            facts = (str(path.relative_to(folder)), found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
            digest.update(repr(facts).encode())
        return [str(folder.resolve()), digest.hexdigest()]
