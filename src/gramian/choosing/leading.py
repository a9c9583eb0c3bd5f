"""Leading components that are found when a rule first looks at them."""

from collections.abc import Callable
from typing import Any

import numpy as np

from gramian.choosing.spectrum import Values

AT_A_TIME = 16
"""Components found at a time."""


class LeadingComponents:
    """The rows of an array (k, d) of components, found a few at a time from the first on.

    A rule looks a little beyond the components that it keeps. In a wide table each is a row of d numbers, and all of
    them are as large as the table. They are kept in float32: rules add up their squares.

    Cost: a call of ``found`` for 16 of them.

    Parameters
    ----------
    found : callable
        Returns the components of a slice as rows.
    shape : tuple of int
        (k, d).

    Examples
    --------
    >>> import numpy as np
    >>> asked = []
    >>> rows = LeadingComponents(lambda some: (asked.append(some), np.eye(100)[some])[1], (100, 100))
    >>> len(rows), rows[3][3], rows[:20].shape, asked
    (100, np.float32(1.0), (20, 100), [slice(0, 16, None), slice(16, 32, None)])
    """

    def __init__(self, found: Callable[[slice], Values], shape: tuple[int, int]) -> None:
        self.shape = shape
        self._found = found
        # Room for all takes no memory before it is written to.
        self._rows = np.empty(shape, np.float32)
        self._known = 0

    @property
    def known(self) -> int:
        """How many have been found."""
        return self._known

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: int | slice) -> Any:
        last = index.indices(len(self))[1] if isinstance(index, slice) else index + 1
        while (known := self._known) < min(last, len(self)):
            more = slice(known, min(known + AT_A_TIME, len(self)))
            self._rows[more] = self._found(more)
            self._known = more.stop
        return self._rows[index]


def as_components(components: Any | None) -> Values | LeadingComponents | None:
    """Return given components as an array of float64, those that are yet to be found as they are."""
    if components is None or isinstance(components, LeadingComponents):
        return components
    return np.asarray(components, dtype=np.float64)
