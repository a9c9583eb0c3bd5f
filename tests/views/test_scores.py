import numpy as np
import pytest

from gramian.errors import ParameterError
from gramian.models.pca import PCAOptions, fit_pca
from gramian.sources.opening import as_source
from gramian.views import scores_map

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
