import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import KernelPCA as Reference
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import chi2_kernel, laplacian_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import PCA, FourierFeatures, KernelPCA, Nystroem, PolynomialMap, kernels
from gramian.errors import InputError, NotSupportedError, RankWarning
from tests.catalog import DOORS, host, parameters

NAMED = {
    "linear": {},
    "poly": {"degree": 2, "gamma": 0.3, "coef0": 0.5},
    "rbf": {"gamma": 0.2},
    "cosine": {},
}


def rows(n=60, d=4, seed=0):
    """Rows with a mean."""
    return 1.0 + np.random.default_rng(seed).standard_normal((n, d))


VARIANTS = [
    KernelPCA(1, kernel="precomputed"),
    KernelPCA(1, kernel="rbf", gamma="scale", landmarks=10),
    KernelPCA(1, features=FourierFeatures(gamma="scale", n_components=20)),
]


def unmet(estimator):
    """Checks of scikit-learn that a variant cannot meet, each with its reason."""
    if estimator.kernel == "precomputed":
        return {
            "check_estimators_nan_inf": "passes rows, not a matrix, and is told so before NaN is looked for",
            "check_array_api_input": "asks for the way back, which a matrix does not have; scikit-learn's fails too",
        }
    drawn = dict.fromkeys(
        ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"),
        "landmarks are drawn from the rows: repeated ones give other draws",
    )
    back = {"check_array_api_input": "asks for the way back, which random features do not have"}
    return drawn if estimator.landmarks else back


@parametrize_with_checks(VARIANTS, expected_failed_checks=unmet)
def test_scikit_learn_conventions(estimator, check):
    """A matrix, landmarks and features keep scikit-learn's conventions; the exact model's are with its own tests."""
    check(estimator)


def rings(n=200, seed=0):
    """Two rings, and which one each row is of."""
    rng = np.random.default_rng(seed)
    t, inner = rng.uniform(0, 2 * np.pi, n), np.arange(n) % 2
    radius = np.where(inner, 0.3, 1.0) + 0.04 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(t), radius * np.sin(t)]), inner


def assert_same_scores(left, right, atol=1e-7):
    """Scores agree but for the signs of components."""
    np.testing.assert_allclose(np.abs(left), np.abs(right), atol=atol * np.abs(right).max())


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("n, d, seed", [(60, 4, 0), (25, 7, 1)])
@pytest.mark.parametrize("solver", ["auto", "dense", "tiled"])
def test_numbers_are_scikit_learns(name, n, d, seed, solver):
    """Eigenvalues, scores of old and of new rows, and their shapes are those of scikit-learn, for each named kernel."""
    X, new = rows(n, d, seed), rows(9, d, seed + 7)
    k = 3 if name == "linear" else 4
    ours = KernelPCA(k, kernel=name, eigen_solver=solver, tol=1e-10, **NAMED[name]).fit(X)
    theirs = Reference(k, kernel=name, eigen_solver="dense", **NAMED[name]).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    assert_same_scores(ours.transform(new), theirs.transform(new))
    assert_same_scores(ours.fit_transform(X), theirs.transform(X))
    assert ours.eigenvectors_.shape == theirs.eigenvectors_.shape
    assert ours.gamma_ == theirs.gamma_


@pytest.mark.parametrize("name, function", [("laplacian", laplacian_kernel), ("chi2", chi2_kernel)])
def test_other_kernels_are_scikit_learns_too(name, function):
    """Kernels that scikit-learn's KernelPCA takes only as a matrix give the numbers of that matrix."""
    X, new = np.abs(rows()), np.abs(rows(9, seed=1))
    ours = KernelPCA(4, kernel=name, gamma=0.3).fit(X)
    theirs = Reference(4, kernel="precomputed").fit(function(X, gamma=0.3))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    assert_same_scores(ours.transform(new), theirs.transform(function(new, X, gamma=0.3)))


