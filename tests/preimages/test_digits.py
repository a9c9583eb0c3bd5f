"""The classical experiment: handwritten digits with Gaussian noise, cleaned by linear and by kernel PCA."""

import numpy as np
import pytest

from gramian import PCA, KernelPCA
from gramian.kernels import Gaussian, facts_of
from gramian.models.kernel_pca.preimage import FixedPoint, Ridge
from tests.shared_data import data_at, needs_data

DIGITS = "images/usps_train_digits_2000x16x16.npz"

pytestmark = needs_data(DIGITS)

CASES = [
    pytest.param(FixedPoint(tol=1e-3), 0.25, id="fixed point, weak noise"),
    pytest.param(FixedPoint(tol=1e-3), 0.5, id="fixed point, strong noise"),
    pytest.param(Ridge(0.1, Gaussian("median")), 0.25, id="ridge, weak noise"),
    pytest.param(Ridge(0.1, Gaussian("median")), 0.5, id="ridge, strong noise"),
    # Not with weak noise: points between ten neighbors cannot follow the detail that is then to be seen.
    pytest.param("distances", 0.5, id="distances, strong noise"),
]


@pytest.fixture(scope="module")
def digits():
    """Clean digits to learn from, to choose on and to judge by."""
    X = np.load(data_at(DIGITS))["images"].reshape(2000, 256) / 255.0
    order = np.random.default_rng(0).permutation(2000)
    return X[order[:1000]], X[order[1000:1200]], X[order[1200:1600]]


def _noisy(clean, noise, seed):
    return clean + noise * np.random.default_rng(seed).standard_normal(clean.shape)


def _error(clean, rebuilt):
    return float(np.mean((rebuilt - clean) ** 2))


def _best_error(digits, estimators, noise):
    """Error on the digits for judging of the estimator that is best on those for choosing."""
    learned, chosen, judged = digits

    def error(fitted, clean, seed):
        return _error(clean, fitted.inverse_transform(fitted.transform(_noisy(clean, noise, seed))))

    best = min((estimator.fit(learned) for estimator in estimators), key=lambda fitted: error(fitted, chosen, 1))
    return error(best, judged, 2)


@pytest.mark.parametrize("method, noise", CASES)
def test_kernel_pca_cleans_better_than_linear_pca(digits, method, noise):
    """With parameters chosen alike on other digits, the mean squared error is at least a tenth less."""
    middle = Gaussian("median").resolved(facts_of(digits[0])).gamma
    kernels = [
        KernelPCA(k, kernel="rbf", gamma=width * middle, pre_image=method)
        for width in (0.25, 1.5)
        for k in (32, 96, 256)
    ]
    linear = _best_error(digits, [PCA(k) for k in (8, 12, 16, 24, 32, 48, 64, 96)], noise)
    kernel = _best_error(digits, kernels, noise)
    assert kernel < 0.9 * linear
    assert linear < noise**2
