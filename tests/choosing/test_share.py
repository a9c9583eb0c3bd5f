import numpy as np
import pytest
from sklearn.decomposition import PCA

from gramian.choosing import choose_by_share, share_of_variance
from gramian.errors import ParameterError


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.95, 0.999])
@pytest.mark.parametrize("n, d", [(50, 8), (12, 30), (20, 20)])
def test_a_share_means_what_it_means_to_scikit_learn(n, d, share):
    """The number equals that of scikit-learn's PCA on the same rows."""
    rng = np.random.default_rng(n * d)
    X = rng.standard_normal((n, d)) * np.geomspace(1.0, 0.05, d)
    theirs = PCA(share, svd_solver="full").fit(X).n_components_
    assert choose_by_share(PCA(svd_solver="full").fit(X).explained_variance_, share) == theirs


def test_a_sum_that_equals_the_share_asks_for_one_more():
    """Two equal variances and half of the total ask for both, as in scikit-learn."""
    assert choose_by_share([1.0, 1.0], 0.5) == 2


def test_leading_variances_are_enough_when_they_reach_the_share():
    """The total stands for what is not listed."""
    assert choose_by_share([6.0, 3.0], 0.85, total_variance=10.0) == 2


def test_too_few_variances_are_refused():
    """The sentence says how far they reach."""
    with pytest.raises(ParameterError, match=r"2 variances given hold 90.0000% .* 95.0000%"):
        choose_by_share([6.0, 3.0], 0.95, total_variance=10.0)


@pytest.mark.parametrize("share", [0.0, 1.0, -0.2, 3.0, np.nan])
def test_a_share_outside_its_limits_is_refused(share):
    """Zero and one are no shares."""
    with pytest.raises(ParameterError, match="lies between 0 and 1"):
        choose_by_share([1.0], share)


def test_a_share_within_rounding_of_all_takes_all():
    """Sums that fall short of one by rounding do not ask for a component that is not there."""
    assert choose_by_share(np.full(10, 0.1), np.nextafter(1.0, 0.0)) == 10


def test_rows_without_variance_need_one_component():
    """Nothing varies, and the first component holds all of it."""
    assert choose_by_share([0.0, 0.0, 0.0], 0.95) == 1


def test_the_verdict_says_what_is_held():
    """The reason has both numbers."""
    verdict = share_of_variance([6.0, 3.0, 0.5, 0.5], share=0.8)
    assert verdict.detail["held"] == pytest.approx(0.9)
    assert str(verdict) == "share: 2. The first 2 components hold 90.0% of the variance, the first to pass 80%."
