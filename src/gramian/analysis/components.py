"""What a component is: the columns that go with it, the rows at both of its ends, and its share of the variance.

In the words of FactoMineR: a column's *correlation* with the scores, its *squared cosine* (the square of that: the part
of the column's variance that the component holds), and its *contribution* (the part of the component that the column
makes up). Columns are named by their correlations, which do not depend on units.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.analysis.findings import Finding, called, columns_word, joined, percent, share_words
from gramian.analysis.intervals import Intervals, correlations_of
from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64

NAMED = 3
"""Columns that are named at an end of a component, at most."""

ENDS = 2
"""Rows that are named at an end of a component, at most."""

ONE_COLUMN = 0.9
"""Contribution, and squared cosine, above which a component is little more than one column."""


@dataclass(frozen=True, eq=False)
class ColumnParts:
    """How columns and components go together, each (k, d).

    Attributes
    ----------
    correlations : numpy array or None
        ``None`` where deviations of the columns are not known.
    contributions : numpy array
        Squared entries of the unit vectors; each row sums to one.
    """

    correlations: HostArray | None
    contributions: HostArray

    @property
    def cos2(self) -> HostArray | None:
        """Part of each column's variance that each component holds."""
        return None if self.correlations is None else self.correlations**2

    @classmethod
    def of(cls, model: Any, spread: HostArray | None) -> "ColumnParts":
        """Measure them from a fitted PCA, and deviations of the columns as it saw them."""
        V, lam = model.directions, to_host(model.variances).astype(FLOAT64)
        known = spread is not None and model.is_centered
        return cls(correlations_of(V, lam, spread) if known and spread is not None else None, V**2)


@dataclass(frozen=True)
class Ends:
    """Columns that rise and fall along a component, the strongest first, and rows at its ends, the outermost first.

    Attributes
    ----------
    rising, falling : tuple of int
        Columns; the strongest one of neighbors along an axis.
    stretches : dict of int to (int, int)
        The first and last of the neighbors that each stands for.
    high, low : tuple of int
        Rows.
    """

    rising: tuple[int, ...]
    falling: tuple[int, ...]
    stretches: dict[int, tuple[int, int]]
    high: tuple[int, ...] = ()
    low: tuple[int, ...] = ()


def along_axis(names: Sequence[str], table_columns: Sequence[str] = ()) -> HostArray | None:
    """Tell which columns have the next one as their neighbor along an axis (d - 1,); ``None`` where none has.

    Their names are numbers of one unit that rise, or fall, as of wavelengths, and no column of the table that was left
    out lies between them.

    Examples
    --------
    >>> along_axis(["900 nm", "902 nm", "906 nm", "octane"]).tolist()
    [True, True, False]
    >>> along_axis(["900", "902", "906"], ["900", "902", "904", "906"]).tolist()
    [True, False]
    >>> along_axis(["1", "3", "2"]), along_axis(["a", "b", "c"])
    (None, None)
    """
    found = [re.fullmatch(r"\s*([-+]?\d+(?:\.\d+)?)[\s_]*([^\W\d]*|\([^()]*\))\s*", name) for name in names]
    numbers = np.array([float(one[1]) if one else np.nan for one in found])
    steps = np.diff(numbers[~np.isnan(numbers)])
    if len(steps) < 2 or not ((steps > 0).all() or (steps < 0).all()) or len({one[2] for one in found if one}) > 1:
        return None
    place = {name: i for i, name in enumerate(table_columns)}
    places = np.array([place.get(name, i) for i, name in enumerate(names)])
    near: HostArray = ~np.isnan(np.diff(numbers)) & (np.diff(places) == 1)
    return near


