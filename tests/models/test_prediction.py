"""What predictions gain and lose by PCA, against planted truth."""

import dask.array as da
import numpy as np
import pytest
from scipy import sparse

from gramian.errors import NotSupportedError, ParameterError
from gramian.models.prediction import prediction_curve


def _rows(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def test_a_number_along_the_first_component_gains_where_rows_are_few():
    """y is the first score: one component predicts it to its noise, all columns at n = d not at all."""
    t = _rows(400, 1)
    curve = prediction_curve(t @ np.ones((1, 50)) + _rows(400, 50, 1), t[:, 0], 52, dimensions=[1])
    # Averaging 50 columns leaves 1/51 of the variance of t unknown.
    assert curve.errors[0] == pytest.approx(1 / 51, abs=0.01)
    assert curve.full_error > 5 * curve.errors[0]


def test_a_number_along_the_last_component_is_lost():
    """Components are chosen without a look at y: what varies least is gone until the last one is kept."""
    X = _rows(500, 6) * [5, 4, 3, 2, 1, 0.1]
    curve = prediction_curve(X, X[:, -1], 250, dimensions=[5, 6])
    assert curve.errors[0] > 0.95
    assert curve.errors[1] < 1e-20


@pytest.mark.parametrize("labels", [np.array(["a", "b", "c"]), np.array([7, 1, 3])])
def test_labels_are_predicted_as_by_hand(labels):
    """With all components the split's own least squares fit of indicators gives the same shares of wrong labels."""
    group = np.random.default_rng(2).integers(0, 3, 120)
    X, y = _rows(120, 4) + np.eye(3, 4)[group], labels[group]
    curve = prediction_curve(X, y, 60, dimensions=[4], repeats=3, seed=5)
    rng, wrong = np.random.default_rng(5), []
    for _ in range(3):
        order = rng.permutation(120)
        train, test = order[:60], order[60:]
        A = np.column_stack([np.ones(60), X[train]])
        B = np.linalg.lstsq(A, (y[train][:, None] == np.unique(y)).astype(float), rcond=None)[0]
        found = np.unique(y)[np.argmax(np.column_stack([np.ones(60), X[test]]) @ B, axis=1)]
        wrong.append(np.mean(found != y[test]))
    assert curve.of_labels
    assert curve.full_error == pytest.approx(np.mean(wrong), abs=1e-12)
    assert curve.errors[0] == pytest.approx(np.mean(wrong), abs=1e-12)
    assert curve.full_spread == pytest.approx(np.std(wrong, ddof=1), abs=1e-12)
    assert curve.spreads[0] == pytest.approx(np.std(wrong, ddof=1), abs=1e-12)
    assert f"{curve.full_error:.1%}" in str(curve)


@pytest.mark.parametrize("n_train, dimensions", [(1, None), (30, None), (10, [10]), (10, [0, 2])])
def test_what_cannot_be_learned_is_refused(n_train, dimensions):
    """No rows to learn from, none to predict, or more components than there are."""
    with pytest.raises(ParameterError, match="n_train"):
        prediction_curve(_rows(30, 20), _rows(30, 1)[:, 0], n_train, dimensions=dimensions)


def test_a_file_is_the_array_it_holds(tmp_path):
    """A path is read, and gives the figures of the array."""
    X, t = _rows(60, 5), _rows(60, 1, 1)[:, 0]
    np.save(tmp_path / "rows.npy", X)
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="a,b,c,d,e", comments="")
    whole = prediction_curve(X, t, 30, dimensions=[2], repeats=2)
    for name in ("rows.npy", "rows.csv"):
        read = prediction_curve(tmp_path / name, t, 30, dimensions=[2], repeats=2)
        np.testing.assert_allclose(read.errors, whole.errors, rtol=1e-9)


@pytest.mark.parametrize("make", [sparse.csr_array, lambda X: da.from_array(X, chunks=(10, 5))])
def test_rows_that_are_not_dense_here_are_refused(make):
    """Sparse rows and Dask's are refused in a sentence that says what to pass."""
    with pytest.raises(NotSupportedError, match="Pass an array"):
        prediction_curve(make(_rows(30, 5)), _rows(30, 1)[:, 0], 10)
