"""How large the largest variance of pure noise is.

For n independent rows of Gaussian noise with column variances tau_1..tau_d, the largest eigenvalue of their
covariance lies at an edge mu and moves around it by sigma n^(-2/3) times a Tracy-Widom variable (El Karoui,
2007, doi:10.1214/009117906000000917). Both numbers come from one equation in one unknown, so a null model for
any table costs a few sums over its column variances, and no draws.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import gammaincinv

from gramian.choosing.spectrum import Values

TRACY_WIDOM_MEAN = -1.2065336
TRACY_WIDOM_SPREAD = 1.2680340

EXACT_COLUMNS = 64
GROUPS = 192
"""Beyond 64 + 192 columns, the noisiest 64 count one by one and the rest in groups of equal size."""


@dataclass(frozen=True)
class NoiseEdge:
    """Center and scale of the largest variance of pure noise.

    ``edge`` is mu and ``scale`` is sigma n^(-2/3): the largest variance is  edge + scale * Tracy-Widom.
    """

    edge: float
    scale: float

    @property
    def mean(self) -> float:
        """Expected largest variance of noise."""
        return self.edge + TRACY_WIDOM_MEAN * self.scale

    @property
    def spread(self) -> float:
        """Standard deviation of the largest variance of noise."""
        return TRACY_WIDOM_SPREAD * self.scale


def noise_edge(column_variances: Values, degrees: float, *, multiplicity: Values | None = None) -> NoiseEdge:
    """Locate the largest variance of Gaussian noise with these column variances.

    Computes c in (0, 1 / max tau) with  (1/n) sum w (tau c / (1 - tau c))^2 = 1,  then
    mu = (1 + (1/n) sum w tau c / (1 - tau c)) / c  and
    sigma^3 = (1 + (1/n) sum w (tau c / (1 - tau c))^3) / c^3.
    Equal variances give the Marchenko-Pastur edge  tau (1 + sqrt(d / n))^2.

    Cost: O(d) with a sort; the equation is solved on at most 256 numbers.

    Parameters
    ----------
    column_variances : numpy array (d,)
    degrees : float
        n, the degrees of freedom.
    multiplicity : numpy array (d,), optional
        w, how many columns each entry stands for; one unless told.

    Examples
    --------
    >>> import numpy as np
    >>> round(noise_edge(np.ones(100), 400.0).edge, 6)
    2.25
    """
    tau, weight = _grouped(column_variances, multiplicity)
    top = float(tau.max(initial=0.0))
    if top == 0.0:
        return NoiseEdge(0.0, 0.0)
    tau = tau / top
    # The noisiest column alone, and all columns as noisy as it, bound the root from both sides.
    high = 1.0 / (1.0 + (max(float(weight[tau.argmax()]), 1e-12) / degrees) ** 0.5)
    low = 1.0 / (1.0 + (float(weight.sum()) / degrees) ** 0.5)

    def excess(c: float) -> float:
        x = tau * c / (1.0 - tau * c)
        return float(weight @ (x * x)) / degrees - 1.0

    c = float(brentq(excess, low * (1.0 - 1e-9), high + (1.0 - high) * 1e-9, rtol=1e-10))
    x = tau * c / (1.0 - tau * c)
    edge = (1.0 + float(weight @ x) / degrees) / c
    scale = (1.0 + float(weight @ x**3) / degrees) ** (1.0 / 3.0) / c * degrees ** (-2.0 / 3.0)
    return NoiseEdge(top * edge, top * scale)


def tracy_widom_quantile(level: float) -> float:
    """Return a quantile of the Tracy-Widom law of real matrices.

    Computes the quantile of the shifted gamma law with the same three moments: shape 46.446, scale 0.186054,
    shift -9.84801 (Chiani, 2014, doi:10.1016/j.jmva.2014.04.002); good to 0.01 between 1% and 99.9%.

    Examples
    --------
    >>> round(tracy_widom_quantile(0.95), 1)
    1.0
    """
    return float(gammaincinv(46.446, level)) * 0.186054 - 9.84801


def _grouped(tau: Values, multiplicity: Values | None) -> tuple[Values, Values]:
    weight = np.ones(len(tau)) if multiplicity is None else multiplicity
    keep = (tau > 0.0) & (weight > 0.0)
    tau, weight = tau[keep], weight[keep]
    if len(tau) <= EXACT_COLUMNS + GROUPS:
        return tau, weight
    order = np.argsort(-tau)
    starts = np.unique(
        np.concatenate([np.arange(EXACT_COLUMNS), np.linspace(EXACT_COLUMNS, len(tau), GROUPS + 1)[:-1].astype(int)])
    )
    weights = np.add.reduceat(weight[order], starts)
    return np.add.reduceat((weight * tau)[order], starts) / weights, weights
