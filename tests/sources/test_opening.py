import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.sources.dense import DenseRows
from gramian.sources.opening import as_source


class OffersArray:
    """An object that only knows how to become an array, and refuses everything else NumPy may try."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return np.asarray(self._array, dtype=dtype)

    def __array_function__(self, func, types, args, kwargs):
        message = f"no {func.__name__}"
        raise TypeError(message)


def every_other(array):
    """Every second row and column, backwards, of a larger array: negative strides, none of them unit."""
    larger = np.zeros((2 * array.shape[0], 2 * array.shape[1]), dtype=array.dtype)
    larger[::2, ::2] = array[::-1, ::-1]
    return larger[::2, ::2][::-1, ::-1]


def unaligned(array):
    """The same numbers starting at an odd address."""
    raw = np.zeros(array.nbytes + 1, dtype=np.uint8)
    moved = raw[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    return moved


def read_only(array):
    """A copy that cannot be written to."""
    copy = array.copy()
    copy.setflags(write=False)
    return copy


def swapped(array):
    """The same numbers in the other byte order."""
    return array.astype(array.dtype.newbyteorder())


LAYOUTS = {
    "C": np.ascontiguousarray,
    "Fortran": np.asfortranarray,
    "strided": every_other,
    "read-only": read_only,
    "unaligned": unaligned,
    "swapped bytes": swapped,
    "subclass": lambda array: array.view(type("Sub", (np.ndarray,), {})),
}

REAL_DTYPES = [
    *("float16", "float32", "float64", "longdouble", "bool"),
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", REAL_DTYPES)
def test_every_dtype_and_layout_gives_the_same_rows(X, read, dtype, layout):
    """An array of any real dtype, strides and byte order reads as the plain float64 one does."""
    array = LAYOUTS[layout](X.astype(dtype))
    source = as_source(array)
    assert source.dtype == (np.float32 if dtype in ("float16", "float32") else np.float64)
    assert source.dtype.isnative
    rows = read(source)
    assert rows.dtype == source.dtype
    np.testing.assert_array_equal(rows, X.astype(dtype).astype(np.float64))


@pytest.mark.parametrize("layout", ["C", "Fortran", "strided", "read-only", "unaligned", "subclass"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_native_floats_are_never_copied(X, dtype, layout):
    """Blocks of native floats are views of the array that was passed, whatever its layout."""
    array = LAYOUTS[layout](X.astype(dtype))
    assert np.shares_memory(as_source(array).block(0).rows, array)


def test_a_memory_map_is_read_where_it_lies(X, read, tmp_path):
    """A memory-mapped array is opened without being loaded."""
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    source = as_source(mapped)
    assert np.shares_memory(source.block(0).rows, mapped)
    np.testing.assert_array_equal(read(source), X)


@pytest.mark.parametrize("make", [lambda X: X.tolist(), lambda X: tuple(map(tuple, X)), list, OffersArray])
def test_lists_and_array_likes_give_the_same_rows(X, read, make):
    """Nested lists, tuples, lists of arrays and objects with ``__array__`` read as the plain array does."""
    source = as_source(make(X))
    assert source.dtype == np.float64
    np.testing.assert_array_equal(read(source), X)


def test_a_source_passes_through(X):
    """A row source is returned as it is."""
    source = DenseRows(X)
    assert as_source(source) is source


def test_a_source_takes_no_second_set_of_weights(X):
    """Weights beside a source that is made already are refused."""
    with pytest.raises(ParameterError, match="X is a row source already"):
        as_source(DenseRows(X), weights=np.ones(12))


@pytest.mark.parametrize("n, d", [(150, 4), (1500, 400)])
def test_opening_an_array_is_cheap(n, d):
    """Opening takes some dozens of calls, whatever the size, and copies nothing: microseconds."""
    X = np.random.default_rng(0).standard_normal((n, d))
    as_source(X)  # what is looked up once is known then
    calls, before = [], sys.getprofile()
    sys.setprofile(lambda frame, event, _: event == "call" and calls.append(frame.f_code.co_name))
    try:
        source = as_source(X)
    finally:
        sys.setprofile(before)
    assert len(calls) < 50
    assert np.shares_memory(source.block(0).rows, X)


# Masked arrays and matrices


def test_a_masked_array_with_nothing_masked_is_used_as_it_is(X, read):
    """A masked array without a masked entry is an array."""
    for mask in (np.ma.nomask, np.zeros(X.shape, bool)):
        np.testing.assert_array_equal(read(as_source(np.ma.array(X, mask=mask))), X)


@pytest.mark.parametrize("dtype", ["float64", "int32", "object"])
def test_masked_entries_are_refused_with_their_place(X, dtype):
    """A masked entry is never unmasked: the first is named and all are counted."""
    masked = np.ma.array(X.astype(dtype), mask=False)
    masked[3, 2] = masked[7, 0] = np.ma.masked
    with pytest.raises(InputError, match=r"masked in row 3, column 2 .*2 masked ent.*X\.filled") as caught:
        as_source(masked)
    assert (caught.value.row, caught.value.column) == (3, 2)


def test_masked_rows_in_a_list_are_refused():
    """A list of masked rows is not unmasked on its way to an array."""
    with pytest.raises(InputError, match=r"X is masked in row 1, column 0"):
        as_source([np.ma.array([1.0, 2.0]), np.ma.array([3.0, 4.0], mask=[True, False])])
    with pytest.raises(InputError, match=r"Input X contains NaN: row 0, column 1"):
        as_source([[1.0, np.ma.masked]])


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_numpy_matrix_is_refused(X):
    """``numpy.matrix`` is refused with scikit-learn's type of error and its words."""
    matrix = np.asmatrix(X)
    with pytest.raises(TypeError, match=r"np\.matrix is not supported.*np\.asarray"):
        as_source(matrix)


