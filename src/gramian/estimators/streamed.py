"""Fits that come in batches: the moments are merged at once, the eigenproblem is solved when it is asked for."""

from typing import Any, ClassVar

from gramian.arrays.namespace import HostArray
from gramian.estimators.features import check_features, feature_names
from gramian.sources.moments import Moments, measure_moments
from gramian.sources.rows import RowSource


class StreamedFit:
    """The state of ``partial_fit``: one frozen ``Moments`` value, replaced by each merge.

    A batch costs its own d^2 operations a row and one d x d addition. The eigenproblem, d^3, is solved once for
    any number of batches: the first time that a fitted field is read.
    """

    SOLVED: ClassVar[tuple[str, ...]]
    _moments: Moments

    def __getattr__(self, name: str) -> Any:
        """Solve what has been gathered when a field of the solution is read for the first time."""
        if name in self.SOLVED and "_moments" in self.__dict__ and "_model" not in self.__dict__:
            self._solve()
            return self.__dict__[name]
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(message)

    def _solve(self) -> None:
        raise NotImplementedError

    def _gather(self, X: Any, source: RowSource, earlier: Moments | None) -> Moments:
        """Return the moments of a batch merged with those of the batches before it."""
        if earlier is None:
            return measure_moments(source)
        check_features(self, X, source.n_columns)
        return earlier.merge(measure_moments(source))

    def _remember(self, moments: Moments, fields: dict[str, Any]) -> None:
        """Replace the state and drop the solution of the former one."""
        for name in self.SOLVED:
            self.__dict__.pop(name, None)
        self.__dict__.update(fields, _moments=moments)

    def _names(self, X: Any) -> dict[str, HostArray]:
        names = feature_names(X)
        return {} if names is None else {"feature_names_in_": names}
