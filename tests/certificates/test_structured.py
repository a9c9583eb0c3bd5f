"""Rows that round the same way again and again: bounds called proved hold for any order of summing, not by luck."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA, IncrementalPCA, TruncatedSVD
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.streaming import RankLimitedBatches
from gramian.sources import as_source
from gramian.testing import jacobi_svd
from tests.catalog import slowly

SHAPES = [(200, 3), (3_000, 4), (100_000, 2), *slowly((300_000, 8))]


def _signs(n):
    return np.where(np.arange(n) % 2 == 0, 1.0, -1.0)[:, None]


def _two_levels_and_an_outlier(rng, n, d):
    X = rng.choice([0.1, 0.7], (n, d))
    X[0] = 1e9
    return X


def _flags_and_an_outlier(rng, n, d):
    X = rng.choice([0.0, 1.0], (n, d))
    X[n // 2, 0] = 1e9
    return X


def _mostly_one_value(rng, n, d):
    return 0.1 + 0.3 * (rng.random((n, d)) < 0.01)


def _repeated(rng, n, d):
    return np.resize(rng.standard_normal((3, d)), (n, d))


def _one_size(rng, n, d):
    return _signs(n) * np.full(d, 0.1 + 0.01 * rng.integers(9))


def _under_half_a_digit(rng, n, d):
    """Squares that vanish beside the first ones, each of them."""
    del rng
    X = 0.999 * _signs(n) * np.ones(d)
    X[:2] = [[2.0**26.5], [-(2.0**26.5)]]
    return X


KINDS = [
    _two_levels_and_an_outlier,
    _flags_and_an_outlier,
    _mostly_one_value,
    _repeated,
    _one_size,
    _under_half_a_digit,
]


def _truth(X, *, weights=None, center=True, scale=False):
    """Eigenvalues of the sums of products in long double, on the smaller side."""
    rows = np.asarray(X).astype(np.longdouble)
    w = np.ones(len(rows), np.longdouble) if weights is None else weights.astype(np.longdouble)
    if center:
        rows = rows - rows[0]
        rows = rows - (w[:, None] * rows).sum(axis=0) / w.sum()
        rows = rows - (w[:, None] * rows).sum(axis=0) / w.sum()
    if scale:
        spread = np.sqrt((w[:, None] * rows**2).sum(axis=0) / (w.sum() - 1))
        rows = rows / np.where(spread > 0, spread, 1)
    rows = np.sqrt(w)[:, None] * rows
    columns = rows.T if len(rows) >= rows.shape[1] else rows
    squares = np.array([(np.ascontiguousarray(columns) * x).sum(axis=1) for x in columns])
    return jacobi_svd(squares)[0] / (w.sum() - 1 if center else 1)


def _exceeded(certificate, truth):
    """Lines called proved whose value is further from the truth than they say."""
    pairs = zip(certificate.lines, truth, strict=False)
    return [
        (line.index, float(abs(line.value - t) / line.value_bound))
        for line, t in pairs
        if line.grade == "proved"
        and not abs(np.longdouble(line.value) - t) <= min(line.value_bound, line.quadratic_bound)
    ]


@pytest.mark.parametrize("n, d", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_dense_rows(kind, n, d):
    """Errors all of one sign are within the bounds, which still say twelve digits or so."""
    X = kind(np.random.default_rng(1), n, d)
    certificate = PCA().fit(X).certificate_
    assert certificate.grade == "proved"
    assert not _exceeded(certificate, _truth(X))
    assert certificate.bounds.max() <= n * 1e-15 * max(certificate.values[0], 1e-300)


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("shape", [(4, 600), (12, 30_000)], ids=str)
@pytest.mark.parametrize("kind", [_two_levels_and_an_outlier, _one_size])
def test_wide_rows(kind, shape, scale):
    """The same for inner products of rows, far from the origin too."""
    X = 1e3 + kind(np.random.default_rng(2), *shape)
    model = PCA(scale=scale).fit(X)
    assert not _exceeded(model.certificate_, _truth(X, scale=scale))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kind", ["one value", "normal"])
def test_sparse_rows(kind, dtype):
    """Entries are summed one after the other, in float64 whatever their type."""
    rng = np.random.default_rng(3)
    values = np.full((100_000, 5), 0.1) if kind == "one value" else rng.standard_normal((100_000, 5))
    X = (values * (rng.random(values.shape) < 0.7)).astype(dtype)
    for model, center in ((PCA(), True), (TruncatedSVD(4), False)):
        certificate = model.fit(sp.csr_array(X)).certificate_
        assert certificate.grade == "proved"
        truth = _truth(X, center=center)
        found = [line.value for line in certificate.lines]
        unit = 1.0 if center else round(float(truth[0]) / found[0])
        assert not _exceeded(certificate, truth / unit)
        np.testing.assert_allclose(found, (truth / unit)[: len(found)].astype(float), rtol=1e-8)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("kind", [_mostly_one_value, _one_size, _repeated])
def test_many_small_batches(kind, offset):
    """A thousand merges, each of which rounds the mean and the scatter, have all of it in the bounds."""
    X = offset + kind(np.random.default_rng(4), 3_000, 3)
    batches = IncrementalPCA(3)
    for start in range(0, len(X), 3):
        batches.partial_fit(X[start : start + 3])
    assert not _exceeded(batches.certificate_, _truth(X))
    about_origin, scaled = PCA(center=False), PCA(scale=True)
    for start in range(0, len(X), 30):
        about_origin.partial_fit(X[start : start + 30])
        scaled.partial_fit(X[start : start + 30])
    assert not _exceeded(about_origin.certificate_, _truth(X, center=False) / (len(X) - 1))
    assert not _exceeded(scaled.certificate_, _truth(X, scale=True))


@pytest.mark.parametrize("scale", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6, 1e9])
def test_batches_of_limited_rank(offset, scale):
    """Where nothing is dropped between batches, what the mean is rounded by at every merge is in the bounds still."""
    rng = np.random.default_rng(8)
    X = offset + rng.standard_normal((600, 3)) @ rng.standard_normal((3, 30))
    state = RankLimitedBatches.of(as_source(X[:9]), rank=8, n_components=3)
    for start in range(9, len(X), 9):
        state = state.absorb(as_source(X[start : start + 9]))
    certificate = state.fit(PCAOptions(n_components=3, scale=scale)).certificate
    assert not _exceeded(certificate, _truth(X, scale=scale))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_batches_that_follow_a_fit(dtype):
    """A model is resumed as exactly as its certificate and its type say."""
    X = (1e3 + np.random.default_rng(5).standard_normal((900, 4))).astype(dtype)
    model = PCA().fit(X[:300]).partial_fit(X[300:])
    assert model.certificate_.grade == "proved"
    assert not _exceeded(model.certificate_, _truth(X))


@pytest.mark.parametrize("weights", ["wide", "with zeros", "all alike"])
@pytest.mark.parametrize("n", [60, 40_000])
def test_weighted_rows(n, weights):
    """Weights over ten orders of magnitude, or of a value that is no power of two."""
    rng = np.random.default_rng(6)
    w = {"wide": 10 ** rng.uniform(-5, 5, n), "with zeros": 1.0 * rng.integers(0, 3, n), "all alike": np.full(n, 0.1)}
    X = 100 + rng.choice([0.1, 0.7], (n, 3))
    model = PCA().fit(X, sample_weight=w[weights])
    assert not _exceeded(model.certificate_, _truth(X, weights=w[weights]))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_float32_products_are_measured(library):
    """Rows that are multiplied in float32 claim no proof of what that costs; few of them are not, and do."""
    X = np.random.default_rng(7).standard_normal((60_000, 40)).astype("float32")
    as_rows = np.asarray if library == "numpy" else pytest.importorskip("torch").from_numpy
    assert set(PCA(3).fit(as_rows(X)).certificate_.grades) == {"measured"}
    assert set(PCA(3).fit(as_rows(X[:500])).certificate_.grades) == {"proved"}
    assert PCA(3).fit(as_rows(X)).certificate_.grade == "measured"
