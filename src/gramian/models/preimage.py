"""Pre-images: rows whose features are nearest to what kernel PCA scores stand for.

Scores y stand for a point P of feature space that is, in general, phi of no row at all. A pre-image is a row z with
phi(z) near P. Methods are small frozen values; ``fit`` binds one to an expansion, ``rebuild`` gives rows::

    Ridge(alpha=1.0).fit(expansion).rebuild(scores)          # Preimages(rows, errors, found)

Which of them serves best depends on the rows: :func:`~gramian.models.preimage_choice.choose_preimage` tries.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple

from gramian.arrays.namespace import HostArray
from gramian.models.kernel_expansion import KernelExpansion


class Preimages(NamedTuple):
    """Rows rebuilt from scores.

    Attributes
    ----------
    rows : numpy array (m, d)
    errors : numpy array (m,)
        |phi(z) - P|^2, the squared distance in feature space that is left; 0 for a perfect pre-image, nan where the
        kernel does not take z (one of counts takes no negative numbers).
    found : numpy array (m,) of bool
        Whether the method itself answered; False where it fell back on its start.
    """

    rows: HostArray
    errors: HostArray
    found: HostArray


class FittedPreimage(ABC):
    """A method bound to the components of one kernel PCA."""

    @abstractmethod
    def rebuild(self, scores: HostArray) -> Preimages:
        """Return a row for each line of scores (m, k)."""


class PreimageMethod(ABC):
    """A way to find pre-images. A frozen value."""

    def peak_bytes(self, n: int, d: int) -> int:
        """Return the bytes that ``fit`` takes on n rows of d columns: rows and their mean's differences, in float64."""
        return 16 * n * d

    @abstractmethod
    def fit(self, expansion: KernelExpansion) -> FittedPreimage:
        """Do, once, what does not depend on the scores; refuse kernels that the method is not for."""
