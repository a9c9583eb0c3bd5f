"""Sparse rows are corrected for their mean after each product: what that costs is in the bounds."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA

SHAPES = [(40, 300), (300, 40), (120, 120)]
WAYS = [{}, {"scale": True}, {"svd_solver": "gram"}, {"svd_solver": "krylov"}, {"svd_solver": "krylov", "scale": True}]


def _rows(shape, offset, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * (rng.random(shape) < 0.3)
    X[:, 0] = offset + 2 * rng.standard_normal(shape[0])
    return X


def _truth(X, *, scale):
    """Variances and components from rows centered in extended precision."""
    Z = X.astype(np.longdouble) - X.astype(np.longdouble).mean(axis=0)
    if scale:
        spread = np.sqrt((Z**2).sum(axis=0) / (len(X) - 1))
        Z = Z / np.where(spread > 0, spread, 1)
    _, s, V = np.linalg.svd(Z.astype(float), full_matrices=False)
    return s**2 / (len(X) - 1), V


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("way", WAYS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bounds_hold_for_columns_far_from_the_origin(shape, way, offset, seed):
    """Eigenvalues and angles stay within what the certificate says; nearer the origin that is little."""
    X = _rows(shape, offset, seed)
    model = PCA(3, **way).fit(sp.csr_array(X))
    variances, V = _truth(X, scale=way.get("scale", False))
    lines = model.certificate_.lines
    errors = np.abs(model.explained_variance_ - variances[:3])
    assert (errors <= [line.value_bound for line in lines] + 4e-16 * variances[0] * np.sqrt(max(shape))).all()
    signs = np.sign(np.sum(model.components_ * V[:3], axis=1))
    angles = np.linalg.norm(model.components_ - signs[:, None] * V[:3], axis=1)
    # The reference is an SVD in float64: its vectors are wrong by about eps s_1^2 over their gap.
    doubt = 16 * np.finfo(float).eps * variances[0] / -np.diff(variances)[:3].max()
    assert (angles <= np.array([line.angle_bound for line in lines]) + doubt).all()


@pytest.mark.parametrize("offset", [1e6, 1e9])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bounds_are_not_idle(shape, offset):
    """They are within a few thousand times of the error that there is, and grow with the mean and not its square."""
    X = _rows(shape, offset, 0)
    model = PCA(3).fit(sp.csr_array(X))
    bounds = np.array([line.value_bound for line in model.certificate_.lines])
    assert bounds.max() <= 1e4 * np.finfo(float).eps * offset * model.explained_variance_[0]
