"""Text tables as people write them: quotes, accents, true and false, headers of years, decimal commas, odd cells."""

import csv

import numpy as np
import pytest

from gramian.errors import InputError
from gramian.sources import as_source
from gramian.sources.formats import csv as text_tables


def table(folder, content, **options):
    """A source of a text table with that content."""
    return as_source(_written(folder, content), **options)


def _written(folder, content):
    path = folder / "table.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def numbers(source):
    """All rows of a source."""
    return np.concatenate([source.block(i).rows for i in range(source.n_blocks)])


def test_a_quote_inside_a_plain_cell_is_a_plain_character(tmp_path):
    """No row vanishes where inches are written with a quote."""
    lines = [f'{i}" pipe {i},{i}.5,0.{i}' for i in range(40)]
    source = table(tmp_path, "\n".join(["what,a,b", *lines]))
    assert source.n_rows == 40
    np.testing.assert_array_equal(numbers(source)[:, 0], np.arange(40) + 0.5)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100, 1 << 20])
def test_rows_begin_where_a_parser_says(tmp_path, monkeypatch, size):
    """Quoted breaks, doubled quotes and lone quotes, cut anywhere, give the rows of Python's own parser."""
    cells = ['"a\nb"', '"a ""x""\n"', '5"', "plain", '""', '"x"""', '6" or 7"', '""""']
    lines = [f"{a},{i}.5,{b}" for i, (a, b) in enumerate((a, b) for a in cells for b in cells)]
    body = "\n".join(["what,a,b", *lines]) + "\n"
    wanted = [float(row[1]) for row in list(csv.reader(body.splitlines(keepends=True)))[1:]]
    monkeypatch.setattr(text_tables, "SAMPLE_BYTES", 200)
    opened = text_tables.TextTable(_written(tmp_path, body), "table.csv")
    pieces = [piece.data for piece in opened.pieces(size)]
    assert b"".join(pieces) == body.partition("\n")[2].encode()
    found = [float(row[1]) for data in pieces for row in csv.reader(data.decode().splitlines(keepends=True))]
    assert found == wanted
    np.testing.assert_array_equal(numbers(table(tmp_path, body))[:, 0], wanted)


def test_a_carriage_return_alone_ends_a_row(tmp_path):
    """As it does for Arrow and for pandas: rows of two systems in one file are all read."""
    lines = [f"{i}.5,{i}.25" for i in range(30)]
    lines[3] = "3.5,3.25\r9.5,9.25"
    found = numbers(table(tmp_path, "\n".join(["a,b", *lines])))
    np.testing.assert_array_equal(found[3:6, 0], [3.5, 9.5, 4.5])
    assert len(found) == 31


def test_accents_of_a_latin_1_table_are_read(tmp_path):
    """Labels, names of rows and column names come out as they were written."""
    lines = [f"Zoë {i},{'Köln' if i % 2 else 'Orléans'},{i}.5,{i * i}.25" for i in range(20)]
    source = table(tmp_path, "\n".join(["nom,ville,é,b", *lines]).encode("latin-1"))
    assert source.column_names == ("é", "b")
    assert list(source.labels()[:2]) == ["Orléans", "Köln"]
    assert source.ids()[3] == "Zoë 3"


def test_true_and_false_are_one_and_zero(tmp_path):
    """Missing cells stay missing; with a third word they are levels of a category."""
    lines = [f"{i}.5,{('true', 'False', '')[i % 3]}" for i in range(30)]
    found = numbers(table(tmp_path, "\n".join(["a,b", *lines])))
    np.testing.assert_array_equal(found[:, 1], np.tile([1.0, 0.0, np.nan], 10))
    late = [f"{i}.5,{('true', 'false')[i % 2]}" for i in range(200_000)]
    late[-1] = "1.5,perhaps"
    source = table(tmp_path, "\n".join(["a,b", *late]))
    assert (source.column_names, source.facts.label) == (("a",), "b")
    assert source.labels()[-3:].tolist() == ["false", "true", "perhaps"]


@pytest.mark.parametrize("at", [0, 7, 1999])
def test_one_bad_cell_is_named_and_does_not_cost_the_column(tmp_path, at):
    """A slip among numbers is refused with its row; a column that is left out may hold it."""
    lines = [f"{i}.5,{i}.25" for i in range(2000)]
    lines[at] = "1.5,oops"
    body = "\n".join(["a,b", *lines])
    with pytest.raises(InputError, match=rf"row {at:,} \(counted from 0\), column 'b': 'oops' is text") as caught:
        numbers(table(tmp_path, body))
    assert (caught.value.row, caught.value.column) == (at, "b")
    assert numbers(table(tmp_path, body, drop="b")).shape == (2000, 1)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_blanks_around_a_word_for_a_hole_do_not_matter(tmp_path, delimiter):
    """They are overlooked as those around numbers are, early and late in a file."""
    lines = [
        delimiter.join([" 1.2", " NA " if i in (5, 150_000) else " 2.5", "  " if i == 7 else "3"])
        for i in range(150_002)
    ]
    found = numbers(table(tmp_path, "\n".join([delimiter.join("abc"), *lines])))
    assert list(np.argwhere(np.isnan(found)).tolist()) == [[5, 1], [7, 2], [150_000, 1]]


