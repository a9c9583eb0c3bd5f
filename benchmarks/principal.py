"""The problem of PCA: an accurate reference, and how far an answer is from it.

Nothing here comes from Gramian or from a peer's PCA: the reference is a singular value decomposition of the
centered rows in float64 (through a QR factor, so no condition number is squared; by Lanczos for sparse rows),
and residuals are of the covariance itself.

An answer is ``vectors`` (d, k), ``variances`` (k,) and ``singular_values`` (k,), descending.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from benchmarks.blocks import row_ranges
from benchmarks.case import Accuracy, Arrays, Instance, Problem

# What Gramian promises by default: |A v - lambda v| <= tolerance * lambda_1.
TOLERANCE = {"float64": 1e-10, "float32": 1e-6}
# Below this share of the largest singular value, a relative error speaks of the reference, not of the answer.
_SMALLEST_JUDGED = 1e-6


def solve(instance: Instance, X: Any) -> Arrays:
    """Leading singular values and right singular vectors of the centered rows, accurately."""
    if instance.is_sparse:
        return _solve_sparse(instance, X)
    return _solve_tall(X) if instance.n_rows >= instance.n_columns else _solve_wide(instance, X)


def reference_key(instance: Instance) -> str:
    """Tall rows are solved for every component at once; the others for as many as are asked."""
    whole = not instance.is_sparse and instance.n_rows >= instance.n_columns
    return instance.data_key if whole else f"{instance.data_key}-k{instance.rank_asked}"


def judge(instance: Instance, X: Any, reference: Arrays, answer: Arrays) -> Accuracy:
    """Worst residual over lambda_1, sine of the largest angle to the truth, worst singular value."""
    V = np.asarray(answer["vectors"], dtype=np.float64)
    lam = np.asarray(answer["variances"], dtype=np.float64)
    sigma = np.asarray(answer["singular_values"], dtype=np.float64)
    k = wanted(instance, reference)
    found = {"value_error": _value_error(sigma, reference["singular_values"]), "components": float(V.shape[1])}
    if not np.allclose(np.linalg.norm(V, axis=0), 1.0, atol=1e-2):
        # Vectors of zeros have no residual, and have been returned.
        return {"residual": 1.0, "angle": 1.0, **found}
    largest = _variances(instance.n_rows, reference)[0]
    return {
        "residual": _residual(_apply(X, V, reference), V, lam, largest),
        "angle": _sine(V, reference["vectors"][:, :k]) if V.shape[1] == k else 1.0,
        **found,
    }


def target(instance: Instance, reference: Arrays) -> Accuracy:
    """The house tolerance for the residual, and the angle that it guarantees: tolerance lambda_1 / gap."""
    tolerance = TOLERANCE[instance.dtype]
    lam = np.append(_variances(instance.n_rows, reference), 0.0)
    k = wanted(instance, reference)
    gap = (lam[k - 1] - lam[k]) / lam[0]
    whole = k >= instance.n_columns
    return {"residual": tolerance, "angle": tolerance if whole else min(1.0, tolerance / max(gap, tolerance))}


def wanted(instance: Instance, reference: Arrays) -> int:
    """How many components the right answer has; for a share, the fewest that explain more than it."""
    asked = instance.n_components
    if not isinstance(asked, float):
        return instance.rank_asked
    share = np.cumsum(_variances(instance.n_rows, reference)) / float(reference["total_variance"])
    return int(np.searchsorted(share, asked, side="right")) + 1


def residual_of(X: Any, V: np.ndarray, lam: np.ndarray) -> float:
    """Worst |A v - lambda v| over the largest lambda of an answer, A being the covariance of X in float64."""
    mean = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    V, lam = np.asarray(V, dtype=np.float64), np.asarray(lam, dtype=np.float64)
    return _residual(_apply(X, V, {"mean": mean}), V, lam, float(lam.max()))


def _solve_tall(X: np.ndarray) -> Arrays:
    """Every component, from the SVD of the QR factor R of the centered rows, taken block by block."""
    n, d = X.shape
    mean = X.mean(axis=0, dtype=np.float64)
    factor, scatter = np.zeros((0, d)), np.zeros((d, d))
    for rows in row_ranges(n, d, at_least=4 * d):
        block = X[rows] - mean
        scatter += block.T @ block
        factor = np.linalg.qr(np.vstack([factor, block]), mode="r")
    _, sigma, components = np.linalg.svd(factor, full_matrices=False)
    return _reference(mean, sigma, components.T, np.trace(scatter) / (n - 1), covariance=scatter / (n - 1))


def _solve_wide(instance: Instance, X: np.ndarray) -> Arrays:
    """Leading components of n < d rows: the SVD of the small QR factor gives U, and V = Xc' U / sigma."""
    mean = X.mean(axis=0, dtype=np.float64)
    centered = X - mean
    U, sigma, _ = np.linalg.svd(np.linalg.qr(centered.T, mode="r").T)
    k = instance.rank_asked
    V = centered.T @ (U[:, :k] / sigma[:k])
    return _reference(mean, sigma, V, np.square(sigma).sum() / (instance.n_rows - 1))


