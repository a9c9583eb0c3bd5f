"""The contract of a row source, as tests that any source can be put through."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gramian.arrays.namespace import is_sparse, to_host
from gramian.errors import NotSupportedError
from gramian.sources.rows import Block, ColumnBlock, RowSource

Array = npt.NDArray[Any]

__all__ = ["RowSourceSuite"]


def as_dense(rows: Any) -> Array:
    """Rows of a block, of any library or sparse, as a dense NumPy array in float64."""
    dense = rows.toarray() if is_sparse(rows) else to_host(rows)
    return np.asarray(dense, dtype=np.float64)


def _sum_fold(state: Any, block: Block) -> Any:
    total = as_dense(block.rows).sum(axis=0)
    return total if state is None else state + total


def _list_fold(state: Any, item: Any) -> Any:
    return [*(state or []), item]


def _pair_fold(state: Any, left: Block, right: Block) -> Any:
    return [*(state or []), (left.start, right.start, as_dense(left.rows) @ as_dense(right.rows).T)]


def _weight_fold(state: Any, left: Block, right: Block) -> Any:
    return (state or 0.0) + float(to_host(left.weights).sum()) * float(to_host(right.weights).sum())


def _add(left: Any, right: Any) -> Any:
    return left + right


class RowSourceSuite:
    """Tests that every row source must pass.

    Subclass it with a name that starts with ``Test`` and give it :meth:`make_source`; pytest does the rest.
    ``dtype`` may be overridden where a source holds one type only, and ``shapes`` where it cannot hold all.

    Examples
    --------
    >>> from gramian.sources.dense import DenseRows
    >>> class TestDenseRows(RowSourceSuite):
    ...     def make_source(self, X, weights=None):
    ...         return DenseRows(X, weights=weights, block_rows=3)
    >>> TestDenseRows().test_blocks_tile_the_rows_in_order()
    """

    dtype: str = "float64"
    shapes: tuple[tuple[int, int], ...] = ((7, 3), (1, 4), (5, 1), (4, 9), (64, 6))

    def make_source(self, X: Array, weights: Array | None = None) -> RowSource:
        """Return a source over the rows of X; small blocks make the better test."""
        raise NotImplementedError

    def _rows(self, n: int, d: int) -> Array:
        X = np.random.default_rng(n + 100 * d).standard_normal((n, d))
        X[np.abs(X) < 0.3] = 0.0
        return X.astype(self.dtype)

    def _each(self) -> list[tuple[Array, RowSource]]:
        return [(X, self.make_source(X)) for X in (self._rows(n, d) for n, d in self.shapes)]

    def test_shape_type_and_library_are_declared(self) -> None:
        """A source says its shape and type without a pass, and its small array has the blocks' library."""
        for X, source in self._each():
            assert (source.n_rows, source.n_columns) == X.shape
            assert source.dtype == X.dtype
            assert 0 <= source.n_entries <= X.size
            assert source.weights is None
            assert source.column_names is None or len(source.column_names) == source.n_columns
            assert source.is_sparse == is_sparse(source.block(0).rows)
            assert source.is_sparse or type(source.like()) is type(source.block(0).rows)
            assert source.whole is None or tuple(source.whole.shape) == X.shape
            assert source.pass_bytes > 0

    def test_blocks_tile_the_rows_in_order(self) -> None:
        """The blocks, stacked, are the rows, and each says where it starts."""
        for X, source in self._each():
            blocks = [source.block(i) for i in range(source.n_blocks)]
            sizes = [b.rows.shape[0] for b in blocks]
            assert [b.start for b in blocks] == np.cumsum([0, *sizes[:-1]]).tolist()
            np.testing.assert_array_equal(np.vstack([as_dense(b.rows) for b in blocks]), X)

    def test_rows_can_be_read_again(self) -> None:
        """A second reading of a block gives the same numbers."""
        for _, source in self._each():
            for i in range(source.n_blocks):
                np.testing.assert_array_equal(as_dense(source.block(i).rows), as_dense(source.block(i).rows))

    def test_reduce_sees_every_row_once(self) -> None:
        """Summing the rows by ``reduce`` gives the column sums."""
        for X, source in self._each():
            total = source.reduce(_sum_fold, _add)
            np.testing.assert_allclose(total, X.astype(np.float64).sum(axis=0), rtol=1e-12, atol=1e-12)

    def test_reduce_keeps_the_order_of_the_blocks(self) -> None:
        """Blocks are folded and merged from first to last, whatever the size of the running value."""
        for X, source in self._each():
            for state_bytes in (0, 1 << 22, 1 << 30):
                parts = source.reduce(lambda s, b: _list_fold(s, as_dense(b.rows)), _add, state_bytes=state_bytes)
                np.testing.assert_array_equal(np.vstack(parts), X)

    def test_reduce_is_reproducible(self) -> None:
        """Two reductions of the same rows agree to the last bit."""
        for _, source in self._each():
            np.testing.assert_array_equal(source.reduce(_sum_fold, _add), source.reduce(_sum_fold, _add))

    def test_map_rows_stacks_in_order(self) -> None:
        """``map_rows`` returns one row out for each row in, in their order."""
        for X, source in self._each():
            doubled = as_dense(source.map_rows(lambda b: 2 * _keep_dense(b.rows)))
            np.testing.assert_array_equal(doubled, 2 * X.astype(np.float64))

    def test_column_blocks_tile_the_columns(self) -> None:
        """Where columns are cheap, blocks of them cover each column once, with all rows; elsewhere they are refused."""
        for X, source in self._each():
            if source.has_columns:
                parts: list[ColumnBlock] = source.reduce_columns(_list_fold, _add)
                parts = sorted(parts, key=lambda part: part.start)
                np.testing.assert_array_equal(np.hstack([as_dense(part.columns) for part in parts]), X)
            else:
                assert _refuses_columns(source), f"{type(source).__name__} has no columns, and gave blocks of them"

    def test_pairs_give_the_gram_matrix(self) -> None:
        """All pairs of blocks fill X X'; with ``symmetric``, each pair comes once and half of them fill it."""
        for X, source in self._each():
            truth = X.astype(np.float64) @ X.T.astype(np.float64)
            for symmetric in (False, True):
                tiles = source.reduce_pairs(_pair_fold, _add, symmetric=symmetric)
                assert len(tiles) == _pair_count(source.n_blocks, symmetric)
                np.testing.assert_allclose(_assemble(tiles, truth.shape, symmetric), truth, rtol=1e-12, atol=1e-12)

    def test_pairs_come_in_tiles_of_the_size_asked_for(self) -> None:
        """With ``block_rows`` no block of a pair is larger, and the pairs fill X X' all the same, weights with them."""
        for n, d in self.shapes:
            X, weights = self._rows(n, d), np.arange(1.0, n + 1.0)
            source = self.make_source(X, weights)
            truth = X.astype(np.float64) @ X.T.astype(np.float64)
            for block_rows, symmetric in ((1, True), (2, False), (4, True), (1000, False)):
                tiles = source.reduce_pairs(_pair_fold, _add, symmetric=symmetric, block_rows=block_rows)
                assert max(max(tile.shape) for _, _, tile in tiles) <= block_rows
                np.testing.assert_allclose(_assemble(tiles, truth.shape, symmetric), truth, rtol=1e-12, atol=1e-12)
            whole = source.reduce_pairs(_weight_fold, _add, symmetric=False, block_rows=3)
            np.testing.assert_allclose(whole, weights.sum() ** 2)

    def test_weights_travel_with_their_rows(self) -> None:
        """Each block carries the weights of its own rows."""
        for n, d in self.shapes:
            weights = np.arange(1.0, n + 1.0)
            source = self.make_source(self._rows(n, d), weights)
            blocks = [source.block(i) for i in range(source.n_blocks)]
            stacked = [to_host(b.weights) for b in blocks if b.weights is not None]
            np.testing.assert_array_equal(np.concatenate(stacked), weights)


def _keep_dense(rows: Any) -> Any:
    return rows.toarray() if is_sparse(rows) else rows


def _refuses_columns(source: RowSource) -> bool:
    try:
        source.reduce_columns(_list_fold, _add)
    except NotSupportedError:
        return True
    return False


def _pair_count(blocks: int, symmetric: bool) -> int:  # noqa: FBT001
    return blocks * (blocks + 1) // 2 if symmetric else blocks**2


def _assemble(tiles: list[tuple[int, int, Array]], shape: tuple[int, int], symmetric: bool) -> Array:  # noqa: FBT001
    G = np.zeros(shape)
    for i, j, tile in tiles:
        G[i : i + tile.shape[0], j : j + tile.shape[1]] = tile
        if symmetric:
            G[j : j + tile.shape[1], i : i + tile.shape[0]] = tile.T
    return G
