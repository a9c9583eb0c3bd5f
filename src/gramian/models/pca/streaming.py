"""Fits that come in batches: one frozen value, merged batch by batch, and the model it stands for.

Batches begin with a first batch (:func:`begin`) or with the rows of a finished model, as far as its components know
them (:func:`resume`). :class:`ExactBatches` keeps the d x d scatter, so nothing is lost. Where that does not fit the
budget, :class:`RankLimitedBatches` keeps a factor R of the leading directions: a merge stacks two factors and cuts them
to the leading singular directions. What is dropped is positive semidefinite, so the true scatter S obeys
R'R <= S <= R'R + lost I,  ``lost`` being the sum of the largest squared singular value of every drop (Liberty, 2013,
doi:10.1145/2487575.2487623, shrinks instead; the bound is of that kind).
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, is_sparse, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.eigen.certificate import Certificate
from gramian.errors import InputError, MemoryBudgetError, PrecisionWarning, users_line
from gramian.machine import in_words
from gramian.models.pca.decomposition import Spectrum, standardization_of
from gramian.models.pca.fit import fit_pca, fit_pca_from_moments
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.sources.dense import DenseRows
from gramian.sources.finiteness import require_finite
from gramian.sources.moments import UNIT, Moments, drift_rounding, measure_moments, squares_are_safe
from gramian.sources.rows import Block, RowSource, ranges, require_local

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
        _require_range(moments, source.dtype)
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


def _require_range(moments: Moments, dtype: np.dtype[Any]) -> None:
    """Refuse a batch whose squares overflow or underflow: later ones may have another scale, so none is chosen."""
    is_constant = not np.any(moments.squares) and squares_are_safe(moments, dtype, each=True)
    if not is_constant and not squares_are_safe(moments, dtype):
        sizes = np.sqrt(moments.squares / moments.weight) + np.abs(moments.mean)
        message = (
            f"Values of about {float(sizes.max()):.1g} in this batch have squares outside the range of {dtype}. Divide "
            "all batches by one power of ten, or fit all rows at once with PCA, which does."
        )
        raise InputError(message)


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


@dataclass(frozen=True, eq=False)
class RankLimitedBatches(Batches):
    """Batches kept as the leading directions of their scatter: memory for 2 r d numbers, whatever the batches.

    Attributes
    ----------
    moments : Moments
        Exact mean and squares of the columns, without a scatter; ``lost`` bounds the largest eigenvalue of all that
        was dropped.
    root : numpy array (at most 2 r, d), float64
        R with  R'R <= scatter <= R'R + lost I.
    rank : int
        r, the directions kept when R is cut.
    n_components : int
        Components to give when they are asked for by a rule that needs the whole spectrum.
    dtype, like
        As :class:`~gramian.models.pca.streaming.ExactBatches`.
    after_fit : bool
        Whether the batches follow a fit that left components out.
    fits : bool
        Whether the d x d scatter would fit the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> X = np.outer(np.arange(30.0), np.ones(4))
    >>> state = RankLimitedBatches.of(as_source(X[:9]), rank=2).absorb(as_source(X[9:]))
    >>> state.moments.count, state.root.shape[0] <= 4, state.moments.lost < 1e-9
    (30, True, True)
    """

    moments: Moments
    root: HostArray
    rank: int
    n_components: int
    dtype: np.dtype[Any]
    like: Array
    after_fit: bool = False
    fits: bool = False

    @classmethod
    def of(cls, source: RowSource, *, rank: int, n_components: int = 0) -> "RankLimitedBatches":
        """Begin with a first batch: one pass, 4 r d operations a row."""
        dtype, like = source.dtype, source.like()
        pieces = (
            cls(*_centered(rows, weights), rank, n_components, dtype, like) for rows, weights in _pieces(source, rank)
        )
        with np.errstate(over="ignore", invalid="ignore"):
            state = reduce(cls.merge, pieces)
        if not np.all(np.isfinite(state.moments.mean)):
            require_finite(source)
        _require_range(state.moments, dtype)
        return state

    def absorb(self, source: RowSource) -> "RankLimitedBatches":
        """Merge one more batch: one pass, 4 r d operations a row."""
        return self.merge(self.of(source, rank=self.rank, n_components=self.n_components))

    def merge(self, other: "RankLimitedBatches") -> "RankLimitedBatches":
        """Return what both leave together, cut to the rank when it has grown to twice that."""
        moments = self.moments.merge(other.moments)
        step = self.moments.weight * (other.moments.weight / moments.weight)
        between = np.sqrt(step) * (other.moments.mean - self.moments.mean)
        root, dropped = _cut(np.vstack([self.root, other.root, between]), self.rank)
        # A cut turns R by vectors of inner products of d terms, orthonormal to as many roundings as they have entries.
        turned = 0.0 if len(root) > self.rank else (root.shape[1] + 8 * (2 * self.rank + 1)) * UNIT
        rounding = moments.known_rounding + turned * moments.squares
        moments = replace(moments, lost=moments.lost + dropped, rounding=rounding)
        return replace(
            self, moments=moments, root=root, dtype=np.promote_types(self.dtype, other.dtype), like=other.like
        )

    def fit(self, options: PCAOptions) -> PCAModel:
        """Solve for the components of what was kept; the certificate's bounds include what may be lost."""
        rows = self._standardized(options)
        asked = options.n_components if isinstance(options.n_components, int) else self.n_components
        k = min(asked, len(rows.root))
        model = fit_pca(DenseRows(rows.root), PCAOptions(n_components=k, center=False, ddof=0, seed=options.seed))
        self._say_what_is_lost(model, rows.lost)
        return placed(self._in_units(model, rows, options), like=self.like, dtype=self.dtype)

    def _standardized(self, options: PCAOptions) -> "_Standardized":
        moments, root = self.moments, self.root
        mean, squares = moments.mean, moments.squares
        if not options.center:
            root = np.vstack([root, np.sqrt(moments.weight) * mean])
            squares = squares + moments.weight * mean**2
            drift = drift_rounding(moments.weight, mean, moments.known_mean_rounding)
            moments = replace(moments, rounding=moments.known_rounding + drift + 4 * UNIT * squares)
            mean = np.zeros_like(mean)
        # The trace of what is missing bounds its largest eigenvalue too.
        lost = min(moments.lost, max(float(squares.sum()) - float(np.vdot(root, root)), 0.0))
        held = replace(moments, squares=squares)
        factor = standardization_of(held, center=True, scale=options.scale).factor
        rounded = held.lost_by_rounding(factor)
        if factor is None:
            return _Standardized(root, mean, None, float(squares.sum()), lost, rounded)
        largest = float(np.max(factor)) ** 2
        total = float((squares * factor**2).sum())
        return _Standardized(root * factor, mean, factor, total, lost * largest, rounded)

    def _in_units(self, model: PCAModel, rows: "_Standardized", options: PCAOptions) -> PCAModel:
        """Turn the model of R into the model of the rows."""
        moments, s = self.moments, to_host(model.singular_values)
        divisor = moments.weight - options.ddof
        unit = 1.0 / divisor if divisor > 0 else 0.0
        spectrum = Spectrum(s**2, rows.total, divisor, min(moments.count, len(rows.mean)))
        return replace(
            model,
            variances=spectrum.variances,
            shares=spectrum.shares,
            mean=rows.mean,
            factor=rows.factor,
            n_rows=moments.count,
            weight=moments.weight,
            total_variance=rows.total * unit,
            noise_variance=spectrum.noise(len(s), rank=model.rank),
            certificate=self._certificate(model, rows, unit),
            options=options,
        )

    def _certificate(self, model: PCAModel, rows: "_Standardized", unit: float) -> Certificate:
        """Return the certificate of R, loosened by what may be lost and by the rounding of R, in units of variance."""
        kept = f"{self._kept} directions kept between batches, at most {rows.lost * unit:.3g} of variance lost in any"
        own = model.certificate.rescaled(model.n_rows * unit)
        grades = tuple("measured" if grade == "proved" and self.moments.error > 0 else grade for grade in own.grades)
        loose = own.widened((rows.lost + rows.rounding) * unit).kept_in(self.dtype)
        return replace(loose, grades=grades, note=f"{own.note}; {kept}")

    @property
    def _kept(self) -> int:
        return min(self.rank, len(self.moments.mean))

    def _say_what_is_lost(self, model: PCAModel, lost: float) -> None:
        top = float(np.max(to_host(model.singular_values), initial=0.0)) ** 2
        if lost > 1e-10 * top:
            why, advice = self._cause()
            message = (
                f"Of {len(self.moments.mean):,} directions, {self._kept} are kept between batches: {why}. Every "
                f"variance may be too low by up to {lost / top if top else 1.0:.1e} of the first; certificate_ has the "
                f"bounds. {advice}, or fit all rows at once."
            )
            warnings.warn(message, PrecisionWarning, stacklevel=users_line())

    def _cause(self) -> tuple[str, str]:
        """Return why directions are left out, and what would keep them."""
        d = len(self.moments.mean)
        left = "the batches follow a fit that left components out"
        small = f"the {d:,} x {d:,} scatter does not fit memory_budget"
        if self.after_fit and self.fits:
            return left, "Begin with partial_fit"
        if self.after_fit:
            return f"{left}, and {small}", "Begin with partial_fit and a larger memory_budget"
        return small, "Raise memory_budget"


