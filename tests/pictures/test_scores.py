import numpy as np
import pytest

from gramian.errors import ParameterError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.pictures import between_share, scores_map
from gramian.sources.opening import as_source

X = np.random.default_rng(0).standard_normal((60, 5)) * [5, 4, 3, 2, 1]
MODEL = fit_pca(as_source(X), PCAOptions(n_components=3))
SCORES = MODEL.project(X)


def test_every_row_is_in_exactly_one_group():
    """Groups divide the rows, and each keeps the scores of its own rows."""
    view = scores_map(MODEL, SCORES, labels=[i % 3 for i in range(60)])
    assert [group.name for group in view.groups] == ["0", "1", "2"]
    assert sorted(np.concatenate([group.rows for group in view.groups])) == list(range(60))
    for group in view.groups:
        np.testing.assert_array_equal(group.horizontal, SCORES[group.rows, 0])
        np.testing.assert_array_equal(group.vertical, SCORES[group.rows, 1])


def test_axes_name_the_component_and_its_share():
    """The labels carry the components asked for, with their shares of the variance."""
    view = scores_map(MODEL, SCORES, components=(2, 0))
    assert view.horizontal_label == f"PC3 ({MODEL.shares[2]:.1%})"
    assert view.vertical_label == f"PC1 ({MODEL.shares[0]:.1%})"
    np.testing.assert_array_equal(view.groups[0].horizontal, SCORES[:, 2])


def test_large_table_is_sampled_and_says_so():
    """Beyond the limit a sample without repetition is shown, the same for the same seed."""
    views = [scores_map(MODEL, SCORES, limit=20, seed=seed) for seed in (1, 1, 2)]
    rows = [view.groups[0].rows for view in views]
    assert (views[0].n_shown, views[0].n_rows) == (20, 60)
    assert len(set(rows[0])) == 20
    np.testing.assert_array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])


def test_missing_component_is_refused_with_both_numbers():
    """A component that the scores do not have is refused, naming how many there are."""
    with pytest.raises(ParameterError, match="asks for component 5, and there are 3"):
        scores_map(MODEL, SCORES, components=(0, 4))


def test_labels_of_another_length_are_refused():
    """Labels that do not match the rows are refused, naming both lengths."""
    with pytest.raises(ParameterError, match="labels has 2 entries and the scores have 60 rows"):
        scores_map(MODEL, SCORES, labels=["a", "b"])


def test_groups_at_one_place_each_hold_all_the_spread():
    """When every group is a single point, all of the spread lies between groups."""
    assert between_share(np.repeat([1.0, 5.0, 9.0], 4), np.repeat(["a", "b", "c"], 4)) == pytest.approx(1.0)


def test_groups_that_cover_each_other_hold_none():
    """Groups with the same mean share no spread between them."""
    assert between_share(np.array([1.0, -1.0, 2.0, -2.0]), ["a", "a", "b", "b"]) == pytest.approx(0.0)


def test_share_is_between_over_total():
    """The share is one less what lies inside the groups, and does not feel a shift or a scale."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=90)
    values = rng.standard_normal(90) + labels
    inside = sum(((values[labels == g] - values[labels == g].mean()) ** 2).sum() for g in range(3))
    expected = 1.0 - inside / ((values - values.mean()) ** 2).sum()
    assert between_share(values, labels) == pytest.approx(expected, rel=1e-12)
    assert between_share(1e3 * values + 7.0, labels) == pytest.approx(expected, rel=1e-9)


def test_values_without_spread_give_zero():
    """Constant values have no spread to divide, and the answer is zero rather than nan."""
    assert between_share(np.ones(4), ["a", "a", "b", "b"]) == 0.0
