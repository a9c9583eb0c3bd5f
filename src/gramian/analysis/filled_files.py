"""What a filling leaves on disk: the table filled, its standard errors, predicted pairs, the model and the page.

A table is written back as it was, cell by cell: text tables as the text that they are, Parquet and Arrow with the types
of their columns. Only missing cells of the columns that are filled change; cells that are no numbers are missing.
Filled values are expectations and are never rounded to whole numbers: in text the known cells of a column of integers
stay integers, in Parquet the column becomes one of numbers. In text, which is UTF-8, a filled value is written as the
others of its column are: with their decimals where all have as many and these are worth a tenth of its error, else with
the digits that its error is worth, a hundredth of it; Parquet has all.
"""

import csv
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian.analysis.filling import Filling
from gramian.analysis.folder import LARGEST_CSV, MODEL
from gramian.analysis.long_table import LongTable, Pairs
from gramian.arrays.namespace import HostArray
from gramian.atomic import atomic_write
from gramian.models.archive import file as archive
from gramian.models.archive.export import write_csv
from gramian.sources.arrow import from_numpy
from gramian.sources.formats.csv import written_cells
from gramian.sources.formats.dialect import SPACES
from gramian.sources.paths import WholeTable
from gramian.sources.table_facts import LongColumns
from gramian.sources.written_numbers import AFFIXES, NumberFormat, decimal_sign


class Style(NamedTuple):
    """How the numbers of a column are written.

    Attributes
    ----------
    decimal, thousands : str
        The decimal sign, and the sign between thousands.
    affixes, negative : pair of str
        What stands before and after the digits, with its blanks, and the same of numbers below zero.
    places : int
        Digits behind the decimal sign, where all numbers have as many; else 0.

    Examples
    --------
    >>> Style(".", ",", ("$", ""), ("($", ")")).written("-1060.8"), Style(",", "", ("", " kg")).written("0.78")
    ('($1,060.8)', '0,78 kg')
    >>> Style(".", ",", ("$", ""), places=2).filled(np.array([1060.8, 0.126]), np.array([9.3, 0.004]))
    ['$1,060.80', '$0.12600']
    """

    decimal: str = "."
    thousands: str = ""
    affixes: tuple[str, str] = ("", "")
    negative: tuple[str, str] = ("-", "")
    places: int = 0

    def filled(self, values: HostArray, errors: HostArray, worth: float = 0.01) -> list[str]:
        """Return filled values with the decimals of the column, or those that this share of their errors is worth."""
        enough = self.places >= _digits(errors, 0.1) if self.places else np.zeros(len(errors), dtype=bool)
        digits = np.where(enough, self.places, _digits(errors, worth)).astype(int)
        return [
            self.written(_rounded(float(value), int(digit), self.places))
            for value, digit in zip(values, digits, strict=True)
        ]

    def written(self, text: str) -> str:
        """Return a number, as short text, as the column writes it."""
        before, after = self.negative if text.startswith("-") else self.affixes
        whole, point, rest = text.removeprefix("-").partition(".")
        if self.thousands and whole.isdigit():
            whole = f"{int(whole):,}".replace(",", self.thousands)
        return f"{before}{whole}{self.decimal if point else ''}{rest}{after}"


MINUS = re.compile("[-\u2212()]")
"""What makes a number one below zero: a minus of either kind, or parentheses."""

EXPONENT = re.compile(r"\d[eE][+-]?\d")

PLAIN = Style()
"""As programs write numbers."""

FIRST_CELLS = 1_000
"""Cells of a column that show how it is written."""


@dataclass(frozen=True, eq=False)
class FilledColumn:
    """A column of which some cells are filled.

    Attributes
    ----------
    missing : numpy array (n,) of bool
    values, errors : numpy arrays (n,)
        Of what is missing; elsewhere anything.
    style : Style
        How its numbers are written.
    """

    missing: HostArray
    values: HostArray
    errors: HostArray
    style: Style = PLAIN

    def texts(self, part: slice, *, errors: bool) -> list[str]:
        """Return what stands in the missing cells of some rows."""
        here = self.missing[part]
        deviations = self.errors[part][here]
        if errors:
            return [self.style.written(_shortest(float(f"{value:.3g}"))) for value in deviations]
        return self.style.filled(self.values[part][here], deviations)


