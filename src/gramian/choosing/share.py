"""A share of variance: the fewest components that hold more than it."""

from typing import Any

import numpy as np

from gramian.choosing.spectrum import NOTHING, Verdict, counted
from gramian.errors import ParameterError


def choose_by_share(variances: Any, share: float, *, total_variance: float | None = None) -> int:
    """Return the smallest k whose first k variances hold more than ``share`` of the total.

    Computes  k = 1 + #{j : (lam_1 + ... + lam_j) / total <= share},  which is scikit-learn's meaning of
    ``n_components=0.95``: a sum that only equals the share asks for one component more.

    Cost: O(m); no rows are read, so it works for sparse rows and for every solver.
    Not the rule to use when the question is how many components are more than noise: adding columns of noise
    raises its answer. See :func:`gramian.choosing.choose_automatically`.

    Parameters
    ----------
    variances : array (m,)
        Largest first; the leading ones are enough if they reach the share.
    share : float
        Between 0 and 1, both excluded.
    total_variance : float, optional
        Sum over all directions; by default the sum of ``variances``.

    Raises
    ------
    ParameterError
        The share is outside its limits, or the variances given do not reach it.

    Examples
    --------
    >>> choose_by_share([6.0, 3.0, 0.5, 0.5], 0.9)
    3
    >>> choose_by_share([6.0, 3.0], 0.85, total_variance=10.0)
    2
    """
    if not 0.0 < share < 1.0:
        message = f"A share of variance lies between 0 and 1, and {share:g} does not. Pass, for example, 0.95."
        raise ParameterError(message)
    cumulative = _cumulative_shares(variances, total_variance)
    k = int(np.searchsorted(cumulative, share, side="right")) + 1
    if k > len(cumulative) and 1.0 - cumulative[-1] > NOTHING:
        message = (
            f"The {counted(len(cumulative), 'variance')} given hold {cumulative[-1]:.4%} of the total, "
            f"which does not pass {share:.4%}. Compute more components."
        )
        raise ParameterError(message)
    return min(k, len(cumulative))


def share_of_variance(
    variances: Any,
    *,
    n_rows: float | None = None,
    n_columns: int | None = None,
    total_variance: float | None = None,
    share: float = 0.95,
) -> Verdict:
    """Say how many components hold more than ``share`` of the variance.

    The same as :func:`choose_by_share`, as a verdict; the shape is taken for the sake of one signature for
    all rules, and is not needed.

    Examples
    --------
    >>> print(share_of_variance([6.0, 3.0, 0.5, 0.5], share=0.8))
    share: 2. The first 2 components hold 90.0% of the variance, the first to pass 80%.
    """
    del n_rows, n_columns
    k = choose_by_share(variances, share, total_variance=total_variance)
    held = float(_cumulative_shares(variances, total_variance)[k - 1])
    words = "The first component holds" if k == 1 else f"The first {k} components hold"
    reason = f"{words} {held:.1%} of the variance, the first to pass {100 * share:g}%."
    return Verdict("share", k, reason, {"share": share, "held": held})


def _cumulative_shares(variances: Any, total_variance: float | None) -> np.ndarray[Any, np.dtype[np.float64]]:
    values = np.array(variances, dtype=np.float64).ravel()
    if values.size == 0:
        message = "No variances were given. Pass at least the largest one."
        raise ParameterError(message)
    total = float(values.sum()) if total_variance is None else float(total_variance)
    if total == 0.0:
        # Nothing varies: the first component holds all there is.
        return np.ones(values.size)
    if not np.isfinite(total):
        message = "The variances are not finite. Only ratios matter here: pass shares of the total instead."
        raise ParameterError(message)
    return np.cumsum(values / total)
