import numpy as np
import pytest

from gramian.arrays.namespace import to_host


@pytest.fixture
def read():
    """Read every row of a source, as one dense NumPy array."""

    def read_rows(source):
        blocks = [source.block(i).rows for i in range(source.n_blocks)]
        return np.vstack([rows.toarray() if source.is_sparse else to_host(rows) for rows in blocks])

    return read_rows


@pytest.fixture(name="X")
def whole_numbers():
    """Twelve rows of five whole numbers from 0 to 99, that every type can hold."""
    return np.random.default_rng(0).integers(0, 100, size=(12, 5)).astype(np.float64)
