"""Cross-validation: keep the components that predict what was not used to find them."""

from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.choosing.facts import RowSample, draw_sample
from gramian.choosing.spectrum import Values, Verdict, counted, read_spectrum
from gramian.errors import ParameterError
from gramian.sources.moments import measure_moments
from gramian.sources.rows import RowSource

REPEATS = 3
"""Times that rows and columns are cut in halves anew; each cut gives four held-out blocks."""

SMALLEST = 1e-6
"""Variances below this share of the first are not inverted."""


def cross_validation(
    source: RowSource,
    *,
    mean: Any | None = None,
    factor: Any | None = None,
    max_components: int = 200,
    sample: RowSample | None = None,
    seed: int = 0,
) -> Verdict:
    """Choose the number of components that best predict held-out blocks of the table.

    Rows and columns are cut in random halves, so that the centered table is [A B; C D]. Computes the k that
    minimizes  sum |A - B D_k^+ C|^2  over all blocks in the place of A, D_k^+ being the pseudo-inverse of the
    best rank-k approximation of D: bi-cross-validation (Owen and Perry, 2009, doi:10.1214/08-AOAS227). A was
    used neither for the directions nor for the scores, so noise cannot predict itself. One eigenproblem of
    the shorter side of D gives the error of every k.

    Cost: one pass (two without ``mean``) and 24 MB; for a sample of a rows and c columns (at most 6,000,000
    numbers, the shorter side at most 600), 12 products of a c min(a, c) / 8; three of a c^2 where a is at least 2 c.
    Not for weak components: they must show in a quarter of the table. Beyond the sample's size the answer is
    that of the sample.

    Parameters
    ----------
    source : RowSource
        At least 4 rows and 2 columns.
    mean, factor : array (d,), optional
        What rows are centered by and then multiplied by; by default the measured mean, and one.
    max_components : int
        Largest answer considered.
    sample : RowSample, optional
        Rows of the source that were drawn already: no pass is made then.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources.dense import DenseRows
    >>> rng = np.random.default_rng(0)
    >>> X = 3.0 * rng.standard_normal((60, 2)) @ rng.standard_normal((2, 12)) + rng.standard_normal((60, 12))
    >>> cross_validation(DenseRows(X)).n_components
    2
    """
    n, d = source.n_rows, source.n_columns
    if n < 4 or d < 2:
        message = (
            f"Cross-validation cuts rows and columns in halves, and {n} x {d} is too small for that. "
            "Pass at least 4 rows and 2 columns."
        )
        raise ParameterError(message)
    if sample is None:
        center = np.asarray(measure_moments(source, scatter=False).mean if mean is None else mean, dtype=np.float64)
        scale = None if factor is None else np.asarray(factor, dtype=np.float64)
        sample = draw_sample(source, mean=center, factor=scale, seed=seed)
    rows = to_host(sample.rows)
    total = REPEATS * float(np.einsum("ij,ij->", rows, rows, dtype=np.float64))
    if total == 0.0:
        return Verdict("cross-validation", 0, "Nothing varies.")
    rng = np.random.default_rng([seed, n, d])
    # Every cut puts each quarter of the table in the place of A once, so that the sum is that of all rows.
    cuts = [_error_change(rows, rng, max_components) for _ in range(REPEATS)]
    change = np.sum(cuts, axis=0) / total
    k = int(np.argmin(change))
    reason = f"With {counted(k)}, {-change[k]:.1%} of the variance of held-out blocks is predicted, the most."
    if k == 0:
        reason = "No component predicts held-out blocks better than the mean does."
    return Verdict("cross-validation", k, reason, {"errors": 1.0 + change})


def generalized_cross_validation(
    variances: Any, *, n_rows: float, n_columns: int, total_variance: float | None = None
) -> Verdict:
    """Choose the number of components of least estimated prediction error, from the spectrum alone.

    Computes the k that minimizes  n d R_k / (n d - d - k (n + d - k - 1))^2,  R_k being the sum of squares
    that k components leave: every prediction error is put at its average, so nothing is left out and refitted
    (Josse and Husson, 2012, doi:10.1016/j.csda.2011.11.012).

    Cost: O(m). Leading variances and the total are enough; only as many components are considered.
    Not for noise whose level differs between columns, nor for very tall or wide tables.

    Examples
    --------
    >>> generalized_cross_validation([9.0, 4.0, 1.1, 1.0, 0.9], n_rows=100, n_columns=5).n_components
    2
    """
    spectrum = read_spectrum(variances, n_rows=n_rows, n_columns=n_columns, total_variance=total_variance)
    if spectrum.total_variance == 0.0 or n_rows <= 1.0:
        return Verdict("gcv", 0, "Nothing varies.")
    considered = min(len(spectrum.values), spectrum.directions - 1)
    k = np.arange(considered + 1)
    free = n_rows * n_columns - n_columns - k * (n_rows + n_columns - k - 1.0)
    left = np.maximum(spectrum.total_variance - np.concatenate([[0.0], np.cumsum(spectrum.values)])[k], 0.0)
    errors = np.where(free > 0.0, left / np.where(free > 0.0, free, 1.0) ** 2, np.inf)
    errors /= errors[0]
    best = int(np.argmin(errors))
    reason = f"With {counted(best)}, the estimated error is least, {1.0 - errors[best]:.1%} below the mean's."
    if best == 0:
        reason = "No component lowers the estimated prediction error."
    exhausted = best == considered < spectrum.directions - 1
    return Verdict("gcv", best, reason, {"errors": errors, "exhausted": exhausted})


