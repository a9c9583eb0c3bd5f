"""Filling a table: values and errors against planted truth, long tables against wide ones, and what is written."""

import csv
import json
import re
import tracemalloc
from dataclasses import replace
from itertools import pairwise

import numpy as np
import openpyxl
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse as sp
from pyarrow import parquet

import gramian
import gramian.analysis.filling
import gramian.models.probabilistic.fit
from gramian.analysis.filled_files import FilledColumn
from gramian.analysis.filling import Check, FillRequest, fill, fill_known, fill_plan
from gramian.analysis.table import ReadOptions
from gramian.errors import InputError, MemoryBudgetError, ParameterError

NAMES = ("a", "b", "c", "d", "e", "f")


def planted(n=200, d=6, k=2, noise=0.3, missing=0.15, seed=0):
    """Return a table of rank k plus noise, and the same with NaN."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + noise * rng.standard_normal((n, d)) + 5
    Y = X.copy()
    gone = rng.random((n, d)) < missing
    gone[np.arange(n), np.arange(n) % d] = False  # something is known of each row
    Y[gone] = np.nan
    return X.round(2), Y.round(2)


def write_text(path, Y, *, delimiter=",", decimal=".", word=""):
    """Write a table with a column of names, one of text that needs quotes, and one of true and false."""

    def cell(value):
        return word if np.isnan(value) else f"{value:.2f}".replace(".", decimal)

    with path.open("w", newline="") as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(["who", "said", *NAMES, "yes"])
        for i, row in enumerate(Y):
            said = ("NA", '=1, "and" more', "plain\nlines")[i % 3]
            writer.writerow([f"n{i:03}", said, *map(cell, row), ("true", "")[i % 2]])
    return path


def read_text(path, delimiter=","):
    """Return the lines of a text table."""
    with path.open(newline="") as file:
        return list(csv.reader(file, delimiter=delimiter))


def long_text(path, Y):
    """Write the known entries of a table as triplets."""
    lines = [f"user {i:03},film {j},{value}" for (i, j), value in np.ndenumerate(Y) if not np.isnan(value)]
    path.write_text("user,film,stars\n" + "\n".join(lines) + "\n")
    return path


def test_filled_values_are_as_far_off_as_their_errors_say():
    """Of a planted table 95% of the true values lie in the intervals, and means are beaten by far."""
    X, Y = planted(600)
    found = fill(Y)
    missing = np.isnan(Y)
    away = (found.filled - X)[missing]
    assert 0.92 < np.mean(np.abs(away) <= 1.96 * found.errors[missing]) < 0.98
    assert np.sqrt(np.mean(away**2)) < 0.6 * np.nanstd(Y)
    assert found.model.n_components == 2
    np.testing.assert_array_equal(found.filled[~missing], Y[~missing])
    np.testing.assert_array_equal(found.errors[~missing], 0.0)


@pytest.mark.parametrize("n, d, share", [(4, 6, 0.3), (8, 5, 0.2)])
def test_in_small_tables_intervals_hold_what_is_said_of_them(n, d, share):
    """Over 40 tables drawn from the model two errors hold as many true values as the page tells, within 6 of 100."""
    inside, known = [], []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((n, 1)) @ rng.standard_normal((1, d)) + 0.5 * rng.standard_normal((n, d))
        Y = np.where(missing := rng.random((n, d)) < share, np.nan, X)
        filled, errors = gramian.ProbabilisticPCA().fit(Y).impute(Y, return_std=True)
        inside.append((np.abs(filled - X) <= 2 * errors)[missing])
        known.append(n * d - missing.sum())
    told = next(covered for most, covered in gramian.analysis.filling.COVERED if np.mean(known) < most)
    assert 100 * np.mean(np.concatenate(inside)) == pytest.approx(told, abs=6)


def test_the_check_foretells_the_error_of_what_is_filled():
    """Held-out entries are as far off as missing ones are, and means worse."""
    X, Y = planted(2400)
    found = fill(Y)
    true = np.sqrt(np.mean((found.filled - X)[np.isnan(Y)] ** 2))
    assert found.check.rmse == pytest.approx(true, rel=0.2)
    assert found.check.rmse_of_means > 2 * found.check.rmse
    assert 0.9 < found.check.coverage() <= 1.0
    assert all(found.check.coverage(low) <= found.check.coverage(high) for low, high in pairwise((0.5, 0.8, 0.95)))


def test_what_is_reported_never_chose_anything(monkeypatch):
    """The number of components of the check is chosen without the entries that it reports, and these are new ones."""
    chose, reported = [], []
    for module, calls in ((gramian.models.probabilistic.fit, chose), (gramian.analysis.filling, reported)):

        def recorded(X, *, own=module.hold_out, calls=calls, **options):
            held = own(X, **options)
            calls.append((X, held))
            return held

        monkeypatch.setattr(module, "hold_out", recorded)
    found = fill(planted(600)[1])
    assert (len(chose), len(reported)) == (2, 1)
    (_, first), (seen, _), (_, tested) = *chose, *reported
    cells = [set(zip(held.rows.tolist(), held.columns.tolist(), strict=True)) for held in (first, tested)]
    assert len(cells[0] & cells[1]) < 0.2 * len(cells[1])
    assert np.isnan(seen[tested.rows, tested.columns]).all()
    assert len(found.check.actual) == len(tested.values)


def test_means_are_better_only_beyond_chance():
    """A difference of a thousandth is chance, as is one entry; a clear one is said; means are as good as themselves."""
    _, Y = planted(300)
    found, rng = fill(Y), np.random.default_rng(0)
    actual = rng.standard_normal(200)
    chance = 0.05 * rng.choice([-1.0, 1.0], 200)
    chance *= np.sign(np.sum(actual * -chance))
    errors, zeros = np.ones(200), np.zeros(200)
    check = replace(found.check, actual=actual, predicted=zeros, errors=errors, means=zeros, draws=1)
    known = replace(check, rows=np.arange(200), columns=zeros)
    for predicted, is_said in ((chance, False), (zeros, False), (rng.standard_normal(200), True)):
        check = replace(known, predicted=predicted)
        assert ("means do better" in str(replace(found, check=check).findings[1])) is is_said
    one = replace(known, actual=actual[:1], predicted=actual[:1] + 9.0, means=zeros[:1])
    assert not one.means_are_better
    assert replace(known, predicted=chance).rmse > np.sqrt(np.mean(actual**2))
    none = fill(rng.standard_normal((100, 5)) * np.where(rng.random((100, 5)) < 0.1, np.nan, 1.0))
    assert none.model.n_components == 0
    check = replace(none.check, predicted=none.check.actual + 9.0)
    assert "means do better" not in str(replace(none, check=check).findings[1])


def test_entries_count_once_and_draws_of_others_count_in_full():
    """Of 200 different entries in ten draws 85% in their intervals are too few; of 20 that come ten times they may."""
    inside, many = np.resize([0.0] * 17 + [9.0] * 3, 200), np.arange(200)
    found = fill(planted(60)[1])
    for rows, is_said in ((many, True), (many % 20, False)):
        check = Check(inside, 0.0 * inside, 0.0 * inside + 1.0, rows, 0 * rows, 0.1 * inside, draws=10)
        assert check.n_entries == len(set(rows))
        assert ("the errors are too small here" in str(replace(found, check=check).findings[1])) is is_said
    lost = np.resize([2.0, 2.0, -1.0], 18)
    lost, means = np.sqrt(lost + 1.0), np.ones(18)
    of = {"actual": np.zeros(18), "errors": means, "columns": np.zeros(18), "means": means, "draws": 3}
    for rows, is_so in ((np.arange(18), True), (np.arange(18) % 3, False)):
        assert Check(predicted=lost, rows=rows, **of).means_are_better is is_so


def test_a_small_table_is_held_out_again_and_again():
    """The lectures' seventeen entries are held out in ten draws, and each question mark has an error above zero."""
    nan = np.nan
    Y = np.array([[5, nan, nan, 1, 3, nan], [nan, nan, 3, 1, 2, 5], [4, 3, 1, nan, 5, 1], [4, 3, nan, 2, 4, 2]])
    found = fill(Y, FillRequest(bounds=(1, 5)))
    assert (found.known.n_known, found.known.n_missing, found.check.draws) == (17, 7, 10)
    assert (found.errors[np.isnan(Y)] > 0.1).all()
    assert found.filled.min() >= 1
    assert found.filled.max() <= 5
    assert len(found.filled_cells(24)) == 7


