"""The Gaussian that a fitted PCA stands for: its covariance, and how likely or far each row is."""

from typing import Any

from gramian.arrays.namespace import Array, from_host, namespace_of
from gramian.models import scoring
from gramian.models.outliers import Outliers, find_outliers


class GaussianScores:
    """Covariance, likelihood and distances, for the estimators that have a noise variance."""

    _fitted_model: Any
    _opened: Any
    _finite: Any

    @property
    def loadings_(self) -> Array:
        """Components times the deviation along each (d, k), or covariances of columns with unit-variance scores."""
        model = self._fitted_model()
        factors = from_host(scoring.deviations(model), like=model.components, dtype=None)
        return model.components.T * namespace_of(factors).asarray(factors, dtype=model.components.dtype)

    def get_covariance(self) -> Array:
        """Return the covariance of the rows under the model (d, d).

        Computes  C = V' diag(variances - s2) V + s2 I  with s2 the noise variance. It is the covariance of the
        rows as they came, whether or not ``whiten`` is set (scikit-learn's is another matrix when it is).
        Cost: d^2 k operations and one d x d matrix: not for d in the tens of thousands.

        Returns
        -------
        covariance : array (d, d)
        """
        return scoring.covariance(self._fitted_model())

    def get_precision(self) -> Array:
        """Return the inverse of the covariance (d, d); its pseudo-inverse where it is singular.

        Computes  V' diag(1/variances - 1/s2) V + I/s2,  which needs no inversion.
        Cost: d^2 k operations and one d x d matrix.

        Returns
        -------
        precision : array (d, d)
        """
        return scoring.precision(self._fitted_model())

    def score_samples(self, X: Any) -> Array:
        """Return the log-likelihood of each row under the model.

        Computes  -(d log 2 pi + log det C + z' diag(1/variances) z + r^2/s2) / 2,  z being the scores of a row and
        r its distance from the subspace of the components. Without noise and with fewer directions than columns
        the density is that within the subspace, and -inf for a row off it.  Cost: one pass, 4 n d k operations.

        Parameters
        ----------
        X : array, sparse array or table (n, d)

        Returns
        -------
        log_likelihood : array (n,)
        """
        model, source = self._opened(X, "score_samples")
        return self._finite(scoring.log_likelihood(model, source), source)

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-likelihood of the rows, so that a grid search can choose ``n_components``.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        y : ignored

        Returns
        -------
        mean_log_likelihood : float
        """
        samples = self.score_samples(X)
        return float(namespace_of(samples).mean(samples))

    def hotelling_t2(self, X: Any) -> Array:
        """Return Hotelling's T2 of each row: its squared distance from the mean, in standard deviations.

        Computes  sum of scores^2 / variances  over the components. Null directions count nothing.
        Cost: one pass, 2 n d k operations. It sees only the subspace of the components: a row far outside it
        shows in ``reconstruction_error`` instead.

        Parameters
        ----------
        X : array, sparse array or table (n, d)

        Returns
        -------
        t2 : array (n,)
        """
        model, source = self._opened(X, "hotelling_t2")
        return self._finite(scoring.hotelling_t2(model, source), source)

    def outliers(self, X: Any, *, n_components: int | None = None, level: float = 0.99) -> Outliers:
        """Return both distances of each row with their limits, and the rows beyond one of them, furthest first.

        Computes Hotelling's T2 within the components and the squared prediction error off them: see
        :func:`~gramian.models.outliers.find_outliers`.  Cost: two passes, 6 n d k operations.

        Parameters
        ----------
        X : array, sparse array or table (n, d)
        n_components : int, optional
            Components that count as known; all unless told, and with all of them nothing is left to be off.
        level : float, default=0.99
            Share of Gaussian rows under each limit.

        Returns
        -------
        Outliers
        """
        model, source = self._opened(X, "outliers")
        found = find_outliers(model, source, n_components=n_components, level=level)
        self._finite(found.t2 + found.spe, source)
        return found