@pytest.mark.parametrize("kernel", [kernels.Matern(1.5, 0.2), kernels.Gaussian(0.3) + 0.1 * kernels.Linear()], ids=repr)
def test_kernel_objects_give_the_numbers_of_their_matrix(kernel):
    """A kernel, or a sum of them, is taken as it is, and is what the fit shows."""
    X, new = rows(), rows(9, seed=1)
    ours = KernelPCA(4, kernel=kernel).fit(X)
    theirs = Reference(4, kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    assert_same_scores(ours.transform(new), theirs.transform(kernel(new, X)))
    assert ours.kernel_ == kernel


def test_a_function_is_a_kernel_and_gets_its_parameters():
    """A function of two rows, with parameters by name, is scikit-learn's callable kernel."""

    def scaled(x, y, scale):
        return scale * np.minimum(x, y).sum()

    X = np.abs(rows(30))
    ours = KernelPCA(3, kernel=scaled, kernel_params={"scale": 2.0}).fit(X)
    theirs = Reference(3, kernel=scaled, kernel_params={"scale": 2.0}).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)


def test_words_for_gamma_are_resolved():
    """gamma="median" and "scale" become numbers, sigma comes through the kernel, and kernel_ shows all of them."""
    X = rows()
    median = KernelPCA(2, kernel="rbf", gamma="median").fit(X)
    assert median.gamma_ == median.kernel_.gamma > 0
    assert KernelPCA(2, kernel="rbf", gamma="scale").fit(X).gamma_ == pytest.approx(1 / (4 * X.var(axis=0).mean()))
    assert KernelPCA(2, kernel=kernels.Gaussian(sigma=2.0)).fit(X).gamma_ == 0.125
    assert KernelPCA(2, kernel="rbf").fit(X).gamma_ == 0.25


def test_a_linear_kernel_gives_pca():
    """Eigenvalues are n - 1 variances; scores and errors are those of PCA (F16, F18)."""
    X, new = rows(), rows(9, seed=1)
    ours, pca = KernelPCA(2).fit(X), PCA(2).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, 59 * pca.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_ratio_, pca.explained_variance_ratio_, rtol=1e-10)
    assert_same_scores(ours.transform(new), pca.transform(new))
    np.testing.assert_allclose(ours.reconstruction_error(new), pca.reconstruction_error(new), rtol=1e-8)


def test_the_error_in_feature_space_needs_the_kernel_alone():
    """kc(x, x) - |y|^2 of the rows sums up to the eigenvalues left out (F18), for components of any number."""
    X = rows()
    every = KernelPCA(59, kernel="rbf", gamma=0.2, eigen_solver="dense").fit(X).eigenvalues_
    for k in (1, 5):
        errors = KernelPCA(k, kernel="rbf", gamma=0.2).fit(X).reconstruction_error(X)
        assert errors.sum() == pytest.approx(every[k:].sum(), rel=1e-8)


