"""How far groups of rows lie apart along one direction."""

from collections.abc import Sequence

import numpy as np


def between_share(values: np.ndarray, labels: Sequence[object] | np.ndarray) -> float:
    """Share of the spread of some values that lies between groups rather than inside them.

    Computes  eta^2 = sum_g n_g (mean_g - mean)^2 / sum_i (values_i - mean)^2:  one when every group is a
    single point, near zero when the groups cover each other.

    Cost: O(n). It measures distance between means only; two groups that share a mean but differ in spread
    are not told apart by it.

    Parameters
    ----------
    values : (n,) array
        For example the scores of one component.
    labels : sequence of n labels
        The group of each value.

    Examples
    --------
    >>> between_share(np.array([0.0, 0.0, 1.0, 1.0]), ["a", "a", "b", "b"])
    1.0
    """
    deviations = np.asarray(values, dtype=np.float64) - np.mean(values)
    total = float(deviations @ deviations)
    if total == 0.0:
        return 0.0
    _, group = np.unique(np.asarray(labels), return_inverse=True)
    counts = np.bincount(group)
    means = np.bincount(group, weights=deviations) / counts
    return min(1.0, float(counts @ means**2) / total)
