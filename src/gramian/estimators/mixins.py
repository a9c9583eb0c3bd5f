"""What every fitted estimator can do: be saved and loaded, be drawn, and be reported on a page.

``estimator.save(path)`` and ``gramian.load(path)`` are model files and back. An estimator declares the type of its
model (``_MODEL``), the fitted fields that are not in it (``_saved_fields``) and how it takes both back (``_restore``).
Nothing here knows one estimator from another.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags

from gramian.arrays.namespace import Array, HostArray
from gramian.eigen.certificate import Certificate
from gramian.errors import GramianError, ModelFileError
from gramian.estimators.inputs import check_parameters


class SaveMixin(ABC):
    """What a fitted estimator does to be kept: ``save``.

    ``_MODEL`` is the type of the frozen value that ``_model_to_save`` returns.
    """

    _MODEL: ClassVar[type]
    _fitted_model: Any
    get_params: Any

    def save(self, path: str | os.PathLike[str], *, copy_rows: bool = False) -> Path:
        """Write this fitted estimator to a model file, whole or not at all; ``gramian.load`` brings it back.

        The file holds numbers and named values only, so that opening it runs no code. Arrays of another library are
        kept as NumPy's. Progress functions and generators are not kept: ``random_state`` becomes the seed that was
        used. After ``partial_fit``, what is kept is the solution; further batches are merged with that.

        Parameters
        ----------
        path : path
            Usually ends in ``.gramian``. An existing file is replaced.
        copy_rows : bool, default=False
            Whether a kernel model may copy rows that live in files into this one; rows in memory always are.

        Returns
        -------
        path : Path

        Examples
        --------
        >>> import tempfile
        >>> import numpy as np
        >>> import gramian
        >>> X = np.random.default_rng(0).standard_normal((50, 4))
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pca = gramian.PCA(n_components=2).fit(X)
        ...     again = gramian.load(pca.save(f"{folder}/pca.gramian"))
        >>> bool((again.transform(X) == pca.transform(X)).all())
        True
        """
        from gramian.models.archive import file as archive

        model = self._model_to_save()
        names = self._saved_names()
        texts = None if names is None else [str(name) for name in names]
        found = {
            "name": type(self).__name__,
            "parameters": self._saved_parameters(),
            "fields": self._saved_fields(),
        }
        return archive.save(model, path, names=texts, estimator=found, copy_rows=copy_rows)

    def _model_to_save(self) -> Any:
        return self._fitted_model()

    def _saved_names(self) -> Any:
        """Return the names of the model's columns, where they have some."""
        return getattr(self, "feature_names_in_", None)

    def _seed_used(self) -> int:
        """Return the seed that ``random_state`` was in the fit."""
        return int(self._fitted_model().options.seed)

    def _saved_parameters(self) -> dict[str, Any]:
        """Return the parameters as values that a file can hold."""
        given = {name: value for name, value in self.get_params(deep=False).items() if name not in NOT_SAVED}
        if isinstance(given.get("random_state"), np.random.RandomState | np.random.Generator):
            given["random_state"] = self._seed_used()
        if given.get("device") is not None:
            given["device"] = str(given["device"])
        return given

    def _saved_fields(self) -> dict[str, Any]:
        """Return the fitted fields that the model does not hold."""
        return {}

    @abstractmethod
    def _restore(self, model: Any, names: HostArray | None, fields: Mapping[str, Any]) -> None:
        """Take a model and the fields saved with it; what does not fit is refused."""

    @classmethod
    def _from_model(cls, model: Any) -> tuple[Any, Any]:
        """Return the estimator that asks for a model saved without one, and the model as this estimator holds it."""
        del model
        message = "it names no estimator"
        raise ModelFileError(message)


