import numpy as np
import pytest

from gramian.choosing import choose_automatically
from gramian.sources.dense import DenseRows
from gramian.testing import CountingRows
from tests.catalog import SOURCES, parameters
from tests.choosing.designs import DESIGNS, HARD, RULES, fitted, hits, planted, related_columns

SEEDS = range(3000, 3004)


def _hit_rate(name):
    k, make = DESIGNS[name]
    return np.mean([hits(RULES["auto"](fitted(make(seed))).n_components, k) for seed in SEEDS])


@pytest.mark.parametrize("name", [name for name in DESIGNS if name not in HARD])
def test_the_planted_number_is_found(name):
    """Within one, on at least three of four tables of each design."""
    assert _hit_rate(name) >= 0.75


@pytest.mark.parametrize("name", HARD)
def test_known_failures_still_fail(name):
    """A design that is listed as a failure is one; when it no longer is, the list must say so."""
    assert _hit_rate(name) < 0.75


def test_at_most_one_design_in_ten_is_a_failure():
    """The list of failures stays short."""
    assert len(HARD) <= len(DESIGNS) / 10


def test_nothing_that_stands_out_gives_one_component_and_says_so():
    """Noise alone keeps one component, with the reason."""
    fit = fitted(planted(200, 30, [], seed=0))
    verdict = RULES["auto"](fit)
    assert verdict.n_components == 1
    assert verdict.detail["parallel"] == 0
    assert verdict.reason.startswith("Nothing stands out from noise, and one component is the least.")


def test_related_noise_is_named():
    """The reason says that parallel analysis took related noise for components."""
    fit = fitted(planted(600, 100, [30.0, 20.0, 12.0], seed=0, make_noise=related_columns))
    verdict = RULES["auto"](fit)
    assert verdict.n_components == 3
    assert verdict.detail["parallel"] > 20
    assert "noise is related between columns" in verdict.reason


def test_weak_components_after_a_gap_are_kept():
    """A gap alone is not taken: what follows it must be related noise."""
    fit = fitted(planted(600, 100, [40.0, 30.0, 20.0, 2.0, 1.8, 1.6, 1.4, 1.3, 1.2], seed=0))
    assert hits(RULES["auto"](fit).n_components, 9)


@pytest.mark.parametrize("name", ["easy gap", "square", "many", "huge", "one giant"])
def test_the_spectrum_alone_is_enough_for_even_noise(name):
    """Without rows or columns, designs of white noise are answered as well."""
    k, make = DESIGNS[name]
    fit = fitted(make(1))
    assert hits(choose_automatically(fit.variances, **fit.shape).n_components, k)


@pytest.mark.parametrize("make_source", parameters(SOURCES))
def test_every_source_gives_the_same_choice(make_source):
    """Rows of any kind, with nothing but the spectrum told."""
    fit = fitted(planted(60, 15, [12.0, 6.0], seed=2))
    assert choose_automatically(fit.variances, make_source(fit.X), **fit.shape).n_components == 2


def test_weights_count_in_the_rows_looked_at():
    """Rows that all count twice, told as the 80 independent rows they are, give the choice of plain rows."""
    fit = fitted(planted(80, 12, [9.0, 5.0], seed=0))
    weighted = DenseRows(fit.X, weights=np.full(80, 2.0))
    ours = choose_automatically(fit.variances, weighted, mean=fit.mean, **fit.columns, **fit.shape)
    plain = RULES["auto"](fit)
    assert ours.n_components == plain.n_components == 2
    assert np.allclose(ours.detail["thresholds"], plain.detail["thresholds"], rtol=1e-4)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (2, 2), (2, 7), (3, 2)])
def test_the_smallest_tables_have_one_component(shape):
    """One row, one column: one component, no warning."""
    fit = fitted(np.random.default_rng(1).standard_normal(shape))
    assert RULES["auto"](fit).n_components == 1


def test_constant_rows_have_one_component():
    """Where nothing varies the answer is one, and says so."""
    verdict = RULES["auto"](fitted(np.full((20, 4), 3.0)))
    assert verdict.n_components == 1
    assert "Nothing varies" in verdict.reason


def test_ties_do_not_matter():
    """Equal variances at the cut are counted by size alone."""
    values = np.array([8.0, 8.0, 8.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    assert choose_automatically(values, n_rows=1000, n_columns=10).n_components == 3


@pytest.mark.parametrize("scale", [1e-140, 1e140])
def test_the_unit_does_not_matter(scale):
    """Rows in another unit give the same choice."""
    fit = fitted(planted(100, 15, [9.0, 5.0], seed=0) * scale)
    assert RULES["auto"](fit).n_components == 2


def test_the_same_seed_gives_the_same_verdict():
    """Nothing but the seed is random."""
    fit = fitted(planted(100, 15, [9.0, 5.0], seed=0))
    first, again = RULES["auto"](fit), RULES["auto"](fit)
    assert first.reason == again.reason
    assert np.array_equal(first.detail["thresholds"], again.detail["thresholds"])


def test_many_rows_are_read_once():
    """10,000 x 500, the spectrum known: the whole of parallel analysis is one pass over the rows."""
    fit = fitted(planted(10_000, 500, [9.0, 5.0, 2.0], seed=0))
    rows = CountingRows(DenseRows(fit.X))
    verdict = choose_automatically(fit.variances, rows, mean=fit.mean, **fit.columns, **fit.shape)
    assert hits(verdict.n_components, 3)
    assert rows.passes == 1
