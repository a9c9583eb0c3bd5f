"""What is asked of an ICA, the model that a fit leaves, and the line of code that fits it again."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, dtype_of, is_sparse, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import ConvergenceWarning
from gramian.operators.standardization import Standardization
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
    progress : callable or None
        Called with a sentence before each stage of the work.
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
    progress: Callable[[str], None] | None = None


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
    weight : float or None
        Sum of the weights of the rows; ``None`` where they have none.
    """

    kind: ClassVar[str] = "ica"
    prefix: ClassVar[str] = "IC"
    is_scaled: ClassVar[bool] = False
    column_deviations: ClassVar[None] = None
    certificate: ClassVar[None] = None
    source: ClassVar[None] = None
    scores: ClassVar[None] = None

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
    weight: float | None = None

    @property
    def n_components(self) -> int:
        """Number of sources."""
        return len(self.components)

    @property
    def shares(self) -> HostArray:
        """Share of each source in the variance that all of them explain (k,)."""
        variances = to_host(self.variances).astype(FLOAT64)
        total = float(variances.sum())
        return variances / total if total > 0 else variances

    @property
    def is_centered(self) -> bool:
        """Whether rows were centered."""
        return self.mean is not None

    @property
    def directions(self) -> HostArray:
        """Unit vectors along which each source moves the columns (k, d), the mixing at unit length."""
        lengths = np.linalg.norm(self.loadings, axis=0)
        return (self.loadings / np.where(lengths > 0, lengths, 1.0)).T

    @property
    def loadings(self) -> HostArray:
        """Covariances of the columns with the sources, which have unit variance (d, k), the mixing."""
        return to_host(self.mixing).astype(FLOAT64)

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
        """Return rows without some sources,  x - s_i mixing_i'  (n, d): one pass, 4 n d operations per source.

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
    rows = block.rows.toarray() if is_sparse(block.rows) else block.rows
    with np.errstate(invalid="ignore", over="ignore"):
        return cast(rows, dtype_of(model.components)) - _project(part, block) @ model.mixing[:, sources].T


DEFAULTS = {"ICA": ICAOptions(), "FastICA": replace(ICAOptions(), algorithm="parallel", tol=1e-4, independence=False)}
"""What each class asks for by default."""


def ica_code(model: ICAModel, name: str) -> str:
    """Return the line that fits this model again by the class of this name: whatever differs from its defaults.

    A start, or a contrast that has no name, cannot be written in a line: they stand there as names of the reader's own,
    with a comment.
    """
    asked, usual = model.options, DEFAULTS[name]
    count: dict[str, Any] = {"n_components": len(model.components)} if asked.whiten else {}
    always = {"algorithm": asked.algorithm, "random_state": asked.seed}
    differing = {
        field: getattr(asked, field)
        for field in ("tol", "max_iter", "runs", "independence", "memory_budget")
        if getattr(asked, field) != getattr(usual, field)
    }
    words = {key: repr(value) for key, value in (count | always | _whiten(model) | differing).items()}
    contrast = asked.contrast
    if contrast.name != usual.contrast.name:
        words["fun"] = repr(contrast.name) if contrast.name else "fun"
    if contrast.fun_args:
        words["fun_args"] = repr(contrast.fun_args)
    words |= {} if asked.start is None else {"w_init": "w_init"}
    # What only the reader has, by the parameter that takes it.
    theirs = {"fun": "fun: the function or Contrast of this fit", "w_init": "w_init: the start of this fit"}
    own = [said for key, said in theirs.items() if words.get(key) == key]
    comment = f"  # {'; '.join(own)}" if own else ""
    return f"model = {name}({', '.join(f'{key}={value}' for key, value in words.items())}).fit(X){comment}"


def _whiten(model: ICAModel) -> dict[str, Any]:
    if not model.options.whiten:
        return {"whiten": False}
    # Sources of variance 1/n have a mixing matrix sqrt(n) times that of unit variance; what they explain is the same.
    mixing, variances = to_host(model.mixing).astype(np.float64), to_host(model.variances).astype(np.float64)
    deviations = np.sqrt(variances[0]), float(np.linalg.norm(mixing[:, 0]))
    return {"whiten": "arbitrary-variance"} if deviations[1] > model.n_rows**0.25 * deviations[0] else {}
