"""All that a page is made of, gathered and checked once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.analysis.analyze import Analysis
from gramian.analysis.categories import coded_categories
from gramian.analysis.examine import Cut, Examined, Subject, examine
from gramian.analysis.findings import Finding, percent
from gramian.analysis.groups import groups_by_label, label_values
from gramian.analysis.outliers import OutlierMap
from gramian.analysis.rows import RowMeasures, ShownRows, measure_rows, require_same_rows, shown_rows
from gramian.analysis.table import Prepared
from gramian.errors import ParameterError
from gramian.models.row_values import open_rows, open_rows_of
from gramian.pictures import Scree, column_names, model_of, names_of, scores_of, scree_of
from gramian.pictures.fitted import host

Labels = Mapping[str, Sequence[Any]]


@dataclass(frozen=True, slots=True)
class Material:
    """A fitted model, its rows as far as they are known, and what else is to be said.

    Attributes
    ----------
    model : PCAModel, KernelPCAModel or ICAModel
    names : list of str
        Of the columns.
    components : list of str
        What each component is called.
    scree : Scree
    source : RowSource or None
    scores : (n, k) array or None
    rows : ShownRows or None
        ``None`` where neither rows nor scores are known.
    labels : dict of (n,) arrays
    groups : dict of (n,) arrays of int
        The group of each row, for labels that are no numbers.
    color : str or None
        Label that colors first.
    row_names : list of str or None
    choice : Panel or None
    named : bool
        Whether the columns have names of their own.
    image_shape : pair of int or None
        Height and width, where rows are images.
    measured : RowMeasures or None
        What the pass over the rows of a PCA left.
    seed : int
        Of the rows that are shown.
    examined : Examined or None
        What findings are told from.
    dates : dict of (n,) arrays of datetime64
        Columns of dates, and names of rows that are dates.
    missing : pair of int and str, or None
        How many values were missing and what became of them, see :func:`_missing`; ``None`` where that is not known.
    supplementary : Supplementary or None
        Columns that were projected and not fitted.
    embed_rows : bool
        Whether the page holds rows: names, scores, values.
    known_cuts : dict of int to Cut
        Those that were asked for: what is said at a cut is put together once.
    """

    model: Any
    names: list[str]
    components: list[str]
    scree: Scree
    source: Any
    scores: np.ndarray | None
    rows: ShownRows | None
    labels: dict[str, np.ndarray] = field(default_factory=dict)
    groups: dict[str, np.ndarray] = field(default_factory=dict)
    color: str | None = None
    row_names: list[str] | None = None
    choice: Any = None
    named: bool = True
    image_shape: tuple[int, int] | None = None
    measured: RowMeasures | None = None
    seed: int = 0
    examined: Examined | None = None
    dates: dict[str, np.ndarray] = field(default_factory=dict)
    missing: tuple[int, str] | None = None
    supplementary: Any = None
    embed_rows: bool = True
    known_cuts: dict[int, Cut] = field(default_factory=dict)

    @property
    def cuts(self) -> list[int]:
        """Numbers of components that a reader can keep."""
        return sorted({*self.told.cuts, max(self.scree.chosen, 1)})

    @property
    def told(self) -> Examined:
        """What findings are told from."""
        if self.examined is None:
            message = "This material was not examined. Make it with gather or material_of."
            raise ParameterError(message)
        return self.examined

    @property
    def opening(self) -> Cut:
        """What is so where the page opens: with the components that were chosen."""
        return self.at(max(self.scree.chosen, 1))

    @property
    def outliers(self) -> OutlierMap | None:
        """Rows beyond a limit where the page opens: those that sentences speak of."""
        return self.opening.outliers

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found: the findings of the analysis, or of a model and its rows."""
        return self.opening.findings

    def at(self, k: int) -> Cut:
        """Say what is so when ``k`` components are kept."""
        if k not in self.known_cuts:
            self.known_cuts[k] = self.told.at(k)
        return self.known_cuts[k]

    def without_rows(self) -> "Material":
        """Return the same without any row: no name, score or value, also in what is said."""
        examined = self.examined
        if examined is not None:
            examined = _with_names(examined, None)
        return replace(
            self, rows=None, scores=None, source=None, row_names=None, labels={}, groups={}, color=None, dates={},
            examined=examined, embed_rows=False, known_cuts={},
        )  # fmt: skip

    def narrowed(self, limit: int) -> "Material":
        """Return the same with at most so many rows to show: no pass."""
        if self.rows is None:
            return self
        return replace(
            self,
            rows=self.rows.narrowed(limit, seed=self.seed) if self.measured is None else self.measured.shown(limit),
        )

    @property
    def telling(self) -> bool:
        """Whether names of columns tell a reader anything: not those of pixels, nor thousands of numbers."""
        return self.image_shape is None and (self.named or len(self.names) <= 40)

    @property
    def scaled(self) -> bool:
        """Whether columns were scaled."""
        return bool(self.model.is_scaled)

    @property
    def coding(self) -> Any:
        """How quantities and categories became columns of numbers; ``None`` where they were numbers."""
        return getattr(self.model, "coding", None)

    @property
    def n_columns(self) -> int:
        """Columns of the table that were fitted."""
        coding = self.coding
        return int(self.model.n_columns) if coding is None else len(coding.quantities) + len(coding.categories)

    @property
    def kind(self) -> str:
        """Return "pca", "kernel" or "ica"."""
        return str(self.model.kind)

    def row_name(self, position: int) -> str:
        """What a row is called."""
        return f"row {position + 1}" if self.row_names is None else self.row_names[position]


