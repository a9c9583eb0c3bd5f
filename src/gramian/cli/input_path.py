"""What a person calls the input: a path, or - for standard input; and what is named after it."""

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gramian.errors import GramianError, InputError

STANDARD_INPUT = "standard input"

MAGIC = {b"PAR1": ".parquet", b"\x93NUM": ".npy", b"ARRO": ".arrow", b"\x1f\x8b\x08": ".csv.gz", b"PK\x03\x04": ".npz"}
"""How files of other kinds than text begin, for what comes from standard input."""


_TEXTS = "csv tsv txt dat tab gz"
_ARRAYS = "parquet pq parq arrow feather ipc npy npz h5 hdf5 he5 h5ad zarr mtx"
_IMAGES = "png jpg jpeg tif tiff bmp pgm"

ENDINGS = frozenset(f".{end}" for kinds in (_TEXTS, _ARRAYS, _IMAGES) for end in kinds.split())
"""Endings that say how a file is written, and are no part of what it is called."""


@contextmanager
def readable(path: str) -> Iterator[str]:
    """Give a path that can be read again and again: standard input ("-") is kept in a temporary file meanwhile."""
    if path != "-":
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="gramian-") as folder:
        head = sys.stdin.buffer.read(4)
        if not head:
            message = "Standard input is empty: 0 bytes. Check the command before the pipe, or name a file."
            raise InputError(message)
        suffix = next((kind for magic, kind in MAGIC.items() if head.startswith(magic)), ".csv")
        target = Path(folder) / f"stdin{suffix}"
        with target.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(sys.stdin.buffer, file)
        try:
            yield str(target)
        except GramianError as error:  # a person knows nothing of the copy
            error.args = tuple(str(arg).replace(str(target), STANDARD_INPUT) for arg in error.args)
            raise


def stem_of(path: str) -> str:
    """Return what a file is called without folder and endings.

    Examples
    --------
    >>> stem_of("data/spam.csv.gz"), stem_of("-"), stem_of("parts/"), stem_of("s.2023.csv")
    ('spam', 'stdin', 'parts', 's.2023')
    """
    name = "stdin" if path == "-" else Path(path).absolute().name
    while Path(name).suffix.lower() in ENDINGS:
        name = Path(name).stem
    return name.replace("*", "").strip("-_. ") or "table"


def origin_of(path: str) -> str:
    """Return what an input is called in words: no name of a temporary file."""
    return STANDARD_INPUT if Path(path).name.startswith("stdin.") else path
