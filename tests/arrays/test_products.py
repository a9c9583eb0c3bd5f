"""Products in strips are the products, whatever the shapes; arrays for them begin on cache lines."""

import numpy as np
import pytest

from gramian.arrays.products import (
    UNPACKED,
    empty_on_lines,
    is_thin,
    product_in_strips,
    strip_rows,
    thin_product,
    turned_in_strips,
    turned_product,
)


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-13)])
@pytest.mark.parametrize(
    "a, k, b", [(528, 52, 528), (528, 52, 41), (17, 3, 5), (529, 52, 528), (600, 1000, 40), (0, 4, 7)]
)
def test_a_product_in_strips_is_the_product(a, k, b, dtype, tolerance):
    """Of sides that strips divide and of those that they do not, with and without an array to write into."""
    rng = np.random.default_rng(a + b)
    left, right = rng.normal(size=(a, k)).astype(dtype), rng.normal(size=(k, b)).astype(dtype)
    exact = left.astype(float) @ right.astype(float)
    out = empty_on_lines(a, b, dtype=np.dtype(dtype))
    assert product_in_strips(left, right, out=out) is out
    for found in (out, product_in_strips(left, right), product_in_strips(left, np.asfortranarray(right))):
        assert found.dtype == dtype
        np.testing.assert_allclose(found, exact, atol=tolerance * np.sqrt(k))


@pytest.mark.parametrize("a, k, b", [(64, 4000, 12), (63, 4000, 8), (1, 9000, 12), (37, 20, 3), (0, 5, 2), (7, 9, 0)])
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_a_thin_product_is_the_product(a, k, b, dtype, tolerance):
    """Of rows that strips divide and of those that leave some over, some of a larger array."""
    rng = np.random.default_rng(a)
    rows, right = rng.normal(size=(a + 2, k)).astype(dtype)[1:-1], rng.normal(size=(k, b)).astype(dtype)
    assert is_thin(right)
    found = thin_product(rows, right)
    assert found.dtype == dtype
    np.testing.assert_allclose(found, rows.astype(float) @ right, atol=tolerance * np.sqrt(k))


def test_few_columns_in_row_order_are_thin():
    """Many columns are not, nor those in the other order, which would be copied."""
    assert is_thin(np.ones((4000, 8)))
    assert not is_thin(np.ones((8, 4000)).T)
    assert not is_thin(np.ones((4000, 40)))


@pytest.mark.parametrize("a, b, c", [(528, 528, 16), (528, 100, 16), (37, 528, 3), (400, 400, 200), (529, 528, 16)])
def test_vectors_as_rows_times_a_tile(a, b, c):
    """The sum over strips is the product with the whole tile."""
    rng = np.random.default_rng(c)
    V, tile = rng.normal(size=(a, c)), rng.normal(size=(a, b))
    turned = turned_in_strips(V, b)
    parts, out = np.empty((len(turned), c, b)), np.empty((c, b))
    np.testing.assert_allclose(turned_product(turned, tile, parts=parts, out=out), V.T @ tile, atol=1e-11)


@pytest.mark.parametrize("rows, work", [(528, 528 * 52), (528, 528 * 16), (400, 10_000), (1000, 40_000)])
def test_strips_are_equal_and_within_what_is_not_packed(rows, work):
    """Each strip divides the rows and has at most a million multiplications; work too large for that is not cut."""
    strip = strip_rows(rows, work)
    assert strip < rows
    assert rows % strip == 0
    assert strip * work <= UNPACKED
    assert strip_rows(rows, UNPACKED) == rows


@pytest.mark.parametrize("shape", [(1,), (3, 5), (2, 3, 4), (0, 7)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_begin_on_cache_lines(shape, dtype):
    """In row order, of the type asked for, and free to be written."""
    array = empty_on_lines(*shape, dtype=np.dtype(dtype))
    array[...] = 1
    assert (array.shape, array.dtype) == (shape, dtype)
    # NumPy does not promise where an array without numbers begins.
    assert array.size == 0 or array.ctypes.data % 64 == 0
    assert array.flags.c_contiguous
