"""A user's own function as a kernel: of two points, or of two blocks of rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from gramian.arrays.namespace import Array, HostArray, is_sparse
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, KernelRowsError, ParameterError
from gramian.kernels.blocks import host_rows, written
from gramian.kernels.kernel import Kernel, Prepared


class _Given(NamedTuple):
    """Rows as a user's function gets them, float64, and the type its answers are stored in."""

    rows: Any
    dtype: np.dtype[Any]


@dataclass(frozen=True, repr=False)
class _OwnKernel(Kernel):
    """A function that a user gives, with parameters of its own and the user's word on whether it is one of a kernel."""

    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    psd: bool = False
    is_user_function: ClassVar[bool] = True
    takes: ClassVar[str]

    def __post_init__(self) -> None:
        given: object = self.function
        if not callable(given):
            message = f"A kernel of one's own needs a function of {self.takes}, and was given {given!r}."
            raise ParameterError(message)
        object.__setattr__(self, "parameters", dict(self.parameters))

    def __repr__(self) -> str:
        words = [self.label]
        words += [f"parameters={dict(self.parameters)!r}"] if self.parameters else []
        words += [f"{flag}=True" for flag in ("psd", "sparse") if getattr(self, flag, False)]
        return f"{type(self).__name__}({', '.join(words)})"

    @property
    def is_psd(self) -> bool:
        """What the user said."""
        return self.psd

    @property
    def label(self) -> str:
        """What the function is called in sentences."""
        return str(getattr(self.function, "__name__", repr(self.function)))

    def called(self, x: Any, y: Any) -> Any:
        """Call the function; what it raises is chained to a sentence that says which function and on what."""
        try:
            return self.function(x, y, **self.parameters)
        except Exception as cause:
            message = (
                f"The kernel function {self.label} raised {type(cause).__name__} on arguments of shapes {x.shape} and "
                f"{y.shape}: {cause}"
            )
            raise InputError(message) from cause

    def require_finite(self, tile: HostArray) -> None:
        """Refuse values that are not finite, by their two rows."""
        if np.isfinite(tile).all():
            return
        i, j = (int(index) for index in np.argwhere(~np.isfinite(tile))[0])
        before = f"The kernel function {self.label} gave {tile[i, j]} for "
        raise KernelRowsError(before, (i, j), ". A kernel must give a finite number for every two points.")


