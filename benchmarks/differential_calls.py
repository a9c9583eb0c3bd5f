"""The calls of :mod:`benchmarks.differential`: each runs one thing a user does and gives back its numbers and facts.

``python -m benchmarks.differential_calls run INPUTS OUT`` runs every call with the ``gramian`` that Python finds and
writes one ``.npz`` per call, the facts of all calls as JSON, and a model file per model that can be saved.
``... load INPUTS MODELS OUT`` opens the model files of such a run, made by this or another version, and uses them.

An array is written as "kind:name"; the kind says how two of them are compared:

========  ==============================================================================================
numbers   the largest difference, relative to the largest entry
space     the sine of the largest angle between the spaces that the rows span
columns   as numbers, after each column was given the other's sign (scores, eigenvectors)
sources   as columns, each column matched with the one it correlates with most (ICA knows no order)
========  ==============================================================================================
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

PROBE = 40
"""Rows that a fitted model is used on."""


@dataclass
class Found:
    """What a call gave: arrays by "kind:name", facts by name, and the fitted model where there is one."""

    arrays: dict[str, Any] = field(default_factory=dict)
    facts: dict[str, Any] = field(default_factory=dict)
    model: Any = None


@dataclass(frozen=True)
class Call:
    """Something a user does, and how far two versions of it may differ.

    ``rounding`` is allowed of numbers, relative to the largest; ``turning`` of spaces, columns and sources, whose
    directions move by rounding times the largest eigenvalue over the gap to the next.
    """

    name: str
    run: Callable[[Place], Found]
    rounding: float
    turning: float
    on: str = ""


@dataclass(frozen=True)
class Place:
    """Where a call finds its inputs and may write."""

    inputs: Path
    out: Path

    def rows(self, name: str) -> Any:
        """Return an input by name: an array, a sparse array, or the path of a file."""
        dense, sparse = self.inputs / f"{name}.npy", self.inputs / f"{name}.sparse.npz"
        if dense.exists():
            return np.load(dense)
        return scipy.sparse.load_npz(sparse) if sparse.exists() else self.inputs / name


# ---- inputs, made once and read by both sides ---------------------------------------------------------------------


def make_inputs(folder: Path) -> None:
    """Write every table and file that the calls read; seeded."""
    rng = np.random.default_rng(7)

    def planted(n: int, d: int, *, ratio: float = 0.7, noise: float = 0.02) -> np.ndarray:
        r = min(n, d, 12)
        X = rng.standard_normal((n, r)) * 5 * ratio ** np.arange(r)
        W = np.linalg.qr(rng.standard_normal((d, r)))[0]
        return X @ W.T + noise * rng.standard_normal((n, d)) + 2 * rng.standard_normal(d)

    tall = planted(400, 12)
    save = partial(_save, folder)
    save("tall", tall)
    save("tall32", tall.astype(np.float32))
    save("far", tall + 1e6 * np.arange(12))
    save("wide", planted(40, 300))
    save("sided", planted(700, 90))
    save("middle", planted(900, 700))
    save("noisy", planted(300, 20, noise=0.5))
    save("counts", rng.poisson(4.0, (200, 6)).astype(np.float64) + 0.5)
    t, radius = rng.uniform(0, 2 * np.pi, 240), np.where(np.arange(240) % 2, 0.4, 1.0)
    rings = np.column_stack([radius * np.cos(t), 1.3 * radius * np.sin(t), 0.1 * rng.standard_normal(240)])
    save("rings", rings)
    save("curve", np.sin(rng.standard_normal((1500, 3)) @ rng.standard_normal((3, 8))))
    mixing = rng.standard_normal((4, 4))
    sources = [
        rng.laplace(size=6000),
        rng.uniform(-1.7, 1.7, 6000),
        rng.laplace(size=6000) ** 3 / 9,
        rng.gamma(2.0, size=6000),
    ]
    save("mixed", np.column_stack(sources) @ mixing.T)
    gaps = tall[:150, :8].copy()
    gaps[rng.random(gaps.shape) < 0.06] = np.nan
    save("gaps", gaps)
    topics = scipy.sparse.random(500, 200, density=0.03, random_state=3, format="csr")
    topics = (
        topics
        + scipy.sparse.csr_matrix((rng.random((500, 4)) < 0.2) * 1.0)
        @ scipy.sparse.random(4, 200, density=0.2, random_state=4)
    ).tocsr()
    scipy.sparse.save_npz(folder / "topics.sparse.npz", topics)
    _write_files(folder, tall[:120, :6], rng)


def _save(folder: Path, name: str, X: np.ndarray) -> None:
    np.save(folder / f"{name}.npy", X)


def _write_files(folder: Path, X: np.ndarray, rng: np.random.Generator) -> None:
    """Write one table in every format there is a writer for."""
    names = list("abcdef")
    text = ",".join(names) + "\n" + "\n".join(",".join(repr(float(v)) for v in row) for row in X) + "\n"
    (folder / "t.csv").write_text(text)
    (folder / "t.tsv").write_text(text.replace(",", "\t"))
    with gzip.open(folder / "t.csv.gz", "wt") as file:
        file.write(text)
    np.save(folder / "t.rows.npy", np.asfortranarray(X))
    np.savez(folder / "t.npz", rows=X)
    scipy.sparse.save_npz(folder / "s.npz", scipy.sparse.csr_matrix(np.where(np.abs(X) > 1, X, 0)))
    kinds = np.where(X[:, 0] > np.median(X[:, 0]), "high", "low")
    people = [f"row{i}" for i in range(len(X))]
    lines = [",".join(["name", *names, "kind"])]
    lines += [",".join([n, *(repr(float(v)) for v in row), k]) for n, row, k in zip(people, X, kinds, strict=True)]
    (folder / "named.csv").write_text("\n".join(lines) + "\n")
    holes = [line.split(",") for line in lines]
    for i in rng.choice(np.arange(1, len(holes)), 9, replace=False):
        holes[i][2] = ""
    (folder / "holes.csv").write_text("\n".join(",".join(cells) for cells in holes) + "\n")
    scales = X * np.array([1, 1, 100, 1, 1000, 1]) + np.array([0, 5, 0, 0, 0, 0])
    (folder / "scales.csv").write_text(
        "\n".join([",".join(names), *(",".join(f"{v:.12g}" for v in row) for row in scales)]) + "\n"
    )
    (folder / "text.csv").write_text("a,b\nx,y\nz,w\n")
    (folder / "empty.csv").write_text("")
    (folder / "not_a_model.gramian").write_bytes(b"nothing of the kind")
    parts = folder / "parts"
    parts.mkdir()
    for number, rows in enumerate(np.array_split(X, 3)):
        np.save(parts / f"p{number}.npy", rows)
    with contextlib.suppress(ImportError):
        import pyarrow as pa
        from pyarrow import feather, parquet

        table = pa.table({name: X[:, j] for j, name in enumerate(names)})
        parquet.write_table(table, folder / "t.parquet", row_group_size=50)
        feather.write_feather(table, folder / "t.arrow", compression="uncompressed")
    with contextlib.suppress(ImportError):
        import h5py

        with h5py.File(folder / "t.h5", "w") as file:
            file.create_dataset("rows", data=X, chunks=(32, 6))
    with contextlib.suppress(ImportError):
        import zarr

        zarr.save_array(str(folder / "t.zarr"), np.ascontiguousarray(X))
    from scipy.io import mmwrite

    mmwrite(folder / "t.mtx", scipy.sparse.coo_matrix(np.where(np.abs(X) > 1, X, 0)))


# ---- what a fitted model gives ------------------------------------------------------------------------------------

NUMBERS = (
    "explained_variance_",
    "explained_variance_ratio_",
    "singular_values_",
    "eigenvalues_",
    "noise_variance_",
    "mean_",
    "scale_",
)


def of_model(model: Any, X: Any, *, kind: str = "columns") -> Found:
    """Use a fitted estimator on some rows: its values, its space, scores and the way back."""
    probe = X if isinstance(X, str | os.PathLike) else _first(X)
    found = Found(model=model)
    found.facts = {
        "class": type(model).__name__,
        "n_components": int(getattr(model, "n_components_", getattr(model, "n_components", None) or 0)),
    }
    for name in NUMBERS:
        value = getattr(model, name, None)
        if value is not None:
            found.arrays[f"numbers:{name}"] = _array(value)
    if kind == "columns" and getattr(model, "components_", None) is not None:
        found.arrays["space:components_"] = _array(model.components_)
    certificate = getattr(model, "certificate_", None)
    if certificate is not None and hasattr(certificate, "lines"):
        found.facts["grades"] = [line.grade for line in certificate.lines]
    _use(model, probe, found, kind)
    # Listed last: after partial_fit they are there when one of them has been read.
    found.facts["attributes"] = sorted(name for name in dir(model) if name.endswith("_") and name[0] != "_")
    return found


def _use(model: Any, probe: Any, found: Found, kind: str) -> None:
    scores = model.transform(probe)
    found.arrays[f"{kind}:scores"] = _array(scores)
    found.facts["scores"] = [str(np.asarray(_array(scores)).dtype), list(np.shape(scores))]
    for name, arguments in (("inverse_transform", scores), ("score_samples", probe), ("reconstruction_error", probe)):
        method = getattr(model, name, None)
        if method is None:
            continue
        try:
            values = _array(method(arguments))
            if name == "reconstruction_error":  # where nothing is left out it is rounding, and has no digits of its own
                values = values + np.square(np.asarray(_array(scores), dtype=float)).sum(axis=1)
            found.arrays[f"numbers:{name}"] = values
        except Exception as error:  # noqa: BLE001  what is refused must be refused on both sides
            found.facts[name] = _named(error)


def _first(X: Any) -> Any:
    if hasattr(X, "npartitions") and hasattr(X, "iloc"):
        return X  # A Dask data frame has no first rows without looking for them.
    return X.iloc[:PROBE] if hasattr(X, "iloc") else X[:PROBE]


def _array(value: Any) -> np.ndarray:
    if scipy.sparse.issparse(value):
        return value.toarray()
    if hasattr(value, "compute"):
        value = value.compute()
    return np.asarray(value)


def _named(error: BaseException) -> list[str]:
    return [kind.__name__ for kind in type(error).__mro__ if kind is not object]


def key_paths(value: Any, at: str = "") -> list[str]:
    """Return every key of a JSON value, recursively; the entries of a list share one place."""
    if isinstance(value, dict):
        return sorted(
            {path for key, below in value.items() for path in (f"{at}.{key}", *key_paths(below, f"{at}.{key}"))}
        )
    if isinstance(value, list):
        return sorted({path for below in value for path in key_paths(below, f"{at}[]")})
    return []


# ---- estimators ---------------------------------------------------------------------------------------------------


def fit(
    name: str,
    on: str = "tall",
    *,
    rounding: float = 1e-9,
    turning: float = 1e-7,
    kind: str = "columns",
    weights: bool = False,
    **options: Any,
) -> Call:
    """A call that fits an estimator of ``gramian`` on an input and uses it."""
    estimator, _, label = name.partition(" ")

    def run(place: Place) -> Found:
        import gramian

        X = place.rows(on)
        made = {key: value(gramian) if callable(value) else value for key, value in options.items()}
        model = getattr(gramian, estimator)(**made)
        given = {"sample_weight": _weights(X)} if weights else {}
        return of_model(model.fit(X, **given), X, kind=kind)

    return Call(f"{estimator} {label or 'default'} ({on})", run, rounding, turning, on)


def _weights(X: Any) -> np.ndarray:
    return 0.5 + np.arange(X.shape[0]) % 3


def pca_calls() -> list[Call]:
    """PCA in every form."""
    exact = {"n_components": 5}
    calls = [
        fit("PCA all", "tall"),
        fit("PCA five", "tall", **exact),
        fit("PCA float32", "tall32", rounding=1e-5, turning=1e-4, **exact),
        fit("PCA far from zero", "far", rounding=1e-8, turning=1e-6, n_components=4),
        fit("PCA wide", "wide", n_components=6),
        fit("PCA wide, all", "wide"),
        fit("PCA few of many", "middle", n_components=6),
        fit("PCA sparse", "topics", n_components=4),
        fit("PCA weights", "tall", weights=True, **exact),
        fit("PCA sparse with weights", "topics", weights=True, n_components=4),
        fit("PCA scaled", "tall", scale=True, **exact),
        fit("PCA not centered", "tall", center=False, **exact),
        fit("PCA whitened", "tall", whiten=True, turning=1e-6, **exact),
        fit("PCA share", "tall", n_components=0.9),
        fit("PCA share, sparse", "topics", n_components=0.3),
        fit("PCA auto", "noisy", n_components="auto"),
        fit("PCA mle", "noisy", n_components="mle", svd_solver="full"),
        fit("PCA ddof", "tall", ddof=0, **exact),
        fit("PCA memory", "sided", memory_budget=200_000_000, **exact),
    ]
    solvers = ("full", "covariance_eigh", "arpack", "randomized", "gram", "krylov", "power")
    calls += [fit(f"PCA {solver}", "sided", svd_solver=solver, n_components=4, random_state=0) for solver in solvers]
    calls += [
        fit(f"PCA {solver}, sparse", "topics", svd_solver=solver, n_components=3, random_state=0)
        for solver in ("arpack", "covariance_eigh", "krylov")
    ]
    calls += [
        Call("PCA partial_fit, three batches (tall)", partial(_batches, "PCA", "tall"), 1e-9, 1e-7, "tall"),
        Call("PCA partial_fit, sparse (topics)", partial(_batches, "PCA", "topics"), 1e-9, 1e-7, "topics"),
        Call("IncrementalPCA partial_fit (tall)", partial(_batches, "IncrementalPCA", "tall"), 1e-9, 1e-7, "tall"),
        Call("PCA outliers and T2 (tall)", _outliers, 1e-8, 1e-7),
        Call("PCA covariance and precision (tall)", _covariances, 1e-8, 1e-7),
        fit("IncrementalPCA default", "tall", n_components=4),
        fit("IncrementalPCA batches, whitened", "tall", n_components=4, batch_size=50, whiten=True),
        fit("IncrementalPCA sparse", "topics", n_components=3, batch_size=100),
        fit("TruncatedSVD dense", "tall", n_components=4),
        fit("TruncatedSVD sparse", "topics", n_components=4, random_state=0),
        fit("TruncatedSVD arpack", "topics", n_components=3, algorithm="arpack", random_state=0),
        fit("TruncatedSVD float32", "tall32", n_components=3, rounding=1e-5, turning=1e-4),
        Call("ProbabilisticPCA with NaN (gaps)", _probabilistic, 1e-6, 1e-5, "gaps"),
        fit("ProbabilisticPCA complete, scaled", "tall", n_components=3, scale=True, rounding=1e-6, turning=1e-5),
    ]
    return calls


def _batches(estimator: str, on: str, place: Place) -> Found:
    import gramian

    X, model = place.rows(on), getattr(gramian, estimator)(4)
    for rows in np.array_split(np.arange(X.shape[0]), 3):
        model.partial_fit(X[rows])
    return of_model(model, X)


def _outliers(place: Place) -> Found:
    import gramian

    X = place.rows("tall")
    model = gramian.PCA(4).fit(X)
    found = model.outliers(X, level=0.95)
    arrays = {"numbers:t2": model.hotelling_t2(X), "numbers:loglik": np.float64(model.score(X))}
    arrays |= {f"numbers:{name}": _array(getattr(found, name)) for name in ("t2", "spe") if hasattr(found, name)}
    return Found(arrays, {"fields": sorted(name for name in dir(found) if not name.startswith("_"))})


def _covariances(place: Place) -> Found:
    import gramian

    model = gramian.PCA(4).fit(place.rows("tall"))
    return Found(
        {
            "numbers:covariance": _array(model.get_covariance()),
            "numbers:precision": _array(model.get_precision()),
            "columns:loadings": _array(model.loadings_),
        }
    )


def _probabilistic(place: Place) -> Found:
    import gramian

    X = place.rows("gaps")
    model = gramian.ProbabilisticPCA(3).fit(X)
    found = of_model(model, X)
    # Of the side before there is a method for each.
    both = (model.impute(X), model.impute_std(X)) if hasattr(model, "impute_std") else model.impute(X, return_std=True)
    found.arrays["numbers:imputed"], found.arrays["numbers:std"] = map(_array, both)
    found.arrays["numbers:covariance"] = _array(model.get_covariance())
    return found


def kernel_calls() -> list[Call]:
    """Kernel PCA with every kernel, exact and approximate, and what is around it."""
    # An iteration stops at residuals of 1e-6 of the largest eigenvalue: directions move by that over their gap.
    iterated = {"rounding": 1e-7, "turning": 1e-4}
    kernels: dict[str, dict[str, Any]] = {
        "linear": {},
        "poly": {"degree": 2, "gamma": 0.5},
        "rbf": {"gamma": 1.5},
        "laplacian": {"gamma": 0.7},
        "matern": {"gamma": 1.0},
        "sigmoid": {"gamma": 0.05, "coef0": 0.3},
        "cosine": {},
    }
    calls = [
        fit(f"KernelPCA {kernel}", "rings", kernel=kernel, n_components=3, **words, **iterated)
        for kernel, words in kernels.items()
    ]
    calls += [
        fit("KernelPCA chi2", "counts", kernel="chi2", gamma=0.3, n_components=3, **iterated),
        fit("KernelPCA sum of kernels", "rings", kernel=_sum_of_kernels, n_components=3, **iterated),
        fit("KernelPCA stretched Matern product", "rings", kernel=_product_of_kernels, n_components=3, **iterated),
        fit("KernelPCA own function of two rows", "counts", kernel=lambda _: _own, n_components=2, **iterated),
        fit("KernelPCA gamma median", "rings", kernel="rbf", gamma="median", n_components=3, **iterated),
        fit("KernelPCA gamma scale", "rings", kernel="rbf", gamma="scale", n_components=3, **iterated),
        fit("KernelPCA sparse rows", "topics", kernel="rbf", gamma=0.2, n_components=2, **iterated),
        fit("KernelPCA float32", "tall32", kernel="rbf", gamma=0.02, n_components=3, rounding=1e-5, turning=1e-3),
        fit("KernelPCA weights", "rings", kernel="rbf", gamma=1.5, n_components=3, weights=True, **iterated),
        fit("KernelPCA share", "rings", kernel="rbf", gamma=1.0, n_components=0.6, **iterated),
        fit("KernelPCA all components", "counts", kernel="linear", **iterated),
        fit("KernelPCA iterated, 1,500 rows", "curve", kernel="rbf", gamma="median", n_components=5, **iterated),
        fit(
            "KernelPCA landmarks",
            "curve",
            kernel="rbf",
            gamma=0.2,
            n_components=3,
            landmarks=150,
            random_state=0,
            **iterated,
        ),
        fit(
            "KernelPCA Fourier features",
            "curve",
            features=lambda g: g.FourierFeatures("rbf", gamma=0.2, n_components=200, random_state=1),
            n_components=3,
            **iterated,
        ),
        fit(
            "KernelPCA Nystroem features",
            "curve",
            features=lambda g: g.Nystroem("rbf", gamma=0.2, n_components=100, landmarks="pivoted", random_state=1),
            n_components=3,
            **iterated,
        ),
        Call("KernelPCA precomputed (rings)", _precomputed, 1e-7, 1e-4),
        Call("KernelPCA plan and certificate (curve)", _kernel_plan, 1e-7, 1e-4),
    ]
    calls += [
        fit(
            f"KernelPCA eigen_solver {solver}",
            "rings",
            kernel="rbf",
            gamma=1.5,
            n_components=3,
            eigen_solver=solver,
            random_state=0,
            **iterated,
        )
        for solver in ("dense", "arpack", "randomized", "stored", "tiled")
    ]
    # Pre-images are fixed points and solutions of badly conditioned systems: what an iterated model moves them by.
    loose = {"rounding": 1e-4, "turning": 1e-4}
    calls += [
        fit(
            f"KernelPCA pre_image {way}",
            "rings",
            kernel="rbf",
            gamma=1.5,
            n_components=4,
            pre_image=way,
            random_state=0,
            **loose,
        )
        for way in ("ridge", "fixed_point", "distances", "auto")
    ]
    calls += [
        fit(
            "KernelPCA fit_inverse_transform",
            "rings",
            kernel="rbf",
            gamma=1.5,
            n_components=4,
            fit_inverse_transform=True,
            **loose,
        ),
        *[
            fit(
                f"Nystroem {way}",
                "curve",
                n_components=60,
                kernel="rbf",
                gamma=0.3,
                landmarks=way,
                random_state=0,
                kind="numbers",
                rounding=1e-7,
            )
            for way in ("uniform", "pivoted", "kmeans")
        ],
        fit("FourierFeatures default", "curve", n_components=64, gamma=0.3, random_state=0, kind="numbers"),
        fit(
            "FourierFeatures orthogonal",
            "curve",
            n_components=64,
            gamma=0.3,
            orthogonal=True,
            random_state=0,
            kind="numbers",
        ),
        fit("PolynomialMap default", "rings", degree=3, kind="numbers"),
    ]
    return calls


def _sum_of_kernels(_: Any) -> Any:
    from gramian import kernels

    return kernels.Gaussian(1.0) + 0.3 * kernels.Linear()


def _product_of_kernels(_: Any) -> Any:
    from gramian import kernels

    return kernels.Matern(2.5, 0.8) * kernels.Gaussian(0.5)


def _own(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.minimum(x, y).sum())


def _precomputed(place: Place) -> Found:
    import gramian

    X = place.rows("rings")
    K = np.exp(-1.5 * ((X[:, None] - X) ** 2).sum(axis=2))
    model = gramian.KernelPCA(3, kernel="precomputed").fit(K)
    found = of_model(model, K)
    found.model = None
    return found


def _kernel_plan(place: Place) -> Found:
    import gramian

    X = place.rows("curve")
    model = gramian.KernelPCA(4, kernel="rbf", gamma=0.2, tol=1e-8).fit(X)
    residuals = np.array([line.residual for line in model.certificate_.lines])
    facts = {"proved": bool((residuals <= 1e-8 * model.eigenvalues_[0]).all()), "exact": not model.approximate_}
    return Found(
        {"numbers:eigenvalues": _array(model.eigenvalues_), "columns:eigenvectors": _array(model.eigenvectors_)}, facts
    )


def ica_calls() -> list[Call]:
    """ICA by every algorithm."""
    # Each run stops where the gradient is below its tolerance: sources are known to about that.
    near = {"kind": "sources", "rounding": 1e-4, "turning": 1e-4, "random_state": 0}
    calls = [
        fit(f"ICA {way}", "mixed", algorithm=way, **near) for way in ("picard", "parallel", "deflation", "infomax")
    ]
    calls += [fit(f"ICA fun {fun}", "mixed", fun=fun, **near) for fun in ("exp", "cube")]
    calls += [
        fit("ICA two of four", "mixed", n_components=2, **near),
        fit("ICA arbitrary variance", "mixed", whiten="arbitrary-variance", **near),
        fit("ICA float32", "tall32", n_components=2, **near | {"rounding": 1e-3, "turning": 1e-3}),
        fit("FastICA default", "mixed", tol=1e-6, **near),
        fit("FastICA deflation, eigh", "mixed", tol=1e-6, algorithm="deflation", whiten_solver="eigh", **near),
        Call("fastica function (mixed)", _fastica, 1e-4, 1e-4),
        Call("ICA stability and independence (mixed)", _stability, 1e-2, 1e-4),
    ]
    return calls


def _fastica(place: Place) -> Found:
    import gramian

    K, W, S, mean, _ = gramian.fastica(
        place.rows("mixed"), random_state=0, tol=1e-7, return_X_mean=True, return_n_iter=True
    )
    return Found({"sources:S": S[:200], "numbers:mean": mean, "space:K": K}, {"shapes": [list(K.shape), list(W.shape)]})


def _stability(place: Place) -> Found:
    import gramian

    X = place.rows("mixed")
    model = gramian.ICA(runs=4, random_state=0).fit(X)
    removed = model.remove(X[:PROBE], sources=list(range(4)))
    arrays = {
        "numbers:stability": np.sort(model.stability_),
        "numbers:drop": np.float64(model.mutual_information_drop_),
        "numbers:removed": removed,
    }
    return Found(arrays, {"gaussian": list(model.independence_.gaussian)})


def function_calls() -> list[Call]:
    """What is no estimator."""
    return [
        Call("how_many (noisy)", _how_many, 1e-9, 1e-9),
        Call("plan (tall)", partial(_plan, "tall", {}), 1e-9, 1e-9),
        Call("plan (topics)", partial(_plan, "topics", {"n_components": 3}), 1e-9, 1e-9),
        Call("plan of a kernel (curve)", partial(_plan, "curve", {"n_components": 3, "kernel": "rbf"}), 1e-9, 1e-9),
        Call("choose_gamma (rings)", _choose_gamma, 1e-7, 1e-7),
        Call("kernel_score (rings)", _kernel_score, 1e-7, 1e-7),
        Call("check_kernel", _check_kernel, 1e-9, 1e-9),
        Call("kernel matrices of every family", _matrices, 1e-12, 1e-12),
        Call("load of what was saved (tall)", _saved, 1e-12, 1e-12),
    ]


def _how_many(place: Place) -> Found:
    import gramian

    panel = gramian.how_many(place.rows("noisy"))
    return Found({}, {verdict.rule: verdict.n_components for verdict in panel.verdicts})


def _plan(on: str, options: dict[str, Any], place: Place) -> Found:
    """Only that there is one, and its fields: what a plan chooses is free to change."""
    import gramian

    made = gramian.plan(place.rows(on), **options)
    return Found(
        {},
        {
            "class": type(made).__name__,
            "has": [name for name in ("reason", "passes", "peak_bytes") if hasattr(made, name)],
        },
    )


def _choose_gamma(place: Place) -> Found:
    import gramian

    choice = gramian.choose_gamma(place.rows("rings"), n_components=4)
    return Found(
        {"numbers:gammas": choice.gammas, "numbers:best": np.float64(float(choice.best))},
        {"found": bool(choice.found), "edge": bool(choice.at_edge)},
    )


def _kernel_score(place: Place) -> Found:
    import gramian

    score = gramian.kernel_score(place.rows("rings"), gamma=1.5, n_components=4)
    return Found({"numbers:score": np.array([float(score), score.gain, score.lost, score.lost_by_chance])})


def _check_kernel(place: Place) -> Found:
    from gramian import check_kernel, kernels

    X = place.rows("rings")[:60]
    checks = [check_kernel(kernels.Gaussian(1.0), X), check_kernel(kernels.Sigmoid(2.0, -1.0), X)]
    return Found(
        {},
        {
            "fields": [
                {name: bool(value) for name, value in vars(check).items() if isinstance(value, bool | np.bool_)}
                for check in checks
            ]
        },
    )


def _matrices(place: Place) -> Found:
    from gramian import kernels

    X = np.abs(place.rows("rings")[:50])
    made = {
        "linear": kernels.Linear(),
        "polynomial": kernels.Polynomial(3, 0.5, 1.0),
        "gaussian": kernels.Gaussian(0.7),
        "laplacian": kernels.Laplacian(0.7),
        "matern 0.5": kernels.Matern(0.5, 0.9),
        "matern 1.5": kernels.Matern(1.5, 0.9),
        "matern 2.5": kernels.Matern(2.5, 0.9),
        "sigmoid": kernels.Sigmoid(0.1, 0.2),
        "cosine": kernels.Cosine(),
        "chi2": kernels.ChiSquared(0.5),
        "sum": kernels.Gaussian(0.7) + 2.0 * kernels.Linear(),
        "product": kernels.Gaussian(0.7) * kernels.Polynomial(2, 1.0, 1.0),
    }
    return Found({f"numbers:{name}": kernel(X) for name, kernel in made.items()})


def _saved(place: Place) -> Found:
    import gramian

    X = place.rows("tall")
    path = place.out / "again.gramian"
    gramian.PCA(3, scale=True).fit(X).save(path)
    return of_model(gramian.load(path), X)


# ---- sources ------------------------------------------------------------------------------------------------------


def source_calls() -> list[Call]:
    """PCA of one table from every kind of object and file."""
    objects: dict[str, Callable[[np.ndarray], Any]] = {
        "NumPy, row order": lambda X: X,
        "NumPy, column order": np.asfortranarray,
        "NumPy, strided": lambda X: np.repeat(X, 2, axis=0)[::2, :],
        "NumPy, reversed": lambda X: X[::-1][:, ::-1],
        "NumPy, other byte order": lambda X: X.astype(X.dtype.newbyteorder()),
        "NumPy, integers": lambda X: np.rint(10 * X).astype(np.int32),
        "list of lists": lambda X: X.tolist(),
        "SciPy CSR": scipy.sparse.csr_matrix,
        "SciPy CSC": scipy.sparse.csc_array,
        "SciPy COO": scipy.sparse.coo_array,
        "pandas": _pandas,
        "polars": _polars,
        "Arrow": _arrow,
        "Dask array": _dask_array,
        "Dask data frame": _dask_frame,
        "torch": _torch,
    }
    calls = [Call(f"source: {name}", partial(_from_object, make), 1e-9, 1e-7) for name, make in objects.items()]
    files = (
        "t.csv",
        "t.tsv",
        "t.csv.gz",
        "t.rows.npy",
        "t.npz",
        "s.npz",
        "t.parquet",
        "t.arrow",
        "t.h5",
        "t.zarr",
        "t.mtx",
        "parts/*.npy",
        "named.csv",
    )
    calls += [Call(f"source: file {name}", partial(_from_file, name), 1e-9, 1e-7) for name in files]
    calls += [
        Call("KernelPCA of a file (t.parquet)", partial(_kernel_of_file, "t.parquet"), 1e-7, 1e-4),
        Call("ICA of a file (t.csv)", partial(_ica_of_file, "t.csv"), 1e-4, 1e-3),
        Call("IncrementalPCA of a file (t.csv)", partial(_incremental_of_file, "t.csv"), 1e-9, 1e-7),
        Call("write_scores (tall)", _write_scores, 1e-9, 1e-7),
    ]
    return calls


def _from_object(make: Callable[[np.ndarray], Any], place: Place) -> Found:
    import gramian

    rows = place.rows("tall")[:120, :6]
    model = gramian.PCA(3).fit(make(rows))
    found = of_model(model, make(rows[:PROBE]))
    found.model = None
    found.facts["names"] = [str(name) for name in getattr(model, "feature_names_in_", [])]
    found.facts["type of scores"] = type(model.transform(make(rows[:PROBE]))).__name__
    return found


def _pandas(X: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=list("abcdef"))


def _polars(X: np.ndarray) -> Any:
    import polars as pl

    return pl.DataFrame({name: X[:, j] for j, name in enumerate("abcdef")})


def _arrow(X: np.ndarray) -> Any:
    import pyarrow as pa

    return pa.table({name: X[:, j] for j, name in enumerate("abcdef")})


def _dask_array(X: np.ndarray) -> Any:
    import dask.array as da

    return da.from_array(X, chunks=(50, X.shape[1]))


def _dask_frame(X: np.ndarray) -> Any:
    import dask.dataframe as dd

    return dd.from_pandas(_pandas(X), npartitions=3)


def _torch(X: np.ndarray) -> Any:
    import torch

    return torch.from_numpy(np.ascontiguousarray(X))


def _file(place: Place, name: str) -> str:
    if "*" not in name and not (place.inputs / name).exists():
        message = f"{name} could not be written"
        raise ImportError(message)
    return str(place.inputs / name)


def _from_file(name: str, place: Place) -> Found:
    import gramian

    path = _file(place, name)
    model = gramian.PCA(3).fit(path)
    found = of_model(model, path)
    found.model = None
    found.facts["names"] = [str(name) for name in getattr(model, "feature_names_in_", [])]
    return found


def _kernel_of_file(name: str, place: Place) -> Found:
    import gramian

    path = _file(place, name)
    found = of_model(gramian.KernelPCA(3, kernel="rbf", gamma=0.02).fit(path), path)
    found.model = None
    return found


def _ica_of_file(name: str, place: Place) -> Found:
    import gramian

    path = _file(place, name)
    found = of_model(gramian.ICA(2, random_state=0).fit(path), path, kind="sources")
    found.model = None
    return found


def _incremental_of_file(name: str, place: Place) -> Found:
    import gramian

    path = _file(place, name)
    return of_model(gramian.IncrementalPCA(3, batch_size=30).fit(path), path)


def _write_scores(place: Place) -> Found:
    import gramian

    X, path = place.rows("tall"), place.out / "scores.npy"
    gramian.PCA(3).fit(X).write_scores(X, path)
    return Found({"columns:scores": np.load(path)})


# ---- refusals -----------------------------------------------------------------------------------------------------


def refusal_calls() -> list[Call]:
    """What must be refused, by the type of its error."""
    cases: dict[str, Callable[[Any, Place], Any]] = {
        "PCA of NaN": lambda g, p: g.PCA().fit(p.rows("gaps")),
        "PCA of too many components": lambda g, p: g.PCA(99).fit(p.rows("tall")),
        "PCA of a misspelt solver": lambda g, p: g.PCA(svd_solver="ful").fit(p.rows("tall")),
        "PCA of one dimension": lambda g, _: g.PCA().fit(np.arange(5.0)),
        "PCA of no rows": lambda g, _: g.PCA().fit(np.empty((0, 3))),
        "PCA of complex numbers": lambda g, p: g.PCA().fit(p.rows("tall") * 1j),
        "PCA of text": lambda g, _: g.PCA().fit(np.array([["a", "b"], ["c", "d"]])),
        "PCA of a file that is not there": lambda g, p: g.PCA().fit(str(p.inputs / "nowhere.csv")),
        "PCA of an empty file": lambda g, p: g.PCA().fit(str(p.inputs / "empty.csv")),
        "PCA within no memory": lambda g, p: g.PCA(5, memory_budget=10).fit(p.rows("middle")),
        "PCA used before it is fitted": lambda g, p: g.PCA().transform(p.rows("tall")),
        "PCA of other columns": lambda g, p: g.PCA().fit(p.rows("tall")).transform(p.rows("wide")),
        "PCA of negative weights": lambda g, p: g.PCA().fit(p.rows("tall"), sample_weight=-np.ones(400)),
        "KernelPCA of an unknown kernel": lambda g, p: g.KernelPCA(kernel="gauss").fit(p.rows("rings")),
        "KernelPCA chi2 of negative numbers": lambda g, p: g.KernelPCA(2, kernel="chi2").fit(p.rows("rings")),
        "KernelPCA of an indefinite matrix": lambda g, _: g.KernelPCA(4, kernel="precomputed").fit(
            np.diag([3.0, -2.0, 1.0, 0.5])
        ),
        "KernelPCA without a way back": lambda g, p: (
            g.KernelPCA(2).fit(p.rows("rings")).inverse_transform(np.ones((2, 2)))
        ),
        "ICA of an unknown algorithm": lambda g, p: g.ICA(algorithm="jade").fit(p.rows("mixed")),
        "ICA of NaN": lambda g, p: g.ICA().fit(p.rows("gaps")),
        "TruncatedSVD of too many": lambda g, p: g.TruncatedSVD(99).fit(p.rows("tall")),
        "load of no model": lambda g, p: g.load(p.inputs / "not_a_model.gramian"),
        "load of no file": lambda g, p: g.load(p.inputs / "nowhere.gramian"),
    }
    return [Call(f"refused: {name}", partial(_refused, case), 0.0, 0.0) for name, case in cases.items()]


def _refused(case: Callable[[Any, Place], Any], place: Place) -> Found:
    import gramian

    try:
        case(gramian, place)
    except Exception as error:  # noqa: BLE001  its type is the answer
        return Found({}, {"error": _named(error)})
    return Found({}, {"error": None})


# ---- the command line ---------------------------------------------------------------------------------------------


def verb(name: str, words: str, *, rounding: float = 1e-8, turning: float = 1e-6) -> Call:
    """A call of the command line: its exit code, the keys of its JSON, the files that it writes and their numbers."""
    return Call(f"$ gramian {name}", partial(_verb, name, tuple(words.split())), rounding, turning)


def verb_calls() -> list[Call]:
    """Every verb, with what it refuses; {i} are the inputs, {w} is what earlier calls wrote."""
    near = {"rounding": 1e-4, "turning": 1e-3}
    return [
        verb("look --json", "look {i}/named.csv --json --quiet"),
        verb("look --json, missing values", "look {i}/holes.csv --json --quiet"),
        verb("look", "look {i}/scales.csv --quiet"),
        verb("pca --json", "pca {i}/named.csv --json --quiet --no-report -o {w}/pca"),
        verb("pca with its page", "pca {i}/named.csv -k 2 --quiet -o page"),
        verb("pca --json, scales", "pca {i}/scales.csv --json --quiet --no-report -o {w}/scaled -k 0.9"),
        verb("pca --json, missing values", "pca {i}/holes.csv --json --quiet --no-report -k 2 -o out", **near),
        verb("fill --json", "fill {i}/holes.csv --json --quiet --no-report -k 2 -o out", **near),
        verb("fill with its page", "fill {i}/holes.csv -k 2 --quiet -o page"),
        verb("pca --missing drop", "pca {i}/holes.csv --json --quiet --no-report -k 2 --missing drop -o out"),
        verb("pca --dry-run", "pca {i}/named.csv --dry-run --quiet"),
        verb("pca of a Parquet file", "pca {i}/t.parquet --json --quiet --no-report -k 3 -o out"),
        verb("kpca --json", "kpca {i}/named.csv --json --quiet --no-report -k 3 -o {w}/kpca", **near),
        verb("kpca --landmarks", "kpca {i}/named.csv --json --quiet --no-report -k 2 --landmarks 40 -o out", **near),
        verb(
            "kpca --kernel poly",
            "kpca {i}/named.csv --json --quiet --no-report -k 2 --kernel poly --degree 2 -o out",
            **near,
        ),
        verb("ica --json", "ica {i}/mixed.npy --json --quiet --no-report -o {w}/ica", **near),
        verb(
            "ica --algorithm infomax",
            "ica {i}/mixed.npy --json --quiet --no-report -k 2 --algorithm infomax -o out",
            **near,
        ),
        verb("project", "project {w}/pca/model.gramian {i}/named.csv --quiet"),
        verb("project, kernel, to .npy", "project {w}/kpca/model.gramian {i}/named.csv --quiet -o scores.npy", **near),
        verb("rebuild", "rebuild {w}/pca/model.gramian {i}/named.csv --quiet -o rows.csv"),
        verb(
            "rebuild --without, ica",
            "rebuild {w}/ica/model.gramian {i}/mixed.npy --without 1 --quiet -o rows.npy",
            **near,
        ),
        verb("outliers --json", "outliers {w}/pca/model.gramian {i}/named.csv --json --quiet --level 0.9"),
        verb("report", "report {w}/pca/model.gramian {i}/named.csv -o again.html --quiet"),
        verb("report without rows", "report {w}/pca/model.gramian -o model.html --quiet"),
        verb("compare --json", "compare {w}/pca/model.gramian {w}/scaled/model.gramian --json", turning=1e-05),
        verb("export --to csv", "export {w}/pca/model.gramian --to csv -o weights.csv"),
        verb("export --to npz", "export {w}/pca/model.gramian --to npz -o weights.npz"),
        verb("export --to parquet", "export {w}/pca/model.gramian --to parquet -o weights.parquet"),
        verb("export --to onnx", "export {w}/pca/model.gramian --to onnx -o model.onnx"),
        verb("demo circle", "demo circle -o demo --quiet", **near),
        verb("doctor --json", "doctor --json"),
        verb("--version", "--version"),
        verb("--help", "--help"),
        verb("pac (a misspelt verb)", "pac {i}/t.csv"),
        verb("pca of nothing", "pca"),
        verb("pca of a file that is not there", "pca {i}/nowhere.csv --quiet"),
        verb("pca of text", "pca {i}/text.csv --quiet --no-report -o out"),
        verb("pca of an empty file", "pca {i}/empty.csv --quiet --no-report -o out"),
        verb("pca -k 99", "pca {i}/t.csv -k 99 --quiet --no-report -o out"),
        verb("pca -k nonsense", "pca {i}/t.csv -k nonsense --quiet"),
        verb("pca --missing error", "pca {i}/holes.csv --missing error --quiet --no-report -o out"),
        verb("pca --memory 10kB", "pca {i}/t.csv --memory 10kB --quiet --no-report -o out"),
        verb("pca into a file", "pca {i}/t.csv --quiet --no-report -o {i}/t.csv"),
        verb("kpca --gamma nonsense", "kpca {i}/t.csv --gamma nonsense --quiet"),
        verb("project of no model", "project {i}/not_a_model.gramian {i}/t.csv --quiet"),
        verb("project of other columns", "project {w}/pca/model.gramian {i}/text.csv --quiet"),
        verb("outliers of an ICA", "outliers {w}/ica/model.gramian {i}/mixed.npy --quiet"),
        verb("compare of different columns", "compare {w}/pca/model.gramian {w}/ica/model.gramian"),
    ]


def _verb(name: str, words: Sequence[str], place: Place) -> Found:
    from gramian.cli.main import main

    written, own = place.out / "written", place.out / "verbs" / name.replace("/", "_")
    for folder in (written, own):
        folder.mkdir(parents=True, exist_ok=True)
    before = {path for path in written.rglob("*") if path.is_file()}
    spoken = [word.format(i=place.inputs, w=written) for word in words]
    said, told = io.StringIO(), io.StringIO()
    home = Path.cwd()
    os.chdir(own)
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(told):
            code = main(spoken)
    finally:
        os.chdir(home)
    new = [path for path in written.rglob("*") if path.is_file() and path not in before]
    new += [path for path in own.rglob("*") if path.is_file()]
    found = Found({}, {"exit code": code, "files": sorted(path.name for path in new)})
    if "--json" in words and code == 0:
        answer = json.loads(said.getvalue())
        found.facts["keys"] = [] if words[0] == "doctor" else key_paths(answer)
        found.facts["top keys"] = sorted(answer)
        found.arrays |= {
            f"numbers:{key}": np.array(answer[key]) for key in ("shares", "variances", "angles") if answer.get(key)
        }
        found.facts |= {
            key: answer[key]
            for key in ("components", "rules", "flagged", "method", "scaled", "filled")
            if key in answer and words[0] != "compare"
        }
    elif words[0] == "project" and code == 0 and said.getvalue():
        found.arrays["columns:stdout"] = _csv_numbers(said.getvalue())
    for path in new:
        found.arrays |= _file_numbers(path, "sources" if words[0] == "ica" else "columns")
    return found


def _file_numbers(path: Path, kind: str) -> dict[str, Any]:
    """Return the numbers in a file that a verb wrote."""
    if path.suffix == ".csv" and path.name != "circle.csv":
        # The loadings of ICA and of a kernel are listed by name, not by place: their columns are compared as scores.
        return (
            {f"{kind if path.name == 'scores.csv' else 'columns'}:{path.name}": _csv_numbers(path.read_text())}
            if kind == "columns" or path.name == "scores.csv"
            else {}
        )
    if path.suffix == ".npy":
        return {f"columns:{path.name}": np.load(path)}
    return {}


def _csv_numbers(text: str) -> np.ndarray:
    """Return the cells of a CSV text that are numbers, column by column, with NaN in the place of words."""

    def number(cell: str) -> float:
        try:
            return float(cell)
        except ValueError:
            return np.nan

    return np.array([[number(cell) for cell in line.split(",")] for line in text.splitlines()[1:] if line])


def all_calls() -> list[Call]:
    """Every call, in the order in which they run."""
    calls = [
        *pca_calls(),
        *kernel_calls(),
        *ica_calls(),
        *function_calls(),
        *source_calls(),
        *refusal_calls(),
        *verb_calls(),
    ]
    names = [call.name for call in calls]
    assert len(set(names)) == len(names), sorted(name for name in names if names.count(name) > 1)
    return calls


# ---- running them -------------------------------------------------------------------------------------------------


def run_all(place: Place, part: str) -> None:
    """Run the calls whose name has ``part`` in it, and write what they found."""
    models, facts = place.out / "models", {}
    models.mkdir(parents=True, exist_ok=True)
    for number, call in enumerate(all_calls()):
        if part not in call.name:
            continue
        start = time.perf_counter()
        found = _run(call, place)
        if found.model is not None and call.on and hasattr(found.model, "save"):
            try:
                found.model.save(models / f"{number}.gramian")
                (models / f"{number}.json").write_text(json.dumps({"name": call.name, "on": call.on}))
            except Exception as error:  # noqa: BLE001  a model of one's own function cannot be saved, on either side
                found.facts["saving"] = _named(error)
        np.savez(
            place.out / f"{number}.npz", **{key: value for key, value in found.arrays.items() if value is not None}
        )
        facts[call.name] = found.facts | {"seconds": round(time.perf_counter() - start, 3), "number": number}
        (place.out / "facts.json").write_text(json.dumps(facts, indent=1, default=str))


def _run(call: Call, place: Place) -> Found:
    """Run one call; what it raises becomes a fact."""
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = call.run(place)
    except ImportError as error:
        return Found({}, {"left out": str(error)})
    except Exception as error:  # noqa: BLE001  both sides must raise it
        return Found({}, {"raised": _named(error), "sentence": traceback.format_exc(limit=-3)})
    found.facts["warned"] = sorted(
        {kind.category.__name__ for kind in caught if "ramian" in str(kind.category.__module__)}
    )
    return found


def load_all(place: Place, models: Path) -> None:
    """Open each model file of another run and use it on the rows that it was made from."""
    import gramian

    facts = {}
    for path in sorted(models.glob("*.gramian"), key=lambda path: int(path.stem)):
        about = json.loads(path.with_suffix(".json").read_text())
        kind = "numbers" if about["name"].startswith(("Nystroem", "Fourier", "Polynomial")) else "columns"
        kind = "sources" if about["name"].startswith(("ICA", "FastICA")) else kind
        call = Call(
            about["name"],
            lambda place, path=path, about=about, kind=kind: of_model(
                gramian.load(path), place.rows(about["on"]), kind=kind
            ),
            0,
            0,
        )  # type: ignore[misc]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = _run(call, place)
        np.savez(place.out / f"{path.stem}.npz", **found.arrays)
        facts[about["name"]] = found.facts | {"number": int(path.stem)}
    (place.out / "facts.json").write_text(json.dumps(facts, indent=1, default=str))


def main() -> None:
    """Run or load, as told."""
    what, inputs, *more = sys.argv[1:]
    if what == "run":
        run_all(Place(Path(inputs), Path(more[0])), more[1] if len(more) > 1 else "")
    else:
        load_all(Place(Path(inputs), Path(more[1])), Path(more[0]))


if __name__ == "__main__":
    main()