# Shapes


@pytest.mark.parametrize(
    "make, sentence",
    [
        (lambda: np.float64(3.0), r"Expected 2D array, got scalar array instead.*Reshape your data"),
        (lambda: 3.0, r"Expected 2D array, got scalar array instead.*Reshape your data"),
        (lambda: np.ones(4), r"Expected 2D array, got 1D array instead: X has shape \(4,\)\. Reshape"),
        (lambda: [1.0, 2.0], r"Expected 2D array, got 1D array instead.*Reshape your data"),
        (list, r"Expected 2D array, got 1D array instead"),
        (lambda: np.ones((2, 3, 4)), r"Found array with dim 3, while dim <= 2 is required.*X\.reshape\(len"),
        (lambda: [[[1.0]], [[2.0]]], r"Found array with dim 3, while dim <= 2 is required"),
        (lambda: np.ones((0, 3)), r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of"),
        (lambda: np.ones((4, 0)), r"0 feature\(s\) \(shape=\(4, 0\)\) while a minimum of 1 is required."),
        (lambda: [[], []], r"Found array with 0 feature\(s\)"),
        (lambda: sp.csr_array((0, 3)), r"Found array with 0 sample\(s\)"),
        (lambda: sp.csr_array((3, 0)), r"Found array with 0 feature\(s\)"),
        (lambda: sp.coo_array(np.ones(3)), r"Expected 2D array, got 1D array instead.*Reshape your data"),
    ],
)
def test_wrong_shapes_are_refused_in_scikit_learns_words(make, sentence):
    """Scalars, vectors, cubes and empty arrays are refused with the shape and what to do."""
    with pytest.raises(InputError, match=sentence):
        as_source(make())


@pytest.mark.parametrize("rows", [[[1, 2], [3, 4], [5]], [[1, 2], [3, 4], 5]])
def test_ragged_lists_are_refused_with_the_odd_row(rows):
    """Lists of different lengths are refused with both lengths and the row."""
    with pytest.raises(InputError, match=r"row 0 has 2 values and row 2 has (1 value|no length)"):
        as_source(rows)


def test_lists_of_different_depths_are_refused():
    """Rows of one length whose values nest differently are refused too."""
    with pytest.raises(InputError, match="nest to different depths"):
        as_source([[1, 2], [3, [4, 5]]])


@pytest.mark.parametrize(
    "X, sentence",
    [
        (None, "X is of type NoneType, not rows of numbers"),
        (b"rows.csv", r"X is b'rows\.csv', bytes and not rows of numbers"),
        ({"a": [1.0]}, r"X is a dict\. Pass a table of it"),
        ((i for i in range(3)), "X is of type generator, not rows of numbers"),
        ({1.0, 2.0}, "X is of type set, not rows of numbers"),
    ],
)
def test_what_is_no_rows_at_all_is_refused(X, sentence):
    """None, paths, dicts, sets and generators are refused by name, with what to pass instead."""
    with pytest.raises(NotSupportedError, match=sentence):
        as_source(X)


# Names


def test_names_are_kept(X):
    """Names given with an array become the source's."""
    assert as_source(X, column_names=list("abcde")).column_names == tuple("abcde")
    assert as_source(X).column_names is None


def test_names_must_be_as_many_as_columns(X):
    """A wrong number of names, or names that are no strings, are refused with both numbers."""
    with pytest.raises(ParameterError, match="2 names and X has 5 columns"):
        as_source(X, column_names=["a", "b"])
    with pytest.raises(ParameterError, match=r"column_names holds 3, of type int\. Pass strings"):
        as_source(X, column_names=["a", "b", 3, "c", "d"])


# Sparse


SPARSE_FORMATS = ["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("form", SPARSE_FORMATS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "bool"])
def test_every_sparse_format_gives_the_same_rows(X, read, kind, form, dtype):
    """Sparse arrays and matrices of every format and dtype stay sparse and read as the dense array does."""
    dense = np.where(X > 60, X, 0).astype(dtype)
    source = as_source(kind(dense).asformat(form))
    assert source.is_sparse
    assert source.dtype == (np.float32 if dtype == "float32" else np.float64)
    np.testing.assert_array_equal(read(source), dense.astype(np.float64))


def test_canonical_csr_is_shared(X):
    """CSR in canonical form is used where it lies, with indices of 64 bits too."""
    csr = sp.csr_array(X)
    csr.indices, csr.indptr = csr.indices.astype(np.int64), csr.indptr.astype(np.int64)
    opened = as_source(csr).matrix
    assert np.shares_memory(opened.data, csr.data)
    assert np.shares_memory(opened.indices, csr.indices)


def test_unsorted_and_duplicate_entries_are_put_in_order_in_a_copy(read):
    """Duplicates are summed and entries sorted, and the matrix that was passed is not touched."""
    data, indices, indptr = np.array([1.0, 2.0, 4.0, 8.0]), np.array([2, 0, 2, 1]), np.array([0, 3, 4])
    csr = sp.csr_matrix((data, indices, indptr), shape=(2, 3))
    source = as_source(csr)
    np.testing.assert_array_equal(read(source), [[2.0, 0.0, 5.0], [0.0, 8.0, 0.0]])
    assert source.matrix.has_canonical_format
    np.testing.assert_array_equal(csr.data, [1.0, 2.0, 4.0, 8.0])
    np.testing.assert_array_equal(csr.indices, [2, 0, 2, 1])
    assert csr.nnz == 4


def test_sparse_integers_beyond_float64_are_refused_with_their_place():
    """An entry of a sparse array is named by its row and column, not by where it is stored."""
    csc = sp.coo_array(([1, 2**53 + 1], ([0, 2], [3, 1])), shape=(4, 5)).tocsc()
    with pytest.raises(InputError, match=r"9007199254740993 in row 2, column 1") as caught:
        as_source(csc)
    assert (caught.value.row, caught.value.column) == (2, 1)


def test_complex_sparse_is_refused():
    """A complex sparse array is refused in scikit-learn's words."""
    with pytest.raises(InputError, match="Complex data not supported"):
        as_source(sp.csr_array(np.eye(2, dtype=complex)))


def test_opening_an_array_loads_no_other_library():
    """Arrays, lists and sparse arrays open without torch, tables or scikit-learn being imported."""
    program = (
        "import sys, numpy as np, scipy.sparse as sp\n"
        "from gramian.sources.opening import as_source\n"
        "as_source(np.ones((2, 2), int)); as_source([[1.0]]); as_source(sp.eye_array(3, format='csc'))\n"
        "heavy = {'torch', 'pandas', 'polars', 'pyarrow', 'narwhals', 'sklearn'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
