"""Multiple correspondence analysis and factor analysis of mixed data, in scikit-learn's manners."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, ModelFileError
from gramian.estimators.inputs import (
    BYTES,
    CALL,
    NOTHING,
    SEED,
    SHARE,
    Limit,
    Limits,
    check_parameters,
    feature_names,
    finite_results,
    is_whole,
    keep_names,
    number,
    one_of,
    open_scores,
    seed_of,
    whole,
)
from gramian.estimators.mixins import CertifiedMixin, ReportMixin, WeightedFit
from gramian.models.categories.fit import fit_famd, fit_mca
from gramian.models.categories.model import CategoryOptions, CodedModel, FAMDModel, MCAModel, Supplementary
from gramian.models.score_file import write_scores
from gramian.sources.categories import MixedTable, open_mixed, places_of
from gramian.sources.file_options import is_path
from gramian.sources.indicator import IndicatorRows
from gramian.sources.rows import RowSource

COLUMNS = Limit(
    lambda value: (
        isinstance(value, str)
        or is_whole(value)
        or (isinstance(value, Sequence) and all(isinstance(word, str) or is_whole(word) for word in value))
    ),
    "names of columns, or their places counted from 0",
)


class CodedComponents(CertifiedMixin, ReportMixin, WeightedFit):
    """Fitted principal components of coded categories and quantities. Abstract: see ``MCA`` and ``FAMD``."""

    _FIT: ClassVar[Callable[..., CodedModel]]
    _LIMITS: ClassVar[Limits] = {
        "n_components": (NOTHING, whole(1), SHARE, one_of("auto")),
        "missing": (one_of("level", "passive"),),
        "handle_unknown": (one_of("error", "ignore"),),
        "supplementary": (NOTHING, COLUMNS),
        "tol": (number(0.0),),
        "random_state": (NOTHING, SEED),
        "memory_budget": (NOTHING, BYTES),
        "progress": (NOTHING, CALL),
    }

    n_components: Any
    missing: str
    handle_unknown: str
    supplementary: Any
    tol: float
    random_state: Any
    memory_budget: int | None
    progress: Callable[[str], None] | None
    n_features_in_: int
    feature_names_in_: HostArray
    _model: CodedModel

    @property
    def n_components_reason_(self) -> str:
        """How the number of components was chosen, in words; empty when it was given."""
        return str(self._fitted_model().verdict)

    @property
    def column_coordinates_(self) -> HostArray:
        """Where the columns of ``column_names_`` stand (D, k)."""
        return self._fitted_model().column_coordinates

    @property
    def contributions_(self) -> HostArray:
        """Share of each of those columns in the inertia of each component (D, k); a column of it sums to 1."""
        return self._fitted_model().contributions

    @property
    def cos2_(self) -> HostArray:
        """Share of each column's squared distance from the center that each component shows (D, k)."""
        return self._fitted_model().cos2

    @property
    def v_tests_(self) -> HostArray:
        """Distance of each level's mean from the center, in deviations of a mean of as many rows (J, k)."""
        return self._fitted_model().v_tests

    @property
    def eta2_(self) -> HostArray:
        """How much of each component each variable explains, quantities before categories (q + Q, k)."""
        return self._fitted_model().eta2

    @property
    def supplementary_(self) -> Supplementary | None:
        """Where the supplementary columns stand: correlations of quantities, coordinates and tests of levels."""
        return self._fitted_model().supplementary

    def transform(self, X: Any) -> HostArray:
        """Return the coordinates of rows: those of the fit, or supplementary ones.

        Computes  Y = (Z - mean) V'  of the coded rows Z, one pass.

        Parameters
        ----------
        X : table, array or path (n, d)
            With the columns of the fit. A level that the fit has not seen is refused, or with
            ``handle_unknown='ignore'`` stands at the average of its column.

        Returns
        -------
        Y : array (n, k)
        """
        return self._scores(self._opened(X))

    def write_scores(self, X: Any, path: str | PathLike[str]) -> Path:
        """Write the coordinates of rows to a file, block by block: for rows larger than memory.

        Parameters
        ----------
        X : table, array or path (n, d)
        path : path
            Ends in .parquet, .npy or .csv.

        Returns
        -------
        path : Path
        """
        rows, model = self._opened(X), self._fitted_model()
        return write_scores(lambda block: model.project(block.rows), rows, path, names=self.get_feature_names_out())

    def inverse_transform(self, X: Any) -> HostArray:
        """Return the columns that coordinates stand for: numbers of quantities, the likeliest level of categories.

        Supplementary columns took no part in the fit and are not among them.

        Parameters
        ----------
        X : array (n, k)
            Coordinates, as ``transform`` gives them.

        Returns
        -------
        rows : array (n, d)
            In the order of the fit; of any type where there are categories.
        """
        model = self._fitted_model()
        source = open_scores(self, X, k=model.n_components, scores="coordinates")
        scores = np.asarray(source.map_rows(lambda block: np.asarray(block.rows)), dtype=FLOAT64)
        coding = model.coding
        columns = dict(zip((*coding.quantities, *coding.categories), model.decoded(scores), strict=True))
        kind = object if coding.categories else FLOAT64
        out = np.empty((len(scores), len(columns)), dtype=kind)
        for j, name in enumerate(name for name in self._names if name in columns):
            out[:, j] = columns[name]
        return out

    def report(self, path: Any, X: Any = None, **more: Any) -> Path:
        """Write a page that says in words and pictures what was found: the components of the coded columns.

        Parameters
        ----------
        path : path
            Where the page goes: one HTML file that opens without a network.
        X : table, array or path (n, d), optional
            That of the fit. Without it there is no map of rows.
        more : keywords
            Those of :func:`~gramian.report.write_report`. By default every category colors the map.

        Returns
        -------
        Path
            Where the page is.
        """
        from gramian.report import write_report

        model = self._fitted_model()
        if X is None:
            return write_report(model, path, **{"names": model.column_names, **more})
        table = self._table(X)
        labels = {name: _texts(column.levels, column.codes) for name, column in table.categories.items()}
        scores = self._scores(self._rows(table))
        return write_report(model, path, scores=scores, **{"names": model.column_names, "labels": labels, **more})

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.allow_nan = self._MODEL is MCAModel or self.missing == "passive"
        tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _n_features_out(self) -> int:
        """Number of columns that ``transform`` gives."""
        return int(self._fitted_model().n_components)

    @abstractmethod
    def _kinds(self) -> Any:
        """Return which columns are categories, before a fit."""

    def _fit(self, X: Any, sample_weight: Any) -> MixedTable:
        check_parameters(self)
        words = _listed(self.supplementary)
        table = open_mixed(
            X,
            categories=self._kinds(),
            judged=words,
            weights=sample_weight,
            memory_budget=self.memory_budget,
            progress=self.progress,
        )
        names = [table.names[j] for j in places_of(words, table.names, "supplementary")]
        asked = self.n_components
        options = CategoryOptions(
            n_components=asked
            if asked is None or isinstance(asked, str)
            else int(asked)
            if is_whole(asked)
            else float(asked),
            missing=self.missing,
            tol=float(self.tol),
            seed=seed_of(self.random_state),
            memory_budget=self.memory_budget,
            progress=self.progress,
        )
        model = self._FIT(table, options, supplementary=names)
        own = np.asarray(table.names, dtype=object) if is_path(X) or isinstance(X, RowSource) else feature_names(X)
        self._adopt(model, own, table.names)
        return table

    def _adopt(self, model: CodedModel, names: HostArray | None, all_names: Sequence[str]) -> None:
        self._model, self._names = model, tuple(all_names)
        self.components_, self.eigenvalues_ = model.components, model.eigenvalues
        self.explained_inertia_ratio_ = self.explained_variance_ratio_ = np.asarray(model.shares)
        self.total_inertia_ = model.total_variance
        self.column_names_ = np.asarray(model.column_names, dtype=object)
        self.levels_ = dict(zip(model.coding.categories, model.coding.levels, strict=True))
        self.n_components_, self.n_samples_ = model.n_components, model.n_rows
        self.n_features_in_ = len(all_names)
        keep_names(self, names)

    def _fitted_model(self) -> CodedModel:
        check_is_fitted(self, "_model")
        return self._model

    def _saved_fields(self) -> dict[str, Any]:
        return {"names": list(self._names), "named": hasattr(self, "feature_names_in_")}

    def _saved_names(self) -> Any:
        return self._fitted_model().column_names

    def _restore(self, model: CodedModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        more = model.supplementary
        held = (*model.coding.quantities, *model.coding.categories)
        if more is not None:
            held = (*held, *more.quantities, *more.categories)
        own = tuple(map(str, fields.get("names", held)))
        if set(own) != set(held):
            message = "its columns are not those of its model"
            raise ModelFileError(message)
        del names  # those of the coded columns
        is_named = bool(fields.get("named", True))
        self._adopt(model, np.asarray(own, dtype=object) if is_named else None, own)

    @classmethod
    def _from_model(cls, model: CodedModel) -> tuple[Any, CodedModel]:
        asked = model.options
        parameters: dict[str, Any] = {
            "n_components": asked.n_components,
            "missing": asked.missing,
            "tol": asked.tol,
            "random_state": asked.seed,
            "memory_budget": asked.memory_budget,
        }
        return cls(**parameters), model

    def _table(self, X: Any) -> MixedTable:
        """Open new rows: the columns of the fit, each as what it was there."""
        model = self._fitted_model()
        more = model.supplementary
        categories = [*model.coding.categories, *(() if more is None else more.categories)]
        if is_path(X) or isinstance(X, RowSource):
            known = (list(model.coding.categories), list(model.coding.quantities))
            table = open_mixed(X, known=known, memory_budget=self.memory_budget, progress=self.progress)
            _require_columns(self, table, known)
            return table
        if getattr(X, "ndim", 2) == 2:  # else it is refused as no table below
            validate_data(self, X, reset=False, skip_check_array=True)
        table = open_mixed(X, categories=[name for name in self._names if name in categories])
        if len(table.names) != self.n_features_in_:
            message = (
                f"X has {len(table.names)} features, but {type(self).__name__} is expecting {self.n_features_in_} "
                "features as input."
            )
            raise InputError(message)
        return table

    def _opened(self, X: Any) -> IndicatorRows:
        return self._rows(self._table(X))

    def _rows(self, table: MixedTable) -> IndicatorRows:
        model = self._fitted_model()
        passive = self.missing == "passive"
        return IndicatorRows(table, model.coding, unknown=self.handle_unknown, passive=passive)

    def _scores_of_fit(self, fitted: MixedTable) -> HostArray:
        return self._scores(self._rows(fitted))

    def _scores(self, rows: IndicatorRows) -> HostArray:
        model = self._fitted_model()
        found: HostArray = finite_results(np.asarray(model.project(rows)), rows)
        return found


def _listed(words: Any) -> list[str | int]:
    """Return columns as a list, of one or none too."""
    if words is None:
        return []
    return [words] if isinstance(words, str) or is_whole(words) else list(words)


def _texts(levels: Sequence[str], codes: HostArray) -> HostArray:
    return np.array([*levels, ""], dtype=object)[codes]


def _require_columns(estimator: Any, table: MixedTable, known: tuple[list[str], list[str]]) -> None:
    lacking = [name for name in known[0] if name not in table.categories]
    lacking += [name for name in known[1] if name not in table.quantities]
    if lacking:
        message = (
            f"X has no column {lacking[0]!r} of the kind that {type(estimator).__name__} was fitted on. Open the file "
            "with gramian.as_source(path, roles=...) to say what a column is."
        )
        raise InputError(message, column=lacking[0])


class MCA(CodedComponents):
    """Multiple correspondence analysis: principal components of categories.

    Computes  the principal components of  z_ij / sqrt(Q p_j)  of Q categories, z_ij being 1 where row i has level j and
    p_j the share of the rows that has it (Escofier and Pages; Greenacre, 2007, doi:10.1201/9781420011234). Each
    category has  (its levels - 1) / Q  of the total inertia  (J - Q) / Q,  and an eigenvalue is the mean correlation
    ratio of the categories with its component.  The coordinate of a level is the mean of its rows' coordinates over
    the root of the eigenvalue.

    Every column is a category, whatever it holds: 1 and 2 are levels. Levels are text.

    Cost: that of PCA of n rows with Q entries each; indicators are made block by block and never held. Not for
    quantities, whose order it would not see: FAMD takes both.

    Parameters
    ----------
    n_components : int, float, 'auto' or None, default=None
        How many components to keep. None: all that are not null. A float in (0, 1): the fewest whose share of the
        inertia is more than that. 'auto': those that stand out of tables whose columns were shuffled.
    missing : {'level', 'passive'}, default='level'
        What a cell without a value is: a level of its own, or nothing, so that its row is placed by its other columns.
    handle_unknown : {'error', 'ignore'}, default='error'
        What ``transform`` does with a level that the fit has not seen: refuse it, or treat it as nothing.
    supplementary : names or places of columns, or None, default=None
        Columns that take no part in the fit and are projected on its components: see ``supplementary_``. Numbers among
        them are quantities.
    tol : float, default=0.0
        Largest residual, relative to the first eigenvalue. 0 means 1e-10.
    random_state : int, RandomState, Generator or None, default=None
        Where iterations start, and how columns are shuffled. None is a fixed seed.
    memory_budget : int or None, default=None
        Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    eigenvalues_, explained_inertia_ratio_ : array (k,)
        Inertia along each component, and its share of the total.
    explained_variance_ratio_ : array (k,)
        The same shares.
    total_inertia_ : float
        (J - Q) / Q; less where cells are missing and passive.
    benzecri_ : array (k,)
        Eigenvalues without what coding by indicators adds.
    greenacre_ratio_ : array (k,) or None
        Shares of those in the inertia between different columns; None where it was not measured.
    components_ : array (k, J)
        Orthonormal directions over the coded columns.
    column_names_ : array (J,)
        "column=level".
    column_coordinates_, contributions_, cos2_, v_tests_ : array (J, k)
        Of the levels.
    eta2_ : array (Q, k)
        Correlation ratio of each category with each component.
    levels_ : dict of str to tuple of str
        Levels of each category; "" is that of missing cells.
    supplementary_ : Supplementary or None
        Correlations of supplementary quantities, coordinates, tests and correlation ratios of categories.
    n_components_, n_samples_, n_features_in_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.
    certificate_ : Certificate
        Residual, bounds and grade of each component; prints as a table.
    plan_ : Plan
        What was done and why.
    n_components_reason_ : str
        How the number of components was chosen; empty when it was given.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import MCA
    >>> X = [["red", "round"], ["red", "round"], ["green", "long"], ["green", "long"], ["green", "round"]]
    >>> mca = MCA().fit(X)
    >>> mca.eigenvalues_.round(4), round(mca.total_inertia_, 4)
    (array([0.8333, 0.1667]), 1.0)
    >>> mca.column_names_.tolist()
    ['x0=green', 'x0=red', 'x1=long', 'x1=round']
    >>> rows = mca.transform(X)
    >>> green = rows[[2, 3, 4]].mean(axis=0) / np.sqrt(mca.eigenvalues_)
    >>> bool(np.allclose(mca.column_coordinates_[0], green))
    True
    """

    _MODEL: ClassVar[type] = MCAModel
    _FIT: ClassVar[Callable[..., CodedModel]] = staticmethod(fit_mca)

    def __init__(
        self,
        n_components: Any = None,
        *,
        missing: str = "level",
        handle_unknown: str = "error",
        supplementary: Any = None,
        tol: float = 0.0,
        random_state: Any = None,
        memory_budget: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.supplementary = supplementary
        self.tol = tol
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.progress = progress

    @property
    def benzecri_(self) -> HostArray:
        """Eigenvalues without what coding by indicators adds (k,):  (Q / (Q - 1))^2 (w - 1/Q)^2  where w > 1/Q."""
        return self._mca().benzecri

    @property
    def greenacre_ratio_(self) -> HostArray | None:
        """Shares of ``benzecri_`` in the inertia between different columns (k,); None where it was not measured."""
        return self._mca().greenacre_shares

    def _mca(self) -> MCAModel:
        model = self._fitted_model()
        assert isinstance(model, MCAModel)  # noqa: S101 - what its fit has made
        return model

    def _kinds(self) -> str:
        return "all"


class FAMD(CodedComponents):
    """Factor analysis of mixed data: principal components of quantities and categories together.

    Computes  the principal components of standardized quantities beside  z_ij / sqrt(p_j),  z_ij being 1 where row i
    has level j and p_j the share of the rows that has it (Pages, 2004).  An eigenvalue is the sum of the squared
    correlations of the quantities and the correlation ratios of the categories with its component, so that both kinds
    count alike.  With quantities alone it is ``PCA(scale=True, ddof=0)``, with Q categories alone MCA, whose
    eigenvalues are Q times smaller.  The coordinate of a quantity is its correlation, of a level the mean of its rows.

    Cost: that of PCA of n rows of as many columns as there are quantities and levels; indicators are made block by
    block and never held.

    Parameters
    ----------
    n_components : int, float, 'auto' or None, default=None
        How many components to keep. None: all that are not null. A float in (0, 1): the fewest whose share of the
        inertia is more than that. 'auto': those that stand out of tables whose columns were shuffled.
    categories : names or places of columns, or None, default=None
        Columns that are categories. None: those of a table that do not hold numbers; of a file those that are found.
    missing : {'level', 'passive'}, default='level'
        What a cell without a value is: a level of its own, while a quantity without a value is refused; or nothing, so
        that its row is placed by its other columns.
    handle_unknown : {'error', 'ignore'}, default='error'
        What ``transform`` does with a level that the fit has not seen: refuse it, or treat it as nothing.
    supplementary : names or places of columns, or None, default=None
        Columns that take no part in the fit and are projected on its components: see ``supplementary_``.
    tol : float, default=0.0
        Largest residual, relative to the first eigenvalue. 0 means 1e-10.
    random_state : int, RandomState, Generator or None, default=None
        Where iterations start, and how columns are shuffled. None is a fixed seed.
    memory_budget : int or None, default=None
        Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory.
    progress : callable or None, default=None
        Called with a sentence before each stage of the work.

    Attributes
    ----------
    eigenvalues_, explained_inertia_ratio_ : array (k,)
        Inertia along each component, and its share of the total.
    explained_variance_ratio_ : array (k,)
        The same shares.
    total_inertia_ : float
        q + J - Q for q quantities and J levels of Q categories.
    components_ : array (k, D)
        Orthonormal directions over the coded columns: quantities, then levels.
    column_names_ : array (D,)
        Names of quantities, "column=level" of levels.
    column_coordinates_, contributions_, cos2_ : array (D, k)
        Of quantities and levels.
    v_tests_ : array (J, k)
        Of the levels.
    eta2_ : array (q + Q, k)
        Squared correlation of each quantity, correlation ratio of each category, with each component.
    levels_ : dict of str to tuple of str
        Levels of each category; "" is that of missing cells.
    supplementary_ : Supplementary or None
        Correlations of supplementary quantities, coordinates, tests and correlation ratios of categories.
    n_components_, n_samples_, n_features_in_ : int
    feature_names_in_ : array (d,)
        Only for tables whose column names are all strings.
    certificate_ : Certificate
        Residual, bounds and grade of each component; prints as a table.
    plan_ : Plan
        What was done and why.
    n_components_reason_ : str
        How the number of components was chosen; empty when it was given.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from gramian import FAMD
    >>> X = pa.table({"weight": [1.0, 1.2, 3.1, 3.3, 2.9], "kind": ["cat", "cat", "dog", "dog", "dog"]})
    >>> famd = FAMD().fit(X)
    >>> famd.eigenvalues_.round(3), round(famd.total_inertia_, 6)
    (array([1.99, 0.01]), 2.0)
    >>> famd.column_names_.tolist()
    ['weight', 'kind=cat', 'kind=dog']
    """

    _MODEL: ClassVar[type] = FAMDModel
    _FIT: ClassVar[Callable[..., CodedModel]] = staticmethod(fit_famd)
    _LIMITS: ClassVar[Limits] = {**CodedComponents._LIMITS, "categories": (NOTHING, COLUMNS)}  # noqa: SLF001

    def __init__(
        self,
        n_components: Any = None,
        *,
        categories: Any = None,
        missing: str = "level",
        handle_unknown: str = "error",
        supplementary: Any = None,
        tol: float = 0.0,
        random_state: Any = None,
        memory_budget: int | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        self.n_components = n_components
        self.categories = categories
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.supplementary = supplementary
        self.tol = tol
        self.random_state = random_state
        self.memory_budget = memory_budget
        self.progress = progress

    def _kinds(self) -> list[str | int] | None:
        return None if self.categories is None else _listed(self.categories)
