"""Names of the columns of a table file: made different where some are the same, or given by a person."""

import itertools
from collections.abc import Sequence

from gramian.errors import Parameter, ParameterError, Sentence


def name_columns(
    stored: Sequence[str], given: Sequence[str] | None, origin: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of all columns of a file, all different, and what is said of those that were changed.

    Parameters
    ----------
    stored : sequence of str
        As the file has them.
    given : sequence of str, optional
        In place of those, one per column.
    origin : str

    Examples
    --------
    >>> name_columns(["a", "b", "a"], None, "t.csv")
    (('a', 'b', 'a.1'), ("t.csv has several columns called 'a'; the second is called 'a.1'.",))
    """
    if given is not None and len(given) != len(stored):
        message = Sentence(
            "{names} gives {given:,} names and {origin} has {stored:,} columns. Give one name per column of the file.",
            names=Parameter("names"),
            given=len(given),
            origin=origin,
            stored=len(stored),
        )
        raise ParameterError(message, parameter="names")
    old = list(stored if given is None else given)
    new = different(old)
    remarks = []
    for name in dict.fromkeys(before for before, after in zip(old, new, strict=True) if before != after and before):
        others = [repr(after) for before, after in zip(old, new, strict=True) if before == name != after]
        are = "the others are" if len(others) > 1 or old.count(name) > 2 else "the second is"
        shown = ", ".join(others[:4]) + (" and so on" if len(others) > 4 else "")
        remarks.append(f"{origin} has several columns called {name!r}; {are} called {shown}.")
    return new, tuple(remarks)


def numbered(count: int) -> tuple[str, ...]:
    """Return names for columns that have none: their numbers, from 1.

    Examples
    --------
    >>> numbered(2)
    ('column 1', 'column 2')
    """
    return tuple(f"column {j + 1}" for j in range(count))


def near_or(word: str, known: Sequence[str], otherwise: str) -> str:
    """Return a hint for a name that is not known: one nearly the same, or what is to be said without one.

    Examples
    --------
    >>> near_or("heigth", ["height", "width"], ""), near_or("x", ["height"], "It has 'height'.")
    ("Did you mean 'height'?", "It has 'height'.")
    """
    from difflib import get_close_matches

    near = get_close_matches(word, known, n=1)
    return f"Did you mean {near[0]!r}?" if near else otherwise


def different(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of which a second and a third of the same kind are counted, in numbers that no other name has.

    Examples
    --------
    >>> different(["a", "a", "a.1", "a"])
    ('a', 'a.2', 'a.1', 'a.3')
    """
    taken, found, seen = set(names), list[str](), set[str]()
    for name in names:
        free = name
        for count in itertools.count(1) if name in seen else ():
            free = f"{name}.{count}"
            if free not in taken:
                break
        taken.add(free)
        seen.add(free)
        found.append(free)
    return tuple(found)
