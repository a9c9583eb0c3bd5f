"""Faults of the machine and of a user's own functions, made for real in a process that is forked for each.

A disk that is full at a byte of a file, a call that fails at its k-th use, kill -9, Ctrl-C, too little memory, a file
that is cut or changed while it is read, two processes that save to one path, a clock that goes back, a kernel or
contrast that raises or returns NaN. Each time: the old file or the new one, an error that says what is wrong and no
crash, nothing left lying about, and the former fit as it was.
"""

import builtins
import contextlib
import os
import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from gramian import ICA, PCA, KernelPCA, errors, load
from gramian.sources import as_source
from torture.family import Broken, Counts

Array = np.ndarray[Any, Any]
PATIENCE = 60.0
CLEAR = (errors.GramianError, OSError, MemoryError)
"""What a fault may be answered with: an error of ours, of the system, or of memory."""


def _in_child(work: Callable[[], None], *, disturb: Callable[[int], None] | None = None) -> int:
    """Run ``work`` in a forked process, disturb it, and return how it ended: 0, or minus the signal.

    What the work raises is a finding, and comes back through a file; a warning is a fair answer to a fault.
    """
    with tempfile.TemporaryFile("w+") as said:
        pid = os.fork()
        if pid == 0:
            code = 0
            try:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                warnings.simplefilter("ignore")
                work()
            except KeyboardInterrupt:
                pass  # it came before the work began, or after it: work that is interrupted says what is left of it
            except BaseException as error:
                where = traceback.extract_tb(error.__traceback__)[-1]
                said.write(f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})")
                said.flush()
                code = 1
            finally:
                os._exit(code)
        if disturb is not None:
            disturb(pid)
        ends = time.monotonic() + PATIENCE
        while (done := os.waitpid(pid, os.WNOHANG))[0] == 0:
            if time.monotonic() > ends:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                raise Broken(f"a process hung for {PATIENCE:.0f} s")
            time.sleep(0.001)
        code = os.waitstatus_to_exitcode(done[1])
        if code > 0:
            said.seek(0)
            raise Broken(said.read())
        return code


def _models() -> tuple[PCA, PCA]:
    rng = np.random.default_rng(0)
    return PCA(2).fit(rng.standard_normal((40, 5))), PCA(3).fit(rng.standard_normal((40, 8)))


def _scores(model: PCA, path: Path) -> None:
    model.write_scores(np.ones((60, model.n_features_in_)), path)


def _export(model: PCA, path: Path) -> None:
    from gramian.models.archive.export import export

    export(model._model, path, to="csv")


WRITERS: dict[str, Callable[[PCA, Path], Any]] = {
    "m.gramian": lambda model, path: model.save(path),
    "s.npy": _scores,
    "s.csv": _scores,
    "s.parquet": _scores,
    "m.csv": _export,
}


@contextlib.contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def _old_or_new(folder: Path, name: str, old: bytes, new: bytes) -> None:
    left = sorted(path.name for path in folder.iterdir())
    if left != [name]:
        raise Broken(f"files left lying about: {left}")
    content = (folder / name).read_bytes()
    if content not in (old, new):
        raise Broken(f"{name} is neither the old file nor the new one: {len(content)} bytes")


def _written(
    rng: np.random.Generator, fault: Callable[[int], contextlib.AbstractContextManager[Any]], most: int
) -> Counts:
    """Write over a file while the fault strikes at a random point."""
    first, second = _models()
    name = str(rng.choice(list(WRITERS)))
    with _folder() as folder:
        WRITERS[name](second, folder / name)
        new = (folder / name).read_bytes()
        WRITERS[name](first, folder / name)
        old = (folder / name).read_bytes()
        point = int(rng.integers(most or len(new) + 2))

        def work() -> None:
            with fault(point):
                try:
                    WRITERS[name](second, folder / name)
                except CLEAR:
                    return

        _in_child(work)
        _old_or_new(folder, name, old, new)
    return {"writes that were disturbed": 1}


