import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import KernelPCA

from gramian import KernelPCA as Ours
from gramian.errors import GramianError, ParameterError
from gramian.kernels import ChiSquared, Gaussian, Laplacian, Linear, Polynomial
from gramian.models.kernel_pca import preimage as preimage_ridge
from gramian.models.kernel_pca.expansion import expand, solve_densely
from gramian.models.kernel_pca.preimage import Ridge

PEERS = [
    pytest.param(Gaussian(0.2), {"kernel": "rbf", "gamma": 0.2}, id="rbf"),
    pytest.param(Polynomial(degree=2, gamma=0.5, coef0=1.0), {"kernel": "poly", "degree": 2, "gamma": 0.5}, id="poly"),
    pytest.param(Linear(), {"kernel": "linear"}, id="linear"),
]


def _rows(n=60, d=4, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X - X.mean(axis=0)


def _expansion(peer, X, kernel):
    roots = np.sqrt(peer.eigenvalues_)
    return expand(X, kernel, alphas=peer.eigenvectors_ / roots, scores=peer.eigenvectors_ * roots)


@pytest.mark.parametrize("alpha", [1.0, 0.01])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kernel, parameters", PEERS)
def test_it_is_the_inverse_of_scikit_learn(kernel, parameters, alpha, seed):
    """On rows of mean zero both rebuild the same rows, for the rows of the fit and for others."""
    X, Z = _rows(seed=seed), _rows(10, seed=seed + 7)
    peer = KernelPCA(3, fit_inverse_transform=True, alpha=alpha, **parameters).fit(X)
    fitted = Ridge(alpha).fit(_expansion(peer, X, kernel))
    for rows in (X, Z):
        scores = peer.transform(rows)
        np.testing.assert_allclose(fitted.rebuild(scores).rows, peer.inverse_transform(scores), atol=1e-8)


@pytest.mark.parametrize("largest", [6_000, 10])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_weight_is_a_repetition(kernel, largest, monkeypatch):
    """Weighted rows are rebuilt as the same rows repeated are; a row of weight zero is not learned from."""
    monkeypatch.setattr(preimage_ridge, "LARGEST_EXACT", largest)
    monkeypatch.setattr(preimage_ridge, "CENTERS", 1_000)
    X, w = _rows(40, seed=2) + 3.0, np.random.default_rng(3).integers(0, 4, 40).astype(float)
    X[w == 0] += 50.0
    model = Ours(3, kernel=kernel, gamma=0.1, fit_inverse_transform=True, alpha=0.5)
    weighted = model.fit(X, sample_weight=w)
    scores = weighted.transform(X[w > 0])
    rebuilt = weighted.inverse_transform(scores)
    repeated = clone(model).fit(np.repeat(X, w.astype(int), axis=0))
    expected = repeated.inverse_transform(repeated.transform(X[w > 0]))
    np.testing.assert_allclose(rebuilt, expected, atol=1e-6)
    assert np.abs(rebuilt).max() < 20
    without = clone(model).set_params(pre_image="auto").fit(X[w > 0], sample_weight=w[w > 0])
    zeros = clone(model).set_params(pre_image="auto").fit(X, sample_weight=w)
    assert [trial.error for trial in zeros.pre_image_choice_.trials] == pytest.approx(
        [trial.error for trial in without.pre_image_choice_.trials]
    )


@pytest.mark.parametrize("offset", [5.0, 1e4])
def test_the_mean_is_restored(offset):
    """Rows moved by an offset are rebuilt moved by it, where scikit-learn shrinks them to the origin."""
    X = _rows()
    near, far = (solve_densely(rows, Gaussian(0.2), 4) for rows in (X, X + offset))
    rebuilt = [Ridge(1.0).fit(expansion).rebuild(near.scores).rows for expansion in (near, far)]
    np.testing.assert_allclose(rebuilt[1] - offset, rebuilt[0], atol=1e-7 * offset)
    peer = KernelPCA(4, kernel="rbf", gamma=0.2, fit_inverse_transform=True).fit(X + offset)
    lost = peer.inverse_transform(peer.transform(X + offset)).mean(axis=0) - offset
    assert np.abs(lost).max() > 0.01 * offset
    np.testing.assert_allclose(rebuilt[1].mean(axis=0), offset, rtol=0.1)


def test_a_weak_ridge_gives_the_rows_back():
    """With enough components and a small alpha the rows of the fit come back."""
    X = _rows(40, 2)
    expansion = solve_densely(X, Gaussian(0.5), 39)
    rebuilt = Ridge(1e-10).fit(expansion).rebuild(expansion.scores)
    np.testing.assert_allclose(rebuilt.rows, X, atol=1e-4)
    assert rebuilt.found.all()
    np.testing.assert_allclose(rebuilt.errors, expansion.squared_distances(rebuilt.rows, expansion.scores))


def test_no_ridge_and_repeated_rows():
    """alpha=0 with repeated rows is a least squares problem, not an error."""
    X = np.repeat(_rows(20, 2), 2, axis=0)
    expansion = solve_densely(X, Gaussian(0.5), 10)
    np.testing.assert_allclose(Ridge(0.0).fit(expansion).rebuild(expansion.scores).rows, X, atol=1e-3)


def test_few_centers_do_as_all(monkeypatch):
    """The regression on some centers is the full one when all rows are centers, and near it with half of them."""
    X = _rows(120, 2)
    expansion = solve_densely(X, Gaussian(0.5), 6)
    full = Ridge(0.1).fit(expansion).rebuild(expansion.scores).rows
    monkeypatch.setattr(preimage_ridge, "LARGEST_EXACT", 50)
    for centers, tolerance in ((120, 1e-6), (60, 0.1)):
        monkeypatch.setattr(preimage_ridge, "CENTERS", centers)
        fitted = Ridge(0.1).fit(expansion)
        assert len(fitted.centers) == centers
        assert np.abs(fitted.rebuild(expansion.scores).rows - full).max() < tolerance


def test_a_kernel_of_its_own():
    """Between scores another kernel may be used, its width found on the scores."""
    X = _rows(80, 2)
    expansion = solve_densely(X, Gaussian(0.5), 12)
    fitted = Ridge(1e-4, Gaussian("median")).fit(expansion)
    assert isinstance(fitted.kernel.gamma, float)
    assert np.abs(fitted.rebuild(expansion.scores).rows - X).mean() < 0.02
    rough = Ridge(1e-2, Laplacian("median")).fit(expansion).rebuild(expansion.scores).rows
    assert np.abs(rough - X).mean() < 0.1


def test_kernels_of_counts_do_not_take_scores():
    """Scores have both signs: a kernel of counts that was named is refused, and without a name a Gaussian serves."""
    expansion = solve_densely(np.abs(_rows()), ChiSquared(1.0), 3)
    with pytest.raises(GramianError, match="negative"):
        Ridge(1.0, ChiSquared(1.0)).fit(expansion)
    rebuilt = [
        Ridge(0.1, kernel).fit(expansion).rebuild(expansion.scores).rows for kernel in (None, Gaussian("median"))
    ]
    np.testing.assert_array_equal(rebuilt[0], rebuilt[1])


@pytest.mark.parametrize("alpha", [-1.0, np.nan, np.inf])
def test_alpha_is_checked(alpha):
    """Weights that are none say so."""
    with pytest.raises(ParameterError, match=f"alpha={alpha} is not a weight"):
        Ridge(alpha).fit(solve_densely(_rows(10), Gaussian(1.0), 2))
