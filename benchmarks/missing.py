"""Missing values: ``python -m benchmarks.missing [bar sweep large real peers netflix]`` writes results/missing.md.

Every section holds entries out, fits the rest, and compares predictions with what was held out. Peers choose their
penalty by a tenth of what they are given (their time is that of the fit that is used); Gramian has no setting but, in
the planted sections, the planted number of components as its most, beside its own choice. Peers that are not installed
(``pip install cmfrec scikit-surprise``) are left out, and a line says so. ``--scale 0.1`` makes the Netflix shape a
tenth as many entries (both sides shorter by its root); ``--scale 1`` takes about ten minutes of two quiet cores and
8 GB, and tells on stderr where it is.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from benchmarks.machine import describe
from gramian import ProbabilisticPCA, triplets

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).parents[2] / "shared" / "data"
SEEDS = range(100, 105)
SOFT_CELLS = 2_000_000
"""Cells up to which soft-impute, which is dense, is run."""
NETFLIX_TOL = 1e-4
"""Of the Netflix shape: ten times the default, to save rounds at full size."""


class Cells(NamedTuple):
    """Cells of a table: rows, columns and values."""

    rows: np.ndarray
    columns: np.ndarray
    values: np.ndarray

    def some(self, which: np.ndarray) -> Cells:
        """Return some of them."""
        return Cells(self.rows[which], self.columns[which], self.values[which])


class Guess(NamedTuple):
    """Predictions of cells, their deviations where the method has any, and what is worth a remark.

    ``seconds`` are those of the fit that was used, where others came before to choose its penalty.
    """

    values: np.ndarray
    std: np.ndarray | None = None
    remark: str = ""
    seconds: float | None = None


Method = Callable[[Cells, tuple[int, int], Cells], Guess]


def rmse(guess: Guess, held: Cells) -> float:
    """Root of the mean squared error."""
    return float(np.sqrt(np.mean((guess.values - held.values) ** 2)))


def gramian(k: int | None = None, *, biases: bool | None = None, dense: bool = False, **words: Any) -> Method:
    """Gramian's fit, of a sparse or a dense table."""

    def predicted(known: Cells, shape: tuple[int, int], held: Cells) -> Guess:
        if dense:
            X: Any = np.full(shape, np.nan)
            X[known.rows, known.columns] = known.values
        else:
            X = triplets(*known, shape=shape)
        model = ProbabilisticPCA(k, biases=biases, **words).fit(X)
        mean, std = model.predict(held.rows, held.columns, return_std=True)
        return Guess(mean, std, f"k={model.n_components_}, {model.n_iter_} rounds")

    return predicted


def column_means(known: Cells, shape: tuple[int, int], held: Cells) -> Guess:
    """What most programs fill with."""
    counts = np.bincount(known.columns, minlength=shape[1])
    sums = np.bincount(known.columns, known.values, minlength=shape[1])
    means = np.where(counts > 0, sums / np.maximum(counts, 1), known.values.mean())
    return Guess(means[held.columns])


def bias_fit(known: Cells, shape: tuple[int, int], held: Cells, penalty: float) -> Guess:
    """Row and column biases about the mean, by ridge regression in turn."""
    mu, a, b = float(known.values.mean()), np.zeros(shape[0]), np.zeros(shape[1])
    n, d = np.bincount(known.rows, minlength=shape[0]), np.bincount(known.columns, minlength=shape[1])
    for _ in range(15):
        b = np.bincount(known.columns, known.values - mu - a[known.rows], minlength=shape[1]) / (d + penalty)
        a = np.bincount(known.rows, known.values - mu - b[known.columns], minlength=shape[0]) / (n + penalty)
    return Guess(mu + a[held.rows] + b[held.columns])


