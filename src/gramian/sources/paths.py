"""From a path, a folder or a glob to rows: which files are meant, which columns are used, many files read as one.

Formats are listed in ``FORMATS`` of :mod:`gramian.sources.formats`.
"""

import glob
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, chain
from pathlib import Path
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError, NotSupportedError, Parameter, ParameterError, Sentence
from gramian.machine import memory_budget
from gramian.sources.file_options import Chosen, FileOptions, is_path
from gramian.sources.file_rows import Labels
from gramian.sources.formats import FORMATS, Format, format_of, is_one_file
from gramian.sources.formats.columns import joined_parts
from gramian.sources.formats.dialect import words_in
from gramian.sources.names import name_columns
from gramian.sources.progress import Say
from gramian.sources.roles import Column, Reading, TableRoles, kind_of, table_roles
from gramian.sources.row_file import FileVersion, OpenedTable, RowFile
from gramian.sources.table_facts import TableFacts, choose_columns
from gramian.sources.transposed import transpose_array, transpose_table


class JoinedFiles(RowFile):
    """Files of a folder or a glob, in the order of their names; float64 when any of them is."""

    def __init__(self, files: Sequence[RowFile], origin: str) -> None:
        _require_same_columns(files)
        self.origin, self.files = origin, tuple(files)
        self.versions = tuple(version for file in files for version in file.versions)
        self.names = files[0].names
        self.dtype = FLOAT32 if all(file.dtype == FLOAT32 for file in files) else FLOAT64
        self._stops = list(accumulate(file.shape[0] for file in files))
        self.shape = (self._stops[-1], files[0].shape[1])
        self.row_shape = _same(file.row_shape for file in files)
        self.label, self.id = _same(file.label for file in files), _same(file.id for file in files)
        self.remarks = tuple(dict.fromkeys(remark for file in files for remark in file.remarks))
        firsts = [0, *self._stops[:-1]]
        self.starts = tuple(first + at for first, file in zip(firsts, files, strict=True) for at in file.starts or (0,))

    @property
    def row_bytes(self) -> int:
        """Bytes of a row of the file in which it takes most."""
        return max(file.row_bytes for file in self.files)

    def read(self, rows: slice) -> Array:
        """Read some consecutive rows, from as many files as they lie in."""
        parts = [self.files[i].read(part) for i, part in self._parts(rows)]
        found = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return found.astype(self.dtype, copy=False)

    def stream(self, windows: Sequence[slice]) -> Iterator[Array]:
        """Yield windows, none of which crosses from one file into the next, in order."""
        at = 0
        while at < len(windows):
            i, _ = self._parts(windows[at])[0]
            here = [window for window in windows[at:] if window.start < self._stops[i]]
            first = self._stops[i] - self.files[i].shape[0]
            own = [slice(window.start - first, window.stop - first) for window in here]
            for rows in self.files[i].stream(own):
                yield rows.astype(self.dtype, copy=False)
            at += len(here)

    def column(self, name: str) -> HostArray:
        """Read a column that is no number from every file."""
        return np.concatenate([file.column(name) for file in self.files])

    def locate(self, row: int) -> tuple[str, int]:
        """Return the file in which a row stands, and its position there."""
        i = bisect_right(self._stops, row)
        return self.files[i].locate(row - (self._stops[i] - self.files[i].shape[0]))

    @property
    def worker_bytes(self) -> int:
        """Bytes that a worker holds to decode a window of the file that takes most."""
        return max(file.worker_bytes for file in self.files)

    def require_room(self, budget: int) -> None:
        """Refuse what any of the files cannot be read in."""
        for file in self.files:
            file.require_room(budget)

    def _parts(self, rows: slice) -> list[tuple[int, slice]]:
        found, at = [], rows.start
        while at < rows.stop:
            i = bisect_right(self._stops, at)
            first, stop = self._stops[i] - self.files[i].shape[0], min(rows.stop, self._stops[i])
            found.append((i, slice(at - first, stop - first)))
            at = stop
        return found


def _same(values: Iterable[Any]) -> Any:
    """Return the value that all of some values are; ``None`` where they differ."""
    found = list(values)
    return found[0] if all(value == found[0] for value in found) else None


