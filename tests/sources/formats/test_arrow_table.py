"""Arrow tables in memory as files of rows."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramian.errors import InputError, MemoryBudgetError
from gramian.sources.formats.table import ArrowTable, column_of, open_arrow_table, without_words


def test_numbers_come_in_the_order_asked_for_and_texts_as_strings():
    """Integers, booleans, floats and text that spells numbers are floats; null is NaN, and empty in text."""
    table = pa.table({"i": [1, None], "b": [True, False], "f": [0.5, 1.5], "s": ["2.5", "3e1"], "t": ["x", None]})
    file = ArrowTable(table, ["s", "i", "b", "f"], texts=["t"], origin="t")
    np.testing.assert_array_equal(file.read(slice(0, 2)), [[2.5, 1, 1, 0.5], [30, np.nan, 0, 1.5]])
    assert (file.shape, file.dtype, file.names) == ((2, 4), np.float64, ("s", "i", "b", "f"))
    assert file.column("t").tolist() == ["x", ""]
    with pytest.raises(KeyError):
        file.column("s")


def test_single_precision_stays():
    """Where every column is float32, so are the rows."""
    table = pa.table({"a": pa.array([1, 2], pa.float32()), "b": pa.array([3, 4], pa.float32())})
    assert ArrowTable(table, ["a", "b"], origin="t").dtype == np.float32


def test_the_first_bad_cell_of_each_column_is_told_together():
    """One error carries those of the other columns, in the order of the rows."""
    table = pa.table({"a": ["1", "2", "x"], "b": ["1", "y", "z"], "c": ["1", "2", str(2**60)]})
    with pytest.raises(InputError, match=r"row 1 .*column 'b': 'y' is text") as told:
        ArrowTable(table, ["a", "b", "c"], origin="t")
    assert [(error.row, error.column) for error in told.value.others] == [(2, "a"), (2, "c")]
    assert told.value.others[1].problem.startswith("an integer beyond 2**53")


def test_a_table_without_rows_or_room_is_refused(tmp_path):
    """Nothing to read, and more than the budget, are told before any work."""
    (tmp_path / "t").write_text("x")
    with pytest.raises(InputError, match="has 1 columns and 0 rows"):
        open_arrow_table(pa.table({"a": pa.array([], pa.float64())}), "t", tmp_path / "t")
    file = ArrowTable(pa.table({"a": np.zeros(10_000)}), ["a"], origin="t")
    with pytest.raises(MemoryBudgetError, match="is read whole"):
        file.require_room(100_000)


MIDNIGHT = dt.datetime.fromisoformat("2020-01-02T00:00:00")

COLUMNS = {
    "integers": ([1, None, 3], pa.int64(), [1, None, 3]),
    "integers and floats": ([1, 2.5], pa.float64(), [1.0, 2.5]),
    "true and numbers": ([True, 2], pa.float64(), [1.0, 2.0]),
    "true and false": ([True, None, False], pa.bool_(), [True, None, False]),
    "days and moments": (
        [dt.date(2020, 1, 2), dt.datetime.fromisoformat("2020-01-02T03:00:00")],
        pa.timestamp("us"),
        [MIDNIGHT, dt.datetime.fromisoformat("2020-01-02T03:00:00")],
    ),
    "times of day": ([dt.time(3, 4)], pa.time64("us"), [dt.time(3, 4)]),
    "text of dates": (["2020-01-02", None], pa.timestamp("us"), [MIDNIGHT, None]),
    "text of no dates": (["2020-01-02", "2020-02-31"], pa.string(), ["2020-01-02", "2020-02-31"]),
    "a day among numbers": ([dt.date(2020, 1, 2), 1], pa.string(), ["2020-01-02", "1"]),
    "nothing": ([None, "NA", "", float("nan")], pa.null(), [None] * 4),
    "huge integers": ([2**70], pa.string(), [str(2**70)]),
    "a huge integer among floats": ([2**60, 0.5], pa.string(), [str(2**60), "0.5"]),
    "nested": ([[1], None], pa.list_(pa.null()), [None, None]),
}


@pytest.mark.parametrize("values, kind, expected", COLUMNS.values(), ids=COLUMNS)
def test_plain_values_become_the_column_that_holds_them_all(values, kind, expected):
    """The narrowest type that holds every value as it is; text where there is none."""
    column = column_of(values)
    assert (column.type, column.to_pylist()) == (kind, expected)


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=False), st.integers(-(2**53), 2**53)), min_size=1))
def test_numbers_are_kept_exactly(values):
    """No number that a float64 holds is changed on its way."""
    assert column_of(values).to_pylist() == values


def test_words_for_missing_values_are_taken_out_of_typed_columns():
    """Text and numbers that are such a word are null, and nested columns lose their content."""
    table = pa.table({"t": ["x", " NA ", "none"], "n": [1.0, -9.0, 2.0], "i": [-9, 2, 3], "l": [["a"], ["b"], []]})
    found = without_words(table, ["none", "-9"])
    assert found.to_pydict() == {"t": ["x", None, None], "n": [1, None, 2], "i": [None, 2, 3], "l": [None] * 3}