DECIMALS = ["0.5,1.25,2.5", "3.5,4.75,1.5", "6.25,0.5,7.5", "1.5,1.5,1.5"]
COUNTRIES = ["country,1990,1991", "FR,1.5,2", "DE,2.5,3.5", "IT,4.25,5.5", "ES,6.5,7.5"]


@pytest.mark.parametrize(
    "lines, names",
    [
        (COUNTRIES, ("1990", "1991")),
        (["country,1990,1991", "FR,15,2", "DE,25,35", "IT,42,55"], ("1990", "1991")),
        (["1990,1991,1992", *DECIMALS], ("1990", "1991", "1992")),
        (["0,1,2", *DECIMALS], ("0", "1", "2")),
        (DECIMALS, None),
        (["5,3,1", "4.5,3,1.5", "6,3.5,1", "5.5,3,2.5"], None),
        (["1,2,3", "4,5,6", "7,8,9", "2,3,4"], None),
        (["1990,1991", "1992,1993", "1980,1999", "2001,2002"], None),
        (["red,12,15", "blue,1.5,2.5", "red,2.5,3.5", "blue,4.5,5.5"], None),
    ],
)
def test_numbers_that_name_columns_are_a_header(tmp_path, lines, names):
    """Whole numbers over decimals, or years over other numbers, are names; where none are found, it is said."""
    source = table(tmp_path, "\n".join(lines))
    assert source.column_names == names
    assert source.n_rows == len(lines) - (names is not None)
    assert any("No header found" in said for said in source.facts.sentences()) == (names is None)


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize("header", [True, False])
def test_decimal_commas_need_neither_semicolon_nor_header(tmp_path, delimiter, header):
    """Cells like 1,5 are whole between semicolons and tabs."""
    lines = [delimiter.join(f"{i + j},5" for j in range(3)) for i in range(10)]
    found = numbers(table(tmp_path, "\n".join([delimiter.join("abc")] * header + lines)))
    np.testing.assert_array_equal(found, np.add.outer(np.arange(10), np.arange(3)) + 0.5)


@pytest.mark.parametrize("body", ["a;b,1.5,2\nc;d,2.5,3\ne;f,3.5,4\n", "x;1,1.5\ny;2,2.5\nz;3,3.5\n"])
def test_semicolons_inside_text_do_not_cut(tmp_path, body):
    """Commas stay the delimiter where cells between semicolons are no numbers."""
    assert numbers(table(tmp_path, body))[0, 0] == 1.5


def test_columns_without_names_are_counted_from_one(tmp_path):
    """By their place in the file, whichever of them are used."""
    source = table(tmp_path, "\n".join(f"row {i},{i}.5,{i * i}.25" for i in range(10)))
    assert [column.name for column in source.facts.columns] == ["column 1", "column 2", "column 3"]
    assert [column.name for column in source.facts.used] == ["column 2", "column 3"]
    assert table(tmp_path, "1.5,2.5\n3.5,4.25\n", drop="column 1").n_columns == 1


@pytest.mark.parametrize("rows", [3, 90_000])
@pytest.mark.parametrize("header", ["a,b,c", "a,b,c,"])
def test_a_delimiter_at_the_end_of_rows_shifts_no_name(tmp_path, header, rows):
    """The surplus column is empty and left out, and the header stands, in long files too."""
    source = table(tmp_path, "\n".join([header, *(f"{i}.5,2.25,3.{i}," for i in range(rows))]))
    assert source.column_names == ("a", "b", "c")
    np.testing.assert_array_equal(numbers(source)[:, 0], np.arange(rows) + 0.5)


def test_row_names_without_a_name_are_still_told(tmp_path):
    """R leaves the name of the first column out; an empty cell at the end of one row does not change that."""
    source = table(tmp_path, "a,b\nr1,1.5,2.5\nr2,3.5,\nr3,5.5,6.5\n")
    assert (source.column_names, source.facts.id) == (("a", "b"), "")