def soft_impute(known: Cells, shape: tuple[int, int], held: Cells, penalty: float) -> Guess:
    """Mazumder, Hastie and Tibshirani (2010): singular values lowered by a penalty, until nothing changes."""
    center = column_means(known, shape, Cells(np.zeros(shape[1], int), np.arange(shape[1]), np.zeros(shape[1]))).values
    X = np.zeros(shape, np.float32)
    X[known.rows, known.columns] = known.values - center[known.columns]
    short = X.T if shape[0] > shape[1] else X
    there = short != 0
    there[(known.columns, known.rows) if shape[0] > shape[1] else (known.rows, known.columns)] = True
    # The penalty is a part of the largest singular value of the table with zeros.
    top, Z = np.sqrt(np.linalg.eigvalsh(short @ short.T)[-1]), np.zeros_like(short)
    for _ in range(50):
        filled = np.where(there, short, Z)
        lam, U = np.linalg.eigh(filled @ filled.T)
        s = np.sqrt(np.maximum(lam, 1e-12))
        new = (U * np.maximum(1 - penalty * top / s, 0)) @ (U.T @ filled)
        change, size = np.linalg.norm(new - Z), np.linalg.norm(Z)
        Z = new
        if change <= 1e-3 * size:
            break
    cells = (held.columns, held.rows) if shape[0] > shape[1] else (held.rows, held.columns)
    return Guess(Z[cells] + center[held.columns])


def cmfrec(k: int) -> Callable[..., Guess]:
    """Return cmfrec's alternating least squares with user and item biases."""

    def predicted(known: Cells, shape: tuple[int, int], held: Cells, penalty: float) -> Guess:
        from cmfrec import CMF

        model = CMF(k=k, lambda_=penalty, verbose=False)
        model.fit(sp.coo_matrix((known.values, (known.rows, known.columns)), shape=shape))
        found = np.asarray(model.predict(held.rows, held.columns), dtype=float)
        return Guess(np.where(np.isfinite(found), found, known.values.mean()))

    return predicted


def surprise(known: Cells, shape: tuple[int, int], held: Cells) -> Guess:
    """scikit-surprise's SVD at its defaults: stochastic gradients, 100 factors."""
    import pandas as pd
    from surprise import SVD, Dataset, Reader

    del shape
    frame = pd.DataFrame({"u": known.rows, "i": known.columns, "r": known.values})
    limits = Reader(rating_scale=(known.values.min(), known.values.max()))
    model = SVD(random_state=0).fit(Dataset.load_from_df(frame, limits).build_full_trainset())
    return Guess(np.array([model.predict(i, j).est for i, j in zip(held.rows, held.columns, strict=True)]))


def iterative_imputer(known: Cells, shape: tuple[int, int], held: Cells) -> Guess:
    """scikit-learn's regressions of each column on the others."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    X = np.full(shape, np.nan)
    X[known.rows, known.columns] = known.values
    filled = IterativeImputer(max_iter=10, random_state=0, keep_empty_features=True).fit_transform(X)
    return Guess(filled[held.rows, held.columns])


def chosen(method: Callable[..., Guess], penalties: tuple[float, ...]) -> Method:
    """Return a method with the penalty that predicts a tenth of the first table that it is given best."""
    best: list[float] = []

    def predicted(known: Cells, shape: tuple[int, int], held: Cells) -> Guess:
        if not best:
            order = np.random.default_rng(0).permutation(len(known.values))
            cut = len(order) // 10
            inner, rest = known.some(order[:cut]), known.some(order[cut:])
            errors = [rmse(method(rest, shape, inner, penalty), inner) for penalty in penalties]
            best.append(penalties[int(np.argmin(errors))])
        start = perf_counter()
        guess = method(known, shape, held, best[0])
        return guess._replace(seconds=perf_counter() - start)

    return predicted


SOFT, BIAS, ALS = (0.02, 0.05, 0.1, 0.2, 0.4), (0.5, 2.0, 5.0, 10.0, 25.0), (0.3, 1.0, 3.0, 10.0, 30.0)
"""Penalties that are tried: parts of the largest singular value, and what is added to counts and to squares."""


def _installed(methods: dict[str, Method]) -> dict[str, Method]:
    """Return the methods whose package is there."""
    return {name: method for name, method in methods.items() if not any(peer in name for peer in _not_installed())}


def _not_installed() -> list[str]:
    modules = {"cmfrec": "cmfrec", "scikit-surprise": "surprise"}
    return [peer for peer, module in modules.items() if find_spec(module) is None]


class Line(NamedTuple):
    """One method on one table."""

    error: float
    seconds: float
    covered: float | None
    remark: str


def measured(method: Method, known: Cells, shape: tuple[int, int], held: Cells, limits: Any = None) -> Line:
    """Fit and predict once."""
    start = perf_counter()
    guess = method(known, shape, held)
    seconds = perf_counter() - start if guess.seconds is None else guess.seconds
    if limits is not None:
        guess = guess._replace(values=np.clip(guess.values, *limits))
    covered = None
    if guess.std is not None:
        covered = float(np.mean(np.abs(guess.values - held.values) <= 1.959964 * guess.std))
    return Line(rmse(guess, held), seconds, covered, guess.remark)


# Planted tables.


class Planted(NamedTuple):
    """Some cells of a table  u v' / sqrt(k) + mu + noise, and the truth."""

    known: Cells
    held: Cells
    shape: tuple[int, int]
    weights: np.ndarray
    mean: np.ndarray
    noise: float


