"""The broken stick: components that hold more than a random cut of the variance would give them."""

from typing import Any

import numpy as np

from gramian.choosing.spectrum import Values, Verdict, counted, read_spectrum


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
