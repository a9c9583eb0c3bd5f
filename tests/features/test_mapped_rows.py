import numpy as np
import pytest
import scipy.sparse as sp

from gramian.features import Landmarks, MappedRows, Monomials, RandomFourier
from gramian.kernels import Gaussian
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources import DenseRows, as_source
from gramian.testing import RowSourceSuite, assert_same_subspace
from tests.catalog import SOURCES, host, parameters


class TestMappedRows(RowSourceSuite):
    """The contract of a row source, with a map that leaves rows as they are."""

    def make_source(self, X, weights=None):
        """Rows through the monomials of degree one."""
        source = DenseRows(X, weights=weights, block_rows=3)
        return MappedRows(source, Monomials(1, coef0=0.0).fit(source))


class TestMappedSparseRows(RowSourceSuite):
    """The same from sparse rows."""

    def make_source(self, X, weights=None):
        """Sparse rows through the monomials of degree one."""
        source = as_source(sp.csr_array(X), weights=weights)
        return MappedRows(source, Monomials(1, coef0=0.0).fit(source))


@pytest.mark.parametrize("make_source", parameters(SOURCES))
def test_features_come_from_every_source(make_source):
    """Features of rows are the same from every kind of source, block by block."""
    X = np.random.default_rng(0).standard_normal((23, 4))
    source = make_source(X)
    phi = Monomials(2).fit(source)
    mapped = MappedRows(source, phi)
    assert (mapped.n_rows, mapped.n_columns) == (23, 15)
    np.testing.assert_allclose(host(mapped.map_rows(lambda block: block.rows)), phi.map_block(X), rtol=1e-13)


def test_blocks_are_sized_by_the_features():
    """Two columns with many features make small blocks, and no more than 16 MB of features at a time."""
    X = np.zeros((5_000, 2))
    source = as_source(X)
    mapped = MappedRows(source, RandomFourier(Gaussian(1.0), 20_000).fit(source))
    sizes = [part.stop - part.start for _, part in mapped._places]
    assert sum(sizes) == 5_000
    assert max(sizes) * 20_000 * 8 <= 16 * 2**20


def _kernel_pca(K, k):
    H = np.eye(len(K)) - 1.0 / len(K)
    values, vectors = np.linalg.eigh(H @ K @ H)
    return values[::-1][:k], vectors[:, ::-1][:, :k]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("n, d, degree", [(60, 3, 2), (20, 4, 3), (120, 2, 4)])
def test_pca_of_phi_is_kernel_pca(n, d, degree, seed):
    """Eigenvalues and scores of PCA on phi are those of H K H, with more rows than features and with fewer."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    source = as_source(X)
    phi = Monomials(degree, 0.5, 1.0).fit(source)
    k = min(n - 1, phi.n_features - 1, 6)
    model = fit_pca(MappedRows(source, phi), PCAOptions(n_components=k))
    values, vectors = _kernel_pca(phi.kernel(X), k)
    np.testing.assert_allclose(model.variances * (n - 1), values, rtol=1e-9)
    scores = model.project(MappedRows(source, phi))
    np.testing.assert_allclose(np.abs(scores), np.abs(vectors * np.sqrt(values)), atol=1e-6 * np.sqrt(values[0]))
    assert_same_subspace(scores / np.linalg.norm(scores, axis=0), vectors)


@pytest.mark.parametrize("recipe", [Landmarks(Gaussian(0.1), 150, "pivoted"), RandomFourier(Gaussian(0.1), 8000)])
def test_pca_of_approximate_features_is_near_kernel_pca(recipe):
    """Leading eigenvalues of the approximate problem are near the exact ones."""
    X = np.random.default_rng(3).standard_normal((400, 3))
    source = as_source(X)
    phi = recipe.fit(source)
    model = fit_pca(MappedRows(source, phi), PCAOptions(n_components=3))
    values, _ = _kernel_pca(Gaussian(0.1)(X), 3)
    np.testing.assert_allclose(model.variances * 399, values, rtol=0.05)
