"""``look`` reports every file that can be read and fits nothing; one bad cell ends neither it nor a fit."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

from gramian.cli import exits, output
from gramian.errors import Parameter, Sentence
from gramian.models.probabilistic import filling
from gramian.sources.locations import Location
from gramian.sources.progress import PassProgress
from tests.cli.command import run_here


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path, X, names=None):
    """Write a table; NaN is an empty cell."""
    names = names or [f"c{j}" for j in range(X.shape[1])]
    lines = [",".join("" if np.isnan(value) else f"{value:.6g}" for value in row) for row in X]
    path.write_text("\n".join([",".join(names), *lines]) + "\n")


def with_a_word(path, word="oops"):
    """Write 40 rows of three columns, row 7 of the last one a word."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    write(path, X, ["a", "b", "c"])
    lines = path.read_text().splitlines()
    lines[7] = f"{lines[7].rsplit(',', 1)[0]},{word}"
    path.write_text("\n".join(lines) + "\n")


def test_look_at_missing_values_fits_nothing(folder, capfd, monkeypatch):
    """63 x 2,308 numbers, 1% missing, a slowly decaying spectrum: no decomposition, all of it said."""
    rng = np.random.default_rng(0)
    U, V = (np.linalg.qr(rng.standard_normal((side, 63)))[0] for side in (63, 2308))
    X = (U / np.sqrt(np.arange(1, 64))) @ V.T * 100
    X[rng.random(X.shape) < 0.01] = np.nan
    write(folder / "genes.csv", X)

    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(filling, "fill_missing", refuse)
    for name in ("svd", "eigh"):
        monkeypatch.setattr(np.linalg, name, refuse)
    code, out, err = run_here(capfd, "look", "genes.csv", "--json", "--quiet")
    assert code == 0, err
    found = json.loads(out)
    assert found["rows"] == 63
    count = int(np.isnan(X).sum())
    assert [column["missing"] for column in found["columns"]] == np.isnan(X).sum(axis=0).tolist()
    assert f"Fill {count:,} missing values (" in found["notes"][0]
    spread = np.nanstd(X, axis=0, ddof=1)
    np.testing.assert_allclose([column["deviation"] for column in found["columns"]], spread, rtol=1e-4)
    assert "Direct on the n x n Gram matrix" in found["plan"]


def test_dry_run_fills_nothing(folder, capfd, monkeypatch):
    """The plan of a fit says what would be filled, and fills nothing."""
    X = np.random.default_rng(0).standard_normal((50, 4))
    X[3, 1] = np.nan
    write(folder / "t.csv", X)
    monkeypatch.setattr(filling, "fill_missing", None)
    for verb in ("pca", "ica"):
        code, out, err = run_here(capfd, verb, "t.csv", "--dry-run", "--quiet")
        assert code == 0, err
        assert "Fill 1 missing value (" in out


@pytest.mark.parametrize("word", ["oops", "inf"])
def test_a_word_among_numbers_is_missing_and_said_with_its_place(folder, capfd, word):
    """Exit 0, the column used, and the row, the column and the cell in a sentence."""
    with_a_word(folder / "t.csv", word)
    said = f"1 cell of 'c' is no number, taken as missing: row 7 ('{word}')."
    code, out, err = run_here(capfd, "look", "t.csv", "--json", "--quiet")
    assert code == 0, err
    found = json.loads(out)
    assert [column["use"] for column in found["columns"]] == ["used", "used", "used"]
    assert [column["missing"] for column in found["columns"]] == [0, 0, 1]
    assert said in found["notes"]
    code, out, err = run_here(capfd, "pca", "t.csv", "--json", "--quiet", "--no-report")
    assert code == 0, err
    answer = json.loads(out)
    assert (answer["columns"], answer["filled"]) == (["a", "b", "c"], 1)
    assert said in answer["notes"]


def test_a_word_is_refused_where_nothing_may_be_missing(folder, capfd):
    """--missing error is strict, and names the cell; look fits nothing and refuses nothing."""
    with_a_word(folder / "t.csv")
    code, _, err = run_here(capfd, "pca", "t.csv", "--missing", "error", "--quiet")
    assert code == exits.DATA
    assert "t.csv, row 7, column 'c': 'oops' is text in a column of numbers" in err
    assert "(--drop c)" in err


ROLE_TABLE = "zip,price,species\n" + "".join(f"{10001 + i % 9},${i}.50,{'ab'[i % 2]}\n" for i in range(30))


