"""Block Krylov with thick restarts: few passes, stopped on measured residuals.

The iteration keeps two blocks of columns, Q (orthonormal) and W = A Q, with the small matrix T = Q'W. The
identity W = A Q holds by construction, so the residual of a Ritz pair, |W s - theta Q s|, is a measured one and
costs no further product.

References
----------
Wu and Simon (2000), thick-restart Lanczos, doi:10.1137/S0895479898334605.
Kuczynski and Wozniakowski (1992), estimating eigenvalues from a random start, doi:10.1137/0613066.
"""

from dataclasses import dataclass

from gramian.arrays.namespace import Array
from gramian.eigen.krylov_iteration import Iteration
from gramian.eigen.pairs import EigenPairs, EigenSolver
from gramian.eigen.searching import SEARCH_COLUMNS, search_steps
from gramian.operators.symmetric import SymmetricOperator


@dataclass(frozen=True)
class Krylov(EigenSolver):
    """Block Krylov iteration with thick restarts and measured residuals.

    Computes Ritz pairs of A in span[Q, A Q, A^2 Q, ...] from a Gaussian block Q; when the basis is full it is
    cut back to the best Ritz vectors and grown again. Stops when every wanted pair has
    |A v - lambda v| <= tol lambda_1, never on a count; ``max_applications`` is a cap that is reported.

    A block of b columns holds b copies of a tied eigenvalue at most, and a start may happen to miss a direction. So
    when all residuals are met, the rest of the space is searched from Gaussian columns drawn after the pairs were
    fixed; what such a search finds above them goes into the basis and the iteration goes on.

    Products are asked for coarsely (float32 where the rows are float32) until residuals reach what such a
    product can tell, then in full precision. The basis is kept in float32 as long as its products are made in it.

    Cost: one application a step, 4 m p b operations a step for orthogonality, 2 m p numbers, p being the
    columns of the basis.

    Not for small m, where :class:`~gramian.eigen.direct.Direct` is faster and proves more.

    Parameters
    ----------
    tol : float, default=1e-10
    block : int, optional
        Columns a product; by default enough that a pass is well used.
    basis : int, optional
        Columns p of the basis; default 10 (k + 10).
    max_applications : int, default=1000
    search : bool, optional
        Whether to search the rest of the space after convergence; by default unless the matrix is held, where a
        certificate can prove what a search makes probable.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.held import HeldMatrix
    >>> pairs = Krylov().solve(HeldMatrix(np.diag(np.arange(200.0))), 3)
    >>> pairs.values.round(8), pairs.converged
    (array([199., 198., 197.]), 3)
    """

    tol: float = 1e-10
    block: int | None = None
    basis: int | None = None
    max_applications: int = 1000
    search: bool | None = None

    def solve(self, operator: SymmetricOperator, k: int, *, seed: int = 0, start: Array | None = None) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``; ``start`` holds guesses of leading eigenvectors."""
        m = operator.size
        block = min(m, self.block or 8)
        basis = min(m, max(self.basis or 10 * (k + 10), k + (search_steps(m, min(block, SEARCH_COLUMNS)) + 1) * block))
        iteration = Iteration(operator, k, self.tol, block=block, basis=basis, seed=seed, search=self.search)
        iteration.begin(start)
        first = operator.applications
        while not iteration.finished() and operator.applications - first < self.max_applications:
            iteration.step()
        return iteration.result()