def gather(
    fitted: Any,
    *,
    rows: Any = None,
    scores: Any = None,
    names: Sequence[str] | None = None,
    labels: Labels | None = None,
    color: str | None = None,
    row_names: Sequence[Any] | None = None,
    choice: Any = None,
    chosen: int | None = None,
    image_shape: tuple[int, int] | None = None,
    seed: int = 0,
) -> Material:
    """Check what was handed over, and measure what a page shows of it.

    Cost: two passes for a PCA, three for other models; none without rows.
    """
    model: Any = model_of(fitted)
    source = None if rows is None else open_rows(rows)
    if source is None and model.source is not None and model.source.n_rows:
        source = model.source
    scree = scree_of(model, chosen=chosen, choice=choice)
    measured = None
    if scores is not None and source is not None:
        require_same_rows(len(scores), source)
    if model.kind == "pca" and source is not None:
        measured = measure_rows(model, open_rows_of(source, model.n_columns), n_components=scree.chosen, seed=seed)
    table = scores_of(model, source, measured.scores if measured is not None and scores is None else scores)
    shown = None
    if table is not None:
        shown = shown_rows(model, source, table, seed=seed) if measured is None else measured.shown()
    own = names if names is not None else getattr(source, "column_names", None)
    return _material(
        model,
        scree,
        names=own,
        source=source,
        scores=table,
        rows=shown,
        measured=measured,
        labels=labels,
        color=color,
        row_names=row_names,
        choice=choice,
        image_shape=image_shape,
        seed=seed,
    )


def answer_words(
    fitted: Any,
    *,
    rows: Any = None,
    scores: Any = None,
    names: Sequence[str] | None = None,
    labels: Labels | None = None,
    row_names: Sequence[Any] | None = None,
    choice: Any = None,
    chosen: int | None = None,
    image_shape: tuple[int, int] | None = None,
) -> tuple[str, ...]:
    """Say what a fitted model found, in paragraphs.

    Parameters
    ----------
    fitted : PCAModel, KernelPCAModel or ICAModel, or an estimator
    rows, scores, names, labels, row_names, choice, chosen, image_shape
        As for :func:`~gramian.report.write_report`.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> t = np.random.default_rng(0).standard_normal(200)
    >>> X = np.column_stack([t, 2 * t, -t]) + 0.1 * np.random.default_rng(1).standard_normal((200, 3))
    >>> answer_words(PCA().fit(X), names=["a", "b", "c"], chosen=1)[0]
    'b and a against c along PC1. It holds 99.7% of the variance.'
    """
    known = {"rows": rows, "scores": scores, "names": names, "labels": labels, "row_names": row_names}
    return tuple(map(str, gather(fitted, **known, choice=choice, chosen=chosen, image_shape=image_shape).findings))


def material_of(found: Analysis) -> Material:
    """Return what a page is made of from an analysis: nothing is measured again."""
    model, table = found.shown, found.table
    dates, called, examined = _dates_of(found), table.called, found.examined
    if dates and called is not None:
        # Days without a time of day, also where a sentence names a row.
        called = _day_names(next(iter(dates.values())), called)
        examined = None if examined is None else _with_names(examined, called)
    return _material(
        model,
        scree_of(model, chosen=found.model.n_components, choice=found.panel),
        names=table.names,
        source=table.source,
        scores=None if found.scores is None else host(found.scores),
        rows=found.sample,
        measured=found.measured,
        labels=table.labels or None,
        color=None,
        row_names=called,
        groups=found.groups,
        dates=dates,
        missing=_missing(table),
        supplementary=found.supplementary,
        choice=found.panel,
        image_shape=found.image_shape,
        seed=found.seed,
        examined=examined,
    )


