"""Moments: exact for any mean, any weights, any cut into blocks."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.sources import DenseRows, as_source, measure_moments
from gramian.sources.moments import squares_are_safe
from gramian.testing import CountingRows
from tests.catalog import SOURCES, parameters


def _reference(X, weights):
    X, w = X.astype(np.longdouble), weights.astype(np.longdouble)
    mean = (w @ X) / w.sum()
    centered = X - mean
    return mean, (centered * w[:, None]).T @ centered


def _matrix(scatter):
    return scatter.numpy() if hasattr(scatter, "numpy") else scatter


@pytest.mark.parametrize("make", parameters(SOURCES))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_mean_and_scatter_agree_with_long_double(make, weighted, offset):
    """Every source gives the mean and scatter of higher precision, also far from the origin."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((37, 6)) + offset
    weights = rng.integers(0, 4, 37).astype(float) if weighted else np.ones(37)
    moments = measure_moments(make(X, weights=weights if weighted else None))
    mean, scatter = _reference(X, weights)
    np.testing.assert_allclose(moments.mean, mean.astype(float), rtol=1e-14, atol=1e-14)
    scale = float(np.abs(scatter).max())
    np.testing.assert_allclose(_matrix(moments.scatter), scatter.astype(float), rtol=0, atol=1e-13 * scale)
    np.testing.assert_allclose(moments.squares, np.diagonal(scatter).astype(float), rtol=1e-12)
    assert moments.weight == pytest.approx(weights.sum())


