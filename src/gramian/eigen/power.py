"""The power method with deflation, as the lectures teach it."""

from dataclasses import dataclass

import numpy as np

from gramian.arrays.namespace import Array, gaussian, namespace_of
from gramian.eigen.pairs import Approximation, EigenPairs, EigenSolver, Watch
from gramian.operators.symmetric import SymmetricOperator


@dataclass(frozen=True)
class Power(EigenSolver):
    """One vector at a time: v <- A v / |A v|, with the pairs already found removed.

    Needs no gap for the value: from a random start v'Av >= (1 - e) lambda_1 after about log(m / e) / e steps,
    whatever the spectrum. The vector converges at the rate lambda_{i+1} / lambda_i: clustered spectra are slow.

    Cost: one application per step. For teaching, and where a vector is all the memory there is;
    :class:`~gramian.eigen.krylov.Krylov` needs far fewer passes.

    Parameters
    ----------
    tol : float, default=1e-10
        A pair is found when |A v - lambda v| <= tol lambda_1.
    max_iterations : int, default=10000
        Steps allowed for each pair.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.symmetric import DenseMatrix
    >>> pairs = Power().solve(DenseMatrix(np.diag([1.0, 3.0, 2.0])), 2)
    >>> pairs.values.round(6)
    array([3., 2.])
    """

    tol: float = 1e-10
    max_iterations: int = 10_000

    def solve(
        self,
        operator: SymmetricOperator,
        k: int,
        *,
        seed: int = 0,
        start: Approximation | None = None,
        watch: Watch | None = None,
    ) -> EigenPairs:
        """Return the ``k`` largest eigenpairs of ``operator``, found one after the other from random columns.

        ``watch`` hears of every step, with the residual of the pair that is being looked for.
        """
        del start
        watch = watch or (lambda _products, _worst: None)
        xp = namespace_of(operator.like())
        starts = gaussian((operator.size, k), seed=seed, like=operator.like())
        found = starts[:, :0]
        # Each pair carries the errors of the ones before it, so all are found a little better than asked for.
        tol = self.tol / (2 * float(np.sqrt(k + 1)))
        values: list[float] = []
        residuals: list[float] = []
        for i in range(k):
            scale = values[0] if values else None
            v, value, residual = self._next_pair(operator, found, starts[:, i], scale, tol=tol, watch=watch)
            found = xp.concat([found, v[:, None]], axis=1)
            values.append(value)
            residuals.append(residual)
        return self._in_order(operator, found, np.array(values), np.array(residuals))

    def _next_pair(
        self, operator: SymmetricOperator, found: Array, v: Array, scale: float | None, *, tol: float, watch: Watch
    ) -> tuple[Array, float, float]:
        """Iterate until what is left of A v outside v and the pairs found is small; return the whole residual."""
        norm = namespace_of(v).linalg.vector_norm
        value, residual = 0.0, np.inf
        v = _unit(v - found @ (found.T @ v))
        for _ in range(self.max_iterations):
            w = operator.apply(v[:, None]).values[:, 0]
            value = float(v @ w)
            residual = float(norm(w - value * v))
            top = max(scale or value, value)
            watch(operator.applications, residual / top if top > 0 else 0.0)
            w = w - found @ (found.T @ w)
            if float(norm(w - value * v)) <= tol * top or value == 0.0:
                break
            v = _unit(w - found @ (found.T @ w))
        return v, value, residual

    def _in_order(
        self, operator: SymmetricOperator, vectors: Array, values: np.ndarray, residuals: np.ndarray
    ) -> EigenPairs:
        order = np.argsort(-values, kind="stable")
        met = residuals[order] <= self.tol * max(values.max(initial=0.0), 0.0)
        converged = int(np.argmin(met)) if not met.all() else len(met)
        return EigenPairs(
            values=values[order],
            vectors=vectors[:, order.tolist()],
            residuals=residuals[order],
            applications=operator.applications,
            converged=converged,
            stopped="residuals met" if converged == len(met) else f"{self.max_iterations} iterations for one pair",
        )


def _unit(v: Array) -> Array:
    norm = namespace_of(v).linalg.vector_norm(v)
    return v / norm if float(norm) > 0 else v
