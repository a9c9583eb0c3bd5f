"""Kernel PCA in an explicit feature space: the kernel's own where that is small, or one that is near the kernel's."""

from dataclasses import replace
from functools import partial

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, from_host, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.eigen.certificate import Certificate
from gramian.errors import InputError
from gramian.features.feature_map import FeatureMap
from gramian.features.mapped_rows import MappedRows
from gramian.features.polynomial import LARGEST_PHI, MonomialMap, Monomials, n_monomials
from gramian.kernels.blocks import shifted
from gramian.kernels.inner_product import Linear, Polynomial
from gramian.kernels.kernel import Kernel
from gramian.kernels.naming import named_rows
from gramian.models.kernel_bounds import widened
from gramian.models.kernel_projection import FeatureExpansion, KernelCentering
from gramian.models.kernel_solving import Solved, Wish, completed_vectors, rank_of
from gramian.models.pca import PCAModel, PCAOptions, fit_pca
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.planning.kernel_plan import PCA_TOLERANCE
from gramian.sources.finiteness import require_finite
from gramian.sources.rows import Block, RowSource, rows_here
from gramian.sources.sparse import SparseRows, in_float64


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


def solve_features(
    source: RowSource, phi: FeatureMap | None, wish: Wish, *, budget: int | None, origin: Array | None = None
) -> Solved:
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
    origin : array (d,), optional
        A point near sparse rows: they are then copied and counted from it.
    """
    moves = phi is None and wish.center and isinstance(source, SparseRows)
    origin = _host(origin) if moves and origin is not None else None
    rows = _rows_of(source, phi, origin)
    try:
        pca = _fitted(rows, wish, budget)
    except InputError:
        # Said of a feature, which nobody gave: the row of X that makes it is looked for.
        require_finite(source)
        source.reduce(partial(_try_kernel, None if phi is None else phi.kernel), _last)
        raise
    mean = _host(pca.mean) if origin is None else _host(pca.mean) + origin
    weights = None if source.weights is None else to_host(source.weights).astype(FLOAT64)
    total = float(source.n_rows) if weights is None else float(weights.sum())
    # Values are those of the certificate, in float64, whatever the rows are kept in.
    certificate = replace(pca.certificate.rescaled(total), stored=0.0)
    if phi is not None:
        whole = total * (pca.total_variance + float(mean @ mean))
        certificate = widened(certificate, _rounding_of(phi, rows, certificate, whole))
    # New rows may be sparse where those of the fit are dense: they are then counted from the mean itself.
    point = mean if phi is None and not source.is_sparse else origin
    scores, drift = _scores(pca, rows, weights, centered=wish.center)
    mean = mean + drift
    rank = min(pca.rank, rank_of(certificate.values, rounding=0.0))
    k = wish.k if wish.nulls else min(wish.k, rank)
    vectors = completed_vectors(scores[:, :rank] / _host(pca.singular_values)[:rank], k, seed=wish.seed)
    certificate = _with_null_pairs(certificate, scores, vectors)
    return Solved(
        # Singular values have the type of the rows; the certificate has what was found, in float64.
        values=np.maximum(certificate.values, 0.0),
        vectors=vectors,
        certificate=certificate,
        total=pca.total_variance * total,
        centering=_centering(mean, source if origin is not None else rows, weights, centered=wish.center),
        rank=rank,
        features=FeatureExpansion(phi, mean, _padded(_host(pca.components).T, k), point),
    )


def _fitted(rows: RowSource, wish: Wish, budget: int | None) -> PCAModel:
    """Return PCA of the features, to its own tolerance, with variances over n."""
    options = PCAOptions(
        min(wish.k, rows.n_rows, rows.n_columns),
        center=wish.center,
        ddof=0,
        tol=min(wish.tol, PCA_TOLERANCE),
        seed=wish.seed,
        memory_budget=budget,
        progress=wish.say,
    )
    return fit_pca(rows, options)


def _try_kernel(kernel: Kernel | None, _: None, block: Block) -> None:
    """Fold: let a kernel refuse the rows that it has no value for."""
    if kernel is not None:
        with named_rows(block.start):
            PlacedKernel(kernel).prepare(block.rows, dtype=FLOAT64)


def _last(_left: None, _right: None) -> None:
    return None


def _has_real_features(kernel: Polynomial) -> bool:
    whole = isinstance(kernel.degree, int) and kernel.degree >= 1
    return whole and kernel.coef0 >= 0 and isinstance(kernel.gamma, float) and kernel.gamma > 0


def _scores(
    pca: PCAModel, rows: RowSource, weights: HostArray | None, *, centered: bool
) -> tuple[HostArray, HostArray]:
    """Return  Phi_c V,  rows times the square roots of their weights, and what the mean was off by along V.

    A mean has the type of the rows, and is rounded to it: scores have a mean then, which is taken off.
    """
    scores = _host(rows_here(pca.project(rows)))
    drift = np.average(scores, axis=0, weights=weights) if centered else np.zeros(scores.shape[1])
    scores = scores - drift
    return scores if weights is None else scores * np.sqrt(weights)[:, None], drift @ _host(pca.components)


def _with_null_pairs(certificate: Certificate, scores: HostArray, vectors: HostArray) -> Certificate:
    """Return the certificate with a line for every vector: those beyond the features have the eigenvalue zero.

    D features leave no other eigenvalue than zero beyond the first D. All D of them are scores then, so that
    K u = S (S'u)  is measured without another pass. The grade is the weakest of the others: one that is missed among
    those would stand above a zero.
    """
    found, k = len(certificate.values), vectors.shape[1]
    if k <= found:
        return certificate
    zeros, weakest = np.zeros(k - found), (certificate.grade,) * (k - found)
    residuals = np.linalg.norm(scores @ (scores.T @ vectors[:, found:]), axis=0)
    return replace(
        certificate,
        values=np.append(certificate.values, zeros),
        residuals=np.append(certificate.residuals, residuals),
        bounds=np.append(certificate.bounds, residuals + certificate.rounding),
        gaps=np.append(certificate.gaps, zeros),
        grades=certificate.grades + weakest,
        gap_grades=certificate.gap_grades + weakest,
        failure_probabilities=np.append(
            certificate.failure_probabilities, zeros + np.max(certificate.failure_probabilities, initial=0.0)
        ),
        ties=np.append(certificate.ties, zeros == 0),
    )


def _rows_of(source: RowSource, phi: FeatureMap | None, origin: HostArray | None) -> RowSource:
    """Return the features as rows: a kernel's own in float64, as its values would be; sparse ones about an origin."""
    if phi is not None:
        return MappedRows(source, phi, dtype=FLOAT64 if isinstance(phi, MonomialMap) else None)
    if origin is None or not isinstance(source, SparseRows):
        # Products of float32 entries are summed in float32: eigenvalues would have six digits.
        return in_float64(source)
    return SparseRows(shifted(source.matrix, origin), weights=source.weights, n_blocks=source.n_blocks)


def _rounding_of(phi: FeatureMap, rows: RowSource, certificate: Certificate, whole: float) -> float:
    """Return what eigenvalues are wrong by because features are rounded when they are made.

    Each is a product of a few factors, wrong by about as many eps of its own size, so that Phi is wrong by at most
    delta = eps (degree + 2) |Phi|_F  and its squared singular values by  2 s_1 delta + delta^2.
    """
    factors = phi.degree + 2 if isinstance(phi, MonomialMap) else 4
    delta = factors * eps_of(rows.dtype) * float(np.sqrt(max(whole, 0.0)))
    return delta * (2 * float(np.sqrt(np.max(certificate.values, initial=0.0))) + delta)


def _centering(mean: HostArray, rows: RowSource, weights: HostArray | None, *, centered: bool) -> KernelCentering:
    """Return the means of K = Phi Phi':  Phi mean  and  |mean|^2."""
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
