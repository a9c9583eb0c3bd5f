"""Numbers as people write them: money, percent, units, signs between thousands, decimal commas.

A column has one format, and :func:`number_format` finds it from the different cells. ``1,234`` in every cell is decided
by rule: three digits after each comma and no leading zero are thousands.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.sources.arrow import from_numpy, to_numpy, truths, without

CURRENCIES = ("US$", "R$", "$", "€", "£", "¥", "₹", "USD", "EUR", "GBP", "CHF", "JPY", "Rs.", "kr")
"""Signs and codes of money, before or after the number."""

PLAIN = r"(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
"""A number without a sign as programs write it."""

BODIES = {
    ("", "."): PLAIN,
    (",", "."): r"(?:[1-9]\d{0,2}(?:,\d{2,3})*,\d{3}(?:\.\d*)?|" + PLAIN + ")",
    ("'", "."): r"(?:[1-9]\d{0,2}(?:'\d{3})+(?:\.\d*)?|" + PLAIN + ")",
    (" ", "."): r"(?:[1-9]\d{0,2}(?: \d{3})+(?:\.\d*)?|" + PLAIN + ")",
    ("", ","): r"(?:\d+(?:,\d*)?(?:[eE][+-]?\d+)?|,\d+)",
    (".", ","): r"(?:[1-9]\d{0,2}(?:\.\d{3})+(?:,\d*)?|\d+(?:,\d*)?(?:[eE][+-]?\d+)?|,\d+)",
    (" ", ","): r"(?:[1-9]\d{0,2}(?: \d{3})+(?:,\d*)?|\d+(?:,\d*)?(?:[eE][+-]?\d+)?|,\d+)",
    ("'", ","): r"(?:[1-9]\d{0,2}(?:'\d{3})+(?:,\d*)?|\d+(?:,\d*)?(?:[eE][+-]?\d+)?|,\d+)",
}
"""Digits by the sign between thousands and the decimal sign; where several fit as many cells, the first is taken.

