import warnings

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA
from gramian.errors import InputError, MemoryBudgetError, PrecisionWarning
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.streaming import RankLimitedBatches, rank_that_fits
from gramian.sources.opening import as_source
from gramian.testing import assert_same_subspace, rows_with_spectrum

SPECTRUM = np.geomspace(100.0, 0.01, 40)


@pytest.fixture
def X():
    """Rows whose spectrum falls slowly, with a mean."""
    rows, _ = rows_with_spectrum(n=300, d=40, values=SPECTRUM, seed=8)
    return rows + 7.0


def streamed(X, rank, size=25, weights=None):
    """The state after batches of ``size`` rows."""
    state = None
    for start in range(0, len(X), size):
        part = slice(start, start + size)
        source = as_source(X[part], weights=None if weights is None else weights[part])
        state = RankLimitedBatches.of(source, rank=rank) if state is None else state.absorb(source)
    return state


def test_nothing_is_lost_when_the_rows_have_no_more_directions():
    """Rows of rank 5 are kept whole by 8 directions, without a warning."""
    X, _ = rows_with_spectrum(n=200, d=40, values=[9, 7, 5, 3, 1], seed=9)
    state = streamed(X, rank=8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = state.fit(PCAOptions(n_components=5))
    reference = fit_pca(as_source(X), PCAOptions(n_components=5))
    np.testing.assert_allclose(model.variances, reference.variances, rtol=1e-10)
    assert_same_subspace(model.components.T, reference.components.T, tol=1e-9)
    assert model.noise_variance == pytest.approx(reference.noise_variance, abs=1e-10)


@pytest.mark.parametrize("options", [{}, {"center": False}, {"scale": True}, {"ddof": 0}])
@pytest.mark.parametrize("size", [1, 25, 300])
def test_bounds_hold_what_was_lost(X, options, size):
    """Every true variance lies between the one found and the one found plus its bound."""
    options = PCAOptions(n_components=4, **options)
    with pytest.warns(PrecisionWarning, match=r"Of 40 directions, 12 are kept .* may be too low"):
        model = streamed(X, rank=12, size=size).fit(options)
    truth = fit_pca(as_source(X), options)
    shortfall = truth.variances - model.variances
    bounds = np.array([line.value_bound for line in model.certificate.lines])
    assert np.all(shortfall >= -1e-9 * truth.variances[0])
    assert np.all(shortfall <= bounds)
    assert model.total_variance == pytest.approx(truth.total_variance, rel=1e-10)
    np.testing.assert_allclose(model.mean, truth.mean, rtol=1e-10, atol=1e-12)


def test_state_stays_of_one_size(X):
    """The factor never has more than twice the rank, whatever the number of rows."""
    state = streamed(np.vstack([X] * 4), rank=6, size=10)
    assert state.root.shape[0] <= 12
    assert state.moments.count == 1200


def test_sparse_and_weighted_batches(X):
    """Sparse rows and weights, zero among them, give the state of the repeated dense rows."""
    w = np.arange(300) % 3
    sparse = RankLimitedBatches.of(as_source(sp.csr_array(X), weights=w), rank=50)
    dense = RankLimitedBatches.of(as_source(np.repeat(X, w, axis=0)), rank=50)
    options = PCAOptions(n_components=4)
    np.testing.assert_allclose(sparse.fit(options).variances, dense.fit(options).variances, rtol=1e-9)


def test_nan_is_refused_with_its_place(X):
    """Rows that are not numbers are found although no d x d matrix is made."""
    X[31, 2] = np.nan
    with pytest.raises(InputError, match="row 31, column 2"):
        RankLimitedBatches.of(as_source(X), rank=5)


def test_pca_keeps_directions_when_the_scatter_does_not_fit(X):
    """A small memory_budget makes partial_fit rank-limited, and it says so."""
    pca = PCA(3, memory_budget=40_000)
    for start in range(0, 300, 50):
        pca.partial_fit(X[start : start + 50])
    with pytest.warns(PrecisionWarning, match="the 40 x 40 scatter does not fit memory_budget"):
        variances = pca.explained_variance_
    np.testing.assert_allclose(variances, PCA(3).fit(X).explained_variance_, rtol=0.05)
    assert "directions kept between batches" in str(pca.certificate_)
    assert pca.transform(X).shape == (300, 3)


def test_a_rule_that_needs_the_whole_spectrum_is_refused(X):
    """Without an integer n_components there is nothing to limit the rank by."""
    with pytest.raises(MemoryBudgetError, match=r"n_components=0\.9 needs the whole 40 x 40 scatter"):
        PCA(0.9, memory_budget=40_000).partial_fit(X)


def test_rank_follows_k_and_the_budget():
    """Four times k where that fits, what fits otherwise, and never less than one more than k."""
    assert rank_that_fits(1000, k=100, budget=10**9) == 400
    assert rank_that_fits(1000, k=10, budget=48_000 * 20) == 20
    assert rank_that_fits(1000, k=10, budget=1) == 11


@pytest.mark.parametrize(
    "k, budget, why, advice",
    [
        (None, 40_000, ": the 40 x 40 scatter does not fit memory_budget. Every", "Raise memory_budget, or fit all"),
        (3, None, ": the batches follow a fit that left components out. Every", "Begin with partial_fit, or fit all"),
        (3, 40_000, "left components out, and the 40 x 40 scatter does not fit", "Begin with partial_fit and a larger"),
    ],
    ids=["no room", "after a fit", "both"],
)
def test_the_cause_that_holds_is_named(X, k, budget, why, advice):
    """Batches that lose directions say why: for want of room, after a fit that left some out, or for both."""
    pca = PCA(3, memory_budget=budget).partial_fit(X[:100]) if k is None else PCA(3).fit(X[:100])
    pca.set_params(memory_budget=budget)
    with pytest.warns(PrecisionWarning, match="are kept between batches") as caught:
        assert pca.partial_fit(X[100:200]).partial_fit(X[200:]).explained_variance_.shape == (3,)
    said = str(caught[-1].message)
    assert why in said
    assert advice in said