def planted(n: int, d: int, count: int, held: int, *, k: int = 10, noise: float = 0.5, seed: int = 0) -> Planted:
    """Return so many known cells of a planted table, at random, and further ones that are held out."""
    rng = np.random.default_rng(seed)
    U, V, mu = rng.standard_normal((n, k)), rng.standard_normal((d, k)), rng.standard_normal(d)
    places = rng.choice(n * d, count + held, replace=False)
    i, j = places // d, places % d
    x = np.einsum("mk,mk->m", U[i], V[j]) / np.sqrt(k) + mu[j] + noise * rng.standard_normal(len(i))
    cells, cut = Cells(i, j, x), np.arange(len(i)) < count
    return Planted(cells.some(cut), cells.some(~cut), (n, d), V / np.sqrt(k), mu, noise)


def oracle(table: Planted) -> float:
    """RMSE of the one who knows mean, subspace and noise, and learns scores from what is known of each row."""
    W, k = table.weights, table.weights.shape[1]
    i, j, x = table.known
    X = sp.csr_array((x - table.mean[j], (i, j)), shape=table.shape)
    there = sp.csr_array((np.ones(len(i)), (i, j)), shape=table.shape)
    grams = (there @ (W[:, :, None] * W[:, None, :]).reshape(len(W), -1)).reshape(-1, k, k)
    z = np.linalg.solve(grams + table.noise**2 * np.eye(k), (X @ W)[:, :, None])[:, :, 0]
    held = table.held
    return rmse(Guess(table.mean[held.columns] + np.einsum("mk,mk->m", z[held.rows], W[held.columns])), held)


def sweep(*, quick: bool) -> Iterator[str]:
    """Rank 10 and noise 0.5: three shapes, from nearly nothing to 95% missing."""
    yield "## Planted rank 10, noise 0.5: error over that of the oracle who knows the subspace\n"
    yield "Known per parameter is known entries over (n + d) k.\n"
    shapes = [(1000, 100), (300, 300), (5000, 200)]
    yield from _planted_table(shapes[:1] if quick else shapes, (0.01, 0.2, 0.5, 0.8, 0.9, 0.95))


def large(*, quick: bool) -> Iterator[str]:
    """Return the same of a large table."""
    yield "## The same, 48,000 x 1,777\n"
    yield "Soft-impute is dense and not run here.\n"
    yield from _planted_table([(4800, 178) if quick else (48_000, 1777)], (0.8, 0.9, 0.95))


