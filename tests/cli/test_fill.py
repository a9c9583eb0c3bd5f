"""``gramian fill``: the answer, the files, the page, and each flag with a wrong use."""

import json

import numpy as np
import pytest

from tests.cli.command import run, run_here

RATINGS = """person,film 1,film 2,film 3,film 4,film 5,film 6
Tom,5,?,?,1,3,?
George,?,?,3,1,2,5
Susan,4,3,1,?,5,1
Beth,4,3,?,2,4,2
"""


@pytest.fixture
def ratings(tmp_path, monkeypatch):
    """An empty folder, the current one, with the lectures' ratings wide and long, pairs, and an array."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "wide.csv").write_text(RATINGS)
    rng = np.random.default_rng(0)
    level = rng.standard_normal((20, 1)) + rng.standard_normal(8)
    seen = np.argwhere(rng.random((20, 8)) < 0.5)
    lines = [f"u{i},f{j},{level[i, j] + 0.3 * rng.standard_normal():.2f},{1_000_000_000 + i}" for i, j in seen]
    (tmp_path / "long.csv").write_text("user,film,stars,timestamp\n" + "\n".join(lines) + "\n")
    (tmp_path / "pairs.csv").write_text("user,film\nu1,f1\nnobody,f1\n")
    np.save(tmp_path / "array.npy", np.where(rng.random((20, 5)) < 0.2, np.nan, rng.standard_normal((20, 5))))
    return tmp_path


def test_the_answer_has_each_filled_value_with_its_error(ratings, capfd):
    """Seven question marks, seven lines; how sure, how tested, what was written, how to reproduce it."""
    code, out, err = run_here(capfd, "fill", "wide.csv", "--bounds", "1,5", "--quiet")
    assert (code, err) == (0, "")
    said = " ".join(out.split())
    assert "FILL of wide.csv: 4 x 6, 17 values known" in said
    assert "7 of 24 values are missing (29%)" in said
    assert "held out in 10 draws" in said
    assert sum(" ± " in line and "%" not in line for line in out.splitlines()) == 7
    assert "Reproduce it: gramian fill wide.csv --bounds 1,5" in said
    files = {path.name for path in (ratings / "wide-fill").iterdir()}
    assert files == {"model.gramian", "filled.csv", "errors.csv", "loadings.csv", "report.html"}
    assert (ratings / "wide-fill" / "filled.csv").read_text().startswith("person,film 1")


def test_the_page_shows_the_table_with_its_errors(ratings, capfd):
    """What was filled in is marked, what is known is not; names are escaped; nothing is asked of a network."""
    text = RATINGS.replace("film 1", "<b>film</b>").replace("Tom", "<script>")
    (ratings / "odd.csv").write_text(text)
    assert run_here(capfd, "fill", "odd.csv", "--bounds", "1,5", "--quiet")[0] == 0
    page = (ratings / "odd-fill" / "report.html").read_text(encoding="utf-8")
    assert page.count('class="guess"') == 7
    assert "&lt;b&gt;film&lt;/b&gt;" in page
    assert "<b>film" not in page
    assert page.count("<script>") == 1
    assert "http" not in page.replace("http-equiv", "")
    for part in ("What is missing", "How well it predicts", "The components", "gramian fill odd.csv"):
        assert part in page


def test_json_is_the_answer_for_a_machine(ratings, capfd):
    """Numbers are numbers, and the files are named."""
    code, out, _ = run_here(capfd, "fill", "long.csv", "--json", "--quiet", "--predict", "pairs.csv")
    found = json.loads(out)
    assert code == 0
    assert found["long"] == {"row": "user", "column": "film", "value": "stars"}
    assert found["known"] + found["missing"] == 160
    assert 0 <= found["held_out"]["coverage"] <= 1
    assert "long-fill/predictions.csv" in found["files"]
    assert (ratings / "long-fill" / "predictions.csv").read_text().splitlines()[0] == "user,film,stars,stars error"


def test_a_dry_run_writes_nothing(ratings, capfd):
    """The plan, for a person and for a machine."""
    code, out, _ = run_here(capfd, "fill", "wide.csv", "--dry-run", "--quiet")
    assert code == 0
    assert "17 known entries of 4 x 6" in out
    assert "fit it up to 10 times more, because few entries are known" in " ".join(out.split())
    code, out, _ = run_here(capfd, "fill", "long.csv", "-k", "2", "--dry-run", "--json", "--quiet")
    assert "at most 2 components" in json.loads(out)["plan"]
    assert not list(ratings.glob("*-fill"))


def test_the_same_seed_gives_the_same_files(ratings, capfd):
    """Bytes of the filled table and of the answer do not change from run to run."""
    parts = []
    for name in ("a", "b"):
        _, out, _ = run_here(capfd, "fill", "wide.csv", "--seed", "3", "-o", name, "--json", "--quiet")
        parts.append(((ratings / name / "filled.csv").read_bytes(), json.loads(out)["held_out"]))
    assert parts[0] == parts[1]


def test_what_an_earlier_filling_wrote_is_removed(ratings, capfd):
    """A folder of ours holds one filling, and never parts of two."""
    assert run_here(capfd, "fill", "wide.csv", "-o", "out", "--quiet")[0] == 0
    assert run_here(capfd, "fill", "long.csv", "-o", "out", "--no-report", "--quiet")[0] == 0
    files = {path.name for path in (ratings / "out").iterdir()}
    assert files == {"model.gramian", "predictions.csv", "loadings.csv", "rows.csv"}


def test_standard_input_is_filled(tmp_path):
    """A table from another program, in a process of its own."""
    finished = run("fill", "-", "--no-report", cwd=tmp_path, stdin=RATINGS.encode())
    assert finished.returncode == 0, finished.stderr
    assert b"FILL of standard input" in finished.stdout
    assert b"stdin.csv" not in finished.stdout + finished.stderr
    assert (tmp_path / "stdin-fill" / "filled.csv").exists()


WRONG = {
    "wide.csv -k 0.5": (2, "-k 0.5: a share of the variance is not known"),
    "wide.csv -k 7": (2, "-k 7 is more than the smaller side of the table, 4"),
    "wide.csv --bounds 5,1": (2, "'5,1' is no pair of limits"),
    "wide.csv --bounds 5": (2, "'5' is no pair of limits"),
    "wide.csv --row person": (2, "--column is not said"),
    "wide.csv --row persn --column x": (2, "--row persn matches no column of wide.csv. Did you mean 'person'?"),
    "wide.csv --predict all": (2, "--predict all is for long tables"),
    "array.npy --predict all": (2, "--predict all is for long tables"),
    "array.npy --value x": (2, "array.npy is an array without any"),
    "long.csv --row user --column user": (2, "'user' is named twice"),
    "long.csv --value user --row user --column film": (2, "'user' is named twice"),
    "long.csv --value film --row user --column stars": (3, "holds text, and a value is a number"),
    "long.csv --predict nowhere.csv": (3, "There is no file 'nowhere.csv'"),
    "long.csv --predict wide.csv": (3, "--predict wide.csv has no column 'user'"),
    "long.csv --predict array.npy": (3, "--predict array.npy has no column 'user'"),
    "nowhere.csv": (3, "There is no file 'nowhere.csv'"),
    "wide.csv --color person": (2, "--color person: fill draws no map of rows"),
    "wide.csv --columns person": (3, "'person' of wide.csv holds text"),
    "wide.csv --drop film*": (3, "no column of quantities"),
    "wide.csv --role person=quantity": (3, "--role asks for column 'person' as 'quantity'"),
    "wide.csv --memory 100": (6, "Filling takes about"),
    "wide.csv -o .": (5, "the folder holds other things"),
    "wide.csv --seed -1": (2, "-1 is not in the range"),
    "wide.csv --sheet x": (2, "--sheet is for files of"),
}


@pytest.mark.parametrize("words", WRONG)
def test_a_wrong_use_is_a_sentence(ratings, capfd, words):
    """Its exit code, what is so, no traceback, and nothing is left behind."""
    code, out, err = run_here(capfd, "fill", *words.split(), "--quiet")
    wanted, sentence = WRONG[words]
    assert code == wanted, out + err
    assert sentence in " ".join(err.split())
    assert "Traceback" not in err
    assert not list(ratings.glob("*-fill"))


def test_pca_and_look_name_the_verb_for_such_tables(ratings, capfd):
    """A mostly empty table and a long one are no errors: a sentence says what is made for them."""
    rng = np.random.default_rng(0)
    lines = [",".join("" if rng.random() < 0.7 else f"{v:.2f}" for v in rng.standard_normal(5)) for _ in range(60)]
    (ratings / "empty.csv").write_text("a,b,c,d,e\n" + "\n".join(lines) + "\n")
    text = (ratings / "long.csv").read_text()
    (ratings / "long.csv").write_text(text.replace("user,film", "user_id,film_id").replace(",f", ",").replace("u", ""))
    for words in (("pca", "--dry-run"), ("look",)):
        for file, said in (
            ("empty.csv", "gramian fill FILE is for such tables"),
            ("long.csv", "looks like a long table"),
        ):
            code, out, err = run_here(capfd, words[0], file, *words[1:], "--quiet")
            assert (code, err) == (0, "")
            assert said in " ".join(out.split())
    _, out, _ = run_here(capfd, "look", "wide.csv", "--quiet")
    assert "gramian fill FILE gives them, with their errors" in " ".join(out.split())


def test_the_model_of_a_filling_is_refused_by_verbs_that_show_components(ratings, capfd):
    """Exit 4, and what opens it."""
    assert run_here(capfd, "fill", "wide.csv", "--no-report", "--quiet")[0] == 0
    code, _, err = run_here(capfd, "project", ratings / "wide-fill" / "model.gramian", "wide.csv")
    assert code == 4
    assert "gramian.load opens it in Python" in err


def test_predictions_say_when_they_leave_the_scale_and_keep_empty_ids(ratings, capfd):
    """What lies beyond all known values is counted and the flag named; a pair without a user has none in the file."""
    rng = np.random.default_rng(0)
    U, V = 2 * rng.standard_normal((40, 2)), rng.standard_normal((20, 2))
    seen = np.argwhere(rng.random((40, 20)) < 0.4)
    lines = [f"u{i},f{j},{np.clip(3 + U[i] @ V[j], 1, 5):.1f}" for i, j in seen]
    (ratings / "long.csv").write_text("\n".join(["user,film,stars", *lines]))
    pairs = [f"u{i},f{j}" for i in range(40) for j in range(20)]
    (ratings / "pairs.csv").write_text("\n".join(["user,film", ",f1", "nobody,f1", "someone,f2", *pairs]))
    code, out, _ = run_here(capfd, "fill", "long.csv", "--predict", "pairs.csv", "--no-report", "--quiet", "-o", "long")
    assert code == 0
    written = (ratings / "long" / "predictions.csv").read_text().splitlines()
    assert written[1].startswith(",f1,")
    assert "1 pair without 'user': what is expected of any" in " ".join(out.split())
    assert "2 pairs with an unknown 'user': what is expected of any" in " ".join(out.split())
    values = np.array([float(line.split(",")[2]) for line in written[1:]])
    beyond = int(((values < 1) | (values > 5)).sum())
    assert beyond > 0
    said = f"{beyond} predictions lie beyond all known values, 1 to 5: --bounds 1,5 keeps them within"
    assert said in " ".join(out.split())
