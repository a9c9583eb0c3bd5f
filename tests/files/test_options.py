"""What is said to ``as_source`` beside X: taken where it means something, refused in words where it does not."""

import numpy as np
import pytest

from gramian.errors import InputError, ParameterError
from gramian.sources import as_source
from tests.sources.files import write

X = np.random.default_rng(0).standard_normal((60, 3))


def _frame():
    import pandas as pd

    return pd.DataFrame(X, columns=["a", "b", "c"])


def _dask_frame():
    return pytest.importorskip("dask.dataframe").from_pandas(_frame(), npartitions=2)


@pytest.mark.parametrize("make", [lambda: X, X.tolist, _frame, _dask_frame, lambda: as_source(X)])
@pytest.mark.parametrize(
    "option", [{"columns": ["a"]}, {"drop": "a"}, {"label": "a"}, {"id": "a"}, {"checkpoint": "f"}]
)
def test_options_of_files_are_refused_elsewhere(make, option):
    """An option that would change nothing is an error, not an answer for other columns than were asked for."""
    with pytest.raises(ParameterError, match=f"{next(iter(option))} is for files, and X is none"):
        as_source(make(), **option)
    assert as_source(make(), label=False).n_columns == 3


def test_a_budget_may_be_written_in_words(tmp_path):
    """The sizes of GRAMIAN_MEMORY are taken; nothing and less are refused."""
    path = write(tmp_path, "npy", X)
    assert as_source(path, memory_budget="64MB").budget == 64_000_000
    assert as_source(path, memory_budget=64e6).budget == 64_000_000
    for odd in (0, -1, True, [1], float("nan")):
        with pytest.raises(ParameterError, match=r"memory_budget is .* Pass a number of bytes above 0"):
            as_source(path, memory_budget=odd)
    with pytest.raises(ParameterError, match="is no size of memory"):
        as_source(path, memory_budget="much")


@pytest.mark.parametrize("given", [[0, 1], 5, ["a", 1]])
@pytest.mark.parametrize("option", ["columns", "drop"])
def test_columns_are_named_by_strings(tmp_path, option, given):
    """A position is no name."""
    with pytest.raises(ParameterError, match=rf"{option} holds \d, of type int. Pass names"):
        as_source(write(tmp_path, "csv", X), **{option: given})


def test_progress_is_a_function_and_a_path_is_short(tmp_path):
    """``progress=True``, and a text that is no path, are told in sentences before any work."""
    with pytest.raises(ParameterError, match=r"progress is True\. Pass a function"):
        as_source(write(tmp_path, "npy", X), progress=True)
    with pytest.raises(InputError, match=r"a text of 9,000 characters, '1,2\\n1,2"):
        as_source("1,2\n" * 2250)
