"""Whether columns are scaled to unit variance: by their spreads and the units in their names, where nothing is said."""

import re
from collections.abc import Sequence

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.errors import Parameter, Phrase, Sentence
from gramian.sources.column_names import unit_in, words_of
from gramian.sources.moments import Moments

SPREADS_APART = 2.0
"""Ratio of the largest to the smallest deviation of a column above which columns are scaled when nothing is said."""

UNITS = frozenset(
    {"nm", "um", "mm", "cm", "km", "mg", "kg", "ms", "sec", "hz", "khz", "mhz", "uv", "mv", "kv", "mw", "kw", "kwh"}
    | {"degc", "degf", "celsius", "kelvin", "percent", "pct", "usd", "eur"}
)
"""Last words of names that are units, as in "length_mm"."""

CHANNELS = frozenset({"pixel", "px", "channel", "ch", "band", "wavelength", "wl"})
"""Words that, with a number, name the columns of one array."""


def choose_scale(
    names: Sequence[str],
    spread: HostArray,
    *,
    asked: bool | None = None,
    has_units: bool = True,
    moments: Moments | None = None,
) -> tuple[bool, tuple[str, ...]]:
    """Decide whether columns are scaled to unit variance, and say why.

    Parameters
    ----------
    names : sequence of d str
    spread : numpy array (d,)
        Deviations of the columns.
    asked : bool or None
        ``None``: by the rule, where columns may differ in their units.
    has_units : bool
        Whether columns may: those of sparse tables, and without names, are taken to have one unit.
    moments : Moments, optional
        With a scatter it is said too where one column alone would make up the first component.

    Examples
    --------
    >>> choose_scale(["height (cm)", "width (cm)"], np.array([1.0, 9.0]))
    (False, ('Not scaled: by their names the columns are all in cm (scale=True to scale them).',))
    >>> choose_scale(["height (m)", "income"], np.array([0.1, 900.0]))[0]
    True
    """
    if asked is not None:
        return asked, ("Scaled, as asked." if asked else "Not scaled.",)
    if not has_units:
        said = "Not scaled: columns without names are taken to have one unit ({scale} to scale them)."
        return False, (Sentence(said, scale=Parameter("scale", (True,))),)
    positive, ratio = spread[spread > 0], spread_ratio(spread)
    if len(positive) < 2:
        return False, ()
    if not scaled_by_rule(names, spread):
        why = f"spreads of the columns differ {_times(ratio)}-fold, not more than two-fold"
        if ratio > SPREADS_APART:
            unit = common_unit(names)
            why = "by their names the columns are " + ("of one array" if unit == "one array" else f"all in {unit}")
        said = "Not scaled: {why} ({scale} to scale them)."
        return False, (Sentence(said, why=why, scale=Parameter("scale", (True,))),)
    wide, narrow = int(np.argmax(spread)), int(np.argmin(np.where(spread > 0, spread, np.inf)))
    said = Sentence(
        "Scaled to unit variance: spreads differ {ratio}-fold, from {narrow!r} ({least:.3g}) to {wide!r} ({most:.3g}), "
        "and no unit is common to the names{alone} ({scale} to leave them as they are).",
        ratio=_times(ratio),
        narrow=names[narrow],
        wide=names[wide],
        least=float(positive.min()),
        most=float(positive.max()),
        alone=_alone(moments, wide, names[wide]),
        scale=Phrase("scale=False", "--no-scale"),
    )
    return True, (said,)


def scaled_by_rule(names: Sequence[str], spread: HostArray) -> bool:
    """Tell whether columns are scaled when nothing is said: spreads differ, and names give no common unit.

    Examples
    --------
    >>> scaled_by_rule(["a", "b"], np.array([1.0, 1.9])), scaled_by_rule(["a", "b"], np.array([1.0, 20.0]))
    (False, True)
    >>> scaled_by_rule(["a (mm)", "b (mm)"], np.array([1.0, 20.0]))
    False
    """
    return spread_ratio(spread) > SPREADS_APART and not common_unit(names)


def spread_ratio(spread: HostArray) -> float:
    """Return the largest deviation over the smallest of columns that vary; at most the largest float.

    Examples
    --------
    >>> spread_ratio(np.array([1.0, 0.0, 20.0])), spread_ratio(np.array([0.0]))
    (20.0, 1.0)
    """
    positive = spread[spread > 0]
    with np.errstate(over="ignore"):
        ratio = positive.max() / positive.min() if len(positive) else 1.0
    return float(min(ratio, np.finfo(np.float64).max))


def common_unit(names: Sequence[str]) -> str:
    """Return what all columns are measured in, by their names; empty where these do not say.

    A unit stands in parentheses or as the last word. Columns whose names are numbers (wavelengths, times), or numbered
    pixels, channels and bands, are those of one array.

    Examples
    --------
    >>> common_unit(["Length (mm)", "Width (mm)"]), common_unit(["a_kg", "b_kg"]), common_unit(["Mass (g)", "Age (y)"])
    ('mm', 'kg', '')
    >>> common_unit(["900", "902.5", "905"]), common_unit(["pixel_1", "pixel_2"]), common_unit(["x1", "x2"])
    ('one array', 'one array', '')
    """
    found = {_unit_of(name) for name in names}
    return found.pop() or "" if len(found) == 1 else ""


def _unit_of(name: str) -> str | None:
    unit = unit_in(name)
    if unit is not None:
        return unit
    if re.fullmatch(r"\s*[-+]?\d+(\.\d+)?\s*", name):
        return "one array"
    words = words_of(name)
    if len(words) > 1 and words[0] in CHANNELS and all(word.isdigit() for word in words[1:]):
        return "one array"
    return words[-1] if words and words[-1] in UNITS else None


def _alone(moments: Moments | None, j: int, name: str) -> str:
    """Say what a column would make up of the first component without scaling, where that is nearly all."""
    if moments is None or moments.scatter is None or len(moments.squares) > 500:
        return ""
    scatter = to_host(moments.scatter).astype(np.float64)
    size = float(np.abs(scatter).max(initial=0.0))
    if not 0.0 < size < np.inf:
        return ""
    weight = float(np.linalg.eigh(scatter / size)[1][j, -1] ** 2)
    return f"; unscaled, {name!r} alone would make up {weight:.0%} of PC1" if weight > 0.9 else ""


def _times(ratio: float) -> str:
    """Return a ratio with as many digits as are worth reading."""
    if ratio >= 1e15:
        return f"{ratio:.0e}"
    return f"{ratio:,.0f}" if ratio >= 100 else f"{ratio:.2g}"
