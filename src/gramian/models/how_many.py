"""How many components a fit keeps: what was asked for, or what a rule says of the measured spectrum."""

from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.choosing.auto import choose_automatically
from gramian.choosing.minka import choose_by_minka
from gramian.choosing.share import choose_by_share
from gramian.errors import ParameterError
from gramian.models.decomposition import Rows
from gramian.models.spectrum import Spectrum


class Choice(NamedTuple):
    """A number of components, the reason in words, and whether more of the spectrum should be seen first."""

    k: int
    reason: str = ""
    exhausted: bool = False


def requested(n_components: Any, size: int) -> int | None:
    """Return how many components are asked for; ``None`` when the spectrum must be seen first.

    Examples
    --------
    >>> requested(None, 7), requested(3, 7), requested(0.95, 7)
    (7, 3, None)
    """
    if n_components is None:
        return size
    if n_components in {"mle", "auto"} or (isinstance(n_components, float) and 0 < n_components < 1):
        return None
    if isinstance(n_components, str) or not 0 <= n_components <= size or int(n_components) != n_components:
        message = (
            f"n_components={n_components!r} is not a number of components between 0 and "
            f"min(n_samples, n_features)={size}. Pass an integer up to {size}, a share such as 0.95, 'mle', 'auto', or "
            "None for all."
        )
        raise ParameterError(message)
    return int(n_components)


def choose(rule: Any, spectrum: Spectrum, rows: Rows, components: HostArray, *, seed: int) -> Choice:
    """Return what a rule (a share, "mle" or "auto") says of a spectrum, whole or leading part."""
    squares, total = spectrum.squares[: spectrum.size], spectrum.total
    n, d = rows.moments.weight, len(rows.moments.mean)
    if total <= 0:
        return Choice(min(1, len(squares)), "Nothing varies.")
    if rule == "mle":
        k = choose_by_minka(squares, n_rows=n, n_columns=d, total_variance=total)
        return Choice(k, "It has the greatest evidence (Minka).")
    if rule == "auto":
        return _automatic(squares, total, rows, components, seed)
    share = float(rule)
    partial = len(squares) < spectrum.size and float(squares.sum()) <= share * total
    if partial:
        return Choice(len(squares), exhausted=True)
    return Choice(
        choose_by_share(squares, share, total_variance=total), f"It holds more than {share:.4g} of the variance."
    )


def _automatic(squares: HostArray, total: float, rows: Rows, components: HostArray, seed: int) -> Choice:
    verdict = choose_automatically(
        squares,
        rows.source,
        n_rows=rows.moments.weight,
        n_columns=len(rows.moments.mean),
        total_variance=total,
        column_variances=rows.standardized_squares,
        components=np.asarray(components),
        mean=rows.standardization.mean,
        factor=rows.standardization.factor,
        seed=seed,
    )
    return Choice(verdict.n_components, verdict.reason, bool(verdict.detail.get("exhausted", False)))
