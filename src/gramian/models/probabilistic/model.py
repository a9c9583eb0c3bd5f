"""The fitted model of a table with missing values: predictions of cells with their uncertainty, scores, likelihoods."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, is_sparse
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError
from gramian.models.probabilistic.entries import HeldEntries, Rows, known_entries, one_value_per_cell
from gramian.models.probabilistic.variational import Columns, Layout, Priors, row_posterior
from gramian.sources.rows import ranges


@dataclass(frozen=True, eq=False)
class ProbabilisticPCAModel:
    """A fitted  x_ij = mu_j + a_i + w_j'z_i + e, with what is not known of its parts.

    Arrays are in the units of standardized columns, (x - mean) * factor, but for ``mean`` itself.

    Attributes
    ----------
    mean : numpy array (d,)
        mu, the posterior means of the column biases.
    factor : numpy array (d,)
        What centered columns are multiplied by: one, or the inverse deviations of what was known.
    weights : numpy array (d, k)
        Posterior means of w.
    column_covariances : numpy array (d, (k + 1) (k + 2) / 2)
        Posterior covariances of (w_j, mu_j), their upper halves.
    components : numpy array (k, d)
        Orthonormal, by decreasing variance; the largest entry of each is positive.
    variances, shares, share_errors : numpy array (k,)
        Along the components, noise included; over the model's total; standard deviations of the shares.
    cumulative_share_errors : numpy array (k,)
        Standard deviations of the sums of the first shares.
    noise_variance : float
    weight_variances : numpy array (k,)
        alpha, the prior variance of the weights of each component.
    row_bias_variance : float
        v_a; 0 where rows have no biases, or none were needed.
    prior_mean, prior_variance : float
        Of the column biases, in standardized units: what is expected of a column of which nothing is known.
    row_means : numpy array (n, r) or None
        Posterior means of (z_i, a_i) of the rows of the fit, or of z_i without row biases; None where not kept.
    row_covariances : numpy array (p, r (r + 1) / 2) or None
    row_patterns : numpy array (n,) or None
        Which covariance is each row's.
    n_rows, n_known, n_steps : int
    evidence : float
        Lower bound of the log evidence per known entry.
    converged : bool
    lower, upper : float or None
        Limits of predictions.
    reason : str
        How the number of components was chosen, in words.
    """

    mean: HostArray
    factor: HostArray
    weights: HostArray
    column_covariances: HostArray
    components: HostArray
    variances: HostArray
    shares: HostArray
    share_errors: HostArray
    cumulative_share_errors: HostArray
    noise_variance: float
    weight_variances: HostArray
    row_bias_variance: float
    prior_mean: float
    prior_variance: float
    row_means: HostArray | None
    row_covariances: HostArray | None
    row_patterns: HostArray | None
    n_rows: int
    n_known: int
    n_steps: int
    evidence: float
    converged: bool
    lower: float | None = None
    upper: float | None = None
    reason: str = ""

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return len(self.mean)

    @property
    def n_components(self) -> int:
        """Number of components, k: as many as were needed."""
        return int(self.weights.shape[1])

    @property
    def layout(self) -> Layout:
        """The order of the numbers of rows and columns."""
        return Layout(self.n_components, self.row_bias_variance > 0)

    @cached_property
    def columns(self) -> Columns:
        """Posterior of the columns, for rows that are measured from ``mean``."""
        layout, d = self.layout, self.n_columns
        K, free = layout.size, layout.of_columns
        means, covariances = np.zeros((d, K)), np.zeros((d, K, K))
        means[:, : layout.k] = self.weights
        if layout.biases:
            means[:, layout.k] = 1.0
        i, j = np.triu_indices(len(free))
        covariances[:, free[i], free[j]] = covariances[:, free[j], free[i]] = self.column_covariances
        priors = Priors(
            self.noise_variance, self.weight_variances, self.row_bias_variance or 1.0, 0.0, self.prior_variance
        )
        return Columns(layout, means, covariances, np.arange(d), priors, np.zeros(d), np.zeros(d), np.zeros((d, 0)))

    def predict(self, rows: Any, columns: Any) -> tuple[HostArray, HostArray]:
        """Return the mean and the standard deviation of cells, by positions of rows and columns of the fit.

        Position -1 is a row or column that the fit did not have: its prior is used. The deviation is that of a new
        measurement of the cell: noise, and what is not known of the row and of the column.

        Computes  mu_j + a_i + w_j'z_i  and  v + E[g'C_h g] + h'C_g h, the latter with the posterior covariances C of
        row and column.  Cost: k^2 operations per cell.

        Parameters
        ----------
        rows, columns : integers (m,)
        """
        i, j = _positions(rows, self.n_rows, "row"), _positions(columns, self.n_columns, "column")
        if i.shape != j.shape and 1 not in (i.size, j.size):
            message = f"Cells are pairs, and these are rows of shape {i.shape} and columns of {j.shape}. Pass as many."
            raise InputError(message)
        i, j = (places.ravel() for places in np.broadcast_arrays(i, j))
        means, stds = np.empty(len(i)), np.empty(len(i))
        for part in ranges(len(i), max(1024, 4_000_000 // self.layout.size**2)):
            g, Cg = self._row_parts(i[part])
            h, Ch, center, factor = self._column_parts(j[part])
            mean = np.einsum("ma,ma->m", g, h)
            variance = self.noise_variance + np.einsum("ma,mab,mb->m", g, Ch, g, optimize=True)
            variance += np.einsum("ma,mab,mb->m", h, Cg, h, optimize=True) + np.einsum("mab,mab->m", Cg, Ch)
            means[part], stds[part] = center + mean / factor, np.sqrt(variance) / factor
        return self._limited(means), stds

    def log_likelihood(self, rows: Any, columns: Any, values: Any) -> HostArray:
        """Return the log density of cells (m,) under their predictions, taken for Gaussian."""
        mean, std = self.predict(rows, columns)
        away = (np.asarray(values, dtype=FLOAT64) - mean) / std
        return np.asarray(-0.5 * (away**2 + np.log(2 * np.pi)) - np.log(std))

    def impute(self, X: Any) -> HostArray:
        """Return rows (m, d) with each missing value filled by its expectation, given the rest of its row."""
        return self.impute_with_std(X, with_std=False)[0]

    def impute_with_std(self, X: Any, *, with_std: bool = True) -> tuple[HostArray, HostArray]:
        """Return filled rows, and the standard deviation of each filled value: 0 where the value is known.

        Cost: m d k operations for the values, m d k^2 for their deviations.
        """
        known, X = self.entries(X), _once(X)
        filled, stds = np.empty((known.n_rows, known.n_columns)), np.zeros((0, 0))
        if with_std:
            stds = np.empty_like(filled)
        for part, _rows, g, Cg in self._posteriors(known):
            cells, there = _dense(X, part)
            expected = self._limited(self.mean + (g @ self.columns.means.T) / self.factor)
            filled[part] = np.where(there, cells, expected)
            if with_std:
                stds[part] = np.where(there, 0.0, np.sqrt(self._variances(g, Cg)) / self.factor)
        return filled, stds

    def expected(self, X: Any) -> tuple[HostArray, HostArray]:
        """Return the expectation of every cell of rows (m, d), known ones too, and deviations of new measurements."""
        known = self.entries(X)
        means, stds = np.empty((known.n_rows, known.n_columns)), np.empty((known.n_rows, known.n_columns))
        for part, _rows, g, Cg in self._posteriors(known):
            means[part] = self._limited(self.mean + (g @ self.columns.means.T) / self.factor)
            stds[part] = np.sqrt(self._variances(g, Cg)) / self.factor
        return means, stds

    def project(self, X: Any) -> HostArray:
        """Return the expected scores (m, k): those of PCA, of the imputed rows less their row bias."""
        known, V = self.entries(X), self.components.T
        k, scores = self.n_components, np.empty((known.n_rows, self.n_components))
        pairs = (V[:, :, None] * self.weights[:, None, :]).reshape(self.n_columns, -1)
        whole = V.T @ self.weights
        for part, rows, g, _ in self._posteriors(known):
            seen = _per_row(rows, rows.sums(np.column_stack([pairs, V])))
            shown, plain = seen[:, : k * k].reshape(len(seen), k, k), seen[:, k * k :]
            z = g[:, :k]
            known_part = np.asarray(rows.products(V), dtype=FLOAT64)
            if self.layout.biases:
                known_part -= g[:, [k]] * plain
            scores[part] = known_part + z @ whole.T - np.einsum("mab,mb->ma", shown, z)
        return scores

    def project_std(self, X: Any) -> HostArray:
        """Return the standard deviation of each score (m, k): 0 for a complete row."""
        known, X, V, k = self.entries(X), _once(X), self.components.T, self.n_components
        stds = np.empty((known.n_rows, k))
        for part, _rows, g, Cg in self._posteriors(known):
            missing = ~_dense(X, part)[1]
            shown = np.einsum("ij,jk,jp->ikp", missing.astype(FLOAT64), V, self.columns.means, optimize=True)
            shared = np.einsum("ikp,ipq,ikq->ik", shown, Cg, shown, optimize=True)
            own = np.where(missing, self._variances(g, Cg, of_rows=False), 0.0)
            stds[part] = np.sqrt(np.maximum(shared + own @ V**2, 0.0))
        return stds

    def reconstruct(self, scores: HostArray) -> HostArray:
        """Return the rows that scores stand for."""
        return np.asarray(self.mean + (scores @ self.components) / self.factor)

    def score_samples(self, X: Any) -> HostArray:
        """Return the log density of what is known of each row, under the Gaussian of :meth:`covariance`."""
        known, layout, v = self.entries(X), self.layout, self.noise_variance
        point = replace(self.columns, covariances=np.zeros_like(self.columns.covariances))
        logs, table, factor = np.empty(known.n_rows), point.packed(), np.log(self.factor)
        for part in known.slices():
            rows = known.rows(part)
            found = row_posterior(rows, point, table)
            right = np.asarray(rows.products(point.means[:, layout.of_rows]), dtype=FLOAT64).T / v
            gains = np.einsum("am,am->m", found.means, right)
            sums = _per_row(rows, rows.sums(np.column_stack([np.ones(self.n_columns), factor])))
            squares = _squares(rows)
            determinant = found.log_determinants if found.pattern is None else found.log_determinants[found.pattern]
            prior = np.log(self.row_bias_variance) if layout.biases else 0.0
            logs[part] = sums[:, 1] - 0.5 * (
                sums[:, 0] * np.log(2 * np.pi * v) + determinant + prior + squares / v - gains
            )
        return logs

    def covariance(self) -> HostArray:
        """Return the covariance of the rows under the model (d, d), in their own units:  W W' + v_a 1 1' + v I."""
        C = self.weights @ self.weights.T + self.row_bias_variance + self.noise_variance * np.eye(self.n_columns)
        return np.asarray(C / np.outer(self.factor, self.factor))

    def sample(self, X: Any, m: int, *, seed: int = 0) -> Iterator[HostArray]:
        """Give m tables whose missing values are drawn from the variational posterior q(rows) q(columns), and noise.

        What differs between them is what is not known: the m results of whatever is computed from each are combined by
        Rubin's rules (1987). Rows and columns are drawn independently of each other, and the variances of noise and of
        priors are fixed at their estimates: from few entries the tables differ less than they should.
        """
        rng, layout = np.random.default_rng(seed), self.layout
        known, X, free, r, d = self.entries(X), _once(X), layout.of_columns, layout.of_rows, self.n_columns
        spread = _roots(self.columns.covariances[:, free[:, None], free])
        parts = [
            (part, g, _roots(Cg[:, r[:, None], r]), *_dense(X, part)) for part, _, g, Cg in self._posteriors(known)
        ]
        for _ in range(m):
            h = self.columns.means.copy()
            h[:, free] += np.einsum("jab,jb->ja", spread, rng.standard_normal((d, len(free))))
            drawn = np.empty((known.n_rows, d))
            for part, g, own, cells, there in parts:
                around = g.copy()
                around[:, r] += np.einsum("mab,mb->ma", own, rng.standard_normal((len(g), len(r))))
                values = around @ h.T + np.sqrt(self.noise_variance) * rng.standard_normal((len(g), d))
                drawn[part] = np.where(there, cells, self._limited(self.mean + values / self.factor))
            yield drawn

    def entries(self, X: Any) -> HeldEntries:
        """Return the known entries of new rows in the units of the model."""
        found: HeldEntries = known_entries(X, units=(self.mean, self.factor))  # type: ignore[assignment]
        if found.n_columns != self.n_columns:
            message = f"X has {found.n_columns} columns, and the model {self.n_columns}. Pass the columns of the fit."
            raise InputError(message)
        return found

    def _posteriors(self, known: HeldEntries) -> Iterator[tuple[slice, Rows, HostArray, HostArray]]:
        """Give rows with the means (m, K) and covariances (m, K, K) of their g."""
        layout, table = self.layout, self.columns.packed()
        free, K = layout.of_rows, layout.size
        step = int(max(64, min(2048, 32_000_000 // max(self.n_columns, K * K))))
        for part in ranges(known.n_rows, step):
            rows = known.rows(part)
            found = row_posterior(rows, self.columns, table)
            m = rows.n_rows
            g, Cg = np.ones((m, K)), np.zeros((m, K, K))
            g[:, free] = found.means.T
            own = found.covariances if found.pattern is None else found.covariances[:, :, found.pattern]
            Cg[:, free[:, None], free] = np.moveaxis(own, 2, 0)
            yield part, rows, g, Cg

    def _variances(self, g: HostArray, Cg: HostArray, *, of_rows: bool = True) -> HostArray:
        """Return the variance of each cell of some rows (m, d), in standardized units."""
        i, j = self.layout.half
        twice = np.where(i == j, 1.0, 2.0)
        squares = g[:, i] * g[:, j] + Cg[:, i, j]
        found = self.noise_variance + squares @ (self.columns.covariances[:, i, j] * twice).T
        if of_rows:
            h = self.columns.means
            found += Cg[:, i, j] @ (h[:, i] * h[:, j] * twice).T
        return np.asarray(found)

    def _row_parts(self, i: HostArray) -> tuple[HostArray, HostArray]:
        layout, new = self.layout, i < 0
        K, free = layout.size, layout.of_rows
        g, C = np.ones((len(i), K)), np.zeros((len(i), K, K))
        if self.row_means is None or self.row_covariances is None or self.row_patterns is None:
            message = (
                "This model does not keep the rows of its fit, so it cannot predict their cells by position. Use "
                "impute with the rows themselves."
            )
            raise InputError(message)
        a, b = np.triu_indices(len(free))
        g[:, free] = self.row_means[i]
        C[:, a, b] = C[:, b, a] = self.row_covariances[self.row_patterns[i]]
        if new.any():
            g[np.ix_(new, free)] = 0.0
            prior = np.zeros((K, K))
            prior[free, free] = [*np.ones(layout.k), *([self.row_bias_variance] if layout.biases else [])]
            C[new] = prior
        return g, C

    def _column_parts(self, j: HostArray) -> tuple[HostArray, HostArray, HostArray, HostArray]:
        layout, new = self.layout, j < 0
        h, C = self.columns.means[j], self.columns.covariances[j]
        center, factor = self.mean[j], self.factor[j]
        if new.any():
            free = layout.of_columns
            h[np.ix_(new, free)] = 0.0
            prior = np.zeros((layout.size, layout.size))
            prior[free, free] = [*self.weight_variances, self.prior_variance]
            C[new] = prior
            factor[new] = float(np.median(self.factor))
            center[new] = self.prior_mean / factor[new]
        return h, C, center, factor

    def _limited(self, values: HostArray) -> HostArray:
        if self.lower is None and self.upper is None:
            return values
        return np.clip(values, self.lower, self.upper)


def _positions(places: Any, count: int, what: str) -> HostArray:
    found = np.asarray(places)
    if found.size and found.dtype.kind not in "iu":
        message = f"A {what} is asked for by its position, a whole number from 0, and these are of type {found.dtype}."
        raise InputError(message)
    if found.size and (found.max() >= count or found.min() < -1):
        worst = int(found.max()) if found.max() >= count else int(found.min())
        message = (
            f"There is no {what} {worst:,} among the {count:,} of the fit. Pass positions from 0 to {count - 1:,}, or "
            f"-1 for a {what} that the fit did not have."
        )
        raise InputError(message)
    return found.astype(int)


def _once(X: Any) -> Any:
    """Return rows as the fit reads them: of a sparse table each known cell once."""
    return one_value_per_cell(X) if is_sparse(X) else X


def _dense(X: Any, part: slice) -> tuple[HostArray, HostArray]:
    """Return some rows as they were given, dense, and where they are known."""
    if is_sparse(X):
        rows = X[part]
        there = np.zeros(rows.shape, dtype=bool)
        cells = rows.tocoo()
        there[cells.coords] = True
        return rows.toarray().astype(FLOAT64), there
    cells = np.asarray(X[part], dtype=FLOAT64)
    return cells, ~np.isnan(cells)


def _per_row(rows: Rows, sums: HostArray) -> HostArray:
    """Return sums per row: those of its pattern, where rows share them."""
    sums = np.asarray(sums, dtype=FLOAT64)
    return sums if rows.shared is None else sums[rows.shared]


def _squares(rows: Any) -> HostArray:
    """Return the sum of squared values of each row."""
    values = rows.values
    if hasattr(values, "power"):
        return np.asarray(values.power(2).sum(axis=1), dtype=FLOAT64).ravel()
    return np.asarray(np.einsum("ij,ij->i", values, values))


def _roots(covariances: HostArray) -> HostArray:
    """Return R with R R' = C for each C, which may have lost its last digits."""
    values, vectors = np.linalg.eigh(covariances)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :])
