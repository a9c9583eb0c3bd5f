"""The kernel matrix times vectors in one Triton kernel, interpreted where there is no GPU."""

import numpy as np
import pytest

from gramian.kernels import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid

torch = pytest.importorskip("torch", reason="the kernel takes tensors")
fused = pytest.importorskip("gramian.kernels.fused", reason="the kernel is written in Triton")

HERE = torch.device("cuda" if torch.cuda.is_available() else "cpu")

FAMILIES = [
    Gaussian(0.1),
    Matern(0.5, 0.1),
    Matern(1.5, 0.1),
    Matern(2.5, 0.1),
    Laplacian(0.2),
    Polynomial(3, 0.2, 1.0),
    Polynomial(2.5, 0.01, 1.0),
    Linear(),
    Sigmoid(0.02, -0.5),
    Cosine(),
]
ERRORS = {fused.Precision.COARSE: 5e-3, fused.Precision.ROWS: 2e-3, fused.Precision.FULL: 2e-6}


def problem(n, m, d, c, *, seed=0):
    """Return rows far from the origin, others, vectors, and the mean of the rows."""
    rng = np.random.default_rng(seed)
    X, Y, V = rng.normal(3.0, 1.0, (n, d)), rng.normal(3.0, 1.0, (m, d)), rng.standard_normal((m, c))
    return X, Y, V, X.mean(axis=0)


def exact(kernel, X, Y, V, origin):
    """Return (K - 0.25) V, and the sums of squares of the rows of K - 0.25, in float64."""
    X, Y = (kernel.prepare(rows, dtype=np.dtype(float), origin=origin) for rows in (X, Y))
    K = kernel.evaluate(X, Y) - 0.25
    return K @ V, (K * K).sum(axis=1)


def found(kernel, X, Y, V, origin, precision):
    """Return the same from the fused kernel."""
    form = kernel.fused_form(X.shape[1])
    left, right = (fused.prepare(torch.from_numpy(rows).to(HERE), form, origin) for rows in (X, Y))
    ones = torch.ones(len(Y), device=HERE)
    V = torch.from_numpy(V).to(HERE)
    values = fused.multiply(left, right, V, form, precision=precision, shift=0.25, weights=ones)
    return tuple(part.cpu().numpy() for part in values)


@pytest.mark.parametrize("precision", fused.Precision)
@pytest.mark.parametrize("kernel", FAMILIES, ids=repr)
def test_every_family_is_what_float64_says(kernel, precision):
    """To the error of its precision, in rows and columns that end within a tile."""
    X, Y, V, origin = problem(133, 70, 5, 3)
    values, squares = exact(kernel, X, Y, V, origin)
    near, near_squares = found(kernel, X, Y, V, origin, precision)
    assert np.linalg.norm(near - values) <= ERRORS[precision] * np.linalg.norm(values)
    assert np.linalg.norm(near_squares - squares) <= 2 * ERRORS[precision] * np.linalg.norm(squares)


@pytest.mark.parametrize(
    "n, m, d, c",
    [
        (1, 1, 1, 1),
        (128, 64, 16, 16),
        (129, 65, 17, 17),
        (40, 30, 200, 2),
        (20, 30, 3, 65),
        (5, 4500, 2, 1),
        (9, 9, 4, 0),
    ],
)
@pytest.mark.parametrize("kernel", [Gaussian(0.02), Laplacian(0.02), Polynomial(2, 0.01, 1.0)], ids=repr)
def test_every_shape_is_what_float64_says(kernel, n, m, d, c):
    """One row, whole tiles, one more than whole ones, rows in chunks, two passes over V, columns shared out."""
    X, Y, V, origin = problem(n, m, d, c, seed=1)
    values, squares = exact(kernel, X, Y, V, origin)
    near, near_squares = found(kernel, X, Y, V, origin, fused.Precision.FULL)
    assert near.shape == (n, c)
    np.testing.assert_allclose(near, values, atol=2e-6 * np.abs(values).max(initial=1e-9) * max(1, m) ** 0.5)
    np.testing.assert_allclose(near_squares, squares, rtol=1e-5)


def test_the_same_rows_give_the_same_bits():
    """Sums are made in one order, whatever the blocks."""
    X, Y, V, origin = problem(140, 300, 6, 4)
    first, again = (found(Gaussian(0.1), X, Y, V, origin, fused.Precision.FULL)[0] for _ in range(2))
    np.testing.assert_array_equal(first, again)


@pytest.mark.parametrize("size", [1e-30, 1e-3, 1e4, 1e30])
def test_vectors_of_any_size_keep_their_digits(size):
    """Each column is scaled by a power of two into the range of float16, and back."""
    X, Y, V, origin = problem(30, 40, 3, 2)
    V = V * [1.0, size]
    values, _ = exact(Gaussian(0.1), X, Y, V, origin)
    near, _ = found(Gaussian(0.1), X, Y, V, origin, fused.Precision.FULL)
    assert (np.linalg.norm(near - values, axis=0) <= 2e-6 * np.linalg.norm(values, axis=0)).all()