def _planted_table(shapes: list[tuple[int, int]], shares: tuple[float, ...]) -> Iterator[str]:
    names = ["Gramian, own k", "Gramian, k at most 10", "column means", "soft-impute", "cmfrec, k=10"]
    yield f"| shape | missing | known per parameter | oracle RMSE | 95% covers | {' | '.join(names)} |"
    yield "|---|---:|---:|---:|---:|" + "---:|" * len(names)
    for n, d in shapes:
        for share in shares:
            count = round((1 - share) * n * d)
            table = planted(n, d, count, min(100_000, n * d - count))
            dense = share < 0.5
            found = [gramian(biases=False, dense=dense), gramian(10, biases=False, dense=dense), column_means]
            methods = dict(zip(names, [*found, chosen(soft_impute, SOFT), chosen(cmfrec(10), ALS)], strict=True))
            if n * d > SOFT_CELLS:
                del methods["soft-impute"]
            truth = oracle(table)
            lines = {
                name: measured(method, table.known, table.shape, table.held)
                for name, method in _installed(methods).items()
            }
            cells = [f"{lines[name].error / truth:.3f}" if name in lines else "" for name in names]
            yield (
                f"| {n:,} x {d:,} | {share:.0%} | {count / ((n + d) * 10):.1f} | {truth:.3f} "
                f"| {lines[names[0]].covered:.1%} | {' | '.join(cells)} |"
            )


