"""Tables that break careless arithmetic, each with its right answer; scikit-learn is asked the same where it can be.

The right answer is planted, an identity, or found in long double. What is allowed is what the documentation promises:
35 min(n, d) eps s_1 for a singular value, and twice that over its gap for the angle of a component.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import decomposition

import gramian
from gramian import errors as gramian_errors
from gramian.testing import (
    amari_distance,
    centered,
    graded,
    hilbert,
    jacobi_svd,
    kahan,
    laeuchli,
    mixed_sources,
    rows_with_spectrum,
)
from torture.family import Broken, Counts

Array = np.ndarray[Any, Any]
Check = Callable[[Any], None]
PEER = SimpleNamespace(**{name: getattr(decomposition, name) for name in decomposition.__all__})


@dataclass(frozen=True)
class Trap:
    """A name, what is checked of a library, and whether scikit-learn can be asked."""

    name: str
    check: Check
    shared: bool = True


def _spread(scales: Any) -> Array:
    rng = np.random.default_rng(7)
    return np.asarray(rng.standard_normal((60, len(scales))) * np.asarray(scales))


def _times() -> Array:
    """A column of unix times beside columns of size one."""
    X = _spread([1.0, 0.5, 0.25, 0.1])
    return np.column_stack([1.7e9 + 3600.0 * np.arange(60), X])


@cache
def tables() -> dict[str, Array]:
    """Tables in float64, by name."""
    rng = np.random.default_rng(3)
    plain = rng.standard_normal((40, 6)) @ np.diag([4, 3, 2, 1, 0.5, 0.25])
    tied = rows_with_spectrum(50, 8, [4.0, 4.0, 4.0, 1.0, 1.0], seed=1)[0]
    return {
        "mean 1e8 times the spread": plain + 1e8,
        "mean 1e12 times the spread": plain + 1e12,
        "means of both signs": plain + np.array([1e9, -1e9, 1e6, -1e3, 0, 1]),
        "a column of unix times": _times(),
        "near overflow": plain * 1e200,
        "near underflow": plain * 1e-200,
        "beyond the square root of the largest": plain * 1e160,
        "columns from 1e-8 to 1e8": _spread(np.logspace(8, -8, 9)),
        "Laeuchli": laeuchli(12, 6),
        "Laeuchli, wide": laeuchli(6, 12),
        "Hilbert": hilbert(30, 12),
        "Kahan": kahan(24, 24),
        "sixteen orders": graded(40, 12),
        "sixteen orders, wide": graded(12, 40),
        "ties": tied,
        "two equal rows": np.array([[1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [0.0, 1.0, 5.0]]),
        "all rows equal but one": np.vstack([np.ones((30, 4)), [[1.0, 1.0, 1.0, 2.0]]]),
        "a constant column": np.column_stack([plain, np.full(40, 1e10)]),
        "a column twice": np.column_stack([plain, plain[:, 0]]),
        "sums of columns": np.column_stack([plain, plain.sum(axis=1), plain[:, :2].sum(axis=1)]),
        "one outlier of 1e12": np.vstack([plain, np.full((1, 6), 1e12)]),
        "two rows": plain[:2],
        "one column": plain[:, :1] + 1e6,
        "a spike of 1e-9": np.vstack([np.ones((20, 3)), [[1 + 1e-9, 1, 1]]]),
        "integers beyond 2^53": np.vander(np.arange(1, 21), 6).astype(float) * 2.0**40,
        "one-hot": np.eye(10)[rng.integers(10, size=80)],
        "alternating signs": np.outer((-1.0) ** np.arange(40), np.arange(1, 6)) * 1e5 + plain[:, :5],
        "long and thin": rng.standard_normal((5_000, 2)) @ np.array([[1, 1], [1, 1 + 1e-7]]),
        "wide and flat": rng.standard_normal((4, 800)) + 1e7,
        "low rank and noise of 1e-12": plain[:, :2] @ rng.standard_normal((2, 20))
        + 1e-12 * rng.standard_normal((40, 20)),
    }


def _truth(X: Array) -> tuple[Array, Array, float, int]:
    """Singular values and vectors of the stored rows in long double, and the power of two they were scaled by."""
    exponent = int(np.frexp(np.abs(X).max())[1]) if X.size else 0
    s, V = jacobi_svd(centered(np.ldexp(X.astype(np.float64), -exponent)))
    return s, V, exponent


def _require(found: Array, truth: Array, allowed: float, what: str) -> None:
    found = np.asarray(found, dtype=np.longdouble)
    if not np.isfinite(found).all():
        raise Broken(f"{what}: not finite")
    error = float(np.abs(found - truth).max(initial=0.0))
    if not error <= allowed:
        raise Broken(f"{what}: error {error:.3g}, allowed {allowed:.3g}")


def _components(components: Array, V: Array, s: Array, allowed: float) -> None:
    every = np.append(s, 0.0).astype(float)
    for i, component in enumerate(np.asarray(components, dtype=np.longdouble)[: V.shape[1]]):
        gap = float(np.abs(np.delete(every, i) - every[i]).min())
        if gap > 10 * allowed:
            off = component - V[:, i] * (V[:, i] @ component)
            if not float(np.sqrt(off @ off)) <= 2 * allowed / gap + 100 * np.finfo(float).eps:
                raise Broken(f"component {i}: angle {float(np.sqrt(off @ off)):.3g}, gap {gap:.3g}")


def _eps(X: Any) -> float:
    return float(np.finfo(X.dtype).eps)


def _input_rounding(X: Array, exponent: int) -> float:
    """What rounding the rows to their own type may change in a singular value: eps |X|_F."""
    return _eps(X) * float(np.linalg.norm(np.ldexp(X.astype(np.longdouble), -exponent)))


def _pca(X: Array, make: Callable[[Any, int], Any], given: Any = None) -> Check:
    """Fit PCA one way or another; values are right, and components to what the input itself is rounded by."""

    def check(library: Any) -> None:
        s, V, exponent = _truth(X)
        k = min(len(s), 4, min(X.shape) - (X.shape[0] <= X.shape[1]) or 1)
        pca = make(library, k).fit(X if given is None else given)
        allowed = 35 * min(X.shape) * _eps(X) * float(s[0])
        _require(np.ldexp(pca.singular_values_.astype(np.longdouble), -exponent), s[:k], allowed, "singular values")
        _components(pca.components_, V, s, allowed + _input_rounding(X, exponent))

    return check


def _ratio(X: Array) -> Check:
    """Shares of variance add up and are right, also where a variance itself overflows."""

    def check(library: Any) -> None:
        s, _, _ = _truth(X)
        pca = library.PCA().fit(X)
        share = (s**2 / np.sum(s**2))[: len(pca.explained_variance_ratio_)]
        _require(pca.explained_variance_ratio_, share, 200 * min(X.shape) * _eps(X), "shares of variance")

    return check


def _new_rows(X: Array) -> Check:
    """Scores of new rows are (x - mean) V, and back again gives the row's projection."""

    def check(library: Any) -> None:
        s, _, exponent = _truth(X)
        k = max(1, min(len(s), 3, min(X.shape) - 1))
        pca = library.PCA(k, svd_solver="full").fit(X)
        new = X[::-1] * 1.0
        scores = centered(np.ldexp(X.astype(np.float64), -exponent))[::-1] @ pca.components_.astype(np.longdouble).T
        # The mean itself is rounded to the type of the rows.
        rounding = 35 * min(X.shape) * _eps(X) * float(s[0]) + 4 * _eps(X) * float(
            np.abs(np.ldexp(X.astype(float), -exponent)).max() * np.sqrt(X.shape[1])
        )
        _require(np.ldexp(pca.transform(new).astype(np.longdouble), -exponent), scores, rounding, "scores")

    return check


