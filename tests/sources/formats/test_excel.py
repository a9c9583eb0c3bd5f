"""Excel workbooks: which sheet, where its table is, and what its cells become."""

import datetime as dt
import sys

import numpy as np
import pytest

from gramian import PCA
from gramian.errors import InputError, InputWarning, MemoryBudgetError, NotSupportedError, ParameterError
from gramian.sources import as_source

openpyxl = pytest.importorskip("openpyxl")

X = np.random.default_rng(0).integers(-99, 99, size=(20, 3)) / 4


def save(path, **sheets):
    """Write sheets, each a list of lines, and return the path."""
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, lines in sheets.items():
        sheet = book.create_sheet(title)
        for line in lines:
            sheet.append(line)
    book.save(path)
    return path


def lines(head=("a", "b", "c")):
    """A header and the rows."""
    return [list(head), *X.tolist()]


def test_a_sheet_is_a_table_with_names_labels_and_dates(tmp_path):
    """Numbers are used, dates are dates, true and false count as 1 and 0, text names and labels the rows."""
    table = [["who", "team", "born", "alive", "height"]]
    table += [[f"Zoë {i}", "xy"[i % 2], dt.date(2000, 1, 1 + i), i % 3 == 0, i / 8] for i in range(12)]
    source = as_source(save(tmp_path / "t.xlsx", people=table))
    assert source.column_names == ("alive", "height")
    assert (source.id_name, source.label_names) == ("who", ("team",))
    assert (source.ids()[3], source.labels()[3]) == ("Zoë 3", "y")
    kinds = {column.name: column.kind for column in source.facts.columns}
    assert kinds["born"] == "date"
    np.testing.assert_array_equal(source.block(0).rows, [[i % 3 == 0, i / 8] for i in range(12)])
    assert source.remarks == ()


