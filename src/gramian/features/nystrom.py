"""Features from landmarks: a kernel matrix by way of a few of its columns."""

from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, from_host, to_host
from gramian.arrays.precision import FLOAT64, eps_of
from gramian.errors import InputError, MemoryBudgetError, ParameterError
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.features.landmarks import CHOICES, choose_landmarks
from gramian.features.resolving import resolve_kernel
from gramian.kernels.blocks import named_rows
from gramian.kernels.kernel import Kernel, Prepared
from gramian.kernels.radial import Gaussian
from gramian.sources.rows import RowSource

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
        See :func:`~gramian.features.landmarks.choose_landmarks`.
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
