"""Features from landmarks: which rows, or points between them, stand for all, and the kernel by way of them."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import solve_triangular

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import InputError, MemoryBudgetError, NotSupportedError, ParameterError
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.features.sampling import Resolved, draw_positions, resolve_kernel, take_rows
from gramian.kernels.blocks import named_rows
from gramian.kernels.kernel import Kernel, Prepared
from gramian.kernels.radial import Gaussian
from gramian.sources.rows import RowSource, ranges


def kmeans_centers(points: HostArray, count: int, *, seed: int) -> HostArray:
    """Return centers that points are near to (at most ``count``, d).

    Computes  Lloyd's iteration (1982, doi:10.1109/TIT.1982.1056489): points go to their nearest center, centers to the
    mean of their points; ten sweeps at most, from the seeds of k-means++. A center without points stays. Fewer
    centers come back only where there are fewer different points.

    Cost: 2 n d count operations per sweep, n count numbers in pieces. Not a clustering to interpret: it stops early.

    Examples
    --------
    >>> points = np.array([[0.0], [0.2], [5.0], [5.2]])
    >>> sorted(kmeans_centers(points, 2, seed=0).ravel().tolist())
    [0.1, 5.1]
    """
    mean = points.mean(axis=0)
    points = points.astype(np.float64) - mean
    centers = points[spread_seeds(points, count, seed=seed)]
    labels = np.full(len(points), -1)
    for _ in range(10):  # landmarks are hardly better after more
        before, labels = labels, _nearest(points, centers)
        if np.array_equal(before, labels):
            break
        centers = _means(points, labels, centers)
    return np.asarray(centers + mean)


def spread_seeds(points: HostArray, count: int, *, seed: int) -> HostArray:
    """Return positions of points that lie far apart: the seeds of k-means++ (Arthur and Vassilvitskii, 2007).

    Each seed is drawn with probability proportional to its squared distance from those before it. Seeds are proposed
    by the dozen and accepted with the probability that distances have shrunk by meanwhile, which gives the same
    distribution with one matrix product for many seeds.

    Cost: 2 n d count operations.
    """
    rng = np.random.default_rng(seed)
    seeds = [int(rng.integers(len(points)))]
    left = _squared_distances(points, points[seeds])[:, 0]
    floor = 1e-14 * float(left.max())
    while len(seeds) < count and left.max() > floor:
        proposed = rng.choice(len(points), min(256, 2 * (count - len(seeds))), p=left / left.sum())
        accepted = _accepted(points[proposed], left[proposed], rng)[: count - len(seeds)]
        seeds.extend(proposed[accepted].tolist())
        for part in ranges(len(points), 8192):
            np.minimum(
                left[part], _squared_distances(points[part], points[proposed[accepted]]).min(axis=1), out=left[part]
            )
        left[seeds] = 0.0
    return np.array(seeds)


def _accepted(points: HostArray, left: HostArray, rng: np.random.Generator) -> HostArray:
    """Return which proposals to keep, in order: each by how much of its distance those kept before it have left."""
    apart, now = _squared_distances(points, points), left.copy()
    kept = []
    for i, draw in enumerate(rng.random(len(points))):
        if draw * left[i] < now[i]:
            kept.append(i)
            np.minimum(now, apart[i], out=now)
            now[i] = 0.0
    return np.array(kept)


def _squared_distances(left: HostArray, right: HostArray) -> HostArray:
    squares = np.einsum("ij,ij->i", left, left)[:, None] + np.einsum("ij,ij->i", right, right)
    squares -= 2.0 * (left @ right.T)
    return np.asarray(np.maximum(squares, 0.0, out=squares))


def _nearest(points: HostArray, centers: HostArray) -> HostArray:
    half = 0.5 * np.einsum("ij,ij->i", centers, centers)
    pieces = [np.argmax(points[part] @ centers.T - half, axis=1) for part in ranges(len(points), 4096)]
    return np.concatenate(pieces)


def _means(points: HostArray, labels: HostArray, centers: HostArray) -> HostArray:
    n = len(points)
    member = sp.csr_array((np.ones(n), (labels, np.arange(n))), shape=(len(centers), n))
    counts = np.bincount(labels, minlength=len(centers))[:, None]
    return np.where(counts > 0, (member @ points) / np.maximum(counts, 1), centers)


CANDIDATES = 10_000
"""Rows, at least, that k-means and pivots look at where there are as many."""

CHOICES = ("uniform", "kmeans", "pivoted")
"""How landmarks can be chosen."""


class Chosen(NamedTuple):
    """Landmarks (m, d), and their positions among the rows where they are rows."""

    points: Array
    positions: HostArray | None


def choose_landmarks(source: RowSource, resolved: Resolved, count: int, *, choice: str, seed: int) -> Chosen:
    """Choose ``count`` landmarks for a kernel on the rows of a source; fewer where fewer say all.

    uniform
        Rows drawn at random, each as often as its weight says. One pass; good when rows are spread evenly.
    kmeans
        Centers of groups (Zhang, Tsang and Kwok, 2008), for kernels of the distance of dense rows: few of them do
        what many drawn rows do. 2 c d m operations per sweep for c candidates.
    pivoted
        Rows chosen by a randomly pivoted Cholesky factorization of K: for every kernel, also where rows are spread
        unevenly. c m (d + m) operations and c m numbers.

    The last two look at c = max(10,000, 8 m) or max(10,000, 4 m) rows drawn at random.
    """
    if choice == "uniform":
        return _rows_at(source, draw_positions(source, count, seed=seed))
    if choice == "kmeans":
        return _centers(source, count, seed=seed)
    candidates = draw_positions(source, max(CANDIDATES, 4 * count), seed=seed)
    rows = take_rows(source, candidates)
    with named_rows(candidates, candidates):
        pivots = pivoted_positions(rows, resolved, count, seed=seed + 1)
    return _rows_at(source, candidates[pivots])


def pivoted_positions(rows: Array, resolved: Resolved, count: int, *, seed: int) -> HostArray:
    """Return the pivots of a randomly pivoted partial Cholesky factorization of K over these rows.

    Computes  pivots drawn with probability proportional to the diagonal of what is left of K, eliminated, and so on
    (Chen, Epperly, Tropp and Webber, 2022, arXiv:2207.06503). They are proposed by the dozen from the same
    diagonal and kept with the probability that theirs has shrunk by meanwhile, which leaves the distribution as it is
    (Epperly, Tropp and Webber, 2024, arXiv:2410.03969).

    Cost: n count kernel values, n count^2 operations and n count numbers. Stops early where K has no more rank.

    Parameters
    ----------
    rows : array (n, d) or CSR
    resolved : Resolved
        The kernel and the point that distances are taken from.
    """
    rng, work = np.random.default_rng(seed), _PartialCholesky(rows, resolved, count)
    while work.wanted > 0 and work.left.sum() > work.floor:
        share = work.left / work.left.sum()
        # 128 at a time: enough for full matrix products, few enough that most are accepted.
        work.grow(rng.choice(len(share), min(128, 2 * work.wanted), p=share), rng)
    return work.pivots


class _PartialCholesky:
    """A partial factorization  K ~ F'F  that grows by the pivots it is given; ``left`` is the diagonal of the rest."""

    def __init__(self, rows: Array, resolved: Resolved, count: int) -> None:
        self._rows, self._resolved = rows, resolved
        self._all = self._prepared(rows)
        self.left = resolved.kernel.diagonal(rows).copy()
        self.floor = len(self.left) * eps_of(FLOAT64) * float(self.left.sum())
        self.pivots = np.empty(0, dtype=np.int64)
        self._factor = np.empty((count, len(self.left)))

    @property
    def wanted(self) -> int:
        """Pivots that are still to come."""
        return len(self._factor) - len(self.pivots)

    def grow(self, proposed: HostArray, rng: np.random.Generator) -> None:
        """Eliminate those of the proposed pivots that are accepted."""
        L = accepted_columns(self._remainder(proposed, proposed), self.left[proposed], rng)[:, : self.wanted]
        # Each accepted column begins at its own pivot.
        kept = np.argmax(L != 0, axis=0)
        # Proposals that rounding alone had left are not proposed again.
        self.left[proposed] = np.where(np.einsum("ij,ij->i", L, L) > 0, self.left[proposed], 0.0)
        if not kept.size:
            return
        pivots = proposed[kept]
        strip = solve_triangular(L[kept], self._remainder(pivots, None), lower=True, check_finite=False)
        self._factor[len(self.pivots) : len(self.pivots) + len(pivots)] = strip
        self.left = np.maximum(self.left - np.einsum("ij,ij->j", strip, strip), 0.0)
        self.pivots = np.concatenate([self.pivots, pivots])
        self.left[self.pivots] = 0.0

    def _remainder(self, left: HostArray, right: HostArray | None) -> HostArray:
        """Return K - F'F at rows ``left`` and columns ``right``, all of them where that is ``None``."""
        others = self._all if right is None else self._prepared(self._rows[right])
        factor = self._factor[: len(self.pivots)]
        with named_rows(left, right):
            K = to_host(self._resolved.kernel.evaluate(self._prepared(self._rows[left]), others))
        return K - factor[:, left].T @ (factor if right is None else factor[:, right])

    def _prepared(self, rows: Array) -> Any:
        return self._resolved.kernel.prepare(rows, dtype=FLOAT64, origin=self._resolved.origin)


