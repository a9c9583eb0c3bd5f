"""The functions that fit correspondence analyses: a coding, principal components of coded rows, projected columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, host_floats, to_host
from gramian.arrays.precision import FLOAT64
from gramian.choosing.shuffled import Cells, shuffled_verdict
from gramian.choosing.spectrum import Verdict
from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.models.categories.model import (
    TINY,
    CategoryOptions,
    CodedModel,
    FAMDModel,
    MCAModel,
    Supplementary,
    v_tests,
)
from gramian.models.pca.fit import PCASolve, effective_rows, solve_pca
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.sources.categories import LevelColumn, MixedTable
from gramian.sources.indicator import Coding, IndicatorRows
from gramian.sources.moments import measure_moments
from gramian.sources.rows import Block, add_each

_DEFAULTS = CategoryOptions()

LOOKED_AT = 256
"""Components that are solved for where a rule is to say how many there are, at most."""


def fit_mca(table: MixedTable, options: CategoryOptions = _DEFAULTS, *, supplementary: Sequence[str] = ()) -> MCAModel:
    """Fit a multiple correspondence analysis to the categories of a table.

    Computes the principal components of  z_ij / sqrt(Q p_j),  z being indicators of the J levels of Q categories and p
    their shares: the inertia of all components is (J - Q) / Q. Quantities are left out unless they are supplementary.

    Cost: that of principal components of n rows with Q entries each; one more pass for supplementary columns.

    Parameters
    ----------
    table : MixedTable
    options : CategoryOptions
    supplementary : sequence of str
        Columns that are projected and take no part in the fit.

    Examples
    --------
    >>> from gramian.sources.categories import open_mixed
    >>> table = open_mixed([["a", "u"], ["a", "u"], ["b", "v"], ["b", "u"]])
    >>> fit_mca(table).eigenvalues.round(4)
    array([0.7887, 0.2113])
    """
    names = [name for name in table.categories if name not in supplementary]
    if not names:
        message = "No column is left to be analyzed as a category. Name categories, or use PCA for quantities."
        raise InputError(message)
    coding = coding_of(table, names, (), share=1.0 / len(names), missing=options.missing)
    return _fit(MCAModel, table, coding, options, supplementary)  # type: ignore[return-value]


def fit_famd(
    table: MixedTable, options: CategoryOptions = _DEFAULTS, *, supplementary: Sequence[str] = ()
) -> FAMDModel:
    """Fit a factor analysis of mixed data to a table (Pages, 2004).

    Computes the principal components of standardized quantities beside  z_ij / sqrt(p_j):  each quantity has inertia 1,
    each category as many as it has levels, less one, and neither can decide a component by its unit.

    Cost, parameters: as for :func:`fit_mca`.

    Examples
    --------
    >>> from gramian.sources.categories import open_mixed
    >>> table = open_mixed([["a", 1.0], ["a", 2.0], ["b", 7.0], ["b", 8.0]], categories=[0])
    >>> fit_famd(table).eigenvalues.round(3)
    array([1.986, 0.014])
    """
    categories = [name for name in table.categories if name not in supplementary]
    quantities = [name for name in table.quantities if name not in supplementary]
    if not categories and not quantities:
        message = "No column is left to be analyzed: all of them are supplementary."
        raise InputError(message)
    coding = coding_of(table, categories, quantities, share=1.0, missing=options.missing)
    return _fit(FAMDModel, table, coding, options, supplementary)  # type: ignore[return-value]


def coding_of(
    table: MixedTable,
    categories: Sequence[str],
    quantities: Sequence[str],
    *,
    share: float,
    missing: str,
    passive: bool | None = None,
) -> Coding:
    """Return how the columns of a table become numbers: levels and their shares, means and deviations.

    Missing quantities are passed over where ``passive`` says so, by default where missing levels are.

    A level that only rows of weight zero have is none: it is not known from the fit.
    """
    weights = table.numbers.weights
    w = None if weights is None else to_host(weights)
    levels, shares = [], []
    for name in categories:
        column = table.categories[name]
        counts = np.bincount(column.codes + 1, w, minlength=len(column.levels) + 1).astype(FLOAT64)
        texts = (*column.levels, "")
        own = np.append(counts[1:], counts[0] if missing == "level" else 0.0)
        kept = np.flatnonzero(own > 0)
        if not len(kept):
            message = f"Column {name!r} has no value in any row, so it has no levels. Leave it out."
            raise InputError(message, column=name)
        levels.append(tuple(texts[i] for i in kept))
        shares.append(own[kept] / own[kept].sum())
    passive = missing == "passive" if passive is None else passive
    mean, deviation = _standardization(table, quantities, passive=passive)
    return Coding(
        quantities=tuple(quantities),
        categories=tuple(categories),
        levels=tuple(levels),
        proportions=np.concatenate(shares) if shares else np.empty(0),
        mean=mean,
        deviation=deviation,
        share=share,
    )


def _standardization(table: MixedTable, names: Sequence[str], *, passive: bool) -> tuple[HostArray, HostArray]:
    """Return mean and deviation of some quantities, of what is known of them where that is allowed."""
    used = [table.quantities.index(name) for name in names]
    if not used:
        return np.empty(0), np.empty(0)
    if passive:
        mean, squares = _known_moments(table, used)
    else:
        try:
            moments = measure_moments(table.numbers, scatter=False)
        except InputError as error:
            if error.is_missing:
                error.args = (
                    f"{error} missing='passive' places such a row by its other columns; fill them first, or use that.",
                )
            raise
        mean, squares = moments.mean[used], moments.squares[used] / moments.weight
    deviation = np.sqrt(squares)
    if not np.isfinite(deviation).all():
        name = names[int(np.argmin(np.isfinite(deviation)))]
        message = f"Column {name!r} has squares beyond the range of floats. Divide it by a power of ten first."
        raise InputError(message, column=name)
    constant = deviation <= 8 * np.finfo(FLOAT64).eps * np.abs(mean)
    return mean, np.where(constant, 1.0, deviation)


def _known_moments(table: MixedTable, used: Sequence[int]) -> tuple[HostArray, HostArray]:
    """Return mean and mean square deviation of what is known in some columns: two passes."""
    weight, total = table.numbers.reduce(partial(_known_sums, used, np.zeros(len(used)), 1), add_each)
    if (weight <= 0).any():
        name = table.quantities[used[int(np.argmin(weight))]]
        message = f"Column {name!r} has no value in any row. Leave it out."
        raise InputError(message, column=name)
    mean = total / weight
    weight, squares = table.numbers.reduce(partial(_known_sums, used, mean, 2), add_each)
    return mean, squares / weight


def _known_sums(used: Sequence[int], about: HostArray, power: int, state: Any, block: Block) -> Any:
    x = host_floats(block.rows)[:, used]
    known = ~np.isnan(x)
    w = np.ones((len(x), 1)) if block.weights is None else to_host(block.weights)[:, None]
    with np.errstate(over="ignore"):
        found = [(w * known).sum(axis=0), (w * np.where(known, x - about, 0.0) ** power).sum(axis=0)]
    return found if state is None else add_each(state, found)


def _fit(
    kind: type[CodedModel],
    table: MixedTable,
    coding: Coding,
    options: CategoryOptions,
    supplementary: Sequence[str],
) -> CodedModel:
    # A level that only rows of weight zero have is not known: such rows are placed by their other columns.
    rows = IndicatorRows(table, coding, unknown="ignore", passive=options.missing == "passive")
    model = fit_coded(rows, options, kind=kind)
    if not supplementary:
        return model
    return replace(model, supplementary=project_columns(table, rows, model, supplementary))


def fit_coded(
    rows: IndicatorRows, options: CategoryOptions = _DEFAULTS, *, kind: type[CodedModel] | None = None
) -> CodedModel:
    """Fit the model of rows that are coded already: by their coding, that of categories alone or of mixed data."""
    coding = rows.coding
    if kind is None:
        of_categories = not coding.quantities and coding.share == 1.0 / len(coding.categories)
        kind = MCAModel if of_categories else FAMDModel
    solve, pca = solve_coded(rows, options)
    return kind(coding, pca, options, _distances(kind, solve, rows))


def most_components(rows: IndicatorRows) -> int:
    """Return how many components coded rows can have: columns less one for each category, and not more than rows."""
    return max(min(effective_rows(rows), rows.n_columns - len(rows.coding.categories)), 1)


def require_count(rows: IndicatorRows, asked: Any) -> None:
    """Refuse a number of components that coded rows cannot have, and rules that are of quantities."""
    most = most_components(rows)
    if isinstance(asked, str) and asked != "auto":
        message = Sentence(
            "{asked} is for quantities. Pass an integer, a share such as 0.9, or 'auto', which shuffles columns.",
            asked=Parameter("n_components", (asked,)),
        )
        raise ParameterError(message, parameter="n_components", value=asked)
    if isinstance(asked, int) and not 0 <= asked <= most:
        message = Sentence(
            "{asked} is more than the {most} components that {levels} levels of {categories} categories{beside} and "
            "{n:,} rows can have. Pass an integer up to {most}, or None for all.",
            asked=Parameter("n_components", (asked,)),
            most=most,
            levels=len(rows.coding.proportions),
            categories=len(rows.coding.categories),
            beside=f" beside {len(rows.coding.quantities)} quantities" if rows.coding.quantities else "",
            n=effective_rows(rows),
        )
        raise ParameterError(message, parameter="n_components", value=asked)


def solve_coded(rows: IndicatorRows, options: CategoryOptions) -> tuple[PCASolve, PCAModel]:
    """Return principal components of coded rows: as many as are asked for, or a rule says."""
    asked, most = options.n_components, most_components(rows)
    require_count(rows, asked)
    looked = most if asked is None else most_shown(rows, asked) if asked == "auto" else asked
    solve = solve_pca(
        rows,
        PCAOptions(
            n_components=looked,
            ddof=0,
            tol=options.tol,
            seed=options.seed,
            memory_budget=options.memory_budget,
            progress=options.progress,
        ),
    )
    found = solve.model(looked)
    if asked == "auto":
        verdict = _count_by_shuffling(rows, found, options.seed)
        return solve, replace(found.truncated(max(verdict.n_components, 1)), verdict=verdict.reason)
    # The directions of indicators that are constant by construction are no components.
    return solve, found.truncated(max(found.rank, 1)) if asked is None else found


def most_shown(rows: IndicatorRows, asked: Any) -> int:
    """Return how many components are solved for where some are to be chosen: those asked for, and 256 at most."""
    most = most_components(rows)
    return asked if isinstance(asked, int) and asked > LOOKED_AT else min(most, LOOKED_AT)


def count_coded(rows: IndicatorRows, model: CodedModel, options: CategoryOptions) -> Verdict:
    """Return how many of the components of a model are asked for, by a number, a share of the inertia, or "auto"."""
    asked, k = options.n_components, model.n_components
    if asked == "auto":
        return _count_by_shuffling(rows, model.pca, options.seed)
    if isinstance(asked, float):
        below = np.cumsum(to_host(model.shares)) <= asked
        return Verdict("share", min(int(below.sum()) + 1, k), f"It holds more than {asked:.4g} of the inertia.")
    require_count(rows, asked)
    return Verdict("asked", k if asked is None else int(asked), "")


def _count_by_shuffling(rows: IndicatorRows, model: PCAModel, seed: int) -> Verdict:
    """Return how many components stand out of tables whose columns were shuffled."""
    codes, numbers = rows.cells()
    values = to_host(model.variances).astype(FLOAT64)[: max(model.rank, 1)]
    groups, q = rows.coding.groups, len(rows.coding.quantities)
    factors = [rows.coding.weights[group.start - q : group.stop - q] for group in groups]
    weights = None if rows.weights is None else to_host(rows.weights)
    return shuffled_verdict(values, Cells(codes, numbers, factors, weights), seed=seed)


def _distances(kind: type[CodedModel], solve: PCASolve, rows: IndicatorRows) -> HostArray:
    """Return the squared distance of each level from the center, in the units of the levels' coordinates."""
    coding = rows.coding
    if kind is MCAModel:
        return 1.0 / coding.proportions - 1.0
    if not len(coding.proportions):
        return np.empty(0)
    q, moments = len(coding.quantities), solve.rows.moments
    scatter = moments.scatter if moments.scatter is not None else measure_moments(rows).scatter
    columns = to_host(scatter)[:, q:] / moments.weight
    found: HostArray = (columns**2).sum(axis=0) / coding.averages**2
    return found


