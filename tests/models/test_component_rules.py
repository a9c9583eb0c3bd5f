"""One call that shows what each rule says."""

import numpy as np
import pytest
import scipy.sparse as sp

import gramian
from gramian import PCA, how_many


def planted(n, d, k, seed):
    """Return k strong directions in white noise, about a mean."""
    rng = np.random.default_rng(seed)
    return 3.0 + rng.standard_normal((n, k)) @ (4 * rng.standard_normal((k, d))) + rng.standard_normal((n, d))


@pytest.mark.parametrize("n, d", [(400, 20), (40, 300)])
@pytest.mark.parametrize("scale", [False, True])
def test_the_first_line_is_what_auto_keeps(n, d, scale):
    """The panel and a fit with "auto" look at the same numbers."""
    X = planted(n, d, 3, seed=n)
    panel = how_many(X, scale=scale, seed=0)
    assert panel.n_components == PCA("auto", scale=scale, random_state=0).fit(X).n_components_ == 3
    assert {"auto", "minka", "gavish-donoho", "broken stick", "share"} <= set(panel.counts) | dict(
        panel.refusals
    ).keys()


def test_the_share_is_the_one_that_a_fit_keeps():
    """A rule of the panel says what the same rule says in a fit."""
    X = planted(300, 12, 2, seed=1)
    assert how_many(X, share=0.5)["share"].n_components == PCA(0.5).fit(X).n_components_
    assert how_many(X)["minka"].n_components == PCA("mle").fit(X).n_components_


def test_sparse_rows_are_asked_too():
    """Nothing is made dense, and the answer is that of the dense table."""
    X = planted(200, 10, 2, seed=2)
    X[np.abs(X) < 2] = 0
    assert how_many(sp.csr_array(X)).n_components == how_many(X).n_components


def test_it_is_a_public_name_that_prints_a_table():
    """A line a rule, and a sentence on how they agree."""
    words = str(gramian.how_many(planted(100, 6, 1, seed=3)))
    assert words.startswith("rule")
    assert "Of the" in words.splitlines()[-1]
