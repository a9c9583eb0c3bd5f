"""One table by three doors: the command line, gramian.analyze, and the estimator with what the analysis states."""

import csv
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import gramian
from gramian import PCA, as_source
from gramian.analysis.analyze import Request, analyze, analyze_table
from gramian.analysis.rows import measure_rows
from gramian.analysis.table import ReadOptions, SelectedRows, open_table
from gramian.cli.main import main
from gramian.cli.output import in_flags
from gramian.errors import InputError, ParameterError
from gramian.models.pca.fit import fit_pca, solve_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.scoring import find_outliers, hotelling_t2, reconstruction_error
from gramian.models.probabilistic.filling import fill_missing


def planted(n, d, k, seed, *, spreads=False, missing=0.0):
    """Rows of k directions and noise; columns of very different size, and values missing at random, where asked."""
    rng = np.random.default_rng(seed)
    X = 3.0 * rng.standard_normal((n, k)) @ rng.standard_normal((k, d)) + rng.standard_normal((n, d))
    X = X * 10.0 ** rng.uniform(-2, 2, d) if spreads else X
    X[rng.uniform(size=X.shape) < missing] = np.nan
    return X


TABLES = {
    "one size": planted(120, 5, 2, 0),
    "many sizes": planted(150, 7, 3, 1, spreads=True),
    "wide": planted(20, 45, 2, 2),
    "missing": planted(90, 6, 2, 3, missing=0.04),
    "missing, many sizes": planted(80, 8, 2, 4, spreads=True, missing=0.03),
}


def columns_of(X):
    """Columns of a table with names of the rows, a group and a constant column."""
    columns = {"who": [f"row {i}" for i in range(len(X))], "group": ["one" if i % 2 else "two" for i in range(len(X))]}
    columns |= {f"c{j}": [None if np.isnan(v) else float(v) for v in X[:, j]] for j in range(X.shape[1])}
    return columns | {"still": [4.0] * len(X)}


@pytest.fixture(params=list(TABLES))
def made(request, tmp_path, monkeypatch):
    """A table, as numbers, as columns and as a file in the current folder."""
    monkeypatch.chdir(tmp_path)
    X = TABLES[request.param]
    columns = columns_of(X)
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(["" if v is None else v for v in row] for row in zip(*columns.values(), strict=True))
    return X, columns


def test_command_line_analyze_and_estimator_agree(made, capfd, tmp_path):
    """All three give the same k, shares and scores; the estimator is told what the analysis states."""
    X, _ = made
    assert main(["pca", "t.csv", "--json", "--quiet", "--no-report"]) == 0
    said = json.loads(capfd.readouterr().out)
    found = gramian.analyze("t.csv")
    assert said["components"] == found.n_components
    assert said["columns"] == list(found.table.names)
    assert said["notes"] == [in_flags(note) for note in found.notes]
    np.testing.assert_allclose(said["shares"], found.model.shares, rtol=1e-12)
    with (tmp_path / "t-pca" / "scores.csv").open() as file:
        lines = list(csv.DictReader(file))
    written = np.array([[float(line[f"PC{j + 1}"]) for j in range(found.n_components)] for line in lines])
    np.testing.assert_allclose(written, found.kept_scores, rtol=1e-9, atol=1e-12)

    used = fill_missing(X, scale=found.table.filled_scaled).rows if np.isnan(X).any() else X
    estimator = PCA(found.n_components, scale=found.table.scale).fit(used)
    np.testing.assert_allclose(estimator.explained_variance_ratio_, found.model.shares, rtol=1e-9)
    largest = np.abs(written).max()
    np.testing.assert_allclose(estimator.transform(used), found.kept_scores, atol=1e-9 * largest)
    distances = estimator.outliers(used)
    np.testing.assert_allclose(distances.t2, found.measured.outliers.t2, rtol=1e-6, atol=1e-9)
    assert distances.t2_limit == pytest.approx(found.measured.outliers.t2_limit)


