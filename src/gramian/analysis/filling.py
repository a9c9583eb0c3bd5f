"""A table with missing values, filled: what is known of it, the model of that, and how well it predicts.

A wide table is filled as it stands; a long one, of which each line is a value of a pair (user, film, rating), is one
sparse table, whose missing pairs are predicted where they are asked for. Nothing here makes a sparse table dense.
"""

import os
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import NormalDist
from time import monotonic
from typing import Any

import numpy as np

from gramian.analysis.findings import Finding, counted, joined, listed, percent, sentence_of
from gramian.analysis.frame import is_frame, open_frame_whole
from gramian.analysis.long_table import LongTable, Pairs, long_names, read_long, sparse_table
from gramian.analysis.scaling import choose_scale
from gramian.analysis.table import ReadOptions, Say, dense, known_moments, names_of, opened, origin_of
from gramian.arrays.namespace import HostArray, is_sparse
from gramian.arrays.precision import FLOAT64
from gramian.errors import ConvergenceWarning, InputError, Parameter, ParameterError, Sentence
from gramian.models.probabilistic.entries import known_entries
from gramian.models.probabilistic.fit import ProbabilisticPCAOptions, fit_probabilistic_pca, hold_out
from gramian.models.probabilistic.model import ProbabilisticPCAModel
from gramian.sources.dense import DenseRows
from gramian.sources.file_options import Chosen, is_path
from gramian.sources.paths import WholeTable, open_whole
from gramian.sources.table_facts import NO_HEADER, long_columns

LARGEST_UNASKED = 1_000_000
"""Missing pairs of a long table up to which all are predicted where nothing is said."""

HELD_OUT, MOST_HELD_OUT, FEW_HELD_OUT, MOST_DRAWS = 0.1, 100_000, 200, 10
"""Share of the known entries that is held out to see how well they are predicted, and at most; where that is fewer than
the third, it is done several times, at most as often as the fourth says."""

