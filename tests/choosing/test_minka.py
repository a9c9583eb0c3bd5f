import sys
from importlib import import_module

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.decomposition._pca import _assess_dimension, _infer_dimension

from gramian.choosing import choose_by_minka, minka
from gramian.choosing.minka import log_evidence
from gramian.errors import ParameterError
from tests.choosing.designs import fitted, planted


def _random_table(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 20))
    n = d + 1 + int(rng.integers(0, 150))
    k = int(rng.integers(0, d))
    return planted(n, d, rng.uniform(0.1, 20.0, k), seed) * 10.0 ** rng.uniform(-3, 3)


@pytest.mark.parametrize("seed", range(40))
def test_the_answer_is_that_of_scikit_learn(seed):
    """On random tall tables of any scale, the same dimension is found."""
    fit = fitted(_random_table(seed))
    expected = int(_infer_dimension(fit.variances, len(fit.X)))
    assert choose_by_minka(fit.variances, **fit.shape) == expected


def test_the_evidence_is_that_of_scikit_learn():
    """The vectorized sum equals the nested loops at every rank, also across chunks."""
    values = np.sort(np.random.default_rng(0).gamma(2.0, size=30))[::-1]
    expected = [_assess_dimension(values, k, 200) for k in range(1, 30)]
    assert np.allclose(log_evidence(values, 200.0), expected, rtol=1e-10)


def test_chunks_do_not_change_the_evidence(monkeypatch):
    """Tables of pairs cut in pieces give the same sums."""
    values = np.sort(np.random.default_rng(1).gamma(2.0, size=25))[::-1]
    whole = log_evidence(values, 100.0)
    monkeypatch.setattr(import_module("gramian.choosing.minka"), "CHUNK", 60)
    assert np.allclose(log_evidence(values, 100.0), whole, rtol=1e-12)


@pytest.mark.parametrize(
    "values, expected",
    [
        ([5.0, 5.0, 1.0, 1.0, 1.0], 2),
        ([1.0, 1.0, 1.0, 1.0], 1),
        ([4.0, 1.0, 1.0, 1.0, 1.0, 1.0], 1),
        ([3.0, 2.0, 0.0, 0.0], 2),
        ([1.0, 1e-30, 1e-30, 1e-30], 1),
        ([0.0, 0.0, 0.0], 1),
    ],
)
def test_ties_and_zeros_have_an_answer(values, expected):
    """Equal variances and directions without any neither fail nor mislead."""
    assert choose_by_minka(values, n_rows=100, n_columns=len(values)) == expected


def test_a_column_that_depends_on_others_is_left_out():
    """Rows that lie exactly in nine of ten directions have nine."""
    X = np.random.default_rng(0).standard_normal((500, 10))
    X[:, -1] = X[:, :-1].mean(axis=1)
    fit = fitted(X)
    assert choose_by_minka(fit.variances, **fit.shape) == 9


@pytest.mark.parametrize("n", [5, 8, 20, 40])
def test_fewer_rows_than_columns_have_an_answer(n):
    """Where scikit-learn refuses, two strong components are found."""
    fit = fitted(planted(n, 40, [80.0, 60.0], seed=3))
    assert minka(fit.variances, **fit.shape).n_components == 2


@pytest.mark.parametrize("scale", [1e-200, 1e-10, 1e150])
def test_the_unit_does_not_matter(scale):
    """Variances in another unit give the same dimension."""
    fit = fitted(planted(100, 6, [9.0, 5.0], seed=1))
    assert choose_by_minka(fit.variances * scale, n_rows=100, n_columns=6) == 2


@pytest.mark.parametrize("n, d", [(1, 1), (1, 5), (5, 1), (2, 2), (3, 2), (2, 3)])
def test_the_smallest_tables_have_an_answer(n, d):
    """One row or one column: one component."""
    X = np.arange(float(n * d)).reshape(n, d) ** 2
    fit = fitted(X)
    assert choose_by_minka(fit.variances, **fit.shape) == 1


def test_leading_variances_are_refused():
    """The evidence needs every gap, and the sentence says how many there are."""
    with pytest.raises(ParameterError, match="needs all 20 variances, and 2 were given"):
        minka([5.0, 4.0], n_rows=100, n_columns=20, total_variance=30.0)


def test_variances_are_weighed_by_whole_arrays():
    """Two thousand variances take fewer calls than there are variances, where nested loops take their cube."""
    values = np.sort(np.random.default_rng(0).gamma(5.0, size=2000))[::-1]
    calls, before = [], sys.getprofile()
    sys.setprofile(lambda _frame, event, _: calls.append(event) if event in {"call", "c_call"} else None)
    try:
        minka(values, n_rows=5000, n_columns=2000)
    finally:
        sys.setprofile(before)
    assert len(calls) < len(values)


def test_real_rows_give_scikit_learns_number():
    """scikit-learn's PCA on the same rows keeps as many."""
    X = planted(120, 7, [8.0, 4.0, 2.0], seed=5)
    theirs = PCA("mle", svd_solver="full").fit(X).n_components_
    fit = fitted(X)
    assert choose_by_minka(fit.variances, **fit.shape) == theirs
