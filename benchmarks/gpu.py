"""On a GPU: is it right, how long does it take, and what is the ceiling: ``python -m benchmarks.gpu [--parts ...]``.

Parts, in the order in which they run unless ``--parts`` says otherwise:

========  =============================================================================================================
ceilings  bandwidth, matrix products and exponentials, as this machine gives them
check     K(X, Y) V of every family against float64, in every precision; the same bits twice
shapes    how the product should be cut (tile, warps, stages), by time, at 131,072 rows
product   the product at 1,000,000 x 64, 32 columns: time and error of each precision; other d, columns and families
kpca      exact kernel PCA: 200,000 and 1,000,000 rows, warm and cold, checked in float64
pca       PCA of several shapes beside the shortest torch code that is right
pieces    what a fit is made of: the dense pieces of a start
same      NumPy, torch on the CPU, torch and CuPy here: eigenvalues and subspaces
ica       64 sources of 3,000,000 rows
transform rows a second
moved     PCA of rows of the host and of a file with device="cuda", whole and streamed, beside the host's own
more_kpca other kernels and wider rows
========  =============================================================================================================

A part that fails says so and the next one runs. Times are of the device's clock around work that was run before, the
least of a few; ``cold`` is the first run in the process, compilation and loading in it. Lines go to the screen and to
``--out`` (a folder). ``--quick`` takes small rows, and runs on a CPU where TRITON_INTERPRET=1 is set.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import json
import pstats
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
import triton
import triton.language as tl

VENDORED = Path(__file__).parent.parent / "build" / "vendor"
if VENDORED.is_dir():  # pure Python packages, for a machine on which nothing can be installed
    sys.path.append(str(VENDORED))

HERE = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if HERE.type == "cpu":  # to try the program: as if the host were a device
    from gramian.arrays import namespace

    namespace.HOST_DEVICES.clear()

    def _refused(*_: Any, **__: Any) -> None:
        message = "a tensor became a NumPy array unasked, which fails on a device"
        raise TypeError(message)

    torch.Tensor.__array__ = _refused

SHAPES = (
    (128, 64, 4, 2),
    (128, 64, 4, 3),
    (128, 64, 8, 2),
    (128, 64, 8, 3),
    (128, 128, 8, 2),
    (128, 128, 8, 3),
    (128, 64, 8, 4),
    (64, 64, 4, 2),
    (64, 64, 4, 3),
    (64, 128, 4, 2),
    (64, 128, 4, 3),
    (128, 32, 4, 3),
)


class Report:
    """Lines on the screen and in a file, and figures in another."""

    def __init__(self, folder: Path | None, *, quick: bool, wide: bool = False, limit: float = 1e9) -> None:
        self.folder, self.quick, self.wide = folder, quick, wide
        self.started, self.limit = time.monotonic(), limit
        self.figures: dict[str, Any] = {}
        self.best: dict[int, Any] = {}

    def say(self, line: str) -> None:
        """Print a line with the seconds since the beginning, and keep it."""
        line = f"[{time.monotonic() - self.started:6.1f}] {line}"
        print(line, flush=True)
        if self.folder is not None:
            with (self.folder / "gpu.log").open("a") as file:
                file.write(line + "\n")

    @property
    def is_late(self) -> bool:
        """Whether no part is to begin any more."""
        return time.monotonic() - self.started > self.limit

    def note(self, name: str, value: Any) -> None:
        """Keep figures."""
        self.figures[name] = value
        if self.folder is not None:
            (self.folder / "gpu.json").write_text(json.dumps(self.figures, indent=1))


def wait() -> None:
    """Wait until the device has done what it was given."""
    if HERE.type == "cuda":
        torch.cuda.synchronize()


def seconds(work: Callable[[], Any], *, runs: int = 3, warm: bool = True) -> float:
    """Return the least time of a few runs; one more before them unless it is ``warm`` already."""
    if warm:
        work()
    times = []
    for _ in range(runs):
        wait()
        start = time.perf_counter()
        work()
        wait()
        times.append(time.perf_counter() - start)
    return min(times)


def rows_of(n: int, d: int, *, seed: int = 0, dtype: Any = torch.float32) -> Any:
    """Return rows with some structure: eight groups, a fading spectrum and noise, made on the device."""
    draw = torch.Generator(device=HERE).manual_seed(seed)
    factors = min(d, 16)
    mix = torch.randn(factors, d, device=HERE, generator=draw)
    centers = 2.0 * torch.randn(8, factors, device=HERE, generator=draw)
    X = torch.empty(n, d, device=HERE, dtype=dtype)
    step = max(1, (1 << 28) // d)
    for i in range(0, n, step):
        b = min(step, n - i)
        hidden = torch.randn(b, factors, device=HERE, generator=draw) / (1 + torch.arange(factors, device=HERE)) ** 0.5
        hidden += centers[torch.randint(0, 8, (b,), device=HERE, generator=draw)]
        X[i : i + b] = (hidden @ mix / factors**0.5 + torch.randn(b, d, device=HERE, generator=draw) * 0.5).to(dtype)
    return X


def median_gamma(X: Any) -> float:
    """Return the gamma of median width, of a thousand rows."""
    some = X[torch.randint(0, X.shape[0], (1000,), device=X.device)].double()
    apart = torch.pdist(some)
    return float(0.5 / apart.median() ** 2)


@triton.jit
def _exponentials(out, steps, SIZE: tl.constexpr):  # noqa: ANN001, ANN202
    """Raise 2 to the power of minus a number, again and again."""
    places = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    x = places.to(tl.float32) * 1e-7
    for _ in range(steps):
        x = tl.exp2(-x)
    tl.store(out + places, x)


def ceilings(report: Report) -> None:
    """Measure what the machine gives to programs that do one thing."""
    size = 1 << (12 if report.quick else 30)
    x, y = (torch.rand(size, device=HERE) for _ in range(2))
    copied, raised = seconds(partial(y.copy_, x)), seconds(y.exp_)
    report.say(f"copy: {8 * size / copied / 1e12:.2f} TB/s")
    report.say(f"exp in place, {size:,} float32: {size / raised / 1e12:.2f} T/s (memory bound)")
    del x, y
    programs, steps = (4, 10) if report.quick else (8192, 4000)
    out = torch.empty(programs * 1024, device=HERE)
    took = seconds(lambda: _exponentials[(programs,)](out, steps, SIZE=1024))
    report.say(f"exponentials of float32 in registers: {programs * 1024 * steps / took / 1e12:.2f} T/s")
    m = 256 if report.quick else 8192
    for kind in (torch.float16, torch.float32, torch.float64):
        a, b = (torch.randn(m, m, device=HERE, dtype=kind) for _ in range(2))
        took = seconds(lambda a=a, b=b: a @ b)
        report.say(f"{m} x {m} product, {kind}: {2 * m**3 / took / 1e12:.1f} TFLOP/s")
    n, d = (4096, 20) if report.quick else (4_000_000, 100)
    X = torch.randn(n, d, device=HERE, dtype=torch.float64)
    from gramian.arrays.squares import add_squares

    plain, batched = seconds(lambda: X.T @ X), seconds(lambda: add_squares(None, X))
    report.say(f"X'X of {n:,} x {d} float64: plain {plain * 1e3:.1f} ms, batched {batched * 1e3:.1f} ms")


def families(d: int) -> list[Any]:
    """Return a kernel of each family, of a width that suits rows of d columns."""
    from gramian import kernels as k

    return [
        k.Gaussian(0.5 / d),
        k.Matern(0.5, 0.5 / d),
        k.Matern(1.5, 0.5 / d),
        k.Matern(2.5, 0.5 / d),
        k.Laplacian(1 / d),
        k.Polynomial(3, 1 / d, 1.0),
        k.Polynomial(2.5, 0.05 / d, 1.0),
        k.Linear(),
        k.Sigmoid(0.1 / d, -0.5),
        k.Cosine(),
    ]


def exact(kernel: Any, X: Any, Y: Any, V: Any, *, shift: float, origin: Any) -> Any:
    """Return (K - shift) V in float64, a block at a time."""
    if kernel.name == "Laplacian":
        blocks = [
            (torch.exp(-kernel.gamma * torch.cdist(X.double(), y.double(), p=1)) - shift) @ v.double()
            for y, v in zip(Y.split(1 << 16), V.split(1 << 16), strict=True)
        ]
        return sum(blocks)
    ready = kernel.prepare(X.double(), dtype=np.dtype("float64"), origin=origin)
    total: Any = 0.0
    for y, v in zip(Y.split(1 << 16), V.split(1 << 16), strict=True):
        other = kernel.prepare(y.double(), dtype=np.dtype("float64"), origin=origin)
        total = total + (kernel.evaluate(ready, other) - shift) @ v.double()
    return total


def check(report: Report) -> None:
    """Check in several processes at once: most of the time is the compiler's."""
    share = [sys.executable, "-m", "benchmarks.gpu", *(["--quick"] if report.quick else []), "--check"]
    count = 1 if report.quick else 14
    running = [
        subprocess.Popen([*share, f"{i},{count}"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for i in range(count)
    ]
    for process in running:
        for line in process.communicate()[0].splitlines():
            report.say(line[11:])


def check_share(report: Report, first: int, step: int) -> None:
    """Check some of the cases."""
    from gramian.kernels import fused

    n = 300 if report.quick else 3000
    cases = [(d, i) for d in ((5, 200) if report.quick else (3, 64, 200, 784)) for i in range(len(families(d)))]
    for d, i in cases[first::step]:
        X, Y = rows_of(n, d, seed=1) + 3.0, rows_of(n - 37, d, seed=2) + 3.0
        V = torch.randn(n - 37, 19, device=HERE, dtype=torch.float64)
        origin = X.double().mean(dim=0)
        for kernel in families(d)[i : i + 1]:
            form = kernel.fused_form(d)
            start = time.perf_counter()
            left, right = (fused.prepare(rows, form, origin) for rows in (X, Y))
            truth = exact(kernel, X, Y, V, shift=0.25, origin=origin)
            errors, same = [], True
            for precision in fused.Precision:
                weights = torch.ones(n - 37, device=HERE)
                found, _ = fused.multiply(left, right, V, form, precision=precision, shift=0.25, weights=weights)
                again, _ = fused.multiply(left, right, V, form, precision=precision, shift=0.25, weights=weights)
                same = same and bool((found == again).all())
                errors.append(float((found - truth).norm() / truth.norm()))
            took = time.perf_counter() - start
            line = " ".join(f"{error:.1e}" for error in errors)
            report.say(f"d={d:4d} {kernel!r:45s} {line} {'same bits' if same else 'NOT THE SAME BITS'} {took:.1f} s")


def compile_in(parts: int, *, quick: bool) -> None:
    """Compile every shape in processes of their own, so that the compiler's cache has them."""
    command = [sys.executable, "-m", "benchmarks.gpu", *(["--quick"] if quick else []), "--compile"]
    every = [f"{i},{p},64,32" for i in range(len(SHAPES)) for p in range(3)]
    # The kernels of ``product`` that are not among those: the default shape.
    every += [f"-1,{p},{d},{c}" for d, c in ((64, 16), (64, 64), (784, 32)) for p in (0, 1, 2)]
    shares = [every[i::parts] for i in range(parts)]
    running = [
        subprocess.Popen([*command, ";".join(share)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for share in shares
        if share
    ]
    for process in running:
        process.wait()


def compile_share(share: str) -> None:
    """Compile some of the cases."""
    from gramian.kernels import Gaussian, fused

    for case in share.split(";"):
        i, p, d, c = (int(word) for word in case.split(","))
        form = Gaussian(0.01).fused_form(d)
        ready = fused.prepare(rows_of(256, d), form, None)
        V = torch.randn(256, c, device=HERE, dtype=torch.float64)
        shape = fused.Shape(*SHAPES[i]) if i >= 0 else None
        with suppress(Exception):  # what does not compile is said where it is timed
            fused.multiply(ready, ready, V, form, precision=fused.Precision(p), shape=shape)


def shapes(report: Report) -> None:
    """Time every shape in every precision."""
    from gramian.kernels import Gaussian, fused

    n = 512 if report.quick else 1 << 17
    X = rows_of(n, 64)
    form = Gaussian(median_gamma(X)).fused_form(64)
    V = torch.randn(n, 32, device=HERE, dtype=torch.float64)
    ready = fused.prepare(X, form, X.double().mean(dim=0))
    if not report.quick:
        compile_in(12, quick=report.quick)
        report.say("compiled")
    for precision in fused.Precision:
        found = []
        for shape in SHAPES[:2] if report.quick else SHAPES:

            def work(shape: Any = shape, precision: Any = precision) -> None:
                fused.multiply(ready, ready, V, form, precision=precision, shift=0.6, shape=fused.Shape(*shape))

            try:
                start = time.perf_counter()
                work()
                wait()
                first = time.perf_counter() - start
                found.append((seconds(work, runs=3, warm=False), shape, first))
            except Exception as error:  # noqa: BLE001
                report.say(f"{precision.name} {shape}: {type(error).__name__} {str(error)[:80]}")
        found.sort()
        scale = (1e6 / n) ** 2
        for took, shape, first in found:
            line = f"{precision.name:6s} {shape!s:18s} {took * 1e3:7.2f} ms, {took * scale:.2f} s at 1,000,000"
            report.say(f"{line}; first {first:.1f} s")
        report.best[int(precision)] = fused.Shape(*found[0][1])
        report.note(f"shapes {precision.name}", found)


def product(report: Report) -> None:
    """Time products and measure what they are wrong by."""
    from gramian import kernels as k
    from gramian.kernels import fused

    n, small = (600, 300) if report.quick else (1_000_000, 200_000)
    cases = [(n, 64, 32, None)]
    cases += [(small, 64, c, None) for c in (16, 64)] + [(small, 784, 32, None)]
    cases += [(small, 64, 32, k.Laplacian), (small, 64, 32, k.Polynomial)]
    for count, d, c, family in cases:
        if report.is_late:
            return
        X = rows_of(count, d)
        gamma = median_gamma(X)
        kernel = k.Gaussian(gamma) if family is None else k.Polynomial(3, 1 / d, 1.0) if family is k.Polynomial else 0
        kernel = kernel or (k.Matern(0.5, gamma) if family is k.Matern else k.Laplacian(gamma**0.5 / d**0.5))
        origin, form = X.double().mean(dim=0), kernel.fused_form(d)
        took = seconds(lambda X=X, form=form, origin=origin: fused.prepare(X, form, origin), runs=1)
        ready = fused.prepare(X, form, origin)
        V = torch.linalg.qr(torch.randn(count, c, device=HERE, dtype=torch.float64))[0]
        V[:, : c // 2] += X[:, : c // 2].double() / count**0.5  # some are not noise
        some = torch.randint(0, count, (256,), device=HERE)
        shift = 0.0 if family is k.Polynomial else 0.6
        truth = exact(kernel, X[some], X, V, shift=shift, origin=origin)
        for precision in fused.Precision:
            own = family is None and d == 64 and c == 32
            shape = report.best.get(int(precision)) if own else None
            if family is not None and precision != fused.Precision.ROWS:
                continue  # each costs some seconds of the compiler

            asked = {"precision": precision, "shift": shift, "shape": shape}
            work = partial(fused.multiply, ready, ready, V, form, **asked)

            try:
                found = work()[0][some]
                errors = (found - truth).norm(dim=0) / truth.norm(dim=0)
                took_product = seconds(work, runs=2 if count > 500_000 else 3, warm=False)
            except Exception as error:  # noqa: BLE001
                report.say(f"{count:,} x {d}, {c} columns, {kernel!r}, {precision.name}: {str(error)[:100]}")
                continue
            report.say(
                f"{count:,} x {d}, {c} columns, {kernel.name}, {precision.name}: {took_product:.4f} s; error "
                f"{float(errors.max()):.1e} (noise), {float(errors[0]):.1e} (a leading column); prepared {took:.3f} s"
            )
            report.note(f"product {count} {d} {c} {kernel.name} {precision.name}", [took_product, errors.tolist()])
        del X, V, ready, truth


def more_kpca(report: Report) -> None:
    """Fit other kernels and wider rows."""
    kpca(report, more=True)


def kpca(report: Report, *, more: bool = False) -> None:
    """Fit exact kernel PCA, and check it in float64."""
    from gramian import kernels as k
    from gramian.models.kernel_pca.fit import fit_kernel_pca
    from gramian.models.kernel_pca.model import KernelPCAOptions
    from gramian.sources import as_source

    sizes = (900,) if report.quick else (200_000, 1_000_000)
    plans = [(n, 64, k.Gaussian("median"), 16) for n in sizes]
    if more:
        plans = [(sizes[0], 784, k.Gaussian("median"), 16), (sizes[0], 64, k.Polynomial(3), 16)]
        plans += [(sizes[0], 64, k.Laplacian("median"), 16)]
    for n, d, kernel, count in plans:
        if report.is_late:
            return
        X = rows_of(n, d)

        def fit(X: Any = X, kernel: Any = kernel, count: int = count, say: Any = None) -> Any:
            options = KernelPCAOptions(count, kernel, tol=1e-5, progress=say, way="tiled")
            return fit_kernel_pca(as_source(X), options)

        try:
            start = time.perf_counter()
            model = fit(say=lambda line: report.say("    " + line.splitlines()[0]))
            wait()
            cold = time.perf_counter() - start
            if cold > 60:
                report.say(f"{n:,} x {d} {kernel!r}: cold {cold:.1f} s, not run again")
                continue
            profile = cProfile.Profile()
            profile.enable()
            warm = seconds(fit, runs=1, warm=False)
            profile.disable()
            text = io.StringIO()
            pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(14)
            report.say("\n".join(line[:150] for line in text.getvalue().splitlines() if line.strip())[:3000])
            warm = min(warm, seconds(fit, runs=2, warm=False))
            report.say(f"{n:,} x {d} {kernel!r}, k={count}: warm {warm:.3f} s, cold {cold:.2f} s; {checked(model, X)}")
            report.note(f"kpca {n} {d} {kernel.name}", [warm, cold])
        except Exception:  # noqa: BLE001
            report.say(traceback.format_exc(limit=-6))
        del X


def checked(model: Any, X: Any) -> str:
    """Return what sampled rows of K V - V Lambda in float64 say of the residuals, and what the model says itself."""
    n = X.shape[0]
    V, values = torch.as_tensor(model.vectors, device=HERE), torch.as_tensor(model.eigenvalues, device=HERE)
    some = torch.randperm(n, device=HERE)[: min(4096, n)]
    kernel, origin = model.kernel, X.double().mean(dim=0)
    means = torch.as_tensor(model.centering.row_means, device=HERE)
    V = V - V.mean(dim=0)
    rows = torch.cat([exact(kernel, X[part], X, V, shift=0.0, origin=origin) for part in some.split(512)])
    # Rows of H K H V at the sampled places: K V less the mean of K V over all rows, which is  means'V.
    rows = rows - (means @ V)
    residuals = (rows - V[some] * values).norm(dim=0) * (n / len(some)) ** 0.5 / values[0]
    rayleigh = ((V[some] * rows).sum(dim=0) / (V[some] * V[some]).sum(dim=0) / values - 1).abs()
    certificate = model.certificate
    return (
        f"residual {float(residuals.max()):.1e} lambda_1 (float64, {len(some)} rows), says "
        f"{certificate.residuals.max() / certificate.values[0]:.1e}; values off by {float(rayleigh.max()):.1e} there; "
        f"{certificate.grade}, {certificate.note}; l16/l1 {float(values[-1] / values[0]):.3f}"
    )


def pca(report: Report) -> None:
    """Fit PCA beside the shortest torch code that is right."""
    from gramian.models.pca.fit import PCAOptions, fit_pca
    from gramian.sources import as_source

    cases: list[tuple[int, int, Any, Any, str]] = [
        (10_000_000, 100, torch.float32, None, ""),
        (1_000_000, 100, torch.float64, None, ""),
        (1_000_000, 100, torch.float32, None, "a mean 1e4 spreads away"),
        (200_000, 2_000, torch.float32, 20, "slow decay"),
        (500, 1_000_000, torch.float32, None, ""),
        (100_000, 10_000, torch.float32, 50, ""),
        (10_492, 55_296, torch.float32, 150, ""),
        (103, 207_400, torch.float32, 10, ""),
        (120, 63_070_800, torch.float32, 10, ""),
        (20_000, 20_000, torch.float32, None, ""),
    ]
    if report.wide:
        cases = [case for case in cases if case[0] <= case[1]]
    if report.quick:
        cases = [(5000, 20, torch.float32, None, "a mean 1e4 spreads away"), (50, 900, torch.float32, 5, "")]
    for n, d, kind, k, what in cases:
        if report.is_late:
            return
        X = rows_of(n, d, dtype=kind)
        if what == "slow decay":
            X = torch.randn(n, d, device=HERE) / (1 + torch.arange(d, device=HERE)) ** 0.2
        if what.startswith("a mean"):
            X += 1e4 * X.std()

        def shortest(X: Any = X, k: Any = k) -> Any:
            n, d = X.shape
            Z = X.double()
            Z -= Z.mean(dim=0)
            A = Z.T @ Z if d <= n else Z @ Z.T
            values, vectors = torch.linalg.eigh(A)
            return values.flip(0)[:k], vectors.flip(1)[:, :k] if d <= n else Z.T @ vectors.flip(1)[:, :k]

        def fit(X: Any = X, k: Any = k) -> Any:
            return fit_pca(as_source(X), PCAOptions(k))

        try:
            start = time.perf_counter()
            model = fit()
            wait()
            cold = time.perf_counter() - start
            del model
            profile = cProfile.Profile()
            profile.enable()
            start = time.perf_counter()
            model = fit()
            wait()
            warm = time.perf_counter() - start
            profile.disable()
            text = io.StringIO()
            pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(8)
            report.say("\n".join(line[:140] for line in text.getvalue().splitlines()[6:] if line.strip()))
            warm = warm if warm > 3 else min(warm, seconds(fit, runs=1, warm=False))
            start = time.perf_counter()
            values = shortest()[0]
            wait()
            plain = time.perf_counter() - start
            if plain < 1.0:
                plain = seconds(shortest, runs=2, warm=False)
            found = torch.as_tensor(model.singular_values, device=HERE).double() ** 2
            count = min(len(found), len(values), 20)
            apart = float((found[:count] / values[:count] - 1).abs().max())
            report.say(
                f"{n:,} x {d:,} {kind}, k={k} {what}: {warm:.4f} s warm, {cold:.2f} s cold; "
                f"plain torch {plain:.4f} s, ratio {warm / plain:.2f}; values apart {apart:.1e}; "
                f"{model.certificate.grade}; {model.plan.summary[:60]}"
            )
            report.note(f"pca {n} {d}", [warm, cold, plain])
        except Exception:  # noqa: BLE001
            report.say(traceback.format_exc(limit=-5))
        del X, fit, shortest
        if HERE.type == "cuda":
            torch.cuda.empty_cache()


def pieces(report: Report) -> None:
    """Time the dense pieces of a start."""
    for m in (200,) if report.quick else (1565, 3500):
        A = torch.randn(m, m, device=HERE, dtype=torch.float64)
        A = A @ A.T + m * torch.eye(m, device=HERE, dtype=torch.float64)
        B = torch.randn(m, 288, device=HERE, dtype=torch.float64)
        for name, work in {
            "eigh": lambda A=A: torch.linalg.eigh(A),
            "eigh float32": lambda A=A: torch.linalg.eigh(A.float()),
            "cholesky": lambda A=A: torch.linalg.cholesky(A),
            "solve_triangular": lambda A=A: torch.linalg.solve_triangular(A, A, upper=False),
            "qr of 288 columns": lambda B=B: torch.linalg.qr(B),
        }.items():
            report.say(f"{name} of {m}: {seconds(work, runs=2) * 1e3:.1f} ms")
    n, m = (2000, 100) if report.quick else (131_072, 3500)
    C = torch.randn(n, m, device=HERE, dtype=torch.float32)
    report.say(f"C'C of {n:,} x {m} float64: {seconds(lambda: C.double().T @ C.double()) * 1e3:.1f} ms")
    if HERE.type == "cuda":
        half = C.half()
        work = lambda: torch.mm(half.T, half, out_dtype=torch.float32)  # noqa: E731
        report.say(f"C'C of {n:,} x {m} float16, out float32: {seconds(work) * 1e3:.1f} ms")


def same(report: Report) -> None:
    """Compare NumPy, torch on the CPU, torch here and CuPy here."""
    from gramian import kernels as k
    from gramian.arrays.namespace import to_host
    from gramian.models.kernel_pca.fit import fit_kernel_pca
    from gramian.models.kernel_pca.model import KernelPCAOptions
    from gramian.models.pca.fit import PCAOptions, fit_pca
    from gramian.sources import as_source

    n = 400 if report.quick else 3000
    X = rows_of(n, 30, dtype=torch.float64)
    X32 = X.float()
    places = {"NumPy": X.cpu().numpy(), "torch CPU": X.cpu(), "torch here": X, "float32 here": X32}
    with suppress(ImportError):
        import cupy

        if HERE.type == "cuda":
            places["CuPy here"] = cupy.from_dlpack(X)
    found: dict[str, Any] = {}
    for name, rows in places.items():
        pca = fit_pca(as_source(rows), PCAOptions(5))
        options = KernelPCAOptions(5, k.Gaussian(0.02), tol=1e-8, way="tiled")
        kernel = fit_kernel_pca(as_source(rows), options)
        parts = (pca.singular_values, pca.components, kernel.eigenvalues, kernel.vectors)
        values, V, lam, U = (torch.as_tensor(to_host(part)).double() for part in parts)
        mine = (values, V, lam, U)
        true = found.setdefault("NumPy", mine)
        apart = [float(((a - b).abs() / b[0]).max()) for a, b in ((mine[0], true[0]), (mine[2], true[2]))]
        V, W = ((v if v.shape[0] > v.shape[1] else v.T) for v in (mine[1], true[1]))
        angles = [float((A - B @ (B.T @ A)).norm()) for A, B in ((V, W), (U, true[3]))]
        grades = f"{pca.certificate.grade}, {kernel.certificate.grade}"
        shown = "; ".join(
            f"{what} {a:.1e} and {b:.1e}" for what, a, b in zip(("PCA", "kernel PCA"), apart, angles, strict=True)
        )
        report.say(f"{name}: values and spaces apart, {shown}; {grades}")


def ica(report: Report) -> None:
    """Unmix Laplacian sources."""
    from gramian.models.ica.fit import fit_ica
    from gramian.models.ica.model import ICAOptions
    from gramian.sources import as_source

    for n, d in ((2000, 4),) if report.quick else ((1_000_000, 32), (3_000_000, 64)):
        draw = torch.Generator(device=HERE).manual_seed(0)
        S = torch.empty(n, d, device=HERE).exponential_(generator=draw)
        S *= torch.randint(0, 2, S.shape, device=HERE, generator=draw) * 2 - 1
        A = torch.randn(d, d, device=HERE, generator=draw)
        X = S @ A.T
        del S
        for name in ("cold", "warm"):
            start = time.perf_counter()
            model = fit_ica(as_source(X), ICAOptions(tol=1e-6))
            wait()
            took = time.perf_counter() - start
            product = (torch.as_tensor(model.components, device=HERE).float() @ A).abs()
            largest = product.topk(2, dim=1).values
            mixed = float((largest[:, 1] / largest[:, 0]).max())
            report.say(f"ICA {n:,} x {d}, {name}: {took:.2f} s; largest share of another source {mixed:.1e}")
            report.note(f"ica {n} {d} {name}", took)


def transform(report: Report) -> None:
    """Score rows."""
    from gramian import kernels as k
    from gramian.models.kernel_pca.fit import fit_kernel_pca
    from gramian.models.kernel_pca.model import KernelPCAOptions
    from gramian.models.pca.fit import PCAOptions, fit_pca
    from gramian.sources import as_source

    X = rows_of(3000 if report.quick else 10_000_000, 100)
    model = fit_pca(as_source(X), PCAOptions(10))
    took = seconds(lambda: model.project(X))
    report.say(
        f"PCA, 10 components of {X.shape[0]:,} x 100: {took * 1e3:.1f} ms, {4 * X.numel() / took / 1e9:.0f} GB/s"
    )
    report.note("transform pca", took)
    X = rows_of(500 if report.quick else 200_000, 64)
    kernel = fit_kernel_pca(as_source(X), KernelPCAOptions(16, k.Gaussian("median"), tol=1e-5, way="tiled"))
    new = X[: X.shape[0] // 4]
    took = seconds(lambda: kernel.project(new), runs=1)
    apart = float((kernel.project(new) - torch.as_tensor(kernel.scores, device=HERE)[: len(new)]).abs().max())
    size = float(abs(kernel.scores).max())
    report.say(
        f"kernel PCA, {len(new):,} against {len(X):,} rows x 64: {took:.3f} s; from the fit's {apart / size:.1e}"
    )
    report.note("transform kernel pca", took)


def moved(report: Report) -> None:
    """Fit rows that are on the host, and in a file, on the device: as a whole and streamed."""
    from gramian.models.pca.fit import PCAOptions, fit_pca
    from gramian.sources import as_source, on_device

    n, d = (20_000, 20) if report.quick else (4_000_000, 100)
    X = rows_of(n, d).cpu().numpy()
    size = X.nbytes
    pinned = torch.empty(size // 4 if report.quick else 1 << 28, pin_memory=HERE.type == "cuda")
    there = torch.empty_like(pinned, device=HERE)
    ceiling = 4 * pinned.numel() / seconds(lambda: there.copy_(pinned, non_blocking=True))
    copied = size / seconds(lambda: torch.from_numpy(X).to(HERE, copy=True), runs=2)
    report.say(f"a pinned copy {ceiling / 1e9:.1f} GB/s; torch's own copy of these rows {copied / 1e9:.1f} GB/s")
    report.note("moved ceilings", [ceiling, copied])
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/rows.npy", X)
        own = on_device.free_bytes
        wanted = None
        for name, rows in (("array", X), ("file", f"{folder}/rows.npy")):
            for way in ("host", "whole", "streamed"):
                if report.is_late:
                    return
                # As if the device were too small for them.
                on_device.free_bytes = own if way == "whole" else lambda _: min(size, 1 << 30)

                def fit(rows: Any = rows, way: str = way) -> Any:
                    source = as_source(rows)
                    return fit_pca(source if way == "host" else on_device.moved(source, HERE), PCAOptions(10))

                try:
                    start = time.perf_counter()
                    values = torch.as_tensor(fit().singular_values, device="cpu").double()
                    wait()
                    cold = time.perf_counter() - start
                    warm = seconds(fit, runs=2, warm=False)
                finally:
                    on_device.free_bytes = own
                wanted = values if wanted is None else wanted
                report.say(
                    f"PCA of {n:,} x {d} float32, {name}, {way}: {warm:.3f} s warm, {cold:.2f} s cold, "
                    f"{size / warm / 1e9:.1f} GB/s, {size / warm / ceiling:.0%} of a pinned copy; "
                    f"values apart {float((values / wanted - 1).abs().max()):.1e}"
                )
                report.note(f"moved {name} {way}", [warm, cold])


PARTS = {
    "ceilings": ceilings,
    "check": check,
    "shapes": shapes,
    "product": product,
    "kpca": kpca,
    "pca": pca,
    "pieces": pieces,
    "more_kpca": more_kpca,
    "same": same,
    "ica": ica,
    "transform": transform,
    "moved": moved,
}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--out", type=Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--wide", action="store_true", help="of PCA only rows with at least as many columns as rows")
    parser.add_argument("--seconds", type=float, default=480.0, help="no part begins after so many seconds")
    parser.add_argument("--compile", help=argparse.SUPPRESS)
    parser.add_argument("--check", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.compile:
        compile_share(asked.compile)
        return
    warnings.simplefilter("ignore")
    if asked.check:
        check_share(Report(None, quick=asked.quick), *(int(word) for word in asked.check.split(",")))
        return
    report = Report(asked.out, quick=asked.quick, wide=asked.wide, limit=asked.seconds)
    name = torch.cuda.get_device_name() if HERE.type == "cuda" else "CPU"
    report.say(f"{name}; torch {torch.__version__}, triton {triton.__version__}, NumPy {np.__version__}")
    for part in asked.parts.split(","):
        if report.is_late:
            report.say(f"no time left for {part}")
            continue
        report.say(f"== {part}")
        try:
            PARTS[part](report)
        except Exception:  # noqa: BLE001 - the next part is run
            report.say(traceback.format_exc(limit=-6))
        if HERE.type == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