def _material(
    model: Any,
    scree: Scree,
    *,
    names: Sequence[str] | None,
    scores: np.ndarray | None,
    measured: RowMeasures | None,
    labels: Labels | None,
    color: str | None,
    row_names: Sequence[Any] | None,
    groups: dict[str, np.ndarray] | None = None,
    dates: dict[str, np.ndarray] | None = None,
    **known: Any,
) -> Material:
    named = column_names(model, names)
    n = model.n_rows if scores is None else len(scores)
    tagged = {str(name): _column(name, values, n) for name, values in (labels or {}).items()}
    _check_names(color, tagged, row_names, n)
    days = {**(dates or {}), **{name: values for name, values in tagged.items() if values.dtype.kind == "M"}}
    tagged = {name: values for name, values in tagged.items() if name not in days}
    color = color if color in tagged or color in days else None
    made = Material(
        model=model,
        names=named,
        components=names_of(model),
        scree=scree,
        scores=scores,
        labels=tagged,
        groups=groups_by_label(tagged) if groups is None else groups,
        dates=days,
        color=color or next(iter(tagged), None),
        row_names=None if row_names is None else [str(name) for name in row_names],
        named=names is not None,
        measured=measured,
        **known,
    )
    return made if made.examined is not None else replace(made, examined=examine(_subject(made)))


def _subject(made: Material) -> Subject:
    """Return what findings about a fitted model and its rows are drawn from."""
    return Subject(
        made.model,
        made.names,
        max(made.scree.chosen, 1),
        scores=made.scores,
        spread=made.rows.spread if made.rows is not None and len(made.rows.spread) else None,
        measured=made.measured,
        labels=made.labels,
        groups=made.groups,
        row_names=made.row_names,
        panel=made.choice,
        telling=made.telling,
        recommended=None if made.choice is None else made.choice.n_components,
        coded=coded_categories(made.source),
        seed=made.seed,
    )


def _with_names(examined: Examined, names: list[str] | None) -> Examined:
    """Return what sentences are told from, with rows called otherwise, or not named at all."""
    subject, about = replace(examined.subject, row_names=names), replace(examined.about, row_names=names)
    return replace(examined, subject=subject, about=about)


def _day_names(dates: np.ndarray, names: list[str]) -> list[str]:
    """Return days without a time of day where every row has midnight; else the names as they are."""
    days = dates.astype("datetime64[D]")
    return names if np.isnat(dates).any() or not np.all(days == dates) else np.datetime_as_string(days).tolist()


def _missing(table: Prepared) -> tuple[int, str]:
    """Return how many values were filled, of those of quantities that are used; else how many were missing, and where.

    Examples
    --------
    >>> from gramian.sources import as_source
    >>> rows, filled = as_source(np.eye(2)), np.array([[True, False], [False, False]])
    >>> _missing(Prepared(rows, ("a", "b"), scale=False, notes=(), spread=np.ones(2), filled=filled))
    (1, '25% of the cells of quantities, filled')
    """
    if table.filled is not None and table.filled.any():
        return int(table.filled.sum()), f"{percent(table.filled.mean())} of the cells of quantities, filled"
    if table.row_numbers is not None:
        used = [count for name, count in table.missing.items() if name not in table.left_out]
        return sum(used), "in rows that were dropped"
    count = sum(table.missing.values())
    return count, "in columns left out" if count else "in columns of quantities"


def _dates_of(found: Analysis) -> dict[str, np.ndarray]:
    """Return the names of rows as dates, where the column that names them holds dates."""
    table = found.table
    if table.facts is None or table.facts.id is None or table.row_names is None:
        return {}
    roles = {column.name: column.role for column in table.facts.columns}
    if roles.get(table.facts.id) != "date":
        return {}
    try:
        return {table.facts.id: np.asarray(table.row_names, dtype="datetime64[s]")}
    except ValueError:
        # Dates as people write them, which NumPy does not read.
        return {}


def _column(name: Any, values: Sequence[Any], n: int) -> np.ndarray:
    """Return one label column, refused where it has not a label per row."""
    column = label_values(values)
    if column.shape != (n,):
        message = f"labels[{name!r}] has shape {column.shape} and there are {n:,} rows. Give one label per row."
        raise ParameterError(message)
    return column


def _check_names(color: str | None, labels: dict[str, np.ndarray], row_names: Sequence[Any] | None, n: int) -> None:
    if color is not None and color not in labels:
        message = f"color={color!r} is none of the labels: {', '.join(map(repr, labels)) or 'there are none'}."
        raise ParameterError(message)
    if row_names is not None and len(row_names) != n:
        message = f"row_names has {len(row_names)} entries and there are {n:,} rows. Give one name per row."
        raise ParameterError(message)
