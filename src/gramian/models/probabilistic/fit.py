"""Probabilistic PCA by maximum likelihood, also of tables with missing values.

The model of Tipping and Bishop (1999, doi:10.1111/1467-9868.00196):  x = mu + W z + e,  z ~ N(0, I) of k numbers,
e ~ N(0, s2 I).  Without missing values its likelihood is largest at the principal components, in closed form; with
them, EM.
"""

import warnings
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.errors import ConvergenceWarning, users_line
from gramian.models.probabilistic.filling import fill_missing, require_values


class Latent(NamedTuple):
    """What is known of the hidden numbers of some rows, given what is seen of each.

    Attributes
    ----------
    means : numpy array (m, q)
    covariances : numpy array (m, q, q)
    log_likelihoods : numpy array (m,)
        Log density of what is seen.
    """

    means: HostArray
    covariances: HostArray
    log_likelihoods: HostArray


@dataclass(frozen=True, eq=False)
class ProbabilisticPCAModel:
    """A fitted probabilistic PCA.

    Attributes
    ----------
    mean : numpy array (d,)
    factor : numpy array (d,)
        What centered columns are multiplied by: one, or their inverse deviations.
    components : numpy array (k, d)
        Orthonormal, by decreasing variance.
    variances : numpy array (k,)
        Along the components, noise included.
    noise_variance : float
    n_rows, n_steps : int
    log_likelihood : float
        Of all that was seen, per row.
    converged : bool
    """

    mean: HostArray
    factor: HostArray
    components: HostArray
    variances: HostArray
    noise_variance: float
    n_rows: int
    n_steps: int
    log_likelihood: float
    converged: bool

    @property
    def n_columns(self) -> int:
        """Number of columns, d."""
        return len(self.mean)

    @property
    def weights(self) -> HostArray:
        """The weights W, d x k, which are components times the deviation along each that is not noise."""
        return np.asarray(self.components.T * np.sqrt(np.maximum(self.variances - self.noise_variance, 0.0)))

    def latent(self, X: HostArray) -> Latent:
        """Return what is known of the hidden numbers of rows with missing values. Cost: m d k^2 + m k^3 operations."""
        return latent((X - self.mean) * self.factor, self.weights, self.noise_variance)

    def impute(self, X: HostArray) -> HostArray:
        """Return rows with each missing value filled by its expectation, given the rest of the row."""
        expected = self.mean + (self.latent(X).means @ self.weights.T) / self.factor
        return np.where(np.isnan(X), expected, X)

    def impute_std(self, X: HostArray) -> HostArray:
        """Return the standard deviation of each filled value, noise included; 0 where the value is known."""
        W, known = self.weights, self.latent(X)
        spread = np.einsum("jp,ipq,jq->ij", W, known.covariances, W, optimize=True) + self.noise_variance
        return np.where(np.isnan(X), np.sqrt(spread) / self.factor, 0.0)

    def transform_std(self, X: HostArray) -> HostArray:
        """Return the standard deviation of each score (m, k): 0 for a complete row."""
        W, V, missing = self.weights, self.components.T, np.isnan(X)
        covariances = self.latent(X).covariances
        # Of V'x only the missing values are uncertain: by what is not known of z, and by their own noise.
        shown = np.einsum("ij,jk,jp->ikp", missing.astype(FLOAT64), V, W, optimize=True)
        spread = np.einsum("ikp,ipq,ikq->ik", shown, covariances, shown, optimize=True)
        return np.asarray(np.sqrt(spread + self.noise_variance * (missing @ V**2)))

    def project(self, X: HostArray) -> HostArray:
        """Return the expected scores (m, k): those of PCA, of the imputed rows."""
        return np.asarray(((self.impute(X) - self.mean) * self.factor) @ self.components.T)

    def reconstruct(self, scores: HostArray) -> HostArray:
        """Return the rows that scores stand for."""
        return np.asarray(self.mean + (scores @ self.components) / self.factor)

    def score_samples(self, X: HostArray) -> HostArray:
        """Return the log density of what is seen of each row."""
        return np.asarray(self.latent(X).log_likelihoods + (~np.isnan(X)) @ np.log(self.factor))

    def covariance(self) -> HostArray:
        """Return the covariance of the rows under the model (d, d), in their own units."""
        W = self.weights
        return np.asarray((W @ W.T + self.noise_variance * np.eye(len(W))) / np.outer(self.factor, self.factor))


