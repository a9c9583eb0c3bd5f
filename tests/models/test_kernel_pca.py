"""Kernel PCA: the same pairs by every way, thread count, door and size, against float64 LAPACK."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from gramian.kernels import (
    BlockKernel,
    ChiSquared,
    Cosine,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    PointKernel,
    Polynomial,
    Precomputed,
    Sigmoid,
)
from gramian.models.kernel_pca.fit import first_facts, fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.operators.kernel_gram import KernelGram
from gramian.planning.kernel_plan import plan_kernel_pca
from gramian.sources import as_source
from gramian.sources.dense import DenseRows
from gramian.testing import largest_angle
from tests.catalog import DOORS, host, parameters, slowly

KERNELS = {
    "gaussian": Gaussian("median"),
    "wide gaussian": Gaussian(1e-3),
    "laplacian": Laplacian(0.1),
    "matern 1/2": Matern(0.5),
    "matern 3/2": Matern(1.5),
    "matern 5/2": Matern(2.5),
    "cubic": Polynomial(3, 1.0, 1.0),
    "linear": Linear(),
    "cosine": Cosine(),
    "chi-squared": ChiSquared(0.1),
    "sum": Gaussian(0.05) + 0.1 * Linear(),
    "product": Gaussian(0.05) * Polynomial(2, 0.1, 1.0),
    "own": BlockKernel(lambda X, Y: 1.0 / (1.0 + ((X[:, None, :4] - Y[None, :, :4]) ** 2).sum(axis=2)), psd=True),
}
K_WANTED = 16


def rows(n, d=10, seed=0):
    """Rows whose columns shrink, so that spectra are graded; all positive, so that every kernel takes them."""
    return np.abs(np.random.default_rng(seed).standard_normal((n, d))) * np.geomspace(1.0, 0.2, d)


def centered(K, weights=None):
    """P D K D P, by the definition."""
    w = np.ones(len(K)) if weights is None else weights
    C = np.eye(len(K)) - np.outer(np.ones(len(K)), w) / w.sum()
    return np.sqrt(np.outer(w, w)) * (C @ K @ C.T)


def reference(kernel, X, k=K_WANTED):
    """The centered matrix and its k largest eigenvalues by LAPACK."""
    K = kernel(X)
    means = K.mean(axis=0)
    K -= means
    K -= (means - means.mean())[:, None]
    n = len(X)
    return K, scipy.linalg.eigh(K, eigvals_only=True, subset_by_index=[n - k, n - 1])[::-1]


def fit(X, kernel, k=K_WANTED, **options):
    """A fit of an array."""
    return fit_kernel_pca(as_source(X, weights=options.pop("weights", None)), KernelPCAOptions(k, kernel, **options))


def assert_exact(model, A, truth):
    """Values to 1e-6 of their own size down to 1e-6 of the first, then to 1e-12 of it; residuals to 1e-6 of it."""
    values, U = model.eigenvalues, model.vectors
    large = truth >= 1e-6 * truth[0]
    np.testing.assert_allclose(values[large], truth[large], rtol=1e-6)
    np.testing.assert_allclose(values[~large], np.maximum(truth[~large], 0.0), atol=1e-12 * truth[0])
    assert np.linalg.norm(A @ U - U * values, axis=0).max() <= 1e-6 * truth[0]
    np.testing.assert_allclose(U.T @ U, np.eye(len(values)), atol=1e-8)


@pytest.mark.parametrize(
    "name, n",
    [
        *((name, 150) for name in KERNELS),
        ("gaussian", 700),
        ("laplacian", 700),
        *slowly(*((name, 700) for name in KERNELS if name not in ("gaussian", "laplacian"))),
    ],
)
def test_every_way_is_exact_for_every_kernel(name, n):
    """Dense, stored, tiled and by features; with one thread and with two: the pairs of LAPACK."""
    kernel, X = KERNELS[name], rows(n)
    A, truth = reference(kernel, X)
    auto = fit(X, kernel)
    assert_exact(auto, A, truth)
    for way, threads in (("dense", 2), ("stored", 2), ("tiled", 2), ("tiled", 1)):
        with threadpool_limits(threads):
            model = fit(X, kernel, way=way)
        assert model.plan.way == way
        assert_exact(model, A, truth)
        assert largest_angle(model.vectors[:, :2], auto.vectors[:, :2]) < 1e-4 or truth[1] < 1.001 * truth[2]


@pytest.mark.slow
@pytest.mark.parametrize("name", KERNELS)
def test_five_thousand_rows_are_exact_for_every_kernel(name):
    """The same at n = 5,000."""
    kernel, X = KERNELS[name], rows(5000)
    A, truth = reference(kernel, X)
    for way, threads in (("stored", 2), ("tiled", 2), ("tiled", 1)):
        with threadpool_limits(threads):
            assert_exact(fit(X, kernel, way=way), A, truth)


@pytest.mark.parametrize("n", [700, pytest.param(5000, marks=pytest.mark.slow)])
def test_a_sigmoid_is_exact_also_where_its_spectrum_is_almost_zero(n):
    """Ten values, one a column; what follows is of both signs, under 1e-10 of the first, and known to 1e-12 of it."""
    kernel, X = Sigmoid(1e-3, 0.0), rows(n)
    A, truth = reference(kernel, X)
    assert truth[9] > 1e-3 * truth[0] > 1e-10 * truth[0] > abs(truth[10])
    for way, threads in (("stored", 2), ("tiled", 2), ("tiled", 1)):
        with threadpool_limits(threads):
            assert_exact(fit(X, kernel, 10, way=way), A, truth[:10])
            assert_exact(fit(X, kernel, way=way), A, truth)


@pytest.mark.parametrize("way", ["stored", "tiled"])
def test_values_beyond_the_range_of_float32_are_made_in_float64(way):
    """A start in float32 is left out then; nothing else changes."""
    kernel, X = Polynomial(10, 0.25, 1.0), 1e3 * rows(700, 4)
    A, truth = reference(kernel, X, 6)
    assert truth[0] > 1e60
    model = fit(X, kernel, 6, way=way)
    scale = 2.0 ** -int(np.log2(truth[0]))
    assert_exact(replace(model, eigenvalues=model.eigenvalues * scale), A * scale, truth * scale)


@pytest.mark.slow
def test_five_thousand_rows_of_a_given_matrix_are_exact():
    """The same for a matrix that was given."""
    K = Gaussian(0.5)(rows(5000))
    A, truth = reference(Gaussian(0.5), rows(5000))
    assert_exact(fit(K, Precomputed()), A, truth)


def test_ways_and_threads_agree_to_rounding():
    """Stored and tiled take other steps to the same values; another number of workers differs by rounding."""
    X = rows(900, 5)
    stored, tiled = (fit(X, Gaussian(0.3), 6, way=way) for way in ("stored", "tiled"))
    apart = np.abs(stored.eigenvalues - tiled.eigenvalues)
    assert (apart <= stored.certificate.bounds + tiled.certificate.bounds).all()
    assert (apart <= 1e-9 * tiled.eigenvalues).all()
    with threadpool_limits(1):
        alone = fit(X, Gaussian(0.3), 6, way="tiled")
    np.testing.assert_allclose(alone.eigenvalues, tiled.eigenvalues, rtol=1e-12)
    np.testing.assert_allclose(alone.vectors, tiled.vectors, atol=1e-6)


def test_signs_follow_the_largest_entry():
    """The largest entry of every u is positive."""
    U = fit(rows(300), Gaussian("median"), 5).vectors
    assert (U[np.argmax(np.abs(U), axis=0), np.arange(5)] > 0).all()


@pytest.mark.parametrize(
    "kernel", [Gaussian(0.2), Laplacian(0.3), *(Matern(nu, 0.2) for nu in (0.5, 1.5, 2.5)), Linear()]
)
@pytest.mark.parametrize("way", ["dense", "tiled"])
def test_an_offset_of_a_hundred_million_changes_nothing_but_the_input(kernel, way):
    """Rows at 1e8 give what the rows that are left of them give, to rounding."""
    X = rows(500, 4)
    far = X + 1e8
    near = fit(far - 1e8, kernel, 4, way=way)
    moved = fit(far, kernel, 4, way=way)
    np.testing.assert_allclose(moved.eigenvalues, near.eigenvalues, rtol=1e-6)
    np.testing.assert_allclose(moved.project(far[:20]), near.project(far[:20] - 1e8), atol=1e-5)


@pytest.mark.parametrize(
    "gamma, dtype, used",
    [(0.1, "float32", "float32"), (0.1, "float64", "float64"), (1e-4, "float32", "float64")],
    ids=["clear", "float64 rows", "small values"],
)
@pytest.mark.parametrize("n, seed", [(1500, 3), *slowly((2200, 0))])
def test_few_rows_are_made_in_float32_where_that_costs_nothing(gamma, dtype, used, n, seed, monkeypatch):
    """Values keep six digits of their own and residuals the tolerance, against LAPACK in float64, in either type."""
    X, made, types = rows(n, 6, seed=seed).astype(dtype), KernelGram._products, []

    def noted(self, V, dtype):
        types.append(np.dtype(dtype).name)
        return made(self, V, dtype)

    monkeypatch.setattr(KernelGram, "_products", noted)
    model = fit(X, Gaussian(gamma), 8, way="stored")
    assert types[-1] == used
    A, truth = reference(Gaussian(gamma), X.astype(float), 8)
    assert_exact(model, A, truth)
    assert (abs(model.eigenvalues - truth) <= model.certificate.bounds).all()


@pytest.mark.parametrize("way", ["dense", "stored", "tiled"])
@pytest.mark.parametrize("kernel", [Gaussian(0.3), Polynomial(2, 0.5, 1.0), Linear()])
def test_a_weight_is_a_repetition(kernel, way):
    """Weighted rows give the values, the mean and the scores of repeated rows; a weight of zero leaves a row out."""
    X = rows(420, 5, seed=2)
    w = np.random.default_rng(0).integers(0, 3, 420).astype(float)
    repeated = fit(np.repeat(X, w.astype(int), axis=0), kernel, 5, way="dense")
    for chosen in (way, "auto"):
        weighted = fit(X, kernel, 5, way=chosen, weights=w)
        np.testing.assert_allclose(weighted.eigenvalues, repeated.eigenvalues, rtol=1e-8)
        assert weighted.total_variance == pytest.approx(repeated.total_variance, rel=1e-10)
        signs = np.sign(np.sum(weighted.project(X) * repeated.project(X), axis=0))
        np.testing.assert_allclose(weighted.project(X) * signs, repeated.project(X), atol=1e-5)
        np.testing.assert_allclose(weighted.scores, weighted.project(X), atol=1e-5)


@pytest.mark.parametrize("door", parameters(DOORS))
@pytest.mark.parametrize("kernel", [Gaussian(0.2), Linear(), Polynomial(2, 0.3, 1.0)])
def test_every_door_gives_the_same_model(door, kernel):
    """NumPy of any layout, sparse, torch and tables: the same values and scores."""
    X = rows(90, 6)
    X[X < 0.1] = 0.0
    plain, model = fit(X, kernel, 4), fit(door(X), kernel, 4)
    np.testing.assert_allclose(model.eigenvalues, plain.eigenvalues, rtol=1e-9)
    np.testing.assert_allclose(host(model.project(as_source(door(X)))), plain.project(X), atol=1e-7)


@pytest.mark.parametrize("way", ["stored", "tiled"])
def test_sparse_rows_stay_sparse(way):
    """Sparse rows are never made dense: their block has no dense form to take."""
    X = sp.random_array((600, 300), density=0.02, rng=np.random.default_rng(0), format="csr")
    for kernel in (Gaussian(0.5), Linear(), Polynomial(2, 1.0, 1.0), Cosine(), Sigmoid(1e-3, 0.0)):
        _, truth = reference(kernel, X.toarray(), 4)
        model = fit(X, kernel, 4, way=way)
        np.testing.assert_allclose(model.eigenvalues, truth, rtol=1e-6)
        np.testing.assert_allclose(model.project(X[:9]), model.scores[:9], atol=1e-5 * np.sqrt(truth[0]))


@pytest.mark.parametrize("way", ["dense", "tiled"])
def test_single_precision_rows(way):
    """float32 rows give float64 values near those of the same rows in float64, and float32 scores."""
    X = rows(500, 5).astype(np.float32)
    model, wide = fit(X, Gaussian(0.3), 4, way=way), fit(X.astype(float), Gaussian(0.3), 4, way="dense")
    np.testing.assert_allclose(model.eigenvalues, wide.eigenvalues, rtol=1e-6)
    assert model.project(X).dtype == np.float32


@pytest.mark.parametrize("n, d", [(60, 5), (500, 8), (1700, 5)])
def test_linear_kernel_pca_is_pca(n, d):
    """The linear kernel gives PCA's variances and scores by every way (F16)."""
    X = rows(n, d) - 0.3
    pca = fit_pca(as_source(X))
    for way in ("auto", "dense", "tiled"):
        model = fit(X, Linear(), d, way=way)
        np.testing.assert_allclose(model.eigenvalues, (n - 1) * pca.variances, rtol=1e-6)
        np.testing.assert_allclose(np.abs(model.scores), np.abs(pca.project(X)), atol=1e-4)
        np.testing.assert_allclose(model.shares, pca.shares, rtol=1e-6)


