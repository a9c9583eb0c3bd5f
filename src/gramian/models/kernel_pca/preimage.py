"""Pre-images: rows whose features are nearest to what kernel PCA scores stand for.

Scores y stand for a point P of feature space that is, in general, phi of no row at all. A pre-image is a row z with
phi(z) near P. Methods are small frozen values; ``fit`` binds one to an expansion, ``rebuild`` gives rows::

    Ridge(alpha=1.0).fit(expansion).rebuild(scores)          # Preimages(rows, errors, found)

Which of them serves best depends on the rows: :func:`choose_preimage` tries. From a fitted model to the expansion:
:func:`expansion_of`.
"""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, LinAlgWarning, solve

from gramian.arrays.namespace import Array, HostArray, is_sparse, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import GramianError, InputError, MemoryBudgetError, NotSupportedError, ParameterError
from gramian.features.sampling import take_rows
from gramian.kernels.combination import Stretched
from gramian.kernels.kernel import Kernel, RadialProfile
from gramian.kernels.radial import Gaussian
from gramian.kernels.widths import facts_of
from gramian.models.kernel_pca.expansion import KernelExpansion, expand, solve_densely
from gramian.models.kernel_pca.model import KernelPCAModel
from gramian.sources.rows import ranges


class Preimages(NamedTuple):
    """Rows rebuilt from scores.

    Attributes
    ----------
    rows : numpy array (m, d)
    errors : numpy array (m,)
        |phi(z) - P|^2, the squared distance in feature space that is left; 0 for a perfect pre-image, nan where the
        kernel does not take z (one of counts takes no negative numbers).
    found : numpy array (m,) of bool
        Whether the method itself answered; False where it fell back on its start.
    """

    rows: HostArray
    errors: HostArray
    found: HostArray


class FittedPreimage(ABC):
    """A method bound to the components of one kernel PCA."""

    @abstractmethod
    def rebuild(self, scores: HostArray) -> Preimages:
        """Return a row for each line of scores (m, k)."""


class PreimageMethod(ABC):
    """A way to find pre-images. A frozen value."""

    def peak_bytes(self, n: int, d: int) -> int:
        """Return the bytes that ``fit`` takes on n rows of d columns: rows and their mean's differences, in float64."""
        return 16 * n * d

    @abstractmethod
    def fit(self, expansion: KernelExpansion) -> FittedPreimage:
        """Do, once, what does not depend on the scores; refuse kernels that the method is not for."""


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
    >>> from gramian.models.kernel_pca.expansion import solve_densely
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


