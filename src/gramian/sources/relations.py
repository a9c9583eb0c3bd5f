"""Columns that say the same in other words: equal ones, exact sums, blocks of dummy columns.

Candidates come from one random projection of each column, p = w'x with weights that sum to zero, so that constants
vanish: equal columns have equal p, and c = a + b has p_c = p_a + p_b. Every candidate is then checked on all rows.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, pairwise
from math import log2

import numpy as np

from gramian.arrays.namespace import HostArray

MOST_COLUMNS = 400
"""Columns among which sums are looked for: 80,000 pairs, some milliseconds."""

MOST_STEPS = 20_000
"""Steps of the search for dummy columns that no common beginning of their names gives away."""

CLOSE = 1e-9
"""What rounding may leave of a difference, relative to the values."""


def relations(names: Sequence[str], read: Callable[[str], HostArray]) -> tuple[str, ...]:
    """Return sentences about columns that are equal, proportional, or exact sums of each other.

    Parameters
    ----------
    names : sequence of str
    read : callable
        Gives the values of a column, float64, NaN where missing; it is called a few times for each column.

    Computes exact identities in all rows where the columns have values. So few rows that chance alone could make them
    (fewer than 10 + 3 log2(d)) are not examined, and sums of two only among the first 400 names.

    Cost: two products per column, then O(d^2) sums of pairs, then a pass over the columns of each candidate.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> table = {"a": X[:, 0], "b": X[:, 1], "total": X[:, 0] + X[:, 1], "night": 24 - X[:, 0]}
    >>> for sentence in relations(list(table), table.__getitem__):
    ...     print(sentence)
    Columns 'a' and 'night' add up to 24 in every row: they say the same.
    Column 'total' is the sum of 'a' and 'b' in every row.
    """
    found = _projections(sorted(names), read) if len(names) > 1 else None
    if found is None:
        return ()
    names, p, norms, sizes = found
    said, copies = _copies(names, p, norms, read)
    kept = np.array([name not in copies for name in names])
    names = [name for name in names if name not in copies][:MOST_COLUMNS]
    p, sizes = p[kept][:MOST_COLUMNS], sizes[kept][:MOST_COLUMNS]
    return (*said, *_sums(names, p, sizes, read))


def _projections(
    names: list[str], read: Callable[[str], HostArray]
) -> tuple[list[str], HostArray, HostArray, HostArray] | None:
    """Return names, projections, deviations (as norms) and sizes of columns over the rows where all have values."""
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
    w = np.random.default_rng(0).standard_normal(int(complete.sum()))
    w -= w.mean()
    whole = bool(complete.all())
    p, norms, sizes = np.empty(len(kept)), np.empty(len(kept)), np.empty(len(kept))
    for j, name in enumerate(kept):
        values = read(name) if whole else read(name)[complete]
        size = np.abs(values).max()
        scaled = (values - values.mean()) / (size or 1.0)
        p[j], norms[j], sizes[j] = w @ scaled * size, np.linalg.norm(scaled) * size, size * np.linalg.norm(w)
    varies = norms > CLOSE * sizes
    return [name for name, keep in zip(kept, varies, strict=True) if keep], p[varies], norms[varies], sizes[varies]


def _copies(
    names: list[str], p: HostArray, norms: HostArray, read: Callable[[str], HostArray]
) -> tuple[list[str], set[str]]:
    """Return sentences about columns that are a + b x of another, and the names of all but the first of each."""
    said, copies = list[str](), set[str]()
    direction = np.abs(p) / norms
    order = np.argsort(direction, kind="stable")
    for left, right in pairwise(order):
        if direction[right] - direction[left] > CLOSE * direction[right]:
            continue
        a, b = sorted((names[left], names[right]))
        sentence = _copy(a, b, read(a), read(b))
        if sentence is not None:
            said.append(sentence)
            copies.add(b)
    return sorted(said), copies


def _copy(a: str, b: str, x: HostArray, y: HostArray) -> str | None:
    if np.array_equal(x, y, equal_nan=True):
        return f"Columns {a!r} and {b!r} are equal: what they say counts twice."
    both = ~(np.isnan(x) | np.isnan(y))
    x, y = x[both], y[both]
    i, j = int(np.argmin(x)), int(np.argmax(x))
    slope = (y[j] - y[i]) / (x[j] - x[i])
    shift = y[i] - slope * x[i]
    size = np.abs(y).max() + np.abs(slope) * np.abs(x).max()
    if np.abs(slope * x + shift - y).max() > CLOSE * size:
        return None
    if abs(slope + 1) <= CLOSE:
        return f"Columns {a!r} and {b!r} add up to {shift:.10g} in every row: they say the same."
    factor = "" if abs(slope - 1) <= CLOSE else f"{slope:.6g} times "
    more = "" if abs(shift) <= CLOSE * size else f" {'plus' if shift > 0 else 'minus'} {abs(shift):.6g}"
    return f"Column {b!r} is {factor}{a!r}{more} in every row: they say the same."


def _sums(names: list[str], p: HostArray, sizes: HostArray, read: Callable[[str], HostArray]) -> list[str]:
    if len(names) < 3:
        return []
    said = _total(names, p, sizes, read)
    order = np.argsort(p)
    i, j = np.triu_indices(len(names), 1)
    total = p[i] + p[j]
    place = np.searchsorted(p[order], total)
    for shift in (-1, 0):
        at = place + shift
        inside = (at >= 0) & (at < len(names))
        k = order[np.clip(at, 0, len(names) - 1)]
        near = np.abs(p[k] - total) <= CLOSE * (sizes[i] + sizes[j] + sizes[k])
        for a, b, c in zip(*(side[inside & near] for side in (i, j, k)), strict=True):
            if c not in (a, b) and _constant_sum([read(names[a]), read(names[b])], [read(names[c])]) == 0:
                said.append(f"Column {names[c]!r} is the sum of {names[a]!r} and {names[b]!r} in every row.")
    return sorted(set(said))


def _total(names: list[str], p: HostArray, sizes: HostArray, read: Callable[[str], HostArray]) -> list[str]:
    """Say that all columns add up to a constant, or all but one to the remaining one."""
    if len(names) == 3:
        return []
    rounding = CLOSE * sizes.sum()
    near = [k for k in range(len(names)) if abs(p.sum() - 2 * p[k]) <= rounding]
    if abs(p.sum()) > rounding and not near:
        return []
    columns = [read(name) for name in names]
    constant = _constant_sum(columns)
    if constant is not None:
        return [f"All {len(names)} columns of numbers add up to {constant:.10g} in every row."]
    return [
        f"Column {names[k]!r} is the sum of the {len(names) - 1} other columns of numbers in every row."
        for k in near
        if _constant_sum(columns[:k] + columns[k + 1 :], [columns[k]]) == 0
    ]


def _constant_sum(plus: Sequence[HostArray], minus: Sequence[HostArray] = ()) -> float | None:
    """Return what columns add up to, less others, where that is one number in every row to rounding; else ``None``."""
    total = np.sum(plus, axis=0) - np.sum(minus, axis=0)
    known = total[~np.isnan(total)]
    size = max(float(np.nanmax(np.abs(values))) for values in (*plus, *minus))
    if not len(known) or known.max() - known.min() > CLOSE * size:
        return None
    middle = float(np.median(known))
    return 0.0 if abs(middle) <= CLOSE * size else middle


def dummy_blocks(columns: Mapping[str, HostArray]) -> list[tuple[str, ...]]:
    """Return blocks of columns of zeros and ones of which every row has a one in exactly one: a category spelled out.

    Parameters
    ----------
    columns : mapping of str to boolean array
        Columns that vary and have no missing value.

    Computes from the counts C = B'B of rows with ones in two columns: a block is a set of columns without common rows,
    C_ij = 0, whose ones are as many as the rows. Columns whose names begin alike are tried first. Others are searched
    for where the rows are so many (10 + 3 log2(d)) that chance makes no block.

    Cost: one product, and at most 20,000 steps of the search.

    Examples
    --------
    >>> red, blue = np.array([True, False, False, True]), np.array([False, True, False, False])
    >>> dummy_blocks({"color_red": red, "color_blue": blue, "color_green": ~(red | blue)})
    [('color_blue', 'color_green', 'color_red')]
    """
    names = sorted(columns)
    if len(names) < 2:
        return []
    n = len(columns[names[0]])
    together = np.zeros((len(names), len(names)))
    for start in range(0, n, 65536):
        rows = np.stack([columns[name][start : start + 65536] for name in names]).astype(np.float32)
        together += rows @ rows.T
    apart, ones = together == 0, np.diag(together)
    found, free = list[tuple[str, ...]](), set(range(len(names)))
    stems: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        stem = re.match(r"(.+)[_.\-=: ]+[^_.\-=: ]+$", name)
        if stem is not None:
            stems.setdefault(stem[1], []).append(j)
    for block in stems.values():
        exclusive = all(apart[i, j] for i, j in combinations(block, 2))
        if len(block) > 1 and n >= 4 and exclusive and ones[block].sum() == n:
            found.append(tuple(names[j] for j in block))
            free -= set(block)
    if n >= 10 + 3 * log2(len(names)):
        found += [tuple(names[j] for j in block) for block in _search(sorted(free), apart, ones, n)]
    return sorted(found)


def _search(free: list[int], apart: HostArray, ones: HostArray, n: int) -> list[list[int]]:
    """Return disjoint sets of mutually exclusive columns whose ones are n in all: depth first, in the order given."""
    found, used, steps = list[list[int]](), set[int](), 0
    for first in free:
        pending = [([first], [j for j in free if j > first and apart[first, j]])]
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