def _require_same_columns(files: Sequence[RowFile]) -> None:
    first = files[0]
    for file in files[1:]:
        if file.names != first.names:
            require_same_names(first.origin, first.names or (), file.origin, file.names or ())
        if file.shape[1] != first.shape[1]:
            message = (
                f"{file.origin} has {file.shape[1]} columns, and {first.origin} beside it has {first.shape[1]}. Files "
                "of one folder must have the same columns."
            )
            raise InputError(message)
        if file.is_sparse or first.is_sparse:
            message = f"{file.origin} holds sparse rows, which are read from one file at a time. Name one file."
            raise InputError(message)


def require_same_names(first: str, names: Sequence[str], other: str, others: Sequence[str]) -> None:
    """Refuse a file whose columns are not called as those of the file before it."""
    missing = [name for name in names if name not in others]
    extra = [name for name in others if name not in names]
    if not missing and not extra and len(names) == len(others):
        return
    lacks = f" lacks column {missing[0]!r}" if missing else ""
    has = f" has column {extra[0]!r}" if extra else ""
    joined = " and" if lacks and has else ""
    message = Sentence(
        "{other}{differs}, unlike {first} beside it. Files of one folder must have the same columns; choose those they "
        "share ({columns}), or name one file.",
        other=other,
        differs=f"{lacks}{joined}{has}",
        first=first,
        columns=Parameter("columns"),
    )
    raise InputError(message, column=(missing or extra)[0])


