"""What every rule says about the number of components of a table: one call."""

from typing import Any

from gramian.choosing.panel import Panel
from gramian.models.pca.fit import solve_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source


def how_many(X: Any, *, share: float = 0.95, center: bool = True, scale: bool = False, seed: int = 0) -> Panel:
    """Ask every rule how many principal components a table has.

    Solves for all components, or for the leading 64 where the smaller side is above 6,000, and puts their answers side
    by side: the automatic choice, parallel analysis, Minka's, Gavish and Donoho's, the broken stick, generalized and
    row-wise cross-validation, and the share of variance. ``PCA(n_components="auto")`` keeps what the first line says.

    Cost: that of a fit of all components, and about a second for the rules that read rows.

    Parameters
    ----------
    X : anything that ``PCA.fit`` takes
    share : float, default=0.95
        What the rule of the share asks for.
    center, scale : bool
        As for :class:`~gramian.estimators.PCA`.
    seed : int, default=0
        Of the draws that some rules make.

    Returns
    -------
    Panel
        Prints as a table; ``panel.n_components`` is the automatic choice, ``panel["minka"]`` what one rule answers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2)) @ (5 * rng.standard_normal((2, 8))) + rng.standard_normal((300, 8))
    >>> panel = how_many(X)
    >>> panel.n_components, panel["minka"].n_components
    (2, 2)
    """
    options = PCAOptions(n_components="auto", center=center, scale=scale, seed=seed)
    return solve_pca(as_source(X), options).panel(share=share)
