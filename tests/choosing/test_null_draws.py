import numpy as np
import pytest

from gramian.choosing.facts import draw_sample
from gramian.choosing.parallel import draw_nulls
from gramian.errors import ParameterError
from gramian.sources.dense import DenseRows
from tests.choosing.designs import fitted, planted, related_columns, uneven_rows


def _draws(X, k=0, **options):
    fit = fitted(X)
    sample = draw_sample(DenseRows(X), mean=fit.mean, components=fit.components[: k + 1])
    return draw_nulls(sample, k, **options)


@pytest.mark.parametrize("null", ["signflip", "permutation"])
def test_white_noise_is_as_theory_says(null):
    """Copies of Gaussian noise reach the edge and show no relation."""
    draws = _draws(planted(400, 80, [], seed=0), null=null)
    assert draws.inflation == pytest.approx(1.0, abs=0.05)
    assert abs(draws.relation) < 0.02


def test_rows_of_unequal_noise_reach_higher_when_signs_are_flipped():
    """Flips keep each row's level and see what shuffled columns cannot."""
    X = planted(400, 80, [], seed=0, make_noise=uneven_rows)
    assert _draws(X, null="signflip").inflation > 1.2
    assert _draws(X, null="permutation").inflation < 1.1


def test_related_columns_are_seen():
    """Noise in which neighbors correlate has larger squares than its copies."""
    assert _draws(planted(400, 80, [], seed=0, make_noise=related_columns)).relation > 0.3


def test_taking_components_out_leaves_no_relation():
    """Ten planted components explain all relations between columns."""
    X = planted(300, 80, np.full(10, 20.0), seed=0)
    assert _draws(X, 0).relation > 1.0
    assert abs(_draws(X, 10).relation) < 0.03


def test_a_part_of_the_table_shows_no_relation_either(monkeypatch):
    """Components taken out of the whole leave a sampled part of it unrelated, and related noise related."""
    monkeypatch.setattr("gramian.choosing.facts.MAX_SIDE", 80)
    strengths = np.full(30, 40.0)
    white = _draws(planted(400, 240, strengths, seed=0), 30)
    related = _draws(planted(400, 240, strengths, seed=0, make_noise=related_columns), 30)
    assert abs(white.relation) < 0.1
    assert related.relation > 0.25


def test_the_seed_decides():
    """The same seed gives the same copies."""
    X = planted(60, 20, [], seed=0)
    assert _draws(X, seed=1) == _draws(X, seed=1)
    assert _draws(X, seed=1) != _draws(X, seed=2)


def test_an_unknown_null_is_refused():
    """The sentence lists the nulls there are."""
    with pytest.raises(ParameterError, match="'gaussian', 'signflip' and 'permutation'"):
        _draws(planted(20, 5, [], seed=0), null="bootstrap")
