import numpy as np
import pytest

from gramian.errors import InputError
from gramian.sources.opening import as_source, check_weights


@pytest.mark.parametrize("make", [list, tuple, np.asarray, lambda w: np.array(w, dtype=object), np.ma.array])
def test_weights_become_one_float64_a_row(make):
    """Any sequence of real numbers is taken, and ends as float64."""
    w = check_weights(make([1, 0, 2]), 3)
    assert w.dtype == np.float64
    np.testing.assert_array_equal(w, [1.0, 0.0, 2.0])


def test_weights_of_other_libraries_come_to_the_host():
    """Series and tensors of weights are taken too."""
    torch = pytest.importorskip("torch")
    pandas = pytest.importorskip("pandas")
    polars = pytest.importorskip("polars")
    values = [1.0, 0.5]
    for weights in (torch.tensor(values, requires_grad=True), pandas.Series(values), polars.Series(values)):
        np.testing.assert_array_equal(check_weights(weights, 2), values)


def test_weights_travel_with_their_rows(X):
    """Each block carries the weights of its own rows."""
    w = np.arange(12.0)
    block = as_source(X, weights=w).block(0)
    np.testing.assert_array_equal(block.weights, w[: block.rows.shape[0]])


@pytest.mark.parametrize(
    "weights, sentence",
    [
        (1.0, r"sample_weight has shape \(\)\. Pass a 1-D array of 3 weights"),
        (np.ones((3, 1)), r"sample_weight has shape \(3, 1\)"),
        ([1.0, 2.0], "sample_weight has 2 values and X has 3 rows"),
        ([1.0, -1.0, 2.0], r"sample_weight\[1\] is -1\.0\. A weight is a number of repetitions"),
        ([1.0, 1.0, np.nan], r"sample_weight\[2\] is nan"),
        ([np.inf, 1.0, 1.0], r"sample_weight\[0\] is inf"),
        ([0, 0, 0], "Every sample_weight is zero, so no row counts"),
        (["a", "b", "c"], "sample_weight has dtype <U1"),
        ([1j, 1, 1], "sample_weight has dtype complex128"),
        (np.array([1, "b", None], dtype=object), "sample_weight holds something that is no number"),
        (np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), r"sample_weight\[1\] is masked"),
    ],
)
def test_weights_that_are_no_repetitions_are_refused(weights, sentence):
    """Wrong shapes, lengths, signs, types, and weights that are all zero, are refused with the place."""
    with pytest.raises(InputError, match=sentence):
        as_source(np.ones((3, 2)), weights=weights)
