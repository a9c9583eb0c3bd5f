import numpy as np
import pytest

from gramian.choosing import Panel, panel
from gramian.choosing.spectrum import Verdict
from gramian.sources.dense import DenseRows
from tests.choosing.designs import fitted, planted

EVERY_RULE = {
    "auto",
    "parallel analysis",
    "minka",
    "gavish-donoho",
    "broken stick",
    "gcv",
    "share",
    "cross-validation",
}


@pytest.fixture
def fit():
    """Three clear components."""
    return fitted(planted(200, 30, [40.0, 30.0, 20.0], seed=0))


def test_every_rule_is_asked(fit):
    """All rules answer when there are rows, and those about noise agree on a clear case."""
    ours = panel(fit.variances, DenseRows(fit.X), mean=fit.mean, **fit.columns, **fit.shape)
    assert set(ours.counts) == EVERY_RULE
    assert not ours.refusals
    assert {k for rule, k in ours.counts.items() if rule != "share"} == {3}
    assert ours.agreement == "Of the 7 other rules, 6 say the same as auto and 0 differ by one."


def test_a_rule_that_cannot_answer_says_why(fit):
    """Leading variances without rows leave the rules that can do with them."""
    ours = panel(fit.variances[:8], **fit.shape, share=0.6)
    refused = dict(ours.refusals)
    assert set(refused) == {"minka", "gavish-donoho", "cross-validation"}
    assert "8 were given" in refused["minka"]
    assert ours.n_components == 3


def test_the_table_is_neat(fit):
    """Columns line up, no line is too long, and every rule has its line."""
    lines = str(panel(fit.variances, DenseRows(fit.X), **fit.shape)).splitlines()
    assert max(map(len, lines)) <= 100
    why = lines[0].index("why")
    assert all(line[why - 2 : why] == "  " for line in lines[1:-1])
    assert {line[: why - 14].strip() for line in lines[1:-1]} - {""} == EVERY_RULE


def test_verdicts_are_found_by_name(fit):
    """A verdict has its rule's name, and a wrong name is answered with the right ones."""
    ours = panel(fit.variances, **fit.shape)
    assert ours["minka"].rule == "minka"
    with pytest.raises(KeyError, match="There are: auto, parallel analysis"):
        ours["kaiser"]


@pytest.mark.parametrize("shape", [(1, 3), (6, 1), (2, 2)])
def test_the_smallest_tables_have_a_panel(shape):
    """Rules that cannot answer refuse, the others do, and nothing fails."""
    small = fitted(np.random.default_rng(0).standard_normal(shape))
    assert panel(small.variances, DenseRows(small.X), **small.shape).n_components == 1


def test_rows_may_be_an_array(fit):
    """An array in place of a source gives the same panel."""
    given, opened = (panel(fit.variances, rows, **fit.shape) for rows in (fit.X, DenseRows(fit.X)))
    assert given.counts == opened.counts
    assert "cross-validation" in given.counts


@pytest.mark.parametrize(
    "counts, said",
    [
        ((2, 2, 3), "Of the 2 other rules, 1 says the same as auto and 1 differs by one."),
        ((2, 5), "Of the 1 other rule, 0 say the same as auto and 0 differ by one."),
        ((2, 1, 2, 2, 3), "Of the 4 other rules, 2 say the same as auto and 2 differ by one."),
    ],
)
def test_agreement_has_the_verb_that_fits_its_number(counts, said):
    """One rule says and differs; several, or none, say and differ."""
    assert Panel(tuple(Verdict(str(i), k, "") for i, k in enumerate(counts)), ()).agreement == said
