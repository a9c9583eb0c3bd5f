"""Blocks of rows as kernels take them, and what every tile is made of.

Blocks are dense arrays of any library, or SciPy CSR matrices. A tile is one product of two blocks, and functions of its
entries, in place. A row that a kernel refuses is named by its position in X (:func:`named_rows`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse import csr_array

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    from_host,
    is_numpy,
    is_sparse,
    is_torch,
    namespace_of,
    on_device,
    to_host,
)
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, KernelRowsError, NotSupportedError

if TYPE_CHECKING:
    from gramian.kernels.kernel import Kernel


def require_on_cpu(rows: Array) -> None:
    """Refuse rows on another device, which would have to be copied to the host unasked."""
    if on_device(rows):
        message = (
            "Kernel PCA by landmarks, features or a given matrix computes on the CPU, and these rows are on "
            f"{rows.device}. Gramian does not copy between devices unasked: pass X.cpu() (torch) or X.get() (CuPy), or "
            "fit the kernel matrix of the rows, which is made where they are."
        )
        raise NotSupportedError(message)


def require_same_device(rows: Array, fitted: Array) -> None:
    """Refuse rows on another device than those of the fit."""
    where, there = (str(getattr(array, "device", "cpu")) for array in (rows, fitted))
    if where != there:
        message = f"These rows are on {where}, and the model was fitted on rows on {there}. Move one of them."
        raise NotSupportedError(message)


def on_host(rows: Array) -> Any:
    """Return rows of any library as NumPy has them, sparse rows as they are; refuse rows on another device."""
    if is_sparse(rows):
        return rows
    require_on_cpu(rows)
    return to_host(rows)


def of_kind(rows: Any, *, sparse: bool) -> Any:
    """Return rows sparse or dense, as those are that they are compared with."""
    if is_sparse(rows) == sparse:
        return rows
    return csr_array(to_host(rows)) if sparse else rows.toarray()


def as_block(X: Any, *, kernel: "Kernel") -> Array:
    """Return what a user gave as one block: two dimensions, finite numbers, float64; CSR where it is sparse.

    Examples
    --------
    >>> from gramian.kernels import Linear
    >>> as_block([[1, 2]], kernel=Linear())
    array([[1., 2.]])
    """
    require_taken(sparse=is_sparse(X), kernel=kernel)
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
    require_taken(sparse=is_sparse(rows), kernel=kernel)
    if not isinstance(rows, np.ndarray):
        message = f"The {kernel.name} kernel takes NumPy rows, and was given {type(rows).__name__}. Convert them first."
        raise NotSupportedError(message)
    return np.ascontiguousarray(rows, dtype=FLOAT64)


def require_taken(*, sparse: bool, kernel: "Kernel") -> None:
    """Refuse sparse rows for a kernel that would have to make them dense."""
    if sparse and not kernel.takes_sparse:
        message = f"The {kernel.name} kernel takes dense rows, and these are sparse. Pass X.toarray() if it fits."
        raise NotSupportedError(message)


def require_same_columns(left: Array, right: Array) -> None:
    """Refuse two blocks whose rows have different lengths."""
    if left.shape[1] != right.shape[1]:
        message = f"X has {left.shape[1]} columns and Y has {right.shape[1]}. A kernel compares rows of one length."
        raise InputError(message)


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

    Far is a column whose squared mean is more than 16 variances. It is stored in more than 16 rows of 17 (mean^2 /
    variance is at most p / (1 - p) for a share p that is not zero), so that shifting it fills little; any other loses
    at most a digit and a half when it is squared as it is.

    Examples
    --------
    >>> far_means(np.array([1e6, 0.5]), np.array([2.0, 1.0]))
    array([1000000.,       0.])
    """
    far = mean**2 > 16.0 * variances
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
    wide = cast(rows, FLOAT64)
    return wide - (from_host(origin, like=wide, dtype=FLOAT64) if is_numpy(origin) else cast(origin, FLOAT64))


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


