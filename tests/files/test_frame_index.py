"""The index of a data frame in a Parquet or Feather file: no variable."""

import numpy as np
import pandas as pd
import pytest

from gramian import PCA
from gramian.errors import InputError
from gramian.sources import as_source


@pytest.fixture
def frame():
    """Eighty rows of three columns, some of them below zero."""
    return pd.DataFrame(np.random.default_rng(0).normal(size=(80, 3)), columns=list("abc"))


def test_the_index_of_a_filtered_frame_is_no_variable(tmp_path, frame):
    """Rows that were filtered have the same components from the file as from memory."""
    kept = frame[frame.a > 0]
    kept.to_parquet(tmp_path / "x.parquet")
    source = as_source(tmp_path / "x.parquet")
    assert source.column_names == ("a", "b", "c")
    assert "index of the data frame" in "".join(source.facts.sentences())
    assert source.facts.id is None
    np.testing.assert_allclose(
        PCA(2).fit(tmp_path / "x.parquet").explained_variance_, PCA(2).fit(kept).explained_variance_
    )


def test_the_index_in_a_feather_file_is_no_variable(tmp_path, frame):
    """A table with an index that Arrow wrote leaves it out as well."""
    import pyarrow as pa
    from pyarrow import feather

    feather.write_feather(pa.Table.from_pandas(frame[frame.a > 0]), str(tmp_path / "x.feather"))
    assert as_source(tmp_path / "x.feather").column_names == ("a", "b", "c")


def test_an_index_with_a_name_names_the_rows(tmp_path, frame):
    """A named index of different values is the id; any other is so when asked for."""
    kept = frame[frame.a > 0]
    kept.rename_axis("patient").to_parquet(tmp_path / "named.parquet")
    source = as_source(tmp_path / "named.parquet")
    assert (source.facts.id, source.column_names) == ("patient", ("a", "b", "c"))
    assert list(source.ids()) == [str(i) for i in kept.index]
    kept.to_parquet(tmp_path / "plain.parquet")
    assert list(as_source(tmp_path / "plain.parquet", id="__index_level_0__").ids()) == [str(i) for i in kept.index]


def test_an_index_can_be_asked_for(tmp_path, frame):
    """Years as the index are a variable for whoever says so."""
    frame.set_index(pd.Index(np.arange(80.0) + 0.5, name="time")).to_parquet(tmp_path / "x.parquet")
    assert as_source(tmp_path / "x.parquet").column_names == ("a", "b", "c")
    assert as_source(tmp_path / "x.parquet", columns=["time", "a"]).column_names == ("time", "a")


def test_files_may_differ_in_an_index_that_is_not_used(tmp_path, frame):
    """A folder of a whole frame and of a filtered one is one table; other columns must still be the same."""
    frame.to_parquet(tmp_path / "1.parquet")
    frame[frame.a > 0].to_parquet(tmp_path / "2.parquet")
    assert as_source(tmp_path).n_rows == 80 + int((frame.a > 0).sum())
    frame.rename(columns={"c": "d"}).to_parquet(tmp_path / "3.parquet")
    with pytest.raises(InputError):
        as_source(tmp_path)
