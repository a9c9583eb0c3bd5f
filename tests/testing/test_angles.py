import numpy as np
import pytest

from gramian.testing import assert_same_subspace, haar, largest_angle, orthonormality_error


@pytest.mark.parametrize("angle", [1e-15, 1e-12, 1e-8, 1e-4, 0.5, 1.5])
def test_a_planted_angle_is_measured(angle):
    """Angles from a few roundings to nearly a right one come out with their digits."""
    Q = haar(20, 4, seed=0)
    V, W = Q[:, :2], np.column_stack([Q[:, 0], np.cos(angle) * Q[:, 1] + np.sin(angle) * Q[:, 2]])
    assert abs(largest_angle(V, W) - angle) <= 1e-15 + 1e-6 * angle


def test_an_angle_has_no_order_and_no_basis():
    """Swapping the spaces, scaling and mixing their bases change nothing."""
    V, W = haar(15, 3, seed=1), haar(15, 3, seed=2)
    mix = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, -1.0]])
    assert abs(largest_angle(V, W) - largest_angle(W @ mix, V @ mix)) <= 1e-12


def test_a_space_inside_another_is_at_no_angle():
    """A part of a space lies in it."""
    V = haar(12, 5, seed=3)
    assert largest_angle(V[:, 1:3], V) <= 1e-15


def test_orthogonal_spaces_are_at_a_right_angle():
    """No part in common gives pi/2."""
    V = haar(12, 6, seed=4)
    assert largest_angle(V[:, :3], V[:, 3:]) == pytest.approx(np.pi / 2)


def test_spaces_of_different_rooms_are_refused():
    """Vectors of different lengths are refused with both numbers."""
    with pytest.raises(ValueError, match="3 rows and W has 4"):
        largest_angle(np.eye(3), np.eye(4))


def test_assertion_fails_with_the_angle():
    """The message says what the angle is and what was allowed."""
    with pytest.raises(AssertionError, match=r"is 1\.57, and 0\.1 is allowed"):
        assert_same_subspace(np.eye(3)[:, 0], np.eye(3)[:, 1], tol=0.1)


def test_assertion_fails_for_different_dimensions():
    """Two columns are not the same space as one."""
    with pytest.raises(AssertionError, match="2 columns and the second 1"):
        assert_same_subspace(np.eye(3)[:, :2], np.eye(3)[:, 0])


def test_orthonormality_error_of_a_frame_is_rounding():
    """A Haar frame is orthonormal, and one column twice as long is not."""
    V = haar(30, 5, seed=5)
    assert orthonormality_error(V) <= 1e-14
    assert orthonormality_error(V * [1, 1, 2, 1, 1]) == pytest.approx(3.0)
