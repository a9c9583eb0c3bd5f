"""The text of a table is parsed once, however many passes are made; what is kept of it goes with its last reader."""

import gc
import gzip
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA
from gramian.errors import InputError, MemoryBudgetError
from gramian.sources import as_source
from gramian.sources.formats import csv as text_tables

X = np.random.default_rng(0).uniform(-1, 1, (60_000, 6)).round(4) * [6, 5, 4, 3, 2, 1]
SMALL = 4 << 20
"""A budget of which a quarter does not hold the numbers."""


@pytest.fixture(scope="module")
def text():
    """The text of the table, made once."""
    lines = [",".join([f"row {i}", "xyz"[i % 3], *map(repr, row)]) for i, row in enumerate(X.tolist())]
    return "\n".join(["who,kind,a,b,c,d,e,f", *lines]) + "\n"


@pytest.fixture(name="path")
def written(tmp_path, text):
    """A table of 3 MB with a label and a name for each row."""
    path = tmp_path / "x.csv"
    path.write_text(text)
    return path


@pytest.fixture(name="parsed")
def counted(monkeypatch):
    """Bytes of text that were given to Arrow, one number per call."""
    sizes, read = [], text_tables.read_text
    monkeypatch.setattr(
        text_tables, "read_text", lambda data, *args, **options: sizes.append(len(data)) or read(data, *args, **options)
    )
    return sizes