The second also takes Indian groups (1,23,456).
"""

SIGN_WORDS = {",": "commas", "'": "apostrophes", " ": "blanks", ".": "points"}

AFFIXES = re.compile(
    r"\(?\s*[+-]?\s*(?P<currency>"
    + "|".join(map(re.escape, CURRENCIES))
    + r")?\s*[+-]?\s*(?P<digits>\d[\d.,' ]*|[.,]\d+)(?:[eE][+-]?\d+(?!\w))?\s*"
    + r"(?P<unit>[^\d\s.,'()+:/<>=-][^,;:()\d]{0,11}[23]?)?-?\)?"
)
"""What may stand before and after the digits of a cell."""

SHOWN = (
    ("", re.compile(r"\d+|\d{1,3}(?:[' ]\d{3})+")),
    (".?", re.compile(r"[1-9]\d{0,2}\.\d{3}")),
    (",?", re.compile(r"[1-9]\d{0,2},\d{3}")),
    (".", re.compile(r"\d*\.\d+|\d{1,3}(?:(?:,\d{2,3})*,\d{3}|(?:[' ]\d{3})+)\.\d+|\d{1,3}(?:,\d{3}){2,}")),
    (",", re.compile(r"\d*,\d+|\d{1,3}(?:(?:\.\d{3})+|(?:[' ]\d{3})+),\d+|\d{1,3}(?:\.\d{3}){2,}")),
)
"""What digits show of the decimal sign, and which ones do: the first that fits counts."""


@dataclass(frozen=True)
class NumberFormat:
    """How the numbers of one column are written.

    Attributes
    ----------
    thousands, decimal : str
        The sign between thousands ("" for none) and the decimal sign.
    currency, unit : str
        What stands before or after the digits; cells without it are numbers too.

    Examples
    --------
    >>> import pyarrow as pa
    >>> NumberFormat(thousands=".", decimal=",", unit="€").numbers(pa.array(["1.234,56 €", "-2", "none", None]))
    array([1234.56,   -2.  ,     nan,     nan])
    """

    thousands: str = ""
    decimal: str = "."
    currency: str = ""
    unit: str = ""

    @property
    def is_plain(self) -> bool:
        """Whether cells are written as programs write numbers."""
        return self == NumberFormat()

    def fits(self, cells: Any) -> HostArray:
        """Return which cells of an Arrow array of strings, as :func:`normalized` gives them, are such numbers."""
        import pyarrow.compute as pc

        return truths(pc.match_substring_regex(cells, self._pattern()))

    def has_unit(self, cells: Any) -> HostArray:
        """Return which cells of an Arrow array of strings end in the unit."""
        import pyarrow.compute as pc

        return truths(pc.ends_with(cells, self.unit))

    def numbers(self, cells: Any) -> HostArray:
        """Return an Arrow array of strings as float64; what is no number in this format is NaN."""
        import pyarrow as pa
        import pyarrow.compute as pc

        cells = normalized(cells)
        cells = without(cells, pc.invert(pc.match_substring_regex(cells, self._pattern())))
        negative = pc.or_(pc.starts_with(cells, "("), pc.match_substring_regex(cells, r"^[^\d]*-|-$"))
        cells = pc.ascii_trim(cells, "()+-")
        if self.unit:
            has_unit = pc.ends_with(cells, self.unit)
            cells = pc.if_else(has_unit, pc.utf8_slice_codeunits(cells, 0, -len(self.unit)), cells)
        for sign in filter(None, (self.currency, self.thousands)):
            cells = pc.replace_substring(cells, sign, "")
        cells = pc.ascii_trim(cells, " +-")
        if self.decimal != ".":
            cells = pc.replace_substring(cells, self.decimal, ".")
        found = to_numpy(pc.cast(cells, pa.float64()))
        return np.where(truths(negative), -found, found)

    def words(self) -> str:
        """Say how cells are written, after "written"; empty where they are plain.

        Examples
        --------
        >>> NumberFormat(thousands=",", currency="$").words()
        'with $ and commas between thousands'
        """
        parts = [part for part in (self.currency, self.unit) if part]
        if self.thousands:
            parts.append(f"{SIGN_WORDS[self.thousands]} between thousands")
        if self.decimal != ".":
            parts.append("decimal commas")
        return f"with {' and '.join([', '.join(parts[:-1]), parts[-1]] if parts[1:] else parts)}" if parts else ""

    def _pattern(self) -> str:
        return _pattern(self)


@cache
def _pattern(style: NumberFormat) -> str:
    body = BODIES[style.thousands, style.decimal]
    if style.is_plain:
        return rf"^(?:[+-]?{body}|\({body}\)|{body}-)$"
    currency = rf"(?:{re.escape(style.currency)} ?)?" if style.currency else ""
    after = "".join(rf"(?: ?{re.escape(affix)})?" for affix in (style.currency, style.unit) if affix)
    number = rf"{currency}{body}{after}"
    signed = rf"{currency}[+-] ?{body}{after}" if currency else rf"[+-] ?{body}{after}"
    return rf"^(?:[+-]? ?{number}|{signed}|\( ?{number} ?\)|{number}-)$"


def normalized(cells: Any) -> Any:
    """Return cells without blanks around them, every kind of blank, minus and apostrophe as the one on keyboards."""
    import pyarrow.compute as pc

    ascii_only = pc.all(pc.string_is_ascii(cells)).as_py()
    if ascii_only is False:
        for odd, usual in (("\u00a0", " "), ("\u2007", " "), ("\u2009", " "), ("\u202f", " "), ("\u2212", "-")):
            cells = pc.replace_substring(cells, odd, usual)
        cells = pc.replace_substring(cells, "\u2019", "'")
    return pc.utf8_trim_whitespace(cells)


def number_format(cells: Any, counts: HostArray, *, decimal: str | None = None) -> NumberFormat:
    """Return the format in which most cells are numbers.

    Parameters
    ----------
    cells : Arrow array of strings
        The different cells, as :func:`normalized` gives them.
    counts : array of int
        How often each occurs.
    decimal : str, optional
        The decimal sign, where it is known.

    Cost: a regular expression over the different cells for each pair of signs that occurs in them; one in all where a
    sample of the cells shows a format that fits every cell.

    Examples
    --------
    >>> import pyarrow as pa
    >>> number_format(pa.array(["-$11.87", "($1,300.00)", "$5"]), np.array([1, 1, 1]))
    NumberFormat(thousands=',', decimal='.', currency='$', unit='')
    """
    few = drawn(cells, counts)
    guess = _best_format(few, np.ones(len(few), dtype=np.int64), few, decimal)
    # A format that comes before it and fits every cell would have fitted the sample.
    return guess if guess.fits(cells).all() else _best_format(cells, counts, few, decimal)


def drawn(cells: Any, counts: HostArray) -> Any:
    """Return 2,000 cells drawn at random with the given counts, by one seed; all where there are few different ones.

    What holds for fewer than half of these holds for no nine in ten of all, whatever their order.
    """
    if len(cells) <= 4000:
        return cells
    ends = np.cumsum(counts)
    at = np.random.default_rng(0).integers(0, int(ends[-1]), 2000)
    return cells.take(from_numpy(np.searchsorted(ends, at, side="right")))


def _best_format(cells: Any, counts: HostArray, few: Any, known: str | None) -> NumberFormat:
    """Return the format that fits most cells, the first of equals; money and units are those of a few of them."""
    import pyarrow.compute as pc

    best = NumberFormat(decimal=known or ".")
    most, total = int(counts[best.fits(cells)].sum()), int(counts.sum())
    if most == total:
        return best
    currencies, units = _affixes(few.to_pylist())
    seen = {sign for sign in ",.' " if pc.any(pc.match_substring(cells, sign)).as_py()}
    for thousands, decimal in BODIES:
        needed = {thousands} if thousands == "." else {thousands, decimal} - {"."}
        if not needed - {""} <= seen or known not in (None, decimal):
            continue
        for currency in ("", *currencies):
            for unit in ("", *units):
                style = NumberFormat(thousands, decimal, currency, unit)
                count = int(counts[style.fits(cells)].sum())
                if count > most:
                    best, most = style, count
        if most == total:
            break
    if best.unit and 2 * counts[best.has_unit(cells)].sum() < most:
        # A unit in few cells is an exception to the others, which may mean another one.
        best = NumberFormat(best.thousands, best.decimal, best.currency)
    return best


def decimal_sign(cell: str) -> str | None:
    """Return the decimal sign that a cell shows, beside money and a unit; with "?" where that of thousands may be it.

    Empty where it shows none, ``None`` where the cell is no number.

    Examples
    --------
    >>> [decimal_sign(cell) for cell in ("21,84 €", "-$5.5", "10.363", "1,500 kg", "1.234.567", "42", "k.A.")]
    [',', '.', '.?', ',?', ',', '', None]
    """
    if cell.isdecimal():
        return ""
    found = AFFIXES.fullmatch(cell.strip().replace("\u2212", "-"))
    if found is None:
        return None
    digits = re.sub(r"\s", " ", found["digits"].strip())
    return next((sign for sign, shown in SHOWN if shown.fullmatch(digits)), None)


def is_ambiguous(style: NumberFormat, cells: Any) -> bool:
    """Tell whether signs between thousands could be decimal signs in every cell: 1,234 and the like alone.

    Examples
    --------
    >>> import pyarrow as pa
    >>> style = NumberFormat(thousands=",")
    >>> is_ambiguous(style, pa.array(["1,234", "5,678"])), is_ambiguous(style, pa.array(["1,234", "5,678.5"]))
    (True, False)
    """
    if {style.thousands, style.decimal} != {",", "."}:
        return False
    other = NumberFormat(style.decimal, style.thousands, style.currency, style.unit)
    return all(
        bool(other.fits(some)[style.fits(some)].all()) for some in (drawn(cells, np.ones(len(cells), dtype=int)), cells)
    )


def _affixes(cells: list[str]) -> tuple[list[str], list[str]]:
    """Return the money sign and the unit that most cells have; a sign of money after the digits is money."""
    found = [match for cell in cells if (match := AFFIXES.fullmatch(cell))]
    units = [match["unit"].rstrip("- ") for match in found if match["unit"]]
    money = [match["currency"] for match in found if match["currency"]] + [unit for unit in units if unit in CURRENCIES]
    units = [unit for unit in units if unit not in CURRENCIES]
    return _commonest(money), _commonest(units) if 4 * len(units) >= len(found) else []


def _commonest(words: list[str]) -> list[str]:
    return [min(set(words), key=lambda word: (-words.count(word), word))] if words else []
