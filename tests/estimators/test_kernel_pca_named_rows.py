"""KernelPCA: a row that a kernel has no value for is called by its place in X, whatever block it was met in."""

import pickle

import numpy as np
import pytest

from gramian import KernelPCA, Nystroem, check_kernel, kernels
from gramian.errors import InputError

SOLVERS = [{}, {"eigen_solver": "stored"}, {"eigen_solver": "tiled"}, {"landmarks": 64}]
BAD = 1503


def table(seed: int = 0, n: int = 2000) -> np.ndarray:
    """Return rows without negative numbers."""
    return np.abs(np.random.default_rng(seed).standard_normal((n, 5)))


def broken(X, Y):
    """An inner product that is nan between rows that begin with 7 and with 8."""
    K = X @ Y.T
    K[np.ix_(X[:, 0] == 7, Y[:, 0] == 8)] = np.nan
    K[np.ix_(X[:, 0] == 8, Y[:, 0] == 7)] = np.nan
    return K


@pytest.mark.parametrize("how", SOLVERS, ids=str)
@pytest.mark.parametrize("place", [3, BAD, 1999])
def test_a_negative_count_is_placed_in_the_table(how, place):
    """Met among sampled rows, in a tile or in a strip."""
    X = table()
    X[place, 2] = -1.0
    with pytest.raises(InputError, match=rf"^Row {place:,} has -1 in column 2\.") as caught:
        KernelPCA(2, kernel="chi2", random_state=0, **how).fit(X)
    assert (caught.value.row, caught.value.column) == (place, 2)


@pytest.mark.parametrize("how", [*SOLVERS, {"kernel": kernels.Polynomial(3, 0.2) + kernels.Cosine()}], ids=str)
@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_an_overflow_of_a_power_is_placed_in_the_table(how):
    """Also where the features of a polynomial kernel are made instead of its tiles."""
    X = table()
    X[BAD] = 1e120
    with pytest.raises(InputError, match=rf"overflows float64 for row {BAD:,}: ") as caught:
        KernelPCA(2, **{"kernel": "poly", "random_state": 0, **how}).fit(X)
    assert caught.value.row == BAD


@pytest.mark.parametrize("how", [{}, {"eigen_solver": "stored"}, {"eigen_solver": "tiled"}], ids=str)
def test_a_value_that_is_not_finite_is_placed_in_the_table(how):
    """Both rows of a user's own function are named."""
    X = table(1)
    X[BAD, 0], X[700, 0] = 7.0, 8.0
    with pytest.raises(InputError, match=rf"gave nan for row (700 and row {BAD:,}|{BAD:,} and row 700)\. A kernel"):
        KernelPCA(2, kernel=kernels.BlockKernel(broken), random_state=0, **how).fit(X)


@pytest.mark.parametrize("how", SOLVERS[1:], ids=str)
def test_new_rows_are_placed_among_the_new_ones(how, tmp_path):
    """In arrays of several pieces, and in sources of several blocks; a row of the fit is told from a new one."""
    X = table()
    fitted = KernelPCA(2, kernel="chi2", random_state=0, **how).fit(X)
    X[BAD, 1] = -2.0
    with pytest.raises(InputError, match=rf"^Row {BAD:,} has -2 in column 1"):
        fitted.transform(X)
    np.save(tmp_path / "new.npy", np.vstack([table(5, 40_000), X]))
    with pytest.raises(InputError, match=rf"^Row {40_000 + BAD:,} has -2 in column 1"):
        fitted.transform(tmp_path / "new.npy")
    own = KernelPCA(2, kernel=kernels.BlockKernel(broken), random_state=0, eigen_solver="stored")
    fit, new = table(2, 600), table(3, 1100)
    fit[555, 0], new[1024, 0] = 7.0, 8.0
    with pytest.raises(InputError, match=r"gave nan for row 1,024 and row 555 of the fit\. A kernel"):
        own.fit(fit).transform(new)


@pytest.mark.parametrize("choice", ["uniform", "pivoted"])
def test_rows_of_an_approximation_are_placed_in_the_table(choice):
    """When landmarks are chosen, and when rows are mapped."""
    X = table()
    X[BAD, 2] = -1.0
    with pytest.raises(InputError, match=rf"^Row {BAD:,} has -1 in column 2") as caught:
        Nystroem(kernel="chi2", n_components=50, landmarks=choice, random_state=0).fit(X).transform(X)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_rows_of_a_check_are_placed_among_the_points():
    """check_kernel looks at some of the points, and names them as they were given."""
    X = table()
    X[:, 2] = -1.0
    with pytest.raises(InputError) as caught:
        check_kernel("chi2", X[::-1])
    assert caught.value.row is not None
    X = table(0, 400)
    X[399, 0], X[10, 0] = 7.0, 8.0
    with pytest.raises(InputError, match=r"row (10 and row 399|399 and row 10)\."):
        check_kernel(kernels.BlockKernel(broken), X, n_points=400)


def test_a_function_that_is_not_symmetric_is_shown_by_two_rows_of_the_table():
    """Their values are those of the function at these rows."""
    X = table(4, 600)
    with pytest.raises(InputError, match="is not symmetric: for row") as caught:
        KernelPCA(2, kernel=lambda x, y: float(x[0] - y[0]), random_state=0).fit(X)
    i, j = caught.value.rows
    assert f"gives {X[i, 0] - X[j, 0]:.6g} one way" in str(caught.value)