@pytest.mark.parametrize("delimiter", [";", "\t"])
@pytest.mark.parametrize(
    "other, low",
    [
        (["3,14", "2,5", "NA"], 1500.0),
        (["3,141", "2,500", "1,5"], 1500.0),
        (["3,141", "2,500", "1,522"], 1.5),
        (["3.14", "2.5", "1.5"], 1.5),
        (["3,14 kg", "2,5 kg", "1.5 kg"], 1.5),
        (["a", "b", "c"], 1.5),
    ],
)
def test_a_column_of_three_digits_behind_a_point_is_read_as_the_others_are(tmp_path, delimiter, other, low):
    """Thousands, which are said, where another column can only have decimal commas; else decimals."""
    text = "\n".join(delimiter.join(cells) for cells in zip(["10.363", "1.500", "999.123"], other, strict=True))
    (tmp_path / "t.csv").write_text(f"a{delimiter}b\n{text}\n")
    facts = as_source(tmp_path / "t.csv").facts
    column = next(column for column in facts.columns if column.name == "a")
    assert (column.low, column.role) == (low, "quantity")
    said = [remark for remark in column.remarks if "'1.500' could also have a decimal point" in remark]
    assert len(said) == (low == 1500.0)
    if said:
        assert "(decimal='.' says otherwise)" in said[0]
        again = as_source(tmp_path / "t.csv", decimal=".").facts
        assert next(column for column in again.columns if column.name == "a").low == 1.5


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
@pytest.mark.parametrize(
    "price, asked",
    [
        ("{},84 €", {}),
        ("€ -{},84", {}),
        ("{},1%", {}),
        ("{},84", {}),
        ("1.{}00,84 kg", {}),
        ("{},84 k.A.", {"na": ["k.A."]}),
        ("{},84 k.A.", {}),
        ("1.{}00.500 k.A.", {}),
    ],
)
def test_money_units_and_words_hide_no_decimal_commas(tmp_path, delimiter, price, asked):
    """1.500 is a thousand and a half beside 21,84 € too, as are the 300 of its column, and that is said."""
    prices = [price.format(1 + i % 9) for i in range(40)]
    if price.endswith("k.A."):
        prices = ["k.A." if i % 4 == 0 else cell.removesuffix(" k.A.") for i, cell in enumerate(prices)]
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["pop", "price"])
        writer.writerows([f"{300 + 115 * i:,}".replace(",", "."), cell] for i, cell in enumerate(prices))
    column = as_source(tmp_path / "t.csv", bad_cells="missing", **asked).facts.columns[0]
    assert (column.name, column.low, column.high) == ("pop", 300.0, 4785.0)
    assert "could also have a decimal point" in column.remarks[0]


def decided(tmp_path, *lines, **asked):
    """Write a table with semicolons, and return its columns by name."""
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return {column.name: column for column in as_source(tmp_path / "t.csv", **asked).facts.columns}


def test_a_leading_zero_before_a_point_makes_decimals_of_all(tmp_path):
    """0.123 is no number of thousands, so that points are decimal signs, whatever another column holds; it is said."""
    found = decided(tmp_path, "a;b;c", "10.363;0.123;3,14", "1.500;0.500;2,5", "9.900;0.250;1,5")
    assert [column.low for column in found.values()] == [1.5, 0.123, 1.5]
    said = "'10.363' in 'a' could also be thousands, because 'c' has decimal commas: a decimal point is taken"
    assert found["a"].remarks == (f"{said} (decimal=',' says otherwise).",)
    assert found["b"].remarks == ()


@pytest.mark.parametrize("a", ["{}.{}", "{}.{} €"])
@pytest.mark.parametrize("late", [0, 400])
def test_points_that_may_stand_between_thousands_are_said(tmp_path, a, late):
    """Where commas of another column may be decimal signs: both are said, also where they come late in the file."""
    b = ["" if i < late else f"{3 + i % 7},{200 + i}" for i in range(late + 40)]
    lines = [f"{a.format(3 + i % 7, 100 + i)};{cell}" for i, cell in enumerate(b)]
    found = decided(tmp_path, "a;b", *lines)
    assert found["a"].low == 3.1
    assert found["b"].low > 3000
    assert "could also have a decimal comma" in found["b"].remarks[0]
    said = "could also be thousands, because 'b' may have decimal commas: a decimal point is taken (decimal=',' says"
    assert said in found["a"].remarks[-1]
    asked = decided(tmp_path, "a;b", *lines, decimal=".")["a"]
    assert not any("thousands, because" in remark for remark in asked.remarks)
    other = decided(tmp_path, "a;b", *lines, decimal=",")
    assert other["a"].low == 3100.0
    assert other["b"].high < 10.0


@pytest.mark.parametrize("delimiter", [";", "\t", ","])
@pytest.mark.parametrize("euro", ["", " €"])
def test_points_that_come_late_are_read_or_said(tmp_path, delimiter, euro):
    """In a sorted file the first thousand comes after the first lines: it is a thousand, or said to be in doubt."""
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow(["pop", "price"])
        writer.writerows([f"{3 * i:,}".replace(",", "."), f"{i % 7},8{i % 9}{euro}"] for i in range(600))
    found = as_source(tmp_path / "t.csv").facts.columns[0]
    assert found.high == (999.0 if delimiter == "," else 1797.0)
    said = "'1.002' in 'pop' could also be thousands" if delimiter == "," else "'1.002' could also have a decimal point"
    assert said in found.remarks[0]


