"""Principal components as a fitted model: what was asked, what was found, scores and back."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gramian.arrays.namespace import Array, to_host
from gramian.eigen.certificate import Certificate
from gramian.models.rest_later import RestLater
from gramian.operators.centering import Standardization
from gramian.planning.plan import Plan
from gramian.sources.rows import Block, RowSource


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
class PCAModel(RestLater):
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
    left_out_dimensions : float or None
        Over how many directions the variance beyond the components spreads: its sum, squared, over the sum of its
        squares. None where the fit held no matrix to measure it by.
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
    left_out_dimensions: float | None = None

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
