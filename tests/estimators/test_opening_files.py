"""What an estimator says of the columns of a file it was given the path of."""

import warnings

import numpy as np
import pytest

from gramian import PCA
from gramian.errors import InputError, InputWarning
from gramian.sources import as_source


def write(folder, cells):
    """A table of two columns of numbers and one of those cells."""
    noise = np.random.default_rng(1).normal(size=(len(cells), 2))
    lines = [f"{a},{b},{cell}" for (a, b), cell in zip(noise, cells, strict=True)]
    path = folder / "table.csv"
    path.write_text("\n".join(["a,b,amount", *lines]))
    return path


def test_numbers_that_are_left_out_are_told(tmp_path):
    """A fit on a path names the column that a rule keeps out; one on a source was told by its facts."""
    path = write(tmp_path, list(range(1, 61)))
    with pytest.warns(InputWarning, match="Column 'amount' is .*it numbers the rows"):
        model = PCA(1).fit(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(path)
        PCA(1).fit(as_source(path))


@pytest.mark.parametrize(
    "cells",
    [
        [f'"{i + 1},23{i % 10}"' for i in range(60)],
        [f"{i % 9}%" for i in range(60)],
        [f"${i % 7}.50" for i in range(60)],
    ],
)
def test_numbers_as_people_write_them_are_used(tmp_path, cells):
    """Thousands, percent and money are numbers for a fit too."""
    assert list(PCA(1).fit(write(tmp_path, cells)).feature_names_in_) == ["a", "b", "amount"]


@pytest.mark.parametrize("word", ["-", "missing"])
def test_a_word_among_numbers_is_refused_with_its_place(tmp_path, word):
    """A fit is strict: the cell is named, and that it may be taken as missing."""
    path = write(tmp_path, [word if i == 2 else f"{i}.5" for i in range(60)])
    with pytest.raises(InputError, match=rf"row 2 .*column 'amount': '{word}' is text .*\(line 4\)"):
        PCA(1).fit(path)
    rows = as_source(path, bad_cells="missing").map_rows(lambda block: block.rows)
    assert np.argwhere(np.isnan(rows)).tolist() == [[2, 2]]


@pytest.mark.parametrize(
    "cells, used",
    [
        (["x", "y", "z"] * 20, ["a", "b"]),
        ([f"name {i}" for i in range(60)], ["a", "b"]),
        ([f"{i}.5" for i in range(60)], ["a", "b", "amount"]),
    ],
)
def test_plain_text_is_left_out_without_a_warning(tmp_path, cells, used):
    """Labels and names of rows are no numbers that anybody would miss; numbers are used."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = PCA(1).fit(write(tmp_path, cells))
    assert told == []
    assert model.feature_names_in_.tolist() == used
