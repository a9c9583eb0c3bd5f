"""All pairs by way of the tridiagonal form: planted spectra, matrices that need no reflector, and sizes of any kind."""

import numpy as np
import pytest

from gramian.eigen import tridiagonal
from gramian.eigen.tridiagonal import LARGEST, LEAST, WIDTH, all_pairs

SIZES = (1, 2, 3, WIDTH - 1, WIDTH, WIDTH + 1, WIDTH + 2, 2 * WIDTH, 2 * WIDTH + 1, 500)


@pytest.fixture
def drivers(monkeypatch):
    """Return the sizes of the matrices that LAPACK's own driver was asked for."""
    asked, by_lapack = [], tridiagonal._by_lapack
    monkeypatch.setattr(tridiagonal, "_by_lapack", lambda A: (asked.append(len(A)), by_lapack(A))[1])
    return asked


def planted(m, values, seed):
    """Return a symmetric matrix of these eigenvalues."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((m, m)))[0]
    A = (Q * values) @ Q.T
    return (A + A.T) / 2


SPECTRA = {
    "distinct": lambda m: np.linspace(-1.0, 2.0, m),
    "graded": lambda m: np.geomspace(1e-15, 1.0, m),
    "clustered": lambda m: np.repeat([1.0, 1.0 + 1e-12, 2.0], [m // 3, m // 3, m - 2 * (m // 3)]),
    "of low rank": lambda m: np.concatenate([np.zeros(m - m // 4), np.linspace(1.0, 2.0, m // 4)]),
    "one value": lambda m: np.full(m, 3.0),
}


def assert_pairs(A, values, V):
    """Residuals and orthonormality are rounding, and values ascend."""
    m, size = len(A), np.linalg.norm(A, 2) or 1.0
    within = 20 * np.sqrt(m) * np.finfo(float).eps
    assert (np.diff(values) >= 0).all()
    assert np.linalg.norm((A / size) @ V - V * (values / size), 2) <= within
    assert np.linalg.norm(V.T @ V - np.eye(m), 2) <= within


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("order", ["C", "F"])
def test_planted_spectrum(m, name, order, drivers):
    """Values and pairs are those that were planted, to rounding; the matrix is left alone."""
    truth = SPECTRA[name](m)
    A = planted(m, truth, seed=m)
    given = np.array(A, order=order)
    values, V = all_pairs(given)
    assert np.abs(values - np.sort(truth)).max() <= 20 * np.sqrt(m) * np.finfo(float).eps * np.abs(truth).max()
    assert_pairs(A, values, V)
    np.testing.assert_array_equal(given, A)
    assert drivers == ([] if m > 1 and truth.any() else [m])


@pytest.mark.parametrize("m", SIZES)
@pytest.mark.parametrize("kind", ["zero", "diagonal", "tridiagonal", "blocks", "arrow"])
def test_reflectors_that_do_nothing(m, kind):
    """Columns that are reduced already have no reflector: tau is zero there."""
    rng = np.random.default_rng(m)
    A = rng.standard_normal((m, m))
    i, j = np.indices((m, m))
    where = {
        "zero": np.zeros((m, m), bool),
        "diagonal": i == j,
        "tridiagonal": np.abs(i - j) <= 1,
        "blocks": (i < m // 2) == (j < m // 2),
        "arrow": (i == j) | (i == m - 1) | (j == m - 1),
    }[kind]
    A = np.where(where, A + A.T, 0.0)
    assert_pairs(A, *all_pairs(A))


@pytest.mark.parametrize("scale", [1e-300, LEAST / 10, 1e-150, 1e150, LARGEST])
def test_any_scale(scale, drivers):
    """Entries near the ends of the range are left to LAPACK's driver, which scales them; between, nothing is lost."""
    A = planted(150, np.linspace(1.0, 2.0, 150), seed=3)
    values, V = all_pairs(A * scale)
    assert_pairs(A, values / scale, V)
    assert bool(drivers) == (not LEAST < 2 * scale < LARGEST)


def test_the_driver_takes_over_where_a_step_fails(monkeypatch):
    """What LAPACK reports as failed is not used, and what SciPy does not offer is not missed."""
    A = planted(120, np.linspace(1.0, 2.0, 120), seed=4)
    failed = np.zeros(120), np.zeros((120, 120)), 7
    monkeypatch.setattr(tridiagonal.lapack, "dstevd", lambda *_: failed, raising=False)
    assert_pairs(A, *all_pairs(A))
    monkeypatch.delattr(tridiagonal.lapack, "dstevd")
    assert_pairs(A, *all_pairs(A))
