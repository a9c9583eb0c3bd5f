"""Kernel PCA of what cannot be, and of what is only nearly right: a clear sentence each time."""

import re

import numpy as np
import pytest

from gramian.errors import (
    ConvergenceWarning,
    IndefiniteKernelWarning,
    InputError,
    MemoryBudgetError,
    NotSupportedError,
    ParameterError,
)
from gramian.features import Landmarks
from gramian.kernels import BlockKernel, Gaussian, Linear, PointKernel, Polynomial, Precomputed, Sigmoid
from gramian.machine import MEGABYTE
from gramian.models.kernel_pca import solve as kernel_solving
from gramian.models.kernel_pca.checks import lowest_value, require_positive
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.operators.symmetric import DenseMatrix
from gramian.sources import as_source
from tests.catalog import slowly

INDEFINITE = r"eigenvalue of -[\d.e+-]+ beside a largest of [\d.e+-]+, so it is not positive semidefinite"


def _rows(n, d=3, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def _fit(X, kernel, k=2, **options):
    return fit_kernel_pca(as_source(X), KernelPCAOptions(k, kernel, **options))


@pytest.mark.parametrize("way", ["auto", "dense", "stored", "tiled"])
@pytest.mark.parametrize("n", [60, 500])
def test_an_indefinite_kernel_is_refused_with_its_eigenvalue_and_parameters(n, way):
    """A sigmoid with a negative constant has clearly negative eigenvalues, and every way says so."""
    with pytest.raises(InputError, match=INDEFINITE) as error:
        _fit(_rows(n), Sigmoid(gamma=2.0, coef0=-1.0), way=way)
    assert "gamma=2.0" in str(error.value)
    assert "coef0=-1.0" in str(error.value)


@pytest.mark.parametrize("k", [1, 3])
def test_a_negative_end_is_found_though_only_leading_pairs_are_wanted(k):
    """A kernel with one negative direction, invisible among the leading pairs, is refused, not cut."""
    kernel = BlockKernel(lambda X, Y: X @ Y.T - 3.0 * np.outer(X[:, 2], Y[:, 2]))
    for way in ("dense", "stored", "tiled"):
        with pytest.raises(InputError, match=INDEFINITE):
            _fit(_rows(450) * [10.0, 5.0, 1.0], kernel, k, way=way)


def test_what_was_not_looked_at_is_said():
    """A kernel not known to be positive semidefinite passes on tiles with a note of how far it was looked at."""
    kernel = BlockKernel(lambda X, Y: np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2)))
    tiled, stored = (_fit(_rows(450), kernel, way=way).certificate.note for way in ("tiled", "stored"))
    assert "looked at on" in tiled
    assert "search of the lower end" in stored


def test_rounding_is_not_called_negative():
    """Eigenvalues of minus rounding pass; half a percent does not."""
    require_positive(np.array([1.0, -1e-11]), Linear())
    require_positive(np.array([1e6, -1e-3]), Linear())
    with pytest.raises(InputError, match=INDEFINITE):
        require_positive(np.array([1.0, -5e-3]), Linear())


@pytest.mark.parametrize("lowest", [-0.5, -1e-3, 0.1])
def test_the_lower_end_is_estimated(lowest):
    """A short search from random columns comes near the smallest eigenvalue, from above."""
    lam = np.concatenate([[lowest], np.linspace(0.2, 1.0, 300)])
    Q = np.linalg.qr(_rows(301, 301))[0]
    found = lowest_value(DenseMatrix((Q * lam) @ Q.T, is_psd=False), seed=0)
    assert lowest - 1e-12 <= found <= lowest + 0.02


def _about_its_mean(X, Y):
    return (X - X.mean(axis=0)) @ (Y - Y.mean(axis=0)).T


def _over_its_mean(X, Y):
    return X @ Y.T / np.sqrt(np.abs(X).mean() * np.abs(Y).mean())


