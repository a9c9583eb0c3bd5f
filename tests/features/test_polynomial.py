import pickle
from itertools import product
from math import comb

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import PolynomialFeatures

from gramian.errors import MemoryBudgetError, ParameterError
from gramian.features import Monomials
from gramian.features.polynomial import n_monomials
from gramian.kernels import Polynomial
from gramian.sources import as_source

CASES = [(1, 3, 1.0, 1.0), (2, 2, 1.0, 1.0), (3, 4, 0.5, 2.0), (5, 3, 0.1, 0.3), (4, 1, 2.0, 1.0), (6, 2, 1.0, 0.0)]


def _rows(n, d, seed=0, dtype="float64"):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("d, degree, gamma, coef0", CASES)
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-13), ("float32", 1e-5)])
def test_inner_products_are_the_kernel(d, degree, gamma, coef0, dtype, tolerance, seed):
    """phi(x).phi(y) = (gamma x.y + coef0)^degree to rounding, in the type of the rows."""
    X, Y = _rows(30, d, seed, dtype), _rows(20, d, seed + 9, dtype)
    phi = Monomials(degree, gamma, coef0).fit(as_source(X))
    left, right = phi.map_block(X), phi.map_block(Y)
    assert left.dtype == X.dtype
    truth = (gamma * X.astype(float) @ Y.T.astype(float) + coef0) ** degree
    sizes = np.sqrt(np.outer((left**2).sum(axis=1), (right**2).sum(axis=1)))
    assert np.max(np.abs(left @ right.T - truth) / sizes) <= tolerance
    np.testing.assert_allclose(phi.kernel(X, Y), truth, rtol=1e-9, atol=1e-9)
    assert phi.is_exact


@pytest.mark.parametrize("degree", [1, 2, 3, 5])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_whole_numbers_come_out_whole(d, degree):
    """On whole numbers the inner products are whole numbers, within rounding of the roots."""
    X = np.array(list(product(range(-1, 3), repeat=d)), dtype=float)[:40]
    F = Monomials(degree).fit(as_source(X)).map_block(X)
    truth = [[(1 + sum(int(a) * int(b) for a, b in zip(x, y, strict=True))) ** degree for y in X] for x in X]
    np.testing.assert_allclose(F @ F.T, np.array(truth, dtype=float), rtol=0, atol=1e-12 * np.max(truth))


@pytest.mark.parametrize("d, degree", [(1, 4), (2, 3), (5, 2), (4, 4)])
def test_plain_monomials_are_those_of_scikit_learn(d, degree):
    """Without weights the features and their order are those of PolynomialFeatures."""
    X = _rows(10, d)
    phi = Monomials(degree, weights=False).fit(as_source(X))
    peer = PolynomialFeatures(degree)
    np.testing.assert_allclose(phi.map_block(X), peer.fit_transform(X), rtol=1e-12)
    assert phi.names() == list(peer.get_feature_names_out())
    assert phi.kernel is None
    assert not phi.is_exact


@pytest.mark.parametrize("d, degree", [(2, 2), (100, 2), (7, 4)])
def test_number_of_features(d, degree):
    """There are C(p + d, d) of them, and C(p + d - 1, p) of full degree when coef0 is zero."""
    rows = as_source(np.ones((2, d)))
    assert Monomials(degree).fit(rows).n_features == comb(degree + d, d) == n_monomials(d, degree)
    full = Monomials(degree, coef0=0.0).fit(rows)
    assert full.n_features == comb(degree + d - 1, degree) == full.map_block(np.ones((2, d))).shape[1]
    assert len(list(full.exponents())) == full.n_features
    assert all(sum(power for _, power in powers) == degree for powers in full.exponents())


def test_names_follow_the_columns():
    """Features are named by the columns they multiply."""
    phi = Monomials(2).fit(as_source(np.ones((1, 2))))
    assert phi.names(["age", "size"]) == ["1", "age", "size", "age^2", "age size", "size^2"]


def test_blocks_and_sparse_rows_give_the_same_features():
    """Rows mapped one by one, as CSR or all at once have the same features."""
    X = _rows(12, 4)
    X[np.abs(X) < 0.7] = 0.0
    phi = Monomials(3, 0.5, 2.0).fit(as_source(X))
    whole = phi.map_block(X)
    np.testing.assert_array_equal(np.vstack([phi.map_block(X[i : i + 1]) for i in range(12)]), whole)
    np.testing.assert_array_equal(phi.map_block(sp.csr_array(X)), whole)
    np.testing.assert_array_equal(phi.map_rows(as_source(sp.csr_array(X))), whole)


def test_tensors_stay_tensors():
    """torch rows have torch features, with the same numbers."""
    torch = pytest.importorskip("torch")
    X = _rows(8, 3)
    phi = Monomials(3).fit(as_source(X))
    features = phi.map_block(torch.from_numpy(X))
    assert isinstance(features, torch.Tensor)
    np.testing.assert_allclose(features.numpy(), phi.map_block(X), rtol=1e-14)


def test_maps_are_values():
    """Maps print, compare and pickle; gamma=None is 1/d."""
    rows = as_source(np.ones((3, 4)))
    phi = Monomials(2, gamma=None).fit(rows)
    phi.map_block(np.ones((3, 4)))
    assert pickle.loads(pickle.dumps(phi)) == phi == Monomials(2, gamma=0.25).fit(rows)
    assert phi.kernel == Polynomial(degree=2, gamma=0.25, coef0=1.0)
    assert repr(Monomials(2)) == "Monomials(degree=2, gamma=1.0, coef0=1.0, weights=True)"


def test_absurd_sizes_are_refused_with_the_number():
    """The sentence has the number of features, before any is made."""
    with pytest.raises(MemoryBudgetError, match=r"C\(205, 5\) = 2,872,408,791 features: 22,979 MB a row"):
        Monomials(5).fit(as_source(np.ones((2, 200))))


@pytest.mark.parametrize(
    "recipe, words",
    [
        (Monomials(0), "degree=0 has no monomials"),
        (Monomials(2, gamma=-1.0), "gamma=-1.0 gives no real features"),
        (Monomials(2, gamma=0.0), "gamma=0.0 gives no real features"),
        (Monomials(2, coef0=-0.5), "coef0=-0.5 makes some weights square roots of negative numbers"),
        (Monomials(2, coef0=np.inf), "coef0=inf"),
    ],
)
def test_what_has_no_real_features_is_refused(recipe, words):
    """Parameters for which the kernel is not positive semidefinite say so."""
    with pytest.raises(ParameterError, match=words):
        recipe.fit(as_source(np.ones((2, 2))))
