"""What is asked of an ICA, and the model that a fit leaves."""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, to_host
from gramian.errors import ConvergenceWarning
from gramian.operators.centering import Standardization
from gramian.sources.rows import Block, RowSource
from gramian.unmixing.contrast import Contrast, LogCosh
from gramian.unmixing.independence import Independence


@dataclass(frozen=True)
class ICAOptions:
    """What is asked of an ICA.

    Attributes
    ----------
    n_components : int or None
        ``None`` for as many sources as the rows have directions.
    algorithm : str
        "picard", "parallel", "deflation" or "infomax".
    contrast : Contrast
    whiten : bool
        With ``False`` the rows are taken as white and centered already.
    tol : float
        Gradient norm at which the algorithm stops.
    max_iter : int
    start : numpy array (k, k) or None
        First unmixing matrix of the white rows; drawn when ``None``.
    seed : int
    runs : int
        Runs by which stability is measured; 1 for none.
    independence : bool or "all"
        Whether independence is measured, on a sample of the rows where they are many, or on all of them.
    memory_budget : int or None
        Bytes beyond the rows that the whitening, and then a copy of the white rows, may use.
    name : str
        What warnings call this fit.
    warning : type
        Category of the warning of a fit that has not converged.
    """

    n_components: int | None = None
    algorithm: str = "picard"
    contrast: Contrast = field(default_factory=LogCosh)
    whiten: bool = True
    tol: float = 1e-6
    max_iter: int = 200
    start: HostArray | None = None
    seed: int = 0
    runs: int = 1
    independence: bool | Literal["all"] = True
    memory_budget: int | None = None
    name: str = "ICA"
    warning: type[Warning] = ConvergenceWarning


@dataclass(frozen=True, eq=False)
class ICAModel:
    """Independent sources of a table; arrays have the type, library and device of its rows.

    Attributes
    ----------
    components : array (k, d)
        Sources are  (x - mean) components',  of unit variance, those that explain most variance first.
    mixing : array (d, k)
        What each source adds to the columns; the largest entry of each column is positive.
    mean : array (d,) or None
    whitening : array (k, d) or None
        K, with  components = unmixing K.
    unmixing : array (k, k)
    variances : array (k,)
        Variance that each source explains, over all columns.
    n_rows, n_columns : int
    gradient_norm : float
        Largest entry of the relative gradient of the algorithm's objective at the W that it found: for infomax before
        sources are brought to unit variance.
    n_iter : int
    converged : bool
    independence : Independence or None
    stability : numpy array (k,) or None
        Index of each source over several runs.
    options : ICAOptions
    converged_runs : int or None
        Runs, of those that stability was measured by, that converged.
    """

    components: Array
    mixing: Array
    mean: Array | None
    whitening: Array | None
    unmixing: Array
    variances: Array
    n_rows: int
    n_columns: int
    gradient_norm: float
    n_iter: int
    converged: bool
    independence: Independence | None
    stability: HostArray | None
    options: ICAOptions
    converged_runs: int | None = None

    def project(self, rows: RowSource | Array) -> Array:
        """Return the sources  (x - mean) components'  of rows (n, k): one pass, 2 n d k operations."""
        return _mapped(partial(_project, self), rows)

    def reconstruct(self, sources: Array) -> Array:
        """Return the rows  s mixing' + mean  that sources stand for (n, d)."""
        rows = sources @ self.mixing.T
        if self.mean is not None:
            rows += self.mean
        return rows

    def remove(self, rows: RowSource | Array, sources: list[int]) -> Array:
        """Return rows without some sources,  x - s_i mixing_i'  (n, d): one pass, 4 n d operations a source.

        What lies outside the space of all sources stays as it is.
        """
        return _mapped(partial(_remove, self, sources), rows)


def _mapped(local: Any, rows: RowSource | Array) -> Array:
    return rows.map_rows(local) if isinstance(rows, RowSource) else local(Block(rows, 0, None))


def _project(model: ICAModel, block: Block) -> Array:
    d = model.n_columns
    mean = np.zeros(d) if model.mean is None else to_host(model.mean)
    standardization = Standardization(mean, None, model.mean is not None)
    with np.errstate(invalid="ignore", over="ignore"):
        return standardization.times(block._replace(weights=None), model.components.T)


def _remove(model: ICAModel, sources: list[int], block: Block) -> Array:
    part = replace(model, components=model.components[sources, :])
    rows = block.rows.toarray() if hasattr(block.rows, "indptr") else block.rows
    with np.errstate(invalid="ignore", over="ignore"):
        return cast(rows, dtype_of(model.components)) - _project(part, block) @ model.mixing[:, sources].T
