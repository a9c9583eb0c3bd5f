"""A table analyzed once: :func:`analyze` gives one frozen :class:`Analysis` that every front end renders.

table -> moments -> one solve -> rules for k, models of k components and of some more -> scores, distances, shown rows.
Rows without missing values are passed over three times: for the moments, for the sample that rules look at, and for
scores, distances and the rows shown. Small singular values may want one more pass (``root``); a wide table, whose
n x n problem is solved, takes seven in all.
"""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from gramian.analysis.categories import (
    CODED,
    coded_categories,
    columns_in_words,
    open_for,
    project_supplementary,
    supplementary_notes,
)
from gramian.analysis.examine import Cut, Examined, Subject, examine
from gramian.analysis.findings import Finding, counted, sentence_of
from gramian.analysis.folder import write_folder
from gramian.analysis.groups import groups_by_label, label_notes, label_values
from gramian.analysis.noise import count_beyond_blocks, exclusive_columns
from gramian.analysis.rows import RowMeasures, ShownRows, measure_rows, shown_rows
from gramian.analysis.table import Prepared, ReadOptions, Say
from gramian.arrays.namespace import HostArray, is_elsewhere, on_device, to_host
from gramian.arrays.precision import FLOAT64
from gramian.arrays.transfer import empty_on
from gramian.choosing.spectrum import Verdict
from gramian.errors import ConvergenceWarning, InputError, MemoryBudgetError, Parameter, ParameterError, Sentence
from gramian.machine import bytes_of
from gramian.models.categories.model import Supplementary
from gramian.models.pca.fit import PCASolve, check_divisor, first_facts, solve_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.scoring import Outliers
from gramian.models.placing import home
from gramian.planning.plan import plan_pca
from gramian.sources.file_options import FileOptions, is_path
from gramian.sources.indicator import IndicatorRows
from gramian.sources.moments import Moments
from gramian.sources.on_device import moved
from gramian.sources.opening import require_mapping
from gramian.sources.rows import RowSource

METHODS = ("auto", "pca", "kpca", "ica", *CODED)
"""What a table can be analyzed by; "auto" is principal components, or what its categories ask for."""

ASKED_UNASKED = 50_000_000
"""Numbers of a table up to which every rule is asked also where the number of components was given."""

SHOWN_CHEAPLY = 20_000_000
"""Numbers of a table up to which more components are kept for the page than the model has."""


class Pages(Protocol):
    """What renders an analysis; ``gramian.report`` has the one that people see."""

    @property
    def write(self) -> Callable[..., Path]:
        """Write a page of an analysis to a path."""

    def html(self, found: "Analysis") -> str:
        """Return a short HTML view."""


@dataclass(frozen=True)
class Request:
    """What is asked of an analysis, apart from how its table is read.

    Attributes
    ----------
    method : str
        "pca", "kpca", "ica", "mca" or "famd".
    n_components : int, float, str or None
    seed : int
    memory_budget : int or None
    center : bool
        Whether rows, or the features of a kernel, are centered.
    ddof : int
        Of PCA: variances are sums of squares over n - ddof.
    solver : str
        Of PCA: "auto", or a name that :class:`~gramian.PCA` takes as ``svd_solver``.
    tol : float
        Residual, relative to the first eigenvalue; 0 for the default.
    most_steps : int or None
        Steps that the power method may take for each component.
    kernel, gamma, sigma, degree, coef0, landmarks, copy_rows
        Of kernel PCA.
    algorithm, runs
        Of ICA.
    image_shape : pair of int or None
        Rows are images of this height and width.
    sampling_rate : float or None
        Rows per second, for sources.
    device : str or None
        Where the fit computes: rows are moved there, and what is made of them comes back. By default where they are.
    """

    method: str = "pca"
    n_components: Any = "auto"
    seed: int = 0
    memory_budget: int | None = None
    kernel: str = "rbf"
    gamma: Any = None
    degree: int = 3
    coef0: float = 1.0
    landmarks: int | None = None
    copy_rows: bool = True
    algorithm: str = "picard"
    runs: int = 1
    image_shape: tuple[int, int] | None = None
    sampling_rate: float | None = None
    center: bool = True
    ddof: int = 1
    solver: str = "auto"
    tol: float = 0.0
    most_steps: int | None = None
    sigma: float | None = None
    device: str | None = None

    @property
    def is_matrix(self) -> bool:
        """Whether the table is a kernel matrix: its columns are rows too, and none is scaled, filled or left out."""
        return self.method == "kpca" and self.kernel == "precomputed"


