"""Which array library do these rows belong to, and how do small arrays cross to the host and back.

The rest of Gramian asks :func:`namespace_of` and then speaks the array API, so rows stay where they
are (NumPy, torch, CuPy); only the small dense problem goes to the host. Random draws are equal on all of them.
What is asked about an array imports no library: an array of a library that was not imported does not exist.
"""

import sys
from importlib import import_module
from typing import Any

import numpy as np

from gramian.arrays.precision import FLOAT64

Array = Any
"""An array of any library that follows the array API."""

HostArray = np.ndarray[Any, np.dtype[Any]]
"""A NumPy array."""


def is_numpy(x: Array) -> bool:
    """Tell whether ``x`` is a plain NumPy array."""
    return isinstance(x, np.ndarray)


def is_torch(x: Array) -> bool:
    """Tell whether ``x`` is a torch tensor, without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(x, torch.Tensor)


def is_cupy(x: Array) -> bool:
    """Tell whether ``x`` is a CuPy array, without importing CuPy."""
    cupy = sys.modules.get("cupy")
    return cupy is not None and isinstance(x, cupy.ndarray)


HOST_DEVICES = {"cpu"}
"""Devices whose memory is the host's."""


def is_elsewhere(device: Any) -> bool:
    """Tell whether a device, by its name, has a memory of its own; ``None`` is wherever rows are."""
    return device is not None and str(device).partition(":")[0] not in HOST_DEVICES


def on_device(x: Array) -> bool:
    """Tell whether ``x`` lives on a GPU or another device with a memory of its own."""
    if isinstance(x, np.ndarray) or is_sparse(x):
        return False
    device = getattr(x, "device", "cpu")
    return str(getattr(device, "type", device)) not in HOST_DEVICES


def free_bytes(x: Array) -> int:
    """Return the bytes that are free on the device of ``x``, those that its library holds for reuse among them."""
    torch = sys.modules.get("torch")
    if is_torch(x) and x.device.type == "cuda":
        cuda: Any = torch.cuda  # type: ignore[union-attr]
        free, _ = cuda.mem_get_info(x.device)
        # The plain counters take a millisecond each.
        counts = cuda.memory_stats_as_nested_dict(x.device)
        held = [counts.get(name, {}).get("all", {}).get("current", 0) for name in ("reserved_bytes", "allocated_bytes")]
        return int(free + held[0] - held[1])
    if is_cupy(x):
        cupy: Any = sys.modules["cupy"]
        with x.device:
            return int(cupy.cuda.runtime.memGetInfo()[0] + cupy.get_default_memory_pool().free_bytes())
    return 1 << 28


def is_sparse(x: Array) -> bool:
    """Tell whether ``x`` is a sparse array of SciPy's, without importing SciPy."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


def is_dask(x: Any) -> bool:
    """Tell whether ``x`` is a collection of Dask's, without importing Dask."""
    return hasattr(x, "__dask_graph__") and not isinstance(x, type)


def namespace_of(x: Array) -> Any:
    """Return the array-API namespace of ``x``; NumPy's own for NumPy arrays.

    Examples
    --------
    >>> import numpy as np
    >>> namespace_of(np.ones(2)).__name__
    'numpy'
    """
    if isinstance(x, np.ndarray):
        return np
    from array_api_compat import array_namespace  # only foreign arrays pay for it

    return array_namespace(x)


def to_host(x: Array) -> HostArray:
    """Copy a small array to the host as NumPy; a NumPy array is returned as it is."""
    if isinstance(x, np.ndarray):
        return x
    if is_torch(x):
        return np.asarray(x.detach().cpu().numpy())
    if hasattr(x, "get"):
        return np.asarray(x.get())
    return np.asarray(x)


def host_floats(x: Array) -> HostArray:
    """Return an array as float64 on the host; one that is there already is not copied."""
    return np.asarray(to_host(x), dtype=FLOAT64)


def from_host(x: Array, *, like: Array, dtype: np.dtype[Any] | None = None) -> Array:
    """Move a host array to the library and device of ``like`` (and to ``dtype`` when given); others are there."""
    if not isinstance(x, np.ndarray):
        return x if dtype is None else cast(x, dtype)
    if dtype is not None:
        x = x.astype(dtype, copy=False)
    if isinstance(like, np.ndarray):
        return x
    xp, there = namespace_of(like), device_of(like)
    if x.ndim == 2 and x.flags.f_contiguous and not x.flags.c_contiguous:
        # Columns one after the other cross as they are: another order of a large matrix takes longer than to send it.
        return xp.asarray(_forward(x.T), **there).T
    return xp.asarray(_forward(x), **there)


