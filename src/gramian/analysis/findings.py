"""What is said about a table, as values: each finding is a sentence with its numbers and what it rests on.

A finding is true as it stands, and can be checked: ``numbers`` has every number of its sentence, unrounded, and
``evidence`` says which rows, columns, components, groups, test and level it rests on. The terminal, the page and
``--json`` render one list of them.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gramian.errors import Sentence

LISTED = 6
"""Names that a sentence lists before it only counts them."""


@dataclass(frozen=True)
class Finding:
    """One claim about a table, with its numbers and its evidence.

    Attributes
    ----------
    kind : str
        What it is about: "component", "plane", "noise", "count", "group", "clouds", "outliers", "rows",
        "skew", "table", "kernel", "source", "missing", "held out".
    sentence : str
        What a person reads.
    numbers : mapping of str to number
        Every number in the sentence, unrounded.
    evidence : mapping
        Rows, columns, components, groups, test and level that it rests on.
    components : tuple of int
        Components that it is about, from 0.

    Examples
    --------
    >>> found = Finding("count", "2 components are kept.", {"kept": 2})
    >>> str(found), found.numbers["kept"]
    ('2 components are kept.', 2)
    """

    kind: str
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)
    components: tuple[int, ...] = ()

    def __str__(self) -> str:
        return self.sentence

    def as_json(self) -> dict[str, Any]:
        """Return what a machine reads: kind, sentence, numbers, evidence and components."""
        return {
            "kind": self.kind,
            "sentence": self.sentence,
            "numbers": dict(self.numbers),
            "evidence": dict(self.evidence),
            "components": list(self.components),
        }


def joined(names: Sequence[str]) -> str:
    """Names as a person lists them.

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def listed(names: Sequence[str]) -> str:
    """Return names as a person lists them, the first ones where there are many.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"]), listed([str(i) for i in range(9)])
    ('a', 'a, b and c', '0, 1, 2, 3, 4, 5 and 3 more')
    """
    if len(names) > LISTED:
        return f"{', '.join(names[:LISTED])} and {len(names) - LISTED:,} more"
    return joined(names)


def called(rows: Sequence[str]) -> str:
    """Names of rows as a sentence has them, where a bare number would be read as one of its figures.

    Examples
    --------
    >>> called(["Utah", "Ohio"]), called(["4", "12"])
    ('Utah and Ohio', 'the rows named 4 and 12')
    """
    if any(any(letter.isalpha() for letter in name) for name in rows):
        return joined(rows)
    return f"the {'row' if len(rows) == 1 else 'rows'} named {joined(rows)}"


def columns_word(names: Sequence[str]) -> str:
    """Return what a sentence has before names of columns that are bare numbers, which would be read as its figures.

    Examples
    --------
    >>> columns_word(["height", "1670"]), columns_word(["1670"]), columns_word(["4 to 12"])
    ('', 'column ', 'columns ')
    """
    if any(letter.isalpha() for name in names for letter in name.replace(" to ", "")):
        return ""
    return "column " if len(names) == 1 and " to " not in names[0] else "columns "


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def shortened(name: str, most: int) -> str:
    """Return a name of at most so many letters, cut in the middle: names often differ only at their ends.

    Examples
    --------
    >>> shortened("temperature of sensor 1", 13), shortened("short", 13)
    ('temper…nsor 1', 'short')
    """
    if len(name) <= most:
        return name
    tail = (most - 1) // 2
    return f"{name[: most - 1 - tail]}…{name[len(name) - tail :]}"


def not_kept(kept: int) -> str:
    """Say of a component that it lies beyond those that are kept.

    Examples
    --------
    >>> not_kept(3), not_kept(1)
    (', which is not among the 3 kept', ', which is not kept')
    """
    return f", which is not among the {kept} kept" if kept > 1 else ", which is not kept"


def percent(share: float) -> str:
    """Return a share as a person reads it: whole percents, with a digit more near both ends.

    Examples
    --------
    >>> percent(0.4512), percent(0.061), percent(0.9987), percent(0.9997), percent(1.0 - 1e-15)
    ('45%', '6.1%', '99.9%', '99.97%', '100.0%')
    """
    return f"{share:.{_digits(share)}%}"


def _digits(share: float) -> int:
    """Return the digits after the point that a share in percent needs, so that a part is neither 0% nor 100%.

    What four digits do not tell from either is rounding.
    """
    least = 0 if 0.0995 <= share <= 0.985 else 1
    if not 0.0 < share < 1.0:
        return least
    return next((n for n in range(least, 5) if float(f"{100 * share:.{n}f}") not in (0.0, 100.0)), least)


def share_words(share: float, interval: tuple[float, float] | None) -> str:
    """Return a share with its interval; without it where it is narrower than the digits.

    Examples
    --------
    >>> share_words(0.4512, (0.362, 0.531)), share_words(0.45123, (0.4512, 0.4513)), share_words(0.4512, None)
    ('45% (36 to 53%)', '45.1%', '45%')
    """
    if interval is None:
        return percent(share)
    low, high = interval
    digits = max(_digits(share), 0 if high - low >= 0.02 else 1)
    words = f"{share:.{digits}%}"
    if f"{low:.{digits}%}" == f"{high:.{digits}%}" == words:
        return words
    return f"{words} ({100 * low:.{digits}f} to {high:.{digits}%})"


def sentence_of(fault: BaseException | warnings.WarningMessage) -> str:
    """Return what an error or a caught warning says, with its facts where it keeps them."""
    said = fault.message if isinstance(fault, warnings.WarningMessage) else fault
    args = () if isinstance(said, str) else said.args
    return args[0] if args and isinstance(args[0], Sentence) else str(said)
