"""Peak memory beyond the input, each fit in a process of its own: within the bound, and never above the plan."""

from pathlib import Path

import pytest

from tests.memory.apart import measured_apart

PROGRAM = Path(__file__).with_name("peak.py")

CASES = {
    "tall": {"n": 200_000, "d": 60},
    "tall, float32": {"n": 300_000, "d": 60, "dtype": "float32"},
    "tall, few": {"n": 100_000, "d": 100, "options": {"n_components": 10}},
    "wide": {"n": 100, "d": 100_000, "options": {"n_components": 20}},
    "wide, float32": {"n": 150, "d": 100_000, "dtype": "float32", "options": {"n_components": 20}},
    "wide, all": {"n": 100, "d": 100_000},
    "wide, all, falling": {"n": 200, "d": 60_000},
    "wide, all, noise": {"n": 200, "d": 60_000, "falling": False},
    "wide, all, single": {"n": 400, "d": 30_000, "dtype": "float32"},
    "wide, all, low rank": {"n": 200, "d": 60_000, "rank": 20},
    "wide, all, steep": {"n": 200, "d": 60_000, "steep": True},
    "wide, all, large": {"n": 400, "d": 60_000, "falling": False},
    "wide, all, scaled": {"n": 200, "d": 60_000, "options": {"scale": True}},
    "wide, all, weighted": {"n": 200, "d": 60_000, "weighted": True},
    "wide, all, many": {"n": 2000, "d": 3000},
    "wide, all, many, single": {"n": 2000, "d": 6000, "dtype": "float32"},
    "wide, all, many, steep": {"n": 2000, "d": 6000, "steep": True},
    "wide, all, many, weighted": {"n": 600, "d": 9_000, "weighted": True},
    "wide, many": {"n": 2000, "d": 6000, "options": {"n_components": 1000}},
    "wide, share": {"n": 200, "d": 60_000, "options": {"n_components": 0.95}},
    "wide, share, noise": {"n": 200, "d": 60_000, "falling": False, "options": {"n_components": 0.5}},
    "wide, share, single": {"n": 400, "d": 30_000, "dtype": "float32", "options": {"n_components": 0.95}},
    "wide, share, low rank": {"n": 200, "d": 60_000, "rank": 20, "options": {"n_components": 0.95}},
    "wide, share, weighted": {"n": 200, "d": 60_000, "weighted": True, "options": {"n_components": 0.5}},
    "wide, auto": {"n": 200, "d": 60_000, "options": {"n_components": "auto"}},
    "wide, auto, noise": {"n": 200, "d": 60_000, "falling": False, "options": {"n_components": "auto"}},
    "wide, auto, low rank": {"n": 200, "d": 60_000, "rank": 20, "options": {"n_components": "auto"}},
    "wide, auto, weighted": {"n": 200, "d": 60_000, "weighted": True, "options": {"n_components": "auto"}},
    "wide, auto, repeated": {"n": 200, "d": 10_000, "weighted": True, "options": {"n_components": "auto"}},
    "wide, auto, steep": {"n": 200, "d": 60_000, "steep": True, "counted": 200, "options": {"n_components": "auto"}},
    "wide, auto, steep, single": {
        "n": 400,
        "d": 30_000,
        "steep": True,
        "counted": 400,
        "dtype": "float32",
        "options": {"n_components": "auto"},
    },
    "wide, auto, of rank 3": {"n": 10, "d": 400_000, "rank": 3, "options": {"n_components": "auto"}},
    "tall, auto": {"n": 200_000, "d": 60, "options": {"n_components": "auto"}},
    "tall, auto, noise": {"n": 200_000, "d": 60, "falling": False, "options": {"n_components": "auto"}},
    "tall, auto, single": {"n": 300_000, "d": 60, "dtype": "float32", "options": {"n_components": "auto"}},
    "tall, mle": {"n": 200_000, "d": 60, "options": {"n_components": "mle"}},
    "tall, weighted": {"n": 200_000, "d": 60, "weighted": True},
    "square, auto": {"n": 1200, "d": 1200, "options": {"n_components": "auto"}},
    "square, mle": {"n": 1200, "d": 1200, "options": {"n_components": "mle"}},
    "square, few": {"n": 1600, "d": 1600, "options": {"n_components": 20}},
    "square, noise": {"n": 3000, "d": 3000, "falling": False, "options": {"n_components": 20}},
    "square, noise, scaled": {"n": 2000, "d": 2000, "falling": False, "options": {"n_components": 20, "scale": True}},
    "square, all": {"n": 1000, "d": 1000},
    "square, all, large": {"n": 2000, "d": 2000},
    "square, all, steep": {"n": 2000, "d": 2000, "steep": True},
    "square, all, low rank": {"n": 2000, "d": 2000, "rank": 50},
    "share": {"n": 20_000, "d": 400, "options": {"n_components": 0.95}},
    "scaled": {"n": 100_000, "d": 60, "options": {"scale": True}},
    "square, few, in doubt": {"n": 2000, "d": 2000, "rank": 10, "options": {"n_components": 100}},
    "wide, few, in doubt": {"n": 2000, "d": 6000, "rank": 10, "options": {"n_components": 100}},
    "square, mle, low rank": {"n": 2500, "d": 2500, "rank": 50, "options": {"n_components": "mle"}},
    "sparse": {"n": 100_000, "d": 2_000, "density": 0.01, "options": {"n_components": 10}},
    "sparse, single": {"n": 100_000, "d": 2_000, "density": 0.01, "dtype": "float32", "options": {"n_components": 10}},
    "sparse, wide": {"n": 2_000, "d": 100_000, "density": 0.01, "options": {"n_components": 10}},
}

