"""scikit-learn's checks of its conventions, on every Gramian estimator. Collected by ``run.py`` alone."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import FAMD, ICA, MCA, PCA, FastICA, IncrementalPCA, KernelPCA, ProbabilisticPCA, TruncatedSVD

ESTIMATORS = [
    PCA(),
    PCA(n_components=1, whiten=True),
    PCA(n_components=1, scale=True),
    PCA(n_components="auto"),
    *(PCA(n_components=1, svd_solver=name) for name in ("full", "covariance_eigh", "arpack", "randomized")),
    *(PCA(n_components=1, svd_solver=name) for name in ("gram", "krylov", "power")),
    IncrementalPCA(),
    IncrementalPCA(n_components=1, batch_size=10),
    ProbabilisticPCA(),
    ProbabilisticPCA(n_components=1, scale=True),
    MCA(),
    MCA(n_components=1, missing="passive", handle_unknown="ignore"),
    FAMD(),
    FAMD(n_components=1, missing="passive"),
    TruncatedSVD(n_components=1),
    TruncatedSVD(n_components=1, algorithm="arpack"),
    KernelPCA(),
    KernelPCA(n_components=2, kernel="rbf", gamma="scale"),
    KernelPCA(n_components=2, kernel="rbf", gamma="scale", fit_inverse_transform=True),
    KernelPCA(n_components=2, kernel="poly", degree=2, eigen_solver="dense"),
    KernelPCA(n_components=1, kernel="laplacian", gamma="scale"),
    KernelPCA(n_components=1, kernel="rbf", gamma="scale", eigen_solver="tiled"),
    *(ICA(algorithm=name, max_iter=50) for name in ("picard", "parallel", "deflation", "infomax")),
    ICA(n_components=1, runs=2),
    ICA(n_components=1, whiten="arbitrary-variance", independence=False),
    FastICA(),
    FastICA(n_components=1, algorithm="deflation"),
]


def unmet(estimator):
    """Checks of scikit-learn that an estimator cannot meet, each with its reason."""
    reason = (
        "nine rows that count, in eight directions: every rotation has sources as good, and which one an iteration "
        "comes to depends on rounding. tests/estimators/test_weights.py compares on rows that have sources"
    )
    names = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")
    if isinstance(estimator, ProbabilisticPCA):
        table = "predict gives all cells of a table, and the check asks for one number per row"
        return dict.fromkeys(("check_estimator_sparse_array", "check_estimator_sparse_matrix"), table)
    if isinstance(estimator, MCA):
        return {
            names[0]: "random numbers are levels that one row has each: all eigenvalues are equal, and rows left out "
            "have levels that the fit does not know. tests/estimators/test_categories.py compares on categories"
        }
    return dict.fromkeys(names, reason) if isinstance(estimator, ICA | FastICA) and not estimator.n_components else {}


@parametrize_with_checks(ESTIMATORS, expected_failed_checks=unmet)
def test_scikit_learn_conventions(estimator, check):
    """Every estimator keeps scikit-learn's conventions."""
    check(estimator)
