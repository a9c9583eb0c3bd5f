import datetime as dt
from decimal import Decimal

import numpy as np
import pytest

from gramian.errors import InputError, NotSupportedError
from gramian.sources import conversion, table
from gramian.sources.finiteness import require_finite
from gramian.sources.opening import as_source
from gramian.sources.table import TableArray

narwhals = pytest.importorskip("narwhals")
pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

NAMES = ("a", "b", "c", "d", "e")


def columns_of(X):
    """The columns of an array by name."""
    return {name: np.ascontiguousarray(X[:, j]) for j, name in enumerate(NAMES)}


def pandas_in_pieces(X):
    """A frame grown column by column, whose columns do not lie together."""
    frame = pandas.DataFrame(index=range(len(X)))
    for name, column in columns_of(X).items():
        frame[name] = column
    return frame


def arrow_in_chunks(X):
    """An Arrow table in three chunks a column, one of them empty."""
    parts = [pyarrow.table(columns_of(part)) for part in (X[:5], X[5:5], X[5:])]
    return pyarrow.concat_tables(parts)


def polars_in_chunks(X):
    """A polars frame in two chunks a column."""
    parts = [polars.DataFrame(columns_of(part)) for part in (X[:7], X[7:])]
    return polars.concat(parts, rechunk=False)


class Interchanged:
    """A table that speaks the data frame interchange protocol and nothing else."""

    def __init__(self, native):
        self._native = native

    def __dataframe__(self, nan_as_null=False, allow_copy=True):
        return self._native.__dataframe__(nan_as_null=nan_as_null, allow_copy=allow_copy)


class Streamed:
    """A table that speaks Arrow's stream protocol and nothing else."""

    def __init__(self, native):
        self._native = native

    def __arrow_c_stream__(self, requested_schema=None):
        return self._native.__arrow_c_stream__(requested_schema)


TABLES = {
    "pandas": lambda X: pandas.DataFrame(X, columns=NAMES),
    "pandas in pieces": pandas_in_pieces,
    "pandas from arrow": lambda X: pyarrow.table(columns_of(X)).to_pandas(types_mapper=pandas.ArrowDtype),
    "polars": lambda X: polars.DataFrame(columns_of(X)),
    "polars in chunks": polars_in_chunks,
    "arrow": lambda X: pyarrow.table(columns_of(X)),
    "arrow in chunks": arrow_in_chunks,
    "arrow record batch": lambda X: pyarrow.record_batch(columns_of(X)),
    "narwhals": lambda X: narwhals.from_native(polars.DataFrame(columns_of(X))),
    "interchange protocol": lambda X: Interchanged(pyarrow.table(columns_of(X))),
    "stream protocol": lambda X: Streamed(pyarrow.table(columns_of(X))),
}

every_table = pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)


@pytest.fixture(params=["at once", "as read"])
def either_way(request, monkeypatch):
    """Run a test with tables converted at once, and with tables converted block by block."""
    if request.param == "as read":
        monkeypatch.setattr(table, "CONVERTED_AT_ONCE", 0)
        monkeypatch.setattr(conversion, "CONVERTED_AT_ONCE", 0)


@every_table
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "uint16", "bool"])
@pytest.mark.usefixtures("either_way")
def test_every_table_gives_the_rows_and_the_names(X, read, make, dtype):
    """A table of any library and numeric type reads as the plain array does, with its names."""
    X = X.astype(dtype)
    source = as_source(make(X))
    assert source.column_names == NAMES
    assert source.dtype == (np.float32 if dtype == "float32" else np.float64)
    assert (source.n_rows, source.n_columns) == X.shape
    np.testing.assert_array_equal(read(source), X.astype(np.float64))


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_columns_of_different_types_are_put_together(read, make):
    """A table may mix integers, floats of any width, booleans and decimals; it is worked in float64."""
    columns = {
        "i": np.array([1, 2, 3], dtype=np.int32),
        "f": np.array([0.5, 1.5, 2.5], dtype=np.float32),
        "b": np.array([True, False, True]),
        "d": [Decimal("0.25"), Decimal("1.5"), Decimal(-2)],
    }
    source = as_source(make(columns))
    assert source.dtype == np.float64
    np.testing.assert_array_equal(read(source), [[1, 0.5, 1, 0.25], [2, 1.5, 0, 1.5], [3, 2.5, 1, -2]])


