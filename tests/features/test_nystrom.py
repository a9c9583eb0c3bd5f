import pickle
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.errors import InputError, MemoryBudgetError, NotSupportedError, ParameterError
from gramian.features import Landmarks, Monomials, measure_kernel_error
from gramian.features.nystrom import CHOICES, accepted_columns, landmark_map, pivoted_positions
from gramian.features.sampling import resolve_kernel
from gramian.kernels import ChiSquared, Gaussian, Laplacian, Linear, Matern, Polynomial, Sigmoid
from gramian.sources import DenseRows, as_source
from tests.catalog import parameters

KERNELS = {
    "gaussian": Gaussian(0.1),
    "matern": Matern(1.5, 0.1),
    "laplacian": Laplacian(0.1),
    "polynomial": Polynomial(degree=2, gamma=0.5),
    "sum": Gaussian(0.2) + 0.5 * Linear(),
}


def _rows(n, d, seed=0, dtype="float64"):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(dtype)


def _approximation(phi, X):
    features = phi.map_block(X)
    return features @ features.T


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("kernel", parameters(KERNELS))
def test_it_is_the_projection_on_the_landmarks(kernel, choice):
    """phi(x).phi(y) = k(x, L) k(L, L)^+ k(L, y), whatever the landmarks are."""
    X = _rows(80, 3)
    phi = Landmarks(kernel, 12, choice).fit(as_source(X))
    across, own = kernel(X, phi.landmarks), kernel(phi.landmarks)
    np.testing.assert_allclose(
        _approximation(phi, X), across @ np.linalg.pinv(own, hermitian=True) @ across.T, atol=1e-7
    )


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("seed", [0, 1])
def test_exact_when_the_landmarks_span(choice, seed):
    """A kernel of rank six is exact from a few more than six landmarks, and D is its rank."""
    X = _rows(200, 2, seed)
    kernel = Polynomial(degree=2, gamma=1.0, coef0=1.0)
    phi = Landmarks(kernel, 15, choice, seed).fit(as_source(X))
    assert phi.n_features == 6 == Monomials(2).fit(as_source(X)).n_features
    K = kernel(X)
    np.testing.assert_allclose(_approximation(phi, X), K, atol=1e-10 * np.abs(K).max())


@pytest.mark.parametrize("kernel", parameters(KERNELS))
@pytest.mark.parametrize("dtype, tolerance", [("float64", 1e-7), ("float32", 1e-4)])
def test_exact_when_every_row_is_a_landmark(kernel, dtype, tolerance):
    """With all rows as landmarks K comes back to the root of the rounding of its type, and more are not made."""
    X = _rows(60, 3, dtype=dtype)
    phi = Landmarks(kernel, 1_000).fit(as_source(X))
    assert len(phi.landmarks) == 60
    assert phi.map_block(X).dtype == X.dtype
    K = kernel(X)
    assert np.linalg.norm(_approximation(phi, X) - K) <= tolerance * np.linalg.norm(K)


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("kernel", parameters(KERNELS))
def test_what_is_missing_is_positive_semidefinite(kernel, choice):
    """K - phi phi' has no eigenvalue under zero, and none above its trace."""
    X = _rows(100, 4, seed=3)
    phi = Landmarks(kernel, 10, choice).fit(as_source(X))
    K = kernel(X)
    values = np.linalg.eigvalsh(K - _approximation(phi, X))
    assert values[0] >= -1e-8 * np.linalg.norm(K, 2)
    error = measure_kernel_error(phi, as_source(X))
    np.testing.assert_allclose(error.trace * np.trace(K), values.sum(), rtol=1e-8, atol=1e-8 * np.trace(K))
    assert values[-1] <= error.trace * np.trace(K) * (1 + 1e-8)


@pytest.mark.parametrize("kernel", [Gaussian(0.1), Gaussian(1.0), Matern(2.5, 0.1)], ids=str)
def test_float32_loses_little(kernel):
    """Error and missing trace of float32 rows are within half of those of float64, or of the size of rounding."""
    X = _rows(1_000, 3)
    errors = [
        measure_kernel_error(Landmarks(kernel, 300).fit(as_source(rows)), as_source(rows))
        for rows in (X, X.astype("float32"))
    ]
    assert errors[1].relative <= 1.5 * errors[0].relative + 1e-4
    assert errors[1].trace <= 1.5 * errors[0].trace + 1e-4


def test_more_landmarks_have_less_error():
    """The error falls as landmarks are added, for each way to choose them."""
    X = _rows(600, 5, seed=1)
    for choice in CHOICES:
        errors = [
            measure_kernel_error(Landmarks(Gaussian(0.05), m, choice).fit(as_source(X)), as_source(X)).relative
            for m in (5, 20, 80, 320)
        ]
        assert all(later < 0.6 * earlier for earlier, later in pairwise(errors)), choice


