"""Python that opens a table as the command line did: under the pictures of a page, and where it is reproduced."""

from typing import Any

from gramian.cli.prepared import Asked, Prepared, exactly

WIDTH = 88
"""Columns of code, where a list of names is broken."""


def opening_code(path: str, asked: Asked, prepared: Prepared, *, array: bool = False) -> str:
    """Return lines that define `X`, and `names` and `labels` where there are some.

    Parameters
    ----------
    path : str
    asked : Asked
    prepared : Prepared
    array : bool
        Whether `X` has to be an array, because a line takes one row of it.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> rows = as_source(np.eye(3))
    >>> prepared = Prepared(rows, ("a", "b", "c"), scale=False, notes=(), spread=np.ones(3), left_out=("d",))
    >>> print(opening_code("t.csv", Asked(), prepared))
    from gramian.sources import as_source
    <BLANKLINE>
    rows = as_source('t.csv', drop=['d'])
    X = rows
    """
    holes = prepared.n_holes > 0
    lines = ["from gramian.models.probabilistic import fill_holes"] if holes else []
    lines += ["from gramian.sources import as_source", "", _rows(path, asked, prepared)]
    lines.append(_values(prepared, array=array))
    if prepared.source.column_names is not None:
        lines.append("names = rows.column_names")
    lines += [f"labels = {{{name!r}: {_kept(prepared)}}}" for name in prepared.labels]
    return "\n".join(lines)


def _rows(path: str, asked: Asked, prepared: Prepared) -> str:
    drop = [*asked.drop, *map(exactly, prepared.left_out)]
    words: dict[str, Any] = {
        "columns": list(asked.columns),
        "drop": drop,
        "label": asked.color,
        "id": asked.id,
    }
    source = "'table.csv'" if path == "-" else repr(path)
    given = [source, *(f"{name}={_listed(value)}" for name, value in words.items() if value)]
    note = "  # what came from standard input" if path == "-" else ""
    line = f"rows = as_source({', '.join(given)}){note}"
    return line if len(line) <= WIDTH else "rows = as_source(\n    " + ",\n    ".join(given) + f",\n){note}"


def _listed(value: Any) -> str:
    """A value as Python; a list too long for a line, broken between its entries."""
    if isinstance(value, str) or len(repr(value)) < WIDTH - 16:
        return repr(value)
    lines = [""]
    for entry in map(repr, value):
        if len(lines[-1]) + len(entry) > WIDTH - 10:
            lines.append("")
        lines[-1] += f" {entry},"
    return "[\n       " + "\n       ".join(lines) + "\n    ]"


def _values(prepared: Prepared, *, array: bool) -> str:
    taken = "rows.map_rows(lambda block: block.rows)"
    if prepared.n_holes:
        return f"X = fill_holes({taken}{'' if prepared.filled_scaled else ', scale=False'}).rows"
    if prepared.row_numbers is not None:
        return f"X = {taken}\nwhole = (X == X).all(axis=1)  # rows without holes\nX = X[whole]"
    return f"X = {taken}" if array else "X = rows"


def _kept(prepared: Prepared) -> str:
    return "rows.labels()" if prepared.row_numbers is None else "rows.labels()[whole]"
