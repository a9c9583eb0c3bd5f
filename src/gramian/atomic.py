"""Atomic writes: the old file or the new one, never half of one. Every file that Gramian writes is written here."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["atomic_write"]


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name in the folder of ``path``; what is written there replaces ``path`` at the end.

    The temporary file is flushed to the disk before it is renamed, and the folder after it, so that a crash leaves the
    old file or the new one. When anything is raised inside (a full disk, Ctrl-C), the temporary file is removed and
    ``path`` is as it was. A link is followed: what it points to is replaced.

    Cost: the two flushes, some milliseconds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with atomic_write(f"{folder}/answer.txt") as part:
    ...         _ = part.write_text("42")
    ...     print(*(found.name for found in Path(folder).iterdir()))
    answer.txt
    """
    target = Path(os.path.realpath(path))
    # A name of its own for each process and thread; a long name is cut, as it would be too long with more added.
    part = target.with_name(f".{target.name[:64]}.{os.getpid()}-{threading.get_ident()}.part")
    try:
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(target)
        _flush_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def _flush_folder(folder: Path) -> None:
    """Bring the new name itself to the disk, where the system can: Windows opens no folder, some disks flush none."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
