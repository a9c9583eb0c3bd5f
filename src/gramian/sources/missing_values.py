"""What stands for a missing value: words, and numbers such as -999, -32768 and 1e20, far from every measured one."""

from functools import cache

import numpy as np

from gramian.arrays.namespace import HostArray

MISSING = (
    "",
    "NA",
    "N/A",
    "n/a",
    "NaN",
    "nan",
    "-nan",
    "NULL",
    "null",
    "None",
    "#N/A",
    "#NA",
    "NAN",
    "na",
    "?",
    "<NA>",
)
"""Those that programs write: a cell with one of them is empty, in a table of any kind."""

ERRORS = ("#DIV/0!", "#N/A", "#NAME?", "#NULL!", "#NUM!", "#REF!", "#VALUE!", "#SPILL!", "#CALC!", "#GETTING_DATA")
"""Those that spreadsheets leave where a formula has no value: empty in a workbook, and among numbers and dates."""

NOTES = (
    *("-", "--", "---", ".", "..", "...", "unknown", "missing", "none", "nil", "n.a.", "n.d.", "nd", "n/d", "tbd"),
    *("unspecified", "not available", "not recorded", "not known", "no data"),
)
"""Those that people write for a number or a date they do not have: among other text they may be a level."""

UNMISTAKABLE = (-999.0, -999.9, -999.25, -9999.0, -9999.9, -99999.0, -32768.0, -32767.0, -2147483648.0)
"""Values that programs write for a missing one; one such cell is enough."""

USUAL = (-99.0, -99.9, 99.0, 99.9, 99.99, 999.0, 999.9, 9999.0, 9999.9, 99999.0, 32767.0)
"""Values that are also measured now and then; they must come again, and those below 100 be farther away."""

FILLS = tuple(
    sign * fill
    for value in (1e20, 1e30, 1e35, 1e36, 9.969209968386869e36, 3.4028234663852886e38)
    for fill in (value, float(np.float32(value)))
    for sign in (1, -1)
)
"""Fill values of grids, in double and in single precision; they are a million times as far as anything measured."""

CANDIDATES = UNMISTAKABLE + USUAL + FILLS

UNANSWERED = -9.0
"""What surveys write where a question has no answer, among a few whole numbers."""

MOST_ANSWERS = 12


@cache
def words_among_numbers() -> tuple[str, ...]:
    """Return all of them, in the cases that people write them in.

    Examples
    --------
    >>> {"NA", "Unknown", "UNKNOWN", "#DIV/0!"} <= set(words_among_numbers())
    True
    """
    words = (*MISSING, *ERRORS, *NOTES)
    cases = {cased for word in words for cased in (word, word.lower(), word.upper(), word.capitalize(), word.title())}
    return tuple(sorted(cases))


def sentinels(values: HostArray) -> dict[float, int]:
    """Return the values that stand for a missing one, with how many cells hold each.

    Parameters
    ----------
    values : float64 array
        What a column holds, finite, in any order.

    Computes, for each candidate s, its distance to the interval [low, high] of all values that are no candidates. It
    stands for a missing value when that distance is at least high - low; or when it is negative, comes again, and
    nothing else is. A tail, however heavy, would have to end at exactly such a number, twice, behind a gap as wide as
    everything before it. Candidates that are measured now and then need to come twice, and those below 100 a gap five
    times as wide: 99 among answers from 1 to 5. Fill values of grids need one a million times as wide. -9 stands for no
    answer where it comes again, alone below zero, among at most 12 whole numbers that span no more than it lies below
    them. Where the other values are all the same, nothing is said.

    Cost: two comparisons where the lowest and the highest value are no candidates; else a few passes.

    Examples
    --------
    >>> sentinels(np.array([3.1, 2.7, -999.0, 4.0])), sentinels(np.array([500.0, 999.0, 20.0]))
    ({-999.0: 1}, {})
    """
    known = (*CANDIDATES, UNANSWERED)
    if not len(values) or (values.min() not in known and values.max() not in CANDIDATES):
        return {}
    candidate = np.isin(values, CANDIDATES)
    rest = values[~candidate]
    unanswered = _unanswered(rest)
    rest = rest[rest != UNANSWERED] if unanswered else rest
    if not len(rest) or rest.min() == rest.max():
        return {}
    low, high = float(rest.min()), float(rest.max())
    found = {UNANSWERED: unanswered} if unanswered else {}
    for value, count in zip(*np.unique(values[candidate], return_counts=True), strict=True):
        gap = max(low - value, value - high)
        alone_below_zero = value < 0 <= low and count > 1
        certain = value not in USUAL or count > 1
        width = (high - low) * (1e6 if value in FILLS else 5 if abs(value) < 100 else 1)
        if gap > 0 and certain and (gap >= width or alone_below_zero):
            found[float(value)] = int(count)
    return found


def _unanswered(values: HostArray) -> int:
    """Return how many cells hold -9 for no answer; zero where it may be an amount."""
    if not len(values) or values.min() != UNANSWERED:
        return 0
    answers = np.unique(values[values != UNANSWERED])
    count = int((values == UNANSWERED).sum())
    few = count > 1 < len(answers) <= MOST_ANSWERS and answers[0] >= 0 and bool((answers == np.rint(answers)).all())
    return count if few and answers[0] - UNANSWERED >= answers[-1] - answers[0] else 0
