"""How a text table is written: encoding, delimiter, header, decimal sign; found from its first lines."""

import csv
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from gramian.errors import InputError

SAMPLE_BYTES = 1 << 20
"""Bytes at the beginning of a file from which its dialect and the kinds of its columns are told."""

SAMPLE_LINES = 200
"""Lines that candidates for the delimiter are tried on."""

DELIMITERS = (",", "\t", ";", "|")
SPACES = " "
"""Stands for any run of blanks between two values."""

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE)
COMMA_NUMBER = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?\d{1,3},\d{3}")
QUOTED = re.compile(r'(^|[,\t;|])"(?:[^"]|"")*"')

TOLD = re.compile(rb'"?sep=([,;|\t])"?\r?\n', re.IGNORECASE)

HOLES = ("", "NA", "N/A", "n/a", "NaN", "nan", "-nan", "NULL", "null", "None", "#N/A", "#NA", "NAN", "na", "?", "<NA>")
"""Words that stand for a value that is not there."""

FEWEST_BELOW = 3
"""Rows that a first row of numbers must stand over to be taken for names."""

MOSTLY_DECIMALS = 0.5
FIRST_YEAR, LAST_YEAR = 1500, 2200


@dataclass(frozen=True)
class Dialect:
    """How a text table is written.

    Attributes
    ----------
    begin : int
        Byte at which the first row of values begins.
    encoding : str
        "utf-8" or "latin-1".
    delimiter, decimal : str
    names : tuple of str
        Column names, all different; made up when there is no header.
    named : bool
        Whether the file has a header.
    """

    begin: int
    encoding: str
    delimiter: str
    decimal: str
    names: tuple[str, ...]
    named: bool


def detect_dialect(path: Path, origin: str) -> Dialect:
    """Find out how a text table in UTF-8 or Latin-1 is written.

    Cost: reads the first megabyte. Do not rely on it for files whose first lines are not like the others; comment
    lines that begin with # before the header are skipped.
    """
    with path.open("rb") as file:
        head = file.read(SAMPLE_BYTES)
    begin, told = _skipped(head)
    text, encoding = _decoded(head[begin:], complete=len(head) < SAMPLE_BYTES)
    if not text.strip():
        message = f"{origin} is empty: it has no header and no rows. Check what wrote the file."
        raise InputError(message)
    if "\n" not in text and "\r" in text:
        message = f"{origin} ends its lines with a carriage return alone. Save it with ordinary line ends."
        raise InputError(message)
    lines = _logical_lines(text)
    delimiter = told or (";" if _is_one_column_of_decimals(lines, origin) else _delimiter(lines))
    rows = [split(line, delimiter) for line in lines]
    decimal = "," if _commas_are_decimal(rows, delimiter) else "."
    named = _has_header(rows, decimal)
    if named:
        blank = len(text) - len(text.lstrip("\r\n"))
        begin += len((text[:blank] + lines[0]).encode(encoding))
        begin += len(re.match(rb"\r?\n?", head[begin:])[0])  # type: ignore[index]
    return Dialect(begin, encoding, delimiter, decimal, _names(rows, named=named), named)


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
    """Return where the header begins, and the delimiter where Excel's first line (sep=;) tells it."""
    begin = 3 if head.startswith(b"\xef\xbb\xbf") else 0
    told = TOLD.match(head, begin)
    begin = begin if told is None else told.end()
    while head[begin : begin + 1] == b"#" and (end := head.find(b"\n", begin)) >= 0:
        begin = end + 1
    return begin, None if told is None else told[1].decode()


def _decoded(head: bytes, *, complete: bool) -> tuple[str, str]:
    if not complete and (end := head.rfind(b"\n")) > 0:
        head = head[: end + 1]
    try:
        return head.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return head.decode("latin-1"), "latin-1"


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


def _delimiter(lines: list[str]) -> str:
    """Return the delimiter that cuts the lines into the same number of cells, and most of them."""
    best, most = ",", (0.0, 1)
    for candidate in (*DELIMITERS, SPACES):
        counts = [len(split(line, candidate)) for line in lines]
        usual = max(set(counts), key=counts.count)
        if usual < 2 or (candidate == SPACES and most[1] > 1):
            continue
        agreement = counts.count(usual) / len(counts)
        if (agreement, usual) > most:
            best, most = candidate, (agreement, usual)
    return _beside_decimal_commas(lines, most[0]) or best if best == "," else best


def _beside_decimal_commas(lines: list[str], agreement: float) -> str | None:
    """Return the delimiter between cells like 1,5 when it cuts the lines as evenly as their commas do."""
    for candidate in (";", "\t"):
        rows = [split(line, candidate) for line in lines]
        counts = [len(row) for row in rows]
        usual = max(set(counts), key=counts.count)
        if usual > 1 and counts.count(usual) / len(counts) >= agreement and _commas_are_decimal(rows, candidate):
            return candidate
    return None


