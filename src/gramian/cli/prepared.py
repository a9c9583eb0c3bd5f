"""A table as the flags ask for it, and as it is when it can be fitted."""

import glob
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.cli.talk import Talk
from gramian.sources.opening import as_source
from gramian.sources.rows import RowSource

SPREADS_APART = 5.0
"""Ratio of the largest to the smallest deviation of a column above which columns are scaled when nothing is said."""


@dataclass(frozen=True)
class Asked:
    """What the flags say about reading a table."""

    columns: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id: str | None = None
    color: str | None = None
    missing: str = "em"
    scale: bool | None = None
    memory: int | None = None
    keep_constant: bool = False


@dataclass(frozen=True, eq=False)
class Prepared:
    """Rows ready to be fitted.

    Attributes
    ----------
    source : RowSource
        Without holes; not scaled.
    names : tuple of str
        Of its columns.
    scale : bool
        Whether columns are to be scaled to unit variance.
    notes : tuple of str
        What was done to the table, a sentence each.
    spread : numpy array (d,)
        Deviations of the columns.
    labels : mapping
        The column that colors the rows, by name.
    row_names : array or None
    origin : str
    n_holes : int
        That were filled.
    row_numbers : array of int or None
        Where rows were dropped, the numbers of the others in the file, from 1.
    left_out : tuple of str
        Columns that were left out although they hold numbers: empty or constant ones.
    filled_scaled : bool
        Whether columns counted alike when holes were filled.
    varies : bool
        Whether any column does.
    """

    source: RowSource
    names: tuple[str, ...]
    scale: bool
    notes: tuple[str, ...]
    spread: HostArray
    labels: dict[str, Any] = field(default_factory=dict)
    row_names: Any = None
    origin: str = ""
    n_holes: int = 0
    row_numbers: HostArray | None = None
    left_out: tuple[str, ...] = ()
    filled_scaled: bool = True
    varies: bool = True

    @property
    def called(self) -> list[str] | None:
        """What rows are called in words; ``None`` where that is their place."""
        if self.row_names is not None:
            return [str(name) for name in self.row_names]
        return None if self.row_numbers is None else [f"row {number}" for number in self.row_numbers]


def opened(path: str, asked: Asked, talk: Talk, *, drop: Sequence[str] = ()) -> RowSource:
    """Open a file as the flags say, some further columns left out."""
    words = [*asked.drop, *map(exactly, drop)]
    return as_source(
        path,
        columns=list(asked.columns) or None,
        drop=words or None,
        label=asked.color,
        id=asked.id,
        memory_budget=asked.memory,
        progress=talk,
    )


def spreads_apart(spread: HostArray) -> bool:
    """Tell whether deviations of columns differ so much that columns are scaled when nothing is said.

    Examples
    --------
    >>> spreads_apart(np.array([1.0, 2.0])), spreads_apart(np.array([1.0, 0.0, 20.0]))
    (False, True)
    """
    positive = spread[spread > 0]
    return len(positive) > 1 and ratio(positive) > SPREADS_APART


def ratio(positive: HostArray) -> float:
    """Return the largest over the smallest; the largest float where that is beyond it."""
    with np.errstate(over="ignore"):
        return float(min(positive.max() / positive.min(), np.finfo(np.float64).max))


def exactly(name: str) -> str:
    """Return a word for as_source that stands for a column of this name alone, whatever signs are in it.

    Examples
    --------
    >>> exactly("height"), exactly("a*b")
    ('height', 'a[*]b')
    """
    return glob.escape(name) if not name.startswith(":") else f"[:]{glob.escape(name[1:])}"


def names_of(source: RowSource) -> tuple[str, ...]:
    """Return what the columns used are called; without names, by their place in the file, counted from 1."""
    facts = getattr(source, "facts", None)
    if source.column_names is None and facts is not None:
        return tuple(column.name for column in facts.used)
    return source.column_names or tuple(f"column {j + 1}" for j in range(source.n_columns))


def plain(source: Any) -> Prepared:
    """Return rows as they are, with their labels and names."""
    facts = getattr(source, "facts", None)
    labels = {} if facts is None or facts.label is None else {facts.label: source.labels()}
    row_names = None if facts is None or facts.id is None else source.ids()
    return Prepared(
        source, names_of(source), scale=False, notes=(), spread=np.ones(0), labels=labels, row_names=row_names
    )
