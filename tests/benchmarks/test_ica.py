"""The ICA benchmark judges by the measure it states, and keeps the record of what it did not run."""

import json

import numpy as np
import pytest

from benchmarks import ica as benchmark
from benchmarks.ica import SIZES, Row, left_to_turn, passes_of, rows_of
from benchmarks.ica_peers import WAYS
from gramian import ICA
from gramian.testing import mixed_sources

ABOUT = {"date": "2026-01-01", "cpu": "a machine", "cores": 2}


@pytest.fixture
def X():
    """A small mixture of every kind of source."""
    return mixed_sources(6_000, 4, seed=0) @ np.random.default_rng(0).standard_normal((4, 4)).T


def test_measure_is_the_gradient_of_picard(X):
    """What the benchmark computes from components alone is what the fit reports."""
    ica = ICA(independence=False, tol=1e-7).fit(X)
    assert left_to_turn(X, ica.components_) == pytest.approx(ica.gradient_norm_, rel=1e-3, abs=1e-13)
    assert left_to_turn(X, np.eye(4)) > 1e-3


def test_scale_of_sources_does_not_count(X):
    """Sources are brought to unit variance first."""
    W = ICA(independence=False).fit(X).components_
    assert left_to_turn(X, 7.0 * W) == pytest.approx(left_to_turn(X, W), rel=1e-6)


@pytest.mark.parametrize("name", ["Gramian", "scikit-learn FastICA, eigh"])
def test_ways_give_components(X, name):
    """A way that runs here unmixes to its tolerance, or near it."""
    components, note = WAYS[name].fit(X, 1e-8)
    assert left_to_turn(X, components) <= 1e-4
    assert note.endswith("iterations")


def test_passes_are_counted_in_whole_rows():
    """Passes over a sample count by its share; the last one is in float64."""
    X = mixed_sources(30_000, 3, seed=1) @ np.random.default_rng(1).standard_normal((3, 3)).T
    passes = passes_of(X, 1e-6)
    assert passes["float64"] >= 1
    assert 1 <= passes["float32"] <= 20


def test_record_keeps_other_cases(tmp_path, monkeypatch, capsys):
    """A case that is run again replaces itself and nothing else; unequal answers are marked."""
    monkeypatch.setattr(benchmark, "RESULTS", tmp_path)
    row = {"case": "10", "way": "Gramian", "tol": 1e-6, "reached": 5e-7, "seconds": 0.1, "runs": 3, "megabytes": 4.0}
    rows = [{**row, "note": ""}, {**row, "way": "other", "reached": 1e-3, "note": ""}]
    for case in ("30", "10", "10"):
        benchmark.write_record(case, rows, floor={"passes": {"float32": 3}, "seconds": 0.01}, about=ABOUT)
    record = json.loads((tmp_path / "ica.json").read_text())
    assert list(record) == ["10", "30"]
    text = (tmp_path / "ica.md").read_text()
    assert text.count("## ") == 2
    assert "not equal" in text
    assert "Floor: 0.010 s" in capsys.readouterr().out


def test_rows_of_a_case_are_the_same_every_time():
    """Each process makes its own rows, and they are one case's."""
    X = rows_of("10")
    assert X.shape == SIZES["10"][::-1]
    np.testing.assert_array_equal(X[:5], rows_of("10")[:5])
    assert not Row("10", "a way", 1e-6, 2e-6, 1.0, 1, 1.0).is_equal
