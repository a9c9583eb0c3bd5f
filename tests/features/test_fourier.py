import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import NotSupportedError, ParameterError
from gramian.features import RandomFourier, measure_kernel_error
from gramian.kernels import Cosine, Gaussian, Laplacian, Matern, Polynomial
from gramian.kernels.kernel import WaveDraw
from gramian.sources import as_source
from tests.catalog import parameters
from tests.features.kernel_cases import SPECTRAL


def _rows(n, d, seed=0, dtype="float64"):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


def _error(kernel, X, D, *, seed, orthogonal=False):
    phi = RandomFourier(kernel, D, orthogonal, seed).fit(as_source(X)).map_block(X)
    K = kernel(X)
    return np.linalg.norm(K - phi @ phi.T) / np.linalg.norm(K)


@pytest.mark.parametrize("kernel", parameters(SPECTRAL))
def test_frequencies_have_the_kernel_as_their_mean(kernel):
    """k(0) times the mean of cos w.t is the kernel at lag t, within five standard errors, for several lags."""
    lags = _rows(12, 3, seed=4) * np.geomspace(0.1, 4, 12)[:, None]
    waves = kernel.draw_waves(WaveDraw(40_000, 3, False, np.random.default_rng(7)))
    cosines = np.cos(lags @ waves.frequencies.T)
    found, error = waves.height * cosines.mean(axis=1), waves.height * cosines.std(axis=1) / 200
    truth = kernel(lags, np.zeros((1, 3))).ravel()
    assert np.all(np.abs(found - truth) <= 5 * error)


@pytest.mark.parametrize(
    "kernel", parameters({name: SPECTRAL[name] for name in ("gaussian", "matern 3/2", "laplacian")})
)
def test_error_falls_as_one_over_the_root_of_the_number(kernel):
    """From 64 to 4,096 features the error falls with a power between -0.6 and -0.4."""
    X = _rows(120, 4, seed=1)
    sizes = 2 ** np.arange(6, 13, 2)
    errors = [np.mean([_error(kernel, X, D, seed=seed) for seed in range(6)]) for D in sizes]
    power = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert -0.6 < power < -0.4


@pytest.mark.parametrize("kernel", [Gaussian(0.05), Matern(2.5, 0.05)], ids=["gaussian", "matern"])
def test_orthogonal_frequencies_have_less_error(kernel):
    """With the same number of features, orthogonal groups are nearer to the kernel."""
    X = _rows(100, 16, seed=2)
    plain, orthogonal = (
        np.mean([_error(kernel, X, 64, seed=seed, orthogonal=flag) for seed in range(8)]) for flag in (False, True)
    )
    assert orthogonal < 0.9 * plain


def test_orthogonal_groups_are_orthogonal_and_of_normal_length():
    """Each d frequencies are orthogonal, and their squared lengths have mean 2 gamma d."""
    waves = Gaussian(0.5).draw_waves(WaveDraw(2_000, 10, True, np.random.default_rng(0))).frequencies
    for group in waves.reshape(200, 10, 10):
        gram = group @ group.T
        assert np.abs(gram - np.diag(np.diag(gram))).max() < 1e-12
    lengths = (waves**2).sum(axis=1)
    assert abs(lengths.mean() - 10) < 5 * lengths.std() / np.sqrt(2_000)


def test_orthogonal_groups_may_be_cut_short():
    """Any even number of features can be asked for, also fewer frequencies than columns."""
    assert RandomFourier(Gaussian(0.1), 6, orthogonal=True).fit(as_source(_rows(5, 7))).frequencies.shape == (3, 7)
    assert RandomFourier(Gaussian(0.1), 18, orthogonal=True).fit(as_source(_rows(5, 7))).frequencies.shape == (9, 7)


@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-13), ("float32", 1e-6)])
def test_the_diagonal_is_exact(dtype, tolerance):
    """phi(x).phi(x) = k(x, x) for every row, and features have the type of the rows."""
    X = _rows(50, 3, dtype=dtype)
    phi = RandomFourier(3.0 * Gaussian(0.2), 40).fit(as_source(X))
    features = phi.map_block(X)
    assert features.dtype == X.dtype
    np.testing.assert_allclose((features**2).sum(axis=1), 3.0, rtol=tolerance)


