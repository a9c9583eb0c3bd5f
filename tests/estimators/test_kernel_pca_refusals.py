"""KernelPCA: what it refuses and warns of, each in a clear sentence."""

import numpy as np
import pytest
from sklearn.decomposition import KernelPCA as Reference

from gramian import FourierFeatures, KernelPCA, Nystroem, PolynomialMap, kernels
from gramian.errors import (
    IndefiniteKernelWarning,
    InputError,
    KernelWidthWarning,
    MemoryBudgetError,
    NotSupportedError,
    ParameterError,
    RankWarning,
)
from tests.estimators.test_kernel_pca import rows


@pytest.mark.parametrize(
    "estimator, error, words",
    [
        (KernelPCA(0), ParameterError, "n_components=0 is not a value that KernelPCA takes"),
        (KernelPCA(kernel="unknown"), ParameterError, "kernel='unknown' is not known"),
        (KernelPCA(kernel="rbf", gamma=-1.0), ParameterError, "gamma=-1.0 is not a value"),
        (KernelPCA(kernel=kernels.Gaussian(0.1), gamma=2.0), ParameterError, "Set it in the kernel itself"),
        (KernelPCA(eigen_solver="best"), ParameterError, "eigen_solver='best' is not a value"),
        (KernelPCA(landmarks=5, features=Nystroem()), ParameterError, "two approximations of one kernel"),
        (KernelPCA(kernel="rbf", features=Nystroem()), ParameterError, "features stand for a kernel of their own"),
        (KernelPCA(features=PolynomialMap(weights=False)), NotSupportedError, "stand for no kernel"),
        (
            KernelPCA(features=FourierFeatures(), pre_image="ridge"),
            NotSupportedError,
            "Components in random features are no combinations of rows",
        ),
        (KernelPCA(kernel="precomputed", pre_image="ridge"), ParameterError, "Cannot fit_inverse_transform"),
        (KernelPCA(kernel="precomputed"), InputError, "A precomputed kernel is a square matrix.* 60 x 4"),
    ],
    ids=lambda value: str(value)[:60],
)
def test_what_cannot_be_done_is_refused(estimator, error, words):
    """Each refusal is a sentence in the words of the parameters."""
    with pytest.raises(error, match=words):
        estimator.fit(rows())


@pytest.mark.parametrize("solver", ["auto", "dense", "stored", "tiled"])
@pytest.mark.parametrize("n", [60, 500])
def test_an_indefinite_kernel_is_warned_of_with_its_eigenvalue(n, solver):
    """Below the components kept, a negative eigenvalue is named with the largest and the parameters; they are right."""
    words = r"Sigmoid\(gamma=2\.0, coef0=-1\.0\) has an eigenvalue of -\d.* beside a largest of \d"
    X = rows(n) - 1.0
    with pytest.warns(IndefiniteKernelWarning, match=words) as caught:
        fitted = KernelPCA(2, kernel="sigmoid", gamma=2.0, coef0=-1.0, eigen_solver=solver).fit(X)
    K = np.tanh(2.0 * X @ X.T - 1.0)
    values = np.linalg.eigvalsh(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean())
    np.testing.assert_allclose(fitted.eigenvalues_, values[::-1][:2], rtol=1e-6)
    assert caught[0].message.lowest < 0 < caught[0].message.largest
    assert caught[0].filename == __file__


@pytest.mark.parametrize("n_components", [None, 0.95, 55])
def test_an_indefinite_kernel_is_refused_where_a_negative_eigenvalue_is_asked_for(n_components):
    """Nothing is cut off in silence: the sentence has the eigenvalue, the parameters, and how many are positive."""
    X = rows(60) - 1.0
    words = r"eigenvalue of -\d.* beside a largest of \d.*coef0=-1\.0\), ask for no more components than the \d+ that"
    with pytest.raises(InputError, match=words):
        KernelPCA(n_components, kernel="sigmoid", gamma=2.0, coef0=-1.0).fit(X)


