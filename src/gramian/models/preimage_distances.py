"""Pre-images by distances: how far P is from rows in feature space says how far its pre-image is from them."""

from dataclasses import dataclass
from functools import singledispatch

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.kernels.inner_product import Linear, Polynomial
from gramian.kernels.kernel import Kernel
from gramian.models.kernel_expansion import KernelExpansion
from gramian.models.preimage import FittedPreimage, PreimageMethod, Preimages
from gramian.models.radial_profile import radial_profile


@dataclass(frozen=True)
class DistanceConstraints(PreimageMethod):
    """Pre-images from distances to a few neighbors (Kwok and Tsang, 2004, doi:10.1109/TNN.2004.837781).

    Computes, for the q rows nearest to P in feature space, the distance in the space of the rows that each of those
    distances stands for (the kernel read backwards), and from these the point in the flat of the neighbors, by
    classical scaling:  with their centered coordinates  Xc = U S V',

        z = mean + V S^-1 U' (|xc_i|^2 - d_i^2) / 2.

    No iteration and no start: nothing can fail to converge, and no kernel value is computed but for the error.

    Cost: 2 m n k operations for the neighbors, m q^2 (d + q) for the points. For kernels of the distance and for
    polynomial and linear ones. Not where the rows are too few to surround P: the flat of the neighbors is all it sees.

    Parameters
    ----------
    n_neighbors : int
        q, at least 2.
    bounded : bool
        Whether a point stays, along each principal direction of its neighbors, where they are. The paper has no such
        bound: where neighbors lie along a curve, they hardly spread across it, and what few components get wrong in
        the distances throws points far off (noisy points of a circle then end farther from it than they were).

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.models.kernel_expansion import solve_densely
    >>> t = 2 * np.pi * np.arange(60) / 60
    >>> expansion = solve_densely(np.column_stack([np.cos(t), np.sin(t)]), Gaussian(0.5), 8)
    >>> rebuilt = DistanceConstraints().fit(expansion).rebuild(expansion.project(np.array([[0.8, 0.6]])))
    >>> rebuilt.rows.round(2)
    array([[0.8, 0.6]])
    """

    n_neighbors: int = 10
    bounded: bool = True

    def fit(self, expansion: KernelExpansion) -> "DistanceMap":
        """Bind the method to an expansion over rows."""
        if self.n_neighbors < 2:
            message = f"n_neighbors={self.n_neighbors} cannot place a point. Pass an integer of at least 2."
            raise ParameterError(message)
        probe = np.ones((1, 1))
        input_distances(expansion.kernel, probe, probe[0], probe)
        return DistanceMap(self, expansion)


@dataclass(frozen=True, eq=False)
class DistanceMap(FittedPreimage):
    """:class:`DistanceConstraints` over the rows of one expansion."""

    method: DistanceConstraints
    expansion: KernelExpansion

    def rebuild(self, scores: HostArray) -> Preimages:
        """Place a point for each line of scores."""
        scores = np.asarray(scores, dtype=FLOAT64)
        rows = np.concatenate([self._placed(scores[part]) for part in self.expansion.pieces(len(scores))])
        errors = self.expansion.squared_distances(rows, scores)
        return Preimages(rows, errors, np.ones(len(rows), dtype=bool))

    def _placed(self, scores: HostArray) -> HostArray:
        expansion, q = self.expansion, min(self.method.n_neighbors, len(self.expansion.rows))
        products, norms = expansion.inner_products(scores), expansion.squared_norms(scores)
        apart = expansion.kernel.diagonal(expansion.rows) - 2 * products
        near = np.argpartition(apart, q - 1, axis=1)[:, :q]
        neighbors = expansion.rows[near]
        squares = np.einsum("mqd,mqd->mq", neighbors, neighbors)
        distances = input_distances(expansion.kernel, np.take_along_axis(products, near, axis=1), norms, squares)
        return place(neighbors, distances, bounded=self.method.bounded)


def place(neighbors: HostArray, squared_distances: HostArray, *, bounded: bool = False) -> HostArray:
    """Return, in the flat of each group of neighbors (m, q, d), the point at these squared distances (m, q).

    Least squares where no point has them all; directions in which the neighbors do not spread are left alone. With
    ``bounded``, no coordinate along a principal direction of the neighbors lies beyond all of theirs.

    Examples
    --------
    >>> corners = np.array([[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0]]])
    >>> place(corners, np.array([[2.0, 2.0, 2.0]]))
    array([[1., 1.]])
    """
    mean = neighbors.mean(axis=1, keepdims=True)
    centered = neighbors - mean
    values, U = np.linalg.eigh(centered @ centered.transpose(0, 2, 1))
    kept = values > 1e-10 * values[:, -1:]
    spread = np.sqrt(np.where(kept, values, 1.0))
    heights = np.einsum("mqd,mqd->mq", centered, centered) - squared_distances
    coordinates = np.einsum("mqr,mq->mr", U, heights) / (2 * spread)
    if bounded:
        theirs = U * spread[:, None]
        coordinates = np.clip(coordinates, theirs.min(axis=1), theirs.max(axis=1))
    combination = np.einsum("mqr,mr->mq", U, np.where(kept, coordinates / spread, 0.0))
    return np.asarray(mean[:, 0] + np.einsum("mq,mqd->md", combination, centered))


@singledispatch
def input_distances(kernel: Kernel, products: HostArray, norms: HostArray, squares: HostArray) -> HostArray:
    """Return squared distances of a pre-image of P from rows (m, q), read off feature space.

    Computes, for a kernel of the distance, the d with  k(d) = k(0) - |P - phi(x)|^2 / 2;  for one of the inner product,
    k = f(x.y), the distance from  z.z = f^-1(|P|^2)  and  z.x = f^-1(P.phi(x)).

    Parameters
    ----------
    kernel : Kernel
    products : array (m, q)
        P . phi(x_i).
    norms : array (m,)
        |P|^2.
    squares : array (m, q)
        |x_i|^2.
    """
    del squares
    profile = radial_profile(kernel)
    return profile.squared_distance(products + (profile.height - norms[:, None]) / 2)


@input_distances.register
def _linear(kernel: Linear, products: HostArray, norms: HostArray, squares: HostArray) -> HostArray:
    del kernel
    return np.asarray(np.maximum(norms[:, None] - 2 * products + squares, 0.0))


@input_distances.register
def _polynomial(kernel: Polynomial, products: HostArray, norms: HostArray, squares: HostArray) -> HostArray:
    own, across = _inner_product(kernel, norms[:, None]), _inner_product(kernel, products)
    return np.asarray(np.maximum(own - 2 * across + squares, 0.0))


def _inner_product(kernel: Polynomial, values: HostArray) -> HostArray:
    """Return the x.y at which the kernel has these values; of two, as even degrees have, the larger."""
    root = np.abs(values) ** (1.0 / kernel.degree)
    root *= np.sign(values) if kernel.degree % 2 == 1 else values > 0
    gamma = float(kernel.gamma)  # type: ignore[arg-type]  # a number, once resolved
    return np.asarray((root - kernel.coef0) / gamma)
