"""Tables with a planted number of components, on which the rules for choosing it are compared.

Strengths are variances added to noise of unit variance a cell. A component of strength s can be told from
noise, in n rows of d columns, when s is well above sqrt(d / n).
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from gramian.choosing import (
    broken_stick,
    choose_automatically,
    cross_validation,
    gavish_donoho,
    generalized_cross_validation,
    minka,
    parallel_analysis,
    share_of_variance,
)
from gramian.sources.dense import DenseRows


@dataclass(frozen=True)
class Fitted:
    """What a rule may be told about a table."""

    X: np.ndarray
    variances: np.ndarray
    components: np.ndarray
    column_variances: np.ndarray
    mean: np.ndarray

    @property
    def shape(self):
        """Numbers that every rule takes."""
        n, d = self.X.shape
        return {"n_rows": n, "n_columns": d, "total_variance": float(self.column_variances.sum())}

    @property
    def columns(self):
        """What a fit knows about the columns."""
        return {"column_variances": self.column_variances, "components": self.components}


def fitted(X):
    """Fit a table by the textbook."""
    mean = X.mean(axis=0)
    centered = X - mean
    _, s, Vt = np.linalg.svd(centered, full_matrices=False) if min(X.shape) < 60 else _by_gram(centered)
    kept = max(1, min(len(X) - 1, X.shape[1]))
    variances = s[:kept] ** 2 / max(len(X) - 1, 1)
    return Fitted(X, variances, Vt[:kept], (centered**2).sum(axis=0) / max(len(X) - 1, 1), mean)


def _by_gram(centered):
    n, d = centered.shape
    small = centered.T @ centered if n >= d else centered @ centered.T
    values, vectors = np.linalg.eigh(small)
    s = np.sqrt(np.maximum(values[::-1], 0.0))
    W = vectors[:, ::-1]
    if n >= d:
        return None, s, W.T
    kept = s > 1e-9 * s[0]
    return None, s, np.where(kept[:, None], W.T @ centered / np.where(kept, s, 1.0)[:, None], 0.0)


def noise(rng, n, d):
    """White noise."""
    return rng.standard_normal((n, d))


def uneven_columns(rng, n, d):
    """Noise whose variance differs between columns, a hundredfold at most."""
    levels = np.exp(rng.uniform(np.log(0.1), np.log(10.0), d))
    return noise(rng, n, d) * np.sqrt(levels / levels.mean())


def uneven_rows(rng, n, d):
    """Noise whose variance differs between rows, a hundredfold at most."""
    return uneven_columns(rng, d, n).T


def heavy_tails(rng, n, d):
    """Student's t with three degrees of freedom, of unit variance."""
    return rng.standard_t(3, (n, d)) / np.sqrt(3.0)


def related_columns(rng, n, d, *, correlation=0.5):
    """Noise in which every column resembles the one before it."""
    E = noise(rng, n, d)
    for j in range(1, d):
        E[:, j] = correlation * E[:, j - 1] + np.sqrt(1.0 - correlation**2) * E[:, j]
    return E


def planted(n, d, strengths, seed, *, make_noise=noise):
    """Components of the given strengths in random directions, and noise."""
    rng = np.random.default_rng(seed)
    k = len(strengths)
    V = np.linalg.qr(rng.standard_normal((d, k)))[0]
    return rng.standard_normal((n, k)) * np.sqrt(strengths) @ V.T + make_noise(rng, n, d)


def topic_counts(seed):
    """Counts of words in documents that mix five topics: four directions."""
    rng = np.random.default_rng(seed)
    topics = rng.gamma(0.3, size=(5, 300))
    topics /= topics.sum(axis=1, keepdims=True)
    return rng.poisson(120.0 * rng.dirichlet(np.full(5, 0.5), 800) @ topics).astype(float)


def _of(n, d, strengths, **options):
    return len(strengths), partial(planted, n, d, np.asarray(strengths, dtype=float), **options)


DESIGNS = {
    "easy gap": _of(500, 50, [40, 30, 20, 15, 10]),
    "weak": _of(400, 200, 0.5**0.5 * np.array([3.0, 2.5, 2.1, 1.8])),
    "uneven columns": _of(500, 100, [40, 30, 20, 15], make_noise=uneven_columns),
    "uneven rows": _of(500, 100, [20, 15, 10, 8], make_noise=uneven_rows),
    "wide": _of(60, 2000, (2000 / 60) ** 0.5 * np.array([12.0, 9.0, 6.0, 4.0, 3.0])),
    "square": _of(200, 200, [12, 10, 8, 6, 5, 4]),
    "heavy tails": _of(500, 100, [20, 15, 10, 8], make_noise=heavy_tails),
    "related noise": _of(600, 100, [30, 20, 12], make_noise=related_columns),
    "one": _of(300, 30, [3]),
    "none": _of(300, 60, []),
    "many": _of(600, 200, np.linspace(20, 4, 40)),
    "tiny": _of(15, 8, [20, 10]),
    "huge": _of(50_000, 40, [5, 3, 1, 0.5, 0.25, 0.12]),
    "one giant": _of(400, 100, [2000, 5, 4, 3]),
    "counts": (4, topic_counts),
    "strongly related noise": _of(600, 100, [12, 10, 8], make_noise=partial(related_columns, correlation=0.8)),
}
"""Name: the planted number, and a function of the seed that makes the table."""

HARD = {
    "strongly related noise": "its own spectrum reaches as high as the components, with no gap after them",
}
"""Designs on which the automatic choice is known to fail, with the reason."""

RULES = {
    "auto": lambda f: choose_automatically(f.variances, DenseRows(f.X), mean=f.mean, **f.columns, **f.shape),
    "parallel": lambda f: parallel_analysis(f.variances, DenseRows(f.X), mean=f.mean, **f.columns, **f.shape),
    "permuted": lambda f: parallel_analysis(
        f.variances, DenseRows(f.X), mean=f.mean, null="permutation", **f.columns, **f.shape
    ),
    "gaussian": lambda f: parallel_analysis(f.variances, **f.columns, **f.shape),
    "minka": lambda f: minka(f.variances, **f.shape),
    "gavish-donoho": lambda f: gavish_donoho(f.variances, **f.shape),
    "broken stick": lambda f: broken_stick(f.variances, **f.shape),
    "cross-validation": lambda f: cross_validation(DenseRows(f.X), mean=f.mean),
    "gcv": lambda f: generalized_cross_validation(f.variances, **f.shape),
    "95%": lambda f: share_of_variance(f.variances, **f.shape),
}
"""Every rule, told all it can use."""


def hits(k, planted_k):
    """Whether an answer is within one of what was planted."""
    return abs(k - planted_k) <= 1
