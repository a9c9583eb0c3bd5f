"""A contrast and a method that are defined outside the package do all that those within it do."""

from dataclasses import dataclass

import numpy as np
import pytest

import gramian
from gramian import ICA, check_contrast
from gramian.arrays.namespace import Array, HostArray
from gramian.errors import NotSupportedError
from gramian.models.archive import catalog
from gramian.models.ica.fit import METHODS
from gramian.models.ica.model import ica_code
from gramian.testing import mixed_sources
from gramian.unmixing import Contrast, Unmixing, UnmixingMethod, WhiteRows
from gramian.unmixing.method import nearest_rotation, skew


@dataclass(frozen=True)
class Cauchy(Contrast):
    """G(s) = log(1 + s^2) / 2,  psi = s / (1 + s^2): for sources with very heavy tails."""

    def evaluate(self, s: Array) -> tuple[Array, Array]:
        """Return s / (1 + s^2) and (1 - s^2) / (1 + s^2)^2."""
        inner = 1.0 / (1.0 + s * s)
        psi = s * inner
        return psi, inner - 2.0 * psi * psi


@dataclass(frozen=True)
class PlainGradient(UnmixingMethod):
    """Steps along the gradient on the rotations, each source's by its curvature on average."""

    def descend(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from W = ``start`` (k, k), made orthogonal first."""
        W = nearest_rotation(start)
        norm, n_iter = np.inf, 0
        while norm > self.tol and n_iter < self.max_iter:
            n_iter += 1
            moments = rows.score_moments(W, self.contrast)
            kappa = moments.slope - np.diagonal(moments.cross)
            gradient = skew(np.where(kappa < 0, -1.0, 1.0)[:, None] * moments.cross)
            norm = float(np.abs(gradient).max())
            if norm > self.tol:
                W = nearest_rotation(W - gradient @ W / np.abs(kappa).max())
        return Unmixing(W, norm, n_iter, converged=norm <= self.tol)


@pytest.fixture(scope="module")
def mixed():
    """Four mixed sources, and the mixing matrix."""
    A = np.random.default_rng(5).standard_normal((4, 4))
    return mixed_sources(4_000, 4, seed=5) @ A.T + 2.0, A


def is_unmixed(ica, A):
    """Whether each source is one of those that were mixed: one large entry in each row and column."""
    gains = np.abs(ica.components_ @ A)
    gains /= gains.max(axis=1, keepdims=True)
    return bool(((gains > 0.2).sum(axis=0) == 1).all() and ((gains > 0.2).sum(axis=1) == 1).all())


@pytest.mark.parametrize("algorithm", METHODS)
def test_a_contrast_from_outside_unmixes(mixed, algorithm):
    """It passes check_contrast, and every method finds the sources with it."""
    X, A = mixed
    check_contrast(Cauchy())
    ica = ICA(fun=Cauchy(), algorithm=algorithm, max_iter=500).fit(X)
    assert is_unmixed(ica, A)
    assert ica.gradient_norm_ <= 1e-6
    assert "fun=fun" in ica_code(ica._model, "ICA")


def test_a_contrast_from_outside_is_not_saved_without_its_line_in_the_catalog(mixed, tmp_path, monkeypatch):
    """The refusal says what is held and what to do; with one line in the catalog of values the file opens."""
    ica = ICA(fun=Cauchy()).fit(mixed[0])
    with pytest.raises(NotSupportedError, match=r"holds a Cauchy \(.*contrast.*pickle the estimator"):
        ica.save(tmp_path / "m.gramian")
    monkeypatch.setitem(catalog.CLASSES, "Cauchy", Cauchy)
    again = gramian.load(ica.save(tmp_path / "m.gramian"))
    assert again.fun == Cauchy()
    np.testing.assert_array_equal(again.transform(mixed[0]), ica.transform(mixed[0]))


def test_a_method_from_outside_needs_its_name_alone(mixed, tmp_path, monkeypatch):
    """With one line in METHODS it is an algorithm of ICA, weighted, measured and saved as the others."""
    monkeypatch.setitem(METHODS, "gradient", PlainGradient)
    X, A = mixed
    ica = ICA(algorithm="gradient", max_iter=500, tol=1e-8, runs=2).fit(X)
    assert is_unmixed(ica, A)
    np.testing.assert_allclose(ica.components_, ICA(tol=1e-8).fit(X).components_, atol=1e-5)
    np.testing.assert_array_equal(gramian.load(ica.save(tmp_path / "m.gramian")).components_, ica.components_)
    weights = np.repeat([2.0, 0.0], len(X) // 2)
    halves = ICA(algorithm="gradient", max_iter=500, tol=1e-8).fit(X, sample_weight=weights)
    np.testing.assert_allclose(halves.components_, ICA(tol=1e-8).fit(X[: len(X) // 2]).components_, atol=1e-5)
