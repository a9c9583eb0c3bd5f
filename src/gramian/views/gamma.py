"""What kernels of different widths lose of held-out rows, beside rows without structure."""

from dataclasses import dataclass

import numpy as np

from gramian.models.gamma_choice import GammaChoice


@dataclass(frozen=True, slots=True)
class GammaCurve:
    """Shares of held-out variance that are lost, by gamma.

    Attributes
    ----------
    gammas : (g,) array
        Increasing.
    lost : (g,) array
        Share that the components leave of the rows.
    lost_by_chance : (g,) array
        Share that they leave of rows without structure.
    errors : (g,) array
        Standard error of the difference of the two.
    chosen : int
        Position of the gamma with the largest difference.
    found : bool
        Whether that difference is more than chance.
    median_gamma : float or None
        What the median distance suggests.
    n_components : int
    """

    gammas: np.ndarray
    lost: np.ndarray
    lost_by_chance: np.ndarray
    errors: np.ndarray
    chosen: int
    found: bool
    median_gamma: float | None
    n_components: int


def gamma_curve(choice: GammaChoice) -> GammaCurve:
    """Lay out the curve of a choice of gamma.

    Examples
    --------
    >>> from gramian import choose_gamma
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> gamma_curve(choose_gamma(X, [0.1, 1.0], n_components=2, repeats=2)).gammas
    array([0.1, 1. ])
    """
    return GammaCurve(
        gammas=choice.gammas,
        lost=np.array([score.lost for score in choice.scores]),
        lost_by_chance=np.array([score.lost_by_chance for score in choice.scores]),
        errors=np.array([score.gain_error for score in choice.scores]),
        chosen=int(np.flatnonzero(choice.gammas == choice.gamma)[0]),
        found=choice.found,
        median_gamma=choice.median_gamma,
        n_components=choice.best.n_components,
    )