def _over_its_size(X, Y):
    return X @ Y.T / np.sqrt(len(X) * len(Y))


@pytest.mark.parametrize("n", [2, 30, 300, 1500])
@pytest.mark.parametrize("function", [_about_its_mean, _over_its_mean, _over_its_size])
@pytest.mark.parametrize("made", [lambda own: own, lambda own: Gaussian(0.1) + 2.0 * own * Linear()])
def test_a_function_that_depends_on_its_block_is_refused(function, made, n):
    """Whatever the size and the way, also within a sum, before the work; and for landmarks."""
    with pytest.raises(InputError, match=rf"{function.__name__}\) depends on the block.*precomputed"):
        _fit(_rows(n), made(BlockKernel(function)), 1)
    if n > 2:
        with pytest.raises(InputError, match="depends on the block"):
            _fit(_rows(n), made(BlockKernel(function)), 1, landmarks=10)


@pytest.mark.parametrize("n", [2, 30, 300])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_function_of_blocks_that_computes_in_its_own_precision_is_taken(n, dtype):
    """Rounding that differs from block to block is no dependence on the block."""
    kernel = BlockKernel(lambda X, Y: np.asarray(X, dtype) @ np.asarray(Y, dtype).T, psd=True)
    model, exact = _fit(_rows(n, 50), kernel, 1), _fit(_rows(n, 50), Linear(), 1)
    np.testing.assert_allclose(model.eigenvalues, exact.eigenvalues, rtol=1e-5)


def test_overflow_in_a_polynomial_is_named():
    """Rows whose powers leave the floating-point range are refused before any tile is made."""
    with pytest.raises(InputError, match="overflow"):
        _fit(_rows(30) * 1e110, Polynomial(3, 1.0, 1.0), way="dense")


@pytest.mark.parametrize("way", ["dense", "tiled"])
def test_a_users_kernel_of_the_wrong_shape_or_that_raises(way):
    """The sentence says what was returned, or passes on what went wrong."""

    def thin(X, Y):
        del Y
        return X[:, :1]

    def broken(X, Y):
        message = f"no kernel of {X.shape} and {Y.shape}"
        raise ValueError(message)

    with pytest.raises(InputError, match="shape"):
        _fit(_rows(30), BlockKernel(thin), way=way)
    with pytest.raises(ValueError, match="no kernel of"):
        _fit(_rows(30), BlockKernel(broken), way=way)


def test_a_kernel_that_is_not_symmetric_or_not_finite():
    """Both are seen on sampled rows."""
    with pytest.raises(InputError, match="is not symmetric"):
        _fit(_rows(40), BlockKernel(lambda X, Y: X[:, :1] + 2 * Y[:, 0]))
    with pytest.raises(InputError, match=r"gives (nan|inf)|finite"):
        _fit(_rows(40), BlockKernel(lambda X, Y: np.full((len(X), len(Y)), np.nan)))


@pytest.mark.parametrize(
    "own", [BlockKernel(lambda X, Y: X[:, :1] + 2 * Y[:, 0]), PointKernel(lambda x, y: x[0] - y[0])]
)
def test_landmarks_too_want_a_symmetric_kernel(own, monkeypatch):
    """It is said before a map is made, whether landmarks are asked for by number or as features."""
    X = _rows(40)
    with pytest.raises(InputError, match="is not symmetric"):
        _fit(X, Gaussian(0.1), features=Landmarks(own, 10))
    monkeypatch.setattr(Landmarks, "fit", lambda *_: pytest.fail("a map was made"))
    with pytest.raises(InputError, match="is not symmetric"):
        _fit(X, own, landmarks=10)


