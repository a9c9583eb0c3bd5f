from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import choose_gamma, kernel_score, kernels
from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.models.kernel_pca.bandwidth import _shuffled
from gramian.models.kernel_pca.expansion import solve_densely
from tests.catalog import slowly


def rings(n=300, seed=0):
    """Two noisy rings in the plane."""
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    radius = np.where(np.arange(n) % 2, 0.4, 1.0) + 0.03 * rng.standard_normal(n)
    return np.column_stack([radius * np.cos(t), radius * np.sin(t)])


@pytest.mark.parametrize("seed", [0, 1])
def test_the_share_lost_is_that_of_the_definition(seed):
    """Without a split to differ by, lost is the mean of kc(x, x) - |y|^2 over that of kc(x, x), from K alone."""
    X = rings(90, seed)
    from gramian.models.kernel_pca.bandwidth import Trial, _lost

    learned, held_out = X[30:], X[:30]
    kernel = kernels.Gaussian(1.5)
    expansion = solve_densely(learned, kernel, 5)
    y = expansion.project(held_out)
    K, own = kernel(held_out, learned), kernel(learned)
    whole = 1.0 - 2 * K.mean(axis=1) + own.mean()
    truth = np.mean(whole - np.sum(y**2, axis=1)) / np.mean(whole)
    assert _lost(Trial(learned, held_out), kernel, 5) == pytest.approx(truth, rel=1e-8)


def test_useless_widths_have_no_gain():
    """A kernel so narrow that K is the identity loses all of both; one so wide that it is linear loses none."""
    narrow, wide = (kernel_score(rings(), n_components=5, gamma=gamma, repeats=2) for gamma in (1e6, 1e-6))
    assert narrow.lost > 0.95
    assert abs(narrow.gain) < 0.02
    assert wide.lost < 1e-4
    assert abs(wide.gain) < 1e-4


@pytest.mark.parametrize("seed", [0, *slowly(1, 2)])
def test_rings_have_a_best_width_between(seed):
    """The gamma chosen for two rings is of the size of what separates them, and its gain is no chance."""
    choice = choose_gamma(rings(seed=seed), n_components=6, repeats=3)
    assert choice.found
    assert not choice.at_edge
    assert all(replace(choice, gamma=choice.scores[i].kernel.gamma_number).at_edge for i in (0, -1))
    assert 0.3 < choice.gamma < 100
    assert choice.best.gain == max(float(score) for score in choice.scores)
    assert choice.kernel == kernels.Gaussian(choice.gamma)
    assert "largest gain" in str(choice)


@pytest.mark.parametrize("seed", [0, *slowly(1, 2)])
def test_independent_columns_show_nothing(seed):
    """Rows without structure have no gain beyond chance at any width, and the choice says so."""
    X = np.random.default_rng(seed).standard_normal((400, 3))
    choice = choose_gamma(X, [0.01, 0.1, 1.0], n_components=5)
    assert all(abs(score.gain) < 0.06 for score in choice.scores)


def test_scores_compare_kernels():
    """A line in ten columns suits the linear kernel; rings do not."""
    rng = np.random.default_rng(0)
    line = rng.standard_normal((200, 1)) * np.ones(10) + 0.1 * rng.standard_normal((200, 10))
    assert kernel_score(line, "linear", 1).gain > kernel_score(line, "rbf", 1, gamma=1.0).gain > 0
    assert kernel_score(rings(), "rbf", 6, gamma=20.0).gain > kernel_score(rings(), "linear", 6).gain + 0.05


def test_the_same_seed_gives_the_same_score():
    """Scores are repeatable, and other seeds differ by about the error that is stated."""
    first, again, other = (kernel_score(rings(1500), n_components=5, gamma=3.0, seed=s) for s in (0, 0, 1))
    assert first == again
    assert abs(first.gain - other.gain) < 8 * (first.gain_error + other.gain_error)


