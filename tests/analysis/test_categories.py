"""Tables of categories: the method that is chosen, what is said of it, and columns that are only projected."""

import numpy as np
import pandas as pd
import pytest

import gramian
from gramian import FAMD, MCA
from gramian.errors import InputError, ParameterError


def people(n=300, seed=0, *, quantities=0, categories=4):
    """A table whose columns follow one hidden number."""
    rng = np.random.default_rng(seed)
    hidden = rng.standard_normal(n)
    words = np.array(["low", "middle", "high"], dtype=object)
    columns = {f"answer {j}": words[np.digitize(hidden + rng.normal(size=n), [-0.6, 0.6])] for j in range(categories)}
    columns |= {f"measure {j}": hidden + rng.normal(size=n) for j in range(quantities)}
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    "quantities, categories, method",
    [(0, 4, "mca"), (1, 4, "famd"), (1, 2, "famd"), (3, 3, "famd"), (4, 3, "pca"), (5, 1, "pca"), (2, 0, "pca")],
)
def test_the_columns_decide_the_method_and_it_is_said(quantities, categories, method):
    """Categories alone, one quantity, as many categories as quantities, or more quantities: the stated rule."""
    found = gramian.analyze(people(quantities=quantities, categories=categories))
    assert found.method == method
    said = " ".join(map(str, found.notes))
    words = {"mca": "Multiple correspondence analysis of 4 categories", "famd": "Factor analysis of mixed data, of"}
    assert words.get(method, "") in said
    assert ("method='famd' fits both" in said) == (method == "pca" and categories >= 2)


@pytest.mark.parametrize("asked", [{"columns": ["measure 0", "measure 1"]}, {"scale": True}, {"method": "pca"}])
def test_who_speaks_of_quantities_means_them(asked):
    """Columns, scaling or the method by name leave the categories as colors."""
    found = gramian.analyze(people(quantities=2), **asked)
    assert found.method == "pca"
    assert set(found.labels) == {f"answer {j}" for j in range(4)}


