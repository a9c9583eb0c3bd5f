"""Dates and times as people and programs write them, in text and in whole numbers."""

from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.sources.arrow import truths
from gramian.sources.column_names import DURATION_WORDS, STAMP_WORDS, TIME_WORDS, last_word, words_of
from gramian.sources.written_numbers import drawn

CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AaPp][Mm])?"
ZONE = r"(?: ?(?:Z|UTC|GMT|[+-]\d{2}:?\d{2}))?"
TIME = rf"(?:[T ,]+{CLOCK}{ZONE})?"
YEAR = r"(?:1[5-9]|20|21)\d{2}"
MONTH = r"(?:0?[1-9]|1[0-2])"
DAY = r"(?:0?[1-9]|[12]\d|3[01])"
MONTH_NAME = (
    r"(?i:jan|ene|gen|feb|fév|fev|mar|mär|apr|avr|abr|may|mai|mag|jun|jui|giu|jul|lug|aug|aoû|ago|sep|set|oct|okt|ott|nov|"
    r"dec|déc|dez|dic)\pL*\.?"
)
"""In English, French, German, Italian and Spanish."""

WEEKDAY = r"(?:(?i:mon|tue|wed|thu|fri|sat|sun)[a-zA-Z]*\.?,? )?"

FORMS = (
    ("dates, year first", rf"^{YEAR}[-/.]{MONTH}[-/.]{DAY}{TIME}$"),
    ("months", rf"^{YEAR}[-/.]{MONTH}$"),
    ("dates without separators", rf"^{YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:T?\d{{4,6}}Z?)?$"),
    ("dates", rf"^{WEEKDAY}{DAY}(?:st|nd|rd|th)?[ .-]+{MONTH_NAME}[ ,-]+(?:{YEAR}|\d{{2}}){TIME}$"),
    ("dates", rf"^{WEEKDAY}{MONTH_NAME} {DAY}(?:st|nd|rd|th)?,? {YEAR}{TIME}$"),
    ("dates", rf"^{WEEKDAY}{MONTH_NAME} {DAY} {CLOCK}(?: [A-Z]+)? {YEAR}$"),
    ("months", rf"^{MONTH_NAME}[ -]{YEAR}$"),
    ("months", rf"^{MONTH}/{YEAR}$"),
    ("quarters", rf"^{YEAR}[ -]?Q[1-4]$|^Q[1-4][ /-]{YEAR}$"),
    ("weeks", rf"^{YEAR}-?W\d{{2}}(?:-\d)?$"),
    ("times of day, or lengths of time, with colons", rf"^{CLOCK}$"),
)
"""Ways to write a date in which no order of day and month is in doubt."""

ORDERS = {
    "day first": rf"^{DAY}([/.-]){MONTH}[/.-](?:{YEAR}|\d{{2}}){TIME}$",
    "month first": rf"^{MONTH}([/.-]){DAY}[/.-](?:{YEAR}|\d{{2}}){TIME}$",
}


class Dates(NamedTuple):
    """What dates a column holds: the words for them, a sentence about a doubt, and which cells they are."""

    words: str
    doubt: str | None
    fits: HostArray


def written_dates(cells: Any, counts: HostArray) -> Dates | None:
    """Return what dates most cells of a column are, or ``None``.

    One way to write them must fit; the order of day and month is the one that fits most cells. Where both fit, points
    mean day first, as in 01.06.2001, and other signs month first, as in 6/1/2001, and ``doubt`` says so.

    Parameters
    ----------
    cells : Arrow array of strings
        The different cells, without blanks around them.
    counts : array of int
        How often each occurs.

    Cost: at most 14 regular expressions over the different cells; of many, over a sample, which rules out other text.

    Examples
    --------
    >>> import pyarrow as pa
    >>> written_dates(pa.array(["31.12.2001", "01.06.2001"]), np.array([1, 1])).words
    'dates, day first'
    >>> written_dates(pa.array(["6/1/2001", "6/2/2001"]), np.array([1, 1])).doubt
    "either order of day and month fits every cell, such as '6/1/2001': month first is taken"
    """
    few = drawn(cells, counts)
    if len(few) < len(cells) and _dates(few, np.ones(len(few), dtype=np.int64)) is None:
        return None
    return _dates(cells, counts)


