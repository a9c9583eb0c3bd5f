"""Fact F5: an eigendecomposition is O(d^3), and the dual removes it for d much larger than n."""

import numpy as np
import pytest

from gramian import PCA


class Counted:
    """A number that counts the multiplications and divisions done with it."""

    operations = 0

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Counted(self.value + getattr(other, "value", other))

    def __sub__(self, other):
        return Counted(self.value - getattr(other, "value", other))

    def __mul__(self, other):
        Counted.operations += 1
        return Counted(self.value * getattr(other, "value", other))

    def __truediv__(self, other):
        Counted.operations += 1
        return Counted(self.value / getattr(other, "value", other))

    __radd__, __rmul__ = __add__, __mul__


def multiplications_to_tridiagonal(A):
    """Reduce A to tridiagonal form by Householder reflections; return the operations and the result.

    Everything an eigensolver does after this costs less in d, so this is the term that decides.
    """
    Counted.operations = 0
    T = [[Counted(x) for x in row] for row in A.tolist()]
    d = len(T)
    for j in range(d - 2):
        tail = range(j + 1, d)
        v = {i: T[i][j] for i in tail}
        norm = np.sqrt(sum((v[i] * v[i]).value for i in tail))
        v[j + 1] = v[j + 1] + Counted(norm if v[j + 1].value >= 0 else -norm)
        beta = Counted(2.0) / sum((v[i] * v[i] for i in tail), Counted(0.0))
        _reflect(T, v, beta, tail)
    return Counted.operations, np.array([[x.value for x in row] for row in T])


def _reflect(T, v, beta, tail):
    """Replace T by H T H with H = I - beta v v'."""
    d = range(len(T))
    for i in d:
        s = sum((T[i][c] * v[c] for c in tail), Counted(0.0)) * beta
        for c in tail:
            T[i][c] = T[i][c] - s * v[c]
    for c in d:
        s = sum((v[r] * T[r][c] for r in tail), Counted(0.0)) * beta
        for r in tail:
            T[r][c] = T[r][c] - v[r] * s


def test_f5_counted_operations_grow_eightfold():
    """Each doubling of d multiplies the counted operations by a number that nears eight."""
    counts = []
    for d in (8, 16, 32):
        G = np.random.default_rng(d).standard_normal((d, d))
        A = G + G.T
        operations, T = multiplications_to_tridiagonal(A)
        np.testing.assert_allclose(np.linalg.eigvalsh((T + T.T) / 2), np.linalg.eigvalsh(A), atol=1e-10)
        assert np.abs(np.tril(T, -2)).max() <= 1e-10
        counts.append(operations)
    ratios = np.array(counts[1:]) / counts[:-1]
    assert abs(ratios[-1] - 8) < abs(ratios[0] - 8)
    assert 7.9 <= ratios[-1] <= 8.1


def _operations(n, d, **options):
    X = np.random.default_rng(0).standard_normal((n, d))
    return PCA(**options).fit(X).plan_.operations


@pytest.mark.parametrize("d", [64, 128])
def test_f5_planned_operations_grow_eightfold(d):
    """Doubling the side of a square problem multiplies the planned operations by about eight."""
    ratio = _operations(2 * d, 2 * d, svd_solver="covariance_eigh") / _operations(d, d, svd_solver="covariance_eigh")
    assert 7.0 <= ratio <= 8.5


@pytest.mark.parametrize("svd_solver", ["auto", "gram"])
def test_f5_the_dual_removes_it(svd_solver):
    """With 20 rows, doubling d no more than doubles the work, a hundredth of what the cube of d would cost."""
    dual = [_operations(20, d, svd_solver=svd_solver) for d in (200, 400)]
    assert dual[1] / dual[0] <= 2.1
    assert _operations(400, 400, svd_solver="covariance_eigh") > 100 * dual[1]