def stretches(order: Sequence[int], sides: HostArray, near: HostArray | None) -> dict[int, tuple[int, int]]:
    """Return the first and last column of each stretch of neighbors on one side, by the first of them in an order.

    Without neighbors along an axis each column is a stretch of its own.

    Examples
    --------
    >>> stretches([1, 0, 3, 4], np.array([1, 1, 0, -1, 1]), np.ones(4, dtype=bool))
    {1: (0, 1), 3: (3, 3), 4: (4, 4)}
    """
    if near is None:
        return {j: (j, j) for j in order}
    starts = np.flatnonzero(np.r_[True, ~near | (np.diff(sides) != 0)])
    ends = np.r_[starts[1:], len(sides)] - 1
    found: dict[int, int] = {}
    for j in order:
        found.setdefault(int(np.searchsorted(starts, j, side="right")) - 1, j)
    return {j: (int(starts[at]), int(ends[at])) for at, j in found.items()}


def stretch_names(names: Sequence[str], columns: Sequence[int], reach: dict[int, tuple[int, int]]) -> list[str]:
    """Return what columns are called with the neighbors that they stand for.

    Examples
    --------
    >>> stretch_names(["1", "2", "3", "4", "5", "6"], [1, 4], {1: (0, 2), 4: (4, 5)})
    ['1 to 3', '5', '6']
    """
    called: list[str] = []
    for first, last in (reach[j] for j in columns):
        called += [f"{names[first]} to {names[last]}"] if last > first + 1 else names[first : last + 1]
    return called


def _ends_of_stretches(
    about: "Described", columns: Sequence[int], reach: dict[int, tuple[int, int]]
) -> list[list[str]]:
    return [[about.names[j] for j in reach[column]] for column in columns]


def ends_of(
    component: int,
    parts: ColumnParts,
    intervals: Intervals | None,
    scores: HostArray | None,
    *,
    has_names: bool,
    near: HostArray | None = None,
) -> Ends:
    """Choose what is named at both ends of a component.

    Columns whose correlation is at least 0.7 of the strongest, and whose interval does not contain zero: none where
    that of the strongest does. Where no correlation is known, those with half an equal contribution. Of neighbors along
    an axis (``near``) the strongest stands for all. Rows are named where they have names.
    """
    if parts.correlations is not None:
        weight = parts.correlations[component]
        strong = np.abs(weight) >= 0.7 * np.abs(weight).max(initial=0.0) - 1e-12
        if intervals is not None and component < len(intervals.correlations):
            low, high = np.moveaxis(intervals.correlations[component], -1, 0)
            strong &= (low > 0) | (high < 0)
            strong &= strong[np.argmax(np.abs(weight))]
    else:
        V = parts.contributions[component]
        weight, strong = V, len(V) * V >= 0.5
    # Rounding does not order what is equal: names do, which are told apart.
    order = np.argsort(-np.round(np.abs(weight), 9), kind="stable")
    sides = np.where(strong, np.sign(weight), 0.0)
    named = stretches([int(j) for j in order if sides[j] != 0], sides, near)
    rising, falling = [j for j in named if weight[j] > 0][:NAMED], [j for j in named if weight[j] < 0][:NAMED]
    rows: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    if scores is not None and has_names and len(scores) > 2 * ENDS:
        rows = _outermost(-scores[:, component]), _outermost(scores[:, component])
    return Ends(tuple(rising), tuple(falling), {j: named[j] for j in (*rising, *falling)}, *rows)


def _outermost(scores: HostArray) -> tuple[int, ...]:
    """Return the rows with the smallest values, in order."""
    first = np.argpartition(scores, ENDS)[:ENDS]
    return tuple(int(i) for i in first[np.argsort(scores[first], kind="stable")])


