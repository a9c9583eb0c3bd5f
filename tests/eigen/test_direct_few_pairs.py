"""A few pairs of a small matrix are found without the others, where nobody looks at those."""

import numpy as np
import pytest

from gramian.eigen.certificate import certify
from gramian.eigen.direct import ALL_PAIRS, FEW_PAIRS, Direct
from gramian.operators.symmetric import DenseMatrix
from gramian.testing import largest_angle

EPS = np.finfo(np.float64).eps


def _matrix(values, seed=0):
    m = len(values)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((m, m)))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2, Q


@pytest.mark.parametrize("m, k", [(20, 2), (50, 1), (50, 5), (100, 2), (100, 10), (255, 25)])
@pytest.mark.parametrize("last", [0.5, 1e-9, 0.0])
def test_few_pairs_are_those_of_the_whole_spectrum(m, k, last):
    """Values, vectors, the next value and what is certified agree with a solve for all pairs."""
    planted = np.append(np.geomspace(8.0, 1.0, k + 2), np.full(m - k - 2, last))
    A, Q = _matrix(planted)
    few, all_ = (Direct(repair=False, whole=whole).solve(DenseMatrix(A), k) for whole in (False, True))
    assert few.spectrum is None
    assert all_.spectrum is not None
    np.testing.assert_allclose(few.values, planted[:k], rtol=0, atol=8 * m * EPS * 8)
    assert few.next_value == pytest.approx(planted[k], abs=8 * m * EPS * 8)
    assert largest_angle(few.vectors, Q[:, :k]) < 1e3 * m * EPS
    assert few.complete
    assert few.residuals.max() < m * EPS * 8
    np.testing.assert_allclose(few.vectors.T @ few.vectors, np.eye(k), rtol=0, atol=m * EPS)
    here, there = (certify(DenseMatrix(A), pairs, tol=1e-10) for pairs in (few, all_))
    assert here.grades == there.grades == ("proved",) * k
    np.testing.assert_allclose(here.bounds, there.bounds, rtol=0, atol=m * EPS * 8)
    np.testing.assert_allclose(here.gaps, there.gaps, rtol=1e-9)


@pytest.mark.parametrize("m", [20, 100, 255])
def test_one_eigenvalue_many_times_over(m):
    """The driver for some pairs may find none of them; all are found then."""
    for A in (np.eye(m) - 1 / m, np.zeros((m, m)), 3.0 * np.eye(m)):
        pairs = Direct(repair=False, whole=False).solve(DenseMatrix(A), 2)
        np.testing.assert_allclose(pairs.values, A[0, 0] + (A[0, 0] not in (0, 3)) / m, rtol=0, atol=m * EPS)
        np.testing.assert_allclose(pairs.vectors.T @ pairs.vectors, np.eye(2), rtol=0, atol=m * EPS)
        assert pairs.residuals.max() < 4 * m * EPS


@pytest.mark.parametrize("m, k", [(ALL_PAIRS - 1, ALL_PAIRS // FEW_PAIRS + 1), (9, 1), (20, 3)])
def test_many_pairs_come_with_the_others(m, k):
    """More than one in ten are found no sooner than all."""
    A, _ = _matrix(np.arange(m, 0.0, -1.0))
    assert Direct(repair=False, whole=False).solve(DenseMatrix(A), k).spectrum is not None


@pytest.mark.parametrize("options", [{}, {"repair": False}, {"whole": False}])
def test_the_whole_spectrum_is_known_unless_nobody_needs_it(options):
    """By default, and where a repair may look at all pairs."""
    A, _ = _matrix(np.linspace(5.0, 1.0, 60))
    assert Direct(**options).solve(DenseMatrix(A), 2).spectrum[-1] == pytest.approx(1.0)
