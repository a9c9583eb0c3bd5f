"""Estimators to model files and back: ``estimator.save(path)`` and ``gramian.load(path)``."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gramian.arrays.namespace import HostArray, to_host
from gramian.errors import GramianError, ModelFileError
from gramian.models import archive
from gramian.models.archive import Archive
from gramian.models.archive_agreement import refuse
from gramian.models.ica import ICAModel
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.pca import PCAModel

EXTRA_FIELDS = ("var_", "batch_size_", "explained_variance_", "explained_variance_ratio_", "pre_image_choice_")
"""Fitted fields that a class may have beside those of its model."""


class Saved:
    """What a fitted estimator does to be kept: ``save``."""

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
        model = self._fitted_model()  # type: ignore[attr-defined]
        names = getattr(self, "feature_names_in_", None)
        found = {"name": type(self).__name__, "parameters": _parameters(self), "fields": _extra_fields(self)}
        texts = None if names is None else [str(name) for name in names]
        return archive.save(model, path, names=texts, estimator=found, copy_rows=copy_rows)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the fitted estimator that a model file holds.

    Also opens models that the command line wrote; ``gramian.models.archive.load`` returns the frozen model instead.

    Parameters
    ----------
    path : path

    Returns
    -------
    estimator : PCA, IncrementalPCA, TruncatedSVD, KernelPCA, ICA or FastICA

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
    found = archive.open_archive(path)
    try:
        return _revived(found)
    except (GramianError, KeyError, TypeError, ValueError, AttributeError) as error:
        message = f"{os.fspath(path)} is not a usable model file: its estimator cannot be made ({error!s:.200})."
        raise ModelFileError(message, path=os.fspath(path)) from None


def _parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters as values that a file can hold."""
    given = estimator.get_params(deep=False)
    if isinstance(given.get("random_state"), np.random.RandomState | np.random.Generator):
        given["random_state"] = estimator._fitted_model().options.seed  # noqa: SLF001
    if isinstance(given.get("features"), BaseEstimator):
        given["features"] = given["features"]._recipe()  # noqa: SLF001
    return {name: value for name, value in given.items() if name not in {"progress", "kernel_params"}}


def _extra_fields(estimator: Any) -> dict[str, Any]:
    known = {name: estimator.__dict__[name] for name in EXTRA_FIELDS if name in estimator.__dict__}
    model = estimator._fitted_model()  # noqa: SLF001
    return {name: value for name, value in known.items() if value is not getattr(model, _copied(estimator, name), None)}


def _copied(estimator: Any, name: str) -> str:
    return str(getattr(estimator, "COPIED", {}).get(name, "variances" if name == "explained_variance_" else name))


def _revived(found: Archive) -> Any:
    model, names = found.model, None if found.names is None else np.array(found.names, dtype=object)
    kind = next(kind for kind in _KINDS if isinstance(model, kind))
    _, make, adopt = _KINDS[kind]
    if found.estimator is None:
        estimator, model = make(model)
        fields: Mapping[str, Any] = {}
    else:
        estimator = _named(str(found.estimator["name"]), kind)(**found.estimator["parameters"])
        fields = found.estimator["fields"]
    _check(estimator)
    adopt(estimator, model, names, fields)
    return estimator


def _named(name: str, kind: type[Any]) -> Callable[..., Any]:
    if name not in _KINDS[kind][0]:
        refuse(f"{name!r:.40} is no estimator of a {kind.__name__}")
    import gramian

    return getattr(gramian, name)  # type: ignore[no-any-return]


def _check(estimator: Any) -> None:
    from gramian.estimators import parameters

    limits = {
        "PCA": parameters.PCA_LIMITS,
        "IncrementalPCA": parameters.INCREMENTAL_PCA_LIMITS,
        "TruncatedSVD": parameters.TRUNCATED_SVD_LIMITS,
        "FastICA": parameters.FASTICA_LIMITS,
        "ICA": parameters.ICA_LIMITS,
    }
    parameters.check_parameters(estimator, limits.get(type(estimator).__name__) or estimator.LIMITS)


def _make_pca(model: PCAModel) -> tuple[Any, PCAModel]:
    from gramian.estimators.pca import PCA

    asked = model.options
    estimator = PCA(
        asked.n_components,
        svd_solver=asked.solver,
        tol=asked.tol,
        random_state=asked.seed,
        center=asked.center,
        scale=asked.scale,
        ddof=asked.ddof,
        memory_budget=asked.memory_budget,
    )
    return estimator, model