@pytest.mark.parametrize("dtype", ["Int64", "Int8", "UInt16", "Float32", "Float64", "boolean"])
@pytest.mark.parametrize("backed", ["masked", "pyarrow"])
def test_pandas_nullable_types_are_numbers_when_nothing_is_missing(read, dtype, backed):
    """Nullable and Arrow-backed columns of pandas read as plain ones do."""
    name = dtype
    if backed == "pyarrow":
        arrow = {"Float32": "float", "Float64": "double", "boolean": "bool"}
        name = f"{arrow.get(dtype, dtype.lower())}[pyarrow]"
    frame = pandas.DataFrame({"a": pandas.array([1, 0, 1], dtype=name), "b": [4.0, 5.0, 6.0]})
    np.testing.assert_array_equal(read(as_source(frame)), [[1, 4], [0, 5], [1, 6]])


def pandas_beside(column):
    """A frame of whole numbers and one more column."""
    return pandas.DataFrame({"a": range(1, len(column) + 1), "b": column})


MISSING = {
    "pandas Int64": lambda: pandas_beside(pandas.array([1, 2, None], "Int64")),
    "pandas boolean": lambda: pandas_beside(pandas.array([True, False, None], "boolean")),
    "pandas Float64": lambda: pandas_beside(pandas.array([1.0, 2, None], "Float64")),
    "pandas arrow": lambda: pandas_beside(pandas.array([1, 2, None], "int64[pyarrow]")),
    "pandas object": lambda: pandas_beside(np.array([1, Decimal(2), None], dtype=object)),
    "pandas NaN": lambda: pandas_beside([1.0, 2.0, np.nan]),
    "polars NaN": lambda: polars.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, np.nan]}),
    "polars float": lambda: polars.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, None]}),
    "arrow float": lambda: pyarrow.table({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, None]}),
    "polars": lambda: polars.DataFrame({"a": [1, 2, 3], "b": [1, 2, None]}),
    "polars boolean": lambda: polars.DataFrame({"a": [1, 2, 3], "b": [True, False, None]}),
    "arrow": lambda: pyarrow.table({"a": [1, 2, 3], "b": [1, 2, None]}),
    "arrow in chunks": lambda: pyarrow.table({"a": [1, 2, 3], "b": pyarrow.chunked_array([[1, 2], [None]])}),
}


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("make", MISSING.values(), ids=MISSING)
def test_missing_values_are_refused_with_row_and_name(make):
    """A hole in a table is named by its row and its column's name, whatever stands for it."""
    sentence = r"Input X contains NaN: row 2 \(counted from 0\), column 'b'\. Fill or drop"
    with pytest.raises(InputError, match=sentence) as caught:
        require_finite(as_source(make()))
    assert (caught.value.row, caught.value.column) == (2, "b")


def test_missing_values_are_counted_over_all_columns():
    """The first hole by rows is named, and all holes of the table are counted."""
    frame = polars.DataFrame({"a": [1, 2, None], "b": [1, None, None], "void": [None, 1.0, 2.0]})
    with pytest.raises(InputError, match=r"row 0 .*, column 'void', and 3 more\."):
        as_source(frame)


def test_an_empty_column_is_missing_values():
    """A column of nothing but nulls, which has no type of its own, is refused as missing."""
    empty = polars.DataFrame({"a": [1.0], "b": [None]}), pyarrow.table({"a": [1.0], "b": pyarrow.nulls(1)})
    for frame in empty:
        with pytest.raises(InputError, match=r"Input X contains NaN: row 0 .*column 'b'"):
            as_source(frame)


NOT_NUMBERS = {
    "pandas text": (lambda: pandas.DataFrame({"a": [1.0], "b": ["x"]}), r"'b' \(text, String\)"),
    "pandas category": (
        lambda: pandas.DataFrame({"a": [1.0], "b": pandas.Categorical([3])}),
        r"'b' \(categories, Categorical\)",
    ),
    "pandas date": (
        lambda: pandas.DataFrame({"a": [1.0], "b": pandas.to_datetime(["2020-01-01"])}),
        r"'b' \(dates, Datetime",
    ),
    "pandas dates only": (
        lambda: pandas.DataFrame({"b": pandas.to_datetime(["2020-01-01"])}),
        r"Column 'b' \(dates, Datetime",
    ),
    "pandas duration": (
        lambda: pandas.DataFrame({"a": [1.0], "b": pandas.to_timedelta([1])}),
        r"'b' \(durations, Duration",
    ),
    "pandas period": (
        lambda: pandas.DataFrame({"a": [1.0], "b": pandas.period_range("2020", periods=1, freq="D")}),
        r"'b' \(no numbers, period\[D\]\)",
    ),
    "pandas interval": (
        lambda: pandas.DataFrame({"a": [1.0], "b": pandas.interval_range(0, 1)}),
        r"'b' \(no numbers, interval",
    ),
    "pandas complex": (
        lambda: pandas.DataFrame({"a": [1.0], "b": [1j]}),
        r"Complex data not supported\. Column 'b' \(complex numbers, complex128\)",
    ),
    "polars text": (lambda: polars.DataFrame({"a": [1.0], "b": ["x"]}), r"'b' \(text, String\)"),
    "polars category": (
        lambda: polars.DataFrame({"b": polars.Series(["x"], dtype=polars.Categorical)}),
        r"'b' \(categories, Categorical\)",
    ),
    "polars date": (lambda: polars.DataFrame({"b": [dt.date(2020, 1, 1)]}), r"'b' \(dates, Date\)"),
    "polars list": (lambda: polars.DataFrame({"b": [[1.0, 2.0]]}), r"'b' \(nested values, List"),
    "arrow text": (lambda: pyarrow.table({"a": [1.0], "b": ["x"]}), r"'b' \(text, String\)"),
    "arrow time": (lambda: pyarrow.table({"b": [dt.time(1)]}), r"'b' \(times of day, Time\)"),
    "arrow bytes": (lambda: pyarrow.table({"b": [b"1"]}), r"'b' \(bytes, Binary\)"),
    "arrow dictionary": (
        lambda: pyarrow.table({"b": pyarrow.array(["x"]).dictionary_encode()}),
        r"'b' \(categories, Categorical\)",
    ),
}