def accepted_columns(K: HostArray, diagonal: HostArray, rng: np.random.Generator) -> HostArray:
    """Return the Cholesky columns (b, a) of the pivots accepted among b proposed ones, in order.

    A proposal is accepted with probability (what is left of its diagonal entry) / (what was left when it was drawn).

    Examples
    --------
    >>> K = np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 1.0]])
    >>> accepted_columns(K, np.diag(K), np.random.default_rng(0))
    array([[2., 0.],
           [2., 0.],
           [0., 1.]])
    """
    K, columns = K.copy(), []
    floor = len(K) * eps_of(FLOAT64) * float(np.max(diagonal, initial=0.0))
    for i, draw in enumerate(rng.random(len(K))):
        if K[i, i] > max(draw * diagonal[i], floor):
            column = np.zeros(len(K))
            column[i:] = K[i:, i] / np.sqrt(K[i, i])
            K -= np.outer(column, column)
            columns.append(column)
    return np.array(columns).reshape(-1, len(K)).T


def _rows_at(source: RowSource, positions: HostArray) -> Chosen:
    return Chosen(take_rows(source, positions), positions)


def _centers(source: RowSource, count: int, *, seed: int) -> Chosen:
    if source.is_sparse:
        message = (
            "landmarks='kmeans' takes averages of rows, which are dense, and these rows are sparse. Use 'pivoted' or "
            "'uniform', or pass X.toarray() if it fits."
        )
        raise NotSupportedError(message)
    rows = take_rows(source, draw_positions(source, max(CANDIDATES, 8 * count), seed=seed))
    centers = kmeans_centers(to_host(rows), count, seed=seed + 1)
    return Chosen(from_host(centers, like=rows, dtype=source.dtype), None)


