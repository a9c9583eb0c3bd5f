"""Python objects that are numbers: arrays of objects, and lists of lists.

Each object is looked at, because NumPy's own conversion is too kind: it reads text as numbers, lets ``None``
pass for NaN, takes a masked row for a plain one, and rounds integers that no float can hold.
"""

import datetime as dt
import sys
import warnings
from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, NotSupportedError
from gramian.sources.finiteness import refuse_nonfinite
from gramian.sources.places import Locate, Place

LARGEST_EXACT = 2**53
"""Up to here float64 holds every integer."""

TEXT = (str, bytes, bytearray)
DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
INTEGERS = (int, np.integer)
COMPLEX = (complex, np.complexfloating)


def floats_of_objects(values: HostArray, locate: Locate) -> HostArray:
    """Return an array of Python numbers as float64; refuse the first object that is none, with its place.

    Takes whatever has a value as a float (int, float, Decimal, Fraction, scalars of other libraries).

    Cost: a few looks at each object, and 8 bytes each for the result.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from gramian.sources.places import dense_places
    >>> floats_of_objects(np.array([[1, Fraction(1, 2)]], dtype=object), dense_places(2))
    array([[1. , 0.5]])
    """
    kinds = set(map(type, values.flat))
    refused = {kind for kind in kinds if not _is_number(kind)}
    if refused:
        first = next(i for i, value in enumerate(values.flat) if type(value) in refused)
        _refuse_object(values, first, locate)
    try:
        floats = values.astype(FLOAT64)
    except OverflowError:
        floats = np.reshape([_float_or_infinity(value) for value in values.flat], values.shape)
    _require_exact(values, floats, locate)
    return floats


def array_of_lists(rows: Any) -> HostArray:
    """Return nested sequences as an array, of whatever kind the values have.

    Cost: what NumPy takes to read the lists.

    Examples
    --------
    >>> array_of_lists([[1, 2], [3, 4]]).dtype.kind
    'i'
    """
    _refuse_masked_rows(rows)
    try:
        array = _without_warning(rows)
    except ValueError as error:
        raise InputError(_ragged_sentence(rows)) from error
    if array.dtype.kind in "SUTc" or _may_hide_objects(array):
        return np.array(rows, dtype=object)
    return array


def refuse_text(value: Any, place: Place) -> NoReturn:
    """Raise the sentence for text where a number should be."""
    message = (
        f"X holds text: {_short(value)} in {place}. Turn text into numbers first (one column a category, or "
        "X.astype(float) where it spells numbers), or leave that column out."
    )
    raise InputError(message, row=place.row, column=place.label)


def refuse_large_integer(value: int, place: Place) -> NoReturn:
    """Raise the sentence for an integer that float64 may not hold."""
    message = (
        f"X holds the integer {_short(value)} in {place}, beyond 2**53 = {LARGEST_EXACT}, where float64 no "
        "longer holds every integer. Leave the column out if it is an identifier; else subtract an offset, "
        "or accept the rounding with X.astype(float)."
    )
    raise InputError(message, row=place.row, column=place.label)


def _is_number(kind: type) -> bool:
    if issubclass(kind, TEXT + DATES + COMPLEX + (np.ndarray,)):
        return False
    return hasattr(kind, "__float__") or issubclass(kind, INTEGERS)


def _refuse_object(values: HostArray, first: int, locate: Locate) -> NoReturn:
    value, place = values.flat[first], locate(first)
    if _is_missing(value):
        count = sum(_is_missing(other) for other in values.flat)
        refuse_nonfinite(place, np.nan, count=count, dtype=FLOAT64)
    if isinstance(value, TEXT):
        refuse_text(value, place)
    if isinstance(value, DATES):
        message = (
            f"X holds a date or time: {_short(value)} in {place}. Turn dates into numbers first, for example "
            "days since the earliest."
        )
        raise InputError(message, row=place.row, column=place.label)
    if isinstance(value, COMPLEX):
        message = f"Complex data not supported: X holds {value} in {place}. Take its real part first."
        raise InputError(message, row=place.row, column=place.label)
    message = (
        f"X holds a value of type {type(value).__name__}: {_short(value)} in {place}. Each argument must be "
        "neither a string nor another object, but a real number."
    )
    raise NotSupportedError(message)


def _is_missing(value: Any) -> bool:
    if value is None or value is np.ma.masked:
        return True
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def _require_exact(values: HostArray, floats: HostArray, locate: Locate) -> None:
    """Refuse integers that were rounded on the way, and then anything that is not finite."""
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(floats) >= LARGEST_EXACT)
    for i in map(int, large):
        value = values.flat[i]
        if isinstance(value, INTEGERS) and abs(int(value)) > LARGEST_EXACT:
            refuse_large_integer(int(value), locate(i))
    bad = np.flatnonzero(~np.isfinite(floats))
    if bad.size:
        first = int(bad[0])
        refuse_nonfinite(locate(first), float(floats.flat[first]), count=int(bad.size), dtype=FLOAT64)


def _float_or_infinity(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _without_warning(rows: Any) -> HostArray:
    # A masked value in a list comes out as NaN with a warning; it is refused as NaN, with its place, instead.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return np.asarray(rows)


def _may_hide_objects(array: HostArray) -> bool:
    # Where a float stands beside it in the list, NumPy rounds a large integer and takes a mask for NaN.
    if array.dtype.kind != "f" or array.size == 0:
        return False
    largest, smallest = float(array.max()), float(array.min())
    return not (smallest > -LARGEST_EXACT and largest < LARGEST_EXACT)


def _refuse_masked_rows(rows: Any) -> None:
    for i, row in enumerate(rows):
        if isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row):
            column = int(np.argmax(np.ma.getmaskarray(row)))
            refuse_masked(Place(i, column), int(np.count_nonzero(np.ma.getmaskarray(row))))


def refuse_masked(place: Place, count: int) -> NoReturn:
    """Raise the sentence for ``count`` masked entries, the first of them at ``place``."""
    others = f" ({count:,} masked entries in all)" if count > 1 else ""
    message = (
        f"X is masked in {place}{others}, and a masked value is never used unasked. Fill the masked entries, "
        "for example with X.filled(value), or drop their rows."
    )
    raise InputError(message, row=place.row, column=place.label)


def _ragged_sentence(rows: Any) -> str:
    lengths = [len(row) if hasattr(row, "__len__") else None for row in rows]
    odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is None:
        return "The lists in X nest to different depths. Pass one list of numbers a row, all equally long."
    first, other = (_width(lengths[i]) for i in (0, odd))
    return (
        f"The rows of X differ in length: row 0 has {first} and row {odd:,} has {other} (counted from 0). "
        "Pad or drop the odd rows."
    )


def _width(length: int | None) -> str:
    return "no length (a single value)" if length is None else f"{length:,} value{'s' if length != 1 else ''}"


def _short(value: Any) -> str:
    if isinstance(value, int) and abs(value).bit_length() > 128:
        return f"of {value.bit_length()} bits"  # Python refuses to spell out integers of thousands of digits
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 40 else f"{text[:37]}..."
