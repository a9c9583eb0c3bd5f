"""Fits that come in batches: one frozen value, merged batch by batch, and the model it stands for.

:class:`ExactBatches` keeps the d x d scatter, so nothing is lost. Where that does not fit the budget,
:class:`~gramian.models.rank_limited.RankLimitedBatches` keeps the leading directions and a bound of the rest.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, from_host, to_host
from gramian.models.pca import PCAModel, PCAOptions, fit_pca_from_moments
from gramian.sources.measuring import measure_moments
from gramian.sources.moments import UNIT, Moments, drift_rounding
from gramian.sources.rows import RowSource

MATRICES = 4
"""Matrices of d x d that batches and their solution hold at once: the state, a batch, LAPACK's copy and vectors."""

ARRAYS = ("components", "variances", "shares", "singular_values", "mean", "factor")
"""Fields of a model that live where its rows do."""


class Batches(ABC):
    """What is kept of the batches seen so far: of the same size after any number of them.

    Attributes
    ----------
    moments : Moments
        Of all rows seen, about their mean, on the host.
    """

    moments: Moments

    @abstractmethod
    def absorb(self, source: RowSource) -> "Batches":
        """Return what these batches and one more leave together."""

    @abstractmethod
    def fit(self, options: PCAOptions) -> PCAModel:
        """Solve for the components of all rows seen."""


@dataclass(frozen=True, eq=False)
class ExactBatches(Batches):
    """Batches kept as their moments: exact for batches of any number, size and order.

    Attributes
    ----------
    moments : Moments
        About the mean, on the host, with the d x d scatter.
    dtype : numpy.dtype
        The widest precision of the batches, which the model will have.
    like : array
        An empty piece of a batch, in whose library and device the model will be.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]])
    >>> both = ExactBatches.of(as_source(X[:1])).absorb(as_source(X[1:]))
    >>> both.moments.count, bool(np.allclose(both.moments.mean, X.mean(axis=0)))
    (3, True)
    """

    moments: Moments
    dtype: np.dtype[Any]
    like: Array

    @classmethod
    def of(cls, source: RowSource) -> "ExactBatches":
        """Measure a first batch: one pass, d^2 operations a row and one d x d matrix."""
        moments = measure_moments(source)
        moments = replace(moments, scatter=to_host(moments.scatter), mean_rounding=moments.known_mean_rounding)
        return cls(moments, source.dtype, source.like())

    def absorb(self, source: RowSource) -> "ExactBatches":
        """Merge one more batch: its own pass and one d x d addition."""
        batch = self.of(source)
        moments = self.moments.merge(batch.moments)
        return ExactBatches(moments, np.promote_types(self.dtype, batch.dtype), batch.like)

    def fit(self, options: PCAOptions) -> PCAModel:
        """Solve for the components: d^3 operations.

        Singular values under about 1e-8 of the first cannot be recovered without the rows.
        """
        moments = self.moments if options.center else _about_origin(self.moments)
        return placed(fit_pca_from_moments(moments, options, dtype=self.dtype), like=self.like, dtype=self.dtype)


def placed(model: PCAModel, *, like: Array, dtype: np.dtype[Any]) -> PCAModel:
    """Return a model whose arrays are of ``dtype`` and live where ``like`` does."""
    held: dict[str, Any] = {name: getattr(model, name) for name in ARRAYS}
    moved: dict[str, Any] = {
        name: from_host(to_host(x), like=like, dtype=dtype) for name, x in held.items() if x is not None
    }
    return replace(model, **moved)


def _about_origin(moments: Moments) -> Moments:
    """Return the second moments about zero:  scatter + W mean mean',  a sum that loses no digits."""
    lifted = to_host(moments.scatter) + moments.weight * np.outer(moments.mean, moments.mean)
    squares = np.diagonal(lifted).copy()
    drift = drift_rounding(moments.weight, moments.mean, moments.known_mean_rounding)
    rounding = moments.known_rounding + drift + 4 * UNIT * squares
    zero = np.zeros_like(moments.mean)
    return replace(moments, mean=zero, squares=squares, scatter=lifted, rounding=rounding, mean_rounding=zero)
