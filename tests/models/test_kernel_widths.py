"""Widths of a kernel that make K the identity or a constant: a warning that says so and suggests another."""

import warnings

import numpy as np
import pytest

from gramian.errors import KernelWidthWarning
from gramian.kernels import ChiSquared, Gaussian, Laplacian, Linear, Matern
from gramian.kernels.combination import Stretched
from gramian.kernels.widths import facts_of
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.sources import as_source


def _rows(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _fit(X, kernel, k=2, **options):
    return fit_kernel_pca(as_source(X), KernelPCAOptions(k, kernel, **options))


@pytest.mark.parametrize("kernel", [Gaussian(1e6), Laplacian(1e5), Matern(1.5, 1e8)])
@pytest.mark.parametrize("n", [50, 300])
def test_a_kernel_so_narrow_that_K_is_the_identity_warns(kernel, n):
    """The warning names gamma and suggests the value of the median distance."""
    with pytest.warns(KernelWidthWarning, match=r"K is nearly the identity.* suggests gamma=0\.\d+") as caught:
        model = _fit(_rows(n), kernel)
    suggested = caught[0].message.suggested
    assert 0 < suggested < 1
    np.testing.assert_allclose(model.eigenvalues, 1.0, atol=1e-3)


@pytest.mark.parametrize("kernel", [Gaussian(1e-12), Laplacian(1e-12), Matern(2.5, 1e-14)])
def test_a_kernel_so_wide_that_K_is_constant_warns(kernel):
    """The same for a gamma that is far too small."""
    with pytest.warns(KernelWidthWarning, match=r"K is nearly constant.* suggests gamma="):
        _fit(_rows(50), kernel)


def test_a_sensible_width_warns_of_nothing():
    """Widths within a factor of a hundred of the median do not warn, nor do repeated rows."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for factor in (0.01, 1.0, 10.0):
            _fit(_rows(80), Gaussian(0.15 * factor))
        _fit(np.repeat(_rows(10), 8, axis=0), Gaussian(0.2))
    assert told == []


@pytest.mark.parametrize("n", [50, 300])
@pytest.mark.parametrize("gamma, what", [(1e9, "nearly diagonal"), (1e-14, "nearly constant")])
@pytest.mark.parametrize(
    "made",
    [
        lambda kernel: 3.0 * kernel,
        lambda kernel: kernel + Linear(),
        lambda kernel: 2.0 * (Linear() + 0.5 * kernel),
        lambda kernel: Stretched(Linear() + kernel, (1.0, 1.0, 1.0)),
    ],
)
def test_a_width_that_does_not_suit_is_told_in_sums_and_multiples(made, gamma, what, n):
    """The term is named, the value suggested is that of the kernel alone, and with it nothing is said."""
    with pytest.warns(KernelWidthWarning, match=rf"Gaussian\(gamma=.* in .*{what}.* suggests gamma=") as caught:
        _fit(_rows(n), made(Gaussian(gamma)))
    suggested = caught[0].message.suggested
    np.testing.assert_allclose(suggested, Gaussian("median").resolved(facts_of(_rows(n))).gamma, rtol=0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _fit(_rows(n), made(Gaussian(suggested)))


def test_widths_in_a_product_count_together():
    """Two that pass alone may leave a diagonal together; a constant factor beside another kernel is no harm."""
    X, kernels = _rows(250), (Gaussian(115.0), Matern(2.5, 150.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel in (*kernels, Gaussian(1e-14) * Linear()):
            _fit(X, kernel)
    with pytest.warns(KernelWidthWarning, match=r"K is nearly the identity.*\(Gaussian\) and gamma=.*Matern") as caught:
        _fit(X, kernels[0] * kernels[1])
    assert caught[0].message.suggested is None
    with pytest.warns(KernelWidthWarning, match=r"Gaussian\(gamma=1e\+20\) in .*nearly diagonal"):
        _fit(X, Gaussian(1e20) * Linear())


def test_columns_that_are_stretched_count_as_the_kernel_sees_them():
    """The value suggested is that for the stretched rows."""
    X, factors = _rows(80), (1e-3, 1e-3, 1e-3)
    with pytest.warns(KernelWidthWarning, match="nearly the identity") as caught:
        _fit(X, Stretched(Gaussian(1e9), factors))
    expected = Gaussian("median").resolved(facts_of(X * factors)).gamma
    np.testing.assert_allclose(caught[0].message.suggested, expected)


@pytest.mark.parametrize("n", [40, 150])
@pytest.mark.parametrize("gamma, what", [(1e9, "the identity"), (1e-14, "constant")])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_the_width_of_a_chi_squared_kernel(gamma, what, n, size):
    """It is told as that of a Gaussian, and the median of its own distances suggests another."""
    X = size * np.abs(_rows(n))
    with pytest.warns(KernelWidthWarning, match=f"K is nearly {what}.*suggests gamma=") as caught:
        _fit(X, ChiSquared(gamma / size))
    i, j = np.triu_indices(n, 1)
    distances = ((X[i] - X[j]) ** 2 / (X[i] + X[j])).sum(axis=1)
    np.testing.assert_allclose(caught[0].message.suggested, 1 / np.median(distances), rtol=1e-9)


def test_a_width_of_torch_rows_is_warned_of():
    """The chi-squared kernel of tensors, too."""
    torch = pytest.importorskip("torch")
    X = torch.from_numpy(np.random.default_rng(0).random((50, 3)))
    with pytest.warns(KernelWidthWarning, match="median distance"):
        _fit(X, ChiSquared(1e9), 2)
