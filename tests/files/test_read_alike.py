"""A column is read alike wherever its cells stand: in which piece, in which file, in memory or on disk."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from gramian.errors import InputError
from gramian.sources import as_source
from gramian.sources.formats import csv as text_tables

SMALL = 4 << 20
"""A budget of which a quarter does not hold the columns."""


def numbers(source):
    """All rows of a source."""
    return source.map_rows(lambda block: block.rows)


def written(path, header, lines):
    """A text table of these lines."""
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


@pytest.mark.parametrize("late", ["fehlt", "1.234,5"])
def test_decimal_commas_hold_in_every_piece(tmp_path, monkeypatch, late):
    """A word, or points between thousands, in the last piece changes no number of the pieces before it."""
    monkeypatch.setattr(text_tables, "PIECE", 1 << 16)
    lines = [f"{i % 90},{100 + i % 900};{i % 7},5" for i in range(30_000)]
    lines[-1] = f"{late};1,5"
    found = numbers(as_source(written(tmp_path / "t.csv", "a;b", lines), bad_cells="missing"))
    truth = np.array([i % 90 + (100 + i % 900) / 1000 for i in range(30_000)])
    np.testing.assert_allclose(found[:-1, 0], truth[:-1])
    assert found[-1, 0] == 1234.5 if late == "1.234,5" else np.isnan(found[-1, 0])


def test_a_decimal_sign_that_is_said_holds_beside_a_bad_cell(tmp_path):
    """11,121 is eleven where the decimal sign is a comma, though it could be thousands."""
    lines = [*(f"{11 + i},{120 + i};{i},1" for i in range(20)), "k.A.;2,5"]
    path = written(tmp_path / "t.csv", "a;b", lines)
    for options in ({}, {"decimal": ","}):
        found = numbers(as_source(path, bad_cells="missing", **options))
        np.testing.assert_allclose(found[0, 0], 11.12)
        assert np.isnan(found[-1, 0])


def test_levels_are_spelled_as_they_are_written_in_every_piece(tmp_path, monkeypatch):
    """True and False of one piece are the levels of another that has a third word."""
    monkeypatch.setattr(text_tables, "PIECE", 1 << 16)
    lines = [f"{i}.5,{'True' if i % 2 else 'False'}" for i in range(30_000)]
    lines[-1] = "1.5,Perhaps"
    source = as_source(written(tmp_path / "t.csv", "a,b", lines))
    assert set(source.labels("b")) == {"True", "False", "Perhaps"}
    assert [level for level, _ in source.facts.columns[1].levels] == ["False", "True", "Perhaps"]


def test_a_table_on_disk_is_read_as_one_in_memory_and_says_what_was_examined(tmp_path):
    """Numbers in local dress and labels agree; what was decided by some rows is said, and nothing of every row."""
    rng = np.random.default_rng(0)
    values = rng.uniform(1000, 9000, 60_000).round(2)
    lines = [f'"${v:,.2f}",{v},{"xyz"[i % 3]},{v}' for i, v in enumerate(values.tolist())]
    path = written(tmp_path / "t.csv", "paid,v,kind,again", lines)
    whole, spilled = as_source(path, bad_cells="missing"), as_source(path, bad_cells="missing", memory_budget=SMALL)
    np.testing.assert_array_equal(numbers(whole), numbers(spilled))
    np.testing.assert_array_equal(whole.labels(), spilled.labels())
    assert any("are equal" in said for said in whole.facts.relations)
    (said,) = spilled.facts.relations
    assert "of 60,000 rows, spread over the file, were examined" in said
    assert [c.role for c in whole.facts.columns] == [c.role for c in spilled.facts.columns]


def test_each_file_of_a_folder_is_read_as_it_is_written(tmp_path):
    """Money in the second file is the number that the first one writes without a sign."""
    values = np.random.default_rng(0).uniform(1, 9, 40).round(2)
    written(tmp_path / "1.csv", "a,b", [f"{v},{i}.5" for i, v in enumerate(values)])
    written(tmp_path / "2.csv", "a,b", [f"${v},{i}.5" for i, v in enumerate(values)])
    np.testing.assert_allclose(numbers(as_source(tmp_path))[:, 0], np.tile(values, 2))


def test_infinity_and_sentinels_of_parquet_are_missing_where_asked(tmp_path):
    """As in text; in single precision too."""
    for dtype in (np.float64, np.float32):
        values = np.random.default_rng(0).normal(20, 1, 200).astype(dtype)
        values[[3, 50]], values[7] = -999.0, np.inf
        table = pa.table({"x": values, "y": np.arange(200, dtype=dtype) % 7})
        parquet.write_table(table, tmp_path / "t.parquet")
        found = numbers(as_source(tmp_path / "t.parquet", bad_cells="missing"))
        assert np.flatnonzero(np.isnan(found[:, 0])).tolist() == [3, 7, 50]
        strict = numbers(as_source(tmp_path / "t.parquet"))
        assert (strict[3, 0], strict[7, 0]) == (-999.0, np.inf)


def test_row_numbers_are_no_quantity_in_any_number_of_groups(tmp_path):
    """A fit and an analysis of one file use the same columns."""
    frame = pd.DataFrame({"n": np.arange(200_000), "a": np.random.default_rng(0).normal(size=200_000)})
    frame["b"] = frame.a * 2 + 1
    for groups in (1, 8):
        parquet.write_table(pa.Table.from_pandas(frame), tmp_path / "t.parquet", row_group_size=200_000 // groups)
        assert as_source(tmp_path / "t.parquet").column_names == ("a", "b")


def test_a_checkpoint_knows_how_cells_were_read(tmp_path):
    """A pass over rows with -999 as numbers is no answer for rows without them."""
    rng = np.random.default_rng(0)
    lines = [f"{v:.3f},{i}.5" for i, v in enumerate(rng.normal(size=300))]
    lines[5], lines[9] = "-999,5.5", "-999,9.5"
    path = written(tmp_path / "t.csv", "a,b", lines)

    def total(**options):
        source = as_source(path, checkpoint=tmp_path / "log", **options)
        return source.reduce(_sum_fold, np.add)

    assert total()[0] < -1900
    assert abs(total(sentinels=True)[0]) < 100


def _sum_fold(state, block):
    here = np.nansum(block.rows, axis=0)
    return here if state is None else state + here


def test_readings_of_one_table_serve_another(tmp_path):
    """New rows are read as those of the fit were: the same format, the same numbers for a missing value."""
    lines = [f"{1 + i % 7}.{100 + i},5{i % 10};{i % 5}" for i in range(40)]
    lines[3] = "1.103,53;-999"
    lines[8] = "2.108,58;-999"
    first = as_source(written(tmp_path / "1.csv", "price;grade", lines), bad_cells="missing")
    readings = {column.name: column.reading for column in first.facts.used if column.reading is not None}
    assert set(readings) == {"price", "grade"}
    path = written(tmp_path / "2.csv", "price;grade", ["1.234;-999", "2.345;4"])
    found = numbers(as_source(path, columns=["price", "grade"], bad_cells="missing", readings=readings))
    np.testing.assert_array_equal(found, [[1234, np.nan], [2345, 4]])


def test_long_integers_in_one_piece_and_fractions_in_another_are_refused_where_they_stand(tmp_path, monkeypatch):
    """An integer that float64 would round is named by its row and column, not refused by the reader's library."""
    monkeypatch.setattr(text_tables, "PIECE", 1 << 16)
    lines = [f"{i % 97}.5,{999_999_999_999_999_000 + i if i < 50_000 else i + 0.5}" for i in range(100_000)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *lines]))
    with pytest.raises(InputError, match=r"integer 999999999999999000 in row 0 \(counted from 0\), column 'b'"):
        as_source(tmp_path / "t.csv")
