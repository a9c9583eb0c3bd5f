"""Which columns of a table are used, and what is said of the others."""

import numpy as np
import pytest

from gramian.errors import InputError
from gramian.sources import as_source
from gramian.sources.roles import Column, TableRoles
from gramian.sources.table_facts import choose_columns, count_missing

TABLE = TableRoles(
    (
        Column("name", "text", "name", "text, all different", is_distinct=True),
        Column("species", "text", "category", "2 levels", levels=(("a", 10), ("b", 10))),
        Column("farm", "text", "category", "2 levels", levels=(("x", 10), ("y", 10))),
        Column("count", "integer", "id", "it counts the rows", is_distinct=True),
        Column("customer_id", "integer", "id", "an id by its name", is_distinct=True),
        Column("temp_in", "number", "quantity", "numbers"),
        Column("temp_out", "number", "quantity", "numbers"),
        Column("age", "integer", "quantity", "integers"),
        Column("alive", "boolean", "quantity", "true or false, as 1 and 0"),
        Column("born", "date", "date", "dates"),
        Column("parts", "nested", "text", "nested values"),
        Column("void", "empty", "empty", "empty"),
    ),
    ("'temp_in' and 'temp_out' are equal.",),
)


def chosen(**options):
    """Names of the columns used."""
    return [column.name for column in choose_columns(TABLE, origin="t.csv", n_rows=20, **options).used]


def test_quantities_are_used_and_the_rest_is_left_out_with_a_reason():
    """Quantities are used, every category is a label, a name comes before an id; the rest is left out and said."""
    facts = choose_columns(TABLE, origin="t.csv", n_rows=20)
    assert [column.name for column in facts.used] == ["temp_in", "temp_out", "age", "alive"]
    assert (facts.id, facts.label, facts.labels) == ("name", "species", ("species", "farm"))
    said = facts.sentences()
    for sentence in (
        "t.csv: 20 rows, 4 of 12 columns used as numbers.",
        "'temp_in' and 'temp_out' are equal.",
        "Column 'name' is kept as the name of each row: text, all different.",
        "Column 'species' is kept as a label: 2 levels.",
        "Column 'count' is left out: it counts the rows.",
        "Column 'born' is left out: dates.",
    ):
        assert sentence in said
    assert facts.doubts() == [
        "Column 'count' is left out: it counts the rows.",
        "Column 'customer_id' is left out: an id by its name.",
    ]


def test_a_date_names_rows_where_an_id_only_counts_them():
    """A name comes before an id, an id before a date, and a date before the number of a row."""
    price = Column("price", "number", "quantity", "numbers")
    day = Column("day", "text", "date", "dates", is_distinct=True)
    counter = Column("index", "integer", "id", "it numbers the rows", low=0.0, high=19.0, is_distinct=True)
    account = Column("account", "integer", "id", "an id by its name", low=1e5, high=9e5, is_distinct=True)
    person = Column("who", "text", "name", "text", is_distinct=True)
    table = [price, counter, day, account, person]
    found = [choose_columns(TableRoles(tuple(table[:k]), ()), origin="t", n_rows=20).id for k in (2, 3, 4, 5)]
    assert found == ["index", "day", "account", "who"]


@pytest.mark.parametrize(
    "options, names",
    [
        ({"columns": "age"}, ["age"]),
        ({"columns": ["temp*", "age"]}, ["temp_in", "temp_out", "age"]),
        ({"columns": ["age", "temp_in"]}, ["age", "temp_in"]),
        ({"columns": ":float"}, ["temp_in", "temp_out"]),
        ({"columns": [":boolean", "count"]}, ["alive", "count"]),
        ({"drop": ["temp*"]}, ["age", "alive"]),
        ({"drop": ":boolean", "label": "age"}, ["temp_in", "temp_out"]),
        ({"columns": ":number", "id": "age", "drop": "*t*"}, ["alive"]),
    ],
)
def test_columns_are_chosen_by_name_glob_and_type(options, names):
    """Names come in the order asked for; what is named is used even if it looks like an identifier."""
    assert chosen(**options) == names


def test_label_and_id_can_be_named_and_refused():
    """A number column may be the label; False wants none."""
    facts = choose_columns(TABLE, origin="t.csv", n_rows=20, label="age", id="customer_id")
    assert (facts.label, facts.id) == ("age", "customer_id")
    facts = choose_columns(TABLE, origin="t.csv", n_rows=20, label=False, id=False)
    assert (facts.label, facts.id) == (None, None)


def test_a_table_without_numbers_is_refused():
    """When nothing is left, the columns and their reasons are told."""
    few = TableRoles(TABLE.columns[:2], ())
    with pytest.raises(InputError, match=r"No column of t\.csv is left to use as numbers: 'name' is kept as") as caught:
        choose_columns(few, origin="t.csv", n_rows=20)
    assert [column.name for column in caught.value.table.columns] == ["name", "species"]


def test_labels_names_and_holes_are_read(tmp_path):
    """The label and the names of rows come out as strings; holes are counted a column."""
    import pandas as pd

    frame = pd.DataFrame(
        {
            "who": ["ann", "bob", "cy", "dot"],
            "team": ["x", None, "x", "y"],
            "a": [1.0, np.nan, 3.0, 4.0],
            "b": [1, 2, 3, 9],
        }
    )
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_parquet(tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        source = as_source(tmp_path / name)
        assert source.ids().tolist() == ["ann", "bob", "cy", "dot"]
        assert source.labels().tolist() == ["x", "", "x", "y"]
        assert count_missing(source).tolist() == [1, 0]
        assert source.column_names == ("a", "b")


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "float16", "bool"])
def test_number_types_of_parquet_come_out_as_floats(tmp_path, kind):
    """Every type of number is worked in float64, float16 in float32; nulls are NaN."""
    import pandas as pd

    X = np.random.default_rng(0).integers(0, 2, size=(30, 3)).astype(kind)
    pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "t.parquet")
    source = as_source(tmp_path / "t.parquet", columns=":number", id=False)
    assert source.dtype == ("float32" if kind == "float16" else "float64")
    np.testing.assert_array_equal(source.map_rows(lambda block: block.rows), X.astype(float))
