"""Tables with all of their columns: the same from every kind of file, and text as it is written."""

import json

import openpyxl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from gramian.errors import InputError
from gramian.sources.file_options import Chosen
from gramian.sources.formats.csv import written_cells
from gramian.sources.paths import open_whole

TABLE = {"user": ["ann", "bob", "ann", "cy"], "age": [40, None, 41, 39], "mark": [1.5, 2.5, None, 4.0]}


def write(folder, kind):
    """Write the table as a file of some kind."""
    path, rows = folder / f"t.{kind}", list(zip(*TABLE.values(), strict=True))
    if kind == "csv":
        lines = [",".join("" if cell is None else str(cell) for cell in row) for row in rows]
        path.write_text("\n".join([",".join(TABLE), *lines]) + "\n")
    elif kind == "json":
        path.write_text(json.dumps([dict(zip(TABLE, row, strict=True)) for row in rows]))
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        for row in [tuple(TABLE), *rows]:
            book.active.append(row)
        book.save(path)
    else:
        (parquet.write_table if kind == "parquet" else feather.write_feather)(pa.table(TABLE), path)
    return path


@pytest.mark.parametrize("kind", ["csv", "json", "xlsx", "parquet", "arrow"])
def test_every_kind_of_file_gives_the_same_columns(tmp_path, kind):
    """Text, integers with gaps, numbers: whole, in their order, and as numbers where they are some."""
    found = open_whole(write(tmp_path, kind), Chosen())
    assert found.names == tuple(TABLE)
    assert found.n_rows == 4
    assert [found.column(name).to_pylist() for name in TABLE] == list(TABLE.values())
    assert found.numbers("age")[[0, 2, 3]].tolist() == [40, 41, 39]
    assert found.is_typed == (kind in ("parquet", "arrow"))
    assert (found.text is not None) == (kind == "csv")


def test_files_of_a_folder_are_one_table(tmp_path):
    """Columns are put together in the order of the files; other names are refused."""
    for i, text in enumerate(("a,b\n1,x\n2,y\n", "a,b\n3.5,z\n")):
        (tmp_path / f"{i}.csv").write_text(text)
    found = open_whole(tmp_path, Chosen())
    assert found.column("a").to_pylist() == [1.0, 2.0, 3.5]
    assert found.column("b").to_pylist() == ["x", "y", "z"]
    (tmp_path / "2.csv").write_text("a,c\n1,x\n")
    with pytest.raises(InputError, match="lacks column 'b'"):
        open_whole(tmp_path, Chosen())


def test_an_array_is_no_table(tmp_path):
    """Matrix Market has numbers alone."""
    (tmp_path / "t.mtx").write_text("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 1 3.0\n")
    assert open_whole(tmp_path / "t.mtx", Chosen()) is None


def test_text_is_given_as_it_is_written(tmp_path):
    """Words for missing values, zeros at the end and blanks are what they were."""
    (tmp_path / "t.csv").write_text('a;b\n"NA";1,50\n; 007\n?;"x;y"\n')
    dialect, tables = written_cells(tmp_path / "t.csv", "t.csv")
    (table,) = tables
    assert dialect.delimiter == ";"
    assert table.to_pydict() == {"a": ["NA", "", "?"], "b": ["1,50", " 007", "x;y"]}
