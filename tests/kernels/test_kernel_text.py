"""Kernels written as text: read without evaluating anything, and refused in words."""

import numpy as np
import pytest

from gramian import KernelPCA
from gramian.errors import ParameterError
from gramian.kernels import Cosine, Gaussian, Linear, Matern, Polynomial
from gramian.kernels.named import as_kernel


@pytest.mark.parametrize(
    "text, kernel",
    [
        ("rbf(0.1) + poly(2)", Gaussian(0.1) + Polynomial(2)),
        ("rbf + linear", Gaussian() + Linear()),
        ("2 * gaussian(sigma=3) * cosine()", 2 * Gaussian(sigma=3) * Cosine()),
        ("rbf('median')", Gaussian("median")),
        (" poly(degree=2, gamma=1, coef0=1) ", Polynomial(2, 1.0, 1.0)),
        ("matern(2.5, 1.0)", Matern(2.5, 1.0)),
    ],
)
def test_text_is_the_kernel_it_writes(text, kernel):
    """Names, parameters, sums, products and multiples give the kernel that the same words give in Python."""
    assert as_kernel(text) == kernel


@pytest.mark.parametrize(
    "text",
    ["foo(2)", "rbf(", "__import__('os')", "1 + 2", "'rbf'", "rbf() ** 2", "rbf + 1", "rbf(*[1])",
     "precomputed + rbf", "rbf.__class__()", "(lambda: 0)()", "rbf() if 1 else 2", "", "rbf; linear", "rbf(True)"],
)  # fmt: skip
def test_other_text_is_refused(text):
    """What is no kernel is refused with an example; nothing in it is run."""
    with pytest.raises(ParameterError, match=r"is no kernel\. Write|is not known"):
        as_kernel(text)


def test_wrong_parameters_are_named():
    """A name with parameters that it does not take says which it takes; parameters beside a text are not ignored."""
    with pytest.raises(ParameterError, match=r"rbf takes gamma, sigma"):
        as_kernel("rbf(1, 2, 3)")
    with pytest.raises(ParameterError, match=r"gamma=2\.0 is given beside"):
        as_kernel("rbf(1)", gamma=2.0)


def test_a_kernel_is_no_parameter():
    """The kernel that it was given to refuses it."""
    with pytest.raises(ParameterError, match="for the Gaussian kernel: pass a finite number"):
        as_kernel("rbf(poly(2))")


def test_kernel_pca_takes_text():
    """KernelPCA(kernel=text) is KernelPCA(kernel=that kernel)."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    text = KernelPCA(3, kernel="rbf(0.1) + poly(2, gamma=1)").fit(X)
    np.testing.assert_array_equal(
        text.eigenvalues_, KernelPCA(3, kernel=as_kernel("rbf(0.1) + poly(2, gamma=1)")).fit(X).eigenvalues_
    )
