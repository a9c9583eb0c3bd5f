"""Kernel PCA in an explicit feature space: the kernel's own where that is small, or one that is near the kernel's."""

import numpy as np

from gramian.arrays.namespace import HostArray, cast, from_host, to_host
from gramian.arrays.precision import FLOAT64
from gramian.features.feature_map import FeatureMap
from gramian.features.mapped_rows import MappedRows
from gramian.features.polynomial import LARGEST_PHI, MonomialMap, Monomials, n_monomials
from gramian.kernels.inner_product import Linear, Polynomial
from gramian.kernels.kernel import Kernel
from gramian.models.kernel_projection import FeatureExpansion, KernelCentering
from gramian.models.kernel_solving import Solved, Wish, completed_vectors, rank_of
from gramian.models.pca import PCAModel, PCAOptions, fit_pca
from gramian.sources.rows import Block, RowSource, rows_here

PCA_TOLERANCE = 1e-9
"""Residuals asked of PCA: its products are cheap, and small values of the kernel matrix come out with their digits."""


def own_features(kernel: Kernel, source: RowSource) -> int | None:
    """Return the size of the kernel's own explicit map on rows of so many columns; ``None`` where there is none.

    Examples
    --------
    >>> from gramian.sources import as_source
    >>> own_features(Polynomial(degree=2, gamma=1.0), as_source(np.zeros((3, 100))))
    5151
    """
    if isinstance(kernel, Linear):
        return source.n_columns
    if not isinstance(kernel, Polynomial) or source.is_sparse or not _has_real_features(kernel):
        return None
    size = n_monomials(source.n_columns, int(kernel.degree), homogeneous=kernel.coef0 == 0)
    return size if size <= LARGEST_PHI else None


def own_map(kernel: Kernel, source: RowSource) -> MonomialMap | None:
    """Return the kernel's own map; ``None`` for the linear kernel, whose features are the rows."""
    if not isinstance(kernel, Polynomial):
        return None
    gamma = kernel.gamma if isinstance(kernel.gamma, float) else None
    return Monomials(int(kernel.degree), gamma, kernel.coef0).fit(source)


def solve_features(source: RowSource, phi: FeatureMap | None, wish: Wish, *, budget: int | None) -> Solved:
    """Find the leading eigenpairs of  Phi_c Phi_c'  by PCA of the features (F16: the same problem in D x D).

    Computes  lambda = s^2  and  u = Phi_c v / s  from the singular values s and components v of the centered features.

    Cost: that of PCA on n rows of D features, and two more passes.

    Parameters
    ----------
    source : RowSource
    phi : FeatureMap or None
        ``None`` for the rows themselves.
    wish : Wish
    budget : int or None
        Bytes beyond the rows.
    """
    rows = source if phi is None else MappedRows(source, phi)
    size = min(rows.n_rows, rows.n_columns)
    options = PCAOptions(
        min(wish.k, size),
        center=wish.center,
        ddof=0,
        tol=min(wish.tol, PCA_TOLERANCE),
        seed=wish.seed,
        memory_budget=budget,
        progress=wish.say,
    )
    pca = fit_pca(rows, options)
    s = to_host(pca.singular_values).astype(FLOAT64)
    values = np.zeros(wish.k)
    values[: len(s)] = s**2
    weights = None if source.weights is None else to_host(source.weights).astype(FLOAT64)
    total = float(source.n_rows) if weights is None else float(weights.sum())
    return Solved(
        values=values,
        vectors=_vectors(pca, rows, weights, wish),
        certificate=pca.certificate.rescaled(total),
        total=pca.total_variance * total,
        centering=_centering(pca, rows, weights, centered=wish.center),
        rank=min(pca.rank, rank_of(values, rounding=0.0)),
        features=FeatureExpansion(phi, _host(pca.mean), _padded(_host(pca.components).T, wish.k)),
    )


def _has_real_features(kernel: Polynomial) -> bool:
    whole = isinstance(kernel.degree, int) and kernel.degree >= 1
    return whole and kernel.coef0 >= 0 and isinstance(kernel.gamma, float) and kernel.gamma > 0


def _vectors(pca: PCAModel, rows: RowSource, weights: HostArray | None, wish: Wish) -> HostArray:
    """Return u, completed by directions orthogonal to all where values are zero."""
    scores = _host(rows_here(pca.project(rows)))
    s = _host(pca.singular_values)
    u = scores[:, : pca.rank] / s[: pca.rank]
    if weights is not None:
        u *= np.sqrt(weights)[:, None]
    return completed_vectors(u, wish.k, seed=wish.seed)


def _centering(pca: PCAModel, rows: RowSource, weights: HostArray | None, *, centered: bool) -> KernelCentering:
    """Return the means of K = Phi Phi':  Phi mean  and  |mean|^2."""
    mean = _host(pca.mean)
    shares = None if weights is None else weights / weights.sum()
    if not centered:
        return KernelCentering(np.zeros(rows.n_rows), 0.0, shares, centered=False)

    def along(block: Block) -> HostArray:
        if hasattr(block.rows, "indptr"):
            return np.asarray(block.rows @ mean)
        like = from_host(mean, like=block.rows)
        return to_host(cast(block.rows, FLOAT64) @ like)

    return KernelCentering(_host(rows_here(rows.map_rows(along))), float(mean @ mean), shares, centered=True)


def _padded(components: HostArray, k: int) -> HostArray:
    """Return k columns, zeros beyond those there are."""
    extra = k - components.shape[1]
    return components if extra <= 0 else np.hstack([components, np.zeros((len(components), extra))])


def _host(values: object) -> HostArray:
    return np.asarray(to_host(values), dtype=FLOAT64)