@pytest.mark.parametrize("door", parameters(DOORS))
def test_every_door_gives_the_same_scores(door):
    """Arrays, tables, tensors and sparse rows are one and the same to a fit and to new rows."""
    X = rows()
    truth = KernelPCA(3, kernel="rbf", gamma=0.2).fit(X)
    ours = KernelPCA(3, kernel="rbf", gamma=0.2).fit(door(X))
    np.testing.assert_allclose(ours.eigenvalues_, truth.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(host(ours.transform(door(X))), truth.transform(X), atol=1e-7)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf", "cosine"])
def test_sparse_rows_stay_sparse(name):
    """Kernels of inner products and distances take CSR rows and give the numbers of the dense ones."""
    X = sp.random_array((50, 30), density=0.2, rng=np.random.default_rng(0), format="csr")
    ours, dense = (KernelPCA(4, kernel=name, gamma=0.1).fit(x) for x in (X, X.toarray()))
    np.testing.assert_allclose(ours.eigenvalues_, dense.eigenvalues_, rtol=1e-8)
    np.testing.assert_allclose(ours.transform(X), dense.transform(X.toarray()), atol=1e-7)
    np.testing.assert_allclose(ours.transform(X.toarray()), dense.transform(X), atol=1e-7)
    assert sp.issparse(ours.X_fit_)
    assert KernelPCA(kernel=name).__sklearn_tags__().input_tags.sparse


def test_a_kernel_matrix_can_be_given():
    """A precomputed matrix gives what its kernel gives; grid search cuts it both ways."""
    X, new = rows(), rows(9, seed=1)
    kernel = kernels.Gaussian(0.2)
    ours, given = KernelPCA(3, kernel=kernel).fit(X), KernelPCA(3, kernel="precomputed").fit(kernel(X))
    np.testing.assert_allclose(given.eigenvalues_, ours.eigenvalues_, rtol=1e-10)
    np.testing.assert_allclose(given.transform(kernel(new, X)), ours.transform(new), atol=1e-8)
    assert given.__sklearn_tags__().input_tags.pairwise
    assert not ours.__sklearn_tags__().input_tags.pairwise
    with pytest.raises(NotSupportedError, match=r"needs k\(x, x\)"):
        given.reconstruction_error(kernel(new, X))


@pytest.mark.parametrize("name", ["linear", "rbf", "precomputed"])
def test_weights_are_repetitions(name):
    """Integer weights give the components, scores and signs of repeated rows; weight zero leaves a row out."""
    X = rows(40)
    w = np.arange(40) % 3
    repeated = np.repeat(np.arange(40), w)
    K = kernels.Gaussian(0.25)(X)
    one, two = (K, K[np.ix_(repeated, repeated)]) if name == "precomputed" else (X, X[repeated])
    new = (K[:5], K[:5][:, repeated]) if name == "precomputed" else (X[:5], X[:5])
    ours, truth = KernelPCA(3, kernel=name).fit(one, sample_weight=w), KernelPCA(3, kernel=name).fit(two)
    np.testing.assert_allclose(ours.eigenvalues_, truth.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_ratio_, truth.explained_variance_ratio_, rtol=1e-9)
    np.testing.assert_allclose(ours.transform(new[0]), truth.transform(new[1]), atol=1e-7)
    scores = KernelPCA(3, kernel=name).fit_transform(one, sample_weight=w)
    np.testing.assert_allclose(scores, ours.transform(one), atol=1e-7)


@pytest.mark.parametrize("share", [0.5, 0.95])
def test_a_share_of_the_variance_chooses_k(share):
    """The fewest components that hold the share are kept, and the verdict says so."""
    X = rows()
    every = KernelPCA(kernel="rbf", gamma=0.2).fit(X)
    ours = KernelPCA(share, kernel="rbf", gamma=0.2).fit(X)
    k = len(ours.eigenvalues_)
    assert every.explained_variance_ratio_[:k].sum() >= share > every.explained_variance_ratio_[: k - 1].sum()
    assert "of the variance" in ours.n_components_reason_
    assert every.explained_variance_ratio_.sum() == pytest.approx(1.0, abs=1e-9)


def test_zero_eigenvalues_are_kept_or_left_out():
    """Four columns have four components; more asked for score zero, unless they are to be removed."""
    X = rows()
    assert KernelPCA().fit_transform(X).shape == (60, 4)
    kept = KernelPCA(6).fit(X)
    assert kept.transform(X).shape == (60, 6)
    assert not kept.transform(X)[:, 4:].any()
    assert KernelPCA(6, remove_zero_eig=True).fit_transform(X).shape == (60, 4)
    with pytest.warns(RankWarning, match="n_components=9 is more than n_samples=5"):
        assert KernelPCA(9, kernel="rbf").fit_transform(X[:5]).shape == (5, 5)


def test_every_answer_has_its_proof():
    """Certificate, plan, kernel and exactness come with a fit, and progress is told."""
    said = []
    kpca = KernelPCA(3, kernel="rbf", progress=said.append).fit(rows())
    assert kpca.certificate_.grades == ("proved",) * 3
    assert "dense solve" in str(kpca.plan_)
    assert not kpca.approximate_
    assert kpca.error_estimate_ is None
    assert any("kernel values" in sentence for sentence in said)


@pytest.mark.parametrize(
    "options", [{"landmarks": 40}, {"features": Nystroem(gamma=0.2, landmarks="pivoted")}], ids=str
)
def test_landmarks_are_near_and_say_how_near(options):
    """A model on landmarks is marked approximate, carries a measured error, and does not hold the rows."""
    X = rows(300, 3)
    kernel = {"kernel": "rbf", "gamma": 0.2} if "landmarks" in options else {}
    ours = KernelPCA(3, **kernel, **options).fit(X)
    truth = KernelPCA(3, kernel="rbf", gamma=0.2).fit(X)
    assert ours.approximate_
    assert "approximate" in str(ours.plan_)
    assert 0 < ours.error_estimate_.relative < 0.05
    np.testing.assert_allclose(ours.eigenvalues_, truth.eigenvalues_, rtol=0.05)
    assert_same_scores(ours.transform(X), truth.transform(X), atol=0.05)
    np.testing.assert_allclose(ours.fit_transform(X), ours.transform(X), atol=1e-7)
    assert len(ours.X_fit_) < 300
    assert ours._model.source.n_rows == 0


def test_features_make_an_approximate_model():
    """Random features stand for their own kernel, the polynomial map is exact, and neither estimator is fitted."""
    X = rows(200, 3)
    random = FourierFeatures("rbf", gamma=0.2, n_components=4000)
    ours = KernelPCA(2, features=random).fit(X)
    truth = KernelPCA(2, kernel="rbf", gamma=0.2).fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, truth.eigenvalues_, rtol=0.1)
    assert ours.kernel_ == kernels.Gaussian(0.2)
    assert not hasattr(random, "frequencies_")
    exact = KernelPCA(2, features=PolynomialMap(2)).fit(X)
    assert not exact.approximate_
    poly = KernelPCA(2, kernel="poly", degree=2, gamma=1.0).fit(X)
    np.testing.assert_allclose(exact.eigenvalues_, poly.eigenvalues_, rtol=1e-8)


