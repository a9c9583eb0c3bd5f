import numpy as np
import pytest
import scipy.sparse as sp

from gramian.choosing import cross_validation, generalized_cross_validation
from gramian.choosing.cross_validation import _held_out
from gramian.errors import ParameterError
from gramian.sources.dense import DenseRows
from gramian.sources.sparse import SparseRows
from tests.catalog import SOURCES, parameters
from tests.choosing.designs import fitted, planted


@pytest.mark.parametrize("shapes", [(6, 5, 9, 7), (5, 6, 7, 9)])
def test_one_eigenproblem_gives_the_error_of_every_rank(shapes):
    """The change of error equals that of the pseudo-inverse taken rank by rank."""
    a, b, c, e = shapes
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((a, b)), rng.standard_normal((a, e))
    C, D = rng.standard_normal((c, b)), rng.standard_normal((c, e))
    U, s, Vt = np.linalg.svd(D, full_matrices=False)
    expected = [0.0]
    for k in range(1, 5):
        inverse = Vt[:k].T / s[:k] @ U[:, :k].T
        expected.append(((A - B @ inverse @ C) ** 2).sum() - (A**2).sum())
    assert np.allclose(_held_out(A, B, C, D, 4), expected)


@pytest.mark.parametrize("n, d, k", [(200, 40, 3), (40, 200, 3), (80, 80, 2), (400, 30, 0)])
def test_strong_components_predict_held_out_blocks(n, d, k):
    """The planted number is found in every shape, and none in noise."""
    X = planted(n, d, np.full(k, 30.0 * max(1.0, (d / n) ** 0.5)), seed=n)
    assert cross_validation(DenseRows(X)).n_components == k


@pytest.mark.parametrize("make_source", parameters(SOURCES))
def test_every_source_gives_the_same_answer(make_source):
    """Dense, sparse and torch rows, in any blocks, are cut alike."""
    X = planted(30, 12, [20.0, 10.0], seed=4)
    errors = cross_validation(make_source(X)).detail["errors"]
    assert np.allclose(errors, cross_validation(DenseRows(X)).detail["errors"], atol=1e-5)


def test_a_sparse_table_is_not_made_dense():
    """A table of 10^10 cells is answered from a sample of bounded size."""
    rng = np.random.default_rng(0)
    X = sp.random_array((100_000, 100_000), density=1e-6, rng=rng, format="csr")
    verdict = cross_validation(SparseRows(X), mean=np.zeros(100_000))
    assert verdict.n_components == 0


def test_the_seed_decides():
    """The same seed gives the same errors, another seed others."""
    rows = DenseRows(planted(40, 10, [9.0], seed=0))
    first, again, other = (cross_validation(rows, seed=s).detail["errors"] for s in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_constant_rows_keep_nothing():
    """Where nothing varies there is nothing to predict."""
    assert cross_validation(DenseRows(np.full((10, 4), 7.0))).n_components == 0


@pytest.mark.parametrize("shape", [(3, 5), (9, 1)])
def test_a_table_too_small_to_cut_is_refused(shape):
    """Halves of halves need four rows and two columns."""
    with pytest.raises(ParameterError, match=f"{shape[0]} x {shape[1]} is too small"):
        cross_validation(DenseRows(np.ones(shape)))


def test_generalized_cross_validation_needs_the_spectrum_alone():
    """It finds clear components from all variances and from the leading ones."""
    fit = fitted(planted(100, 20, [30.0, 20.0, 10.0], seed=0))
    whole = generalized_cross_validation(fit.variances, **fit.shape)
    some = generalized_cross_validation(fit.variances[:6], **fit.shape)
    assert whole.n_components == some.n_components == 3


def test_generalized_cross_validation_of_small_tables():
    """One row, one column and constant rows are answered with no component."""
    for n, d in [(1, 4), (4, 1), (2, 2)]:
        assert generalized_cross_validation([1.0], n_rows=n, n_columns=d).n_components == 0
    assert generalized_cross_validation([0.0], n_rows=9, n_columns=3).n_components == 0