@dataclass(frozen=True, eq=False)
class _Projecting:
    """What is summed over the rows about supplementary columns."""

    rows: IndicatorRows
    pca: PCAModel
    used: tuple[int, ...]
    mean: HostArray
    deviation: HostArray
    columns: tuple[LevelColumn, ...]

    def __call__(self, state: Any, block: Block) -> Any:
        for piece, numbers in self.rows.pieces(block):
            z = (host_floats(numbers)[:, self.used] - self.mean) / self.deviation
            scores = np.asarray(self.pca.project(piece.rows))
            here = slice(piece.start, piece.start + len(scores))
            weights = None if piece.weights is None else to_host(piece.weights)
            found = _column_sums(scores, z, [column.codes[here] for column in self.columns], self.columns, weights)
            state = found if state is None else add_each(state, found)
        return state


def _column_sums(
    scores: HostArray,
    z: HostArray,
    codes: Sequence[HostArray],
    columns: Sequence[LevelColumn],
    weights: HostArray | None,
) -> list[Array]:
    """Return sums over rows: products of standardized quantities with scores, scores by level."""
    w = np.ones(len(scores)) if weights is None else weights
    known = ~np.isnan(z)
    z = np.where(known, z, 0.0)
    wz, wk = w[:, None] * z, w[:, None] * known
    found = [wk.sum(axis=0), wz.sum(axis=0), (wz * z).sum(axis=0), wz.T @ scores, wk.T @ scores, wk.T @ scores**2]
    for own, column in zip(codes, columns, strict=True):
        here, count = own >= 0, len(column.levels)
        sums = [np.bincount(own[here], w[here] * scores[here, s], minlength=count) for s in range(scores.shape[1])]
        found += [
            np.bincount(own[here], w[here], minlength=count).astype(FLOAT64),
            np.column_stack(sums),
            (w[here, None] * scores[here] ** 2).sum(axis=0),
        ]
    return found


