"""Mixed sources, for the tests of ICA."""

import numpy as np
import pytest

from gramian.testing import mixed_sources


@pytest.fixture
def mixed():
    """Four mixed sources with a mean, and the mixing matrix."""
    A = np.random.default_rng(5).standard_normal((4, 4))
    return mixed_sources(4_000, 4, seed=5) @ A.T + 2.0, A
