import numpy as np
import pytest

from gramian.choosing import broken_stick
from gramian.choosing.share import stick_pieces


@pytest.mark.parametrize("p", [1, 2, 7, 500])
def test_pieces_are_a_whole_stick(p):
    """They fall in size and sum to one."""
    pieces = stick_pieces(p)
    assert pieces.sum() == pytest.approx(1.0)
    assert (np.diff(pieces) < 0.0).all()


def test_leading_variances_give_the_same_answer():
    """What is not listed is known from the total."""
    values = np.array([50.0, 30.0, 10.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    whole = broken_stick(values, n_rows=100, n_columns=8)
    some = broken_stick(values[:4], n_rows=100, n_columns=8, total_variance=values.sum())
    assert whole.n_components == some.n_components == 2


def test_all_given_may_be_too_few():
    """When every variance given passes, the verdict says that there may be more."""
    verdict = broken_stick([50.0], n_rows=100, n_columns=8, total_variance=60.0)
    assert verdict.n_components == 1
    assert verdict.detail["exhausted"]


def test_constant_rows_keep_nothing():
    """No variance, no component."""
    assert broken_stick([0.0, 0.0], n_rows=5, n_columns=2).n_components == 0
