"""Sums over CSR rows, some entries at a time."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.sources import sparse
from gramian.sources.sparse import column_sums, pieces_in_float64


def _rows(dtype):
    return sp.csr_array(sp.random(37, 11, 0.3, format="csr", dtype=dtype, random_state=3))


@pytest.mark.parametrize("entries", [1, 7, 1000])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_pieces_are_all_rows_in_order_and_leave_the_entries_alone(monkeypatch, entries, dtype):
    """Each row comes once, in float64, and what is done to a piece is not done to the rows."""
    monkeypatch.setattr(sparse, "PIECE", entries)
    rows = _rows(dtype)
    before, seen = rows.toarray(), []
    for part, piece in pieces_in_float64(rows):
        assert piece.dtype == piece.data.dtype == np.float64
        assert np.array_equal(piece.toarray(), before[part])
        seen += range(part.start, part.stop)
        piece.data *= 2
    assert seen == list(range(37))
    assert np.array_equal(rows.toarray(), before)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shifted", [False, True])
def test_column_sums_are_those_of_the_stored_entries(monkeypatch, weighted, shifted):
    """With weights and about a shift, piece by piece."""
    monkeypatch.setattr(sparse, "PIECE", 10)
    rows, rng = _rows("float32"), np.random.default_rng(1)
    w = rng.uniform(0, 2, 37) if weighted else None
    shift = rng.standard_normal(11) if shifted else np.zeros(11)
    is_stored, each = rows.toarray() != 0, np.ones(37) if w is None else w
    about = np.where(is_stored, rows.toarray().astype(float) - shift, 0.0)
    stored, first, second = column_sums(rows, w, shift)
    np.testing.assert_allclose(stored, each @ is_stored if shifted else np.zeros(11), atol=1e-13)
    np.testing.assert_allclose(first, each @ about, atol=1e-13)
    np.testing.assert_allclose(second, each @ about**2, atol=1e-13)
