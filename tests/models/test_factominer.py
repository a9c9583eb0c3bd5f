"""MCA and FAMD against FactoMineR: its own data sets where R has it, kept figures of shared tables elsewhere."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from gramian import FAMD, MCA
from tests.shared_data import DATA, needs_data

TABLES = DATA / "tables"
needs_tables = needs_data("tables")
needs_r = pytest.mark.skipif(shutil.which("Rscript") is None, reason="needs R with FactoMineR (r-cran-factominer)")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What FactoMineR says."""
    target = tmp_path_factory.mktemp("factominer")
    script = Path(__file__).with_name("factominer.R")
    done = subprocess.run([shutil.which("Rscript"), script, target], capture_output=True, text=True, check=False)
    if "there is no package called" in done.stderr:
        pytest.skip("R has no FactoMineR")
    assert done.returncode == 0, done.stderr
    return target


def numbers(folder, name):
    """One file of figures."""
    return pd.read_csv(folder / f"{name}.csv").to_numpy(dtype=float)


def level_figures(folder, name, own):
    """Figures of levels in the order of our columns: FactoMineR's names are levels, or column_level."""
    found = pd.read_csv(folder / f"{name}_levels.csv", index_col=0)
    texts = ["=".join(column.split("=")[1:]) for column in own]
    named = [
        text if text in found.index else column.replace("=", "_", 1) for text, column in zip(texts, own, strict=True)
    ]
    return np.split(found.loc[named].to_numpy(dtype=float), 4, axis=1)


def agree(found, truth, signs=1.0):
    """To 1e-6 of the largest, as asked; rounding leaves far less."""
    np.testing.assert_allclose(found * signs, truth, rtol=0, atol=1e-6 * max(1.0, np.abs(truth).max()))


@needs_r
@pytest.mark.parametrize("name", ["poison", "tea", "hobbies"])
def test_multiple_correspondence_analysis_is_that_of_factominer(name, folder):
    """Eigenvalues, rows, levels, contributions, cos2, tests, eta2 and supplementary columns, to 1e-6 up to sign."""
    X = pd.read_csv(folder / f"{name}_data.csv", keep_default_na=False)
    more = ["Age", "Time", "Sick", "Sex"] if name == "poison" else None
    mca = MCA(5, supplementary=more).fit(X)
    truth = numbers(folder, f"{name}_rows")
    rows = mca.transform(X)
    signs = np.sign((rows * truth).sum(axis=0))
    agree(mca.eigenvalues_, numbers(folder, f"{name}_eigenvalues")[:5, 0])
    agree(rows, truth, signs)
    coordinates, contributions, cos2, tests = level_figures(folder, name, mca.column_names_)
    agree(mca.column_coordinates_, coordinates, signs)
    agree(100 * mca.contributions_, contributions)
    agree(mca.cos2_, cos2)
    agree(mca.v_tests_, tests, signs)
    agree(mca.eta2_, numbers(folder, f"{name}_eta2"))
    if more:
        found = mca.supplementary_
        agree(found.correlations, numbers(folder, "poison_more_quantities"), signs)
        coordinates, tests = np.split(numbers(folder, "poison_more_levels"), 2, axis=1)
        agree(found.coordinates, coordinates, signs)
        agree(found.v_tests, tests, signs)
        agree(found.eta2, numbers(folder, "poison_more_eta2"))


@needs_r
@pytest.mark.parametrize("name", ["wine", "poison_mixed", "tea_mixed"])
def test_factor_analysis_of_mixed_data_is_that_of_factominer(name, folder):
    """Eigenvalues, rows, quantities, levels, contributions, cos2, tests and eta2, to 1e-6 up to sign."""
    X = pd.read_csv(folder / f"{name}_data.csv", keep_default_na=False)
    famd = FAMD(5).fit(X)
    truth = numbers(folder, f"{name}_rows")
    rows = famd.transform(X)
    signs, q = np.sign((rows * truth).sum(axis=0)), len(X.select_dtypes("number").columns)
    agree(famd.eigenvalues_, numbers(folder, f"{name}_eigenvalues")[:5, 0])
    agree(rows, truth, signs)
    agree(famd.column_coordinates_[:q], numbers(folder, f"{name}_quantities"), signs)
    coordinates, contributions, cos2, tests = level_figures(folder, name, famd.column_names_[q:])
    agree(famd.column_coordinates_[q:], coordinates, signs)
    agree(100 * famd.contributions_[q:], contributions)
    agree(famd.cos2_[q:], cos2)
    agree(famd.v_tests_, tests, signs)
    agree(famd.eta2_, numbers(folder, f"{name}_eta2"))


# Kept figures: R 4.2.2, FactoMineR 2.7, options(digits = 15). Rows with a missing cell were left out first; the calls
# are MCA(q, graph = FALSE, ncp = 3) and FAMD(f, graph = FALSE, ncp = 3) of the columns named here.

