import numpy as np
import pytest

from gramian import ICA
from gramian.errors import IdentifiabilityWarning
from gramian.sources.dense import DenseRows
from gramian.testing import haar, mixed_sources
from gramian.unmixing.picard import PicardO
from gramian.unmixing.stability import _parts, measure_stability
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


@pytest.mark.parametrize("draw", ["uniform", "laplace"])
def test_two_clear_sources_are_stable_whatever_the_start(draw):
    """30 fits of 20,000 rows: none of the 300 runs ends at the saddle halfway between two solutions (issue 16)."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        X = getattr(rng, draw)(size=(20_000, 2)) @ rng.standard_normal((2, 2))
        assert ICA(runs=10, random_state=seed, independence=False).fit(X).stability_.min() > 0.95


def _gaussian_pair(rng, n):
    return rng.standard_normal((n, 2))


def _disk(rng, n):
    """Points drawn evenly from a disk: not Gaussian, and the same in every direction."""
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.sqrt(rng.uniform(size=n))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])


@pytest.mark.parametrize("pair", [_gaussian_pair, _disk])
@pytest.mark.parametrize("others", [0, 6])
def test_a_pair_that_no_rotation_tells_apart_is_not_stable(pair, others):
    """Alone or among clear sources, which stay stable: how many there are does not hide the pair (issue 16)."""
    for seed in range(5):
        rng, A = np.random.default_rng([seed, others]), haar(others + 2, others + 2, seed=seed)
        S = np.column_stack([rng.laplace(size=(20_000, others)), pair(rng, 20_000)])
        ica = ICA(runs=10, random_state=seed, independence=False, tol=1e-4, max_iter=1000).fit(S @ A.T)
        shares = (ica.components_ @ A * S.std(axis=0)) ** 2
        ambiguous = shares[:, -2:].sum(axis=1) > 0.5
        assert ambiguous.sum() == 2
        assert ica.stability_[ambiguous].max() <= 0.9
        assert ica.stability_[~ambiguous].min(initial=1.0) >= 0.95


def test_parts_of_runs_share_no_row_where_rows_are_enough():
    """Ten runs have a tenth of the rows each, two have a quarter; few rows are used again."""
    for n, k, runs, size in [(1_000, 3, 10, 100), (1_000, 3, 2, 250), (100, 5, 4, 50), (8, 5, 2, 8)]:
        parts = _parts(n, k, runs=runs, seed=0)
        assert [len(np.unique(part)) for part in parts] == [size] * runs
        assert len(np.unique(np.concatenate(parts))) == min(n, runs * size)


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