@dataclass(frozen=True, eq=False)
class Analysis:
    """What was found in a table; every front end renders this value, and computes nothing.

    Attributes
    ----------
    request : Request
        What was asked.
    table : Prepared
        The table as it was fitted: columns, scaling, missing values, and the notes about them.
    moments : Moments or None
        Of its rows.
    model : PCAModel, KernelPCAModel, ICAModel, MCAModel or FAMDModel
        With as many components as are kept.
    shown : model
        The same with some more components, where those are cheap: one solve gives both.
    panel : Panel or None
        What every rule says about the number of components.
    scores : array (n, k) or None
        Of all rows, on the components of ``shown``.
    measured : RowMeasures or None
        What the pass over the rows left, for a PCA.
    sample : ShownRows or None
        The rows that there is room to show.
    recommended : int or None
        Components that stand out, by the one rule that is followed; what the others say is in ``panel``.
    shuffled : Verdict or None
        Components of coded rows that stand out of shuffled columns.
    groups : dict of numpy array (n,)
        The group of each row, by the name of the label; none for a label that is a number.
    why : str
        The method, and why it.
    notes : tuple of str
        What was done to the table and what a reader should know of the fit, a sentence each.
    converged : bool
    supplementary : Supplementary or None
        Where columns stand that were projected and not fitted.
    examined : Examined or None
        What was measured and tested, from which the findings of every cut are told.
    pages : Pages or None
        What renders it.
    """

    request: Request
    table: Prepared
    moments: Moments | None
    model: Any
    shown: Any
    scores: Any
    why: str
    panel: Any = None
    measured: RowMeasures | None = None
    sample: ShownRows | None = None
    recommended: int | None = None
    shuffled: Verdict | None = None
    groups: dict[str, HostArray] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    converged: bool = True
    supplementary: Supplementary | None = None
    examined: Examined | None = None
    pages: Pages | None = None

    @property
    def method(self) -> str:
        """How the table was analyzed: "pca", "kpca", "ica", "mca" or "famd"."""
        return self.request.method

    @property
    def seed(self) -> int:
        """Seed of all draws."""
        return self.request.seed

    @property
    def image_shape(self) -> tuple[int, int] | None:
        """Height and width, where rows are images."""
        return self.request.image_shape

    @property
    def n_components(self) -> int:
        """Components that are kept."""
        return int(self.model.n_components)

    @property
    def distances(self) -> Outliers | None:
        """Hotelling's T2 and the squared prediction error of each row, their limits, and the rows beyond them.

        From the components of the rows that are not outlying; ``measured.outliers`` has those from ``model``.
        """
        found = None if self.measured is None else self.at(self.n_components).outliers
        return None if found is None else found.found

    @property
    def labels(self) -> dict[str, Any]:
        """Columns that color the rows, by name."""
        return self.table.labels

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, with the components that are kept; the first is the lead."""
        return self.at(self.n_components).findings

    @property
    def cuts(self) -> range:
        """Numbers of components that :meth:`at` takes."""
        return range(1) if self.examined is None else self.examined.cuts

    def at(self, k: int) -> Cut:
        """Return what is said and flagged when ``k`` components are kept: no pass over the rows.

        ``k`` is one of ``cuts``, or ``n_components``.
        """
        if self.examined is None:
            message = "This analysis was not examined. Make it with gramian.analyze."
            raise ParameterError(message)
        if k not in self.cuts and k != self.n_components:
            message = f"k={k} is none of {self.cuts.start}..{self.cuts.stop - 1}, nor the {self.n_components} kept."
            raise ParameterError(message, parameter="k", value=k)
        return self.examined.at(k)

    @property
    def kept_scores(self) -> Any:
        """Scores of all rows on the components kept (n, k)."""
        return self.scores[:, : self.n_components]

    def report(self, path: str | os.PathLike[str], **more: Any) -> Path:
        """Write the page to a file: one HTML file that opens without a network.

        Further keywords: ``title``, ``command`` and ``made``, as for :func:`~gramian.report.write_report`.
        """
        return self._rendered_by().write(self, path, **more)

    def save(self, folder: str | os.PathLike[str], *, page: bool = True, **more: Any) -> tuple[Path, ...]:
        """Write model, scores, loadings and page into a folder, as the command line does; return the files.

        All of them are written, or none: each gets its name when the last one is complete.
        """
        return write_folder(self, folder, page=page, **more)

    def __str__(self) -> str:
        size = f"{self.table.source.n_rows:,} rows, {columns_in_words(self.table)}"
        return "\n".join([f"{self.method.upper()} of {self.table.origin}: {size}", *map(str, self.findings)])

    def __repr__(self) -> str:
        return f"<Analysis: {self.method} of {self.table.origin}, {counted(self.n_components, 'component')}>"

    def _repr_html_(self) -> str:
        """Return a short view for notebooks: what was found, the components, and the map of rows."""
        return self._rendered_by().html(self)

    def _rendered_by(self) -> Pages:
        if self.pages is None:
            message = "This analysis has nothing to render it. Make it with gramian.analyze."
            raise ParameterError(message)
        return self.pages


def analyze(
    X: Any,
    *,
    n_components: float | str | None = "auto",
    method: str = "auto",
    columns: str | Sequence[str] | None = None,
    drop: str | Sequence[str] | None = None,
    id: str | None = None,  # noqa: A002 - what a person calls it
    color: str | None = None,
    scale: bool | None = None,
    missing: str = "em",
    memory_budget: int | str | None = None,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
    roles: Mapping[str, str] | None = None,
    supplementary: str | Sequence[str] | None = None,
    pages: Pages | None = None,
    **more: Any,
) -> Analysis:
    """Analyze a table: columns chosen, missing values filled, scaling decided, components found and explained.

    The same as ``gramian pca FILE`` does, with the same numbers. Text, ids and constant columns are left out, missing
    values are filled, and columns of different size are scaled; ``table.notes`` says what was done.

    Cost: for a PCA of a table without missing values three passes over the rows and one solve; a file of text is
    parsed once.

    Parameters
    ----------
    X : path, pandas, polars or Arrow table, or array (n, d)
    n_components : int, float, "auto", "mle" or None
        A number, a share of the variance, what the automatic rule says, or all. Of kernel PCA "auto" keeps ten.
    method : str
        "pca", "kpca" (kernel PCA), "ica", "mca" (multiple correspondence analysis) or "famd" (factor analysis of mixed
        data). "auto": "mca" for a table of categories alone, "famd" where there is one quantity or the categories are
        as many as the quantities, else "pca"; see :mod:`gramian.analysis.categories`.
    columns, drop : str or sequence of str, optional
        Columns to use, or to leave out: names, globs, or types such as ``":float"``.
    id, color : str, optional
        Columns that name and color the rows; looked for where nothing is said.
    scale : bool, optional
        Whether columns are scaled to unit variance; by default where their spreads differ more than two-fold and their
        names give no common unit.
    missing : str
        "em" fills missing values by probabilistic PCA, "drop" drops their rows, "error" refuses them.
    memory_budget : int or str, optional
        What the work may take, such as "4GB".
    seed : int
    progress : callable, optional
        Called with a sentence before each stage.
    roles : mapping of str to str, optional
        What columns are, by name, in place of what the rules find: "quantity", "category", "id", "name", "date" or
        "text" (see :mod:`gramian.sources.roles`).
    supplementary : str or sequence of str, optional
        Columns that are projected on the components and never fitted: ``found.supplementary`` has the correlations of
        quantities, and coordinates, tests and correlation ratios of categories.
    pages : Pages, optional
        What renders the analysis; ``gramian.analyze`` passes that of ``gramian.report``.
    more : keywords
        Further attributes of :class:`Request`: ``center``, ``ddof``, ``solver``, ``tol`` and ``most_steps`` of PCA,
        ``kernel``, ``gamma``, ``sigma``, ``degree``, ``coef0`` and ``landmarks`` of kernel PCA, ``algorithm`` and
        ``runs`` of ICA, ``device`` of these three, ``image_shape`` and ``sampling_rate`` of what rows are. Of a file
        also ``array``, ``sheet``, ``decimal``, ``na``, ``transpose``, ``names`` and ``labels``, as for
        :func:`~gramian.sources.opening.as_source`.

    Returns
    -------
    Analysis
        With ``findings`` in words, ``model``, ``scores``, ``distances``, ``panel``; ``save(folder)`` and
        ``report(path)`` write it, and a notebook shows it.

    Examples
    --------
    >>> import gramian
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> t = rng.standard_normal(100)
    >>> columns = {"name": [f"row {i}" for i in range(100)], "a": t, "b": t + 0.1 * rng.standard_normal(100)}
    >>> found = gramian.analyze(pa.table(columns))
    >>> found.n_components, found.table.names, found.table.scale
    (1, ('a', 'b'), False)
    >>> print(found.findings[0])
    b and a go together along PC1: row 79 and row 47 at one end, ... It holds 99.8% ...
    """
    known = {*Request.__dataclass_fields__, *FileOptions._fields} - {"method", "n_components", "seed", "memory_budget"}
    odd = [name for name in more if name not in known]
    if odd:
        message = f"analyze takes no {odd[0]!r}. Further keywords are {', '.join(sorted(known))}."
        raise ParameterError(message, parameter=odd[0], value=more[odd[0]])
    require_mapping(roles)
    file = FileOptions(**{name: more.pop(name) for name in FileOptions._fields if name in more})
    if file != FileOptions() and not is_path(X):
        message = "array, sheet, decimal, na, transpose, names and labels are for files, and X is none. Leave them out."
        raise ParameterError(message, parameter="X")
    if missing not in ("em", "drop", "error"):
        message = f"missing={missing!r} is none of 'em', 'drop' and 'error'."
        raise ParameterError(message, parameter="missing", value=missing)
    budget = None if memory_budget is None else bytes_of(memory_budget)
    request = Request(method, n_components, seed, budget, **more)
    _require_method(request)
    options = ReadOptions(
        columns=_words(columns),
        drop=_words(drop),
        id=id,
        color=color,
        missing="error" if request.is_matrix else missing,
        # Scaling the columns does not change the sources.
        scale=False if method == "ica" or request.is_matrix else scale,
        memory=budget,
        keep_constant=request.image_shape is not None or request.is_matrix,
        roles=dict(roles or {}),
        file=file,
        supplementary=_words(supplementary),
        device=request.device,
    )
    require_device(request)
    table, found = open_for(X, options, method, progress)
    return analyze_table(table, replace(request, method=found), progress, pages=pages, opened=X)


def _words(given: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


def _require_method(request: Request) -> None:
    if request.method not in METHODS:
        message = f"method={request.method!r} is none of {', '.join(map(repr, METHODS))}."
        raise ParameterError(message, parameter="method", value=request.method)


def analyze_table(
    table: Prepared, request: Request, say: Say | None = None, *, pages: Pages | None = None, opened: Any = None
) -> Analysis:
    """Analyze a table that was made ready by :func:`~gramian.analysis.categories.open_for`; see :func:`analyze`.

    ``opened`` is what it was made of, where supplementary columns are to be read from it.
    """
    require_varying(table)
    require_device(request)
    if request.image_shape is None and request.method != "ica":
        request = replace(request, image_shape=table.image_shape)
    say = say or (lambda _sentence: None)
    fits = {"pca": _principal, "kpca": _kernel, "ica": _independent, "mca": _categorical, "famd": _categorical}
    fit = fits[request.method]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = fit(table, request, say)
    said = tuple(dict.fromkeys(sentence_of(warning) for warning in caught))
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    groups = groups_by_label({name: label_values(values) for name, values in table.labels.items()})
    tested = (
        [] if found.scores is None else [name for name in table.labels if name not in coded_categories(table.source)]
    )
    notes = (*table.notes, *found.notes, *label_notes(tested), *said)
    found = replace(found, notes=notes, groups=groups, converged=converged, pages=pages)
    if table.options.supplementary and opened is not None:
        found = _with_supplementary(found, opened)
    say("testing what is said about the components")
    return replace(found, examined=examine(_subject(found)))


def _subject(found: Analysis) -> Subject:
    """Return what findings are drawn from."""
    table = found.table
    return Subject(
        found.shown,
        table.names,
        found.n_components,
        scores=None if found.scores is None else to_host(found.scores).astype(FLOAT64, copy=False),
        spread=table.spread,
        measured=found.measured,
        labels={name: label_values(values) for name, values in table.labels.items()},
        groups=found.groups,
        row_names=table.called,
        panel=found.panel,
        telling=found.image_shape is None and (table.source.column_names is not None or len(table.names) <= 40),
        blocks=_blocks(found),
        recommended=found.recommended,
        filled=table.filled,
        shuffled=found.shuffled,
        coded=coded_categories(table.source),
        table_columns=() if table.facts is None else [column.name for column in table.facts.columns],
        seed=found.seed,
    )


def _blocks(found: Analysis) -> tuple[tuple[int, ...], ...]:
    """Return the columns of each category: as it was coded, or as the numbers tell."""
    if isinstance(found.table.source, IndicatorRows):
        return tuple(tuple(range(group.start, group.stop)) for group in found.table.source.coding.groups)
    return exclusive_columns(found.table.moments) if found.method == "pca" else ()


def _with_supplementary(found: Analysis, X: Any) -> Analysis:
    """Project the columns that took no part in the fit."""
    variances = found.model.variances if found.model.kind == "pca" else np.var(found.kept_scores, axis=0)
    unit = getattr(found.model, "level_unit", np.ones(found.n_components))
    more = project_supplementary(X, found.table, found.kept_scores, variances, unit=unit)
    return replace(found, supplementary=more, notes=(*found.notes, *supplementary_notes(more, found.model.prefix)))


def require_varying(table: Prepared) -> None:
    """Refuse a table in which nothing varies: every number that a fit would give is arbitrary."""
    if table.varies:
        return
    n = table.source.n_rows
    if n == 1:
        message = f"{table.origin} has one row, so nothing varies and there is nothing to find. Give it more rows."
    else:
        message = (
            f"{table.origin}: every column is constant over its {n:,} rows, so there is nothing to find. "
            "Use columns that vary."
        )
    raise InputError(message)


def plan_of(table: Prepared, request: Request) -> str:
    """Return what a fit would do and take, in words; refused where the budget is too small for it."""
    if request.method in ("pca", *CODED):
        source = _rows_to_fit(table, request, dry=True)
        return str(_planned(plan_pca(first_facts(source, _pca_options(table, request, request.n_components))), source))
    if request.method == "ica":
        options = PCAOptions(n_components=_source_count(request), ddof=0, memory_budget=request.memory_budget)
        source = _rows_to_fit(table, request, dry=True)
        whitening = _planned(plan_pca(first_facts(source, options)), source)
        return f"whitening: {whitening}\nthen {request.algorithm}, one pass per step"
    from gramian.features.sampling import resolve_kernel
    from gramian.models.kernel_pca.fit import first_plan

    options_of_kernel = _kernel_options(table, request)
    kernel = resolve_kernel(options_of_kernel.kernel, table.source, seed=options_of_kernel.seed).kernel
    source = _rows_to_fit(table, request, dry=True)
    return f"{kernel}\n{_planned(first_plan(source, options_of_kernel), source)}"


def _pca_options(table: Prepared, request: Request, count: Any, say: Say | None = None) -> PCAOptions:
    return PCAOptions(
        n_components=count,
        scale=table.scale,
        center=request.center,
        ddof=request.ddof,
        solver="auto" if request.solver in {"arpack", "randomized"} else request.solver,
        tol=request.tol,
        most_steps=request.most_steps,
        seed=request.seed,
        memory_budget=request.memory_budget,
        progress=say,
    )


def require_device(request: Request) -> None:
    """Refuse a device that is not there, or that has no meaning for what is asked, before any work."""
    if not is_elsewhere(request.device):
        return
    empty_on(request.device)
    what = "precomputed kernels" if request.is_matrix else "landmarks" if request.landmarks else "categories"
    if request.is_matrix or request.landmarks or request.method in CODED:
        message = Sentence(
            "{device}: {what} are computed on the host. Leave the device out.",
            device=Parameter("device", (request.device,)),
            what=what,
        )
        raise ParameterError(message, parameter="device", value=request.device)


def _rows_to_fit(table: Prepared, request: Request, *, dry: bool = False) -> RowSource:
    """Return the rows where the fit computes; a PCA whose scatter is known asks for no more than a sample of them."""
    is_measured = request.method == "pca" and table.moments is not None and table.moments.scatter is not None
    is_there = not is_elsewhere(request.device) or on_device(table.source.like())
    if is_there or (is_measured and not dry):
        return table.source
    return moved(table.source, request.device, whole=request.method == "kpca", dry=dry)


def _planned(plan: Any, source: RowSource) -> Any:
    return replace(plan, moved=source.moved) if source.moved else plan


def _principal(table: Prepared, request: Request, say: Say) -> Analysis:
    """Solve once, ask the rules, and keep as many components as they say, and some more to show."""
    # Refused here, before any work, where the budget is too small for what is asked.
    plan_of(table, request)
    check_divisor(table.source, request.ddof)
    source, count = table.source, request.n_components
    size, most = source.n_rows * source.n_columns, min(source.n_rows, source.n_columns)
    solve, panel = _solved(table, request, say)
    notes: tuple[str, ...] = ()
    recommended = _recommended(table, panel, request.seed)
    if count == "auto" and recommended is not None:
        count = recommended
    solve, choice = solve.seen_by(count)
    # Where it is cheap, the page has at least ten more components: a reader sees what the next would add.
    more = min(most, max(30, choice.k + 10)) if panel is not None and size <= SHOWN_CHEAPLY else choice.k
    shown = home(solve.model(max(more, choice.k)), solve.source)
    # Beyond the rank components are rounding: nothing to look at.
    shown = shown.truncated(min(shown.n_components, max(shown.rank, choice.k)))
    asked = replace(shown.options, n_components=count)
    model = replace(shown.truncated(choice.k), verdict=choice.reason, options=asked)
    say("projecting the rows")
    moments = solve.rows.moments if np.all(np.equal(solve.rows.exponents, 0)) else None
    measured = measure_rows(shown, source, n_components=model.n_components, moments=moments, seed=request.seed)
    if request.center:
        of = "correlations" if table.scale else "covariances"
    else:
        of = "cosines of the columns" if table.scale else "mean products of the columns"
    return Analysis(
        request,
        table,
        measured.moments,
        model,
        shown,
        measured.scores,
        f"Principal components of the {of}: {model.plan.summary}.",
        panel,
        measured,
        measured.shown(),
        recommended=recommended,
        notes=notes,
    )


def _categorical(table: Prepared, request: Request, say: Say) -> Analysis:
    """Fit a correspondence analysis to coded rows: no distances, which are those of Gaussian rows."""
    from gramian.models.categories.fit import count_coded, fit_coded, most_shown
    from gramian.models.categories.model import CategoryOptions

    rows: Any = table.source
    options = CategoryOptions(
        n_components=request.n_components, seed=request.seed, memory_budget=request.memory_budget, progress=say
    )
    whole = fit_coded(rows, replace(options, n_components=most_shown(rows, request.n_components)))
    if request.n_components == "auto":
        say("asking how many components stand out of shuffled columns")
    is_auto = request.n_components == "auto"
    shuffled = None
    if is_auto or rows.n_rows * rows.n_columns <= ASKED_UNASKED:
        shuffled = count_coded(rows, whole, replace(options, n_components="auto"))
    choice = shuffled if is_auto and shuffled is not None else count_coded(rows, whole, options)
    k = max(choice.n_components, 1)
    model, shown = whole.truncated(k), whole.truncated(max(k, min(max(30, k + 10), whole.rank)))
    notes: tuple[str, ...] = ()
    if request.n_components == "auto":
        kept = f"Kept {counted(k, 'component')}: {choice.reason[0].lower()}{choice.reason[1:]}"
        alone = "Nothing stands out of shuffled columns; one component is kept, so that there is something to look at."
        notes = (kept if choice.n_components else alone,)
    title = "Multiple correspondence analysis" if request.method == "mca" else "Factor analysis of mixed data"
    why = f"{title}, principal components of coded columns: {model.plan.summary}."
    say("projecting the rows")
    found = _without_distances(table, request, model, shown.project(rows), why=why, notes=notes)
    return replace(found, shown=shown, shuffled=shuffled)


def _recommended(table: Prepared, panel: Any, seed: int) -> int | None:
    """Return how many components stand out; dummy columns, which exclude each other, are no sign of any."""
    if panel is None:
        return None
    blocks = exclusive_columns(table.moments)
    if not blocks or table.moments is None:
        return int(panel.n_components)
    scatter = to_host(table.moments.scatter)
    beyond = count_beyond_blocks(scatter, table.moments.count, blocks, is_scaled=table.scale, seed=seed)
    return max(1, min(int(panel.n_components), beyond))


def _solved(table: Prepared, request: Request, say: Say) -> tuple[PCASolve, Any]:
    """Return the one solve, and what every rule says of it where they are asked."""
    source, count = _rows_to_fit(table, request), request.n_components
    # A solver that was named solves for what was asked, and no more: the power method is slow for many.
    asked = count == "auto" or (
        request.solver in {"auto", "full"} and source.n_rows * source.n_columns <= ASKED_UNASKED
    )
    if asked:
        # What the rules say is worth a few seconds also where the number was given.
        options = _pca_options(table, request, "auto", say)
        try:
            solve = solve_pca(source, options, moments=table.moments, least=count if isinstance(count, int) else 0)
        except MemoryBudgetError:
            if count == "auto":
                raise
        else:
            say("asking every rule how many components there are")
            return solve, solve.panel()
    options = _pca_options(table, request, count, say)
    return solve_pca(source, options, moments=table.moments), None


def _kernel_options(table: Prepared, request: Request, say: Say | None = None) -> Any:
    from gramian.models.kernel_pca.model import KernelPCAOptions

    # Ten where nothing is said: kernel PCA has as many components as rows, and no rule tells how many are real.
    count = min(10, table.source.n_rows) if request.n_components == "auto" else request.n_components
    if request.landmarks is not None and isinstance(count, int):
        count = min(count, request.landmarks)
    return KernelPCAOptions(
        n_components=count,
        kernel=_kernel_of(table, request),
        center=request.center,
        tol=request.tol,
        seed=request.seed,
        memory_budget=request.memory_budget,
        landmarks=request.landmarks,
        drop_zeros=True,
        progress=say,
    )


def _kernel_of(table: Prepared, request: Request) -> Any:
    """Return the kernel; where columns are scaled, with their scales inside it, so that new rows need no care."""
    from gramian.features.sampling import draw_positions, take_rows
    from gramian.kernels.combination import Stretched
    from gramian.kernels.named import as_kernel
    from gramian.kernels.widths import facts_of

    gamma = request.gamma
    # The median distance gives the width of a kernel of distances; the others take 1/d when nothing is said.
    if gamma is None and request.sigma is None and request.kernel in {"rbf", "gaussian", "laplacian", "matern"}:
        gamma = "median"
    words = {"gamma": gamma, "sigma": request.sigma, "degree": request.degree, "coef0": request.coef0}
    kernel = as_kernel(request.kernel, **words)
    if not table.scale:
        return kernel
    factors = 1.0 / np.where(table.spread > 0, table.spread, 1.0)
    source = table.source
    some = take_rows(source, draw_positions(source, min(2000, source.n_rows), seed=request.seed))
    return Stretched(kernel.resolved(facts_of(np.asarray(some) * factors)), tuple(factors.tolist()))


def _kernel(table: Prepared, request: Request, say: Say) -> Analysis:
    from gramian.models.kernel_pca.fit import fit_kernel_pca

    _ask_before_copying(table, request)
    source = _rows_to_fit(table, request)
    model = home(fit_kernel_pca(source, _kernel_options(table, request, say)), source)
    notes: list[str] = []
    if request.n_components == "auto":
        notes.append(
            Sentence(
                "Kept {kept} components; {count} asks for more, or for a share such as 0.9.",
                kept=model.n_components,
                count=Parameter("n_components"),
            )
        )
    if model.error is not None:
        notes.append(f"Approximate: {model.error}.")
    scores = model.scores
    why = f"Kernel principal components: {model.plan.summary}."
    return _without_distances(table, request, model, scores, why=why, notes=tuple(notes))


def _ask_before_copying(table: Prepared, request: Request) -> None:
    """Refuse to put more than 100 MB of rows into a model unless that was said."""
    size = table.source.n_entries * table.source.dtype.itemsize
    if size <= 100_000_000 or request.copy_rows or request.landmarks is not None:
        return
    message = Sentence(
        "The model would hold a copy of its rows, {size:,.0f} MB. Pass {copy} to let it, or {landmarks} for a model on "
        "so many of them.",
        size=size / 1e6,
        copy=Parameter("copy_rows", (True,)),
        landmarks=Parameter("landmarks", (1000,)),
    )
    raise ParameterError(message, parameter="copy_rows", value=request.copy_rows)


def _source_count(request: Request) -> int | None:
    count = request.n_components
    if isinstance(count, float):
        message = Sentence(
            "{asked}: the number of sources is an integer. Pass one, or leave {count} out for as many as there are.",
            asked=Parameter("n_components", (f"{count:g}",)),
            count=Parameter("n_components"),
        )
        raise ParameterError(message, parameter="n_components", value=count)
    return None if count == "auto" else count


def _independent(table: Prepared, request: Request, say: Say) -> Analysis:
    from gramian.models.ica.fit import fit_ica
    from gramian.models.ica.model import ICAOptions

    say(f"unmixing {table.source.n_columns} columns by {request.algorithm}")
    options = ICAOptions(
        n_components=_source_count(request),
        algorithm=request.algorithm,
        seed=request.seed,
        runs=request.runs,
        memory_budget=request.memory_budget,
    )
    source = _rows_to_fit(table, request)
    model = home(fit_ica(source, options), source)
    why = (
        f"Independent components by {request.algorithm}: {model.n_iter} steps, gradient norm {model.gradient_norm:.1e}"
        f"{'' if model.converged else ', not converged'}."
    )
    return _without_distances(table, request, model, model.project(table.source), why=why)


def _without_distances(
    table: Prepared, request: Request, model: Any, scores: Any, *, why: str, notes: tuple[str, ...] = ()
) -> Analysis:
    """Return an analysis whose model has no distances of rows: kernel PCA, ICA."""
    scores = to_host(scores)
    sample = None
    if len(scores):
        sample = shown_rows(model, table.source, scores.astype(np.float64), moments=table.moments, seed=request.seed)
    return Analysis(request, table, table.moments, model, model, scores, why, sample=sample, notes=notes)
