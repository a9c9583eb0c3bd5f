import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pyarrow import csv

import gramian
from gramian.models.archive import file as archive
from tests.cli.command import run_here


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A messy table in an empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal((80, 2))
    frame = pd.DataFrame(
        hidden @ rng.standard_normal((2, 5)) + 0.1 * rng.standard_normal((80, 5)), columns=list("abcde")
    )
    frame["b"] *= 1000
    frame.insert(0, "id", [f"row-{i}" for i in range(80)])
    frame.insert(1, "species", ["cat", "dog"] * 40)
    frame["comment"] = [f"said {i % 60}" for i in range(80)]
    frame["same"] = 4.0
    frame["mostly empty"] = [1.0, 2.0] + [np.nan] * 78
    frame.loc[[3, 9, 30], "c"] = np.nan
    frame.to_csv("table.csv", index=False)
    return frame


def filled_rows():
    """The numbers of the table as the command line fills them."""
    from gramian.models.probabilistic.filling import fill_missing
    from gramian.sources import as_source

    source = as_source("table.csv", columns=list("abcde"))
    return fill_missing(source.map_rows(lambda block: block.rows)).rows


def test_messy_table_is_handled_and_said(table, capfd):
    """Text, ids, labels, holes, constants and scales each get their sentence; the files are there."""
    code, out, err = run_here(capfd, "pca", "table.csv")
    assert code == 0, err
    assert "Rows are named by 'id'" in out
    assert "Rows are colored by 'species'" in out
    assert "'comment'" in out
    assert "'mostly empty' (98% missing): more than half empty" in " ".join(out.split())
    assert "Filled 3 missing values" in out
    assert "'same': constant, so it tells nothing" in " ".join(out.split())
    assert "Scaled to unit variance: spreads differ" in " ".join(out.split())
    assert "PC1" in out
    assert "proved" in out
    del table
    found = {path.name for path in Path("table-pca").iterdir()}
    assert found == {"model.gramian", "scores.csv", "loadings.csv", "report.html"}


