import numpy as np
import pytest

from gramian.errors import ParameterError
from gramian.features import KernelError, Landmarks, Monomials, RandomFourier, kernel_error, measure_kernel_error
from gramian.kernels import Gaussian, Laplacian, Matern, Polynomial
from gramian.sources import DenseRows, as_source

MAPS = [
    pytest.param(RandomFourier(Gaussian(0.05), 300), id="fourier gaussian"),
    pytest.param(RandomFourier(Laplacian(0.1), 300), id="fourier laplacian"),
    pytest.param(Landmarks(Gaussian(0.05), 60), id="landmarks gaussian"),
    pytest.param(Landmarks(Matern(0.5, 0.05), 60, "pivoted"), id="landmarks matern"),
    pytest.param(Landmarks(Polynomial(degree=3, gamma=0.2), 40, "kmeans"), id="landmarks polynomial"),
    pytest.param(Landmarks(Gaussian(5.0), 60), id="narrow gaussian"),
]


def _rows(n, d=6, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _exact(phi, X):
    features, K = phi.map_block(X), phi.kernel(X)
    missing = K - features @ features.T
    return np.linalg.norm(missing) / np.linalg.norm(K), np.trace(missing) / np.trace(K)


@pytest.mark.parametrize("recipe", MAPS)
@pytest.mark.parametrize("n", [30, 700])
def test_every_pair_of_few_rows_is_looked_at(recipe, n):
    """Up to 1,024 rows the error is exact, and says so by a standard error of zero."""
    X = _rows(n)
    phi = recipe.fit(as_source(X))
    error, (relative, trace) = measure_kernel_error(phi, as_source(X)), _exact(phi, X)
    np.testing.assert_allclose(error.relative, relative, rtol=1e-9, atol=1e-13)
    assert (error.standard_error, error.n_pairs) == (0.0, n * n)
    if phi.bounds_trace:
        np.testing.assert_allclose(error.trace, trace, rtol=1e-9, atol=1e-13)
    else:
        assert error.trace is None


@pytest.mark.parametrize("recipe", MAPS)
@pytest.mark.parametrize("n", [1100, pytest.param(2500, marks=pytest.mark.slow)])
def test_estimates_are_honest(recipe, n):
    """Over 24 samples the estimates lie about the truth as their standard errors say, without bias."""
    X = _rows(n, seed=n)
    phi = recipe.fit(as_source(X))
    truth, trace = _exact(phi, X)
    errors = [measure_kernel_error(phi, as_source(X), seed=seed) for seed in range(24)]
    off = np.array([(error.relative - truth) / error.standard_error for error in errors])
    # A sample of most of the rows varies less than its standard error, which is for rows without end.
    assert np.mean(np.abs(off) <= 2) >= 0.8
    assert np.abs(off).max() <= 5
    assert abs(off.mean()) <= 1
    assert all(error.standard_error <= 0.25 * error.relative for error in errors)
    if phi.bounds_trace:
        off = np.array([(error.trace - trace) / error.trace_standard_error for error in errors])
        assert np.mean(np.abs(off) <= 2) >= 0.8
        assert np.abs(off).max() <= 5


def test_standard_errors_are_not_too_large():
    """On many rows the estimates spread about as their standard errors say, within a factor of two."""
    X = _rows(20_000, 4, seed=1)
    source = as_source(X)
    phi = Landmarks(Gaussian(0.1), 30).fit(source)
    errors = [measure_kernel_error(phi, source, seed=seed) for seed in range(20)]
    spread = np.std([error.relative for error in errors])
    assert 0.5 < spread / np.mean([error.standard_error for error in errors]) < 2


@pytest.mark.parametrize("n", [40, 1500])
def test_weights_are_repetitions(n):
    """Weighted rows have the error of the same rows repeated."""
    X, weights = _rows(n), np.random.default_rng(1).integers(0, 4, size=n).astype(float)
    phi = Landmarks(Gaussian(0.1), 10).fit(as_source(X))
    repeated = np.repeat(X, weights.astype(int), axis=0)
    truth, trace = _exact(phi, repeated)
    error = measure_kernel_error(phi, DenseRows(X, weights=weights))
    assert abs(error.relative - truth) <= 4 * error.standard_error + 1e-9
    assert abs(error.trace - trace) <= 4 * error.trace_standard_error + 1e-9


@pytest.mark.parametrize("n", [50, 1500])
def test_exact_maps_have_errors_of_rounding(n):
    """The polynomial map is measured as exact."""
    source = as_source(_rows(n, 3))
    assert measure_kernel_error(Monomials(3).fit(source), source).relative < 1e-14


def test_plain_monomials_have_nothing_to_compare_with():
    """Without a kernel there is no error of it."""
    source = as_source(_rows(5, 2))
    with pytest.raises(ParameterError, match="stand for no kernel"):
        measure_kernel_error(Monomials(2, weights=False).fit(source), source)


@pytest.mark.parametrize("size", [1e-100, 1e100])
def test_errors_do_not_depend_on_the_size_of_the_kernel(size):
    """A kernel whose squares leave the range of numbers has the error of the same kernel at size one."""
    for n in (50, 1500):
        source = as_source(_rows(n))
        one, sized = (
            measure_kernel_error(Landmarks(factor * Gaussian(0.1), 10).fit(source), source) for factor in (1.0, size**2)
        )
        np.testing.assert_allclose([one.relative, one.trace], [sized.relative, sized.trace], rtol=1e-9)


def test_errors_read_as_a_sentence():
    """The text has the numbers with their standard errors."""
    assert str(KernelError(0.05, 0.001, 100)) == "relative error of K 0.05 +- 0.001 (100 pairs)"
    assert "share of its trace missing 0.2 +- 0.01" in str(KernelError(0.05, 0.001, 100, 0.2, 0.01))


@pytest.mark.parametrize("seed", [0, 1])
def test_as_many_landmarks_as_are_looked_at_are_other_rows(seed, monkeypatch):
    """One seed for both, and yet the error is that of all rows: between landmarks themselves it would be rounding."""
    monkeypatch.setattr(kernel_error, "N_GROUPS", 8)
    X = _rows(1500)
    phi = Landmarks(Gaussian(0.05), 256, seed=seed).fit(as_source(X))
    measured = measure_kernel_error(phi, as_source(X), seed=seed)
    exact = _exact(phi, X)[0]
    assert abs(measured.relative - exact) <= 5 * measured.standard_error + 0.3 * exact