def _digits(errors: HostArray, worth: float) -> HostArray:
    """Return the digits behind the point that values with these errors are worth: to a share of the error.

    Examples
    --------
    >>> _digits(np.array([0.93, 12.0, 0.0, 4e5]), 0.01)
    array([ 3.,  1., 15.,  0.])
    """
    with np.errstate(divide="ignore"):
        size = np.floor(np.log10(errors)) + round(np.log10(worth))
    return np.clip(np.where(np.isfinite(size), -size, 15), 0, 15)


def _rounded(value: float, digits: int, least: int) -> str:
    """Return a number as short text, with so many digits behind the point at most, and at least.

    Examples
    --------
    >>> _rounded(3006.4, 2, 2), _rounded(3006.4, 2, 0), _rounded(-0.001, 2, 0)
    ('3006.40', '3006.4', '0')
    """
    text = _shortest(round(value, digits) + 0.0)
    whole, _, rest = text.partition(".")
    return f"{whole}.{rest.ljust(least, '0')}" if least and "e" not in text else text


def _shortest(value: float) -> str:
    """Return a number as short text, without an exponent where it is of a usual size."""
    if value == 0 or 1e-5 <= abs(value) < 1e16:
        return np.format_float_positional(value, trim="-")
    return repr(value)


def write_filling(
    found: Filling,
    folder: str | os.PathLike[str],
    *,
    notes: tuple[str, ...] | None = None,
    page: Callable[[Path], Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> tuple[Path, ...]:
    """Write every file under another name, and give them their names at the end: all of one filling, or none.

    Parameters
    ----------
    found : Filling
    folder : path
        Made where it is missing.
    notes : tuple of str, optional
        Those of the filling in the words of a front end.
    page : callable, optional
        Writes the page to a path.
    progress : callable, optional
        Called with a sentence before each stage.
    """
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    say = progress or (lambda _sentence: None)
    said = tuple(map(str, found.notes)) if notes is None else notes
    files: list[Path] = []
    with ExitStack() as drafts:

        def draft(name: str) -> Path:
            files.append(target / name)
            return drafts.enter_context(atomic_write(files[-1]))

        say("writing the model")
        archive.save(found.model, draft(MODEL), names=found.known.names, notes=said, estimator=_estimator(found))
        say("writing what is filled")
        _write_tables(found, draft)
        write_csv(draft("loadings.csv"), *_loadings(found))
        if found.known.long is not None:
            ids = np.array(list(map(str, found.known.long.rows.to_pylist())), dtype=object)
            counts = np.diff(found.known.X.indptr)
            write_csv(draft("rows.csv"), [found.known.long.names.row, "known"], [ids, counts])
        if page is not None:
            say("writing the page")
            page(draft("report.html"))
    return tuple(files)


def _estimator(found: Filling) -> dict[str, Any]:
    """Return what ``gramian.load`` makes of the model: the estimator that would have been asked for it."""
    request = found.request
    parameters = {
        "n_components": found.model.n_components or None,
        "biases": request.biases,
        "scale": found.known.scale,
        "bounds": request.bounds,
        "random_state": request.seed,
    }
    return {"name": "ProbabilisticPCA", "parameters": parameters, "fields": {}}


def _write_tables(found: Filling, draft: Callable[[str], Path]) -> None:
    known, long = found.known, found.known.long
    if long is not None:
        if found.lines is not None and known.whole is not None:
            _write_both(known.whole, {long.names.value: _filled_lines(known.whole, long, found.lines)}, draft)
        if found.pairs is not None:
            _write_pairs(iter([found.pairs]), len(found.pairs.i), long.names, known.whole, draft)
        elif found.request.writes_all(known.n_missing):
            _write_pairs(long.all_missing(found.model), known.n_missing, long.names, known.whole, draft)
        return
    if found.filled is None or found.errors is None:
        return
    if known.whole is None:
        for name, values in (("filled.npy", found.filled), ("errors.npy", found.errors)):
            with draft(name).open("wb") as file:
                np.save(file, values)
        return
    missing = np.isnan(known.X)
    columns = {
        name: FilledColumn(missing[:, j], found.filled[:, j], found.errors[:, j], style)
        for j, (name, style) in enumerate(zip(known.names, styles_of(known.whole, known.names), strict=True))
    }
    _write_both(known.whole, columns, draft)


def _filled_lines(whole: WholeTable, long: LongTable, lines: Pairs) -> FilledColumn:
    """Return the column of values of a long table, with the lines that have none."""
    missing = np.zeros(whole.n_rows, dtype=bool)
    missing[long.empty] = True
    values, errors = np.zeros(whole.n_rows), np.zeros(whole.n_rows)
    values[long.empty], errors[long.empty] = lines.values, lines.errors
    return FilledColumn(missing, values, errors, *styles_of(whole, [long.names.value]))


def styles_of(whole: WholeTable | None, names: Sequence[str]) -> list[Style]:
    """Return how the numbers of some columns are written: as most of the first cells of each are.

    Cost: of a text table the first megabytes are parsed once more.
    """
    if whole is None:
        return [PLAIN] * len(names)
    readings = {column.name: column.reading for column in whole.facts.columns}
    forms = {name: None if (reading := readings[name]) is None else reading.format for name in names}
    first: Any = None
    if whole.text is not None:
        _, tables = written_cells(whole.text[0], whole.facts.origin, **whole.text[1])
        first = dict(zip(whole.names, next(iter(tables)).columns, strict=True))
    found = []
    for name in names:
        form = forms[name]
        if first is None and form is None:
            found.append(Style(whole.decimal))
            continue
        cells = (whole.column(name) if first is None else first[name]).drop_null()[:FIRST_CELLS].to_pylist()
        style = Style(whole.decimal) if form is None else _dress(cells, form)
        found.append(style._replace(places=_places(cells, style.decimal)))
    return found


def _dress(cells: list[str], form: NumberFormat) -> Style:
    """Return the signs of a format, and what stands before and after the digits of most cells."""
    # Whatever is neither a letter nor a digit, or is the money or the unit, on both sides of the digits.
    aside = "|".join([*(re.escape(affix) for affix in (form.currency, form.unit) if affix), r"[^\w.,]"])
    split = re.compile(rf"((?:{aside})*)(.*?)((?:{aside})*)")
    found: tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]] = (Counter(), Counter())
    for cell in cells:
        if decimal_sign(cell) is not None and (parts := split.fullmatch(cell.strip())):
            before, _, after = parts.groups()
            found[bool(MINUS.search(before + after))][before, after] += 1
    (above, _), *_ = found[False].most_common(1) or [(("", ""), 0)]
    minus = above[0].replace("+", "-") if "+" in above[0] else f"-{above[0]}"
    (below, _), *_ = found[True].most_common(1) or [((minus, above[1]), 0)]
    if not found[False]:
        above = MINUS.sub("", below[0]), MINUS.sub("", below[1])
    return Style(form.decimal, form.thousands, above, below)