@dataclass(frozen=True, repr=False)
class PointKernel(_OwnKernel):
    """A user's own function of two points.

    Computes  k(x, y) = function(x, y),  x and y being rows of shape (d,) in float64. A block against itself is
    evaluated in half, k(y, x) being k(x, y).

    Cost of a tile (a, b): a b calls of the function, a microsecond each before it does anything, where an entry of a
    Gaussian takes a few nanoseconds. Not for more than a few thousand rows: where the function can be written for whole
    blocks, use :class:`BlockKernel`.

    The same as a callable ``kernel`` of scikit-learn's KernelPCA.

    Parameters
    ----------
    function : callable
        Takes two points and gives one number.
    parameters : mapping, optional
        Passed to the function by name.
    psd : bool, default=False
        Whether it is known to be positive semidefinite on every data set; :func:`gramian.check_kernel` tests one.

    Examples
    --------
    >>> def histogram(x, y):
    ...     return np.minimum(x, y).sum()
    >>> PointKernel(histogram)
    PointKernel(histogram)
    >>> PointKernel(histogram)([[1.0, 2.0], [3.0, 1.0]])
    array([[3., 2.],
           [2., 4.]])
    """

    name: ClassVar[str] = "own (two points)"
    takes: ClassVar[str] = "two points"

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Keep rows in float64 and remember the type of the tiles."""
        del origin
        return _Given(host_rows(rows, kernel=self), dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Call the function on each pair of points; on half of them for a block against itself."""
        a, b = len(left.rows), len(right.rows)
        tile = np.empty((a, b), left.dtype) if out is None else out
        for i, x in enumerate(left.rows):
            for j in range(i if left is right else 0, b):
                tile[i, j] = self._value(x, right.rows[j])
            if left is right:
                tile[i:, i] = tile[i, i:]
        self.require_finite(tile)
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Call the function on each point and itself."""
        return np.array([self._value(x, x) for x in host_rows(rows, kernel=self)], dtype=FLOAT64)

    def _value(self, x: HostArray, y: HostArray) -> float:
        value = self.called(x, y)
        if isinstance(value, float):
            return value
        number = np.asarray(value)
        if number.size != 1 or number.dtype.kind not in "biuf":
            message = (
                f"The kernel function {self.label} must give one number for two points of shape {x.shape}, and gave "
                f"{_described(value)}. If it is written for blocks of rows, wrap it: BlockKernel({self.label})."
            )
            raise InputError(message)
        return float(number.reshape(()))


@dataclass(frozen=True, repr=False)
class BlockKernel(_OwnKernel):
    """A user's own function of two blocks of rows.

    Computes  k(X, Y) = function(X, Y),  (a, b) from rows of shapes (a, d) and (b, d) in float64. Each entry must depend
    on its own two rows only, and not on the rest of the block: a fit refuses a function that does, and
    :func:`gramian.check_kernel` tells of it.

    Cost of a tile: that of the function, called once.

    Not for a function that needs all rows at once (one that centers or normalizes over the block): make the matrix and
    pass it as precomputed.

    Parameters
    ----------
    function : callable
        Takes two blocks and gives the matrix of their kernel values; it must not change them.
    parameters : mapping, optional
        Passed to the function by name.
    psd : bool, default=False
        Whether it is known to be positive semidefinite on every data set.
    sparse : bool, default=False
        Whether the function also takes CSR blocks.

    Examples
    --------
    >>> def cauchy(X, Y):
    ...     return 1 / (1 + ((X[:, None] - Y) ** 2).sum(axis=2))
    >>> BlockKernel(cauchy)([[0.0], [1.0]])
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    sparse: bool = False
    name: ClassVar[str] = "own (two blocks)"
    takes: ClassVar[str] = "two blocks of rows"
    may_see_block: ClassVar[bool] = True

    @property
    def takes_sparse(self) -> bool:
        """What the user said."""
        return self.sparse

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Keep rows in float64 and remember the type of the tiles."""
        del origin
        taken_as_is = self.sparse and is_sparse(rows)
        return _Given(sparse.csr_array(rows, dtype=FLOAT64) if taken_as_is else host_rows(rows, kernel=self), dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Call the function once and check what it gives."""
        # A copy, always: tiles are changed in place by sums and products, and what the function gave may be kept by it.
        tile = written(self._block(left.rows, right.rows).astype(left.dtype), out)
        self.require_finite(tile)
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Call the function on each row and itself: b calls of blocks of one row."""
        ready = self.prepare(rows, dtype=FLOAT64).rows
        points = (ready[i : i + 1] for i in range(ready.shape[0]))
        return np.array([self._block(x, x)[0, 0] for x in points], dtype=FLOAT64)

    def _block(self, X: Any, Y: Any) -> HostArray:
        given = self.called(X, Y)
        given = given.toarray() if is_sparse(given) else given
        expected = (X.shape[0], Y.shape[0])
        tile = np.asarray(given) if not isinstance(given, np.ndarray) else given
        if tile.shape != expected or tile.dtype.kind not in "biuf":
            message = (
                f"The kernel function {self.label} must give numbers of shape {expected} for blocks of shapes "
                f"{X.shape} and {Y.shape}, and gave {_described(given)}. If it is written for two points, wrap it: "
                f"PointKernel({self.label})."
            )
            raise InputError(message)
        return tile


def _described(value: object) -> str:
    if value is None:
        return "None"
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        return f"{type(value).__name__} of dtype {array.dtype}"
    return f"shape {array.shape}"