MEASURED = 256
"""Landmarks between which the rounding of kernel values is measured."""

PAYS = 10.0
"""A direction is kept while its eigenvalue is over  sqrt(m)  roundings of a kernel value, so many times."""

LARGEST_COUNT = 30_000
"""Landmarks above which a map is refused: their own kernel matrix is then 7 GB, and exact kernel PCA is near."""


@dataclass(frozen=True)
class Landmarks(FeatureRecipe):
    """The Nystroem approximation of a kernel, by m landmarks.

    Computes  phi(x) = S^(-1/2) Q' k(L, x)  with  k(L, L) = Q S Q',  so that

        phi(x).phi(y) = k(x, L) k(L, L)^+ k(L, y):

    the projection of both points, in feature space, on the span of the landmarks. It is exact where one of them lies
    in that span, never too large on the diagonal, and K - phi phi' is positive semidefinite. Directions of k(L, L)
    that the precision of the rows cannot tell from rounding are left out, so D may be less than m.

    Parameters
    ----------
    kernel : Kernel
        Any that is positive semidefinite on the rows.
    n_landmarks : int
        m. All rows are taken where there are fewer.
    choice : {"uniform", "kmeans", "pivoted"}
        See :func:`~gramian.features.nystrom.choose_landmarks`.
    seed : int

    Notes
    -----
    Cost of a fit: the landmarks, and 9 m^3 operations for their matrix; of a block of b rows: b m kernel values and
    2 b m D operations. Williams and Seeger (2001, NIPS 13). Not for kernels whose spectrum falls slowly (very small
    widths): then no few columns stand for K, and the measured error says so.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> rows = as_source(np.random.default_rng(0).standard_normal((500, 2)))
    >>> phi = Landmarks(Gaussian(0.1), 40, "pivoted").fit(rows)
    >>> from gramian.features import measure_kernel_error
    >>> measure_kernel_error(phi, rows).relative < 1e-6
    True
    """

    kernel: Kernel = field(default_factory=Gaussian)
    n_landmarks: int = 100
    choice: str = "uniform"
    seed: int = 0

    def fit(self, source: RowSource) -> "LandmarkMap":
        """Choose the landmarks among the rows of a source and return the map they make."""
        self._check()
        resolved = resolve_kernel(self.kernel, source)
        chosen = choose_landmarks(source, resolved, self.n_landmarks, choice=self.choice, seed=self.seed)
        return landmark_map(resolved.kernel, chosen.points, origin=resolved.origin, positions=chosen.positions)

    def _check(self) -> None:
        if self.choice not in CHOICES:
            message = f"landmarks={self.choice!r} is not a way to choose them. Pass one of {', '.join(CHOICES)}."
            raise ParameterError(message)
        if self.n_landmarks < 1:
            message = f"{self.n_landmarks} landmarks make no map. Pass at least 1."
            raise ParameterError(message)
        if self.n_landmarks > LARGEST_COUNT:
            needed, budget = 8 * self.n_landmarks**2, 8 * LARGEST_COUNT**2
            message = (
                f"{self.n_landmarks:,} landmarks have a kernel matrix of {needed / 1e9:,.0f} GB to decompose, and at "
                f"most {LARGEST_COUNT:,} are taken. Use fewer, or exact kernel PCA."
            )
            raise MemoryBudgetError(message, needed=needed, budget=budget)


