"""Random problems of known spectrum: no bound of a certificate may be exceeded by the truth.

Spectra are geometric over up to sixteen orders of magnitude, clustered with gaps from 1e-14 to 1e-3, tied, noisy, of
low rank; scales go from 2^-200 to 2^200. The truth is exact (Hadamard vectors, values of forty bits) or found by
one-sided Jacobi in long double. Every solver, dense and matrix-free operators, and fits: dense, sparse and float32
rows, files, batches, kernels. In one problem of six a wrong pair or one too few is handed to the certificate, which has
to reject it.
"""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from gramian import PCA, KernelPCA, kernels
from gramian.eigen.certificate import CertificateLine, certify
from gramian.eigen.davidson import Davidson
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.pairs import EigenPairs
from gramian.eigen.power import Power
from gramian.operators.symmetric import DenseMatrix, Product, SymmetricOperator
from gramian.testing import centered, exact_rows, exact_symmetric, jacobi_svd
from torture.family import Broken, Counts

Array = np.ndarray[Any, Any]
EPS = float(np.finfo(float).eps)


class MatrixFree(SymmetricOperator):
    """A matrix that can only be applied."""

    is_psd = True

    def __init__(self, A: Array) -> None:
        self._A = A
        self.size = len(A)
        self.dtype = A.dtype
        self.applications = 0
        self.error = EPS

    def apply(self, V: Array, *, accuracy: float | None = None) -> Product:
        """Return A @ V, always as accurate."""
        del accuracy
        self.applications += 1
        return Product(self._A @ V, 8 * EPS)

    def like(self) -> Array:
        """Return an empty array of the library."""
        return np.zeros((0, 0))

    def trace(self) -> float:
        """Return the sum of the diagonal."""
        return float(np.trace(self._A))

    def materialize(self) -> Array:
        """Refuse."""
        message = "the matrix of a matrix-free operator was asked for"
        raise Broken(message)

    def root(self, V: Array | None = None) -> None:
        """Return None: there is no factor."""