@pytest.mark.parametrize("make, sentence", NOT_NUMBERS.values(), ids=NOT_NUMBERS)
def test_columns_that_hold_no_numbers_are_refused_by_name(make, sentence):
    """Text, categories, dates and nested columns are refused by name and type, with what to do."""
    with pytest.raises(InputError, match=sentence + r".* of X is not numeric\. Leave such columns") as caught:
        as_source(make())
    assert caught.value.column == "b"


def test_all_columns_that_hold_no_numbers_are_listed_at_once():
    """A person learns of all such columns in one go; a long list is cut and counted."""
    frame = polars.DataFrame({"a": [1.0], "b": ["x"], "c": [dt.date(2020, 1, 1)]})
    with pytest.raises(InputError, match=r"2 columns of X are not numeric: 'b' \(text, String\), 'c' \(dates"):
        as_source(frame)
    wide = polars.DataFrame({f"t{j}": ["x"] for j in range(11)})
    with pytest.raises(InputError, match=r"11 columns of X are not numeric: 't0' .* 't7' \(.*\) and 3 more\."):
        as_source(wide)


def test_text_in_an_object_column_is_refused_with_row_and_name():
    """Numbers and text mixed in one column are refused where the text stands."""
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": np.array([1, "x"], dtype=object)})
    with pytest.raises(InputError, match=r"X holds text: 'x' in row 1 \(counted from 0\), column 'b'"):
        as_source(frame)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize(
    "make",
    [
        lambda column: pandas.DataFrame({"id": column}),
        lambda column: pandas.DataFrame({"id": column, "x": 0.5}),
        lambda column: polars.DataFrame({"id": column}),
        lambda column: polars.DataFrame({"id": polars.Series(column).cast(polars.Int128)}),
        lambda column: pyarrow.table({"id": pyarrow.chunked_array([column[:1], column[1:]])}),
    ],
)
def test_large_integers_are_refused_with_row_and_name(make):
    """Identifiers beyond 2**53 are not rounded in silence."""
    with pytest.raises(InputError, match=r"9007199254740993 in row 2 \(counted from 0\), column 'id'"):
        as_source(make(np.array([1, 2, 2**53 + 1])))


def test_a_frame_of_one_block_and_adjacent_columns_are_not_copied(X):
    """A pandas frame of floats, and a polars frame whose columns lie together, are used where they lie."""
    frame = pandas.DataFrame(X, columns=NAMES)
    assert np.shares_memory(as_source(frame).block(0).rows, frame["a"].to_numpy())
    adjacent = polars.DataFrame(np.asfortranarray(X))
    assert np.shares_memory(as_source(adjacent).block(0).rows, adjacent["column_0"].to_numpy())


@pytest.mark.parametrize("make", [arrow_in_chunks, polars_in_chunks, pandas_in_pieces])
def test_columns_of_a_large_table_stay_in_the_table(X, make, monkeypatch):
    """Chunked columns are held as views of the table's memory, and put together block by block."""
    monkeypatch.setattr(table, "CONVERTED_AT_ONCE", 0)
    array = as_source(make(X)).array
    assert isinstance(array, TableArray)
    pieces = [piece for column in array._columns for piece in column._pieces]
    assert not any(piece.flags.owndata and piece.base is None for piece in pieces)
    np.testing.assert_array_equal(array[4:9, 1:4], X[4:9, 1:4])
    assert array[:0, :0].shape == (0, 0)


