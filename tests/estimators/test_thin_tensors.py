"""Torch tensors of one row or one column: every estimator takes them and says what it says of NumPy rows."""

import numpy as np
import pytest

import gramian
from gramian.arrays.namespace import from_host, to_host

ESTIMATORS = {
    "PCA, all": gramian.PCA,
    "PCA, one": lambda: gramian.PCA(1),
    "PCA, whitened": lambda: gramian.PCA(1, whiten=True),
    "PCA, scaled": lambda: gramian.PCA(1, scale=True),
    "PCA, share": lambda: gramian.PCA(0.5),
    "PCA, auto": lambda: gramian.PCA("auto"),
    "PCA, gram": lambda: gramian.PCA(1, svd_solver="gram"),
    "TruncatedSVD": lambda: gramian.TruncatedSVD(1),
    "IncrementalPCA": lambda: gramian.IncrementalPCA(1),
    "KernelPCA, linear": lambda: gramian.KernelPCA(1),
    "KernelPCA, rbf": lambda: gramian.KernelPCA(1, kernel="rbf", gamma=0.5),
    "Nystroem": lambda: gramian.Nystroem(n_components=1, kernel="rbf", gamma=0.5),
    "FourierFeatures": lambda: gramian.FourierFeatures(n_components=2, gamma=0.5),
    "PolynomialMap": gramian.PolynomialMap,
    "ICA": lambda: gramian.ICA(1),
    "FastICA": lambda: gramian.FastICA(1),
    "ProbabilisticPCA": lambda: gramian.ProbabilisticPCA(1),
    "FAMD": lambda: gramian.FAMD(1),
}

NEEDS_ROWS = {"ICA", "FastICA", "ProbabilisticPCA"}
"""Estimators that refuse a single row, whatever its library."""


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-4), (np.float64, 1e-7)])
@pytest.mark.parametrize("shape", [(10, 1), (1, 4), (1, 1)])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_thin_tensor_is_transformed_as_the_same_rows_are(name, shape, dtype, tolerance):
    """One column or one row, as a tensor: the same scores, and a tensor again."""
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(sum(shape)).standard_normal(shape).astype(dtype)
    if shape[0] == 1 and name in NEEDS_ROWS:
        for rows in (X, torch.asarray(X)):
            with pytest.raises(ValueError, match="a minimum of 2 is required"):
                ESTIMATORS[name]().fit_transform(rows)
        return
    there = ESTIMATORS[name]().fit_transform(torch.asarray(X))
    assert isinstance(there, torch.Tensor) or name in {"ProbabilisticPCA", "FAMD"}  # which work on the host
    np.testing.assert_allclose(to_host(there), ESTIMATORS[name]().fit_transform(X), atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(10, 1), (1, 4)])
def test_a_thin_tensor_is_a_batch(shape, dtype):
    """Batches of one row or one column leave the model that NumPy batches leave, and rows go there and back."""
    torch = pytest.importorskip("torch")
    X = np.random.default_rng(3).standard_normal((2, *shape)).astype(dtype)
    here, there = gramian.PCA(1), gramian.PCA(1)
    for batch in X:
        here.partial_fit(batch)
        there.partial_fit(torch.asarray(batch))
    rows = torch.asarray(X[0])
    np.testing.assert_allclose(to_host(there.transform(rows)), here.transform(X[0]), atol=1e-5)
    assert isinstance(there.inverse_transform(there.transform(rows)), torch.Tensor)


@pytest.mark.parametrize("turned", [(slice(None), slice(None, None, -1)), (slice(None, None, -1), slice(None))])
@pytest.mark.parametrize("shape", [(5, 1), (1, 5), (1, 1), (0, 3), (3, 4)])
def test_reversed_arrays_become_tensors(shape, turned):
    """An array that was turned about, whose axes of length one still say so, goes to torch with its numbers."""
    torch = pytest.importorskip("torch")
    x = np.arange(float(np.prod(shape))).reshape(shape)[turned]
    np.testing.assert_array_equal(to_host(from_host(x, like=torch.ones(1))), x)
