import numpy as np
import pytest

from gramian.errors import ParameterError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.pictures import leading_columns
from gramian.sources.opening import as_source

MODEL = fit_pca(as_source(np.random.default_rng(0).standard_normal((50, 8))), PCAOptions(n_components=3))


def test_contributions_of_a_component_add_up_to_one():
    """The squared weights of all columns in a unit component sum to one."""
    columns = leading_columns(MODEL, 1, count=8)
    assert sum(column.contribution for column in columns) == pytest.approx(1.0, abs=1e-12)


def test_heaviest_columns_come_first_with_their_own_names():
    """Columns are ordered by the size of their weight, and carry the name of their position."""
    columns = leading_columns(MODEL, 0, count=4, names=list("abcdefgh"))
    sizes = [abs(column.weight) for column in columns]
    assert sizes == sorted(sizes, reverse=True)
    weights = MODEL.components[0]
    assert [column.weight for column in columns] == [weights["abcdefgh".index(column.name)] for column in columns]


def test_tied_columns_keep_the_order_of_the_table():
    """Columns of equal weight are not shuffled by rounding."""
    model = fit_pca(as_source(np.arange(5.0)[:, None] @ np.ones((1, 4))), PCAOptions(n_components=1))
    assert [column.name for column in leading_columns(model)] == [f"column {j}" for j in (1, 2, 3, 4)]


def test_component_that_is_not_there_is_refused():
    """A position behind the last component is refused, naming the bound."""
    with pytest.raises(ParameterError, match=r"component=3 lies outside 0\.\.2: the model has 3 components"):
        leading_columns(MODEL, 3)
