"""From the type that values come in to the float they are computed in, without a silent loss.

float32 and float64 stay as they are. float16 becomes float32; integers, booleans and wider floats become float64. What
a float cannot hold (complex numbers, dates, text, integers above 2**53) is refused, and the error says where it is.

Of arrays the type is enough, or the largest value. Python objects and lists of lists are examined one by one, because
NumPy's own conversion reads text as numbers, takes ``None`` for NaN and a masked row for a plain one, and rounds
integers that no float can hold.
"""

import datetime as dt
import sys
import warnings
from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, is_numpy, is_torch, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError, NotSupportedError, Sentence
from gramian.machine import MEGABYTE
from gramian.sources.finiteness import refuse_nonfinite
from gramian.sources.locations import Locate, Location
from gramian.sources.rows import ranges

LARGEST_EXACT = 2**53
"""Up to here float64 holds every integer."""

TEXT = (str, bytes, bytearray)
DATES = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
INTEGERS = (int, np.integer)
COMPLEX = (complex, np.complexfloating)

CONVERTED_AT_ONCE = 32 * MEGABYTE
"""Results up to this size are converted once; larger ones block by block, on every pass.

Half of the 64 MB that a fit may use in addition to its input, whatever the size of the input.
"""

WHAT_TO_DO = {
    "c": (
        "Complex data not supported: X has dtype {dtype}. Take one real part of it (X.real, X.imag or "
        "abs(X)), or put real and imaginary parts side by side as columns."
    ),
    "M": (
        "X holds dates (dtype {dtype}), which have no zero and no unit of their own. Turn them into numbers "
        "first, for example days since the earliest: (X - X.min()) / np.timedelta64(1, 'D')."
    ),
    "m": (
        "X holds durations (dtype {dtype}), which have no unit of their own. Divide by one first, for "
        "example X / np.timedelta64(1, 's')."
    ),
    "V": (
        "X is a structured array, or raw bytes (dtype {dtype}). Turn its fields into columns first: "
        "numpy.lib.recfunctions.structured_to_unstructured(X)."
    ),
}
"""Kinds of NumPy dtype that hold no real numbers, and the sentence each is refused with."""


class ConvertedArray:
    """An (n, d) array that is converted to ``dtype`` piece by piece, as it is read.

    Holds no number of its own: an array of bytes stays one byte per value, whatever it is computed in. Use the
    converted array itself where it is small enough: this one converts again on every pass.

    Examples
    --------
    >>> import numpy as np
    >>> lazy = ConvertedArray(np.eye(3, dtype=np.uint8), np.dtype("float64"))
    >>> lazy.shape, lazy[1:2, :]
    ((3, 3), array([[0., 1., 0.]]))
    """

    def __init__(self, array: Array, dtype: np.dtype[Any]) -> None:
        self._array = array
        self.dtype = dtype
        self.shape: tuple[int, int] = tuple(array.shape)

    def __getitem__(self, piece: tuple[slice, slice]) -> Array:
        """Return rows and columns of the array, converted."""
        return cast(self._array[piece], self.dtype)

    def copy(self) -> "ConvertedArray":
        """Return one over a copy of the array."""
        array = self._array
        return ConvertedArray(array.clone() if is_torch(array) else array.copy(), self.dtype)


def as_working_floats(array: Array) -> Array:
    """Return real numbers as float32 or float64: as they are, converted at once, or as they are read."""
    dtype = working_dtype(array)
    if is_numpy(array):
        if array.dtype == dtype:
            return array
    elif array.dtype == getattr(namespace_of(array), dtype.name):
        return array
    small = array.shape[0] * array.shape[1] * dtype.itemsize <= CONVERTED_AT_ONCE
    return cast(array, dtype) if small else ConvertedArray(array, dtype)


def working_dtype(array: Array) -> np.dtype[Any]:
    """Return the native float type that an array of real numbers is worked in.

    Examples
    --------
    >>> import numpy as np
    >>> working_dtype(np.ones(1, np.float16)), working_dtype(np.ones(1, np.uint8))
    (dtype('float32'), dtype('float64'))
    """
    if is_numpy(array):
        return FLOAT32 if array.dtype.kind == "f" and array.dtype.itemsize <= 4 else FLOAT64
    xp = namespace_of(array)
    narrow = xp.isdtype(array.dtype, "real floating") and array.dtype != xp.float64
    return FLOAT32 if narrow else FLOAT64


