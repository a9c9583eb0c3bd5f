"""The contract of a kernel, as tests that any kernel can be put through."""

import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

from gramian.errors import NotSupportedError
from gramian.kernels.centering import center_kernel
from gramian.kernels.kernel import Kernel, WaveDraw

Array = npt.NDArray[Any]
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

__all__ = ["KernelSuite"]


class KernelSuite:
    """Tests that every kernel must pass: its tiles, its diagonal, its types, and that what it declares is so.

    Subclass it with a name that starts with ``Test`` and give it :meth:`make_kernel`.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> class TestGaussian(KernelSuite):
    ...     def make_kernel(self):
    ...         return Gaussian(0.5)
    >>> TestGaussian().test_tiles_are_pieces_of_the_matrix()
    """

    def make_kernel(self) -> Kernel:
        """Return the kernel, with numbers for parameters."""
        raise NotImplementedError

    def make_rows(self, n: int, d: int, *, seed: int) -> Array:
        """Return rows that the kernel takes: uniform numbers between 0 and 2 unless a suite has others."""
        return np.random.default_rng([seed, n, d]).uniform(0.0, 2.0, (n, d))

    def test_tiles_are_pieces_of_the_matrix(self) -> None:
        """Whatever the blocks, the matrix is the same."""
        kernel, X = self.make_kernel(), self.make_rows(90, 6, seed=0)
        K = kernel(X)
        for split in (1, 7, 70):
            blocks = [kernel.prepare(part, dtype=FLOAT64) for part in (X[:split], X[split:])]
            tiles = [[kernel.evaluate(left, right) for right in blocks] for left in blocks]
            np.testing.assert_allclose(np.block(tiles), K, rtol=1e-12, atol=1e-14)

    def test_diagonal_is_that_of_the_matrix(self) -> None:
        """k(x, x), in float64, also for float32 rows."""
        kernel, X = self.make_kernel(), self.make_rows(40, 5, seed=1)
        np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X)), rtol=1e-12)
        assert kernel.diagonal(X.astype(FLOAT32)).dtype == FLOAT64

    def test_matrix_is_symmetric(self) -> None:
        """To rounding."""
        K = self.make_kernel()(self.make_rows(70, 8, seed=2))
        np.testing.assert_allclose(K, K.T, rtol=1e-13)

    def test_tile_is_written_where_it_is_wanted(self) -> None:
        """Into ``out``, a piece of a larger array too, in the type asked for."""
        kernel, X, Y = self.make_kernel(), self.make_rows(66, 4, seed=3), self.make_rows(20, 4, seed=4)
        for dtype in (FLOAT32, FLOAT64):
            whole = np.full((80, 30), -7.0, dtype=dtype)
            given = _tile(kernel, X, Y, dtype, out=whole[:66, 5:25])
            assert np.shares_memory(given, whole)
            assert np.all(whole[66:] == -7.0)
            assert np.all(whole[:, :5] == -7.0)
            np.testing.assert_array_equal(given, _tile(kernel, X, Y, dtype))

    def test_float32_tile_is_near_the_float64_one(self) -> None:
        """Within 3e-7 of the norm, and 2e-6 of the largest entry everywhere."""
        kernel = self.make_kernel()
        for d, seed in ((3, 0), (50, 1)):
            X, Y = self.make_rows(120, d, seed=seed), self.make_rows(100, d, seed=seed + 1)
            tile, exact = (_tile(kernel, X, Y, dtype, origin=X.mean(axis=0)) for dtype in (FLOAT32, FLOAT64))
            assert tile.dtype == FLOAT32
            assert np.linalg.norm(tile - exact) <= 3e-7 * np.linalg.norm(exact)
            assert np.abs(tile - exact).max() <= 2e-6 * np.abs(exact).max()

    def test_blocks_without_rows_or_with_one_are_tiles_too(self) -> None:
        """Shapes (0, b), (a, 0) and (1, 1)."""
        kernel, X = self.make_kernel(), self.make_rows(5, 3, seed=5)
        assert _tile(kernel, X[:0], X).shape == (0, 5)
        assert _tile(kernel, X, X[:0]).shape == (5, 0)
        assert _tile(kernel, X[:1], X[:1]).shape == (1, 1)
        assert kernel.diagonal(X[:0]).shape == (0,)

    def test_rows_are_left_as_they_were(self) -> None:
        """The kernel does not write into the rows that it is given, in any order or type."""
        kernel, given = self.make_kernel(), self.make_rows(20, 4, seed=6)
        for X in (given, np.asfortranarray(given), given.astype(FLOAT32)):
            before = X.copy()
            np.testing.assert_allclose(_tile(kernel, X, X), kernel(before), rtol=2e-6)
            assert np.array_equal(X, before)

    def test_it_is_positive_semidefinite_where_it_says_so(self) -> None:
        """No eigenvalue below zero but for rounding, on random points."""
        kernel = self.make_kernel()
        for n, d, seed in ((2, 1, 0), (60, 2, 1), (130, 30, 2)) if kernel.is_psd else ():
            values = np.linalg.eigvalsh(kernel(self.make_rows(n, d, seed=seed)))
            assert values[0] >= -n * 1e-15 * values[-1]

    def test_shift_is_seen_where_it_is_said_to_be(self) -> None:
        """K, or H K H, stays the same under a shift exactly where it says so; of a user's function nothing is known."""
        kernel, X = self.make_kernel(), self.make_rows(40, 3, seed=7)
        plain, moved = (_tile(kernel, Z, Z) for Z in (X, X + 1.0))
        if kernel.is_user_function:
            return
        assert np.allclose(plain, moved, rtol=1e-9) == kernel.shift_invariant
        difference = np.abs(center_kernel(plain) - center_kernel(moved)).max()
        assert (difference <= 1e-9 * np.abs(plain).max()) == kernel.shift_invariant_centered

    def test_other_forms_that_it_declares_have_its_values(self) -> None:
        """A curve over distances, a power of x.y, and random waves, each where there is one."""
        kernel, X = self.make_kernel(), self.make_rows(12, 2, seed=8)
        K, apart = kernel(X), X[:, None] - X
        if kernel.polynomial_form is not None:
            degree, gamma, coef0 = kernel.polynomial_form
            np.testing.assert_allclose((gamma * X @ X.T + coef0) ** degree, K, rtol=1e-12)
        try:
            value, fall = kernel.radial_profile().curve(np.sum(apart**2, axis=2))
            np.testing.assert_allclose(value, K, rtol=1e-7, atol=1e-12)
            assert np.all(fall >= 0)
        except NotSupportedError:
            pass
        try:
            waves = kernel.draw_waves(WaveDraw(20_000, 2, orthogonal=False, rng=np.random.default_rng(0)))
            near = waves.height * np.mean(np.cos(apart @ waves.frequencies.T), axis=2)
            np.testing.assert_allclose(near, K, atol=0.05 * waves.height)
        except NotSupportedError:
            pass

    def test_gamma_can_be_replaced_where_there_is_one(self) -> None:
        """By a number, for grids of widths."""
        kernel = self.make_kernel()
        if kernel.has_gamma:
            assert kernel.with_gamma(0.25).gamma_number == 0.25
            assert type(kernel.with_gamma(0.25)) is type(kernel)

    def test_kernel_is_a_value(self) -> None:
        """It pickles, compares, hashes, and cannot be changed."""
        kernel: Any = self.make_kernel()
        again = pickle.loads(pickle.dumps(kernel))  # noqa: S301 - just made
        assert again == kernel
        assert hash(again) == hash(kernel)
        assert repr(again) == repr(kernel)
        assert kernel != object()
        try:
            setattr(kernel, next(iter(kernel.__dataclass_fields__), "name"), 1)
        except AttributeError:
            return
        message = f"{kernel!r} can be changed: make it a frozen dataclass."
        raise AssertionError(message)


def _tile(
    kernel: Kernel,
    X: Array,
    Y: Array,
    dtype: np.dtype[Any] = FLOAT64,
    *,
    origin: Array | None = None,
    out: Array | None = None,
) -> Any:
    sides = [kernel.prepare(side, dtype=dtype, origin=origin) for side in (X, Y)]
    return kernel.evaluate(*sides, out=out)