# Of the first columns of scikit-learn's tables and their group; for MCA each was cut into three equal ranges. The first
# three eigenvalues, the coordinates of the first row, and those of the first group.
CODED = {
    ("iris", 4): [
        [0.797427533889888, 0.581567345354610, 0.198771213257461],
        [1.2110830984043999, 0.0372761975116561, 0.3578070872807914],
        [1.397845020545356309, 0.056129326451872526, 0.000266433505453808],
    ],
    ("wine", 6): [
        [0.395273188192873, 0.320345303781006, 0.213472176816066],
        [0.996294495083156, 0.168363844029130, 0.236309896467651],
        [1.203903889716727, 0.359427633081209, 0.101104938743642],
    ],
    ("breast_cancer", 5): [
        [0.580350909324153, 0.391144728216264, 0.171174511180868],
        [0.944879618953809, 0.564372056516530, 0.173382936647012],
        [0.6672321547328911, 0.1158780540566826, 0.0310198974811343],
    ],
}
MIXED = {
    ("iris", 4): [
        [3.870158529226933, 1.342224296173706, 0.591708820935822],
        [2.6439066745986386, 0.6039664592273668, 0.0625243619037263],
        [2.6055640998016658, 0.4825098086559348, 0.0863910817228621],
    ],
    ("wine", 6): [
        [2.62483256105616, 2.09554728744598, 1.24496466195931],
        [2.9356630822176975, 0.6268726711129871, 0.0673859221857649],
        [2.0933854543248560, 0.3127303943833564, 0.0511116809752831],
    ],
    ("breast_cancer", 5): [
        [3.829313323587126, 1.033959872148895, 0.828982376685235],
        [1.97568480965230, 2.34730684129691, 1.55883484731937],
        [1.282801169815954, 0.100278934957729, 0.149646731121539],
    ],
}


@pytest.mark.parametrize(
    "kind, name, columns, truth",
    [(kind, *key, truth) for kind, kept in ((MCA, CODED), (FAMD, MIXED)) for key, truth in kept.items()],
)
def test_tables_of_scikit_learn_are_those_of_factominer(kind, name, columns, truth):
    """Eigenvalues, a row and a level, up to sign: three tables, by both methods, where there is no R."""
    bunch = getattr(sklearn.datasets, f"load_{name}")(as_frame=True)
    X = bunch.data.iloc[:, :columns]
    if kind is MCA:
        X = X.apply(lambda x: pd.cut(x, 3, labels=["low", "middle", "high"]).astype(str))
    X = X.assign(group=bunch.target_names[bunch.target])
    fitted = kind(3).fit(X)
    level = fitted.column_names_.tolist().index(f"group={min(bunch.target_names)}")
    found = [fitted.eigenvalues_, np.abs(fitted.transform(X)[0]), np.abs(fitted.column_coordinates_[level])]
    np.testing.assert_allclose(found, truth, atol=1e-9)


@needs_tables
def test_penguins_as_categories_are_those_of_factominer():
    """Species, island, clutch and sex of 333 penguins: all eigenvalues, and two rows."""
    X = pd.read_csv(TABLES / "penguins_raw_messy.csv")[["Species", "Island", "Clutch Completion", "Sex"]].dropna()
    mca = MCA().fit(X)
    truth = [0.466341792458269, 0.361308406306926, 0.250630794718667]
    truth += [0.241095235721083, 0.133247656052489, 0.047376114742571]
    np.testing.assert_allclose(mca.eigenvalues_, truth, atol=1e-12)
    rows = [[0.205695552015344, 1.23377130946557, 0.534183995144315]]
    rows += [[0.223397786519664, 1.25934211395641, 0.424333914932438]]
    np.testing.assert_allclose(np.abs(mca.transform(X)[:2, :3]), rows, atol=1e-10)


@needs_tables
def test_penguins_as_mixed_data_are_those_of_factominer():
    """Species, island, sex and four measures of 333 penguins."""
    measures = ["Culmen Length (mm)", "Culmen Depth (mm)", "Flipper Length (mm)", "Body Mass (g)"]
    X = pd.read_csv(TABLES / "penguins_raw_messy.csv")[["Species", "Island", "Sex", *measures]].dropna()
    famd = FAMD(3).fit(X)
    np.testing.assert_allclose(famd.eigenvalues_, [4.20100328403025, 1.99778970241811, 1.40809756295881], atol=1e-12)
    first = [0.668808816342453, -0.720105590663928, 0.935576990728136, 0.901797220248903]
    np.testing.assert_allclose(famd.column_coordinates_[:4, 0], first, atol=1e-10)


@needs_tables
def test_the_decathlon_with_its_competition_is_that_of_factominer():
    """Ten events and the competition of 41 athletes."""
    X = pd.read_csv(TABLES / "decathlon.csv", index_col=0).iloc[:, [*range(10), 12]]
    famd = FAMD(3).fit(X)
    np.testing.assert_allclose(famd.eigenvalues_, [3.34617317758024, 1.73832019429645, 1.50679977508948], atol=1e-12)
    levels = [[0.877038874994177, 0.1180410234372465, 0.983299786318012]]
    levels += [[0.407196620533011, 0.0548047608815789, 0.456532043647649]]
    np.testing.assert_allclose(np.abs(famd.column_coordinates_[10:]), levels, atol=1e-10)