class _Standardized(NamedTuple):
    """R about the mean or the origin, its columns scaled or not, and the sums that go with it."""

    root: HostArray
    mean: HostArray
    factor: HostArray | None
    total: float
    lost: float
    rounding: float


def rank_that_fits(n_columns: int, *, k: int, budget: int) -> int:
    """Return how many directions to keep for ``k`` components: enough to lose little, few enough to fit.

    R, what is stacked on it and the product that cuts it are about six arrays of r x d.
    """
    return max(min(max(4 * k, k + 128), budget // (6 * 8 * n_columns)), k + 1)


def _pieces(source: RowSource, rank: int) -> Iterator[tuple[HostArray, HostArray]]:
    """Give the rows, dense and in float64, at most ``rank`` at a time, with their weights."""
    require_local(
        source, f"Adding a batch of {source.n_columns:,} columns, whose d x d matrix does not fit the budget,"
    )
    for i in range(source.n_blocks):
        block: Block = source.block(i)
        n = block.rows.shape[0]
        weights = np.ones(n) if block.weights is None else to_host(block.weights)
        for part in ranges(n, rank):
            if weights[part].any():
                rows = block.rows[part]
                dense = rows.toarray() if is_sparse(rows) else to_host(rows)
                yield dense.astype(FLOAT64, copy=False), weights[part]


def _centered(rows: HostArray, weights: HostArray) -> tuple[Moments, HostArray]:
    """Return the moments of a piece and its centered, weighted rows, which are its R."""
    weight = float(weights.sum())
    with np.errstate(invalid="ignore", over="ignore"):
        mean = rows[0] + weights @ (rows - rows[0]) / weight
        root = (rows - mean) * np.sqrt(weights)[:, None]
        squares = np.einsum("ij,ij->j", root, root)
    # About a mean wrong by e the squares are larger by  W e^2.
    moments = Moments(len(rows), weight, mean, squares, None)
    rounding = (len(rows) + 8) * UNIT * squares + weight * moments.known_mean_rounding**2
    return replace(moments, rounding=rounding), root


def _cut(root: HostArray, rank: int) -> tuple[HostArray, float]:
    """Cut R to its leading ``rank`` directions once it has twice as many; return the largest square dropped too."""
    if len(root) <= 2 * rank:
        return root, 0.0
    product = root @ root.T
    if not np.all(np.isfinite(product)):
        return root[:rank], np.inf
    values, U = np.linalg.eigh(product)
    return U[:, -rank:].T @ root, max(float(values[-rank - 1]), 0.0)


def begin(source: RowSource, *, n_components: Any, budget: int) -> Batches:
    """Start with a first batch: exactly, or with its leading directions where a d x d matrix does not fit the budget.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> type(begin(as_source(np.eye(9)), n_components=2, budget=1000)).__name__
    'RankLimitedBatches'
    """
    d = source.n_columns
    if squares_fit(d, budget):
        return ExactBatches.of(source)
    if n_components is None or isinstance(n_components, str | float | np.floating):
        needed = MATRICES * 8 * d * d
        message = (
            f"n_components={n_components!r} needs the whole {d:,} x {d:,} scatter of the batches: {in_words(needed)}, "
            f"and memory_budget is {in_words(budget)}. Pass an integer, for which the leading directions are "
            "kept, or raise memory_budget."
        )
        raise MemoryBudgetError(message, needed=needed, budget=budget)
    k = int(n_components)
    return RankLimitedBatches.of(source, rank=rank_that_fits(d, k=k, budget=budget), n_components=k)


def squares_fit(n_columns: int, budget: int) -> bool:
    """Tell whether the d x d matrices of exact batches fit a budget in bytes."""
    return MATRICES * 8 * n_columns * n_columns <= budget


def resume(model: PCAModel, *, budget: int, squares: HostArray | None = None) -> Batches:
    """Return the rows that a model was fitted to as if they had been batches.

    Computes  R = diag(s) V F^-1  with F the scale factors, so that R'R is the scatter of the rows. It is exact to
    rounding when every direction of the rows is among the components; otherwise what was left out is bounded by the
    smallest squared singular value kept, and by the trace. A model without centering is resumed about the origin.
    ``squares`` are the exact sums of squares of the columns, where they are known.

    Cost: d^2 k operations and one d x d matrix where that fits the budget, d k numbers where not.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> X = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 5.0]])
    >>> type(resume(fit_pca(as_source(X)), budget=10**6)).__name__
    'ExactBatches'
    """
    s, root, inverse = _factored(model)
    moments = _moments(model, s, root, inverse)
    if squares is not None:
        moments = replace(moments, squares=squares)
    like, dtype, d = model.components[:0, :0], dtype_of(model.components), model.n_columns
    if moments.lost == 0 and squares_fit(d, budget):
        return ExactBatches(replace(moments, scatter=root.T @ root), dtype, like)
    rank, fits = rank_that_fits(d, k=len(s), budget=budget), squares_fit(d, budget)
    return RankLimitedBatches(moments, root, rank, len(s), dtype, like, after_fit=moments.lost > 0, fits=fits)


def _factored(model: PCAModel) -> tuple[HostArray, HostArray, HostArray]:
    s = to_host(model.singular_values).astype(FLOAT64)
    inverse = np.ones(model.n_columns) if model.factor is None else 1.0 / to_host(model.factor).astype(FLOAT64)
    return s, s[:, None] * to_host(model.components).astype(FLOAT64) * inverse, inverse


def _moments(model: PCAModel, s: HostArray, root: HostArray, inverse: HostArray) -> Moments:
    """Return the moments without a scatter; what is not in R is spread evenly over the columns."""
    left_out = 0.0
    if model.noise_variance > 0:
        total = model.total_variance * (model.weight - model.options.ddof)
        left_out = max(total - float((s**2).sum()), 0.0)
    squares = np.einsum("ij,ij->j", root, root) + left_out / model.n_columns * inverse**2
    lost = min(left_out, float(s[-1]) ** 2 if len(s) else left_out) * float(np.max(inverse)) ** 2
    mean = to_host(model.mean).astype(FLOAT64)
    exact = Moments(model.n_rows, model.weight, mean, squares, None, lost=lost)
    return _with_rounding(exact, model, s, inverse)


def _with_rounding(moments: Moments, model: PCAModel, s: HostArray, inverse: HostArray) -> Moments:
    """State what R'R may be wrong by: what the certificate leaves open of each pair, and the precision of the model."""
    unit, divisor = eps_of(dtype_of(model.components)), max(model.weight - model.options.ddof, 1.0)
    wrong = float(model.certificate.bounds.sum()) * divisor + 4 * sum(model.components.shape) * unit * float(s @ s)
    proved = model.certificate.grade == "proved"
    return replace(
        moments,
        error=0.0 if proved else eps_of(FLOAT64),
        rounding=wrong * inverse**2,
        mean_rounding=unit * np.abs(moments.mean) + moments.known_mean_rounding,
    )