@pytest.mark.parametrize("method", ["ridge", "fixed_point", "distances", "auto"])
def test_rings_come_back(method):
    """Each pre-image method puts the rings back where they were, and says how near their features are."""
    X, _ = rings()
    kpca = KernelPCA(20, kernel="rbf", gamma=2.0, pre_image=method, alpha=1e-3).fit(X)
    found = kpca.pre_images(kpca.transform(X))
    assert np.mean(np.sum((found.rows - X) ** 2, axis=1)) < 0.01 * X.var(axis=0).sum()
    assert found.errors.shape == (200,)
    assert np.mean(found.errors) < 0.05
    np.testing.assert_array_equal(kpca.inverse_transform(kpca.transform(X)), found.rows)
    assert hasattr(kpca, "pre_image_choice_") == (method == "auto")


def test_the_way_back_restores_the_mean():
    """fit_inverse_transform is scikit-learn's ridge about the mean of the rows: equal where that is the origin."""
    X = rows() - rows().mean(axis=0)
    options = {"kernel": "rbf", "gamma": 0.2, "fit_inverse_transform": True, "alpha": 0.1}
    ours, theirs = KernelPCA(5, **options).fit(X), Reference(5, **options).fit(X)
    back, truth = ours.inverse_transform(ours.transform(X)), theirs.inverse_transform(theirs.transform(X))
    np.testing.assert_allclose(back, truth, atol=1e-6)
    assert ours.dual_coef_.shape == theirs.dual_coef_.shape
    np.testing.assert_allclose(np.abs(ours.X_transformed_fit_), np.abs(theirs.X_transformed_fit_), atol=1e-7)
    far = KernelPCA(5, **options).fit(X + 100.0)
    np.testing.assert_allclose(far.inverse_transform(far.transform(X + 100.0)), back + 100.0, atol=1e-6)


@pytest.mark.parametrize("name", ["linear", "poly", "rbf"])
def test_pre_images_stand_on_the_same_components_for_every_way(name):
    """The expansion that pre-images use projects rows as the model does: dense, from features, from landmarks."""
    X, new = rows(), rows(9, seed=1)
    for options in ({"eigen_solver": "dense"}, {}, {"landmarks": 30}):
        kpca = KernelPCA(3, kernel=name, gamma=0.2, fit_inverse_transform=True, **options).fit(X)
        np.testing.assert_allclose(kpca._preimage.fitted.expansion.project(new), kpca.transform(new), atol=1e-7)


def test_inverse_transform_must_be_asked_for():
    """Without it the error is scikit-learn's; with it, scores of another width are refused."""
    X = rows()
    with pytest.raises(NotFittedError, match="fit_inverse_transform parameter was not set to True"):
        KernelPCA(2).fit(X).inverse_transform(X[:, :2])
    with pytest.raises(NotFittedError, match="not fitted yet"):
        KernelPCA(2, fit_inverse_transform=True).inverse_transform(X[:, :2])
    with pytest.raises(InputError, match="X has 3 columns, and this KernelPCA has 2 components"):
        KernelPCA(2, fit_inverse_transform=True).fit(X).inverse_transform(X[:, :3])
    kpca = KernelPCA(2, fit_inverse_transform=True).fit(X)
    kpca.set_params(fit_inverse_transform=False).fit(X)
    assert not hasattr(kpca, "dual_coef_")


