"""JSON: records, columns or rows in one value, and JSON lines, a record each; read whole, also from gzip."""

import gzip
import json
import zlib
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from gramian.errors import InputError
from gramian.machine import memory_budget, worker_count
from gramian.sources.formats.table import column_of, open_arrow_table, require_small, without_words
from gramian.sources.names import different, name_columns, numbered
from gramian.sources.row_file import OpenedTable

TIMES = 12
"""Bytes held while JSON is read, per byte of it (measured: 5 of records of decimals, 11 of small integers)."""

LINES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
"""Endings of files of JSON lines."""


class _Columns(NamedTuple):
    """Values by column: names, which may be the same, and whether they are the file's own."""

    names: list[str]
    columns: list[list[Any]]
    is_named: bool = True


def read_json(path: Path, origin: str, *, na: Sequence[str] = (), names: Sequence[str] | None = None) -> Any:
    """Return the table of a JSON file as a :class:`pyarrow.Table`.

    A list of records, a mapping of columns (lists, or mappings from row to value), pandas' "split" (columns, index,
    data), a list of rows, or one of these one level down, as in ``{"data": [...]}``. JSON lines hold a record, or a
    row, per line. What a record does not have is missing; nested values become nested columns.

    Parameters
    ----------
    path : Path
    origin : str
        The file as a person named it.
    na : sequence of str
        More words, or numbers, for a missing value.
    names : sequence of str, optional
        Names of the columns, in place of those in the file.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "t.json"
    ...     _ = path.write_text('{"data": [{"who": "ann", "age": 40}, {"who": "bob"}]}')
    ...     read_json(path, "t.json").to_pydict()
    {'who': ['ann', 'bob'], 'age': [40, None]}
    """
    return _read(path, origin, na, names, memory_budget())[0]


def open_json(
    path: Path,
    origin: str,
    *,
    na: Sequence[str] = (),
    names: Sequence[str] | None = None,
    budget: int | None = None,
) -> OpenedTable:
    """Open the table of a JSON file: see :func:`read_json`. Cost: all of the file is read."""
    budget = budget or memory_budget()
    table, is_named, remarks = _read(path, origin, na, names, budget)
    return open_arrow_table(table, origin, path, is_named=is_named, remarks=remarks, budget=budget)


def _read(
    path: Path, origin: str, na: Sequence[str], names: Sequence[str] | None, budget: int
) -> tuple[Any, bool, tuple[str, ...]]:
    """Return the Arrow table, whether its columns have names of their own, and what is said of the names."""
    import pyarrow as pa

    data = _content(path, origin, budget)
    table = _typed_lines(data) if path.name.lower().endswith(LINES) else None
    if table is not None:
        called, remarks = name_columns(table.column_names, names, origin)
        return without_words(table.rename_columns(list(called)), na), True, remarks
    keep = _AllValues()
    found = _columns_of(_parsed(path, data, origin, keep), origin)
    called, remarks = name_columns(found.names, names, origin)
    repeated = sorted(keep.repeated & {*found.names})
    remarks += tuple(
        f"{origin} has records with several values called {name!r}; each has a column." for name in repeated
    )
    columns = [column_of(column, na) for column in found.columns]
    return pa.table(columns, names=list(called)), found.is_named or names is not None, remarks


def _content(path: Path, origin: str, budget: int) -> bytes:
    data = path.read_bytes()
    require_small(len(data), origin, times=TIMES, budget=budget)
    try:
        while data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
            require_small(len(data), origin, times=TIMES, budget=budget)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        message = f"{origin} is damaged or cut short: it cannot be unpacked ({error}). Compress the table again."
        raise InputError(message) from error
    if not data.strip():
        message = f"{origin} is empty. Check what wrote the file."
        raise InputError(message)
    return data


def _typed_lines(data: bytes) -> Any:
    """Return JSON lines as Arrow reads them, fast; ``None`` where it does not, as several kinds in a column."""
    import pyarrow as pa
    from pyarrow import json as arrow_json

    options = arrow_json.ReadOptions(use_threads=worker_count() > 1, block_size=min(len(data) + 1, 1 << 26))
    try:
        _ = data.isascii() or data.decode()  # Arrow keeps what is no UTF-8; it is refused with its place
        return arrow_json.read_json(pa.BufferReader(data), read_options=options)
    except (pa.ArrowException, UnicodeDecodeError):
        return None


