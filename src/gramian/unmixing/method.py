"""The contract of an unmixing method, what one returns, and the stages in which it is applied to many rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace

import numpy as np

from gramian.arrays.namespace import Array, HostArray
from gramian.arrays.precision import FLOAT32, eps_of
from gramian.unmixing.contrast import Contrast, LogCosh
from gramian.unmixing.white_rows import WhiteRows


@dataclass(frozen=True, eq=False)
class Unmixing:
    """What a method found.

    Attributes
    ----------
    matrix : numpy array (k, k)
        W: sources are  s = W z.
    gradient_norm : float
        Largest entry of the relative gradient of the method's own objective at W.
    n_iter : int
        Iterations made.
    converged : bool
    """

    matrix: HostArray
    gradient_norm: float
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class UnmixingMethod(ABC):
    """A way to unmix white rows. A frozen value: ``PicardO(tol=1e-8)``.

    Attributes
    ----------
    contrast : Contrast
    tol : float
        Gradient norm at which the method stops.
    max_iter : int
    """

    contrast: Contrast = field(default_factory=LogCosh)
    tol: float = 1e-6
    max_iter: int = 200

    def require_suited(self, like: Array) -> None:
        """Refuse a contrast that this method cannot use, tried on numbers of the library of ``like``: before any pass.

        Every contrast suits a method that does not say otherwise.
        """
        del like

    @abstractmethod
    def descend(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from W = ``start`` (k, k) to where the gradient vanishes: a minimum, or, rarely, a saddle."""

    def solve(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from W = ``start`` (k, k) to a minimum.

        Two flat sources that are mixed half and half are as Gaussian as they can be: the gradient vanishes there too,
        and a random start may lie so near that a method stops at once. So where it stops the contrast must bend upward
        for every pair of sources; pairs for which it does not are turned by 45 degrees, and the method goes on.

        Cost: that of the method, and one pass more for each place where it stops.
        """
        found = self.descend(rows, start)
        # Saddles, at most, that one solve leaves: each is left downhill, so more than a few are pairs that hardly
        # differ.
        for _ in range(10):
            if not found.converged or found.n_iter >= self.max_iter:
                break
            turned = off_saddle(rows, found.matrix, self.contrast, least=self.tol)
            if turned is None:
                break
            again = replace(self, max_iter=self.max_iter - found.n_iter).descend(rows, turned)
            found = replace(again, n_iter=found.n_iter + again.n_iter)
        return found


def off_saddle(rows: WhiteRows, W: HostArray, contrast: Contrast, *, least: float) -> HostArray | None:
    """Return W with every pair that is at a maximum of the contrast turned by 45 degrees; ``None`` at a minimum.

    Turning sources i and j by t changes  sum_i sign_i E[G(s_i)]  by  b_ij t^2 / 2  with::

        b_ij = sign_i (E[psi'(s_i) s_j^2] - E[psi(s_i) s_i]) + sign_j (E[psi'(s_j) s_i^2] - E[psi(s_j) s_j])

    where the gradient vanishes; for the likelihood of Infomax too, whose other terms cancel. A bend that is negative by
    more than ``least``, what the gradient may be off, is a maximum along that turn. Minima of a pair are a right angle
    apart, so 45 degrees lead from the maximum between them to near one.  Cost: one pass.
    """
    moments = rows.turn_moments(W, contrast)
    variances = np.einsum("ij,jk,ik->i", W, rows.second, W)
    signs = np.where(moments.slope * variances < moments.along, -1.0, 1.0)
    half = signs[:, None] * (moments.squares - moments.along[:, None])
    bend = np.triu(half + half.T, 1)
    turned, left = W.copy(), np.ones(len(W), dtype=bool)
    pairs = np.argwhere(bend < -least)
    for i, j in pairs[np.argsort(bend[tuple(pairs.T)], kind="stable")]:
        if left[i] and left[j]:
            turned[[i, j]] = (W[i] + W[j]) / np.sqrt(2.0), (W[j] - W[i]) / np.sqrt(2.0)
            left[[i, j]] = False
    return turned if len(pairs) else None


def unmix(rows: WhiteRows, method: UnmixingMethod, start: HostArray, *, copy: bool = True) -> Unmixing:
    """Unmix in up to three stages, each from where the last one ended: a sample, all rows in float32, all rows.

    The sources of N rows are known to about 1/sqrt(N) of a radian, whatever is done; so the way from the start to
    within 1/sqrt(N) is made on N rows, one of each run of m. The way on is made on the white rows in float32, where
    ``copy`` says that 4 n k bytes are there for them and they are not float32 already. The gradient norm that is
    returned, and compared with ``tol``, is always that of all rows in their own precision. Cost: one pass for the
    float32 rows, those of the method over them, and mostly one pass over the rows themselves.

    Both stages together make 30 sources of 100,000 rows 2.4 times as fast on two cores (the sample alone 1.8 times, and
    more where rows are read from a file), float32 alone an EEG of 32 channels 1.8 times.
    """
    # Iterations under which someone wants to count them: they are all made on all rows.
    if method.max_iter < 10:
        return method.solve(rows, start)
    single = rows.in_memory(FLOAT32) if copy else rows
    sampled = _from_sample(single, method, start)
    if not copy:
        return _gone_on(method, rows, sampled)
    # Gradient norm at which single precision has done its part: its rounding there is 1e-8 to 1e-7 (measured).
    near = replace(method, tol=max(0.9 * method.tol, 5e-7), max_iter=method.max_iter - 1)
    first = _gone_on(near, single, sampled)
    del single
    # Where rounding kept single precision from its goal, all iterations are there for the other one.
    # Gradient norm from which on a stage in single precision that did not end may have been held up by its rounding.
    stalled = not first.converged and first.gradient_norm <= 1e-4
    made = first.n_iter - sampled.n_iter
    return _gone_on(replace(method, max_iter=method.max_iter - (0 if stalled else made)), rows, first)


def _gone_on(method: UnmixingMethod, rows: WhiteRows, before: Unmixing) -> Unmixing:
    """Unmix from where a stage ended; one that has converged has ended at a minimum, which is not checked again."""
    found = (method.descend if before.converged else method.solve)(rows, before.matrix)
    return replace(found, n_iter=before.n_iter + found.n_iter)


def _from_sample(rows: WhiteRows, method: UnmixingMethod, start: HostArray) -> Unmixing:
    """Return the solution on a sample of the rows, ten for each pair of sources; the start where it would be most."""
    size = max(5_000, 10 * rows.size**2)
    if rows.n_rows < 4 * size:
        return Unmixing(start, np.inf, 0, converged=False)
    return replace(method, tol=max(method.tol, 0.1 / np.sqrt(size))).solve(rows.sampled(size), start)


def reachable(tol: float, rows: WhiteRows, cross: HostArray) -> float:
    """Return the tolerance, or the rounding of the gradient where that is larger.

    A mean of psi(s) s' of size m is computed to about 4 eps m: no iteration gets below it.
    """
    return max(tol, 4 * eps_of(rows.dtype) * float(np.abs(np.diagonal(cross)).max(initial=0.0)))


def nearest_rotation(matrix: HostArray) -> HostArray:
    """Return the orthogonal matrix nearest to one, (M M')^(-1/2) M, by its singular vectors.

    Examples
    --------
    >>> nearest_rotation(np.diag([2.0, 5.0]))
    array([[1., 0.],
           [0., 1.]])
    """
    U, _, Vt = np.linalg.svd(matrix)
    rotation: HostArray = U @ Vt
    return rotation


def skew(matrix: HostArray) -> HostArray:
    """Return the part of a matrix that rotates, (M - M') / 2."""
    part: HostArray = (matrix - matrix.T) / 2
    return part
