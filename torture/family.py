"""What a family of attacks is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

Counts = Mapping[str, float]
"""What an attack adds to the sums that a family keeps."""


class Broken(Exception):  # noqa: N818 - a promise is broken: what is raised is the finding, not a mistake of the caller
    """A promise was broken; the message says which, and by how much."""


@dataclass(frozen=True)
class Family:
    """Attacks of one kind.

    Attributes
    ----------
    name, promise : str
        The promise is what all of its attacks try to break, in a sentence.
    goal : int
        How many attacks ``--until-done`` makes.
    attack : function of an int
        Makes one, and raises :class:`Broken` (or anything else) if the promise does not hold. May return sums.
    verdict : function of the sums, optional
        What has to hold of all attacks together, as where a stated chance of failing must not be exceeded: a sentence
        if it does not, else an empty one.
    repeats : int, optional
        After so many the same attacks come again: a list of so many cases.
    """

    name: str
    promise: str
    goal: int
    attack: Callable[[int], Counts | None]
    verdict: Callable[[Counts], str] = lambda _sums: ""
    repeats: int | None = None