def _dates(cells: Any, counts: HostArray) -> Dates | None:
    half = int(counts.sum()) / 2
    if counts[_matches(cells, r"\d")].sum() <= half:
        return None
    best, most = None, half
    for words, pattern in FORMS:
        fits = _matches(cells, pattern)
        if (count := counts[fits].sum()) > most:
            best, most = Dates(words, None, fits), count
        if most == 2 * half:
            return best
    fitting = {order: _matches(cells, pattern) for order, pattern in ORDERS.items()}
    first, second = (int(counts[fits].sum()) for fits in fitting.values())
    if max(first, second) <= most:
        return best
    if first != second:
        order = "day first" if first > second else "month first"
        return Dates(f"dates, {order}", None, fitting[order])
    points = bool(counts[_matches(cells, r"^\d+\.")].sum() > half)
    order = "day first" if points else "month first"
    example = min(cell for cell, fit in zip(cells.to_pylist(), fitting[order], strict=True) if fit)
    doubt = f"either order of day and month fits every cell, such as {example!r}: {order} is taken"
    return Dates(f"dates, {order}", doubt, fitting[order])


def _matches(cells: Any, pattern: str) -> HostArray:
    import pyarrow.compute as pc

    return truths(pc.match_substring_regex(cells, pattern))


def number_dates(values: HostArray, name: str) -> str | None:
    """Return what points in time whole numbers are, or ``None``: 20010601, 200106, seconds since 1970.

    Dates of eight digits speak for themselves where there are three or more different ones. Other numbers need a name
    that speaks of a point in time; seconds since 1970 are then those from 1979 to 2052.

    Parameters
    ----------
    values : float64 array
        Whole numbers.
    name : str
        Of the column.

    Examples
    --------
    >>> number_dates(np.array([20010601.0, 20010615.0, 20011224.0]), "x")
    'dates written as year, month and day in one number'
    >>> number_dates(np.array([964982703.0, 964981247.0]), "timestamp"), number_dates(np.array([964982703.0]), "sales")
    ('seconds since 1970', None)
    """
    low, high = float(values.min()), float(values.max())
    words = words_of(name)
    is_stamp = bool(STAMP_WORDS & set(words)) or last_word(words).endswith(("timestamp", "datetime"))
    is_stamp = is_stamp and not DURATION_WORDS & set(words)
    if low >= 15000101 and high <= 21991231 and _are_days(values):
        if is_stamp or (low // 10000 >= 1800 and np.unique(values).size >= 3):
            return "dates written as year, month and day in one number"
        return None
    is_month = is_stamp or bool({"month", "yearmonth", "period"} & set(words))
    if is_month and low >= 150001 and high <= 219912 and bool(((values % 100 >= 1) & (values % 100 <= 12)).all()):
        return "months written as year and month in one number"
    if not is_stamp:
        return None
    for unit, scale in (("seconds", 1), ("milliseconds", 10**3), ("microseconds", 10**6), ("nanoseconds", 10**9)):
        if 3e8 * scale <= low and high <= 2.6e9 * scale:
            return f"{unit} since 1970"
    if "date" in words and low >= 20000 and high <= 80000:
        return "days since 1900, as spreadsheets count them"
    return None


def _are_days(values: HostArray) -> bool:
    month, day = values // 100 % 100, values % 100
    return bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())


def is_time_axis(values: HostArray, name: str) -> bool:
    """Tell whether a column counts time: a name such as day or time (s), every value once, at equal steps.

    Examples
    --------
    >>> is_time_axis(np.array([0.2, 0.0, 0.1, 0.3, 0.4]), "time"), is_time_axis(np.array([1.0, 1, 2, 2, 3]), "day")
    (True, False)
    """
    words = words_of(name)
    if len(words) != 1 or words[0] not in TIME_WORDS or len(values) < 5:
        return False
    steps = np.diff(np.sort(values))
    rounding = 1e-6 * steps.max() + 4 * np.finfo(np.float64).eps * np.abs(values).max()
    return bool(steps.min() > 0 and steps.max() - steps.min() <= rounding)


def is_year_axis(values: HostArray, name: str) -> bool:
    """Tell whether each row has its own year; a name of several words, such as birth year, needs consecutive ones.

    Examples
    --------
    >>> is_year_axis(np.array([1990.0, 1992, 1991]), "year"), is_year_axis(np.array([1990.0, 1990, 1991]), "year")
    (True, False)
    """
    if not says_year(values, name) or len(values) < 3:
        return False
    steps = np.diff(np.sort(values))
    return bool(steps.min() > 0 and (len(words_of(name)) == 1 or steps.max() == steps.min()))


def says_year(values: HostArray, name: str) -> bool:
    """Tell whether a column holds years: its name says so, and its whole numbers are between 1500 and 2200.

    Examples
    --------
    >>> says_year(np.array([1990.0, 2001.0]), "Model Year"), says_year(np.array([70.0, 82.0]), "year")
    (True, False)
    """
    last = last_word(words_of(name))
    return last in ("year", "yr", "years") and bool(values.min() >= 1500 and values.max() <= 2200)
