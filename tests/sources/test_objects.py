import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from gramian.errors import InputError, NotSupportedError
from gramian.sources.opening import as_source


def test_objects_that_are_numbers_become_float64(read):
    """Python and NumPy numbers, booleans, decimals and fractions are taken at their value."""
    row = [1, 2.5, True, np.float32(0.5), np.int8(-3), np.bool_(True), Decimal("0.25"), Fraction(1, 8)]
    expected = [[1, 2.5, 1, 0.5, -3, 1, 0.25, 0.125]]
    for X in (np.array([row], dtype=object), [row]):
        np.testing.assert_array_equal(read(as_source(X)), expected)


def test_strided_object_arrays_are_read_in_place(X, read):
    """Object arrays of any layout read as the plain array does."""
    array = np.asfortranarray(X.astype(object))[::-1, ::2]
    np.testing.assert_array_equal(read(as_source(array)), X[::-1, ::2])


OBJECTS = [
    ("abc", InputError, r"X holds text: 'abc' in row 1, column 2 \(both counted from 0\)"),
    ("1.5", InputError, r"X holds text: '1\.5' in row 1, column 2"),
    (b"abc", InputError, r"X holds text: b'abc' in row 1, column 2"),
    (dt.datetime(2020, 1, 1), InputError, r"X holds a date or time: .* in row 1, column 2"),  # noqa: DTZ001
    (dt.timedelta(days=1), InputError, r"X holds a date or time: .* in row 1, column 2"),
    (np.datetime64("2020-01-01"), InputError, r"X holds a date or time: .* in row 1, column 2"),
    (1 + 2j, InputError, r"Complex data not supported: X holds \(1\+2j\) in row 1, column 2"),
    (np.complex64(1j), InputError, r"Complex data not supported: X holds .* in row 1, column 2"),
    (None, InputError, r"Input X contains NaN: row 1, column 2 .*Fill or drop missing values first"),
    (float("nan"), InputError, r"Input X contains NaN: row 1, column 2"),
    (float("-inf"), InputError, r"Input X contains infinity.*-inf in row 1, column 2"),
    (2**53 + 1, InputError, r"the integer 9007199254740993 in row 1, column 2"),
    (-(2**70), InputError, r"the integer -1180591620717411303424 in row 1, column 2"),
    (10**5000, InputError, r"the integer of 16610 bits in row 1, column 2"),
    (Fraction(10**400), InputError, r"Input X contains infinity or a value too large.*row 1, column 2"),
    (
        {"foo": "bar"},
        NotSupportedError,
        r"dict: \{'foo': 'bar'\} in row 1, .*argument must be .* string.* number",
    ),
    (object(), NotSupportedError, r"X holds a value of type object: .* in row 1, column 2"),
]


@pytest.mark.parametrize("value, error, sentence", OBJECTS, ids=[str(i) for i in range(len(OBJECTS))])
@pytest.mark.parametrize("as_list", [False, True])
def test_objects_that_are_no_numbers_are_refused_with_their_place(value, error, sentence, as_list):
    """Text, dates, holes, large integers and other objects are refused, in arrays and in lists."""
    array = np.array([[1, 2.0, 3], [4, 5, 6]], dtype=object)
    array[1, 2] = value
    with pytest.raises(error, match=sentence):
        as_source(array.tolist() if as_list else array)


def test_missing_objects_are_counted():
    """Every hole counts, whatever stands for it, and pandas.NA and NaT are holes too."""
    pandas = pytest.importorskip("pandas")
    array = np.array([[1.0, None], [pandas.NA, 2.0], [pandas.NaT, None]], dtype=object)
    with pytest.raises(InputError, match=r"Input X contains NaN: row 0, column 1 .*, and 3 more\."):
        as_source(array)


def test_a_list_that_mixes_floats_and_large_integers_loses_nothing_unsaid():
    """NumPy would round the integer in silence because a float stands beside it."""
    with pytest.raises(InputError, match=r"9007199254740993 in row 0, column 1"):
        as_source([[0.5, 2**53 + 1]])
    assert as_source([[0.5, 1e300]]).block(0).rows[0, 1] == 1e300
