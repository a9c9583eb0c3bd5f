from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA, IncrementalPCA
from gramian.errors import InputError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.streaming import ExactBatches
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


def _sparse_rows(kind, n=120):
    """Sparse rows of six columns, and one more that is far from zero beside its spread."""
    rng = np.random.default_rng(3)
    stored = sp.random_array((n, 6), density=0.3, rng=rng, format="csr")
    last = {
        "plain": rng.standard_normal((n, 1)),
        "a bias": np.ones((n, 1)),
        "years": 2000.0 + rng.integers(0, 20, (n, 1)),
        "years with holes": (2000.0 + rng.integers(0, 20, (n, 1))) * (rng.random((n, 1)) < 0.9),
    }[kind]
    return sp.hstack([stored, sp.csr_array(last)]).tocsr()


@pytest.mark.parametrize("kind", ["plain", "a bias", "years", "years with holes"])
@pytest.mark.parametrize("cuts", [[1], [60], [119], list(range(1, 120))])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_batches_of_any_size_are_exact(kind, cuts, weighted):
    """One row at a time, a first or a last batch of one row, columns far from zero: the scatter of all rows at once."""
    X = _sparse_rows(kind)
    weights = np.random.default_rng(0).integers(1, 4, X.shape[0]).astype(float) if weighted else None
    bounds = [0, *cuts, X.shape[0]]
    state = None
    for low, high in pairwise(bounds):
        batch = as_source(X[low:high], weights=None if weights is None else weights[low:high])
        state = ExactBatches.of(batch) if state is None else state.absorb(batch)
    Y, w = X.toarray().astype(np.longdouble), np.ones(X.shape[0]) if weights is None else weights
    Y -= (w @ Y) / w.sum()
    truth = (Y.T * w) @ Y
    sizes = np.sqrt(np.outer(np.diag(truth), np.diag(truth))) + 1e-13
    assert float(np.max(np.abs(state.moments.scatter - truth) / sizes)) < 1e-12
    rounding = state.moments.known_rounding
    assert np.all(np.abs(state.moments.scatter - truth) <= np.sqrt(np.outer(rounding, rounding)) + 1e-300)


def test_a_sparse_batch_of_one_row_is_a_model():
    """One row has no variance; the batches after it are taken in like any others."""
    X = _sparse_rows("years")
    pca = PCA().partial_fit(X[:1])
    assert pca.explained_variance_.tolist() == [0.0]
    pca.partial_fit(X[1:])
    whole = PCA().fit(X.toarray())
    np.testing.assert_allclose(pca.explained_variance_, whole.explained_variance_, rtol=1e-11)
    one = IncrementalPCA(2, batch_size=50).fit(X)
    np.testing.assert_allclose(one.explained_variance_, whole.explained_variance_[:2], rtol=1e-11)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("budget", [None, 2_000])
@pytest.mark.filterwarnings("ignore:Of 9 directions")
def test_batches_whose_squares_leave_the_range_are_refused_and_forgotten(scale, budget):
    """A batch at 1e200 or 1e-200 is refused in a sentence before it is merged; constant rows of any size are not."""
    X = np.random.default_rng(0).standard_normal((40, 9))
    pca = PCA(2, memory_budget=budget).partial_fit(X)
    before = pca.singular_values_.copy()
    with pytest.raises(InputError, match="Divide all batches by one power of ten"):
        pca.partial_fit(X * scale)
    np.testing.assert_array_equal(pca.singular_values_, before)
    assert PCA(1).partial_fit(np.full((5, 3), 7.0)).partial_fit(np.full((5, 3), 8.0)).singular_values_[0] > 0