class SavedTransformer(SaveMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What every estimator is: a transformer of scikit-learn's that can be saved and takes sparse rows."""

    def __sklearn_tags__(self) -> Tags:
        """Tell scikit-learn what this estimator takes."""
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.input_tags.sparse = True
        return tags


class WeightedFit(SavedTransformer):
    """``fit`` and ``fit_transform`` of rows that may be weighted, in scikit-learn's manners. Abstract.

    A subclass says what a fit is (``_fit``), and what the scores of its rows are, given what that returned.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from rows.

        Parameters
        ----------
        X : array, sparse array, table or path (n, d)
            Of ``KernelPCA(kernel="precomputed")`` the kernel matrix (n, n).
        y : ignored
        sample_weight : array (n,), optional
            How often each row counts: a weight is a repetition. A row of weight 0 takes no part.

        Returns
        -------
        self : estimator
            If the fit fails, the former model stays.
        """
        self._fit(X, sample_weight)
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Learn from rows and return the scores of the same rows: sources, for ICA.

        Parameters
        ----------
        X : array, sparse array, table or path (n, d)
            Of ``KernelPCA(kernel="precomputed")`` the kernel matrix (n, n).
        y : ignored
        sample_weight : array (n,), optional
            How often each row counts: a weight is a repetition. A row of weight 0 takes no part.

        Returns
        -------
        Y : array (n, k)
            The same as ``fit(X).transform(X)``, to rounding.
        """
        return self._scores_of_fit(self._fit(X, sample_weight))

    @abstractmethod
    def _fit(self, X: Any, sample_weight: Any) -> Any:
        """Fit a model and take it over; return what the scores of its rows are made of."""

    @abstractmethod
    def _scores_of_fit(self, fitted: Any) -> Array:
        """Return the scores of the rows of a fit, from what ``_fit`` returned."""


class CertifiedMixin:
    """How a fit was done and how sure it is, as its model says."""

    _fitted_model: Any

    @property
    def certificate_(self) -> Certificate:
        """How far each component can be from the truth, and how that is known; prints as a table."""
        found: Certificate = self._fitted_model().certificate
        return found

    @property
    def plan_(self) -> Any:
        """What was done, why, and what it cost."""
        return self._fitted_model().plan


def load(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator that a model file holds.

    Also opens models that the command line wrote; ``models.archive.file.load`` returns the frozen model.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator : PCA, IncrementalPCA, TruncatedSVD, KernelPCA, ICA, FastICA, ProbabilisticPCA, MCA, FAMD or a
        feature map

    Raises
    ------
    ModelFileError
        For a file that is damaged, of a newer format, or no model file. Nothing in the file is ever run.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from gramian import PCA, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     load(PCA(n_components=1).fit(np.eye(3)).save(f"{folder}/eye.gramian"))
    PCA(n_components=1)
    """
    from gramian.estimators import every_estimator
    from gramian.models.archive import file as archive
    from gramian.models.archive.catalog import ANY_MODEL

    found = archive.open_archive(path, kinds=ANY_MODEL)
    model, asked = found.model, found.estimator
    try:
        kinds = {kind.__name__: kind for kind in every_estimator() if kind._MODEL is type(model)}  # noqa: SLF001
        fields: Mapping[str, Any] = {}
        if asked is None:
            estimator, model = next(iter(kinds.values()))._from_model(model)  # noqa: SLF001
        elif asked["name"] not in kinds:
            message = f"{asked['name']!r:.40} is no estimator of a {type(model).__name__}"
            raise ModelFileError(message)
        else:
            estimator, fields = kinds[asked["name"]](**asked["parameters"]), asked["fields"]
        check_parameters(estimator)
        names = None if found.names is None else np.array(found.names, dtype=object)
        estimator._restore(model, names, fields)  # noqa: SLF001
    except (GramianError, KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{os.fspath(path)} is not a usable model file: its estimator cannot be made ({error!s:.200})."
        raise ModelFileError(message, path=os.fspath(path)) from None
    return estimator


def saved_numbers(fields: Mapping[str, Any], name: str, length: int) -> HostArray:
    """Return a saved field that must be so many finite numbers."""
    values = fields[name]
    if not isinstance(values, np.ndarray) or values.shape != (length,) or not np.isfinite(values).all():
        message = f"{name} is not {length:,} numbers"
        raise ModelFileError(message)
    return values


NOT_SAVED = {"progress", "kernel_params"}
"""Parameters that are functions, or belong to one."""


class Pictures:
    """The pictures of one fitted model: ``pca.plot.scree()`` is ``gramian.plot.scree(pca)``."""

    def __init__(self, fitted: Any) -> None:
        self._fitted = fitted

    def __getattr__(self, name: str) -> Any:
        """Return a picture by its name, bound to the model; matplotlib is loaded here."""
        from gramian.pictures import gallery

        if name not in gallery.OF_MODELS:
            message = f"There is no picture {name!r}. There are: {', '.join(gallery.OF_MODELS)}."
            raise AttributeError(message)
        drawn = getattr(gallery, name)
        return update_wrapper(partial(drawn, self._fitted), drawn)

    def __dir__(self) -> list[str]:
        """List the pictures."""
        from gramian.pictures import gallery

        return sorted(gallery.OF_MODELS)


class ReportMixin:
    """Pictures of a fitted model, and a page about it."""

    @property
    def plot(self) -> Pictures:
        """Pictures of the fitted model by their names: ``model.plot.scree()``; see ``gramian.plot``."""
        return Pictures(self)

    def report(self, path: Any, X: Any = None, **more: Any) -> Path:
        """Write a page that says in words and pictures what was found.

        Parameters
        ----------
        path : path
            Where the page goes: one HTML file that opens without a network.
        X : rows (n, d), optional
            Those of the fit. Without them there is no map of rows and there are no outliers.
        more : keywords
            ``labels``, ``row_names``, ``title``, ``choice`` and the rest of :func:`~gramian.report.write_report`.

        Returns
        -------
        Path
            Where the page is.
        """
        from gramian.report import write_report

        # The names that the columns had in the fit.
        names = getattr(self, "feature_names_in_", None)
        return write_report(self, path, rows=X, **{"names": names, **more})
