"""The same answer, to rounding, for any memory order, door, thread count, block size and seed."""

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from gramian import PCA
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.dense import DenseRows
from gramian.testing import centered, jacobi_svd, largest_angle, rows_with_spectrum
from tests.accuracy.bounds import assert_components, assert_singular_values, promised
from tests.catalog import DOORS, DTYPES, SOURCES, host, parameters

SHAPES = [(90, 7), (7, 90), (30, 30)]
VALUES = [9.0, 4.0, 1.0, 0.25]
K = 3


def _rows(n, d, dtype):
    X, _ = rows_with_spectrum(n, d, VALUES, mean=2.0, seed=n, dtype=dtype)
    # A few true zeros, so that sparse rows are not dense ones in disguise.
    X[:, 0] = np.where(np.arange(n) % 3 == 0, X[:, 0], 0.0)
    return X


@cache
def _truth(content, shape, dtype):
    """Singular values and components of centered rows in long double, once for all that the same rows come as."""
    return jacobi_svd(centered(np.frombuffer(content, dtype).reshape(shape)))


def assert_same_answer(fit, X, transformed=None):
    """A fit has the true singular values and components, with the house signs, so scores agree too."""
    dtype = str(X.dtype)
    s, V = _truth(X.tobytes(), X.shape, dtype)
    allowed = promised(*X.shape, s, dtype)
    components = host(fit.components_)
    assert_singular_values(host(fit.singular_values_), s, allowed)
    assert_components(components, V, s, allowed)
    largest = np.abs(components).argmax(axis=1)
    assert (components[np.arange(len(components)), largest] > 0).all()
    np.testing.assert_allclose(host(fit.mean_), X.mean(axis=0, dtype=np.float64), atol=4 * np.finfo(dtype).eps)
    if transformed is not None:
        scores = centered(X).astype(float) @ components.astype(float).T
        np.testing.assert_allclose(host(transformed), scores, atol=20 * float(allowed))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("door", parameters(DOORS))
def test_every_door_gives_the_same_answer(door, n, d, dtype):
    """Arrays of any layout, sparse rows, tables and tensors: one answer."""
    X = _rows(n, d, dtype)
    rows = door(X)
    pca = PCA(n_components=K).fit(rows)
    assert_same_answer(pca, X, pca.transform(rows))


@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("door", parameters(DOORS))
def test_every_door_goes_back(door, n, d):
    """Scores go back to the rows, up to what was left out, from every door."""
    X = _rows(n, d, "float64")
    rows = door(X)
    pca = PCA(n_components=0.999999).fit(rows)
    back = host(pca.inverse_transform(pca.transform(rows)))
    np.testing.assert_allclose(back, X, atol=2e-2)


@pytest.mark.parametrize("options", [{}, {"svd_solver": "gram"}, {"svd_solver": "krylov"}], ids=str)
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("n, d", [(300, 30), (30, 300), (150, 150)])
def test_thread_count(n, d, threads, options):
    """One thread or several: the same numbers to rounding, signs included."""
    X, _ = rows_with_spectrum(n, d, VALUES, mean=5.0, seed=1)
    fits = []
    for limit in (1, threads):
        with threadpool_limits(limits=limit):
            fits.append(PCA(n_components=K, random_state=0, **options).fit(X))
    one, many = fits
    np.testing.assert_allclose(many.singular_values_, one.singular_values_, rtol=1e-12)
    np.testing.assert_allclose(many.components_, one.components_, atol=1e-9)
    np.testing.assert_allclose(many.mean_, one.mean_, rtol=1e-14)


@pytest.mark.parametrize("solver", ["auto", "gram", "covariance_eigh", "krylov"])
@pytest.mark.parametrize("block_rows", [1, 2, 7, 64, 10_000])
@pytest.mark.parametrize("n, d", SHAPES)
def test_block_size(n, d, block_rows, solver):
    """Blocks of one row, of a few, or of all of them: the same answer."""
    X = _rows(n, d, "float64")
    options = PCAOptions(n_components=K, solver=solver)
    model = fit_pca(DenseRows(X, block_rows=block_rows), options)
    whole = fit_pca(DenseRows(X), options)
    np.testing.assert_allclose(model.singular_values, whole.singular_values, rtol=1e-12)
    np.testing.assert_allclose(model.components, whole.components, atol=1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("make_source", parameters(SOURCES))
def test_every_source_gives_the_same_model(make_source, dtype):
    """The functional core finds one answer from every kind of source."""
    X = _rows(60, 9, dtype)
    model = fit_pca(make_source(X), PCAOptions(n_components=K))
    s, V = jacobi_svd(centered(X))
    assert_singular_values(host(model.singular_values), s, promised(*X.shape, s, dtype))
    assert_components(host(model.components), V, s, promised(*X.shape, s, dtype))


@pytest.mark.parametrize("svd_solver", ["auto", "randomized", "krylov", "arpack"])
@pytest.mark.parametrize("n, d", [(200, 150), (150, 200)])
def test_seed(n, d, svd_solver):
    """Another seed gives the same answer to the tolerance, and the same seed the same bits."""
    X, planted = rows_with_spectrum(n, d, np.geomspace(9.0, 0.01, 40), mean=2.0, seed=3)
    fits = [PCA(n_components=5, svd_solver=svd_solver, random_state=seed).fit(X) for seed in (0, 0, 1, 2)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    for fit in fits[1:]:
        np.testing.assert_allclose(fit.explained_variance_, planted.values[:5], rtol=1e-8)
        for i in range(5):
            assert largest_angle(fit.components_[i], planted.vectors[:, i]) <= 1e-7


@pytest.mark.parametrize("seed", range(5))
def test_order_of_rows(seed):
    """Shuffling the rows changes nothing but the order of the scores."""
    X = _rows(90, 7, "float64")
    order = np.random.default_rng(seed).permutation(len(X))
    plain, shuffled = PCA(n_components=K).fit(X), PCA(n_components=K).fit(X[order])
    np.testing.assert_allclose(shuffled.components_, plain.components_, atol=1e-12)
    np.testing.assert_allclose(shuffled.transform(X[order]), plain.transform(X)[order], atol=1e-11)


def test_unsorted_sparse_rows_with_duplicates():
    """A sparse matrix with unsorted and duplicate entries is the matrix that they sum to, and is not changed."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 12), density=0.3, rng=rng, format="coo")
    rows, columns = np.r_[X.coords[0], X.coords[0]], np.r_[X.coords[1], X.coords[1]]
    shuffle = rng.permutation(len(rows))
    doubled = sp.coo_array((np.r_[X.data, X.data][shuffle], (rows[shuffle], columns[shuffle])), shape=(60, 12))
    entries = doubled.nnz
    assert_same_answer(PCA(n_components=K).fit(doubled), 2 * X.toarray())
    assert doubled.nnz == entries