def test_the_polynomial_kernel_is_pca_of_its_monomials():
    """Where phi is smaller than n the plan uses it, and it is the same model as that of the kernel."""
    X = rows(800, 4)
    kernel = Polynomial(2, 1.0, 1.0)
    by_features, by_kernel = fit(X, kernel, 6), fit(X, kernel, 6, way="tiled")
    assert (by_features.plan.way, by_kernel.plan.way) == ("features", "tiled")
    assert not by_features.approximate
    np.testing.assert_allclose(by_features.eigenvalues, by_kernel.eigenvalues, rtol=1e-7)
    np.testing.assert_allclose(by_features.project(X[:9] + 1), by_kernel.project(X[:9] + 1), atol=1e-3)
    np.testing.assert_allclose(by_features.alphas, by_kernel.alphas, atol=1e-4 * np.abs(by_kernel.alphas).max())
    np.testing.assert_allclose(by_features.centering.row_means, by_kernel.centering.row_means, rtol=1e-10)
    np.testing.assert_allclose(by_features.squared_error(X[:9]), by_kernel.squared_error(X[:9]), atol=1e-6)


def test_without_centering_the_mean_is_a_direction():
    """center=False gives the eigenpairs of K itself."""
    X = rows(450, 4)
    truth = np.linalg.eigvalsh(Gaussian(0.2)(X))[::-1][:4]
    for way in ("dense", "stored", "tiled"):
        model = fit(X, Gaussian(0.2), 4, way=way, center=False)
        np.testing.assert_allclose(model.eigenvalues, truth, rtol=1e-8)
        np.testing.assert_allclose(model.project(X[:7]), model.scores[:7], atol=1e-5)


