"""Bounds of kernel PCA: part of the answer, measured in the fit, and of the rows as they were then."""

import copy
import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from gramian import KernelPCA, load
from gramian.eigen.certificate import Certificate
from gramian.errors import PrecisionWarning
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.sources import as_source


def _rows(n, d, dtype="float64", seed=0):
    return (np.random.default_rng(seed).standard_normal((n, d)) + 0.5).astype(dtype)


def _assert_same(here, there):
    for field in fields(Certificate):
        np.testing.assert_array_equal(getattr(here, field.name), getattr(there, field.name), err_msg=field.name)


@pytest.mark.parametrize("k", [1, 2, None])
def test_a_matrix_of_rounding_is_warned_of_in_the_fit(k):
    """Nobody has to read the certificate to learn that nothing is known."""
    X = 1e7 + 1e-8 * _rows(40, 50)
    with pytest.warns(PrecisionWarning, match="rounded by as much"):
        KernelPCA(k, kernel="poly", gamma=1.0).fit(X)


def test_rows_changed_in_place_do_not_reach_the_proof():
    """The certificate is of the rows as they were, whoever owns them."""
    X = _rows(60, 4)
    now = KernelPCA(3, kernel="rbf").fit(X)
    theirs, ours = X.copy(), KernelPCA(3, kernel="rbf").fit(X)
    taken = KernelPCA(3, kernel="rbf", copy_X=False).fit(theirs)
    theirs[...] = 7.0
    ours.X_fit_[...] = 7.0
    ours.eigenvalues_[...] = ours.eigenvectors_[...] = 0.0
    model = fit_kernel_pca(as_source(rows := X.copy()), KernelPCAOptions(3, now.kernel_))
    rows[...] = np.nan
    for certificate in (taken.certificate_, ours.certificate_, model.certificate):
        _assert_same(certificate, now.certificate_)


@pytest.mark.parametrize("send", ["pickle", "copy", "deepcopy", "replace", "save"])
def test_models_travel_with_their_proof(send, tmp_path):
    """A copy, in memory or in a file, has the whole certificate."""
    X = _rows(60, 4)
    kpca = KernelPCA(3, kernel="rbf").fit(X)
    if send == "save":
        there = load(kpca.save(tmp_path / "model.gramian"))
    elif send == "replace":
        there = copy.copy(kpca)
        there._model = replace(kpca._model, verdict="")
    else:
        ways = {"pickle": lambda it: pickle.loads(pickle.dumps(it)), "copy": copy.copy, "deepcopy": copy.deepcopy}
        there = ways[send](kpca)
    _assert_same(there.certificate_, kpca.certificate_)
    np.testing.assert_allclose(there.transform(X), kpca.transform(X), rtol=0, atol=1e-13)


@pytest.mark.parametrize("kernel, options", [("linear", {}), ("poly", {"degree": 2, "gamma": 1.0})])
@pytest.mark.parametrize("asked", [{}, {"n_components": 50, "remove_zero_eig": True}])
def test_null_directions_that_nobody_asked_for_are_not_made(kernel, options, asked, monkeypatch):
    """All pairs that are not zero: none is made up for the eigenvalue zero, only to be dropped."""
    X = _rows(80, 3)
    whole = KernelPCA(50, kernel=kernel, **options).fit(X)
    rank = whole._model.rank

    def refused(*_args, **_options):
        pytest.fail("null directions were made")

    monkeypatch.setattr("gramian.models.kernel_pca.solve.orthonormalized", refused)
    kpca = KernelPCA(kernel=kernel, **asked, **options).fit(X)
    assert len(kpca.eigenvalues_) == kpca._model.rank == rank < 50
    np.testing.assert_array_equal(kpca.eigenvalues_, whole.eigenvalues_[:rank])
    np.testing.assert_array_equal(kpca.eigenvectors_, whole.eigenvectors_[:, :rank])
    np.testing.assert_allclose(kpca.transform(X), whole.transform(X)[:, :rank], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(kpca.certificate_.bounds, whole.certificate_.bounds[:rank])
    assert kpca.certificate_.grade == "proved"
