"""Principal components as a fitted model: what was asked, what was found, scores and back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.eigen.certificate import Certificate
from gramian.eigen.pairs import PowerTrace
from gramian.operators.standardization import Standardization
from gramian.planning.plan import Plan
from gramian.sources.rows import Block, RowSource

NEAR = 8.0
"""Distance of the mean from the origin, in deviations of the rows, up to which scores are corrected for it."""


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
    most_steps : int or None
        Steps that the power method may take for each component; ``None`` for its own limit.
    robust : bool
        Whether outlying rows were given weight zero; :func:`~gramian.models.pca.robust.central_rows` finds them.
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
    most_steps: int | None = None
    robust: bool = False


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
    left_out_dimensions : float or None
        Over how many directions the variance beyond the components spreads: its sum, squared, over the sum of its
        squares. None where the fit formed no matrix to measure it by.
    power_trace : PowerTrace or None
        What the power method saw at each step, in the units of ``variances``; None for other solvers.
    """

    kind: ClassVar[str] = "pca"
    prefix: ClassVar[str] = "PC"
    source: ClassVar[None] = None
    scores: ClassVar[None] = None

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
    power_trace: PowerTrace | None = None

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.components)

    @property
    def is_centered(self) -> bool:
        """Whether rows were centered."""
        return self.options.center

    @property
    def is_scaled(self) -> bool:
        """Whether columns were scaled to unit variance."""
        return self.factor is not None

    @property
    def directions(self) -> HostArray:
        """Unit vectors of the components over the columns (k, d), float64 on the host."""
        return to_host(self.components).astype(FLOAT64)

    @property
    def loadings(self) -> HostArray:
        """Covariances of the columns, as the model saw them, with scores of unit variance (d, k)."""
        return self.directions.T * np.sqrt(np.maximum(to_host(self.variances).astype(FLOAT64), 0.0))

    @property
    def column_deviations(self) -> HostArray | None:
        """Deviations of the columns as the model saw them (d,), where the model alone tells them."""
        if self.factor is not None:
            return (to_host(self.factor) > 0).astype(FLOAT64)
        holds_all = float(to_host(self.variances).astype(FLOAT64).sum()) >= (1.0 - 1e-9) * self.total_variance
        return np.sqrt((self.loadings**2).sum(axis=1)) if holds_all else None

    @property
    def is_whole(self) -> bool:
        """Whether all that varies lies in the components: as many as there can be, or nothing is left for others."""
        most = min(self.n_rows - 1, self.n_columns)
        return self.n_components >= most or (self.noise_variance == 0.0 and self.total_variance < np.inf)

    def truncated(self, k: int) -> "PCAModel":
        """Return the model of the first ``k`` components, as a fit of so many would give it.

        The variance of those left out goes to the noise and to the directions left out; the certificate has the lines
        of those kept. Cost: no pass, and no copy of the components.

        Examples
        --------
        >>> from gramian.models.pca.fit import fit_pca
        >>> from gramian.sources import as_source
        >>> X = np.random.default_rng(0).standard_normal((30, 4))
        >>> one, all_of_them = (fit_pca(as_source(X), PCAOptions(k)) for k in (1, None))
        >>> bool(np.isclose(all_of_them.truncated(1).noise_variance, one.noise_variance))
        True
        """
        if k >= self.n_components:
            return self
        first, variances = slice(0, k), to_host(self.variances).astype(FLOAT64)
        left, beyond = variances[k:], max(self.total_variance - float(variances.sum()), 0.0)
        rest = float(left.sum()) + beyond
        # A weight is a repetition.
        n = self.n_rows if self.weight == self.n_rows else int(self.weight + 1e-9)
        directions = min(n, self.n_columns) - k
        is_noise = directions > 0 and self.rank > k and np.isfinite(rest)
        return replace(
            self,
            components=self.components[first, :],
            variances=self.variances[first],
            shares=self.shares[first],
            singular_values=self.singular_values[first],
            rank=min(self.rank, k),
            noise_variance=rest / directions if is_noise else 0.0,
            certificate=self.certificate.leading(k),
            options=replace(self.options, n_components=k),
            left_out_dimensions=self._dimensions_left(left, beyond),
            power_trace=None if self.power_trace is None else self.power_trace.leading(k),
        )

    def _dimensions_left(self, left: HostArray, beyond: float) -> float | None:
        """Return  t1^2 / t2  of some of the last variances and of what is beyond all of them."""
        first = float(left.sum()) + beyond
        if not 0.0 < first < np.inf:
            return None
        shares, rest = left / first, beyond / first
        holds_all = self.n_components >= min(self.n_rows, self.n_columns) or rest <= 1e-12
        if not holds_all and self.left_out_dimensions is None:
            return None
        tail = 0.0 if holds_all or self.left_out_dimensions is None else rest * rest / self.left_out_dimensions
        squares = float(shares @ shares) + tail
        return 1.0 / squares if squares > 0 else None

    def project(self, rows: RowSource | Array) -> Array:
        """Return the scores  ((x - mean) * factor) V'  of rows (n, k): one pass, 2 n d k operations.

        Computes  x V' - mean V'  where the mean lies within 8 deviations of the origin (see :meth:`_standardization`),
        so that rows need not be copied; elsewhere rows are centered first.
        """
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
        """Return what is done to rows, and whether scores are corrected for the mean afterwards.

        The product is then rounded relative to |x|, not to |x - mean|: by a factor of |mean| / deviation, the root of
        the total variance, more. Up to 8 of it, three bits, are given for a product without a copy.
        """
        mean = to_host(self.mean).astype(FLOAT64, copy=False)
        factor = None if self.factor is None else to_host(self.factor)
        offset = mean if factor is None else mean * factor
        with np.errstate(over="ignore", invalid="ignore"):
            near = float(offset @ offset) <= NEAR**2 * self.total_variance < np.inf
        return Standardization(mean, factor, self.options.center, corrected=bool(near))


def _project(standardization: Standardization, V: Array, block: Block) -> Array:
    return standardization.times(block._replace(weights=None), V)
