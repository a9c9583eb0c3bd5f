"""What each column of a table is, in real tables and in made ones, whatever the order of rows and columns."""

import datetime as dt
import pickle
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv
from pyarrow import parquet as pq

from gramian.analysis.table import ReadOptions, open_table
from gramian.errors import InputError, ParameterError
from gramian.sources.missing_values import MISSING
from gramian.sources.opening import as_source
from gramian.sources.roles import ROLES, Column, Reading, table_roles
from tests.shared_data import DATA, needs_data
from tests.sources.role_tables import N, generated, names, read_csv, tables

TRUTH = {
    "tables/airquality_with_missing.csv": {},  # Month and Day repeat and have an order
    "tables/decathlon.csv": {"athlete": "name", "Competition": "category"},  # Rank and Points are results
    "tables/mammal_sleep_with_missing.csv": {"species": "name"},  # one row per species; pi, sei and odi are scales
    "tables/mtcars.csv": {"model": "name"},  # cyl, gear and carb are counts, vs and am zeros and ones
    "tables/orange_juice_with_missing.csv": {"juice": "id"},  # numbers the twelve juices
    "tables/penguins_raw_messy.csv": {
        "studyName": "category",  # three expeditions
        "Sample Number": "id",  # counts samples within a species
        "Species": "category",
        "Region": "constant",  # Anvers
        "Island": "category",
        "Stage": "constant",  # Adult, 1 Egg Stage
        "Individual ID": "id",  # of a nest and a bird, in several years
        "Clutch Completion": "category",  # yes or no
        "Date Egg": "date",
        "Sex": "category",
        "Comments": "text",
    },
    "tables/spam_emails.csv.gz": {"type": "category"},  # order, address and label are frequencies of words
    "tables/swiss_banknotes.csv": {"Status": "category"},
    "tables/usarrests.csv": {"state": "name"},
    "tables/winequality_red_semicolon.csv": {},  # quality is a grade from 3 to 8
    "ratings/movielens_latest_small_movies.csv.gz": {
        "movieId": "id",
        "title": "name",  # five titles come twice
        "genres": "category",  # 951 combinations
    },
    "ratings/movielens_latest_small_ratings.csv.gz": {"userId": "id", "movieId": "id", "timestamp": "date"},
    "genomics/metabolites_154x52_complete.csv": {"": "name"},
    "genomics/metabolites_154x52_with_missing.csv": {"": "name"},
}
"""The right role of every column of the real tables; those that are not listed are quantities."""

real = needs_data("tables")


def roles_of(columns, **options):
    """Return the role of each column."""
    return {column.name: column.role for column in table_roles(columns, **options).columns}


def role_of(cells, name="x", **options):
    """Return what a single column is."""
    return table_roles({name: pa.array(cells)}, **options).columns[0]


