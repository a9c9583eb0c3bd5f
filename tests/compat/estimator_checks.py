"""scikit-learn's checks of its conventions, on every Gramian estimator. Collected by ``run.py`` alone."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from gramian import ICA, PCA, FastICA, IncrementalPCA, KernelPCA, ProbabilisticPCA, TruncatedSVD

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


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_conventions(estimator, check):
    """Every estimator keeps scikit-learn's conventions."""
    check(estimator)
