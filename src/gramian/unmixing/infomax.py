"""Extended Infomax: maximum likelihood over all matrices, solved by Picard's quasi-Newton method.

Extended Infomax (Lee, Girolami and Sejnowski, 1999, doi:10.1162/089976699300016719) gives each source one of two
densities and switches between them; here its objective is kept and its stochastic gradient is not.
"""

from dataclasses import dataclass

import numpy as np

from gramian.arrays.namespace import Array, HostArray, from_host, to_host
from gramian.errors import ParameterError
from gramian.unmixing.method import Unmixing, UnmixingMethod, nearest_rotation
from gramian.unmixing.picard import Objective, descend
from gramian.unmixing.white_rows import ScoreMoments, WhiteRows

FAR = 1e3
"""Where the growth of a contrast is measured, in deviations of a source."""


@dataclass(frozen=True)
class Infomax(UnmixingMethod):
    """All sources at once, over all matrices: sources need not come out exactly uncorrelated.

    Minimizes  -log|det W| + sum_i E[-log p_i(s_i)]  whose gradient is  E[psi_i(s_i) s_j] - I.  The densities have
    psi_i(s) = s + sign_i tanh(s),  +1 for super- and -1 for sub-Gaussian sources by the sign of
    E[1 - tanh^2(s)] E[s^2] - E[tanh(s) s].  The approximate curvature is  E_ij^2 h_ij + E_ij E_ji,
    h_ij = E[psi'_i] E[s_j^2],  refined by L-BFGS.

    Cost: one pass per iteration, seldom two. Not for a contrast whose psi grows as fast as s, such as the cube:
    exp(-s^2 / 2 - sign G(s))  would be no density for one of the signs, and the objective has no minimum.
    """

    memory: int = 10

    def require_suited(self, like: Array) -> None:
        """Refuse a contrast whose psi is larger than half of s, far out."""
        s = from_host(np.array([[-FAR], [FAR]]), like=like)
        with np.errstate(all="ignore"):
            psi = np.abs(to_host(self.contrast.evaluate(s)[0])).max()
        if not psi <= FAR / 2:
            message = (
                f"algorithm='infomax' cannot use this contrast: |psi({FAR:g})| is {psi:g}, and a density needs a psi "
                "that grows slower than s. Pass fun='logcosh' or 'exp', or algorithm='picard', which takes them all."
            )
            raise ParameterError(message)

    def descend(self, rows: WhiteRows, start: HostArray) -> Unmixing:
        """Unmix from W = ``start`` (k, k), made orthogonal first."""
        objective = _Likelihood(rows, self.contrast)
        return descend(objective, nearest_rotation(start), tol=self.tol, max_iter=self.max_iter, memory=self.memory)


@dataclass(frozen=True, eq=False)
class _Likelihood(Objective):
    def signs(self, W: HostArray, moments: ScoreMoments) -> HostArray:
        return np.where(moments.slope * self._squares(W) < np.diagonal(moments.cross), -1.0, 1.0)

    def gradient(self, W: HostArray, moments: ScoreMoments, signs: HostArray) -> HostArray:
        gradient: HostArray = signs[:, None] * moments.cross + W @ self.rows.second @ W.T - np.eye(len(W))
        return gradient

    def solve(self, W: HostArray, moments: ScoreMoments, signs: HostArray, gradient: HostArray) -> HostArray:
        """Solve the 2 x 2 blocks  [h_ij 1; 1 h_ji],  shifted where an eigenvalue is under the floor."""
        h = (1.0 + signs * moments.slope)[:, None] * self._squares(W)[None, :]
        np.fill_diagonal(h, np.diagonal(h) + 1.0)
        least = (h + h.T) / 2 - np.sqrt(((h - h.T) / 2) ** 2 + 1.0)
        np.fill_diagonal(least, np.diagonal(h))
        # Floor of the eigenvalues of each 2 x 2 block of the approximate curvature.
        h += np.maximum(0.01 - least, 0.0)
        determinant = h * h.T - 1.0
        solved = (h.T * gradient - gradient.T) / np.where(np.eye(len(W), dtype=bool), 1.0, determinant)
        np.fill_diagonal(solved, np.diagonal(gradient) / np.diagonal(h))
        return solved

    def _squares(self, W: HostArray) -> HostArray:
        squares: HostArray = np.einsum("ij,jk,ik->i", W, self.rows.second, W)
        return squares
