"""Orthonormal blocks of vectors, in any array library."""

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, eigh, from_host, namespace_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.arrays.squares import column_norms

CHUNK = 1 << 12
"""Entries of long vectors that are combined at a time, so that they stay in a core's cache."""


def orthonormalized(
    block: Array,
    basis: Array | None = None,
    *,
    before: Array | None = None,
    overwrite: bool = False,
) -> Array:
    """Return an orthonormal basis of what ``block`` adds to ``basis``; columns that add nothing are dropped.

    Computes  Q of  (I - B B')^2 block = Q R. Twice is enough: a second projection brings the loss of orthogonality back
    to rounding (Giraud, Langou, Rozloznik and van den Eshof, 2005, doi:10.1007/s00211-005-0615-4). A column counts as
    adding nothing when less than 1e-10 of it is left, or no more than rounding. ``before`` is given when the block
    has been projected already (see :func:`projected`): it is the block as it was then, and a second projection is made
    only where columns are so nearly dependent that separating them brings the rounding back. With ``overwrite`` the
    result may take the place of ``block``.

    Cost: 4 m p b + 4 m b^2 operations, twice, for p columns in the basis.
    """
    # Less than that of a column is rounding.
    drop = max(1e-10, 32 * eps_of(dtype_of(block)))
    for first in (True, False):
        norms = column_norms(block if before is None or not first else before)
        if basis is not None and basis.shape[1] > 0 and not (first and before is not None):
            block = block - rotated(basis, to_host(basis.T @ block))
        # A unit column that loses half of itself in the second projection was rounding: what is left of it is too.
        keep = column_norms(block) > (drop if first else 0.5) * np.maximum(norms, np.finfo(float).tiny)
        if not keep.all():
            block = block[:, from_host(np.flatnonzero(keep), like=block)]
        if block.shape[1] == 0:
            return block
        block, spread = _independent(block, overwrite=overwrite)
        if before is not None and spread > 0.1:
            return block
    return block


def projected(block: Array, basis: Array, recent: slice) -> tuple[Array, HostArray]:
    """Return the block without its part in the span of ``basis``, (I - B B') block, and the coefficients  B'block.

    The columns ``recent`` of the basis are taken out first. Of a product with the last block of a Lanczos basis they
    take all but rounding, so that one more projection, along the whole basis, is enough; where it takes more than
    rounding it is made again.
    """
    near = basis[:, recent]
    coefficients = np.zeros((basis.shape[1], block.shape[1]))
    coefficients[recent] = to_host(near.T @ block)
    left = block - rotated(near, coefficients[recent])
    # Twice is enough but for a block that lies in the basis.
    for _ in range(3):
        more = to_host(basis.T @ left)
        left = left - rotated(basis, more)
        coefficients += more
        # What a projection takes by rounding is at most as large as that: a digit of what is left.
        if np.all(np.linalg.norm(more, axis=0) <= 0.1 * column_norms(left)):
            break
    return left, coefficients


def _independent(block: Array, *, overwrite: bool = False) -> tuple[Array, float]:
    """Orthonormalize the columns by the inverse square root of their inner products; dependent ones are dropped.

    Computes  block D U diag(1 / sqrt s) U'  from  D block'block D = U diag(s) U',  D scaling columns to unit length:
    the orthonormal columns nearest to the given ones. Every new column is a combination of old ones, so what they were
    orthogonal to they stay orthogonal to; a QR factorization that drops a dependent column does not keep that.
    Returns the smallest singular value of the unit columns too: errors of orthogonality to others grow by its inverse.
    """
    lengths = column_norms(block)
    if len(lengths) == 1:
        return block / float(lengths[0]), 1.0
    inner = to_host(block.T @ block).astype(FLOAT64, copy=False)
    s, U = eigh(inner / np.outer(lengths, lengths), near=block)
    # A combination of unit columns with a smaller square is rounding.
    kept = s > 4500 * eps_of(dtype_of(block))
    root = U[:, kept] / np.sqrt(s[kept])
    spread = float(np.sqrt(s[kept][0])) if kept.any() else 0.0
    if overwrite and kept.all():
        rotate(block, root @ U.T / lengths[:, None], block)
        return block, spread
    return rotated(block, (root @ U.T if kept.all() else root) / lengths[:, None]), spread


def rotated(vectors: Array, rotation: HostArray) -> Array:
    """Return ``vectors @ rotation``, the small factor moved to where the vectors live and to their precision.

    Vectors that lie one after the other in memory stay so: that product is the faster one too (by two for 4 columns).
    """
    rotation = rotation.astype(dtype_of(vectors), copy=False)
    if isinstance(vectors, np.ndarray) and vectors.strides[0] == vectors.itemsize:
        return np.asarray((rotation.T @ vectors.T).T)
    return vectors @ from_host(np.ascontiguousarray(rotation), like=vectors)


def rotate(vectors: Array, rotation: HostArray, out: Array) -> None:
    """Write  vectors @ rotation  to ``out``, which may be some of the vectors themselves.

    On the host a chunk of all vectors is taken at a time, so that no further long vectors are made.
    """
    for rows in chunks_of(vectors):
        out[rows, :] = rotated(vectors[rows, :], rotation)


def chunks_of(vectors: Array) -> list[slice]:
    """Cut long vectors on the host into chunks that stay in a core's cache; elsewhere they are one."""
    m = vectors.shape[0]
    step = CHUNK if isinstance(vectors, np.ndarray) else max(m, 1)
    return [slice(low, min(low + step, m)) for low in range(0, m, step)]


def longest(block: Array, columns: int) -> HostArray:
    """Return the positions of the longest columns, in order."""
    squares = to_host(namespace_of(block).sum(block * block, axis=0))
    return np.sort(np.argsort(-squares, kind="stable")[:columns])


def side_by_side(left: Array, right: Array) -> Array:
    """Return the columns of both blocks."""
    return namespace_of(left).concat([left, right], axis=1)
