"""How batches begin: from a first batch, or from the rows of a finished model as far as its components know them."""

from dataclasses import replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, dtype_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import MemoryBudgetError
from gramian.models.pca import PCAModel
from gramian.models.rank_limited import RankLimitedBatches, rank_that_fits
from gramian.models.streaming import MATRICES, Batches, ExactBatches
from gramian.sources.moments import Moments
from gramian.sources.rows import RowSource


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
            f"n_components={n_components!r} needs the whole {d:,} x {d:,} scatter of the batches: {needed / 1e9:.3g} "
            f"GB, and memory_budget is {budget / 1e9:.3g} GB. Pass an integer, for which the leading directions are "
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
    >>> from gramian.models.pca import fit_pca
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