@pytest.mark.parametrize("n", [300, 3400])
def test_a_share_keeps_as_many_as_hold_it(n):
    """Shares come from the exact trace; for many rows k grows until the share is there."""
    X = rows(n, 3)
    kernel = Gaussian(0.3)
    model = fit(X, kernel, 0.95)
    K = kernel(X)
    total = np.trace(K) - K.mean() * n
    assert model.total_variance == pytest.approx(total / n, rel=1e-9)
    np.testing.assert_allclose(model.shares, model.eigenvalues / total, rtol=1e-9)
    assert model.shares.sum() >= 0.95 > model.shares[:-1].sum()
    assert "0.95" in model.verdict


@pytest.mark.parametrize("n, budget", [(150, 17), (700, 30), (3000, 60), (3001, 60)])
@pytest.mark.parametrize("gamma", [0.01, 0.1])
def test_a_share_is_found_within_a_small_budget_at_any_size(n, budget, gamma):
    """Where the whole spectrum does not fit, leading pairs do: as many are kept as without a budget."""
    X, kernel = rows(n, 3), Gaussian(gamma)
    model = fit(X, kernel, 0.95, memory_budget=budget * 10**6)
    assert model.plan.peak_bytes <= budget * 10**6
    every = first_facts(as_source(X), KernelPCAOptions(None, kernel, way="dense"), kernel)
    assert plan_kernel_pca(every).peak_bytes > budget * 10**6
    assert model.shares.sum() >= 0.95 > model.shares[:-1].sum()
    K = kernel(X)
    assert model.total_variance == pytest.approx(np.trace(K) / n - K.mean(), rel=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("n", [2900, 3100])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_share_of_a_matrix_that_is_given(n, share):
    """Of 200 equal eigenvalues so many are kept as hold the share, whatever the size."""
    Q = rows(n, 200)
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    model = fit(Q @ Q.T, Precomputed(), share)
    assert model.eigenvalues.shape == (round(200 * share),)
    assert len(model.certificate.lines) == round(200 * share)


@pytest.mark.parametrize("n, k", [(700, 64), (1500, 20)])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_tie_of_more_than_a_block_in_a_matrix_that_is_given(n, k, seed):
    """A block of sixteen columns shows sixteen copies of an eigenvalue: the others are searched for."""
    Q = rows(n, 150, seed)
    Q = np.linalg.qr(Q - Q.mean(axis=0))[0]
    model = fit(Q @ Q.T, Precomputed(), k)
    np.testing.assert_allclose(model.eigenvalues, 1.0, atol=1e-10)
    assert model.certificate.grade == "proved"


def test_all_components_are_those_that_are_not_zero():
    """n_components=None keeps the rank."""
    X = rows(80, 3)
    assert fit(X, Linear(), None).eigenvalues.shape == (3,)
    model = fit(X, Gaussian(0.3), None)
    assert model.shares.sum() == pytest.approx(1.0, abs=1e-9)
    assert (model.eigenvalues > 0).all()


def test_more_components_than_the_rank_are_zeros():
    """Null components have value zero, coefficients zero and scores zero."""
    X = rows(60, 2)
    for way in ("auto", "dense"):
        model = fit(X, Linear(), 5, way=way)
        assert model.rank == 2
        np.testing.assert_allclose(model.eigenvalues[2:], 0.0, atol=1e-12 * model.eigenvalues[0])
        np.testing.assert_allclose(model.project(X)[:, 2:], 0.0, atol=1e-10)
        np.testing.assert_allclose(model.vectors.T @ model.vectors, np.eye(5), atol=1e-9)


@pytest.mark.parametrize("way", ["auto", "dense", "stored", "tiled"])
@pytest.mark.parametrize("kernel", [Gaussian("median"), Gaussian(0.5), Linear(), Polynomial(2, 1.0, 1.0)])
def test_constant_rows_are_defined(kernel, way):
    """Rows that are all equal have zero variance, finite scores and shares, no warning, and a sentence that says so."""
    X = np.full((40, 3), 2.5)
    model = fit(X, kernel, 2, way=way)
    assert "all alike to this kernel" in model.verdict
    np.testing.assert_allclose(model.eigenvalues, 0.0, atol=1e-12)
    np.testing.assert_allclose(model.project(X), 0.0, atol=1e-6)
    assert np.isfinite(model.shares).all()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_very_few_rows(n):
    """One, two or three rows are enough for a defined answer."""
    model = fit(rows(n, 2), Gaussian(0.5), 1)
    assert model.vectors.shape == (n, 1)
    assert np.isfinite(model.project(rows(4, 2))).all()


def test_a_certificate_comes_with_every_fit():
    """Dense pairs are proved; where the norm of K leaves room for none above them, iterated ones are too."""
    X = rows(800, 3)
    assert fit(X, Gaussian(0.3), 3, way="dense").certificate.grade == "proved"
    model = fit(X, Gaussian(1e-3), 2, way="tiled")
    assert model.certificate.grade == "proved"
    assert "tiles" in model.certificate.note
    _, truth = reference(Gaussian(1e-3), X, 3)
    assert truth[2] <= model.certificate.missed_bound < truth[1]
    np.testing.assert_array_less(np.abs(model.eigenvalues - truth[:2]), model.certificate.bounds)


def test_progress_is_told_in_sentences():
    """Each stage and each product is said."""
    said = []
    fit(rows(600, 4), Gaussian(0.3), 3, progress=said.append)
    assert any("landmarks" in sentence for sentence in said)
    assert any(sentence.startswith("product 2: worst residual") for sentence in said)


def test_a_users_function_of_two_points_is_the_kernel_it_computes():
    """A PointKernel gives what the Gaussian gives."""
    X = rows(70, 3)
    own = PointKernel(lambda x, y: float(np.exp(-0.3 * np.sum((x - y) ** 2))), psd=True)
    np.testing.assert_allclose(fit(X, own, 3).eigenvalues, fit(X, Gaussian(0.3), 3).eigenvalues, rtol=1e-9)


def test_the_same_seed_gives_the_same_bits():
    """Two fits agree to the last bit."""
    first, second = (fit(rows(600, 4), Gaussian(0.3), 4, way="tiled") for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_blocks_of_a_source_do_not_matter():
    """Rows in blocks of another size give the same model."""
    X = rows(500, 4)
    options = KernelPCAOptions(4, Gaussian(0.3), way="tiled")
    small, large = (fit_kernel_pca(DenseRows(X, block_rows=size), options) for size in (37, 4096))
    np.testing.assert_allclose(small.eigenvalues, large.eigenvalues, rtol=1e-10)
    np.testing.assert_allclose(small.project(DenseRows(X, block_rows=11)), large.project(X), atol=1e-6)


def test_pca_options_are_not_kernel_options():
    """A linear model keeps its own divisor: kernel values have none."""
    X = rows(50, 3)
    assert fit_pca(as_source(X), PCAOptions(1, ddof=0)).variances[0] * 50 == pytest.approx(
        fit(X, Linear(), 1).eigenvalues[0]
    )
