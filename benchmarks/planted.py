"""Seeded rows with a known kind of spectrum, made fast: a few planted directions plus noise.

Two kinds of data, because they are hard for opposite reasons:

``decay``
    Standard deviations fall geometrically to a floor of 1e-4: what a smooth process or an image gives. Every
    method that iterates converges in a few steps.
``noise``
    Ten directions stand a little above white noise and everything after them is noise: neighboring
    eigenvalues differ by parts in a thousand. Methods that stop on a count of iterations are wrong here.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.blocks import row_ranges
from benchmarks.case import Instance

_SEED = 20_240_229
_FLOOR = 1e-4
_SPIKES = 10


def dense_rows(instance: Instance) -> np.ndarray:
    """Rows of planted structure plus white noise, with column means twice their top spread, in float32.

    Computes  X = mean + Z diag(scales) W' + noise,  Z Gaussian (n, r), W orthonormal (d, r).
    Cost: 2 n d r flops and n d Gaussian draws.
    """
    n, d = instance.n_rows, instance.n_columns
    scales, noise = _scales(instance)
    rng = np.random.default_rng(_SEED)
    loadings = np.linalg.qr(rng.standard_normal((d, scales.size)))[0] * scales
    mean = (2.0 * rng.standard_normal(d)).astype(np.float32)
    X = np.empty((n, d), dtype=np.float32)
    for number, rows in enumerate(row_ranges(n, d)):
        draws = np.random.default_rng([_SEED, number])
        block = draws.standard_normal((rows.stop - rows.start, d), dtype=np.float32)
        block *= np.float32(noise)
        block += draws.standard_normal((block.shape[0], scales.size)) @ loadings.T
        X[rows] = block + mean
    return X


def sparse_rows(instance: Instance) -> Any:
    """Rows with nonzeros gathered in topics: CSR in float32, about ``density`` n d stored entries.

    A row belongs to one topic; a share of its entries falls in that topic's columns and the rest anywhere.
    The topics' strengths decay by 0.97 a step (``decay``), or by 0.99 in Gaussian values (``noise``).
    """
    n, d = instance.n_rows, instance.n_columns
    assert instance.case.density is not None
    count = int(n * d * instance.case.density)
    rng = np.random.default_rng(_SEED)
    strengths, share = _topic_strengths(instance.spectrum)
    width = max(d // 100, 1)
    rows = rng.integers(n, size=count)
    topics = rows % strengths.size
    columns = rng.integers(d, size=count)
    inside = rng.random(count) < share
    columns[inside] = topics[inside] * width % d + rng.integers(width, size=int(inside.sum()))
    values = _topic_values(rng, instance.spectrum, count) * np.where(inside, strengths[topics], 1.0)
    matrix = scipy.sparse.coo_matrix((values.astype(np.float32), (rows, columns)), shape=(n, d))
    return matrix.tocsr()


def _scales(instance: Instance) -> tuple[np.ndarray, float]:
    """Planted standard deviations, and that of the noise; the noise is scaled by its own edge."""
    aspect = 1.0 + math.sqrt(instance.n_columns / instance.n_rows)
    if instance.spectrum == "decay":
        rank = min(math.ceil(math.log(_FLOOR) / math.log(instance.case.decay)), instance.side)
        return instance.case.decay ** np.arange(rank), _FLOOR / aspect
    spikes = min(_SPIKES, max(instance.side // 2, 1))
    return aspect * np.sqrt(1.0 + 8.0 / np.arange(1, spikes + 1)), 1.0


def _topic_strengths(spectrum: str) -> tuple[np.ndarray, float]:
    """Strength of each topic, and the share of a row's entries that fall in its topic."""
    if spectrum == "decay":
        return 0.97 ** np.arange(25), 0.5
    return 0.99 ** np.arange(40), 0.3


def _topic_values(rng: np.random.Generator, spectrum: str, count: int) -> np.ndarray:
    """Entries before the topic's strength: near one, or with Gaussian noise as large as themselves."""
    spread = 0.1 if spectrum == "decay" else 1.0
    return 1.0 + spread * rng.standard_normal(count, dtype=np.float32)
