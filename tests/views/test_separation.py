import numpy as np
import pytest

from gramian.views import between_share

RNG_SEED = 0


def test_groups_at_one_place_each_hold_all_the_spread():
    """When every group is a single point, all of the spread lies between groups."""
    assert between_share(np.repeat([1.0, 5.0, 9.0], 4), np.repeat(["a", "b", "c"], 4)) == pytest.approx(1.0)


def test_groups_that_cover_each_other_hold_none():
    """Groups with the same mean share no spread between them."""
    assert between_share(np.array([1.0, -1.0, 2.0, -2.0]), ["a", "a", "b", "b"]) == pytest.approx(0.0)


def test_share_is_between_over_total():
    """The share is one less what lies inside the groups, and does not feel a shift or a scale."""
    rng = np.random.default_rng(RNG_SEED)
    labels = rng.integers(3, size=90)
    values = rng.standard_normal(90) + labels
    inside = sum(((values[labels == g] - values[labels == g].mean()) ** 2).sum() for g in range(3))
    expected = 1.0 - inside / ((values - values.mean()) ** 2).sum()
    assert between_share(values, labels) == pytest.approx(expected, rel=1e-12)
    assert between_share(1e3 * values + 7.0, labels) == pytest.approx(expected, rel=1e-9)


def test_values_without_spread_give_zero():
    """Constant values have no spread to divide, and the answer is zero rather than nan."""
    assert between_share(np.ones(4), ["a", "a", "b", "b"]) == 0.0
