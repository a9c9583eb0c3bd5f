"""Flags do what they say or are refused, and sentences are true at the ends of the range too."""

import json
import subprocess
import sys

import numpy as np
import pytest

from gramian.cli import exits
from tests.cli.command import run_here


def write(path, header, rows):
    """Write a small CSV file."""
    path.write_text(f"{header}\n" + "\n".join(",".join(map(repr, row)) for row in np.asarray(rows).tolist()))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, the current one, with a small table of positive numbers."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "table.csv", "a,b,c", np.random.default_rng(0).uniform(1, 2, (60, 3)) * [1.0, 2.0, 3.0])
    return tmp_path


def strict(text):
    """Read JSON as the standard has it: no NaN, no Infinity."""

    def refuse(word):
        raise AssertionError(word)

    return json.loads(text, parse_constant=refuse)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear", "laplacian", "matern", "sigmoid", "cosine", "chi2"])
def test_every_kernel_needs_no_gamma(folder, capfd, kernel):
    """The default width is one that the kernel knows; chi2 is for positive numbers, sigmoid for small ones."""
    write(folder / "small.csv", "a,b", 1e-4 * np.random.default_rng(0).standard_normal((60, 2)))
    words = ["small.csv", "--coef0", "0"] if kernel == "sigmoid" else ["table.csv"]
    code, _, err = run_here(capfd, "kpca", *words, "--kernel", kernel, "-k", "1", "--no-report", "--quiet")
    assert code == 0, err


@pytest.mark.parametrize(
    "words", [["-k", "inf"], ["-k", "nan"], ["-k", "1e300"], ["--memory", "."], ["--memory", "9" * 400 + "GB"]]
)
@pytest.mark.usefixtures("folder")
def test_numbers_beyond_reason_are_usage(capfd, words):
    """They are refused in a sentence."""
    code, _, err = run_here(capfd, "pca", "table.csv", *words)
    assert code == exits.USAGE
    assert "Traceback" not in err


@pytest.mark.parametrize("size, other", [(1e300, 1.0), (1e-200, 1e-200)])
def test_spreads_at_the_ends_of_the_range(folder, capfd, size, other):
    """No column that varies is called constant, and no warning of NumPy's is a note."""
    rows = np.random.default_rng(0).standard_normal((60, 3)) * [size, other, other]
    write(folder / "far.csv", "a,b,c", rows)
    code, out, err = run_here(capfd, "look", "far.csv", "--json", "--quiet")
    assert code == 0, err
    assert "encountered" not in out + err
    assert "onstant" not in out
    spreads = [column["deviation"] for column in strict(out)["columns"]]
    assert np.allclose(np.array(spreads) / [size, other, other], np.std(rows / [size, other, other], axis=0, ddof=1))
    assert ("Scaled to unit variance" in out) == (size != other)


@pytest.mark.usefixtures("folder")
def test_ica_does_not_claim_to_scale(capfd):
    """--scale is refused; without it the answer says that nothing was scaled."""
    code, _, err = run_here(capfd, "ica", "table.csv", "--scale", "--quiet")
    assert code == exits.USAGE
    assert "--scale" in err
    assert strict(run_here(capfd, "ica", "table.csv", "--json", "--no-report", "--quiet")[1])["scaled"] is False


def test_json_has_no_infinity(folder, capfd):
    """What is not finite is null: the limit of a PCA that keeps everything, a table of too few rows."""
    assert run_here(capfd, "pca", "table.csv", "-k", "3", "-o", "out", "--no-report", "--quiet")[0] == 0
    strict(run_here(capfd, "outliers", "out/model.gramian", "table.csv", "--json", "--quiet")[1])
    write(folder / "few.csv", "a,b", np.random.default_rng(1).standard_normal((2, 2)))
    for verb in ("pca", "kpca"):
        code, out, err = run_here(capfd, verb, "few.csv", "--json", "--no-report", "--quiet")
        assert code == 0, err
        strict(out)


@pytest.mark.usefixtures("folder")
def test_spaces_of_different_size_are_not_the_same(capfd):
    """Two components inside three are said to be inside."""
    for k in (2, 3):
        assert run_here(capfd, "pca", "table.csv", "-k", k, "-o", f"k{k}", "--no-report", "--quiet")[0] == 0
    out = run_here(capfd, "compare", "k2/model.gramian", "k3/model.gramian")[1]
    assert "same space" not in out
    assert "2 of 3 components, lies inside" in out
    assert "Both span the same space" in run_here(capfd, "compare", "k2/model.gramian", "k2/model.gramian")[1]