COVERED = ((25, 80), (50, 87), (80, 93))
"""Known entries below which about so many of 100 new measurements lie within two errors of what was filled: in 40 to 60
tables each of 4 x 6 to 60 x 10, with one or two components and noise of half their size, a fifth or a third missing."""


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

    @property
    def keys(self) -> dict[str, str | None]:
        """The columns of a long table, by what they are."""
        return {"row": self.row, "column": self.column, "value": self.value}

    @property
    def pairs(self) -> str | None:
        """The table of the pairs to predict, where there is one."""
        return None if self.predict == "all" else self.predict

    def has_biases(self, known: "Known") -> bool:
        """Whether rows have levels of their own."""
        return known.long is not None if self.biases is None else self.biases

    def method(self, known: "Known") -> str:
        """Return how a table is fitted."""
        return "variational Bayes" if known.n_missing or self.has_biases(known) else "closed form"

    def writes_all(self, n_missing: int) -> bool:
        """Whether all missing pairs of a long table are written."""
        return self.predict == "all" or (self.predict is None and n_missing <= LARGEST_UNASKED)


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

    def deviations(self, value: float, digits: int, of: str = "") -> str:
        """Return a size in words: in deviations of its column, where columns count by these."""
        written = f"{value:.{digits}g}"
        return f"{written} standard deviation{'' if written == '1' else 's'}{of}" if self.scale else written

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
            places = self.X.tocoo().coords
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
    def errors_are_too_small(self) -> bool:
        """Whether 95% intervals hold fewer entries than they promise, by three standard errors of that share."""
        slack = 3.0 * float(np.sqrt(0.05 * 0.95 / self.n_entries))
        return self.coverage() < 0.95 - max(slack, 0.02)

    def within(self, level: float = 0.95) -> HostArray:
        """Return which entries lie in their intervals of a level (m,)."""
        return np.asarray(np.abs(self.actual - self.predicted) <= NormalDist().inv_cdf(0.5 + level / 2) * self.errors)

    def coverage(self, level: float = 0.95) -> float:
        """Return the share of the entries that lie in their intervals of a level."""
        return float(np.mean(self.within(level)))

    @property
    def numbers(self) -> dict[str, float]:
        """What a machine reads of it."""
        return {
            "entries": len(self.actual),
            "draws": self.draws,
            "rmse": self.rmse,
            "rmse_of_means": self.rmse_of_means,
            "coverage": self.coverage(),
        }


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
    lines, pairs : Pairs or None
        Of a long table: the lines without a value, and the pairs that were asked for.
    notes : tuple of str
    converged : bool
    """

    request: FillRequest
    known: Known
    model: ProbabilisticPCAModel
    check: Check | None
    filled: HostArray | None = None
    errors: HostArray | None = None
    lines: Pairs | None = None
    pairs: Pairs | None = None
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
        known = self.known
        if self.filled is not None and self.errors is not None and known.n_missing <= most:
            return [
                (known.row_name(i), known.names[j], float(self.filled[i, j]), float(self.errors[i, j]))
                for i, j in np.argwhere(np.isnan(known.X))
            ]
        return [
            (str(row), str(column), float(value), float(error))
            for pairs in (self.lines, self.pairs)
            if pairs is not None and len(pairs.i) <= most
            for row, column, value, error in zip(*pairs.names(), pairs.values, pairs.errors, strict=True)
        ]

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
            "held_out": None if check is None else check.numbers,
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
    names = long_names(whole, request.keys)
    if names is not None:
        _require_room(60 * whole.n_rows, options, is_long=True)
        is_said = any(request.keys.values()) or long_columns(whole.facts) is not None
        found = read_long(whole, names, origin, is_said=is_said)
        if found is not None:
            return _of_long(found[0], found[1], origin, options, whole)
    _refuse_pairs(request, origin)
    known = _of_wide(whole, options, origin, request.bounds)
    if names is None:
        return known
    said = Sentence(
        "Not taken for a long table, because many pairs of {a!r} and {b!r} have more lines than one; {row} and "
        "{column} make it one.",
        a=names.row,
        b=names.column,
        row=Parameter("row", (names.row,)),
        column=Parameter("column", (names.column,)),
    )
    return replace(known, notes=(*known.notes, said))


def fill_known(known: Known, request: FillRequest, say: Say | None = None) -> Filling:
    """Fill what was read by :func:`open_known`; see :func:`fill`."""
    say = say or (lambda _sentence: None)
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
    long = known.long
    lines = long.predicted(model, long.i, long.j) if len(long.empty) else None
    pairs = None
    if request.pairs is not None:
        pairs = long.asked(model, request.pairs, budget=known.options.memory)
        notes += long.notes_on(pairs, bounded=request.bounds is not None)
    elif not request.writes_all(known.n_missing):
        said = Sentence(
            "No pairs are written, because {count:,} are missing: {pairs} predicts those of a table, {all} every one.",
            count=known.n_missing,
            pairs=Parameter("predict", ("pairs.csv",)),
            all=Parameter("predict", ("all",)),
        )
        notes.append(said)
    return replace(found, lines=lines, pairs=pairs, notes=tuple(notes))


def fill_plan(known: Known, request: FillRequest) -> str:
    """Say what would be done, and what it takes."""
    n, d = known.X.shape
    k = "as many components as predict held-out entries best"
    if request.n_components is not None:
        k = f"at most {counted(request.n_components, 'component')}"
    levels = " Rows have levels of their own." if request.has_biases(known) else ""
    again = "once more without some known entries"
    if HELD_OUT * known.n_known < FEW_HELD_OUT:
        again = f"up to {MOST_DRAWS} times more, because few entries are known, each time without some of them"
    size = 60 * known.n_known if known.long is not None else 48 * n * d
    said = (
        f"Fit probabilistic PCA, {request.method(known)}, with {k}, to {known.n_known:,} known entries of "
        f"{n:,} x {d:,} ({percent(known.share_missing)} missing).{levels} Then fit it {again}, to see how well it "
        f"predicts them. About {max(size / 1e6, 0.1):,.1f} MB."
    )
    return f"{said} {_writing_words(known, request)}"


def _writing_words(known: Known, request: FillRequest) -> str:
    if known.long is None:
        return "Write the table filled, and its standard errors."
    if request.pairs is not None:
        return f"Write the pairs of {request.pairs}, predicted with their standard errors."
    if request.writes_all(known.n_missing):
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


# What is known.


def _of_array(X: Any, request: FillRequest, options: ReadOptions, origin: str, say: Say | None) -> Known:
    """Open an array, whose columns are all filled; of a sparse one, what it does not store is missing."""
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
    notes = (*source.remarks, "What the file does not store is taken for missing, and not for zero.")
    return _of_long(sparse_table(rows, source.column_names), notes, origin, options)


def _of_long(
    long: LongTable, notes: tuple[str, ...], origin: str, options: ReadOptions, whole: WholeTable | None = None
) -> Known:
    names = tuple(map(str, long.columns.to_pylist()))
    return Known(long.X, names, long.rows, bool(options.scale), notes, origin, options, whole=whole, long=long)


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
        notes.append(f"Rows are named by {_spoken(facts.id, whole.names)}.")
    rest = [column for column in facts.columns if column.name not in names]
    empty = [_spoken(column.name, whole.names) for column in rest if column.role == "empty"]
    if empty:
        notes.append(f"Nothing is known in {listed(empty)}: left as {'it is' if len(empty) == 1 else 'they are'}.")
    others = [column for column in rest if column.role != "empty" and column.name != facts.id]
    kept = [f"{_spoken(c.name, whole.names)} ({c.role if c.kind != 'boolean' else 'true or false'})" for c in others]
    lacking = any(column.n_missing for column in others)
    if kept:
        cells = ", their missing cells too" if lacking else ""
        notes.append(f"Neither used nor filled, and written as they are{cells}: {listed(kept)}.")
    scale, said = _scaling(X, names, names, options, bounds)
    row_names = None if facts.id is None else whole.column(facts.id).to_pylist()
    return Known(X, names, row_names, scale, (*notes, *said), origin, options, whole=whole)


def _spoken(name: str, names: tuple[str, ...]) -> str:
    """Return a column as a person would call it, where it has no name of its own.

    Examples
    --------
    >>> _spoken("age", ("", "age")), _spoken("", ("", "age")), _spoken("", ("age", ""))
    ("'age'", 'the first column, which has no name', 'column 2, which has no name')
    """
    if name:
        return "the index of the frame" if name.startswith("__index_level_") else repr(name)
    place = names.index(name) + 1
    return f"{'the first column' if place == 1 else f'column {place}'}, which has no name"


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
    spread, _ = known_moments(DenseRows(X))
    return choose_scale(names, spread, asked=options.scale, has_units=own is not None)


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


def _refuse_keys(request: FillRequest, origin: str) -> None:
    """Refuse columns of a long table where the table has no names."""
    for parameter, name in request.keys.items():
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
    if bounds is not None and known.n_missing:
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
    if is_sparse(held.X):
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


# What is said.


def _filled_words(found: Filling) -> Finding:
    known = found.known
    n, d = known.X.shape
    share, count = known.share_missing, known.n_missing
    numbers: dict[str, float] = {"missing": count, "known": known.n_known, "rows": int(n), "columns": int(d)}
    if not count:
        return Finding("missing", f"Nothing is missing in the {n:,} x {d:,} table: it is written as it is.", numbers)
    said = f"{count:,} of {n * d:,} values are missing ({percent(share)})"
    if found.errors is None:
        return Finding("missing", f"{said}: each pair of the {n:,} x {d:,} can be predicted, with its error.", numbers)
    # In units of the columns' deviations where these differ.
    away = (found.errors * found.model.factor)[np.isnan(known.X)]
    low, middle, high = (float(value) for value in np.quantile(away, [0.05, 0.5, 0.95]))
    numbers |= {"error": middle, "error_low": low, "error_high": high}
    said += ", and filled with what is expected there"
    if found.check is not None:
        # What was seen comes first, and then what the model says of itself.
        off = known.deviations(found.check.rmse, 3, " of its column")
        said += f": where known values were held out, such a prediction was off by {off} (root mean square)"
        numbers["rmse"] = found.check.rmse
    of = "The middle one of their standard errors is" if count > 1 else "Its standard error is"
    span = known.deviations(middle, 2, "" if found.check else " of its column")
    if f"{low:.2g}" != f"{high:.2g}":
        span += f" (90% between {low:.2g} and {high:.2g})"
    return Finding("missing", f"{said}. {of} {span}.", numbers)


def _check_words(found: Filling) -> Finding | None:
    check = found.check
    if check is None:
        said = "No known value can be held out, because too few would be left: the errors were not tested."
        return Finding("held out", said, {})
    often = f" in {check.draws} draws" if check.draws > 1 else ""
    means = "means of rows and columns" if found.model.row_bias_variance > 0 else "column means"
    inside = check.coverage()
    said = (
        f"Of {len(check.actual):,} known values that were held out{often}, predictions are off by "
        f"{found.known.deviations(check.rmse, 3)} (root mean square), {means} by {check.rmse_of_means:.3g}. "
        f"{'All' if inside == 1 else percent(inside)} of them lie in their 95% intervals"
    )
    said += ": the errors are too small here." if check.errors_are_too_small else "."
    if found.model.n_components and found.known.n_missing and check.means_are_better:
        said += " The means do better: take the filled values with care."
    return Finding("held out", said, check.numbers)


def _component_words(found: Filling) -> Finding:
    model = found.model
    k, numbers = model.n_components, {"components": model.n_components}
    levels = "the levels of rows and columns" if model.row_bias_variance > 0 else "the column means"
    if not k:
        filled = f" Values are filled with {levels}." if found.known.n_missing else ""
        return Finding("component", f"No component is taken: {model.reason}.{filled}", numbers)
    share, error = float(model.shares.sum()), float(model.cumulative_share_errors[-1])
    columns = [name for name, _ in found.leading(0, 4 if len(found.known.names) > 4 else 2)]
    said = (
        f"{counted(k, 'component')} {'holds' if k == 1 else 'hold'} {percent(share)} of the variance (± {error:.1%}). "
        f"Why so many: {model.reason}. PC1 is led by {joined(columns)}."
    )
    return Finding("component", said, numbers | {"share": share, "share_error": error}, components=(0,))