def test_columns_are_shuffled_each_by_itself():
    """Every column keeps its values and loses its rows, dense or sparse."""
    X = rings(50)
    X[X < -0.5] = 0.0
    for rows in (X, sp.csr_array(X)):
        shuffled = _shuffled(rows, np.random.default_rng(0))
        dense = shuffled.toarray() if sp.issparse(shuffled) else shuffled
        np.testing.assert_array_equal(np.sort(dense, axis=0), np.sort(X, axis=0))
        assert np.abs(dense - X).max() > 0.1


def test_sparse_rows_are_scored():
    """Sparse rows give the score of the dense ones but for the draw of the shuffles."""
    X = sp.random_array((200, 20), density=0.3, rng=np.random.default_rng(0), format="csr")
    sparse, dense = (kernel_score(x, n_components=3, gamma=0.1) for x in (X, X.toarray()))
    assert sparse.lost == pytest.approx(dense.lost, abs=1e-6)


@pytest.mark.parametrize(
    "call, error, words",
    [
        (lambda X: kernel_score(X[:, :1]), InputError, "at least 2 columns"),
        (lambda X: kernel_score(X, n_components=0), ParameterError, "n_components=0 is not a number"),
        (lambda X: kernel_score(X[:9], n_components=8), ParameterError, "asks for more than the 6 rows"),
        (lambda X: kernel_score(X, "precomputed"), NotSupportedError, "precomputed kernel has none"),
        (lambda X: choose_gamma(X, [0.0, 1.0]), ParameterError, "is not a grid of gammas"),
        (lambda X: choose_gamma(X, kernel="linear"), ParameterError, "has no gamma to choose"),
        (lambda X: choose_gamma(X, kernel="poly"), ParameterError, r"Pass grid=\[...\]"),
    ],
)
def test_what_cannot_be_scored_is_refused(call, error, words):
    """Each refusal is a sentence."""
    with pytest.raises(error, match=words):
        call(rings())


def independent(seed):
    """Small tables of independent columns, of two kinds."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((90, 3)) if seed % 2 else rng.uniform(size=(75, 4))


def test_independent_columns_are_seldom_called_structure():
    """Of 20 tables at most three are found, where a twentieth is promised: more has a chance of one percent."""
    found = [choose_gamma(independent(s), [0.2, 2.0], n_components=4, repeats=1, seed=s).found for s in range(20)]
    assert sum(found) <= 3


def test_one_split_tells_no_spread_and_says_so():
    """With repeats=1 the error of the gain is not known: the sentence says that, and the finding still stands."""
    choice = choose_gamma(rings(), [0.1, 1.0, 10.0], n_components=6, repeats=1)
    assert choice.found
    assert choice.chance == pytest.approx(1 / 25)
    assert np.isnan(choice.best.gain_error)
    assert "not known from one split" in str(choice)
    assert "nan" not in str(choice)
    assert "No gamma" not in str(choice)


@pytest.mark.parametrize("grid", [1.0, ["a"], [None], [], [0.0, 1.0], [True], "12"], ids=str)
def test_what_is_not_a_grid_is_refused(grid):
    """A number, words, nothing, and gammas that are not positive are refused in one sentence."""
    with pytest.raises(ParameterError, match=r"is not a grid of gammas\. Pass a list of positive numbers"):
        choose_gamma(rings(), grid, n_components=3)


@pytest.mark.parametrize("seed", [None, -1, 1.5, "a", True])
def test_what_is_not_a_seed_is_refused(seed):
    """Seeds are integers that are not negative."""
    for ask in (kernel_score, choose_gamma):
        with pytest.raises(ParameterError, match="is not a seed"):
            ask(rings(), n_components=3, seed=seed)


def test_a_kernel_with_negative_eigenvalues_has_no_score():
    """Shares of variance mean nothing there: the sentence names the eigenvalue."""
    with pytest.raises(InputError, match="not positive semidefinite"):
        kernel_score(rings(), "sigmoid", 3, gamma=5.0, coef0=-1.0)