@dataclass(frozen=True, eq=False)
class LandmarkMap(FeatureMap):
    """phi of :class:`Landmarks`.

    Attributes
    ----------
    kernel : Kernel
    landmarks : array (m, d) or CSR
    root : numpy array (m, D), float64
        Q S^(-1/2): phi(x) = root' k(L, x).
    origin : array (d,) or None
        The point that distances are taken from.
    positions : numpy array (m,) or None
        Which rows the landmarks are; ``None`` where they are averages.
    """

    kernel: Kernel
    landmarks: Array
    root: HostArray
    origin: Array | None = None
    positions: HostArray | None = None
    _ready: dict[Any, Prepared] = field(default_factory=dict, repr=False)
    bounds_trace = True

    @property
    def n_columns(self) -> int:  # type: ignore[override]
        """Columns of the rows."""
        return int(self.landmarks.shape[1])

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """Features: the rank of the landmarks' kernel matrix."""
        return int(self.root.shape[1])

    @property
    def by_landmarks(self) -> "LandmarkMap":
        """The map itself."""
        return self

    def columns(self, rows: Array) -> Array:
        """Return k(x, L), (b, m), in the precision of the rows: b m kernel values."""
        dtype = dtype_of(rows)
        with named_rows(0):
            left = self.kernel.prepare(rows, dtype=dtype, origin=self.origin)
        ending = " of the landmarks" if self.positions is None else " of the fit"
        with named_rows(0, self.positions, ending=ending):
            return self.kernel.evaluate(left, self._prepared(dtype))

    def map_block(self, rows: Array) -> Array:
        """Return phi of rows (b, D): their kernel values at the landmarks, times the root."""
        columns = self.columns(rows)
        return columns @ from_host(self.root, like=columns, dtype=dtype_of(rows))

    def in_precision(self, dtype: np.dtype[Any]) -> "LandmarkMap":
        """Return the map without the directions that kernel values in ``dtype`` cannot tell from rounding."""
        m = self.landmarks.shape[0]
        some = self.landmarks[: min(MEASURED, m)]
        wide, rough = (self.kernel.prepare(some, dtype=kind, origin=self.origin) for kind in (FLOAT64, dtype))
        K = to_host(self.kernel.evaluate(wide, wide))
        error = to_host(self.kernel.evaluate(rough, rough)).astype(FLOAT64) - K
        floor = PAYS * np.sqrt(m) * float(np.sqrt(np.mean(error**2)))
        # The columns of the root have the lengths  S^(-1/2).
        kept = np.einsum("ij,ij->j", self.root, self.root) * floor < 1
        return self if kept.all() else replace(self, root=self.root[:, : max(1, int(kept.sum()))])

    def _prepared(self, dtype: np.dtype[Any]) -> Prepared:
        # Made once per precision. Two threads at once would make the same twice, and either serves.
        if dtype not in self._ready:
            self._ready[dtype] = self.kernel.prepare(self.landmarks, dtype=dtype, origin=self.origin)
        return self._ready[dtype]

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_ready": {}}