def test_the_same_numbers_as_the_estimator():
    """The command line and Python fill with one model."""
    _, Y = planted()
    found = fill(Y, FillRequest(n_components=2))
    values, errors = gramian.ProbabilisticPCA(2).fit(Y).impute(Y, return_std=True)
    np.testing.assert_allclose(found.filled, values, rtol=1e-12)
    np.testing.assert_allclose(found.errors, errors, rtol=1e-12)


@pytest.mark.parametrize(
    "name, style",
    [
        ("t.csv", {}),
        ("t.tsv", {"delimiter": "\t"}),
        ("t.csv", {"delimiter": ";", "decimal": ",", "word": "NA"}),
        ("t.csv", {"word": "?"}),
    ],
)
def test_a_text_table_is_written_back_as_it_was(tmp_path, name, style):
    """Every cell but those that are filled is the text that it was, and read again nothing is missing."""
    _, Y = planted(40)
    path = write_text(tmp_path / name, Y, **style)
    found = fill(path, FillRequest(n_components=2))
    files = {file.stem: file for file in found.save(tmp_path / "out")}
    delimiter, decimal = style.get("delimiter", ","), style.get("decimal", ".")
    before, after, errors = (read_text(file, delimiter) for file in (path, files["filled"], files["errors"]))
    assert files["filled"].suffix == path.suffix
    assert before[0] == after[0] == errors[0]
    for i, row in enumerate(before[1:]):
        for j, cell in enumerate(row):
            filled = 2 <= j < 8 and np.isnan(Y[i, j - 2])
            if not filled:
                assert after[i + 1][j] == cell
                assert errors[i + 1][j] == (cell if j not in range(2, 8) else "")
                continue
            value, error = (float(table[i + 1][j].replace(decimal, ".")) for table in (after, errors))
            # Two decimals, as the others have, are worth a tenth of its error.
            assert re.fullmatch(r"-?\d+[.,]\d\d", after[i + 1][j])
            assert abs(value - found.filled[i, j - 2]) <= 0.05 * found.errors[i, j - 2]
            assert error == pytest.approx(found.errors[i, j - 2], rel=0.01)
    assert fill(files["filled"], FillRequest(n_components=2)).known.n_missing == 0


