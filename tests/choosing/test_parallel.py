import numpy as np
import pytest
import scipy.sparse as sp

from gramian.choosing import parallel_analysis
from gramian.errors import ParameterError
from gramian.sources.dense import DenseRows
from gramian.sources.sparse import SparseRows
from gramian.testing import CountingRows
from tests.catalog import SOURCES, parameters
from tests.choosing.designs import fitted, heavy_tails, planted, uneven_columns


@pytest.mark.parametrize("n, d", [(300, 40), (40, 300), (100, 100)])
@pytest.mark.parametrize("null", ["gaussian", "signflip", "permutation"])
def test_clear_components_are_found_in_every_shape(n, d, null):
    """Three clear components are counted with every null, from rows alone."""
    fit = fitted(planted(n, d, np.array([9.0, 8.0, 7.0]) * max(1.0, (d / n) ** 0.5), seed=n))
    verdict = parallel_analysis(fit.variances, DenseRows(fit.X), null=null, **fit.shape)
    assert verdict.n_components == 3


def test_the_level_is_kept_by_noise():
    """At most a tenth of tables of noise show a component at the 95% level."""
    found = 0
    for seed in range(60):
        fit = fitted(planted(80, 30, [], seed=seed))
        found += parallel_analysis(fit.variances, **fit.columns, **fit.shape).n_components > 0
    assert found <= 6


def test_a_noisy_column_is_no_component():
    """A column of large noise is told from a component by its variance."""
    X = planted(300, 20, [], seed=0)
    X[:, 3] *= 10.0
    fit = fitted(X)
    assert parallel_analysis(fit.variances, **fit.columns, **fit.shape).n_components == 0
    assert parallel_analysis(fit.variances, **fit.shape).n_components > 0


def test_a_giant_entry_is_no_component():
    """One wild number in one cell makes no component, although it makes the largest variance."""
    X = planted(300, 20, [], seed=0, make_noise=heavy_tails)
    X[5, 3] = 500.0
    fit = fitted(X)
    assert parallel_analysis(fit.variances, DenseRows(X), **fit.columns, **fit.shape).n_components == 0


def test_a_giant_does_not_hide_the_weaker():
    """Components are taken out before the next is judged."""
    fit = fitted(planted(400, 60, [5000.0, 3.0, 2.5], seed=1, make_noise=uneven_columns))
    fit_even = fitted(planted(400, 60, [5000.0, 3.0, 2.5], seed=1))
    assert parallel_analysis(fit.variances, **fit.columns, **fit.shape).n_components >= 1
    assert parallel_analysis(fit_even.variances, **fit_even.columns, **fit_even.shape).n_components == 3


@pytest.mark.parametrize("make_source", parameters(SOURCES))
def test_every_source_gives_the_same_verdict(make_source):
    """Dense, sparse and torch rows, in any blocks, show the same noise."""
    fit = fitted(planted(60, 15, [12.0, 6.0], seed=2))
    ours = parallel_analysis(fit.variances, make_source(fit.X), **fit.shape)
    reference = parallel_analysis(fit.variances, DenseRows(fit.X), **fit.shape)
    assert ours.n_components == reference.n_components == 2
    assert np.allclose(ours.detail["thresholds"], reference.detail["thresholds"], rtol=1e-4)


def test_leading_variances_give_the_same_answer():
    """The total and the first few variances are enough."""
    fit = fitted(planted(300, 50, [9.0, 6.0, 4.0], seed=4))
    shape, known = fit.shape, {"column_variances": fit.column_variances, "components": fit.components[:8]}
    whole = parallel_analysis(fit.variances, **fit.columns, **shape)
    some = parallel_analysis(fit.variances[:8], **known, **shape)
    assert whole.n_components == some.n_components == 3
    assert not some.detail["exhausted"]


def test_too_few_variances_say_so():
    """When all that are given stand out, there may be more."""
    fit = fitted(planted(300, 50, [9.0, 6.0, 4.0], seed=3))
    verdict = parallel_analysis(fit.variances[:2], **fit.shape)
    assert verdict.n_components == 2
    assert verdict.detail["exhausted"]
    assert "All 2 given" in verdict.reason


def test_rows_are_read_once():
    """With the mean and column variances known, one pass gathers what is needed; else two."""
    fit = fitted(planted(80, 12, [9.0], seed=0))
    told = CountingRows(DenseRows(fit.X))
    parallel_analysis(fit.variances, told, mean=fit.mean, **fit.columns, **fit.shape)
    untold = CountingRows(DenseRows(fit.X))
    parallel_analysis(fit.variances, untold, **fit.shape)
    assert told.passes == 1
    assert untold.passes > told.passes


def test_a_large_sparse_table_is_judged_from_a_part():
    """Two planted groups of columns in 20,000 x 5,000 sparse rows are found from a bounded sample."""
    rng = np.random.default_rng(0)
    X = sp.random_array((20_000, 5_000), density=2e-3, rng=rng, format="csr")
    direction = np.zeros(5_000)
    direction[:200] = 200**-0.5
    total, top = 30.0, 9.0
    verdict = parallel_analysis(
        [top, 0.01],
        SparseRows(X),
        n_rows=20_000,
        n_columns=5_000,
        total_variance=total,
        components=direction[None],
        mean=np.asarray(X.mean(axis=0)).ravel(),
    )
    assert verdict.n_components == 1


@pytest.mark.parametrize("shape", [(1, 4), (4, 1), (2, 2), (2, 9), (3, 3)])
def test_the_smallest_tables_show_nothing(shape):
    """One row, one column, two of each: no component can be told from noise."""
    fit = fitted(np.random.default_rng(0).standard_normal(shape))
    assert parallel_analysis(fit.variances, DenseRows(fit.X), **fit.shape).n_components == 0


def test_rows_of_exact_rank_have_that_many():
    """Without noise, rounding is not taken for a component."""
    rng = np.random.default_rng(0)
    fit = fitted(rng.standard_normal((100, 3)) @ rng.standard_normal((3, 30)))
    assert parallel_analysis(fit.variances, DenseRows(fit.X), **fit.columns, **fit.shape).n_components == 3


def test_facts_of_another_table_are_refused():
    """Both numbers are named."""
    with pytest.raises(ParameterError, match="column_variances has 4 columns and n_columns=5"):
        parallel_analysis([1.0], n_rows=9, n_columns=5, column_variances=np.ones(4))


@pytest.mark.parametrize("seed", [3, 5, 9])
@pytest.mark.parametrize("null", ["signflip", "permutation"])
def test_the_order_of_rows_and_columns_changes_no_count(seed, null):
    """Random walks, whose components fade slowly: signs that are drawn by place gave them up to three counts."""
    rng = np.random.default_rng(seed)
    X = np.cumsum(rng.standard_normal((60, 120)), axis=1)
    order = [(np.arange(60), np.arange(120)), (np.arange(60), np.arange(120)[::-1])]
    order += [(rng.permutation(60), rng.permutation(120)) for _ in range(6)]
    fits = [fitted(X[rows][:, columns]) for rows, columns in order]
    assert len({parallel_analysis(f.variances, DenseRows(f.X), null=null, **f.shape).n_components for f in fits}) == 1
