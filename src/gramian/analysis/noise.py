"""Whether columns have anything to do with one another: the test that keeps noise from being described.

Columns are shuffled each by itself, so that nothing relates them but what relates them by construction: dummy columns
of one category exclude each other, and are shuffled together.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.analysis.findings import Finding, counted
from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.choosing.parallel import TRACY_WIDOM_MEAN, noise_edge, tracy_widom_quantile
from gramian.choosing.shuffled import DRAWS
from gramian.choosing.spectrum import Verdict
from gramian.models.pca.model import PCAModel
from gramian.models.pca.robust import sample_rows
from gramian.sources.moments import Moments

LEVEL = 0.0075
"""Chance that columns without any relation are said to have one: a share of the 2% of components, groups and clouds."""

LEAST_ROWS = 4
"""Rows under which no relation is told from chance."""

SHUFFLES = 399
MOST_ROWS = 2000
"""Rows up to which columns are shuffled; of more, the law of the largest variance of noise is near enough."""


@dataclass(frozen=True)
class Relation:
    """Whether the first component stands out from what unrelated columns would show.

    Attributes
    ----------
    stands_out : bool
    variance : float
        Of the first component.
    noise_reaches : float
        What the first component of unrelated columns stays under, but for the chance that is the level.
    test : str
    n_rows : int
        Rows of the test.
    level : float
        Chance that unrelated columns are said to be related.
    """

    stands_out: bool
    variance: float
    noise_reaches: float
    test: str
    n_rows: int
    level: float = LEVEL


def exclusive_columns(moments: Moments | None) -> tuple[tuple[int, ...], ...]:
    """Return the sets of columns of zeros and ones of which no row has two: dummies of one category.

    Computes from the moments alone. Values of 0 and 1 have the variance p (1 - p); columns that are never one together
    have the covariance -p q. Columns that are rare, and might well have missed each other by chance (fewer than five
    rows expected to have both), do not count.

    Examples
    --------
    >>> from gramian.sources.moments import measure_moments
    >>> from gramian.sources.dense import DenseRows
    >>> level = np.arange(60) % 3
    >>> X = np.column_stack([level == 0, level == 1, level == 2, np.arange(60) % 2 == 0]).astype(float)
    >>> exclusive_columns(measure_moments(DenseRows(X)))
    ((0, 1, 2),)
    """
    if moments is None or moments.scatter is None or moments.weight != moments.count or moments.count < 2:
        return ()
    n, p = moments.count, np.asarray(moments.mean)
    if not np.any((p > 0) & (p < 1)):
        return ()
    p = np.where((p > 0) & (p < 1), p, 0.0)
    scatter = to_host(moments.scatter).astype(FLOAT64)
    binary = np.isclose(np.diag(scatter) / n, p * (1.0 - p), rtol=1e-9, atol=1e-12) & (p > 0)
    expected = n * np.outer(p, p)
    apart = np.isclose(scatter, -expected, rtol=1e-9, atol=1e-9 * n) & (expected >= 5.0) & np.outer(binary, binary)
    left, blocks = set(np.flatnonzero(binary).tolist()), []
    for first in sorted(left):
        if first not in left:
            continue
        block = [first]
        for other in sorted(left - {first}):
            if all(apart[other, member] for member in block):
                block.append(other)
        if len(block) > 1:
            blocks.append(tuple(block))
            left -= set(block)
    return tuple(blocks)


def count_beyond_blocks(
    scatter: HostArray, n_rows: int, blocks: Sequence[Sequence[int]], *, is_scaled: bool, seed: int = 0
) -> int:
    """Count the components that are larger than those of columns related within blocks alone.

    Counts the components that are larger than 95% of the first variances of 99 Gaussian tables whose covariance is
    that of the columns within blocks and nothing between them: parallel analysis with a null that knows dummy columns.

    Cost: 99 problems of min(d, n - 1) and products of d x d; no pass.
    """
    C = scatter / max(n_rows - 1, 1)
    if is_scaled:
        deviations = np.sqrt(np.maximum(np.diag(C), 0.0))
        C = C * np.outer(*[np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)] * 2)
    within = np.eye(len(C), dtype=bool)
    for block in blocks:
        within[np.ix_(block, block)] = True
    drawn = first_variances(np.where(within, C, 0.0), n_rows, count=99, seed=seed)
    return int((np.linalg.eigvalsh(C) > np.quantile(drawn, 0.95)).sum())


def first_variances(covariance: HostArray, n_rows: int, *, count: int, seed: int = 0) -> HostArray:
    """Return the first variances of Gaussian tables of so many rows, without drawing the rows (count,).

    Computes the largest eigenvalue of  R L L' R' / (n - 1)  with  R R' = covariance  and Bartlett's factor L of a
    Wishart matrix: d x min(d, n - 1), lower trapezoidal, normal under the diagonal and chi on it.

    Examples
    --------
    >>> first_variances(np.eye(3), 1_000_000, count=2).round(2).tolist()
    [1.0, 1.0]
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    rng, d, m = np.random.default_rng(seed), len(covariance), max(n_rows - 1, 1)
    width, drawn = min(d, m), np.empty(count)
    for i in range(count):
        L = np.tril(rng.standard_normal((d, width)), -1)
        np.fill_diagonal(L, np.sqrt(rng.chisquare(m - np.arange(width))))
        half = root @ L
        drawn[i] = np.linalg.eigvalsh(half.T @ half)[-1] / m
    return drawn


