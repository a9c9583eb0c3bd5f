"""How a text table is written: encoding, delimiter, decimal sign, header, quotes, and words for missing values.

All of it is detected in the first megabyte (:func:`detect_dialect`); where rows end is found in any piece of the text.
"""

import codecs
import csv
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import zip_longest

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, Parameter, Sentence
from gramian.machine import MEGABYTE
from gramian.sources.missing_values import MISSING, words_among_numbers
from gramian.sources.names import name_columns, numbered
from gramian.sources.written_numbers import decimal_sign

SAMPLE_BYTES = MEGABYTE
"""Bytes at the beginning of a file that show its dialect and the kinds of its columns."""

SPACES = " "
"""A delimiter that stands for any run of blanks between two values."""

SAMPLE_LINES = 200
"""Lines that candidates for the delimiter are tried on."""

DELIMITERS = (",", "\t", ";", "|")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
QUOTED = re.compile(r'(^|[,\t;|])"(?:[^"]|"")*"')

SEPARATOR = re.compile(rb'"?sep=([,;|\t])"?\r?\n', re.IGNORECASE)


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes
    ----------
    begin : int
        Byte at which the first row of values begins.
    delimiter, decimal : str
    names : tuple of str
        Column names, all different; made up when there is no header.
    named : bool
        Whether the columns have names of their own: a header, or names that a person gave.
    missing : tuple of str
        Words for a missing value.
    remarks : tuple of str
        What a person should know of the names.
    header : tuple of str
        The cells of the header as they are written; none where there is none, or other names are given.
    doubtful : mapping of str to str
        Columns in which each point may stand between thousands (10.363), and a cell of each, empty where no point was
        seen yet; none where a person says the decimal sign, or where it is a comma.
    """

    begin: int
    delimiter: str
    decimal: str
    names: tuple[str, ...]
    named: bool
    missing: tuple[str, ...] = MISSING
    remarks: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    doubtful: Mapping[str, str] = field(default_factory=dict)


def detect_dialect(
    head: bytes,
    origin: str,
    *,
    decimal: str | None = None,
    na: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> Dialect:
    """Find out how a text table is written from its beginning, in UTF-8.

    ``decimal``, ``na`` and ``names`` are what a person says: the decimal sign, more words for a missing value, and the
    names of the columns. Do not rely on what is found for files whose first lines are not like the others; comment
    lines that begin with # before the header are skipped.
    """
    begin, given = _skipped(head)
    text = _whole_lines(head[begin:], complete=len(head) < SAMPLE_BYTES).decode(errors="replace")
    if not text.strip():
        message = f"{origin} is empty: it has no header and no rows. Check what wrote the file."
        raise InputError(message)
    if "\n" not in text and "\r" in text:
        message = f"{origin} ends its lines with a carriage return alone. Save it with ordinary line ends."
        raise InputError(message)
    lines = _logical_lines(text)
    missing = (*MISSING, *(spelling for word in na for spelling in _spellings(word)))
    one_column = decimal != "." and _is_one_column_of_decimals(lines, origin, missing, is_said=decimal is not None)
    delimiter = given or (";" if one_column else _delimiter(lines, decimal, missing))
    rows = [split(line, delimiter) for line in lines]
    is_said = decimal is not None
    decimal = decimal or ("," if _commas_are_decimal(rows, delimiter, missing) else ".")
    named = has_header(rows, decimal, missing)
    if named:
        blank = len(text) - len(text.lstrip("\r\n"))
        begin += len((text[:blank] + lines[0]).encode())
        begin += len(re.match(rb"\r?\n?", head[begin:])[0])  # type: ignore[index]
    called, remarks = name_columns(_names(rows, named=named), names, origin)
    header = tuple(rows[0]) if named and names is None and len(rows[0]) == len(called) else ()
    doubtful = {} if is_said or decimal == "," else _doubtful(_numbers_below(rows, missing), called)
    return Dialect(begin, delimiter, decimal, called, named or names is not None, missing, remarks, header, doubtful)


def _spellings(word: str) -> list[str]:
    """Return a word for a missing value as it may be written: a whole number also with zeros behind the point.

    Examples
    --------
    >>> _spellings("none"), _spellings("-999")
    (['none'], ['-999', '-999.', '-999.0', '-999.00', '-999.000', '-999,', '-999,0', '-999,00', '-999,000'])
    """
    if not is_number(word) or not float(word).is_integer():
        return [word]
    whole = str(int(float(word)))
    zeros = [f"{whole}{sign}{'0' * count}" for sign in ".," for count in range(4)]
    return list(dict.fromkeys([word, whole, *zeros]))


def split(line: str, delimiter: str) -> list[str]:
    """Split a line of a text table into its cells."""
    if delimiter == SPACES:
        return line.split()
    try:
        return next(csv.reader(line.splitlines(keepends=True), delimiter=delimiter), [])
    except csv.Error:
        return [line]  # quotes that make sense with another delimiter alone


def is_number(cell: str, decimal: str = ".") -> bool:
    """Tell whether a cell spells a number."""
    cell = cell.strip()
    return NUMBER.fullmatch(cell.replace(",", ".") if decimal == "," else cell) is not None


def _skipped(head: bytes) -> tuple[int, str | None]:
    """Return where the header begins, and the delimiter where Excel's first line (sep=;) gives it."""
    begin = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    given = SEPARATOR.match(head, begin)
    begin = begin if given is None else given.end()
    while head[begin : begin + 1] == b"#" and (end := head.find(b"\n", begin)) >= 0:
        begin = end + 1
    return begin, None if given is None else given[1].decode()