def test_pivots_find_what_draws_miss():
    """Five points far from a thousand others are landmarks by pivots, and hardly ever by uniform draws."""
    far = 40.0 * np.eye(5)
    X = np.vstack([0.1 * _rows(1_000, 5), far])
    traces = {
        choice: np.mean(
            [
                measure_kernel_error(Landmarks(Gaussian(0.5), 20, choice, seed).fit(as_source(X)), as_source(far)).trace
                for seed in range(3)
            ]
        )
        for choice in ("uniform", "pivoted")
    }
    assert traces["pivoted"] < 1e-6
    assert traces["uniform"] > 0.5


def test_centers_serve_clusters():
    """Rows in twenty tight groups are nearly exact with twenty centers; as many drawn rows miss some groups."""
    rng = np.random.default_rng(0)
    centers = 6.0 * rng.standard_normal((20, 3))
    X = centers[rng.integers(20, size=800)] + 0.01 * rng.standard_normal((800, 3))
    error = {
        choice: measure_kernel_error(Landmarks(Gaussian(0.5), 20, choice).fit(as_source(X)), as_source(X)).trace
        for choice in ("uniform", "kmeans")
    }
    assert error["kmeans"] < 0.01
    assert error["uniform"] > 0.1


class TestPivots:
    """The randomly pivoted Cholesky factorization."""

    def test_the_first_pivot_follows_the_diagonal(self):
        """With a linear kernel the first pivot is drawn by squared length."""
        X = np.diag([3.0, 1.0, 1.0])
        resolved = resolve_kernel(Linear(), as_source(X))
        first = [int(pivoted_positions(X, resolved, 1, seed=seed)[0]) for seed in range(400)]
        share = np.mean(np.array(first) == 0)
        assert abs(share - 9 / 11) < 4 * np.sqrt(9 / 11 * 2 / 11 / 400)

    def test_proposals_by_the_dozen_do_not_change_the_distribution(self):
        """What is left of the trace has the same mean as when pivots are drawn one by one."""
        X = _rows(60, 3, seed=2) * np.array([3.0, 1.0, 0.3])
        kernel = Gaussian(0.3)
        K, resolved = kernel(X), resolve_kernel(kernel, as_source(X))
        by_dozen = [_trace_left(K, pivoted_positions(X, resolved, 8, seed=seed)) for seed in range(150)]
        one_by_one = [_trace_left(K, _plain_pivots(K, 8, seed=seed)) for seed in range(150)]
        error = np.sqrt((np.var(by_dozen) + np.var(one_by_one)) / 150)
        assert abs(np.mean(by_dozen) - np.mean(one_by_one)) < 4 * error

    def test_no_row_comes_twice_and_rank_ends_it(self):
        """Repeated rows are taken once, and a kernel of rank six has six pivots."""
        X = np.repeat(_rows(40, 2), 3, axis=0)
        resolved = resolve_kernel(Polynomial(degree=2, gamma=1.0), as_source(X))
        pivots = pivoted_positions(X, resolved, 50, seed=0)
        assert len(pivots) == 6
        assert len(np.unique(X[pivots], axis=0)) == 6

    def test_accepted_columns_are_a_factorization(self):
        """The columns of accepted pivots eliminate their rows and columns of the matrix."""
        K = Gaussian(0.1)(_rows(30, 2))
        L = accepted_columns(K, np.diag(K), np.random.default_rng(1))
        pivots = np.argmax(L != 0, axis=0)
        left = K - L @ L.T
        assert 2 < len(pivots) < 30
        assert np.abs(left[np.ix_(pivots, pivots)]).max() < 1e-10


def _trace_left(K, pivots):
    across = K[:, pivots]
    return np.trace(K - across @ np.linalg.pinv(K[np.ix_(pivots, pivots)], hermitian=True) @ across.T)


def _plain_pivots(K, count, *, seed):
    rng, left, pivots = np.random.default_rng(seed), K.copy(), []
    for _ in range(count):
        diagonal = np.maximum(np.diag(left), 0.0)
        i = int(rng.choice(len(K), p=diagonal / diagonal.sum()))
        left = left - np.outer(left[:, i], left[i]) / left[i, i]
        pivots.append(i)
    return np.array(pivots)


@pytest.mark.parametrize("choice", ["uniform", "pivoted"])
def test_sparse_rows_give_the_same_map(choice):
    """CSR rows have the landmarks and the features of the same dense rows, and stay sparse."""
    X = _rows(90, 8)
    X[np.abs(X) < 1] = 0.0
    recipe = Landmarks(Gaussian(0.2), 20, choice, seed=3)
    dense, sparse = (recipe.fit(as_source(rows)) for rows in (X, sp.csr_array(X)))
    np.testing.assert_array_equal(sparse.positions, dense.positions)
    assert sp.issparse(sparse.landmarks)
    np.testing.assert_allclose(_approximation(sparse, sp.csr_array(X)), _approximation(dense, X), atol=1e-9)