def test_a_pair_of_numbers_in_quotes_makes_no_decimals_of_thousands(tmp_path):
    """Where commas are delimiters and 1,500 is in quotes, 12,15 says nothing of it; each column says its doubt."""
    lines = [f'{1 + i % 9}.{100 + i},"{1 + i % 9},{200 + i}","{i},1{i % 7}"' for i in range(40)]
    found = decided(tmp_path, "a,b,c", *lines)
    assert found["b"].low == 1200.0
    assert "could also have a decimal comma" in found["b"].remarks[0]
    assert found["a"].low == 1.1
    assert "could also be thousands, because 'c' has decimal commas" in found["a"].remarks[0]


@pytest.mark.parametrize("last", ["1.2345;4,25", "1234.500;4,25", "0.125;4,25", "7.125;x"])
@pytest.mark.parametrize("rows", [3, 300])
def test_points_that_can_only_be_decimal_are_not_doubted(tmp_path, rows, last):
    """No sentence where one cell tells, wherever it stands, nor where no other column has commas."""
    found = decided(tmp_path, "a;b", *(f"{1 + i % 9}.{100 + i};" for i in range(rows)), last)
    assert found["a"].high < 1235
    assert not any("thousands, because" in remark for remark in found["a"].remarks)


def test_one_column_of_decimal_commas_is_one_column(tmp_path):
    """One name over cells like 1,5 is no header over two columns; whole numbers and holes may stand between them."""
    source = table(tmp_path, "height\n1,5\n1,75\n2\nNA\n-3,25\n")
    assert source.column_names == ("height",)
    np.testing.assert_array_equal(numbers(source)[:, 0], [1.5, 1.75, 2, np.nan, -3.25])


def test_numbered_rows_under_one_name_are_refused(tmp_path):
    """Nobody can tell 1,5 2,5 with a decimal comma from rows that R numbered."""
    with pytest.raises(InputError, match="decimal comma, or a row's number"):
        table(tmp_path, "a\n1,5\n2,5\n3,5\n")


@pytest.mark.parametrize("late", [0, 40_000])
@pytest.mark.parametrize("cell", ["9007199254740993", "-9007199254740995", "123456789012345678901"])
def test_integers_that_float64_rounds_are_refused(tmp_path, cell, late):
    """The file, the row and the column are named, wherever the integer stands."""
    lines = [f"{i % 7},{i}.5,some words that fill the sample" for i in range(late + 20)]
    lines[late + 4] = f"{cell},4.5,x"
    with pytest.raises(InputError, match=r"table.csv.* row .* beyond 2\*\*53") as caught:
        numbers(table(tmp_path, "\n".join(["a,b,c", *lines]), columns=["a", "b"]))
    assert (caught.value.row, caught.value.column) == (late + 4, "a")


def test_large_numbers_that_are_no_integers_are_read(tmp_path):
    """The last integer that float64 holds, exponents, points, infinity's neighbours and holes stay numbers."""
    cells = ["9007199254740992", "1e20", "12345678901234567890.5", "", "-3E+17"]
    found = numbers(table(tmp_path, "\n".join(["a,b", *(f"{cell},{i}.5" for i, cell in enumerate(cells))])))
    np.testing.assert_array_equal(found[:, 0], [2.0**53, 1e20, 12345678901234567890.5, np.nan, -3e17])


@pytest.mark.parametrize(
    "header, wanted",
    [("a,a.1,a", ("a", "a.1", "a.2")), ("x,x,x.1", ("x", "x.2", "x.1")), ("b,b,b", ("b", "b.1", "b.2"))],
)
def test_names_that_come_twice_get_names_that_are_free(tmp_path, header, wanted):
    """A name that is made up is none that the header has."""
    source = table(tmp_path, f"{header}\n1.5,2.5,3.5\n4.5,5.5,6.5\n")
    assert source.column_names == wanted
    np.testing.assert_array_equal(numbers(source)[0], [1.5, 2.5, 3.5])


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("first", ["sep=;\r\n", '"sep=;"\n', "SEP=;\n"])
def test_the_line_that_tells_excel_the_delimiter_is_honoured(tmp_path, first, mark):
    """It is no header, and what it says holds against what the cells look like."""
    source = table(tmp_path, mark + f"{first}a;b\n1,5;2,25\n-3,5;4\n2,5;1\n".encode())
    assert source.column_names == ("a", "b")
    np.testing.assert_array_equal(numbers(source), [[1.5, 2.25], [-3.5, 4], [2.5, 1]])