def _whitened(X: Array) -> Check:
    """Whitened scores have unit variance, and no null direction is blown up."""

    def check(library: Any) -> None:
        s, _, _ = _truth(X)
        rank = int((s > 1e3 * max(X.shape) * _eps(X) * s[0]).sum())
        Z = library.PCA(rank, whiten=True, svd_solver="full").fit_transform(X)
        spread = Z.astype(np.longdouble).var(axis=0, ddof=1)
        _require(spread, np.ones(rank), 1e-4 if _eps(X) > 1e-10 else 1e-6, "variance of whitened scores")

    return check


def _batches(X: Array, fit: Callable[[Any], Any]) -> Check:
    """Batches hold squares: a value is right to eps s_1^2 / s, and to what rounding the rows may change."""

    def check(library: Any) -> None:
        s, V, exponent = _truth(X)
        k = min(3, min(X.shape) // 2)
        try:
            pca = fit(library.IncrementalPCA(k, batch_size=len(X) // 2))
        except gramian_errors.InputError as error:
            if abs(exponent) < 400:
                raise Broken(str(error)) from error
            return  # Squares that leave the floating-point range are refused in a sentence.
        top = float(s[0])
        square = 35 * min(X.shape) * _eps(X) * top
        lost = np.minimum(square * top / np.maximum(s[:k].astype(float), 1e-300 * top), np.sqrt(square * top))
        found = np.ldexp(pca.singular_values_.astype(np.longdouble), -exponent)
        for i in range(k):
            _require(found[i], s[i], lost[i] + _input_rounding(X, exponent), f"singular value {i}")
        _components(pca.components_[:1], V, s, float(lost[0]) + _input_rounding(X, exponent))

    return check


def _in_halves(X: Array) -> Callable[[Any], Any]:
    def fit(model: Any) -> Any:
        for half in np.array_split(X, 2):
            model.partial_fit(half)
        return model

    return fit


def _kernel(X: Array, kernel: str, **parameters: float) -> Check:
    """Eigenvalues of the centered kernel matrix, made and solved in long double."""

    def check(library: Any) -> None:
        x = X.astype(np.longdouble)
        inner = x @ x.T
        differences = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
        gamma = np.longdouble(parameters.get("gamma", 1.0))
        K = {"rbf": np.exp(-gamma * differences), "linear": inner, "poly": (gamma * inner + 1) ** 2}[kernel]
        H = np.eye(len(x), dtype=np.longdouble) - np.longdouble(1) / len(x)
        values, U = jacobi_svd(H @ K @ H)
        k = 3
        kpca = library.KernelPCA(k, kernel=kernel, degree=2, coef0=1, **parameters).fit(X)
        # A kernel of rows of this size is rounded by so much before anything is solved.
        allowed = 100 * len(x) * float(np.finfo(float).eps) * float(max(values[0], 1e-3 * np.abs(K).max()))
        _require(kpca.eigenvalues_, values[:k], allowed, "eigenvalues")
        scores = kpca.transform(X)
        own = U[:, :k] * np.sqrt(values[:k])
        signs = np.sign((scores * own).sum(axis=0))
        gap = float(np.min(-np.diff(values[: k + 1])))
        if gap > 1e-3 * float(values[0]):
            size = float(np.sqrt(values[0]))
            _require(scores, own * signs, 1e4 * allowed / gap * size, "scores")

    return check


def _ica(X: Array, A: Array, size: float = 0.05) -> Check:
    """Planted sources come back."""

    def check(library: Any) -> None:
        ica = library.FastICA(A.shape[1], whiten="unit-variance", random_state=0, max_iter=500, tol=1e-6).fit(X)
        found = amari_distance(ica.components_, A)
        if not found <= size:
            raise Broken(f"Amari distance {found:.3g}, allowed {size}")

    return check


def _closed_form(X: Array) -> Check:
    """With nothing missing the model's subspace is that of PCA; what cannot be squared is refused in a sentence."""

    def check(library: Any) -> None:
        s, V, exponent = _truth(X)
        try:
            model = library.ProbabilisticPCA(2).fit(X)
        except gramian_errors.InputError as error:
            if abs(exponent) < 400:
                raise Broken(str(error)) from error
            return
        W = np.linalg.qr(model.components_.T.astype(float))[0]
        off = W - V[:, :2].astype(float) @ (V[:, :2].T.astype(float) @ W)
        gap = float(s[1] - s[2]) / float(s[0])
        if not np.linalg.norm(off, 2) <= 1e-10 / gap:
            raise Broken(f"angle to the subspace of PCA {np.linalg.norm(off, 2):.3g}")

    return check


def _filled(mean: float, scale: float, share: float) -> Check:
    """Values that were taken away are predicted as well as the noise allows, whatever the units."""

    def check(library: Any) -> None:
        rng = np.random.default_rng(11)
        signal = rng.standard_normal((300, 2)) @ rng.standard_normal((2, 10))
        X = (signal + 0.1 * rng.standard_normal(signal.shape)) * scale + mean
        hidden = rng.random(X.shape) < share
        model = library.ProbabilisticPCA(2, random_state=0).fit(np.where(hidden, np.nan, X))
        wrong = (model.impute(np.where(hidden, np.nan, X)) - X)[hidden] / scale
        if not np.sqrt(np.mean(wrong**2)) <= 0.2:
            raise Broken(f"error of hidden entries {np.sqrt(np.mean(wrong**2)):.3g} where the noise is 0.1")

    return check


def _coded(levels: int, columns: int, rare: bool) -> Check:
    """MCA is the correspondence analysis of the indicator matrix, computed here in long double."""

    def check(library: Any) -> None:
        rng = np.random.default_rng(5)
        chances = np.array([0.9, *np.full(levels - 1, 0.1 / (levels - 1))]) if rare else np.full(levels, 1 / levels)
        codes = rng.choice(levels, size=(200, columns), p=chances)
        codes[:levels] = np.arange(levels)[:, None]
        Z = np.concatenate([np.eye(levels)[codes[:, j]] for j in range(columns)], axis=1).astype(np.longdouble)
        P = Z / Z.sum()
        r, c = P.sum(axis=1), P.sum(axis=0)
        s, _ = jacobi_svd((P - np.outer(r, c)) / np.sqrt(np.outer(r, c)))
        mca = library.MCA(2).fit(codes.astype(str).astype(object))
        _require(mca.eigenvalues_, s[:2] ** 2, 1e-12, "eigenvalues")

    return check


@cache
def traps() -> tuple[Trap, ...]:
    """Every trap."""
    found: list[Trap] = []

    def add(name: str, check: Check, *, shared: bool = True) -> None:
        found.append(Trap(name, check, shared))

    for name, X in tables().items():
        add(f"PCA, {name}", _pca(X, lambda library, k: library.PCA(k)))
        add(f"PCA, full, {name}", _pca(X, lambda library, k: library.PCA(k, svd_solver="full")))
        add(f"shares, {name}", _ratio(X))
        if min(X.shape) > 2:
            add(f"scores of new rows, {name}", _new_rows(X))
        single = X.astype(np.float32) if np.abs(X).max() < 1e30 and np.abs(X).max() > 1e-30 else None
        if single is not None and np.ptp(single, axis=0).max() > 0:
            add(f"PCA, float32, {name}", _pca(single, lambda library, k: library.PCA(k)))
        if min(X.shape) >= 6 and len(X) >= 12:
            add(f"batches, {name}", _batches(X, lambda model, X=X: model.fit(X)))
            add(f"partial_fit, {name}", _batches(X, _in_halves(X)))
            add(f"whitened, {name}", _whitened(X))
            add(f"column order, {name}", _pca(X, lambda library, k: library.PCA(k), np.asfortranarray(X)))
            add(f"strided, {name}", _pca(X, lambda library, k: library.PCA(k), np.repeat(X, 2, axis=1)[:, ::2]))
    for name in ("one-hot", "Laeuchli", "ties", "columns from 1e-8 to 1e8", "Hilbert"):
        X = tables()[name]
        add(f"sparse, {name}", _pca(X, lambda library, k: library.PCA(k, svd_solver="arpack"), sp.csr_array(X)))
    for shift in (0.0, 10.0, 1e3):
        X = _spread([1.0, 0.7, 0.4]) + shift
        for gamma in (1e-6, 0.1, 10.0):
            add(f"rbf kernel, gamma {gamma:g}, mean {shift:g}", _kernel(X, "rbf", gamma=gamma))
        add(f"linear kernel, mean {shift:g}", _kernel(X, "linear"))
        add(f"polynomial kernel, mean {shift:g}", _kernel(X, "poly", gamma=1.0))
    for k in (2, 4, 8):
        S, A = mixed_sources(20_000, k, seed=k), np.random.default_rng(k).standard_normal((k, k)) + 2 * np.eye(k)
        add(f"{k} sources", _ica(S @ A.T, A))
        add(f"{k} sources, mean 1e8", _ica(S @ A.T + 1e8, A))
        add(f"{k} sources, tiny", _ica(S @ A.T * 1e-160, A))
        add(
            f"{k} sources, columns in other units",
            _ica(S @ A.T * np.logspace(-6, 6, k), A * np.logspace(-6, 6, k)[:, None]),
        )
        tall = np.vstack([A, A[:1]])
        add(f"{k} sources, a channel twice", _ica(S @ tall.T, tall))
    for name in ("mean 1e8 times the spread", "near overflow", "near underflow", "means of both signs"):
        add(f"nothing missing, {name}", _closed_form(tables()[name]), shared=False)
    for mean, scale in ((0.0, 1.0), (1e6, 1.0), (0.0, 1e-100), (0.0, 1e100)):
        for share in (0.05, 0.4):
            add(f"missing {share:.0%}, mean {mean:g}, scale {scale:g}", _filled(mean, scale, share), shared=False)
    for levels, columns, rare in ((2, 3, False), (5, 4, False), (5, 4, True), (30, 2, True)):
        add(f"{columns} categories of {levels} levels, rare {rare}", _coded(levels, columns, rare), shared=False)
    return tuple(found)


def attack(number: int) -> Counts:
    """Hold Gramian against a trap, and count whether scikit-learn gets it right."""
    trap, sums = traps()[number], {}
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if trap.shared:
            sums["asked of scikit-learn"] = 1.0
            try:
                trap.check(PEER)
                sums["right in scikit-learn"] = 1.0
            except Exception:  # noqa: S110 - wrong or refused, it is not right
                pass
        try:
            trap.check(gramian)
        except Exception as error:
            message = f"{trap.name}: {error}"
            raise Broken(message) from error
    return sums