def _places(cells: list[str], decimal: str) -> int:
    """Return how many digits all numbers among some cells have behind the decimal sign; 0 where they differ.

    Examples
    --------
    >>> _places(["$1,060.80", "NA", "$5.00"], "."), _places(["1.5", "2.25"], "."), _places(["1.5e3", "2.5"], ".")
    (2, 0, 0)
    """
    counts = set()
    for cell in cells:
        found = AFFIXES.fullmatch(cell.strip().replace("\u2212", "-"))
        if found is not None:
            counts.add(0 if EXPONENT.search(cell) else len(found["digits"].strip().partition(decimal)[2]))
    return counts.pop() if len(counts) == 1 else 0


def _write_both(whole: WholeTable, columns: Mapping[str, FilledColumn], draft: Callable[[str], Path]) -> None:
    """Write the table twice: filled, and with the errors of what was filled in place of all numbers."""
    for stem, errors in (("filled", False), ("errors", True)):
        if whole.text is not None:
            _write_text(draft(f"{stem}.{_ending(_delimiter(whole))}"), whole, columns, errors=errors)
        elif whole.is_typed:
            _write_typed(draft(f"{stem}.parquet"), whole, columns, errors=errors)
        else:
            cells = (_cells_of(whole, columns, errors=errors) for _ in range(1))
            _write_lines(draft(f"{stem}.csv"), ",", whole.names, cells)


def _delimiter(whole: WholeTable | None) -> str:
    """Return what stands between the cells of a text table, and of one that is written for another kind."""
    if whole is None or whole.text is None:
        return ","
    dialect, _ = written_cells(whole.text[0], whole.facts.origin, **whole.text[1])
    return "," if dialect.delimiter == SPACES else dialect.delimiter


