import numpy as np
import pytest
import scipy.sparse as sp

from gramian.sources.locations import Location, column_locations, dense_locations, sparse_locations


def test_dense_places_count_along_the_rows():
    """The i-th value of an array, read by rows, stands at row i // d and column i % d."""
    assert dense_locations(3)(7) == Location(2, 1)
    assert dense_locations(3, ("a", "b", "c"))(7).label == "b"


def test_sparse_places_skip_empty_rows():
    """The i-th stored value of a CSR array is placed where the dense array has it."""
    csr = sp.csr_array(np.array([[0.0, 0, 0], [5, 0, 6], [0, 0, 0], [0, 7, 0]]))
    locate = sparse_locations(csr.indices, csr.indptr)
    assert [locate(i) for i in range(3)] == [Location(1, 0), Location(1, 2), Location(3, 1)]


@pytest.mark.parametrize(
    "place, words",
    [
        (column_locations(4, "age", start=10_000)(482), "row 10,482 (counted from 0), column 'age'"),
        (column_locations(4)(2), "row 2, column 4 (both counted from 0)"),
    ],
)
def test_a_place_reads_as_a_person_would_say_it(place, words):
    """Rows have thousands separators, names have quotes, and it is said from where one counts."""
    assert str(place) == words