def test_units_of_numbers_are_written_again(tmp_path):
    """A column in percent stays one."""
    _, Y = planted(40)
    text = "\n".join(",".join("" if np.isnan(v) else f"{v} %" for v in row) for row in Y)
    (tmp_path / "t.csv").write_text(",".join(NAMES) + "\n" + text + "\n")
    found = fill(tmp_path / "t.csv", FillRequest(n_components=2))
    files = {file.stem: file for file in found.save(tmp_path / "out")}
    assert all(cell.endswith("%") for row in read_text(files["filled"])[1:] for cell in row)


def test_numbers_are_filled_as_their_column_writes_them(tmp_path):
    """Money, blanks, signs between thousands, the header and its repeated names are written as they were read."""
    X = np.abs(planted(40, missing=0.0)[0]) * 1000
    gone = np.random.default_rng(1).random((40, 3)) < 0.15
    styles = (lambda x: f"${x:,.0f}", lambda x: f"{x / 1000:.2f} kg", lambda x: f"{x:.1f}")
    path = tmp_path / "t.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["x", "x", "y"])
        for row, lost in zip(X, gone, strict=True):
            writer.writerow(["" if no else style(x) for style, x, no in zip(styles, row, lost, strict=False)])
    found = fill(path, FillRequest(n_components=1))
    files = {file.stem: file for file in found.save(tmp_path / "out")}
    (head, *cells), (_, *before) = read_text(files["filled"]), read_text(path)
    assert head == ["x", "x", "y"]
    kinds = (r"\$\d{1,3}(,\d{3})+(\.\d+)?", r"\d+(\.\d+)? kg", r"\d+(\.\d+)?")
    for after, row in zip(cells, before, strict=True):
        assert all(re.fullmatch(kind, cell) for kind, cell in zip(kinds, after, strict=True))
        assert all(old in ("", new) for old, new in zip(row, after, strict=True))


@pytest.mark.parametrize(
    "above, below",
    [
        ("${:,.0f}", "-${:,.0f}"),
        ("${:,.0f}", "(${:,.0f})"),
        ("${:,.0f}", "$-{:,.0f}"),
        ("{:,.0f} €", "\u2212{:,.0f} €"),
        ("Rs.{:,.0f}", "-Rs.{:,.0f}"),
        ("{:.0f} m2", "-{:.0f} m2"),
        ("{:.0f}", "{:.0f}-"),
        ("+{:.0f} kg", "-{:.0f} kg"),
        ("+{:.2f}%", "-{:.2f}%"),
        ("{:,.2f} €", "-{:,.2f} €"),
    ],
)
def test_numbers_below_zero_are_filled_as_their_column_writes_them(tmp_path, above, below):
    """A sign, the money and parentheses stand where they do in the others, also where all are below zero."""
    t = np.linspace(-5000.0, 5000.0, 60)
    columns = (t, 2.0 * t, -2.0 * np.abs(t) - 100.0)

    def written(value):
        return (below if value < 0 else above).format(abs(value))

    lines = [[written(x) for x in row] for row in zip(*columns, strict=True)]
    for i in (3, 20, 41, 55):
        lines[i][1] = lines[i + 1][2] = ""
    with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["a", "b", "c"], *lines])
    files = {file.stem: file for file in fill(tmp_path / "t.csv", FillRequest(2)).save(tmp_path / "out")}
    _, *cells = read_text(files["filled"])
    kinds = [re.sub(r"\\{.*?\\}", r"[\\d,.]+", re.escape(style)) for style in (above, below)]
    for i in (3, 20, 41, 55):
        assert re.fullmatch(kinds[int(t[i] < 0)], cells[i][1])
        assert re.fullmatch(kinds[1], cells[i + 1][2])


