"""Blocks of rows as kernels take them: dense arrays of any library, or SciPy CSR matrices."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from gramian.arrays.namespace import Array, HostArray, cast, is_torch, namespace_of, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, NotSupportedError

if TYPE_CHECKING:
    from gramian.kernels.kernel import Kernel


def is_sparse(rows: Array) -> bool:
    """Tell whether rows are a SciPy sparse matrix or array."""
    return bool(sparse.issparse(rows))


def as_block(X: Any, *, kernel: "Kernel") -> Array:
    """Return what a user gave as one block: two dimensions, finite numbers, float64; CSR where it is sparse.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> as_block([[1, 2]], kernel=Linear())
    array([[1., 2.]])
    """
    require_taken(X, kernel=kernel)
    if is_sparse(X):
        block: Any = sparse.csr_array(X, dtype=FLOAT64)
    elif is_torch(X):
        block = cast(X, FLOAT64)
    else:
        block = np.asarray(X, dtype=FLOAT64)
    if block.ndim != 2:
        message = f"A kernel takes rows of numbers, shape (n, d), and was given shape {tuple(block.shape)}."
        hint = " For a single point x pass [x]." if block.ndim == 1 else ""
        raise InputError(message + hint)
    _require_finite(block)
    return block


def host_rows(rows: Array, *, kernel: "Kernel") -> HostArray:
    """Return NumPy rows in float64; refuse sparse rows and those of another library, for kernels that take neither."""
    require_taken(rows, kernel=kernel)
    if not isinstance(rows, np.ndarray):
        message = f"The {kernel.name} kernel takes NumPy rows, and was given {type(rows).__name__}. Convert them first."
        raise NotSupportedError(message)
    return np.ascontiguousarray(rows, dtype=FLOAT64)


def require_taken(rows: Array, *, kernel: "Kernel") -> None:
    """Refuse sparse rows for a kernel that would have to make them dense."""
    if is_sparse(rows) and not kernel.takes_sparse:
        message = f"The {kernel.name} kernel takes dense rows, and these are sparse. Pass X.toarray() if it fits."
        raise NotSupportedError(message)


def require_same_columns(left: Array, right: Array) -> None:
    """Refuse two blocks whose rows have different lengths."""
    if left.shape[1] != right.shape[1]:
        message = f"X has {left.shape[1]} columns and Y has {right.shape[1]}. A kernel compares rows of one length."
        raise InputError(message)


FAR = 16.0
"""A column of sparse rows is far from zero where the square of its mean is more than this many variances. Such a column
is stored in more than 16 rows of 17 (mean^2 / variance is at most p / (1 - p) for a share p that is not zero), so that
shifting it fills little; any other loses at most a digit and a half when it is squared as it is."""


def column_means(block: Array) -> Array | None:
    """Return a point near the rows, to measure distances from: their mean, of sparse rows in far columns alone."""
    if block.shape[0] == 0:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        if is_sparse(block):
            mean = np.asarray(block.mean(axis=0, dtype=FLOAT64)).ravel()
            columns = sparse.csc_array(block)
            stored = np.diff(columns.indptr)
            within = (columns.data - np.repeat(mean, stored)) ** 2
            squares = np.bincount(np.repeat(np.arange(len(mean)), stored), within, minlength=len(mean))
            return far_means(mean, (squares + (block.shape[0] - stored) * mean**2) / block.shape[0])
        return namespace_of(block).mean(block, axis=0)


def far_means(mean: HostArray, variances: HostArray) -> HostArray | None:
    """Return the means of columns that are far from zero, zeros elsewhere; ``None`` where no column is.

    Examples
    --------
    >>> far_means(np.array([1e6, 0.5]), np.array([2.0, 1.0]))
    array([1000000.,       0.])
    """
    far = mean**2 > FAR * variances
    return np.where(far, mean, 0.0) if far.any() else None


def shifted(rows: Array, origin: Array | None) -> Array:
    """Return rows about ``origin``, in float64; without an origin as they are.

    The difference is taken before anything is rounded to float32 or squared, so an offset of any size costs only the
    digits that the rows had lost already. Sparse rows stay sparse: they store the columns in which the origin is not
    zero, and those should be columns that they store anyway (:func:`far_means`).
    """
    if origin is None:
        return rows
    if is_sparse(rows):
        return _shifted_sparse(rows, to_host(origin))
    return cast(rows, FLOAT64) - cast(origin, FLOAT64)


def _shifted_sparse(rows: Array, origin: HostArray) -> Array:
    columns, b = np.flatnonzero(origin), rows.shape[0]
    entries = (np.tile(origin[columns], b), np.tile(columns, b), np.arange(b + 1) * len(columns))
    return sparse.csr_array(rows, dtype=FLOAT64) - sparse.csr_array(entries, shape=rows.shape)


def scaled_rows(rows: Array, scale: float, dtype: np.dtype[Any]) -> Array:
    """Return rows times a number, in ``dtype``, rounded once: float32 rows are not scaled in float32 for float64."""
    if scale == 1.0:
        return rows.astype(dtype) if is_sparse(rows) else cast(rows, dtype)
    if is_sparse(rows):
        return (rows.astype(np.result_type(rows.dtype, dtype), copy=False) * scale).astype(dtype, copy=False)
    wide = cast(rows, FLOAT64) if dtype == FLOAT64 else rows
    return cast(wide * scale, dtype)


def squared_norms(rows: Array) -> HostArray:
    """Return x.x for each row, summed in float64, on the host."""
    if is_sparse(rows):
        squares = rows.copy()
        squares.data = squares.data.astype(FLOAT64) ** 2
        return np.asarray(squares.sum(axis=1), dtype=FLOAT64).ravel()
    wide = cast(rows, FLOAT64)
    if isinstance(wide, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", wide, wide))
    return to_host(namespace_of(wide).sum(wide * wide, axis=1))


def _require_finite(block: Array) -> None:
    numbers = block.data if is_sparse(block) else block
    xp = np if is_sparse(block) else namespace_of(block)
    if bool(xp.all(xp.isfinite(numbers))):
        return
    if is_sparse(block):
        message = "The sparse rows given to a kernel hold NaN or infinity. Fill or drop such values first."
        raise InputError(message)
    row, column = (int(index) for index in np.argwhere(~np.isfinite(to_host(block)))[0])
    message = f"Row {row} given to a kernel has NaN or infinity in column {column}. Fill or drop such values first."
    raise InputError(message, row=row, column=column)
