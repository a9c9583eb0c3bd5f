"""Arrow tables in memory as files of rows."""

import datetime as dt
import gc
import tempfile

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gramian.errors import InputError
from gramian.sources.formats.table import column_of, open_arrow_table, without_words
from gramian.sources.roles import table_roles


def rows_of(table, names, texts=(), **options):
    """The rows of some columns of a table in memory."""
    opened = open_arrow_table(table, "t", None, budget=1 << 30)
    found = {column.name: column for column in table_roles(opened.examined()).columns}
    return opened.rows([found[name] for name in names], list(texts), **options)


def test_numbers_come_in_the_order_asked_for_and_texts_as_strings():
    """Integers, booleans, floats and text that spells numbers are floats; null is NaN, and empty in text."""
    table = pa.table({"i": [1, None], "b": [True, False], "f": [0.5, 1.5], "s": ["2.5", "3e1"], "t": ["x", None]})
    file = rows_of(table, ["s", "i", "b", "f"], ["t"])
    np.testing.assert_array_equal(file.read(slice(0, 2)), [[2.5, 1, 1, 0.5], [30, np.nan, 0, 1.5]])
    assert (file.shape, file.dtype, file.names) == ((2, 4), np.float64, ("s", "i", "b", "f"))
    assert file.column("t").tolist() == ["x", ""]


def test_single_precision_stays():
    """Where every column is float32, so are the rows."""
    table = pa.table({"a": pa.array([1, 2], pa.float32()), "b": pa.array([3, 4], pa.float32())})
    file = rows_of(table, ["a", "b"])
    assert file.dtype == file.read(slice(0, 2)).dtype == np.float32


def test_the_first_bad_cell_of_each_column_is_told_together():
    """One error carries those of the other columns, in the order of the rows; or bad cells are missing."""
    cells = [str(i / 2) for i in range(40)]
    table = pa.table({"a": [*cells[:30], "x", *cells[31:]], "b": [*cells[:20], "y", "z", *cells[22:]]})
    with pytest.raises(InputError, match=r"row 20 .*column 'b': 'y' is text") as told:
        rows_of(table, ["a", "b"])
    assert [(error.row, error.column) for error in told.value.others] == [(30, "a")]
    found = rows_of(table, ["a", "b"], lenient=True).read(slice(0, 40))
    assert np.argwhere(np.isnan(found)).tolist() == [[20, 1], [21, 1], [30, 0]]


def test_a_table_without_rows_is_refused():
    """Nothing to read is told before any work."""
    with pytest.raises(InputError, match="has 1 columns and 0 rows"):
        open_arrow_table(pa.table({"a": pa.array([], pa.float64())}), "t", None, budget=1 << 30)


def test_a_table_beyond_the_budget_goes_to_disk(tmp_path, monkeypatch):
    """Rows, texts and roles are the same from a temporary file, which goes with the rows."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    numbers = np.random.default_rng(0).normal(size=20_000)
    table = pa.table({"a": numbers, "who": [f"row {i}" for i in range(20_000)]})
    opened = open_arrow_table(table, "t", None, budget=1 << 20)
    assert len(list(tmp_path.iterdir())) == 1
    file = opened.rows([table_roles(opened.examined()).columns[0]], ["who"])
    np.testing.assert_array_equal(file.read(slice(7, 19_000))[:, 0], numbers[7:19_000])
    assert file.column("who")[-1] == "row 19999"
    del opened, file
    gc.collect()
    assert list(tmp_path.iterdir()) == []


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