def test_sparse_rows_have_no_centers():
    """Averages of sparse rows are dense: the sentence says what to do instead."""
    with pytest.raises(NotSupportedError, match=r"averages of rows, which are dense.*Use 'pivoted' or 'uniform'"):
        Landmarks(Gaussian(0.2), 5, "kmeans").fit(as_source(sp.csr_array(_rows(20, 3))))


@pytest.mark.parametrize("choice", CHOICES)
def test_weights_are_repetitions(choice):
    """Rows of weight zero are never landmarks, and a heavy group gets most of them."""
    X = np.vstack([_rows(50, 2), 30.0 + _rows(50, 2), 60.0 + _rows(50, 2)])
    weights = np.repeat([0.0, 1.0, 99.0], 50)
    for seed in range(3):
        phi = Landmarks(Gaussian(2.0), 10, choice, seed).fit(DenseRows(X, weights=weights))
        assert phi.landmarks.min() > 20
        if choice == "uniform":
            assert (phi.landmarks[:, 0] > 45).sum() >= 8


def test_offset_rows_have_the_same_approximation():
    """Rows moved by 2**27 have the same landmarks and the same inner products."""
    X = np.round(_rows(100, 3) * 2**10) / 2**10
    near, far = (Landmarks(Gaussian(0.2), 15, "pivoted").fit(as_source(rows)) for rows in (X, X + 2.0**27))
    np.testing.assert_array_equal(near.positions, far.positions)
    np.testing.assert_allclose(_approximation(far, X + 2.0**27), _approximation(near, X), atol=1e-9)


def test_constant_and_single_rows():
    """One row, and rows that are all the same, have one feature."""
    for X in (np.ones((1, 3)), np.ones((30, 3))):
        for choice in CHOICES:
            phi = Landmarks(Gaussian(1.0), 5, choice).fit(as_source(X))
            np.testing.assert_allclose(phi.map_block(X), np.ones((len(X), 1)))


def test_zero_kernels_have_zero_features():
    """A linear kernel of zeros is a zero feature, not a division by zero."""
    X = np.zeros((6, 2))
    assert not Landmarks(Linear(), 3).fit(as_source(X)).map_block(X).any()


def test_maps_pickle_and_blocks_do_not_matter():
    """A pickled map, and rows in other blocks, give the same features."""
    X = _rows(40, 3)
    phi = Landmarks(Gaussian(0.3), 10).fit(as_source(X))
    copy = pickle.loads(pickle.dumps(phi))
    np.testing.assert_array_equal(copy.map_block(X), phi.map_block(X))
    np.testing.assert_allclose(phi.map_rows(DenseRows(X, block_rows=7)), phi.map_block(X), atol=1e-13)


def test_tensors_stay_tensors():
    """torch rows have torch features, with the same inner products."""
    torch = pytest.importorskip("torch")
    X = _rows(30, 3)
    recipe = Landmarks(Gaussian(0.3), 10, "kmeans")
    tensor = torch.from_numpy(X)
    features = recipe.fit(as_source(tensor)).map_block(tensor)
    assert isinstance(features, torch.Tensor)
    np.testing.assert_allclose(features.numpy(), recipe.fit(as_source(X)).map_block(X), atol=1e-10)


def test_landmarks_of_ones_own():
    """Any points can be landmarks, also none of the rows."""
    X = _rows(50, 2)
    grid = np.stack(np.meshgrid(*[np.linspace(-4, 4, 9)] * 2), axis=-1).reshape(-1, 2)
    phi = landmark_map(Gaussian(0.1), grid)
    assert phi.positions is None
    np.testing.assert_allclose(_approximation(phi, X), Gaussian(0.1)(X), atol=1e-4)


def test_indefinite_kernels_are_refused_with_their_eigenvalue():
    """The sentence has the eigenvalue and the parameters."""
    with pytest.raises(InputError, match=r"has an eigenvalue of -\d.*Sigmoid\(gamma=2.0, coef0=-1.0\) is not positive"):
        Landmarks(Sigmoid(2.0, -1.0), 30).fit(as_source(_rows(60, 3)))


@pytest.mark.parametrize(
    "recipe, error, words",
    [
        (Landmarks(Gaussian(), 5, "nearest"), ParameterError, "landmarks='nearest' is not a way to choose them"),
        (Landmarks(Gaussian(), 0), ParameterError, "0 landmarks make no map"),
        (Landmarks(Gaussian(), 50_000), MemoryBudgetError, "50,000 landmarks have a kernel matrix of 20 GB"),
        (Landmarks(ChiSquared(), 5), InputError, "negative"),
    ],
)
def test_what_cannot_be_done_is_refused(recipe, error, words):
    """Each refusal is a sentence with what was asked and what to do."""
    with pytest.raises(error, match=words):
        recipe.fit(as_source(_rows(20, 3)))


def test_rows_that_are_not_finite_are_named():
    """NaN in the rows of a fit is found, with its place."""
    X = _rows(20, 3)
    X[7, 1] = np.nan
    with pytest.raises(InputError, match="row 7"):
        Landmarks(Gaussian(0.1), 5).fit(as_source(X))