def landmark_map(
    kernel: Kernel, landmarks: Array, *, origin: Array | None = None, positions: HostArray | None = None
) -> LandmarkMap:
    """Return the Nystroem map of these landmarks: one m x m kernel matrix, decomposed in float64.

    Parameters
    ----------
    kernel : Kernel
        With numbers for parameters.
    landmarks : array (m, d) or CSR
        Their type says in which precision rows will come, and so which directions are distinguished from rounding.

    Raises
    ------
    InputError
        When the matrix of a kernel that is not known to be positive semidefinite is not: there are no real features.
    """
    with nullcontext() if positions is None else named_rows(positions, positions):
        ready = kernel.prepare(landmarks, dtype=FLOAT64, origin=origin)
        K = to_host(kernel.evaluate(ready, ready))
    if not np.isfinite(K).all():
        message = f"{kernel} overflows between these landmarks. Scale the columns, or choose smaller parameters."
        raise InputError(message)
    root = inverse_root(K, rounding=_rounding(kernel, landmarks, K, origin), kernel=kernel)
    return LandmarkMap(kernel, landmarks, root, origin, positions, {FLOAT64: ready})


def inverse_root(K: HostArray, *, rounding: float, kernel: Kernel) -> HostArray:
    """Return  Q S^(-1/2)  (m, D) with  K = Q S Q',  without the directions that rounding would make worse.

    A kernel value wrong by ``rounding`` makes the feature of an eigenvalue s wrong by rounding / sqrt(s), while the
    feature itself is of size sqrt(s / m): a direction pays while  s > sqrt(m) rounding.  Ten times that is asked; on
    float32 rows it was measured to be within a quarter of the error of float64, or within ten roundings.

    A negative eigenvalue of a kernel of ours that has none is rounding, and shows its size: where rows lie in
    groups far apart it is more than ``rounding``, and directions within five times of it are left out too.

    Examples
    --------
    >>> inverse_root(np.diag([4.0, 1.0, 0.0]), rounding=2e-16, kernel=Gaussian())
    array([[0.5, 0. ],
           [0. , 1. ],
           [0. , 0. ]])
    """
    values, Q = np.linalg.eigh((K + K.T) / 2)
    values, Q = values[::-1], Q[:, ::-1]
    if not kernel.is_psd or any(leaf.is_user_function for leaf in kernel.leaves):
        _require_positive(values, kernel)  # of a user's function it is only said that it is positive semidefinite
    if values[0] <= 0:
        return np.zeros((len(K), 1))
    # The eigensolver itself leaves a few eps S_1 in every eigenvalue; values rounded by r leave about 2 sqrt(m) r.
    floor = max(PAYS * np.sqrt(len(K)) * rounding, 4 * eps_of(FLOAT64) * values[0], PAYS / 2 * -values[-1])
    rank = max(1, int(np.count_nonzero(values > floor)))
    Q = Q[:, :rank]
    signs = np.where(Q[np.argmax(np.abs(Q), axis=0), np.arange(rank)] < 0, -1.0, 1.0)
    return np.asarray(Q * (signs / np.sqrt(values[:rank])))


def _rounding(kernel: Kernel, landmarks: Array, K: HostArray, origin: Array | None) -> float:
    """Return the error of a kernel value in the precision of the rows, measured between some landmarks."""
    dtype, count = dtype_of(landmarks), min(MEASURED, len(K))
    if dtype == FLOAT64:
        return eps_of(FLOAT64) * float(np.abs(K).max())
    ready = kernel.prepare(landmarks[:count], dtype=dtype, origin=origin)
    rough = to_host(kernel.evaluate(ready, ready)).astype(FLOAT64)
    return float(np.sqrt(np.mean((rough - K[:count, :count]) ** 2)))


def _require_positive(values: HostArray, kernel: Kernel) -> None:
    # Rounding in K alone moves eigenvalues by m eps S_1; the factor leaves room for kernels that lose a digit.
    if values[-1] >= -100 * len(values) * eps_of(FLOAT64) * max(float(values[0]), 0.0):
        return
    message = (
        f"The kernel matrix of the landmarks has an eigenvalue of {values[-1]:.3g} beside a largest of "
        f"{values[0]:.3g}, so {kernel} is not positive semidefinite on these rows and has no real features. Change "
        "its parameters, or choose another kernel."
    )
    raise InputError(message)
