"""Every exception and warning that Gramian raises, with the fields they carry.

All of them derive from :class:`GramianError` *and* from the built-in class a caller would already
be catching (``ValueError``, ``TypeError``, ``MemoryError``), so switching to Gramian breaks no handler.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple, Self

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
    "Parameter",
    "ParameterError",
    "Phrase",
    "PrecisionWarning",
    "RankWarning",
    "Sentence",
]


class Parameter(NamedTuple):
    """A parameter that a sentence names, with its value where that is what is wrong.

    Examples
    --------
    >>> str(Parameter("n_components")), str(Parameter("label", ("my group",)))
    ('n_components', "label='my group'")
    """

    name: str
    given: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}={self.given[0]!r}" if self.given else self.name


class Phrase(NamedTuple):
    """Words for callers from Python, and plain words for other front ends."""

    python: str
    plain: str

    def __str__(self) -> str:
        return self.python


class Sentence(str):
    """A sentence that keeps its facts, so that each front end can word them: flags for parameters, rows from 1.

    Computes ``template.format(**facts)``. Parameters, locations and phrases are kept as what they are
    (:class:`Parameter`, :class:`~gramian.sources.locations.Location`, :class:`Phrase`), everything else as printed.

    Examples
    --------
    >>> said = Sentence("Set {budget} to {needed} or more.", budget=Parameter("memory_budget"), needed=4000)
    >>> said
    'Set memory_budget to 4000 or more.'
    >>> said.worded(lambda fact: "--memory" if isinstance(fact, Parameter) else fact)
    'Set --memory to 4000 or more.'
    """

    __slots__ = ("facts", "template")
    template: str
    facts: dict[str, Any]

    def __new__(cls, template: str, **facts: Any) -> Self:
        """Fill the template."""
        made = super().__new__(cls, template.format(**facts))
        made.template, made.facts = template, facts
        return made

    def worded(self, word: Callable[[Any], Any]) -> str:
        """Return the sentence with every fact in other words."""
        return self.template.format(**{name: word(fact) for name, fact in self.facts.items()})

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, Any]]:
        return (self.template,), self.facts


class GramianError(Exception):
    """Anything Gramian refuses to do. Its message is a :class:`Sentence` where it names parameters or locations."""


class InputError(GramianError, ValueError):
    """The data cannot be used as they are.

    Attributes
    ----------
    row : int or None
        Row of the first offending value, counted from zero.
    column : int, str or None
        Its column: the name when the table has names, else the position.
    problem : str or None
        What is wrong with the value there, such as "text in a column of numbers".
    value : object
        The value, where there is one.
    table : object
        What is known of the columns of a table that is refused.
    is_missing : bool
        Whether the value is missing (NaN).
    others : tuple of InputError
        The errors of other columns that were found together with this one.
    """

    def __init__(
        self,
        message: str,
        *,
        row: int | None = None,
        column: int | str | None = None,
        problem: str | None = None,
        value: Any = None,
        table: Any = None,
        is_missing: bool = False,
    ) -> None:
        super().__init__(message)
        self.row = row
        self.column = column
        self.problem = problem
        self.value = value
        self.table = table
        self.is_missing = is_missing
        self.others: tuple[InputError, ...] = ()


class KernelRowsError(InputError):
    """A kernel has no value for a row, or for two rows. Whoever knows where a block came from says which rows they are.

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
        """Say which rows these are; ``ending`` follows the last one, and is kept once it is given."""
        self.ending = ending or self.ending or ""
        self._say(rows, self.ending)

    def _say(self, rows: tuple[int, ...], ending: str) -> None:
        self.rows, self.row = rows, rows[0]
        words = " and ".join(f"row {row:,}" for row in rows) + ending
        self.args = (f"{self.before}{words if self.before else words[0].upper() + words[1:]}{self.after}",)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.before, self.rows, self.after), {**self.__dict__, "args": self.args}


class ParameterError(GramianError, ValueError):
    """A parameter is outside its limits, or two of them contradict each other.

    Attributes
    ----------
    parameter : str or None
        Its name.
    value : object
        What was passed.
    """

    def __init__(self, message: str, *, parameter: str | None = None, value: Any = None) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.value = value


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
    """What rows do not tell: sources too Gaussian to be separated, or of rows not white; rows apart from the others."""


def users_line() -> int:
    """Return the ``stacklevel`` with which a warning of the calling function points at the line of the user.

    That is the first frame outside this library and outside scikit-learn, which wraps some methods.
    """
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001
    level = 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("gramian", "sklearn"):
        frame, level = frame.f_back, level + 1
    return level