def _whole_lines(head: bytes, *, complete: bool) -> bytes:
    return head[: end + 1] if not complete and (end := head.rfind(b"\n")) > 0 else head


def words_in(data: bytes) -> list[str]:
    r"""Return the words of a text file: one per line, or the cells of its only line; quotes around one are taken off.

    Examples
    --------
    >>> words_in(b"a;b;c\n"), words_in(b'"x, y"\nz\n')
    (['a', 'b', 'c'], ['x, y', 'z'])
    """
    text = data.decode(text_encoding(data, complete=True), "replace")
    lines = text.removeprefix("\ufeff").rstrip().splitlines()
    if len(lines) == 1:
        return [cell.strip() for cell in split(lines[0], _delimiter(lines))]
    return [(split(line, "\x1f") or [""])[0].strip() for line in lines]  # a delimiter that no text has


def _logical_lines(text: str) -> list[str]:
    """Return the first lines that are not blank; a line break between quotes does not end one."""
    found: list[str] = []
    pending, opened = "", False
    for piece in text.lstrip("\r\n").splitlines(keepends=True):
        pending += piece
        opened = _leaves_open(pending) if '"' in piece else opened
        if opened:
            continue
        if pending.strip():
            found.append(pending.rstrip("\r\n"))
        pending = ""
        if len(found) == SAMPLE_LINES:
            break
    if pending.strip():
        found.append(pending.rstrip("\r\n"))
    return found


def _leaves_open(text: str) -> bool:
    """Tell whether a quote that begins a cell is not closed; one in the middle of a cell is a plain character."""
    return re.search(r'(^|[,\t;|])"', QUOTED.sub(r"\1", text)) is not None


def _delimiter(lines: list[str], decimal: str | None = None, missing: tuple[str, ...] = MISSING) -> str:
    """Return the delimiter that cuts the lines into the same number of cells, and most of them.

    Where a person says that numbers have a decimal comma, commas cut only what nothing else does.
    """
    best, most = ",", (0.0, 1)
    candidates: tuple[str, ...] = (*DELIMITERS, SPACES)
    if decimal == ",":
        others = (*DELIMITERS[1:], SPACES)
        cut = any(len(split(lines[0], other)) == len(split(lines[-1], other)) > 1 for other in others)
        candidates = others if cut else DELIMITERS[:1]
    for candidate in candidates:
        counts = [len(split(line, candidate)) for line in lines]
        usual = max(set(counts), key=counts.count)
        if usual < 2 or (candidate == SPACES and most[1] > 1):
            continue
        agreement = counts.count(usual) / len(counts)
        if (agreement, usual) > most:
            best, most = candidate, (agreement, usual)
    return _between_decimal_commas(lines, most[0], missing) or best if best == "," and decimal is None else best