@pytest.mark.parametrize("kind, method", [(MCA, "mca"), (FAMD, "famd")])
def test_numbers_are_those_of_the_estimator(kind, method, tmp_path):
    """Eigenvalues and coordinates from a frame, a CSV file and the estimator; the model file opens as it."""
    X = people(quantities=0 if kind is MCA else 2)
    X.to_csv(tmp_path / "t.csv", index=False)
    fitted = kind(3).fit(X)
    for door in (X, tmp_path / "t.csv"):
        found = gramian.analyze(door, method=method, n_components=3)
        np.testing.assert_allclose(found.model.eigenvalues, fitted.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(np.abs(found.kept_scores), np.abs(fitted.transform(X)), atol=1e-9)
    files = found.save(tmp_path / "out")
    again = gramian.load(files[0])
    assert isinstance(again, kind)
    rows = again.transform(X[list(again.feature_names_in_)])
    np.testing.assert_allclose(np.abs(rows), np.abs(fitted.transform(X)), atol=1e-9)
    loadings = pd.read_csv(files[2])
    assert list(loadings["column"]) == list(found.table.names)
    assert files[3].read_text().count("answer 0=high") > 0


def test_independent_categories_do_not_stand_out():
    """Four categories that have nothing to do with each other: one component is kept, and that it is chance is said."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame({f"c{j}": rng.choice(list("abcde"[: j + 3]), 400) for j in range(4)})
    found = gramian.analyze(X)
    assert found.n_components == 1
    assert any("Nothing stands out of shuffled columns" in str(note) for note in found.notes)


@pytest.mark.parametrize(
    "n, method, count", [(14, "mca", "auto"), (14, "famd", 2), (400, "mca", 2), (400, "famd", "auto")]
)
def test_components_of_independent_categories_are_not_described(n, method, count):
    """However many components are asked for, and however few rows there are: nothing stands out, and none is said to.

    What noise reaches is what the rule that counts components found.
    """
    rng = np.random.default_rng(0)
    X = pd.DataFrame({f"c{j}": rng.choice(list("abcdef"), n) for j in range(4)})
    X["q"] = rng.standard_normal(n)
    found = gramian.analyze(X, method=method, n_components=count)
    said = {finding.kind: finding for finding in found.findings}
    assert not {"component", "plane"} & set(said)
    assert "of noise" not in str(said["noise"])
    assert said["noise"].numbers["noise_reaches"] == found.shuffled.detail["limits"][0]
    assert said["noise"].numbers["variance"] == pytest.approx(found.model.eigenvalues[0])


@pytest.mark.parametrize("method", ["mca", "famd"])
def test_components_that_stand_out_of_shuffled_columns_are_described(method):
    """Categories that follow one number are no noise."""
    kinds = {finding.kind for finding in gramian.analyze(people(quantities=1), method=method).findings}
    assert kinds & {"component", "plane"}
    assert "noise" not in kinds


def test_one_hidden_number_of_categories_is_found():
    """Categories that follow one number leave it as the first component, and some levels at its ends."""
    found = gramian.analyze(people())
    assert 1 <= found.n_components <= 2
    first = dict(zip(found.table.names, found.model.column_coordinates[:, 0], strict=True))
    ends = [(first[f"answer {j}=low"], first[f"answer {j}=high"]) for j in range(4)]
    assert all(low * high < 0 for low, high in ends)


@pytest.mark.parametrize("method", ["pca", "famd", "mca"])
def test_supplementary_columns_change_nothing(method):
    """The fit is that of the table without them; they are said with their correlations and ratios."""
    X = people(quantities=3)
    Y = X.assign(late=X["measure 0"] + X["measure 1"], side=np.where(X["measure 0"] > 0, "east", "west"))
    X_only, with_ = (
        gramian.analyze(X, method=method, n_components=2),
        gramian.analyze(Y, method=method, n_components=2, supplementary=["late", "side"]),
    )
    np.testing.assert_allclose(with_.model.variances, X_only.model.variances, rtol=1e-10)
    more = with_.supplementary
    truth = [np.corrcoef(Y["late"], with_.kept_scores[:, j])[0, 1] for j in range(2)]
    np.testing.assert_allclose(more.correlations[0], truth, atol=1e-10)
    east = (Y["side"] == "east").to_numpy()
    mean = with_.kept_scores[east].mean(axis=0)
    unit = np.sqrt(with_.model.variances) if method == "mca" else 1.0
    np.testing.assert_allclose(more.coordinates[0], mean / unit, atol=1e-9)
    assert any("Supplementary 'late', projected and not fitted" in str(note) for note in with_.notes)
    with pytest.raises(ParameterError, match="matches no column"):
        gramian.analyze(X, supplementary="lat")


def test_missing_cells_are_said():
    """A cell without a value is a level of its own, and the note names the column."""
    X = people()
    X.loc[::9, "answer 1"] = None
    found = gramian.analyze(X)
    assert "answer 1=(missing)" in found.table.names
    assert any("level of their own in 'answer 1'" in str(note) for note in found.notes)


def test_tables_without_categories_are_refused_by_name():
    """MCA of numbers alone says what to do, and so do rules that are of quantities."""
    with pytest.raises(InputError, match="has no category of 2 to 50 levels"):
        gramian.analyze(people(quantities=3, categories=0), method="mca")
    with pytest.raises(ParameterError, match="is for quantities"):
        gramian.analyze(people(), n_components="mle")


def test_every_category_can_color_the_map():
    """Labels hold every category, also of a PCA."""
    found = gramian.analyze(people(quantities=6, categories=3))
    assert found.method == "pca"
    assert set(found.groups) == {"answer 0", "answer 1", "answer 2"}


@pytest.mark.parametrize("quantities, method", [(0, "mca"), (2, "famd")])
def test_components_are_not_said_to_tell_the_categories_that_made_them(quantities, method):
    """Levels part the rows by construction: no group of a fitted category, and no cloud. They still color the map."""
    X = people(quantities=quantities)
    X["answer 4"] = X["answer 3"]
    found = gramian.analyze(X, method=method)
    assert not {"clouds", "group"} & {finding.kind for finding in found.findings}
    assert "answer 0" in found.labels


def test_nothing_is_said_of_columns_that_are_not_used():
    """Quantities with missing values: MCA takes none of them, fills none and keeps the rows."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.standard_normal(60), "b": rng.standard_normal(60)})
    frame[["k", "l"]] = rng.choice(["x", "y", "z"], (60, 2))
    frame.loc[::7, "a"] = np.nan
    for missing in ("em", "drop", "error"):
        found = gramian.analyze(frame, method="mca", missing=missing)
        assert found.table.source.n_rows == 60
        assert not any("missing value" in note for note in found.notes)


@pytest.mark.parametrize("n", [1, 40])
def test_mixed_data_without_a_category_or_rows_is_refused(n):
    """One row does not vary, and quantities alone are for PCA."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.standard_normal((n, 3)), columns=list("abc"))
    with pytest.raises(InputError, match="one row" if n == 1 else "no category"):
        gramian.analyze(frame, method="famd")