@pytest.fixture(name="folder")
def temporary(tmp_path, monkeypatch):
    """A folder of its own for temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


FITS = {
    "PCA": lambda path, budget: PCA(3, memory_budget=budget).fit(path),
    "PCA krylov": lambda path, budget: PCA(3, svd_solver="krylov", memory_budget=budget).fit(path),
    "KernelPCA": lambda path, budget: KernelPCA(3, kernel="rbf", landmarks=40, memory_budget=budget).fit(path),
    "ICA": lambda path, _budget: ICA(3, random_state=0).fit(path),
}


@pytest.mark.parametrize("budget", [None, 40 << 20])
@pytest.mark.parametrize("method", FITS)
def test_a_fit_parses_the_text_once(path, parsed, method, budget):
    """Every byte behind the header is parsed exactly once, whatever passes the fit makes."""
    FITS[method](path, budget)
    header = len("who,kind,a,b,c,d,e,f\n")
    assert sum(parsed) == path.stat().st_size - header


@pytest.mark.parametrize("budget", [None, SMALL])
def test_passes_rows_labels_and_names_come_from_what_was_parsed(path, parsed, folder, budget):
    """Three passes, pairs of blocks, labels and names of rows: the same from memory and from the temporary file."""
    source = as_source(path, memory_budget=budget)
    before = len(parsed)
    assert bool(list(folder.iterdir())) == (budget is not None)
    for _ in range(3):
        np.testing.assert_array_equal(source.map_rows(lambda block: block.rows), X)
    assert list(source.ids()[:2]) == ["row 0", "row 1"]
    assert list(source.labels()[-3:]) == ["x", "y", "z"]
    assert source.ids()[-1] == "row 59999"
    assert source.facts.n_rows == source.n_rows == len(X)
    assert len(parsed) == before


def test_the_temporary_file_goes_with_the_source(path, folder):
    """It is there while rows are read, and gone afterwards."""
    source = as_source(path, memory_budget=SMALL)
    (copy,) = folder.iterdir()
    assert X.nbytes < (copy / "columns").stat().st_size < 2.5 * X.nbytes
    del source
    gc.collect()
    assert list(folder.iterdir()) == []


def test_the_temporary_file_goes_when_a_late_cell_is_refused(path, folder):
    """An error after most of the text was copied leaves no copy."""
    path.write_text(path.read_text() + "row,x,1,2,3,4,5,oops\n")
    with pytest.raises(
        InputError, match=r"row 60,000 .*'oops' is text in a column of numbers \(line 60,002\)"
    ) as caught:
        as_source(path, memory_budget=SMALL)
    del caught
    gc.collect()
    assert list(folder.iterdir()) == []


def test_the_temporary_file_goes_when_the_process_ends(path, folder):
    """Also for a source that is still held then."""
    code = f"from gramian.sources import as_source; s = as_source({str(path)!r}, memory_budget={SMALL}); s.loop = s"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | {"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(folder.iterdir()) == []


def test_a_full_disk_is_told_with_what_to_do(path, folder, monkeypatch):
    """The sentence names the folder, and both ways out."""
    opened = Path.open

    def full(self, *args, **options):
        file = opened(self, *args, **options)
        return _Full(file) if self.name == "columns" else file

    monkeypatch.setattr(Path, "open", full)
    with pytest.raises(
        MemoryBudgetError, match=rf"cannot be written to {folder} .*Raise memory_budget.*TMPDIR"
    ) as caught:
        as_source(path, memory_budget=SMALL)
    assert caught.value.budget == SMALL


class _Full:
    def __init__(self, file):
        self._file = file

    def write(self, data):
        """Write nothing, and say so, but where there is nothing to write."""
        if len(data):
            raise OSError(28, "No space left on device")

    def close(self):
        """Close the file."""
        self._file.close()


def test_growing_beyond_the_room_moves_to_disk(tmp_path, folder):
    """Compressed text does not say how long it is: what was begun in memory goes on in a file."""
    body = "a,b\n" + "".join(f"{i}.5,{i % 7}\n" for i in range(200_000))
    (tmp_path / "x.csv.gz").write_bytes(gzip.compress(body.encode()))
    source = as_source(tmp_path / "x.csv.gz", memory_budget=8 << 20)
    assert len(list(folder.iterdir())) == 1
    found = source.map_rows(lambda block: block.rows)
    np.testing.assert_array_equal(found, np.column_stack([np.arange(200_000) + 0.5, np.arange(200_000) % 7]))


def test_what_is_kept_is_not_written_to(path):
    """A block in memory is a view that nobody may change."""
    block = as_source(path).block(0).rows
    with pytest.raises(ValueError, match="read-only"):
        block[0, 0] = 1.0


@pytest.mark.parametrize("workers", [1, 2, 7])
def test_any_number_of_workers_reads_the_same_rows_in_order(path, monkeypatch, workers):
    """Pieces are parsed side by side and kept in order; a bad cell is named by the same row, and its line."""
    monkeypatch.setattr(text_tables, "worker_count", lambda: workers)
    monkeypatch.setattr(text_tables, "PIECE", 1 << 16)
    np.testing.assert_array_equal(as_source(path).map_rows(lambda block: block.rows), X)
    lines = path.read_text().splitlines()
    lines[40_001] = "row,x,1,2,3,4,oops,6"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"row 40,000 .*column 'e': 'oops' .*\(line 40,002\)"):
        as_source(path)
    lines[30_001], lines[50_001] = "row,x,1,2,3,4,5,6,7", "row,x,1,2,3,4"
    path.write_text("\n".join(lines))
    with pytest.raises(InputError, match=r"row 30,000 .* has 9 cells, .*\(line 30,002\)"):
        as_source(path)


@pytest.mark.parametrize("first", [True, False])
def test_a_padded_word_for_missing_is_one_in_every_piece(tmp_path, monkeypatch, first):
    """Of a label it means the same before and after a piece whose numbers have such words; quoted text stays whole."""
    monkeypatch.setattr(text_tables, "PIECE", 1 << 16)
    lines = [f"{'xy'[i % 2]},{i}.5,1" for i in range(120_000)]
    lines[5], lines[-5] = '"z, NA , NA",1,1', '"z, NA , NA",2,1'
    # The sample has none: what comes first behind it is a label or a number.
    late, later = 90_000, 110_000
    lines[late if first else later] = " NA ,3,1"
    lines[later if first else late] = "x, NA ,1"
    path = tmp_path / "x.csv"
    path.write_text("\n".join(["kind,a,b", *lines]) + "\n")
    source = as_source(path, label="kind", memory_budget=SMALL)
    labels = source.labels()
    assert labels[late if first else later] == ""
    assert labels[5] == labels[-5] == "z, NA , NA"
    assert np.isnan(source.map_rows(lambda block: block.rows)[later if first else late, 0])


def test_bad_cells_of_all_columns_are_found_in_one_parse(tmp_path, parsed):
    """The error names the first of them, and carries those of other columns; the text is parsed once to find them."""
    lines = [",".join(["1.5"] * 8) for _ in range(2000)]
    lines[1500], lines[1600] = "1,2,oops,4,5,6,7,8", "1,2,3,4,no,6,7,much"
    path = tmp_path / "x.csv"
    path.write_text("\n".join([",".join("abcdefgh"), *lines]) + "\n")
    with pytest.raises(InputError, match=r"'oops' is text in a column of numbers \(line 1,502\)") as caught:
        as_source(path)
    found = (caught.value, *caught.value.others)
    assert [(error.row, error.column, error.value) for error in found] == [
        (1500, "c", "oops"),
        (1600, "e", "no"),
        (1600, "h", "much"),
    ]
    assert len(parsed) == 1
