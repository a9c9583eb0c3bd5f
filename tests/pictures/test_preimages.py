"""Pre-images of kernel components, as numbers behind a picture."""

import numpy as np
import pytest

from gramian.errors import KernelWidthWarning, NotSupportedError
from gramian.kernels import Gaussian
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.pictures import kernel_profiles
from gramian.sources import as_source


def test_a_model_without_components_has_no_pre_images():
    """A kernel that takes all rows for one leaves no component; pages then leave the picture out."""
    rows = as_source(np.random.default_rng(0).standard_normal((12, 3)))
    with pytest.warns(KernelWidthWarning):
        model = fit_kernel_pca(rows, KernelPCAOptions(None, Gaussian(1e-30)))
    assert model.n_components == 0
    with pytest.raises(NotSupportedError, match="without components"):
        kernel_profiles(model)