def real_numbers(values: HostArray, locate: Locate, *, missing: bool = False) -> HostArray:
    """Return values that a float can stand for; refuse all others with their place.

    Objects become float64 here, and with ``missing`` those that stand for a missing value NaN. Every other type is
    returned as it is, once it is known that converting it later, piece by piece, loses nothing.

    Cost: one look at the largest and smallest value for 64-bit integers and wide floats; nothing for
    narrower ones; a look at each value for objects.
    """
    kind = values.dtype.kind
    if kind == "O":
        return floats_of_objects(values, locate, missing=missing)
    require_real_kind(values.dtype)
    if kind in "SUT":
        refuse_text(values.flat[0], locate(0))
    if kind in "iu" and values.dtype.itemsize == 8:
        _require_exact_integers(values, locate)
    if kind == "f" and values.dtype.itemsize > 8:
        _require_range(values, locate)
    return values


def require_real_kind(dtype: np.dtype[Any]) -> None:
    """Refuse the dtypes that hold no real numbers, whatever the values."""
    if dtype.kind in WHAT_TO_DO:
        raise InputError(WHAT_TO_DO[dtype.kind].format(dtype=dtype))


def real_foreign_numbers(array: Array, locate: Locate) -> Array:
    """Return an array of another library of the array API, once it is known to hold real numbers.

    It stays in its library and on its device.
    """
    xp = namespace_of(array)
    if xp.isdtype(array.dtype, "complex floating"):
        raise InputError(WHAT_TO_DO["c"].format(dtype=array.dtype))
    if xp.isdtype(array.dtype, ("real floating", "bool")):
        return array
    if not xp.isdtype(array.dtype, "integral"):
        message = f"X has dtype {array.dtype}, which holds no plain numbers. Convert it to floats first."
        raise NotSupportedError(message)
    if array.dtype in (xp.int64, getattr(xp, "uint64", None)):
        _require_exact_foreign(array, locate)
    return array


def _require_exact_integers(values: HostArray, locate: Locate) -> None:
    if values.size and (values.max() > LARGEST_EXACT or values.min() < -LARGEST_EXACT):
        first = int(np.argmax((values > LARGEST_EXACT) | (values < -LARGEST_EXACT)))
        refuse_large_integer(int(values.flat[first]), locate(first))


