"""The block Krylov process: a basis that starts, expands and shrinks, defined by the identity that it keeps.

For a symmetric A (m x m) that is known by its products alone::

    A V = V T + R B'        V'V = I,   R'R = I,   V'R = 0

    V   m x p   the basis
    T   p x p   A within the basis, V'A V
    R   m x b   the directions ahead: all that A V has outside the basis
    B   p x b   which columns of the basis lead there

To *expand* is to take R into the basis, at the price of the product A R. To *shrink* is to keep leading Ritz vectors
V S of the basis, S being eigenvectors of T: then T becomes diagonal, B becomes S'B, and R stays. That is a thick
restart.

The products W = A V are kept too. So the residual of a Ritz pair (theta, s) is measured, W s - theta V s, and costs no
further product; B gives an estimate of it, |B's|, that touches no long vector.

When to start, expand, shrink and stop is for a solver to say: see :mod:`gramian.eigen.krylov`.

References
----------
Wu and Simon (2000), thick-restart Lanczos, doi:10.1137/S0895479898334605.
"""

from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, cast, device_of, eigh, from_host, is_numpy, namespace_of, to_host
from gramian.arrays.precision import FLOAT64
from gramian.eigen.orthonormal import chunks_of, longest, orthonormalized, projected, rotate, rotated


class RitzPairs(NamedTuple):
    """Eigenpairs of T: values, descending, and the columns S of which the Ritz vectors V S are made."""

    values: HostArray
    S: HostArray

    def leading(self, count: int) -> "RitzPairs":
        """Return the first ``count`` pairs."""
        return RitzPairs(self.values[:count], self.S[:, :count])


