"""The contract of a file of rows: what a format has to know, and nothing about threads, windows or budgets.

With it what formats need of the disk: versions of files, which must not change, and room for copies.
"""

import hashlib
import os
import shutil
import tempfile
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.errors import InputError, NotSupportedError
from gramian.sources.locations import Names


def require_package(module: str, what: str, *, extra: str, called: str = "") -> Any:
    """Import a package that reads one format, or say how to install it: ``what`` is the file and its kind in words.

    Examples
    --------
    >>> require_package("no_such_reader", "t.odd is an odd file", extra="odd")
    Traceback (most recent call last):
    ...
    gramian.errors.NotSupportedError: t.odd is an odd file, and no_such_reader is not there to read it. Install it: ...
    """
    try:
        return import_module(module)
    except ImportError as error:
        message = f"{what}, and {called or module} is not there to read it. Install it: pip install 'gramian[{extra}]'."
        raise NotSupportedError(message) from error


class RowFile(ABC):
    """n rows of d numbers in a file, read in windows; :class:`~gramian.sources.file_rows.FileRows` does the rest.

    A format gives the first four attributes and :meth:`read`. The others have defaults, which are those of a dense
    array that can be read from any row on.

    Attributes
    ----------
    origin : str
        The file as a person named it.
    versions : tuple of FileVersion
        The files that must not change.
    shape : (int, int)
    dtype : numpy.dtype
        float32 or float64: what windows come in.
    names : tuple of str or None
        Column names.
    is_sparse : bool
        Whether windows are CSR.
    starts : tuple of int
        Rows where reading may begin at no extra cost; empty when any row will do.
    row_shape : tuple of int or None
        The shape of a row before it was flattened: height and width of an image.
    label, id : str or None
        What :meth:`column` gives labels and names of rows by, where the file itself has some.
    texts : mapping of str to numpy array
        Labels and names of rows that lie in other arrays of the file.
    remarks : tuple of str
        What a person should know of how the file was read.
    """

    origin: str
    versions: "tuple[FileVersion, ...]"
    shape: tuple[int, int]
    dtype: np.dtype[Any]
    names: Names = None
    is_sparse: bool = False
    starts: tuple[int, ...] = ()
    row_shape: tuple[int, ...] | None = None
    label: str | None = None
    id: str | None = None
    texts: Mapping[str, HostArray] = MappingProxyType({})
    remarks: tuple[str, ...] = ()

    @property
    def n_entries(self) -> int:
        """Stored numbers."""
        return self.shape[0] * self.shape[1]

    @property
    def row_bytes(self) -> int:
        """Bytes of an average row in memory."""
        return self.shape[1] * self.dtype.itemsize

    @property
    def known_by(self) -> "tuple[FileVersion, ...]":
        """The files that a checkpoint knows the rows by."""
        return self.versions

    @abstractmethod
    def read(self, rows: slice) -> Array:
        """Return some consecutive rows, (b, d), dense or CSR; missing values are NaN."""

    def stream(self, windows: Sequence[slice]) -> Iterator[Array]:
        """Give the rows of consecutive windows, one after the other."""
        return map(self.read, windows)

    def column(self, name: str) -> HostArray:
        """Return a column that is no number, such as a label, as n strings; missing ones are empty."""
        return self.texts[name]

    def locate(self, row: int) -> tuple[str, int]:
        """Return the file that a row is in, and its position there, counted from zero."""
        return self.origin, row

    @property
    def worker_bytes(self) -> int:
        """Bytes that each worker holds to decode a window of any size: a chunk, a batch, a page of each column."""
        return 0

    def require_room(self, budget: int) -> None:  # noqa: B027 - most files can be read in windows of any size
        """Refuse a file that one worker cannot read within ``budget`` bytes, however small its windows."""


class OpenedTable(NamedTuple):
    """A table file before its columns are chosen.

    Attributes
    ----------
    origin : str
    n_rows : int
    names : tuple of str
    examined : callable
        ``examined(numbers=...)`` gives the Arrow columns, by name, by which their roles are decided: whole, or rows
        spread evenly over a long table. Columns of floats may be left out unless ``numbers``.
    rows : callable
        ``rows(columns, texts, lenient=..., sentinels=...)`` makes the file of the columns used as numbers; of other
        columns only those in ``texts`` (labels, names of rows) can be read later, as strings.
    named : bool
        Whether the columns have names of their own.
    frame_index : frozenset of str
        Columns that the file calls the index of a data frame, and no variables.
    remarks : tuple of str
        What a person should know of how the file was read.
    column : callable
        ``column(name)`` gives a column whole, as Arrow holds it; not after ``rows``, which lets go of what is not used.
    decimal : str or None
        The decimal sign of text, where it is known.
    doubtful : mapping of str to str or None
        Columns of numbers of a text in which each point may stand between thousands (10.363), and a cell of each, empty
        where its first lines have no point; ``None`` where nobody can say what the decimal sign is.
    """

    origin: str
    n_rows: int
    names: tuple[str, ...]
    examined: Callable[..., dict[str, Any]]
    rows: Callable[..., RowFile]
    column: Callable[[str], Any]
    named: bool = True
    frame_index: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()
    decimal: str | None = None
    doubtful: Mapping[str, str] | None = None


class FileVersion(NamedTuple):
    """A file when it was opened: its size in bytes, its times of change in nanoseconds, its number on the disk.

    ``changed`` can be set by hand (``cp -p``, ``touch -r``), ``touched`` and ``inode`` cannot: the first moves whenever
    content or name of a file changes, the second is another one for a file put in its place.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     version = FileVersion.of(Path(file.name))
    ...     file.write(b"more") + (file.flush() or 0)
    ...     version.require_unchanged()
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
    def of(cls, path: Path) -> "FileVersion":
        """Return the present version of a file."""
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


class StoreVersion(FileVersion):
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


class Spill:
    """A folder for copies on disk of what cannot be read in place; it goes when this object does, or the process ends.

    It is among the system's temporary files (``TMPDIR`` says where): a copy needs as much room as its original.
    """

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="gramian-"))
        # Also at an orderly end of the process, and when what was to be copied is refused half-way.
        self._remove = weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    def path(self, name: str) -> Path:
        """Return a path in the folder."""
        return self.folder / name

    def keep_while(self, owner: Any) -> None:
        """Keep the folder for as long as ``owner`` lives."""
        owner._spill = self  # noqa: SLF001
