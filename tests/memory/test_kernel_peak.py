"""Exact kernel PCA is what it says: every pair of rows in every product, and no n x n matrix in memory."""

from pathlib import Path

import pytest

from tests.memory.apart import measured_apart

PROGRAM = Path(__file__).with_name("kernel_peak.py")

CASES = {
    "counted": {"n": 10_000, "d": 5, "counted": True, "options": {"way": "tiled"}},
    "tiled": {"n": 10_000, "d": 20, "options": {"way": "tiled"}},
    "stored": {"n": 4_000, "d": 20, "options": {"way": "stored"}},
    "dense": {"n": 1_200, "d": 20, "options": {"way": "dense"}},
    "budget": {"n": 10_000, "d": 20, "options": {"memory_budget": 80_000_000}},
    "budget, small": {"n": 5_000, "d": 20, "options": {"memory_budget": 60_000_000}},
}

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="the peak of one fit can be read on Linux alone"
)


@pytest.fixture(scope="module", params=CASES)
def name(request):
    """The case; tests of one case follow each other, so that it is measured once."""
    return request.param


@pytest.fixture(scope="module")
def measured(name):
    """What the fit of the case took."""
    return measured_apart(PROGRAM, CASES[name])


@pytest.mark.parametrize("name", ["counted"], scope="module", indirect=True)
def test_every_pair_is_evaluated_in_every_product_and_the_matrix_is_never_there(measured):
    """A counting kernel sees n (n + 1) / 2 values a product, at a tenth of the memory of n^2 numbers."""
    n = CASES["counted"]["n"]
    assert measured["products"] >= 2
    assert measured["values"] >= measured["products"] * n * (n + 1) / 2
    assert measured["used"] <= 0.1 * 8 * n * n


def test_the_plan_is_never_under(measured):
    """The planned peak is at least what was used."""
    assert measured["used"] <= measured["planned"], measured


@pytest.mark.parametrize("name", ["budget", "budget, small"], scope="module", indirect=True)
def test_a_budget_is_kept(name, measured):
    """With a tenth of the matrix, 5,000 rows are not stored either, and the work stays within the budget."""
    assert measured["way"] == "tiled"
    assert measured["used"] <= CASES[name]["options"]["memory_budget"]