def fit_probabilistic_pca(
    X: HostArray, n_components: int, *, scale: bool = False, tol: float = 1e-8, max_iter: int = 1000
) -> ProbabilisticPCAModel:
    """Fit probabilistic PCA to a dense table, NaN being what is not known.

    Computes, without missing values, the closed form:  W = V' diag(lam - s2)^(1/2)  with the leading eigenpairs of the
    covariance (over n) and s2 the mean of the other eigenvalues. With them, EM from the filled table, squared
    extrapolation taken where it does not lower the likelihood (Varadhan and Roland, 2008,
    doi:10.1111/j.1467-9469.2007.00585.x), until two steps raise the log-likelihood of an entry by less than `tol`.

    Cost: n d k^2 operations per step, some tens to hundreds of them. Maximum likelihood overfits where few entries are
    known relative to (n + d) k: fewer components are then better.

    Parameters
    ----------
    X : numpy array (n, d)
    n_components : int
        From 1 to min(n, d).
    scale : bool
        Whether columns are divided by their deviation first.
    tol : float
    max_iter : int

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 1)) @ np.array([[3.0, 2.0, 1.0]]) + 0.1 * rng.standard_normal((200, 3))
    >>> X[5, 0] = np.nan
    >>> model = fit_probabilistic_pca(X, 1)
    >>> round(model.noise_variance, 2), bool(abs(model.impute(X)[5, 0] - 1.5 * X[5, 1]) < 0.5)
    (0.01, True)
    """
    X = np.asarray(X, dtype=FLOAT64)
    missing = np.isnan(X)
    require_values(X, missing)
    mean, spread = np.nanmean(X, axis=0), np.nanstd(X, axis=0)
    factor = 1.0 / np.where(spread > 0, spread, 1.0) if scale else np.ones(X.shape[1])
    Z = (X - mean) * factor
    q = min(n_components, X.shape[1] - 1)
    state = _closed_form(fill_missing(Z, max(q, 1), scale=False, warn=False).rows if missing.any() else Z, q)
    found = _Fit(state, 0, converged=True)
    if missing.any():
        found = _ascend(Z, state, tol=tol, max_iter=max_iter)
        _warn(found, max_iter, n_components)
    return _model(Z, found, n_components, mean, factor)


