"""Accuracy of a fit, by a product that has nothing to do with Gramian: K in float64, every entry of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.kernel_pca.plain import cores

ROWS, COLUMNS = 256, 2048


def residual_of(X: np.ndarray, gamma: float, model: Any) -> float:
    """Return max |H K H v - lambda v| / lambda_1 over the eigenpairs of a fitted model."""
    V = np.asarray(model.eigenvectors_, dtype=np.float64)
    values = np.asarray(model.eigenvalues_, dtype=np.float64)
    product = kernel_product(X, gamma, V - V.mean(axis=0))
    product -= product.mean(axis=0)
    return float(np.linalg.norm(product - V * values, axis=0).max() / values.max())


def kernel_product(X: np.ndarray, gamma: float, V: np.ndarray) -> np.ndarray:
    """Return K V in float64: all n^2 entries of a Gaussian K in pieces, by the textbook formula, a thread per core."""
    rows = X.astype(np.float64) - X.mean(axis=0, dtype=np.float64)
    squares = np.einsum("ij,ij->i", rows, rows)
    product = np.zeros(V.shape)

    def strip(start: int) -> None:
        here = slice(start, start + ROWS)
        for left in range(0, len(rows), COLUMNS):
            there = slice(left, left + COLUMNS)
            piece = rows[here] @ rows[there].T
            piece *= 2 * gamma
            piece -= gamma * squares[here, None]
            piece -= gamma * squares[there]
            product[here] += np.exp(np.minimum(piece, 0.0, out=piece), out=piece) @ V[there]

    with threadpool_limits(1), ThreadPoolExecutor(cores()) as pool:
        list(pool.map(strip, range(0, len(rows), ROWS)))
    return product
