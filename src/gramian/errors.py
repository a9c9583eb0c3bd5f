"""Every exception and warning that Gramian raises, with the fields they carry.

All of them derive from :class:`GramianError` *and* from the built-in class a caller would already
be catching (``ValueError``, ``TypeError``, ``MemoryError``), so switching to Gramian breaks no handler.
"""

import sys
from types import FrameType

__all__ = [
    "ClusterLostError",
    "ConvergenceWarning",
    "GramianError",
    "IdentifiabilityWarning",
    "IndefiniteKernelWarning",
    "InputError",
    "InputWarning",
    "KernelRowsError",
    "KernelWidthWarning",
    "MemoryBudgetError",
    "ModelFileError",
    "NotSupportedError",
    "ParameterError",
    "PrecisionWarning",
    "RankWarning",
]


class GramianError(Exception):
    """Anything Gramian refuses to do."""


class InputError(GramianError, ValueError):
    """The data cannot be used as they are.

    Attributes
    ----------
    row : int or None
        Row of the first offending value, counted from zero.
    column : int, str or None
        Its column: the name when the table has names, else the position.
    """

    def __init__(self, message: str, *, row: int | None = None, column: int | str | None = None) -> None:
        super().__init__(message)
        self.row = row
        self.column = column


class KernelRowsError(InputError):
    """A kernel has no value for a row, or for two rows; those who know where a block came from name them.

    Attributes
    ----------
    rows : tuple of one or two ints
        Rows of a block, until they are named.
    """

    def __init__(self, before: str, rows: tuple[int, ...], after: str, *, column: int | None = None) -> None:
        super().__init__(before, column=column)
        self.before, self.after = before, after
        self.ending: str | None = None
        self._say(rows, " of a block")

    def name(self, rows: tuple[int, ...], ending: str = "") -> None:
        """Say which rows these are; ``ending`` is said of the last one, by whoever knows of it first."""
        self.ending = ending or self.ending or ""
        self._say(rows, self.ending)

    def _say(self, rows: tuple[int, ...], ending: str) -> None:
        self.rows, self.row = rows, rows[0]
        words = " and ".join(f"row {row:,}" for row in rows) + ending
        self.args = (f"{self.before}{words if self.before else words[0].upper() + words[1:]}{self.after}",)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.before, self.rows, self.after), {**self.__dict__, "args": self.args}


class ParameterError(GramianError, ValueError):
    """A parameter is outside its limits, or two of them contradict each other."""


class NotSupportedError(GramianError, TypeError):
    """A kind of input that a method does not take."""


class ModelFileError(GramianError, ValueError):
    """A model file cannot be used: damaged, of a newer format, or no model file at all.

    Attributes
    ----------
    path : str or None
        Where it is.
    """

    def __init__(self, message: str, *, path: str | None = None) -> None:
        super().__init__(message)
        self.path = path


class MemoryBudgetError(GramianError, MemoryError):
    """The planned work needs more memory than the budget.

    Attributes
    ----------
    needed, budget : int
        Both in bytes.
    """

    def __init__(self, message: str, *, needed: int, budget: int) -> None:
        super().__init__(message)
        self.needed = needed
        self.budget = budget


class ClusterLostError(GramianError, ConnectionError):
    """The cluster that holds the rows is gone, or cannot do what was asked of it."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its cap; what is certified is returned."""


class InputWarning(UserWarning):
    """Something in the data was left out that may have been meant to count."""


class PrecisionWarning(UserWarning):
    """A number is right but cannot be held in its type, or digits were lost in the input itself."""


class RankWarning(UserWarning):
    """More components were asked for than the data have directions."""


class IndefiniteKernelWarning(UserWarning):
    """A kernel matrix has negative eigenvalues, none of them among the components kept.

    Attributes
    ----------
    lowest, largest : float
        The lowest eigenvalue that was found, and the largest.
    """

    def __init__(self, message: str, *, lowest: float, largest: float) -> None:
        super().__init__(message)
        self.lowest = lowest
        self.largest = largest


class KernelWidthWarning(UserWarning):
    """A kernel is so narrow that K is nearly the identity, or so wide that K is nearly constant.

    Attributes
    ----------
    suggested : float or None
        A gamma from the median distance of the rows; ``None`` where several have to change, which the message names.
    """

    def __init__(self, message: str, *, suggested: float | None = None) -> None:
        super().__init__(message)
        self.suggested = suggested


class IdentifiabilityWarning(UserWarning):
    """Sources that may not be the right ones: too Gaussian to be told apart, or of rows that are not white."""


def users_line() -> int:
    """Return the ``stacklevel`` with which a warning of the calling function points at the line of the user.

    That is the first frame outside this library and outside scikit-learn, which wraps some methods.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("gramian", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level
