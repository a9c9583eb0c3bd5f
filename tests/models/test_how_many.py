"""What a fit keeps and what it leaves: rules on a large side, the noise left out, scaling with any ddof."""

import numpy as np
import pytest
import scipy.sparse as sp

import gramian.models.pca.fit as pca_module
from gramian import PCA
from gramian.models.pca.fit import fit_pca, rule_memory
from gramian.models.pca.model import PCAOptions
from gramian.sources import as_source
from gramian.sources.dense import DenseRows
from gramian.testing import CountingRows


def test_auto_grows_beyond_its_first_look(monkeypatch):
    """A rule that sees leading components first asks for more while they do not suffice."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 40)) @ rng.standard_normal((40, 150)) + rng.standard_normal((600, 150))
    whole = PCA("auto", random_state=0).fit(X).n_components_
    monkeypatch.setattr(pca_module, "LARGE_SIDE", 50)
    monkeypatch.setattr(pca_module, "FIRST_LOOK", 8)
    assert abs(PCA("auto", random_state=0).fit(X).n_components_ - whole) <= 1
    assert PCA(0.9).fit(X).explained_variance_ratio_.sum() > 0.9


@pytest.mark.parametrize("small", [1e-8, 1e-10])
def test_noise_is_summed_not_subtracted(small):
    """Where the whole spectrum is known, tiny noise keeps its digits."""
    Q, _ = np.linalg.qr(np.column_stack([np.ones(200), np.random.default_rng(0).standard_normal((200, 10))]))
    X = Q[:, 1:] * np.array([3.0, 2.0, 1.0, *[small] * 7])
    assert PCA(3, svd_solver="full").fit(X).noise_variance_ == pytest.approx(small**2 / 199, rel=1e-3)


def test_rank_deficient_rows_have_no_noise():
    """Beyond the rank nothing is left, so the noise is exactly zero."""
    rng = np.random.default_rng(1)
    B = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 8))
    assert PCA(5).fit(B).noise_variance_ == 0.0


@pytest.mark.parametrize("ddof", [0, 1])
def test_scaled_columns_have_unit_variance_for_every_ddof(ddof):
    """The variances of scaled columns add up to their number."""
    X = np.random.default_rng(2).standard_normal((60, 6)) * np.arange(1, 7)
    assert PCA(scale=True, ddof=ddof).fit(X).explained_variance_.sum() == pytest.approx(6.0, rel=1e-12)


def _forgetful(decompose):
    def from_nothing(*arguments, **named):
        return decompose(*arguments, **named | {"start": None})

    return from_nothing


def test_a_growing_look_goes_on_from_the_pairs_it_has(monkeypatch):
    """Sparse rows, a share: a doubling begins with the pairs known, and makes fewer passes than one that does not."""
    rng = np.random.default_rng(1)
    X = sp.random_array((500, 300), density=0.1, rng=rng).tocsr() @ sp.diags_array(0.98 ** np.arange(300))
    monkeypatch.setattr(pca_module, "LARGE_SIDE", 50)
    monkeypatch.setattr(pca_module, "FIRST_LOOK", 16)
    passes, counts = {}, {}
    for name in ("warm", "cold"):
        if name == "cold":
            monkeypatch.setattr(pca_module, "decompose", _forgetful(pca_module.decompose))
        rows = CountingRows(as_source(sp.csr_array(X)))
        model = fit_pca(rows, PCAOptions(0.75, solver="krylov"))
        passes[name], counts[name] = rows.passes, len(model.components)
    assert counts["warm"] == counts["cold"] > 16
    assert passes["warm"] < 0.9 * passes["cold"]


def test_repetitions_of_weighted_rows_are_in_the_plan():
    """A rule that sees a row of weight 10 ten times takes the memory of the table so repeated, and of its copy."""
    X = np.random.default_rng(0).standard_normal((2000, 50))
    repeated = np.repeat(X, 10, axis=0)
    weighted = rule_memory("auto", DenseRows(X, weights=np.full(2000, 10.0)))
    plain = rule_memory("auto", DenseRows(repeated))
    assert weighted.sample_bytes == plain.sample_bytes + repeated.nbytes + X.nbytes