def project_columns(table: MixedTable, rows: IndicatorRows, model: CodedModel, names: Sequence[str]) -> Supplementary:
    """Return where columns that took no part in a fit stand: one pass, or three where quantities are among them.

    Cells without a value are left out of what is said of their column.
    """
    quantities = tuple(name for name in table.quantities if name in names)
    columns = {name: table.categories[name] for name in table.categories if name in names}
    mean, deviation = _standardization(table, quantities, passive=True)
    used = tuple(table.quantities.index(name) for name in quantities)
    folded = _Projecting(rows, model.pca, used, mean, deviation, tuple(columns.values()))
    sums = table.numbers.reduce(folded, add_each)
    return _supplementary(sums, quantities, columns, model.eigenvalues, model.level_unit)


def supplementary_of(
    scores: HostArray,
    quantities: Mapping[str, HostArray],
    categories: Mapping[str, LevelColumn],
    variances: Any,
    *,
    unit: HostArray,
) -> Supplementary:
    """Return where columns stand on components whose scores (n, k) are known, of any method.

    Parameters
    ----------
    scores : numpy array (n, k)
    quantities : mapping of str to numpy array (n,)
        NaN where nothing is known.
    categories : mapping of str to LevelColumn
    variances : array (k,)
        Of the scores.
    unit : numpy array (k,)
        What means of rows are divided by to be coordinates of levels: ones for means of scores.

    Examples
    --------
    >>> x = np.array([[1.0], [2.0], [3.0], [4.0]])
    >>> supplementary_of(x, {"twice": 2 * x[:, 0]}, {}, np.ones(1), unit=np.ones(1)).correlations.round(6)
    array([[1.]])
    """
    z = np.empty((len(scores), 0))
    if quantities:
        x = np.column_stack(list(quantities.values())).astype(FLOAT64)
        spread = np.nanstd(x, axis=0)
        z = (x - np.nanmean(x, axis=0)) / np.where(spread > 0, spread, 1.0)
    columns = list(categories.values())
    sums = _column_sums(scores, z, [column.codes for column in columns], columns, None)
    return _supplementary(sums, tuple(quantities), categories, to_host(variances).astype(FLOAT64), unit)


