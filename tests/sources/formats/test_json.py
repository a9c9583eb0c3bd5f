"""JSON and JSON lines: every layout of a table that is known, and what is said of the others."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gramian.errors import InputError, MemoryBudgetError
from gramian.sources import as_source
from gramian.sources.formats.json import read_json

X = np.random.default_rng(0).standard_normal((9, 3))
NAMES = ["a", "b", "c"]
RECORDS = [dict(zip(NAMES, row, strict=True)) for row in X.tolist()]
COLUMNS = dict(zip(NAMES, X.T.tolist(), strict=True))

LAYOUTS = {
    "records": RECORDS,
    "columns": COLUMNS,
    "columns by row": {name: dict(enumerate(column)) for name, column in COLUMNS.items()},
    "split": {"columns": NAMES, "index": list(range(9)), "data": X.tolist()},
    "data": {"meta": {"made": "by hand"}, "data": RECORDS},
    "columns under data": {"data": COLUMNS},
    "results": {"count": 9, "results": RECORDS},
}


def write(folder, value, name="t.json"):
    """Write a value, or text, or bytes, and return the path."""
    data = (
        value if isinstance(value, bytes) else value.encode() if isinstance(value, str) else json.dumps(value).encode()
    )
    (folder / name).write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return folder / name


def json_lines(values):
    """One value per line."""
    return "".join(json.dumps(value) + "\n" for value in values)


@pytest.mark.parametrize("end", [".json", ".json.gz"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_holds_the_same_table(tmp_path, layout, end):
    """Records, columns, pandas' split, and each of them one level down, packed or not."""
    source = as_source(write(tmp_path, LAYOUTS[layout], f"t{end}"))
    assert source.column_names == tuple(NAMES)
    np.testing.assert_array_equal(source.block(0).rows, X)


@pytest.mark.parametrize("name", ["t.jsonl", "t.ndjson", "t.jsonl.gz", "t.json"])
def test_lines_hold_the_same_table(tmp_path, name):
    """A record per line, also under the name of a whole."""
    source = as_source(write(tmp_path, json_lines(RECORDS), name))
    assert source.column_names == tuple(NAMES)
    np.testing.assert_array_equal(source.block(0).rows, X)


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_rows_without_names_are_columns_by_their_number(tmp_path, name):
    """A list of rows, or a row per line."""
    source = as_source(write(tmp_path, X.tolist() if name == "t.json" else json_lines(X.tolist()), name))
    assert (source.column_names, source.facts.named) == (None, False)
    np.testing.assert_array_equal(source.block(0).rows, X)


@pytest.mark.parametrize("lines", [True, False])
def test_kinds_of_columns_are_told_apart(tmp_path, lines):
    """Nested values and dates are left out, text names and labels, what a record has not is missing."""
    records = [
        {
            "who": f"Zoë {i}",
            "team": "xy"[i % 2],
            "born": f"2000-01-{i + 1:02d}",
            "tags": ["q"],
            "at": {"x": "y"},
            "h": i / 8,
        }
        for i in range(12)
    ]
    del records[4]["h"]
    records[5]["h"] = None
    source = as_source(write(tmp_path, json_lines(records) if lines else records, "t.jsonl" if lines else "t.json"))
    kinds = {column.name: column.kind for column in source.facts.columns}
    assert kinds == {"who": "text", "team": "text", "born": "date", "tags": "nested", "at": "nested", "h": "number"}
    assert (source.id_name, source.label_names, source.column_names) == ("who", ("team",), ("h",))
    assert source.ids()[2] == "Zoë 2"
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(source.block(0).rows[:, 0])), [4, 5])


@pytest.mark.parametrize("lines", [True, False])
def test_words_and_numbers_for_missing_values(tmp_path, lines):
    """NA is missing, and so are the words given, also where they are numbers."""
    records = [dict(record) for record in RECORDS]
    records[1]["a"], records[2]["a"], records[3]["b"] = -999, None, -999.0
    path = write(tmp_path, json_lines(records) if lines else records, "t.jsonl" if lines else "t.json")
    missing = np.isnan(as_source(path, na="-999").block(0).rows)
    np.testing.assert_array_equal(np.argwhere(missing), [[1, 0], [2, 0], [3, 1]])
    texts = [{"a": "?" if i == 2 else "nope" if i == 3 else f"{i}.5", "b": i} for i in range(20)]
    path = write(tmp_path, json_lines(texts) if lines else texts, "u.jsonl" if lines else "u.json")
    rows = as_source(path, na="nope", columns=["a"]).block(0).rows
    np.testing.assert_array_equal(rows[:, 0], [np.nan if i in (2, 3) else i + 0.5 for i in range(20)])


