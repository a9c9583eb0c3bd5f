"""Taking a basis out of a block of vectors, once where that is enough."""

import numpy as np
import pytest

from gramian.eigen.orthonormal import CHUNK, orthonormalized, projected, rotate


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


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_vectors_are_rotated_in_their_own_place(dtype):
    """A chunk at a time, over more than one of them, the result may overwrite some of the vectors."""
    rng = np.random.default_rng(2)
    vectors = np.asfortranarray(rng.standard_normal((2 * CHUNK + 5, 6)).astype(dtype))
    rotation = rng.standard_normal((6, 4))
    expected = vectors.astype(float) @ rotation
    rotate(vectors, rotation, vectors[:, :4])
    np.testing.assert_allclose(vectors[:, :4], expected, atol=1e-4 if dtype == "float32" else 1e-12)


def test_an_overwritten_block_is_made_orthonormal_in_place():
    """The span stays, the memory is the same, and the columns are orthonormal."""
    rng = np.random.default_rng(4)
    block = np.asfortranarray(np.linalg.qr(rng.standard_normal((50, 5)))[0] + 1e-5 * rng.standard_normal((50, 5)))
    before = block.copy()
    made = orthonormalized(block, before=block, overwrite=True)
    assert np.shares_memory(made, block)
    np.testing.assert_allclose(made.T @ made, np.eye(5), atol=1e-14)
    np.testing.assert_allclose(made @ (made.T @ before), before, atol=1e-13)
