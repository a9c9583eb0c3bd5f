"""Taking a basis out of a block of vectors, once where that is enough."""

import numpy as np
import pytest

from gramian.eigen.orthonormal import orthonormalized, projected


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("recent", [slice(0, 12), slice(8, 12), slice(12, 12)])
def test_what_is_left_is_orthogonal_to_the_basis(seed, recent):
    """Whatever part is taken out first, coefficients and rest add up, and the rest is orthogonal to rounding."""
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((300, 12)))[0]
    block = Q @ (10.0 ** rng.integers(0, 8, (12, 3))) + rng.standard_normal((300, 3))
    left, coefficients = projected(block, Q, recent)
    assert np.abs(Q.T @ left).max() <= 1e-14 * np.linalg.norm(left, axis=0).max()
    assert np.allclose(Q @ coefficients + left, block, rtol=1e-13, atol=1e-13 * np.abs(block).max())


def test_a_block_inside_the_basis_adds_nothing():
    """What remains is rounding, and is dropped."""
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((100, 6)))[0]
    block = Q @ np.random.default_rng(1).standard_normal((6, 2))
    left, _ = projected(block, Q, slice(4, 6))
    assert orthonormalized(left, Q, before=block).shape == (100, 0)


def test_nearly_dependent_columns_are_projected_again():
    """Separating them would bring back what rounding left along the basis."""
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((200, 8)))[0]
    one = rng.standard_normal((200, 1))
    block = np.hstack([one, one + 1e-5 * rng.standard_normal((200, 1))]) + Q[:, :2] * 1e3
    left, _ = projected(block, Q, slice(0, 8))
    new = orthonormalized(left, Q, before=block)
    assert new.shape == (200, 2)
    assert np.abs(Q.T @ new).max() < 1e-14
    assert np.abs(new.T @ new - np.eye(2)).max() < 1e-14
