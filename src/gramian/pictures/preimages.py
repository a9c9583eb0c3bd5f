"""What the components of a kernel mean in the columns: rows rebuilt from scores, and what changes along a component."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import NotSupportedError
from gramian.models.kernel_pca.expansion import solve_densely
from gramian.models.kernel_pca.preimage import SMOOTH, expansion_of, split
from gramian.models.row_values import open_rows, values_at
from gramian.pictures.fitted import require_kind

STEPS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Where a walk along a component stops: shares of the rows whose score is lower."""

MOST_ROWS, MOST_NUMBERS = 20_000, 20_000_000
"""Rows, and numbers in them, up to which the regression takes seconds."""


@dataclass(frozen=True, slots=True)
class KernelProfiles:
    """Pre-images of a kernel PCA.

    Attributes
    ----------
    positions : (m,) array of int
        Rows that were rebuilt.
    originals, rebuilt : (m, d) arrays
        Those rows, and what the components keep of them.
    steps : tuple of float
        Quantiles of a score.
    profiles : (c, s, d) array
        The row rebuilt where one score is at a quantile and the others are at their means.
    kept : (d,) array
        Share of the variance of each column that pre-images of held-out rows keep; negative where they are worse
        than the mean.
    """

    positions: np.ndarray
    originals: np.ndarray
    rebuilt: np.ndarray
    steps: tuple[float, ...]
    profiles: np.ndarray
    kept: np.ndarray


def kernel_profiles(fitted: Any, X: Any = None, *, count: int = 6, examples: int = 10, seed: int = 0) -> KernelProfiles:
    """Rebuild some rows of a kernel PCA, and walk along its first components.

    Computes pre-images by a kernel ridge regression from scores to rows, of the scores of some rows; and, a component
    at a time, of the mean scores with one of them set to five quantiles. How far they can be trusted is measured on
    rows held out of the kernel PCA and the regression:  1 - |z - x|^2 / |x - mean|^2,  per column.

    Cost: n^3 / 3 operations up to 6,000 rows, n 2,000^2 beyond, and a dense kernel PCA of at most 800 rows. Not for
    more than 20,000 rows, nor for models that are no combination of rows (random features, precomputed kernels).

    Parameters
    ----------
    fitted : KernelPCAModel or KernelPCA
    X : rows (m, d), optional
        Some of which are rebuilt; those of the fit unless given. A model on landmarks has none of its own.
    count : int
        Components, at most.
    examples : int
        Rows, at most.
    seed : int
        Of the rows that are held out.

    Examples
    --------
    >>> from gramian import KernelPCA
    >>> t = np.linspace(0, 6, 90)
    >>> X = np.column_stack([np.cos(t), np.sin(t), t])
    >>> found = kernel_profiles(KernelPCA(4, kernel="rbf", gamma=0.3).fit(X))
    >>> found.profiles.shape, bool(found.kept.min() > 0.9)
    ((4, 5, 3), True)
    """
    model = require_kind(fitted, "kernel")
    source = model.source if X is None else open_rows(X)
    n, d = source.n_rows, model.n_columns
    if n > MOST_ROWS or n * d > MOST_NUMBERS:
        message = (
            f"Pre-images are shown for tables of up to {MOST_ROWS:,} rows and {MOST_NUMBERS:,} numbers; not {n:,}."
        )
        raise NotSupportedError(message)
    if n == 0:
        message = "A model on landmarks holds no rows of the fit. Pass some."
        raise NotSupportedError(message)
    if model.n_components == 0:
        message = "A model without components has no pre-images."
        raise NotSupportedError(message)
    expansion = expansion_of(model)
    bound = SMOOTH.fit(expansion)
    positions = np.unique(np.linspace(0, n - 1, min(examples, n)).astype(np.int64))
    originals = values_at(source, positions)
    return KernelProfiles(
        positions=positions,
        originals=originals,
        rebuilt=bound.rebuild(expansion.project(originals)).rows,
        steps=STEPS,
        profiles=_walks(bound, expansion.scores, count),
        kept=_kept(expansion, seed),
    )


def _walks(bound: Any, scores: np.ndarray, count: int) -> np.ndarray:
    """Pre-images of the mean scores with one of them at each quantile (c, s, d)."""
    c = min(count, scores.shape[1])
    stops = np.quantile(scores[:, :c], STEPS, axis=0)
    points = np.tile(scores.mean(axis=0), (c, len(STEPS), 1))
    points[np.arange(c), :, np.arange(c)] = stops.T
    return np.asarray(bound.rebuild(points.reshape(-1, scores.shape[1])).rows.reshape(c, len(STEPS), -1))


def _kept(expansion: Any, seed: int) -> np.ndarray:
    """How much of each column comes back, of rows that nothing was learned from."""
    learned, held_out = split(expansion.rows, seed=seed)
    k = min(expansion.coefficients.shape[1], len(learned))
    small = solve_densely(learned, expansion.kernel, k)
    rows = SMOOTH.fit(small).rebuild(small.project(held_out)).rows
    total = ((held_out - learned.mean(axis=0)) ** 2).sum(axis=0)
    lost = ((held_out - rows) ** 2).sum(axis=0)
    return np.asarray(1.0 - np.divide(lost, total, out=np.ones_like(lost), where=total > 0))