def test_titles_and_empty_rows_and_columns_around_a_table_are_skipped(tmp_path):
    """A merged title, blank lines and blank columns before, between and after change nothing of the numbers."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.merge_cells("C2:E2")
    sheet["C2"] = "Sales"
    for i, line in enumerate(lines()):
        for j, value in enumerate(line):
            sheet.cell(5 + i + (i > 7), 3 + j + (j > 1), value)
    sheet.cell(60, 9, " ")
    book.save(tmp_path / "t.xlsx")
    source = as_source(tmp_path / "t.xlsx")
    assert source.column_names == ("a", "b", "c")
    np.testing.assert_array_equal(source.block(0).rows, X)
    assert "the line above the table is skipped: 'Sales'" in source.remarks[0]


def test_a_sheet_without_a_header_has_columns_by_their_number(tmp_path):
    """As in text tables, a first line of numbers is a row."""
    source = as_source(save(tmp_path / "t.xlsx", only=X.tolist()))
    assert (source.n_rows, source.column_names, source.facts.named) == (20, None, False)


def test_the_first_sheet_with_numbers_is_read_and_said(tmp_path):
    """Sheets of text before it are passed over; a fit of the path warns, and a name chooses another."""
    path = save(tmp_path / "t.xlsx", notes=[["read"], ["me"]], empty=[], first=lines(), second=lines("xyz"))
    source = as_source(path)
    assert source.column_names == ("a", "b", "c")
    said = "has 4 sheets, and 'first' is read, the first with a table of numbers; sheet names another: 'notes', 'empty'"
    assert said in source.remarks[0]
    assert as_source(path, sheet="second").column_names == ("x", "y", "z")
    assert as_source(path, sheet="second").remarks == ()
    with pytest.warns(InputWarning, match="has 4 sheets"):
        PCA().fit(path)


def test_a_hidden_sheet_is_passed_over_unless_it_is_named(tmp_path):
    """What a person does not see is not read unasked."""
    path = save(tmp_path / "t.xlsx", first=lines("xyz"), second=lines())
    book = openpyxl.load_workbook(path)
    book["first"].sheet_state = "hidden"
    book.save(path)
    assert as_source(path).column_names == ("a", "b", "c")
    assert as_source(path, sheet="first").column_names == ("x", "y", "z")


def test_numbers_as_text_errors_and_more_words_for_missing_values(tmp_path):
    """Numbers kept as text are numbers; errors of formulas, NA and the words given are missing, and errors are said."""
    table = lines()
    table[1:] = [[str(a), b, c] for a, b, c in table[1:]]
    table[3][1], table[4][1], table[5][2], table[6][2] = "#DIV/0!", "NA", "none given", -999
    path = save(tmp_path / "t.xlsx", only=table)
    source = as_source(path, na=["none given", "-999"])
    expected = X.copy()
    expected[[2, 3], 1] = expected[[4, 5], 2] = np.nan
    np.testing.assert_array_equal(source.block(0).rows, expected)
    assert "1 cell holds an error of a formula (#DIV/0!)" in source.remarks[0]


def test_a_slip_in_a_column_of_numbers_is_named_with_its_place(tmp_path):
    """One cell of text among many numbers is an error that names row and column; many make the column text."""
    table = lines()
    table[4][1] = "12 kg"
    with pytest.raises(
        InputError, match=r"t\.xlsx, row 3 .*column 'b': '12 kg' is text in a column of numbers"
    ) as told:
        as_source(save(tmp_path / "t.xlsx", only=table))
    assert (told.value.row, told.value.column, told.value.value) == (3, "b", "12 kg")
    for line in table[1:10]:
        line[1] = f"{line[1]} kg"
    assert as_source(save(tmp_path / "t.xlsx", only=table)).column_names == ("a", "c")


def test_names_that_come_twice_are_made_different(tmp_path):
    """The second column of a name is counted, and that is said; names given replace all of them."""
    path = save(tmp_path / "t.xlsx", only=lines(("a", "b", "a")))
    source = as_source(path)
    assert source.column_names == ("a", "b", "a.1")
    assert "several columns called 'a'; the second is called 'a.1'" in source.remarks[0]
    assert as_source(path, names=["x", "y", "z"]).column_names == ("x", "y", "z")


WRONG = {
    "no such sheet": (
        {"a": lines()},
        {"sheet": "Data"},
        ParameterError,
        r"sheet='Data' is no sheet of .*t\.xlsx\. It has 'a'\.",
    ),
    "nearly a sheet": ({"Data": lines()}, {"sheet": "data"}, ParameterError, r"Did you mean 'Data'\?"),
    "an empty sheet": ({"a": lines(), "b": []}, {"sheet": "b"}, InputError, r"Sheet 'b' of .* holds no table"),
    "no table": ({"a": [["only", "names"]]}, {}, InputError, r"t\.xlsx holds no table: its sheets are empty"),
    "a sheet by its number": (
        {"a": lines()},
        {"sheet": 1},
        ParameterError,
        "sheet holds 1, of type int. Pass a string",
    ),
    "names too few": ({"a": lines()}, {"names": ["x"]}, ParameterError, r"names gives 1 names and .* has 3 columns"),
    "an array": ({"a": lines()}, {"array": "X"}, ParameterError, r"array is for files of \.npz, \.h5 and \.zarr"),
    "a decimal sign": ({"a": lines()}, {"decimal": ","}, ParameterError, r"decimal is for files of \.csv"),
}


@pytest.mark.parametrize("sheets, options, kind, said", WRONG.values(), ids=WRONG)
def test_a_wrong_use_is_told(tmp_path, sheets, options, kind, said):
    """What was asked, what is so, what to do."""
    with pytest.raises(kind, match=said):
        as_source(save(tmp_path / "t.xlsx", **sheets), **options)


@pytest.mark.parametrize("cut", ["text", "half"])
def test_a_damaged_workbook_is_told(tmp_path, cut):
    """Something else under that name, and half of a workbook, are no tracebacks."""
    path = save(tmp_path / "t.xlsx", only=lines())
    path.write_bytes(b"a,b\n1,2\n" if cut == "text" else path.read_bytes()[:2000])
    with pytest.raises(InputError, match=r"is no Excel workbook \(\.xlsx\), or it is damaged"):
        as_source(path)


def test_a_workbook_larger_than_the_budget_is_refused(tmp_path, monkeypatch):
    """It is read whole, so that its size is looked at before."""
    path = save(tmp_path / "t.xlsx", only=lines())
    monkeypatch.setenv("GRAMIAN_MEMORY", "10kB")
    with pytest.raises(MemoryBudgetError, match=r"is read whole, which takes about .* Save the table as Parquet"):
        as_source(path)


def test_without_openpyxl_the_command_that_installs_it_is_named(tmp_path, monkeypatch):
    """The extra is named in one command."""
    path = save(tmp_path / "t.xlsx", only=lines())
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    with pytest.raises(NotSupportedError, match=r"Install it: pip install 'gramian\[excel\]'\."):
        as_source(path)
