"""From a fitted kernel PCA to the expansion over rows that pre-images are found with."""

from dataclasses import replace

import numpy as np

from gramian.arrays.namespace import to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError
from gramian.features.nystrom import LandmarkMap
from gramian.features.sampling import take_rows
from gramian.kernels.precomputed import Precomputed
from gramian.models.kernel_expansion import KernelExpansion, expand
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.kernel_projection import FeatureExpansion


def expansion_of(model: KernelPCAModel) -> KernelExpansion:
    """Write the mean and the components of a fitted kernel PCA as combinations of rows.

    Computes  C = (I - o 1') A  over the rows of an exact fit, A being its coefficients and o the weights of the mean;
    over the landmarks of an approximate one, whose components lie in their span,  C = R V  and  o = R mean.

    Cost: a copy of the rows in float64; n^2 kernel values for kernels, such as the linear one, whose rows were moved
    to their mean during the fit, m^2 for m landmarks.

    Raises
    ------
    NotSupportedError
        Where there are no rows, or components are combinations of random features and not of rows.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.models.kernel_pca import KernelPCAOptions, fit_kernel_pca
    >>> from gramian.sources import as_source
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> model = fit_kernel_pca(as_source(X), KernelPCAOptions(3, Gaussian(0.5)))
    >>> bool(np.allclose(expansion_of(model).project(X), model.scores))
    True
    """
    if isinstance(model.kernel, Precomputed):
        message = "Cannot fit_inverse_transform with a precomputed kernel: a matrix of kernel values holds no rows."
        raise NotSupportedError(message)
    if model.approximate:
        return _over_landmarks(model)
    centering = model.centering
    # Such rows were moved to their mean during the fit, so that the means of K are those of other inner products.
    moved = model.kernel.shift_invariant_centered and not model.kernel.shift_invariant
    whole = expand(
        take_rows(model.source, np.arange(model.n_rows)),
        model.kernel,
        alphas=model.alphas,
        scores=model.scores,
        offset=centering.shares,
        row_means=None if moved else centering.row_means,
        centered=centering.centered,
    )
    return replace(whole, counts=model.weights)


def _over_landmarks(model: KernelPCAModel) -> KernelExpansion:
    found = model.expansion
    phi = found.phi if isinstance(found, FeatureExpansion) else None
    if not isinstance(found, FeatureExpansion) or not isinstance(phi, LandmarkMap):
        message = (
            "Components in random features are no combinations of rows, so they have no pre-images here. Use "
            "landmarks=, or the exact model."
        )
        raise NotSupportedError(message)
    if hasattr(phi.landmarks, "indptr"):
        message = "Pre-images of sparse rows are dense rows, and the methods for them work on dense ones."
        raise NotSupportedError(message)
    points = to_host(phi.landmarks).astype(FLOAT64)
    offset = phi.root @ found.mean
    means = to_host(phi.kernel(points)) @ offset
    return KernelExpansion(points, phi.kernel, phi.root @ found.components, offset, means, found.project(points)[0])
