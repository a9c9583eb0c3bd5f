"""Claims of the lectures, measured: ``OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.lectures [DATA]``.

PCA before k-means costs less than 5% more and is ten to a hundred times faster; twice the columns take eight times as
long, and not by the dual; the power method is right after log(d / e) / e steps; a face is 15 numbers; fewer dimensions
generalize better; two components part zeros from ones. Tables that are larger than what scikit-learn bundles come from
DATA, by default ../shared/data beside the repository: MNIST, the Olivetti faces and the BBC news.

Writes results/lectures.md. On one thread, as scikit-learn's k-means and BLAS wait for each other on more. A fit is
timed three times and the least counts, but once where it takes over five seconds.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from inspect import cleandoc
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks import machine
from benchmarks.tables import seconds_text
from gramian import PCA, kmeans_cost
from gramian.eigen.power import Power, steps_enough
from gramian.errors import ConvergenceWarning
from gramian.models.prediction import prediction_curve
from gramian.operators.symmetric import DenseMatrix

RESULTS = Path(__file__).parent / "results" / "lectures.md"
DATA = Path(__file__).parents[2] / "shared" / "data"
STARTS = 200


def least(call: Callable[[], Any]) -> float:
    """Return the least seconds of three calls, or of one over five seconds."""
    found: list[float] = []
    while len(found) < 3 and max(found, default=0.0) < 5:
        started = perf_counter()
        call()
        found.append(perf_counter() - started)
    return min(found)


def row(*cells: Any) -> str:
    """Return a line of a table."""
    return f"| {' | '.join(map(str, cells))} |"


def header(*names: str) -> list[str]:
    """Return the two lines that open a table, numbers to the right."""
    return [row(*names), row("---", *["---:"] * (len(names) - 1))]


def images(data: Path, name: str) -> tuple[Any, Any]:
    """Return images as rows (float64), and their labels or subjects."""
    file = np.load(data / "images" / name)
    labels = file["labels"] if "labels" in file else file["subject"]
    return file["images"].reshape(len(labels), -1).astype(np.float64), labels


def news(data: Path) -> Any:
    """Return 2,225 articles x 12,325 words: counts on a log scale, times rarity, in rows of length 1; sparse."""
    counts = sparse.csr_array(sparse.load_npz(data / "text" / "bbc_news_term_counts_csr.npz")).astype(float)
    X = counts.log1p() @ sparse.diags_array(np.log(counts.shape[0] / (counts > 0).sum(axis=0)))
    return sparse.csr_array(sparse.diags_array(1 / np.sqrt(X.power(2).sum(axis=1))) @ X)


def clustered(n: int, d: int, k: int, spread: float) -> Any:
    """Return rows around k centers in d columns, of unit noise; no spread of centers leaves a round cloud."""
    rng = np.random.default_rng(0)
    return spread * rng.standard_normal((k, d))[rng.integers(0, k, n)] + rng.standard_normal((n, d))


def clustering(data: Path) -> Iterator[str]:
    """K-means on scores beside k-means on all columns, once each.

    "Cost above" is of the rows themselves, "bound" the most that it can be for the best clusters. "Faster" is k-means
    alone; "with PCA" counts the time for the components too, which is once for however many clusterings.
    """
    yield from header(
        "table", "clusters", "components", "cost above", "bound", "all columns", "PCA", "scores", "faster", "with PCA"
    )
    tables = [
        ("clusters in 2,000 columns, 10,000 rows", lambda: clustered(10_000, 2000, 20, 0.3), 20),
        ("MNIST digits, 6,000 x 784", lambda: images(data, "mnist_digits_10_classes_6000.npz")[0], 10),
        ("Olivetti faces, 400 x 4,096", lambda: images(data, "olivetti_att_faces_400x64x64.npz")[0], 40),
        ("BBC news, sparse, 2,225 x 12,325", lambda: news(data), 5),
        ("BBC news, made dense", lambda: news(data).toarray(), 5),
        ("far clusters, 5,000 x 300", lambda: clustered(5000, 300, 100, 2.0), 100),
        ("a round cloud, 3,000 x 300", lambda: clustered(3000, 300, 1, 0.0), 100),
    ]
    for name, made, k in tables:
        X = made()
        curve = kmeans_cost(X, k, dimensions=[2, 5, 20])
        for i in range(3):
            both = curve.seconds[i] + curve.pca_seconds
            yield row(
                name,
                k,
                curve.dimensions[i],
                f"{curve.increases[i]:+.1%}",
                f"{curve.bounds[i]:+.0%}",
                seconds_text(curve.full_seconds),
                seconds_text(curve.pca_seconds),
                seconds_text(curve.seconds[i]),
                f"{curve.full_seconds / curve.seconds[i]:.0f}x",
                f"{curve.full_seconds / both:.1f}x",
            )


def doubling(_: Path) -> Iterator[str]:
    """Twice the columns: all components by the covariance of twice as many rows, eigh alone, and the dual of 200 rows.

    Each "times" is over the line above. LAPACK's own eigh grows alike: less than eight times while matrices are small,
    more where they are large (3,200 columns are 82 MB).
    """
    yield from header("columns", "primal", "times", "eigh", "times", "dual, 200 rows", "times")
    before: list[float] | None = None
    rng = np.random.default_rng(0)
    for d in (400, 800, 1600, 3200):
        wide = rng.standard_normal((200, d))
        square = rng.standard_normal((2 * d, d))
        covariance = square.T @ square
        taken = [
            least(lambda X=square: PCA(svd_solver="covariance_eigh").fit(X)),
            least(lambda A=covariance: np.linalg.eigh(A)),
            least(lambda X=wide: PCA(svd_solver="gram").fit(X)),
        ]
        times = [""] * 3 if before is None else [f"{now / old:.1f}" for now, old in zip(taken, before, strict=True)]
        yield row(
            f"{d:,}", *(cell for now, more in zip(taken, times, strict=True) for cell in (seconds_text(now), more))
        )
        before = taken


def power(data: Path) -> Iterator[str]:
    """Steps of the power method until v'Av >= (1 - e) lambda_1, from 200 starts.

    Beside the log(d/e)/e steps that are claimed, and how far the vector then still is from the first eigenvector.
    """
    from sklearn.datasets import load_digits, load_wine
    from sklearn.preprocessing import scale

    yield from header(
        "covariance of", "second / first", "e", "median", "the slowest", "log(d/e)/e", "vector off by then"
    )
    tables = {
        "wine, scaled, 13": scale(load_wine().data),
        "digits, 64": load_digits().data,
        "MNIST digits, 784": images(data, "mnist_digits_10_classes_6000.npz")[0],
        "a round cloud, 100": clustered(1000, 100, 1, 0.0),
    }
    for name, X in tables.items():
        A = np.cov(X.T)
        values, vectors = np.linalg.eigh(A)
        for e in (0.1, 0.01):
            steps, angles = [], []
            for seed in range(STARTS):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", ConvergenceWarning)
                    cap = int(np.ceil(steps_enough(len(A), e)))
                    trace = Power(tol=1e-14, max_iterations=cap).solve(DenseMatrix(A), 1, seed=seed).trace
                reached = np.flatnonzero(trace.value >= (1 - e) * values[-1])
                steps.append(1 + int(reached[0]) if len(reached) else cap + 1)
                angles.append(float(_angle_after(A, vectors[:, -1], steps[-1], seed)))
            yield row(
                name,
                f"{values[-2] / values[-1]:.3f}",
                e,
                int(np.median(steps)),
                max(steps),
                f"{steps_enough(len(A), e):,.0f}",
                f"up to {np.degrees(max(angles)):.0f} degrees",
            )


def _angle_after(A: Any, truth: Any, steps: int, seed: int) -> float:
    """Return the angle of the iterate after so many steps with the first eigenvector."""
    v = np.random.default_rng(seed).standard_normal((len(A), 1))[:, 0]
    for _ in range(steps - 1):
        v = A @ v
        v /= np.linalg.norm(v)
    return float(np.arccos(min(1.0, abs(v @ truth) / np.linalg.norm(v))))


def faces(data: Path) -> Iterator[str]:
    """What few numbers keep of an Olivetti face: of 320 learned from, of 80 new ones, and of who it is.

    A face is recognized when the nearest of those learned from is of the same person.
    """
    X, subject = images(data, "olivetti_att_faces_400x64x64.npz")
    held = np.arange(len(X)) % 10 >= 8
    learned, new = X[~held], X[held]
    mean = learned.mean(axis=0)
    yield from header("numbers per face", "kept of 320 faces", "kept of 80 new ones", "of these recognized")
    for k in (5, 15, 50, 100, 300):
        pca = PCA(k).fit(learned)
        kept = [1 - pca.reconstruction_error(part).sum() / np.sum((part - mean) ** 2) for part in (learned, new)]
        told = _recognized(*map(pca.transform, (learned, new)), subject, held)
        yield row(k, *(f"{share:.0%}" for share in kept), f"{told:.0%}")
    yield row("4,096 pixels", "100%", "100%", f"{_recognized(learned, new, subject, held):.0%}")


def _recognized(learned: Any, new: Any, subject: Any, held: Any) -> float:
    nearest = np.argmin(((new[:, None] - learned) ** 2).sum(axis=2), axis=1)
    return float(np.mean(subject[~held][nearest] == subject[held]))


def predicting(data: Path) -> Iterator[str]:
    """Least squares on ten indicators, with and without PCA, from few rows and from many; five splits."""
    yield from header("MNIST digits, learned from", "errors by 784 pixels", "least, by components", "how many")
    X, digit = images(data, "mnist_digits_10_classes_6000.npz")
    for n in (100, 500, 2000, 5000):
        curve = prediction_curve(X, digit, n, dimensions=[m for m in (5, 10, 20, 50, 100, 200) if m < n], repeats=5)
        best = int(np.argmin(curve.errors))
        yield row(f"{n:,}", f"{curve.full_error:.1%}", f"{curve.errors[best]:.1%}", curve.dimensions[best])


def zeros_and_ones(data: Path) -> Iterator[str]:
    """Zeros and ones told apart by a line in the plane of two components; ten folds."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline

    X, digit = images(data, "mnist_digits_0_and_1_2000.npz")
    right = cross_val_score(make_pipeline(PCA(2), LogisticRegression()), X, digit, cv=10).mean()
    share = PCA(2).fit(X).explained_variance_ratio_.sum()
    yield f"Two components of 2,000 images of 784 pixels hold {share:.1%} of the variance, and a line in their plane"
    yield f"tells {right:.2%} of images left out right."


PARTS: dict[str, Callable[..., Iterator[str]]] = {
    "E4: k-means after PCA": clustering,
    "F5: twice the columns": doubling,
    "M4: steps of the power method": power,
    "E2: a face from 15 numbers": faces,
    "E11: digits learned from few": predicting,
    "E1: zeros and ones": zeros_and_ones,
}


def main() -> None:
    """Measure every claim, and write them down."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else DATA
    about = machine.describe(["gramian", "scikit-learn"])
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    threads = ", ".join(f"{name}={value}" for name, value in about["threads"].items() if value)
    lines = ["# Claims of the lectures", ""]
    lines += [
        f"{about['date']}, {about['cpu']}, {about['cores']} cores; Python {about['python']}, {versions}; {threads}."
    ]
    lines += ["`OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.lectures`", ""]
    for title, part in PARTS.items():
        print(title, flush=True)
        lines += [f"## {title}", "", cleandoc(part.__doc__ or ""), "", *part(data), ""]
    RESULTS.write_text("\n".join(lines), encoding="utf-8")
    print(f"wrote {RESULTS}")


if __name__ == "__main__":
    main()
