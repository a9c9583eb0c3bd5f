"""Principal components: the fitted model, and the functions that fit it."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, from_host, to_host
from gramian.arrays.precision import FLOAT64, eps_of, resolve_tolerance
from gramian.choosing.auto import choose_automatically
from gramian.choosing.minka import choose_by_minka
from gramian.choosing.share import choose_by_share
from gramian.eigen.certificate import Certificate
from gramian.errors import ParameterError, PrecisionWarning
from gramian.models.decomposition import (
    Decomposition,
    Rows,
    completed_components,
    decompose,
    decompose_moments,
    prepare_rows,
    standardization_of,
)
from gramian.models.spectrum import Spectrum, rank_of
from gramian.operators.centering import Standardization
from gramian.planning.plan import DIRECT_SIZE, Facts, Plan, default_budget, plan_pca
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.rows import Block, RowSource

LARGE_SIDE = 4 * DIRECT_SIZE
"""Smaller side beyond which a share of variance is reached by growing k instead of by the whole spectrum."""


@dataclass(frozen=True)
class PCAOptions:
    """What is asked of a PCA.

    Attributes
    ----------
    n_components : int, float, str or None
        ``None`` for all, a number, a share of variance in (0, 1), ``"mle"`` or ``"auto"``.
    center, scale : bool
    ddof : int
        Variances are sums of squares over W - ddof.
    solver : str
        "auto", or one of the names that :func:`~gramian.planning.plan.plan_pca` knows.
    tol : float
        Residual, relative to the first eigenvalue, at which a pair counts as found; 0 for the house default.
    seed : int
    memory_budget : int or None
        Bytes beyond the rows.
    progress : callable or None
        Called with a sentence before each stage.
    """

    n_components: int | float | str | None = None
    center: bool = True
    scale: bool = False
    ddof: int = 1
    solver: str = "auto"
    tol: float = 0.0
    seed: int = 0
    memory_budget: int | None = None
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True, eq=False)
class PCAModel:
    """Principal components of a table; arrays have the type, library and device of its rows.

    Attributes
    ----------
    components : array (k, d)
        Orthonormal rows; the largest entry of each is positive.
    variances, shares, singular_values : arrays (k,)
    mean : array (d,)
    factor : array (d,) or None
        What centered columns are multiplied by (scale=True).
    n_rows, n_columns, rank : int
    weight : float
    total_variance, noise_variance : float
    certificate : Certificate
        In the units of ``variances``.
    plan : Plan
    options : PCAOptions
    verdict : str
        How the number of components was chosen, in words.
    """

    components: Array
    variances: Array
    shares: Array
    singular_values: Array
    mean: Array
    factor: Array | None
    n_rows: int
    n_columns: int
    rank: int
    weight: float
    total_variance: float
    noise_variance: float
    certificate: Certificate
    plan: Plan
    options: PCAOptions
    verdict: str = ""

    def project(self, rows: RowSource | Array) -> Array:
        """Return the scores  ((x - mean) * factor) V'  of rows (n, k): one pass, 2 n d k operations."""
        local = partial(_project, self._standardization(), self.components.T)
        if isinstance(rows, RowSource):
            return rows.map_rows(local)
        return local(Block(rows, 0, None))

    def reconstruct(self, scores: Array) -> Array:
        """Return the rows  (y V) / factor + mean  that scores stand for (n, d)."""
        rows = scores @ self.components
        if self.factor is not None:
            rows = rows / self.factor
        rows += self.mean
        return rows

    def _standardization(self) -> Standardization:
        factor = None if self.factor is None else to_host(self.factor)
        return Standardization(to_host(self.mean), factor, self.options.center)


def _project(standardization: Standardization, V: Array, block: Block) -> Array:
    return standardization.times(block._replace(weights=None), V)


def fit_pca(source: RowSource, options: PCAOptions = PCAOptions()) -> PCAModel:
    """Fit principal components to the rows of a source.

    Computes the k leading eigenpairs of  Xs'Xs / (W - ddof)  by the way that :func:`plan_pca` finds cheapest, with a
    certificate; see :class:`PCAModel`.

    Parameters
    ----------
    source : RowSource
    options : PCAOptions

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> t = np.arange(5.0)
    >>> model = fit_pca(as_source(np.column_stack([3 * t, 4 * t])))
    >>> model.components[0].round(12), model.rank
    (array([0.6, 0.8]), 1)
    """
    size = min(_effective_rows(source), source.n_columns)
    k = requested(options.n_components, size)
    if k is None and min(source.n_rows, source.n_columns) > LARGE_SIDE and options.n_components != "mle":
        return _grown(source, options, size)
    return _fitted(source, options, size, k)


