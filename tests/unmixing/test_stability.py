import numpy as np
import pytest

from gramian import ICA
from gramian.errors import IdentifiabilityWarning
from gramian.sources.dense import DenseRows
from gramian.testing import haar, mixed_sources
from gramian.unmixing.picard import PicardO
from gramian.unmixing.stability import measure_stability
from gramian.unmixing.white_rows import WhiteRows


@pytest.mark.parametrize("seed", range(10))
def test_planted_sources_are_stable_and_gaussian_ones_are_not(seed):
    """Four planted sources score above 0.9; three Gaussian ones among them score low and are named."""
    S = np.column_stack([mixed_sources(6_000, 4, seed=seed), np.random.default_rng(seed).standard_normal((6_000, 3))])
    X = S @ haar(7, 7, seed=seed).T
    with pytest.warns(IdentifiabilityWarning, match="too Gaussian to be told apart"):
        ica = ICA(runs=8, random_state=seed).fit(X)
    planted = np.abs(ica.components_ @ haar(7, 7, seed=seed))[:, :4].max(axis=1) > 0.9
    assert planted.sum() == 4
    assert ica.stability_[planted].min() > 0.9
    assert ica.stability_[~planted].max() < 0.75
    assert set(np.flatnonzero(~planted)) == set(ica.independence_.gaussian)


def test_runs_are_reproducible():
    """The same seed gives the same index, another seed nearly the same."""
    z = mixed_sources(3_000, 3, seed=1)
    rows = WhiteRows(DenseRows(z), np.eye(3), None, np.eye(3))
    one, again, other = (measure_stability(rows, PicardO(), runs=5, seed=seed) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one.index, again.index)
    np.testing.assert_array_equal(one.matrix, again.matrix)
    np.testing.assert_allclose(np.sort(one.index), np.sort(other.index), atol=0.05)
    assert one.n_converged == one.n_runs == 5


def test_index_of_one_source_and_of_one_run():
    """Edge shapes: a single source is stable, a single run agrees with itself."""
    z = mixed_sources(500, 2, seed=2)
    rows = WhiteRows(DenseRows(z[:, :1]), np.eye(1), None, np.eye(1))
    np.testing.assert_allclose(measure_stability(rows, PicardO(), runs=3, seed=0).index, [1.0])
    rows = WhiteRows(DenseRows(z), np.eye(2), None, np.eye(2))
    assert measure_stability(rows, PicardO(), runs=1, seed=0).index.shape == (2,)


@pytest.mark.filterwarnings("ignore::gramian.errors.ConvergenceWarning")
def test_runs_that_do_not_converge_are_told():
    """Their number is in a warning, of which the command line makes a note, and the model keeps it."""
    X = np.random.default_rng(0).laplace(size=(2000, 3))
    with pytest.warns(IdentifiabilityWarning, match="4 of 4 runs did not converge within 1 iterations"):
        ica = ICA(runs=4, max_iter=1, independence=False).fit(X)
    assert ica._model.converged_runs == 0
