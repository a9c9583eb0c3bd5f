"""A file that is not there is named, and no other file is offered but one with nearly the same name."""

import numpy as np
import pytest

import gramian
from gramian import PCA, KernelPCA
from gramian.errors import InputError, ModelFileError

TABLE = "a,b\n1,2\n3,5\n4,4\n"


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("near.csv", "other.parquet", "measurements.csv", "scores.gramian", "scores.npy"):
        (tmp_path / name).write_text(TABLE)


@pytest.mark.parametrize("name", ["nothere.csv", "nothere", "x.csv", "notes.parquet"])
@pytest.mark.parametrize("fit", [lambda path: PCA().fit(path), lambda path: KernelPCA(1).fit(path)])
def test_a_file_that_is_not_there_is_answered_with_its_own_name(tmp_path, name, fit):
    """The sentence has that path and the folder, and no unrelated file of the folder."""
    with pytest.raises(InputError, match=rf"^There is no file '{name}'\. Check the name\.") as caught:
        fit(name)
    assert str(tmp_path) in str(caught.value)
    assert not any(other in str(caught.value) for other in ("near.csv", "other.parquet", "measurements", "scores"))


@pytest.mark.parametrize(
    "name, meant",
    [("nera.csv", "near.csv"), ("near.parquet", "near.csv"), ("Measurments.csv", "measurements.csv")],
)
def test_a_typo_is_answered_with_the_neighbor(name, meant):
    """Also where the ending, or the case, is what differs."""
    with pytest.raises(InputError, match=rf"^There is no file '{name}'\. Did you mean '{meant}'\?"):
        PCA().fit(name)


def test_a_folder_that_is_not_there_is_named():
    """The folder is what is missing first."""
    with pytest.raises(InputError, match=r"There is no file 'no/x.csv': there is no folder 'no' either"):
        PCA().fit("no/x.csv")
    with pytest.raises(ModelFileError, match=r"There is no model file 'no/x.gramian': there is no folder 'no' either"):
        gramian.load("no/x.gramian")


def test_later_rows_that_are_not_there_are_named():
    """A fitted model asks for its file as a fit does."""
    model = PCA(1).fit(np.diag([1.0, 2.0]))
    with pytest.raises(InputError, match=r"There is no file 'nothere.csv'"):
        model.transform("nothere.csv")


@pytest.mark.parametrize(
    "name, ending", [("nothere.gramian", "Check the name"), ("score.gramian", "Did you mean 'scores")]
)
def test_a_model_that_is_not_there_is_named(name, ending):
    """By its own path, with a neighbor where there is one; the error carries the path."""
    with pytest.raises(ModelFileError, match=rf"^There is no model file '{name}'\. {ending}") as caught:
        gramian.load(name)
    assert caught.value.path == name