def test_landmarks_beyond_the_budget_are_refused_before_their_map_is_made(monkeypatch):
    """The advice is to take fewer of them, not to use landmarks."""
    monkeypatch.setattr(Landmarks, "fit", lambda *_: pytest.fail("a map was made"))
    with pytest.raises(MemoryBudgetError, match="fewer than these 500 landmarks"):
        _fit(_rows(600), Gaussian(0.1), landmarks=500, memory_budget=MEGABYTE)
    with pytest.raises(MemoryBudgetError, match="fewer than these 500 landmarks"):
        _fit(_rows(600), Gaussian(0.1), features=Landmarks(Gaussian(0.1), 500), memory_budget=MEGABYTE)


def test_a_kernel_without_positive_eigenvalues_is_not_called_right():
    """Minus a kernel: what is kept is rounding, and the warning says so."""
    with pytest.warns(IndefiniteKernelWarning, match="no positive eigenvalue beyond rounding"):
        _fit(_rows(60), BlockKernel(lambda x, y: -(x @ y.T)), 2, strict=False)


def test_a_function_of_two_points_that_is_not_symmetric():
    """Also where a block against itself calls the function for one half of the pairs only."""
    with pytest.raises(InputError, match="is not symmetric"):
        _fit(_rows(40), PointKernel(lambda x, y: float(x[0] + 2 * y[0])))


def test_rows_that_are_not_finite_are_named():
    """NaN in a row is refused with its place."""
    X = _rows(20)
    X[7, 1] = np.nan
    with pytest.raises(InputError, match=r"[Rr]ow 7"):
        _fit(X, Gaussian(0.1))


def test_a_fit_beyond_the_budget_is_refused_before_it_starts():
    """Both numbers, and what would fit."""
    X = np.broadcast_to(np.zeros(1), (100_000, 50))
    with pytest.raises(MemoryBudgetError, match=r"needs .* MB beyond the rows .* memory_budget is 1.05 MB") as error:
        _fit(X, Gaussian(0.1), 10, memory_budget=MEGABYTE)
    assert error.value.needed > error.value.budget == MEGABYTE
    with pytest.raises(MemoryBudgetError, match=r"with all components .* at most [\d,]+ components"):
        _fit(_rows(2000), Gaussian(0.1), None, memory_budget=150 * MEGABYTE)


def test_a_share_that_does_not_fit_says_how_far_it_came():
    """Growth ends at what the budget holds, with the share reached."""
    X = _rows(3200, 20)
    with pytest.raises(MemoryBudgetError, match=r"hold 0\.\d+ of the variance, n_components=0.999 asks for more"):
        _fit(X, Gaussian(0.05), 0.999, memory_budget=95 * MEGABYTE)


@pytest.mark.parametrize("k", [0, -1, 2.5, 31, "mle", 1.5])
def test_a_wrong_number_of_components(k):
    """What was passed, the limit, and what may be passed."""
    with pytest.raises(ParameterError, match=r"n_components=.* between 1 and n_samples=30"):
        _fit(_rows(30), Linear(), k)


def test_contradicting_or_unknown_options():
    """An unknown way; two approximations at once."""
    with pytest.raises(ParameterError, match="way='fast' is not one of auto"):
        _fit(_rows(9), Linear(), way="fast")
    with pytest.raises(ParameterError, match="landmarks and features"):
        _fit(_rows(9), Linear(), landmarks=3, features=Landmarks(Linear(), 3))


def test_new_rows_of_another_length():
    """Both lengths are named."""
    for kernel in (Gaussian(0.1), Linear()):
        with pytest.raises(InputError, match="4 columns, and the model was fitted on rows of 3"):
            _fit(_rows(30), kernel).project(_rows(2, 4))


def test_a_cap_on_products_is_reported(monkeypatch):
    """Where the iteration stops at its cap, the pairs found are returned with a warning that counts them."""
    monkeypatch.setattr(kernel_solving, "DOUBLE_SIZE", 0)
    original = kernel_solving.Davidson.solve

    def capped(self, *args, **kwargs):
        return original(type(self)(tol=self.tol, reserved=1, max_applications=2), *args, **kwargs)

    monkeypatch.setattr(kernel_solving.Davidson, "solve", capped)
    with pytest.warns(ConvergenceWarning, match=r"\d+ of 8 pairs converged"):
        model = _fit(_rows(600, 20), Gaussian(0.02), 8, tol=1e-9, way="tiled")
    assert model.certificate.grade == "rejected"


