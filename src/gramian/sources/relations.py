"""Columns that say the same in other words: equal ones, exact sums, blocks of dummy columns.

Candidates come from one random projection of each column, p = w'x with weights that sum to zero, so that constants
vanish: equal columns have equal p, and c = a + b has p_c = p_a + p_b. Longer sums come from the columns that depend on
others in some rows, with coefficients that are 1, 0 or -1. Every candidate is then checked on all rows.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log2
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray

MOST_COLUMNS = 400
"""Columns among which sums are looked for: 80,000 pairs, some milliseconds."""

MOST_SAID = 12
"""Sentences about single relations, after which the others are counted."""

MOST_STEPS = 20_000
"""Steps of the search for dummy columns that no common beginning of their names gives away."""

LARGEST = 1e150
"""Columns with larger values are not compared: their squares have no float."""


@dataclass(frozen=True, eq=False)
class _Projected:
    """Columns by name, what reads them, and of each the projection w'x, |x - mean|, max|x| |w| and some values.

    ``close`` is what rounding may leave of a difference, relative to the values.
    """

    names: list[str]
    read: Callable[[str], HostArray]
    p: HostArray
    norms: HostArray
    sizes: HostArray
    some: HostArray
    close: float

    def only(self, keep: HostArray) -> "_Projected":
        names = [name for name, kept in zip(self.names, keep, strict=True) if kept]
        return replace(
            self, names=names, p=self.p[keep], norms=self.norms[keep], sizes=self.sizes[keep], some=self.some[:, keep]
        )


def relations(names: Sequence[str], read: Callable[[str], HostArray], *, close: float = 1e-9) -> tuple[str, ...]:
    """Return sentences about columns that are equal, proportional, or exact sums of each other.

    Parameters
    ----------
    names : sequence of str
    read : callable
        Gives the values of a column, float64, NaN where missing; it is called a few times for each column.
    close : float
        What rounding may leave of a difference, relative to the values: more for columns in single precision.

    Computes exact identities in all rows where the columns have values. So few rows that chance alone could make them
    (fewer than 10 + 3 log2(d), for sums of more than two d + 20) are not examined, and sums only among the first 400
    names. Where sums overlap, those are said that a basis of the columns shows, and not all that follow from them.

    Cost: two products per column, then O(d^2) sums of pairs and O(d^3) for longer ones, then a pass over the columns of
    each candidate.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> table = {"a": X[:, 0], "b": X[:, 1], "total": X[:, 0] + X[:, 1], "night": 24 - X[:, 0]}
    >>> for sentence in relations(list(table), table.__getitem__):
    ...     print(sentence)
    Columns 'a' and 'night' add up to 24 in every row: they say the same.
    Column 'total' is the sum of 'a' and 'b' in every row.
    """
    found = _projected(sorted(names), read, close) if len(names) > 1 else None
    if found is None:
        return ()
    said, copies = _copies(found)
    found = found.only(np.array([name not in copies for name in found.names], dtype=bool))
    found = found.only(np.arange(len(found.names)) < MOST_COLUMNS)
    if len(found.names) >= 3:
        said += sorted(_all_sums(found))
    more = len(said) - MOST_SAID
    return (*said[:MOST_SAID], *([f"{more:,} more pairs or sums of columns say the same."] if more > 0 else ()))


def _projected(names: list[str], read: Callable[[str], HostArray], close: float) -> _Projected | None:
    """Return the projections of columns over the rows where all have values, less columns with too few of them."""
    missing = {name: np.isnan(read(name)) for name in names}
    needed = 10 + 3 * log2(len(names) + 1)
    complete = np.ones(len(next(iter(missing.values()))), dtype=bool)
    kept = []
    for name in sorted(names, key=lambda name: (int(missing[name].sum()), name)):
        if (complete & ~missing[name]).sum() >= needed:
            complete &= ~missing[name]
            kept.append(name)
    if len(kept) < 2:
        return None
    kept.sort()
    n = int(complete.sum())
    w = np.random.default_rng(0).standard_normal(n)
    w -= w.mean()
    w /= _length(w)
    whole = bool(complete.all())
    p, norms, sizes = np.empty(len(kept)), np.empty(len(kept)), np.empty(len(kept))
    rows = np.linspace(0, n - 1, min(n, 2 * min(len(kept), MOST_COLUMNS) + 50)).astype(np.intp)
    some = np.empty((len(rows), len(kept)))
    for j, name in enumerate(kept):
        values = read(name) if whole else read(name)[complete]
        some[:, j] = values[rows]
        sizes[j] = np.abs(values).max()
        scaled = values / (sizes[j] or 1.0)
        scaled -= scaled.mean()
        p[j], norms[j] = (w * scaled).sum() * sizes[j], _length(scaled) * sizes[j]
    return _Projected(kept, read, p, norms, sizes, some, close).only((norms > close * sizes) & (sizes < LARGEST))


def _length(values: HostArray) -> float:
    # Not by BLAS, whose threads would go on spinning in what follows.
    return float(np.sqrt(np.square(values).sum()))


def _copies(found: _Projected) -> tuple[list[str], set[str]]:
    """Return sentences about columns that are a + b x of another, and the names of all but the first of each."""
    said, copies = list[str](), set[str]()
    direction = np.abs(found.p) / found.norms
    for left, right in pairwise(np.argsort(direction, kind="stable")):
        if direction[right] - direction[left] <= found.close:
            a, b = sorted((found.names[left], found.names[right]))
            sentence = _copy(a, b, found)
            if sentence is not None:
                said.append(sentence)
                copies.add(b)
    return sorted(said), copies


def _copy(a: str, b: str, found: _Projected) -> str | None:
    x, y, close = found.read(a), found.read(b), found.close
    if np.array_equal(x, y, equal_nan=True):
        return f"Columns {a!r} and {b!r} are equal: what they say counts twice."
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    i, j = int(np.argmin(x)), int(np.argmax(x))
    slope = (y[j] - y[i]) / (x[j] - x[i])
    shift = y[i] - slope * x[i]
    fit, size = slope * x, np.abs(slope * x) + np.abs(y)
    if (np.abs(fit + shift - y) > close * (size + abs(shift))).any():
        return None
    if abs(slope + 1) <= close:
        return f"Columns {a!r} and {b!r} add up to {shift:.10g} in every row: they say the same."
    factor = "" if abs(slope - 1) <= close else f"{slope:.6g} times "
    more = "" if abs(shift) <= close * size.max() else f" {'plus' if shift > 0 else 'minus'} {abs(shift):.6g}"
    return f"Column {b!r} is {factor}{a!r}{more} in every row: they say the same."


def _all_sums(found: _Projected) -> set[str]:
    """Say which columns are sums; where sums overlap, again without a column of each sum of two."""
    sums, count = _sums(found), len(found.names)
    longer, dependent = _longer_sums(found, count)
    said = {*_total(found), *sums.values(), *longer}
    for place in range(3 if sums else 0):
        if len(said) < dependent:
            out = {triple[place] for triple in sums}
            said |= _longer_sums(found.only(np.array([name not in out for name in found.names])), count)[0]
    return said


def _sums(found: _Projected) -> dict[tuple[str, str, str], str]:
    """Say which columns are the sum of two others: a sentence for each triple, the sum last."""
    names, p, sizes, said = found.names, found.p, found.sizes, dict[tuple[str, str, str], str]()
    order = np.argsort(p)
    i, j = np.triu_indices(len(names), 1)
    total = p[i] + p[j]
    place = np.searchsorted(p[order], total)
    for shift in (-1, 0):
        at = np.clip(place + shift, 0, len(names) - 1)
        k = order[at]
        near = (np.abs(p[k] - total) <= found.close * (sizes[i] + sizes[j] + sizes[k])) & (k != i) & (k != j)
        for a, b, c in zip(i[near], j[near], k[near], strict=True):
            columns = [found.read(names[column]) for column in (a, b, c)]
            if _constant_sum(columns[:2], columns[2:], close=found.close) == 0:
                words = f"Column {names[c]!r} is the sum of {names[a]!r} and {names[b]!r} in every row."
                said[names[a], names[b], names[c]] = words
    return said


def _total(found: _Projected) -> list[str]:
    """Say that all columns add up to a constant, or all but one to the remaining one; of three, sums of two say it."""
    names, p, rounding = found.names, found.p, found.close * found.sizes.sum()
    near = [k for k in range(len(names)) if abs(p.sum() - 2 * p[k]) <= rounding]
    if abs(p.sum()) > rounding and not near:
        return []
    columns = [found.read(name) for name in names]
    constant = _constant_sum(columns, close=found.close)
    if constant is not None:
        return [f"All {len(names)} columns of numbers add up to {constant:.10g} in every row."]
    return [
        f"Column {names[k]!r} is the sum of the {len(names) - 1} other columns of numbers in every row."
        for k in near
        if len(names) > 3 and _constant_sum(columns[:k] + columns[k + 1 :], [columns[k]], close=found.close) == 0
    ]


def _longer_sums(found: _Projected, count: int) -> tuple[set[str], int]:
    """Say which columns are sums of more than two others, or add up to a constant with some others.

    Returns sentences, but for those about all ``count`` columns there are, and how many depend on others.

    Computes the columns that depend on others in some rows, by Gram-Schmidt, and the coefficients by which they do:
    with the narrowest columns first, as totals are wider than their parts, and with those first that depend least.
    """
    names, near = found.names, 100 * found.close
    rows = found.some - found.some.mean(axis=0)
    scale = np.sqrt(np.square(rows).sum(axis=0))
    if len(rows) < len(names) + 20 or not scale.all():
        return set(), 0
    rows /= scale
    sums = set[tuple[tuple[int, ...], ...]]()
    for width in (scale, None):
        base = _independent(rows, near, width)
        others = [j for j in range(len(names)) if j not in base]
        if not others:
            return set(), 0
        coefficients = np.linalg.lstsq(rows[:, base], rows[:, others])[0] / scale[base][:, None] * scale[others]
        for j, column in zip(others, coefficients.T, strict=True):
            whole = np.rint(column)
            if np.abs(column - whole).max() <= near and np.abs(whole).max() == 1:
                sides = [base[i] for i in np.flatnonzero(whole > 0)], [j, *(base[i] for i in np.flatnonzero(whole < 0))]
                sums.add(tuple(sorted((tuple(sorted(side)) for side in sides), key=lambda side: (-len(side), side))))
    return {sentence for plus, minus in sums for sentence in _said_sum(found, plus, minus, count)}, len(others)


def _independent(rows: HostArray, near: float, width: HostArray | None) -> list[int]:
    """Return columns that the others depend on but for ``near`` of their length; all columns have length one.

    The narrowest are taken first; without ``width`` that of which most is left.
    """
    left, base = rows.copy(), list[int]()
    while (free := (lengths := np.square(left).sum(axis=0)) > near**2).any():
        best = int(np.argmax(np.where(free, lengths if width is None else -width, -np.inf)))
        base.append(best)
        direction = left[:, best] / np.sqrt(lengths[best])
        left -= np.outer(direction, direction @ left)
        left[:, best] = 0.0
    return sorted(base)


def _said_sum(found: _Projected, plus: Sequence[int], minus: Sequence[int], count: int) -> list[str]:
    """Say that columns add up to another one or to a constant, where they do in every row and nothing has said it."""
    n = len(plus) + len(minus)
    if n < 3 or n == count or len(minus) > 1:
        return []
    left, right = ([found.read(found.names[j]) for j in some] for some in (plus, minus))
    constant = _constant_sum(left, right, close=found.close)
    if constant is None or (n == 3 and len(minus) == 1 and constant == 0):
        return []
    first = _listed([found.names[j] for j in plus])
    if not minus:
        return [f"Columns {first} add up to {constant:.10g} in every row."]
    more = "" if constant == 0 else f" {'minus' if constant > 0 else 'plus'} {abs(constant):.10g}"
    return [f"Column {found.names[minus[0]]!r} is the sum of {first}{more} in every row."]


def _listed(names: Sequence[str]) -> str:
    shown = [repr(name) for name in names[:8]]
    shown += [f"{len(names) - 8} more"] if len(names) > 8 else []
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def _constant_sum(plus: Sequence[HostArray], minus: Sequence[HostArray] = (), *, close: float) -> float | None:
    """Return what columns add up to, less others, where that is one number in every row to rounding; else ``None``."""
    total, size = np.zeros(len(plus[0])), np.zeros(len(plus[0]))
    for sign, columns in ((1, plus), (-1, minus)):
        for values in columns:
            total += sign * values
            size += np.abs(values)
    known = ~np.isnan(total)
    if not known.any():
        return None
    constant = float(np.median(total[known]))
    if (np.abs(total - constant)[known] > close * size[known]).any():
        return None
    return 0.0 if abs(constant) <= close * size[known].max() else constant


STEM = re.compile(r"(.+?)[_.\-=: ]+([^_.\-=: ]+)")
"""A name that begins as those of its block do, and ends in its level."""


@dataclass(frozen=True)
class DummyBlock:
    """Columns of zeros and ones that are one category: what it is called, and the level that each column stands for.

    Examples
    --------
    >>> block = DummyBlock.of(["color_blue", "color_red"])
    >>> block.name, block.levels, block.labels({"color_blue": ["0", "1"], "color_red": ["1", "0"]}.__getitem__)
    ('color', ('blue', 'red'), array(['red', 'blue'], dtype=object))
    """

    name: str
    columns: tuple[str, ...]
    levels: tuple[str, ...]

    @classmethod
    def of(cls, columns: Sequence[str], taken: Collection[str] = ()) -> "DummyBlock":
        """Name a block by what the names of its columns begin with, unless that is ``taken``; else by all of them."""
        parts = [STEM.fullmatch(name) for name in columns]
        stems = {part[1] for part in parts if part is not None}
        if len(stems) == 1 and None not in parts and stems.isdisjoint(taken):
            return cls(stems.pop(), tuple(columns), tuple(part[2] for part in parts if part is not None))
        more = " / ..." if len(columns) > 3 else ""
        return cls(" / ".join(columns[:3]) + more, tuple(columns), tuple(columns))

    def labels(self, read: Callable[[str], Any]) -> HostArray:
        """Return the level of each row, given what reads a column as strings; empty where no column has a one."""
        found = np.full(len(read(self.columns[0])), "", dtype=object)
        for name, level in zip(self.columns, self.levels, strict=True):
            found[np.isin(np.asarray(read(name), dtype=str), ("1", "1.0", "True", "true"))] = level
        return found


def dummy_blocks(columns: Mapping[str, HostArray]) -> list[tuple[str, ...]]:
    """Return blocks of columns of zeros and ones of which every row has a one in exactly one: a category spelled out.

    Parameters
    ----------
    columns : mapping of str to boolean array
        Columns that vary and have no missing value.

    Computes from the counts C = B'B of rows with ones in two columns: a block is a set of columns without common rows,
    C_ij = 0, whose ones are as many as the rows. Columns whose names begin alike are tried first. Others, up to 400,
    are searched for where the rows are so many (10 + 3 log2(d)) that chance makes no block.

    Cost: two products, and at most 20,000 steps of the search.

    Examples
    --------
    >>> red, blue = np.array([True, False, False, True]), np.array([False, True, False, False])
    >>> dummy_blocks({"color_red": red, "color_blue": blue, "color_green": ~(red | blue)})
    [('color_blue', 'color_green', 'color_red')]
    """
    names = sorted(columns)
    n = len(columns[names[0]]) if names else 0
    stems: dict[str, list[str]] = {}
    for name in names:
        stem = STEM.fullmatch(name)
        if stem is not None:
            stems.setdefault(stem[1], []).append(name)
    found = []
    for block in stems.values():
        if 1 < len(block) <= MOST_COLUMNS and n >= 4:
            together = _together([columns[name] for name in block])
            if together.sum() == n == together.trace():
                found.append(tuple(block))
    taken = {name for block in found for name in block}
    free = [name for name in names if name not in taken]
    if 1 < len(free) <= MOST_COLUMNS and n >= 10 + 3 * log2(len(free)):
        together = _together([columns[name] for name in free])
        found += [tuple(free[j] for j in block) for block in _search(together == 0, np.diag(together), n)]
    return sorted(found)


def _together(columns: Sequence[HostArray]) -> HostArray:
    """Return how many rows have ones in two columns, for all pairs; on the diagonal the ones of each."""
    total = np.zeros((len(columns), len(columns)))
    for start in range(0, len(columns[0]), 65536):
        rows = np.stack([column[start : start + 65536] for column in columns]).astype(np.float32)
        total += rows @ rows.T
    return total


def _search(apart: HostArray, ones: HostArray, n: int) -> list[list[int]]:
    """Return disjoint sets of mutually exclusive columns whose ones are n in all: depth first, in the order given."""
    found, used, steps = list[list[int]](), set[int](), 0
    for first in range(len(ones)):
        pending = [([first], [j for j in range(first + 1, len(ones)) if apart[first, j]])]
        while pending and steps < MOST_STEPS and first not in used:
            steps += 1
            block, others = pending.pop()
            total = ones[block].sum()
            if total == n:
                found.append(block)
                used |= set(block)
                break
            others = [j for j in others if j not in used]
            if total + ones[others].sum() < n:
                continue
            pending.extend(
                ([*block, j], [k for k in others if k > j and apart[j, k]])
                for j in reversed(others)
                if total + ones[j] <= n
            )
    return found
