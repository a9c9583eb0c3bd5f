"""Levels as codes, and rows that are coded as they are read."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from gramian.errors import InputError, ParameterError
from gramian.models.categories.fit import coding_of
from gramian.sources.categories import MixedTable, level_column, open_mixed
from gramian.sources.dense import DenseRows
from gramian.sources.indicator import Coding, IndicatorRows


def made(n=200, seed=0):
    """A table of two categories, with cells missing, and two quantities."""
    rng = np.random.default_rng(seed)
    color = rng.choice(["red", "green", "blue"], n, p=[0.6, 0.3, 0.1]).astype(object)
    color[rng.random(n) < 0.1] = None
    return pd.DataFrame(
        {
            "size": rng.normal(50, 9, n),
            "color": color,
            "grade": rng.integers(1, 12, n).astype(str),
            "age": rng.random(n),
        }
    )


def coded(table, missing="level", share=1.0, **more):
    """The coded rows of all columns."""
    coding = coding_of(table, list(table.categories), table.quantities, share=share, missing=missing)
    return IndicatorRows(table, coding, passive=missing == "passive", **more)


def by_hand(X, missing):
    """The coded table of made(), by pandas."""
    z = (X[["size", "age"]] - X[["size", "age"]].mean()) / X[["size", "age"]].std(ddof=0)
    parts = [z.to_numpy()]
    for name, order in (("color", ["blue", "green", "red"]), ("grade", [str(i) for i in range(1, 12)])):
        column = X[name].fillna("") if missing == "level" else X[name]
        own = [*order, ""] if "" in set(column) else order
        indicators = np.column_stack([(column == level).to_numpy(dtype=float) for level in own])
        p = indicators.sum(axis=0) / indicators.sum()
        indicators[column.isna()] = p
        parts.append(indicators / np.sqrt(p))
    return np.hstack(parts)


@pytest.mark.parametrize("missing", ["level", "passive"])
@pytest.mark.parametrize("sparse", [False, True])
def test_coded_rows_are_those_of_the_definition(missing, sparse):
    """z / sqrt(p) of levels, standardized quantities; a passive cell at the mean; sparse blocks hold the same."""
    X = made()
    rows = coded(open_mixed(X), missing)
    rows.is_sparse = sparse
    rows.piece, rows._windows = 17, [slice(i, min(i + 17, 200)) for i in range(0, 200, 17)]
    found = np.vstack(
        [np.asarray(b.todense()) if sparse else b for b in (rows.block(i).rows for i in range(rows.n_blocks))]
    )
    np.testing.assert_allclose(found, by_hand(X, missing), atol=1e-12)


def test_every_way_of_reading_gives_the_same_rows():
    """Blocks, folds, stacked rows, pieces of large blocks and even samples of a source agree."""
    table = open_mixed(made())
    rows = coded(table)
    whole = rows.map_rows(lambda block: block.rows)
    total = rows.reduce(lambda s, b: b.rows.sum(axis=0) + (0 if s is None else s), np.add)
    np.testing.assert_allclose(total, whole.sum(axis=0))
    rows._windows, rows.piece = None, 7  # as the rows of a file, whose blocks are cut into pieces
    np.testing.assert_array_equal(rows.map_rows(lambda block: block.rows), whole)
    np.testing.assert_array_equal(np.vstack(list(rows.map_blocks(lambda block: block.rows))), whole)
    again = rows.reduce(lambda s, b: b.rows.sum(axis=0) + (0 if s is None else s), np.add)
    np.testing.assert_allclose(again, total, atol=1e-12)
    assert all((sample[:, None] == whole[None]).all(axis=2).any(axis=1).all() for sample in rows.evenly(20))


def test_the_same_values_have_the_same_levels_wherever_they_are(tmp_path):
    """pandas, polars, Arrow, arrays of objects and files code alike; numbers are sorted as numbers."""
    X = made()
    X.to_csv(tmp_path / "t.csv", index=False)
    X.to_parquet(tmp_path / "t.parquet")
    doors = [X, pl.from_pandas(X), pa.Table.from_pandas(X), X.astype({"color": "category"})]
    first = open_mixed(X)
    for door in (*doors, tmp_path / "t.csv", tmp_path / "t.parquet", str(tmp_path / "t.csv")):
        found = open_mixed(door) if door is not doors[0] else first
        if not isinstance(door, pd.DataFrame | pl.DataFrame | pa.Table):
            found = open_mixed(door, known=(["color", "grade"], ["size", "age"]))
        assert found.quantities == ("size", "age")
        for name in ("color", "grade"):
            assert found.categories[name].levels == first.categories[name].levels
            np.testing.assert_array_equal(found.categories[name].codes, first.categories[name].codes)
    assert first.categories["grade"].levels == tuple(str(i) for i in range(1, 12))
    objects = open_mixed(X.to_numpy(dtype=object))
    np.testing.assert_array_equal(objects.categories["x1"].codes, first.categories["color"].codes)


@pytest.mark.parametrize(
    "values, levels",
    [
        ([1, 2.0, "1"], ("1", "2")),
        (np.array([True, False]), ("False", "True")),
        (np.array([2.5, np.nan, 10.0]), ("2.5", "10")),
        ([b"x", None, "y"], ("x", "y")),
        (["b", "", " ", "a"], ("a", "b")),
        (pd.Series(["u", pd.NA], dtype="string").to_numpy(), ("u",)),
    ],
)
def test_levels_are_text_and_missing_cells_are_none(values, levels):
    """A level is its text, whatever type it had; what is not there is no level."""
    assert level_column(values).levels == levels


def test_unknown_levels_are_refused_or_stand_at_the_average():
    """A level that the coding does not know is named with its row; or the row has the mean in its columns."""
    table = open_mixed(made())
    rows = coded(table)
    other = open_mixed(made().assign(color="purple"))
    with pytest.raises(InputError, match="'color' has the level 'purple' in row 0"):
        IndicatorRows(other, rows.coding)
    placed = IndicatorRows(other, rows.coding, unknown="ignore").block(0).rows
    group = rows.coding.groups[0]
    np.testing.assert_allclose(placed[0, group], rows.map_rows(lambda block: block.rows)[:, group].mean(axis=0))


def test_many_levels_are_sparse_and_never_an_n_by_j_array():
    """With 5,000 levels a block has one entry per category and row."""
    rng = np.random.default_rng(0)
    table = open_mixed(rng.integers(0, 5000, (20_000, 3)), categories="all")
    rows = coded(table, share=1 / 3)
    assert rows.is_sparse
    assert rows.n_entries == 60_000
    assert rows.block(0).rows.nnz == 3 * rows.block(0).rows.shape[0]
    assert rows.pass_bytes < 8 * rows.n_rows * rows.n_columns / 20


def test_columns_that_are_not_there_are_refused_by_name():
    """categories takes names and places of columns."""
    with pytest.raises(ParameterError, match="names 'colour', which is no column of X"):
        open_mixed(made(), categories=["colour"])
    with pytest.raises(InputError, match="'color' of X holds no numbers"):
        open_mixed(made(), categories=["grade"])


def test_a_table_without_categories_is_a_table_of_numbers():
    """Coded rows of quantities alone are standardized rows."""
    X = np.random.default_rng(0).standard_normal((30, 3))
    table = MixedTable(DenseRows(X), ("a", "b", "c"), {}, ("a", "b", "c"))
    coding = coding_of(table, [], table.quantities, share=1.0, missing="level")
    assert isinstance(coding, Coding)
    found = IndicatorRows(table, coding).block(0).rows
    np.testing.assert_allclose(found, (X - X.mean(axis=0)) / X.std(axis=0), atol=1e-14)
