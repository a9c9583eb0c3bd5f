"""The rank of sparse weighted rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA


@pytest.mark.parametrize("seed", range(30))
def test_the_rank_of_weighted_sparse_rows_is_that_of_the_rows_that_count(seed):
    """Rows of weight zero count nothing and repeated ones once: what rounding leaves of further directions is none."""
    rng = np.random.default_rng(seed)
    X, weights = rng.random((15, 30)), rng.integers(0, 5, 15)
    rank = np.count_nonzero(weights) - 1
    for rows, counts in ((X, weights.astype(float)), (np.repeat(X, weights, axis=0), None)):
        whitened = PCA(whiten=True).fit(sp.csr_array(rows), sample_weight=counts).transform(X)
        # Null directions score zero.
        assert np.count_nonzero(whitened.any(axis=0)) == rank
