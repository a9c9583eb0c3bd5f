"""Where the rows of a text table begin, found in one quick look, so that any of them can be read out of turn."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError
from gramian.planning.machine import MEGABYTE
from gramian.sources.csv_dialect import SPACES

CHUNK = 4 * MEGABYTE
SPACING = 1 << 16
"""Bytes, about, between two rows whose places are kept."""

NEWLINE, RETURN, QUOTE, NUL = 10, 13, 34, 0


@dataclass(frozen=True, eq=False)
class LineIndex:
    """Byte positions of every ``every``-th row, the end of the last row, and the number of rows."""

    offsets: HostArray
    every: int
    n_rows: int
    end: int
    quoted_breaks: bool

    def span(self, first: int, stop: int) -> tuple[int, int, int]:
        """Return the bytes in which rows ``first`` to ``stop`` lie, and how many rows before them lie there too."""
        at = first // self.every
        after = -(-stop // self.every)
        end = int(self.offsets[after]) if after < len(self.offsets) else self.end
        return int(self.offsets[at]), end, first - at * self.every

    def whole(self, rows: slice) -> slice:
        """Return all rows that lie in the bytes in which some rows lie: those that are parsed with them."""
        first = rows.start // self.every * self.every
        return slice(first, min(-(-rows.stop // self.every) * self.every, self.n_rows))


class _Scan:
    """Goes through a file chunk by chunk and keeps the places of some row beginnings."""

    def __init__(self, begin: int, delimiter: str) -> None:
        self.row_start = begin
        self.inside = False
        self._opens_after = [NEWLINE, *(b" \t" if delimiter == SPACES else delimiter.encode())]
        self._closed = False
        self.rows = 0
        self.every = 0
        self.kept: list[HostArray] = []
        self.quoted_breaks = False
        self._last = NEWLINE

    def take(self, chunk: HostArray, at: int) -> None:
        """Take in the bytes that begin at position ``at``."""
        ends = np.flatnonzero(chunk == NEWLINE)
        quotes = self._that_count(chunk, np.flatnonzero(chunk == QUOTE))
        if quotes.size or self.inside:
            outside = (np.searchsorted(quotes, ends) + self.inside) % 2 == 0
            self.quoted_breaks |= not bool(outside.all())
            ends = ends[outside]
            self.inside ^= bool(quotes.size % 2)
        self._closed = not self.inside and bool(quotes.size) and int(quotes[-1]) == len(chunk) - 1
        if ends.size:
            self._keep(chunk, ends, at)
        self._last = int(chunk[-1])

    def _that_count(self, chunk: HostArray, quotes: HostArray) -> HostArray:
        """Return the quotes that open or close a cell; one in the middle of a cell without quotes is a plain byte."""
        if not quotes.size:
            return quotes
        before = chunk[quotes - 1]
        if quotes[0] == 0:
            before[0] = self._last
        opens = np.isin(before, self._opens_after)
        doubled = before == QUOTE
        if quotes[0] == 0:
            doubled[0] &= self._closed
        if (opens | doubled)[int(self.inside) :: 2].all():
            return quotes
        return quotes[_toggles(quotes, opens, inside=self.inside, closed=-1 if self._closed else -2)]

    def _keep(self, chunk: HostArray, ends: HostArray, at: int) -> None:
        starts = np.concatenate([[self.row_start - at], ends[:-1] + 1])
        length = ends - starts
        first = np.where(starts >= 0, chunk[np.maximum(starts, 0)], self._last)
        starts = starts[(length > 1) | ((length == 1) & (first != RETURN))]
        self.row_start = at + int(ends[-1]) + 1
        self._add(starts + at)

    def _add(self, starts: HostArray) -> None:
        if not self.every and starts.size:
            spread = (int(starts[-1]) - int(starts[0])) / max(len(starts) - 1, 1)
            self.every = max(1, int(SPACING // max(spread, 1)))
        if starts.size:
            self.kept.append(starts[(-self.rows) % self.every :: self.every])
            self.rows += len(starts)

    def close(self, end: int) -> None:
        """Take in a last line that no line break ends."""
        if end > self.row_start and not (end - self.row_start == 1 and self._last in (RETURN, NEWLINE)):
            self._add(np.array([self.row_start]))


def _toggles(quotes: HostArray, opens: HostArray, *, inside: bool, closed: int) -> list[int]:
    """Return which quotes count, one after the other; a quote right after one that closed a cell opens it again."""
    found = []
    for i, (place, opening) in enumerate(zip(quotes.tolist(), opens.tolist(), strict=True)):
        if inside:
            inside, closed = False, place
        elif opening or place == closed + 1:
            inside = True
        else:
            continue
        found.append(i)
    return found


def index_lines(path: Path, *, origin: str, begin: int, delimiter: str) -> LineIndex:
    """Find the beginnings of rows after ``begin``: not those of blank lines, nor of lines between quotes.

    Cost: the file is read once, in chunks, at about the speed of a memory copy.

    Raises
    ------
    InputError
        A NUL byte, with its row and column; a quote that is opened and never closed; no rows at all.
    """
    scan = _Scan(begin, delimiter)
    at = begin
    with path.open("rb", buffering=0) as file:
        file.seek(begin)
        while data := file.read(CHUNK):
            chunk = np.frombuffer(data, dtype=np.uint8)
            if b"\0" in data:
                _refuse_nul(scan, data, at, origin, delimiter)
            scan.take(chunk, at)
            at += len(data)
    if scan.inside:
        message = (
            f'{origin}: a quote (") that is opened in row {scan.rows:,} (counted from 0) or before it is never closed. '
            "Close it, or write quotes inside a cell twice."
        )
        raise InputError(message, row=scan.rows)
    scan.close(at)
    if scan.rows == 0:
        message = f"{origin} has a header and no rows. Check what wrote the file."
        raise InputError(message)
    return LineIndex(np.concatenate(scan.kept), scan.every, scan.rows, at, scan.quoted_breaks)


def _refuse_nul(scan: _Scan, data: bytes, at: int, origin: str, delimiter: str) -> None:
    where = data.index(b"\0")
    scan.take(np.frombuffer(data[:where] or b" ", dtype=np.uint8), at)
    column = data[max(scan.row_start - at, 0) : where].count(delimiter.encode())
    message = (
        f"{origin} holds a NUL byte in row {scan.rows:,}, column {column} (both counted from 0): it is no text table, "
        "or it is damaged there. Export the table again as UTF-8 text."
    )
    raise InputError(message, row=scan.rows, column=column)
