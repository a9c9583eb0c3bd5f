"""A table with missing values, filled: what is known of it, the model of that, and how well it predicts.

A wide table is filled as it stands; a long one, of which each line is a value of a pair (user, film, rating), is one
sparse table, whose missing pairs are predicted where they are asked for. Nothing here makes a sparse table dense.
"""

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from gramian.analysis.findings import Finding, joined, percent
from gramian.analysis.frame import is_frame, open_frame_whole
from gramian.analysis.table import (
    Prepared,
    ReadOptions,
    Say,
    counted,
    dense,
    listed,
    names_of,
    opened,
    origin_of,
    scaled,
    sentence_of,
)
from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import ConvergenceWarning, InputError, Parameter, ParameterError, Sentence
from gramian.models.probabilistic.entries import known_entries, triplets
from gramian.models.probabilistic.fit import ProbabilisticPCAOptions, fit_probabilistic_pca, hold_out
from gramian.models.probabilistic.model import ProbabilisticPCAModel
from gramian.sources.dense import DenseRows
from gramian.sources.file_options import Chosen, FileOptions, is_path
from gramian.sources.paths import WholeTable, open_whole
from gramian.sources.rows import ranges
from gramian.sources.table_facts import NO_HEADER, LongColumns, long_columns

LARGEST_UNASKED = 1_000_000
"""Missing pairs of a long table up to which all are predicted where nothing is said."""

HELD_OUT, MOST_HELD_OUT, FEW_HELD_OUT, MOST_DRAWS = 0.1, 100_000, 200, 10
"""Share of the known entries that is held out to see how well they are predicted, and at most; where that is fewer than
the third, it is done several times, at most as often as the fourth says."""

COVERED = ((25, 80), (50, 87), (80, 93))
"""Known entries below which about so many of 100 new measurements lie within two errors of what was filled: in 40 to 60
tables each of 4 x 6 to 60 x 10, with one or two components and noise of half their size, a fifth or a third missing."""

REPEATED = 0.1
"""Share of the lines up to which pairs may repeat in what is taken for a long table without being called one."""


def half_width(level: float) -> float:
    """Return half the width of an interval of this level, in standard errors.

    Examples
    --------
    >>> round(half_width(0.95), 3)
    1.96
    """
    return NormalDist().inv_cdf(0.5 + level / 2)


@dataclass(frozen=True)
class FillRequest:
    """What is asked of a filling, apart from how its table is read.

    Attributes
    ----------
    n_components : int or None
        At most so many; ``None``: as many as predict held-out entries best.
    biases : bool or None
        Whether rows have levels of their own; ``None``: for long and sparse tables.
    bounds : (float, float) or None
        Limits of filled values.
    row, column, value : str or None
        The columns of a long table; ``None``: as they are found.
    predict : str or None
        A table of the pairs to predict, or "all" that are missing.
    seed : int
    """

    n_components: int | None = None
    biases: bool | None = None
    bounds: tuple[float, float] | None = None
    row: str | None = None
    column: str | None = None
    value: str | None = None
    predict: str | None = None
    seed: int = 0


class Pairs(NamedTuple):
    """Pairs to predict: positions of rows and columns, -1 for new ones, and what they are called."""

    i: HostArray
    j: HostArray
    rows: Any
    columns: Any