def test_pipelines_and_grid_search():
    """A grid search over a pipeline chooses a width that separates two rings."""
    X, y = rings()
    pipeline = make_pipeline(KernelPCA(4, kernel="rbf"), LogisticRegression(C=100.0))
    search = GridSearchCV(pipeline, {"kernelpca__gamma": [1e-3, 2.0, "median"]}, cv=3).fit(X, y)
    assert search.best_score_ == 1.0


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_gives_tables_with_names(library):
    """Scores come as a table whose columns bear the class's name."""
    module = pytest.importorskip(library)
    names = ["a", "b", "c", "d"]
    table = module.DataFrame(rows(), columns=names) if library == "pandas" else module.DataFrame(rows(), schema=names)
    fitted = KernelPCA(2, kernel="rbf").set_output(transform=library).fit(table)
    assert list(fitted.transform(table).columns) == ["kernelpca0", "kernelpca1"]
    assert list(fitted.feature_names_in_) == names


@pytest.mark.parametrize(
    "estimator",
    [
        KernelPCA(2, kernel="rbf", fit_inverse_transform=True),
        KernelPCA(2, kernel="rbf", landmarks=20),
        KernelPCA(2, features=FourierFeatures(n_components=50)),
        KernelPCA(2, kernel="rbf", eigen_solver="tiled"),
    ],
    ids=str,
)
def test_pickle_clone_and_representations(estimator):
    """A pickled model gives the same scores and proof; a clone is unfitted; both forms of text are there."""
    X = rows()
    fitted = clone(estimator).fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.transform(X), fitted.transform(X))
    assert str(copy.certificate_) == str(fitted.certificate_)
    with pytest.raises(NotFittedError):
        clone(fitted).transform(X)
    assert repr(estimator).startswith("KernelPCA(")
    assert "n_components" in fitted._repr_html_()


def test_float32_stays_float32():
    """Scores have the precision of the rows, dense or sparse, and so have rebuilt rows."""
    X = rows().astype("float32")
    kpca = KernelPCA(2, kernel="rbf", fit_inverse_transform=True)
    assert kpca.fit_transform(X).dtype == kpca.transform(X).dtype == np.float32
    assert kpca.inverse_transform(kpca.transform(X)).dtype == np.float32
    assert KernelPCA(2, kernel="rbf").fit_transform(sp.csr_array(X)).dtype == np.float32


def test_rows_may_be_changed_after_the_fit():
    """The model stands on a copy; with copy_X=False it stands on the rows themselves."""
    X = rows()
    kpca, shared = KernelPCA(2, kernel="rbf").fit(X), KernelPCA(2, kernel="rbf", copy_X=False).fit(X)
    new = rows(5, seed=1)
    before = kpca.transform(new)
    assert np.shares_memory(shared.X_fit_, X)
    X[:] = 0.0
    np.testing.assert_array_equal(KernelPCA.transform(kpca, new), before)


def test_a_failed_fit_keeps_the_model():
    """Bad rows, bad parameters and a way back that cannot be had leave the former model, names and all."""
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(rows(), columns=["a", "b", "c", "d"])
    kpca = KernelPCA(2, kernel="rbf").fit(table)
    before = kpca.transform(table)
    for changed, X in (({}, np.full((9, 7), np.nan)), ({"n_components": 0}, table), ({"pre_image": "best"}, table)):
        with pytest.raises(ValueError, match=r"NaN|n_components|pre_image"):
            kpca.set_params(**changed).fit(X)
        kpca.set_params(n_components=2, pre_image=None)
    with pytest.raises(NotSupportedError, match=r"inner products|distance"):
        kpca.set_params(kernel="laplacian", pre_image="fixed_point").fit(table)
    np.testing.assert_array_equal(kpca.transform(table), before)
    assert list(kpca.feature_names_in_) == ["a", "b", "c", "d"]
