"""Words that stand for a missing value; numbers that do are in :mod:`gramian.sources.sentinels`."""

from functools import cache

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
