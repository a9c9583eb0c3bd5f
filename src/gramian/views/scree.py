"""How much of the variance each component holds, and where the cut falls."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.pca import PCAModel


@dataclass(frozen=True, slots=True)
class Scree:
    """Shares of the variance, one a component, with the number that is kept.

    Attributes
    ----------
    variances : (k,) array
        Variance along each component, largest first.
    shares : (k,) array
        The same divided by the total variance of the table, also where only some components were computed.
    cumulative : (k,) array
        Share held by a component and all before it.
    chosen : int
        How many components are kept; the cut falls behind the last of them.
    even_share : float
        What each component would hold if all directions were alike, 1/min(n - 1, d). A bar below it holds
        less than a round cloud would give it.
    """

    variances: np.ndarray
    shares: np.ndarray
    cumulative: np.ndarray
    chosen: int
    even_share: float

    @property
    def kept(self) -> float:
        """Share of the variance held by the components before the cut."""
        return float(self.cumulative[self.chosen - 1]) if self.chosen else 0.0


def scree_of(model: PCAModel, *, chosen: int | None = None) -> Scree:
    """Lay out the spectrum of a fitted model.

    Computes  shares_j = lam_j / total  and  cumulative_j = shares_1 + ... + shares_j.
    Cost: O(k); no pass over the rows.

    Parameters
    ----------
    model : PCAModel
        The fitted model.
    chosen : int, optional
        Where the cut falls; all components of the model unless told otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> model = fit_pca(as_source(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])))
    >>> scree_of(model, chosen=1).shares
    array([0.9, 0.1])
    """
    k = len(model.variances)
    chosen = k if chosen is None else chosen
    if not 0 <= chosen <= k:
        message = f"chosen={chosen} lies outside 0..{k}: the model has {k} components. Fit more of them first."
        raise ParameterError(message)
    shares = _host(model.shares)
    directions = max(1, min(model.n_rows - int(model.options.center), model.n_columns))
    return Scree(_host(model.variances), shares, np.cumsum(shares), chosen, 1.0 / directions)


def _host(values: Any) -> np.ndarray:
    """Small arrays as float64 on the host."""
    return np.asarray(values, dtype=np.float64)
