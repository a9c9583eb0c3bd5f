"""MCA and FAMD in scikit-learn's manners: tables in, coordinates out, new rows, files and parameters."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import gramian
from gramian import FAMD, MCA
from gramian.errors import InputError, NotSupportedError, ParameterError


@pytest.fixture(scope="module")
def table():
    """People: two quantities, three categories that follow a hidden number, cells missing in one."""
    rng = np.random.default_rng(0)
    hidden = rng.standard_normal(240)
    color = np.array(["red", "green", "blue"], dtype=object)[np.digitize(hidden + rng.normal(size=240), [-0.5, 0.8])]
    size = np.array(["small", "large"], dtype=object)[(hidden + rng.normal(size=240) > 0).astype(int)]
    shape = rng.choice(["round", "long"], 240).astype(object)
    color[::17] = None
    return pd.DataFrame(
        {
            "weight": 3 * hidden + rng.normal(size=240),
            "color": color,
            "size": size,
            "age": rng.integers(20, 80, 240) + 0.5,
            "shape": shape,
        }
    )


CATEGORIES = ["color", "size", "shape"]


@pytest.mark.parametrize("kind", [MCA, FAMD])
def test_every_door_gives_the_same_numbers(kind, table, tmp_path):
    """pandas, polars, Arrow, arrays of objects, CSV and Parquet; whole or by their path."""
    X = table[CATEGORIES] if kind is MCA else table
    X.to_csv(tmp_path / "t.csv", index=False)
    X.to_parquet(tmp_path / "t.parquet")
    first = kind(2).fit(X)
    rows = first.transform(X)
    doors = (
        pl.from_pandas(X),
        pa.Table.from_pandas(X),
        X.to_numpy(dtype=object),
        tmp_path / "t.csv",
        tmp_path / "t.parquet",
    )
    for door in doors:
        other = kind(2).fit(door)
        np.testing.assert_allclose(other.eigenvalues_, first.eigenvalues_, rtol=1e-10)
        np.testing.assert_allclose(other.transform(door), rows, atol=1e-9)
    np.testing.assert_allclose(first.transform(tmp_path / "t.csv"), rows, atol=1e-9)
    path = first.write_scores(X, tmp_path / "scores.npy")
    np.testing.assert_allclose(np.load(path), rows, atol=1e-12)


def test_a_file_of_categories_alone_is_fitted(table, tmp_path):
    """A table without a column of numbers is one for MCA, and quantities of a file are left out of it."""
    table.to_csv(tmp_path / "mixed.csv", index=False)
    found = MCA().fit(tmp_path / "mixed.csv")
    np.testing.assert_allclose(found.eigenvalues_, MCA().fit(table[CATEGORIES]).eigenvalues_, rtol=1e-10)
    assert list(found.feature_names_in_) == CATEGORIES


def test_numbers_are_levels_to_mca_and_quantities_to_famd():
    """MCA takes every column for a category; FAMD of numbers is PCA of their correlations until told otherwise."""
    X = np.random.default_rng(0).integers(0, 3, (60, 3)).astype(float)
    assert MCA().fit(X).levels_["x0"] == ("0", "1", "2")
    assert FAMD().fit(X).levels_ == {}
    np.testing.assert_allclose(FAMD().fit(X).eigenvalues_.sum(), 3.0)
    both = FAMD(categories=[0, 1, 2]).fit(X)
    np.testing.assert_allclose(both.eigenvalues_, 3 * MCA().fit(X).eigenvalues_, rtol=1e-9)
    assert FAMD(categories="a").fit(pd.DataFrame(X, columns=["a", "b", "c"])).levels_ == {"a": ("0", "1", "2")}


@pytest.mark.parametrize("kind", [MCA, FAMD])
def test_unseen_levels_are_refused_or_ignored(kind, table):
    """A refusal names column, level and row; ignored, a row stands where its other columns put it."""
    X = table[CATEGORIES] if kind is MCA else table
    new = X.iloc[:5].copy()
    new.loc[3, "size"] = "huge"
    with pytest.raises(InputError, match="'size' has the level 'huge' in row 3"):
        kind(2).fit(X).transform(new)
    fitted = kind(2, handle_unknown="ignore").fit(X)
    rows = fitted.transform(new)
    np.testing.assert_allclose(rows[:3], fitted.transform(X)[:3], atol=1e-12)
    # The average over both levels, by their shares.
    shares = X["size"].value_counts(normalize=True)
    placed = sum(share * fitted.transform(new.iloc[3:4].assign(size=level)) for level, share in shares.items())
    np.testing.assert_allclose(rows[3], placed[0], atol=1e-10)


def test_missing_cells_of_new_rows(table):
    """Passive cells need no level in the fit; a level of missing cells is known where the fit had some."""
    X = table[CATEGORIES]
    new = X.iloc[:3].assign(shape=None)
    passive = MCA(2, missing="passive").fit(X)
    assert np.isfinite(passive.transform(new)).all()
    known = MCA(2).fit(X)
    assert known.levels_["color"] == ("blue", "green", "red", "")
    assert np.isfinite(known.transform(X.iloc[:1])).all()
    with pytest.raises(InputError, match="NaN"):
        FAMD(2).fit(table.assign(weight=np.where(table["age"] > 60, np.nan, table["weight"])))
    gone = table.assign(weight=np.where(table["age"] > 60, np.nan, table["weight"]))
    found = FAMD(2, missing="passive").fit(gone)
    assert np.isfinite(found.transform(gone)).all()


def test_supplementary_columns_are_projected(table):
    """They change no number of the fit, and new rows may have anything in them."""
    with_ = FAMD(2, supplementary=["shape", "age"]).fit(table)
    without = FAMD(2).fit(table[["weight", "color", "size"]])
    np.testing.assert_allclose(with_.eigenvalues_, without.eigenvalues_, rtol=1e-12)
    assert with_.supplementary_.names == ("shape=long", "shape=round")
    assert with_.supplementary_.correlations.shape == (1, 2)
    changed = table.assign(shape="never seen")
    np.testing.assert_allclose(with_.transform(changed), with_.transform(table))
    mca = MCA(2, supplementary="weight").fit(table.drop(columns="age"))
    assert mca.supplementary_.quantities == ("weight",)
    assert abs(mca.supplementary_.correlations[0, 0]) > 0.5
    with pytest.raises(ParameterError, match="supplementary names 'wieght'"):
        MCA(supplementary="wieght").fit(table)


@pytest.mark.parametrize("kind", [MCA, FAMD])
def test_all_components_lead_back_to_the_table(kind, table):
    """inverse_transform of the coordinates of a full fit gives levels and numbers back."""
    X = table[CATEGORIES] if kind is MCA else table
    fitted = kind().fit(X)
    back = pd.DataFrame(fitted.inverse_transform(fitted.transform(X)), columns=X.columns)
    for name in CATEGORIES:
        assert (back[name].fillna("-") == X[name].fillna("-")).all()
    if kind is FAMD:
        np.testing.assert_allclose(back["weight"].astype(float), X["weight"], atol=1e-9)


@pytest.mark.parametrize("kind", [MCA, FAMD])
def test_clones_pickles_and_files_are_the_same_estimator(kind, table, tmp_path):
    """What was fitted survives; a clone is not fitted."""
    X = table[CATEGORIES] if kind is MCA else table
    fitted = kind(2, supplementary=["shape"]).fit(X)
    rows = fitted.transform(X)
    for again in (pickle.loads(pickle.dumps(fitted)), gramian.load(fitted.save(tmp_path / "m.gramian"))):
        np.testing.assert_allclose(again.transform(X), rows, atol=1e-12)
        np.testing.assert_allclose(again.supplementary_.coordinates, fitted.supplementary_.coordinates)
        np.testing.assert_allclose(again.cos2_, fitted.cos2_)
        assert again.levels_ == fitted.levels_
    assert not hasattr(clone(fitted), "eigenvalues_")
    piped = make_pipeline(kind(2), StandardScaler()).set_output(transform="pandas").fit_transform(X)
    np.testing.assert_allclose(piped.to_numpy().std(axis=0), 1.0)


@pytest.mark.parametrize("kind", [MCA, FAMD])
def test_a_page_is_written(kind, table, tmp_path):
    """The page names levels as columns and can be colored by every category."""
    X = table[CATEGORIES] if kind is MCA else table
    page = kind(3).fit(X).report(tmp_path / "page.html", X).read_text()
    assert "size=small" in page
    assert all(name in page for name in CATEGORIES)


def test_shares_and_automatic_numbers_of_components(table):
    """A share of the inertia, and the rule of shuffled columns with its reason."""
    some = FAMD(0.5).fit(table)
    assert some.explained_inertia_ratio_.sum() > 0.5 >= some.explained_inertia_ratio_[:-1].sum()
    found = FAMD("auto").fit(table)
    assert found.n_components_ < FAMD().fit(table).n_components_
    assert "shuffled" in found.n_components_reason_
    np.testing.assert_array_equal(FAMD("auto").fit(table).eigenvalues_, found.eigenvalues_)


@pytest.mark.parametrize(
    "asked, words",
    [
        ({"n_components": 0}, "n_components=0 is not a value that MCA takes"),
        ({"missing": "drop"}, "Pass 'level', 'passive'"),
        ({"handle_unknown": "use"}, "Pass 'error', 'ignore'"),
        ({"n_components": 99}, "99 is more than the 5 components"),
    ],
)
def test_parameters_outside_their_limits_are_refused(asked, words, table):
    """In a sentence that says what may be passed."""
    with pytest.raises(ParameterError, match=words):
        MCA(**asked).fit(table[CATEGORIES])


def test_what_holds_no_levels_is_refused():
    """Sparse arrays and Dask collections, with what to do."""
    scipy_sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(NotSupportedError, match="X is sparse"):
        MCA().fit(scipy_sparse.eye(5, format="csr"))
    da = pytest.importorskip("dask.array")
    with pytest.raises(NotSupportedError, match=r"X\.compute"):
        MCA().fit(da.ones((5, 2)))
    with pytest.raises(InputError, match="Expected 2D array"):
        MCA().fit(np.array(["a", "b"], dtype=object))