def test_roles_are_decided_said_and_changed_by_a_flag(folder, capfd):
    """A zip code is a category and money a number; --role makes the zip code a quantity."""
    (folder / "t.csv").write_text(ROLE_TABLE)
    code, out, err = run_here(capfd, "look", "t.csv", "--json", "--quiet")
    assert code == 0, err
    columns = {column["name"]: column for column in json.loads(out)["columns"]}
    assert {name: column["role"] for name, column in columns.items()} == {
        "zip": "category",
        "price": "quantity",
        "species": "category",
    }
    assert (columns["price"]["low"], columns["price"]["high"]) == (0.5, 29.5)
    assert "code" in columns["zip"]["reason"]
    code, out, err = run_here(capfd, "pca", "t.csv", "--role", "zip=quantity", "--json", "--quiet", "--no-report")
    assert code == 0, err
    assert json.loads(out)["columns"] == ["zip", "price"]


@pytest.mark.parametrize(
    "role, code, words",
    [
        ("zip", exits.USAGE, "'zip' is no column and role. Write it as zip=category."),
        ("zip=number", exits.USAGE, "which is no role"),
        (["zip=id", "zip=category"], exits.USAGE, "--role gives column 'zip' two roles, id and category"),
        ("zp=id", exits.USAGE, "names 'zp', which is no column of the table. Did you mean 'zip'?"),
        ("species=quantity", exits.DATA, "but it holds text: row 1 ('a') is the first cell that is no number"),
    ],
)
def test_a_role_that_cannot_be_is_refused(folder, capfd, role, code, words):
    """The sentence says what is wrong with the column or the role, and what to do."""
    (folder / "t.csv").write_text(ROLE_TABLE)
    flags = [word for given in ([role] if isinstance(role, str) else role) for word in ("--role", given)]
    found, _, err = run_here(capfd, "pca", "t.csv", *flags, "--quiet")
    assert found == code
    assert words in " ".join(err.split())


def test_look_reports_a_table_without_numbers(folder, capfd):
    """Columns of words are listed, and that a fit would refuse them; the fit does."""
    (folder / "words.csv").write_text("a,b\nx,y\nz,w\n")
    code, out, err = run_here(capfd, "look", "words.csv", "--json", "--quiet")
    assert code == 0, err
    found = json.loads(out)
    assert [column["kind"] for column in found["columns"]] == ["text", "text"]
    assert "No column of words.csv is left to use as numbers" in found["plan"]
    assert run_here(capfd, "pca", "words.csv", "--quiet")[0] == exits.DATA


def test_look_says_that_a_budget_is_too_small(folder, capfd):
    """A budget that a fit does not fit into is part of the plan, and no fault of looking."""
    write(folder / "t.csv", np.random.default_rng(0).standard_normal((50, 4)))
    code, out, err = run_here(capfd, "look", "t.csv", "--memory", "10", "--quiet")
    assert code == 0, err
    assert "refuse it: Direct on 50 x 4 rows" in out
    assert "set --memory to" in out


def test_mistyped_verb_flag_and_file_are_answered_with_the_near_one(folder, capfd):
    """`pac` means `pca`, `--colour` means `--color`, wnie.csv means wine.csv; nothing near is not made up."""
    write(folder / "wine.csv", np.random.default_rng(0).standard_normal((5, 2)))
    code, _, err = run_here(capfd, "pac", "wine.csv")
    assert code == exits.USAGE
    assert "Did you mean 'pca'?" in err
    code, _, err = run_here(capfd, "pca", "wine.csv", "--colour", "x")
    assert code == exits.USAGE
    assert "--color" in err
    code, _, err = run_here(capfd, "look", "wnie.csv")
    assert code == exits.DATA
    assert "There is no file 'wnie.csv'. Did you mean 'wine.csv'?" in err
    code, _, err = run_here(capfd, "pca", "iris.csv")
    assert code == exits.DATA
    assert "There is no file 'iris.csv'. Check" in err
    assert "Did you mean" not in run_here(capfd, "dance")[2]


def test_memory_is_read_as_the_library_reads_it(folder, capfd):
    """Units of 1000 and 1024, with or without a blank; what is no size is usage."""
    write(folder / "t.csv", np.random.default_rng(0).standard_normal((50, 4)))
    for size in ("4GB", "512 MiB", "0.5gb", "1TiB"):
        assert run_here(capfd, "look", "t.csv", "--memory", size, "--quiet")[0] == 0
    for size in ("GB", "-4GB", "4PB", "nan", "0", "0.1"):
        assert run_here(capfd, "look", "t.csv", f"--memory={size}", "--quiet")[0] == exits.USAGE


def test_sentences_are_worded_from_their_facts():
    """Parameters become flags, rows are counted from 1; what only looks like a parameter stays as it is."""
    said = Sentence(
        "{name}: {asked} and {place}; {budget}.",
        name="n_components={9}.csv, row 3 (counted from 0)",
        asked=Parameter("n_components", (9,)),
        place=Location(2, 4),
        budget=Parameter("memory_budget"),
    )
    name = "n_components={9}.csv, row 3 (counted from 0)"
    assert said == f"{name}: n_components=9 and row 2, column 4 (both counted from 0); memory_budget."
    assert output.in_flags(said) == f"{name}: -k 9 and row 3, column 5; --memory."
    assert output.in_flags(pickle.loads(pickle.dumps(said))) == output.in_flags(said)
    assert output.in_flags("a plain n_components=9") == "a plain n_components=9"