@dataclass(frozen=True, eq=False)
class LongTable:
    """A long table: which columns it has, what its rows and columns are called, and which lines lack a value.

    Attributes
    ----------
    names : LongColumns
    rows, columns : Arrow arrays (n,), (d,)
        Ids, sorted; positions in them are those of the model.
    empty : numpy array of int
        Lines whose value is missing.
    i, j : numpy arrays
        Positions of the pairs of these lines.
    """

    names: LongColumns
    rows: Any
    columns: Any
    empty: HostArray
    i: HostArray
    j: HostArray


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of a table, and what of it is to be filled.

    Attributes
    ----------
    X : numpy array (n, d) with NaN, or scipy sparse array
    names : tuple of d str
    row_names : Arrow or numpy array (n,) or None
    scale : bool
        Whether columns count by their deviations.
    notes : tuple of str
    origin : str
    options : ReadOptions
    whole : WholeTable or None
        All columns of the table, where it has names.
    long : LongTable or None
    """

    X: Any
    names: tuple[str, ...]
    row_names: Any
    scale: bool
    notes: tuple[str, ...]
    origin: str
    options: ReadOptions
    whole: WholeTable | None = None
    long: LongTable | None = None

    @property
    def n_known(self) -> int:
        """Number of known entries."""
        return int(self.X.nnz) if self.long is not None else int(self.X.size - np.isnan(self.X).sum())

    @property
    def n_missing(self) -> int:
        """Number of entries that are not known."""
        return int(self.X.shape[0]) * int(self.X.shape[1]) - self.n_known

    @property
    def share_missing(self) -> float:
        """Share of the entries that are not known."""
        return self.n_missing / max(int(self.X.shape[0]) * int(self.X.shape[1]), 1)

    @property
    def counts(self) -> HostArray:
        """Known entries of each column (d,)."""
        if self.long is not None:
            return np.bincount(self.X.indices, minlength=self.X.shape[1])
        return np.asarray((~np.isnan(self.X)).sum(axis=0))

    def row_name(self, i: int) -> str:
        """Return what a row is called."""
        return f"row {i + 1}" if self.row_names is None else str(self.row_names[i])

    def pattern(self, most: tuple[int, int]) -> HostArray:
        """Return the share that is known in each part of the table, cut into so many rows and columns at most.

        Of a long table rows and columns come by how much is known of them, the most first; its order means nothing.
        """
        sides = tuple(self.X.shape)
        cut = tuple(min(side, limit) for side, limit in zip(sides, most, strict=True))
        if self.long is None:
            places: tuple[HostArray, ...] = np.nonzero(~np.isnan(self.X))
            ranks = tuple(np.arange(side) for side in sides)
        else:
            i = np.repeat(np.arange(sides[0]), np.diff(self.X.indptr))
            places = (i, self.X.indices)
            counts = [np.bincount(at, minlength=side) for at, side in zip(places, sides, strict=True)]
            ranks = tuple(np.argsort(np.argsort(-count, kind="stable")) for count in counts)
        parts = [rank * size // side for rank, size, side in zip(ranks, cut, sides, strict=True)]
        at = parts[0][places[0]] * cut[1] + parts[1][places[1]]
        known = np.bincount(at, minlength=cut[0] * cut[1]).reshape(cut)
        sizes = [np.bincount(part, minlength=size) for part, size in zip(parts, cut, strict=True)]
        return np.asarray(known / np.outer(*sizes))


@dataclass(frozen=True, eq=False)
class Check:
    """Known entries that were held out, and what a model that did not see them says of them.

    Where the model scales columns, values are in standard deviations of their column, from its mean.

    Attributes
    ----------
    actual, predicted, errors : numpy arrays (m,)
        Errors are the standard deviations of the predictions.
    rows, columns : numpy arrays (m,) of int
    means : numpy array (m,)
        What means predict: of the column, and where rows have levels of their own, of the row too.
    draws : int
        How often entries were held out.
    """

    actual: HostArray
    predicted: HostArray
    errors: HostArray
    rows: HostArray
    columns: HostArray
    means: HostArray
    draws: int

    @cached_property
    def n_entries(self) -> int:
        """Number of different entries: one may be held out in several draws, and tells little more there."""
        return len(np.unique(np.column_stack([self.rows, self.columns]), axis=0))

    @property
    def rmse(self) -> float:
        """Root of the mean squared error."""
        return float(np.sqrt(np.mean((self.actual - self.predicted) ** 2)))

    @property
    def rmse_of_means(self) -> float:
        """The same of the means."""
        return float(np.sqrt(np.mean((self.actual - self.means) ** 2)))

    @property
    def means_are_better(self) -> bool:
        """Whether squared errors exceed those of the means, entry by entry, by more than two standard errors."""
        lost = (self.actual - self.predicted) ** 2 - (self.actual - self.means) ** 2
        return len(lost) > 1 and bool(lost.mean() > 2.0 * lost.std(ddof=1) / np.sqrt(self.n_entries))

    @property
    def within(self) -> HostArray:
        """Which entries lie in their 95% intervals (m,)."""
        return np.asarray(np.abs(self.actual - self.predicted) <= half_width(0.95) * self.errors)

    @property
    def coverage(self) -> float:
        """Share of the entries that lie in their 95% intervals."""
        return float(np.mean(self.within))

    def coverage_of(self, level: float) -> float:
        """Return the share of the entries in the intervals of another level."""
        return float(np.mean(np.abs(self.actual - self.predicted) <= half_width(level) * self.errors))


@dataclass(frozen=True, eq=False)
class Filling:
    """A table that was filled; every front end renders this value, and computes nothing.

    Attributes
    ----------
    request : FillRequest
    known : Known
    model : ProbabilisticPCAModel
    check : Check or None
        How well known entries are predicted; ``None`` where there are too few to hold any out.
    filled, errors : numpy arrays (n, d) or None
        Of a wide table: its values, missing ones filled, and their standard errors, 0 where the value is known.
    lines : pair of numpy arrays or None
        Of a long table: values and standard errors of the lines without a value.
    pairs : Pairs or None
        Those that were asked for, with ``predicted``.
    predicted : pair of numpy arrays or None
    writes_all : bool
        Whether all missing pairs of a long table are written.
    notes : tuple of str
    converged : bool
    """

    request: FillRequest
    known: Known
    model: ProbabilisticPCAModel
    check: Check | None
    filled: HostArray | None = None
    errors: HostArray | None = None
    lines: tuple[HostArray, HostArray] | None = None
    pairs: Pairs | None = None
    predicted: tuple[HostArray, HostArray] | None = None
    writes_all: bool = False
    notes: tuple[str, ...] = ()
    converged: bool = True

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What was found; the first is the lead."""
        return tuple(found for found in (_filled_words(self), _check_words(self), _component_words(self)) if found)

    @property
    def within_two(self) -> int:
        """How many of 100 new measurements lie within two errors of what was filled, in tables of this size."""
        return next((covered for most, covered in COVERED if self.known.n_known < most), 95)

    @property
    def components(self) -> list[str]:
        """Names of the components."""
        return [f"PC{j + 1}" for j in range(self.model.n_components)]

    def leading(self, component: int, most: int = 6) -> list[tuple[str, float]]:
        """Return the columns with the largest weights in a component."""
        weights = self.model.components[component]
        return [(self.known.names[j], float(weights[j])) for j in np.argsort(-np.abs(weights), kind="stable")[:most]]

    def filled_cells(self, most: int) -> list[tuple[str, str, float, float]]:
        """Return row, column, value and error of what was filled or asked for; nothing where there is more of it."""
        known, long = self.known, self.known.long
        if self.filled is not None and self.errors is not None and known.n_missing <= most:
            return [
                (known.row_name(i), known.names[j], float(self.filled[i, j]), float(self.errors[i, j]))
                for i, j in np.argwhere(np.isnan(known.X))
            ]
        if long is None:
            return []
        found: list[tuple[Any, Any, tuple[HostArray, HostArray] | None]] = [
            (_taken(long.rows, long.i), _taken(long.columns, long.j), self.lines),
            *([] if self.pairs is None else [(self.pairs.rows, self.pairs.columns, self.predicted)]),
        ]
        return [
            (str(row), str(column), float(value), float(error))
            for rows, columns, predicted in found
            if predicted is not None and len(predicted[0]) <= most
            for row, column, value, error in zip(rows.to_pylist(), columns.to_pylist(), *predicted, strict=True)
        ]

    def all_pairs(self) -> Iterator[tuple[Pairs, HostArray, HostArray]]:
        """Give the missing pairs of a long table with values and errors, some rows at a time."""
        long, X = self.known.long, self.known.X
        if long is None:
            return
        n, d = X.shape
        for part in ranges(n, max(1, 1_000_000 // d)):
            missing = np.ones((part.stop - part.start, d), dtype=bool)
            # By what is stored: a zero may be.
            rows = np.repeat(np.arange(part.stop - part.start), np.diff(X.indptr[part.start : part.stop + 1]))
            missing[rows, X.indices[X.indptr[part.start] : X.indptr[part.stop]]] = False
            i, j = np.nonzero(missing)
            i += part.start
            yield Pairs(i, j, _taken(long.rows, i), _taken(long.columns, j)), *self.model.predict(i, j)

    def save(self, folder: str | os.PathLike[str], **more: Any) -> tuple[Path, ...]:
        """Write everything into a folder; see :func:`gramian.analysis.filled_files.write_filling`."""
        from gramian.analysis.filled_files import write_filling

        return write_filling(self, folder, **more)

    def as_json(self) -> dict[str, Any]:
        """Return the answer for a machine: numbers as numbers, nothing rounded."""
        known, model, check = self.known, self.model, self.check
        return {
            "method": "fill",
            "file": known.origin,
            "rows": int(known.X.shape[0]),
            "columns": int(known.X.shape[1]),
            "known": known.n_known,
            "missing": known.n_missing,
            "long": None if known.long is None else known.long.names._asdict(),
            "scaled": known.scale,
            "notes": list(self.notes),
            "findings": [found.as_json() for found in self.findings],
            "components": model.n_components,
            "why": model.reason,
            "shares": model.shares.tolist(),
            "share_errors": model.share_errors.tolist(),
            "noise": float(np.sqrt(model.noise_variance)),
            "held_out": None
            if check is None
            else {
                "entries": len(check.actual),
                "draws": check.draws,
                "rmse": check.rmse,
                "rmse_of_means": check.rmse_of_means,
                "coverage": check.coverage,
            },
            "converged": self.converged,
        }


def fill(
    X: Any, request: FillRequest | None = None, options: ReadOptions | None = None, say: Say | None = None
) -> Filling:
    """Fill the missing values of a table with what is expected there, each with its standard error.

    Computes the posterior means and deviations of :class:`~gramian.models.probabilistic.model.ProbabilisticPCAModel`,
    and how well the same model, fitted without them, predicts known entries that are held out.

    Cost: two fits (:func:`~gramian.models.probabilistic.fit.fit_probabilistic_pca`), a few more where the number of
    components is not given; up to ten small ones where few entries are known. Not for values that are missing for a
    reason (too large to measure): nothing here knows of it.

    Parameters
    ----------
    X : path, table or array (n, d)
    request : FillRequest, optional
    options : ReadOptions, optional
    say : callable, optional
        Called with a sentence before each stage.

    Examples
    --------
    >>> t = np.arange(12.0)
    >>> X = np.column_stack([t, 2 * t + np.sin(t), 10 - t])
    >>> X[3, 1] = np.nan
    >>> found = fill(X)
    >>> found.filled[3].round(0), found.known.n_missing
    (array([3., 6., 7.]), 1)
    """
    request = request or FillRequest()
    return fill_known(open_known(X, request, options or ReadOptions(), say), request, say)


def open_known(X: Any, request: FillRequest, options: ReadOptions, say: Say | None = None) -> Known:
    """Read a table: which of its columns are filled, or which three make it a long one.

    Parameters
    ----------
    X : path, table or array (n, d)
    request : FillRequest
    options : ReadOptions
    say : callable, optional
    """
    origin = origin_of(X, options)
    if say is not None:
        say(f"reading {origin}")
    chosen = Chosen(
        columns=list(options.columns) or None,
        drop=list(options.drop) or None,
        id=options.id,
        label=False,
        roles=options.roles or None,
        lenient=True,
        sentinels=True,
    )
    whole = None
    if is_frame(X):
        whole = open_frame_whole(X, chosen, origin=origin, memory_budget=options.memory)
    elif is_path(X):
        whole = open_whole(X, chosen, options.file, budget=options.memory, say=say)
    if whole is None:
        _refuse_keys(request, origin)
        return _of_array(X, request, options, origin, say)
    names = _long_names(whole, request)
    is_said = any((request.row, request.column, request.value)) or long_columns(whole.facts) is not None
    found = None if names is None else _of_long(whole, names, options, origin, is_said=is_said)
    if found is not None:
        return found
    _refuse_pairs(request, origin)
    found = _of_wide(whole, options, origin, request.bounds)
    if names is None:
        return found
    said = Sentence(
        "Not taken for a long table, because many pairs of {a!r} and {b!r} have more lines than one; {row} and "
        "{column} make it one.",
        a=names.row,
        b=names.column,
        row=Parameter("row", (names.row,)),
        column=Parameter("column", (names.column,)),
    )
    return replace(found, notes=(*found.notes, said))


def fill_known(known: Known, request: FillRequest, say: Say | None = None) -> Filling:
    """Fill what was read by :func:`open_known`; see :func:`fill`."""
    say = say or _nothing
    most = int(min(known.X.shape))
    k = request.n_components
    if k is not None and k > most:
        message = Sentence(
            "{asked} is more than the smaller side of the table, {most}: {n:,} x {d:,}. Ask for {most} at most, or "
            "leave it out.",
            asked=Parameter("n_components", (k,)),
            most=most,
            n=known.X.shape[0],
            d=known.X.shape[1],
        )
        raise ParameterError(message, parameter="n_components", value=k)
    options = ProbabilisticPCAOptions(
        n_components=k,
        biases=request.biases,
        bounds=request.bounds,
        seed=request.seed,
        memory_budget=known.options.memory,
        progress=_seldom(say),
        keep_rows=known.long is not None,
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit_probabilistic_pca(known_entries(known.X, scale=known.scale), options)
    notes = [*known.notes, *_model_notes(model, known, request.bounds), *dict.fromkeys(map(sentence_of, caught))]
    found = Filling(
        request,
        known,
        model,
        check=None,
        converged=not any(issubclass(warning.category, ConvergenceWarning) for warning in caught),
    )
    say("predicting known entries that are held out")
    with warnings.catch_warnings():
        # What a check that ends at its cap would say is in its figures.
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = replace(found, check=_checked(known, model, replace(options, progress=None)))
    say("filling what is missing")
    if known.long is None:
        filled, errors = model.impute_with_std(known.X)
        return replace(found, filled=filled, errors=errors, notes=tuple(notes))
    return _long_predictions(found, notes)


def fill_plan(known: Known, request: FillRequest) -> str:
    """Say what would be done, and what it takes."""
    n, d = known.X.shape
    biases = known.long is not None if request.biases is None else request.biases
    k = "as many components as predict held-out entries best"
    if request.n_components is not None:
        k = f"at most {counted(request.n_components, 'component')}"
    levels = " Rows have levels of their own." if biases else ""
    again = "once more without some known entries"
    if HELD_OUT * known.n_known < FEW_HELD_OUT:
        again = f"up to {MOST_DRAWS} times more, because few entries are known, each time without some of them"
    size = 60 * known.n_known if known.long is not None else 48 * n * d
    said = (
        f"Fit probabilistic PCA by variational Bayes, with {k}, to {known.n_known:,} known entries of {n:,} x {d:,} "
        f"({percent(known.share_missing)} missing).{levels} Then fit it {again}, to see "
        f"how well it predicts them. About {max(size / 1e6, 0.1):,.1f} MB."
    )
    return f"{said} {_writing_words(known, request)}"


def _writing_words(known: Known, request: FillRequest) -> str:
    if known.long is None:
        return "Write the table filled, and its standard errors."
    if request.predict not in (None, "all"):
        return f"Write the pairs of {request.predict}, predicted with their standard errors."
    if request.predict == "all" or known.n_missing <= LARGEST_UNASKED:
        return f"Write all {known.n_missing:,} missing pairs, predicted with their standard errors."
    return "Write no pairs: none is asked for."


def _seldom(say: Say) -> Say:
    """Return what says rounds once a second at most, and everything else at once."""
    last = monotonic()

    def said(sentence: str) -> None:
        nonlocal last
        if not sentence.startswith("round ") or monotonic() >= last + 1.0:
            last = monotonic()
            say(sentence)

    return said


def _nothing(_sentence: str) -> None:
    """Say nothing."""


# What is known.


def _of_array(X: Any, request: FillRequest, options: ReadOptions, origin: str, say: Say | None) -> Known:
    """Open an array, whose columns are all filled; of a sparse one, what it does not store is missing."""
    import pyarrow as pa
    import scipy.sparse as sp

    source = opened(X, options, say)
    names = names_of(source)
    if not source.is_sparse:
        _refuse_pairs(request, origin)
        _require_room(48 * source.n_rows * source.n_columns, options)
        array = dense(source)
        scale, notes = _scaling(array, source.column_names, names, options, request.bounds)
        return Known(array, names, source.ids(), scale, (*source.remarks, *notes), origin, options)
    rows = sp.csr_array(sp.vstack([source.block(i).rows for i in range(source.n_blocks)], format="csr"))
    n, d = rows.shape
    ids = (pa.array(np.arange(1, n + 1)), pa.array(np.arange(1, d + 1) if source.column_names is None else names))
    none = np.zeros(0, dtype=int)
    long = LongTable(LongColumns("row", "column", "value"), *ids, none, none, none)
    notes = (*source.remarks, "What the file does not store is taken for missing, and not for zero.")
    return Known(rows, names, ids[0], bool(options.scale), notes, origin, options, long=long)


def _of_wide(whole: WholeTable, options: ReadOptions, origin: str, bounds: tuple[float, float] | None) -> Known:
    """Take the columns of numbers of a table, to be filled."""
    facts = whole.facts
    # A part of true is no value: such columns stay as they are.
    used = [column for column in facts.used if column.kind != "boolean"]
    if not used and all(column.role == "empty" or column.name == facts.id for column in facts.columns):
        message = f"Nothing is known in {facts.origin}: all of its values are missing. Pass a table with some values."
        raise InputError(message, table=facts)
    if not used:
        message = Sentence(
            "{origin} has no column of quantities, so there is nothing to fill. Say which columns are quantities "
            "({roles}), or which make it a long table ({row}, {column}, {value}).",
            origin=origin,
            roles=Parameter("roles"),
            row=Parameter("row"),
            column=Parameter("column"),
            value=Parameter("value"),
        )
        raise InputError(message, table=facts)
    names = tuple(column.name for column in used)
    _require_room(48 * whole.n_rows * len(names), options)
    X = np.column_stack([whole.numbers(name) for name in names])
    notes = [] if facts.named else [f"{NO_HEADER}."]
    notes += [*facts.remarks, *(remark for column in used for remark in column.remarks)]
    if facts.id is not None:
        notes.append(f"Rows are named by {facts.id!r}.")
    rest = [column for column in facts.columns if column.name not in names]
    empty = [repr(column.name) for column in rest if column.role == "empty"]
    if empty:
        notes.append(f"Nothing is known in {listed(empty)}: left as {'it is' if len(empty) == 1 else 'they are'}.")
    others = [column for column in rest if column.role != "empty" and column.name != facts.id]
    kept = [f"{c.name!r} ({c.role if c.kind != 'boolean' else 'true or false'})" for c in others]
    lacking = any(column.n_missing for column in others)
    if kept:
        cells = ", their missing cells too" if lacking else ""
        notes.append(f"Neither used nor filled, and written as they are{cells}: {listed(kept)}.")
    scale, said = _scaling(X, names, names, options, bounds)
    row_names = None if facts.id is None else whole.column(facts.id).to_pylist()
    return Known(X, names, row_names, scale, (*notes, *said), origin, options, whole=whole)


def _scaling(
    X: HostArray,
    own: tuple[str, ...] | None,
    names: tuple[str, ...],
    options: ReadOptions,
    bounds: tuple[float, float] | None,
) -> tuple[bool, tuple[str, ...]]:
    """Return whether columns count by their deviations, by the rule of a fit, and why."""
    if np.isinf(X).any():
        i, j = (int(place) for place in np.argwhere(np.isinf(X))[0])
        message = f"Row {i + 1:,}, column {names[j]!r} holds infinity. Remove it, or leave it empty if it is unknown."
        raise InputError(message, row=i, column=names[j])
    if bounds is not None and options.scale is None:
        said = "Not scaled: {low:g} and {high:g} are the limits of all columns, which have one unit ({scale} to scale)."
        return False, (Sentence(said, low=bounds[0], high=bounds[1], scale=Parameter("scale", (True,))),)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # columns of which nothing is known
        spread = np.nan_to_num(np.nanstd(X, axis=0))
    found = scaled(Prepared(DenseRows(X, column_names=own), names, scale=False, notes=(), spread=spread), options)
    return found.scale, found.notes


def _require_room(needed: int, options: ReadOptions, *, is_long: bool = False) -> None:
    """Refuse a table whose filling does not fit into memory: a wide one is held six times, entries of 60 bytes."""
    from gramian.errors import MemoryBudgetError
    from gramian.machine import MEGABYTE, available_memory

    free = available_memory() if options.memory is None else options.memory
    if needed > free:
        advice = "" if is_long else " Or write the known values as a long table, which is never made dense."
        message = Sentence(
            "Filling takes about {needed} MB, and {free} MB are free. Drop {what}, or raise {budget}.{advice}",
            needed=f"{needed / MEGABYTE:,.3g}",
            free=f"{free / MEGABYTE:,.3g}",
            what="rows" if is_long else "columns",
            budget=Parameter("memory_budget"),
            advice=advice,
        )
        raise MemoryBudgetError(message, needed=needed, budget=free)


def _long_names(whole: WholeTable, request: FillRequest) -> LongColumns | None:
    """Return the columns of a long table: those that are named, and the others as they are found."""
    asked = {"row": request.row, "column": request.column, "value": request.value}
    facts = whole.facts
    said = [name for name in asked.values() if name is not None]
    for parameter, name in asked.items():
        if name is not None and name not in whole.names:
            _refuse_name(name, whole, parameter)
    if not said:
        return long_columns(facts, of_groups=True)
    if len(set(said)) < len(said):
        message = Sentence(
            "{row}, {column} and {value} name three different columns, and {name!r} is named twice.",
            name=next(name for name in said if said.count(name) > 1),
            **{parameter: Parameter(parameter) for parameter in asked},
        )
        raise ParameterError(message)
    found = long_columns(facts, of_groups=True)
    guess = {} if found is None else {key: name for key, name in found._asdict().items() if name not in said}
    # With rows and columns named, the one quantity left is the value.
    left = [c.name for c in facts.columns if c.role == "quantity" and c.name not in said]
    if asked["row"] and asked["column"] and len(left) == 1:
        guess["value"] = left[0]
    full = {key: name or guess.get(key) for key, name in asked.items()}
    lacking = [key for key, name in full.items() if name is None]
    if lacking:
        message = Sentence(
            "A long table has three columns, and {lacking} is not said. {origin} has {names}.",
            lacking=Parameter(lacking[0]),
            origin=facts.origin,
            names=listed([repr(name) for name in whole.names]),
        )
        raise ParameterError(message, parameter=lacking[0])
    return LongColumns(*(str(full[key]) for key in ("row", "column", "value")))


def _refuse_name(name: str, whole: WholeTable, parameter: str) -> None:
    from difflib import get_close_matches

    near = get_close_matches(name, whole.names, n=1)
    hint = f"Did you mean {near[0]!r}?" if near else f"It has {listed([repr(name) for name in whole.names])}."
    message = Sentence(
        "{asked} is no column of {origin}. {hint}",
        asked=Parameter(parameter, (name,)),
        origin=whole.facts.origin,
        hint=hint,
    )
    raise ParameterError(message, parameter=parameter, value=name)


def _of_long(
    whole: WholeTable, names: LongColumns, options: ReadOptions, origin: str, *, is_said: bool
) -> Known | None:
    """Take the triplets of a long table; ``None`` where nobody says that it is one, and many of its pairs repeat."""
    rows, i = _numbered(whole.column(names.row))
    columns, j = _numbered(whole.column(names.column))
    column = next(column for column in whole.facts.columns if column.name == names.value)
    if column.kind not in ("number", "integer", "boolean"):
        message = f"Column {names.value!r} of {origin} holds {column.kind}, and a value is a number. Name another."
        raise InputError(message, column=names.value)
    _require_room(60 * whole.n_rows, options, is_long=True)
    values = whole.numbers(names.value)
    named = (i >= 0) & (j >= 0)
    there = named & np.isfinite(values)
    if not there.any():
        message = f"No line of {origin} has a row, a column and a value, so nothing is known."
        raise InputError(message)
    X = triplets(i[there], j[there], values[there], shape=(len(rows), len(columns)))
    repeated = int(there.sum()) - int(X.nnz)
    if not is_said and repeated > REPEATED * len(values):
        return None
    n, d = X.shape
    said = f"A long table: each line is one value of {names.value!r} for a pair of {names.row!r} and {names.column!r}"
    notes = [f"{said}, {n:,} of the former and {d:,} of the latter."]
    notes += [*whole.facts.remarks, *column.remarks]
    if repeated:
        notes.append(f"{counted(repeated, 'line')} of pairs that have others: of each pair the mean is taken.")
    if not named.all():
        lost = int((~named).sum())
        notes.append(f"{counted(lost, 'line')} without {names.row!r} or {names.column!r}: left out.")
    empty = np.flatnonzero(named & ~np.isfinite(values))
    if len(empty):
        notes.append(f"{counted(len(empty), 'line')} without a value: filled.")
    rest = [repr(name) for name in whole.names if name not in names]
    if rest:
        notes.append(f"Not used: {listed(rest)}.")
    long = LongTable(names, rows, columns, empty, i[empty], j[empty])
    called = tuple(map(str, columns.to_pylist()))
    return Known(X, called, rows, bool(options.scale), tuple(notes), origin, options, whole=whole, long=long)


def _numbered(column: Any) -> tuple[Any, HostArray]:
    """Return the different ids of a column, sorted, and the place of each cell among them; -1 where it has none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    ids = pc.unique(column.drop_null())
    ids = ids.take(pc.sort_indices(ids))
    return ids, _places(column, ids)


def _places(cells: Any, ids: Any) -> HostArray:
    """Return where each cell stands among ids, as text where their types differ; -1 where it does not."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if cells.type != ids.type:
        cells, ids = cells.cast(pa.string()), ids.cast(pa.string())
    found = pc.index_in(cells, value_set=ids, skip_nulls=True).fill_null(-1)
    return np.asarray(found.to_numpy() if isinstance(found, pa.ChunkedArray) else found.to_numpy(zero_copy_only=False))


def _taken(ids: Any, places: HostArray) -> Any:
    from gramian.sources.arrow import from_numpy

    return ids.take(from_numpy(places.astype(np.int64)))


def _refuse_keys(request: FillRequest, origin: str) -> None:
    """Refuse columns of a long table where the table has no names."""
    for parameter in ("row", "column", "value"):
        name = getattr(request, parameter)
        if name is not None:
            message = Sentence(
                "{asked} names a column, and {origin} is an array without any. Leave it out.",
                asked=Parameter(parameter, (name,)),
                origin=origin,
            )
            raise ParameterError(message, parameter=parameter, value=name)


def _refuse_pairs(request: FillRequest, origin: str) -> None:
    """Refuse pairs of a wide table, which is filled whole."""
    if request.predict is not None:
        message = Sentence(
            "{asked} is for long tables, and {origin} is filled as it stands. Say which columns make it a long one "
            "({row}, {column}, {value}), or leave it out.",
            asked=Parameter("predict", (request.predict,)),
            origin=origin,
            row=Parameter("row"),
            column=Parameter("column"),
            value=Parameter("value"),
        )
        raise ParameterError(message, parameter="predict", value=request.predict)


# What the model says.


def _model_notes(model: ProbabilisticPCAModel, known: Known, bounds: tuple[float, float] | None) -> list[str]:
    notes = []
    if bounds is not None:
        low, high = bounds
        values = known.X if known.long is None else known.X.data
        outside = int(((values < low) | (values > high)).sum())
        beyond = f" {counted(outside, 'known value')} lie{'s' if outside == 1 else ''} outside." if outside else ""
        notes.append(f"Filled values are kept within {low:g} and {high:g}.{beyond}")
    if model.row_bias_variance > 0:
        notes.append("Rows have levels of their own.")
    if known.n_missing:
        notes.append("Errors count on values that are missing by chance, and not because of what they are.")
    return notes


def _checked(known: Known, model: ProbabilisticPCAModel, options: ProbabilisticPCAOptions) -> Check | None:
    """Hold known entries out, fit the others as the table was fitted, and predict them.

    The number of components is chosen anew, without a look at them, where it is not given.
    """
    share, options = min(HELD_OUT, MOST_HELD_OUT / max(known.n_known, 1)), replace(options, keep_rows=True)
    parts: list[list[HostArray]] = []
    draws = 1
    while len(parts) < draws:
        # Other entries than those by which the number of components was chosen.
        held = hold_out(known.X, share=share, seed=options.seed + 1 + len(parts))
        rest = known_entries(held.X, scale=known.scale)
        if not len(held.values) or rest.counts.max() < 2:
            return None
        draws = min(MOST_DRAWS, -(-FEW_HELD_OUT // len(held.values)))
        trained = fit_probabilistic_pca(rest, options)
        predicted, errors = trained.predict(held.rows, held.columns)
        factor = trained.factor[held.columns]
        means = _means(held, by_rows=model.row_bias_variance > 0)
        # Columns that are scaled are measured from their means.
        zero = trained.mean[held.columns] if known.scale else 0.0
        here = [(values - zero) * factor for values in (held.values, predicted, means)]
        parts.append([*here, errors * factor, held.rows, held.columns])
    actual, predicted, means, errors, rows, columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Check(actual, predicted, errors, rows, columns, means, draws)


def _means(held: Any, *, by_rows: bool) -> HostArray:
    """Return what the means of columns, and of what they leave of rows, predict for held-out entries."""
    if hasattr(held.X, "tocoo"):
        table = held.X.tocoo()
        (i, j), values = table.coords, table.data.astype(FLOAT64)
    else:
        i, j = np.nonzero(~np.isnan(held.X))
        values = held.X[i, j]
    n, d = held.X.shape

    def mean_by(places: HostArray, numbers: HostArray, count: int) -> HostArray:
        return np.asarray(
            np.bincount(places, numbers, minlength=count) / np.maximum(np.bincount(places, minlength=count), 1)
        )

    by_column = mean_by(j, values, d)
    found = by_column[held.columns]
    return np.asarray(found + mean_by(i, values - by_column[j], n)[held.rows] if by_rows else found)


def _long_predictions(found: Filling, notes: list[str]) -> Filling:
    """Predict the lines without a value, and the pairs that are asked for."""
    known, request, model = found.known, found.request, found.model
    long = known.long
    if long is None:
        return found
    lines = model.predict(long.i, long.j) if len(long.empty) else None
    pairs: Pairs | None = None
    predicted: tuple[HostArray, HostArray] | None = None
    writes_all = request.predict == "all" or (request.predict is None and known.n_missing <= LARGEST_UNASKED)
    if request.predict not in (None, "all"):
        pairs = _asked_pairs(str(request.predict), long, known.options)
        predicted = model.predict(pairs.i, pairs.j)
        for places, ids, name in (
            (pairs.i, pairs.rows, long.names.row),
            (pairs.j, pairs.columns, long.names.column),
        ):
            unknown = _taken(ids, np.flatnonzero(places < 0)).to_pylist()
            without = unknown.count("")
            for count, said in ((len(unknown) - without, "with an unknown"), (without, "without")):
                if count:
                    pair = f"{counted(count, 'pair')} {said} {name!r}"
                    notes.append(f"{pair}: what is expected of any, with the error of that.")
    elif not writes_all:
        said = Sentence(
            "No pairs are written, because {count:,} are missing: {pairs} predicts those of a table, {all} every one.",
            count=known.n_missing,
            pairs=Parameter("predict", ("pairs.csv",)),
            all=Parameter("predict", ("all",)),
        )
        notes.append(said)
    if predicted is not None and found.request.bounds is None:
        least, most = float(known.X.data.min()), float(known.X.data.max())
        beyond = int(((predicted[0] < least) | (predicted[0] > most)).sum())
        if beyond:
            said = Sentence(
                "{count} {lie} beyond all known values, {least:g} to {most:g}: {bounds} keeps them within.",
                count=counted(beyond, "prediction"),
                lie="lies" if beyond == 1 else "lie",
                least=least,
                most=most,
                bounds=Parameter("bounds", (f"{least:g},{most:g}",)),
            )
            notes.append(said)
    return replace(found, lines=lines, pairs=pairs, predicted=predicted, writes_all=writes_all, notes=tuple(notes))


def _asked_pairs(path: str, long: LongTable, options: ReadOptions) -> Pairs:
    """Read a table of pairs: its columns are called as those of the long table."""
    whole = open_whole(path, Chosen(lenient=True), FileOptions(), budget=options.memory)
    for name in (long.names.row, long.names.column):
        if whole is None or name not in whole.names:
            has = "columns without names" if whole is None else listed([repr(name) for name in whole.names])
            message = Sentence(
                "{asked} has no column {name!r}: it has {has}. A table of pairs has columns {row!r} and {column!r}.",
                asked=Parameter("predict", (path,)),
                name=name,
                has=has,
                row=long.names.row,
                column=long.names.column,
            )
            raise InputError(message, column=name)
    rows, columns = (whole.column(name) for name in (long.names.row, long.names.column))  # type: ignore[union-attr]
    return Pairs(_places(rows, long.rows), _places(columns, long.columns), _written(rows), _written(columns))


def _written(ids: Any) -> Any:
    """Return ids with an empty text where there is none, as the cell was."""
    import pyarrow as pa

    return ids.cast(pa.string()).fill_null("") if ids.null_count else ids


# What is said.


def _filled_words(found: Filling) -> Finding:
    known = found.known
    n, d = known.X.shape
    share, count = known.share_missing, known.n_missing
    numbers = {"missing": count, "known": known.n_known, "rows": int(n), "columns": int(d)}
    if not count:
        return Finding("missing", f"Nothing is missing in the {n:,} x {d:,} table: it is written as it is.", numbers)
    said = f"{count:,} of {n * d:,} values are missing ({percent(share)})"
    if found.errors is None:
        return Finding("missing", f"{said}: each pair of the {n:,} x {d:,} can be predicted, with its error.", numbers)
    # In units of the columns' deviations where these differ.
    away = (found.errors * found.model.factor)[np.isnan(known.X)]
    low, middle, high = (float(value) for value in np.quantile(away, [0.05, 0.5, 0.95]))
    unit = " standard deviations of its column" if known.scale else ""
    span = f"{middle:.2g}{unit}"
    if f"{low:.2g}" != f"{high:.2g}":
        span += f" (90% between {low:.2g} and {high:.2g})"
    said += f", and filled with what is expected there: a filled value is off by {span}, as far as is known"
    return Finding("missing", f"{said}.", numbers | {"error": middle, "error_low": low, "error_high": high})


def _check_words(found: Filling) -> Finding | None:
    check = found.check
    if check is None:
        said = "No known value can be held out, because too few would be left: the errors were not tested."
        return Finding("held out", said, {})
    unit = " standard deviations" if found.known.scale else ""
    often = f" in {check.draws} draws" if check.draws > 1 else ""
    means = "means of rows and columns" if found.model.row_bias_variance > 0 else "column means"
    m, rmse, plain, inside = len(check.actual), check.rmse, check.rmse_of_means, check.coverage
    said = (
        f"Of {m:,} known values that were held out{often}, predictions are off by {rmse:.3g}{unit} (root mean square), "
        f"{means} by {plain:.3g}. {'All' if inside == 1 else percent(inside)} of them lie in their 95% intervals"
    )
    # Three standard errors of a share of so many entries.
    slack = 3.0 * float(np.sqrt(0.05 * 0.95 / check.n_entries))
    said += ": the errors are too small here." if inside < 0.95 - max(slack, 0.02) else "."
    if found.model.n_components and check.means_are_better:
        said += " The means do better: take the filled values with care."
    numbers = {"entries": m, "draws": check.draws, "rmse": rmse, "rmse_of_means": plain, "coverage": inside}
    return Finding("held out", said, numbers)


def _component_words(found: Filling) -> Finding:
    model = found.model
    k, numbers = model.n_components, {"components": model.n_components}
    levels = "the levels of rows and columns" if model.row_bias_variance > 0 else "the column means"
    if not k:
        said = f"No component is taken: {model.reason}. Values are filled with {levels}."
        return Finding("component", said, numbers)
    share, error = float(model.shares.sum()), float(model.cumulative_share_errors[-1])
    columns = [name for name, _ in found.leading(0, 4 if len(found.known.names) > 4 else 2)]
    said = (
        f"{counted(k, 'component')} {'holds' if k == 1 else 'hold'} {percent(share)} of the variance (± {error:.1%}). "
        f"Why so many: {model.reason}. PC1 is led by {joined(columns)}."
    )
    return Finding("component", said, numbers | {"share": share, "share_error": error}, components=(0,))
