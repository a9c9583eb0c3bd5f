from dataclasses import replace

import numpy as np
import pytest

from gramian.models.ica.fit import METHODS, fit_ica
from gramian.models.ica.model import ICAOptions
from gramian.sources.dense import DenseRows
from gramian.testing import CountingRows, amari_distance, haar, mixed_sources
from gramian.unmixing.contrast import Cube, Exp, LogCosh
from gramian.unmixing.fastica import Deflation, SymmetricFastICA
from gramian.unmixing.infomax import Infomax
from gramian.unmixing.method import nearest_rotation, off_saddle, skew
from gramian.unmixing.picard import PicardO
from gramian.unmixing.white_rows import WhiteRows

ORTHOGONAL = [PicardO, SymmetricFastICA, Deflation]
EVERY = [*ORTHOGONAL, Infomax]


def white(n, k, seed):
    """Exactly white rows of rotated independent sources, and the rotation."""
    S = mixed_sources(n, k, seed=seed)
    S -= S.mean(axis=0)
    values, vectors = np.linalg.eigh(S.T @ S / n)
    Z = S @ (vectors / np.sqrt(values)) @ vectors.T
    Q = haar(k, k, seed=seed)
    return WhiteRows(DenseRows(Z @ Q.T), np.eye(k), None, np.eye(k)), Q


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("k", [2, 5])
def test_rotated_sources_are_found(method, k):
    """From white rows every method finds the rotation, up to order and sign."""
    rows, Q = white(20_000, k, seed=k)
    found = method(tol=1e-7).solve(rows, np.eye(k))
    assert found.converged
    assert found.gradient_norm <= 1e-7
    assert amari_distance(found.matrix, Q) <= 0.02


# Infomax leaves uniform sources that are half and half by itself, on the way to their scales.
@pytest.mark.parametrize(
    "method, draw", [*((method, "uniform") for method in ORTHOGONAL), *((method, "laplace") for method in EVERY)]
)
def test_a_saddle_is_left_for_a_minimum(method, draw):
    """Sources mixed half and half have no gradient: a method may stop there, a solve does not (issue 16)."""
    Z = getattr(np.random.default_rng(0), draw)(size=(20_000, 4))
    Z = np.linalg.qr(Z - Z.mean(axis=0))[0] * np.sqrt(20_000)
    rows, h = WhiteRows(DenseRows(Z), np.eye(4), None, np.eye(4)), np.sqrt(0.5)
    # Sources 0 and 1 are half and half, and so are 2 and 3.
    halfway = np.array([[h, h, 0, 0], [-h, h, 0, 0], [0, 0, h, h], [0, 0, -h, h]])
    stopped = method(tol=0.01).descend(rows, halfway)
    assert stopped.converged
    assert amari_distance(stopped.matrix, np.eye(4)) > 0.1
    assert off_saddle(rows, stopped.matrix, LogCosh(), least=0.01) is not None
    found = method(tol=0.01).solve(rows, halfway)
    assert found.converged
    assert amari_distance(found.matrix, np.eye(4)) <= 0.05
    assert off_saddle(rows, found.matrix, LogCosh(), least=0.0) is None


def test_a_fit_that_starts_at_a_saddle_finds_the_sources():
    """The start of the user may be one; iterations after it count."""
    Z = np.random.default_rng(0).uniform(-1, 1, size=(30_000, 2))
    asked = ICAOptions(independence=False, tol=0.01)
    halfway = np.array([[1.0, 1.0], [-1.0, 1.0]]) @ np.linalg.inv(fit_ica(DenseRows(Z), asked).whitening)
    model = fit_ica(DenseRows(Z), replace(asked, start=nearest_rotation(halfway)))
    assert amari_distance(model.components, np.eye(2)) <= 0.05
    assert model.n_iter > 1


@pytest.mark.parametrize("method", ORTHOGONAL)
def test_rotations_stay_rotations(method):
    """W W' = I to rounding."""
    rows, _ = white(5_000, 4, seed=1)
    W = method().solve(rows, np.random.default_rng(0).standard_normal((4, 4))).matrix
    np.testing.assert_allclose(W @ W.T, np.eye(4), atol=1e-12)


@pytest.mark.parametrize("contrast", [LogCosh(), LogCosh(1.5), Exp(), Cube()])
@pytest.mark.parametrize("method", ORTHOGONAL)
def test_every_contrast_separates(method, contrast):
    """Log cosh, exp and cube all find peaked and flat sources."""
    rows, Q = white(20_000, 3, seed=3)
    found = method(contrast, tol=1e-6).solve(rows, np.eye(3))
    assert found.converged
    assert amari_distance(found.matrix, Q) <= 0.05


