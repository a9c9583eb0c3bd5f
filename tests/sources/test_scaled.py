"""Rows times a power of two: exact, through every way of reading."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.sources import DenseRows, SparseRows
from gramian.sources.scaled import ScaledRows, exponent_of


@pytest.mark.parametrize("exponent", [-900, -3, 0, 5, 900])
def test_every_way_of_reading_is_scaled_exactly(exponent):
    """Blocks, stacked rows, column blocks and pairs all carry the factor, to the last bit."""
    X = np.random.default_rng(0).standard_normal((11, 4))
    source = ScaledRows(DenseRows(X, block_rows=3), exponent)
    expected = np.ldexp(X, exponent)
    np.testing.assert_array_equal(source.map_rows(lambda block: block.rows), expected)
    np.testing.assert_array_equal(np.vstack([source.block(i).rows for i in range(source.n_blocks)]), expected)
    total = source.reduce_columns(lambda s, b: (s or 0.0) + b.columns[0, 0], lambda a, b: a + b)
    assert total == expected[0, 0]
    count = source.reduce_pairs(lambda s, a, b: (s or 0) + len(a.rows) * len(b.rows), int.__add__, symmetric=False)
    assert count == 121


def test_sparse_rows_stay_sparse():
    """The factor touches stored entries alone."""
    X = sp.random(20, 10, 0.2, format="csr", random_state=0)
    scaled = ScaledRows(SparseRows(X), -600).block(0).rows
    assert scaled.nnz == X[: scaled.shape[0]].nnz
    np.testing.assert_array_equal(scaled.toarray(), np.ldexp(X.toarray()[: scaled.shape[0]], -600))


@pytest.mark.parametrize("scale", [1e300, 1.0, 1e-300])
def test_the_exponent_is_that_of_the_largest_deviation(scale):
    """Dividing by 2**exponent brings the largest |x - mean| between a half and one."""
    X = np.random.default_rng(1).standard_normal((30, 3)) * scale
    mean = X.mean(axis=0)
    largest = np.abs(np.ldexp(X - mean, -exponent_of(DenseRows(X), mean))).max()
    assert 0.5 <= largest < 1.0


def test_constant_rows_need_no_exponent():
    """Nothing varies, so nothing is scaled."""
    assert exponent_of(DenseRows(np.full((5, 2), 7.0)), np.full(2, 7.0)) == 0


def test_each_column_may_have_an_exponent_of_its_own():
    """Dense, sparse and by columns: the factors go with their columns, and bring each one near one."""
    X = np.random.default_rng(2).standard_normal((11, 4))
    units = np.array([-900, 0, 3, 900])
    exponents = exponent_of(DenseRows(np.ldexp(X, units)), np.zeros(4), each=True)
    np.testing.assert_array_equal(exponents, np.frexp(np.abs(X).max(axis=0))[1] + units)
    for source in (DenseRows(X, block_rows=3), SparseRows(sp.csr_array(X))):
        rows = ScaledRows(source, units).map_rows(
            lambda block: block.rows.toarray() if sp.issparse(block.rows) else block.rows
        )
        np.testing.assert_array_equal(rows, np.ldexp(X, units))
    corner = ScaledRows(DenseRows(X), units).reduce_columns(lambda _, b: b.columns[0, -1], lambda _, b: b)
    assert corner == np.ldexp(X[0, 3], 900)