@dataclass(frozen=True, eq=False)
class Described:
    """All that sentences about components rest on.

    Attributes
    ----------
    names : sequence of str
        Of the columns.
    shares : numpy array (k,)
    parts : ColumnParts
    intervals : Intervals or None
    scores : numpy array (n, k) or None
    row_names : sequence of str or None
    telling : bool
        Whether names of columns tell a reader anything.
    prefix : str
    near : numpy array of bool (d - 1,) or None
        Columns whose next one is their neighbor along an axis.
    """

    names: Sequence[str]
    shares: HostArray
    parts: ColumnParts
    intervals: Intervals | None
    scores: HostArray | None
    row_names: Sequence[str] | None
    telling: bool = True
    prefix: str = "PC"
    near: HostArray | None = None

    def name(self, component: int) -> str:
        """What a component is called."""
        return f"{self.prefix}{component + 1}"

    def interval(self, component: int) -> tuple[float, float] | None:
        """Where its share would lie in other samples."""
        if self.intervals is None or component >= len(self.intervals.shares):
            return None
        return _share_pair(self.intervals.shares[component])

    def together(self, count: int) -> tuple[float, float] | None:
        """Where the share of the first so many would lie in other samples."""
        if self.intervals is None or not 0 < count <= len(self.intervals.together):
            return None
        return _share_pair(self.intervals.together[count - 1])

    def tied(self, component: int) -> tuple[int, ...]:
        """Components that are not told apart from one, it among them."""
        return (component,) if self.intervals is None else self.intervals.tied_with(component)


def _pair(ends: HostArray) -> tuple[float, float]:
    return float(ends[0]), float(ends[1])


def _share_pair(ends: HostArray) -> tuple[float, float] | None:
    return _pair(ends) if np.isfinite(ends).all() else None


def component_finding(about: Described, component: int) -> Finding:
    """Say what a component is: its columns and rows at both ends, and its share.

    A component that shares its variance with a neighbor has no ends of its own: see :func:`plane_finding`.
    """
    share, interval = float(about.shares[component]), about.interval(component)
    has_names = about.row_names is not None
    ends = ends_of(component, about.parts, about.intervals, about.scores, has_names=has_names, near=about.near)
    name, holds = about.name(component), f"holds {share_words(share, interval)} of the variance"
    numbers: dict[str, Any] = {"share": share, **_interval_numbers(interval)}
    evidence = _evidence(about, component, ends)
    if about.telling and len(about.names) == 1:
        words, numbers = f"There is one column, {about.names[0]}, so {name} is that column.", {}
    elif about.telling and (ends.rising or ends.falling):
        words = f"{_columns_words(about, component, ends)}{_rows_words(about, ends)}. It {holds}."
    else:
        words = f"{name} {holds}{_rows_words(about, ends)}."
    return Finding("component", words, numbers, evidence, (component,))


def _columns_words(about: Described, component: int, ends: Ends) -> str:
    """Say which columns go with a component, and against which."""
    name, strongest = about.name(component), (ends.rising or ends.falling)[0]
    rising, falling = (stretch_names(about.names, side, ends.stretches) for side in (ends.rising, ends.falling))
    side = rising or falling
    if is_one_column(about.parts, component):
        return f"{name} is little more than the column {about.names[strongest]}"
    word = columns_word([*rising, *falling]).capitalize()
    if rising and falling:
        return f"{word}{joined(rising)} against {joined(falling)} along {name}"
    if side == [about.names[strongest]]:
        return f"{word}{side[0]} goes most with {name}"
    return f"{word}{joined(side)} go together along {name}"


def _rows_words(about: Described, ends: Ends) -> str:
    if not ends.high or about.row_names is None:
        return ""
    high, low = (called([about.row_names[i] for i in side]) for side in (ends.high, ends.low))
    return f": {high} at one end, {low} at the other"


def is_one_column(parts: ColumnParts, component: int) -> bool:
    """Tell whether a component is little more than one column: it makes up 90% of it, and is held by it to 90%."""
    most = int(np.argmax(parts.contributions[component]))
    cos2 = parts.cos2
    return bool(
        parts.contributions[component, most] > ONE_COLUMN and (cos2 is None or cos2[component, most] > ONE_COLUMN)
    )


