"""The check that no eigenvalue of a matrix in memory was passed over, and what rounding it allows for."""

import numpy as np
import pytest
import scipy

from gramian.eigen.certificate import check_rounding, none_above
from gramian.testing import symmetric_with_spectrum

SPECTRA = {
    "falling": np.geomspace(100.0, 1e-3, 300),
    "noise": np.concatenate([[30.0, 20.0], np.linspace(4.0, 0.0, 258)]),
    "indefinite": np.linspace(5.0, -7.0, 200),
}


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("name", SPECTRA)
def test_a_level_between_two_eigenvalues_is_told_from_one_below(name, order, in_place):
    """With k pairs taken off the check holds above eigenvalue k + 1 and fails below it; the matrix stays as it was."""
    A = np.array(symmetric_with_spectrum(SPECTRA[name], seed=3)[0], order=order)
    before = A.copy()
    values, V = (part[..., ::-1] for part in np.linalg.eigh(A))
    for k in (1, 5, 20):
        gap, pairs = values[k] - values[k + 1], (values[:k], V[:, :k])
        assert none_above(A, *pairs, values[k] + 1e-3 * gap, in_place=in_place)
        assert not none_above(A, *pairs, values[k] - 1e-3 * gap, in_place=in_place)
        missed = np.delete(np.arange(k + 1), k // 2)
        assert not none_above(A, values[missed], V[:, missed], values[k] + 1e-3 * gap, in_place=in_place)
        np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("in_place", [True, False])
def test_a_blas_that_works_in_a_copy_proves_nothing_false(in_place, monkeypatch):
    """Where SYRK leaves its input as it was and returns a copy, the check reads the copy (issue 16)."""
    right = scipy.linalg.blas.dsyrk
    monkeypatch.setattr(scipy.linalg.blas, "dsyrk", lambda *given, c, **asked: right(*given, c=c.copy("F"), **asked))
    A = symmetric_with_spectrum(SPECTRA["indefinite"], seed=3)[0]
    before, (values, V) = A.copy(), (part[..., ::-1] for part in np.linalg.eigh(A))
    gap, pairs = values[5] - values[6], (values[:5], V[:, :5])
    assert none_above(A, *pairs, values[5] + 1e-3 * gap, in_place=in_place)
    assert not none_above(A, *pairs, values[5] - 1e-3 * gap, in_place=in_place)
    np.testing.assert_array_equal(A, before)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("m", [20, 200, 800])
def test_the_rounding_of_the_check_is_within_its_bound(m, seed):
    """It passes where no eigenvalue comes nearer to the level than the bound, and fails where one exceeds it so far."""
    rng = np.random.default_rng(seed)
    A = symmetric_with_spectrum(rng.uniform(0.0, 1.0, m), seed=seed)[0]
    values, V = (part[..., ::-1] for part in np.linalg.eigh(A))
    k = 5
    bound = check_rounding(float(np.trace(A)), values[:k], float(values[k]), m)
    assert 0 < bound < 1e-10
    assert none_above(A, values[:k], V[:, :k], values[k] + bound)
    assert not none_above(A, values[:k], V[:, :k], values[k] - bound)