class KrylovBasis:
    """A basis V of p columns with its products W = A V,  A V = V T + R B'.

    Cost of :meth:`expand` by b columns: 4 m p b + 4 m b^2 operations, twice. Memory: 2 m ``capacity`` numbers.

    Parameters
    ----------
    capacity : int
        Columns that there is room for.
    dtype : numpy.dtype
        Precision in which V and W are kept. T and B are float64.
    like : array (m, any)
        Of the library and device that the basis is to have.

    Attributes
    ----------
    V, W, T, R, B
        As in the head of this module; ``columns`` is p, ``size`` is m, and ``dtype`` is of V and W.

    Examples
    --------
    >>> import numpy as np
    >>> A, basis = np.diag([3.0, 2.0, 1.0]), KrylovBasis(2, np.dtype(float), like=np.ones((3, 1)))
    >>> basis.expand(np.ones((3, 1)) / np.sqrt(3), A @ np.ones((3, 1)) / np.sqrt(3))
    >>> bool(np.allclose(A @ basis.V, basis.V @ basis.T + basis.R @ basis.B.T))
    True
    """

    def __init__(self, capacity: int, dtype: np.dtype[Any], *, like: Array) -> None:
        m, xp = like.shape[0], namespace_of(like)
        kind = dtype if is_numpy(like) else getattr(xp, dtype.name)
        # Vectors lie one after the other in memory, so that adding some touches only them.
        self._V, self._W = (xp.empty((capacity, m), dtype=kind, **device_of(like)).T for _ in range(2))
        self._T = np.zeros((capacity, capacity))
        self.size: int = m
        self.dtype = dtype
        self._resize(0)
        self.R, self.B = self.V, np.zeros((0, 0))
        self._ritz: RitzPairs | None = None
        self._linked = 0

    def _resize(self, columns: int) -> None:
        self.columns = columns
        self.V, self.W, self.T = self._V[:, :columns], self._W[:, :columns], self._T[:columns, :columns]

    @property
    def is_whole(self) -> bool:
        """Whether the basis spans the whole space."""
        return self.columns == self.size

    def expand(
        self, directions: Array, products: Array, *, skip: int = 0, most: int | None = None, trusted: int = 0
    ) -> None:
        """Take ``directions`` into the basis, with ``products`` = A directions, and find what lies ahead.

        The identity holds for all columns when the directions are R. Along others (the first ones, a random search) it
        holds for the new columns.

        Parameters
        ----------
        directions, products : arrays (m, b)
            Orthonormal columns, orthogonal to the basis, and A times them.
        skip : int, default=0
            Columns, of the first, that do not lead on: R has what the others add.
        most : int, optional
            Columns that lead on, at most: those that reach furthest out of the basis.
        trusted : int, default=0
            Leading columns of the basis whose products are more accurate than these; T takes its entries from them.
        """
        old = self.columns
        # A times the last block has no part in columns before the block that led to it.
        recent = slice(self._linked if directions is self.R else 0, old + directions.shape[1])
        block = self._append(directions, products)
        left, part = projected(block, self.V, recent)
        part[:trusted] = to_host(self.W[:, :trusted].T @ self.V[:, old:])
        self._fill(part)
        onward: slice | Array = slice(skip, None)
        if most is not None:
            onward = from_host(longest(left, most), like=left)
        ahead = orthonormalized(left[:, onward], self.V, before=block[:, onward])
        self.R = ahead[:, : self.size - self.columns]
        self.B = np.zeros((self.columns, self.R.shape[1]))
        self.B[old:] = to_host(block.T @ self.R)
        self._linked = 0 if skip else old

    def add(self, directions: Array, products: Array) -> None:
        """Take ``directions`` into the basis and leave open what lies ahead, for a method that finds its own way.

        W = A V and T = V'A V hold; R has no columns.
        """
        block = self._append(directions, products)
        self._fill(to_host(self.V.T @ block))
        self.R, self.B = self._V[:, :0], np.zeros((self.columns, 0))

    def _append(self, directions: Array, products: Array) -> Array:
        """Add columns to V and W, and return those of W."""
        old, new = self.columns, self.columns + directions.shape[1]
        self._V[:, old:new], self._W[:, old:new] = directions, products
        self._resize(new)
        self._ritz = None
        return self.W[:, old:]

    def _fill(self, part: HostArray) -> None:
        """Set the last columns of T, and the rows that they are by symmetry."""
        old = self.columns - part.shape[1]
        self.T[:, old:] = part
        self.T[old:, :old] = part[:old].T
        self.T[old:, old:] = (part[old:] + part[old:].T) / 2

    def shrink(self, pairs: RitzPairs) -> None:
        """Let the basis be the vectors of some Ritz pairs."""
        p, keep = self.columns, len(pairs.values)
        rotate(self._V[:, :p], pairs.S, self._V[:, :keep])
        rotate(self._W[:, :p], pairs.S, self._W[:, :keep])
        self._T[:keep, :keep] = np.diag(pairs.values)
        self.B = pairs.S.T @ self.B
        self._resize(keep)
        self._linked, self._ritz = 0, RitzPairs(pairs.values, np.eye(keep))

    def ritz(self) -> RitzPairs:
        """Return all eigenpairs of T."""
        if self._ritz is None:
            values, S = eigh(self.T, near=self._V)
            self._ritz = RitzPairs(values[::-1], S[:, ::-1])
        return self._ritz

    def vectors(self, pairs: RitzPairs) -> Array:
        """Return the Ritz vectors V S in float64."""
        if not is_numpy(self._V):
            return cast(rotated(self.V, pairs.S), FLOAT64)
        vectors = np.empty((len(pairs.values), self.size)).T
        rotate(self.V, pairs.S, vectors)
        return vectors

    def remainders(self, pairs: RitzPairs, rows: slice = slice(None)) -> Array:
        """Return  A v - theta v  of some Ritz pairs, measured, or some entries of them."""
        return rotated(self.W[rows, :], pairs.S) - rotated(self.V[rows, :], pairs.S * pairs.values)

    def residuals(self, pairs: RitzPairs) -> HostArray:
        """Return  |A v - theta v|  of some Ritz pairs, measured."""
        squares = np.zeros(len(pairs.values))
        for rows in chunks_of(self.V):
            part = self.remainders(pairs, rows)
            squares += to_host(namespace_of(part).sum(part * part, axis=0))
        return np.asarray(np.sqrt(squares))

    def estimates(self, pairs: RitzPairs) -> HostArray:
        """Return  |B's|,  what the residuals of some Ritz pairs are by the identity."""
        return np.asarray(np.linalg.norm(self.B.T @ pairs.S, axis=0))
