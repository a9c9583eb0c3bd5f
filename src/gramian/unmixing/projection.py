"""The map from rows to sources, applied to pieces of a block that stay in a core's cache."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, from_host, is_numpy
from gramian.arrays.precision import FLOAT32
from gramian.sources.rows import Block, ranges

PIECE_BYTES = 1 << 19
"""Bytes of sources computed at a time, so that s and psi(s) stay in a core's cache (measured with 1.25 MB). Smaller
pieces are faster alone and slower together: between two calls workers wait for each other's Python."""

LIGHT_COLUMNS = 16
"""Columns up to which a float32 piece is computed so soon that a second worker gains nothing: 1.7 ns a number by one
worker and 2.4 by two at 10 columns, 3.8 and 2.3 at 30."""


@dataclass(frozen=True, eq=False)
class Projection:
    """Rows to  (x - before) A' - after."""

    matrix: HostArray
    before: HostArray | None
    after: HostArray | None
    dtype: np.dtype[Any]

    @property
    def is_light(self) -> bool:
        """Whether a piece takes so little time that one worker is best."""
        return self.dtype == FLOAT32 and self.matrix.shape[1] <= LIGHT_COLUMNS

    @property
    def piece_rows(self) -> int:
        """Rows of a piece."""
        # Few columns mostly mean few numbers, beside which the memory of a piece would weigh.
        piece = PIECE_BYTES // 2 if self.matrix.shape[1] <= LIGHT_COLUMNS else PIECE_BYTES
        return max(64, piece // (len(self.matrix) * self.dtype.itemsize))

    def centered(self, rows: Array) -> Array:
        """Return rows in the precision of the product, less the mean where it is taken off before."""
        if hasattr(rows, "indptr"):
            return rows.astype(self.dtype, copy=False)
        rows = cast(rows, self.dtype)
        return rows if self.before is None else rows - from_host(self.before, like=rows, dtype=self.dtype)

    def times(self, rows: Array, room: HostArray | None = None) -> Array:
        """Return the product for rows that are centered already, in ``room`` (k, b or more) where there is one."""
        if hasattr(rows, "indptr"):
            s = rows @ np.ascontiguousarray(self.matrix.T)
        elif room is None:
            # The sources of a piece lie one after another: what follows runs over consecutive numbers.
            s = (from_host(self.matrix, like=rows) @ rows.T).T
        else:
            s = np.matmul(self.matrix, rows.T, out=room[:, : len(rows)]).T
        if self.after is not None:
            s -= from_host(self.after, like=s, dtype=self.dtype)
        return s

    def __call__(self, rows: Array) -> Array:
        """Return the sources of rows, (b, d) to (b, k)."""
        return self.times(self.centered(rows))


def pieces(block: Block, project: Projection) -> Iterator[tuple[Array, Array | None]]:
    """Cut a block of host rows, and its weights, into pieces; other rows stay whole."""
    step = project.piece_rows
    if not is_numpy(block.rows) or block.rows.shape[0] <= step:
        yield block.rows, block.weights
        return
    for part in ranges(block.rows.shape[0], step):
        yield block.rows[part], None if block.weights is None else block.weights[part]


def roomy(room: HostArray | None, rows: Array, project: Projection, count: int) -> HostArray | None:
    """Return memory for ``count`` arrays of a piece, used again for every piece: fresh memory costs page faults."""
    if not is_numpy(rows) or (room is not None and room.shape[2] >= len(rows)):
        return room
    return np.empty((count, len(project.matrix), len(rows)), dtype=project.dtype)
