import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gramian
from gramian import (
    FAMD,
    ICA,
    MCA,
    PCA,
    FastICA,
    FourierFeatures,
    IncrementalPCA,
    KernelPCA,
    Nystroem,
    PolynomialMap,
    ProbabilisticPCA,
    TruncatedSVD,
    kernels,
)
from gramian.errors import ModelFileError, NotSupportedError
from gramian.models.archive import file as archive
from gramian.models.ica.fit import fit_ica
from gramian.models.ica.model import ICAOptions
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source

# Some of the sources that are kept here are sums of many, and so nearly Gaussian: saving them is what is tested.
pytestmark = pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")

ESTIMATORS = [
    PCA(),
    PCA(2, whiten=True),
    PCA(0.9, scale=True, random_state=np.random.RandomState(3)),
    PCA("auto", ddof=0, progress=print),
    IncrementalPCA(2, batch_size=40),
    TruncatedSVD(2),
    KernelPCA(3, kernel="rbf", gamma="median"),
    KernelPCA(3, kernel="poly", degree=2, fit_inverse_transform=True),
    KernelPCA(3, kernel=kernels.Gaussian(0.2) + 0.5 * kernels.Linear(), pre_image="auto"),
    KernelPCA(3, kernel="rbf", landmarks=20, pre_image="distances"),
    KernelPCA(3, features=Nystroem("rbf", n_components=15, random_state=1)),
    KernelPCA(3, features=FourierFeatures("rbf", n_components=30)),
    ICA(3, random_state=0),
    ICA(2, fun="cube", runs=3, random_state=np.random.default_rng(4)),
    ICA(fun_args={"alpha": 1.5}, independence=False, w_init=np.eye(4)),
    FastICA(3, whiten="arbitrary-variance", random_state=0),
    ProbabilisticPCA(2, scale=True),
    MCA(2, missing="passive"),
    FAMD(2, supplementary=[1]),
    PolynomialMap(3),
    PolynomialMap(2, weights=False),
    FourierFeatures(gamma="median", n_components=31, random_state=np.random.default_rng(5)),
    Nystroem(n_components=20, landmarks="pivoted", random_state=np.random.RandomState(5)),
    Nystroem("laplacian", n_components=20, landmarks="kmeans"),
]