def test_the_sigmoid_kernel_of_scikit_learn_is_taken_at_its_defaults():
    """Eigenvalues and scores are scikit-learn's; a warning names the negative eigenvalue."""
    X = np.random.default_rng(0).standard_normal((150, 6))
    with pytest.warns(IndefiniteKernelWarning):
        ours = KernelPCA(4, kernel="sigmoid").fit(X)
    theirs = Reference(4, kernel="sigmoid", eigen_solver="dense").fit(X)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), atol=1e-8)


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"features": PolynomialMap(2), "degree": 7}, "degree=7 is given with them"),
        ({"features": PolynomialMap(2), "coef0": 3}, "coef0=3 is given with them"),
        ({"features": PolynomialMap(2), "kernel_params": {"a": 1}}, "kernel_params=.* is given with them"),
        ({"kernel": "rbf", "kernel_params": {"gamma": 3.0}}, "kernel_params=.* is given beside kernel='rbf'"),
        ({"kernel": kernels.Polynomial(2), "degree": 5}, "degree=5 is given beside the kernel"),
        ({"kernel": kernels.Polynomial(2), "coef0": 5}, "coef0=5.0 is given beside the kernel"),
        (
            {"kernel": kernels.Gaussian(1.0), "kernel_params": {"gamma": 2}},
            "kernel_params=.* is given beside the kernel",
        ),
        ({"kernel": np.dot, "gamma": 3.0}, "gamma=3.0 is given beside a kernel that is a function"),
        ({"kernel": np.dot, "degree": 2}, "degree=2 is given beside a kernel that is a function"),
    ],
)
def test_a_parameter_that_would_be_ignored_is_refused(parameters, words):
    """A kernel, a function or a map beside parameters that it does not see is a sentence, not a silent choice."""
    with pytest.raises(ParameterError, match=words):
        KernelPCA(2, **parameters).fit(rows())


def test_a_share_that_landmarks_do_not_reach_is_said():
    """All components of the approximation are kept, and a warning names the share they hold."""
    X = np.random.default_rng(0).standard_normal((300, 2))
    with pytest.warns(RankWarning, match=r"5 components of this approximation hold 0\.\d+ .* more landmarks") as caught:
        fitted = KernelPCA(0.999, kernel="rbf", gamma=2.0, landmarks=5).fit(X)
    assert fitted.explained_variance_ratio_.sum() < 0.999
    assert f"{fitted.explained_variance_ratio_.sum():.4g}" in str(caught[0].message)
    assert "less than was asked" in fitted.n_components_reason_
    assert caught[0].filename == __file__
    reached = KernelPCA(0.5, kernel="rbf", gamma=0.1, landmarks=50).fit(X)
    assert reached.explained_variance_ratio_.sum() >= 0.5


@pytest.mark.parametrize("pre_image", ["ridge", "auto"])
def test_rows_of_counts_have_a_way_back(pre_image):
    """The chi-squared kernel takes no negative scores: the ridge is then one of a Gaussian, and finds the rows."""
    X = np.random.default_rng(0).dirichlet([5.0, 3.0, 2.0], 120)
    fitted = KernelPCA(4, kernel="chi2", pre_image=pre_image, alpha=1e-3).fit(X)
    rebuilt = fitted.inverse_transform(fitted.transform(X))
    assert np.abs(rebuilt - X).mean() < 0.2 * np.abs(X - X.mean(axis=0)).mean()


def test_scale_follows_the_variances_of_the_columns():
    """gamma="scale" is 1 / (d v) with the mean variance of a column, whatever the columns' means are."""
    X = rows()
    for shift in (0.0, np.arange(X.shape[1]) * 10.0):
        fitted = KernelPCA(2, kernel="rbf", gamma="scale").fit(X + shift)
        assert fitted.gamma_ == pytest.approx(1 / X.var(axis=0).sum(), rel=1e-9)


def test_an_indefinite_matrix_is_refused_where_it_matters_and_never_cut_off_silently():
    """A given matrix with negative eigenvalues is refused when one of them is kept, and warned of when none is."""
    Q = np.linalg.qr(np.column_stack([np.ones(8), np.random.default_rng(0).standard_normal((8, 7))]))[0][:, 1:]
    K = Q @ np.diag([5.0, 3.0, 1.0, 0.5, 0.0, -1.0, -2.0]) @ Q.T
    with pytest.raises(
        InputError, match=r"significant negative eigenvalues: .* eigenvalue of -2 beside a largest of 5"
    ):
        KernelPCA(kernel="precomputed").fit(K)
    with pytest.warns(IndefiniteKernelWarning, match="eigenvalue of -2 beside a largest of 5") as caught:
        kpca = KernelPCA(2, kernel="precomputed").fit(K)
    assert caught[0].message.lowest == pytest.approx(-2.0)
    np.testing.assert_allclose(kpca.eigenvalues_, [5.0, 3.0])


