"""The classical experiment: handwritten digits with Gaussian noise, cleaned by linear and by kernel PCA."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gramian import PCA
from gramian.kernels import Gaussian, facts_of
from gramian.models.kernel_expansion import solve_densely
from gramian.models.preimage_distances import DistanceConstraints
from gramian.models.preimage_fixed_point import FixedPoint
from gramian.models.preimage_ridge import Ridge

DIGITS = Path(__file__).parents[3] / "shared" / "data" / "images" / "usps_train_digits_2000x16x16.npz"

pytestmark = pytest.mark.skipif(not DIGITS.exists(), reason=f"the USPS digits are not at {DIGITS}")

CASES = [
    pytest.param(FixedPoint(tol=1e-3), 0.25, id="fixed point, weak noise"),
    pytest.param(FixedPoint(tol=1e-3), 0.5, id="fixed point, strong noise"),
    pytest.param(Ridge(0.1, Gaussian("median")), 0.25, id="ridge, weak noise"),
    pytest.param(Ridge(0.1, Gaussian("median")), 0.5, id="ridge, strong noise"),
    # Not with weak noise: points between ten neighbors cannot follow the detail that is then to be seen.
    pytest.param(DistanceConstraints(), 0.5, id="distances, strong noise"),
]


@pytest.fixture(scope="module")
def digits():
    """Clean digits to learn from, to choose on and to judge by."""
    X = np.load(DIGITS)["images"].reshape(2000, 256) / 255.0
    order = np.random.default_rng(0).permutation(2000)
    return X[order[:1000]], X[order[1000:1200]], X[order[1200:1600]]


@pytest.fixture(scope="module")
def fits(digits):
    """Kernel PCA of the clean digits, a wide and a narrower Gaussian."""
    middle = Gaussian("median").resolved(facts_of(digits[0])).gamma
    return [solve_densely(digits[0], Gaussian(width * middle), 256) for width in (0.25, 1.5)]


def _noisy(clean, noise, seed):
    return clean + noise * np.random.default_rng(seed).standard_normal(clean.shape)


def _error(clean, rebuilt):
    return float(np.mean((rebuilt - clean) ** 2))


def _best_linear(digits, noise):
    """Error of linear PCA on the digits for judging, its k chosen on those for choosing."""
    learned, chosen, judged = digits
    fitted = {k: PCA(k).fit(learned) for k in (8, 12, 16, 24, 32, 48, 64, 96)}

    def error(pca, clean, seed):
        return _error(clean, pca.inverse_transform(pca.transform(_noisy(clean, noise, seed))))

    best = min(fitted.values(), key=lambda pca: error(pca, chosen, 1))
    return error(best, judged, 2)


def _best_kernel(digits, fits, method, noise):
    """The same for kernel PCA with a pre-image, choosing among two widths and three numbers of components."""
    _, chosen, judged = digits
    few = [
        replace(fit, coefficients=fit.coefficients[:, :k], scores=fit.scores[:, :k])
        for fit in fits
        for k in (32, 96, 256)
    ]

    def error(expansion, clean, seed):
        rebuilt = method.fit(expansion).rebuild(expansion.project(_noisy(clean, noise, seed)))
        return _error(clean, rebuilt.rows)

    best = min(few, key=lambda expansion: error(expansion, chosen, 1))
    return error(best, judged, 2)


@pytest.mark.parametrize("method, noise", CASES)
def test_kernel_pca_cleans_better_than_linear_pca(digits, fits, method, noise):
    """With parameters chosen alike on other digits, the mean squared error is at least a tenth less."""
    linear, kernel = _best_linear(digits, noise), _best_kernel(digits, fits, method, noise)
    assert kernel < 0.9 * linear
    assert linear < noise**2