def spectrum(rng: np.random.Generator, m: int) -> Array:
    """Eigenvalues of a random kind, largest first, at a random scale."""
    kind = rng.integers(7)
    if kind == 0:
        values = np.geomspace(1.0, 10.0 ** -rng.uniform(1, 16), m)
    elif kind == 1:
        values = np.linspace(1.0, 0.0, m)
    elif kind == 2:
        values = np.repeat(rng.uniform(0.1, 1.0, m // 3 + 1), 3)[:m] * (1 - 10.0 ** rng.uniform(-14, -3, m))
    elif kind == 3:
        values = rng.choice(np.arange(1.0, 6.0), m)
    elif kind == 4:
        values = np.concatenate([rng.uniform(2.0, 9.0, 3), rng.uniform(0.5, 1.0, m - 3)])
    elif kind == 5:
        rank = int(rng.integers(1, m // 2 + 1))
        values = np.concatenate([rng.uniform(0.5, 4.0, rank), np.zeros(m - rank)])
    else:
        gap = 10.0 ** rng.uniform(-12, 0)
        values = np.concatenate([1 + gap * np.arange(4), rng.uniform(0.0, 0.9, m - 4)])
    return np.sort(values)[::-1] * 2.0 ** rng.integers(-200, 201)


def held(
    lines: tuple[CertificateLine, ...], vectors: Array, values: Array, truth: Array, *, all_values: Array | None = None
) -> Counts:
    """Hold lines of a certificate against the true values and, where known, vectors (as columns, in order)."""
    sums: dict[str, float] = {}
    every = values if all_values is None else all_values
    for i, line in enumerate(lines):
        near = np.abs(np.longdouble(line.value) - every)
        if line.grade == "conditional":  # Says of each pair that it is one, not which.
            if not near.min() <= line.value_bound:
                raise Broken(
                    f"line {i + 1}, conditional: no eigenvalue within {line.value_bound:.3g}, {near.min():.3g} off"
                )
            continue
        if line.grade == "rejected":
            continue
        error = float(abs(np.longdouble(line.value) - values[i]))
        broken = [
            f"line {i + 1}, {line.grade}: {word} {bound:.3g}, error {wrong:.3g}"
            for word, bound, wrong in (
                ("value_bound", line.value_bound, error),
                ("quadratic_bound", line.quadratic_bound, error),
                ("angle_bound", line.angle_bound, _sine(vectors[:, i], truth[:, i]) if i < truth.shape[1] else 0.0),
            )
            if not wrong <= bound
        ]
        if line.grade == "probable":
            sums["probable lines"] = sums.get("probable lines", 0) + 1
            sums["chances of failing"] = sums.get("chances of failing", 0) + line.failure_probability
            sums["probable lines that failed"] = sums.get("probable lines that failed", 0) + bool(broken)
        elif broken:
            raise Broken("; ".join(broken))
        key = f"{line.grade} lines"
        sums[key] = sums.get(key, 0) + (line.grade != "probable")
        if error > 0 and line.value > 0:
            order = int(np.clip(np.ceil(np.log10(line.quadratic_bound / error)), 0, 9))
            sums[f"bound / error below 1e{order}"] = sums.get(f"bound / error below 1e{order}", 0) + 1
    return sums


def _sine(v: Array, w: Array) -> float:
    v, w = v.astype(np.longdouble), w.astype(np.longdouble)
    v, w = v / np.sqrt(v @ v), w / np.sqrt(w @ w)
    off = v - w * (w @ v)
    return float(np.sqrt(off @ off))


def _exact(rng: np.random.Generator) -> tuple[Array, Array, Array]:
    m = int(2 ** rng.integers(4, 7))
    A, values, V = exact_symmetric(spectrum(rng, m), seed=int(rng.integers(2**31)))
    order = np.argsort(-values, kind="stable")
    return A, values[order].astype(np.longdouble), V[:, order]


def _solver(rng: np.random.Generator) -> Counts:
    """A solver on a matrix, dense or only applied."""
    A, values, V = _exact(rng)
    k, tol, seed = int(rng.integers(1, 6)), 10.0 ** -rng.uniform(2, 11), int(rng.integers(2**31))
    free = bool(rng.integers(2))
    solver = (
        Direct(),
        Krylov(tol=tol, max_applications=300),
        Krylov(tol=tol, block=int(rng.integers(1, 5)), basis=60, max_applications=200),
        Power(tol=max(tol, 1e-6), max_iterations=400),
        Davidson(tol=tol),
    )[int(rng.integers(1 if free else 0, 5))]
    operator = MatrixFree(A) if free else DenseMatrix(A)
    pairs = solver.solve(operator, k, seed=seed)
    return held(certify(operator, pairs, tol=tol).lines, np.asarray(pairs.vectors), values, V)


def _wrong(rng: np.random.Generator) -> Counts:
    """A pair that is turned, has another value, or was left out: rejected wherever the matrix is there."""
    m = int(2 ** rng.integers(4, 7))
    apart = np.concatenate([[9.0, 7.0, 5.0, 4.0, 3.0], np.sort(rng.uniform(0.1, 2.0, m - 5))[::-1]])
    A, values, V = exact_symmetric(apart * 2.0 ** rng.integers(-100, 101), seed=int(rng.integers(2**31)))
    operator = DenseMatrix(A)
    wrong, size = int(rng.integers(3)), 10.0 ** rng.uniform(-6, 0)
    columns = [0, 1, 2, 3]
    if wrong == 2:
        columns.remove(int(rng.integers(3)))
    lam, vectors = values[columns].copy(), V[:, columns].copy()
    if wrong == 0:
        vectors[:, 1] = np.cos(size) * vectors[:, 1] + np.sin(size) * V[:, -1]
    elif wrong == 1:
        lam[1] *= 1 - size * 0.1
    residuals = np.linalg.norm(A @ vectors - vectors * lam, axis=0)
    pairs = EigenPairs(lam, vectors, residuals, applications=1, converged=len(lam), stopped="planted")
    if wrong == 0 and rng.integers(2):
        pairs = replace(pairs, residuals=np.zeros_like(residuals))
    grades = [line.grade for line in certify(operator, pairs, tol=1e-10).lines]
    if "rejected" not in grades:
        raise Broken(f"a wrong pair was not rejected: way {wrong}, size {size:.3g}, grades {grades}")
    return {"wrong pairs rejected": 1}


def _rows(rng: np.random.Generator) -> Counts:
    """Fits to rows of exactly known singular values."""
    n, d = [(64, 16), (16, 64), (32, 32), (256, 4), (256, 16), (1024, 4), (4, 256)][int(rng.integers(7))]
    rank = min(n - 1, d)
    values = np.sqrt(spectrum(rng, max(rank, 8)))[:rank]
    X, planted = exact_rows(n, d, values * 2.0 ** -np.round(np.log2(values[0])), seed=int(rng.integers(2**31)))
    k = int(rng.integers(1, min(5, rank) + 1))
    name = str(rng.choice(["auto", "full", "covariance_eigh", "gram", "krylov"]))
    if name == "krylov":
        k = min(k, max(1, rank - 1))
    pca = PCA(k, svd_solver=name, random_state=int(rng.integers(2**31)))
    kind = int(rng.integers(4))
    if kind == 0:
        pca.fit(X)
    elif kind == 1 and name in ("auto", "gram", "krylov"):
        pca.fit(sp.csr_array(X))
    elif kind == 2:
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder) / "rows.npy", X)
            pca.fit(str(Path(folder) / "rows.npy"))
    else:
        pca.fit(np.asfortranarray(X))
    truth = planted.singular_values.astype(np.longdouble) ** 2 / (n - 1)
    return held(pca.certificate_.lines, pca.components_.T, truth, planted.vectors)


def _stored(rng: np.random.Generator) -> Counts:
    """Fits to rows with a large mean, in both precisions, held against long double."""
    n, d = [(60, 12), (12, 60), (200, 8), (24, 24)][int(rng.integers(4))]
    dtype = str(rng.choice(["float64", "float32"]))
    X = rng.standard_normal((n, d)) * np.geomspace(1, 10.0 ** -rng.uniform(0, 5), d)
    X = (X + rng.choice([0.0, 1.0, 1e3]) * rng.standard_normal(d)).astype(dtype)
    s, V = jacobi_svd(centered(X))
    k = int(rng.integers(1, 5))
    if rng.integers(4) == 0:
        pca = PCA(k)
        for part in np.array_split(X, 3):
            pca.partial_fit(part)
        if pca.certificate_ is None:
            return {}
    else:
        pca = PCA(k).fit(X)
    return held(pca.certificate_.lines, pca.components_.T, s**2 / (n - 1), V)


def _kernel(rng: np.random.Generator) -> Counts:
    """Kernel PCA, held against the kernel matrix in long double."""
    n, d = int(rng.integers(12, 49)), int(rng.integers(1, 6))
    X = rng.standard_normal((n, d))
    x = X.astype(np.longdouble)
    inner = x @ x.T
    squares = np.diag(inner)[:, None] + np.diag(inner) - 2 * inner
    gamma = float(10.0 ** rng.uniform(-2, 1))
    kernel, K = (
        (kernels.Gaussian(gamma), np.exp(-np.longdouble(gamma) * squares)),
        (kernels.Linear(), inner),
        (kernels.Polynomial(2, gamma=gamma, coef0=1.0), (np.longdouble(gamma) * inner + 1) ** 2),
    )[int(rng.integers(3))]
    H = np.eye(n, dtype=np.longdouble) - np.longdouble(1) / n
    values, U = jacobi_svd(H @ K @ H)
    k = int(rng.integers(1, min(6, n - 2)))
    solver = str(rng.choice(["auto", "dense", "stored", "tiled"]))
    kpca = KernelPCA(k, kernel=kernel, eigen_solver=solver, random_state=int(rng.integers(2**31))).fit(X)
    found = len(kpca.eigenvalues_)
    lines = kpca.certificate_.lines[:found]
    # Rows are what the model was given, in float64: nothing was rounded on the way in.
    return held(lines, kpca.eigenvectors_, values, U, all_values=values)


MAKERS: tuple[Callable[[np.random.Generator], Counts], ...] = (_solver, _wrong, _rows, _stored, _kernel, _rows)


def attack(number: int) -> Counts:
    """Solve a random problem, and hold what its certificate says against the truth."""
    rng = np.random.default_rng((number, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MAKERS[number % len(MAKERS)](rng)


def verdict(sums: Counts) -> str:
    """Say if *probable* lines failed more often than stated, by more than three standard deviations."""
    failed, stated = sums.get("probable lines that failed", 0.0), sums.get("chances of failing", 0.0)
    if failed <= stated + 3 * np.sqrt(stated):
        return ""
    return f"{failed:.0f} probable lines failed where {stated:.2g} were stated"
