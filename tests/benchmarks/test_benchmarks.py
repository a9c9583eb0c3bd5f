"""The benchmark program measures what it says it measures."""

import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks import isolate, registry, results, speed_page, store
from benchmarks.case import Instance
from benchmarks.measure import take_reading
from benchmarks.memory import MemoryRow
from benchmarks.peers.peer import Ladder, Peer, Setting
from benchmarks.principal import judge, solve, target, wanted
from benchmarks.promises import findings
from benchmarks.resident import PeakWatch
from benchmarks.schedule import Rules, measure_instance
from benchmarks.tables import details, ratio_text, seconds_text, summary

# No rule that looks at a clock: what these tests see must not depend on how busy the machine is.
RULES = Rules(repeats=3, limit=1e3, patience=1e9, once_beyond=1e9, hopeless=1e9)


def instance_of(name, spectrum="decay", dtype="float64"):
    """Return the quick instance of a case."""
    case = next(case for case in registry.all_cases() if case.name == name)
    return Instance(case=case, spectrum=spectrum, dtype=dtype, quick=True)


def exact_answer(X):
    """Return the components of the centered rows by NumPy's SVD."""
    _, sigma, components = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return {"vectors": components.T, "variances": sigma**2 / (len(X) - 1), "singular_values": sigma}


def leading(answer, k):
    """Return an answer cut to k components."""
    return {"vectors": answer["vectors"][:, :k], **{key: answer[key][:k] for key in ("variances", "singular_values")}}


class Iterations(Peer):
    """A peer for tests whose error halves the digits it lacks with every rung of its ladder."""

    name = "ladder"
    distribution = "numpy"

    def preload(self):
        """Nothing to import."""

    def ladder(self, instance):
        """Four rungs; the default is the second."""
        del instance
        rungs = tuple(Setting(f"error={error:g}", {"error": error}) for error in (1e-1, 1e-3, 1e-9, 1e-12))
        return Ladder(rungs, default=1)

    def fit(self, X, instance, setting):
        """Return the exact answer with its eigenvalues off by the rung's error."""
        answer = leading(exact_answer(X.astype(np.float64)), instance.rank_asked)
        return answer | {"variances": answer["variances"] * (1 + setting.options.get("error", 0.0))}

    def read(self, fitted, instance):
        """Return the answer as it is."""
        del instance
        return fitted


@pytest.fixture(autouse=True)
def one_thread():
    """Keep BLAS to one thread, also in forked processes: tests may run beside others on the same cores."""
    with threadpool_limits(1):
        yield


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    """Keep rows and references of a test in its own folder."""
    monkeypatch.setenv("GRAMIAN_BENCH_CACHE", str(tmp_path))


def test_every_case_of_the_project_is_registered():
    """The ten shapes are there, each in two spectra and two precisions, and names are unique."""
    cases = registry.all_cases()
    assert len({case.name for case in cases}) == len(cases) == 10
    assert all(len(case.instances()) == 4 for case in cases)


def test_cases_and_peers_are_chosen_by_parts_of_their_names():
    """A comma separates patterns, and what is only there to be asked for must be named in full."""
    assert [case.name for case in registry.chosen_cases("150x4,sparse")] == ["150x4", "sparse-100000x50000-k20"]
    assert "Gramian gram" not in {peer.name for peer in registry.chosen_peers("Gramian")}
    assert "Gramian gram" in {peer.name for peer in registry.chosen_peers("fbpca,Gramian gram")}


@pytest.mark.parametrize("name", ["100000x1000-k20", "1000x50000-k20", "60000x784-95", "150x4"])
@pytest.mark.parametrize("spectrum", ["decay", "noise"])
def test_an_exact_answer_is_judged_exact(name, spectrum):
    """NumPy's SVD has residual, angle and values at rounding, for tall, wide and shared questions."""
    instance = instance_of(name, spectrum)
    X = store.load_rows(instance)
    reference = solve(instance, X)
    found = judge(instance, X, reference, leading(exact_answer(X), wanted(instance, reference)))
    assert found["residual"] < 1e-13
    assert found["angle"] < 1e-9
    assert found["value_error"] < 1e-9
    assert all(found[key] <= most for key, most in target(instance, reference).items())


def test_a_turned_component_is_judged_by_its_angle():
    """Turning the last component by 0.1 toward a later one gives that sine, and a residual to match."""
    instance = instance_of("100000x1000-k20")
    X = store.load_rows(instance)
    exact, k = exact_answer(X), instance.rank_asked
    wrong = leading(exact, k)
    wrong["vectors"] = wrong["vectors"].copy()
    wrong["vectors"][:, k - 1] = np.sqrt(1 - 0.01) * exact["vectors"][:, k - 1] + 0.1 * exact["vectors"][:, k]
    found = judge(instance, X, solve(instance, X), wrong)
    assert found["angle"] == pytest.approx(0.1, rel=1e-6)
    assert found["residual"] > 1e-6