def _between_decimal_commas(lines: list[str], agreement: float, missing: tuple[str, ...]) -> str | None:
    """Return the delimiter between cells like 1,5 when it cuts the lines as evenly as their commas do."""
    for candidate in (";", "\t"):
        rows = [split(line, candidate) for line in lines]
        counts = [len(row) for row in rows]
        usual = max(set(counts), key=counts.count)
        is_even = usual > 1 and counts.count(usual) / len(counts) >= agreement
        if is_even and _commas_are_decimal(rows, candidate, missing):
            return candidate
    return None


def _is_one_column_of_decimals(lines: list[str], origin: str, missing: tuple[str, ...], *, is_said: bool) -> bool:
    """Tell whether one name stands over cells like 1,5: a single column with decimal commas, and not two columns.

    ``is_said`` tells that a person says so of commas; else rows that begin with their own number are refused.
    """
    below = [line.strip() for line in lines[1:]]
    commas = [cell for cell in below if COMMA_NUMBER.fullmatch(cell)]
    if any(sign in lines[0] for sign in DELIMITERS) or is_number(lines[0], ",") or not commas:
        return False
    if not all(is_number(cell, ",") or cell in missing for cell in below):
        return False
    if is_said:
        return True
    wholes = [cell.partition(",")[0] for cell in below]
    if len(below) > 1 and len(commas) == len(below) and wholes == [str(i + 1) for i in range(len(below))]:
        message = Sentence(
            "{origin} has one name and rows like {below!r}: a number with a decimal comma, or a row's number and a "
            "value. Say which of them: {comma} or {point}.",
            origin=origin,
            below=below[0],
            comma=Parameter("decimal", (",",)),
            point=Parameter("decimal", (".",)),
        )
        raise InputError(message)
    return True


def _commas_are_decimal(rows: list[list[str]], delimiter: str, missing: tuple[str, ...]) -> bool:
    """Tell whether cells like 1,5 are numbers; between tabs they may be thousands too (1,500), which are not.

    A table has one style. Where a cell can only have a decimal point no comma is a decimal sign. Cells like 10.363 are
    thousands where another column can only have decimal commas, whatever money or unit stands beside its numbers: in
    a file whose delimiter is no decimal sign only where no third column is one of 1,500 and the like.
    """
    columns = _numbers_below(rows, missing)
    if not any("," in cell or cell.count(".") > 1 for column in columns for cell in column):
        return False
    if any("." in cell and decimal_sign(cell) == "." for column in columns for cell in column):
        return False
    is_proved = any(map(_has_decimal_commas, columns))
    if delimiter not in (";", "\t"):
        points = any("." in cell and decimal_sign(cell) == ".?" for column in columns for cell in column)
        return is_proved and points and not any(_signs(column) in ({",?"}, {"", ",?"}) for column in columns)
    if is_proved or any("." in cell and decimal_sign(cell) == ".?" for column in columns for cell in column):
        return is_proved
    commas = [cell for column in columns for cell in column if COMMA_NUMBER.fullmatch(cell)]
    return bool(commas) and (delimiter == ";" or not all(map(THOUSANDS.fullmatch, commas)))


def _numbers_below(rows: list[list[str]], missing: tuple[str, ...]) -> list[list[str]]:
    """Return the cells of each column below the first row, without those that stand for a missing value."""
    words = {*missing, *words_among_numbers()}
    below = zip_longest(*rows[1:], fillvalue="")
    return [[text for cell in column if (text := cell.strip()) not in words] for column in below]