def _supplementary(
    sums: Sequence[HostArray],
    quantities: tuple[str, ...],
    columns: Mapping[str, LevelColumn],
    variances: HostArray,
    unit: HostArray,
) -> Supplementary:
    weight, z, zz, zy, y, yy = sums[:6]
    weight = np.maximum(weight, TINY)
    covariance = zy / weight[:, None] - z[:, None] * y / weight[:, None] ** 2
    deviations = np.sqrt(np.maximum(zz / weight - (z / weight) ** 2, 0.0))
    spreads = np.sqrt(np.maximum(yy / weight[:, None] - (y / weight[:, None]) ** 2, 0.0))
    levels, coordinates, tests, eta2 = [], [], [], []
    for j, column in enumerate(columns.values()):
        counts, totals, squares = sums[6 + 3 * j : 9 + 3 * j]
        kept = np.flatnonzero(counts > 0)
        whole = max(float(counts.sum()), TINY)
        means, center = totals[kept] / counts[kept, None], totals.sum(axis=0) / whole
        between = (counts[kept, None] * (means - center) ** 2).sum(axis=0)
        levels.append(tuple(column.levels[i] for i in kept))
        coordinates.append(means / unit)
        tests.append(v_tests(means, variances, counts[kept] / whole, whole))
        eta2.append(_over(between, squares - whole * center**2))
    k = zy.shape[1]
    return Supplementary(
        quantities=quantities,
        correlations=_over(covariance, deviations[:, None] * spreads),
        categories=tuple(columns),
        levels=tuple(levels),
        coordinates=np.vstack([np.empty((0, k)), *coordinates]),
        v_tests=np.vstack([np.empty((0, k)), *tests]),
        eta2=np.vstack([np.empty((0, k)), *eta2]),
    )


def _over(part: HostArray, whole: HostArray) -> HostArray:
    """Return a ratio, zero where there is nothing to divide by."""
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=np.abs(whole) > TINY)
