"""What compares two versions, or many cores, finds differences and multiplies by the kernel matrix."""

import json
import sys

import numpy as np
import pytest

from benchmarks import before_after, child, cores, differential
from benchmarks.differential_calls import Call, Found, all_calls, key_paths
from benchmarks.kernel_pca.plain import plain_product, product_beside_plain
from benchmarks.kernel_pca.rows import rows_of, width_of


@pytest.mark.parametrize("tile, workers", [(37, 3), (512, 1)])
def test_the_plain_loop_is_the_product_of_the_whole_matrix(tile, workers):
    """Tiles used twice make K V, also where they do not come out even."""
    X, V = rows_of(130).astype(float), np.random.default_rng(0).standard_normal((130, 3))
    K = np.exp(-0.02 * ((X[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(plain_product(X, 0.02, V, tile=tile, workers=workers), K @ V, rtol=1e-11, atol=1e-11)


def test_both_products_are_the_same():
    """Gramian's product and the plain loop agree to the precision that both were asked for."""
    X = rows_of(600)
    assert product_beside_plain(X, width_of(X), vectors=4, runs=1)["apart"] < 1e-5


def test_signs_order_and_bases_are_no_difference_and_numbers_are():
    """Each kind of array is compared by what it means."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((50, 3))
    assert differential.apart("columns", A, A * [1, -1, 1]) == 0
    assert differential.apart("sources", A, A[:, [2, 0, 1]] * [1, -1, -1]) == 0
    assert differential.apart("space", A.T, (A @ rng.standard_normal((3, 3))).T) < 1e-12
    assert differential.apart("numbers", A, -A) == pytest.approx(2)
    moved = A + 1e-5 * rng.standard_normal(A.shape)
    for kind, basis in (("numbers", A), ("columns", A), ("sources", A)):
        assert 1e-6 < differential.apart(kind, basis, moved) < 1e-4
    assert 1e-6 < differential.apart("space", A.T, moved.T) < 1e-4
    assert differential.apart("numbers", A, np.where(A > 1, np.nan, A)) == np.inf
    assert differential.apart("numbers", A, A[:, :2]) == np.inf


def test_a_call_that_differs_is_found_and_one_that_is_meant_to_is_excused(tmp_path, capsys, monkeypatch):
    """The exit code is 1 unless every difference is named with its reason."""
    call = Call("one", lambda _: Found(), 1e-9, 1e-7)
    monkeypatch.setattr(differential, "all_calls", lambda: [call])
    for side, value, code in (("old", 1.0, 0), ("new", 1.0 + 1e-6, 3), ("loaded", 1.0, 0)):
        folder = tmp_path / side
        folder.mkdir()
        np.savez(folder / "0.npz", **{"numbers:a": np.array([value, 0.5])})
        (folder / "facts.json").write_text(json.dumps({"one": {"number": 0, "exit code": code}}))
    assert differential.report(tmp_path, seconds=0) == 1
    said = capsys.readouterr().out
    assert "0 became 3" in said
    assert "1.00e-06, allowed 1e-09" in said
    assert "1 differ, 0 differ as meant" in said
    monkeypatch.setattr(differential, "DELIBERATE", {"one: exit code": "a better code", "one: numbers:a": "more exact"})
    assert differential.report(tmp_path, seconds=0) == 0
    assert "differs, meant: a better code" in capsys.readouterr().out


def test_keys_are_compared_recursively():
    """Keys below keys and in lists are named by their place; values are not looked at."""
    assert key_paths({"a": [{"b": 1}, {"c": 2}], "d": 3}) == [".a", ".a[].b", ".a[].c", ".d"]


def test_there_are_calls_for_everything_that_is_public():
    """Every public name of Gramian that can be called is called by one of them."""
    names = " ".join(call.name for call in all_calls())
    for name in ("PCA", "IncrementalPCA", "TruncatedSVD", "KernelPCA", "ICA", "FastICA", "fastica", "ProbabilisticPCA"):
        assert name in names
    for verb in ("look", "pca", "kpca", "ica", "project", "rebuild", "outliers", "report", "compare", "export", "demo"):
        assert f"$ gramian {verb}" in names


def test_cores_are_taken_one_of_each_pair_of_threads_first():
    """Every processor is there once."""
    found = child.apart_first({0, 1})
    assert sorted(found) == [0, 1]


def test_a_record_of_cores_becomes_a_table():
    """Seconds by cores, the speed-up, scikit-learn's ways with their residuals, and two ratios."""
    name = next(case.name for case in cores.cases(quick=False) if case.part == "pca")
    told = {"date": "d", "cpu": "c", "cores": 16, "memory_bytes": 2**37, "python": "3", "versions": {}, "blas": []}
    rows = [
        {"cores": 1, "peer": None, "seconds": 8.0},
        {"cores": 16, "peer": None, "seconds": 1.0, "residual": 1e-12},
        {"cores": 16, "peer": "auto", "seconds": 0.5, "residual": 1e-3},
        {"cores": 16, "peer": "full", "seconds": 4.0, "residual": 1e-13},
    ]
    found = {"machine": told, "command": "x", "rows": {}}
    found["rows"] = {str(i): {"case": name, "part": "pca"} | row for i, row in enumerate(rows)}
    line = cores.table(found).splitlines()[-1]
    assert line == (f"| {name} | 8 s | 1 s | 8.0 | auto: 0.5 s (1e-03); full: 4 s (1e-13) | 2.00 | 0.25 | 1e-12 |")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="binding to cores is Linux's")
def test_a_small_task_is_measured_on_one_core():
    """A child bound to one core gives its seconds and its residual."""
    task = {"kind": "kpca", "n": 400, "tol": 1e-6, "peer": None, "runs": 1, "judge": True}
    found = child.call("benchmarks.cores", task, src=cores.SRC, cores=1, timeout=600)
    assert found["seconds"] > 0
    assert found["residual"] < 1e-5


def test_the_mean_of_two_versions_is_geometric_and_slow_lines_are_named():
    """Twice as slow and twice as fast are even."""
    lines = [before_after.Line(before_after.Case(name, {})) for name in ("a", "b")]
    for line, new in zip(lines, (2.0, 0.5), strict=True):
        line.times["old"] += [1.0, 1.5]
        line.times["new"] += [new]
    told = {"date": "d", "cpu": "c", "cores": 2, "memory_bytes": 2**34, "load_before": 0, "python": "3"}
    text = before_after.table(lines, told | {"versions": {}, "blas": []}, "x")
    assert "**1.000**" in text
    assert "Above 1.5: a (2.00)." in text
