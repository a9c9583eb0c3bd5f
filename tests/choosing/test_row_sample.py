import numpy as np
import pytest
import scipy.sparse as sp

from gramian.choosing.facts import MAX_ENTRIES, MAX_SIDE, draw_sample, sample_shape
from gramian.sources.dense import DenseRows
from gramian.sources.sparse import SparseRows
from tests.catalog import SOURCES, parameters
from tests.choosing.designs import fitted, planted


@pytest.mark.parametrize("n, d", [(1, 1), (5, 3), (10**9, 2), (3, 10**8), (10**6, 10**6), (10_000, 500), (7, 900_000)])
def test_a_sample_is_bounded(n, d):
    """No table gives more numbers, or a longer short side, than stated."""
    a, c = sample_shape(n, d)
    assert 1 <= a <= n
    assert 1 <= c <= d
    assert a * c <= MAX_ENTRIES
    assert min(a, c) <= MAX_SIDE


@pytest.mark.parametrize("make_source", parameters(SOURCES))
def test_every_source_gives_the_centered_rows(make_source):
    """Small tables are taken whole, in order, from every kind of source."""
    fit = fitted(planted(23, 6, [5.0], seed=0) + 3.0)
    factor = np.linspace(0.5, 2.0, 6)
    sample = draw_sample(make_source(fit.X), mean=fit.mean, factor=factor, components=fit.components[:2])
    expected = (fit.X - fit.mean) * factor
    unit = np.abs(expected).max()
    assert np.allclose(sample.rows * unit, expected, atol=1e-5)
    assert np.allclose(sample.scores * unit, expected @ fit.components[:2].T, atol=1e-5)


def test_weights_count_as_repetitions():
    """A row of weight four has the squares of four rows."""
    X = planted(12, 4, [5.0], seed=0)
    weights = np.where(np.arange(12) < 3, 4.0, 1.0)
    plain = draw_sample(DenseRows(X), mean=np.zeros(4))
    weighted = draw_sample(DenseRows(X, weights=weights), mean=np.zeros(4))
    ratio = weighted.rows / plain.rows
    assert np.allclose(ratio[:3] / ratio[-1], 2.0, rtol=1e-5)


def test_part_of_a_table_is_rows_and_columns_of_it(monkeypatch):
    """A sample of a larger table has entries of that table, at its own rows and columns."""
    monkeypatch.setattr("gramian.choosing.facts.MAX_SIDE", 5)
    X = np.arange(20.0)[:, None] * 100.0 + np.arange(40.0)
    sample = draw_sample(DenseRows(X, block_rows=3), mean=np.zeros(40), seed=1)
    assert sample.rows.shape == (5, 10)
    assert sample.row_share == sample.column_share == 0.25
    entries = sample.rows / sample.rows.max()
    assert np.allclose(np.diff(entries, axis=0), np.diff(entries, axis=0)[:, :1], atol=1e-6)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_the_unit_does_not_matter(scale):
    """Rows near the ends of the range give the same sample."""
    X = planted(20, 5, [4.0], seed=0)
    plain = draw_sample(DenseRows(X), mean=np.zeros(5)).rows
    scaled = draw_sample(DenseRows(X * scale), mean=np.zeros(5)).rows
    assert np.allclose(plain, scaled, atol=1e-6)


def test_sparse_rows_are_gathered_without_making_the_table_dense():
    """A table of 10^11 cells gives its bounded sample."""
    X = sp.random_array((10**6, 10**5), density=1e-8, rng=np.random.default_rng(0), format="csr")
    sample = draw_sample(SparseRows(X), mean=np.zeros(10**5))
    assert sample.rows.shape == (6000, 600)


@pytest.mark.parametrize("n, d", [(80, 20), (20, 80)])
def test_a_sample_can_find_its_own_components(n, d):
    """Taking out the components of the sample leaves nothing along them."""
    X = planted(n, d, [30.0, 20.0], seed=0)
    sample = draw_sample(DenseRows(X), mean=X.mean(axis=0)).with_own_components()
    assert np.allclose(sample.loadings[:2] @ sample.loadings[:2].T, np.eye(2), atol=1e-4)
    top = np.linalg.norm(sample.rows - sample.scores[:, :2] @ sample.loadings[:2], 2)
    assert top == pytest.approx(np.linalg.svd(sample.rows)[1][2], rel=1e-3)
