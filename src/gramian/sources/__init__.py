"""Rows that can be read again and again, one block at a time, wherever they live."""

from gramian.sources.dense import DenseRows
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.opening import as_source
from gramian.sources.rows import Block, RowSource
from gramian.sources.sparse import SparseRows

__all__ = ["Block", "DenseRows", "Moments", "RowSource", "SparseRows", "as_source", "measure_moments"]
