"""White rows held in memory: one of each run of m, or all, one source after another."""

from dataclasses import dataclass
from operator import concat
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, device_of, is_numpy, namespace_of, to_host
from gramian.sources.dense import DenseRows
from gramian.sources.rows import Block, RowSource, ranges
from gramian.sources.sparse import SparseRows
from gramian.unmixing.projection import Projection, pieces, roomy
from gramian.unmixing.thinning import first_place, thinned

FEW_NUMBERS, BLOCK_SHARE, LEAST_BLOCK = 2_000_000, 32, 1 << 17
"""Numbers up to which rows are cut into blocks of one part in 32, and the bytes that a block has in any case: a worker
has two or three arrays as large as a block, which must weigh little beside rows that are few."""


def small_blocks(source: RowSource) -> RowSource:
    """Return few rows in memory as blocks of one part in 32 of them at most; other sources as they are.

    Examples
    --------
    >>> rows = DenseRows(np.zeros((64_000, 8)))
    >>> rows.n_blocks, small_blocks(rows).n_blocks
    (4, 32)
    """
    if type(source) is not DenseRows or not is_numpy(source.array) or source.n_entries > FEW_NUMBERS:
        return source
    most = max(LEAST_BLOCK, source.array.nbytes // BLOCK_SHARE) // (source.n_columns * source.dtype.itemsize)
    if source.block_rows <= most:
        return source
    names, weights = source.column_names, source.weights
    return DenseRows(source.array, weights=weights, column_names=names, block_rows=max(1, most))


def hold(source: RowSource, project: Projection, step: int, dtype: np.dtype[Any]) -> RowSource:
    """Project one row in each run of ``step`` (see :func:`thinned`) and hold what comes out: one pass."""
    return small_blocks((_filled if _is_here(source) else _gathered)(source, project, step, dtype))


def _is_here(source: RowSource) -> bool:
    """Tell whether the workers of a source can write into one array of this process."""
    return isinstance(source, SparseRows) or (isinstance(source, DenseRows) and is_numpy(source.array))


def _filled(source: RowSource, project: Projection, step: int, dtype: np.dtype[Any]) -> DenseRows:
    """Project one row in each run of ``step`` of a source in memory, without a second copy of what is taken."""
    # One source after another in memory: products and sums over rows then run over consecutive numbers.
    out = np.empty((len(project.matrix), -(-source.n_rows // step)), dtype=dtype)
    if step > 1 and isinstance(source, DenseRows):
        _pick(source.array, thinned(source.n_rows, step), project, out)
    else:
        source.reduce(_Fill(project, source.n_rows, step, out), _first)
    return DenseRows(out.T, weights=None if source.weights is None else source.weights[thinned(source.n_rows, step)])


def _pick(array: Array, taken: Any, project: Projection, out: HostArray) -> None:
    """Project some rows, a piece at a time: workers would spend more time on waiting for each other's Python."""
    room = None
    for part in ranges(len(taken), project.piece_rows):
        rows = array[taken[part]]
        room = roomy(room, rows, project, 1)
        out[:, part] = project.times(project.centered(rows), None if room is None else room[0]).T


@dataclass(frozen=True, eq=False)
class _Fill:
    """Write the rows of a block that a sample takes, projected, a piece at a time, into its place of ``out`` (k, n)."""

    project: Projection
    n_rows: int
    step: int
    out: HostArray

    def __call__(self, room: HostArray | None, block: Block) -> HostArray | None:
        stop = block.start + block.rows.shape[0]
        taken = thinned(self.n_rows, self.step, start=block.start, stop=stop)
        sample = block.rows[taken]
        if not sample.shape[0]:
            return room
        place = first_place(self.step, block.start, taken)
        for rows, _ in pieces(Block(sample, 0, None), self.project):
            room = roomy(room, rows, self.project, 1)
            s = self.project.times(self.project.centered(rows), None if room is None else room[0])
            self.out[:, place : place + s.shape[0]] = s.T
            place += s.shape[0]
        return room


def _first(left: Any, _right: Any) -> Any:
    return left


def _gathered(source: RowSource, project: Projection, step: int, dtype: np.dtype[Any]) -> DenseRows:
    """Project one row in each run of ``step`` of a source of any kind."""
    parts = source.reduce(_Gather(project, source.n_rows, step, dtype), concat)
    columns = namespace_of(parts[0][0]).concat([rows.T for rows, _ in parts], axis=1)
    weights = None if parts[0][1] is None else np.concatenate([to_host(w) for _, w in parts])
    return DenseRows(columns.T, weights=weights)


@dataclass(frozen=True, eq=False)
class _Gather:
    project: Projection
    n_rows: int
    step: int
    dtype: np.dtype[Any]

    def __call__(self, state: list[tuple[Array, Any]] | None, block: Block) -> list[tuple[Array, Any]]:
        taken = thinned(self.n_rows, self.step, start=block.start, stop=block.start + block.rows.shape[0])
        rows = _taken(block.rows, taken)
        weights = None if block.weights is None else _taken(block.weights, taken)
        found = [(cast(self.project(rows), self.dtype), weights)] if rows.shape[0] else []
        return (state or []) + found


def _taken(array: Array, taken: slice | HostArray) -> Array:
    if isinstance(taken, slice) or is_numpy(array) or hasattr(array, "indptr"):
        return array[taken]
    xp = namespace_of(array)
    return xp.take(array, xp.asarray(taken, **device_of(array)), axis=0)