def relation_of(
    model: PCAModel,
    scores: HostArray,
    panel: Any,
    blocks: Sequence[Sequence[int]] = (),
    *,
    order: HostArray,
    seed: int = 0,
) -> Relation | None:
    """Test whether columns are related: whether the first component is larger than that of shuffled columns.

    Computes, where all components are known and there are at most 2,000 rows, the first variance of 399 tables whose
    columns (or blocks of dummy columns) are shuffled each by itself; else compares it with the 99.25% point of the
    noise that parallel analysis found.

    Parameters
    ----------
    model : PCAModel
    scores : numpy array (n, K)
    panel : Panel or None
        Of the rules, the first of which knows the noise of this table.
    blocks : sequence of sequences of int
        Columns that are shuffled together.
    order : numpy array of int (n,)
        Of the rows, by :func:`~gramian.models.pca.robust.row_order`.
    seed : int

    Returns
    -------
    Relation or None
        ``None`` where neither can be asked: fewer than four rows, one column, or no rule was asked.
    """
    n, d = len(scores), model.n_columns
    if n < LEAST_ROWS or d < 2 or not model.is_centered or not 0.0 < model.total_variance < np.inf:
        return None
    if model.is_whole and (n <= MOST_ROWS or blocks) and n * d <= 200_000:
        return _shuffled(model, scores, blocks, sample_rows(order, MOST_ROWS, seed=seed), seed)
    if panel is None:
        return None
    return _by_law(model, panel)


def relation_of_coded(verdict: Verdict, variance: float, n_rows: int) -> Relation:
    """Return what tables of shuffled categories and quantities say of the first component of coded rows.

    ``verdict`` is that of :func:`~gramian.choosing.shuffled.shuffled_verdict`, the rule that counts their components.
    """
    reaches, test = float(verdict.detail["limits"][0]), f"first inertia of {DRAWS} tables of shuffled columns"
    return Relation(verdict.n_components > 0, variance, reaches, test, n_rows, level=2 / (DRAWS + 1))


