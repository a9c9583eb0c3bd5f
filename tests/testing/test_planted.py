import numpy as np
import pytest

from gramian.testing import (
    exact_rows,
    exact_symmetric,
    graded,
    haar,
    hilbert,
    kahan,
    laeuchli,
    orthonormality_error,
    rows_with_spectrum,
    singular_values,
    symmetric_with_spectrum,
)


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("n, d, k", [(40, 9, 4), (9, 40, 8), (10, 10, 9), (6, 6, 0)])
def test_rows_have_the_planted_spectrum(n, d, k, seed, ddof):
    """The covariance has the planted values and vectors, and zeros after them."""
    lam = np.geomspace(9.0, 0.5, k) if k else np.zeros(0)
    X, planted = rows_with_spectrum(n, d, lam, mean=3.0, seed=seed, ddof=ddof)
    C = np.atleast_2d(np.cov(X.T, ddof=ddof))
    assert np.abs(C @ planted.vectors - planted.vectors * lam).max(initial=0.0) <= 1e-12
    assert abs(np.trace(C) - lam.sum()) <= 1e-12
    np.testing.assert_allclose((X - planted.mean) @ planted.vectors, planted.scores, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(planted.scores, axis=0), planted.singular_values, rtol=1e-13)


def test_rows_that_cannot_be_are_refused():
    """Four centered rows have rank three at most."""
    with pytest.raises(ValueError, match="4 values do not fit"):
        rows_with_spectrum(4, 9, [1.0] * 4)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("m", [1, 2, 16, 64])
def test_exact_matrices_are_exact(m, seed):
    """A V = V lam to the last bit where V itself is one, and the spectrum is what was asked to forty bits."""
    values = np.geomspace(1.0, 1e-10, m)
    A, lam, V = exact_symmetric(values, seed=seed)
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_allclose(lam, values, atol=2.0**-40)
    H = np.sign(V)
    np.testing.assert_array_equal(A @ H, H * lam)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n, d", [(64, 16), (16, 64), (32, 8), (4, 4)])
def test_exact_rows_are_exact(n, d, seed):
    """Rows are centered, and X v = s u, to the last bit (v times sqrt(d) and u times sqrt(n) have entries +-1)."""
    s = np.geomspace(5.0, 0.01, min(n - 1, d))
    X, planted = exact_rows(n, d, s, seed=seed)
    np.testing.assert_array_equal(X.sum(axis=0), np.zeros(d))
    V, U = np.sign(planted.vectors), np.sign(planted.scores)
    np.testing.assert_array_equal(X @ V, U * planted.singular_values * np.sqrt(d / n))
    np.testing.assert_allclose(planted.singular_values, s, atol=5 * 2.0**-39)


def test_exact_rows_of_other_shapes_are_refused():
    """Shapes whose root is not one float are refused, and so are too many values."""
    with pytest.raises(ValueError, match="not a power of four"):
        exact_rows(16, 8, [1.0])
    with pytest.raises(ValueError, match="rank is 3 at most"):
        exact_rows(4, 16, [1.0] * 4)


def test_haar_frames_are_orthonormal_and_drawn():
    """Frames are orthonormal and differ by seed."""
    assert orthonormality_error(haar(20, 6, seed=1)) <= 1e-14
    assert np.abs(haar(20, 6, seed=1) - haar(20, 6, seed=2)).max() > 0.1


def test_symmetric_matrices_have_their_spectrum():
    """Haar matrices are symmetric to the last bit and have the values asked for."""
    lam = [4.0, 2.0, -1.0]
    A, V = symmetric_with_spectrum(lam, seed=0)
    np.testing.assert_array_equal(A, A.T)
    np.testing.assert_allclose(A @ V, V * lam, atol=1e-14)


@pytest.mark.parametrize("n, d", [(7, 4), (4, 7), (5, 5)])
@pytest.mark.parametrize("make", [laeuchli, hilbert, kahan, graded])
def test_hard_matrices_come_in_every_shape(make, n, d):
    """Tall, wide and square ones have full rank in exact arithmetic and finite entries."""
    X = make(n, d)
    assert X.shape == (n, d)
    assert np.isfinite(X).all()
    s = singular_values(X, center=False)
    assert s[-1] > 0
    assert s[0] / s[-1] > 3


def test_laeuchli_defeats_squaring():
    """Its Gram matrix has rank one in float64, and the matrix itself has full rank."""
    X = laeuchli(6, 5)
    assert np.linalg.matrix_rank(X.T @ X) == 1
    np.testing.assert_allclose(singular_values(X, center=False)[1:].astype(float), 2.0**-30, rtol=1e-12)
