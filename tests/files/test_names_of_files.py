"""Which files a name means: patterns through folders, folders in folders, what lies among images, one's own folder."""

import numpy as np
import pandas as pd
import pytest

from gramian import PCA
from gramian.errors import InputError, InputWarning, NotSupportedError
from gramian.sources import as_source


@pytest.fixture
def frame():
    """Thirty rows of two columns."""
    return pd.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"])


def test_two_stars_mean_folders_at_any_depth(tmp_path, frame):
    """No file below is dropped, and folders whose names match are no files."""
    for folder in (tmp_path, tmp_path / "x", tmp_path / "x" / "y.csv"):
        folder.mkdir(exist_ok=True)
        frame.to_csv(folder / "part.csv", index=False)
    assert as_source(f"{tmp_path}/**/*.csv").n_rows == 90


def test_a_folder_of_folders_is_told_how_to_be_read(tmp_path, frame):
    """A Hive folder gets the pattern that reads it, and the pattern does."""
    frame.assign(year=[1, 2] * 15).to_parquet(tmp_path / "hive", partition_cols=["year"])
    with pytest.raises(InputError, match=r"holds folders and no files .*\*\*/\*\.parquet") as caught:
        as_source(tmp_path / "hive")
    assert as_source(str(caught.value).split("'")[1]).n_rows == 30


def test_folders_beside_files_are_not_read_and_that_is_said(tmp_path, frame):
    """A fit on the folder warns, and the facts say so; hidden folders are nobody's data."""
    frame.to_csv(tmp_path / "part.csv", index=False)
    (tmp_path / ".cache").mkdir()
    frame.to_csv(tmp_path / ".cache" / "part.csv", index=False)
    PCA(1).fit(tmp_path)
    (tmp_path / "more").mkdir()
    frame.to_csv(tmp_path / "more" / "part.csv", index=False)
    with pytest.warns(InputWarning, match="are not read"):
        PCA(1).fit(tmp_path)
    assert "are not read" in "".join(as_source(tmp_path).facts.sentences())


def test_a_foreign_file_among_images_is_blamed_itself(tmp_path):
    """Windows leaves Thumbs.db in folders of images, which are no tables for that."""
    from PIL import Image

    for i in range(3):
        Image.fromarray(np.full((4, 4), i, dtype=np.uint8)).save(tmp_path / f"{i}.png")
    (tmp_path / "Thumbs.db").write_bytes(b"thumbs")
    with pytest.raises(NotSupportedError, match=r"Thumbs\.db is no image .*\*\.png"):
        as_source(tmp_path)
    assert as_source(f"{tmp_path}/*.png").n_rows == 3


def test_a_tilde_is_the_home_folder(tmp_path, frame, monkeypatch):
    """As in a shell, for a file and for a pattern."""
    monkeypatch.setenv("HOME", str(tmp_path))
    frame.to_csv(tmp_path / "part.csv", index=False)
    assert as_source("~/part.csv").n_rows == as_source("~/*.csv").n_rows == 30