@pytest.fixture(scope="module")
def table():
    """A table of mixed sources, with names."""
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(300, 4)) @ rng.standard_normal((4, 4))
    return pd.DataFrame(X, columns=["a", "b", "c", "d"])


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda estimator: type(estimator).__name__)
def test_loaded_estimator_is_the_one_that_was_saved(estimator, table, tmp_path):
    """Scores, the way back, parameters, names and every fitted field are the same after a file."""
    fitted = estimator.fit(table)
    again = gramian.load(fitted.save(tmp_path / "m.gramian"))
    scores = fitted.transform(table)
    assert type(again) is type(fitted)
    assert np.allclose(again.transform(table), scores, rtol=1e-12, atol=1e-12)
    assert list(again.feature_names_in_) == list(table.columns)
    assert list(again.get_feature_names_out()) == list(fitted.get_feature_names_out())
    for name, value in vars(fitted).items():
        if name.endswith("_names_"):
            assert list(getattr(again, name)) == list(value)
        elif name.endswith("_") and isinstance(value, np.ndarray | int | float):
            assert np.allclose(getattr(again, name), value, rtol=1e-9) if name != "feature_names_in_" else True, name
    if "_preimage" in vars(fitted) or (hasattr(fitted, "inverse_transform") and not isinstance(fitted, KernelPCA)):
        there, back = again.inverse_transform(scores), fitted.inverse_transform(scores)
        assert np.array_equal(there, back) if back.dtype == object else np.allclose(there, back, rtol=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [PCA(2), KernelPCA(2, kernel="rbf"), ICA(2, random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_certificate_plan_and_report_travel(estimator, table, tmp_path):
    """What comes with the numbers prints the same after a file."""
    fitted = estimator.fit(table)
    again = gramian.load(fitted.save(tmp_path / "m.gramian"))
    for name in ("certificate_", "plan_", "independence_", "n_components_reason_"):
        if hasattr(fitted, name):
            assert str(getattr(again, name)) == str(getattr(fitted, name))


def test_sparse_rows_far_from_zero_are_counted_from_the_same_point(tmp_path):
    """The point that a linear kernel counts sparse rows from is in the file."""
    X = np.random.default_rng(0).standard_normal((30, 5))
    X[:, 0] += 1e6
    fitted = KernelPCA(2).fit(sp.csr_array(X))
    again = gramian.load(fitted.save(tmp_path / "m.gramian"))
    np.testing.assert_allclose(again.transform(sp.csr_array(X)), fitted.transform(sp.csr_array(X)), atol=1e-12)


def test_replaced_components_are_the_ones_saved(table, tmp_path):
    """A field that a person assigned is the one in the file."""
    fitted = PCA(2).fit(table)
    fitted.components_ = fitted.components_[::-1].copy()
    again = gramian.load(fitted.save(tmp_path / "m.gramian"))
    assert np.array_equal(again.components_, fitted.components_)


def test_batches_go_on_after_a_file(table, tmp_path):
    """A PCA of all components takes further batches as if it had never been in a file."""
    X = table.to_numpy()
    whole = PCA().fit(X)
    for make in (PCA, IncrementalPCA):
        again = gramian.load(make().fit(X[:200]).save(tmp_path / "m.gramian"))
        assert np.allclose(again.partial_fit(X[200:]).explained_variance_, whole.explained_variance_)


def test_models_of_functions_open_as_estimators(table, tmp_path):
    """A file written without an estimator, as the command line does, opens as one all the same."""
    source = as_source(table)
    pairs = [
        (fit_pca(source, PCAOptions(2, scale=True)), PCA(2, scale=True)),
        (
            fit_kernel_pca(source, KernelPCAOptions(2, kernels.Gaussian("median"))),
            KernelPCA(2, kernel="rbf", gamma="median"),
        ),
        (fit_ica(source, ICAOptions(2)), ICA(2)),
    ]
    for model, estimator in pairs:
        again = gramian.load(archive.save(model, tmp_path / "m.gramian", names=list(table.columns)))
        fitted = estimator.fit(table)
        assert type(again) is type(fitted)
        assert np.allclose(again.transform(table), fitted.transform(table))
        if hasattr(fitted, "whitening_"):
            assert np.allclose(again.whitening_, fitted.whitening_)


@pytest.mark.parametrize("estimator", [PolynomialMap(), Nystroem(n_components=9), ProbabilisticPCA(1)], ids=str)
def test_models_without_components_to_show_are_refused_by_name(estimator, table, tmp_path):
    """The command line and the archive's own door open models of components; they say who opens the others."""
    path = estimator.fit(table).save(tmp_path / "m.gramian")
    with pytest.raises(ModelFileError, match=r"gramian\.load opens it"):
        archive.open_archive(path)


@pytest.mark.parametrize("fields", [{}, {"error_estimate_": 3.0}])
def test_a_map_with_other_fields_is_refused(fields, table, tmp_path):
    """What is saved with a map is checked as a model is."""
    phi = Nystroem(n_components=9).fit(table)
    found = {"name": "Nystroem", "parameters": {"n_components": 9}, "fields": fields}
    path = archive.save(phi._map, tmp_path / "m.gramian", estimator=found)
    with pytest.raises(ModelFileError, match="estimator"):
        gramian.load(path)
    with pytest.raises(ModelFileError, match="names no estimator"):
        gramian.load(archive.save(phi._map, path))


def test_unfitted_estimator_is_not_saved(tmp_path):
    """Saving before fitting says so as every other method does."""
    for estimator in (PCA(), KernelPCA(), ICA(), ProbabilisticPCA(), Nystroem()):
        with pytest.raises(AttributeError, match="not fitted"):
            estimator.save(tmp_path / "m.gramian")


@pytest.mark.parametrize(
    "estimator",
    [KernelPCA(2, kernel=lambda x, y: float(x @ y)), ICA(2, fun=lambda x: (x**3, (3 * x**2).mean(axis=-1)))],
    ids=["kernel", "contrast"],
)
def test_own_functions_are_refused(estimator, table, tmp_path):
    """An estimator with a user's own function cannot be kept without code."""
    with pytest.raises(NotSupportedError, match="a function of one's own"):
        estimator.fit(table).save(tmp_path / "m.gramian")


@pytest.mark.parametrize(
    "found",
    [
        {"name": "PCA", "parameters": {"n_components": "seven"}, "fields": {}},
        {"name": "PCA", "parameters": {"shell": "sh"}, "fields": {}},
        {"name": "KernelPCA", "parameters": {}, "fields": {}},
        {"name": "os.system", "parameters": {}, "fields": {}},
        {"name": "IncrementalPCA", "parameters": {}, "fields": {}},
        {"name": "IncrementalPCA", "parameters": {}, "fields": {"var_": np.ones(2)}},
        {"parameters": {}},
    ],
    ids=["parameter", "unknown parameter", "other class", "no class", "missing field", "wrong field", "no name"],
)
def test_hostile_estimators_are_refused(found, table, tmp_path):
    """Parameters and classes that do not fit are refused as every fault of a file is."""
    path = archive.save(fit_pca(as_source(table)), tmp_path / "m.gramian", estimator=found)
    with pytest.raises(ModelFileError, match="estimator"):
        gramian.load(path)