def test_bar_moves_by_the_numbers_of_a_pass():
    """A pass brings how many rows are done, of how many; other sentences have no end, whatever they say."""
    seen = []

    class Bar:
        def update(self, _, **known):
            seen.append((known.get("completed"), known["total"]))

    progress = output.Progress(quiet=False)
    progress._bar = Bar()
    progress(PassProgress("t.csv: some rows read", what="t.csv", done=50, total=200))
    progress("37% of the way")
    assert seen == [(50, 200), (None, None)]


def test_new_rows_are_read_as_those_of_the_fit(folder, capfd):
    """A model knows the sentinels and the format of its columns: scores of its own first rows are the same."""
    lines = [f"{i % 5 + 1};{1 + i % 7}.{100 + i},5{i % 10}" for i in range(40)]
    lines[8] = "99;2.108,58"
    lines[20] = "99;1.120,50"
    (folder / "t.csv").write_text("grade;price\n" + "\n".join(lines) + "\n")
    assert run_here(capfd, "pca", "t.csv", "-k", "2", "--quiet", "--no-report")[0] == 0
    (folder / "new.csv").write_text("grade;price\n" + "\n".join([lines[0], "99;2.108", lines[2], ";2108"]) + "\n")
    code, out, err = run_here(capfd, "project", "t-pca/model.gramian", "new.csv", "--quiet")
    assert code == 0, err
    found = [list(map(float, line.split(",")[1:])) for line in out.splitlines()[1:]]
    told = (folder / "t-pca" / "scores.csv").read_text().splitlines()[1:]
    expected = [list(map(float, line.split(",")[1:])) for line in (told[0], told[2])]
    np.testing.assert_allclose([found[0], found[2]], expected, rtol=1e-12)
    np.testing.assert_allclose(found[1], found[3], rtol=1e-12)


def test_a_column_with_decimal_commas_leaves_the_others_their_points(folder, capfd):
    """A model reads the table that it was fitted on, where one column has decimal commas and others points."""
    t = np.random.default_rng(0).normal(size=40)
    lines = [f'"1.{500 + int(99 * x)},{25 * (x < 0)}",{3 + x:.3f}' for x in t]
    (folder / "t.csv").write_text("\n".join(["price,size", *lines]))
    assert run_here(capfd, "pca", "t.csv", "--quiet", "--no-report")[0] == 0
    code, out, err = run_here(capfd, "project", "t-pca/model.gramian", "t.csv", "--quiet")
    assert code == 0, err
    fitted = (folder / "t-pca" / "scores.csv").read_text().split()
    np.testing.assert_allclose(*([float(line.split(",")[1]) for line in t[1:]] for t in (out.split(), fitted)))
    new = []
    for price in ("1.500", '"1.500,0"'):
        (folder / "new.csv").write_text(f"price,size\n{price},3\n")
        new.append(run_here(capfd, "project", "t-pca/model.gramian", "new.csv", "--quiet")[1])
    assert new[0] == new[1] != ""


def test_look_calls_a_table_in_which_nothing_varies_what_it_is(folder, capfd):
    """Constant columns are left out, and the plan says that a fit refuses them."""
    (folder / "t.csv").write_text("a,b\n" + "1,2\n" * 20)
    code, out, _ = run_here(capfd, "look", "t.csv", "--json", "--quiet")
    assert code == 0
    found = json.loads(out)
    assert [column["use"] for column in found["columns"]] == ["left_out", "left_out"]
    assert found["plan"].startswith("refuse it: nothing varies")


def test_looking_at_a_table_loads_what_it_needs(tmp_path):
    """A table of words and numbers is looked at without SciPy's packages, scikit-learn, pandas or what draws."""
    rng = np.random.default_rng(0)
    lines = [f"row {i},{'ab'[i % 2]},{x:.3f},{y:.3f}" for i, (x, y) in enumerate(rng.normal(size=(5000, 2)))]
    (tmp_path / "t.csv").write_text("\n".join(["name,group,x,y", *lines]))
    heavy = ["scipy.linalg", "scipy.sparse", "scipy.special", "scipy.optimize", "asyncio", "dask"]
    heavy += ["sklearn", "pandas", "narwhals", "matplotlib", "plotly", "rich"]
    program = (
        f"import sys; from gramian.cli.main import main; c = main(['look', {str(tmp_path / 't.csv')!r}, '--quiet']); "
        f"print(c, [name for name in {heavy} if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "0 []"
