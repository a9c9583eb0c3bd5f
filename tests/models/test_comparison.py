"""Angles between the spaces of two models."""

import numpy as np
import pytest

from gramian import PCA
from gramian.models.archive.file import open_archive
from gramian.models.comparison import compare_models


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-7, 0.3])
def test_planted_angles_are_found_however_small(tmp_path, turn):
    """One plane turned against another: the cosine of an angle below 1e-8 is 1, its sine is not."""
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((200, 2)) * [3.0, 2.0]
    planes = [np.eye(4)[:2], np.array([[1.0, 0, 0, 0], [0, np.cos(turn), np.sin(turn), 0]])]
    found = [
        open_archive(PCA(2, svd_solver="full").fit(scores @ plane).save(tmp_path / f"{i}.gramian"))
        for i, plane in enumerate(planes)
    ]
    angles = np.radians(compare_models(*found).angles)
    np.testing.assert_allclose(np.sort(angles), [0.0, turn], rtol=1e-3, atol=1e-14)