def plane_finding(about: Described, tied: Sequence[int], *, kept: int) -> Finding:
    """Say that components have nearly one variance: what they span is fixed, not the axes within it.

    Where some of them are not among the ``kept`` ones, that the cut goes through them.
    """
    share = float(about.shares[list(tied)].sum())
    each = [float(about.shares[j]) for j in tied]
    called, shares = joined([about.name(j) for j in tied]), joined([percent(part) for part in each])
    numbers: dict[str, Any] = {f"share_{j + 1}": part for j, part in zip(tied, each, strict=True)}
    if len(tied) > 3 and tied[-1] - tied[0] == len(tied) - 1:
        called, shares = (
            f"{about.name(tied[0])} to {about.name(tied[-1])}",
            f"{percent(each[0])} to {percent(each[-1])}",
        )
    what = "a plane, not as two axes" if len(tied) == 2 else f"a space of {len(tied)} dimensions, not as axes"
    words = f"The variances of {called} ({shares}) are not told apart by these rows"
    out = [about.name(j) for j in tied if j >= kept]
    if out:
        left_out = joined(out) if len(out) < 4 else f"{out[0]} to {out[-1]}"
        words += f", and the cut goes through them: {left_out} {'is' if len(out) == 1 else 'are'} not kept"
    else:
        words += f": take them as {what}"
    numbers |= {"dimensions": len(tied)}
    evidence: dict[str, Any] = {"components": list(tied)}
    if about.intervals is not None:
        gaps = [float(about.intervals.gaps[tied[0], j]) for j in tied[1:]]
        evidence |= {
            "gaps": gaps,
            "test": "gap of log variances under two standard errors, by bootstrap or to first order",
        }
        evidence |= _draws(about.intervals)
    cos2 = about.parts.cos2
    if about.telling and cos2 is not None and len(about.names) > len(tied):
        inside = cos2[list(tied)].sum(axis=0)
        order = [int(j) for j in np.argsort(-np.round(inside, 9), kind="stable") if inside[j] >= 0.5]
        reach = stretches(order, inside >= 0.5, about.near)
        named = [*reach][:NAMED]
        if named:
            held = stretch_names(about.names, named, reach)
            words += f". Together they hold most of {columns_word(held)}{joined(held)}"
            evidence |= {"columns": [about.names[j] for j in named], "cos2": [float(inside[j]) for j in named]}
            evidence |= {"stretches": _ends_of_stretches(about, named, reach)} if about.near is not None else {}
    return Finding("plane", f"{words}.", numbers | {"share": share}, evidence, tuple(tied))


def _interval_numbers(interval: tuple[float, float] | None) -> dict[str, float]:
    return {} if interval is None else {"share_low": interval[0], "share_high": interval[1]}


def _draws(intervals: Intervals) -> dict[str, Any]:
    return {"interval": "95%, bootstrap", "rows_drawn_from": intervals.n_rows, "draws": intervals.n_draws}


def _evidence(about: Described, component: int, ends: Ends) -> dict[str, Any]:
    """Return names, correlations with intervals, squared cosines and contributions of what a sentence names."""
    evidence: dict[str, Any] = {"component": component}
    parts, columns = about.parts, [*ends.rising, *ends.falling]
    if about.telling and columns:
        evidence["columns"] = [about.names[j] for j in columns]
        if about.near is not None:
            evidence["stretches"] = _ends_of_stretches(about, columns, ends.stretches)
        evidence["contributions"] = [float(parts.contributions[component, j]) for j in columns]
        if parts.correlations is not None:
            evidence["correlations"] = [float(parts.correlations[component, j]) for j in columns]
            evidence["cos2"] = [float(parts.correlations[component, j] ** 2) for j in columns]
            if about.intervals is not None and component < len(about.intervals.correlations):
                found = about.intervals.correlations[component]
                evidence["correlation_intervals"] = [list(_pair(found[j])) for j in columns]
    if ends.high and about.scores is not None and about.row_names is not None:
        rows = [*ends.high, *ends.low]
        evidence["rows"] = rows
        evidence["row_names"] = [about.row_names[i] for i in rows]
        evidence["scores"] = [float(about.scores[i, component]) for i in rows]
    return evidence | ({} if about.intervals is None else _draws(about.intervals))