def test_a_misleading_sample_costs_one_more_pass_and_no_digit():
    """When the even sample is far from the mean, a second pass about the true mean keeps all digits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4096, 3))
    X[::4] += 1e9
    X[np.arange(len(X)) % 4 != 0] += 1e9
    X[0] -= 1e9
    source = CountingRows(DenseRows(X))
    moments = measure_moments(source)
    _, scatter = _reference(X, np.ones(len(X)))
    np.testing.assert_allclose(moments.scatter, scatter.astype(float), rtol=1e-10)
    assert source.passes <= 2


@pytest.mark.parametrize("cut", [1, 7, 100, 199])
def test_merging_two_parts_is_measuring_the_whole(cut):
    """Moments of two batches merge into the moments of all rows."""
    X = np.random.default_rng(1).standard_normal((200, 5)) * 3 + 1e4
    whole = measure_moments(DenseRows(X))
    merged = measure_moments(DenseRows(X[:cut])).merge(measure_moments(DenseRows(X[cut:])))
    np.testing.assert_allclose(merged.scatter, whole.scatter, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(merged.mean, whole.mean, rtol=1e-15)
    assert (merged.count, merged.weight) == (200, 200.0)


def test_a_constant_column_has_a_sum_of_squares_of_exactly_zero():
    """A tenth, repeated, has no variance, though a sum of tenths is not a multiple of one."""
    X = np.column_stack([np.full(1000, 0.1), np.arange(1000.0)])
    assert measure_moments(DenseRows(X)).squares[0] == 0.0


@pytest.mark.parametrize("n", [3000, 40_000])
def test_float32_products_say_how_wrong_they_are(n):
    """The error stated for a float32 scatter covers the one made, and is small."""
    X = (np.random.default_rng(2).standard_normal((n, 80)) + 3).astype(np.float32)
    moments = measure_moments(DenseRows(X, block_rows=1000))
    exact = measure_moments(DenseRows(X.astype(np.float64))).scatter
    made = np.linalg.norm(moments.scatter - exact, 2) / np.linalg.norm(exact, 2)
    assert made <= max(2 * moments.error, 1e-14)
    assert moments.error < 1e-6


@pytest.mark.parametrize("scale, safe", [(1.0, True), (1e-120, False), (1e140, False), (0.0, False)])
def test_squares_near_the_ends_of_the_range_are_noticed(scale, safe):
    """Rows whose squares are about to leave the range are told from ordinary ones."""
    X = np.random.default_rng(0).standard_normal((50, 3)) * scale
    assert squares_are_safe(measure_moments(DenseRows(X)), np.dtype("float64")) is safe


@pytest.mark.parametrize("d", [1, 63, 64, 65, 200])
@pytest.mark.parametrize("center", [True, False])
def test_the_scatter_is_moved_to_the_mean_in_every_entry(d, center):
    """Whatever the width, both triangles of the scatter are those of the centered rows, and equal."""
    rng = np.random.default_rng(d)
    X = rng.standard_normal((5_000, d)) + rng.standard_normal(d)
    X[::5] += 3.0  # the even sample is off the mean
    found = measure_moments(DenseRows(X), center=center)
    Xc = X - X.mean(axis=0) if center else X
    np.testing.assert_allclose(found.scatter, Xc.T @ Xc, rtol=1e-12, atol=1e-10)
    np.testing.assert_array_equal(found.scatter, found.scatter.T)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n, d", [(1, 3), (2, 2), (150, 4), (40, 700), (9_000, 3)])
@pytest.mark.parametrize("offset, first", [(0.0, 0.0), (1e4, 0.0), (0.0, 1e9)])
def test_one_block_is_measured_to_rounding(n, d, offset, first, dtype):
    """One block, also far from the origin or begun by an outlier, has the moments of higher precision."""
    X = (np.random.default_rng(n + d).standard_normal((n, d)) + offset).astype(dtype)
    X[0] += dtype(first)
    found, eps = measure_moments(DenseRows(X)), np.finfo(float).eps
    mean, scatter = _reference(X, np.ones(n))
    size = np.sqrt(np.diagonal(scatter))
    spread, wrong = size / np.sqrt(n), np.abs(found.mean - mean)
    assert np.all(wrong <= eps * (np.abs(mean) + np.sqrt(n) * spread))
    assert np.all(wrong <= found.mean_rounding)
    assert np.all(np.abs(found.scatter - scatter) <= 2 * np.sqrt(n) * eps * np.outer(size, size))
    np.testing.assert_array_equal(found.scatter, found.scatter.T)
    np.testing.assert_allclose(measure_moments(DenseRows(X), scatter=False).squares, found.squares, rtol=1e-13)


@pytest.mark.parametrize("order", ["C", "F", "strided"])
@pytest.mark.parametrize("center", [True, False])
def test_one_block_and_the_same_rows_in_pieces_agree(order, center):
    """Rows measured at once have the moments of the same rows in pieces, in any memory order, and stay as they are."""
    X = np.random.default_rng(4).standard_normal((120, 5)) + 7
    X = np.asfortranarray(X) if order == "F" else X[::2, ::-1] if order == "strided" else X
    before = X.copy()
    few, many = (measure_moments(DenseRows(X, block_rows=b), center=center) for b in (None, 11))
    np.testing.assert_allclose(few.mean, many.mean, rtol=1e-15)
    np.testing.assert_allclose(few.scatter, many.scatter, rtol=1e-13, atol=1e-12)
    np.testing.assert_array_equal(few.scatter, few.scatter.T)
    np.testing.assert_array_equal(X, before)
    assert (few.count, few.weight) == (many.count, many.weight)


@pytest.mark.parametrize("shape, dtype", [((1500, 300), float), ((700, 1600), float), ((40_000, 60), np.float32)])
@pytest.mark.parametrize("off", [0.0, 1e-3, 1e3], ids=["at the mean", "near it", "far off"])
def test_what_is_measured_about_a_mean_that_is_given_keeps_its_own_bound(shape, dtype, off):
    """The scatter about a given mean is the true one within the rounding that it states, however wrong that mean is."""
    rng = np.random.default_rng(shape[1])
    X = (rng.standard_normal(shape) + 30 * rng.standard_normal(shape[1])).astype(dtype)
    moments = measure_moments(DenseRows(X), about=X.astype(float).mean(axis=0) + off)
    mean = X.astype(np.longdouble).mean(axis=0)
    some = slice(None, None, 7)
    left, right = ((X[:, cut].astype(np.longdouble) - mean[cut]) for cut in (some, slice(8)))
    wrong = np.abs(moments.scatter[some, :8] - left.T @ right)
    stated = np.sqrt(np.outer(moments.rounding[some], moments.rounding[:8])) + moments.error * moments.squares.max()
    assert (wrong <= stated).all()
    np.testing.assert_array_equal(moments.scatter, moments.scatter.T)
    np.testing.assert_allclose(moments.mean, mean.astype(float), rtol=1e-6 if dtype is np.float32 else 1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n, d", [(1024, 16), (800, 20), (1000, 3), (16_000, 1)])
def test_sums_that_always_round_the_same_way_are_within_their_bounds(n, d, weighted):
    """Equal rows, but for those that the first look samples: each addition rounds alike, and the mean is far off."""
    for seed in range(20):
        X = np.tile(np.random.default_rng(seed).uniform(1, 2, d), (n, 1))
        X[:: max(1, n // 256)] = 0.0
        weights = np.full(n, 3.0) if weighted else None
        moments = measure_moments(DenseRows(X, weights=weights))
        mean, scatter = _reference(X, np.ones(n) if weights is None else weights)
        assert np.all(np.abs(moments.mean - mean) <= moments.mean_rounding)
        rounding = np.sqrt(np.outer(moments.rounding, moments.rounding))
        assert np.all(np.abs(moments.scatter - scatter) <= rounding)


@pytest.mark.parametrize("offset", [0.0, 2000.0])
def test_the_scatter_of_sparse_rows_takes_no_copy_of_them(offset):
    """Products are made some entries at a time, whether columns have to be made whole or not."""
    rows = sp.csr_array(np.random.default_rng(0).standard_normal((80_000, 40)) + offset)
    held = rows.data.nbytes + rows.indices.nbytes
    source = as_source(rows)
    tracemalloc.start()
    try:
        measure_moments(source)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held > 38e6
    assert peak < 26e6
