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
    lines = (",".join("" if np.isnan(value) else repr(value) for value in row) for row in np.asarray(rows).tolist())
    path.write_text("\n".join([header, *lines]) + "\n")


def test_look_calls_an_empty_and_a_constant_column_left_out(folder, capfd):
    """The table of columns says of each what the notes below it say."""
    rows = np.random.default_rng(0).standard_normal((60, 4))
    rows[:40, 1], rows[:, 2] = np.nan, 7.0
    write(folder / "holes.csv", "a,empty,still,d", rows)
    _, out, _ = run_here(capfd, "look", "holes.csv", "--json", "--quiet")
    uses = {column["name"]: column["use"] for column in json.loads(out)["columns"]}
    assert uses == {"a": "used", "empty": "left_out", "still": "left_out", "d": "used"}
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


PYTHON = ("n_components", "memory_budget", "label=", "id=", "columns=", "drop=", "None", "'mle'", "from 0", "n_samples")


@pytest.mark.parametrize(
    "words, said",
    [
        (["pca", "ragged.csv"], "row 2 has 2 cells"),
        (["pca", "good.csv", "--color", "zz"], "--color zz matches no column"),
        (["pca", "good.csv", "--id", "zz"], "--id zz matches"),
        (["pca", "good.csv", "--columns", "z z"], "--columns 'z z' matches"),
        (["pca", "good.csv", "--drop", "zz"], "--drop zz matches"),
        (["pca", "good.csv", "--drop", "*"], "(--columns)"),
        (["pca", "good.csv", "-k", "9"], "-k 9 is not a number of components between 1 and 3"),
        (["kpca", "good.csv", "-k", "9"], "-k 9 is not a number of components between 1 and 5"),
        (["pca", "good.csv", "--memory", "10"], "set --memory to"),
        (["kpca", "good.csv", "--memory", "10"], "Use --landmarks, or set --memory to"),
    ],
)
def test_faults_are_said_in_flags_and_rows_counted_from_1(folder, capfd, words, said):
    """A person at a terminal knows no parameters of Python; rows have the numbers of scores.csv."""
    (folder / "ragged.csv").write_text("a,b,c\n1,2,3\n2,3\n5,3,2\n")
    write(folder / "good.csv", "a,b,c", np.random.default_rng(0).standard_normal((5, 3)))
    code, _, err = run_here(capfd, *words, "--quiet")
    assert code
    assert said in err
    assert not [word for word in PYTHON if word in err]


def test_notes_are_said_in_flags(folder, capfd):
    """What the library warns of is a note of the answer, in the same words."""
    write(folder / "good.csv", "a,b,c", np.random.default_rng(0).uniform(size=(50, 3)))
    code, out, err = run_here(capfd, "ica", "good.csv", "-k", "9", "--quiet", "--no-report")
    assert code == 0, err
    assert "-k is too large" in out
    assert "n_components" not in out


def test_noise_says_why_one_component_is_kept(folder, capfd):
    """Where no component stands out the answer says that one was kept nevertheless, and why."""
    write(folder / "noise.csv", "a,b,c,d,e,f", np.random.default_rng(0).standard_normal((300, 6)))
    _, out, _ = run_here(capfd, "pca", "noise.csv", "--json", "--quiet", "--no-report")
    answer = json.loads(out)
    assert answer["components"] == 1
    said = [finding["sentence"] for finding in answer["findings"]] + answer["notes"]
    assert len([one for one in said if "nothing stands out" in one.lower()]) == 1
    assert any("nothing stands out from noise, and one is kept to look at" in one for one in said)


def test_weights_of_sources_are_those_of_the_page(folder, capfd):
    """The terminal and the cards give a source the same numbers: its column of the mixing at unit length."""
    rng = np.random.default_rng(0)
    write(folder / "mixed.csv", "a,b", 50 * rng.uniform(-1, 1, (400, 2)) @ rng.standard_normal((2, 2)))
    code, out, err = run_here(capfd, "ica", "mixed.csv", "--quiet", "--no-report")
    assert code == 0, err
    lines = [line.partition("gradient")[2].split() for line in out.splitlines() if line.startswith("IC")]
    found = [line[1:] for line in lines if line]
    assert len(found) == 2
    for line in found:
        weights = [float(word.strip(",")) for word in line if word[0] in "+-"]
        assert sum(weight**2 for weight in weights) == pytest.approx(1.0, abs=0.03)


def test_one_is_said_in_the_singular(folder, capfd):
    """One column is `1 column`, and one row `lies`."""
    rows = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    rows[7] = 40.0
    write(folder / "one.csv", "a,b", rows)
    _, out, _ = run_here(capfd, "pca", "one.csv", "--columns", "a", "--quiet", "--no-report")
    assert "50 rows, 1 column\n" in out
    assert "50 rows of 1 column," in out
    _, out, _ = run_here(capfd, "outliers", "one-pca/model.gramian", "one.csv", "--quiet")
    assert "1 of 50 rows lies beyond" in out


def test_outliers_says_which_components_distances_are_from(folder, capfd):
    """A saved model is of all rows, and the answer of pca is from those that do not lie apart: the output says so."""
    write(folder / "two.csv", "a,b", np.random.default_rng(0).uniform(-1, 1, (50, 2)))
    run_here(capfd, "pca", "two.csv", "--quiet", "--no-report")
    _, out, _ = run_here(capfd, "outliers", "two-pca/model.gramian", "two.csv", "--quiet")
    assert "Distances are from the components of all rows of the fit" in out


def test_outliers_calls_rows_by_their_number_and_gives_its_limits(folder, capfd):
    """A row without a name is `row 8`, as pca says, and the distances stand below their limits."""
    rows = np.random.default_rng(0).uniform(-1, 1, (50, 3))
    rows[7] = 40.0, -40.0, 0.0
    write(folder / "far.csv", "a,b,c", rows)
    run_here(capfd, "pca", "far.csv", "--quiet", "--no-report")
    _, out, _ = run_here(capfd, "outliers", "far-pca/model.gramian", "far.csv", "--quiet")
    found = json.loads(run_here(capfd, "outliers", "far-pca/model.gramian", "far.csv", "--quiet", "--json")[1])
    assert f"T2 {found['t2_limit']:.3g}" in next(line for line in out.splitlines() if line.startswith("Limits"))
    assert "\nrow 8 " in out


def test_look_tells_both_ends_of_a_narrow_range_apart(folder, capfd):
    """A column that varies by millionths of its mean has not the same number at both ends."""
    write(folder / "narrow.csv", "a,b", 1000 + 1e-3 * np.random.default_rng(0).uniform(-1, 1, (50, 2)))
    _, out, _ = run_here(capfd, "look", "narrow.csv", "--quiet")
    low, high = next(line for line in out.splitlines() if line.startswith("a ")).split()[-3::2]
    assert 999.999 <= float(low) < float(high) <= 1000.001


def test_project_says_that_rows_of_the_fit_were_filled_otherwise(folder, capfd):
    """Where a new row misses values, the note says why rows of the fit have other scores in scores.csv."""
    rows = np.random.default_rng(0).normal(size=(50, 1)) + 0.3 * np.random.default_rng(1).normal(size=(50, 3))
    rows[4, 1] = np.nan
    write(folder / "holes.csv", "a,b,c", rows)
    run_here(capfd, "pca", "holes.csv", "--quiet", "--no-report")
    _, _, err = run_here(capfd, "project", "holes-pca/model.gramian", "holes.csv")
    assert "Filled 1 missing value with" in err
    assert "differ from those in scores.csv" in " ".join(err.split())