def test_several_kinds_in_a_column_of_lines(tmp_path):
    """What Arrow refuses is read all the same: a number among texts is text, a slip among numbers is named."""
    path = write(tmp_path, json_lines([{"a": i if i % 2 else f"t{i}", "b": i / 2} for i in range(10)]), "t.jsonl")
    assert as_source(path).column_names == ("b",)
    path = write(tmp_path, json_lines([{"a": "x" if i == 7 else i / 2} for i in range(30)]), "t.jsonl")
    with pytest.raises(InputError, match=r"row 7 .*column 'a': 'x' is text in a column of numbers"):
        as_source(path)


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_names_that_come_twice_are_made_different(tmp_path, name):
    """Both values of a repeated name are kept, and that is said."""
    records = [f'{{"a": {a}, "b": {b}, "a": {c}}}' for a, b, c in X.tolist()]
    source = as_source(write(tmp_path, "\n".join(records) if name == "t.jsonl" else f"[{','.join(records)}]", name))
    assert source.column_names == ("a", "b", "a.1")
    assert "several values called 'a'" in source.remarks[0]
    np.testing.assert_array_equal(source.block(0).rows, X)
    split = as_source(write(tmp_path, {"columns": ["a", "b", "a"], "data": X.tolist()}))
    assert split.column_names == ("a", "b", "a.1")
    assert "several columns called 'a'" in split.remarks[0]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_letters_survive_every_encoding_of_json(tmp_path, encoding, name):
    """Names have their letters, with a mark at the beginning or without."""
    text = json.dumps([{"größe €": 1.5, "b": 2}] * 3, ensure_ascii=False)
    text = text if name == "t.json" else "\n".join([text[1 : text.index("}") + 1]] * 3)
    assert as_source(write(tmp_path, text.encode(encoding), name)).column_names == ("größe €", "b")


@pytest.mark.parametrize("name", ["t.json", "t.jsonl"])
def test_json_that_is_no_utf8_is_refused(tmp_path, name):
    """JSON is UTF-8: bytes that are not are refused, in names and in words."""
    for record in (b'{"a": "K\xf6ln", "b": 1}', b'{"K\xf6ln": 2, "b": 1}'):
        body = b"\n".join([record] * 3) if name == "t.jsonl" else b"[" + b",".join([record] * 3) + b"]"
        with pytest.raises(InputError, match="is no utf-8 text, which JSON has to be"):
            as_source(write(tmp_path, body, name))


def test_identifiers_beyond_float64_are_left_out(tmp_path):
    """Integers that no float holds are names, of 64 bits or more."""
    table = [{"id": 2**60 + i, "more": 2**70 + i, "h": i / 2} for i in range(5)]
    assert as_source(write(tmp_path, table)).column_names == ("h",)


WRONG = {
    "a number": ("5", r"holds a single value that is no table\. Save a list of records"),
    "an object": ({"a": 1, "b": "x"}, "holds an object that is no table"),
    "a list of numbers": ([1, 2, 3], "holds a list that is no table"),
    "an empty list": ([], "holds a list that is no table"),
    "columns of two lengths": ({"a": [1, 2], "b": [1]}, "column 'b' has 1 values and column 'a' 2"),
    "a ragged row": ([[1, 2], [3]], r"row 1 \(counted from 0\) has 1 values, and there are 2 columns"),
    "a ragged row of a split": ({"columns": ["a"], "data": [[1], [2, 3]]}, "row 1 .* has 2 values, and there are 1"),
    "cut short": ('[{"a": 1}, {"a"', r"is no JSON from line 1, column 16 on"),
    "text": ("a,b\n1,2\n", "is no JSON from line 1, column 1 on"),
    "not text": (b'{"a": ["\xff\xfe\xfa"]}', "is no utf-8 text, which JSON has to be"),
    "blank": ("  \n", "is empty"),
    "deep": ("[" * 100_000, "is nested too deeply|is no JSON"),
}


@pytest.mark.parametrize("value, said", WRONG.values(), ids=WRONG)
def test_what_is_no_table_is_told(tmp_path, value, said):
    """What is there, and what to save instead."""
    with pytest.raises(InputError, match=said):
        as_source(write(tmp_path, value))


def test_a_bad_line_is_named(tmp_path):
    """The number of the line is the file's."""
    with pytest.raises(InputError, match="is no JSON from line 3, column 7 on"):
        as_source(write(tmp_path, '{"a": 1}\n\n{"a": ]}\n', "t.jsonl"))


def test_a_packed_file_that_is_cut_short_is_told(tmp_path):
    """As of text tables."""
    data = gzip.compress(json.dumps(RECORDS).encode())[:-9]
    (tmp_path / "t.json.gz").write_bytes(data)
    with pytest.raises(InputError, match="cannot be unpacked"):
        as_source(tmp_path / "t.json.gz")


def test_a_file_larger_than_the_budget_is_refused(tmp_path, monkeypatch):
    """It is read whole, so that its size is looked at before."""
    path = write(tmp_path, RECORDS)
    monkeypatch.setenv("GRAMIAN_MEMORY", "5kB")
    with pytest.raises(MemoryBudgetError, match="is read whole"):
        as_source(path)


VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=6),
    st.lists(st.integers(), max_size=2),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.text(max_size=4), VALUES, max_size=4), min_size=1, max_size=6))
def test_any_records_become_a_table_of_as_many_rows(tmp_path_factory, records):
    """Whatever values records hold, there is a column per name and a row per record, and lines give the same kinds."""
    folder = tmp_path_factory.mktemp("any")
    table = read_json(write(folder, records), "t.json")
    names = list(dict.fromkeys(name for record in records for name in record))
    assert table.column_names == names
    assert table.num_rows == (len(records) if names else 0)
    for name in names:
        values = [record.get(name) for record in records]
        if all(type(value) is float and np.isfinite(value) for value in values):
            assert table[name].to_pylist() == values
