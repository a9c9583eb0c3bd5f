"""What is known about a table besides its spectrum: gathered once, used by every rule that needs more.

``Facts`` holds the spectrum, the column variances and the source. Components and rows are read from it only as far as a
rule goes: ``LeadingComponents`` are solved for sixteen at a time, and a ``RowSample`` is a bounded part of the centered
rows, drawn in one pass.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from operator import add
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, from_host, is_numpy, is_sparse, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.choosing.spectrum import MeasuredSpectrum, Values, read_spectrum
from gramian.errors import ParameterError
from gramian.sources.moments import measure_moments
from gramian.sources.rows import Block, RowSource, ranges

AT_A_TIME = 16
"""Components that are solved for, or multiplied by, at a time."""


class LeadingComponents:
    """The rows of an array (k, d) of components, found a few at a time from the first on.

    A rule needs a few more components than it keeps. In a wide table all of them are as large as the table, each being
    a row of d numbers. They are kept in float32: rules add up their squares.

    Cost: a call of ``found`` for 16 of them.

    Parameters
    ----------
    found : callable
        Returns the components of a slice as rows.
    shape : tuple of int
        (k, d).

    Examples
    --------
    >>> import numpy as np
    >>> asked = []
    >>> rows = LeadingComponents(lambda some: (asked.append(some), np.eye(100)[some])[1], (100, 100))
    >>> len(rows), rows[3][3], rows[:20].shape, asked
    (100, np.float32(1.0), (20, 100), [slice(0, 16, None), slice(16, 32, None)])
    """

    def __init__(self, found: Callable[[slice], Values], shape: tuple[int, int]) -> None:
        self.shape = shape
        self._found = found
        # Room for all takes no memory before it is written to.
        self._rows = np.empty(shape, np.float32)
        self._known = 0

    @property
    def known(self) -> int:
        """How many have been found."""
        return self._known

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: int | slice) -> Any:
        last = index.indices(len(self))[1] if isinstance(index, slice) else index + 1
        while (known := self._known) < min(last, len(self)):
            more = slice(known, min(known + AT_A_TIME, len(self)))
            self._rows[more] = self._found(more)
            self._known = more.stop
        return self._rows[index]


def as_components(components: Any | None) -> Values | LeadingComponents | None:
    """Return given components as an array of float64, those that are yet to be found as they are."""
    if components is None or isinstance(components, LeadingComponents):
        return components
    return np.asarray(components, dtype=np.float64)


MAX_ENTRIES = 6_000_000
"""Numbers in a sample: 24 MB in float32. 10,000 x 500 is taken whole."""

MAX_SIDE = 600
"""Length of the shorter side: products and eigenvalues of that size take hundredths of a second."""


@dataclass(frozen=True, eq=False)
class RowSample:
    """Some rows and columns of the centered table, in float32 and in a unit of their own.

    Attributes
    ----------
    rows : array (a, c)
        Centered, scaled, times the square root of the weights, divided by the largest entry; in the library and on the
        device of the source's.
    scores : numpy array (a, k)
        The same rows (all columns) times the components, in the same unit.
    loadings : numpy array (k, c)
        The components at the sampled columns.
    row_share, column_share : float
        a / n and c / d, n and d being the sides of the table that the components belong to.
    """

    rows: Array
    scores: HostArray
    loadings: HostArray
    row_share: float
    column_share: float

    def residual(self, k: int) -> Array:
        """Return a copy of the rows without their first ``k`` components, noise level restored.

        Computes  (X - Y_k V_k) / sqrt((1 - h_i)(1 - g_j))  with the leverages h of the rows and g of the
        columns: a component takes noise with it from where it lives, and the division gives it back.
        """
        scores, loadings = self.scores[:, :k], self.loadings[:k]
        energy = np.maximum(np.einsum("ik,ik->k", scores, scores), np.finfo(np.float32).tiny)
        row_leverage = np.einsum("ik,ik->i", scores, scores / energy) * self.row_share
        column_leverage = np.einsum("kj,kj->j", loadings, loadings)
        residual = from_host(scores, like=self.rows) @ from_host(loadings, like=self.rows)
        residual -= self.rows
        residual /= from_host(-np.sqrt(np.maximum(1.0 - row_leverage, 0.05)), like=self.rows)[:, None]
        residual /= from_host(np.sqrt(np.maximum(1.0 - column_leverage, 0.05)), like=self.rows)
        squares = column_squares(residual)
        # What rounding leaves in constant columns would multiply to subnormal numbers, twenty times slower.
        null = np.flatnonzero(squares <= 1e-14 * squares.max(initial=0.0))
        residual[:, from_host(null, like=self.rows)] = 0.0
        return residual

    def by_size(self) -> "RowSample":
        """Return the same with its rows in the order of their size, so that what is drawn hangs on no other order."""
        order = by_size(self.rows, 1)
        return replace(self, rows=self.rows[from_host(order, like=self.rows), :], scores=self.scores[order])

    def with_own_components(self) -> "RowSample":
        """Return the same rows with the components of the sample, which is then a table of its own.

        Cost: one product and one eigenproblem of the shorter side, 600 at most.
        """
        rows = to_host(self.rows)
        tall = rows.shape[0] >= rows.shape[1]
        gram = (rows.T @ rows if tall else rows @ rows.T).astype(np.float64)
        values, vectors = np.linalg.eigh(gram)
        kept = np.flatnonzero(values > len(values) * np.finfo(np.float32).eps * max(values[-1], 0.0))[::-1]
        U = vectors[:, kept].astype(np.float32)
        loadings = U.T if tall else (rows.T @ (U / np.sqrt(values[kept]).astype(np.float32))).T
        scores = rows @ loadings.T
        return replace(self, scores=scores, loadings=loadings, row_share=1.0, column_share=1.0)


AT_ONCE = 1 << 20
"""Numbers of a sample that are worked on at once where a copy is made of them: 4 MB."""


def by_size(rows: Array, axis: int) -> HostArray:
    """Return the order of rows (axis 1), or columns (axis 0), by the sum of their cubes, largest first.

    Not by that of their squares, which is one for all scaled columns.
    """
    xp, some = namespace_of(rows), ranges(len(rows), max(1, AT_ONCE // rows.shape[1]))
    parts = [to_host(xp.sum(xp.abs(rows[part, :]) ** 3, axis=axis)) for part in some]
    cubes = np.concatenate(parts) if axis else np.sum(parts, axis=0)
    return np.argsort(-np.round(cubes / (cubes.max(initial=0.0) or 1.0), 6), kind="stable")


def column_squares(rows: Array) -> HostArray:
    """Return the sum of squares of each column, in float64."""
    if is_numpy(rows):
        return np.asarray(np.einsum("ij,ij->j", rows, rows, dtype=np.float64))
    xp = namespace_of(rows)
    return to_host(xp.sum(rows * rows, axis=0, dtype=xp.float64))


def sample_shape(n: int, d: int) -> tuple[int, int]:
    """Return how many rows and columns are sampled: the proportions of the table are kept where possible.

    Examples
    --------
    >>> sample_shape(10_000, 500), sample_shape(4_000, 8_000), sample_shape(1_000_000, 100)
    ((10000, 500), (600, 1200), (60000, 100))
    """
    short, long = min(n, d), max(n, d)
    side = min(short, MAX_SIDE)
    other = max(1, min(round(long * side / short), MAX_ENTRIES // side))
    return (side, other) if n <= d else (other, side)


def sample_bytes(n: int, d: int) -> int:
    """Return the most memory that rules take for a sample of n x d rows: it, a copy, and what is at hand.

    Examples
    --------
    >>> sample_bytes(10_000, 500) / 1e6
    78.0
    """
    a, c = sample_shape(n, d)
    drawn = sum(8 * min(side, 50 * part) for side, part in ((n, a), (d, c)) if part < side)
    return 2 * 4 * a * c + drawn + 38_000_000


def draw_sample(
    source: RowSource,
    *,
    mean: Values,
    factor: Values | None = None,
    components: Any | None = None,
    seed: int = 0,
) -> RowSample:
    """Draw rows and columns at random, without replacement, in one pass over the source.

    Cost: one pass; 24 MB and the scores; d numbers per sampled row while they are gathered.
    """
    n, d = source.n_rows, source.n_columns
    a, c = sample_shape(n, d)
    rng = np.random.default_rng(seed)
    rows = np.arange(n) if a == n else np.sort(rng.choice(n, a, replace=False))
    columns = np.arange(d) if c == d else np.sort(rng.choice(d, c, replace=False))
    V = np.zeros((0, d)) if components is None else np.asarray(components)
    pieces = source.reduce(_Gather(rows, columns, mean, factor, V), add)
    unit = max(piece.unit for piece in pieces) or 1.0
    pieces = [piece.in_unit(unit) for piece in pieces]
    return RowSample(
        namespace_of(pieces[0].rows).concat([piece.rows for piece in pieces], axis=0),
        np.concatenate([piece.scores for piece in pieces]),
        V[:, columns].astype(FLOAT32, copy=False),
        a / n,
        c / d,
    )


class _Piece(NamedTuple):
    """Sampled rows of one block and their scores, divided by ``unit``: float32 has a short range."""

    rows: Array
    scores: HostArray
    unit: float

    def in_unit(self, unit: float) -> "_Piece":
        """Divide by another unit instead, in place."""
        rows, scores, factor = self.rows, self.scores, np.float32(self.unit / unit)
        rows *= factor
        scores *= factor
        return _Piece(rows, scores, unit)


@dataclass(frozen=True, eq=False)
class _Gather:
    """Fold: append the sampled part of a block, centered, and its scores."""

    rows: HostArray
    columns: HostArray
    mean: Values
    factor: Values | None
    components: HostArray

    def __call__(self, state: list[_Piece] | None, block: Block) -> list[_Piece]:
        state = [] if state is None else state
        low, high = np.searchsorted(self.rows, [block.start, block.start + block.rows.shape[0]])
        chosen = self.rows[low:high] - block.start
        part, scores = self._centered(block.rows, chosen)
        if block.weights is not None:
            root = np.sqrt(to_host(block.weights)[chosen])[:, None]
            part, scores = part * from_host(root, like=part), scores * root
        unit = float(namespace_of(part).abs(part).max()) if len(chosen) else 0.0
        if unit > 0.0:
            part, scores = part / unit, scores / unit
        state.append(_Piece(cast(part, FLOAT32), scores.astype(FLOAT32), unit))
        return state

    def _centered(self, rows: Any, chosen: HostArray) -> tuple[Array, HostArray]:
        """Return the sampled part of a block in its own library, sparse rows made dense, and its scores."""
        columns = self.columns
        factor = np.ones(len(self.mean)) if self.factor is None else self.factor
        if is_sparse(rows):
            picked = rows[chosen]
            scores = self._by_components(len(chosen), lambda V: picked @ (V * factor).T - (V * factor) @ self.mean)
            return (picked[:, columns].toarray() - self.mean[columns]) * factor[columns], scores
        centered = cast(_take(rows, chosen, axis=0), FLOAT64) - from_host(self.mean, like=rows)
        centered *= from_host(factor, like=rows)
        scores = self._by_components(len(chosen), lambda V: to_host(centered @ from_host(V.T, like=rows)))
        return _take(centered, columns, axis=1), scores

    def _by_components(self, n: int, scores_of: Callable[[HostArray], HostArray]) -> HostArray:
        """Return the scores of ``n`` rows, some components at a time: a float64 copy of all would be a table."""
        scores = np.empty((n, len(self.components)))
        for some in ranges(len(self.components), AT_A_TIME):
            scores[:, some] = scores_of(self.components[some].astype(FLOAT64))
        return scores


def _take(rows: Array, chosen: HostArray, *, axis: int) -> Array:
    return namespace_of(rows).take(rows, from_host(chosen, like=rows), axis=axis)


@dataclass(frozen=True, eq=False)
class Facts:
    """A measured spectrum with whatever else is known.

    Attributes
    ----------
    spectrum : MeasuredSpectrum
    source : RowSource or None
        The rows, where a rule may read them.
    column_variances : numpy array (d,) or None
        After scaling, in any unit.
    components : numpy array (k, d), LeadingComponents or None
        Leading components, as rows.
    mean, factor : numpy array (d,) or None
        What rows are centered by, and multiplied by after that.
    seed : int
    drawn : list of RowSample
        The sample of rows, once a rule has asked for it: one for all rules.
    """

    spectrum: MeasuredSpectrum
    source: RowSource | None = None
    column_variances: Values | None = None
    components: Values | LeadingComponents | None = None
    mean: Values | None = None
    factor: Values | None = None
    seed: int = 0
    drawn: list[RowSample] = field(default_factory=list, repr=False)

    def sample(self, k: int) -> RowSample:
        """Return the sample of rows, with the scores of the first ``k`` components (its own if none are known).

        Drawn in one pass for the rule that asks first; later ones see the same rows.
        """
        if self.source is None or self.mean is None:
            message = "This rule reads rows and has none. Pass source=."
            raise ParameterError(message)
        known = None if self.components is None else self.components[:k]
        if not self.drawn or (known is not None and len(self.drawn[0].loadings) < len(known)):
            sample = draw_sample(self.source, mean=self.mean, factor=self.factor, components=known, seed=self.seed)
            self.drawn[:] = [sample.by_size()]
        return self.drawn[0] if self.components is not None else self.drawn[0].with_own_components()


def gather_facts(
    variances: Any,
    source: RowSource | None = None,
    *,
    n_rows: float,
    n_columns: int,
    total_variance: float | None = None,
    column_variances: Any | None = None,
    components: Any | None = None,
    mean: Any | None = None,
    factor: Any | None = None,
    seed: int = 0,
) -> Facts:
    """Check what is given and measure what is missing.

    Cost: nothing without a source, or when ``mean`` and ``column_variances`` are given; else one pass.
    """
    spectrum = read_spectrum(variances, n_rows=n_rows, n_columns=n_columns, total_variance=total_variance)
    facts = Facts(
        spectrum, source, _vector(column_variances), as_components(components), _vector(mean), _vector(factor), seed
    )
    _check_sides(facts)
    if source is None or (facts.mean is not None and facts.column_variances is not None):
        return facts
    moments = measure_moments(source, scatter=False)
    squares = np.asarray(moments.squares) * (1.0 if facts.factor is None else facts.factor**2)
    return replace(
        facts,
        mean=np.asarray(moments.mean) if facts.mean is None else facts.mean,
        column_variances=squares if facts.column_variances is None else facts.column_variances,
    )


def _vector(values: Any | None) -> Values | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


def _check_sides(facts: Facts) -> None:
    d = facts.spectrum.n_columns
    sides = {
        "source": None if facts.source is None else facts.source.n_columns,
        "column_variances": None if facts.column_variances is None else facts.column_variances.shape[-1],
        "components": None if facts.components is None else facts.components.shape[-1],
        "mean": None if facts.mean is None else facts.mean.shape[-1],
        "factor": None if facts.factor is None else facts.factor.shape[-1],
    }
    for name, side in sides.items():
        if side is not None and side != d:
            message = f"{name} has {side} columns and n_columns={d}. Pass what belongs to the same table."
            raise ParameterError(message)