class ChosenColumns(RowFile):
    """Some columns of an array whose columns have names, in any order. Cost: all columns are read, some are kept."""

    def __init__(self, file: RowFile, names: tuple[str, ...]) -> None:
        where = {name: j for j, name in enumerate(file.names or ())}
        self.file, self._columns = file, [where[name] for name in names]
        self.origin, self.versions, self.names = file.origin, file.versions, names
        self.shape, self.dtype, self.is_sparse = (file.shape[0], len(names)), file.dtype, file.is_sparse
        self.starts, self.label, self.id, self.remarks = file.starts, file.label, file.id, file.remarks

    @property
    def n_entries(self) -> int:
        """Stored numbers; of sparse rows as many as an even spread over the columns would leave."""
        return max(1, self.file.n_entries * self.shape[1] // self.file.shape[1])

    @property
    def row_bytes(self) -> int:
        """Bytes of a row as it is read."""
        return self.file.row_bytes

    @property
    def known_by(self) -> tuple[FileVersion, ...]:
        """The files that a checkpoint knows the rows by."""
        return self.file.known_by

    @property
    def worker_bytes(self) -> int:
        """Bytes that a worker holds to decode a window of the file."""
        return self.file.worker_bytes

    def read(self, rows: slice) -> Array:
        """Read the columns of some consecutive rows."""
        return self.file.read(rows)[:, self._columns]

    def stream(self, windows: Sequence[slice]) -> Iterator[Array]:
        """Yield the columns of windows, in order."""
        return (rows[:, self._columns] for rows in self.file.stream(windows))

    def column(self, name: str) -> HostArray:
        """Return labels or names of rows."""
        return self.file.column(name)

    def locate(self, row: int) -> tuple[str, int]:
        """Return the file in which a row stands, and its position there."""
        return self.file.locate(row)

    def require_room(self, budget: int) -> None:
        """Refuse what the file cannot be read in."""
        self.file.require_room(budget)


def open_path(
    X: Any,
    chosen: Chosen,
    options: FileOptions = FileOptions(),
    *,
    budget: int | None = None,
    say: Say | None = None,
) -> tuple[RowFile, TableFacts | None]:
    """Open the file, folder or glob that X names; return its rows and, for tables, what was made of the columns.

    Text is parsed here, once: its numbers are kept within ``budget`` bytes, and ``say`` is called with the progress.

    Raises
    ------
    InputError
        No such file, an empty one, a damaged one: with the file, and the row and column where there is one.
    NotSupportedError
        A kind of file that is not known.
    """
    X = os.path.expanduser(X)  # noqa: PTH111 - a pattern is no path
    if options.labels is not None:
        chosen = _without_label(chosen)
    budget, files = budget or memory_budget(), files_of(X)
    format_, taken, names = _how_read(files, X, chosen, options)
    if "decimal" in format_.takes:
        # 1.234 is a number with a point too.
        styles = {name: reading.format for name, reading in (chosen.readings or {}).items()}
        taken["texts"] = [name for name, style in styles.items() if style is not None and style.decimal == ","]
    if not format_.has_named_columns:
        return _open_arrays(files, format_, str(X), chosen, taken, names=names, budget=budget, options=options), None
    opened = _tables(files, format_, taken, budget, say)
    if options.transpose:
        opened = _transposed_tables(opened, str(X), names, budget=budget)
    rows, facts = open_tables(opened, str(X), chosen)
    return rows, replace(facts, remarks=(*_unread_folders(Path(X)), *facts.remarks))


def _tables(
    files: list[Path], format_: Format, taken: dict[str, Any], budget: int, say: Say | None
) -> Iterator[OpenedTable]:
    told = taken | ({"say": say} if "say" in format_.takes else {})
    return (format_.open(path, str(path), budget=budget // len(files), **told) for path in files)


def _how_read(
    files: list[Path], X: Any, chosen: Chosen, options: FileOptions
) -> tuple[Format, dict[str, Any], tuple[str, ...] | None]:
    """Return the format of files, what it is opened with, and the names that a person gives."""
    format_, names = _the_format(files, X), _given_names(options.names)
    signs = {reading.file_decimal for reading in (chosen.readings or {}).values()}
    if options.decimal is None and "decimal" in format_.takes and "," in signs:
        options = options._replace(decimal=",")
    taken = _taken(format_, chosen, options._replace(names=None if options.transpose else names), files[0])
    return format_, taken, names


class WholeTable:
    r"""A table with all of its columns, whatever they are: for what reads text and ids, and writes a table back.

    Attributes
    ----------
    names : tuple of str
    n_rows : int
    facts : TableFacts
        What each column is.
    decimal : str
        The decimal sign of text.
    is_typed : bool
        Whether the columns of the file have types of their own, as those of Parquet and Arrow.
    text : tuple of (path, mapping) or None
        The one text table that it was parsed from, and what that was said to be.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "t.csv"
    ...     _ = path.write_text("who,age\nann,40\nbob,?\n")
    ...     table = open_whole(path, Chosen())
    >>> table.names, table.column("who").to_pylist(), table.numbers("age")
    (('who', 'age'), ['ann', 'bob'], array([40., nan]))
    """

    def __init__(
        self,
        tables: Sequence[OpenedTable],
        chosen: Chosen,
        origin: str,
        *,
        is_typed: bool = True,
        text: tuple[Path, dict[str, Any]] | None = None,
    ) -> None:
        first, *others = tables
        for other in others:
            require_same_names(first.origin, first.names, other.origin, other.names)
        self.names, self.n_rows, self.text = first.names, sum(table.n_rows for table in tables), text
        self._tables, self.is_typed, self.decimal = tuple(tables), is_typed, first.decimal or "."
        facts = _facts_of(first, _roles_of(first, chosen), chosen, origin, may_be_empty=True)
        self.facts = replace(facts, n_rows=self.n_rows)
        self._columns = {column.name: column for column in self.facts.columns}

    def column(self, name: str) -> Any:
        """Return a column as Arrow holds it."""
        parts = [chunk for table in self._tables for chunk in table.column(name).chunks]
        return joined_parts(parts, self.decimal)

    def numbers(self, name: str) -> HostArray:
        """Return a column as float64, read as its role says: NaN where a cell is missing, or is no number."""
        return self._columns[name].numbers(self.column(name))


def open_whole(
    X: Any, chosen: Chosen, options: FileOptions = FileOptions(), *, budget: int | None = None, say: Say | None = None
) -> WholeTable | None:
    """Open a table with all of its columns; ``None`` for files that hold arrays, whose columns are numbers alone.

    Cost: text is parsed once; other files are decoded column by column, as these are asked for.
    """
    X = os.path.expanduser(X)  # noqa: PTH111 - a pattern is no path
    budget, files = budget or memory_budget(), files_of(X)
    format_, taken, names = _how_read(files, X, chosen, options)
    if not format_.has_named_columns:
        return None
    opened = _tables(files, format_, taken, budget, say)
    if options.transpose:
        opened = _transposed_tables(opened, str(X), names, budget=budget)
    text = (files[0], taken) if format_.name == "csv" and len(files) == 1 and not options.transpose else None
    is_typed = format_.name in ("parquet", "arrow")
    return WholeTable(list(opened), chosen, str(X), is_typed=is_typed, text=text)


def _without_label(chosen: Chosen) -> Chosen:
    """Look for no label in the file where labels are given."""
    if isinstance(chosen.label, str):
        message = Sentence(
            "{label} and {labels} both say what labels the rows. Give one of them.",
            label=Parameter("label", (chosen.label,)),
            labels=Parameter("labels"),
        )
        raise ParameterError(message, parameter="labels")
    return chosen._replace(label=False)


def _taken(format_: Format, chosen: Chosen, options: FileOptions, path: Path) -> dict[str, Any]:
    """Return what a format is opened with; refuse what it knows nothing of, and values without a meaning."""
    message: str
    if options.decimal not in (None, ",", "."):
        message = Sentence("{given}: a decimal sign is ',' or '.'.", given=Parameter("decimal", (options.decimal,)))
        raise ParameterError(message, parameter="decimal", value=options.decimal)
    words: tuple[Any, ...] = (options.na,) if isinstance(options.na, str) else tuple(options.na or ())
    said: dict[str, Any] = options._asdict() | {"na": words}
    for name in ("array", "sheet", "na"):
        value = next((word for word in words if not isinstance(word, str)), None) if name == "na" else said[name]
        if value is not None and not isinstance(value, str):
            message = f"{name} holds {value!r}, of type {type(value).__name__}. Pass a string."
            raise ParameterError(message, parameter=name, value=value)
    for name in ("array", "sheet", "decimal", "na"):
        if said[name] and name not in format_.takes:
            kinds = [format_.endings[0] for format_ in FORMATS if name in format_.takes]
            message = Sentence(
                "{given} is for files of {kinds}, and {path} is none of them: it would change nothing. Leave it out.",
                given=Parameter(name),
                kinds=" and ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds),
                path=path,
            )
            raise ParameterError(message, parameter=name, value=said[name])
    said |= {"label": chosen.label, "id": chosen.id}
    return {name: said[name] for name in format_.takes if said.get(name) not in (None, ())}


def _open_arrays(
    files: list[Path],
    format_: Format,
    origin: str,
    chosen: Chosen,
    taken: dict[str, Any],
    *,
    names: tuple[str, ...] | None,
    budget: int,
    options: FileOptions,
) -> RowFile:
    """Open arrays, of which all columns are used."""
    chosen = chosen._replace(label=None if "label" in taken else chosen.label, id=None if "id" in taken else chosen.id)
    if format_.one_row_per_file:
        found: RowFile = format_.open(files, origin)
    else:
        opened = [format_.open(path, str(path), **taken) for path in files]
        found = opened[0] if len(opened) == 1 else JoinedFiles(opened, origin)
    if options.transpose:
        found = transpose_array(found, budget)
    if found.names is not None or names is not None:
        found.names, remarks = name_columns(found.names or [""] * found.shape[1], names, origin)
        found.remarks += remarks
    if found.names is None:
        _refuse_columns(chosen, files[0])
        return found
    _refuse_columns(chosen._replace(columns=None, drop=None), files[0])
    if chosen.columns is None and chosen.drop is None:
        return found
    numbers = TableRoles(tuple(Column(name, "number", "quantity", "numbers") for name in found.names), ())
    facts = choose_columns(numbers, origin=origin, n_rows=found.shape[0], columns=chosen.columns, drop=chosen.drop)
    used = tuple(column.name for column in facts.used)
    return found if used == found.names else ChosenColumns(found, used)


def _transposed_tables(
    tables: Iterator[OpenedTable], origin: str, names: tuple[str, ...] | None, *, budget: int
) -> Iterator[OpenedTable]:
    """Give the one table whose columns are the rows of all these; the first column of text names its columns."""
    first = next(tables)
    examined = first.examined(numbers=False)
    text = next((name for name, column in examined.items() if kind_of(column.type) == "text"), None)
    known = Chosen(label=False, id=False if text is None else text)
    rows, facts = open_tables(chain([first], tables), origin, known)
    yield transpose_table(rows, facts, budget, names)


def _given_names(given: Any) -> tuple[str, ...] | None:
    if given is None:
        return None
    names = words_of(given, "names")
    odd = next((name for name in names if not isinstance(name, str)), None)
    if odd is not None:
        message = f"names holds {odd!r}, of type {type(odd).__name__}. Pass strings."
        raise ParameterError(message, parameter="names")
    return tuple(names)


def labels_of(given: Any, n_rows: int) -> Labels:
    """Return the labels that a person gives, one per row: a sequence, a file with one per line, or an .npy array.

    A first line that is one too many is what they are called.

    Examples
    --------
    >>> labels_of(["a", "b", None], 3)
    Labels(name='labels', values=array(['a', 'b', ''], dtype=object))
    """
    words = ["" if word is None else str(word) for word in words_of(given, "labels")]
    name = Path(given).stem if is_path(given) else "labels"
    if is_path(given) and len(words) == n_rows + 1:
        name, *words = words
    if len(words) != n_rows:
        message = Sentence(
            "{labels} gives {count:,} labels, and there are {n_rows:,} rows. Give one per row.",
            labels=Parameter("labels"),
            count=len(words),
            n_rows=n_rows,
        )
        raise ParameterError(message, parameter="labels")
    return Labels(name, np.array(words, dtype=object))


def words_of(given: Any, parameter: str) -> list[Any]:
    """Return the words that a person gives: a sequence, or a file with one per line, or all in one line."""
    if not is_path(given):
        if isinstance(given, Iterable) and not isinstance(given, (str, bytes, dict)):
            return list(given)
        message = f"{parameter} is {given!r}. Pass the path of a file, or a sequence."
        raise ParameterError(message, parameter=parameter)
    path = Path(os.path.expanduser(given))  # noqa: PTH111 - as the path of the rows is read
    if not path.is_file():
        message = Sentence(
            "There is no file {given!r}{hint}", given=str(given), hint=f" for {parameter}{near_name(path)}"
        )
        raise InputError(message)
    if path.suffix.lower() == ".npy":
        array = np.load(path, allow_pickle=False)
        return [str(word) for word in array.ravel().tolist()]
    return words_in(path.read_bytes())


def _the_format(files: list[Path], X: Any) -> Format:
    """Return the one format of all files, or say which of them is of another."""
    formats = [format_of(path) for path in files]
    for usual in formats:
        others = [path for path, found in zip(files, formats, strict=True) if found is not usual]
        if usual is not None and usual.one_row_per_file and 0 < len(others) <= len(files) / 2:
            like = files[formats.index(usual)]
            message = (
                f"{others[0]} is no {usual.name} by the end of its name, and lies among {len(files) - len(others):,} "
                f"that are. Take it out of the folder, or name the {usual.name}s alone: "
                f"'{like.parent / '*'}{like.suffix}'."
            )
            raise NotSupportedError(message)
    for path, found in zip(files, formats, strict=True):
        if found is None:
            known = ", ".join(format_.endings[0] for format_ in FORMATS)
            message = (
                f"{path} is of no kind known by the end of its name ({known}). Rename it, or convert it to one of "
                "these."
            )
            raise NotSupportedError(message)
        if found is not formats[0]:
            message = (
                f"{X} holds files of several kinds: {files[0].name} and {path.name}. Name one kind: "
                f"{X}/*{files[0].suffix}"
            )
            raise InputError(message)
    return formats[0]  # type: ignore[return-value]


def _unread_folders(path: Path) -> tuple[str, ...]:
    """Say that folders inside a folder are not read, where there are any with files."""
    if not path.is_dir() or is_one_file(path):
        return ()
    file = _file_below(path)
    if file is None:
        return ()
    return (f"Folders inside {path} are not read; to read them too, name '{path / '**' / '*'}{file.suffix}'.",)


def _file_below(path: Path) -> Path | None:
    """Return a file in a folder inside this one, however deep."""
    folders = (child for child in sorted(path.iterdir()) if child.is_dir() and not _is_hidden(child.relative_to(path)))
    inside = (child for folder in folders for child in folder.rglob("*") if child.is_file())
    return next((child for child in inside if not _is_hidden(child.relative_to(path))), None)


def _is_hidden(path: Path) -> bool:
    return any(part[0] in "._" for part in path.parts)


def open_tables(tables: Iterator[OpenedTable], origin: str, chosen: Chosen) -> tuple[RowFile, TableFacts]:
    """Choose the columns by the first file, and keep of each file what is used before the next one is opened."""
    first = next(tables)
    facts = _facts_of(first, _roles_of(first, chosen), chosen, origin)
    texts = facts.texts
    wanted = _shared_names(first, facts, chosen)
    try:
        strict = {"lenient": chosen.lenient, "sentinels": chosen.sentinels}
        files = [first.rows(facts.used, texts, **strict)]
        for table in tables:
            require_same_names(first.origin, wanted, table.origin, _shared_names(table, facts, chosen))
            files.append(table.rows(_same_columns(table, facts, chosen, first.origin), texts, **strict))
    except InputError as error:
        error.table = facts
        raise
    rows = files[0] if len(files) == 1 else JoinedFiles(files, origin)
    return rows, replace(facts, n_rows=rows.shape[0], remarks=first.remarks)


def _facts_of(
    table: OpenedTable, found: TableRoles, chosen: Chosen, origin: str, *, may_be_empty: bool = False
) -> TableFacts:
    """Decide what columns are used for."""
    return choose_columns(
        found,
        origin=origin,
        n_rows=table.n_rows,
        columns=chosen.columns,
        drop=chosen.drop,
        label=chosen.label,
        id=chosen.id,
        named=table.named,
        needs_numbers=chosen.needs_numbers,
        may_be_empty=may_be_empty,
    )


def _roles_of(table: OpenedTable, chosen: Chosen) -> TableRoles:
    """Decide what each column is; columns of floats that need not be read for it are quantities."""
    examined = table.examined(numbers=chosen.sentinels)
    found = table_roles(
        examined,
        roles=chosen.roles or {},
        index=table.frame_index,
        decimal=table.decimal,
        doubtful=table.doubtful,
    )
    known = {column.name: column for column in found.columns}
    for name, reading in (chosen.readings or {}).items():
        if name in known:
            known[name] = _read_as(known[name], reading, is_text=kind_of(examined[name].type) == "text")
    columns = (known.get(name) or Column(name, "number", "quantity", "numbers") for name in table.names)
    n_examined = len(next(iter(examined.values()))) if examined else table.n_rows
    remarks = found.remarks
    if n_examined < table.n_rows:
        # What holds in every row is not known.
        what = "what columns are, their ranges and the counts of their levels, is told by these"
        remarks = (f"{n_examined:,} of {table.n_rows:,} rows, spread over the file, were examined: {what}.",)
    return replace(found, columns=tuple(columns), remarks=remarks)


def _read_as(column: Column, reading: Reading, *, is_text: bool) -> Column:
    """Return a column that is read as that of another table was: its format where this is text, its sentinels."""
    if not is_text:
        return replace(column, reading=replace(reading, format=None))
    if reading.format is None:
        return replace(column, reading=replace(column.reading or reading, missing=reading.missing))
    return replace(column, kind="number", role="quantity", reading=reading)


def _shared_names(table: OpenedTable, facts: TableFacts, chosen: Chosen) -> list[str]:
    """Return the columns that files must share: an index that nothing is made of may be in some of them alone."""
    used = [column.name for column in facts.used]
    if chosen.columns is not None:
        return [name for name in table.names if name in used]
    return [name for name in table.names if name not in table.frame_index or name in (*used, *facts.texts)]


def _same_columns(table: OpenedTable, facts: TableFacts, chosen: Chosen, first: str) -> list[Column]:
    """Return the columns used as a further file writes them; one that holds no numbers there is refused."""
    found = {column.name: column for column in _roles_of(table, chosen).columns}
    for column in facts.used:
        here = found[column.name]
        if here.kind in ("text", "date", "nested"):
            message = Sentence(
                "Column {name!r} of {origin} holds {kind}, and numbers in {first} beside it. Mend that file, or leave "
                "the column out ({drop}).",
                name=column.name,
                origin=table.origin,
                kind=here.kind,
                first=first,
                drop=Parameter("drop"),
            )
            raise InputError(message, column=column.name)
    return [found[column.name] for column in facts.used]


def files_of(X: Any) -> list[Path]:
    """Return the files that a path, a folder or a glob names, or say that there are none: none is opened."""
    path = Path(X)
    if path.is_dir() and not is_one_file(path):
        found = sorted(child for child in path.iterdir() if child.is_file() and child.name[0] not in "._")
        if not found:
            _refuse_no_files(path)
        return found
    if path.exists():
        return [_require_content(path)]
    matching = map(Path, glob.glob(str(X), recursive=True))  # noqa: PTH207 - a path cannot hold an absolute pattern
    found = sorted(child for child in matching if child.is_file() or is_one_file(child))
    if not found:
        _refuse_missing(X, path)
    return [_require_content(child) for child in found]


def _refuse_no_files(path: Path) -> None:
    file = _file_below(path)
    message = f"{path} is a folder without files. Name a folder of tables, or a file."
    if file is not None:
        message = (
            f"{path} holds folders and no files of its own, and folders inside a folder are not read. Name the files "
            f"in them: '{path / '**' / '*'}{file.suffix}'. A value that only the name of a folder tells (year=2020) is "
            "no column then."
        )
    raise InputError(message)


def _require_content(path: Path) -> Path:
    if path.is_file() and path.stat().st_size == 0:
        message = f"{path} is empty: 0 bytes. Check what wrote the file."
        raise InputError(message)
    return path


def _refuse_missing(X: Any, path: Path) -> None:
    if any(sign in str(X) for sign in "*?["):
        message = f"No file matches {str(X)!r}. Check the pattern, and the folder it is looked for in ({Path.cwd()})."
    else:
        message = f"There is no file {str(X)!r}{near_name(path)} It was looked for in {Path.cwd()}."
    raise InputError(message)


def near_name(path: Path) -> str:
    """End the sentence about a file that is not there: no folder either, or a file whose name is nearly the same.

    Names are compared without their endings, which are alike among tables that have nothing else in common; a slip
    in the first letter is rare, and other words that share letters are not.

    Examples
    --------
    >>> near_name(Path("no such folder/table.csv"))
    ": there is no folder 'no such folder' either."
    """
    from difflib import get_close_matches

    if not path.parent.is_dir():
        return f": there is no folder {str(path.parent)!r} either."
    # Of files that differ in their ending alone, the last one counts: that with the ending asked for.
    there = sorted(path.parent.iterdir(), key=lambda child: (child.suffix == path.suffix, child.name))
    names = {child.name.partition(".")[0].casefold(): child.name for child in there}
    stem = path.name.partition(".")[0].casefold()
    found = get_close_matches(stem, [name for name in names if name[:1] == stem[:1]], n=1, cutoff=0.75)
    return f". Did you mean {names[found[0]]!r}?" if found else ". Check the name."


def _refuse_columns(chosen: Chosen, path: Path) -> None:
    """Refuse a choice where there is none: columns of an array without names, and columns of text in any array."""
    asked = chosen._replace(lenient=False, sentinels=False, readings=None, needs_numbers=False)._asdict()
    given = [name for name, value in asked.items() if value not in (None, False)]
    if not given:
        return
    message = Sentence(
        "{path} holds an array, which is used with all its columns, so {given} has no meaning. Save a table.",
        path=path,
        given=Parameter(given[0]),
    )
    raise ParameterError(message)
