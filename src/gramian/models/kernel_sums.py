"""Sums of kernel values between new rows and those of a fit, in pieces of bounded memory, wherever the rows are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.kernels.naming import named_rows
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.sources.rows import Block, ranges

NEW_ROWS, FITTED_ROWS = 512, 2048
"""New rows, and rows of the fit, whose kernel values are held at a time: 8 MB a worker."""


@dataclass(frozen=True, eq=False)
class SumsOfPairs:
    """Fold of pairs: k(x, :) A of a block of new rows, over blocks of the rows of the fit.

    Attributes
    ----------
    placed : PlacedKernel
    joined : numpy array (n, k + 1)
        A, a row for each row of the fit.
    sparse : bool
        Whether the rows of the fit are.
    """

    placed: PlacedKernel
    joined: HostArray
    sparse: bool

    def __call__(self, state: HostArray | None, new: Block, fitted: Block) -> HostArray:
        """Take in one more block of the rows of the fit."""
        state = np.zeros((new.rows.shape[0], self.joined.shape[1])) if state is None else state
        for part in ranges(new.rows.shape[0], NEW_ROWS):
            place = new.start + part.start
            with named_rows(place):
                left = self.placed.prepare(of_kind(new.rows[part], sparse=self.sparse), dtype=FLOAT64)
            for other in ranges(fitted.rows.shape[0], FITTED_ROWS):
                right = self.placed.prepare(fitted.rows[other], dtype=FLOAT64)
                start = fitted.start + other.start
                with named_rows(place, start, ending=" of the fit"):
                    K = to_host(self.placed.kernel.evaluate(left, right))
                state[part] += K @ self.joined[start : start + K.shape[1]]
        return state


@dataclass(frozen=True, eq=False)
class SumsAgainst:
    """Fold of the rows of the fit, against new rows that stay the same."""

    sums: SumsOfPairs
    new: Block

    def __call__(self, state: HostArray | None, fitted: Block) -> HostArray:
        """Take in one more block of the rows of the fit."""
        return self.sums(state, self.new, fitted)


def of_kind(rows: Any, *, sparse: bool) -> Any:
    """Return a piece of new rows sparse or dense, as those are that they are compared with."""
    if hasattr(rows, "indptr") == sparse:
        return rows
    return sp.csr_array(to_host(rows)) if sparse else rows.toarray()
