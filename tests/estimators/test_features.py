import numpy as np
import pytest

from gramian.estimators.inputs import feature_names


def test_only_tables_of_named_columns_have_names():
    """Arrays, lists and tables numbered from zero have no names."""
    pandas = pytest.importorskip("pandas")
    assert feature_names(np.eye(2)) is None
    assert feature_names([[1.0, 2.0]]) is None
    assert feature_names(pandas.DataFrame(np.eye(2))) is None
    assert list(feature_names(pandas.DataFrame(np.eye(2), columns=["a", "b"]))) == ["a", "b"]


def test_mixed_names_are_refused():
    """Names that are partly strings are refused in scikit-learn's words."""
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="Feature names are only supported if all input features have string names"):
        feature_names(pandas.DataFrame(np.eye(2), columns=["a", 1]))
