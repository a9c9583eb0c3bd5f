"""Passes over the rows: what is stated is what is made."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.dense import DenseRows
from gramian.sources.moments import measure_moments
from gramian.sources.sparse import SparseRows
from gramian.testing import CountingRows, rows_with_spectrum
from tests.catalog import SOURCES


def _dense(n, d, rank):
    return DenseRows(rows_with_spectrum(n, d, np.geomspace(9.0, 1.0, rank), mean=1.0, seed=0)[0])


def _sparse(n, d, rank):
    del rank
    return SparseRows(sp.random_array((n, d), density=0.05, rng=np.random.default_rng(0), format="csr"))


def _counted(source, **options):
    rows = CountingRows(source)
    return rows, fit_pca(rows, PCAOptions(**options))


def _stated(model):
    """The number of passes that the certificate's note states."""
    found = re.search(r"(\d+) pass(es)? over the rows", model.certificate.note)
    assert found, f"no number of passes in the note {model.certificate.note!r}"
    return int(found.group(1))


CASES = {
    "primal, all": (_dense, 500, 20, 20, {}),
    "primal, few": (_dense, 500, 20, 20, {"n_components": 5}),
    "primal, rank deficient": (_dense, 500, 20, 9, {}),
    "dual, all": (_dense, 20, 500, 19, {}),
    "dual, few": (_dense, 20, 500, 19, {"n_components": 5}),
    "krylov, tall": (_dense, 300, 200, 150, {"n_components": 4, "solver": "krylov"}),
    "krylov, wide": (_dense, 200, 300, 150, {"n_components": 4, "solver": "krylov"}),
    "sparse, tall": (_sparse, 400, 300, 0, {"n_components": 4}),
    "sparse krylov, tall": (_sparse, 400, 300, 0, {"n_components": 4, "solver": "krylov"}),
    "sparse krylov, wide": (_sparse, 300, 400, 0, {"n_components": 4, "solver": "krylov"}),
}


@pytest.mark.parametrize("case", CASES)
def test_stated_passes_are_the_real_ones(case):
    """The number in the certificate's note is the number a wrapping source counted."""
    make, n, d, rank, options = CASES[case]
    rows, model = _counted(make(n, d, rank), **options)
    assert rows.passes == _stated(model)


@pytest.mark.parametrize("case", CASES)
def test_planned_passes_are_enough(case):
    """A plan never promises fewer passes than are made."""
    make, n, d, rank, options = CASES[case]
    rows, model = _counted(make(n, d, rank), **options)
    assert rows.passes <= model.plan.passes


def test_tall_rows_are_read_once():
    """A primal fit to well conditioned rows is one pass: mean and scatter together."""
    rows, _ = _counted(_dense(400, 8, 8))
    assert rows.passes == 1


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("scatter", [True, False])
def test_moments_are_one_pass(name, scatter):
    """Moments are measured in one pass from every kind of source, with a mean or without."""
    X, _ = rows_with_spectrum(40, 6, [4.0, 2.0, 1.0], mean=5.0, seed=1)
    rows = CountingRows(SOURCES[name](X))
    measure_moments(rows, scatter=scatter)
    assert rows.passes == 1


def test_a_misleading_sample_costs_one_more_pass():
    """Where the provisional shift is far off, the moments are measured again, once."""
    X = np.random.default_rng(0).standard_normal((5000, 2))
    # The even sample of rows falls on these alone.
    step = max(1, 5000 // 1024)
    X[::step] += 1e9
    rows = CountingRows(DenseRows(X, block_rows=5000))
    moments = measure_moments(rows)
    assert rows.passes <= 2
    truth = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    np.testing.assert_allclose(moments.scatter, truth, rtol=1e-10)


def test_projection_is_one_pass():
    """Scores take one pass over the rows they are of."""
    rows, model = _counted(_dense(60, 8, 7), n_components=3)
    before = rows.passes
    model.project(rows)
    assert rows.passes == before + 1


def test_harder_rows_take_more_passes():
    """Without the matrix, the passes of an iteration grow as the spectrum gets harder."""
    counts = []
    for ratio in (0.1, 0.8, 0.97):
        lam = np.concatenate([[2.0, 1.5, 1.2], ratio * np.linspace(1.0, 0.8, 140)])
        X, _ = rows_with_spectrum(300, 200, lam, seed=0)
        rows, _ = _counted(DenseRows(X), n_components=3, solver="krylov")
        counts.append(rows.passes)
    assert counts == sorted(set(counts)), f"passes were {counts}"