def _has_decimal_commas(column: list[str]) -> bool:
    """Tell whether most of a column is numbers, one of which can only have a decimal comma: 3,14 or 1.234.567."""
    return any("," in cell or cell.count(".") > 1 for cell in column) and "," in _signs(column)


def _doubtful(columns: list[list[str]], names: Sequence[str]) -> dict[str, str]:
    """Return the columns of numbers in which each point may stand between thousands, and a cell of each, if any."""
    found = {}
    for name, column in zip(names, columns, strict=False):
        example = next((cell for cell in column if "." in cell and decimal_sign(cell)), "")
        signs = _signs(column) if decimal_sign(example) != "." else {"."}
        if not column or signs in ({""}, {".?"}, {"", ".?"}):
            found[name] = example
    return found


def _signs(column: list[str]) -> set[str]:
    """Return the decimal signs that the cells of a column show; none where half of them or more are no numbers."""
    signs = [sign for cell in column if (sign := decimal_sign(cell)) is not None]
    return set(signs) if 2 * len(signs) > len(column) else set()


def has_header(rows: list[list[str]], decimal: str, missing: tuple[str, ...]) -> bool:
    """Tell whether the first row of a table, all of it text, names the columns.

    Examples
    --------
    >>> has_header([["who", "age"], ["ann", "40"]], ".", MISSING), has_header([["1", "2"], ["3", "4"]], ".", MISSING)
    (True, False)
    """
    first, rest = rows[0], rows[1:]
    if not any(is_number(cell, decimal) for cell in first):
        return any(cell.strip() not in missing for cell in first)
    for j, cell in enumerate(first):
        below = [row[j].strip() for row in rest if j < len(row) and row[j].strip() not in missing]
        is_name = cell.strip() not in missing and not is_number(cell, decimal)
        if below and is_name and all(is_number(value, decimal) for value in below):
            return True
    return _are_numbers_as_names(first, rest, decimal, missing)


def _are_numbers_as_names(first: list[str], rest: list[list[str]], decimal: str, missing: tuple[str, ...]) -> bool:
    """Tell whether a first row of whole numbers, perhaps among words, names its columns (country, 1990, 1991).

    It does when three rows or more are below, its cells differ, no word comes again below, and the numbers are over
    decimals alone, or are evenly spaced and mostly over decimals, or are consecutive years over numbers that are none.
    """
    cells = [cell.strip() for cell in first]
    if len(set(cells)) < len(cells) or len(rest) < 3:
        return False
    below = [[row[j].strip() for row in rest if j < len(row)] for j in range(len(cells))]
    numbers = [j for j, cell in enumerate(cells) if is_number(cell, decimal)]
    if any(cells[j] and cells[j] in below[j] for j in range(len(cells)) if j not in numbers):
        return False
    if not all(cells[j].isdecimal() for j in numbers):
        return False
    filled = [[cell for cell in below[j] if cell not in missing and is_number(cell, decimal)] for j in numbers]
    share = min(sum(not cell.isdecimal() and decimal in cell for cell in f) / max(len(f), 1) for f in filled)
    found = [int(cells[j]) for j in numbers]
    spaced = len(found) > 1 and found[1] > found[0] and len({b - a for a, b in itertools.pairwise(found)}) == 1
    years = all(_is_year(cell) for cell in found) and not any(_is_year(cell) for f in filled for cell in f)
    return share == 1 or (spaced and (share >= 0.5 or (years and all(filled))))


def _is_year(cell: str | int) -> bool:
    return str(cell).isdecimal() and 1500 <= int(cell) <= 2200


def _names(rows: list[list[str]], *, named: bool) -> tuple[str, ...]:
    if not named:
        return numbered(len(rows[0]))
    names = [name.strip() for name in rows[0]]
    if len(rows) > 1 and len(rows[1]) == len(names) + 1:
        # R leaves out the name of the column that names the rows; others end each row, and no header, with a delimiter.
        trailing = all(not row[-1].strip() for row in rows[1:] if len(row) > len(names))
        names.insert(len(names) if trailing else 0, "")
    return tuple(names)