def test_same_numbers_from_every_door(table, capfd):
    """PCA().fit, the command line, its model file and its ONNX export give the same scores."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (extra onnx, group tests)")
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "--quiet")[0] == 0
    X = filled_rows()
    fitted = gramian.PCA(2, scale=True).fit(X)
    scores = fitted.transform(X)
    written = pd.read_csv("table-pca/scores.csv")
    assert np.allclose(written[["PC1", "PC2"]], scores, rtol=1e-9, atol=1e-12)
    assert list(written["row"]) == list(table["id"])
    model = archive.load("table-pca/model.gramian")
    assert np.allclose(model.project(X), scores, rtol=1e-10, atol=1e-12)
    again = gramian.load("table-pca/model.gramian")
    assert list(again.feature_names_in_) == list("abcde")
    assert np.allclose(again.transform(pd.DataFrame(X, columns=list("abcde"))), scores, rtol=1e-10, atol=1e-12)
    assert run_here(capfd, "export", "table-pca/model.gramian", "--to", "onnx")[0] == 0
    session = runtime.InferenceSession("table-pca/model.onnx", providers=["CPUExecutionProvider"])
    assert np.allclose(session.run(None, {"rows": X})[0], scores, rtol=1e-9, atol=1e-10)


def test_json_is_for_machines(table, capfd):
    """--json prints the whole answer and nothing else on stdout."""
    del table
    code, out, _ = run_here(capfd, "pca", "table.csv", "--json", "-k", "2", "--no-report")
    found = json.loads(out)
    assert code == 0
    assert found["components"] == 2
    assert found["columns"] == list("abcde")
    assert found["filled"] == 3
    assert all(line["grade"] == "proved" for line in found["certificate"])
    assert not any(name.endswith("html") for name in found["files"])


def test_dry_run_prints_the_plan_and_writes_nothing(table, capfd, tmp_path):
    """--dry-run says what would be done; no folder appears."""
    del table
    for verb in ("pca", "kpca", "ica"):
        code, out, err = run_here(capfd, verb, "table.csv", "--dry-run")
        assert code == 0, err
        assert "because" in out
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_what_can_be_copied_is_quoted(table, capfd):
    """A folder with a space and a quote in its name stands as a shell and Python read it."""
    del table
    folder = "ann's long name"
    code, out, err = run_here(capfd, "pca", "table.csv", "-k", "2", "-o", folder, "--no-report", "--quiet")
    assert code == 0, err
    line = next(line for line in out.splitlines() if line.startswith("Use it again: "))
    shell, python = line.removeprefix("Use it again: ").split("   or, in Python, ")
    assert shlex.split(shell)[2] == f"{folder}/model.gramian"
    assert eval(python, {"gramian": gramian}).n_components_ == 2  # noqa: S307 - the very line a person would copy


def test_dry_run_for_machines_is_json(table, capfd):
    """--dry-run --json prints one JSON value that holds the plan and the notes."""
    del table
    for verb in ("pca", "kpca", "ica"):
        code, out, err = run_here(capfd, verb, "table.csv", "--dry-run", "--json", "--quiet")
        assert code == 0, err
        found = json.loads(out)
        assert (found["method"], found["rows"], found["columns"]) == (verb, 80, list("abcde"))
        assert "because" in found["plan"]
        assert found["notes"]


def test_look_lists_columns_and_the_plan(table, capfd):
    """look names every column with its role, use, missing values and what its values are like."""
    code, out, _ = run_here(capfd, "look", "table.csv")
    assert code == 0
    assert all(name in out for name in table.columns)
    assert "gramian pca would do this" in out
    code, out, _ = run_here(capfd, "look", "table.csv", "--json", "--quiet")
    columns = {column["name"]: column for column in json.loads(out)["columns"]}
    assert columns["c"]["missing"] == 3
    assert columns["c"]["role"] == "quantity"
    assert len(columns["c"]["histogram"]) == 8
    assert columns["comment"]["use"] == "left_out"


def test_kernel_and_independent_components_end_in_a_folder(table, capfd):
    """kpca and ica write model, scores, loadings and page; their models open again."""
    del table
    for verb, prefix in (("kpca", "KPC"), ("ica", "IC")):
        code, out, err = run_here(capfd, verb, "table.csv", "-k", "2", "--quiet")
        assert code in (0, 7), err
        assert f"{prefix}1" in out
        scores = pd.read_csv(f"table-{verb}/scores.csv")[[f"{prefix}1", f"{prefix}2"]]
        again = gramian.load(f"table-{verb}/model.gramian")
        X = pd.DataFrame(filled_rows(), columns=list("abcde"))
        assert np.allclose(again.transform(X), scores, rtol=1e-6, atol=1e-8)


def test_project_finds_columns_by_name_and_fills_holes(table, capfd):
    """New rows may have other columns, another order, and holes."""
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "--quiet")[0] == 0
    new = table[["e", "d", "c", "b", "a", "species"]].iloc[:10].assign(extra=1.0)
    new.to_csv("new.csv", index=False)
    code, out, err = run_here(capfd, "project", "table-pca/model.gramian", "new.csv")
    assert code == 0, err
    assert "Filled 2 missing values" in err
    lines = out.splitlines()
    assert lines[0] == "row,species,PC1,PC2"
    whole = pd.read_csv("table-pca/scores.csv")
    complete = [i for i in range(10) if i not in (3, 9)]
    found = np.array([[float(cell) for cell in line.split(",")[2:]] for line in lines[1:]])
    assert np.allclose(found[complete], whole[["PC1", "PC2"]].to_numpy()[complete], rtol=1e-9)


def test_new_rows_are_named_by_what_named_the_rows(tmp_path, monkeypatch, capfd):
    """Of two rows every text tells them apart: what named the fit names them, and nothing does where it had none."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((40, 3)), columns=["p", "q", "r"]).assign(sex=["MALE", "FEMALE"] * 20)
    named = frame.assign(town=[f"Town {chr(65 + i % 26)}{chr(97 + i // 26)}" for i in range(40)])
    for table, text, first in ((frame, "plain", "1"), (named, "named", "Town Aa")):
        table.to_csv(f"{text}.csv", index=False)
        assert run_here(capfd, "pca", f"{text}.csv", "-k", "1", "--no-report", "--quiet")[0] == 0
        table.iloc[:2].to_csv("new.csv", index=False)
        code, out, err = run_here(capfd, "project", f"{text}-pca/model.gramian", "new.csv", "--quiet")
        assert code == 0, err
        assert out.splitlines()[1].split(",")[0] == first
    code, out, err = run_here(capfd, "project", "named-pca/model.gramian", "plain.csv", "--quiet")
    assert code == 0, err
    assert out.splitlines()[1].split(",")[0] == "1"


