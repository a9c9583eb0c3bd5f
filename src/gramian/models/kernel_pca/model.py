"""What is asked of a kernel PCA, and the fitted model."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.eigen.certificate import Certificate
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.features.kernel_error import KernelError
from gramian.features.sampling import take_rows
from gramian.kernels.centering import KernelCentering
from gramian.kernels.combination import kernel_code, kernel_words
from gramian.kernels.inner_product import Linear
from gramian.kernels.kernel import Kernel
from gramian.models.kernel_pca.expansion import Expansion, projected
from gramian.planning.kernel_plan import KernelPlan
from gramian.sources.rows import RowSource

__all__ = ["KernelPCAModel", "KernelPCAOptions", "alphas_of", "kernel_code", "kernel_words"]


@dataclass(frozen=True)
class KernelPCAOptions:
    """What is asked of a kernel PCA.

    Attributes
    ----------
    n_components : int, float or None
        A number, a share of the variance in (0, 1), or ``None`` for all with a non-zero eigenvalue.
    kernel : Kernel
        Parameters that are words or None are resolved on the rows.
    center : bool
        Whether phi is centered.
    way : str
        "auto", or one of :data:`~gramian.planning.kernel_plan.WAYS`.
    tol : float
        Residual, relative to the first eigenvalue, at which a pair counts as found; 0 for the default, 1e-6.
    seed : int
    memory_budget : int or None
        Bytes beyond the rows.
    landmarks : int or None
        An approximate model on so many landmarks instead of the exact one.
    landmark_choice : str
        "uniform", "kmeans" or "pivoted".
    features : FeatureRecipe, FeatureMap or None
        An approximate model in the space of this map instead. The kernel of a recipe is asked for symmetry on some of
        the rows; a map that was fitted before is taken as it is.
    drop_zeros : bool
        Whether components whose eigenvalue is zero are left out, though they were asked for.
    strict : bool
        Whether a kernel matrix is refused for any negative eigenvalue that is found, not only for one that is kept;
        else the others are warned of.
    progress : callable or None
        Called with a sentence before each stage and after each product.
    """

    n_components: int | float | None = None
    kernel: Kernel = field(default_factory=Linear)
    center: bool = True
    way: str = "auto"
    tol: float = 0.0
    seed: int = 0
    memory_budget: int | None = None
    landmarks: int | None = None
    landmark_choice: str = "uniform"
    features: FeatureRecipe | FeatureMap | None = None
    drop_zeros: bool = False
    strict: bool = True
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True, eq=False)
class KernelPCAModel:
    """Kernel principal components of rows; arrays are float64 on the host.

    With K the centered kernel matrix,  K u = lambda u,  |u| = 1:  the scores of the rows are  sqrt(lambda) u  and unit
    components have the coefficients  alpha = u / sqrt(lambda)  over the centered features of the rows.

    Attributes
    ----------
    eigenvalues : numpy array (k,)
        lambda, of K itself (K / n has lambda / n); never negative.
    vectors : numpy array (n, k)
        u, the largest entry of each positive. Weighted rows: times the square roots of the weights.
    shares : numpy array (k,)
        lambda over the trace of K, which is exact: the share of all variance in feature space.
    total_variance : float
        Trace of K over n (the sum of the weights).
    kernel : Kernel
        With numbers for parameters.
    centering : KernelCentering
    source : RowSource
        The rows of the fit; not copied.
    weights : numpy array (n,) or None
    n_rows, n_columns, rank : int
    certificate : Certificate
        Of few rows, its bounds are finished when it is first read.
    plan : KernelPlan
    options : KernelPCAOptions
    expansion : Expansion
        How rows are projected.
    approximate : bool
        Whether the model is that of landmarks or features near the kernel, not of the kernel.
    error : KernelError or None
        Of the approximation of K, measured.
    verdict : str
        How the number of components was chosen, in words.
    """

    kind: ClassVar[str] = "kernel"
    prefix: ClassVar[str] = "KPC"
    is_scaled: ClassVar[bool] = False
    directions: ClassVar[None] = None
    loadings: ClassVar[None] = None
    column_deviations: ClassVar[None] = None

    eigenvalues: HostArray
    vectors: HostArray
    shares: HostArray
    total_variance: float
    kernel: Kernel
    centering: KernelCentering
    source: RowSource
    weights: HostArray | None
    n_rows: int
    n_columns: int
    rank: int
    certificate: Certificate
    plan: KernelPlan
    options: KernelPCAOptions
    expansion: Expansion
    approximate: bool = False
    error: KernelError | None = None
    verdict: str = ""

    @property
    def n_components(self) -> int:
        """Number of components."""
        return len(self.eigenvalues)

    @property
    def variances(self) -> HostArray:
        """Variance along each component in feature space (k,)."""
        return self.shares * self.total_variance

    @property
    def is_centered(self) -> bool:
        """Whether phi was centered."""
        return self.options.center

    @property
    def alphas(self) -> HostArray:
        """Coefficients of the unit components over the rows (n, k); zeros where lambda is."""
        return alphas_of(self.eigenvalues, self.vectors, self.weights, self.rank)

    @property
    def scores(self) -> HostArray:
        """Scores of the rows of the fit (n, k), without a kernel value but for rows of weight zero."""
        scores = self.vectors * np.sqrt(self.eigenvalues)
        scores[:, self.rank :] = 0.0
        if self.weights is None:
            return scores
        left_out = np.flatnonzero(self.weights == 0)
        scores /= np.sqrt(np.where(self.weights > 0, self.weights, 1.0))[:, None]
        if len(left_out):
            scores[left_out] = self.expansion.project(take_rows(self.source, left_out))
        return scores

    def project(self, rows: RowSource | Array) -> Array:
        """Return the scores of rows (m, k):  y = kc(x, :) alpha,  kc being the centered kernel (M8).

        Cost: m n kernel values, in pieces of 8 MB, in the workers of a source; m D features where the model has them.
        """
        return projected(self.expansion, rows, 0)

    def squared_error(self, rows: RowSource | Array) -> Array:
        """Return  kc(x, x) - |y|^2  of rows (m,): the squared distance of phi(x) from the components (F18).

        Needs the kernel alone, and no phi. Cost: that of :meth:`project`.
        """
        return projected(self.expansion, rows, 1)


def alphas_of(values: HostArray, vectors: HostArray, weights: HostArray | None, rank: int) -> HostArray:
    """Return  D u / sqrt(lambda)  for the first ``rank`` pairs, zeros for the others (n, k)."""
    roots = np.zeros(len(values))
    roots[:rank] = 1.0 / np.sqrt(values[:rank])
    alphas = vectors * roots
    return alphas if weights is None else alphas * np.sqrt(weights)[:, None]