def _parsed(path: Path, data: bytes, origin: str, keep: "_AllValues") -> Any:
    """Return the value of a JSON file; a list of values where it holds one per line."""
    text = _text(data, origin)
    if not path.name.lower().endswith(LINES):
        try:
            return json.loads(text, object_pairs_hook=keep)
        except json.JSONDecodeError as error:
            # More values after the first: lines under the name of a whole.
            if error.msg != "Extra data" or "\n" not in text[: error.pos]:
                _refuse(origin, error)
        except RecursionError:
            message = f"{origin} is nested too deeply to hold a table. Save a list of records."
            raise InputError(message) from None
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                found.append(json.loads(line, object_pairs_hook=keep))
            except json.JSONDecodeError as error:
                _refuse(origin, error, line=number)
    return found


def _text(data: bytes, origin: str) -> str:
    encoding = json.detect_encoding(data)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        message = f"{origin} is no {encoding} text, which JSON has to be ({error}). Write the file again as UTF-8."
        raise InputError(message) from error


def _refuse(origin: str, error: json.JSONDecodeError, line: int | None = None) -> None:
    message = (
        f"{origin} is no JSON from line {line or error.lineno:,}, column {error.colno:,} on ({error.msg}): it is "
        "damaged, cut short, or something else. Write the file again."
    )
    raise InputError(message) from error


class _AllValues:
    """Make mappings that keep each value of a repeated name, the others under names of their own."""

    def __init__(self) -> None:
        self.repeated: set[str] = set()

    def __call__(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return the mapping of an object of JSON."""
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        names = [name for name, _ in pairs]
        self.repeated.update(name for name in found if names.count(name) > 1)
        return dict(zip(different(names), (value for _, value in pairs), strict=True))


def _columns_of(value: Any, origin: str, *, is_inner: bool = False) -> _Columns:
    """Return the columns of a value in any of the layouts that are known."""
    if isinstance(value, list) and value:
        if all(isinstance(row, dict) for row in value):
            names = list(dict.fromkeys(chain.from_iterable(value)))
            return _Columns(names, [[row.get(name) for row in value] for name in names])
        if all(isinstance(row, list) for row in value):
            return _of_rows(value, None, origin)
    if isinstance(value, dict):
        columns, data = value.get("columns"), value.get("data")
        if isinstance(columns, list) and isinstance(data, list) and all(isinstance(row, list) for row in data):
            return _of_rows(data, [_name(column) for column in columns], origin)
        if value and all(isinstance(column, list) for column in value.values()) and not _holds_records(value):
            return _of_lists(value, origin)
        if value and all(isinstance(column, dict) and _is_flat(column) for column in value.values()):
            rows = list(dict.fromkeys(chain.from_iterable(value.values())))
            return _Columns(list(value), [[column.get(row) for row in rows] for column in value.values()])
        inner = [data] if isinstance(data, list | dict) else _holds_records(value)
        if len(inner) == 1 and not is_inner:
            return _columns_of(inner[0], origin, is_inner=True)
    kind = {dict: "an object", list: "a list", str: "a text", type(None): "null"}.get(type(value), "a single value")
    message = (
        f"{origin} holds {kind} that is no table. Save a list of records ([{{...}}, {{...}}]), columns "
        '({"a": [...], "b": [...]}), or JSON lines: frame.to_json(path, orient="records").'
    )
    raise InputError(message)


def _is_flat(column: dict[str, Any]) -> bool:
    return not any(isinstance(value, list | dict) for value in column.values())


def _holds_records(value: dict[str, Any]) -> list[Any]:
    """Return the values that are lists of records."""
    lists = (part for part in value.values() if isinstance(part, list) and part)
    return [part for part in lists if all(isinstance(row, dict) for row in part)]


def _of_rows(rows: list[list[Any]], names: list[str] | None, origin: str) -> _Columns:
    width = len(rows[0] if names is None and rows else names or ())
    odd = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if odd is not None:
        message = (
            f"{origin}, row {odd:,} (counted from 0) has {len(rows[odd])} values, and there are {width} columns. Mend "
            "that row."
        )
        raise InputError(message, row=odd)
    called = names or list(numbered(width))
    return _Columns(called, [[row[j] for row in rows] for j in range(width)], names is not None)


def _of_lists(value: dict[str, list[Any]], origin: str) -> _Columns:
    lengths = {name: len(column) for name, column in value.items()}
    first, other = min(lengths, key=lambda name: lengths[name]), max(lengths, key=lambda name: lengths[name])
    if lengths[first] != lengths[other]:
        message = (
            f"{origin}: column {first!r} has {lengths[first]:,} values and column {other!r} {lengths[other]:,}. Give "
            "all columns the same length."
        )
        raise InputError(message, column=first)
    return _Columns(list(value), list(value.values()))


def _name(column: Any) -> str:
    return ".".join(map(str, column)) if isinstance(column, list) else str(column)