def test_gradient_norm_is_the_gradient_of_the_objective():
    """What Picard-O reports is the skew part of E[psi(s) s'] at its answer; Infomax reports E[psi s'] - I."""
    rows, _ = white(3_000, 3, seed=4)
    W = PicardO(tol=1e-9).solve(rows, np.eye(3)).matrix
    S = rows.source.array @ W.T
    cross = np.tanh(S).T @ S / len(S)
    signs = np.sign((1 - np.tanh(S) ** 2).mean(axis=0) - np.diagonal(cross))
    assert np.abs(skew(signs[:, None] * cross)).max() <= 2e-9
    found = Infomax(tol=1e-9).solve(rows, np.eye(3))
    S = rows.source.array @ found.matrix.T
    kappa = (1 - np.tanh(S) ** 2).mean(axis=0) * (S**2).mean(axis=0) - (np.tanh(S) * S).mean(axis=0)
    psi = S + np.sign(kappa) * np.tanh(S)
    assert np.abs(psi.T @ S / len(S) - np.eye(3)).max() <= 2e-9


def measured_norm(method, rows, W):
    """The gradient norm at W by its formula, from the sources themselves."""
    Z = rows.source.array
    S = Z @ W.T
    if method is Deflation:
        toward = np.tanh(S).T @ Z / len(Z)
        off = [t - t @ W[: j + 1].T @ W[: j + 1] for j, t in enumerate(toward)]
        return np.abs(off).max()
    cross = np.tanh(S).T @ S / len(S)
    signs = np.sign((1 - np.tanh(S) ** 2).mean(axis=0) - np.diagonal(cross))
    return np.abs(skew(signs[:, None] * cross)).max()


@pytest.mark.parametrize("method", ORTHOGONAL)
@pytest.mark.parametrize("max_iter", [1, 2, 3, 5])
def test_gradient_norm_is_that_of_the_matrix_returned(method, max_iter):
    """Converged or not, the norm stated is the norm at the W that comes with it."""
    rows, _ = white(3_000, 4, seed=4)
    found = method(tol=1e-14, max_iter=max_iter).solve(rows, np.eye(4))
    assert not found.converged
    assert found.gradient_norm == pytest.approx(measured_norm(method, rows, found.matrix), rel=1e-6, abs=1e-13)


@pytest.mark.parametrize("method", [SymmetricFastICA, Deflation])
def test_a_last_step_that_meets_tol_has_converged(method):
    """One iteration from close by reaches a third of the gradient there: that is said, and nothing is warned of."""
    rows, _ = white(3_000, 3, seed=4)
    near = nearest_rotation(method(tol=1e-12).solve(rows, np.eye(3)).matrix + 1e-4 * np.ones((3, 3)))
    tol = measured_norm(method, rows, near) / 3
    found = method(tol=tol, max_iter=1).solve(rows, near)
    assert found.converged
    assert measured_norm(method, rows, found.matrix) <= tol


def test_symmetric_and_picard_find_the_same_point():
    """Picard-O and symmetric FastICA have the same fixed points."""
    rows, _ = white(20_000, 5, seed=6)
    one, other = (method(tol=1e-9).solve(rows, np.eye(5)).matrix for method in (PicardO, SymmetricFastICA))
    P = np.abs(one @ other.T)
    np.testing.assert_allclose(np.sort(P, axis=1)[:, -1], 1.0, atol=1e-8)


def test_a_cap_ends_the_iteration_and_says_so():
    """Two iterations are not enough for 1e-12."""
    rows, _ = white(2_000, 5, seed=7)
    for method in EVERY:
        found = method(tol=1e-14, max_iter=2).solve(rows, np.eye(5))
        assert not found.converged
        assert found.n_iter == 2
        assert found.gradient_norm > 1e-14


def test_passes_are_few_where_rows_are_many():
    """With a first approach on a sample, all rows are read a handful of times."""
    S = mixed_sources(60_000, 5, seed=8)
    rows = CountingRows(DenseRows(S @ haar(5, 5, seed=8).T))
    model = fit_ica(rows, ICAOptions(independence=False, tol=1e-6))
    assert model.converged
    assert rows.passes <= 12


@pytest.mark.parametrize("draw", ["laplace", "uniform"])
def test_many_sources_are_found_by_leaps(draw):
    """64 sources look Gaussian at first, so the gradient is small far from a solution: 14 iterations, not 24 or 35."""
    rng = np.random.default_rng(1)
    X = getattr(rng, draw)(size=(30_000, 64)) @ rng.standard_normal((64, 64)).T
    model = fit_ica(DenseRows(X), ICAOptions(independence=False, tol=1e-6))
    assert model.converged
    assert model.n_iter <= 18


def test_names_cover_every_method():
    """Each name of the catalogue is a method."""
    assert set(METHODS.values()) == set(EVERY)


def test_nearest_rotation_is_orthogonal_and_nearest():
    """The polar factor: orthogonal, and M R' is symmetric positive."""
    M = np.random.default_rng(1).standard_normal((4, 4))
    R = nearest_rotation(M)
    np.testing.assert_allclose(R @ R.T, np.eye(4), atol=1e-13)
    np.testing.assert_allclose(M @ R.T, (M @ R.T).T, atol=1e-12)
