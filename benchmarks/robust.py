"""How often rows that lie apart get into the first look of a robust PCA: ``python -m benchmarks.robust``.

Tables of 400 Gaussian rows, twelve of each kind and number of columns: 5, 10, 20 or 24% of the rows are planted, of
each of these sizes, from the seed ``[columns, percent, size]``. Columns are mixed by a random matrix.

``shifted``    moved by 6, 15 or 100 deviations along one direction;
``narrowest``  as much along the direction of least variance;
``cells``      one cell of each row larger by 60, 150 or 1000;
``cluster``    a tenth as wide as the others, 6, 15 or 100 deviations out along one direction.

First table: in how many of twelve any planted row is among the three quarters of the rows that DetMCD takes here, and
``sklearn.covariance.fast_mcd`` takes, both from the scores of a PCA as ``PCA(robust=True)`` does (``fast_mcd`` from
scores over their deviations), and the process time of both. Second table: how many deviations out a tight cluster has
to lie, to be left out in all of ten tables (seeds ``[seed, columns]``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import product
from time import process_time

import numpy as np
from sklearn.covariance import fast_mcd

from gramian.models.pca.robust import CORE, _mcd

ROWS = 400
COLUMNS = (1, 2, 5, 10, 20, 30)
SHARES = (5, 10, 20, 24)
SIZES = (6, 15, 100)
KINDS = ("shifted", "narrowest", "cells", "cluster")
OUT = (5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 40, 50, 75, 100)
TABLES = 10


def planted(kind: str, p: int, share: int, size: int) -> np.ndarray:
    """Return scores (400, p) of rows, the first of which, as many as ``share`` says, lie apart."""
    rng, m = np.random.default_rng([p, share, size]), share * ROWS // 100
    X, mixing = rng.standard_normal((ROWS, p)), rng.standard_normal((p, p))
    direction = rng.standard_normal(p)
    direction /= np.linalg.norm(direction)
    if kind == "narrowest":
        direction = np.linalg.svd(mixing)[0][:, -1]  # what the mixing makes shortest
    if kind in ("shifted", "narrowest"):
        X[:m] += size * direction
    elif kind == "cluster":
        X[:m] = 0.1 * X[:m] + size * direction
    X = X @ mixing
    if kind == "cells":
        X[np.arange(m), rng.integers(0, p, m)] += 10.0 * size
    return scores(X)


def scores(X: np.ndarray) -> np.ndarray:
    """Return rows by their principal components."""
    Y = X - X.mean(axis=0)
    found: np.ndarray = Y @ np.linalg.svd(Y, full_matrices=False)[2].T
    return found


def theirs(X: np.ndarray) -> np.ndarray:
    """Return the three quarters that scikit-learn takes."""
    taken: np.ndarray = fast_mcd(X / X.std(axis=0), CORE, random_state=0)[2]
    return taken


def timed(take: Callable[[np.ndarray], np.ndarray | None], X: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the rows taken, and the process time of it in seconds."""
    start = process_time()
    taken = take(X)
    assert taken is not None
    return taken, process_time() - start


def compare() -> None:
    """Print how often planted rows are taken, here and by scikit-learn."""
    counts = np.zeros((len(KINDS), len(COLUMNS), 2), dtype=int)
    seconds = np.zeros(2)
    for (i, kind), (j, p) in product(enumerate(KINDS), enumerate(COLUMNS)):
        for share, size in product(SHARES, SIZES):
            X = planted(kind, p, share, size)
            for side, take in enumerate((_mcd, theirs)):
                taken, spent = timed(take, X)
                counts[i, j, side] += taken[: share * ROWS // 100].any()
                seconds[side] += spent
    print("Of 12 tables planted rows are taken in, DetMCD / fast_mcd:")
    print(f"{'columns':<12}" + "".join(f"{p:>9}" for p in COLUMNS))
    for kind, row in zip(KINDS, counts, strict=True):
        print(f"{kind:<12}" + "".join(f"{f'{ours} / {peers}':>9}" for ours, peers in row))
    ours, peers = counts.sum(axis=(0, 1))
    tables = len(KINDS) * len(COLUMNS) * len(SHARES) * len(SIZES)
    print(f"together {ours} and {peers} of {tables}; {seconds[0]:.1f} s and {seconds[1]:.1f} s of process time")


def clusters() -> None:
    """Print how far out a tight cluster has to lie, to be left out in every table."""
    print(f"\nDeviations from which on no row of a tight cluster is taken, of {', '.join(map(str, OUT))}:")
    print(f"{'columns':<12}" + "".join(f"{p:>9}" for p in COLUMNS))
    for share in SHARES:
        least = []
        for p in COLUMNS:
            taken = [any(_cluster_taken(p, share, r, seed) for seed in range(TABLES)) for r in OUT]
            least.append(max((i + 1 for i, one in enumerate(taken) if one), default=0))
        print(f"{f'{share}%':<12}" + "".join(f"{OUT[i] if i < len(OUT) else 'more':>9}" for i in least))


def _cluster_taken(p: int, share: int, r: float, seed: int) -> bool:
    """Tell whether any row of a cluster, r deviations out along the first column, is taken."""
    X, m = np.random.default_rng([seed, p]).standard_normal((ROWS, p)), share * ROWS // 100
    X[:m] *= 0.1
    X[:m, 0] += r
    taken = _mcd(scores(X))
    assert taken is not None
    return bool(taken[:m].any())


def main() -> int:
    """Print both tables."""
    compare()
    clusters()
    return 0


if __name__ == "__main__":
    sys.exit(main())