def test_sparse_columns_of_pandas_stay_sparse(X, read):
    """A frame of sparse columns becomes sparse rows; with another fill value than zero it becomes dense."""
    dense = np.where(X > 60, X, 0.0)
    frame = pandas.DataFrame(dense, columns=NAMES).astype(pandas.SparseDtype("float64", 0.0))
    source = as_source(frame)
    assert source.is_sparse
    assert source.column_names == NAMES
    np.testing.assert_array_equal(read(source), dense)
    shifted = pandas.DataFrame(dense, columns=NAMES).astype(pandas.SparseDtype("float64", 7.0))
    assert not as_source(shifted).is_sparse
    np.testing.assert_array_equal(read(as_source(shifted)), dense)


@pytest.mark.parametrize(
    "column", [pandas.Series([1.0, 2.0]), polars.Series([1.0, 2.0]), pyarrow.chunked_array([[1.0, 2.0]])]
)
def test_one_column_is_refused_as_one_dimension(column):
    """A series is refused in the words scikit-learn has for vectors, with the way to a table."""
    with pytest.raises(InputError, match=r"Expected 2D array, got 1D array instead.*2 values.*Reshape your data"):
        as_source(column)


@pytest.mark.parametrize("index", [pandas.Index([1.0, 2.0]), pandas.MultiIndex.from_tuples([(1.0, 2.0), (3.0, 4.0)])])
def test_an_index_is_no_table(index):
    """The names of rows are refused as vectors are."""
    with pytest.raises(InputError, match=r"Expected 2D array, got 1D array instead: X has shape \(2,\)"):
        as_source(index)


@pytest.mark.parametrize("wrap", [lambda frame: frame, narwhals.from_native])
def test_lazy_tables_are_refused(wrap):
    """A lazy table is not loaded unasked."""
    with pytest.raises(NotSupportedError, match=r"X is a lazy table \(LazyFrame\)\. Pass X\.collect\(\)"):
        as_source(wrap(polars.LazyFrame({"a": [1.0]})))


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame, pyarrow.table])
def test_empty_tables_are_refused_in_scikit_learns_words(make):
    """A table without rows, and one without columns, are refused as empty arrays are."""
    with pytest.raises(InputError, match=r"Found array with 0 sample\(s\) \(shape=\(0, 1\)\)"):
        as_source(make({"a": np.empty(0)}))
    with pytest.raises(InputError, match=r"Found array with 0 (sample|feature)\(s\)"):
        as_source(make({}))


def test_a_frame_of_rows_without_columns_is_refused_for_its_columns():
    """An index alone is no feature."""
    with pytest.raises(InputError, match=r"Found array with 0 feature\(s\) \(shape=\(3, 0\)\)"):
        as_source(pandas.DataFrame(index=range(3)))


def test_names_that_are_not_all_strings_are_left_out(X, read):
    """As in scikit-learn, only a table whose names are all strings has names."""
    for columns in (range(5), ["a", "b", "c", "d", 4], [("a", 1), ("a", 2), ("b", 1), ("b", 2), ("c", 1)]):
        source = as_source(pandas.DataFrame(X, columns=list(columns)))
        assert source.column_names is None
        np.testing.assert_array_equal(read(source), X)


@pytest.mark.parametrize("dtype", ["float64", "int16"])
def test_repeated_names_are_allowed(X, read, dtype):
    """Columns that share a name are still columns of their own."""
    names = ["a", "a", "b", "b", "c"]
    frame = pandas.DataFrame(X, columns=names).astype({"c": dtype})
    arrow = pyarrow.table([X[:, j] for j in range(5)], names=names)
    for native in (frame, arrow):
        source = as_source(native)
        assert source.column_names == tuple(names)
        np.testing.assert_array_equal(read(source), X)


def test_columns_named_as_methods_are_columns(read):
    """A column may bear the name of anything a table library knows."""
    names = [
        "columns",
        "column_names",
        "rename_columns",
        "sparse",
        "dtypes",
        "collect",
        "__array_namespace__",
    ]
    frame = pandas.DataFrame(np.eye(7), columns=names).astype({"sparse": int})
    source = as_source(frame)
    assert source.column_names == tuple(names)
    np.testing.assert_array_equal(read(source), np.eye(7))


def test_given_names_replace_the_tables_own(X):
    """Names passed beside a table win."""
    source = as_source(pandas.DataFrame(X, columns=NAMES), column_names=list("vwxyz"))
    assert source.column_names == tuple("vwxyz")


def test_the_table_is_left_as_it_was(X):
    """Opening changes neither the values nor the names of the table."""
    frame = pandas.DataFrame(X, columns=["a", "a", "b", "b", "c"]).astype({"c": "Int64"})
    before = frame.copy(deep=True)
    as_source(frame)
    pandas.testing.assert_frame_equal(frame, before)