def _ending(delimiter: str) -> str:
    return "tsv" if delimiter == "\t" else "csv"


def _write_text(path: Path, whole: WholeTable, columns: Mapping[str, FilledColumn], *, errors: bool) -> None:
    """Write a text table as the text that it is, but for the cells that are filled."""
    if whole.text is None:
        return
    dialect, tables = written_cells(whole.text[0], whole.facts.origin, **whole.text[1])

    def parts() -> Iterator[list[list[str]]]:
        at = 0
        for table in tables:
            part = slice(at, at + table.num_rows)
            at = part.stop
            cells = [table[name].to_pylist() for name in table.column_names]
            for j, name in enumerate(whole.names):
                if name in columns:
                    cells[j] = _with_filled(cells[j], columns[name], part, errors=errors)
            yield cells

    _write_lines(path, _delimiter(whole), dialect.header or (whole.names if whole.facts.named else ()), parts())


def _with_filled(cells: list[Any], column: FilledColumn, part: slice, *, errors: bool) -> list[str]:
    found = [""] * len(cells) if errors else cells
    for row, text in zip(np.flatnonzero(column.missing[part]).tolist(), column.texts(part, errors=errors), strict=True):
        found[row] = text
    return found


def _cells_of(whole: WholeTable, columns: Mapping[str, FilledColumn], *, errors: bool) -> list[list[str]]:
    """Return a table of typed columns as text."""
    found = []
    for name in whole.names:
        cells = ["" if value is None else str(value) for value in whole.column(name).to_pylist()]
        part = slice(0, whole.n_rows)
        found.append(_with_filled(cells, columns[name], part, errors=errors) if name in columns else cells)
    return found


def _write_lines(path: Path, delimiter: str, header: tuple[str, ...], parts: Iterator[list[list[str]]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        if header:
            writer.writerow(header)
        for cells in parts:
            writer.writerows(zip(*cells, strict=True))


def _write_typed(path: Path, whole: WholeTable, columns: Mapping[str, FilledColumn], *, errors: bool) -> None:
    """Write columns with their types as Parquet; a filled column of integers becomes one of numbers."""
    import pyarrow as pa
    from pyarrow import parquet

    table = {}
    for name in whole.names:
        cells = whole.column(name)
        if name in columns:
            column = columns[name]
            kind = cells.type if pa.types.is_floating(cells.type) else pa.float64()
            if errors:
                cells = pa.array(np.where(column.missing, column.errors, np.nan), pa.float64(), from_pandas=True)
            elif column.missing.any():
                values = np.where(column.missing, column.values, whole.numbers(name))
                cells = pa.array(values, pa.float64(), from_pandas=True).cast(kind)
        table[name] = cells
    parquet.write_table(pa.table(table), path)


def _write_pairs(
    parts: Iterator[Pairs], count: int, names: LongColumns, whole: WholeTable | None, draft: Callable[[str], Path]
) -> None:
    """Write pairs with what is predicted for them and its standard error: many of them as Parquet."""
    header = (*names, f"{names.value} error")
    if count > LARGEST_CSV:
        _write_parquet(draft("predictions.parquet"), header, parts)
        return
    delimiter, (style,) = _delimiter(whole), styles_of(whole, [names.value])

    def cells() -> Iterator[list[list[str]]]:
        for pairs in parts:
            column = FilledColumn(np.ones(len(pairs.i), dtype=bool), pairs.values, pairs.errors, style)
            yield [*pairs.names(), *(column.texts(slice(None), errors=which) for which in (False, True))]

    _write_lines(draft(f"predictions.{_ending(delimiter)}"), delimiter, header, cells())


def _write_parquet(path: Path, header: tuple[str, ...], parts: Iterator[Pairs]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    with ExitStack() as closing:
        writer: Any = None
        for pairs in parts:
            columns = [pairs.rows, pairs.columns, from_numpy(pairs.values), from_numpy(pairs.errors)]
            table = pa.table(columns, names=list(header))
            writer = writer or closing.enter_context(parquet.ParquetWriter(path, table.schema))
            writer.write_table(table)


def _loadings(found: Filling) -> tuple[list[str], list[Any]]:
    """Return the columns of the table: how much is known of each, its level, and its weight in each component."""
    header = ["column", "known", "level", *found.components]
    columns = [np.array(found.known.names, dtype=object), found.known.counts, found.model.mean]
    return header, [*columns, *found.model.components]
