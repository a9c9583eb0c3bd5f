"""What estimators have in common: the table of the documentation, the words, and the names that users see."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import gramian
from gramian.errors import ParameterError
from gramian.estimators import every_estimator

# Two columns of Laplace noise each: what is unmixed is not the point here.
pytestmark = pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")

PAGE = Path(__file__).parents[2] / "docs" / "estimators.rst"
WORDS = {
    "memory_budget": "Bytes that a fit may use beyond the rows. None: three quarters of the machine's memory.",
    "device": "Where to compute. None: where the rows are. Rows",
    "progress": "Called with a sentence before each stage of the work",
    "sample_weight": "How often each row counts: a weight is a repetition.",
}


def documented():
    """The table of the page: for each estimator, what stands under each heading."""
    rows = PAGE.read_text().split("\n   * - ")[1:]
    head, *lines = [[cell.split("\n")[0].strip("`") for cell in row.split("\n     - ")] for row in rows]
    return {line[0]: dict(zip(head[1:], line[1:], strict=True)) for line in lines}


def has(kind, name):
    """Whether a class has a parameter, a method, a property, or an argument of its fit."""
    if name == "sample_weight":
        return name in inspect.signature(kind.fit).parameters
    return name in inspect.signature(kind).parameters or hasattr(kind, name)


def test_the_table_of_the_documentation_is_true():
    """Every estimator has what the page says, and the page gives a reason for whatever one has not."""
    table = documented()
    reasons = set(re.findall(r"^(\d)\. ", PAGE.read_text(), re.MULTILINE))
    assert list(table) == [kind.__name__ for kind in every_estimator()]
    for kind in every_estimator():
        for name, cell in table[kind.__name__].items():
            assert has(kind, name) == (cell == "yes"), (kind, name)
            assert cell in {"yes"} | reasons, (kind, name)


@pytest.mark.parametrize("kind", every_estimator())
def test_weights_stand_in_the_same_place(kind):
    """fit, fit_transform and partial_fit take (X, y, sample_weight); scikit-learn's check_input stays third."""
    for method in ("fit", "fit_transform", "partial_fit"):
        if not hasattr(kind, method) or not has(kind, "sample_weight"):
            continue
        names = list(inspect.signature(getattr(kind, method)).parameters)
        own = ["check_input"] if (kind.__name__, method) == ("IncrementalPCA", "partial_fit") else []
        assert names == ["self", "X", "y", *own, "sample_weight"]


@pytest.mark.parametrize("kind", every_estimator())
def test_the_same_parameter_has_the_same_words(kind):
    """One sentence describes each shared parameter, wherever it is; a class whose meaning is narrower says so."""
    narrower = {("KernelPCA", "device")} | {(name, "memory_budget") for name in MAPS}
    for name in ("memory_budget", "device", "progress"):
        if has(kind, name) and (kind.__name__, name) not in narrower and kind is not gramian.FastICA:
            assert WORDS[name] in " ".join(inspect.getdoc(kind).split()), name
    if has(kind, "sample_weight"):
        methods = [getattr(kind, m) for m in ("fit", "fit_transform", "partial_fit") if hasattr(kind, m)]
        assert all(WORDS["sample_weight"] in " ".join(inspect.getdoc(method).split()) for method in methods)


MAPS = ("PolynomialMap", "Nystroem", "FourierFeatures")


@pytest.fixture
def X():
    """Rows that can be unmixed."""
    return np.random.default_rng(0).laplace(size=(400, 3))


@pytest.mark.parametrize("kind", [kind for kind in every_estimator() if has(kind, "progress")])
def test_progress_is_heard(kind, X):
    """A fit says at least once what it is about to do, in sentences."""
    heard = []
    kind(progress=heard.append).fit(X)
    assert heard
    assert all(isinstance(sentence, str) and sentence for sentence in heard)


@pytest.mark.parametrize("kind", [kind for kind in every_estimator() if has(kind, "device")])
def test_a_device_that_rows_are_not_on_is_refused(kind, X):
    """The device of the rows is taken, one that is not there is refused before any work."""
    kind(device="cpu").fit(X)
    with pytest.raises(ParameterError, match="device='cuda:99', and "):
        kind(device="cuda:99").fit(X)


