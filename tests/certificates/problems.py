"""Random symmetric problems whose spectrum is known beyond float64, and what a certificate said of their pairs."""

from typing import NamedTuple

import numpy as np

from gramian.operators.symmetric import Product, SymmetricOperator
from gramian.testing import exact_symmetric, jacobi_svd, symmetric_with_spectrum


class Problem(NamedTuple):
    """A matrix with its true eigenvalues, largest first, and eigenvectors, in long double."""

    name: str
    A: np.ndarray
    values: np.ndarray
    vectors: np.ndarray


class Outcome(NamedTuple):
    """One line of a certificate beside the truth: errors made, and the line itself."""

    problem: str
    value_error: float
    sine: float
    line: object


def geometric(rng, m):
    """Values that fall evenly over up to twelve orders of magnitude."""
    return np.geomspace(1.0, 10.0 ** -rng.uniform(1, 12), m)


def linear(rng, m):
    """Values that fall evenly to zero."""
    return np.linspace(1.0, 0.0, m) * rng.uniform(0.1, 10.0)


def clustered(rng, m):
    """Clusters of three whose spacing is anything from 1e-14 to 1e-3 of the value."""
    centers = np.repeat(np.sort(rng.uniform(0.1, 1.0, m // 3 + 1))[::-1], 3)[:m]
    return np.sort(centers * (1 - 10.0 ** rng.uniform(-14, -3, m)))[::-1]


def tied(rng, m):
    """Exact ties of random sizes."""
    return np.sort(rng.choice(np.arange(1.0, 6.0), m))[::-1]


def noisy(rng, m):
    """A few strong values over a bulk of close ones."""
    strong = np.sort(rng.uniform(2.0, 9.0, 3))[::-1]
    return np.concatenate([strong, np.sort(rng.uniform(0.5, 1.0, m - 3))[::-1]])


def low_rank(rng, m):
    """A handful of values and then zeros."""
    return np.concatenate([np.sort(rng.uniform(0.5, 4.0, 5))[::-1], np.zeros(m - 5)])


def stepped(rng, m):
    """Four separate values well above all others."""
    return np.concatenate([np.sort(rng.uniform(0.5, 1.0, 4))[::-1], np.sort(rng.uniform(0.0, 0.2, m - 4))[::-1]])


SPECTRA = {f.__name__: f for f in (geometric, linear, clustered, tied, noisy, low_rank, stepped)}


def exact_problem(kind, m, seed):
    """A problem with no rounding in it at all; m is a power of two."""
    A, lam, V = exact_symmetric(SPECTRA[kind](np.random.default_rng(seed), m), seed=seed)
    order = np.argsort(-lam, kind="stable")
    return Problem(f"exact {kind} m={m} seed={seed}", A, lam[order].astype(np.longdouble), V[:, order])


def haar_problem(kind, m, seed):
    """A problem with Haar eigenvectors, its truth found by long double Jacobi in what is stored."""
    A, _ = symmetric_with_spectrum(SPECTRA[kind](np.random.default_rng(seed), m), seed=seed)
    s, V = jacobi_svd(A.astype(np.longdouble))
    return Problem(f"haar {kind} m={m} seed={seed}", A, s, V)


class MatrixFree(SymmetricOperator):
    """A matrix that can only be applied, as rows and kernels are."""

    is_psd = True

    def __init__(self, A):
        self._A = A
        self.size = len(A)
        self.dtype = np.dtype(np.float64)
        self.applications = 0
        self.error = np.finfo(float).eps

    def apply(self, V, *, accuracy=None):
        """Return A @ V."""
        del accuracy
        self.applications += 1
        return Product(self._A @ V, 8 * np.finfo(float).eps)

    def like(self):
        """Return an empty array."""
        return np.zeros((0, 0))

    def trace(self):
        """Return the sum of the diagonal."""
        return float(np.trace(self._A))

    def materialize(self):
        """Refuse: nothing here may look at the matrix."""
        message = "a certificate of a matrix-free operator formed the matrix"
        raise AssertionError(message)

    def root(self, V):
        """Return None: there is no factor."""
        del V


def outcomes(problem, certificate, vectors):
    """Hold each line of a certificate against the truth."""
    found = []
    for i, line in enumerate(certificate.lines):
        v = np.asarray(vectors)[:, i].astype(np.longdouble)
        w = problem.vectors[:, i].astype(np.longdouble)
        v, w = v / np.sqrt(v @ v), w / np.sqrt(w @ w)
        off = v - w * (w @ v)
        error = abs(np.longdouble(line.value) - problem.values[i])
        found.append(Outcome(problem.name, float(error), float(np.sqrt(off @ off)), line))
    return found


def exceeded(outcome):
    """Which of the line's bounds the truth exceeds, in words; empty when it keeps them all."""
    line = outcome.line
    broken = []
    for name, actual, bound in (
        ("value_bound", outcome.value_error, line.value_bound),
        ("quadratic_bound", outcome.value_error, line.quadratic_bound),
        ("angle_bound", outcome.sine, line.angle_bound),
    ):
        if not actual <= bound:
            broken.append(f"{outcome.problem}: line {line.index}: {name} {bound:.3g} but the error is {actual:.3g}")
    return broken


def median_ratio(pairs):
    """Median of bound / actual error; a bound on an error of exactly zero counts as infinitely too large."""
    return float(np.median([bound / actual if actual > 0 else np.inf for bound, actual in pairs]))
