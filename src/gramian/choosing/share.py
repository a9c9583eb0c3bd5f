"""Rules that read shares of variance: the fewest that hold enough of it, and those above a broken stick's pieces."""

from typing import Any

import numpy as np

from gramian.choosing.spectrum import NOTHING, Values, Verdict, counted, read_spectrum
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


def broken_stick(variances: Any, *, n_rows: float, n_columns: int, total_variance: float | None = None) -> Verdict:
    """Keep components while each holds more than the matching piece of a stick broken at random.

    Computes  k = the first j with  lam_{j+1} / total <= b_{j+1},  b_j = (1/p) sum_{i=j}^p 1/i,  over the
    p = min(n - 1, d) directions (Frontier, 1976; Jackson, 1993, doi:10.2307/1939574).

    Cost: O(p). Leading variances and the total are enough.
    Not for many components of similar size, nor for weak ones after a strong one: the stick asks much of the
    first pieces, and knows nothing of the number of rows.

    Examples
    --------
    >>> print(broken_stick([7.0, 2.5, 0.3, 0.2], n_rows=50, n_columns=4))
    broken stick: 1. Component 2 holds 25.00%, and a stick broken at random gives 27.08%.
    """
    spectrum = read_spectrum(variances, n_rows=n_rows, n_columns=n_columns, total_variance=total_variance)
    if spectrum.total_variance == 0.0:
        return Verdict("broken stick", 0, "Nothing varies.")
    pieces = stick_pieces(spectrum.directions)
    shares = spectrum.values[: len(pieces)] / spectrum.total_variance
    above = shares > pieces[: len(shares)]
    k = len(shares) if above.all() else int(np.argmin(above))
    if k == len(shares):
        reason = f"All {counted(k)} given hold more than a stick broken at random gives them."
    else:
        reason = f"Component {k + 1} holds {shares[k]:.2%}, and a stick broken at random gives {pieces[k]:.2%}."
    return Verdict("broken stick", k, reason, {"pieces": pieces, "exhausted": k == len(shares) < len(pieces)})


def stick_pieces(p: int) -> Values:
    """Return the expected sizes of the p pieces of a stick broken at random, largest first.

    Examples
    --------
    >>> stick_pieces(2)
    array([0.75, 0.25])
    """
    return np.cumsum(1.0 / np.arange(p, 0, -1))[::-1] / p