def fit_pca_from_moments(
    moments: Moments, options: PCAOptions = PCAOptions(), *, dtype: np.dtype[Any] = FLOAT64
) -> PCAModel:
    """Fit principal components to moments alone, as batches leave them.

    Without rows the small singular values cannot be repaired: those under about 1e-8 of the first are rounding.
    """
    d = len(moments.mean)
    shape = _Shape(moments.count, d, min(_effective_count(moments), d), dtype, moments.mean[:0])
    k = requested(options.n_components, shape.size)
    # The scatter is all there is: a dense solve of d x d, however few the rows.
    facts = _facts(shape, d * d, options, k, sparse=False)
    plan = plan_pca(replace(facts, n=max(shape.n, d), solver="full"))
    rows = Rows(None, moments, standardization_of(moments, center=options.center, scale=options.scale))
    solved = decompose_moments(rows, k=shape.size if k is None else k, tol=resolve_tolerance(options.tol, dtype))
    return _assembled(solved, rows, plan, options, shape)


@dataclass(frozen=True, eq=False)
class _Shape:
    n: int
    d: int
    size: int
    dtype: np.dtype[Any]
    like: Array


def requested(n_components: Any, size: int) -> int | None:
    """Return how many components are asked for; ``None`` when the spectrum must be seen first.

    Examples
    --------
    >>> requested(None, 7), requested(3, 7), requested(0.95, 7)
    (7, 3, None)
    """
    if n_components is None:
        return size
    if isinstance(n_components, str) or (isinstance(n_components, float) and 0 < n_components < 1):
        return None
    k = int(n_components)
    if not 0 <= k <= size or k != n_components:
        message = (
            f"n_components={n_components!r} is not a number of components between 0 and "
            f"min(n_samples, n_features)={size}. Pass an integer up to {size}, a share such as 0.95, or None for all."
        )
        raise ParameterError(message)
    return k


def _fitted(source: RowSource, options: PCAOptions, size: int, k: int | None) -> PCAModel:
    shape = _Shape(source.n_rows, source.n_columns, size, source.dtype, source.like())
    facts = _facts(shape, source.n_entries, options, k, sparse=source.is_sparse)
    plan = plan_pca(facts)
    if options.progress is not None:
        options.progress(f"measuring {source.n_rows:,} x {source.n_columns:,} rows")
    rows = prepare_rows(source, plan=plan, center=options.center, scale=options.scale)
    if options.progress is not None:
        options.progress(f"solving: {plan}")
    solved = decompose(
        rows, rows.source or source, plan=plan, k=size if k is None else k, tol=facts.tol, seed=options.seed
    )
    return _assembled(solved, rows, plan, options, shape)


def _grown(source: RowSource, options: PCAOptions, size: int) -> PCAModel:
    """Reach a share of variance on a large side by doubling k until the leading values hold it."""
    k = 64
    while True:
        model = _fitted(source, replace(options, n_components=k), size, k)
        enough = isinstance(options.n_components, str) or np.sum(to_host(model.shares)) > options.n_components
        if enough or k >= size:
            return _cut(model, source, options)
        k = min(2 * k, size)


def _cut(model: PCAModel, source: RowSource, options: PCAOptions) -> PCAModel:
    """Keep the components that a rule chooses among the leading ones."""
    variances = to_host(model.variances).astype(FLOAT64)
    spread = measure_moments(source, scatter=False, center=options.center)
    rows = Rows(source, spread, standardization_of(spread, center=options.center, scale=options.scale))
    size = min(model.n_rows, model.n_columns)
    k, verdict = _choose(options, variances, model.total_variance, rows, to_host(model.components))
    rest = float(variances[k:].sum()) + model.noise_variance * (size - len(variances))
    return replace(
        model,
        components=model.components[:k],
        variances=model.variances[:k],
        shares=model.shares[:k],
        singular_values=model.singular_values[:k],
        noise_variance=rest / (size - k) if size > k else 0.0,
        certificate=model.certificate.leading(k),
        rank=min(model.rank, k),
        options=options,
        verdict=verdict,
    )


def _choose(
    options: PCAOptions, variances: HostArray, total: float, rows: Rows, components: HostArray
) -> tuple[int, str]:
    """Return the number of components that the rule asked for chooses, and why."""
    rule, n, d = options.n_components, rows.moments.weight, len(rows.moments.mean)
    if total <= 0:
        return min(1, len(variances)), "Nothing varies."
    if rule == "mle":
        return choose_by_minka(variances, n_rows=n, n_columns=d, total_variance=total), "the greatest evidence (Minka)"
    if rule == "auto":
        verdict = choose_automatically(
            variances,
            rows.source,
            n_rows=n,
            n_columns=d,
            total_variance=total,
            column_variances=rows.standardized_squares / max(n - options.ddof, 1.0),
            components=components,
            mean=rows.standardization.mean,
            factor=rows.standardization.factor,
            seed=options.seed,
        )
        return verdict.n_components, verdict.reason
    share = float(rule)  # type: ignore[arg-type]  # a share is all that is left
    return choose_by_share(variances, share, total_variance=total), f"more than {share:.4g} of the variance"