def shuffled(columns, seed=0):
    """Return the same table with its rows, its columns and its chunks in another order."""
    rng = np.random.default_rng(seed)
    n = len(next(iter(columns.values())))
    rows = pa.array(rng.permutation(n))
    order = rng.permutation(list(columns)).tolist()
    halves = (slice(0, n // 3), slice(n // 3, n))
    moved = {name: columns[name].take(rows).combine_chunks() for name in order}
    return {name: pa.chunked_array([column[half] for half in halves]) for name, column in moved.items()}


@real
@pytest.mark.parametrize("file", TRUTH)
def test_every_column_of_the_real_tables_has_its_right_role(file):
    """Every column of every real table has the role that a person would give it, in any order of rows and columns."""
    columns = read_csv(DATA / file)
    truth = dict.fromkeys(columns, "quantity") | TRUTH[file]
    assert set(TRUTH[file]) <= set(columns)
    assert roles_of(columns) == truth
    assert roles_of(shuffled(columns)) == truth


@real
def test_the_truth_names_every_real_table():
    """Every CSV file of the real tables, ratings and metabolites has a line in the truth."""
    files = [path for folder in ("tables", "ratings", "genomics") for path in (DATA / folder).glob("*.csv*")]
    assert {f"{path.parent.name}/{path.name}" for path in files} == set(TRUTH)


@real
def test_sleep_adds_up():
    """The total sleep of the mammals is said to be the sum of its two kinds."""
    found = table_roles(read_csv(DATA / "tables" / "mammal_sleep_with_missing.csv"))
    assert "Column 'ts' is the sum of 'ps' and 'sws' in every row." in found.remarks


@pytest.mark.parametrize("name", tables())
def test_every_column_of_the_made_tables_has_its_right_role(name):
    """Every column of a made table has the role it was made for, and says why without a period at the end."""
    columns, truth = generated(name)
    found = table_roles(columns)
    assert {column.name: column.role for column in found.columns} == truth
    assert all(column.reason and not column.reason.endswith(".") for column in found.columns)
    assert all(remark.endswith(".") for column in found.columns for remark in column.remarks)


@pytest.mark.parametrize("name", tables())
def test_made_tables_have_the_same_roles_from_a_text_file(name, tmp_path):
    """Written as CSV and read as files are, columns that text can hold have the role they were made for."""
    columns, truth = generated(name)
    kinds = (pa.types.is_nested, pa.types.is_dictionary, pa.types.is_binary, pa.types.is_large_binary)
    held = {name: column for name, column in columns.items() if not any(kind(column.type) for kind in kinds)}
    csv.write_csv(pa.table(held), tmp_path / "t.csv")
    found = roles_of(read_csv(tmp_path / "t.csv"))
    assert found == {name: truth[name] for name in held}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", tables())
def test_the_order_of_rows_and_columns_does_not_matter(name, seed):
    """Shuffled rows and columns in several chunks give the same columns, apart from the places of bad cells."""
    columns, _ = generated(name)

    def facts(found):
        return {column.name: replace(column, remarks=(), bad_cells=()) for column in found.columns}

    one, other = table_roles(columns), table_roles(shuffled(columns, seed))
    assert facts(one) == facts(other)
    assert sorted(one.remarks) == sorted(other.remarks)


def test_text_that_most_rows_lack_names_none_of_them():
    """Two words in forty rows are no names of rows; one in each is, and in most."""
    for known, role in ((2, "text"), (30, "name"), (40, "name")):
        words = [f"{'abcdefghij'[i % 10]}{'aeiou'[i // 10]}ne" if i < known else None for i in range(40)]
        found = table_roles({"who": pa.array(words), "h": pa.array([i / 7 for i in range(40)])})
        assert {column.name: column.role for column in found.columns}["who"] == role, known


@pytest.mark.parametrize("seed", range(20))
def test_noise_is_a_quantity(seed):
    """Columns of pure noise are quantities whatever their law, and nothing is said of any of them."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 400))
    columns = {
        "normal": rng.normal(size=n),
        "uniform": rng.uniform(-1, 1, n).astype(np.float32),
        "cauchy": rng.standard_cauchy(n),
        "wide": rng.lognormal(0, 4, n),
        "counts": rng.poisson(5, n),
        "many": rng.negative_binomial(1, 0.001, n),
        "rounded": rng.normal(50, 20, n).round(1),
    }
    found = table_roles({name: pa.array(values) for name, values in columns.items()})
    assert {column.role for column in found.columns} == {"quantity"}
    assert not [remark for column in found.columns for remark in column.remarks]
    assert found.remarks == ()


MEASURED = (
    "age income height weight price quantity count total n score points distance duration temperature pressure "
    "humidity speed votes population area rooms bedrooms floors children visits clicks views likes sales revenue "
    "cost profit tax balance credit limit term rate percent ratio level grade rank position width length depth "
    "volume mass density energy power current voltage resistance frequency wavelength amplitude phase angle "
    "latitude longitude altitude elevation month day hour minute second week quarter x y z t V1 X1 pc1 feature_1 "
    "pixel0 time steps runs hits errors acid liquid solid humid paid bid grid covid valid steroid Time.to.peak "
    "no_of_beds number_of_doors n_groups class_size typewriters grouping kinds statistic coded decode zipline "
    "indexed keys keyboard dated update phones"
)


@pytest.mark.parametrize("high", [3, 40, 100_000])
def test_whole_numbers_with_names_of_measurements_are_quantities(high):
    """Whole numbers that are few, many or large are quantities under a hundred names of what is measured or counted."""
    rng = np.random.default_rng(high)
    table = {name: pa.array(rng.integers(0, high, 300)) for name in MEASURED.split()}
    wrong = {name: role for name, role in roles_of(table).items() if role != "quantity"}
    assert wrong == {}


def heavy_tails():
    """Yield 200 columns with heavy tails: money, counts, powers, ends at a round limit."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(20, 3000))
        x = [
            lambda r, n: r.lognormal(10, 1.5, n).round(),
            lambda r, n: r.pareto(1.1, n).round(2) * 10,
            lambda r, n: r.negative_binomial(1, 0.005, n),
            lambda r, n: r.standard_t(2, n) * 300,
            lambda r, n: np.minimum(r.lognormal(5, 1, n).round(), 999),
            lambda r, n: np.minimum(r.lognormal(10, 0.4, n).round(-3), 99_999),
            lambda r, n: r.geometric(0.01, n) * np.where(r.uniform(size=n) < 0.5, 0, 1),
            lambda r, n: np.maximum(r.normal(0, 400, n).round(), -999),
        ][seed % 8](rng, n)
        yield x.astype(np.float64)


def test_heavy_tails_hold_no_sentinels():
    """No value of 200 columns with heavy tails is taken as missing, even where they end at 999, -999 or 99,999."""
    for x in heavy_tails():
        column = role_of(x)
        assert (column.role, column.n_missing, column.remarks) == ("quantity", 0, ())
        assert (column.low, column.high) == (x.min(), x.max())


@pytest.mark.parametrize("value", [-999, -9999, -99, 999, 9999, -32768, 1e20, 99999])
def test_sentinels_are_missing(value):
    """A value for missing ones, far from the rest and repeated, is NaN, counted and said."""
    x = np.random.default_rng(0).normal(10, 3, 200)
    x[[3, 50, 120]] = value
    column = role_of(x, "t")
    assert column.n_missing == 3
    assert column.high < 25
    assert column.low > -5
    assert f"3 cells of 't' hold {value:g}, far from the rest" in column.remarks[0]
    np.testing.assert_array_equal(column.numbers(pa.array(x)), np.where(x == value, np.nan, x))


def test_a_sentinel_in_the_middle_is_a_number():
    """-999 among numbers from -2,000 to 2,000 and 999 at the end of counts up to 800 are numbers."""
    rng = np.random.default_rng(0)
    balance = np.append(rng.uniform(-2000, 2000, 200), [-999, -999])
    counts = np.append(rng.integers(0, 800, 200), [999, 999])
    assert role_of(balance).n_missing == role_of(counts).n_missing == 0


@pytest.mark.parametrize(
    "cells, numbers, words",
    [
        (["-$11.87", "($11.87)", "$1,200", "$5"], [-11.87, -11.87, 1200, 5], "$ and commas between thousands"),
        (["1.234,56", "2,5", "-3"], [1234.56, 2.5, -3], "points between thousands and decimal commas"),
        (["1,234.56", "12", "7.5"], [1234.56, 12, 7.5], "commas between thousands"),
        (["1 234,56", "5,1", "2"], [1234.56, 5.1, 2], "blanks between thousands and decimal commas"),
        (["1'234.56", "1", "22.5"], [1234.56, 1, 22.5], "apostrophes between thousands"),
        (["12 %", "13%", "0.5 %"], [12, 13, 0.5], "%"),
        (["12 kg", "3.5kg", "7 kg"], [12, 3.5, 7], "kg"),
        (["€ 5,00", "6,10 €", "7,20"], [5, 6.1, 7.2], "€ and decimal commas"),
        (["0,123", "1,234", "0,5"], [0.123, 1.234, 0.5], "decimal commas"),
        (["12,34,567", "1,00,000", "5"], [1234567, 100000, 5], "commas between thousands"),
        (["£3", "£2.50", "-£1"], [3, 2.5, -1], "£"),
        (["\u22125.5 °C", "3 °C", "4.5 °C"], [-5.5, 3, 4.5], "°C"),
    ],
)
def test_numbers_are_read_as_they_are_written(cells, numbers, words):
    """Money, percent, units and signs between thousands are read, and the remark says how they are written."""
    column = role_of(cells, "v")
    assert column.role == "quantity"
    assert column.remarks[0] == f"The numbers of 'v' are written with {words}."
    assert (column.low, column.high) == (min(numbers), max(numbers))
    np.testing.assert_array_equal(column.numbers(pa.array(cells)), numbers)


def test_thousands_in_doubt_are_said():
    """1,234 in every cell is read as thousands, and the remark says that it could be decimals."""
    column = role_of(["1,234", "5,678", "9,000"], "people")
    assert (column.low, column.high) == (1234, 9000)
    assert "'1,234' could also have a decimal comma, and thousands are taken" in column.remarks[0]


def test_a_reading_is_a_value_that_works_chunk_by_chunk():
    """A reading survives pickling, and gives the same numbers for all rows, chunks, and dictionaries of text."""
    cells = [f"${i:,}" if i % 9 else None for i in range(0, 9000, 7)] + ["n/a", "-999"]
    data = pa.array(cells)
    reading = pickle.loads(pickle.dumps(Reading(role_of(cells).reading.format, (-999.0,))))
    whole = reading.numbers(data)
    assert np.isnan(whole[-2:]).all()
    np.testing.assert_array_equal(reading.numbers(pa.chunked_array([data[:500], data[500:]])), whole)
    np.testing.assert_array_equal(reading.numbers(data.dictionary_encode()), whole)
    assert len(reading.numbers(pa.chunked_array([], pa.string()))) == 0


def test_bad_cells_are_blanked_and_said_with_their_places():
    """A few cells that are no numbers are missing; the first five are told with rows counted from 1."""
    cells = [f"{i}.5" for i in range(100)]
    for row in (3, 10, 20, 30, 40, 50):
        cells[row] = f"bad {row}"
    column = role_of(cells, "v")
    assert (column.role, column.n_bad, column.n_missing) == ("quantity", 6, 6)
    assert column.bad_cells == ((3, "bad 3"), (10, "bad 10"), (20, "bad 20"), (30, "bad 30"), (40, "bad 40"))
    assert column.remarks == (
        (
            "6 cells of 'v' are no numbers, taken as missing: row 4 ('bad 3'), row 11 ('bad 10'), row 21 ('bad 20'), "
            "row 31 ('bad 30'), row 41 ('bad 40') and 1 more."
        ),
    )
    assert np.flatnonzero(np.isnan(column.numbers(pa.array(cells)))).tolist() == [3, 10, 20, 30, 40, 50]


@pytest.mark.parametrize("n", [100, 200])
def test_one_bad_cell_in_ten_is_an_exception(n):
    """Exactly one in ten leaves a column of numbers; one more does not."""
    cells = [f"{i}.5" for i in range(n)]
    cells[: n // 10] = ["closed"] * (n // 10)
    assert (role_of(cells).role, role_of(cells).n_bad) == ("quantity", n // 10)
    cells[n // 10] = "closed"
    assert role_of(cells).role == "text"


def test_numbers_among_many_words_are_no_levels():
    """A long column of which an eighth is a word is text that was meant as numbers, and says so."""
    cells = ["closed" if i % 8 == 0 else f"{i % 700}.{i % 10}" for i in range(30_000)]
    found = role_of(cells)
    assert found.role == "text"
    assert "most cells are numbers" in found.reason


def test_many_bad_cells_make_text():
    """Where more than one cell in ten is no number, nothing is blanked, and the reason names one of them."""
    cells = [f"{i}.5" for i in range(100)]
    cells[:20] = [f"<{i}" for i in range(20)]
    column = role_of(cells)
    assert (column.role, column.n_bad, column.n_missing) == ("text", 0, 0)
    assert "more than one in ten lies beyond a limit of what was measured, such as '<0'" in column.reason


@pytest.mark.parametrize("word", ["-", "Unknown", "N/A", "n/a", "#DIV/0!", "not recorded"])
def test_words_for_missing_values_are_no_bad_cells(word):
    """A word for a missing value in two of three cells is missing, among numbers and among dates."""
    cells = [word if i % 3 else f"{i / 7:.2f}" for i in range(90)]
    column = role_of(cells, "v")
    assert (column.role, column.n_missing, column.n_bad) == ("quantity", 60, 0)
    assert column.remarks == (f"60 cells of 'v' hold a word for a missing value, such as {word!r}.",)
    dates = role_of([word if i % 3 else f"2001-06-{i // 3 + 1:02d}" for i in range(90)])
    assert (dates.role, dates.n_missing, dates.n_bad) == ("date", 60, 0)
    # What programs write is missing among other words too; what people write may be a level.
    among_words = role_of([word] * 20 + ["low"] * 20 + ["high"] * 20)
    assert dict(among_words.levels) == {"low": 20, "high": 20} | ({} if word in MISSING else {word: 20})


@pytest.mark.parametrize("made", ["csv", "parquet", "frame"])
def test_words_of_programs_are_missing_in_tables_of_every_kind(made, tmp_path):
    """'NA' as text is no level, names no row and colors none, whether a text, a Parquet file or a frame holds it."""
    group = ["NA" if i % 5 == 0 else "low" if i % 2 else "high" for i in range(40)]
    x, y = np.random.default_rng(0).normal(size=(2, 40))
    table = pa.table({"group": group, "x": x, "y": y})
    path = tmp_path / f"t.{made}"
    if made == "frame":
        prepared = open_table(table, ReadOptions())
    else:
        (csv.write_csv if made == "csv" else pq.write_table)(table, path)
        prepared = open_table(path, ReadOptions())
    column = prepared.facts.columns[0]
    assert (dict(column.levels), column.n_missing) == ({"low": 16, "high": 16}, 8)
    assert prepared.labels["group"].tolist() == ["" if word == "NA" else word for word in group]
    said = "8 cells of 'group' hold a word for a missing value, such as 'NA'."
    assert (said in prepared.notes) == (made != "csv")  # the text of a file is read by the words of its dialect


def test_numbers_in_two_units_are_not_read_as_one():
    """Half of the cells in percent and half as shares are no quantity; one cell without the unit is one, and said."""
    rng = np.random.default_rng(0)
    shares = rng.uniform(size=60)
    both = role_of([f"{100 * x:.1f}%" if i % 2 else f"{x:.3f}" for i, x in enumerate(shares)])
    assert both.role == "text"
    assert "numbers with and without '%'" in both.reason
    one = role_of([*(f"{100 * x:.1f}%" for x in shares), "12.5"], "v")
    assert one.role == "quantity"
    assert "1 cell of 'v' has no '%', such as '12.5': taken in the same unit." in one.remarks


def test_infinity_is_a_bad_cell():
    """Infinity in a column of floats is missing, said with its place."""
    column = role_of([1.0, np.inf, 2.5, 3.5, np.nan], "v")
    assert (column.low, column.high, column.n_missing, column.bad_cells) == (1, 3.5, 2, ((1, "inf"),))
    assert np.isnan(column.numbers(pa.array([1.0, np.inf]))).tolist() == [False, True]


def test_levels_are_counted_most_common_first():
    """Levels come by count and then by name, without blanks around them, at most fifty."""
    column = role_of(["b", "a ", " a", "c", "b", None], "group")
    assert (column.role, column.levels, column.n_missing) == ("category", (("a", 2), ("b", 2), ("c", 1)), 1)
    codes = role_of([3, 1, 1, 2, 2, 2], "class")
    assert codes.levels == (("2", 3), ("1", 2), ("3", 1))
    many = role_of([f"level {i % 70}" for i in range(2000)])
    assert (many.role, len(many.levels)) == ("category", 50)


def test_kinds_say_how_cells_are_stored():
    """Text that spells numbers is number or integer; other kinds are those of Arrow."""
    table = {
        "spelled": pa.array(["1.5", "x", "2", "3", "4"]),
        "whole": pa.array(["$1", "$2", "$3", "$5", "$4"]),
        "date": pa.array(["2001-06-01", "2001-06-02"] * 2 + [None]),
        "flag": pa.array([True, False, None, True, True]),
        "deep": pa.array([{"a": 1}] * 5),
        "none": pa.nulls(5),
        "time": pa.array([1, 2, 5, 9, 11], pa.timestamp("s")),
    }
    kinds = {column.name: column.kind for column in table_roles(table).columns}
    assert kinds == {
        "spelled": "number",
        "whole": "integer",
        "date": "text",
        "flag": "boolean",
        "deep": "nested",
        "none": "empty",
        "time": "date",
    }


def test_the_index_of_a_frame_names_rows_and_is_no_variable():
    """An index of text is a name, one of numbers an identifier, and dates stay dates."""
    table = {
        "who": pa.array(["ann", "bob", "cy"]),
        "__index_level_0__": pa.array([4.5, 7.5, 9.5]),
        "n": pa.array([5, 7, 6]),
        "v": pa.array([1.5, 2.5, 9.5]),
    }
    assert roles_of(table, index=["who", "__index_level_0__", "n"]) == {
        "who": "name",
        "__index_level_0__": "id",
        "n": "id",
        "v": "quantity",
    }


def test_roles_that_are_given_hold():
    """A role that is given overrides the rules, with the reason that it was asked for."""
    table = {
        "zip": pa.array(["01234", "90210", "01234", "90210"]),
        "cyl": pa.array([4, 6, 4, 8]),
        "rate": pa.array([1.5, 2.5, 1.5, np.nan]),
        "year": pa.array([1990, 1991, 1993, 1994]),
        "who": pa.array(["a", "b", "c", "d"]),
    }
    asked = {"zip": "quantity", "cyl": "category", "rate": "category", "year": "quantity", "who": "category"}
    found = {column.name: column for column in table_roles(table, roles=asked).columns}
    assert {name: column.role for name, column in found.items()} == asked
    assert {column.reason for column in found.values()} == {"as asked"}
    assert found["zip"].numbers(table["zip"]).tolist() == [1234, 90210, 1234, 90210]
    assert found["cyl"].levels == (("4", 2), ("6", 1), ("8", 1))
    assert (found["rate"].levels, found["rate"].n_missing) == ((("1.5", 2), ("2.5", 1)), 1)


@pytest.mark.parametrize("role", ROLES)
def test_every_role_can_be_asked_for_where_it_fits(role):
    """Each role is taken for a column that has it already."""
    cells = {
        "quantity": [1.5, 2.5, 3.5],
        "category": ["a", "b", "a"],
        "id": pa.array([2**60, 2**60 + 1, 2**60 + 2]),
        "name": ["a", "b", "c"],
        "date": ["2001-06-01", "2001-06-02", "2001-06-03"],
        "constant": [1, 1, 1],
        "text": [[1], [2], [3]],
        "empty": [None, None, None],
    }
    assert role_of(cells[role], roles={"x": role}).role == role_of(cells[role]).role == role


@pytest.mark.parametrize(
    "roles, error, words",
    [
        (
            {"speces": "category"},
            ParameterError,
            r"names 'speces', which is no column of the table\. Did you mean 'spec",
        ),
        (
            {"v": "number"},
            ParameterError,
            r"asks for column 'v' as 'number', which is no role\. Roles are quantity, cat",
        ),
        ({"v": "categorie"}, ParameterError, r"Did you mean 'category'\?"),
        ({"species": "quantity"}, InputError, r"it holds text: row 2 \('oak'\) is the first cell that is no number"),
        (
            {"born": "quantity"},
            InputError,
            r"it holds dates: row 1 \('2001-06-01'\) is the first cell that is no number",
        ),
        ({"seen": "quantity"}, InputError, r"it holds dates\. Turn them into numbers first"),
        ({"v": "constant"}, InputError, "it is not constant"),
        ({"none": "quantity"}, InputError, r"it has no values\. Drop the column"),
        ({"deep": "category"}, InputError, "it holds nested values"),
        ({"species": "date"}, InputError, "Write dates as 2001-06-30"),
    ],
)
def test_roles_that_cannot_be_are_refused(roles, error, words):
    """A column that is not there, a word that is no role, and cells that cannot have it are refused with what to do."""
    table = {
        "species": pa.array(["12", "oak", "elm", "oak"]),
        "v": pa.array([1.5, 2.5, 3.5, 4.5]),
        "born": pa.array(["2001-06-01", "2001-06-02", "2001-06-04", "2001-06-05"]),
        "seen": pa.array([1, 2, 5, 7], pa.timestamp("s")),
        "none": pa.nulls(4),
        "deep": pa.array([[1]] * 4),
    }
    with pytest.raises(error, match=words):
        table_roles(table, roles=roles)


def test_equal_columns_and_exact_sums_are_said():
    """Equal, proportional and complementary columns and sums of two are said; nothing is said of others."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 80)).round(2)
    hours = rng.integers(0, 25, 80)
    table = {"a": a, "b": b, "c": c, "copy": a, "inch": b / 2.54, "sum": a + c, "day": hours, "night": 24 - hours}
    said = table_roles({name: pa.array(values) for name, values in table.items()}).remarks
    assert set(said) == {
        "Columns 'a' and 'copy' are equal: what they say counts twice.",
        "Column 'inch' is 0.393701 times 'b' in every row: they say the same.",
        "Column 'sum' is the sum of 'a' and 'c' in every row.",
        "Columns 'day' and 'night' add up to 24 in every row: they say the same.",
    }


def test_equal_categories_are_said():
    """Two categories with the same cells are said to be equal, and two with the same counts alone are not."""
    rng = np.random.default_rng(0)
    a = rng.permutation(["x", "y", "z"] * 20)
    table = {
        "a": pa.array([*a.tolist(), None]),
        "b": pa.array([*(f" {cell}" for cell in a), None]).dictionary_encode(),
        "c": pa.array([*rng.permutation(a).tolist(), None]),
    }
    found = table_roles(table)
    assert {column.role for column in found.columns} == {"category"}
    assert found.remarks == ("Columns 'a' and 'b' are equal: one of them says it all.",)


@pytest.mark.parametrize("low, high, is_missing", [(1, 5, True), (0, 1, True), (-8, 5, False), (0, 30, False)])
def test_minus_nine_among_answers_is_none(low, high, is_missing):
    """-9 among answers from 1 to 5 is a missing one; among numbers that are negative too, or many, it is an amount."""
    values = np.random.default_rng(0).integers(low, high + 1, 300)
    values[:20] = -9
    (column,) = table_roles({"item": pa.array(values)}).columns
    assert column.n_missing == (20 if is_missing else 0)


@pytest.mark.parametrize("count, said", [(3, "3 cells of 'lead' lie"), (40, "more than one in ten lies")])
def test_censored_cells_are_said_to_be(count, said):
    """Cells such as '<0.5' are no nonsense: they lie beyond a limit of what was measured."""
    cells = [f"{value:.2f}" for value in np.random.default_rng(0).uniform(0.5, 9, 100)]
    cells[:count] = ["<0.5"] * count
    (column,) = table_roles({"lead": pa.array(cells)}).columns
    assert f"{said} beyond a limit of what was measured" in " ".join([*column.remarks, column.reason])


def test_sums_that_share_columns_are_all_said():
    """A total, and a difference of two of its parts, are both said whichever of the columns is widest."""
    a, other, c = np.random.default_rng(5).exponential(size=(3, 200))
    for b in (0.3 * other, other, 3 * other):
        table = {"a": a, "b": b, "c": c, "tot": a + b + c, "diff": a - b}
        assert set(table_roles({k: pa.array(v) for k, v in table.items()}).remarks) == {
            "Column 'a' is the sum of 'b' and 'diff' in every row.",
            "Column 'tot' is the sum of 'a', 'b' and 'c' in every row.",
        }


def test_sums_are_found_among_missing_values():
    """A sum holds in all rows where its columns have values, and one row that differs ends it."""
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 200))
    total = a + b
    for x in (a, b, c):
        x[rng.integers(0, 200, 20)] = np.nan
    table = {"a": a, "b": b, "c": c, "total": total}
    assert table_roles({k: pa.array(v) for k, v in table.items()}).remarks == (
        "Column 'total' is the sum of 'a' and 'b' in every row.",
    )
    table["total"] = np.where(np.arange(200) == 7, 99.5, total)
    assert table_roles({k: pa.array(v) for k, v in table.items()}).remarks == ()


def test_parts_of_a_whole_are_said():
    """Columns that all add up to 100, and one that is the sum of all others, are said."""
    rng = np.random.default_rng(0)
    parts = 100 * rng.dirichlet(np.ones(5), size=60)
    table = {f"part {j}": pa.array(parts[:, j]) for j in range(5)}
    assert table_roles(table).remarks == ("All 5 columns of numbers add up to 100 in every row.",)
    counts = rng.poisson(20, size=(60, 5))
    table = {f"part {j}": pa.array(counts[:, j]) for j in range(5)} | {"all": pa.array(counts.sum(axis=1))}
    assert table_roles(table).remarks == ("Column 'all' is the sum of the 5 other columns of numbers in every row.",)


def test_longer_sums_are_found_among_other_columns():
    """Sums of three and more, totals of totals and parts of a constant are said; one row that differs ends a sum."""
    rng = np.random.default_rng(0)
    a, b, c, d, e, other = rng.poisson(rng.gamma(4, 50, size=90), size=(6, 90)) * [[1], [20], [3], [40], [0.1], [7]]
    table = {"a": a, "b": b, "c": c, "d": d, "e": e, "other": other}
    table |= {"total": a + b + c, "grand": a + b + c + d + e, "rest": 100 - a - e}
    said = {
        "Column 'grand' is the sum of 'a', 'b', 'c', 'd' and 'e' in every row.",
        "Column 'total' is the sum of 'a', 'b' and 'c' in every row.",
        "Columns 'a', 'e' and 'rest' add up to 100 in every row.",
    }
    assert said <= set(table_roles({name: pa.array(x) for name, x in table.items()}).remarks)
    table["total"] = np.where(np.arange(90) == 44, 0.5, a + b + c)
    remarks = table_roles({name: pa.array(x) for name, x in table.items()}).remarks
    assert set(remarks) >= said - {"Column 'total' is the sum of 'a', 'b' and 'c' in every row."}
    assert not any("'total'" in remark for remark in remarks)


def test_few_rows_make_no_relation_by_chance():
    """Among 200 columns of small integers in 20 rows nothing is called a sum, an equal, or a block."""
    x = np.random.default_rng(0).integers(0, 2, size=(20, 200))
    found = table_roles({f"f{j}": pa.array(x[:, j]) for j in range(200)})
    assert found.remarks == ()
    assert {column.role for column in found.columns} <= {"quantity", "constant"}


def test_blocks_of_dummies_are_one_category():
    """Two blocks of dummy columns with and without common beginnings are found, and a dropped level makes none."""
    rng = np.random.default_rng(0)
    color, tree = rng.integers(0, 3, 90), rng.integers(0, 4, 90)
    table = {f"color_{c}": pa.array((color == i).astype(int)) for i, c in enumerate("rgb")}
    table |= {c: pa.array(tree == i) for i, c in enumerate(("oak", "elm", "ash", "fir"))}
    found = table_roles(table)
    assert {column.role for column in found.columns} == {"category"}
    spelled_out = "are one category spelled out: every row has a one in exactly one of them."
    assert found.remarks == (
        f"Columns 'ash', 'elm', 'fir', 'oak' {spelled_out}",
        f"Columns 'color_b', 'color_g', 'color_r' {spelled_out}",
    )
    del table["color_r"], table["oak"]
    found = table_roles(table)
    assert {column.role for column in found.columns} == {"quantity"}
    assert found.remarks == ()


def test_a_block_of_dummies_colors_the_rows(tmp_path):
    """A category that is spelled out as zeros and ones is a label as a column of words is, unless a part is dropped."""
    rng = np.random.default_rng(0)
    color = rng.permutation(["red", "green", "blue"] * 10)
    table = pa.table(
        {f"color_{name}": (color == name).astype(int) for name in ("red", "green", "blue")}
        | {"x": rng.normal(size=30), "y": rng.normal(size=30)}
    )
    csv.write_csv(table, tmp_path / "t.csv")
    rows = as_source(tmp_path / "t.csv")
    assert (rows.label_names, rows.column_names) == (("color",), ("x", "y"))
    assert rows.labels().tolist() == color.tolist()
    assert as_source(tmp_path / "t.csv", label="color").labels("color").tolist() == color.tolist()
    for words in ({"drop": "color_red"}, {"label": False}, {"columns": ["x", "color_red"]}):
        assert as_source(tmp_path / "t.csv", **words).label_names == ()
    frame = open_table(table, ReadOptions())
    assert frame.labels["color"].tolist() == color.tolist()


def test_dates_in_doubt_are_said():
    """Where both orders of day and month fit, month first is taken and said; one cell that decides ends the doubt."""
    cells = [f"{i % 12 + 1}/{i % 11 + 1}/2001" for i in range(40)]
    assert "month first is taken" in role_of(cells, "when").remarks[0]
    column = role_of([*cells, "31/12/2001"], "when")
    assert (column.reason, column.remarks) == ("it holds dates, day first", ())


def test_text_of_any_arrow_type_is_read():
    """Large strings, views, and bytes in Latin-1 are text like any other."""
    for kind in (pa.large_string(), pa.string_view(), pa.binary()):
        assert role_of(pa.array(["1,5 kg", "2 kg", "3 kg"]).cast(kind)).high == 3
    latin = pa.array(["Zürich".encode("latin-1"), "Genève".encode("latin-1"), "Zürich".encode("latin-1")], pa.binary())
    assert role_of(latin).levels == (("Zürich", 2), ("Genève", 1))


@pytest.mark.parametrize(
    "cells, kind, role",
    [
        (pa.array([Decimal("1.50"), None, Decimal(2)], pa.decimal256(40, 2)), "number", "quantity"),
        (pa.array([Decimal(10**25), Decimal(10**25 + 7), None], pa.decimal128(38, 0)), "number", "id"),
        (pa.array([2**63 + 1, 2**63 + 5, 7], pa.uint64()), "integer", "id"),
        (pa.array(np.array([1.5, 2.5, 3.5], np.float16)), "number", "quantity"),
        (pa.array([dt.time(1, 2), None, dt.time(3, 4)]), "date", "date"),
        (pa.array([dt.timedelta(1), None, dt.timedelta(2)]), "date", "date"),
        (pa.array([[("a", 1)], None, []], pa.map_(pa.string(), pa.int64())), "nested", "text"),
        (pa.array([b"ab", None, b"cd"], pa.binary(2)), "text", "name"),
        (pa.array([1.5, None, 2.5]).dictionary_encode(), "number", "category"),
        (pa.array([dt.date(2001, 1, 1), None, dt.date(2001, 1, 2)]).dictionary_encode(), "date", "date"),
        (pa.array([None, None, None], pa.string()).dictionary_encode(), "empty", "empty"),
        (pa.array([0.0, -0.0, None]), "number", "constant"),
        (pa.array([1e308, -1e308, 5.0]), "number", "quantity"),
        (pa.array([True, None, True]), "boolean", "constant"),
    ],
)
def test_every_arrow_type_has_a_role(cells, kind, role):
    """Columns of every Arrow type have a kind and a role, and each role that is asked for is taken or refused."""
    column = role_of(cells)
    assert (column.kind, column.role) == (kind, role)
    for asked in ROLES:
        try:
            outcome = role_of(cells, roles={"x": asked}).role
        except InputError as error:
            outcome = str(error)
        assert outcome == asked or outcome.startswith(f"roles asks for column 'x' as {asked!r}, but")


def test_single_precision_sums_are_found():
    """Sums of columns in single precision are exact to their rounding."""
    a, b, c = np.random.default_rng(0).normal(size=(3, 300)).astype(np.float32)
    found = table_roles({"a": pa.array(a), "b": pa.array(b), "c": pa.array(c), "sum": pa.array(a + b)})
    assert found.remarks == ("Column 'sum' is the sum of 'a' and 'b' in every row.",)


@pytest.mark.parametrize("seed", range(3))
def test_long_columns_have_the_same_roles_in_any_order(seed):
    """Columns with more different cells than are sampled have the same roles, sorted and shuffled."""
    rng = np.random.default_rng(seed)
    n = 12_000
    table = {
        "price": [f"${v:,.2f}" if i % 13 else "sold" for i, v in enumerate(rng.lognormal(7, 2, n))],
        "who": [f"Oak {i} elm" for i in range(n)],
        "said": [f"{i}: oak elm ash fir yew box bay" for i in range(n)],
        "seen": [f"{1900 + i // 365}-{i % 12 + 1:02d}-{i % 28 + 1:02d} 12:00:{i % 60:02d}" for i in range(n)],
        "code": [f"{i:07d}" for i in range(n)],
        "mixed": [f"{i}.5" if i % 3 else f"<{i}" for i in range(n)],
        "odd": ["0"] * (n // 2) + [f"word {i}" for i in range(n - n // 2)],
    }
    truth = {
        "price": "quantity",
        "who": "name",
        "said": "text",
        "seen": "date",
        "code": "id",
        "mixed": "text",
        "odd": "text",
    }
    columns = {name: pa.chunked_array([pa.array(cells)]) for name, cells in table.items()}
    ordered = {name: pa.chunked_array([column.combine_chunks().sort()]) for name, column in columns.items()}
    for order in (columns, ordered, shuffled(columns, seed)):
        assert roles_of(order) == truth


def test_small_tables_have_roles_too():
    """Tables without rows, with one, and with two have a role for each column."""
    for n in range(3):
        table = {"a": pa.array(np.arange(n) + 0.5), "b": pa.array(names(N)[:n], pa.string())}
        assert all(isinstance(column, Column) and column.role in ROLES for column in table_roles(table).columns)