def _require_exact_foreign(array: Array, locate: Locate) -> None:
    # Compared as floats, block by block: not every library can compare its unsigned integers.
    n, d = array.shape
    for rows in ranges(n, max(1, MEGABYTE // d)):
        large = abs(cast(array[rows, :], FLOAT64)) >= LARGEST_EXACT
        for row, column in zip(*map(to_host, namespace_of(array).nonzero(large)), strict=True):
            i = rows.start + int(row)
            if abs(int(array[i, int(column)])) > LARGEST_EXACT:
                refuse_large_integer(int(array[i, int(column)]), locate(i * d + int(column)))


def _require_range(values: HostArray, locate: Locate) -> None:
    limit = np.finfo(FLOAT64).max
    largest = np.fmax.reduce(values, axis=None, initial=0)
    smallest = np.fmin.reduce(values, axis=None, initial=0)
    if largest > limit or smallest < -limit:
        with np.errstate(invalid="ignore"):
            first = int(np.argmax(np.abs(values) > limit))
        _refuse_wide(values.flat[first], values.dtype, locate, first)


def _refuse_wide(value: Any, dtype: np.dtype[Any], locate: Locate, first: int) -> NoReturn:
    place = locate(first)
    message = (
        f"Input X contains infinity or a value too large for dtype('float64'): {value} ({dtype}) in {place}. "
        "Scale the column down, or replace the value, first."
    )
    raise InputError(message, row=place.row, column=place.label)


def floats_of_objects(values: HostArray, locate: Locate, *, missing: bool = False) -> HostArray:
    """Return an array of Python numbers as float64; refuse the first object that is none, with its place.

    Takes whatever has a value as a float (int, float, Decimal, Fraction, scalars of other libraries); with ``missing``
    also what stands for a missing value, which becomes NaN.

    Cost: a few looks at each object, and 8 bytes each for the result.

    Examples
    --------
    >>> import numpy as np
    >>> from fractions import Fraction
    >>> from gramian.sources.locations import dense_locations
    >>> floats_of_objects(np.array([[1, Fraction(1, 2)]], dtype=object), dense_locations(2))
    array([[1. , 0.5]])
    """
    if missing:
        values = np.where(np.reshape([is_missing(value) for value in values.flat], values.shape), np.nan, values)
    kinds = set(map(type, values.flat))
    refused = {kind for kind in kinds if not _is_number(kind)}
    if refused:
        first = next(i for i, value in enumerate(values.flat) if type(value) in refused)
        _refuse_object(values, first, locate)
    try:
        floats = values.astype(FLOAT64)
    except OverflowError:
        floats = np.reshape([_float_or_infinity(value) for value in values.flat], values.shape)
    _require_exact(values, floats, locate, missing=missing)
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


def refuse_text(value: Any, place: Location) -> NoReturn:
    """Raise the sentence for text where a number should be."""
    message = (
        f"X holds text: {_short(value)} in {place}. Turn text into numbers first (one column per category, or "
        "X.astype(float) where it spells numbers), or leave that column out."
    )
    raise InputError(message, row=place.row, column=place.label)


def refuse_large_integer(value: int, place: Location) -> NoReturn:
    """Raise the sentence for an integer that float64 may not hold."""
    message = Sentence(
        "X holds the integer {value} in {place}, beyond 2**53 = {largest}, where float64 no longer holds every "
        "integer. Leave the column out if it is an identifier; else subtract an offset, or accept the rounding with "
        "X.astype(float).",
        value=_short(value),
        place=place,
        largest=LARGEST_EXACT,
    )
    raise InputError(message, row=place.row, column=place.label)


def _is_number(kind: type) -> bool:
    if issubclass(kind, TEXT + DATES + COMPLEX + (np.ndarray,)):
        return False
    return hasattr(kind, "__float__") or issubclass(kind, INTEGERS)


def _refuse_object(values: HostArray, first: int, locate: Locate) -> NoReturn:
    value, place = values.flat[first], locate(first)
    if is_missing(value):
        count = sum(is_missing(other) for other in values.flat)
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


def is_missing(value: Any) -> bool:
    """Tell whether a cell is one of the objects that stand for nothing: ``None``, a masked one, NA or NaT of pandas."""
    if value is None or value is np.ma.masked:
        return True
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def _require_exact(values: HostArray, floats: HostArray, locate: Locate, *, missing: bool) -> None:
    """Refuse integers that were rounded on the way, and then what is not finite, NaN too unless it may be missing."""
    with np.errstate(invalid="ignore"):
        large = np.flatnonzero(np.abs(floats) >= LARGEST_EXACT)
    for i in map(int, large):
        value = values.flat[i]
        if isinstance(value, INTEGERS) and abs(int(value)) > LARGEST_EXACT:
            refuse_large_integer(int(value), locate(i))
    bad = np.flatnonzero(np.isinf(floats) if missing else ~np.isfinite(floats))
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
    # Next to a float in a list, NumPy rounds a large integer and takes a mask for NaN.
    if array.dtype.kind != "f" or array.size == 0:
        return False
    largest, smallest = float(array.max()), float(array.min())
    return not (smallest > -LARGEST_EXACT and largest < LARGEST_EXACT)


def _refuse_masked_rows(rows: Any) -> None:
    for i, row in enumerate(rows):
        if isinstance(row, np.ma.MaskedArray) and np.ma.is_masked(row):
            column = int(np.argmax(np.ma.getmaskarray(row)))
            refuse_masked(Location(i, column), int(np.count_nonzero(np.ma.getmaskarray(row))))


def refuse_masked(place: Location, count: int) -> NoReturn:
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
        return "The lists in X nest to different depths. Pass one list of numbers per row, all equally long."
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