QUICK = {
    *("tall", "wide, all", "wide, many", "wide, auto", "tall, auto", "square, all, low rank", "sparse"),
    "square, few",
}
"""Cases of every way that a fit can go; the sweep over the others is slow."""

NAMES = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CASES]

# Columns beside k that are allowed for: scikit-learn's own n_oversamples.
OVERSAMPLE = 10

# LAPACK's divide and conquer holds the matrix, its vectors and two more of workspace; one is kept to check against.
MATRICES = 5

# Matrices, and float32 components in float64, for a repair of lost digits: whether it is needed only the rows tell.
SPARE = {
    "wide, all, many": 16 * 2000**2,
    "wide, all, many, single": 16 * 2000**2 + 4 * 6000 * 2000,
    "wide, all, many, steep": 16 * 2000**2,
}

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of one fit can be read on Linux alone"
)


@pytest.fixture(scope="module", params=NAMES)
def name(request):
    """The case; tests of one case follow each other, so that it is measured once."""
    return request.param


@pytest.fixture(scope="module")
def measured(name):
    """What the fit of the case took."""
    return measured_apart(PROGRAM, CASES[name])


def allowed(case, measured):
    """10% of the input + 64 MB + the small matrices + 4 (n + d)(k + p) numbers.

    Where "auto" keeps fewer components than parallel analysis counts, it has looked at those ``counted``.
    """
    n, d, k = case["n"], case["d"], max(measured["k"], case.get("counted", 0))
    m = min(n, d)
    return 0.1 * measured["input"] + 64e6 + 8 * MATRICES * m * m + 8 * 4 * (n + d) * (k + OVERSAMPLE)


def test_peak_is_within_the_bound(name, measured):
    """Every default path stays within the stated bound beyond its input."""
    bound = allowed(CASES[name], measured)
    assert measured["used"] <= bound, f"used {measured['used'] / 1e6:.0f} MB, allowed {bound / 1e6:.0f} MB: {measured}"


def test_the_plan_is_never_under(measured):
    """The planned peak is at least what was used."""
    assert measured["used"] <= measured["planned"], (
        f"used {measured['used'] / 1e6:.0f} MB, planned {measured['planned'] / 1e6:.0f} MB"
    )


@pytest.mark.slow
@pytest.mark.parametrize("kept", ["wide, many", "square, all, low rank", "wide, few, in doubt"])
def test_the_plan_is_never_under_by_default(kept):
    """Nor where malloc is left to itself, but for the 64 MB that it may keep of what was given back."""
    measured = measured_apart(PROGRAM, CASES[kept], returns_memory=False)
    assert measured["used"] <= measured["planned"] + 2 * 32 * 2**20, measured


def test_the_plan_is_not_far_over(name, measured):
    """For needs over 200 MB the plan is within 25% above what was used, but for repairs that were not needed."""
    if measured["planned"] > 200e6:
        assert measured["planned"] <= 1.25 * max(measured["used"], 200e6) + SPARE.get(name, 0), (
            f"used {measured['used'] / 1e6:.0f} MB, planned {measured['planned'] / 1e6:.0f} MB"
        )
