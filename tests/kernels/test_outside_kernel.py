"""A kernel written outside of the package, in one class and one line, does all that the package's own kernels do."""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import gramian
from gramian import KernelPCA, Nystroem
from gramian.errors import KernelWidthWarning, NotSupportedError
from gramian.kernels import Gaussian, Kernel, Linear, named
from gramian.kernels.blocks import host_rows, shifted, written
from gramian.kernels.centering import center_kernel
from gramian.kernels.kernel import RadialProfile
from gramian.kernels.widths import number_of, resolved_gamma
from gramian.models.archive import catalog
from gramian.testing import KernelSuite


class Points(NamedTuple):
    """Prepared rows."""

    rows: np.ndarray
    dtype: np.dtype


@dataclass(frozen=True)
class RationalQuadratic(Kernel):
    """k(x, y) = 1 / (1 + gamma |x - y|^2)."""

    gamma: float | str | None = None
    name: ClassVar[str] = "rational quadratic"
    shift_invariant: ClassVar[bool] = True
    shift_invariant_centered: ClassVar[bool] = True
    takes_sparse: ClassVar[bool] = False
    is_psd: ClassVar[bool] = True
    has_gamma: ClassVar[bool] = True
    has_width: ClassVar[bool] = True

    def prepare(self, rows, *, dtype, origin=None):
        """Scale rows by the root of gamma."""
        scale = np.sqrt(number_of(self.gamma, rows.shape[1]))
        return Points(shifted(host_rows(rows, kernel=self), origin) * scale, dtype)

    def evaluate(self, left, right, *, out=None):
        """Return the tile of two prepared blocks."""
        return written((1.0 / (1.0 + cdist(left.rows, right.rows, "sqeuclidean"))).astype(left.dtype), out)

    def diagonal(self, rows):
        """Return ones."""
        return np.ones(rows.shape[0])

    def resolved(self, facts):
        """Return the kernel with gamma a number."""
        return RationalQuadratic(resolved_gamma(self.gamma, facts))

    def radial_profile(self):
        """Return the value and its slope: pre-images by distances then work too."""
        return RadialProfile(lambda s: (1 / (1 + self.gamma * s), self.gamma / (1 + self.gamma * s) ** 2))


KERNEL = RationalQuadratic(0.3)


@pytest.fixture
def X():
    """Rows of three columns."""
    return np.random.default_rng(0).standard_normal((120, 3))


@pytest.fixture
def in_the_catalog(monkeypatch):
    """The one line in ``kernels/named.py``, for the time of a test; model files are read from it."""
    monkeypatch.setitem(named.FAMILIES, "rational", (RationalQuadratic, ("gamma",)))
    monkeypatch.setitem(catalog.CLASSES, "RationalQuadratic", RationalQuadratic)


class TestContract(KernelSuite):
    """The suite that the package's own kernels pass."""

    def make_kernel(self):
        """Return the kernel from outside."""
        return KERNEL


@pytest.mark.parametrize("solver", ["dense", "tiled", "auto"])
def test_exact_kernel_pca_is_that_of_its_matrix(X, solver):
    """Eigenvalues of H K H, and scores of new rows that continue those of the fit."""
    kpca = KernelPCA(3, kernel=KERNEL, eigen_solver=solver, tol=1e-9).fit(X)
    values = np.linalg.eigvalsh(center_kernel(KERNEL(X)))[::-1]
    np.testing.assert_allclose(kpca.eigenvalues_, values[:3], rtol=1e-7)
    np.testing.assert_allclose(kpca.transform(X), kpca.fit_transform(X), atol=1e-6)
    assert kpca.certificate_.grade == "proved"


def test_landmarks_and_features_take_it(X):
    """Enough landmarks are the exact model; the map itself has the kernel as its inner product."""
    exact, near = (KernelPCA(3, kernel=KERNEL, landmarks=count).fit(X) for count in (None, 110))
    np.testing.assert_allclose(near.eigenvalues_, exact.eigenvalues_, rtol=1e-2)
    phi = Nystroem(KERNEL, n_components=120).fit_transform(X)
    np.testing.assert_allclose(phi @ phi.T, KERNEL(X), atol=1e-6)


def test_plan_says_what_a_fit_does(X):
    """Before and after."""
    assert gramian.plan(X, 3, kernel=KERNEL).way == KernelPCA(3, kernel=KERNEL).fit(X).plan_.way


def test_width_is_found_and_judged(X):
    """Words for gamma, a width that is chosen, and a warning for one that fits no rows."""
    assert gramian.check_kernel(KERNEL, X).passed
    assert gramian.choose_gamma(X, [0.1, 1.0], kernel=RationalQuadratic(), n_components=2).gamma in {0.1, 1.0}
    assert KernelPCA(2, kernel=RationalQuadratic("median")).fit(X).kernel_.gamma > 0
    with pytest.warns(KernelWidthWarning, match=r"RationalQuadratic\(gamma=1000000000.0\).*suggests gamma="):
        KernelPCA(2, kernel=RationalQuadratic(1e9)).fit(X)


@pytest.mark.parametrize("method", ["ridge", "fixed_point", "distances"])
def test_preimages_are_found_by_the_profile_that_it_declares(X, method):
    """Rows come back from many components."""
    kpca = KernelPCA(100, kernel=KERNEL, pre_image=method, alpha=1e-6).fit(X)
    assert np.abs(kpca.inverse_transform(kpca.transform(X[:5])) - X[:5]).max() < 0.2


def test_it_joins_sums_and_products(X):
    """With kernels of the package."""
    K = (2 * KERNEL + Linear() * Gaussian(0.5))(X)
    np.testing.assert_allclose(K, 2 * KERNEL(X) + Linear()(X) * Gaussian(0.5)(X), rtol=1e-12)


def test_what_it_does_not_declare_is_refused_with_what_to_do(X, tmp_path):
    """Random Fourier features without a spectral density; a model file without the line in the catalog."""
    with pytest.raises(NotSupportedError, match=r"has no spectral density here.*Use landmarks instead"):
        gramian.FourierFeatures(KERNEL).fit(X)
    with pytest.raises(NotSupportedError, match=r"holds numbers and named values alone.*Use a kernel or contrast"):
        KernelPCA(2, kernel=KERNEL).fit(X).save(tmp_path / "model.gramian")


@pytest.mark.usefixtures("in_the_catalog")
def test_with_its_line_it_has_a_name_and_is_saved(X, tmp_path):
    """``kernel="rational"`` is fitted, saved, and projects the same after it is loaded."""
    kpca = KernelPCA(2, kernel="rational", gamma="median").fit(X)
    kpca.save(tmp_path / "model.gramian")
    np.testing.assert_allclose(gramian.load(tmp_path / "model.gramian").transform(X), kpca.transform(X), atol=1e-14)


def test_a_model_file_may_hold_every_named_family():
    """The line in ``kernels/named.py`` is the only one."""
    assert {family.__name__ for family, _ in named.FAMILIES.values()} <= set(catalog.CLASSES)
