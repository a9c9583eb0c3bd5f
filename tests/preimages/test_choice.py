import numpy as np
import pytest

from gramian.errors import NotSupportedError, ParameterError
from gramian.kernels import Gaussian, Laplacian, Linear
from gramian.models.kernel_pca.expansion import solve_densely
from gramian.models.kernel_pca.preimage import (
    DistanceConstraints,
    FixedPoint,
    Ridge,
    candidates,
    choose_preimage,
    fit_preimage,
    split,
)


def _circle(n, seed=0):
    angles = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    return 3.0 + np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.mark.parametrize("n", [40, 300, 2_000])
def test_the_least_held_out_error_wins(n):
    """The method chosen has the least error of all tried, and errors are those of rows not learned from."""
    X = _circle(n)
    choice = choose_preimage(X, Gaussian(0.5), 6)
    errors = [trial.error for trial in choice.trials]
    assert len(errors) == len(candidates())
    best = choice.trials[int(np.argmin(errors))]
    assert choice.method is best.method
    learned, held_out = split(X, seed=0)
    assert len(held_out) == min(200, n // 5)
    assert len(learned) == min(800, n - len(held_out))
    assert not {tuple(row) for row in learned} & {tuple(row) for row in held_out}
    expansion = solve_densely(learned, Gaussian(0.5), 6)
    rebuilt = best.method.fit(expansion).rebuild(expansion.project(held_out)).rows
    np.testing.assert_allclose(best.error, ((rebuilt - held_out) ** 2).sum(axis=1).mean(), rtol=1e-9)


def test_held_out_errors_foretell_errors_of_new_rows():
    """The order of methods on held-out rows is their order on fresh ones, where they differ clearly."""
    X, new = _circle(400), _circle(400, seed=1)
    choice = choose_preimage(X, Gaussian(0.5), 4)
    expansion = solve_densely(X, Gaussian(0.5), 4)
    scores = expansion.project(new)
    fresh = [((t.method.fit(expansion).rebuild(scores).rows - new) ** 2).sum(axis=1).mean() for t in choice.trials]
    tried = np.array([trial.error for trial in choice.trials])
    assert fresh[int(np.argmin(tried))] <= 1.5 * min(fresh)


def test_methods_that_do_not_serve_a_kernel_are_passed_over():
    """The Laplacian kernel has only the ridge, and the others say why."""
    choice = choose_preimage(_circle(60), Laplacian(1.0), 5)
    assert isinstance(choice.method, Ridge)
    notes = {type(trial.method): trial.note for trial in choice.trials}
    assert "Euclidean distance" in notes[FixedPoint]
    assert "Euclidean distance" in notes[DistanceConstraints]
    assert "chose Ridge" in str(choice)
    assert "Use the ridge" in str(choice)


def test_no_method_at_all_is_an_error():
    """When none of the methods named serves, the first reason is given."""
    with pytest.raises(NotSupportedError, match=r"No pre-image method serves Linear\(\): .*Euclidean distance"):
        choose_preimage(_circle(60), Linear(), 2, methods=[FixedPoint()])


@pytest.mark.parametrize(
    "name, method",
    [
        ("ridge", Ridge(0.5)),
        ("fixed_point", FixedPoint()),
        ("distances", DistanceConstraints()),
        (Ridge(3.0), Ridge(3.0)),
    ],
)
def test_methods_have_names(name, method):
    """A name, or the method itself, is bound to the expansion; nothing is tried."""
    expansion = solve_densely(_circle(50), Gaussian(0.5), 5)
    chosen = fit_preimage(name, expansion, alpha=0.5)
    truth = method.fit(expansion).rebuild(expansion.scores).rows
    np.testing.assert_array_equal(chosen.fitted.rebuild(expansion.scores).rows, truth)
    assert chosen.choice is None


def test_auto_is_the_best_of_all():
    """The method bound by "auto" is the one chosen on held-out rows."""
    expansion = solve_densely(_circle(200), Gaussian(0.5), 6)
    chosen = fit_preimage("auto", expansion)
    assert chosen.choice.method == min(chosen.choice.trials, key=lambda trial: trial.error).method
    rebuilt = chosen.fitted.rebuild(expansion.scores).rows
    assert ((rebuilt - expansion.rows) ** 2).sum(axis=1).mean() < 1e-3


def test_unknown_names_are_refused():
    """The sentence has the names that are known."""
    with pytest.raises(ParameterError, match="Pass one of ridge, fixed_point, distances, auto, or a method itself"):
        fit_preimage("best", solve_densely(_circle(20), Gaussian(0.5), 3))


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_few_rows(n):
    """Any number of rows can be chosen on."""
    choice = choose_preimage(_circle(n), Gaussian(0.5), 5)
    assert np.isfinite(min(trial.error for trial in choice.trials))
