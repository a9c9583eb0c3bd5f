"""Separate clouds of rows: a gap along a component that Hartigan's dip test supports and the eye would see.

The dip is the distance of a distribution from the nearest one with a single mode (Hartigan and Hartigan, 1985,
doi:10.1214/aos/1176346577). Limits are those of uniform scores, which in large samples are the least favorable of a
wide class with one mode, skewed and heavy-tailed ones too; of few rows no law is known to have the largest dips. Where
a dip is beyond its limit rows are parted at the deepest valley of their density, and both parts are asked again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.analysis.findings import Finding, columns_word, joined, not_kept
from gramian.arrays.namespace import HostArray
from gramian.models.pca.robust import sample_rows

LEVEL = 0.005
"""Chance that rows with a single mode along every component are said to fall into clouds."""

MOST_ROWS = 2000
MOST_COMPONENTS = 5
MOST_CLOUDS = 8
LEAST_SHARE = 0.02
"""Part of the rows that a cloud has at least; fewer are outliers."""

VALLEY = 0.6
"""Height of the valley between two clouds, relative to the lower of both, at most."""

LIMITS = (0.67, 0.74)
"""What sqrt(n) dip of up to 2,000 uniform rows stays under, 99.5 and 99.9 times of 100: one component, or five."""


@dataclass(frozen=True)
class Gap:
    """Where rows are parted: those with a smaller score on a component from those with a larger one.

    Attributes
    ----------
    component : int
    threshold : float
    dip : float
    n_rows : int
        Of the test.
    inside : tuple of (int, float, bool)
        Gaps that these rows are on one side of: component, threshold, whether they are above it.
    """

    component: int
    threshold: float
    dip: float
    n_rows: int
    inside: tuple[tuple[int, float, bool], ...] = ()


@dataclass(frozen=True, eq=False)
class Clouds:
    """Parts of the rows that gaps separate.

    Attributes
    ----------
    gaps : tuple of Gap
        The first parts all rows, each further one a part of them.
    sizes : tuple of int
        Rows of each cloud, largest first.
    first : numpy array of bool (n,)
        Rows above the first gap.
    examined : tuple of int
        Components that were looked along: those whose scores repeat little.
    """

    gaps: tuple[Gap, ...]
    sizes: tuple[int, ...]
    first: HostArray
    examined: tuple[int, ...]


def dip(values: HostArray) -> float:
    """Return Hartigan's dip of some values: the distance of their distribution from one with a single mode.

    Computes the greatest convex minorant and the least concave majorant of the distribution function within an interval
    that shrinks to the mode, until they are no further apart than it is from them outside.

    Cost: O(n) per step after a sort, and few steps.

    Examples
    --------
    >>> flat, apart = np.linspace(0.0, 1.0, 100), np.r_[np.linspace(0.0, 0.1, 50), np.linspace(0.9, 1.0, 50)]
    >>> round(dip(flat), 3), round(dip(apart), 3)
    (0.005, 0.222)
    """
    x = np.sort(values)
    n = len(x)
    if n < 2 or x[0] == x[-1]:
        return 0.0
    under, over = np.arange(n) / n, np.arange(1, n + 1) / n
    low, high, found = 0, n - 1, 1.0 / n
    while True:
        inside = slice(low, high + 1)
        a = low + _hull(x[inside], under[inside], sign=1.0)
        b = low + _hull(x[inside], over[inside], sign=-1.0)
        convex, concave = np.interp(x[inside], x[a], under[a]), np.interp(x[inside], x[b], over[b])
        at_a, at_b = (concave - convex)[a - low], (concave - convex)[b - low]
        if at_b.max() > at_a.max():
            right = int(b[np.flatnonzero(at_b == at_b.max())[-1]])
            left = int(a[a <= right][-1])
        else:
            left = int(a[np.flatnonzero(at_a == at_a.max())[0]])
            right = int(b[b >= left][0])
        apart = max(float(at_a.max()), float(at_b.max()))
        if apart <= found:
            return found / 2.0
        below = float((over[low : left + 1] - convex[: left - low + 1]).max())
        above = float((concave[right - low :] - under[right : high + 1]).max())
        found = max(found, below, above)
        if (left, right) == (low, high):
            return found / 2.0
        low, high = left, right


def _hull(x: HostArray, y: HostArray, *, sign: float) -> HostArray:
    """Return the points where the convex minorant (sign 1) or the concave majorant (sign -1) touches (x, y)."""
    kept: list[int] = []
    xs, ys = x.tolist(), (sign * y).tolist()
    for i in range(len(xs)):
        while len(kept) > 1:
            j, k = kept[-1], kept[-2]
            if (ys[j] - ys[k]) * (xs[i] - xs[k]) < (ys[i] - ys[k]) * (xs[j] - xs[k]):
                break
            kept.pop()
        kept.append(i)
    return np.array(kept)


def find_clouds(scores: HostArray, *, order: HostArray, seed: int = 0) -> Clouds | None:
    """Look for gaps that part the rows along the first components, within both parts again, and so on.

    A gap is one where the dip of the scores is beyond its limit, and their density (a Gaussian kernel of Silverman's
    width) falls to 60% of the lower of both peaks or less, with 2% of the rows on each side.

    Cost: a few dips of at most 2,000 rows, and one pass over the scores per gap.

    Returns
    -------
    Clouds or None
        ``None`` where there are fewer than 20 rows, or scores along every component take few values.
    """
    n, k = scores.shape
    if n < 20:
        return None
    q = min(k, MOST_COMPONENTS)
    at = sample_rows(order, MOST_ROWS, seed=seed)
    examined = tuple(j for j in range(q) if _is_continuous(scores[at, j]))
    if not examined:
        return None
    least = max(5.0, LEAST_SHARE * len(at))
    gaps: list[Gap] = []
    parts: list[tuple[HostArray, tuple[tuple[int, float, bool], ...]]] = [(at, ())]
    clouds = 1
    while parts and clouds < MOST_CLOUDS:
        rows, inside = parts.pop(0)
        gap = _deepest(scores[rows][:, :q], least, inside)
        if gap is None:
            continue
        gaps.append(gap)
        clouds += 1
        above = scores[rows, gap.component] > gap.threshold
        sides = (False, True)
        parts += [(rows[above == side], (*inside, (gap.component, gap.threshold, side))) for side in sides]
    return Clouds(tuple(gaps), _sizes(scores, gaps), _first_side(scores, gaps), examined)


def _first_side(scores: HostArray, gaps: Sequence[Gap]) -> HostArray:
    if not gaps:
        return np.zeros(len(scores), dtype=bool)
    above: HostArray = scores[:, gaps[0].component] > gaps[0].threshold
    return above


def _sizes(scores: HostArray, gaps: Sequence[Gap]) -> tuple[int, ...]:
    """Count the rows of each cloud among all rows, largest first."""
    cloud = np.zeros(len(scores), dtype=np.int64)
    for number, gap in enumerate(gaps, start=1):
        here = np.ones(len(scores), dtype=bool)
        for component, threshold, side in gap.inside:
            here &= (scores[:, component] > threshold) == side
        cloud[here & (scores[:, gap.component] > gap.threshold)] = number
    return tuple(sorted(np.unique(cloud, return_counts=True)[1].tolist(), reverse=True))


def _deepest(scores: HostArray, least: float, inside: tuple[tuple[int, float, bool], ...]) -> Gap | None:
    """Return the gap along the component whose dip is furthest beyond its limit; ``None`` where none is."""
    n, q = scores.shape
    if n < max(20.0, 2 * least):
        return None
    limit = LIMITS[0] if q == 1 else LIMITS[1]
    found = [(dip(scores[:, j]), j) for j in range(q) if _is_continuous(scores[:, j])]
    for size, j in sorted(found, reverse=True):
        if np.sqrt(n) * size <= limit:
            return None
        threshold = valley(scores[:, j], least)
        if threshold is not None:
            return Gap(j, threshold, size, n, inside)
    return None


def _is_continuous(values: HostArray) -> bool:
    """Tell whether values repeat little: a lattice of scores, from columns of few values, has gaps of its own."""
    size = float(np.abs(values).max(initial=0.0))
    return size > 0 and len(np.unique(np.round(values / size, 6))) > 0.5 * len(values)


def valley(values: HostArray, least: float) -> float | None:
    """Return where the density of some values has its deepest valley; ``None`` where none is deep.

    Examples
    --------
    >>> values = np.random.default_rng(0).standard_normal(200) + np.repeat([0.0, 6.0], 100)
    >>> 2.0 < valley(values, 5.0) < 4.0, valley(values[:100], 5.0)
    (True, None)
    """
    quartiles = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std()), float(quartiles[1] - quartiles[0]) / 1.34) or float(values.std())
    width = 0.9 * spread * len(values) ** -0.2
    grid = np.linspace(values.min(), values.max(), 256)
    density = np.exp(-0.5 * ((grid[:, None] - values[None, :]) / width) ** 2).sum(axis=1)
    lower = np.minimum(np.maximum.accumulate(density), np.maximum.accumulate(density[::-1])[::-1])
    below = np.searchsorted(np.sort(values), grid, side="right")
    allowed = (below >= least) & (len(values) - below >= least)
    if not allowed.any():
        return None
    depth = np.where(allowed, density / np.maximum(lower, 1e-300), 1.0)
    return float(grid[np.argmin(depth)]) if depth.min() <= VALLEY else None


def cloud_finding(
    clouds: Clouds, components: Sequence[str], names: Sequence[str], differences: HostArray | None, *, kept: int
) -> Finding:
    """Say how many clouds there are, how large they are, and which columns part them most.

    ``differences`` are those of the columns' means above and below the first gap, in their deviations. Components
    beyond the ``kept`` ones are said to be.
    """
    evidence: dict[str, Any] = {
        "test": "dip test of the scores against uniform ones, and a valley of their density",
        "level": LEVEL,
        "components_examined": list(clouds.examined),
        "gaps": [
            {
                "component": gap.component,
                "threshold": gap.threshold,
                "dip": gap.dip,
                "rows_tested": gap.n_rows,
                "inside": [list(side) for side in gap.inside],
            }
            for gap in clouds.gaps
        ],
    }
    examined = [components[j] for j in clouds.examined]
    is_run = len(examined) > 2 and clouds.examined[-1] - clouds.examined[0] == len(examined) - 1
    along = f"{examined[0]} to {examined[-1]}" if is_run else joined(examined)
    if not clouds.gaps:
        return Finding(
            "clouds", f"No gap along {along} parts the rows into clouds (dip test).", {"clouds": 1}, evidence
        )
    used = sorted({gap.component for gap in clouds.gaps})
    sizes = joined([f"{size:,}" for size in clouds.sizes])
    left_out = [j for j in used if j >= kept]
    axes = joined([components[j] for j in used])
    if left_out:
        axes += not_kept(kept) if len(used) == 1 else f" ({joined([components[j] for j in left_out])} not kept)"
    words = f"The rows fall into {len(clouds.sizes)} separate clouds along {axes}, of {sizes} rows"
    numbers: dict[str, Any] = {"clouds": len(clouds.sizes)}
    numbers |= {f"rows_{i + 1}": size for i, size in enumerate(clouds.sizes)}
    numbers |= {"kept": kept} if left_out and len(used) == 1 and kept > 1 else {}
    if differences is not None:
        order = np.argsort(-np.round(np.abs(differences), 9), kind="stable")
        most = np.abs(differences[order[0]])
        named = [int(j) for j in order[:3] if np.abs(differences[j]) >= 0.7 * most]
        parted = joined([f"{names[j]} ({abs(float(differences[j])):.1f} sd)" for j in named])
        gap = f"both sides of the gap along {components[clouds.gaps[0].component]}"
        across = "both" if len(clouds.gaps) == 1 else gap
        words += f"; means of {across} differ most in {columns_word([names[j] for j in named])}{parted}"
        numbers |= {f"difference_{i + 1}": abs(float(differences[j])) for i, j in enumerate(named)}
        evidence["columns"] = [names[j] for j in named]
    return Finding("clouds", f"{words}.", numbers, evidence, tuple(used))