def _is_one_column_of_decimals(lines: list[str], origin: str) -> bool:
    """Tell whether one name stands over cells like 1,5: a single column with decimal commas, and not two columns."""
    below = [line.strip() for line in lines[1:]]
    commas = [cell for cell in below if COMMA_NUMBER.fullmatch(cell)]
    if any(sign in lines[0] for sign in DELIMITERS) or is_number(lines[0], ",") or not commas:
        return False
    if not all(is_number(cell, ",") or cell in HOLES for cell in below):
        return False
    wholes = [cell.partition(",")[0] for cell in below]
    if len(below) > 1 and len(commas) == len(below) and wholes == [str(i + 1) for i in range(len(below))]:
        message = (
            f"{origin} has one name and rows like {below[0]!r}: a number with a decimal comma, or a row's number and a "
            "value. Write decimal points in the first case, and a name for both columns in the second."
        )
        raise InputError(message)
    return True


def _commas_are_decimal(rows: list[list[str]], delimiter: str) -> bool:
    """Tell whether cells like 1,5 are numbers; between tabs they may be thousands too (1,500), which are not."""
    if delimiter not in (";", "\t") or not _has_decimal_commas(rows):
        return False
    cells = [cell.strip() for row in rows[1:] for cell in row]
    commas = [cell for cell in cells if COMMA_NUMBER.fullmatch(cell)]
    return delimiter == ";" or not all(THOUSANDS.fullmatch(cell) for cell in commas)


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    cells = [cell.strip() for row in rows[1:] for cell in row]
    return any(COMMA_NUMBER.fullmatch(cell) for cell in cells) and not any(
        re.fullmatch(r"-?\d+\.\d+", c) for c in cells
    )


def _has_header(rows: list[list[str]], decimal: str) -> bool:
    first, rest = rows[0], rows[1:]
    if not any(is_number(cell, decimal) for cell in first):
        return any(cell.strip() not in HOLES for cell in first)
    for j, cell in enumerate(first):
        below = [row[j].strip() for row in rest if j < len(row) and row[j].strip() not in HOLES]
        is_name = cell.strip() not in HOLES and not is_number(cell, decimal)
        if below and is_name and all(is_number(value, decimal) for value in below):
            return True
    return _are_numbers_as_names(first, rest, decimal)


def _are_numbers_as_names(first: list[str], rest: list[list[str]], decimal: str) -> bool:
    """Tell whether a first row of whole numbers, perhaps beside words, names its columns (country, 1990, 1991).

    It does when its cells differ, no word comes again below, and the numbers stand over decimals alone, or are evenly
    spaced and stand mostly over decimals, or are years in a row over numbers that are none.
    """
    cells = [cell.strip() for cell in first]
    if len(set(cells)) < len(cells) or len(rest) < FEWEST_BELOW:
        return False
    below = [[row[j].strip() for row in rest if j < len(row)] for j in range(len(cells))]
    numbers = [j for j, cell in enumerate(cells) if is_number(cell, decimal)]
    if any(cells[j] and cells[j] in below[j] for j in range(len(cells)) if j not in numbers):
        return False
    if not all(cells[j].isdecimal() for j in numbers):
        return False
    filled = [[cell for cell in below[j] if cell not in HOLES and is_number(cell, decimal)] for j in numbers]
    share = min(sum(not cell.isdecimal() and decimal in cell for cell in f) / max(len(f), 1) for f in filled)
    found = [int(cells[j]) for j in numbers]
    spaced = len(found) > 1 and found[1] > found[0] and len({b - a for a, b in itertools.pairwise(found)}) == 1
    years = all(_is_year(cell) for cell in found) and not any(_is_year(cell) for f in filled for cell in f)
    return share == 1 or (spaced and (share >= MOSTLY_DECIMALS or (years and all(filled))))


def _is_year(cell: str | int) -> bool:
    return str(cell).isdecimal() and FIRST_YEAR <= int(cell) <= LAST_YEAR


def _names(rows: list[list[str]], *, named: bool) -> tuple[str, ...]:
    if not named:
        return tuple(f"column {j + 1}" for j in range(len(rows[0])))
    names = [name.strip() for name in rows[0]]
    if len(rows) > 1 and len(rows[1]) == len(names) + 1:
        # R leaves out the name of the column that names the rows; others end each row, and no header, with a delimiter.
        trailing = all(not row[-1].strip() for row in rows[1:] if len(row) > len(names))
        names.insert(len(names) if trailing else 0, "")
    return _different(names)


def _different(names: list[str]) -> tuple[str, ...]:
    """Return names of which a second and a third of the same kind are counted, in numbers that no other name has."""
    taken, found = set(names), list[str]()
    for name in names:
        free = name
        for count in itertools.count(1) if name in found else ():
            free = f"{name}.{count}"
            if free not in taken:
                break
        taken.add(free)
        found.append(free)
    return tuple(found)
