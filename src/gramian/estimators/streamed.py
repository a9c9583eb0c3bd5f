"""Fits that come in batches: moments are merged at once, the eigenproblem is solved when it is asked for."""

from typing import Any, ClassVar

from gramian.estimators.features import check_features, feature_names
from gramian.models.pca import PCAModel, PCAOptions
from gramian.models.streaming import Batches
from gramian.sources.rows import RowSource


class StreamedFit:
    """The state of ``partial_fit``: one frozen ``Batches`` value, replaced by each merge, and the options to solve it.

    A batch costs its own d^2 operations a row and one d x d addition. The eigenproblem, d^3, is solved once for
    any number of batches: the first time that a fitted field is read.
    """

    SOLVED: ClassVar[tuple[str, ...]]
    _batches: Batches
    _pending: PCAOptions

    def __getattr__(self, name: str) -> Any:
        """Solve what has been gathered when a field of the solution is read for the first time."""
        if name in self.SOLVED and "_pending" in self.__dict__:
            self._adopt_streamed(self._batches.fit(self._pending))
            del self._pending
            return self.__dict__[name]
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(message)

    def _adopt_streamed(self, model: PCAModel) -> None:
        raise NotImplementedError

    def _gather(self, source: RowSource, earlier: Batches | None) -> Batches:
        """Return a batch merged with the batches before it."""
        return self._begin(source) if earlier is None else earlier.absorb(source)

    def _check_batch(self, X: Any, source: RowSource, earlier: Batches | None) -> None:
        """Refuse a batch whose columns are not those of the batches before it."""
        if earlier is not None:
            check_features(self, X, source)

    def _begin(self, source: RowSource) -> Batches:
        raise NotImplementedError

    def _remember(self, batches: Batches, pending: PCAOptions, fields: dict[str, Any]) -> None:
        """Replace the state and drop the solution of the former one."""
        for name in self.SOLVED:
            self.__dict__.pop(name, None)
        self.__dict__.update(fields, _batches=batches, _pending=pending)

    def _forget(self) -> None:
        """Drop the state: a fit of all rows at once starts anew."""
        self.__dict__.pop("_batches", None)
        self.__dict__.pop("_pending", None)

    def _first_names(self, X: Any, source: RowSource, earlier: Batches | None) -> dict[str, Any]:
        """Return the column names to remember: those of the first batch."""
        names = None if earlier is not None else feature_names(X, source)
        return {} if names is None else {"feature_names_in_": names}
