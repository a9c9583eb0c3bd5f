"""What sums of squares are divided by, W - ddof: refused where nothing of it is left."""

from typing import Any

from gramian.errors import InputError


def check_divisor(n_rows: int, ddof: int, *, weights: Any = None) -> None:
    """Refuse rows, or weights, that leave nothing to divide by."""
    if weights is None:
        require_divisor(n_rows, ddof, weight=n_rows)
    else:
        require_divisor(int((weights > 0).sum()), ddof, weight=float(weights.sum()))


def require_divisor(n_rows: int, ddof: int, *, weight: float) -> None:
    """Refuse a sum of weights up to ddof; one row that counts is its own mean, with no variance."""
    if weight > ddof or (n_rows == 1 and ddof == 1):
        return
    if weight == n_rows:
        rows = "There is 1 row" if n_rows == 1 else f"There are {n_rows} rows"
        message = (
            f"{rows} and ddof={ddof}, so variances have nothing to be divided by. "
            f"Pass more than {ddof} rows, or a ddof below {n_rows}."
        )
    else:
        message = (
            f"sample_weight sums to {weight:g} and ddof={ddof}, so variances have nothing to be divided by. "
            "A weight is a number of repetitions: multiply them, or pass ddof=0."
        )
    raise InputError(message)
