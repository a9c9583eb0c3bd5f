import numpy as np

from gramian import choose_gamma
from gramian.pictures import gamma_curve


def test_the_curve_is_that_of_the_choice():
    """Gammas rise, both lines are the scores', and the mark is at the largest gap."""
    X = np.random.default_rng(0).standard_normal((60, 3))
    X[:, 1] = X[:, 0] ** 2
    choice = choose_gamma(X, [10.0, 0.1, 1.0], n_components=3, repeats=2)
    curve = gamma_curve(choice)
    np.testing.assert_array_equal(curve.gammas, [0.1, 1.0, 10.0])
    np.testing.assert_allclose(curve.lost_by_chance - curve.lost, [float(score) for score in choice.scores])
    assert curve.chosen == np.argmax(curve.lost_by_chance - curve.lost)
    assert curve.gammas[curve.chosen] == choice.gamma
    assert (curve.median_gamma, curve.n_components) == (choice.median_gamma, 3)
