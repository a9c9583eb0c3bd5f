"""ICA takes at most one copy of the rows beyond the rows, its report included."""

from pathlib import Path

import pytest

from tests.catalog import slowly
from tests.memory.apart import measured_apart

PROGRAM = Path(__file__).with_name("ica_peak.py")

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of one fit can be read on Linux alone"
)


@pytest.mark.parametrize(
    "n, d, options",
    [
        (100_000, 10, {}),
        (30_500, 32, {}),
        (150_000, 20, {"n_components": 4, "independence": False, "tol": 1e-2}),
        *slowly(
            (200_000, 20, {}),
            (200_000, 30, {}),
            (150_000, 20, {"algorithm": "parallel", "independence": False}),
            (150_000, 20, {"algorithm": "infomax", "independence": False, "tol": 1e-4}),
        ),
    ],
)
def test_peak_is_at_most_one_copy_of_the_rows(n, d, options):
    """Held in float32, white rows are half a copy; a sample for the report is no more; few sources take less."""
    measured = measured_apart(PROGRAM, {"n": n, "d": d, "options": options})
    assert measured["used"] <= measured["input"]