def _assembled(solved: Decomposition, rows: Rows, plan: Plan, options: PCAOptions, shape: _Shape) -> PCAModel:
    """Put a fitted model together: number of components, rank, signs, units and types."""
    divisor = rows.moments.weight - options.ddof
    whole = Spectrum(solved.spectrum, float(rows.standardized_squares.sum()), divisor, shape.size)
    k, verdict = requested(options.n_components, shape.size), ""
    if k is None:
        unit = divisor if divisor > 0 else 1.0
        found = to_host(solved.components).T
        k, verdict = _choose(options, whole.squares[: shape.size] / unit, whole.total / unit, rows, found)
    rank = _rank(solved, rows, shape)
    components = completed_components(solved.components, rank=rank, k=k, seed=options.seed)
    squares = np.zeros(k)
    squares[: min(k, len(solved.squares))] = solved.squares[:k]
    kept = Spectrum(squares, whole.total, divisor, shape.size)
    to_rows = partial(_as_rows, shape)
    sized = partial(_sized, rows.exponent)
    _warn_of_range(kept, rows.exponent, shape.dtype)
    factor = rows.standardization.factor
    return PCAModel(
        components=cast(components.T, shape.dtype),
        variances=to_rows(sized(2, kept.variances)),
        shares=to_rows(kept.shares),
        singular_values=to_rows(sized(1, np.sqrt(squares))),
        mean=to_rows(sized(1, rows.moments.mean)),
        factor=None if factor is None else to_rows(sized(-1, factor)),
        n_rows=shape.n,
        n_columns=shape.d,
        rank=min(rank, k),
        weight=rows.moments.weight,
        total_variance=float(sized(2, np.array(whole.total / divisor if divisor > 0 else 0.0))),
        noise_variance=float(sized(2, np.array(kept.noise(k)))),
        certificate=_in_variances(solved.certificate.leading(k), divisor, rows.exponent),
        plan=plan,
        options=options,
        verdict=verdict,
    )


def _in_variances(certificate: Certificate, divisor: float, exponent: int) -> Certificate:
    return certificate.rescaled(1.0 / divisor if divisor > 0 else 1.0, exponent=2 * exponent)


def _rank(solved: Decomposition, rows: Rows, shape: _Shape) -> int:
    moments = rows.moments
    with np.errstate(over="ignore"):
        energy = float(moments.squares.sum() + moments.weight * (moments.mean @ moments.mean))
    rms = float(np.sqrt(energy / (moments.weight * shape.d)))
    eps = eps_of(FLOAT64) if rows.source is not None else float(np.sqrt(eps_of(FLOAT64)))
    return rank_of(solved.squares, n=shape.n, d=shape.d, eps=eps, rounding=eps_of(shape.dtype) * rms)


def _as_rows(shape: _Shape, values: HostArray) -> Array:
    """Move values to the type, library and device of the rows; what leaves the type's range becomes 0 or inf."""
    if shape.dtype == FLOAT64:
        return from_host(values, like=shape.like)
    with np.errstate(over="ignore", under="ignore"):
        return from_host(values, like=shape.like, dtype=shape.dtype)


def _sized(exponent: int, power: int, values: HostArray) -> HostArray:
    """Give values, which have a power of the rows' unit, their true size again."""
    if exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, power * exponent)


def _warn_of_range(kept: Spectrum, exponent: int, dtype: np.dtype[Any]) -> None:
    """Say so when variances leave the range of their type; nothing else does."""
    if exponent == 0:
        return
    largest = float(np.max(_sized(exponent, 2, kept.variances[:1]), initial=0.0))
    limits = np.finfo(dtype)
    if kept.divisor <= 0 or kept.total <= 0 or float(limits.tiny) < largest < float(limits.max):
        return
    message = (
        f"Variances of these rows are about 2**{2 * exponent} and cannot be held in {dtype.name}: explained_variance_ "
        f"is {largest:g}. Singular values, shares, components and scores are right. Scale the rows to use variances."
    )
    warnings.warn(message, PrecisionWarning, stacklevel=2)


def _facts(shape: _Shape, entries: int, options: PCAOptions, k: int | None, *, sparse: bool) -> Facts:
    return Facts(
        n=shape.n,
        d=shape.d,
        entries=entries,
        itemsize=shape.dtype.itemsize,
        k=k,
        sparse=sparse,
        by_columns=not sparse,
        tol=resolve_tolerance(options.tol, shape.dtype),
        solver=options.solver,
        budget=options.memory_budget or default_budget(),
    )


def _effective_rows(source: RowSource) -> int:
    """Count rows as repetitions: rows of weight zero are not there, a weight of three is three rows."""
    if source.weights is None:
        return source.n_rows
    weights = to_host(source.weights)
    return max(int(np.count_nonzero(weights > 0)), int(np.floor(weights.sum() + 1e-9)))


def _effective_count(moments: Moments) -> int:
    return moments.count if moments.weight == moments.count else max(1, int(np.floor(moments.weight + 1e-9)))
