"""Text that must be rewritten before it can be read in place: compressed, or in UTF-16."""

import codecs
import gzip
from pathlib import Path
from typing import IO

from gramian.errors import InputError
from gramian.planning.machine import MEGABYTE
from gramian.sources.spill import Spill

GZIP = b"\x1f\x8b"
WIDE = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def plain_text(path: Path, origin: str) -> tuple[Path, Spill | None]:
    """Return a file of UTF-8 or Latin-1 text: the file itself, or a copy on disk.

    Cost: nothing for plain text; else one pass and a copy on disk, in pieces of a megabyte.
    """
    with path.open("rb") as file:
        head = file.read(4096)
    if head.startswith(GZIP):
        return _unpacked(path, origin)
    encoding = _wide_encoding(head)
    if encoding is None:
        return path, None
    spill = Spill()
    with path.open("rb") as source, spill.path("table.csv").open("wb") as target:
        _transcode(source, target, encoding, origin)
    return spill.path("table.csv"), spill


def _wide_encoding(head: bytes) -> str | None:
    """Return UTF-16 of either order, by its mark or, without one, by the zeros in every other byte of plain text."""
    if head[:2] in WIDE:
        return WIDE[head[:2]]
    if len(head) < 4 or head.count(0) < len(head) // 3:
        return None
    return "utf-16-le" if head[1::2].count(0) > head[::2].count(0) else "utf-16-be"


def _unpacked(path: Path, origin: str) -> tuple[Path, Spill]:
    spill = Spill()
    copy = spill.path("table.csv")
    try:
        with gzip.open(path, "rb") as source, copy.open("wb") as target:
            while piece := source.read(MEGABYTE):
                target.write(piece)
    except (EOFError, OSError) as error:
        message = f"{origin} is damaged or cut short: it cannot be unpacked ({error}). Compress the table again."
        raise InputError(message) from error
    inner, second = plain_text(copy, origin)
    if second is not None:
        spill.keep_while(second)
        return inner, second
    return copy, spill


def _transcode(source: IO[bytes], target: IO[bytes], encoding: str, origin: str) -> None:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        first = True
        while piece := source.read(MEGABYTE):
            text = decoder.decode(piece)
            target.write((text.removeprefix("\ufeff") if first else text).encode("utf-8"))
            first = False
        decoder.decode(b"", final=True)
    except UnicodeError as error:
        message = f"{origin} begins as {encoding} text and is damaged further on ({error}). Export it again as UTF-8."
        raise InputError(message) from error
