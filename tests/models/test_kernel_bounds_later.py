"""Bounds of few rows are finished when they are read: the same bounds, and nothing that an answer rests on waits."""

import copy
import pickle
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest
from scipy import sparse

from gramian import KernelPCA, load
from gramian.eigen.certificate import Certificate
from gramian.errors import PrecisionWarning
from gramian.models.kernel_pca import KernelPCAOptions, fit_kernel_pca
from gramian.operators import kernel_gram
from gramian.sources import as_source

KERNELS = ["rbf", "poly", "cosine", "linear"]


def _rows(n, d, dtype="float64", seed=0):
    return (np.random.default_rng(seed).standard_normal((n, d)) + 0.5).astype(dtype)


def _waits(kpca):
    return "_rest" in kpca._model.__dict__


def _assert_same(here, there):
    for field in fields(Certificate):
        np.testing.assert_array_equal(getattr(here, field.name), getattr(there, field.name), err_msg=field.name)


@pytest.fixture
def at_once(monkeypatch):
    """Return a function that fits with everything drawn up in the fit."""

    def fit(kpca, X, **options):
        with monkeypatch.context() as patched:
            patched.setattr("gramian.models.kernel_solving._can_wait", lambda *_: False)
            kpca.fit(X, **options)
        assert not _waits(kpca)
        return kpca

    return fit


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n, d, k", [(12, 20, 3), (50, 5, 2), (50, 5, None), (100, 10, 10), (257, 60, 2), (400, 60, 7)])
def test_later_is_the_same_as_at_once(n, d, k, kernel, dtype, at_once):
    """Answer, values, residuals, bounds, gaps, grades, ties and note are those of a fit that measures at once."""
    X = _rows(n, d, dtype)
    later, now = KernelPCA(k, kernel=kernel).fit(X), at_once(KernelPCA(k, kernel=kernel), X)
    # Features of few columns are solved by themselves, and have no kernel values to measure.
    assert _waits(later) or kernel in {"linear", "poly"}
    for name in ("eigenvalues_", "eigenvectors_", "explained_variance_ratio_"):
        np.testing.assert_array_equal(getattr(later, name), getattr(now, name))
    assert (later._model.rank, later.verdict_) == (now._model.rank, now.verdict_)
    assert vars(later).keys() == vars(now).keys()
    assert str(later.plan_) == str(now.plan_)
    assert later.certificate_.grade == "proved"
    _assert_same(later.certificate_, now.certificate_)
    assert not _waits(later)


@pytest.mark.parametrize("kernel", ["rbf", "poly", "cosine"])
@pytest.mark.parametrize("n, d", [(50, 5), (300, 20), (400, 30)])
def test_nothing_is_measured_before_it_is_read(n, d, kernel, monkeypatch):
    """Neither a fit nor scores need what the kernel values are rounded by; the first reading measures it, once."""
    measured, measure = [], kernel_gram.values_rounding

    def watched(*args, **options):
        measured.append(1)
        return measure(*args, **options)

    monkeypatch.setattr(kernel_gram, "values_rounding", watched)
    X = _rows(n, d)
    kpca = KernelPCA(2, kernel=kernel, fit_inverse_transform=True).fit(X)
    kpca.inverse_transform(kpca.transform(X))
    kpca.reconstruction_error(X)
    assert _waits(kpca)
    assert not measured
    assert kpca.certificate_ is kpca.certificate_
    assert len(measured) == 1


def _nearly_flat(seed=0):
    """Return rows so near to each other that their kernel matrix is rounding but for a few values."""
    return 1e4 + _rows(40, 2, seed=seed)


