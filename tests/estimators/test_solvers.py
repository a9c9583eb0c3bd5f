import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA
from gramian.errors import NotSupportedError, ParameterError
from gramian.estimators.pca import check_components, name_solver

X = np.random.default_rng(0).normal(size=(12, 5))


@pytest.mark.parametrize(
    "shape, n_components, sparse, name",
    [
        ((150, 4), None, False, "covariance_eigh"),
        ((10, 50), 5, False, "full"),
        ((1000, 500), 400, False, "full"),
        ((1000, 500), 10, False, "randomized"),
        ((1000, 500), 0.5, False, "full"),
        ((1000, 900), "mle", False, "full"),
        ((1000, 900), None, False, "full"),
        ((1000, 500), 10, True, "arpack"),
    ],
)
def test_auto_bears_the_name_scikit_learn_would_choose(shape, n_components, sparse, name):
    """The recorded name follows scikit-learn's rule; any other name stands for itself."""
    assert name_solver("auto", n_components=n_components, shape=shape, sparse=sparse) == name
    assert name_solver("gram", n_components=n_components, shape=shape, sparse=sparse) == "gram"


def test_too_many_components_are_refused_with_both_numbers():
    """The sentence says what was asked for, what there is, and what to do."""
    with pytest.raises(ParameterError, match=r"n_components=9 must be between 0 and .*=5 with .* up to 5, or None"):
        PCA(n_components=9).fit(X)


@pytest.mark.parametrize("svd_solver", ["arpack", "randomized"])
def test_iterative_names_keep_their_limits(svd_solver):
    """scikit-learn's iterative names take neither zero components nor 'mle'; a share they do take."""
    with pytest.raises(ParameterError, match="must be between 1 and"):
        PCA(n_components=0, svd_solver=svd_solver).fit(X)
    with pytest.raises(ParameterError, match="n_components='mle' cannot be a string with svd_solver"):
        PCA(n_components="mle", svd_solver=svd_solver).fit(X)
    check_components(0.9, svd_solver=svd_solver, shape=(12, 5))


def test_arpack_gives_all_but_one():
    """The name 'arpack' refuses min(n, d) components, and None means one fewer."""
    with pytest.raises(ParameterError, match="n_components=5 must be strictly less than"):
        PCA(n_components=5, svd_solver="arpack").fit(X)
    assert PCA(svd_solver="arpack").fit(X).n_components_ == 4


@pytest.mark.parametrize("svd_solver", ["full", "randomized"])
def test_names_that_refuse_sparse_rows(svd_solver):
    """Sparse rows are refused for the names scikit-learn refuses them for, with the way out."""
    with pytest.raises(NotSupportedError, match="Pass svd_solver='auto'"):
        PCA(n_components=2, svd_solver=svd_solver).fit(sp.csr_array(X))


@pytest.mark.parametrize("n_components", [None, 0.8, 5, 0])
def test_auto_takes_sparse_rows_with_any_number_of_components(n_components):
    """The automatic choice lifts the limits of 'arpack' on sparse rows."""
    sparse, dense = PCA(n_components).fit(sp.csr_array(X)), PCA(n_components).fit(X)
    assert sparse.n_components_ == dense.n_components_
    np.testing.assert_allclose(sparse.explained_variance_, dense.explained_variance_)


def test_mle_wants_as_many_rows_as_columns():
    """Minka's rule under scikit-learn's names is refused for wide rows, with the way out."""
    with pytest.raises(ParameterError, match=r"only supported if n_samples >= n_features.* 5 rows of 12 columns"):
        PCA(n_components="mle", svd_solver="full").fit(X.T)