def bar(*, quick: bool) -> Iterator[str]:
    """One million known of 48,000 x 1,777, at random."""
    n, d, count = (4800, 178, 100_000) if quick else (48_000, 1777, 1_000_000)
    yield f"## {n:,} x {d:,}, {count:,} known at random, {count // 10:,} held out\n"
    yield "| method | RMSE | 95% covers | seconds | |"
    yield "|---|---:|---:|---:|---|"
    table = planted(n, d, count, count // 10)
    yield f"| oracle | {oracle(table):.4f} | | | knows mean, subspace and noise |"
    methods = {
        "Gramian, k=10": gramian(10, biases=False),
        "Gramian, k=10, tol=1e-4": gramian(10, biases=False, tol=1e-4),
        "Gramian, k=10, row biases (default)": gramian(10),
        "Gramian, k=20": gramian(20),
        "cmfrec, k=10": chosen(cmfrec(10), ALS),
        "column means": column_means,
    }
    for name, method in _installed(methods).items():
        yield _row(name, [measured(method, table.known, table.shape, table.held)])


def _row(name: str, lines: list[Line]) -> str:
    errors, seconds = [line.error for line in lines], [line.seconds for line in lines]
    spread = f" ({np.std(errors, ddof=1):.4f})" if len(lines) > 1 else ""
    covered = "" if lines[0].covered is None else f"{np.mean([line.covered or 0 for line in lines]):.1%}"
    remark = "; ".join(dict.fromkeys(line.remark for line in lines)) if len(lines) == 1 else lines[0].remark
    return f"| {name} | {np.mean(errors):.4f}{spread} | {covered} | {np.median(seconds):.2f} | {remark} |"


# Real tables.


def numbered(*names: Any) -> list[np.ndarray]:
    """Number the names of rows and of columns."""
    return [np.unique(part, return_inverse=True)[1].reshape(-1) for part in names]


def movielens() -> tuple[Cells, tuple[int, int]]:
    """Return 100,836 ratings, half stars, of 9,724 films by 610 users."""
    import pandas as pd

    frame = pd.read_csv(DATA / "ratings" / "movielens_latest_small_ratings.csv.gz")
    i, j = numbered(frame.userId, frame.movieId)
    return Cells(i, j, frame.rating.to_numpy(float)), (610, 9724)


def dense_ratings() -> tuple[Cells, tuple[int, int]]:
    """Return the densest part of MovieLens: users and films with many ratings, about half of the table known."""
    cells, _ = movielens()
    users, films = np.bincount(cells.rows), np.bincount(cells.columns)
    few = cells.some((users[cells.rows] >= 300) & (films[cells.columns] >= 100))
    i, j = numbered(few.rows, few.columns)
    return Cells(i, j, few.values), (int(i.max()) + 1, int(j.max()) + 1)


def metabolites() -> tuple[Cells, tuple[int, int]]:
    """Return 154 metabolites at 52 points of a cold-stress experiment, complete."""
    import pandas as pd

    X = pd.read_csv(DATA / "genomics" / "metabolites_154x52_complete.csv", index_col=0).to_numpy(float).T
    return _all(X)


def wine() -> tuple[Cells, tuple[int, int]]:
    """Return 11 measurements and a grade of 1,599 red wines, each in deviations."""
    import pandas as pd

    X = pd.read_csv(DATA / "tables" / "winequality_red_semicolon.csv", sep=";")
    X = X.to_numpy(float)
    return _all((X - X.mean(axis=0)) / X.std(axis=0))


def spectra() -> tuple[Cells, tuple[int, int]]:
    """Return near-infrared spectra of 60 gasolines at 401 wavelengths."""
    found = np.load(DATA / "wide" / "gasoline_nir_spectra_60x401.npz")
    return _all(next(found[name] for name in found.files if found[name].shape == (60, 401)).astype(float))


def _all(X: np.ndarray) -> tuple[Cells, tuple[int, int]]:
    i, j = np.nonzero(np.isfinite(X))
    return Cells(i, j, X[i, j]), X.shape


def real(*, quick: bool) -> Iterator[str]:
    """Five seeds of a tenth held out, of five tables."""
    yield "## Real tables, a tenth held out, mean of five seeds (deviation between seeds), median seconds\n"
    yield "Gramian has its defaults: the number of components is its own choice, and its time is part of the time.\n"
    yield (
        "Seeds 100 to 104. The tolerance, and how many components are kept, were settled with a look at the errors of "
        "other seeds (0 to 4 and 200 to 209).\n"
    )
    tables = {
        "MovieLens small: 610 x 9,724, 1.7% known, stars from 0.5 to 5": (movielens, (0.5, 5.0), False),
        "The dense part of MovieLens: users with 300 ratings, films with 100": (dense_ratings, (0.5, 5.0), False),
        "Metabolites: 52 x 154": (metabolites, None, True),
        "Red wines: 1,599 x 12": (wine, None, True),
        "Spectra: 60 x 401": (spectra, None, True),
    }
    seeds = range(2) if quick else SEEDS
    for title, (read, limits, dense) in tables.items():
        cells, shape = read()
        methods: dict[str, Method] = {
            "Gramian": gramian(dense=dense, bounds=limits),
            "column means": column_means,
            "row and column biases": chosen(bias_fit, BIAS),
            "soft-impute": chosen(soft_impute, SOFT),
            "cmfrec, k=10": chosen(cmfrec(10), ALS),
        }
        if limits:
            methods["scikit-surprise SVD"] = surprise
        else:
            methods["Gramian, row biases"] = gramian(dense=True, biases=True)
            methods["scikit-learn IterativeImputer"] = iterative_imputer
        if shape == (60, 401):
            del methods["scikit-learn IterativeImputer"]  # 401 regressions on 400 columns: minutes
        methods = _installed(methods)
        lines: dict[str, list[Line]] = {name: [] for name in methods}
        for seed in seeds:
            order = np.random.default_rng(seed).permutation(len(cells.values))
            cut = len(order) // 10
            held, known = cells.some(order[:cut]), cells.some(order[cut:])
            for name, method in methods.items():
                lines[name].append(measured(method, known, shape, held, limits))
        yield f"### {title}\n"
        yield f"{len(cells.values):,} known of {shape[0]:,} x {shape[1]:,}.\n"
        yield "| method | RMSE | 95% covers | seconds | |"
        yield "|---|---:|---:|---:|---|"
        yield from (_row(name, found) for name, found in sorted(lines.items(), key=lambda row: _mean(row[1])))
        yield ""


def _mean(lines: list[Line]) -> float:
    return float(np.mean([line.error for line in lines]))


# R.

R_SCRIPT = """
suppressMessages(library(pcaMethods))
X <- as.matrix(read.csv("X.csv", header = FALSE)); C <- as.matrix(read.csv("C.csv", header = FALSE))
out <- list()
W <- loadings(pca(C, method = "svd", nPcs = 3, scale = "none", center = TRUE)); write.csv(W, "W.csv", row.names = FALSE)
for (method in c("ppca", "bpca", "svdImpute", "nipals")) {
  seconds <- system.time(f <- pca(X, method = method, nPcs = 5, seed = 1))[["elapsed"]]
  write.csv(completeObs(f), paste0(method, ".csv"), row.names = FALSE); cat(method, seconds, "\\n")
}
cat("version", as.character(packageVersion("pcaMethods")), "\\n")
"""


def peers(*, quick: bool) -> Iterator[str]:
    """R's pcaMethods beside Gramian, on its own table of metabolites."""
    import pandas as pd

    del quick
    frames = [
        pd.read_csv(DATA / "genomics" / f"metabolites_154x52_{kind}.csv", index_col=0).to_numpy(float)
        for kind in ("with_missing", "complete")
    ]
    X, truth = frames
    C, missing = truth, np.isnan(X)
    yield "## R's pcaMethods, on the table of metabolites that comes with it: 154 x 52, 419 cells missing\n"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pd.DataFrame(X).to_csv(folder / "X.csv", header=False, index=False, na_rep="NA")
        pd.DataFrame(C).to_csv(folder / "C.csv", header=False, index=False)
        (folder / "run.R").write_text(R_SCRIPT)
        try:
            told = subprocess.run(["Rscript", "run.R"], cwd=folder, capture_output=True, text=True, check=True)  # noqa: S607
        except (FileNotFoundError, subprocess.CalledProcessError) as error:
            yield f"Not run here: {error} (Debian has r-bioc-pcamethods; missMDA is on CRAN alone).\n"
            return
        words = dict(line.split() for line in told.stdout.splitlines())
        W = pd.read_csv(folder / "W.csv").to_numpy(float)
        found = {m: pd.read_csv(folder / f"{m}.csv").to_numpy(float) for m in words if m != "version"}
    yield f"pcaMethods {words.pop('version')}, five components asked of each; Gramian has five as its most.\n"
    yield "| method | RMSE of the missing | seconds |"
    yield "|---|---:|---:|"
    for title, options in {"Gramian": {}, "Gramian, row biases": {"biases": True}}.items():
        for k in (5, None):
            start = perf_counter()
            filled = ProbabilisticPCA(k, **options).fit(X).impute(X)
            seconds = perf_counter() - start
            error = np.sqrt(np.mean((filled - truth)[missing] ** 2))
            yield f"| {title}, {'k at most 5' if k else 'its own choice of k'} | {error:.4f} | {seconds:.2f} |"
    for method, filled in found.items():
        yield f"| pcaMethods {method} | {np.sqrt(np.mean((filled - truth)[missing] ** 2)):.4f} | {words[method]} |"
    means = np.nanmean(X, axis=0)[np.nonzero(missing)[1]]
    yield f"| column means | {np.sqrt(np.mean((means - truth[missing]) ** 2)):.4f} | |"
    ours = ProbabilisticPCA(3).fit(C).components_
    sine = np.linalg.norm(np.linalg.qr(W)[0] - ours.T @ (ours @ np.linalg.qr(W)[0]), 2)
    yield (
        f"\nNothing missing, three components: the sine of the largest angle between Gramian's closed form and the "
        f"subspace of pcaMethods' svd is {sine:.1e}.\n"
    )


# Netflix.


def ratings(scale: float, *, k: int = 20, seed: int = 0) -> Planted:
    """Return ratings in whole stars of the shape of Netflix's, few films rated often and few users who rate much.

    True values are  3.6 + a_i + b_j + u v' / sqrt(k) / 2  with a and b of deviation 0.4 and 0.5, and noise 0.7.
    """
    rng, side = np.random.default_rng(seed), np.sqrt(scale)
    n, d, count = round(480_189 * side), round(17_770 * side), round(100_480_507 * scale)
    b, V = 0.5 * rng.standard_normal(d).astype(np.float32), rng.standard_normal((d, k)).astype(np.float32)
    V *= 0.5 / np.sqrt(k)
    popular = np.cumsum(rng.lognormal(0.0, 1.8, d))
    active = rng.lognormal(0.0, 1.2, n)
    # Films that are drawn twice by a user count once: more are drawn, and 1.35 was found by trial.
    lengths = np.minimum(1 + np.floor(1.35 * active / active.sum() * count).astype(int), d // 2)
    rows, columns, values = [], [], []
    for start in range(0, n, 10_000):
        each = lengths[start : start + 10_000]
        i = np.repeat(np.arange(len(each)), each)
        j = np.searchsorted(popular, rng.random(len(i)) * popular[-1])
        i, j = np.divmod(np.unique(i * d + np.minimum(j, d - 1)), d)
        U, a = rng.standard_normal((len(each), k)).astype(np.float32), 0.4 * rng.standard_normal(len(each))
        x = 3.6 + a[i] + b[j] + 0.7 * rng.standard_normal(len(i))
        for part in range(k):
            x += U[i, part] * V[j, part]
        rows.append((i + start).astype(np.int32))
        columns.append(j.astype(np.int32))
        values.append(np.clip(np.round(x), 1, 5).astype(np.float32))
    cells = Cells(np.concatenate(rows), np.concatenate(columns), np.concatenate(values))
    keep = rng.random(len(cells.values)) < count / len(cells.values)
    out = keep & (rng.random(len(keep)) < 0.01)
    return Planted(cells.some(keep & ~out), cells.some(out), (n, d), V, b + np.float32(3.6), 0.7)


def star_oracle(table: Planted) -> float:
    """RMSE of the one who knows all of the films and the deviations: users' scores and biases by their ratings."""
    W = np.column_stack([table.weights, np.ones(len(table.weights))]).astype(np.float32)
    prior, errors = np.diag([*np.ones(W.shape[1] - 1), 1 / 0.16]), 0.0
    noise, (i, j, x), held = table.noise**2 + 1 / 12, table.known, table.held
    pairs = (W[:, :, None] * W[:, None, :]).reshape(len(W), -1)
    bounds = np.arange(0, table.shape[0] + 20_000, 20_000)
    known_at, held_at = np.searchsorted(i, bounds), np.searchsorted(held.rows, bounds)
    for at, start in enumerate(bounds[:-1]):
        low, high, size = known_at[at], known_at[at + 1], min(20_000, table.shape[0] - start)
        if size <= 0:
            continue
        inner = (i[low:high] - start, j[low:high])
        there = sp.csr_array((np.ones(high - low, np.float32), inner), shape=(size, len(W)))
        X = sp.csr_array((x[low:high] - table.mean[j[low:high]], inner), shape=there.shape)
        A = (there @ pairs).reshape(size, W.shape[1], -1) / noise + prior
        z = np.linalg.solve(A, (X @ W)[:, :, None] / noise)[:, :, 0]
        mine = held.some(slice(held_at[at], held_at[at + 1]))  # type: ignore[arg-type]
        expected = table.mean[mine.columns] + np.einsum("mk,mk->m", z[mine.rows - start], W[mine.columns])
        errors += float(np.sum((np.clip(expected, 1, 5) - mine.values) ** 2))
    return float(np.sqrt(errors / len(held.values)))


def netflix(*, quick: bool, scale: float = 0.01, most: int = 500) -> Iterator[str]:
    """Stars in the shape of Netflix's table."""
    from gramian.machine import worker_count

    k, scale = 20, 0.001 if quick else scale
    begin = perf_counter()

    def say(sentence: str) -> None:
        print(f"{perf_counter() - begin:7.1f} s  {sentence}", file=sys.stderr, flush=True)

    say("drawing ratings")
    table = ratings(scale, k=k)
    (n, d), count = table.shape, len(table.known.values)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(table.known.rows, minlength=n))])
    X = sp.csr_array((table.known.values, table.known.columns, indptr), shape=table.shape)
    rounds: list[float] = []

    def watch(sentence: str) -> None:
        say(sentence)
        if sentence.startswith("round"):
            rounds.append(perf_counter())

    start = perf_counter()
    model = ProbabilisticPCA(k, bounds=(1, 5), tol=NETFLIX_TOL, max_iter=most, progress=watch).fit(X)
    seconds = perf_counter() - start
    mean, std = model.predict(table.held.rows, table.held.columns, return_std=True)
    covered = float(np.mean(np.abs(mean - table.held.values) <= 1.959964 * std))
    step = float(np.median(np.diff(rounds)))
    yield f"## Netflix's shape at {scale:g}: {n:,} x {d:,}, {count:,} ratings in stars, k = {k}\n"
    yield "| | RMSE | seconds |"
    yield "|---|---:|---:|"
    yield f"| Gramian, tol={NETFLIX_TOL:g} | {rmse(Guess(mean), table.held):.4f} | {seconds:.1f} |"
    del model
    say("row and column biases")
    biases = measured(lambda *args: bias_fit(*args, 5.0), table.known, table.shape, table.held, (1, 5))
    yield f"| row and column biases | {biases.error:.4f} | {biases.seconds:.1f} |"
    say("the oracle")
    yield f"| oracle: knows films and deviations, same rounding | {star_oracle(table):.4f} | |"
    numbers = (k + 2) * (k + 3) // 2
    rate, flops = _axpy_rate(numbers), 2 * 2.0 * count * numbers
    yield (
        f"\n{len(rounds)} rounds, {step:.2f} s each (the first {rounds[0] - start:.1f} s after the call), "
        f"95% intervals cover {covered:.1%}. A round's floor: 2 x {count:,} x "
        f"{numbers} multiply-adds = {flops:.1e} operations, {flops / (rate * worker_count()):.2f} s at the "
        f"{rate / 1e9:.1f} GFlop/s of scipy's sparse times dense product in one core, times {worker_count()}; entries "
        f"are {8 * count / 1e9:.2f} GB. What limits it is that product: {4 * numbers} bytes are read or written "
        "per entry, from the cache that all cores share.\n"
    )
    say("done")


