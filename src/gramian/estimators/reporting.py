"""Pictures and the page of a fitted estimator."""

from functools import partial, update_wrapper
from pathlib import Path
from typing import Any


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
