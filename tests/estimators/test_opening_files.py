"""What an estimator says of the columns of a file it was given the path of."""

import warnings

import numpy as np
import pytest

from gramian import PCA
from gramian.errors import InputWarning
from gramian.sources import as_source


def write(folder, cells):
    """A table of two columns of numbers and one of those cells."""
    noise = np.random.default_rng(1).normal(size=(len(cells), 2))
    lines = [f"{a},{b},{cell}" for (a, b), cell in zip(noise, cells, strict=True)]
    path = folder / "table.csv"
    path.write_text("\n".join(["a,b,amount", *lines]))
    return path


@pytest.mark.parametrize(
    "cells, said",
    [
        (["-" if i % 5 == 2 else f"{i % 7}.5" for i in range(60)], "'-' is the first not"),
        (["missing" if i % 5 == 2 else f"{i}.5" for i in range(60)], "'missing' is the first not"),
        ([f'"{i + 1},23{i % 10}"' for i in range(60)], "'1,230' is the first not"),
        ([f"{i % 9}%" for i in range(60)], "'0%' is the first not"),
        ([f"${i}" for i in range(60)], r"'\$0' is the first not"),
        (list(range(1, 61)), "it counts the rows"),
    ],
)
def test_numbers_that_are_left_out_are_told(tmp_path, cells, said):
    """A fit on a path names the column and the cell that keeps it out; one on a source was told by its facts."""
    path = write(tmp_path, cells)
    with pytest.warns(InputWarning, match=f"Column 'amount' is .*{said}"):
        model = PCA(1).fit(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.transform(path)
        PCA(1).fit(as_source(path))


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
