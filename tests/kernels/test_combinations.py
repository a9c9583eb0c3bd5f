"""Sums, products and multiples of kernels."""

import numpy as np
import pytest
from scipy import sparse

from gramian.errors import ParameterError
from gramian.kernels import (
    BlockKernel,
    Cosine,
    DataFacts,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    Polynomial,
    Product,
    Scaled,
    Sum,
)
from tests.kernels.catalog import FLOAT32, rows

PARTS = [Gaussian(0.3), Linear(), Polynomial(2), Matern(0.5), Cosine()]


@pytest.mark.parametrize("left", PARTS, ids=repr)
@pytest.mark.parametrize("right", PARTS, ids=repr)
def test_sum_and_product_are_those_of_the_matrices(left, right):
    """Entry by entry, for square and rectangular blocks, and on the diagonal."""
    X, Y = rows(40, 5, seed=0), rows(15, 5, seed=1)
    np.testing.assert_allclose((left + right)(X, Y), left(X, Y) + right(X, Y), rtol=1e-13)
    np.testing.assert_allclose((left * right)(X, Y), left(X, Y) * right(X, Y), rtol=1e-13)
    np.testing.assert_allclose((left * right).diagonal(X), left.diagonal(X) * right.diagonal(X), rtol=1e-13)


def test_multiples_scale_the_matrix():
    """From either side, and of a multiple."""
    X = rows(20, 3, seed=2)
    three = np.float32(3) * Gaussian(0.1)
    for kernel in (3 * Gaussian(0.1), Gaussian(0.1) * np.int64(3), 1.5 * (2.0 * Gaussian(0.1)), three):
        np.testing.assert_allclose(kernel(X), 3 * Gaussian(0.1)(X), rtol=1e-15)
        assert kernel == Scaled(Gaussian(0.1), 3.0)
        np.testing.assert_allclose(kernel.diagonal(X), np.full(20, 3.0))


def test_laws_of_kernels():
    """Gaussians multiply by adding gamma; (1 + x.y)^2 is a sum of three; brackets do not matter."""
    X = rows(30, 4, seed=3)
    np.testing.assert_allclose((Gaussian(0.2) * Gaussian(0.3))(X), Gaussian(0.5)(X), rtol=1e-13)
    square = Polynomial(2, 1.0, 0.0) + 2 * Linear()
    np.testing.assert_allclose(square(X) + 1.0, Polynomial(2, 1.0, 1.0)(X), rtol=1e-13)
    a, b, c = Gaussian(0.1), Linear(), Cosine()
    assert (a + b) + c == a + (b + c) == Sum((a, b, c))
    assert (a * b) * c == a * (b * c) == Product((a, b, c))


def test_facts_about_the_parts_are_facts_about_the_whole():
    """Shift invariance, sparse rows and positive semidefiniteness carry over as the mathematics says."""
    gaussian, linear, laplacian = Gaussian(), Linear(), Laplacian()
    assert (gaussian + laplacian).shift_invariant
    assert (gaussian * laplacian).shift_invariant_centered
    assert not (gaussian + linear).shift_invariant
    assert (gaussian + linear).shift_invariant_centered
    assert not (gaussian * linear).shift_invariant_centered
    assert (gaussian + linear).takes_sparse
    assert not (gaussian + laplacian).takes_sparse
    assert (2 * gaussian * linear + laplacian).is_psd


def test_words_are_resolved_in_every_part():
    """The facts reach the innermost kernel."""
    facts = DataFacts(4, 0.25, lambda: 2.0)
    kernel = (Gaussian("median") + 2 * Polynomial(2, "scale")) * Matern(0.5)
    expected = (Gaussian(0.125) + 2 * Polynomial(2, 1.0)) * Matern(0.5, 0.25)
    assert kernel.resolved(facts) == expected


def test_sparse_rows_go_through_a_sum():
    """Each part gets them as they are."""
    X = sparse.random(30, 80, density=0.1, format="csr", random_state=0)
    kernel = Gaussian(0.1) + Linear() * Cosine()
    np.testing.assert_allclose(kernel(X), kernel(X.toarray()), rtol=1e-12, atol=1e-14)


def test_a_function_of_blocks_keeps_what_it_gave():
    """A sum is written into an array of its own, not into one that the user's function keeps."""
    kept = np.ones((3, 3))
    kernel = BlockKernel(lambda X, Y: kept) + Linear()  # noqa: ARG005 - what it gives does not depend on the rows
    X = np.eye(3)
    np.testing.assert_array_equal(kernel(X), 1 + np.eye(3))
    assert np.all(kept == 1.0)
    ready = kernel.prepare(X, dtype=FLOAT32)
    assert kernel.evaluate(ready, ready).dtype == FLOAT32


@pytest.mark.parametrize("factor", [0, -1.0, float("nan"), float("inf")])
def test_factors_that_make_no_kernel_are_refused(factor):
    """Zero, negative and no number at all."""
    with pytest.raises(ParameterError, match="finite number above zero"):
        factor * Gaussian()


def test_only_kernels_and_numbers_combine():
    """Anything else is Python's own TypeError, or a sentence."""
    with pytest.raises(TypeError):
        Gaussian() + 1
    with pytest.raises(TypeError):
        Gaussian() * "two"
    with pytest.raises(ParameterError, match="only kernels"):
        Sum((Gaussian(), "rbf"))
    with pytest.raises(ParameterError, match="at least one kernel"):
        Product(())