def test_a_precomputed_matrix_must_be_square_finite_and_symmetric():
    """Each is said; a matrix that becomes symmetric by centering passes, as scikit-learn's test demands."""
    with pytest.raises(InputError, match="square"):
        _fit(np.ones((3, 4)), Precomputed())
    with pytest.raises(InputError, match="not symmetric"):
        _fit(np.array([[1.0, 2.0, 0.0], [0.5, 1.0, 0.0], [0.0, 3.0, 1.0]]), Precomputed())
    with pytest.raises(InputError, match=r"NaN|infinit|finite"):
        _fit(np.array([[1.0, np.nan], [np.nan, 1.0]]), Precomputed())
    model = _fit(np.array([[1.0, 2.0], [3.0, 40.0]]), Precomputed(), 1)
    np.testing.assert_allclose(model.eigenvalues, [18.0])


def test_a_precomputed_indefinite_matrix_is_refused():
    """Small and large: the lower end is always looked at."""
    for n in (20, 600):
        Q = np.linalg.qr(_rows(n, n))[0]
        K = (Q * np.concatenate([[-0.5], np.geomspace(1e-6, 2.0, n - 1)])) @ Q.T
        with pytest.raises(InputError, match=INDEFINITE):
            _fit((K + K.T) / 2, Precomputed(), strict=True)


def test_the_error_of_new_rows_needs_their_own_kernel_value():
    """A precomputed kernel does not hold k(x, x)."""
    K = Gaussian(0.1)(_rows(20))
    with pytest.raises(NotSupportedError, match="needs k"):
        _fit(K, Precomputed()).squared_error(K)


def test_a_narrow_function_in_float32_is_not_said_to_depend_on_its_block():
    """Rounding of an exponent is much beside values that are nearly zero, and little beside those of K."""

    def narrow(X, Y):
        X, Y = X.astype(np.float32), Y.astype(np.float32)
        squares = (X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1) - 2 * X @ Y.T
        return np.exp(-5.0 * np.maximum(squares, 0.0))

    X = np.random.default_rng(0).standard_normal((300, 10)) + 20
    model = _fit(X, BlockKernel(narrow), 3)
    assert np.isfinite(model.eigenvalues).all()


def test_landmarks_of_a_function_that_is_not_positive_semidefinite_are_refused_whatever_it_says():
    """``psd=True`` is the user's word, and the landmarks show that it is not so."""
    wrong = BlockKernel(lambda X, Y: X @ Y.T - 3.0 * np.exp(-((X[:, None] - Y[None]) ** 2).sum(axis=2)), psd=True)
    X = np.random.default_rng(0).standard_normal((200, 3))
    with pytest.raises(InputError, match="not positive semidefinite"):
        _fit(X, wrong, 2, landmarks=50)


@pytest.mark.parametrize("n", [178, 700, *slowly(450, 1200)])
@pytest.mark.parametrize("k", [1, 3])
def test_the_lowest_eigenvalue_is_the_one_named(n, k):
    """Of a matrix turned upside down, not the one that happens to be among the k largest; dense or iterated."""
    K = Gaussian(0.05)(_rows(n, 13))
    lowest = -float(np.linalg.eigvalsh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())[-1])
    with pytest.raises(InputError, match="negative eigenvalues") as caught:
        _fit(-K, Precomputed(), k + 1, strict=False)
    said = float(re.search(r"has an eigenvalue of (\S+) beside", str(caught.value))[1])
    assert said == pytest.approx(lowest, rel=6e-3)
    if n == 178:
        assert "ask for no more components than the 0 that have positive eigenvalues" in str(caught.value)
