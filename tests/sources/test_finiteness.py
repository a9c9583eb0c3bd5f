import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import InputError
from gramian.sources.dense import DenseRows
from gramian.sources.finiteness import NonFinite, find_nonfinite, require_finite
from gramian.sources.sparse import SparseRows


def tensor_rows(X, **options):
    """Rows of a tensor."""
    return DenseRows(pytest.importorskip("torch").from_numpy(X), **options)


def sparse_rows(X, **options):
    """Rows of a CSR array in several blocks."""
    return SparseRows(sp.csr_array(X), n_blocks=5, **options)


MAKERS = {
    "dense": lambda X, **options: DenseRows(X, block_rows=3, **options),
    "fortran": lambda X, **options: DenseRows(np.asfortranarray(X), block_rows=3, **options),
    "tensor": lambda X, **options: tensor_rows(X, block_rows=3, **options),
    "sparse": sparse_rows,
}

everywhere = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


@everywhere
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_finite_rows_pass(X, make, dtype):
    """Nothing is found in finite rows, also where their sum overflows."""
    assert find_nonfinite(make(X.astype(dtype))) is None
    huge = np.full((9, 4), np.finfo(dtype).max, dtype=dtype)
    assert find_nonfinite(make(huge)) is None
    require_finite(make(huge))


@everywhere
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_first_place_and_the_count_are_found(X, make, dtype, value):
    """The first bad entry by rows is found in whatever block it is, and all are counted."""
    rows = X.astype(dtype)
    rows[7, 3] = value
    rows[7, 4] = rows[11, 0] = np.nan
    found = find_nonfinite(make(rows))
    assert (found.row, found.column, found.count) == (7, 3, 3)
    np.testing.assert_equal(found.value, value)


@everywhere
def test_nan_is_refused_with_its_place(X, make):
    """The sentence says what is there, where, how many, and what to do; the error carries the place."""
    X[10, 1] = X[11, 0] = np.nan
    sentence = r"Input X contains NaN: row 10 \(counted from 0\), column 'b', and 1 more\. Fill or drop"
    with pytest.raises(InputError, match=sentence) as caught:
        require_finite(make(X, column_names=tuple("abcde")))
    assert (caught.value.row, caught.value.column) == (10, "b")


@everywhere
def test_infinity_is_refused_with_its_place(X, make):
    """Infinity has its own words, with the type that could not hold more."""
    X[4, 2] = -np.inf
    with pytest.raises(InputError, match=r"infinity or a value too large for dtype\('float64'\): -inf in row 4"):
        require_finite(make(X))


def test_opposite_infinities_are_not_taken_for_nan():
    """Infinities that cancel to NaN in a sum are found as infinities."""
    assert find_nonfinite(DenseRows(np.array([[1.0, np.inf], [-np.inf, 0.0]]))) == NonFinite(0, 1, np.inf, 2)
