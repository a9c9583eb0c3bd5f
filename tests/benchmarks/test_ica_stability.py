"""The record of stability plants what it says, and judges by it."""

import numpy as np
import pytest

from benchmarks.ica_stability import CASES, LEAST_CLEAN, MOST_AMBIGUOUS, Case, fitted, planted


def test_cases_cover_every_kind_and_are_planted_as_named():
    """200 fits or more; a disk ends at its radius, Gaussian pairs do not."""
    assert len(set(CASES)) == len(CASES) >= 200
    S = planted(Case("uniform", 4, "disk", 0))
    assert S.shape == (20_000, 4)
    assert np.linalg.norm(S[:, -2:], axis=1).max() <= 1.0
    assert abs((planted(Case("uniform", 4, "two Gaussians", 0))[:, -2:] ** 4).mean() - 3.0) < 0.2


@pytest.mark.parametrize("pair", [None, "two Gaussians", "disk"])
def test_a_fit_is_sorted_into_clean_and_ambiguous_sources(pair):
    """Only a planted pair is judged as ambiguous."""
    found = fitted(Case("Laplace", 4, pair, 0))
    assert found.clean >= LEAST_CLEAN
    assert np.isnan(found.ambiguous) if pair is None else found.ambiguous <= MOST_AMBIGUOUS