@pytest.mark.parametrize(
    "written, below",
    [("+{:.2f}%", r"-\d\.\d\d%"), ("€ +{:.2f}", r"€ -\d\.\d\d"), ("{:.2f}", r"-\d\.\d\d")],
)
def test_a_value_below_zero_has_one_sign_where_all_others_are_above(tmp_path, written, below):
    """What no cell shows is what takes the place of their plus."""
    rng = np.random.default_rng(0)
    t = np.linspace(0.05, 6.0, 60)
    lines = [
        [f"{x - 3:.2f}", written.format(y)] for x, y in zip(t, t + 0.3 * np.abs(rng.standard_normal(60)), strict=True)
    ]
    found = fill(table_of(tmp_path, ["a", "b"], lines), FillRequest(1))
    gone = np.array([[False, i == 3] for i in range(60)])
    low = replace(found, known=replace(found.known, X=np.where(gone, np.nan, found.filled)))
    low = replace(low, filled=np.where(gone, -0.9242, found.filled), errors=np.where(gone, 0.31, 0.0))
    files = {file.stem: file for file in low.save(tmp_path / "out")}
    assert re.fullmatch(below, read_text(files["filled"])[4][1])


def table_of(folder, header, lines):
    """Write a table of text."""
    with (folder / "t.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *lines])
    return folder / "t.csv"


@pytest.mark.parametrize(
    "written, like",
    [
        ("{} €", r"-?\d{1,3}(\.\d{3})*,\d\d €"),
        ("{}", r"-?\d{1,3}(\.\d{3})*,\d\d"),
    ],
)
def test_a_filled_value_has_the_decimals_of_its_column(tmp_path, written, like):
    """3.006,40 € and not 3.006,4 €; where the decimals are too few for the error, as many as that is worth."""
    rng = np.random.default_rng(0)
    t = 3000.0 * rng.standard_normal(80)
    prices = [
        written.format(f"{x:,.2f}".translate(str.maketrans(",.", ".,"))) for x in t + 90 * rng.standard_normal(80)
    ]
    lines = [
        [f"{x:.2f}".replace(".", ","), "" if i % 9 == 4 else p] for i, (x, p) in enumerate(zip(t, prices, strict=True))
    ]
    found = fill(table_of(tmp_path, ["a", "price"], lines), FillRequest(1))
    files = {file.stem: file for file in found.save(tmp_path / "out")}
    assert all(re.fullmatch(like, row[1]) for row in read_text(files["filled"])[1:])
    fine = replace(found, errors=found.errors * 1e-4)
    files = {file.stem: file for file in fine.save(tmp_path / "out")}
    assert not all(re.fullmatch(like, row[1]) for row in read_text(files["filled"])[1:])


@pytest.mark.parametrize("delimiter, name", [(";", "predictions.csv"), ("\t", "predictions.tsv")])
def test_pairs_are_written_as_their_table_is(tmp_path, delimiter, name):
    """Delimiter and decimal sign of the predictions are those of the long table."""
    _, Y = planted(30, missing=0.5)
    text = long_text(tmp_path / "long.csv", Y).read_text().replace(",", delimiter).replace(".", ",")
    (tmp_path / "long.csv").write_text(text)
    files = {file.name: file for file in fill(tmp_path / "long.csv").save(tmp_path / "out")}
    head, *pairs = read_text(files[name], delimiter)
    assert head == ["user", "film", "stars", "stars error"]
    assert all(re.fullmatch(r"-?\d+(,\d+)?", cell) for pair in pairs for cell in pair[2:])
    assert any("," in pair[2] for pair in pairs)


def test_parquet_keeps_its_types(tmp_path):
    """Text, dates and floats keep their types; integers do where nothing was filled, and become floats where it was."""
    _, Y = planted(60)
    missing = np.isnan(Y)
    whole = [None if gone else int(10 * value) for gone, value in zip(missing[:, 1], Y[:, 1], strict=True)]
    table = pa.table(
        {
            "who": [f"n{i}" for i in range(60)],
            "narrow": pa.array(Y[:, 0], pa.float32(), from_pandas=True),
            "whole": pa.array(whole, pa.int32()),
            "full": pa.array(range(100, 160), pa.int16()),
            "wide": pa.array(Y[:, 2], pa.float64(), from_pandas=True),
            "seen": pa.array(range(60), pa.date32()),
            "yes": pa.array([bool(i % 3) if i % 5 else None for i in range(60)]),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    options = ReadOptions(roles={"full": "quantity"})
    found = fill(tmp_path / "t.parquet", FillRequest(n_components=1), options)
    files = {file.stem: file for file in found.save(tmp_path / "out")}
    filled, errors = (parquet.read_table(files[name]) for name in ("filled", "errors"))
    assert filled.column_names == table.column_names
    kinds = {name: str(filled[name].type) for name in table.column_names}
    assert kinds == {str(name): str(table[name].type) for name in table.column_names} | {"whole": "double"}
    assert filled["yes"].equals(table["yes"])
    assert filled["whole"].null_count == filled["narrow"].null_count == 0
    assert errors["wide"].null_count == 60 - missing[:, 2].sum()


@pytest.mark.parametrize("kind", ["xlsx", "json"])
def test_workbooks_and_json_are_written_as_csv(tmp_path, kind):
    """Text stays, and missing numbers are filled."""
    _, Y = planted(30)
    rows = [
        {"who": f"n{i}"} | {n: None if np.isnan(v) else v for n, v in zip(NAMES, row, strict=True)}
        for i, row in enumerate(Y)
    ]
    path = tmp_path / f"t.{kind}"
    if kind == "json":
        path.write_text(json.dumps(rows))
    else:
        book = openpyxl.Workbook()
        for line in [list(rows[0]), *(list(row.values()) for row in rows)]:
            book.active.append(line)
        book.save(path)
    found = fill(path, FillRequest(n_components=2))
    files = {file.name: file for file in found.save(tmp_path / "out")}
    header, *lines = read_text(files["filled.csv"])
    assert header == ["who", *NAMES]
    assert [line[0] for line in lines] == [row["who"] for row in rows]
    np.testing.assert_allclose([[float(v) for v in line[1:]] for line in lines], found.filled, atol=0.01)


def test_frames_and_arrays_are_filled_too(tmp_path):
    """A table in memory and an array file give the numbers of the text."""
    _, Y = planted(60)
    np.save(tmp_path / "t.npy", Y)
    frame = pa.table({name: pa.array(Y[:, j], from_pandas=True) for j, name in enumerate(NAMES)})
    asked, options = FillRequest(n_components=2), ReadOptions(scale=False)
    wanted = fill(Y, asked, options)
    for X in (tmp_path / "t.npy", frame):
        np.testing.assert_allclose(fill(X, asked, options).filled, wanted.filled, rtol=1e-12)
    files = fill(tmp_path / "t.npy", asked).save(tmp_path / "out")
    np.testing.assert_array_equal(np.load(next(file for file in files if file.stem == "filled")), wanted.filled)


def test_a_long_table_is_the_wide_one(tmp_path):
    """Triplets, a sparse file and a table with gaps give one prediction for each missing pair."""
    _, Y = planted(60, missing=0.6)
    asked = FillRequest(n_components=2)
    wide = fill(Y, FillRequest(n_components=2, biases=True), ReadOptions(scale=False))
    long = fill(long_text(tmp_path / "t.csv", Y), asked)
    assert long.known.long.names == ("user", "film", "stars")
    pairs, *rest = long.known.long.all_missing(long.model)
    assert not rest
    values, errors = pairs.values, pairs.errors
    assert np.isnan(Y[pairs.i, pairs.j]).all()
    assert len(values) == np.isnan(Y).sum()
    np.testing.assert_allclose(values, wide.filled[pairs.i, pairs.j], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(errors, wide.errors[pairs.i, pairs.j], rtol=1e-2)
    i, j = np.nonzero(~np.isnan(Y))
    scipy.io.mmwrite(tmp_path / "t.mtx", sp.coo_array((Y[i, j], (i, j)), shape=Y.shape))
    sparse = fill(tmp_path / "t.mtx", asked)
    np.testing.assert_allclose(next(sparse.known.long.all_missing(sparse.model)).values, values, rtol=1e-10)


def test_a_stored_zero_is_a_known_zero(tmp_path):
    """Of a sparse file only what is not stored is missing."""
    rows, columns = np.divmod(np.arange(40), 4)
    values = np.where(np.arange(40) % 7 == 0, 0.0, np.arange(40) % 5 + 1.0)
    keep = np.arange(40) % 3 > 0
    sp.save_npz(tmp_path / "t.npz", sp.csr_array((values[keep], (rows[keep], columns[keep])), shape=(10, 4)))
    found = fill(tmp_path / "t.npz", FillRequest(n_components=1))
    assert found.known.n_known == keep.sum()
    pairs = next(found.known.long.all_missing(found.model))
    assert len(pairs.i) == (~keep).sum()


def test_a_long_table_is_never_made_dense(tmp_path):
    """A table of 30,000 x 30,000 pairs, 7 GB when dense, is filled by its 60,000 lines, and writes what is asked."""
    n = 30_000
    user, film = np.repeat(np.arange(n), 2), np.arange(2 * n) * 7 % n
    lines = "\n".join(f"{u},{f},{(u + f) % 5 + 1}" for u, f in zip(user.tolist(), film.tolist(), strict=True))
    (tmp_path / "t.csv").write_text(f"user_id,film_id,stars\n{lines}\n")
    (tmp_path / "pairs.csv").write_text("user_id,film_id\n0,3000\n5,55555\n")
    tracemalloc.start()
    found = fill(tmp_path / "t.csv", FillRequest(n_components=1, predict=str(tmp_path / "pairs.csv")))
    files = {file.name for file in found.save(tmp_path / "out")}
    assert found.known.pattern((80, 120)).shape == (80, 120)
    assert tracemalloc.get_traced_memory()[1] < 300e6
    tracemalloc.stop()
    assert found.known.X.shape == (n, n)
    assert files == {"model.gramian", "predictions.csv", "loadings.csv", "rows.csv"}
    unasked = replace(found.known, notes=())
    assert any("No pairs are written" in note for note in fill_known(unasked, FillRequest(n_components=1)).notes)


def test_pairs_of_new_users_and_items_are_predicted_with_larger_errors(tmp_path):
    """What is known of neither is what is expected of any."""
    _, Y = planted(60, missing=0.5)
    path = long_text(tmp_path / "t.csv", Y)
    (tmp_path / "pairs.csv").write_text("film,user,more\nfilm 1,user 001,x\nfilm 1,nobody,x\nnothing,nobody,x\n")
    found = fill(path, FillRequest(n_components=2, predict=str(tmp_path / "pairs.csv")))
    values, errors = found.pairs.values, found.pairs.errors
    assert errors[0] < errors[1] < errors[2]
    assert np.isfinite(values).all()
    assert sum("unknown" in note for note in found.notes) == 2
    files = {file.stem: file for file in found.save(tmp_path / "out")}
    header, *lines = read_text(files["predictions"])
    assert header == ["user", "film", "stars", "stars error"]
    assert [line[:2] for line in lines] == [["user 001", "film 1"], ["nobody", "film 1"], ["nobody", "nothing"]]


def test_pairs_given_twice_are_their_mean(tmp_path):
    """The stated rule: the mean, and it is said."""
    _, Y = planted(60, missing=0.5)
    path = long_text(tmp_path / "t.csv", Y)
    i, j = np.argwhere(~np.isnan(Y))[0]
    path.write_text(path.read_text() + f"user {i:03},film {j},{Y[i, j] + 2}\n")
    found = fill(path, FillRequest(n_components=1))
    assert found.known.X[i, j] == pytest.approx(Y[i, j] + 1)
    assert any("the mean is taken" in note for note in found.notes)


def test_lines_without_a_value_are_filled_in_place(tmp_path):
    """A long table that has lines to be filled is written back with them."""
    _, Y = planted(60, missing=0.5)
    path = long_text(tmp_path / "t.csv", Y)
    i, j = np.argwhere(np.isnan(Y))[0]
    path.write_text(path.read_text() + f"user {i:03},film {j},\n")
    found = fill(path, FillRequest(n_components=2))
    files = {file.stem: file for file in found.save(tmp_path / "out")}
    last = read_text(files["filled"])[-1]
    assert last[:2] == [f"user {i:03}", f"film {j}"]
    assert float(last[2]) == pytest.approx(found.lines.values[0], abs=0.01)
    assert read_text(files["errors"])[1][2] == ""


def test_a_table_of_groups_is_no_long_one(tmp_path):
    """Two categories whose pairs repeat in most lines leave the table as it is, and the flags are named."""
    rng = np.random.default_rng(0)
    lines = [f"g{i % 3},h{i % 4},{'' if i % 9 == 0 else round(rng.random(), 3)}" for i in range(90)]
    (tmp_path / "t.csv").write_text("site,brand,yield\n" + "\n".join(lines) + "\n")
    found = fill(tmp_path / "t.csv")
    assert found.known.long is None
    assert any("Not taken for a long table" in note for note in found.notes)
    named = fill(tmp_path / "t.csv", FillRequest(row="site", column="brand"))
    assert named.known.long.names == ("site", "brand", "yield")
    assert named.known.X.shape == (3, 4)


def test_the_pattern_counts_what_is_known():
    """Each part of the picture is the share that is known in it."""
    _, Y = planted(60, missing=0.4)
    known = fill(Y, FillRequest(n_components=1)).known
    np.testing.assert_array_equal(known.pattern((100, 100)), ~np.isnan(Y))
    halves = known.pattern((2, 3))
    assert halves[1, 0] == np.mean(~np.isnan(Y[30:, :2]))


def test_the_model_is_loaded_as_an_estimator(tmp_path):
    """``gramian.load`` gives one that fills new rows as the filling did."""
    _, Y = planted(60)
    path = write_text(tmp_path / "t.csv", Y)
    found = fill(path, FillRequest(n_components=2, bounds=(0, 9)))
    files = found.save(tmp_path / "out")
    model = gramian.load(files[0])
    assert model.feature_names_in_.tolist() == list(NAMES)
    frame = pa.table({name: pa.array(Y[:, j], from_pandas=True) for j, name in enumerate(NAMES)})
    np.testing.assert_allclose(model.impute(frame.to_pandas()), found.filled, rtol=1e-12)


def test_rounds_are_said_once_a_second_at_most(monkeypatch):
    """Stages are said at once, a round only where a second has passed, and one component is one."""
    clock, said = [0.0], []
    monkeypatch.setattr(gramian.analysis.filling, "monotonic", lambda: clock[0])
    fill(planted(60)[1], FillRequest(1), say=said.append)
    assert not any(sentence.startswith("round") for sentence in said)
    assert any("fitting 1 component to" in sentence for sentence in said)

    def listen(sentence):
        said.append(sentence)
        clock[0] += 2.0

    fill(planted(60)[1], FillRequest(1), say=listen)
    assert sum(sentence.startswith("round") for sentence in said) > 1


def test_findings_hold_their_numbers():
    """What a machine reads are the numbers of the sentences."""
    _, Y = planted(60)
    found = fill(Y)
    said = json.loads(json.dumps(found.as_json()))
    assert said["missing"] == np.isnan(Y).sum() == said["findings"][0]["numbers"]["missing"]
    assert said["held_out"]["coverage"] == found.check.coverage() == said["findings"][1]["numbers"]["coverage"]


@pytest.mark.parametrize("asked, said", [(1, "the one asked for is not"), (2, "of the 2 asked for, none is")])
def test_components_that_were_asked_for_and_are_not_there_are_said(asked, said):
    """Of noise nothing is taken, and the sentence and the JSON say so, and never that this was asked."""
    noise = np.random.default_rng(0).standard_normal((100, 5))
    found = fill(np.where(np.random.default_rng(1).random(noise.shape) < 0.1, np.nan, noise), FillRequest(asked))
    assert found.as_json()["components"] == 0
    assert found.as_json()["why"] == f"{said} needed"
    assert str(found.findings[2]) == f"No component is taken: {said} needed. Values are filled with the column means."


def test_columns_are_scaled_as_an_analysis_scales_them():
    """One rule, one sentence: the spreads are those of a PCA, and a constant that is rounded is no narrow column."""
    X = planted(60, missing=0.0)[0] * [9.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    for still in (X[:, 2], np.full(60, 0.1)):
        frame = pa.table({"a": X[:, 0], "b": X[:, 1], "c": still})
        said = [
            {str(note).split("no unit")[0] for note in notes if "caled" in note}
            for notes in (fill(frame, FillRequest(1)).notes, gramian.analyze(frame).notes)
        ]
        assert said[0] == said[1]
        assert len(said[0]) == 1


def test_where_nothing_is_missing_nothing_is_said_of_filled_values():
    """A whole table of noise: what its model is, how it predicts, and not a word of values that are filled."""
    noise = np.random.default_rng(0).standard_normal((100, 5))
    for bounds in (None, (-9.0, 9.0)):
        found = fill(noise, FillRequest(n_components=2, bounds=bounds))
        assert not any("illed" in str(said) for said in (*found.findings, *found.notes))
    assert "PCA, closed form, with" in fill_plan(found.known, FillRequest(biases=False))


@pytest.mark.parametrize("size, said", [(1.0001, "1 standard deviation of"), (1.2, "1.2 standard deviations of")])
def test_one_deviation_is_one(size, said):
    """The size of an error is one deviation where that is what is written."""
    Y = planted(60)[1]
    found = fill(Y, FillRequest(1), ReadOptions(scale=True))
    errors = np.where(np.isnan(Y), size / found.model.factor, 0.0)
    middle = f"The middle one of their standard errors is {said.removesuffix(' of')}."
    assert str(replace(found, errors=errors).findings[0]).endswith(middle)
    alone = str(replace(found, errors=errors, check=None).findings[0])
    assert alone.endswith(f"expected there. {middle.removesuffix('.')} of its column.")
    check = replace(found.check, predicted=found.check.actual + size)
    lead, tested, _ = map(str, replace(found, check=check).findings)
    assert f"such a prediction was off by {said} its column (root mean square)" in lead
    assert f"off by {said.removesuffix(' of')} (root" in tested


def test_the_headline_has_the_figure_of_its_own_check():
    """What is said of filled values first is what was seen of known ones, and what the model says is called that."""
    found = fill(planted(200)[1])
    off = f"off by {found.known.deviations(found.check.rmse, 3)}"
    assert all(off in str(said) for said in found.findings[:2])
    numbers = found.findings[0].numbers
    assert numbers["rmse"] == found.findings[1].numbers["rmse"] == found.check.rmse
    assert f"standard errors is {numbers['error']:.2g} (90% between {numbers['error_low']:.2g} and" in str(
        found.findings[0]
    )
    one = np.array([[1.0, 2.1], [2.0, 3.9], [3.0, 6.2], [4.0, 8.1], [5.0, np.nan], [6.0, 11.8]])
    assert "Its standard error is" in str(fill(one, FillRequest(1)).findings[0])


def test_a_column_without_a_name_is_called_by_its_place(tmp_path):
    """A person is not told of ''."""
    lines = [f"n{i},{i}.5,{'' if i == 4 else 2 * i}.25,x{i}" for i in range(30)]
    for head, said in (
        (",a,b,c", "Rows are named by the first column, which has no name."),
        ("n,a,b,", "column 4, which"),
    ):
        (tmp_path / "t.csv").write_text("\n".join([head, *lines]) + "\n")
        notes = fill(tmp_path / "t.csv", FillRequest(1), ReadOptions(id=head.split(",")[0])).notes
        assert any(said in note for note in notes)
        assert not any("''" in note for note in notes)


def test_tables_with_nothing_to_learn_from_are_refused(tmp_path):
    """No two known values in a column, none at all, no quantity, infinity, no memory: a sentence, before any work."""
    for cells in ("a,b\n,\n,3\n,\n", "a,b,c\n1,,\n,2,\n,,\n"):
        (tmp_path / "one.csv").write_text(cells)
        with pytest.raises(InputError, match="No column of this table has two known values"):
            fill(tmp_path / "one.csv")
    (tmp_path / "empty.csv").write_text("a,b\n,\n,\n")
    for table in (tmp_path / "empty.csv", np.full((3, 3), np.nan)):
        with pytest.raises(InputError, match="all of its values are missing"):
            fill(table)
    (tmp_path / "text.csv").write_text("a,b\nx,y\nz,y\n")
    with pytest.raises(InputError, match="no column of quantities"):
        fill(tmp_path / "text.csv")
    with pytest.raises(InputError, match="infinity"):
        fill(np.array([[1.0, np.inf], [2.0, 3.0]]))
    with pytest.raises(MemoryBudgetError, match="Filling takes about"):
        fill(planted()[1], options=ReadOptions(memory=1000))
    with pytest.raises(ParameterError, match="smaller side of the table, 6"):
        fill(planted()[1], FillRequest(n_components=7))


@pytest.mark.parametrize("shape", [(3, 1), (2, 2)])
def test_small_tables_are_filled(shape):
    """A column, four cells: defined, with finite errors."""
    Y = np.arange(np.prod(shape), dtype=float).reshape(shape)
    Y[0, 0] = np.nan
    found = fill(Y, options=ReadOptions(scale=False))
    assert np.isfinite(found.filled).all()
    assert found.errors[0, 0] > 0


def test_digits_of_a_filled_value_are_those_its_error_is_worth():
    """Large errors leave no decimals, small ones many, and the unit follows."""
    column = FilledColumn(np.ones(3, dtype=bool), np.array([2.93412, 1234.567, 0.1]), np.array([0.93, 61.0, 0.0]))
    assert column.texts(slice(None), errors=False) == ["2.934", "1234.6", "0.1"]
    assert column.texts(slice(None), errors=True) == ["0.93", "61", "0"]