def squared_norms(rows: Array) -> Array:
    """Return x.x for each row, summed in float64, in the library of dense rows."""
    if is_sparse(rows):
        squares = rows.copy()
        squares.data = squares.data.astype(FLOAT64) ** 2
        return np.asarray(squares.sum(axis=1), dtype=FLOAT64).ravel()
    wide = cast(rows, FLOAT64)
    if isinstance(wide, np.ndarray):
        return np.asarray(np.einsum("ij,ij->i", wide, wide))
    return namespace_of(wide).sum(wide * wide, axis=1)


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


LOWEST_EXPONENT = {np.dtype(np.float32): -87.0, np.dtype(np.float64): -708.0}
"""Where an exponential is about to leave the normal numbers. Below it float32 exponentials were measured eight times
slower; the tile holds the smallest normal number instead of zero there, about 1e-38 or 1e-308."""


class SparseFactor(NamedTuple):
    """Sparse rows, and their transpose stored by rows where that is not larger than the rows themselves."""

    rows: Any
    transposed: Any


def sparse_factor(rows: Any) -> SparseFactor:
    """Store a CSR block with its transpose, which a product would otherwise make anew for every tile.

    The transpose has a pointer for every column: where columns outnumber the stored entries it is left to the product.
    """
    return SparseFactor(rows, rows.T.tocsr() if rows.shape[1] <= 2 * rows.nnz else rows.T)


def inner_products(left: Any, right: Any, *, out: HostArray | None = None) -> Array:
    """Return left right', (a, b): one GEMM, or a product of two sparse blocks written as a dense tile.

    Examples
    --------
    >>> inner_products(np.array([[1.0, 2.0]]), np.array([[3.0, 4.0]]))
    array([[11.]])
    """
    if isinstance(left, SparseFactor):
        product = (left.rows @ right.transposed).toarray()
        return product if out is None else written(product, out)
    if is_numpy(left):
        return np.matmul(left, right.T, out=out)
    return left @ right.T


def exponential(tile: Array, *, clip: bool = True) -> Array:
    """Replace entries by exp(entry), in place on the host.

    Entries are at most zero but for rounding. ``clip`` cuts that rounding off, and what would underflow.
    """
    if not is_numpy(tile):
        xp = namespace_of(tile)
        return xp.exp(xp.clip(tile, max=0.0))
    if clip:
        np.clip(tile, LOWEST_EXPONENT[tile.dtype], 0.0, out=tile)
    return np.exp(tile, out=tile)


def with_unit_diagonal(tile: Array, *, same_block: bool) -> Array:
    """Set k(x, x) = 1 exactly where a block meets itself: the diagonal is most of the matrix of a narrow kernel."""
    if same_block and is_numpy(tile):
        np.fill_diagonal(tile, 1.0)
    return tile


def strips(n: int) -> Iterator[slice]:
    """Give the rows of a tile of n rows 64 at a time: a second array of that size still lies in the cache with them."""
    for start in range(0, n, 64):
        yield slice(start, min(start + 64, n))


def written(values: HostArray, out: HostArray | None) -> HostArray:
    """Return ``values``, copied into ``out`` when there is one."""
    if out is None:
        return values
    out[...] = values
    return out


Places = int | HostArray
"""Where the rows of a block are in X: the place of the first one, or of each."""


@contextmanager
def named_rows(left: Places, right: Places | None = None, *, ending: str = "") -> Iterator[None]:
    """Name the rows of a refusal within: of the left block and, where it is of two rows, of the right one.

    Contexts may lie within each other, each adding what it knows; without ``right`` the second row is left as it is.
    ``ending`` is said of the last row, such as " of the fit".

    Examples
    --------
    >>> import numpy as np
    >>> with named_rows(1000), named_rows(np.array([7, 3])):
    ...     raise KernelRowsError("", (1,), " has -1 in column 2.")
    Traceback (most recent call last):
    gramian.errors.KernelRowsError: Row 1,003 has -1 in column 2.
    """
    try:
        yield
    except KernelRowsError as error:
        sides = (left, 0 if right is None else right)
        rows = tuple(_place(side, row) for side, row in zip(sides, error.rows, strict=False))
        error.name(rows, ending)
        raise


def _place(places: Places, row: int) -> int:
    return places + row if isinstance(places, int) else int(places[row])
