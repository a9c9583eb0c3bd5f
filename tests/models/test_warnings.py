"""Warnings of linear models point at the line of the user, however deep in the library they arise (issue 16)."""

import numpy as np
import pytest

from gramian import PCA, ProbabilisticPCA
from gramian.errors import ConvergenceWarning, PrecisionWarning
from gramian.testing import rows_with_spectrum


def _not_converged():
    X, _ = rows_with_spectrum(60, 8, values=np.linspace(1.0001, 1.0, 8), seed=0)
    PCA(2, svd_solver="power", tol=1e-15).fit(X)


def _out_of_range():
    PCA(2).fit(1e200 * np.random.default_rng(0).standard_normal((60, 8)))


def _left_out_by_batches():
    X = np.random.default_rng(0).standard_normal((60, 50))
    PCA(2, memory_budget=30_000).partial_fit(X[:30]).partial_fit(X[30:]).explained_variance_  # noqa: B018


def _with_missing():
    X = np.random.default_rng(0).standard_normal((60, 8))
    X[::3, ::2] = np.nan
    return X


def _evidence_still_rises():
    ProbabilisticPCA(2, max_iter=1).fit(_with_missing())


@pytest.mark.parametrize(
    "call, kind, words",
    [
        (_not_converged, ConvergenceWarning, "pairs converged"),
        (_out_of_range, PrecisionWarning, "cannot be held in float64"),
        (_left_out_by_batches, PrecisionWarning, "kept between batches"),
        (_evidence_still_rises, ConvergenceWarning, "evidence still rises"),
    ],
)
def test_a_warning_points_at_the_line_of_the_user(call, kind, words):
    """The file of each warning is that of the call, so that a person finds it and a filter by module works."""
    with pytest.warns(kind, match=words) as caught:
        call()
    assert {warning.filename for warning in caught if words in str(warning.message)} == {__file__}
