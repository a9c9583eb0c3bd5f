"""The random search that follows an iteration: how long it is, and whether it could say that nothing was missed."""

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.eigen.pairs import Probe
from gramian.eigen.ranking import LARGEST_FAILURE, chance_of_miss

SEARCH_STEPS = 7
"""Products, at least, of the random search that follows convergence."""

SEARCH_COLUMNS = 4
"""Gaussian columns, at most, of that search: four of them for seven products say as much as sixteen for five."""

STANDING_OUT = 2 / 3
"""Share by which a pair exceeds all beyond the wanted ones when the search is to be long enough to call it probable."""


def search_steps(m: int, columns: int) -> int:
    """Return the products of a random search from so many Gaussian columns.

    Enough that the chance of a miss, (1.648 sqrt(m) exp(-sqrt(e) (2 q - 1)))^columns, is within what is called probable
    at e = ``STANDING_OUT``. Further steps lower it by more than further columns do, which each pay for sqrt(m).

    Examples
    --------
    >>> [search_steps(50_000, columns) for columns in (1, 2, 4, 16)]
    [9, 7, 7, 7]
    """
    exponent = np.log(1.648 * np.sqrt(m)) - np.log(LARGEST_FAILURE) / columns
    return max(SEARCH_STEPS, int(np.ceil((exponent / np.sqrt(STANDING_OUT) + 1) / 2)))


def can_be_certain(values: HostArray, *, k: int, m: int, block: int) -> bool:
    """Tell whether a search could say that none of the ``k`` pairs was missed, if the spectrum is as it looks now.

    Parameters
    ----------
    values : numpy array
        Ritz values, descending; those beyond the k-th are what is known of the rest.
    k, m, block : int
        Pairs wanted, the operator's size, and the columns of a product.

    Examples
    --------
    >>> import numpy as np
    >>> [can_be_certain(np.array([9.0, v, 1.0]), k=2, m=4000, block=8) for v in (5.0, 1.01)]
    [True, False]
    """
    probe = Probe(columns := min(block, SEARCH_COLUMNS), search_steps(m, columns))
    following = float(values[k]) if len(values) > k else 0.0
    chance = chance_of_miss(values[k - 1 : k], following, probe, m)
    return bool(chance.max(initial=0.0) <= LARGEST_FAILURE)