def _axpy_rate(numbers: int) -> float:
    """Flop/s of a sparse product with so many float32 columns, whose table fits a core's cache."""
    rng = np.random.default_rng(0)
    A = sp.random_array((2000, 512), density=0.3, format="csr", dtype=np.float32, rng=rng)
    B = rng.standard_normal((512, numbers), dtype=np.float32)
    times = []
    for _ in range(5):
        start = perf_counter()
        A @ B
        times.append(perf_counter() - start)
    return 2.0 * A.nnz * numbers / min(times)


SECTIONS: dict[str, Callable[..., Iterator[str]]] = {
    "bar": bar,
    "sweep": sweep,
    "large": large,
    "real": real,
    "peers": peers,
    "netflix": netflix,
}


def main() -> None:
    """Run sections; each is kept in a JSON file, and results/missing.md is written from all that were run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sections", nargs="*", metavar="SECTION", help=", ".join(SECTIONS))
    parser.add_argument("--scale", type=float, default=0.01, help="of Netflix's number of entries")
    parser.add_argument("--rounds", type=int, default=500, help="of the fit of Netflix's shape, at most")
    parser.add_argument("--quick", action="store_true", help="small tables, to try the program; nothing is written")
    words = parser.parse_args()
    if absent := _not_installed():
        print(f"Not installed, and left out: {', '.join(absent)}.", file=sys.stderr)
    path = RESULTS / "missing.json"
    kept: dict[str, list[str]] = json.loads(path.read_text()) if path.exists() else {}
    for name in words.sections or SECTIONS:
        lines, extra = [], {"scale": words.scale, "most": words.rounds} if name == "netflix" else {}
        for line in SECTIONS[name](quick=words.quick, **extra):
            print(line, flush=True)
            lines.append(line)
        kept[f"netflix {words.scale:g}" if name == "netflix" else name] = [*lines, f"\n{_where()}"]
        if not words.quick:
            path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")
    if not words.quick:
        order = [*SECTIONS, *sorted(name for name in kept if name.startswith("netflix"))]
        text = "\n\n".join("\n".join(kept[name]) for name in order if name in kept)
        (RESULTS / "missing.md").write_text(f"# Missing values\n\n`python -m benchmarks.missing`.\n\n{text}\n")


def _where() -> str:
    told = describe(["scikit-learn"])
    found = []
    for name in ("numpy", "scipy", "scikit-learn", "cmfrec", "scikit-surprise"):
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    date = datetime.now(tz=UTC).strftime("%Y-%m-%d")
    absent = f" Not installed: {', '.join(_not_installed())}." if _not_installed() else ""
    return f"{date}, {told['cpu']}, {told['cores']} cores; Python {told['python']}, {', '.join(found)}.{absent}"


if __name__ == "__main__":
    main()
