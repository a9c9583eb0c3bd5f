"""Run a function in a process of its own, forked from one that has imported much and computed nothing.

A fork of such a process is as fresh as a new interpreter (no threads of BLAS or OpenMP have run, no memory
was freed and kept) but pays neither for imports nor for reading the rows: those pages are shared, and counted
before the fit.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import resource
import signal
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

# The rest is left to the system, so that a greedy fit meets a MemoryError of its own and harms nobody else.
_SHARE_OF_MEMORY = 0.85
_PARENT_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>.
# After the warm-up: a forked process starts BLAS's threads anew, and they spin for 0.1 s on the cores of what follows.
SETTLING_SECONDS = 0.2


STOPPED = "stopped by its clock"


@dataclass(frozen=True)
class Outcome:
    """What became of a call: its value, or a sentence on why there is none."""

    value: Any = None
    failure: str | None = None


def call_apart(function: Callable[..., Any], *args: Any, timeout: float) -> Outcome:
    """Call ``function(*args)`` in a forked process and wait at most ``timeout`` seconds for its value."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(there, function, args))
    with warnings.catch_warnings():
        # Python warns of any fork beside threads; those of an idle BLAS are the ones it knows how to restart.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    there.close()
    outcome = _receive(here, timeout)
    here.close()
    if outcome.failure is not None:
        process.kill()
    process.join()
    return Outcome(failure=STOPPED) if process.exitcode == -signal.SIGALRM else outcome


@contextmanager
def ends_after(seconds: float) -> Iterator[None]:
    """End this process if the body takes longer: by the system, as no Python runs inside a BLAS call."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)


def _receive(here: Connection, timeout: float) -> Outcome:
    """The child's outcome, or a sentence when it says nothing in time or dies."""
    if not here.poll(timeout):
        return Outcome(failure=f"stopped after {timeout:.0f} s")
    try:
        return here.recv()
    except EOFError:
        return Outcome(failure="the process died (out of memory?)")


def memory_bytes() -> int:
    """Memory of the machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _end_with_parent() -> None:
    """Ask Linux to end this process when its parent ends, so that a stopped run leaves nothing behind."""
    control = getattr(ctypes.CDLL(None), "prctl", None)
    if control is not None:
        control(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _child(there: Connection, function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    """Do the work under a memory limit and send the outcome back."""
    _end_with_parent()
    limit = int(_SHARE_OF_MEMORY * memory_bytes())
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    try:
        there.send(Outcome(value=function(*args)))
    except MemoryError:
        there.send(Outcome(failure=f"asked for more than {limit / 1e9:.0f} GB"))
    except Exception as error:  # noqa: BLE001  whatever a peer raises becomes a line in the table
        summary = traceback.format_exception_only(error)[-1].strip()
        there.send(Outcome(failure=summary.splitlines()[0][:200]))
