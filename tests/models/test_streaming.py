import numpy as np
import pytest

from gramian.models.pca import PCAOptions, fit_pca
from gramian.models.streaming import ExactBatches
from gramian.sources.opening import as_source
from gramian.testing import rows_with_spectrum


@pytest.fixture
def X():
    """Rows of planted spectrum, far from the origin."""
    rows, _ = rows_with_spectrum(n=50, d=5, values=[9, 5, 3, 1, 0.5], seed=7)
    return rows + 30.0


def test_absorbing_equals_measuring_at_once(X):
    """Merged moments are those of all rows, and the state is not changed by absorbing more."""
    first = ExactBatches.of(as_source(X[:20]))
    both, whole = first.absorb(as_source(X[20:])), ExactBatches.of(as_source(X))
    np.testing.assert_allclose(both.moments.scatter, whole.moments.scatter, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(both.moments.mean, whole.moments.mean, rtol=1e-14)
    assert (first.moments.count, both.moments.count) == (20, 50)


def test_the_widest_precision_wins(X):
    """A float64 batch among float32 ones makes the model float64."""
    single = ExactBatches.of(as_source(X[:20].astype(np.float32)))
    assert single.fit(PCAOptions(n_components=2)).components.dtype == np.float32
    assert single.absorb(as_source(X[20:])).fit(PCAOptions(n_components=2)).components.dtype == np.float64


def test_tensors_give_a_model_of_tensors(X):
    """Batches of tensors make a model that lives with them."""
    torch = pytest.importorskip("torch")
    rows = torch.from_numpy(X)
    model = ExactBatches.of(as_source(rows[:20])).absorb(as_source(rows[20:])).fit(PCAOptions(n_components=2))
    assert isinstance(model.components, torch.Tensor)
    np.testing.assert_allclose(
        model.components.numpy(), fit_pca(as_source(X), PCAOptions(n_components=2)).components, atol=1e-10
    )