def test_a_wrong_number_of_components_is_no_right_angle():
    """An answer with one component too few counts as orthogonal to the truth."""
    instance = instance_of("100000x1000-k20")
    X = store.load_rows(instance)
    found = judge(instance, X, solve(instance, X), leading(exact_answer(X), instance.rank_asked - 1))
    assert found["angle"] == 1.0


def test_vectors_of_zeros_are_no_answer():
    """Zeros satisfy A v = lambda v, and count as wrong in residual and in angle."""
    instance = instance_of("100000x1000-k20")
    X = store.load_rows(instance)
    nothing = {key: np.zeros_like(value) for key, value in leading(exact_answer(X), instance.rank_asked).items()}
    found = judge(instance, X, solve(instance, X), nothing)
    assert (found["residual"], found["angle"]) == (1.0, 1.0)


def test_sparse_rows_have_a_reference_that_satisfies_its_own_judge():
    """The sparse reference agrees with a dense SVD of the same rows."""
    instance = instance_of("sparse-100000x50000-k20", "noise")
    X = store.load_rows(instance)
    dense = leading(exact_answer(X.toarray()), instance.rank_asked)
    found = judge(instance, X, store.load_reference(instance, X), dense)
    assert found["residual"] < 1e-12
    assert found["angle"] < 1e-9


def test_both_precisions_hold_the_same_numbers():
    """A float64 instance is its float32 twin, exactly widened."""
    wide, narrow = (store.load_rows(instance_of("150x4", dtype=dtype)) for dtype in ("float64", "float32"))
    assert (wide.dtype, narrow.dtype) == (np.float64, np.float32)
    np.testing.assert_array_equal(wide, narrow)


def test_peak_memory_of_a_known_allocation_is_seen():
    """An array of 80 MB that is written and dropped inside the watch is counted, to two megabytes."""
    with PeakWatch() as watch:
        np.ones(10_000_000).sum()
    assert watch.beyond == pytest.approx(80e6, abs=2e6)


def test_a_call_apart_returns_its_value_and_names_its_failures():
    """A value comes back; an exception, a death and an overrun become sentences."""
    assert isolate.call_apart(os.getpid, timeout=300.0).value != os.getpid()
    assert "ZeroDivisionError" in isolate.call_apart(divmod, 1, 0, timeout=300.0).failure
    assert "died" in isolate.call_apart(os._exit, 3, timeout=300.0).failure
    assert isolate.call_apart(signal.pause, timeout=0.2).failure == "stopped after 0 s"


def test_a_fit_over_its_limit_is_stopped_by_the_system():
    """The clock of a fit ends the process, and the outcome says so."""
    assert isolate.call_apart(_wait_under_a_clock, timeout=300.0).failure == isolate.STOPPED


def _wait_under_a_clock():
    """Wait for as long as the clock allows."""
    with isolate.ends_after(0.1):
        signal.pause()


def test_a_peer_stands_with_its_loosest_accurate_setting():
    """From an inaccurate default the ladder is climbed to the first rung that meets the residual."""
    entries = measured(Iterations(), "100000x1000-k20")
    roles = {entry.setting.label: entry.roles for entry in entries if entry.peer.name == "ladder"}
    assert roles == {"error=0.001": {"default"}, "error=1e-09": set(), "error=1e-12": {"equal"}}


def test_an_accurate_default_is_loosened_to_the_last_that_holds():
    """From an accurate default the ladder is descended to the first rung that fails, and no further."""
    entries = measured(Loosening(), "100000x1000-k20")
    roles = {entry.setting.label: entry.roles for entry in entries if entry.peer.name == "ladder"}
    assert roles == {"error=1e-12": {"default", "equal"}, "error=1e-09": set()}


def test_what_is_shown_is_measured_thrice_and_in_turn():
    """The default and the chosen setting have three readings; the rung on the way has one."""
    counts = {entry.setting.label: len(entry.readings) for entry in measured(Iterations(), "100000x1000-k20")}
    assert counts == {"error=0.001": 3, "error=1e-09": 1, "error=1e-12": 3}


class Loosening(Iterations):
    """The same ladder with its tightest rung for a default."""

    def ladder(self, instance):
        """Default on top."""
        return replace(super().ladder(instance), default=3)


def measured(peer, name):
    """Return the entries of one peer on a quick instance."""
    return measure_instance(instance_of(name), [peer], rules=RULES, rate=5e10, tell=lambda _line: None, known={})