def test_features_beyond_the_budget_are_refused(X):
    """A map returns no more features than its memory_budget has room for."""
    phi = gramian.FourierFeatures(n_components=1000, memory_budget=100_000).fit(X)
    with pytest.raises(MemoryError, match="memory_budget"):
        phi.transform(X)


def test_whitening_of_sources_keeps_the_budget():
    """FastICA too refuses work that does not fit, before it starts."""
    with pytest.raises(MemoryError, match="memory_budget"):
        gramian.FastICA(memory_budget=1000).fit(np.random.default_rng(0).laplace(size=(100, 60)))


LEARNING = "fit fit_transform transform"
SKLEARN = "get_feature_names_out get_metadata_routing get_params set_output set_params"
FILES = "save write_scores plot report"
BACK = "inverse_transform reconstruction_error"
PROOF = "certificate_ plan_"
GAUSSIAN = "get_covariance get_precision hotelling_t2 loadings_ outliers rank_ score score_samples summary"
CODED = (
    "column_coordinates_ contributions_ cos2_ eta2_ inverse_transform n_components_reason_ set_fit_request "
    "supplementary_ v_tests_"
)
NAMES = {
    "PCA": f"{LEARNING} {SKLEARN} {FILES} {BACK} {PROOF} {GAUSSIAN} n_components_reason_ partial_fit power_trace_ "
    "scale_ set_fit_request set_partial_fit_request",
    "IncrementalPCA": f"{LEARNING} {SKLEARN} {FILES} {BACK} {PROOF} {GAUSSIAN} partial_fit "
    "set_fit_request set_partial_fit_request",
    "TruncatedSVD": f"{LEARNING} {SKLEARN} {FILES} {BACK} {PROOF} set_fit_request",
    "KernelPCA": f"{LEARNING} {SKLEARN} {FILES} {BACK} {PROOF} approximate_ error_estimate_ n_components_reason_ "
    "pre_images set_fit_request",
    "ICA": f"{LEARNING} {SKLEARN} {FILES} inverse_transform remove independence_ mutual_information_drop_ stability_ "
    "set_fit_request set_inverse_transform_request set_transform_request",
    "FastICA": f"{LEARNING} {SKLEARN} {FILES} inverse_transform remove "
    "set_fit_request set_inverse_transform_request set_transform_request",
    "ProbabilisticPCA": f"{LEARNING} {SKLEARN} save inverse_transform get_covariance impute predict "
    "sample_imputations score score_entries score_samples set_predict_request transform_std",
    "MCA": f"{LEARNING} {SKLEARN} {FILES} {PROOF} {CODED} benzecri_ greenacre_ratio_",
    "FAMD": f"{LEARNING} {SKLEARN} {FILES} {PROOF} {CODED}",
    **dict.fromkeys(MAPS, f"{LEARNING} {SKLEARN} save"),
}


@pytest.mark.parametrize("kind", every_estimator())
def test_dir_shows_what_is_for_users(kind):
    """A class has these public names and no others; a new one is a decision, made here."""
    assert {name for name in dir(kind) if not name.startswith("_")} == set(NAMES[kind.__name__].split())


@pytest.mark.parametrize("kind", every_estimator())
def test_a_fit_adds_documented_fields_alone(kind, X):
    """Whatever dir() of a fitted estimator shows is a name of its class, a parameter, or in its documentation."""
    fitted = kind().fit(X)
    text = inspect.getdoc(kind) + (inspect.getdoc(gramian.ICA) if kind is gramian.FastICA else "")
    known = set(NAMES[kind.__name__].split()) | set(fitted.get_params())
    for name in dir(fitted):
        if not name.startswith("_") and name not in known:
            assert name.endswith("_")
            assert re.search(rf"\b{name}\b", text), name


def test_as_source_is_public():
    """Refusals name gramian.as_source, so it is there."""
    rows = gramian.as_source([[1.0, 2.0], [3.0, 5.0]])
    assert gramian.PCA(1).fit(rows).components_.shape == (1, 2)
    assert "as_source" in dir(gramian)
