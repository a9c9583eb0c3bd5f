"""Data near the ends of the range: squares overflow or vanish, singular values and shares do not."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA
from gramian.errors import PrecisionWarning
from gramian.testing import centered, jacobi_svd, rows_with_spectrum
from tests.accuracy.bounds import assert_components, assert_singular_values, promised

SHAPES = [(60, 8), (8, 60), (12, 12)]
SCALES = {
    "float64": [1e300, 1e-300, 1e154, 1e-154, 1e-162, 1e-306, 1e-309, 1e-313],
    "float32": [1e34, 1e-34, 1e18, 1e-19, 1e-37, 1e-40],
}
CASES = [(dtype, scale) for dtype, scales in SCALES.items() for scale in scales]


def _scaled(n, d, dtype, scale, mean=0.5):
    """Rows times ``scale``, in ``dtype``, with the truth of what is stored: s, V, Xc, all scaled back by 2^-e."""
    X, _ = rows_with_spectrum(n, d, [9.0, 4.0, 1.0, 0.25], mean=mean, seed=n)
    with np.errstate(under="ignore"):
        X = (X.astype(np.longdouble) * np.longdouble(scale)).astype(dtype)
    # Back by a power of two, exactly, so that the truth is found in the middle of the range.
    unit = np.longdouble(2.0) ** -int(np.round(np.log2(scale)))
    Xc = X.astype(np.longdouble) * unit
    Xc = Xc - Xc.mean(axis=0)
    Xc = Xc - Xc.mean(axis=0)
    s, V = jacobi_svd(Xc)
    return X, s, V, Xc, unit


def _fit(X, **options):
    # A variance that is inf or 0 is right and cannot be held: the fit says so with this warning.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrecisionWarning)
        return PCA(**options).fit(X)


@pytest.mark.parametrize("options", [{}, {"n_components": 3}], ids=["all", "three"])
@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("dtype, scale", CASES)
def test_extreme_scales(dtype, scale, n, d, options):
    """Singular values, shares, components and scores stay right where a variance overflows or vanishes."""
    X, s, V, Xc, unit = _scaled(n, d, dtype, scale)
    pca = _fit(X, **options)
    k = len(pca.singular_values_)
    allowed = promised(n, d, s, dtype)
    assert_singular_values(pca.singular_values_.astype(np.longdouble) * unit, s, _with_ulp(allowed, dtype, unit))
    shares = (s**2 / (s**2).sum()).astype(float)[:k]
    np.testing.assert_allclose(pca.explained_variance_ratio_, shares, atol=2 * allowed / float(s[0]))
    assert not np.isnan(pca.explained_variance_).any()
    assert_components(pca.components_, V, s, allowed)
    signs = np.sign(np.sum(pca.components_[:3] * V[:, :3].T, axis=1))
    scores = pca.transform(X)[:, :3].astype(np.longdouble) * unit
    assert np.isfinite(scores).all()
    error = np.abs(scores - (Xc @ V[:, :3]) * signs).max()
    assert error <= _with_ulp(10 * allowed, dtype, unit)


def _with_ulp(allowed, dtype, unit):
    """Allowed error, and never less than what the spacing of subnormal results makes unavoidable."""
    spacing = np.longdouble(np.finfo(dtype).smallest_subnormal) * unit
    return max(np.longdouble(allowed), 20 * spacing)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_scaling_by_a_power_of_two_changes_no_digit(scale):
    """Rows times 2^p give the same components and shares, and singular values times 2^p, to rounding."""
    X, _ = rows_with_spectrum(40, 6, [9.0, 4.0, 1.0], mean=1.0, seed=0)
    factor = 2.0 ** int(np.log2(scale))
    plain, scaled = _fit(X), _fit(X * factor)
    np.testing.assert_allclose(scaled.singular_values_[:3] / factor, plain.singular_values_[:3], rtol=1e-14)
    np.testing.assert_allclose(scaled.components_[:3], plain.components_[:3], atol=1e-13)
    np.testing.assert_allclose(scaled.explained_variance_ratio_[:3], plain.explained_variance_ratio_[:3], rtol=1e-13)


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_an_unholdable_variance_is_said(scale):
    """The variance of such rows is inf or 0 in float64, and a warning says so."""
    X, _ = rows_with_spectrum(40, 6, [9.0, 4.0, 1.0], seed=0)
    with pytest.warns(PrecisionWarning):
        pca = PCA(n_components=2).fit(X * scale)
    assert (pca.explained_variance_ == (np.inf if scale > 1 else 0.0)).all()


@pytest.mark.parametrize("spread", [1e-200, 1e-100, 1e100, 1e200])
def test_columns_of_very_different_scales(spread):
    """One column of size 1 beside one of another size: the larger decides, and nothing is NaN."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 2)) * [1.0, spread]
    pca = _fit(X)
    s = np.sort(np.linalg.norm(centered(X).astype(float) / max(1.0, spread), axis=0))[::-1] * max(1.0, spread)
    np.testing.assert_allclose(pca.singular_values_[0], s[0], rtol=1e-13)
    np.testing.assert_allclose(pca.explained_variance_ratio_[0], 1.0, rtol=1e-13)
    assert np.isfinite(pca.singular_values_).all()


def _units(dtype, d):
    """Powers of two that span nearly the whole range of a type, one a column."""
    reach = 990 if dtype == np.float64 else 120
    return np.ldexp(1.0, np.linspace(-reach, reach, d).astype(int))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", ["tall", "wide", "sparse", "torch"])
@pytest.mark.parametrize("seed", range(2))
def test_columns_in_units_as_far_apart_as_the_type_allows(dtype, kind, seed):
    """Scaled to unit variance, columns of 1e300, 1 and 1e-300 give the same model as in units alike, and no warning."""
    X = _rows(kind, seed).astype(dtype)
    units = _units(dtype, X.shape[1])
    given = {"sparse": sp.csr_array, "torch": pytest.importorskip("torch").from_numpy}.get(kind, np.asarray)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain, model = (PCA(3, scale=True).fit(given(rows)) for rows in (X, (X * units).astype(dtype)))
    tolerance = {"rtol": 0, "atol": 1e3 * np.finfo(dtype).eps}
    for name in ("explained_variance_ratio_", "explained_variance_", "components_"):
        np.testing.assert_allclose(np.asarray(getattr(model, name)), np.asarray(getattr(plain, name)), **tolerance)
    scores, expected = (np.asarray(m.transform(given(r))) for m, r in ((model, (X * units).astype(dtype)), (plain, X)))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e4 * np.finfo(dtype).eps)


def _rows(kind, seed):
    rng = np.random.default_rng(seed)
    n, d = (12, 60) if kind == "wide" else (300, 8)
    scores = rng.standard_normal((n, 3)) * [3.0, 2.0, 1.0]
    X = scores @ rng.standard_normal((3, d)) + 0.1 * rng.standard_normal((n, d)) + 1.0
    return X * (rng.random((n, d)) < 0.5) if kind == "sparse" else X


@pytest.mark.parametrize("kind", ["normal", "flags", "far"])
@pytest.mark.parametrize("n, d", [(4, 6), (20, 22), (30, 31), (60, 61)])
def test_centered_rows_have_one_direction_less(n, d, kind):
    """What rounding leaves of the direction that centering takes is never counted, however it comes out."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.choice([0.0, 1.0], (n, d)) if kind == "flags" else rng.standard_normal((n, d))
        X = X * 10 ** rng.uniform(-6, 6, d) + 1e3 * (kind == "far")
        model = PCA(scale=True).fit(X)
        assert model._model.rank <= n - 1
        assert model.n_components_ == n
