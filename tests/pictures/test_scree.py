import numpy as np
import pytest

from gramian.errors import ParameterError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.pictures import scree_of
from gramian.sources.opening import as_source

X = np.random.default_rng(0).standard_normal((40, 6)) * [6, 5, 4, 3, 2, 1]


def test_shares_of_all_components_end_at_one():
    """With every component computed, the running sum of shares rises to one."""
    scree = scree_of(fit_pca(as_source(X)))
    assert scree.chosen == 6
    assert np.all(np.diff(scree.cumulative) > 0)
    assert scree.cumulative[-1] == pytest.approx(1.0, abs=1e-12)


def test_shares_of_some_components_are_of_the_whole_table():
    """Two of six components have the same shares as in the full fit: the total is the table's."""
    some, every = (scree_of(fit_pca(as_source(X), PCAOptions(n_components=k))) for k in (2, None))
    np.testing.assert_allclose(some.shares, every.shares[:2], rtol=1e-10)
    assert some.cumulative[-1] < 1.0


def test_kept_is_what_lies_before_the_cut():
    """The share kept is the running sum at the cut, and zero when nothing is kept."""
    model = fit_pca(as_source(X))
    scree = scree_of(model, chosen=3)
    assert scree.kept == pytest.approx(float(scree.shares[:3].sum()))
    assert scree_of(model, chosen=0).kept == 0.0


def test_even_share_counts_the_directions_that_rows_can_fill():
    """Centered rows fill one direction less than their number; the even share knows it."""
    assert scree_of(fit_pca(as_source(X[:4]))).even_share == pytest.approx(1 / 3)
    assert scree_of(fit_pca(as_source(X))).even_share == pytest.approx(1 / 6)


def test_cut_beyond_the_model_is_refused_with_both_numbers():
    """A cut behind the last component is refused, naming what was asked and what is there."""
    model = fit_pca(as_source(X), PCAOptions(n_components=2))
    with pytest.raises(ParameterError, match=r"chosen=5 lies outside 0\.\.2: the model has 2 components"):
        scree_of(model, chosen=5)