def _error_change(rows: HostArray, rng: np.random.Generator, max_components: int) -> Values:
    """Cut once; return the change of squared error that 0, 1, 2, ... components bring, over four blocks."""
    halves = [np.array_split(rng.permutation(side), 2) for side in rows.shape]
    largest = min(max_components, rows.shape[0] // 2, rows.shape[1] // 2)
    change = np.zeros(largest + 1)
    if rows.shape[0] >= 2 * rows.shape[1]:
        products = [_products(rows[half]) for half in halves[0]]
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
            change += _held_out_by_products(products[i], products[1 - i], halves[1][j], halves[1][1 - j], largest)
        return change
    quarter = [[rows[np.ix_(r, c)] for c in halves[1]] for r in halves[0]]
    for i in (0, 1):
        for j in (0, 1):
            change += _held_out(quarter[i][j], quarter[i][1 - j], quarter[1 - i][j], quarter[1 - i][1 - j], largest)
    return change


def _products(rows: HostArray) -> Values:
    """Return  X'X  (c, c) in float64."""
    wide = rows.astype(np.float64)
    return np.asarray(wide.T @ wide)


def _held_out_by_products(here: Values, there: Values, held: HostArray, used: HostArray, largest: int) -> Values:
    """Return what :func:`_held_out` does for a tall table, from the products of its columns in either half of the rows.

    A and B are columns ``held`` and ``used`` of the rows of ``here``, C and D those of ``there``; with
    B D_k^+ C = B W_k S_k  all sums of squares over rows are sums over B'B and B'A. Cost: c^3, whatever the rows.
    """
    values, vectors = np.linalg.eigh(there[np.ix_(used, used)])
    kept = np.flatnonzero(values > SMALLEST * max(values[-1], 0.0))[::-1][:largest]
    W = vectors[:, kept]
    Q = (W / values[kept]).T @ there[np.ix_(used, held)]
    linear = np.cumsum(np.einsum("kj,kj->k", W.T @ here[np.ix_(used, held)], Q))
    products = (W.T @ here[np.ix_(used, used)] @ W) * (Q @ Q.T)
    quadratic = np.cumsum(np.cumsum(products, axis=0), axis=1).diagonal()
    change = np.concatenate([[0.0], quadratic - 2.0 * linear])
    return np.pad(change, (0, largest + 1 - len(change)), mode="edge")


def _held_out(A: HostArray, B: HostArray, C: HostArray, D: HostArray, largest: int) -> Values:
    """Return |A - B D_k^+ C|^2 - |A|^2 for k = 0..largest, in float64."""
    P, Q = _factors(B, C, D, largest)
    linear = np.cumsum(np.einsum("ik,ik->k", P, A @ Q.T, dtype=np.float64))
    products = (P.T @ P).astype(np.float64) * (Q @ Q.T)
    quadratic = np.cumsum(np.cumsum(products, axis=0), axis=1).diagonal()
    change = np.concatenate([[0.0], quadratic - 2.0 * linear])
    # Directions in which D has nothing cannot predict: more of them leave the error where it is.
    return np.pad(change, (0, largest + 1 - len(change)), mode="edge")


def _factors(B: HostArray, C: HostArray, D: HostArray, largest: int) -> tuple[HostArray, HostArray]:
    """Return P, Q whose first k columns and rows give  B D_k^+ C = P_k Q_k."""
    tall = D.shape[0] >= D.shape[1]
    gram = (D.T @ D if tall else D @ D.T).astype(np.float64)
    values, vectors = np.linalg.eigh(gram)
    kept = np.flatnonzero(values > SMALLEST * max(values[-1], 0.0))[::-1][:largest]
    W = vectors[:, kept].astype(D.dtype)
    inverse = (1.0 / values[kept]).astype(D.dtype)
    if tall:
        return B @ W, (W * inverse).T @ (D.T @ C)
    return B @ (D.T @ (W * inverse)), W.T @ C