@pytest.mark.parametrize(
    "X, options",
    [
        (_rows(80, 2), {"kernel": "rbf", "gamma": 0.3}),
        (_nearly_flat(), {"kernel": "poly", "gamma": 1.0}),
        (_rows(30, 40), {"kernel": "rbf", "gamma": 1e-14, "n_components": 30}),
    ],
    ids=["smooth", "far", "constant but for rounding"],
)
def test_what_decides_the_rank_is_measured_in_the_fit(X, options, at_once):
    """Where eigenvalues lie between zero and what rounding could be, it is known before any is kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kpca, now = KernelPCA(**options).fit(X), at_once(KernelPCA(**options), X)
    assert not _waits(kpca)
    assert kpca._model.rank == now._model.rank < len(X)
    _assert_same(kpca.certificate_, now.certificate_)


@pytest.mark.parametrize("k", [1, 2, None])
def test_a_matrix_of_rounding_is_warned_of_in_the_fit(k):
    """Nobody has to read the certificate to learn that nothing is known."""
    X = 1e7 + 1e-8 * _rows(40, 50)
    with pytest.warns(PrecisionWarning, match="rounded by as much"):
        kpca = KernelPCA(k, kernel="poly", gamma=1.0).fit(X)
    assert not _waits(kpca)


@pytest.mark.parametrize("offset", [0.0, 10.0, 100.0, 1e3, 1e4])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "cosine"])
@pytest.mark.parametrize("k", [3, None])
def test_rank_and_warnings_never_depend_on_when(offset, kernel, k, at_once):
    """From rows about zero to rows whose kernel values have hardly a digit left."""
    X = _rows(60, 3, seed=3) + offset
    found = []
    for fit in (KernelPCA.fit, at_once):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            kpca = fit(KernelPCA(k, kernel=kernel), X)
        found.append((kpca._model.rank, [str(warning.message) for warning in said], kpca.certificate_))
    assert found[0][:2] == found[1][:2]
    _assert_same(found[0][2], found[1][2])


@pytest.mark.parametrize("others", ["many rows", "many numbers", "weights", "sparse", "laplacian", "sigmoid"])
def test_other_fits_measure_at_once(others):
    """Rows are kept for later only where they are few, plain, and of a kernel whose rounding has a ceiling."""
    n, d = {"many rows": (401, 3), "many numbers": (200, 700)}.get(others, (60, 4))
    kernel = others if others in {"laplacian", "sigmoid"} else "rbf"
    X = _rows(n, d)
    options = {"sample_weight": np.ones(n)} if others == "weights" else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kpca = KernelPCA(2, kernel=kernel, gamma=0.05, eigen_solver="dense")
        assert not _waits(kpca.fit(sparse.csr_array(X) if others == "sparse" else X, **options))


def test_rows_changed_in_place_do_not_reach_the_proof(at_once):
    """What is read later is of the rows as they were, whoever owns them."""
    X = _rows(60, 4)
    now = at_once(KernelPCA(3, kernel="rbf"), X)
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
def test_models_travel_with_their_proof(send, tmp_path, at_once):
    """A copy, in memory or in a file, has the whole certificate and keeps no rows for it."""
    X = _rows(60, 4)
    kpca, now = KernelPCA(3, kernel="rbf").fit(X), at_once(KernelPCA(3, kernel="rbf"), X)
    assert _waits(kpca)
    if send == "save":
        there = load(kpca.save(tmp_path / "model.gramian"))
    elif send == "replace":
        there = copy.copy(kpca)
        there._model = replace(kpca._model, verdict="")
    else:
        ways = {"pickle": lambda it: pickle.loads(pickle.dumps(it)), "copy": copy.copy, "deepcopy": copy.deepcopy}
        there = ways[send](kpca)
    if send != "copy":  # which has the same model
        assert not _waits(there)
    _assert_same(there.certificate_, now.certificate_)
    np.testing.assert_allclose(there.transform(X), now.transform(X), rtol=0, atol=1e-13)
    assert not _waits(there)


def test_many_threads_may_read_one_proof(at_once):
    """All of them get the same certificate, and no one finds half of it."""
    X = _rows(80, 4)
    now, before = at_once(KernelPCA(3, kernel="rbf"), X), sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as pool:
            for _ in range(10):
                kpca = KernelPCA(3, kernel="rbf").fit(X)
                for read in [pool.submit(lambda it: it.certificate_, kpca) for _ in range(8)]:
                    _assert_same(read.result(), now.certificate_)
    finally:
        sys.setswitchinterval(before)


def test_an_unknown_attribute_is_named():
    """A model that has something to draw up is asked for nothing else."""
    model = KernelPCA(2, kernel="rbf").fit(_rows(30, 3))._model
    with pytest.raises(AttributeError, match="'KernelPCAModel' object has no attribute 'nothing'"):
        _ = model.nothing
    assert "_rest" in model.__dict__


@pytest.mark.parametrize("kernel, options", [("linear", {}), ("poly", {"degree": 2, "gamma": 1.0})])
@pytest.mark.parametrize("asked", [{}, {"n_components": 50, "remove_zero_eig": True}])
def test_null_directions_that_nobody_asked_for_are_not_made(kernel, options, asked, monkeypatch):
    """All pairs that are not zero: none is made up for the eigenvalue zero, only to be dropped."""
    X = _rows(80, 3)
    whole = KernelPCA(50, kernel=kernel, **options).fit(X)
    rank = whole._model.rank

    def refused(*_args, **_options):
        pytest.fail("null directions were made")

    monkeypatch.setattr("gramian.models.kernel_solving.orthonormalized", refused)
    kpca = KernelPCA(kernel=kernel, **asked, **options).fit(X)
    assert len(kpca.eigenvalues_) == kpca._model.rank == rank < 50
    np.testing.assert_array_equal(kpca.eigenvalues_, whole.eigenvalues_[:rank])
    np.testing.assert_array_equal(kpca.eigenvectors_, whole.eigenvectors_[:, :rank])
    np.testing.assert_allclose(kpca.transform(X), whole.transform(X)[:, :rank], rtol=0, atol=1e-10)
    np.testing.assert_array_equal(kpca.certificate_.bounds, whole.certificate_.bounds[:rank])
    assert kpca.certificate_.grade == "proved"