def _shuffled(
    model: PCAModel, scores: HostArray, blocks: Sequence[Sequence[int]], at: HostArray, seed: int
) -> Relation:
    unit = np.sqrt(model.total_variance)
    Z = (scores[at] / unit) @ model.directions
    first = _first(Z)
    alone = sorted(set(range(Z.shape[1])) - {j for block in blocks for j in block})
    rng, drawn = np.random.default_rng(seed), np.empty(SHUFFLES)
    # By the size of the columns, so that no order of the table changes what is drawn.
    alone = sorted(alone, key=lambda j: -round(float(np.abs(Z[:, j] ** 3).sum()), 9))
    for i in range(SHUFFLES):
        copy = np.empty_like(Z)
        copy[:, alone] = rng.permuted(Z[:, alone], axis=0)
        for block in blocks:
            copy[:, block] = Z[rng.permutation(len(Z))][:, block]
        drawn[i] = _first(copy)
    # The p-value that counts the table itself among the shuffled ones.
    reaches = np.sort(drawn)[::-1][int(LEVEL * (SHUFFLES + 1)) - 1]
    size = unit**2 * len(at) / max(len(at) - 1, 1)
    test = f"first variance of {SHUFFLES} tables of shuffled columns"
    return Relation(bool(first > reaches), float(first * size), float(reaches * size), test, len(at))


def _first(Z: HostArray) -> float:
    """Return the first variance over n of columns that are nearly centered."""
    C = Z - Z.mean(axis=0)
    gram = C.T @ C if C.shape[1] <= C.shape[0] else C @ C.T
    return float(np.linalg.eigvalsh(gram)[-1]) / len(C)


def _by_law(model: PCAModel, panel: Any) -> Relation | None:
    """Compare with a high point of noise: that of 95% from parallel analysis, moved by the law of Tracy and Widom."""
    detail = panel.verdicts[0].detail
    if "thresholds" not in detail or not len(detail["thresholds"]):
        return None
    first, at_95 = float(to_host(model.variances)[0]), float(detail["thresholds"][0])
    variances = _column_variances(model)
    base = noise_edge(variances, max(model.n_rows - 1.0, 1.0)).mean * float(detail["inflation"])
    wider = (tracy_widom_quantile(1.0 - LEVEL) - TRACY_WIDOM_MEAN) / (tracy_widom_quantile(0.95) - TRACY_WIDOM_MEAN)
    reaches = max(at_95, base + wider * max(at_95 - base, 0.0))
    test = "largest variance of noise, by the law of Tracy and Widom and copies of the rows with random signs"
    return Relation(first > reaches and detail["parallel"] > 0, first, reaches, test, model.n_rows)


def _column_variances(model: PCAModel) -> HostArray:
    if model.is_scaled:
        return np.ones(model.n_columns)
    held = (to_host(model.variances).astype(FLOAT64)[:, None] * model.directions**2).sum(axis=0)
    rest = max(float(model.total_variance) - float(held.sum()), 0.0)
    found: HostArray = held + rest / model.n_columns
    return found


def noise_finding(relation: Relation, share: float, d: int, blocks: Sequence[Sequence[int]] = ()) -> Finding:
    """Say that no direction stands out; ``blocks`` are columns of one category."""
    is_whole = sum(map(len, blocks)) == d
    noise = "unrelated categories, as dummy columns," if is_whole else "unrelated columns and categories"
    noise = noise if blocks else f"{counted(d, 'unrelated column')} of noise"
    words = (
        f"No direction stands out from what {noise} would show: PC1 has variance "
        f"{relation.variance:.3g}, and noise alone reaches {relation.noise_reaches:.3g}."
    )
    numbers: dict[str, Any] = {"variance": relation.variance, "noise_reaches": relation.noise_reaches}
    numbers |= {} if blocks else {"columns": d}
    evidence = {"test": relation.test, "level": relation.level, "rows_tested": relation.n_rows, "share": share}
    return Finding("noise", words, numbers, evidence, (0,))


def few_rows_finding(n_rows: int) -> Finding:
    """Say that two or three rows show no relation of columns."""
    two = "Two rows always lie on one line: they show no relation between columns."
    words = two if n_rows == 2 else "Three rows are too few to show a relation between columns."
    return Finding("noise", words, {"rows": n_rows}, {"least_rows": LEAST_ROWS}, (0,))
