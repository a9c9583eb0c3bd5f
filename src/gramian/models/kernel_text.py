"""A kernel as text: in words for a reader, and as Python that makes it again."""

import re
from typing import Any

from gramian.kernels.stretched import Stretched


def kernel_words(kernel: Any) -> str:
    """Return a kernel with as many digits as are worth reading.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> kernel_words(Stretched(Gaussian(1 / 3), (1.0, 0.5)))
    'Gaussian(gamma=0.3333) of the scaled columns'
    """
    if isinstance(kernel, Stretched):
        return f"{kernel_words(kernel.kernel)} of the scaled columns"
    return re.sub(r"\d+\.\d+(e[+-]?\d+)?", lambda number: f"{float(number[0]):.4g}", str(kernel))


def kernel_code(kernel: Any) -> str:
    """Return a kernel as Python that runs after ``from gramian import kernels``.

    Examples
    --------
    >>> from gramian.kernels import Gaussian, Stretched
    >>> kernel_code(Stretched(Gaussian(0.5), (1 / 3, 2.0)))
    'kernels.Stretched(kernels.Gaussian(gamma=0.5), (0.3333333333333333, 2.0))'
    """
    if isinstance(kernel, Stretched):
        # Its own words round the factors.
        return f"kernels.Stretched({kernel_code(kernel.kernel)}, {kernel.factors!r})"
    return re.sub(r"(?<![\w.])(?=[A-Z]\w*\()", "kernels.", repr(kernel))
