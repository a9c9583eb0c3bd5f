"""Orthonormal blocks of vectors, in any array library."""

import numpy as np

from gramian.arrays.namespace import Array, HostArray, from_host, namespace_of, to_host

CHOLESKY_FLOOR = 1e-4
"""Smallest eigenvalue of the inner products of unit columns at which Cholesky still loses few digits."""


def orthonormalized(
    block: Array, basis: Array | None = None, *, before: Array | None = None, drop: float = 1e-10
) -> Array:
    """Return an orthonormal basis of what ``block`` adds to ``basis``; columns that add nothing are dropped.

    Computes  Q of  (I - B B')^2 block = Q R. Twice is enough: a second projection brings the loss of orthogonality back
    to rounding (Giraud, Langou, Rozloznik and van den Eshof, 2005, doi:10.1007/s00211-005-0615-4). A column counts as
    adding nothing when less than ``drop`` of it is left. ``before`` is given when the first projection has been made:
    it is the block as it was then.

    Cost: 4 m p b + 2 m b^2 operations, twice, for p columns in the basis.
    """
    for first in (True, False):
        norms = _norms(block if before is None or not first else before)
        if basis is not None and basis.shape[1] > 0 and not (first and before is not None):
            block = block - basis @ (basis.T @ block)
        # A unit column that loses half of itself in the second projection was rounding: what is left of it is too.
        keep = _norms(block) > (drop if first else 0.5) * np.maximum(norms, np.finfo(float).tiny)
        if not keep.all():
            block = block[:, from_host(np.flatnonzero(keep), like=block)]
        if block.shape[1] == 0:
            return block
        block = _independent(block, drop)
    return block


def _norms(block: Array) -> HostArray:
    if isinstance(block, np.ndarray):
        return np.asarray(np.sqrt(np.einsum("ij,ij->j", block, block)))
    return to_host(namespace_of(block).sum(block * block, axis=0) ** 0.5)


def _independent(block: Array, drop: float) -> Array:
    """Orthonormalize the columns; dependent ones are dropped by the diagonal of R after scaling to unit length.

    Cholesky of block'block gives R for half the work of Householder QR, and a second round (the caller's) brings its
    orthogonality to rounding (Yamamoto et al. 2015). It squares the condition number, so nearly dependent columns go
    through Householder.
    """
    xp = namespace_of(block)
    block = block / from_host(_norms(block), like=block)
    inner = to_host(block.T @ block)
    if np.linalg.eigvalsh(inner)[0] > CHOLESKY_FLOOR:
        inverse = np.linalg.inv(np.linalg.cholesky(inner)).T
        return block @ from_host(np.ascontiguousarray(inverse), like=block)
    Q, R = xp.linalg.qr(block)
    diagonal = np.abs(np.diagonal(to_host(R)))
    if diagonal.min(initial=1.0) > drop:
        return Q
    return Q[:, from_host(np.flatnonzero(diagonal > drop), like=Q)]


def rotated(vectors: Array, rotation: HostArray) -> Array:
    """Return ``vectors @ rotation``, the small factor moved to where the vectors live."""
    return vectors @ from_host(np.ascontiguousarray(rotation), like=vectors)
