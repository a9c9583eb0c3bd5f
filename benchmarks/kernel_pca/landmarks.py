"""The approximate model for rows by the million: time, memory, and its stated error beside the one on new rows."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter

import numpy as np

from benchmarks.isolate import call_apart
from benchmarks.kernel_pca.rows import K, rows_of, width_of
from benchmarks.resident import PeakWatch

HELD_OUT = 2_000


@dataclass
class LandmarkRow:
    """One fit with landmarks; errors are |K - phi phi'| / |K| in Frobenius norms."""

    n: int
    landmarks: int
    seconds: float
    megabytes: float
    stated_error: float
    stated_standard_error: float
    held_out_error: float
    held_out_rows: int


def measure_landmarks(n: int, landmarks: int) -> LandmarkRow:
    """Fit in a process of its own, and check its error estimate on rows that the fit did not see."""
    outcome = call_apart(_fit, n, landmarks, timeout=550.0)
    if outcome.failure is not None:
        raise RuntimeError(outcome.failure)
    print(f"  landmarks at {n:,}: {outcome.value}", flush=True)
    return outcome.value


def _fit(n: int, landmarks: int) -> LandmarkRow:
    from gramian import KernelPCA

    everything = rows_of(n + HELD_OUT)
    X, new = everything[:n], everything[n:]
    model = KernelPCA(K, kernel="rbf", gamma=width_of(X), landmarks=landmarks, random_state=0)
    model.set_params(landmarks=100).fit(X[:1000])
    model.set_params(landmarks=landmarks)
    with PeakWatch() as watch:
        start = perf_counter()
        model.fit(X)
        seconds = perf_counter() - start
    stated = model.error_estimate_
    return LandmarkRow(
        n,
        landmarks,
        seconds,
        watch.beyond / 1e6,
        stated.relative,
        stated.standard_error,
        _error_on(new, model, n),
        HELD_OUT,
    )


def _error_on(new: np.ndarray, model: object, n: int) -> float:
    """Return |K - C M^+ C'| / |K| over all pairs of new rows, by the textbook formula in float64.

    A row meets itself once in n pairs, as in the matrix of the fit: among few rows the diagonal would weigh more.
    """
    rows, marks = new.astype(np.float64), np.asarray(model.X_fit_, dtype=np.float64)
    gamma = model.gamma_
    K = _gaussian(rows, rows, gamma)
    values, vectors = np.linalg.eigh(_gaussian(marks, marks, gamma))
    kept = values > 1e-10 * values[-1]
    features = _gaussian(rows, marks, gamma) @ (vectors[:, kept] / np.sqrt(values[kept]))
    return float(np.sqrt(_mean_square(K - features @ features.T, n) / _mean_square(K, n)))


def _mean_square(E: np.ndarray, n: int) -> float:
    """Return the mean square of the entries of an n x n matrix of which E is a sample."""
    own = float(np.mean(np.diag(E) ** 2))
    apart = (float(np.sum(E**2)) - len(E) * own) / (len(E) * (len(E) - 1))
    return apart * (1 - 1 / n) + own / n


def _gaussian(left: np.ndarray, right: np.ndarray, gamma: float) -> np.ndarray:
    squares = [np.einsum("ij,ij->i", side, side) for side in (left, right)]
    return np.exp(-gamma * np.maximum(squares[0][:, None] + squares[1] - 2 * left @ right.T, 0.0))