def test_rows_far_away_have_the_same_inner_products():
    """An offset of 1e8 costs no more than the digits that the rows have lost to it."""
    X = np.round(_rows(60, 3) * 2**10) / 2**10
    recipe = RandomFourier(Gaussian(0.3), 200, seed=5)
    near, far = (recipe.fit(as_source(rows)).map_block(rows) for rows in (X, X + 2.0**27))
    np.testing.assert_allclose(far @ far.T, near @ near.T, atol=1e-12)


def test_sparse_rows_have_the_same_inner_products():
    """CSR rows stay sparse up to the angles; only a common phase differs."""
    X = _rows(40, 6)
    X[np.abs(X) < 1] = 0.0
    recipe = RandomFourier(Gaussian(0.3), 100)
    dense, sparse = (recipe.fit(as_source(rows)).map_rows(as_source(rows)) for rows in (X, sp.csr_array(X)))
    np.testing.assert_allclose(sparse @ sparse.T, dense @ dense.T, atol=1e-12)


def test_tensors_stay_tensors():
    """torch rows have torch features, with the same inner products."""
    torch = pytest.importorskip("torch")
    X = _rows(20, 3)
    recipe = RandomFourier(Gaussian(0.3), 50)
    tensor = torch.from_numpy(X)
    features = recipe.fit(as_source(tensor)).map_block(tensor)
    assert isinstance(features, torch.Tensor)
    np.testing.assert_allclose(features.numpy(), recipe.fit(as_source(X)).map_block(X), atol=1e-12)


def test_the_seed_decides():
    """The same seed gives the same features, another seed others; a pickled map gives the same."""
    X = _rows(9, 2)
    first, again, other = (RandomFourier(Gaussian(0.5), 20, seed=s).fit(as_source(X)) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.map_block(X), again.map_block(X))
    assert np.abs(first.map_block(X) - other.map_block(X)).max() > 0.1
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).map_block(X), first.map_block(X))


def test_widths_in_words_are_resolved_on_the_rows():
    """gamma="median" becomes a number, the same that the kernel itself finds."""
    X = _rows(200, 3)
    phi = RandomFourier(Gaussian("median"), 2000).fit(as_source(X))
    features = phi.map_block(X)
    assert isinstance(phi.kernel.gamma, float)
    assert np.abs(features @ features.T - Gaussian("median")(X)).max() < 0.15
    assert measure_kernel_error(phi, as_source(X)).relative < 0.1


@pytest.mark.parametrize("kernel", [Polynomial(), Cosine(), Gaussian(0.1) + Polynomial()], ids=str)
def test_kernels_without_a_density_are_refused(kernel):
    """The sentence names the kernels that have one."""
    with pytest.raises(NotSupportedError, match=r"has no spectral density here.*Gaussian, Laplacian and Matern"):
        RandomFourier(kernel, 10).fit(as_source(_rows(5, 2)))


def test_no_features_are_refused():
    """A map to nothing says so."""
    with pytest.raises(ParameterError, match="0 random Fourier features make no map"):
        RandomFourier(Gaussian(), 0).fit(as_source(_rows(5, 2)))


@pytest.mark.parametrize("D", [1, 7, 1001])
def test_odd_numbers_have_the_same_expectation(D):
    """The mean over many seeds of phi(x).phi(y) is the kernel, also with a cosine left over."""
    X = _rows(6, 2)
    count = 6_000 // D + 40
    products = [
        features @ features.T
        for features in (RandomFourier(Gaussian(0.5), D, seed=s).fit(as_source(X)).map_block(X) for s in range(count))
    ]
    error = np.std(products, axis=0) / np.sqrt(count)
    assert features_of(D) == D
    assert np.all(np.abs(np.mean(products, axis=0) - Gaussian(0.5)(X)) <= 5 * error + 1e-12)


def features_of(D):
    """Number of features that a map of D has."""
    return RandomFourier(Gaussian(0.5), D).fit(as_source(_rows(6, 2))).map_block(_rows(3, 2)).shape[1]


def test_orthogonal_laplacian_is_refused():
    """Its frequencies lie along the columns, so a rotation of them belongs to another kernel."""
    with pytest.raises(ParameterError, match="those of the Laplacian lie along the columns"):
        RandomFourier(Laplacian(1.0), 10, orthogonal=True).fit(as_source(_rows(5, 2)))