def _make_kernel_pca(model: KernelPCAModel) -> tuple[Any, KernelPCAModel]:
    from gramian.estimators.kernel_pca import KernelPCA

    asked = model.options
    estimator = KernelPCA(
        asked.n_components,
        kernel="linear" if asked.features is not None else asked.kernel,
        tol=asked.tol,
        random_state=asked.seed,
        memory_budget=asked.memory_budget,
        landmarks=asked.landmarks,
        features=asked.features,
        remove_zero_eig=asked.drop_zeros,
    )
    return estimator, model


def _make_ica(model: ICAModel) -> tuple[Any, ICAModel]:
    from gramian.estimators.ica import ICA
    from gramian.estimators.unmixed import in_their_units

    asked = model.options
    estimator = ICA(
        asked.n_components,
        algorithm=asked.algorithm,
        whiten="unit-variance" if asked.whiten else False,
        fun=asked.contrast,
        max_iter=asked.max_iter,
        tol=asked.tol,
        w_init=asked.start,
        random_state=asked.seed,
        runs=asked.runs,
        independence=asked.independence,
        memory_budget=asked.memory_budget,
    )
    return estimator, in_their_units(model, estimator.whiten)


def _adopt_pca(estimator: Any, model: PCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
    estimator._adopt(model, names)  # noqa: SLF001
    for name in ("explained_variance_", "explained_variance_ratio_"):
        if name in fields:
            _require_length(name, fields[name], len(model.components))
            estimator.__dict__[name] = fields[name]
    if type(estimator).__name__ == "TruncatedSVD":
        return
    estimator.n_components_ = len(model.components)
    if type(estimator).__name__ == "PCA":
        from gramian.estimators.solvers import name_solver

        shape = (model.n_rows, model.n_columns)
        name = name_solver(estimator.svd_solver, n_components=estimator.n_components, shape=shape, sparse=False)
        estimator.n_samples_, estimator._fit_svd_solver = model.n_rows, name  # noqa: SLF001
        return
    _adopt_batches(estimator, model, fields)


def _adopt_batches(estimator: Any, model: PCAModel, fields: Mapping[str, Any]) -> None:
    from gramian.models.resuming import resume
    from gramian.planning.plan import default_budget

    _require_length("var_", fields["var_"], model.n_columns)
    estimator.n_samples_seen_, estimator.var_ = model.n_rows, fields["var_"]
    if "batch_size_" in fields:
        estimator.batch_size_ = int(fields["batch_size_"])
    squares = to_host(fields["var_"]).astype(np.float64) * model.weight
    estimator._batches = resume(model, budget=default_budget(), squares=squares)  # noqa: SLF001


def _adopt_kernel(estimator: Any, model: KernelPCAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
    from gramian.estimators.kernel_fields import fields_of, preimage_fields
    from gramian.models.preimage_choice import ChosenPreimage, PreimageChoice

    estimator.__dict__.update(fields_of(model, gamma=estimator.gamma), _model=model)
    if names is not None:
        estimator.feature_names_in_ = names
    wanted, choice = estimator._wanted_preimage(), fields.get("pre_image_choice_")  # noqa: SLF001
    if wanted is None:
        return
    if choice is not None and not isinstance(choice, PreimageChoice):
        refuse("its choice of a pre-image is none")
    found = estimator._bind_preimage(wanted if choice is None else choice.method, model)  # noqa: SLF001
    estimator.__dict__.update(preimage_fields(ChosenPreimage(found.fitted, choice)))


def _adopt_ica(estimator: Any, model: ICAModel, names: HostArray | None, fields: Mapping[str, Any]) -> None:
    del fields
    estimator._adopt(model, names)  # noqa: SLF001


def _require_length(name: str, values: Any, length: int) -> None:
    if not isinstance(values, np.ndarray) or values.shape != (length,) or not np.isfinite(values).all():
        refuse(f"{name} is not {length:,} numbers")


_KINDS: dict[type[Any], tuple[tuple[str, ...], Callable[[Any], tuple[Any, Any]], Callable[..., None]]] = {
    PCAModel: (("PCA", "IncrementalPCA", "TruncatedSVD"), _make_pca, _adopt_pca),
    KernelPCAModel: (("KernelPCA",), _make_kernel_pca, _adopt_kernel),
    ICAModel: (("ICA", "FastICA"), _make_ica, _adopt_ica),
}
"""For each kind of model: the estimators it may be of, the one made where none is named, and how it takes the model."""