def _forward(x: HostArray) -> HostArray:
    """Return a contiguous array whose strides are positive, those of axes of length one too: torch refuses others."""
    x = np.ascontiguousarray(x)
    return x.copy() if any(stride < 0 for stride in x.strides) else x


def picked(x: Array, rows: HostArray) -> Array:
    """Return some rows of ``x``, by their positions."""
    if isinstance(x, np.ndarray) or is_sparse(x):
        return x[rows]
    return namespace_of(x).take(x, from_host(np.asarray(rows), like=x), axis=0)


def solve_triangular(L: Array, B: Array, *, transposed: bool = False) -> Array:
    """Return  L^-1 B,  or  L'^-1 B,  for a lower triangular L, where L lives.

    Examples
    --------
    >>> solve_triangular(np.array([[2.0, 0.0], [2.0, 1.0]]), np.eye(2))
    array([[ 0.5,  0. ],
           [-1. ,  1. ]])
    """
    if is_torch(L):
        solve = sys.modules["torch"].linalg.solve_triangular
        return solve(L.T, B, upper=True) if transposed else solve(L, B, upper=False)
    library = "scipy.linalg" if isinstance(L, np.ndarray) else "cupyx.scipy.linalg"
    solve = import_module(library).solve_triangular
    return solve(L, B, lower=True, trans="T" if transposed else "N", check_finite=False)


def cholesky(A: Array) -> Array | None:
    """Return L,  A = L L',  where A lives; ``None`` where A is not positive definite.

    Examples
    --------
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]])), cholesky(-np.eye(2))
    (array([[2., 0.],
           [1., 2.]]), None)
    """
    if is_torch(A):
        L, broken_at = sys.modules["torch"].linalg.cholesky_ex(A)
        return None if int(broken_at) else L
    try:
        L = namespace_of(A).linalg.cholesky(A)
    except np.linalg.LinAlgError:
        return None
    return L if bool(namespace_of(L).isfinite(L).all()) else None


LARGE = 256
"""Size from which a dense eigenproblem is solved sooner on a device than on the host and back."""


def eigh(A: Array, *, near: Array = None) -> tuple[HostArray, Array]:
    """Return eigenvalues, ascending, on the host, and eigenvectors where A is.

    A large matrix on a device is solved there. So is a large one on the host that is ``near`` an array on a device.

    Examples
    --------
    >>> eigh(np.diag([2.0, 1.0]))[0]
    array([1., 2.])
    """
    near = A if near is None else near
    if is_numpy(near) or not on_device(near) or A.shape[0] < LARGE:
        values, vectors = np.linalg.eigh(to_host(A))
        return values, from_host(vectors, like=A)
    values, vectors = namespace_of(near).linalg.eigh(from_host(A, like=near) if is_numpy(A) else A)
    return to_host(values), to_host(vectors) if is_numpy(A) else vectors


def device_of(x: Array) -> dict[str, Any]:
    """Return the keyword that puts a new array where ``x`` lives; nothing for NumPy."""
    return {} if isinstance(x, np.ndarray) else {"device": x.device}


def dtype_of(x: Array) -> np.dtype[Any]:
    """Return the NumPy dtype that corresponds to the dtype of ``x``."""
    if hasattr(x, "dtype") and isinstance(x.dtype, np.dtype):
        return x.dtype
    return np.dtype(str(x.dtype).rsplit(".", maxsplit=1)[-1])


def cast(x: Array, dtype: np.dtype[Any]) -> Array:
    """Convert ``x`` to a floating ``dtype`` in its own library; no copy when it has it already."""
    if isinstance(x, np.ndarray):
        return x.astype(dtype, copy=False)
    xp = namespace_of(x)
    return xp.astype(x, getattr(xp, np.dtype(dtype).name), copy=False)


DRAWN_AT_ONCE = 2**19
"""Numbers that are drawn at a time where a large block is filled: 4 MB."""


def gaussian(shape: tuple[int, ...], *, seed: int, like: Array, dtype: np.dtype = FLOAT64) -> Array:
    """Draw standard normal numbers on the host in float64, then move them to where ``like`` lives.

    Examples
    --------
    >>> import numpy as np
    >>> bool(np.all(gaussian((2, 2), seed=1, like=np.ones(1)) == gaussian((2, 2), seed=1, like=np.ones(1))))
    True
    """
    draw = np.random.default_rng(seed).standard_normal(shape)
    return from_host(draw, like=like, dtype=dtype)