def test_a_matrix_that_is_not_symmetric_is_refused():
    """Unless centering makes it so, as scikit-learn's tests demand."""
    K = kernels.Gaussian(0.2)(rows(10))
    K[2, 7] += 0.5
    with pytest.raises(InputError, match=r"not symmetric, also after centering: entries \(\d, \d\)"):
        KernelPCA(2, kernel="precomputed").fit(K)
    assert KernelPCA(1, kernel="precomputed").fit([[1, 2], [3, 40]]).eigenvalues_ == [18.0]


@pytest.mark.parametrize("gamma, words", [(1e6, "nearly the identity"), (1e-12, "nearly constant")])
def test_a_width_that_sees_nothing_is_said_and_another_suggested(gamma, words):
    """K = I and K = 11' are warned of, with a gamma from the median distance."""
    with pytest.warns(KernelWidthWarning, match=rf"{words}.*suggests gamma=0\.\d") as caught:
        KernelPCA(2, kernel="rbf", gamma=gamma).fit(rows())
    assert 0.01 < caught[0].message.suggested < 1


def test_overflow_of_a_polynomial_is_said():
    """Powers beyond float64 are refused, with the parameters."""
    with pytest.raises(InputError, match="overflow"):
        KernelPCA(2, kernel="poly", degree=40).fit(1e9 * rows())


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", "cosine"])
@pytest.mark.parametrize("n", [1, 20, 500])
def test_constant_rows_have_no_components(kernel, n):
    """Rows that are all equal give none, or those asked for, with zeros."""
    X = np.full((n, 3), 2.0)
    assert KernelPCA(kernel=kernel).fit_transform(X).shape == (n, 0)
    for solver in ("auto", "dense", "tiled"):
        kpca = KernelPCA(min(n, 2), kernel=kernel, fit_inverse_transform=True, eigen_solver=solver).fit(X)
        scores = kpca.transform(X)
        np.testing.assert_allclose(scores, np.zeros((n, min(n, 2))), atol=1e-12)
        np.testing.assert_allclose(kpca.inverse_transform(scores), X)


def test_a_function_of_the_wrong_shape_or_that_raises_is_named():
    """The sentence has the function's name, and what it gave or raised."""

    def crooked(x, y):
        return x - y

    def broken(x, y):
        return np.linalg.inv(np.outer(x - x, y))

    with pytest.raises(InputError, match="kernel function crooked must give one number for two points"):
        KernelPCA(2, kernel=crooked).fit(rows())
    with pytest.raises(InputError, match="kernel function broken raised LinAlgError"):
        KernelPCA(2, kernel=broken).fit(rows())
    with pytest.raises(InputError, match=r"kernel function crooked must give numbers of shape"):
        KernelPCA(2, kernel=kernels.BlockKernel(crooked)).fit(rows())


def test_a_plan_beyond_the_budget_is_refused_with_both_numbers():
    """Before any kernel value is made, the sentence says what is needed, what there is, and what would fit."""
    with pytest.raises(MemoryBudgetError, match=r"Kernel PCA of 3,000 rows with all components needs .* memory_budget"):
        KernelPCA(kernel="rbf", memory_budget=10_000_000).fit(rows(3000))
    with pytest.raises(MemoryBudgetError) as caught:
        KernelPCA(2, kernel="rbf", eigen_solver="dense", memory_budget=10_000_000).fit(rows(3000))
    assert caught.value.needed > caught.value.budget == 10_000_000


@pytest.mark.parametrize("kernel", ["linear", "cosine"])
def test_a_gamma_that_a_kernel_does_not_have_is_ignored(kernel):
    """As in scikit-learn: a grid over kernels and gammas passes through those without one."""
    plain = KernelPCA(2, kernel=kernel).fit(rows())
    for gamma in ("median", "scale", 7.0):
        fitted = KernelPCA(2, kernel=kernel, gamma=gamma).fit(rows())
        np.testing.assert_array_equal(fitted.eigenvalues_, plain.eigenvalues_)


@pytest.mark.parametrize("kernel, gamma", [("poly", "median"), ("sigmoid", "median"), ("chi2", "scale")])
def test_a_word_for_gamma_that_says_nothing_of_a_kernel_is_refused(kernel, gamma):
    """It has a gamma, and no number would be what was asked for."""
    with pytest.raises(ParameterError, match=rf"gamma='{gamma}' for the .* kernel: pass a finite number"):
        KernelPCA(2, kernel=kernel, gamma=gamma).fit(np.abs(rows()))
