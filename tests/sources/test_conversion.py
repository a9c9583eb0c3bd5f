import numpy as np
import pytest

from gramian.errors import InputError
from gramian.sources import conversion
from gramian.sources.conversion import ConvertedArray
from gramian.sources.opening import as_source

# Types that hold no real numbers


@pytest.mark.parametrize(
    "array, sentence",
    [
        (np.eye(2, dtype=complex), r"Complex data not supported: X has dtype complex128\..*abs\(X\)"),
        (np.eye(2, dtype="complex64"), "Complex data not supported: X has dtype complex64"),
        (
            np.zeros((2, 2), "datetime64[s]"),
            r"X holds dates \(dtype datetime64\[s\]\).*np\.timedelta64\(1, 'D'\)",
        ),
        (np.zeros((2, 2), "timedelta64[s]"), r"X holds durations .*np\.timedelta64\(1, 's'\)"),
        (np.array([["a", "b"]]), r"X holds text: 'a' in row 0, column 0"),
        (np.array([[b"a", b"b"]]), r"X holds text: b'a' in row 0, column 0"),
        (np.zeros(3, dtype=[("a", "f8"), ("b", "f8")]), r"structured array.*structured_to_unstructured"),
    ],
)
def test_arrays_of_no_real_type_are_refused(array, sentence):
    """Complex numbers, dates, durations, text and structures are refused by type, with what to do."""
    with pytest.raises(InputError, match=sentence):
        as_source(array)


# Integers and wide floats


@pytest.mark.parametrize("dtype", ["int64", "uint64", ">i8"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_integers_up_to_2_53_are_exact_and_beyond_are_refused(read, dtype, order):
    """2**53 passes; 2**53 + 1, which would come out as 2**53, is refused with its place."""
    array = np.zeros((4, 3), dtype=dtype, order=order)
    array[2, 1] = 2**53
    assert read(as_source(array))[2, 1] == 2**53
    array[2, 1] += 1
    array[3, 0] = 2**60
    with pytest.raises(InputError, match=r"9007199254740993 in row 2, column 1.*2\*\*53 = 9007199254740992"):
        as_source(array)


def test_large_negative_integers_are_refused_by_column_name():
    """Both signs are checked, and a named column is named."""
    array = np.zeros((2, 2), dtype=np.int64)
    array[1, 0] = -(2**53) - 1
    with pytest.raises(InputError, match=r"-9007199254740993 in row 1, column 0") as caught:
        as_source(array)
    assert (caught.value.row, caught.value.column) == (1, 0)


@pytest.mark.skipif(np.finfo(np.longdouble).max == np.finfo(float).max, reason="long double is float64 here")
def test_wide_floats_beyond_float64_are_refused_with_their_place():
    """A long double that float64 cannot reach is refused; one that float64 only rounds is not."""
    array = np.ones((2, 3), dtype=np.longdouble)
    array[1, 2] += np.finfo(np.longdouble).eps
    as_source(array)
    array[1, 0] = -np.finfo(np.longdouble).max
    array[0, 1] = np.nan
    with pytest.raises(InputError, match=r"infinity or a value too large for dtype\('float64'\).*row 1, column 0"):
        as_source(array)


@pytest.mark.parametrize("dtype", ["uint8", "float16", ">f8"])
def test_large_arrays_are_converted_as_they_are_read(X, read, dtype, monkeypatch):
    """Beyond the limit no converted copy is held: blocks are converted, and give the same rows."""
    monkeypatch.setattr(conversion, "CONVERTED_AT_ONCE", 8)
    source = as_source(X.astype(dtype))
    assert isinstance(source.array, ConvertedArray)
    assert source.like().dtype == source.dtype
    np.testing.assert_array_equal(read(source), X)
    np.testing.assert_array_equal(source.array[2:5, 1:3], X[2:5, 1:3])


def test_large_tensors_are_converted_as_they_are_read(X, read, monkeypatch):
    """The same holds for tensors, whose blocks stay tensors."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(conversion, "CONVERTED_AT_ONCE", 8)
    source = as_source(torch.from_numpy(X).to(torch.bfloat16))
    assert isinstance(source.array, ConvertedArray)
    assert source.block(0).rows.dtype == torch.float32
    np.testing.assert_array_equal(read(source), X)
