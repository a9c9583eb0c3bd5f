"""One enormous row, and directions that share their variance."""

import numpy as np
import pytest

from gramian import PCA
from gramian.testing import assert_same_subspace, centered, exact_rows, jacobi_svd, rows_with_spectrum
from tests.accuracy.bounds import assert_components, assert_singular_values, promised


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("where", [0, 77, 199])
@pytest.mark.parametrize("n, d", [(200, 8), (200, 300)])
def test_one_outlier_of_1e8(n, d, where, dtype):
    """One entry of 1e8 among unit ones: every singular value within the promise, and the outlier is found."""
    X, _ = rows_with_spectrum(n, d, [4.0, 2.0, 1.0], seed=where, dtype=dtype)
    X[where, d // 2] = 1e8
    s, V = jacobi_svd(centered(X)) if d < n else _wide_truth(X)
    pca = PCA(n_components=4).fit(X)
    assert_singular_values(pca.singular_values_, s, promised(n, d, s, dtype))
    assert_components(pca.components_, V, s, promised(n, d, s, dtype))
    assert abs(pca.components_[0, d // 2]) > 1 - 1e-6


def _wide_truth(X):
    # Float64 LAPACK is enough here: its error is a small part of what is allowed.
    _, s, Vt = np.linalg.svd(centered(X).astype(float), full_matrices=False)
    return s, Vt.T


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "gram", "krylov", "arpack"])
@pytest.mark.parametrize("n, d", [(64, 16), (16, 64)])
def test_repeated_values_are_right_as_spaces(n, d, svd_solver):
    """Values 4 twice, 2 three times, 1 twice: each tied space is found, and its values are equal to rounding."""
    s = np.array([4.0, 4.0, 2.0, 2.0, 2.0, 1.0, 1.0])
    X, planted = exact_rows(n, d, s, seed=3)
    pca = PCA(n_components=7, svd_solver=svd_solver, random_state=0).fit(X)
    assert_singular_values(pca.singular_values_, s, promised(n, d, s))
    for part in (slice(0, 2), slice(2, 5), slice(5, 7)):
        assert_same_subspace(pca.components_[part].T, planted.vectors[:, part], tol=1e-8)


def test_ties_are_named():
    """The certificate calls the tied components ties, and the lone one not."""
    X, _ = exact_rows(64, 16, [4.0, 4.0, 2.0, 1.0], seed=1)
    lines = PCA(n_components=3).fit(X).certificate_.lines
    assert [line.tie for line in lines] == [True, True, False]


def test_a_tie_cut_in_half_is_named():
    """Asking for one of two tied components gives a direction inside their space, and says that it is a tie."""
    X, planted = exact_rows(64, 16, [4.0, 4.0, 1.0], seed=2)
    pca = PCA(n_components=1).fit(X)
    inside = planted.vectors[:, :2]
    v = pca.components_[0]
    assert np.linalg.norm(v - inside @ (inside.T @ v)) <= 1e-8
    assert pca.certificate_.lines[0].tie


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spacing", [1e-3, 1e-6, 1e-9, 1e-12])
def test_clusters_are_right_as_spaces(spacing, seed):
    """Four values within a relative spacing of each other: their space is found however close they are."""
    lam = np.concatenate([4.0 * (1 - spacing * np.arange(4)), [1.0, 0.5]])
    X, planted = rows_with_spectrum(100, 12, lam, mean=1.0, seed=seed)
    pca = PCA(n_components=4).fit(X)
    assert_same_subspace(pca.components_.T, planted.vectors[:, :4], tol=1e-8)