def test_a_table_in_memory_is_analyzed_as_its_file(made):
    """Text, ids, labels, constant columns and missing values of a frame are handled as those of a file."""
    pandas = pytest.importorskip("pandas")
    _, columns = made
    file = gramian.analyze("t.csv")
    for table in (pa.table(columns), pandas.DataFrame(columns)):
        found = gramian.analyze(table)
        assert found.table.names == file.table.names
        assert found.table.left_out == file.table.left_out
        assert found.table.labels["group"].tolist() == file.table.labels["group"].tolist()
        assert found.table.called == file.table.called
        assert found.n_components == file.n_components
        assert found.findings == file.findings
        np.testing.assert_allclose(found.scores, file.scores, rtol=1e-9, atol=1e-9 * np.abs(file.scores).max())


def test_a_note_says_how_numbers_that_were_left_out_are_taken():
    """A column of numbers that its name tells to be a code is left out; the note says the words that make it count."""
    rng = np.random.default_rng(0)
    numbers = {name: rng.standard_normal(60) for name in "abc"}
    table = pa.table(
        numbers | {"zip code": rng.integers(10_000, 99_999, 60), "customer_id": rng.permutation(1000)[:60]}
    )
    found = gramian.analyze(table, method="pca")
    assert found.table.names == ("a", "b", "c")
    (note,) = [str(note) for note in found.notes if "say what it is" in str(note)]
    assert "roles={'zip code': 'quantity'}" in note
    taken = gramian.analyze(table, method="pca", roles={"zip code": "quantity"})
    assert "zip code" in taken.table.names
    assert not any("say what it is" in str(note) for note in taken.notes)


def test_an_index_names_the_rows_of_a_pandas_frame():
    """An index of text is what rows are called; values of several kinds in a column are text."""
    pandas = pytest.importorskip("pandas")
    X = planted(30, 3, 1, 5)
    frame = pandas.DataFrame(X, columns=list("abc"), index=[f"unit {i}" for i in range(30)])
    frame["mixed"] = [1, "two", None] * 10
    found = gramian.analyze(frame)
    assert found.table.names == ("a", "b", "c")
    assert found.table.called[:2] == ["unit 0", "unit 1"]


def test_polars_frames_are_analyzed():
    """A polars frame gives what the Arrow table of it gives."""
    polars = pytest.importorskip("polars")
    columns = columns_of(TABLES["one size"])
    found, arrow = gramian.analyze(polars.DataFrame(columns)), gramian.analyze(pa.table(columns))
    assert found.findings == arrow.findings
    np.testing.assert_allclose(found.scores, arrow.scores)


@pytest.mark.parametrize("shape", [(300, 5), (50, 400)], ids=["tall", "wide"])
def test_tensors_are_analyzed(shape):
    """As the same rows are, of either shape and of float32: values and what is said of them."""
    torch = pytest.importorskip("torch")
    X = planted(*shape, 2, 9).astype(np.float32)
    here, there = gramian.analyze(X), gramian.analyze(torch.asarray(X))
    assert there.model.n_components == here.model.n_components
    np.testing.assert_allclose(there.model.variances, here.model.variances, rtol=1e-4)
    assert [str(finding) for finding in there.findings] == [str(finding) for finding in here.findings]


def test_columns_of_a_frame_are_chosen_by_name():
    """Columns, drop, id and color mean for a frame what they mean for a file; a wrong name is refused by name."""
    table = pa.table(columns_of(TABLES["one size"]))
    found = gramian.analyze(table, columns=["c0", "c1", "c2"], drop="c1", color="who", id="group")
    assert found.table.names == ("c0", "c2")
    assert list(found.labels) == ["who"]
    with pytest.raises(ParameterError, match="columns='height' matches no column of the table"):
        gramian.analyze(table, columns="height")


