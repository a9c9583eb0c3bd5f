"""Centering a kernel matrix whose values are large beside what is left of them."""

import numpy as np
import pytest

from gramian.kernels import Gaussian, Precomputed
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.sources import as_source


def _far_rows(n=150):
    return np.random.default_rng(0).normal(size=(n, 3)) + 1e4


def _exact(K, k):
    """Leading eigenvalues of H K H, centered in longer numbers."""
    long = K.astype(np.longdouble)
    long = long - long.mean(axis=0)
    long = long - long.mean(axis=1)[:, None]
    return np.linalg.eigvalsh(((long + long.T) / 2).astype(float))[::-1][:k]


@pytest.mark.parametrize("degree", [1, 2])
def test_a_symmetric_matrix_far_from_its_center(degree):
    """It is not refused, and its small eigenvalues are within the bounds that are stated."""
    X = _far_rows()
    K = (degree - 1 + X @ X.T) ** degree
    K = (K + K.T) / 2
    model = fit_kernel_pca(as_source(K), KernelPCAOptions(4, Precomputed()))
    exact = _exact(K, 4)
    assert np.all(np.abs(model.eigenvalues - exact) <= model.certificate.bounds)
    assert np.all(model.certificate.bounds[:3] < 1e-8 * exact[:3])
    np.testing.assert_allclose(model.eigenvalues[3], exact[3], rtol=1e-3 if degree == 2 else 0.1)


def test_no_component_of_rounded_means():
    """A very wide Gaussian on three columns has the nine components of degrees one and two, and none of rounding."""
    X = np.random.default_rng(0).normal(size=(150, 3))
    model = fit_kernel_pca(as_source(X), KernelPCAOptions(None, Gaussian(1e-6), drop_zeros=True))
    assert model.rank == 9


def test_bounds_hold_for_values_that_are_set_to_zero():
    """A value below rounding is called zero, and its bound covers the value that it had."""
    values = np.array([1.0, 1e-3, 1e-13])
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(60, 3)))[0]
    K = (Q * values) @ Q.T
    K = (K + K.T) / 2
    model = fit_kernel_pca(as_source(K), KernelPCAOptions(3, Precomputed(), center=False))
    assert model.eigenvalues[2] == 0
    assert np.all(np.abs(model.eigenvalues - values) <= model.certificate.bounds)
    np.testing.assert_array_equal(model.certificate.values, model.eigenvalues)
