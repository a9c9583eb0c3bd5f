"""Answers do not contradict themselves, and speak of flags and rows as a person at a terminal knows them."""

import json

import numpy as np
import pytest

from gramian.cli import exits
from tests.cli.command import run_here


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, header, rows):
    """Write a small CSV file; NaN is an empty cell."""
    lines = (",".join("" if value != value else repr(value) for value in row) for row in np.asarray(rows).tolist())
    path.write_text("\n".join([header, *lines]) + "\n")


def test_look_calls_an_empty_and_a_constant_column_left_out(folder, capfd):
    """The table of columns says of each what the notes below it say."""
    rows = np.random.default_rng(0).standard_normal((60, 4))
    rows[:40, 1], rows[:, 2] = np.nan, 7.0
    write(folder / "holes.csv", "a,empty,still,d", rows)
    _, out, _ = run_here(capfd, "look", "holes.csv", "--json", "--quiet")
    roles = {column["name"]: column["role"] for column in json.loads(out)["columns"]}
    assert roles == {"a": "used", "empty": "left_out", "still": "left_out", "d": "used"}
    _, out, _ = run_here(capfd, "look", "holes.csv", "--quiet")
    assert all("left out" in line for line in out.splitlines() if line.startswith(("empty", "still")))


@pytest.mark.parametrize("verb", ["pca", "kpca", "ica"])
@pytest.mark.parametrize("n, said", [(1, "has one row"), (20, "every column is constant")])
def test_nothing_varies_is_said_and_no_number_is_made_up(folder, capfd, verb, n, said):
    """Exit 3 with the sentence alone: no model, no rules, no certificate."""
    write(folder / "still.csv", "a,b", np.full((n, 2), 3.0))
    code, out, err = run_here(capfd, verb, "still.csv", "--quiet")
    assert code == exits.DATA
    assert said in err
    assert not out
    assert not (folder / f"still-{verb}").exists()
