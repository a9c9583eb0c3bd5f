"""A file is written whole or not at all: the old one or the new one, never half."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name beside ``path``; what is written there takes the place of ``path`` at the end.

    The temporary file is flushed to the disk before it is renamed, so that a crash leaves the old file or the new one.
    When anything is raised inside (a full disk, Ctrl-C), the temporary file is removed and ``path`` is as it was.
    A link is followed: what it points to is replaced.

    Cost: the two flushes, some milliseconds.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(f"{folder}/answer.txt") as part:
    ...         _ = part.write_text("42")
    ...     print(*(found.name for found in Path(folder).iterdir()))
    answer.txt
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name[:64]}.{os.getpid()}.part")
    try:
        yield part
        _flush(part)
        part.replace(target)
        _flush_folder(target.parent)
    finally:
        part.unlink(missing_ok=True)


def _flush(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _flush_folder(folder: Path) -> None:
    # The new name itself must reach the disk; where folders cannot be opened (Windows) the rename alone must do.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
