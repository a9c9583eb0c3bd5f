import numpy as np

from gramian import PCA
from gramian.pictures import image_strip

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 6)) @ RNG.standard_normal((6, 6)) * np.arange(1, 7)


def test_images_from_more_numbers_are_nearer():
    """Errors fall with the number of components, to zero with all; counts beyond the model are one."""
    strip = image_strip(PCA().fit(X), X[4], (2, 3), counts=(1, 3, 6, 50))
    assert strip.counts == (1, 3, 6)
    assert np.all(np.diff(strip.errors) < 0)
    assert strip.errors[-1] < 1e-10