def test_rebuild_gives_rows_back(table, capfd):
    """All components give the rows themselves, two give rows near them."""
    assert run_here(capfd, "pca", "table.csv", "-k", "5", "--quiet")[0] == 0
    code, out, err = run_here(capfd, "rebuild", "table-pca/model.gramian", "table.csv", "--quiet")
    assert code == 0, err
    rows = np.array([[float(cell) for cell in line.split(",")[1:]] for line in out.splitlines()[1:]])
    known = ~np.isnan(table[list("abcde")].to_numpy()).any(axis=1)
    assert np.allclose(rows[known], table[list("abcde")].to_numpy()[known], rtol=1e-6)


def test_rebuild_takes_sources_out(table, capfd):
    """--without leaves sources out of rows; too large a number is said."""
    del table
    assert run_here(capfd, "ica", "table.csv", "-k", "2", "--quiet")[0] in (0, 7)
    filled = pd.DataFrame(filled_rows(), columns=list("abcde"))
    filled.to_csv("filled.csv", index=False)
    code, out, err = run_here(capfd, "rebuild", "table-ica/model.gramian", "filled.csv", "--without", "1", "--quiet")
    assert code == 0, err
    model = archive.load("table-ica/model.gramian")
    rows = np.array([[float(cell) for cell in line.split(",")] for line in out.splitlines()[1:]])
    assert np.allclose(rows, model.remove(filled.to_numpy(), [0]), rtol=1e-6, atol=1e-9)
    assert run_here(capfd, "rebuild", "table-ica/model.gramian", "filled.csv", "--without", "9")[0] == 2


def test_outliers_names_the_row_and_the_column(table, capfd):
    """A row put far out is the first one listed, with its column."""
    table.loc[17, "d"] = 50.0
    table.to_csv("table.csv", index=False)
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "--quiet")[0] == 0
    code, out, _ = run_here(capfd, "outliers", "table-pca/model.gramian", "table.csv", "--json", "--quiet")
    first = json.loads(out)["rows"][0]
    assert code == 0
    assert first["row"] == "row-17"
    assert first["blame"][0]["column"] == "d"


def test_compare_a_model_with_itself_and_another(table, capfd):
    """A model agrees with itself; one of other rows does so less."""
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "--quiet", "-o", "one")[0] == 0
    table.iloc[:20].to_csv("part.csv", index=False)
    assert run_here(capfd, "pca", "part.csv", "-k", "2", "--quiet", "-o", "two")[0] == 0
    code, out, _ = run_here(capfd, "compare", "one/model.gramian", "one/model.gramian")
    assert code == 0
    assert "same space" in out
    code, out, _ = run_here(capfd, "compare", "one/model.gramian", "two/model.gramian", "--json")
    assert code == 0
    assert json.loads(out)["columns"] == 5
    assert 0 < json.loads(out)["angles"][-1] < 90


def test_pca_and_outliers_name_as_many_rows(table, capfd):
    """Of Gaussian rows the fit, which looks for outlying ones, and the model that it wrote flag nearly the same."""
    del table
    X = np.random.default_rng(0).normal(size=(1000, 8)) * [9.0, 5.0, 3.0, 1.0, 0.5, 0.3, 0.2, 0.1]
    pd.DataFrame(X, columns=list("abcdefgh")).to_csv("uneven.csv", index=False)
    words = ("uneven.csv", "-k", "2", "--no-scale", "--no-report", "--quiet")
    code, said, err = run_here(capfd, "pca", *words)
    assert code == 0, err
    found = json.loads(run_here(capfd, "outliers", "uneven-pca/model.gramian", "uneven.csv", "--json", "--quiet")[1])
    flagged = int(re.search(r"(\d+) rows lie beyond the 99% limits", said)[1])
    assert abs(found["flagged"] - flagged) <= 3
    assert found["flagged"] < 40
    assert sum(f"row {line['row']} " in said for line in found["rows"][:5]) >= 4