def test_dropped_rows_leave_the_numbers_of_the_others(folder, capfd):
    """Scores and sentences name rows by their place in the file."""
    lines = (folder / "table.csv").read_text().splitlines()
    lines[1], lines[3] = ",1.0,2.0", "1.0,,2.0"
    lines[40] = "90.0,-50.0,70.0"
    (folder / "holes.csv").write_text("\n".join(lines))
    code, out, err = run_here(capfd, "pca", "holes.csv", "--missing", "drop", "--no-report", "--quiet")
    assert code == 0, err
    rows = [line.split(",")[0] for line in (folder / "holes-pca" / "scores.csv").read_text().splitlines()]
    assert rows[:4] == ["row", "2", "4", "5"]
    assert rows[-1] == "60"
    assert "row 40 makes PC1" in out
    assert "row 40 " in out.partition("Rows worth a look")[2]


def test_model_decides_about_columns(folder, capfd):
    """Columns cannot be chosen again, one that is missing is named, and names are no patterns."""
    write(folder / "starred.csv", "a*,b", np.random.default_rng(2).standard_normal((40, 2)))
    assert run_here(capfd, "pca", "starred.csv", "-k", "1", "--no-report", "--quiet")[0] == 0
    model = "starred-pca/model.gramian"
    for verb in ("project", "rebuild", "outliers", "report"):
        assert run_here(capfd, verb, model, "starred.csv", "--drop", "b", "--quiet")[0] == exits.USAGE
        assert run_here(capfd, verb, model, "starred.csv", "--quiet")[0] == 0
    write(folder / "other.csv", "ab,b", np.random.default_rng(2).standard_normal((40, 2)))
    code, _, err = run_here(capfd, "project", model, "other.csv", "--quiet")
    assert code == exits.DATA
    assert "no column 'a*', which the model needs" in err
    assert run_here(capfd, "project", model, "starred.csv", "--color", "z", "--quiet")[0] == exits.USAGE


def test_ending_of_a_table_is_what_is_written(folder, capfd):
    """A table is not written as CSV under a name that says otherwise."""
    assert run_here(capfd, "pca", "table.csv", "-o", "out", "--no-report", "--quiet")[0] == 0
    for verb in ("project", "rebuild"):
        assert run_here(capfd, verb, "out/model.gramian", "table.csv", "-o", "x.json", "--quiet")[0] == exits.USAGE
    assert not (folder / "x.json").exists()


def test_module_is_the_command_line():
    """``python -m gramian`` runs it."""
    done = subprocess.run([sys.executable, "-m", "gramian", "--version"], capture_output=True, check=False)
    assert done.returncode == 0
    assert b"gramian" in done.stdout


def test_reader_that_has_had_enough_is_no_fault(folder, capfd):
    """`gramian project ... | head -1` ends with 0 itself, whatever head does."""
    write(folder / "long.csv", "a,b,c", np.random.default_rng(0).standard_normal((30_000, 3)))
    assert run_here(capfd, "pca", "table.csv", "-o", "out", "--quiet", "--no-report")[0] == 0
    words = [sys.executable, "-m", "gramian", "project", "out/model.gramian", "long.csv", "--quiet"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        said = process.stderr.read()
        assert process.wait() == 0, said
    assert said == b""


@pytest.mark.parametrize("verb", ["pca", "kpca", "ica"])
def test_missing_file_is_not_mistaken_for_the_folder_of_its_results(verb, tmp_path, monkeypatch, capfd):
    """The input is looked for before a folder of nearly the same name is made."""
    monkeypatch.chdir(tmp_path)
    code, _, err = run_here(capfd, verb, "nofile.csv")
    assert code == exits.DATA
    assert "There is no file 'nofile.csv'. Check the name" in err
    assert not list(tmp_path.iterdir())


def test_help_of_ica_offers_what_it_takes(capfd):
    """Sources are counted, not a share of variance, and no column is scaled; the others keep both."""
    ica, pca = (run_here(capfd, verb, "--help")[1] for verb in ("ica", "pca"))
    assert "-k N|auto" in ica
    assert "--scale" not in ica
    assert "SHARE" not in ica.upper()
    assert "--scale" in pca
    assert "SHARE" in pca.upper()
