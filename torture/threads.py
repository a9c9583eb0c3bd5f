"""One model used by many threads, fits side by side, forks: the same answers, and nothing global left changed."""

import multiprocessing
import threading
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from gramian import ICA, PCA, KernelPCA, ProbabilisticPCA
from gramian.machine import cores
from torture.family import Broken, Counts

Array = np.ndarray[Any, Any]


def _pca(rng: np.random.Generator) -> tuple[Any, Array]:
    return PCA(3, svd_solver=str(rng.choice(["full", "covariance_eigh", "gram", "krylov"])), random_state=0), _rows(rng)


def _kernel_pca(rng: np.random.Generator) -> tuple[Any, Array]:
    return KernelPCA(3, kernel="rbf", gamma=0.1, random_state=0), _rows(rng)[:150]


def _ica(rng: np.random.Generator) -> tuple[Any, Array]:
    return ICA(3, random_state=0, independence=False), _rows(rng)


def _missing(rng: np.random.Generator) -> tuple[Any, Array]:
    X = _rows(rng)[:100]
    return ProbabilisticPCA(2, random_state=0), np.where(rng.random(X.shape) < 0.1, np.nan, X)


MAKERS: tuple[Callable[[np.random.Generator], tuple[Any, Array]], ...] = (_pca, _kernel_pca, _ica, _missing, _pca)


def _rows(rng: np.random.Generator) -> Array:
    n, d = int(rng.integers(200, 2_000)), int(rng.integers(5, 40))
    return np.asarray(rng.uniform(-1, 1, (n, d)) @ (rng.standard_normal((d, d)) * np.geomspace(3, 0.3, d)))


def _answer(model: Any, X: Array) -> Array:
    return np.asarray(model.fit(X).transform(X))


def _libraries() -> dict[str, int]:
    return {info["filepath"]: info["num_threads"] for info in threadpool_info()}


def _strangers() -> set[str]:
    """Return the names of threads that are not of the pool that is kept: one worker per core but one."""
    kept = {f"gramian_{i}" for i in range(cores() - 1)}
    return {thread.name for thread in threading.enumerate()} - kept


def _near(found: Array, truth: Array, what: str) -> None:
    if found.shape != truth.shape or not np.allclose(found, truth, rtol=1e-6, atol=1e-7 * float(np.abs(truth).max())):
        raise Broken(f"{what} gave another answer")


def _one_model(rng: np.random.Generator) -> Counts:
    """32 threads ask one fitted model."""
    model, X = MAKERS[int(rng.integers(len(MAKERS)))](rng)
    truth = _answer(model, X)
    with ThreadPoolExecutor(32) as pool:
        for found in pool.map(lambda _: np.asarray(model.transform(X)), range(64)):
            if not np.array_equal(found, truth):
                _near(found, truth, f"{type(model).__name__}.transform from one of 32 threads")
    return {"models asked from 32 threads": 1}


def _many_fits(rng: np.random.Generator) -> Counts:
    """Eight fits at once, of several kinds."""
    tasks = [MAKERS[int(rng.integers(len(MAKERS)))](rng) for _ in range(8)]
    truths = [_answer(model, X) for model, X in tasks]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda task: _answer(type(task[0])(**task[0].get_params()), task[1]), tasks))
    for (model, _), one, truth in zip(tasks, found, truths, strict=True):
        _near(one, truth, f"{type(model).__name__}, fitted beside seven others,")
    return {"fits side by side": 8}


def _forked(rng: np.random.Generator) -> Counts:
    """A fit in a process that was forked after fits in this one."""
    model, X = MAKERS[int(rng.integers(len(MAKERS)))](rng)
    truth = _answer(model, X)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for found in pool.starmap(_answer, [(type(model)(**model.get_params()), X)] * 2):
            _near(found, truth, f"{type(model).__name__} in a forked process")
    return {"fits in forked processes": 2}


KINDS = (_one_model, _many_fits, _one_model, _many_fits, _forked)


def attack(number: int) -> Counts:
    """Use models from many places at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        before, alive = _libraries(), _strangers()
        sums = KINDS[number % len(KINDS)](np.random.default_rng((number, 3)))
        changed = {path: threads for path, threads in _libraries().items() if before.get(path, threads) != threads}
        if changed:
            raise Broken(f"the number of threads of a library was left changed: {changed}")
        if _strangers() - alive:
            raise Broken(f"threads were left alive: {sorted(_strangers() - alive)}")
    return sums
