import numpy as np
import pytest

from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.streaming import ExactBatches, RankLimitedBatches, resume
from gramian.sources.opening import as_source
from gramian.testing import rows_with_spectrum

LARGE = 10**9


@pytest.fixture
def X():
    """Rows of planted spectrum, far from the origin."""
    rows, _ = rows_with_spectrum(n=50, d=5, values=[9, 5, 3, 1, 0.5], seed=7)
    return rows + 30.0


@pytest.mark.parametrize("scale", [False, True])
def test_a_complete_model_gives_its_rows_back(X, scale):
    """Moments rebuilt from all components are those of the rows."""
    rebuilt = resume(fit_pca(as_source(X), PCAOptions(scale=scale)), budget=LARGE).moments
    whole = ExactBatches.of(as_source(X)).moments
    np.testing.assert_allclose(rebuilt.scatter, whole.scatter, rtol=1e-9, atol=1e-9)
    assert (rebuilt.count, rebuilt.weight, rebuilt.lost) == (whole.count, whole.weight, 0.0)


@pytest.mark.parametrize("scale", [False, True])
def test_an_incomplete_model_bounds_what_it_left_out(X, scale):
    """The true scatter lies between R'R and R'R plus what may be lost."""
    state = resume(fit_pca(as_source(X), PCAOptions(n_components=2, scale=scale)), budget=LARGE)
    assert isinstance(state, RankLimitedBatches)
    missing = np.linalg.eigvalsh(ExactBatches.of(as_source(X)).moments.scatter - state.root.T @ state.root)
    assert missing[0] >= -1e-9
    assert missing[-1] <= state.moments.lost
    if not scale:
        assert state.moments.squares.sum() == pytest.approx(ExactBatches.of(as_source(X)).moments.squares.sum())


def test_a_model_about_the_origin_is_resumed_about_it(X):
    """Without centering, rows added later give the second moments of all rows."""
    options = PCAOptions(center=False)
    state = resume(fit_pca(as_source(X[:20]), options), budget=LARGE).absorb(as_source(X[20:]))
    np.testing.assert_allclose(state.fit(options).variances, fit_pca(as_source(X), options).variances, rtol=1e-9)


def test_a_wide_model_is_resumed_without_a_square_matrix():
    """A complete model of more columns than the budget allows to square keeps its directions, exactly."""
    wide = np.random.default_rng(0).normal(size=(6, 200))
    state = resume(fit_pca(as_source(wide)), budget=200 * 200 * 8)
    assert isinstance(state, RankLimitedBatches)
    assert state.moments.lost == 0
    centered = wide - wide.mean(axis=0)
    np.testing.assert_allclose(state.root.T @ state.root, centered.T @ centered, atol=1e-9)
