"""From the type a value came in to the float it is worked in, losing nothing unsaid.

float32 and float64 stay as they are. float16 is worked in float32; integers, booleans and wider floats in
float64. What a float cannot stand for (complex numbers, dates, text, integers beyond 2**53) is refused with
its place.
"""

from typing import Any, NoReturn

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import InputError, NotSupportedError
from gramian.planning.machine import MEGABYTE
from gramian.sources.objects import LARGEST_EXACT, floats_of_objects, refuse_large_integer, refuse_text
from gramian.sources.places import Locate
from gramian.sources.rows import ranges

CONVERTED_AT_ONCE = 32 * MEGABYTE
"""Results up to this size are converted once; larger ones block by block, on every pass.

Half of the 64 MB that a fit may use beside its input, whatever the size of the input.
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

    Holds no number of its own: an array of bytes stays one byte a value, whatever it is worked in. Use the
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


def real_numbers(values: HostArray, locate: Locate) -> HostArray:
    """Return values that a float can stand for; refuse all others with their place.

    Objects become float64 here. Every other type is returned as it is, once it is known that
    converting it later, piece by piece, loses nothing.

    Cost: one look at the largest and smallest value for 64-bit integers and wide floats; nothing for
    narrower ones; a look at each value for objects.
    """
    kind = values.dtype.kind
    if kind == "O":
        return floats_of_objects(values, locate)
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
