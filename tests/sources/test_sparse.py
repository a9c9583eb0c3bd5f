"""Sparse rows: views, not copies."""

import numpy as np
import scipy.sparse as sp

from gramian.sources.sparse import SparseRows, transposed


def test_a_transposed_block_shares_its_entries_and_is_the_transpose():
    """A product with it copies nothing, whichever piece of the rows it is."""
    X = sp.random(40, 30, 0.2, format="csr", random_state=0)
    source = SparseRows(sp.csr_array(X), n_blocks=3)
    for i in range(source.n_blocks):
        block = source.block(i)
        turned = transposed(block.rows)
        assert np.shares_memory(turned.data, source.matrix.data)
        assert np.shares_memory(turned.indices, source.matrix.indices)
        assert np.array_equal(turned.toarray(), block.rows.toarray().T)
