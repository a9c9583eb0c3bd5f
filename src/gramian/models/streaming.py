"""Fits that come in batches: the moments that a finished model stands for."""

import numpy as np

from gramian.arrays.namespace import to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError
from gramian.models.pca import PCAModel
from gramian.sources.moments import Moments


def moments_of(model: PCAModel) -> Moments:
    """Return the moments of the rows a model was fitted to, where its components hold all of them.

    Computes  scatter = F^-1 V' diag(s^2) V F^-1  with F the scale factors. Exact to rounding when every direction
    of the rows is among the components; refused otherwise, since what was left out is not known.

    Cost: d^2 k operations and one d x d matrix.
    """
    kept = float(np.sum(to_host(model.shares).astype(FLOAT64)))
    if model.noise_variance > 0 or not model.options.center:
        message = (
            f"This model was fitted at once and kept {len(to_host(model.variances))} components that hold {kept:.1%} of "
            "the variance, so the rest of its rows is not known and a batch cannot be added exactly. Begin with "
            "partial_fit, or fit with n_components=None and center=True."
        )
        raise NotSupportedError(message)
    V, s = to_host(model.components).astype(FLOAT64), to_host(model.singular_values).astype(FLOAT64)
    scatter = (V.T * s**2) @ V
    if model.factor is not None:
        factor = to_host(model.factor).astype(FLOAT64)
        scatter /= factor[:, None] * factor[None, :]
    mean = to_host(model.mean).astype(FLOAT64)
    return Moments(model.n_rows, model.weight, mean, np.diagonal(scatter).copy(), scatter)
