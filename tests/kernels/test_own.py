"""A user's own function: what it is given, and what is said when it goes wrong."""

import numpy as np
import pytest
from scipy import sparse

from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.kernels import BlockKernel, Gaussian, Linear, PointKernel, Precomputed
from tests.kernels.catalog import FLOAT32, FLOAT64, rows


def gaussian_of_points(x, y, gamma=0.1):
    """The Gaussian, written for two points."""
    return np.exp(-gamma * ((x - y) ** 2).sum())


def gaussian_of_blocks(X, Y, gamma=0.1):
    """The Gaussian, written for two blocks."""
    return np.exp(-gamma * ((X[:, None] - Y) ** 2).sum(axis=2))


def failing(x, y):
    """Something that goes wrong in a user's own code."""
    return {}[f"no such letter {x.shape == y.shape}"]


@pytest.mark.parametrize("make, function", [(PointKernel, gaussian_of_points), (BlockKernel, gaussian_of_blocks)])
@pytest.mark.parametrize("n, d, seed", [(1, 1, 0), (25, 4, 1), (70, 9, 2)])
def test_own_function_gives_the_matrix_it_describes(make, function, n, d, seed):
    """Both kinds equal the kernel that they spell out, with parameters passed by name."""
    X, Y = rows(n, d, seed=seed), rows(n + 2, d, seed=seed)
    np.testing.assert_allclose(make(function)(X, Y), Gaussian(0.1)(X, Y), rtol=1e-13)
    np.testing.assert_allclose(make(function, {"gamma": 0.7})(X), Gaussian(0.7)(X), rtol=1e-12)


def test_block_against_itself_is_evaluated_in_half():
    """n (n + 1) / 2 calls for n points, a b for two blocks."""
    calls = []

    def counting(x, y):
        calls.append(1)
        return x @ y

    kernel = PointKernel(counting)
    kernel(np.eye(20))
    assert len(calls) == 210
    calls.clear()
    kernel(np.eye(20), np.eye(20)[:7])
    assert len(calls) == 140


def test_function_gets_float64_rows_whatever_the_tile():
    """The numbers are rounded once, in what comes back."""
    seen = []

    def watching(X, Y):
        seen.append((X.dtype, Y.dtype))
        return X @ Y.T

    X = rows(5, 3, seed=0, dtype=FLOAT32)
    ready = BlockKernel(watching).prepare(X, dtype=FLOAT32)
    assert BlockKernel(watching).evaluate(ready, ready).dtype == FLOAT32
    assert set(seen) == {(FLOAT64, FLOAT64)}


@pytest.mark.parametrize("number", [3, np.float32(3), np.int64(3), np.array(3.0), np.array([[3.0]]), True])
def test_any_single_number_will_do(number):
    """Python's, NumPy's, and an array of one."""
    assert PointKernel(lambda x, y: number)(np.ones((1, 2)))[0, 0] == (1 if number is True else 3)  # noqa: ARG005


@pytest.mark.parametrize(
    "gives, said",
    [
        (np.ones(2), r"gave shape \(2,\)"),
        (np.ones((3, 3)), r"gave shape \(3, 3\)"),
        (None, "gave None"),
        ("one", "gave str"),
        (1j, "gave complex"),
    ],
)
def test_function_of_points_that_gives_no_number(gives, said):
    """Named, with the shape of a point and what came back, and what to do if it was written for blocks."""

    def strange(x, y):
        del x, y
        return gives

    with pytest.raises(InputError, match=rf"strange must give one number for two points of shape \(4,\).*{said}"):
        PointKernel(strange)(np.ones((3, 4)))
    with pytest.raises(InputError, match=r"BlockKernel\(strange\)"):
        PointKernel(strange)(np.ones((3, 4)))


@pytest.mark.parametrize(
    "gives, said",
    [
        (lambda X, Y: (X @ Y.T).T, r"gave shape \(2, 3\)"),
        (lambda X, Y: X @ Y[0], r"gave shape \(3,\)"),
        (lambda X, Y: 1.0, r"gave shape \(\)"),  # noqa: ARG005
        (lambda X, Y: None, "gave None"),  # noqa: ARG005
        (lambda X, Y: (X @ Y.T) * 1j, "complex128"),
    ],
)
def test_function_of_blocks_that_gives_the_wrong_shape(gives, said):
    """Named, with the shape expected and the one given."""

    def strange(X, Y):
        return gives(X, Y)

    expected = rf"strange must give numbers of shape \(3, 2\) for blocks of shapes \(3, 4\) and \(2, 4\).*{said}"
    with pytest.raises(InputError, match=expected):
        BlockKernel(strange)(np.ones((3, 4)), np.ones((2, 4)))


@pytest.mark.parametrize("make, shapes", [(PointKernel, r"\(4,\) and \(4,\)"), (BlockKernel, r"\(3, 4\) and \(3, 4\)")])
def test_function_that_raises_is_named_and_its_error_kept(make, shapes):
    """The user's own exception is the cause, so that the traceback leads to their line."""
    with pytest.raises(
        InputError, match=rf"failing raised KeyError on arguments of shapes {shapes}.*no such"
    ) as caught:
        make(failing)(np.ones((3, 4)))
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_value_that_is_not_finite_is_placed(bad):
    """The two rows are named."""

    def sometimes(x, y):
        return bad if x[0] * y[0] == 2 else 1.0

    with pytest.raises(InputError, match=r"sometimes gave (nan|inf) for row 1 and row 2\. "):
        PointKernel(sometimes)(np.arange(4.0)[:, None])


def test_function_that_takes_sparse_blocks_gets_them():
    """Only where the user says so; a sparse answer is taken too."""
    X = sparse.random(10, 50, density=0.1, format="csr", random_state=0)
    kernel = BlockKernel(lambda A, B: A @ B.T, sparse=True)
    np.testing.assert_allclose(kernel(X), Linear()(X), rtol=1e-13)
    np.testing.assert_allclose(kernel.diagonal(X), Linear().diagonal(X), rtol=1e-13)
    with pytest.raises(NotSupportedError, match="takes dense rows"):
        BlockKernel(lambda A, B: A @ B.T)(X)
    with pytest.raises(NotSupportedError, match="takes dense rows"):
        PointKernel(gaussian_of_points)(X)


def test_what_is_no_function_is_refused():
    """Before any row is seen."""
    with pytest.raises(ParameterError, match="function of two points"):
        PointKernel("rbf")
    with pytest.raises(ParameterError, match="function of two blocks"):
        BlockKernel(3)


def test_precomputed_is_a_name_and_evaluates_nothing():
    """Alone or in a sum it refuses rows, and says why; its diagonal is that of the matrix."""
    with pytest.raises(NotSupportedError, match="is a matrix and cannot be evaluated on rows"):
        Precomputed()(np.eye(3))
    with pytest.raises(NotSupportedError, match="combine the matrices"):
        (Precomputed() + Linear())(np.eye(3))
    with pytest.raises(NotSupportedError, match="cannot be evaluated"):
        Precomputed().evaluate(np.eye(2), np.eye(2))
    assert np.array_equal(Precomputed().diagonal(np.diag([1.0, 2.0])), [1.0, 2.0])
    assert Precomputed() == Precomputed()