def _solve_sparse(instance: Instance, X: Any) -> Arrays:
    """Leading components of sparse rows, by Lanczos to machine precision on the centered operator."""
    X = X.astype(np.float64)
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0)).ravel()
    operator = scipy.sparse.linalg.LinearOperator((d, d), matvec=lambda v: _scatter(X, mean, v), dtype=np.float64)
    k = instance.rank_asked
    start = np.random.default_rng(0).standard_normal(d)
    lam, V = scipy.sparse.linalg.eigsh(operator, k=k + 1, ncv=min(4 * k + 1, d), tol=0, v0=start)
    order = np.argsort(lam)[::-1]
    total = (X.multiply(X).sum() - n * mean @ mean) / (n - 1)
    return _reference(mean, np.sqrt(lam[order]), V[:, order[:k]], total)


def _reference(
    mean: np.ndarray, sigma: np.ndarray, V: np.ndarray, total: float, *, covariance: np.ndarray | None = None
) -> Arrays:
    """The arrays of a reference; the covariance only where it was formed."""
    held = {} if covariance is None else {"covariance": covariance}
    return {"mean": mean, "singular_values": sigma, "vectors": V, "total_variance": np.float64(total), **held}


def _variances(n: int, reference: Arrays) -> np.ndarray:
    """Eigenvalues of the covariance from the reference's singular values."""
    return np.square(reference["singular_values"]) / (n - 1)


def _apply(X: Any, V: np.ndarray, reference: Arrays) -> np.ndarray:
    """Covariance times V in float64, from the held matrix or in one pass over the rows."""
    if "covariance" in reference:
        return reference["covariance"] @ V
    mean = reference["mean"]
    if scipy.sparse.issparse(X):
        return _scatter(X.astype(np.float64), mean, V) / (X.shape[0] - 1)
    total = np.zeros_like(V)
    for rows in row_ranges(*X.shape):
        block = X[rows] - mean
        total += block.T @ (block @ V)
    return total / (X.shape[0] - 1)


def _scatter(X: Any, mean: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Xc' (Xc V) for sparse X, by a rank-one correction on each side."""
    projected = X @ V - mean @ V
    return X.T @ projected - (mean[:, None] * projected.sum(axis=0)).reshape(V.shape)


def _residual(product: np.ndarray, V: np.ndarray, lam: np.ndarray, largest: float) -> float:
    """Largest |A v - lambda v| / lambda_1, with lambda_1 the true one."""
    return float(np.linalg.norm(product - V * lam, axis=0).max() / largest)


def _sine(V: np.ndarray, truth: np.ndarray) -> float:
    """Sine of the largest principal angle: |(I - Q Q') truth|, accurate where a cosine is not."""
    if truth.shape[1] == truth.shape[0]:
        return 0.0
    Q = np.linalg.qr(V)[0]
    return float(min(1.0, np.linalg.norm(truth - Q @ (Q.T @ truth), ord=2)))


def _value_error(sigma: np.ndarray, truth: np.ndarray) -> float:
    """Largest relative error of a singular value, over those above ``_SMALLEST_JUDGED`` of the largest."""
    truth = truth[: sigma.size]
    judged = truth > _SMALLEST_JUDGED * truth[0]
    return float(np.max(np.abs(sigma[: truth.size] - truth)[judged] / truth[judged]))


PCA_PROBLEM = Problem(name="pca", solve=solve, reference_key=reference_key, judge=judge, target=target)
