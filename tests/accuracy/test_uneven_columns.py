"""One column a billion times larger than the others: only directions along it lose digits."""

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA

UNIX_TIME = 1.7e9


def _table(seed, *, spread, dtype=np.float32, n=300, d=40):
    """Independent columns of unit variance, the first about a unix time."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X[:, 0] = UNIX_TIME + spread * rng.standard_normal(n)
    return X.astype(dtype)


def _truth(X):
    centered = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    return np.linalg.svd(centered, full_matrices=False)


def _cosines(model, V):
    return np.abs(np.sum(model.components_ * V[: len(model.components_)], axis=1))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("spread", [0.0, 1e4])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("transposed", [False, True])
def test_components_are_those_of_the_rows(seed, spread, dtype, transposed):
    """Beside a float64 SVD of the same numbers; few rows of many columns too."""
    shape = {"n": 40, "d": 300} if transposed else {}
    X = _table(seed, spread=spread, dtype=dtype, **shape)
    _, s, V = _truth(X)
    model = PCA(5).fit(X)
    np.testing.assert_allclose(model.singular_values_, s[:5], rtol=1e-5)
    assert _cosines(model, V).min() > 1 - 1e-5
    np.testing.assert_allclose(model.transform(X).var(axis=0, ddof=1), model.explained_variance_, rtol=1e-2)


@pytest.mark.parametrize("constant", [1e5, 1e7, 1e8, 1e12])
def test_a_constant_column_costs_one_direction_and_no_other(constant):
    """Whatever its size: its entries are all rounded alike."""
    X = np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32)
    X[:, 0] = constant
    model = PCA().fit(X)
    _, _, V = _truth(X)
    assert _cosines(model, V)[:39].min() > 1 - 1e-4
    assert model.explained_variance_[38] > 0.1
    assert model.explained_variance_[39] < 1e-6


def test_what_rests_on_it_holds():
    """Whitened scores have unit variance; the linear kernel and ICA see the same directions."""
    X = _table(0, spread=0.0)
    _, s, _ = _truth(X)
    np.testing.assert_allclose(PCA(5, whiten=True).fit_transform(X).var(axis=0, ddof=1), 1, rtol=1e-3)
    np.testing.assert_allclose(KernelPCA(5).fit(X).eigenvalues_, s[:5] ** 2, rtol=1e-5)
    X[:, 1:3] = np.random.default_rng(1).laplace(size=(300, 2)) ** 3
    sources = ICA(2, random_state=0).fit_transform(X[:, :3])
    assert np.abs(np.corrcoef(sources.T, X[:, 1:3].T)[:2, 2:]).max(axis=1).min() > 0.9


@pytest.mark.parametrize("scale", [False, True])
def test_rounding_is_measured_in_standardized_units(scale):
    """A column in other units, and that one again, are null directions to rounding: ties, not angles."""
    X = np.random.default_rng(1).standard_normal((200, 6)).astype(np.float32)
    X[:, 4], X[:, 5] = 1e6 * X[:, 0], 1e6 * X[:, 0]
    model = PCA(scale=scale).fit(X)
    assert model.singular_values_[3] > 1
    assert [line.tie for line in model.certificate_.lines] == [False] * 4 + [True] * 2


def test_rounding_along_a_column_is_not_structure():
    """Two columns equal but for their rounding leave a direction along them that is noise, and is called null."""
    rng = np.random.default_rng(2)
    value = UNIX_TIME + 1e4 * rng.standard_normal(500)
    X = np.column_stack([value, value + rng.uniform(-40, 40, 500), rng.standard_normal(500)]).astype(np.float32)
    assert PCA(3).fit(X).certificate_.lines[1].tie is False
    X[:, 1] = (value * (1 + 2e-8 * rng.standard_normal(500))).astype(np.float32)
    model = PCA(3).fit(X)
    assert np.abs(model.components_[2, 2]) > 0.99 or np.abs(model.components_[1, 2]) > 0.99
