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


def column_means(block: Array) -> Array | None:
    """Return the mean of dense rows, a point to measure distances from; ``None`` for sparse or no rows."""
    if is_sparse(block) or block.shape[0] == 0:
        return None
    with np.errstate(over="ignore"):
        return namespace_of(block).mean(block, axis=0)


def shifted(rows: Array, origin: Array | None) -> Array:
    """Return dense rows about ``origin``, in float64; sparse rows, and rows without an origin, as they are.

    The difference is taken before anything is rounded to float32 or squared, so an offset of any size costs only the
    digits that the rows had lost already.
    """
    if origin is None or is_sparse(rows):
        return rows
    return cast(rows, FLOAT64) - cast(origin, FLOAT64)


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