def _quoted(data: bytes, delimiter: str) -> Iterator[re.Match[bytes]]:
    """Yield the cells between quotes, the last one perhaps not closed; a quote inside a plain cell is a plain byte."""
    return _quoted_cells(delimiter).finditer(data) if b'"' in data else iter(())


@cache
def _quoted_cells(delimiter: str) -> re.Pattern[bytes]:
    before = rb"[ \t]" if delimiter == SPACES else re.escape(delimiter.encode())
    # What a quantifier took it does not give back: half of a doubled quote would close a cell.
    return re.compile(rb"(?m)(?:^|(?<=" + before + rb'))"[^"]*+(?:""[^"]*+)*+(?P<closed>"?)')


@cache
def _broken_cells(delimiter: str) -> re.Pattern[bytes]:
    """Return what finds each cell between quotes that has a line break, and seldom the end of a whole one."""
    before = rb"[ \t]" if delimiter == SPACES else re.escape(delimiter.encode())
    return re.compile(rb"(?m)(?:^|(?<=" + before + rb'))"[^"\n]*+(?:""[^"\n]*+)*+\n')


def last_row_end(data: bytes, delimiter: str, known: int) -> tuple[int, bool, bool]:
    """Return where the last whole row ends, whether a line break stands between quotes, and whether one stays open.

    No row ends in the first ``known`` bytes.
    """
    if b'"' not in data or not _broken_cells(delimiter).search(data):
        end = data.rfind(b"\n", known) + 1
        return end, False, any(not cell["closed"] for cell in _quoted(data[end:], delimiter))
    spans, is_open = [], False
    for cell in _quoted(data, delimiter):
        spans.append(cell.span())
        is_open = not cell["closed"]
    breaks = any(data.find(b"\n", *span) >= 0 for span in spans)
    stop = len(data)
    for start, end in reversed(spans):
        if (at := data.rfind(b"\n", end, stop)) >= 0:
            return at + 1, breaks, is_open
        stop = start
    return data.rfind(b"\n", 0, stop) + 1, breaks, is_open


def row_starts(data: bytes, delimiter: str) -> HostArray:
    """Return where rows begin: after line breaks outside of quotes, and not where a line is blank."""
    text = np.frombuffer(data, dtype=np.uint8)
    breaks = np.flatnonzero(text == ord("\n"))
    bounds = np.array([bound for cell in _quoted(data, delimiter) for bound in cell.span()], dtype=np.int64)
    breaks = breaks[np.searchsorted(bounds, breaks, side="right") % 2 == 0]
    starts = np.concatenate([[0], breaks + 1])
    ends = np.concatenate([breaks, [len(data)]])
    length = ends - starts
    is_return = text[np.minimum(starts, len(text) - 1)] == ord("\r")
    rows: HostArray = starts[(length > 1) | ((length == 1) & ~is_return)]
    return rows


def text_encoding(head: bytes, *, complete: bool) -> str:
    """Return how text is encoded: UTF-16 by its mark or its zeros, UTF-8, or what Windows wrote (cp1252, Latin-1).

    Examples
    --------
    >>> [text_encoding(text, complete=True) for text in (b"a,b", "é".encode(), "é€".encode("cp1252"))]
    ['utf-8', 'utf-8', 'cp1252']
    """
    marks = {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
    if head[:2] in marks:
        return marks[head[:2]]
    begin = head[:4096]
    if len(begin) >= 4 and begin.count(0) >= len(begin) // 3:
        return "utf-16-le" if begin[1::2].count(0) > begin[::2].count(0) else "utf-16-be"
    head = _whole_lines(head, complete=complete)
    for encoding in ("utf-8", "cp1252"):
        try:
            head.decode(encoding)
        except UnicodeDecodeError:
            continue
        return encoding
    return "latin-1"
