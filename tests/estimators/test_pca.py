import numpy as np
import pytest
import scipy.sparse as sp
import sklearn.decomposition

from gramian import PCA, IncrementalPCA
from gramian.errors import InputError, ParameterError
from gramian.testing import assert_same_subspace, rows_with_spectrum
from tests.catalog import DOORS, OUR_SOLVERS, SCIKIT_LEARN_SOLVERS, host, parameters

FIELDS = (
    "components_",
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "mean_",
    "noise_variance_",
    "n_components_",
    "n_samples_",
    "n_features_in_",
)


@pytest.fixture
def X():
    """Rows of planted spectrum with a mean."""
    rows, _ = rows_with_spectrum(n=60, d=8, values=[16, 9, 4, 2, 1, 0.5, 0.25, 0.1], seed=1)
    return rows + np.arange(8)


@pytest.mark.parametrize("n_components", [None, 3, 0.9, "mle"])
@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_same_fields_as_scikit_learn(X, n_components, shape):
    """Every fitted field equals that of scikit-learn's full solver."""
    rows = X if shape == "tall" else X.T
    if shape == "wide" and n_components in {None, "mle"}:
        n_components = 7
    ours = PCA(n_components, svd_solver="full").fit(rows)
    theirs = sklearn.decomposition.PCA(n_components, svd_solver="full").fit(rows)
    for name in FIELDS:
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("whiten", [False, True])
def test_same_scores_as_scikit_learn(X, whiten):
    """Scores and reconstructions equal scikit-learn's, whitened or not."""
    ours, theirs = (module(3, whiten=whiten).fit(X) for module in (PCA, sklearn.decomposition.PCA))
    scores = ours.transform(X)
    np.testing.assert_allclose(scores, theirs.transform(X), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.inverse_transform(scores), theirs.inverse_transform(scores), rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(ours.fit_transform(X), scores, rtol=1e-9, atol=1e-11)


def test_same_likelihood_as_scikit_learn(X):
    """Covariance, precision and likelihoods equal scikit-learn's when it does not whiten."""
    ours, theirs = PCA(3).fit(X), sklearn.decomposition.PCA(3).fit(X)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.get_precision(), theirs.get_precision(), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-9)
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-12)


@pytest.mark.parametrize("svd_solver", [*SCIKIT_LEARN_SOLVERS, *OUR_SOLVERS])
def test_every_solver_finds_the_same_components(X, svd_solver):
    """The name of a solver changes no answer."""
    ours = PCA(3, svd_solver=svd_solver).fit(X)
    reference = PCA(3).fit(X)
    assert_same_subspace(ours.components_.T, reference.components_.T, tol=1e-7)
    np.testing.assert_allclose(ours.explained_variance_, reference.explained_variance_, rtol=1e-9)


