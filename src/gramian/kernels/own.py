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
from gramian.kernels.widths import DataFacts


class _Given(NamedTuple):
    """Rows as a user's function gets them, float64, and the type its answers are stored in."""

    rows: Any
    dtype: np.dtype[Any]


@dataclass(frozen=True, repr=False)
class PointKernel(Kernel):
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

    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    psd: bool = False
    name: ClassVar[str] = "own (two points)"
    is_user_function: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    shift_invariant_centered: ClassVar[bool] = False
    takes_sparse: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require_callable(self.function, "two points")
        object.__setattr__(self, "parameters", dict(self.parameters))

    def __repr__(self) -> str:
        return _shown(self)

    @property
    def is_psd(self) -> bool:
        """What the user said."""
        return self.psd

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
        _require_finite(tile, self)
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Call the function on each point and itself."""
        return np.array([self._value(x, x) for x in host_rows(rows, kernel=self)], dtype=FLOAT64)

    def resolved(self, facts: DataFacts) -> "PointKernel":
        """Return itself: its parameters are the user's."""
        del facts
        return self

    def _value(self, x: HostArray, y: HostArray) -> float:
        value = _called(self, x, y)
        if isinstance(value, float):
            return value
        number = np.asarray(value)
        if number.size != 1 or number.dtype.kind not in "biuf":
            message = (
                f"The kernel function {_label(self)} must give one number for two points of shape {x.shape}, and gave "
                f"{_described(value)}. If it is written for blocks of rows, wrap it: BlockKernel({_label(self)})."
            )
            raise InputError(message)
        return float(number.reshape(()))


@dataclass(frozen=True, repr=False)
class BlockKernel(Kernel):
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

    function: Callable[..., Any]
    parameters: Mapping[str, Any] = field(default_factory=dict, hash=False)
    psd: bool = False
    sparse: bool = False
    name: ClassVar[str] = "own (two blocks)"
    is_user_function: ClassVar[bool] = True
    may_see_block: ClassVar[bool] = True
    shift_invariant: ClassVar[bool] = False
    shift_invariant_centered: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _require_callable(self.function, "two blocks of rows")
        object.__setattr__(self, "parameters", dict(self.parameters))

    def __repr__(self) -> str:
        return _shown(self)

    @property
    def takes_sparse(self) -> bool:
        """What the user said."""
        return self.sparse

    @property
    def is_psd(self) -> bool:
        """What the user said."""
        return self.psd

    def prepare(self, rows: Array, *, dtype: np.dtype[Any], origin: Array | None = None) -> Prepared:
        """Keep rows in float64 and remember the type of the tiles."""
        del origin
        taken_as_is = self.sparse and is_sparse(rows)
        return _Given(sparse.csr_array(rows, dtype=FLOAT64) if taken_as_is else host_rows(rows, kernel=self), dtype)

    def evaluate(self, left: Prepared, right: Prepared, *, out: HostArray | None = None) -> Array:
        """Call the function once and check what it gives."""
        # A copy, always: tiles are changed in place by sums and products, and what the function gave may be kept by it.
        tile = written(self._block(left.rows, right.rows).astype(left.dtype), out)
        _require_finite(tile, self)
        return tile

    def diagonal(self, rows: Array) -> HostArray:
        """Call the function on each row and itself: b calls of blocks of one row."""
        ready = self.prepare(rows, dtype=FLOAT64).rows
        points = (ready[i : i + 1] for i in range(ready.shape[0]))
        return np.array([self._block(x, x)[0, 0] for x in points], dtype=FLOAT64)

    def resolved(self, facts: DataFacts) -> "BlockKernel":
        """Return itself: its parameters are the user's."""
        del facts
        return self

    def _block(self, X: Any, Y: Any) -> HostArray:
        given = _called(self, X, Y)
        given = given.toarray() if is_sparse(given) else given
        expected = (X.shape[0], Y.shape[0])
        tile = np.asarray(given) if not isinstance(given, np.ndarray) else given
        if tile.shape != expected or tile.dtype.kind not in "biuf":
            message = (
                f"The kernel function {_label(self)} must give numbers of shape {expected} for blocks of shapes "
                f"{X.shape} and {Y.shape}, and gave {_described(given)}. If it is written for two points, wrap it: "
                f"PointKernel({_label(self)})."
            )
            raise InputError(message)
        return tile


def _called(kernel: PointKernel | BlockKernel, x: Any, y: Any) -> Any:
    """Call a user's function; whatever it raises is chained to a sentence that says which function and on what."""
    try:
        return kernel.function(x, y, **kernel.parameters)
    except Exception as cause:
        message = (
            f"The kernel function {_label(kernel)} raised {type(cause).__name__} on arguments of shapes {x.shape} and "
            f"{y.shape}: {cause}"
        )
        raise InputError(message) from cause


def _require_finite(tile: HostArray, kernel: PointKernel | BlockKernel) -> None:
    if np.isfinite(tile).all():
        return
    i, j = (int(index) for index in np.argwhere(~np.isfinite(tile))[0])
    before = f"The kernel function {_label(kernel)} gave {tile[i, j]} for "
    raise KernelRowsError(before, (i, j), ". A kernel must give a finite number for every two points.")


def _require_callable(function: object, of_what: str) -> None:
    if not callable(function):
        message = f"A kernel of one's own needs a function of {of_what}, and was given {function!r}."
        raise ParameterError(message)


def _described(value: object) -> str:
    if value is None:
        return "None"
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        return f"{type(value).__name__} of dtype {array.dtype}"
    return f"shape {array.shape}"


def _label(kernel: PointKernel | BlockKernel) -> str:
    return str(getattr(kernel.function, "__name__", repr(kernel.function)))


def _shown(kernel: PointKernel | BlockKernel) -> str:
    words = [_label(kernel)]
    words += [f"parameters={dict(kernel.parameters)!r}"] if kernel.parameters else []
    words += [f"{flag}=True" for flag in ("psd", "sparse") if getattr(kernel, flag, False)]
    return f"{type(kernel).__name__}({', '.join(words)})"
