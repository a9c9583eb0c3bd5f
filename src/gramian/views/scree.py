"""How much of the variance each component holds, what noise alone would hold, and where the cut falls."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.choosing import Panel
from gramian.errors import ParameterError
from gramian.models.ica import ICAModel
from gramian.views.fitted import model_of, shares_of, variances_of


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
    noise : (m,) array
        Share that noise alone reaches in place of the first components, 95 times of 100, by parallel analysis; empty
        where it was not asked.
    """

    variances: np.ndarray
    shares: np.ndarray
    cumulative: np.ndarray
    chosen: int
    even_share: float
    noise: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def kept(self) -> float:
        """Share of the variance held by the components before the cut."""
        return float(self.cumulative[self.chosen - 1]) if self.chosen else 0.0


def scree_of(fitted: Any, *, chosen: int | None = None, choice: Panel | None = None) -> Scree:
    """Lay out the spectrum of a fitted model.

    Computes  shares_j = lam_j / total  and  cumulative_j = shares_1 + ... + shares_j.
    Cost: O(k); no pass over the rows.

    Parameters
    ----------
    fitted : PCAModel, KernelPCAModel or ICAModel, or an estimator
        The fitted model.
    chosen : int, optional
        Where the cut falls; what `choice` says, or all components of the model, unless told otherwise.
    choice : Panel, optional
        What each rule says, from ``gramian.how_many``: gives the cut and the noise of parallel analysis.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> model = fit_pca(as_source(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])))
    >>> scree_of(model, chosen=1).shares
    array([0.9, 0.1])
    """
    model = model_of(fitted)
    shares = shares_of(model)
    k = len(shares)
    if chosen is None:
        chosen = k if choice is None else min(choice.n_components, k)
    if not 0 <= chosen <= k:
        message = f"chosen={chosen} lies outside 0..{k}: the model has {k} components. Fit more of them first."
        raise ParameterError(message)
    centered = not isinstance(model, ICAModel) and model.options.center
    directions = max(1, min(model.n_rows - int(centered), model.n_columns))
    noise = np.zeros(0) if choice is None else _noise_of(choice)[:k]
    return Scree(variances_of(model), shares, np.cumsum(shares), chosen, 1.0 / directions, noise)


def _noise_of(choice: Panel) -> np.ndarray:
    """What parallel analysis held each component against, as shares of the variance."""
    found = [verdict.detail for verdict in choice.verdicts if verdict.rule == "parallel analysis"]
    total = found[0].get("total_variance", 0.0) if found else 0.0
    return np.asarray(found[0]["thresholds"], dtype=np.float64) / total if total else np.zeros(0)