def test_a_forecast_beyond_the_limit_is_a_row_with_its_reason():
    """A peer that would take too long is listed and not run."""
    full = next(peer for peer in registry.all_peers() if peer.name == "scikit-learn full")
    entries = measure_instance(
        instance_of("150x4"), [full], rules=Rules(limit=1e-9), rate=1.0, tell=lambda _line: None, known={}
    )
    assert "would take about" in entries[0].failure
    assert results.as_row(entries[0])["seconds"] is None


@pytest.mark.parametrize("name", ["150x4", "1000x50000-k20", "sparse-100000x50000-k20"])
def test_gramian_is_measured_like_any_peer(name):
    """A reading of Gramian's default has a time, a peak, a plan and an accuracy within the target."""
    gramian = next(peer for peer in registry.all_peers() if peer.name == "Gramian")
    instance = instance_of(name)
    X = store.load_rows(instance)
    reference = store.load_reference(instance, X)
    reading = take_reading(gramian, instance, Setting("default"), X, reference=reference, limit=60.0)
    assert reading.seconds > 0
    assert reading.notes["predicted_peak_bytes"] > 0
    assert all(reading.accuracy[key] <= most for key, most in target(instance, reference).items())
    row = MemoryRow(instance, "C order", reading, None).as_row()
    assert row["bound_bytes"] > 64e6


def row_of(peer, seconds, **more):
    """Return a results row with the fields that tables read."""
    blank = {
        "case": "200x100000-k50", "title": "t", "spectrum": "noise", "dtype": "float64", "peer": peer,
        "setting": "default", "roles": ["default", "equal"], "failure": None, "is_floor": False, "reached": True,
        "within_target": True, "seconds": seconds, "times": [seconds] * 3, "peak_bytes": 1_000_000,
        "accuracy": {"residual": 1e-12, "angle": 1e-9, "value_error": 1e-12},
    }  # fmt: skip
    return blank | more


def results_of(*rows):
    """Return results with a machine and rules."""
    machine = {
        "date": "2026-01-01", "cpu": "c", "cores": 2, "memory_bytes": 2**34, "python": "3", "versions": {"numpy": "2"},
        "blas": ["b"], "product_rate": {"float64": 8e10},
    }  # fmt: skip
    return {"machine": machine, "rules": {"repeats": 3}, "rows": list(rows)}


def test_the_summary_keeps_losing_rows_and_names_the_best_peer():
    """A faster peer is shown as faster; an inaccurate one is not the best."""
    found = results_of(
        row_of("Gramian", 2.0), row_of("fbpca", 1.0), row_of("torch.pca_lowrank", 0.1, roles=["default"], reached=False)
    )
    text = summary(found)
    assert "1.00 s, fbpca" in text
    assert "2.00x slower" in text
    assert "torch.pca_lowrank" in details(found)


def test_promises_are_checked_against_the_named_peer():
    """Nine times faster than scikit-learn breaks a promise of ten, and level with the best is kept."""
    found = findings(results_of(row_of("Gramian", 1.0), row_of("scikit-learn", 9.0)))
    assert {finding.promise: finding.kept for finding in found} == {
        "residual and angle within the house tolerance": True,
        "time at most 1.1 of scikit-learn's": True,
        "at least 10 times faster than scikit-learn": False,
    }


def test_results_survive_the_disk(tmp_path):
    """What is written is read back, as plain JSON."""
    path = tmp_path / "deep" / "results.json"
    results.write(results_of(row_of("Gramian", 1.0)), path)
    assert results.read(path) == json.loads(path.read_text()) == results_of(row_of("Gramian", 1.0))


def test_only_the_text_between_the_markers_changes():
    """The page before and after the markers stays, and splicing twice is splicing once."""
    page = f"before\n{speed_page.BEGIN}\nold\n{speed_page.END}\nafter\n"
    once = speed_page.splice(page, "new")
    assert once == f"before\n{speed_page.BEGIN}\nnew\n{speed_page.END}\nafter\n"
    assert speed_page.splice(once, "new") == once


def test_a_page_without_markers_is_refused():
    """The error says which two lines are missing."""
    with pytest.raises(speed_page.MarkerError, match="benchmark table: begin"):
        speed_page.splice("no table here", "new")


@pytest.mark.parametrize(
    "seconds, text", [(12.345, "12.3 s"), (0.5, "500 ms"), (1.0, "1.00 s"), (0.000123, "123 us"), (123.4, "123 s")]
)
def test_times_are_written_with_three_figures(seconds, text):
    """Seconds become the unit in which they have three figures."""
    assert seconds_text(seconds) == text


def test_ratios_say_who_is_faster():
    """Faster and slower are told apart."""
    assert ratio_text(1.0, 3.0) == "3.00x faster"
    assert ratio_text(3.0, 1.0) == "3.00x slower"