def test_two_columns_of_one_name_are_refused():
    """A frame with two columns of one name is refused, and the name said."""
    table = pa.table([[1.0, 2.0], [2.0, 1.0]], names=["a", "a"])
    with pytest.raises(InputError, match="more than one column called 'a'"):
        gramian.analyze(table)


def test_sentences_name_parameters_in_python_and_flags_in_a_shell(tmp_path, monkeypatch, capfd):
    """A refusal names missing= to Python and --missing to a shell."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("a,b\n1,2\n,3\n4,7\n5,5\n")
    with pytest.raises(InputError, match=r"or use missing='em' .* or missing='drop'"):
        gramian.analyze("t.csv", missing="error")
    assert main(["pca", "t.csv", "--missing", "error"]) == 3
    assert "use --missing em (filled by the rest of the row) or --missing drop" in capfd.readouterr().err
    with pytest.raises(ParameterError, match="missing='none' is none of"):
        gramian.analyze("t.csv", missing="none")


@pytest.mark.parametrize("name", ["one size", "many sizes", "wide"])
@pytest.mark.parametrize("k", [1, 2, 4])
def test_truncated_models_are_those_of_a_fit_of_so_many(name, k):
    """Cutting a model of all components gives what a fit of k gives, its noise, limits and certificate included."""
    source = as_source(TABLES[name])
    options = PCAOptions(scale=name == "many sizes")
    cut = fit_pca(source, options).truncated(k)
    own = fit_pca(source, replace(options, n_components=k))
    np.testing.assert_allclose(cut.components, own.components, atol=1e-9)
    np.testing.assert_allclose(cut.variances, own.variances)
    assert cut.noise_variance == pytest.approx(own.noise_variance)
    assert cut.left_out_dimensions == pytest.approx(own.left_out_dimensions)
    assert cut.options == own.options
    assert len(cut.certificate.lines) == k
    assert find_outliers(cut, source).spe_limit == pytest.approx(find_outliers(own, source).spe_limit)


def test_one_pass_measures_what_separate_passes_do():
    """Scores, both distances, and the values of the rows shown are those of the rows; the unusual ones are kept."""
    X = planted(5000, 6, 2, 6)
    X[4321] += 60.0
    source = as_source(X)
    model = fit_pca(source)
    found = measure_rows(model, source, n_components=2, seed=3)
    np.testing.assert_allclose(found.scores, model.project(source), atol=1e-9)
    known = solve_pca(source, PCAOptions("auto")).model(6).truncated(2)
    np.testing.assert_allclose(found.outliers.t2, hotelling_t2(known, source), rtol=1e-9)
    np.testing.assert_allclose(found.outliers.spe, reconstruction_error(known, source), rtol=1e-6, atol=1e-9)
    shown = found.shown(limit=400)
    assert len(shown.positions) == 400
    assert found.outliers.flagged[0] == 4321
    assert set(found.outliers.flagged[:200].tolist()) <= set(shown.positions.tolist())
    np.testing.assert_array_equal(shown.values, X[shown.positions][:, shown.columns])
    unusual = found.outlier_map([f"c{j}" for j in range(6)]).unusual
    assert [row.row for row in unusual] == found.outliers.flagged[:20].tolist()
    assert unusual[0].blame[0].value == pytest.approx(X[4321, int(unusual[0].blame[0].name[1:])])


def test_some_columns_of_a_source_are_read_as_such():
    """A selection of columns gives blocks, sums and rows of these columns, and opens nothing again."""
    X = planted(5000, 5, 1, 7)
    kept = np.array([True, False, True, True, False])
    some = SelectedRows(as_source(X, column_names=list("abcde")), kept)
    assert some.column_names == ("a", "c", "d")
    np.testing.assert_array_equal(some.map_rows(lambda block: block.rows), X[:, kept])
    total = some.reduce(lambda state, block: block.rows.sum(axis=0) + (0 if state is None else state), np.add)
    np.testing.assert_allclose(total, X[:, kept].sum(axis=0))
    np.testing.assert_allclose(fit_pca(some).variances, fit_pca(as_source(X[:, kept])).variances)


@pytest.mark.parametrize("method", ["kpca", "ica"])
def test_other_methods_are_analyzed_too(method, tmp_path):
    """Kernel PCA and ICA give an analysis with findings, scores and a page, and no distances."""
    rng = np.random.default_rng(8)
    X = rng.laplace(size=(200, 3)) @ rng.standard_normal((3, 3))
    found = gramian.analyze(pa.table({name: X[:, j] for j, name in enumerate("abc")}), method=method)
    assert found.distances is None
    assert found.findings
    assert found.scores.shape == (200, found.n_components)
    assert len(found.save(tmp_path / "out")) == 4


def test_a_table_that_is_ready_is_analyzed_again_without_being_opened():
    """One prepared table serves several requests."""
    table = open_table(as_source(TABLES["one size"], column_names=list("abcde")), ReadOptions())
    two, share = (analyze_table(table, Request(n_components=count)) for count in (2, 0.99))
    assert two.n_components == 2
    assert share.n_components > 2
    assert two.findings == two.at(2).findings


def test_unknown_words_are_refused():
    """A method or a keyword that there is not is refused by name."""
    X = TABLES["one size"]
    with pytest.raises(ParameterError, match="method='svd' is none of 'auto', 'pca', 'kpca', 'ica', 'mca', 'famd'"):
        gramian.analyze(X, method="svd")
    with pytest.raises(ParameterError, match="analyze takes no 'kernell'"):
        gramian.analyze(X, kernell="rbf")
    with pytest.raises(ParameterError, match=r"Make it with gramian\.analyze"):
        analyze(X).report("page.html")


@pytest.mark.parametrize("power", [200, -200])
def test_rows_near_the_end_of_the_range_are_analyzed(power):
    """Rows whose squares leave the range of floats have the components and shares of others, and plain notes."""
    X = TABLES["one size"]
    near, far = (gramian.analyze(X * 10.0**p) for p in (0, power))
    assert far.n_components == near.n_components
    np.testing.assert_allclose(far.model.shares, near.model.shares, rtol=1e-9)
    np.testing.assert_allclose(np.abs(far.model.components), np.abs(near.model.components), atol=1e-9)
    assert not any("encountered" in note for note in far.notes)


def test_constant_tables_are_refused():
    """Where nothing varies there is nothing to find, and that is said."""
    with pytest.raises(InputError, match="every column is constant over its 5 rows"):
        gramian.analyze(pa.table({"a": [1.0] * 5, "b": [2.0] * 5}))


def test_a_notebook_shows_findings_components_and_rows():
    """The view of a notebook has the lead sentences, a line per component and the map of rows, escaped."""
    columns = columns_of(TABLES["one size"])
    columns["<b>c5</b>"] = columns.pop("c4")
    found = gramian.analyze(pa.table(columns))
    html = found._repr_html_()
    assert found.findings[0].sentence[:40] in html
    assert html.count("<tr>") == 1 + min(found.n_components, 10)
    assert html.count("<circle") == 120
    assert "<b>c5" not in html
    assert len(html) < 100_000
    assert str(found).startswith("PCA of the table: 120 rows, 5 columns")


def test_a_quantity_colors_rows_by_its_numbers(tmp_path):
    """A column of numbers that is to color the rows is no group per number."""
    rng = np.random.default_rng(0)
    path = tmp_path / "t.csv"
    rows = rng.normal(size=(50, 3)).round(3)
    path.write_text("a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows.tolist()))
    found = gramian.analyze(path, color="c")
    np.testing.assert_allclose(found.labels["c"], rows[:, 2])
    assert not any("roles" in str(note) for note in found.notes)


def test_options_of_files_reach_an_analysis(tmp_path):
    """Words for missing values, the decimal sign and labels mean what they mean for as_source."""
    lines = [f"{i % 11},{i % 10};{i % 7},{i % 3}" for i in range(40)]
    lines[4] = "nope;1,5"
    (tmp_path / "t.csv").write_text("a;b\n" + "\n".join(lines))
    found = gramian.analyze(tmp_path / "t.csv", na="nope", decimal=",", labels=["x", "y"] * 20)
    assert found.table.n_filled == 1
    assert set(found.labels["labels"]) == {"x", "y"}
    with pytest.raises(ParameterError, match="are for files, and X is none"):
        gramian.analyze(np.eye(5), sheet="first")
    with pytest.raises(ParameterError, match="Pass a mapping of names to roles"):
        gramian.analyze(tmp_path / "t.csv", roles="a=quantity")


def test_intervals_of_pandas_are_a_category():
    """What pandas.cut gives colors the rows."""
    pd = pytest.importorskip("pandas")
    values = np.random.default_rng(0).normal(size=(60, 2))
    frame = pd.DataFrame({"x": values[:, 0], "y": values[:, 1], "g": pd.cut(values[:, 0], 3)})
    found = gramian.analyze(frame)
    assert found.table.names == ("x", "y")
    assert len(set(found.labels["g"])) == 3


def test_numbers_that_stand_for_missing_values_are_missing_where_none_may_be(tmp_path):
    """missing="error" refuses -999 too, which the notes would call missing."""
    lines = [f"{i % 5 + 1},{i}.5" for i in range(40)]
    lines[3] = lines[9] = "-999,1.5"
    (tmp_path / "t.csv").write_text("q,v\n" + "\n".join(lines))
    assert gramian.analyze(tmp_path / "t.csv").table.n_filled == 2
    with pytest.raises(InputError, match="row 4, column 'q' is missing"):
        gramian.analyze(tmp_path / "t.csv", missing="error")


def opened_with_infinity(kind, folder):
    """A source with names of a table of 60 rows, and the table: infinite in rows 41 and 50 of c, and 17 of d."""
    X = np.random.default_rng(0).standard_normal((60, 4))
    X[[41, 50, 17], [2, 2, 3]] = -np.inf, np.inf, np.inf
    names = list("abcd")
    if kind == "parquet":
        pd.DataFrame(X, columns=names).to_parquet(folder / "x.parquet")
        return X, gramian.as_source(folder / "x.parquet")
    if kind == "npy":
        np.save(folder / "x.npy", X)
        return X, gramian.as_source(folder / "x.npy", column_names=names)
    rows = sp.csr_array(X) if kind == "sparse" else X
    return X, gramian.as_source(rows, column_names=names)


@pytest.mark.parametrize("kind", ["dense", "sparse", "npy", "parquet"])
@pytest.mark.parametrize("missing", ["em", "error"])
def test_infinity_in_an_open_source_is_named_by_row_and_column(kind, missing, tmp_path):
    """The error has the first infinite cell of each column that has one, in the order of the columns, and no other."""
    X, source = opened_with_infinity(kind, tmp_path)
    cells = [(int(np.argmax(np.isinf(X[:, j]))), "abcd"[j]) for j in np.flatnonzero(np.isinf(X).any(axis=0))]
    assert cells == [(41, "c"), (17, "d")]
    with pytest.raises(InputError) as caught:
        gramian.analyze(source, missing=missing)
    errors = (caught.value, *caught.value.others)
    assert [(error.row, error.column) for error in errors] == cells
    for error, (row, name) in zip(errors, cells, strict=True):
        assert str(error).startswith(f"Row {row + 1}, column {name!r} holds infinity.")
        assert error.value == np.inf


def test_a_missing_value_is_not_taken_for_infinity():
    """Beside NaN in other columns the error names the infinite cell alone."""
    X = np.random.default_rng(1).standard_normal((30, 3))
    X[2, 0], X[20, 1] = np.nan, np.inf
    with pytest.raises(InputError, match=r"Row 21, column 'b' holds infinity") as caught:
        gramian.analyze(gramian.as_source(X, column_names=list("abc")))
    assert not caught.value.others