def latent(Z: HostArray, W: HostArray, noise: float) -> Latent:
    """Return what is known of the hidden numbers of centered rows.

    Computes, of the seen columns o of a row,  M = W_o'W_o + s2 I,  means  M^-1 W_o' x_o,  covariances  s2 M^-1,  and
    log densities  -(|o| log 2 pi + (|o| - q) log s2 + log det M + (|x_o|^2 - x_o'W_o mean) / s2) / 2.
    """
    q = W.shape[1]
    # Numbers in k x k matrices, one per row, that are in memory at a time.
    size = max(1, 4_000_000 // max(1, q * q))
    parts = [_latent(Z[start : start + size], W, noise) for start in range(0, len(Z), size)]
    return Latent(*(np.concatenate(pieces) for pieces in zip(*parts, strict=True)))


def _latent(Z: HostArray, W: HostArray, noise: float) -> Latent:
    seen, (d, q) = (~np.isnan(Z)).astype(FLOAT64), W.shape
    rows = np.where(seen > 0, Z, 0.0)
    pairs = (W[:, :, None] * W[:, None, :]).reshape(d, q * q)
    M = (seen @ pairs).reshape(len(Z), q, q) + noise * np.eye(q)
    inner = rows @ W
    means = np.linalg.solve(M, inner[:, :, None])[:, :, 0] if q else inner
    counts = seen.sum(axis=1)
    squares = (rows**2).sum(axis=1) - (inner * means).sum(axis=1)
    logs = counts * np.log(2 * np.pi) + (counts - q) * np.log(noise) + np.linalg.slogdet(M)[1]
    return Latent(means, noise * np.linalg.inv(M), -0.5 * (logs + np.maximum(squares, 0.0) / noise))


class _State(NamedTuple):
    """Mean, W and noise."""

    mean: HostArray
    W: HostArray
    noise: float

    def flat(self) -> HostArray:
        return np.concatenate([self.mean, self.W.ravel(), [np.log(self.noise)]])

    def like(self, flat: HostArray) -> "_State":
        d, q = self.W.shape
        return _State(flat[:d], flat[d:-1].reshape(d, q), float(np.exp(flat[-1])))


class _Fit(NamedTuple):
    state: _State
    n_steps: int
    converged: bool


def _closed_form(Z: HostArray, q: int) -> _State:
    mean = Z.mean(axis=0)
    _, singular, V = np.linalg.svd(Z - mean, full_matrices=False)
    lam = np.zeros(Z.shape[1])
    lam[: len(singular)] = singular**2 / len(Z)
    noise = _noise(float(lam[q:].mean()), float(lam.mean()))
    W = np.zeros((Z.shape[1], q))
    kept = min(q, len(singular))
    W[:, :kept] = V[:kept].T * np.sqrt(np.maximum(lam[:kept] - noise, 0.0))
    return _State(mean, W, noise)


def _noise(noise: float, variance: float) -> float:
    # Noise, relative to the mean variance of a column, that is assumed at least: without any, no density is finite.
    return max(noise, 1e-12 * variance, float(np.finfo(FLOAT64).tiny))


def _step(Z: HostArray, state: _State) -> tuple[_State, float]:
    """Return the state after one step of EM, and the log-likelihood before it."""
    known = latent(Z - state.mean, state.W, state.noise)
    seen = (~np.isnan(Z)).astype(FLOAT64)
    rows, q = np.where(seen > 0, Z, 0.0), state.W.shape[1]
    extended = np.column_stack([known.means, np.ones(len(Z))])
    squares = extended[:, :, None] * extended[:, None, :]
    squares[:, :q, :q] += known.covariances
    A = (seen.T @ squares.reshape(len(Z), -1)).reshape(-1, q + 1, q + 1)
    b = rows.T @ extended
    solved = np.linalg.solve(A, b[:, :, None])[:, :, 0]
    left = float(np.sum(rows**2) - np.sum(b * solved)) / float(seen.sum())
    variance = float(np.sum(rows**2)) / float(seen.sum())
    return _State(solved[:, q], solved[:, :q], _noise(left, variance)), float(known.log_likelihoods.sum())


def _ascend(Z: HostArray, state: _State, *, tol: float, max_iter: int) -> _Fit:
    """Raise the likelihood by EM, two steps and an extrapolation at a time."""
    entries, before, steps = float((~np.isnan(Z)).sum()), -np.inf, 0
    while steps < max_iter:
        first, start = _step(Z, state)
        second, _ = _step(Z, first)
        steps += 2
        if start - before <= tol * entries and steps > 2:
            return _Fit(second, steps, converged=True)
        before = start
        ahead = _extrapolated(state, first, second)
        leap, reached = _step(Z, ahead)
        _, plain = _step(Z, second)
        steps += 2
        state = leap if reached >= plain else second
    return _Fit(state, steps, converged=False)


def _extrapolated(state: _State, first: _State, second: _State) -> _State:
    """Go on along the path that two steps of EM are on (squared extrapolation)."""
    r, v = first.flat() - state.flat(), second.flat() - 2 * first.flat() + state.flat()
    length = float(np.linalg.norm(v))
    alpha = -1.0 if length == 0 else min(-1.0, -float(np.linalg.norm(r)) / length)
    return state.like(state.flat() - 2 * alpha * r + alpha**2 * v)


def _model(Z: HostArray, found: _Fit, n_components: int, mean: HostArray, factor: HostArray) -> ProbabilisticPCAModel:
    """Write W in its principal axes: orthonormal components and the variance along each."""
    state, d = found.state, Z.shape[1]
    directions, deviations, _ = np.linalg.svd(state.W, full_matrices=True)
    lam = np.zeros(d)
    lam[: len(deviations)] = deviations**2
    V = directions[:, :n_components].T
    # The entry largest in size is positive, as in PCA.
    V = V * np.where(V[np.arange(len(V)), np.argmax(np.abs(V), axis=1)] < 0, -1.0, 1.0)[:, None]
    likelihood = latent(Z - state.mean, state.W, state.noise).log_likelihoods
    likelihood = likelihood + (~np.isnan(Z)) @ np.log(factor)
    return ProbabilisticPCAModel(
        mean=mean + state.mean / factor,
        factor=factor,
        components=V,
        variances=lam[:n_components] + state.noise,
        noise_variance=state.noise,
        n_rows=len(Z),
        n_steps=found.n_steps,
        log_likelihood=float(likelihood.mean()),
        converged=found.converged,
    )


def _warn(found: _Fit, max_iter: int, asked: int) -> None:
    if not found.converged:
        fitted = found.state.W.shape[1]
        # As many as columns have the covariance of one fewer and the noise.
        by = "" if fitted == asked else f" (fitted as {fitted} and the noise)"
        message = (
            f"The likelihood still rises after {max_iter} steps of EM with {asked} components{by}. Use "
            "fewer components, a larger max_iter, or a larger tol."
        )
        warnings.warn(message, ConvergenceWarning, stacklevel=users_line())