@pytest.mark.parametrize("door", parameters(DOORS))
def test_every_door_gives_the_same_model(X, door):
    """Arrays of any layout, sparse arrays, tensors and tables give the same components and scores."""
    rows, reference = door(X), PCA(3).fit(X)
    pca = PCA(3).fit(rows)
    np.testing.assert_allclose(host(pca.components_), reference.components_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(host(pca.transform(rows)), reference.transform(X), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_torch_tensors_stay_tensors(X, dtype):
    """Fields, scores and reconstructions of tensors are tensors of the same type."""
    torch = pytest.importorskip("torch")
    rows = torch.from_numpy(X.astype(dtype))
    pca = PCA(3, whiten=True).fit(rows)
    scores = pca.transform(rows)
    results = [pca.components_, pca.mean_, scores, pca.inverse_transform(scores), pca.score_samples(rows)]
    results += [pca.get_covariance(), pca.get_precision(), pca.hotelling_t2(rows), pca.loadings_]
    assert all(isinstance(result, torch.Tensor) and result.dtype == rows.dtype for result in results)
    reference = PCA(3, whiten=True).fit(X.astype(dtype))
    np.testing.assert_allclose(
        host(scores), reference.transform(X.astype(dtype)), atol=1e-9 if dtype == "float64" else 1e-4
    )


def test_rows_of_another_library_are_refused():
    """A model that holds arrays says so when it is given tensors."""
    torch = pytest.importorskip("torch")
    pca = PCA(1).fit(np.eye(3))
    with pytest.raises(
        InputError, match=r"PCA.transform\(\) must use the same namespace .* NumPy arrays, and X is torch"
    ):
        pca.transform(torch.eye(3))


def test_float32_rows_give_float32(X):
    """Single precision stays single in every field and result."""
    rows = X.astype(np.float32)
    pca = PCA(3).fit(rows)
    for result in (pca.components_, pca.explained_variance_, pca.mean_, pca.transform(rows), pca.get_covariance()):
        assert result.dtype == np.float32


def test_a_weight_is_a_repetition(X):
    """Integer weights, zero among them, give the model of the repeated rows."""
    weights = np.random.default_rng(0).integers(0, 4, size=len(X))
    weighted, repeated = PCA().fit(X, sample_weight=weights), PCA().fit(np.repeat(X, weights, axis=0))
    for name in ("components_", "explained_variance_", "explained_variance_ratio_", "mean_", "noise_variance_"):
        np.testing.assert_allclose(
            getattr(weighted, name), getattr(repeated, name), rtol=1e-9, atol=1e-11, err_msg=name
        )
    np.testing.assert_allclose(
        PCA(2).fit_transform(X, sample_weight=weights), PCA(2).fit(X, sample_weight=weights).transform(X), atol=1e-11
    )


def test_weights_must_leave_something_to_divide_by(X):
    """Weights that sum to one need ddof=0, and then scale out."""
    weights = np.full(60, 1 / 60)
    with pytest.raises(InputError, match="sample_weight sums to 1 and ddof=1"):
        PCA().fit(X, sample_weight=weights)
    weighted, plain = PCA(3, ddof=0).fit(X, sample_weight=weights), PCA(3, ddof=0).fit(X)
    np.testing.assert_allclose(weighted.explained_variance_, plain.explained_variance_, rtol=1e-10)


def test_center_scale_and_ddof(X):
    """Second moments, correlations and the divisor n are a parameter away."""
    n = len(X)
    raw = PCA(center=False, ddof=0).fit(X)
    np.testing.assert_allclose(raw.explained_variance_, np.linalg.eigvalsh(X.T @ X / n)[::-1], rtol=1e-9)
    assert not np.any(raw.mean_)
    scaled = PCA(scale=True).fit(X)
    np.testing.assert_allclose(
        scaled.explained_variance_, np.linalg.eigvalsh(np.corrcoef(X, rowvar=False))[::-1], rtol=1e-9
    )
    np.testing.assert_allclose(scaled.inverse_transform(scaled.transform(X)), X, atol=1e-11)
    np.testing.assert_allclose(scaled.get_covariance(), np.cov(X, rowvar=False), atol=1e-11)


def test_loadings_reproduce_the_covariance(X):
    """All loadings times their transpose are the covariance matrix."""
    pca = PCA().fit(X)
    np.testing.assert_allclose(pca.loadings_ @ pca.loadings_.T, np.cov(X, rowvar=False), atol=1e-11)


def test_reconstruction_error_is_the_variance_left_out(X):
    """Its mean over the rows of the fit is the sum of the variances beyond k, with ddof=0."""
    kept, all_of_them = PCA(3, ddof=0).fit(X), PCA(ddof=0).fit(X)
    errors = kept.reconstruction_error(X)
    assert errors.shape == (len(X),)
    assert errors.mean() == pytest.approx(all_of_them.explained_variance_[3:].sum(), rel=1e-9)


def test_hotelling_t2_is_the_squared_whitened_score(X):
    """T2 sums to k (n - 1) over the rows of the fit, and equals the squared length of whitened scores."""
    pca = PCA(3).fit(X)
    t2 = pca.hotelling_t2(X)
    np.testing.assert_allclose(t2, (PCA(3, whiten=True).fit_transform(X) ** 2).sum(axis=1), rtol=1e-9)
    assert t2.sum() == pytest.approx(3 * (len(X) - 1), rel=1e-9)


def test_whitening_does_not_change_what_was_learned(X):
    """Covariance and likelihood are the same with and without whitening."""
    plain, whitened = PCA(3).fit(X), PCA(3, whiten=True).fit(X)
    np.testing.assert_array_equal(whitened.get_covariance(), plain.get_covariance())
    assert whitened.score(X) == plain.score(X)


def test_null_directions_are_not_whitened_into_noise():
    """A direction that holds rounding alone scores zero, and reconstruction is unharmed."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 2)) @ rng.normal(size=(2, 6))
    pca = PCA(whiten=True).fit(rows)
    scores = pca.transform(rows)
    assert np.all(scores[:, 2:] == 0)
    np.testing.assert_allclose(scores[:, :2].std(axis=0, ddof=1), 1.0)
    np.testing.assert_allclose(pca.inverse_transform(scores), rows, atol=1e-12)


def test_a_flat_gaussian_has_density_within_its_subspace():
    """Without noise, rows of the subspace have a finite likelihood and rows off it none."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(50, 2)) @ np.eye(2, 4)
    pca = PCA().fit(rows)
    on, off = pca.score_samples(rows), pca.score_samples(rows + np.eye(4)[3])
    expected = PCA().fit(rows[:, :2]).score_samples(rows[:, :2])
    np.testing.assert_allclose(on, expected, rtol=1e-9)
    assert np.all(np.isneginf(off))


def test_no_component_at_all(X):
    """k = 0 is the mean: no scores, reconstruction by the mean, a round Gaussian."""
    pca = PCA(0).fit(X)
    assert pca.transform(X).shape == (60, 0)
    np.testing.assert_allclose(pca.inverse_transform(pca.transform(X)), np.tile(pca.mean_, (60, 1)))
    np.testing.assert_allclose(pca.get_covariance(), np.eye(8) * pca.noise_variance_)
    assert np.isfinite(pca.score(X))


def test_assigned_components_are_used(X):
    """A person may replace a fitted field, as with scikit-learn."""
    pca = PCA(2).fit(X)
    pca.components_ = -pca.components_
    np.testing.assert_allclose(pca.transform(X), -PCA(2).fit_transform(X), atol=1e-12)


def test_rows_are_never_written_to(X):
    """A fit leaves the rows as they were, also with copy=False."""
    before = X.copy()
    PCA(2, copy=False, whiten=True, scale=True).fit_transform(X)
    np.testing.assert_array_equal(X, before)


def test_sparse_scores_equal_dense_scores(X):
    """Sparse rows have the scores, errors and likelihoods of the same dense ones."""
    X = np.where(X > 4, X, 0.0)
    pca, rows = PCA(3).fit(X), sp.csr_array(X)
    for method in (pca.transform, pca.reconstruction_error, pca.score_samples, pca.hotelling_t2):
        np.testing.assert_allclose(method(rows), method(X), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_new_rows_that_are_not_numbers_are_refused_with_their_place(X, value):
    """A missing or infinite value in new rows is found, although no pass is made to look for it."""
    pca = PCA(2).fit(X)
    X[7, 3] = value
    for method in (pca.transform, pca.score_samples, pca.reconstruction_error, pca.hotelling_t2):
        with pytest.raises(InputError, match="row 7, column 3"):
            method(X)


def test_scores_of_another_width_are_refused(X):
    """inverse_transform says how many columns it was given and how many it takes."""
    with pytest.raises(InputError, match="X has 3 columns, and this PCA has 2 components"):
        PCA(2).fit(X).inverse_transform(np.ones((4, 3)))


def test_devices_are_named(X):
    """The rows' own device is taken, and a word that names none is refused."""
    assert PCA(device="cpu").fit(X).n_components_ == 8
    with pytest.raises(
        ParameterError, match=r"device='gpu' is not a value that PCA takes\. Pass None, or a device: 'cpu'"
    ):
        PCA(device="gpu").fit(X)


def test_certificate_and_plan_print(X):
    """Both are there after a fit and read as text."""
    pca = PCA(3).fit(X)
    assert "proved" in str(pca.certificate_)
    assert len(pca.certificate_.lines) == 3
    assert str(pca.plan_)


@pytest.mark.parametrize("learn", [PCA.fit, PCA.partial_fit])
def test_verdict_says_how_the_number_was_chosen(X, learn):
    """A number that was given needs no words; one that was chosen has them, after batches too."""
    assert learn(PCA(2), X).n_components_reason_ == ""
    assert "0.9 of the variance" in learn(PCA(0.9), X).n_components_reason_
    assert learn(PCA("auto"), X).n_components_reason_


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("scale", [False, True])
def test_verdict_names_variances_as_the_attributes_do(scale, ddof):
    """The variance in the sentence of "auto" is that of the first component left out."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((150, 2)) @ (4 * rng.standard_normal((2, 9))) + rng.standard_normal((150, 9))
    chosen, whole = (PCA(k, scale=scale, ddof=ddof).fit(X) for k in ("auto", None))
    left_out = whole.explained_variance_[chosen.n_components_]
    assert f"Component {chosen.n_components_ + 1} has variance {left_out:.3g} and" in chosen.n_components_reason_


@pytest.mark.parametrize("center", [True, False])
def test_scores_can_be_written_with_the_public_attributes(center):
    """Y = (X - mean) / scale V', a column that does not vary being divided by one."""
    X = np.random.default_rng(0).standard_normal((40, 5)) * [1.0, 10.0, 0.1, 3.0, 0.0] + [5.0, 0.0, 1.0, -2.0, 7.0]
    pca = PCA(3, scale=True, center=center).fit(X)
    shifted = X - pca.mean_ if center else X
    np.testing.assert_allclose(pca.transform(X), shifted / pca.scale_ @ pca.components_.T, rtol=1e-12, atol=1e-12)
    expected = X.std(axis=0, ddof=1) if center else np.sqrt((X**2).sum(axis=0) / 39)
    np.testing.assert_allclose(pca.scale_[:4], expected[:4], rtol=1e-12)
    assert pca.scale_[4] == (1.0 if center else pytest.approx(expected[4]))
    assert PCA(3).fit(X).scale_ is None


@pytest.mark.parametrize("make", [PCA, IncrementalPCA])
@pytest.mark.parametrize("method", ["fit", "fit_transform", "partial_fit"])
@pytest.mark.parametrize("given", ["array", "objects"])
def test_a_refusal_of_missing_values_names_who_takes_them(make, method, given):
    """NaN is answered with its place and the estimator for such rows; infinity is not (issue 16)."""
    X = np.random.default_rng(0).standard_normal((30, 4))
    X[3, 1] = np.nan
    missing = X if given == "array" else X.astype(object)
    with pytest.raises(InputError, match=r"contains NaN: row 3.*ProbabilisticPCA fits rows with missing") as refused:
        getattr(make(2), method)(missing)
    assert (refused.value.row, refused.value.column, refused.value.is_missing) == (3, 1, True)
    X[3, 1] = np.inf
    with pytest.raises(InputError, match="infinity") as refused:
        getattr(make(2), method)(X)
    assert "ProbabilisticPCA" not in str(refused.value)