def test_report_without_rows_leaves_the_page_of_the_fit(table, capfd, tmp_path):
    """The poorer page has a name of its own, and the words say how to see rows."""
    del table
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "--quiet")[0] == 0
    folder = tmp_path / "table-pca"
    before = (folder / "report.html").read_bytes()
    code, out, err = run_here(capfd, "report", "table-pca/model.gramian")
    assert code == 0, err
    assert out.strip() == "table-pca/report-model.html"
    assert "gramian report table-pca/model.gramian FILE" in err
    assert (folder / "report.html").read_bytes() == before
    assert "gramian report MODEL FILE shows one" in (folder / "report-model.html").read_text(encoding="utf-8")


def test_report_is_written_again(table, capfd, tmp_path):
    """report makes the page from a model, with rows or without."""
    del table
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "--quiet", "--no-report")[0] == 0
    assert not (tmp_path / "table-pca" / "report.html").exists()
    code, _, err = run_here(capfd, "report", "table-pca/model.gramian", "table.csv", "--quiet")
    assert code == 0, err
    assert (tmp_path / "table-pca" / "report.html").stat().st_size > 10_000
    assert run_here(capfd, "report", "table-pca/model.gramian", "-o", "bare.html", "--quiet")[0] == 0
    assert (tmp_path / "bare.html").exists()


@pytest.mark.parametrize("to", ["csv", "parquet", "npz"])
def test_export_to_tables(table, capfd, to, tmp_path):
    """The weights come out as they are in the model."""
    del table
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "--quiet", "--no-report")[0] == 0
    assert run_here(capfd, "export", "table-pca/model.gramian", "--to", to, "-o", f"m.{to}")[0] == 0
    model = archive.load("table-pca/model.gramian")
    if to == "npz":
        with np.load(tmp_path / "m.npz") as found:
            assert np.array_equal(found["components"], model.components)
        return
    frame = csv.read_csv("m.csv").to_pandas() if to == "csv" else pd.read_parquet("m.parquet")
    assert list(frame["column"]) == list("abcde")
    assert np.array_equal(frame[["PC1", "PC2"]].to_numpy().T, model.components)


def test_doctor_says_what_is_there(capfd):
    """doctor names the version, BLAS and every extra."""
    code, out, _ = run_here(capfd, "doctor")
    assert code == 0
    assert gramian.__version__ in out
    assert all(extra in out for extra in ("onnx", "torch", "dask"))
    assert json.loads(run_here(capfd, "doctor", "--json")[1])["cores"] >= 1


def test_demo_lists_the_demos(capfd):
    """Without a name, one line each; and each has a table."""
    from gramian.cli.demo import DEMOS, MAKERS

    code, out, _ = run_here(capfd, "demo")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()] == list(DEMOS) == list(MAKERS)


@pytest.mark.parametrize("name", ["wine", "digits", "zero-one", "circle", "rings", "particle", "cocktail", "ratings"])
def test_demo_ends_in_a_page(name, capfd, tmp_path, monkeypatch):
    """Each demo writes its table, fits it, and says where the page is."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run_here(capfd, "demo", name, "--quiet")
    assert code in (0, 7), err
    page = out.rsplit("The page: ", 1)[1].strip()
    assert page.endswith("report.html")
    assert (tmp_path / "demo" / f"{name}.csv").exists()
    assert "<html" in Path(page).read_text(encoding="utf-8")[:2000]


def test_help_teaches_by_examples(capfd):
    """Every verb's help has examples, and the first page lists every verb."""
    from gramian.cli.main import VERBS

    code, out, _ = run_here(capfd, "--help")
    assert code == 0
    assert all(verb in out for verb in VERBS)
    for verb in VERBS:
        code, out, _ = run_here(capfd, verb, "--help")
        assert code == 0
        assert "Examples:" in out or verb == "doctor"
