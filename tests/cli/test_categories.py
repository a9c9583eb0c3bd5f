"""The verbs on tables of categories: chosen and said, projected, looked at, refused."""

import json

import numpy as np
import pandas as pd
import pytest

from tests.cli.command import run_here


@pytest.fixture(autouse=True)
def survey(tmp_path, monkeypatch):
    """Files of categories, one with a quantity, in the folder where the test runs."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal(200)
    words = np.array(["no", "perhaps", "yes"], dtype=object)
    columns = {f"q{j}": words[np.digitize(hidden + rng.normal(size=200), [-0.5, 0.5])] for j in range(5)}
    pd.DataFrame(columns | {"age": rng.normal(40, 10, 200).round(1)}).to_csv(tmp_path / "survey.csv", index=False)
    pd.DataFrame(columns).to_csv(tmp_path / "words.csv", index=False)
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "words, method",
    [
        (("pca", "words.csv"), "mca"),
        (("pca", "survey.csv"), "famd"),
        (("pca", "survey.csv", "--method", "mca"), "mca"),
        (("mca", "survey.csv"), "mca"),
        (("famd", "survey.csv"), "famd"),
    ],
)
def test_the_method_is_chosen_and_said(words, method, capfd):
    """By the verb, the flag, or the columns; the answer begins with it."""
    code, out, _ = run_here(capfd, *words, "--quiet", "-o", "out")
    assert code == 0
    assert out.startswith(f"{method.upper()} of {words[1]}: 200 rows, ")
    assert "5 categories of 15 levels" in out
    code, scores, err = run_here(capfd, "project", "out/model.gramian", words[1], "--quiet")
    assert (code, err) == (0, "")
    kept = pd.read_csv("out/scores.csv")["PC1"]
    np.testing.assert_allclose(pd.read_csv(pd.io.common.StringIO(scores))["PC1"], kept, atol=1e-9)
    assert run_here(capfd, "report", "out/model.gramian", words[1], "--quiet", "-o", "again.html")[0] == 0


def test_flags_change_what_the_columns_decide(capfd):
    """--method pca fits the quantity alone; notes name the flags."""
    _, out, _ = run_here(capfd, "pca", "survey.csv", "--quiet", "--dry-run")
    assert "--method pca fits the quantities alone, --method mca the categories alone" in " ".join(out.split())
    _, out, _ = run_here(capfd, "pca", "survey.csv", "--quiet", "--method", "pca", "-o", "p")
    assert out.startswith("PCA of survey.csv: 200 rows, 1 column")


def test_supplementary_columns_are_in_the_answer(capfd):
    """Correlations of quantities, coordinates of levels: in JSON, and said in words."""
    words = ("mca", "survey.csv", "--supplementary", "age", "--supplementary", "q4", "-k", "2", "--quiet", "--json")
    _, out, _ = run_here(capfd, *words)
    found = json.loads(out)
    assert found["method"] == "mca"
    assert list(found["supplementary"]["correlations"]) == ["age"]
    assert len(found["supplementary"]["coordinates"]["q4=yes"]) == 2
    assert not any(name.startswith("q4=") for name in found["columns"])
    assert any("Supplementary 'age', projected and not fitted" in note for note in found["notes"])


def test_new_levels_stand_at_the_average_and_are_said(capfd):
    """project places rows with a level that the model does not know, and counts them."""
    run_here(capfd, "mca", "words.csv", "--quiet", "-o", "m")
    table = pd.read_csv("words.csv")
    table.loc[3, "q1"] = "never"
    table.to_csv("new.csv", index=False)
    code, _, err = run_here(capfd, "project", "m/model.gramian", "new.csv")
    assert code == 0
    assert "1 cell of a level that the model does not know" in err


def test_look_says_what_would_be_done(capfd):
    """A table of categories alone is not refused."""
    code, out, _ = run_here(capfd, "look", "words.csv", "--quiet")
    assert code == 0
    assert "Multiple correspondence analysis of 5 categories, because no column is a quantity" in out
    table = pd.read_csv("survey.csv")
    table.loc[5, "age"] = np.nan
    table.to_csv("gap.csv", index=False)
    for words in (("look", "gap.csv"), ("pca", "gap.csv", "--dry-run")):
        code, out, _ = run_here(capfd, *words, "--quiet")
        assert code == 0
        assert "Fill 1 missing value" in out
        assert "Factor analysis of mixed data, of 1 quantity and 5 categories" in out


@pytest.mark.parametrize(
    "words, said",
    [
        (("outliers", "m/model.gramian", "words.csv"), "levels are not"),
        (("rebuild", "m/model.gramian", "words.csv"), "inverse_transform"),
        (("mca", "words.csv", "--scale"), "Leave the flag out"),
        (("mca", "words.csv", "--supplementary", "q9"), "--supplementary q9 matches no column of words.csv"),
        (("mca", "words.csv", "-k", "99"), "-k 99 is more than the 10 components"),
        (("export", "m/model.gramian", "--to", "onnx", "-o", "m.onnx"), "takes levels"),
    ],
)
def test_what_is_of_numbers_alone_is_refused(words, said, capfd):
    """In a sentence, with an exit code that is not zero."""
    run_here(capfd, "mca", "words.csv", "--quiet", "-o", "m")
    code, _, err = run_here(capfd, *words)
    assert code != 0
    assert said in " ".join(err.split())


def test_shares_of_a_correspondence_analysis_are_also_corrected(capfd):
    """Beside a raw share stands the one without what coding by levels adds."""
    out = run_here(capfd, "mca", "words.csv", "--quiet", "--no-report")[1]
    lines = out.splitlines()
    head = next(i for i, line in enumerate(lines) if "corrected" in line)
    share, _, corrected = (float(word.rstrip("%")) for word in lines[head + 1].split()[2:5])
    assert corrected > 1.5 * share
