"""What the rounding of kernel values cannot exceed is known before it is measured, and is of use."""

import numpy as np
import pytest
from scipy import sparse

from gramian.kernels import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
from gramian.operators.kernel_gram import KernelGram
from gramian.operators.rounding_ceiling import rounding_ceiling
from gramian.sources import as_source
from gramian.sources.dense import DenseRows

KERNELS = {
    "narrow": Gaussian(20.0),
    "Gaussian": Gaussian(0.2),
    "wide": Gaussian(1e-4),
    "linear": Linear(),
    "cosine": Cosine(),
    "square": Polynomial(2, 0.3, 0.0),
    "cube": Polynomial(3, 0.2, 1.0),
    "seventh power": Polynomial(7, 0.05, 2.0),
}


def _rows(kind, n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    if kind == "far":
        X += 1e6 * rng.standard_normal(d)
    if kind == "groups":
        X[: n // 2] += 30.0
    if kind == "one wild row":
        X[n // 3] *= 50.0
    if kind == "alike":
        X = X[:1] + 1e-7 * X
    if kind == "tiny":
        X *= 1e-14
    if kind == "of all sizes":
        X *= np.geomspace(1e-3, 1e2, n)[:, None]
    return X


def _gram(X, kernel, *, centered=True, seed=0):
    source = as_source(X)
    return KernelGram(source, kernel, origin=X.mean(axis=0, dtype="float64"), centered=centered, seed=seed)


@pytest.mark.parametrize("kind", ["plain", "far", "groups", "one wild row", "alike", "tiny", "of all sizes"])
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
@pytest.mark.parametrize("n, d", [(2, 1), (30, 3), (256, 20), (400, 5)])
def test_measured_rounding_is_below_the_ceiling(n, d, kernel, kind):
    """Whatever the rows, centered or not, in either type: the measurement never exceeds what was said before."""
    for seed, dtype in enumerate(["float64", "float32"]):
        X = _rows(kind, n, d, seed).astype(dtype)
        for centered in (True, False):
            gram = _gram(X, kernel, centered=centered, seed=seed)
            assert gram.rounding <= rounding_ceiling(gram)


@pytest.mark.parametrize("scale", [1e-30, 1e-20, 1e-12, 1e12])
@pytest.mark.parametrize("kernel", [Linear(), Polynomial(3, 1.0, 0.0), Cosine(), Gaussian(1.0)])
def test_ceiling_holds_at_the_ends_of_the_range(scale, kernel):
    """Where float32 underflows or overflows nothing is known, or what is known holds."""
    gram = _gram(scale * _rows("plain", 40, 4), kernel)
    assert gram.rounding <= rounding_ceiling(gram)


@pytest.mark.parametrize("kernel", [KERNELS["Gaussian"], KERNELS["wide"], Linear(), Cosine(), KERNELS["cube"]])
@pytest.mark.parametrize("n, d", [(50, 5), (400, 30)])
def test_ceiling_of_plain_rows_is_of_use(n, d, kernel):
    """It is a small share of the trace, so that every eigenvalue of note lies above it."""
    gram = _gram(_rows("plain", n, d), kernel)
    assert rounding_ceiling(gram) < 1e-8 * gram.trace()


@pytest.mark.parametrize(
    "kernel",
    [Laplacian(0.3), Matern(1.5, 0.3), Sigmoid(0.1), Polynomial(2.5, 0.01, 5.0), Polynomial(3, 0.2, -1.0)],
)
def test_nothing_is_known_of_other_kernels(kernel):
    """Their rounding is measured."""
    assert rounding_ceiling(_gram(np.abs(_rows("plain", 20, 3)), kernel)) == np.inf


def test_nothing_is_known_of_sums_weights_and_sparse_rows():
    """The bound is of an entry of one kernel, of dense rows that count once."""
    X = _rows("plain", 20, 3)
    assert rounding_ceiling(_gram(X, Gaussian(0.2) + Linear())) == np.inf
    assert rounding_ceiling(KernelGram(DenseRows(X, weights=np.ones(20)), Gaussian(0.2), origin=np.zeros(3))) == np.inf
    assert rounding_ceiling(KernelGram(as_source(sparse.csr_array(X)), Gaussian(0.2))) == np.inf


@pytest.mark.parametrize("gamma", [1e3, 1e8])
def test_nothing_is_known_where_float32_tells_nothing(gamma):
    """An exponent that float32 has no digits of is not wrong by its first order."""
    assert rounding_ceiling(_gram(_rows("plain", 40, 10), Gaussian(gamma))) == np.inf