def input_distances(kernel: Kernel, products: HostArray, norms: HostArray, squares: HostArray) -> HostArray:
    """Return squared distances of a pre-image of P from rows (m, q), read off feature space.

    Computes, for a kernel of the distance, the d with  k(d) = k(0) - |P - phi(x)|^2 / 2;  for a power of the inner
    product, k = f(x.y), the distance from  z.z = f^-1(|P|^2)  and  z.x = f^-1(P.phi(x)).

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
    form = kernel.polynomial_form
    if form is not None:
        own, across = form.inner_product(norms[:, None]), form.inner_product(products)
        return np.asarray(np.maximum(own - 2 * across + squares, 0.0))
    profile = kernel.radial_profile()
    return profile.squared_distance(products + (profile.height - norms[:, None]) / 2)


@dataclass(frozen=True, eq=False)
class StretchedMap(FittedPreimage):
    """A method bound to stretched rows, as the kernel within sees them; its answers are given as the rows were."""

    within: FittedPreimage
    factors: HostArray

    def rebuild(self, scores: HostArray) -> Preimages:
        """Rebuild stretched rows, and take the stretching back."""
        found = self.within.rebuild(scores)
        return found._replace(rows=found.rows / self.factors)


NEIGHBORS = 10
"""Rows whose mean is the first start."""


@dataclass(frozen=True)
class FixedPoint(PreimageMethod):
    """The fixed point iteration for kernels of the distance (Mika et al., 1998, NIPS 11, eq. 10).

    Computes  z <- sum_j w_j k'(|z - x_j|^2) x_j / sum_j w_j k'(|z - x_j|^2),  at whose fixed points |phi(z) - P|^2 is
    stationary; k' is the derivative of the kernel in the squared distance, the kernel itself for a Gaussian. Several
    starts are tried for every point (the mean of the rows nearest to P in feature space, then these rows one by one)
    and the one that ends nearest to P is kept. A step that leads away, as negative weights can make it, is halved;
    where the weights vanish the start itself is the answer and ``found`` is False.

    Cost: m n kernel values per start and step, some tens of steps. The answer lies in the span of the rows, near those
    that P is near to: for denoising. Not for kernels of inner products, nor for large n: use the ridge or distances.

    Parameters
    ----------
    n_starts : int
    tol : float
        Step, relative to the spread of the rows, at which a point has settled.
    max_steps : int

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.models.kernel_pca.expansion import solve_densely
    >>> t = 2 * np.pi * np.arange(60) / 60
    >>> expansion = solve_densely(np.column_stack([np.cos(t), np.sin(t)]), Gaussian(0.5), 4)
    >>> noisy = np.array([[1.3, 0.1], [0.0, -0.6]])
    >>> rebuilt = FixedPoint().fit(expansion).rebuild(expansion.project(noisy))
    >>> np.linalg.norm(rebuilt.rows, axis=1).round(2)
    array([1., 1.])
    """

    n_starts: int = 3
    tol: float = 1e-5
    max_steps: int = 500

    def fit(self, expansion: KernelExpansion) -> "FixedPointMap":
        """Bind the iteration to an expansion over rows."""
        if self.n_starts < 1 or self.max_steps < 1 or not self.tol > 0:
            message = f"{self} cannot run. Pass at least one start and one step, and a positive tol."
            raise ParameterError(message)
        expansion.kernel.radial_profile()
        return FixedPointMap(self, expansion)


@dataclass(frozen=True, eq=False)
class FixedPointMap(FittedPreimage):
    """The iteration of :class:`FixedPoint` over the rows of one expansion."""

    method: FixedPoint
    expansion: KernelExpansion

    def rebuild(self, scores: HostArray) -> Preimages:
        """Iterate from every start, and keep the best end of each line of scores."""
        scores = np.asarray(scores, dtype=FLOAT64)
        parts = [self._rebuild(scores[part]) for part in self.expansion.pieces(len(scores), each=2)]
        return Preimages(*(np.concatenate(fields) for fields in zip(*parts, strict=True)))

    def _rebuild(self, scores: HostArray) -> Preimages:
        expansion = self.expansion
        iteration = _Iteration.of(expansion, expansion.weights(scores), self.method)
        norms = expansion.squared_norms(scores)
        best = Preimages(np.zeros((len(scores), expansion.rows.shape[1])), np.full(len(scores), np.inf), norms > np.inf)
        for start in self._starts(scores):
            rows, objective, found = iteration.run(start)
            errors = iteration.profile.height - 2 * objective + norms
            # A start that never moved serves only where nothing else does.
            better = (errors < best.errors) & (found | ~best.found) | (found & ~best.found)
            best = Preimages(
                np.where(better[:, None], rows, best.rows),
                np.where(better, errors, best.errors),
                best.found | found,
            )
        return best._replace(rows=best.rows + expansion.origin, errors=np.maximum(best.errors, 0.0))

    def _starts(self, scores: HostArray) -> list[HostArray]:
        """Return the mean of the rows nearest to each P, then those rows, the nearest first, about the origin."""
        count = min(max(NEIGHBORS, self.method.n_starts), len(self.expansion.rows))
        nearness = self.expansion.inner_products(scores)
        near = np.argpartition(-nearness, count - 1, axis=1)[:, :count]
        order = np.argsort(-np.take_along_axis(nearness, near, axis=1), axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        rows = self.expansion.rows - self.expansion.origin
        single = [rows[near[:, i]] for i in range(min(self.method.n_starts - 1, count))]
        return [rows[near[:, :NEIGHBORS]].mean(axis=1), *single]


@dataclass(frozen=True, eq=False)
class _Iteration:
    """One run of the fixed point for many points at once; rows are about their mean."""

    rows: HostArray
    squares: HostArray
    weights: HostArray
    profile: RadialProfile
    step_floor: float
    max_steps: int

    @classmethod
    def of(cls, expansion: KernelExpansion, weights: HostArray, method: FixedPoint) -> "_Iteration":
        rows = expansion.rows - expansion.origin
        squares = np.einsum("ij,ij->i", rows, rows)
        floor = method.tol * float(np.sqrt(squares.mean()))
        return cls(rows, squares, weights, expansion.kernel.radial_profile(), floor, method.max_steps)

    def run(self, start: HostArray) -> tuple[HostArray, HostArray, HostArray]:
        """Return the ends, their objective  P . phi(z), and whether any step was made."""
        z = start.copy()
        objective, target, sound = self._look(z, np.arange(len(z)))
        moved = sound & (objective > -np.inf)
        active, halvings = np.flatnonzero(moved), np.zeros(len(z), dtype=int)
        for _ in range(self.max_steps):
            if not active.size:
                break
            tried = target[active]
            value, after, sound = self._look(tried, active)
            worse = value < objective[active] - 1e-14 * np.abs(objective[active])
            # Back half the way: near enough to z the step climbs, if the weights around z are sound.
            target[active[worse]] = (z[active[worse]] + tried[worse]) / 2
            halvings[active[worse]] += 1
            on, steps = active[~worse], np.linalg.norm(tried - z[active], axis=1)
            z[on], objective[on], target[on] = tried[~worse], value[~worse], after[~worse]
            halvings[on] = 0
            ends = np.where(worse, halvings[active] > 12, (steps <= self.step_floor) | ~sound)
            active = active[~ends]
        return z, objective, moved

    def _look(self, z: HostArray, which: HostArray) -> tuple[HostArray, HostArray, HostArray]:
        """Return, at points z, the objective, the next point, and whether its weights have a sum to divide by."""
        distances = np.einsum("ij,ij->i", z, z)[:, None] + self.squares - 2 * z @ self.rows.T
        np.maximum(distances, 0.0, out=distances)
        value, fall = self.profile.curve(distances)
        w = self.weights[which]
        objective = np.einsum("ij,ij->i", w, value)
        w = w * fall
        total = w.sum(axis=1)
        # A smaller sum counts as zero: the mean that it defines is rounding.
        sound = total > 1e-8 * np.abs(w).sum(axis=1)
        target = (w @ self.rows) / np.where(sound, total, 1.0)[:, None]
        return objective, np.where(sound[:, None], target, z), sound


LARGEST_EXACT = 6_000
"""Rows up to which the regression uses all of them: 0.3 GB, and 3 s on two cores."""

CENTERS = 2_000
"""Rows whose kernel functions it uses beyond that."""

STRIP = 512
"""Rows whose values with those are held at a time."""


@dataclass(frozen=True)
class Ridge(PreimageMethod):
    """Kernel ridge regression from scores to rows.

    Computes  z(y) = mean + sum_j k(y, y_j) b_j  with  B = (K_Y + alpha I)^-1 (X - mean),  K_Y being the kernel between
    the scores y_j of the rows x_j (Bakir, Weston and Schoelkopf, 2003, NIPS 16). It is what scikit-learn's
    ``KernelPCA(fit_inverse_transform=True, alpha=...)`` computes, but that there rows are shrunk to the origin, not to
    their mean: strong smoothing loses it.

    Rows of a weighted fit count as often as there: in the mean, and in the squares that are made small.

    Beyond 6,000 rows the functions of 2,000 of them, drawn at random, are used:  min |X - mean - K_YC B|^2 +
    alpha tr(B' K_CC B),  the same regression restricted to their span.

    Cost: n^3 / 3 operations once (n 2,000^2 beyond), then m n kernel values and 2 m n d operations. Smooths: not for
    sharp detail.

    Parameters
    ----------
    alpha : float
        Not negative. The larger, the smoother.
    kernel : Kernel or None
        Between scores; ``None`` for the kernel of the fit, as in scikit-learn, or, where that one does not take
        scores (one of counts, such as chi-squared, does not take negative numbers), a Gaussian of their median width.
    seed : int
        Draws the rows whose functions are used, where not all are.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.models.kernel_pca.expansion import solve_densely
    >>> t = np.linspace(0, 6, 60)
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> expansion = solve_densely(circle, Gaussian(1.0), 6)
    >>> rebuilt = Ridge(alpha=1e-3).fit(expansion).rebuild(expansion.scores)
    >>> float(np.abs(rebuilt.rows - circle).max()) < 0.02
    True
    """

    alpha: float = 1.0
    kernel: Kernel | None = None
    seed: int = 0

    def peak_bytes(self, n: int, d: int) -> int:
        """Return the bytes of the regression: its matrix twice, or with its eigenvectors where alpha is zero; rows."""
        c = n if n <= LARGEST_EXACT else CENTERS
        strips = 0 if c == n else 4 * STRIP * c
        return 8 * ((2 if self.alpha > 0 else 5) * c * c + strips + d * (4 * n + 2 * c))

    def fit(self, expansion: KernelExpansion) -> "RidgeMap":
        """Solve the regression, once."""
        if not 0 <= self.alpha < np.inf:
            message = f"alpha={self.alpha} is not a weight of a ridge. Pass a finite number that is not negative."
            raise ParameterError(message)
        kernel = self.kernel or _taking(expansion.kernel, expansion.scores)
        kernel = kernel.resolved(facts_of(expansion.scores))
        counts = np.ones(len(expansion.rows)) if expansion.counts is None else expansion.counts
        mean = counts @ expansion.rows / counts.sum()
        lessons = _Lessons(expansion.scores, expansion.rows - mean, counts)
        if len(counts) <= LARGEST_EXACT:
            return RidgeMap(expansion, kernel, expansion.scores, _solve_all(kernel, lessons, self.alpha), mean)
        rng = np.random.default_rng(self.seed)
        few = min(CENTERS, int(np.count_nonzero(counts)))
        chosen = np.sort(rng.choice(len(counts), few, replace=False, p=counts / counts.sum()))
        centers = expansion.scores[chosen]
        return RidgeMap(expansion, kernel, centers, _solve_few(kernel, lessons, centers, self.alpha), mean)


class _Lessons(NamedTuple):
    """What is learned from: scores (n, k), rows less their mean (n, d), and how often each counts (n,)."""

    scores: HostArray
    targets: HostArray
    counts: HostArray


def _taking(kernel: Kernel, scores: HostArray) -> Kernel:
    """Return the kernel of the fit, or a Gaussian where it does not take scores, whose columns have both signs."""
    extremes = np.unique(np.concatenate([scores.argmin(axis=0), scores.argmax(axis=0)]))
    sample = np.vstack([scores[extremes], scores[:16]])
    try:
        _kernel(kernel.resolved(facts_of(sample)), sample, sample)
    except InputError:
        return Gaussian("median")
    return kernel


SMOOTH = Ridge(1e-2, Gaussian("median"))
"""Where none is named: a width for the scores themselves, and smooth in them, so that near scores give near rows."""


@dataclass(frozen=True, eq=False)
class RidgeMap(FittedPreimage):
    """The regression of :class:`Ridge`: ``dual`` (c, d) are its coefficients at the ``centers`` (c, k)."""

    expansion: KernelExpansion
    kernel: Kernel
    centers: HostArray
    dual: HostArray
    mean: HostArray

    def rebuild(self, scores: HostArray) -> Preimages:
        """Return mean + k(y, centers) dual for each line of scores."""
        scores = np.asarray(scores, dtype=FLOAT64)
        rows = np.empty((len(scores), len(self.mean)))
        for part in self.expansion.pieces(len(scores)):
            rows[part] = _kernel(self.kernel, scores[part], self.centers) @ self.dual + self.mean
        return Preimages(rows, self._errors(rows, scores), np.ones(len(rows), dtype=bool))

    def _errors(self, rows: HostArray, scores: HostArray) -> HostArray:
        """Return squared distances in feature space; nan where a regression left what the kernel of the fit takes."""
        try:
            return self.expansion.squared_distances(rows, scores)
        except InputError:
            return np.array([self._error(rows[i : i + 1], scores[i : i + 1]) for i in range(len(rows))])

    def _error(self, row: HostArray, score: HostArray) -> float:
        try:
            return float(self.expansion.squared_distances(row, score)[0])
        except InputError:
            return float("nan")


def _solve_all(kernel: Kernel, lessons: _Lessons, alpha: float) -> HostArray:
    """Return  B = D (D K D + alpha)^-1 D X,  D being the roots of the counts: a row that counts zero takes no part."""
    roots = np.sqrt(lessons.counts)[:, None]
    K = _kernel(kernel, lessons.scores, lessons.scores)
    K *= roots
    K *= roots.T
    K.flat[:: len(K) + 1] += alpha
    return roots * _solved(K, roots * lessons.targets)


def _solve_few(kernel: Kernel, lessons: _Lessons, centers: HostArray, alpha: float) -> HostArray:
    squares = alpha * _kernel(kernel, centers, centers)
    right = np.zeros((len(centers), lessons.targets.shape[1]))
    for part in ranges(len(lessons.scores), STRIP):
        strip = _kernel(kernel, lessons.scores[part], centers)
        weighted = strip.T * lessons.counts[part]
        squares += weighted @ strip
        right += weighted @ lessons.targets[part]
    return _solved(squares, right)


def _solved(A: HostArray, B: HostArray) -> HostArray:
    """Solve A Z = B for symmetric A; where it is not safely positive definite, by its eigenvalues."""
    try:
        with warnings.catch_warnings():
            # LAPACK warns of a matrix near to singular: its answer would be rounding.
            warnings.simplefilter("error", LinAlgWarning)
            return np.asarray(solve(A, B, assume_a="pos", check_finite=False))
    except (LinAlgError, LinAlgWarning):
        values, Q = np.linalg.eigh(A)
        small = np.abs(values) <= len(A) * np.finfo(FLOAT64).eps * np.abs(values).max()
        inverses = np.where(small, 0.0, 1.0 / np.where(small, 1.0, values))
        return np.asarray(Q @ (inverses[:, None] * (Q.T @ B)))


def _kernel(kernel: Kernel, left: HostArray, right: HostArray) -> HostArray:
    ready = [kernel.prepare(block, dtype=FLOAT64) for block in (left, right)]
    return np.asarray(kernel.evaluate(*ready))


def expansion_of(model: KernelPCAModel) -> KernelExpansion:
    """Write the mean and the components of a fitted kernel PCA as combinations of rows.

    Computes  C = (I - o 1') A  over the rows of an exact fit, A being its coefficients and o the weights of the mean;
    over the landmarks of an approximate one, whose components lie in their span,  C = R V  and  o = R mean.

    Cost: a copy of the rows in float64; n^2 kernel values for kernels, such as the linear one, whose rows were moved
    to their mean during the fit, m^2 for m landmarks.

    Raises
    ------
    NotSupportedError
        Where there are no rows, or components are combinations of random features and not of rows.

    Examples
    --------
    >>> from gramian.kernels import Gaussian
    >>> from gramian.models.kernel_pca.model import KernelPCAOptions
    >>> from gramian.models.kernel_pca.fit import fit_kernel_pca
    >>> from gramian.sources import as_source
    >>> X = np.random.default_rng(0).standard_normal((30, 2))
    >>> model = fit_kernel_pca(as_source(X), KernelPCAOptions(3, Gaussian(0.5)))
    >>> bool(np.allclose(expansion_of(model).project(X), model.scores))
    True
    """
    if model.kernel.is_precomputed:
        message = "Cannot fit_inverse_transform with a precomputed kernel: a matrix of kernel values holds no rows."
        raise NotSupportedError(message)
    if model.approximate:
        return _over_landmarks(model)
    centering = model.centering
    # Such rows were moved to their mean during the fit, so that the means of K are those of other inner products.
    moved = model.kernel.shift_invariant_centered and not model.kernel.shift_invariant
    whole = expand(
        take_rows(model.source, np.arange(model.n_rows)),
        model.kernel,
        alphas=model.alphas,
        scores=model.scores,
        offset=centering.shares,
        row_means=None if moved else centering.row_means,
        centered=centering.centered,
    )
    return replace(whole, counts=model.weights)


def _over_landmarks(model: KernelPCAModel) -> KernelExpansion:
    found: Any = model.expansion  # of features: the model is approximate
    phi = found.phi.by_landmarks
    if phi is None:
        message = (
            "Components in random features are no combinations of rows, so they have no pre-images here. Use "
            "landmarks=, or the exact model."
        )
        raise NotSupportedError(message)
    if is_sparse(phi.landmarks):
        message = "Pre-images of sparse rows are dense rows, and the methods for them work on dense ones."
        raise NotSupportedError(message)
    points = to_host(phi.landmarks).astype(FLOAT64)
    offset = phi.root @ found.mean
    means = to_host(phi.kernel(points)) @ offset
    return KernelExpansion(points, phi.kernel, phi.root @ found.components, offset, means, found.project(points))


@dataclass(frozen=True)
class Trial:
    """How a method did on held-out rows.

    Attributes
    ----------
    method : PreimageMethod
    error : float
        Mean squared distance of rebuilt rows from the rows themselves; inf where the method is not for the kernel.
    standard_error : float
    note : str
        Why it was not tried; empty when it was.
    """

    method: PreimageMethod
    error: float
    standard_error: float
    note: str = ""


@dataclass(frozen=True)
class PreimageChoice:
    """The method with the least held-out error, and how each did."""

    method: PreimageMethod
    trials: tuple[Trial, ...]

    def __str__(self) -> str:
        lines = [
            f"{trial.method}: {trial.note or f'{trial.error:.4g} +- {trial.standard_error:.2g}'}"
            for trial in self.trials
        ]
        return "\n".join([f"chose {self.method}; mean squared error of held-out rows:", *lines])


def candidates(alpha: float = 1.0) -> tuple[PreimageMethod, ...]:
    """Return the methods that are tried when none is named: each of the three, the ridge also with its own width."""
    own = Gaussian("median")
    ridges = (Ridge(alpha), *(Ridge(alpha * share, own) for share in (1.0, 0.1, 0.01)))
    return (*ridges, FixedPoint(), DistanceConstraints())


class ChosenPreimage(NamedTuple):
    """A method bound to an expansion, and how it was chosen: ``None`` when it was named."""

    fitted: FittedPreimage
    choice: PreimageChoice | None


def method_named(method: str | PreimageMethod, *, alpha: float = 1.0, seed: int = 0) -> PreimageMethod | None:
    """Return the method of a name, or the one given; ``None`` for "auto"."""
    known = {"ridge": Ridge(alpha, seed=seed), "fixed_point": FixedPoint(), "distances": DistanceConstraints()}
    chosen = known.get(method) if isinstance(method, str) else method
    if chosen is None and method != "auto":
        message = f"pre_image={method!r} is not known. Pass one of {', '.join(known)}, auto, or a method itself."
        raise ParameterError(message)
    return chosen


def require_room(method: PreimageMethod | None, n: int, d: int, *, budget: int) -> None:
    """Refuse a method whose fit on n rows of d columns exceeds a budget; "auto" (``None``) where none fits."""
    tried = candidates() if method is None else (method,)
    needed = min(one.peak_bytes(n, d) for one in tried)
    if needed <= budget:
        return
    advice = "pass pre_image='fixed_point', or " if needed > FixedPoint().peak_bytes(n, d) else ""
    message = (
        f"Pre-images of {n:,} rows by {method or 'any method'} need {needed / 1e6:.0f} MB beyond the rows, and "
        f"memory_budget is {budget / 1e6:.0f} MB. To go on, {advice}set memory_budget to {needed} or more."
    )
    raise MemoryBudgetError(message, needed=needed, budget=budget)


def fit_preimage(
    method: str | PreimageMethod,
    expansion: KernelExpansion,
    *,
    alpha: float = 1.0,
    seed: int = 0,
    budget: int | None = None,
) -> ChosenPreimage:
    """Bind a pre-image method, given by name or as a value, to the components of a kernel PCA.

    Parameters
    ----------
    method : {"ridge", "fixed_point", "distances", "auto"} or PreimageMethod
        "auto" tries all of them on held-out rows: :func:`choose_preimage`.
    expansion : KernelExpansion
    alpha : float
        Of the ridge.
    seed : int
    budget : int, optional
        Bytes beyond the rows: a method that takes more is refused, and not tried by "auto".

    Examples
    --------
    >>> t = 2 * np.pi * np.arange(50) / 50
    >>> expansion = solve_densely(np.column_stack([np.cos(t), np.sin(t)]), Gaussian(0.5), 6)
    >>> fit_preimage("distances", expansion).fitted.method
    DistanceConstraints(n_neighbors=10, bounded=True)
    >>> fit_preimage("auto", expansion).choice.trials[0].method
    Ridge(alpha=1.0, kernel=None, seed=0)
    """
    kernel = expansion.kernel
    if isinstance(kernel, Stretched) and all(kernel.factors):
        rows = np.asarray(kernel.stretched(expansion.rows))
        stretched = replace(expansion, rows=rows, kernel=kernel.kernel)
        fitted, choice = fit_preimage(method, stretched, alpha=alpha, seed=seed, budget=budget)
        return ChosenPreimage(StretchedMap(fitted, np.array(kernel.factors)), choice)
    chosen, shape = method_named(method, alpha=alpha, seed=seed), expansion.rows.shape
    if budget is not None:
        require_room(chosen, *shape, budget=budget)
    if chosen is not None:
        return ChosenPreimage(chosen.fit(expansion), None)
    k = expansion.coefficients.shape[1]
    # A row of weight zero is no row of the fit: nothing is to be judged by it.
    rows = expansion.rows if expansion.counts is None else expansion.rows[expansion.counts > 0]
    methods = [one for one in candidates(alpha) if budget is None or one.peak_bytes(*shape) <= budget]
    choice = choose_preimage(rows, expansion.kernel, k, methods=methods, seed=seed)
    return ChosenPreimage(choice.method.fit(expansion), choice)


def choose_preimage(
    rows: Array, kernel: Kernel, n_components: int, *, methods: Sequence[PreimageMethod] | None = None, seed: int = 0
) -> PreimageChoice:
    """Choose among pre-image methods by the error of rows that were held out.

    Computes  kernel PCA of 800 rows drawn at random (four fifths where there are fewer than 1,000), the scores of 200
    others under it, their pre-images by each method, and the mean of |z - x|^2 over them.

    Cost: a dense kernel PCA of at most 800 rows, about a second in all, however many rows there are.

    Parameters
    ----------
    rows : array (n, d)
    kernel : Kernel
        With numbers for parameters.
    n_components : int
    methods : sequence of PreimageMethod, optional
        :func:`candidates` where not given. Those that the kernel cannot serve are passed over, and say why.
    seed : int

    Examples
    --------
    >>> t = 2 * np.pi * np.arange(200) / 200
    >>> circle = np.column_stack([np.cos(t), np.sin(t)])
    >>> choice = choose_preimage(circle, Gaussian(0.5), 6)
    >>> min(trial.error for trial in choice.trials) < 1e-4
    True
    """
    learned, held_out = split(rows, seed=seed)
    expansion = solve_densely(learned, kernel, min(n_components, len(learned)))
    scores = expansion.project(held_out)
    trials = []
    for method in candidates() if methods is None else methods:
        try:
            rebuilt = method.fit(expansion).rebuild(scores).rows
        except GramianError as error:
            trials.append(Trial(method, np.inf, np.nan, str(error)))
            continue
        squares = np.sum((rebuilt - held_out) ** 2, axis=1)
        trials.append(Trial(method, float(squares.mean()), float(squares.std() / np.sqrt(len(squares)))))
    best = min(trials, key=lambda trial: trial.error)
    if not np.isfinite(best.error):
        message = f"No pre-image method serves {kernel}: {trials[0].note}"
        raise NotSupportedError(message)
    return PreimageChoice(best.method, tuple(trials))


def split(rows: Array, *, seed: int) -> tuple[HostArray, HostArray]:
    """Return at most 800 rows to learn from and 200 to judge by, drawn at random; one row alone is both."""
    points = to_host(rows)
    order = np.random.default_rng(seed).permutation(len(points))
    held_out = min(200, max(1, len(points) // 5))
    learned = order[held_out : held_out + 800] if len(points) > 1 else order
    return points[learned].astype(FLOAT64), points[order[:held_out]].astype(FLOAT64)