@contextlib.contextmanager
def _disk_full(byte: int) -> Iterator[None]:
    """No file may grow beyond so many bytes."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (byte, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextlib.contextmanager
def _failing_call(k: int) -> Iterator[None]:
    """The k-th call that writes, flushes, opens for writing or renames fails."""
    calls = 0

    def wrapped(function: Any, counts: Callable[..., bool]) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal calls
            if counts(*arguments, **options):
                calls += 1
                if calls == k + 1:
                    raise OSError(5, "Input/output error")
            return function(*arguments, **options)

        return call

    def writes(_path: Any, mode: str = "r", *_rest: Any, **_options: Any) -> bool:
        return any(letter in mode for letter in "wax+")

    os.fsync = wrapped(os.fsync, lambda *_: True)
    os.replace = wrapped(os.replace, lambda *_: True)
    Path.replace = wrapped(Path.replace, lambda *_: True)  # type: ignore[method-assign]
    Path.open = wrapped(Path.open, writes)  # type: ignore[method-assign]
    builtins.open = wrapped(builtins.open, writes)
    yield  # The process ends with the attack: nothing is put back.


def _killed_while_saving(rng: np.random.Generator) -> Counts:
    """Kill -9 while two models are saved to one path, in turn."""
    first, second = _models()
    with _folder() as folder:
        path = folder / "m.gramian"
        second.save(path)
        new = path.read_bytes()
        first.save(path)
        old = path.read_bytes()

        def work() -> None:
            while True:
                second.save(path)
                first.save(path)

        def kill(pid: int) -> None:
            time.sleep(float(rng.uniform(0.0, 0.05)))
            os.kill(pid, signal.SIGKILL if rng.integers(4) else signal.SIGTERM)

        _in_child(work, disturb=kill)
        # Nobody is left to remove the temporary file of a process that was killed: it is hidden, and never the model.
        if path.read_bytes() not in (old, new):
            raise Broken("a save that was killed left half a model")
    return {"kills": 1}


def _state(model: Any) -> list[Array]:
    return [np.copy(value) for _, value in sorted(vars(model).items()) if isinstance(value, np.ndarray)]


def _same(model: Any, state: list[Array]) -> bool:
    now = _state(model)
    return len(now) == len(state) and all(np.array_equal(a, b) for a, b in zip(now, state, strict=True))


ESTIMATORS: tuple[Callable[[], Any], ...] = (
    lambda: PCA(3),
    lambda: PCA(3, svd_solver="krylov"),
    lambda: KernelPCA(3, kernel="rbf", gamma=0.1),
    lambda: ICA(3, random_state=0, independence=False),
)


def _fitted(rng: np.random.Generator) -> tuple[Any, list[Array], Array]:
    make = ESTIMATORS[int(rng.integers(len(ESTIMATORS)))]
    small = np.random.default_rng(1).uniform(-1, 1, (60, 6)) @ np.random.default_rng(2).standard_normal((6, 6))
    model = make().fit(small)
    rows = 600 if isinstance(model, KernelPCA) else 20_000
    return model, _state(model), np.random.default_rng(3).uniform(-1, 1, (rows, 6)) @ np.diag([3, 2.5, 2, 1.5, 1, 0.5])


def _interrupted(rng: np.random.Generator) -> Counts:
    """Ctrl-C at a random moment of a second fit: the first fit, or the second one whole."""
    model, before, X = _fitted(rng)
    other = type(model)(**model.get_params()).fit(X)
    after = _state(other)

    def work() -> None:
        try:
            model.fit(X)
            time.sleep(0.1)
        except KeyboardInterrupt:
            pass
        with contextlib.suppress(KeyboardInterrupt):
            time.sleep(0.0)
        if not (_same(model, before) or _same(model, after)):
            raise Broken(f"{type(model).__name__} is neither as before nor fitted after Ctrl-C")

    def interrupt(pid: int) -> None:
        time.sleep(float(rng.uniform(0.001, 0.06)))
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)

    _in_child(work, disturb=interrupt)
    return {"interrupts": 1}


def _short_of_memory(rng: np.random.Generator) -> Counts:
    """A fit with one of ten levels of memory under what it needs: refused or done, never half."""
    model, before, X = _fitted(rng)
    share = float(rng.integers(1, 11)) / 10
    wide = np.random.default_rng(4).standard_normal((400, 3_000))
    if not isinstance(model, PCA):
        wide = np.tile(X, (3, 1))

    def work() -> None:
        # OpenBLAS asks for its buffers at the first calls of each thread, and asks for ever or ends the process
        # where it is refused (blas_memory_alloc, seen in 0.3.31): not ours to mend, so it has them before the limit.
        threadpool_limits(1)
        type(model)(**model.get_params()).fit(wide)
        lines = Path("/proc/self/status").read_text().splitlines()
        now = next(int(line.split()[1]) for line in lines if line.startswith("VmData")) * 1024
        resource.setrlimit(resource.RLIMIT_DATA, (now + int(share * 2 * wide.nbytes),) * 2)
        try:
            model.fit(wide)
        except CLEAR:
            if not _same(model, before):
                raise Broken("a fit that was refused memory changed the former one") from None
        except RuntimeError as error:  # "can't start new thread" is the system's own word for it
            if "thread" not in str(error) or not _same(model, before):
                raise

    _in_child(work)
    return {"memory limits": 1}


def _own_kernel(rng: np.random.Generator) -> Counts:
    """A kernel of one's own that fails at its k-th call: an exception of its own comes through, NaN is named."""
    calls, kth, way = 0, int(rng.integers(1, 6)), int(rng.integers(4))

    def kernel(x: Array, y: Array) -> Array:
        nonlocal calls
        calls += 1
        K = np.exp(-0.1 * ((x[:, None] - y[None]) ** 2).sum(axis=2))
        if calls >= kth:
            if way == 0:
                raise ZeroDivisionError("mine")
            if way == 1:
                K[0, 0] = np.nan
            if way == 2:
                K = K[:, :-1]
            if way == 3:
                K = np.full_like(K, np.inf)
        return K

    from gramian import kernels

    X = np.random.default_rng(5).standard_normal((80, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = KernelPCA(2, kernel="rbf", gamma=0.1).fit(X)
        before = _state(model)
        model.set_params(kernel=kernels.BlockKernel(kernel))
        try:
            model.fit(X)
        except (errors.GramianError, ZeroDivisionError):
            if not _same(model, before):
                raise Broken("a kernel that failed changed the former fit") from None
        else:
            if calls >= kth:
                raise Broken(f"a kernel that failed at call {kth} (way {way}) went unnoticed")
    return {"kernels that failed": 1}


def _file_changed(rng: np.random.Generator) -> Counts:
    """A file that is cut short or written over while it is read."""
    with _folder() as folder:
        path = folder / ("rows.npy" if rng.integers(2) else "rows.csv")
        X = np.random.default_rng(6).standard_normal((4_000, 8))
        if path.suffix == ".npy":
            np.save(path, X)
        else:
            np.savetxt(path, X, delimiter=",", header=",".join("abcdefgh"), comments="")
        size, delay, way = path.stat().st_size, float(rng.uniform(0.0, 0.02)), int(rng.integers(2))

        def work() -> None:
            with contextlib.suppress(CLEAR):
                PCA(3, svd_solver="krylov").fit(as_source(str(path), memory_budget=2_000_000))

        def disturb(_pid: int) -> None:
            time.sleep(delay)
            if way == 0:
                os.truncate(path, int(rng.integers(size)))
            else:
                with path.open("rb+") as file:
                    file.seek(int(rng.integers(size)))
                    file.write(rng.bytes(64))

        code = _in_child(work, disturb=disturb)
        if code < 0:
            raise Broken(f"a file that changed while it was read ended the process with signal {-code}")
    return {"files changed while read": 1}


def _two_writers(rng: np.random.Generator) -> Counts:
    """Two processes save to one path at once: it holds one of both models at the end."""
    first, second = _models()
    with _folder() as folder:
        path = folder / "m.gramian"

        def many(model: PCA) -> Callable[[], None]:
            def work() -> None:
                for _ in range(int(rng.integers(1, 12))):
                    model.save(path)

            return work

        _in_child(many(first), disturb=lambda _pid: many(second)())
        if load(path).n_components_ not in (2, 3) or len(list(folder.iterdir())) != 1:
            raise Broken("two writers left something else than one model")
    return {"writers at once": 1}


def _clock(rng: np.random.Generator) -> Counts:
    """A clock that jumps, back too, at every look."""
    model, _, X = _fitted(rng)
    truth = _state(type(model)(**model.get_params()).fit(X))
    jumps = np.random.default_rng(int(rng.integers(2**31)))

    def work() -> None:
        clock = 1e9

        def jumping() -> float:
            nonlocal clock
            clock += float(jumps.normal(scale=1e4))
            return clock

        time.time = time.monotonic = time.perf_counter = jumping
        model.fit(X)
        if not all(np.allclose(a, b, rtol=1e-6, atol=1e-8) for a, b in zip(_state(model), truth, strict=True)):
            raise Broken("the clock changed an answer")

    _in_child(work)
    return {"clocks": 1}


KINDS: tuple[Callable[[np.random.Generator], Counts], ...] = (
    lambda rng: _written(rng, _disk_full, 0),
    lambda rng: _written(rng, _failing_call, 8),
    _killed_while_saving,
    _interrupted,
    _short_of_memory,
    _own_kernel,
    _file_changed,
    _two_writers,
    _clock,
    lambda rng: _written(rng, _disk_full, 0),
)


def attack(number: int) -> Counts:
    """Let one fault strike."""
    return KINDS[number % len(KINDS)](np.random.default_rng((number, 2)))
