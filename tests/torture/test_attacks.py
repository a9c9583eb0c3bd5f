"""A few attacks of each family on every run; ``make torture`` makes new ones for as long as it is given."""

import ctypes
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from torture import board, certificates, soak, traps
from torture.catalog import FAMILIES
from torture.family import Broken, Family

FEW = {"certificates": 60, "traps": 0, "faults": 9, "fuzzing": 5, "threads": 5}
"""Attacks of each family here; of the traps those on new rows and kernels, which few other tests have."""


@pytest.mark.parametrize("name", [name for name in FAMILIES if FEW[name]])
def test_promises_hold(name):
    """The first attacks of every family find nothing."""
    chunk = board.make(name, 0, FEW[name])
    assert chunk.tried == FEW[name]
    assert not chunk.failures
    assert not FAMILIES[name].verdict(chunk.sums)


@pytest.mark.parametrize("kind", ["scores of new rows", "kernel", "batches", "whitened"])
def test_numbers_are_right_in_traps(kind):
    """A part of the traps, those of one kind."""
    numbers = [i for i, trap in enumerate(traps.traps()) if kind in trap.name][::2]
    assert len(numbers) >= 5
    assert not [words for i in numbers for words in board.make("traps", i, 1).failures.values()]


def test_there_are_traps_enough_and_each_has_a_name():
    """At least 150 traps are there, no two of one name, and scikit-learn is asked most of them."""
    names = [trap.name for trap in traps.traps()]
    assert len(names) == len(set(names)) >= 150
    assert sum(trap.shared for trap in traps.traps()) > 100


def test_a_bound_that_is_too_small_is_noticed(monkeypatch):
    """Certificates whose bounds are a thousandth of what they are break the promise."""

    def shrunk(*arguments, **options):
        made = certify(*arguments, **options)
        return replace(made, bounds=made.bounds / 1000, rounding=0.0)

    certify = certificates.certify
    monkeypatch.setattr(certificates, "certify", shrunk)
    assert board.make("certificates", 0, 120).failures


def test_probable_lines_that_fail_too_often_are_noticed():
    """The verdict of a family looks at all of its attacks together."""
    sums = {"probable lines": 1000.0, "chances of failing": 0.5}
    assert not certificates.verdict({**sums, "probable lines that failed": 1.0})
    assert "9 probable lines failed" in certificates.verdict({**sums, "probable lines that failed": 9.0})


def test_the_scoreboard_counts_and_says_which_attack_failed():
    """A failure is kept by its number, takes one from those passed, and makes the run fail."""

    def attack(number):
        if number == 3:
            message = "three"
            raise Broken(message)
        return {"asked of scikit-learn": 1.0, "right in scikit-learn": float(number % 2)}

    FAMILIES["made up"] = Family("made up", "all is well", 10, attack)
    try:
        chunk = board.make("made up", 0, 5)
    finally:
        made_up = FAMILIES.pop("made up")
    assert list(chunk.failures) == ["3"]
    assert "three" in chunk.failures["3"]
    score = board.Score(chunk.tried, chunk.seconds, chunk.sums, chunk.failures)
    table, held = board.scoreboard({"made up": made_up}, {"made up": score})
    assert not held
    assert "4 /         5" in table
    assert "scikit-learn passes 1 of the 4" in table


@pytest.mark.filterwarnings("ignore:.*Gaussian")
def test_a_soak_makes_rounds_and_its_rule_notices_growth(tmp_path):
    """A round runs; flat readings hold, and growth of memory by 3%, by a thread or by an open file does not."""
    rng = np.random.default_rng(0)
    (reading,) = soak.soak(0.0, lambda: soak.one_round(rng, tmp_path))
    flat = [reading._replace(minute=float(minute)) for minute in range(61)]
    assert soak.verdict(flat)[1]
    for grown in (
        {"in_use": int(1.03 * reading.in_use)},
        {"resident": int(1.03 * reading.resident)},
        {"threads": reading.threads + 1},
        {"files": reading.files + 1},
    ):
        words, held = soak.verdict([r._replace(**grown) if r.minute > 30 else r for r in flat])
        assert not held
        assert "GROWN" in words


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="the C library does not say what is in use")
def test_memory_in_use_is_what_was_asked_for_and_not_given_back():
    """Four megabytes in small pieces are in use to a twentieth, and those that were freed are not."""
    before, _ = soak.memory_held()
    kept = [bytearray(2_000) for _ in range(2_000)]
    during, _ = soak.memory_held()
    assert during - before == pytest.approx(4e6, rel=0.05)
    del kept[::2]
    after, _ = soak.memory_held()
    assert after - before == pytest.approx(2e6, rel=0.05)


LEAKY = """
import gc, time
from torture import soak
gc.freeze()  # rounds are short then
began, kept, pieces = time.monotonic(), [], LEAKS * 3_000  # a second, too small to get pages of their own
def one_round(rng, folder):
    while len(kept) < pieces * (time.monotonic() - began):
        kept.append(bytes(508))
    time.sleep(0.005)
soak.one_round = one_round
raise SystemExit(soak.main())
"""


@pytest.mark.parametrize("leaks, said, code", [(0, "flat", 0), (1, "GROWN", 1)])
def test_a_soak_notices_a_leak_of_a_few_megabytes(leaks, said, code):
    """Rounds that keep five megabytes in three seconds fail the rule, and those that keep nothing hold it."""
    script = LEAKY.replace("LEAKS", str(leaks))
    command = [sys.executable, "-c", script, "--minutes", "0.05"]
    done = subprocess.run(command, env=os.environ | soak.ALL_BY_MALLOC, capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stdout) == (code, True), done.stdout + done.stderr
    assert "in use" in done.stdout
