"""One measurement: warm up, fit under the clock with the memory watched, then judge the answer."""

from __future__ import annotations

import statistics
import warnings
from dataclasses import dataclass, field, replace
from time import perf_counter, sleep
from typing import Any

import numpy as np
import scipy.sparse

from benchmarks.case import Accuracy, Arrays, Instance
from benchmarks.isolate import SETTLING_SECONDS, ends_after
from benchmarks.peers.peer import Peer, Setting
from benchmarks.resident import PeakWatch

# A fit shorter than this is repeated in its process until it has filled _FILL_SECONDS, and the median counts.
_SHORT_SECONDS = 0.1
_FILL_SECONDS = 0.25
_QUICK_FILL_SECONDS = 0.02
_MOST_FITS = 1_000


@dataclass(frozen=True)
class Reading:
    """What one process measured.

    ``peak_bytes`` is the peak of resident memory above what it was just before the first fit.
    """

    seconds: float
    fits: int
    peak_bytes: int
    peak_method: str
    accuracy: Accuracy = field(default_factory=dict)
    notes: dict[str, Any] = field(default_factory=dict)
    warned: tuple[str, ...] = ()


def take_reading(
    peer: Peer, instance: Instance, setting: Setting, X: Any, *, reference: Arrays | None, limit: float
) -> Reading:
    """Measure one setting of one peer in this process; the answer is judged where a reference is given.

    A first fit that is not done after ``limit`` seconds ends the process.
    """
    warm_up(peer, instance, setting)
    rows = peer.prepare(X)
    sleep(SETTLING_SECONDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ends_after(limit), PeakWatch() as watch:
            fitted, seconds = _timed(peer, rows, instance, setting)
    more = [] if seconds > _SHORT_SECONDS else _further_times(peer, rows, instance, setting)
    reading = Reading(
        seconds=statistics.median(more) if more else seconds,
        fits=1 + len(more),
        peak_bytes=watch.beyond,
        peak_method=watch.method,
        notes=peer.notes(fitted),
        warned=tuple(str(warning.message).splitlines()[0][:200] for warning in caught[:3]),
    )
    if reference is None or peer.is_floor:
        return reading
    return replace(reading, accuracy=instance.case.problem.judge(instance, X, reference, peer.read(fitted, instance)))


def warm_up(peer: Peer, instance: Instance, setting: Setting) -> None:
    """Fit a small table of the same kind: late imports, thread pools and pages of code come in here."""
    small = replace(instance, case=replace(instance.case, shape=(240, 60), n_components=_few(instance)), quick=False)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 60)).astype(instance.dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(peer.prepare(scipy.sparse.csr_matrix(X) if instance.is_sparse else X), small, setting_for(setting))


def setting_for(setting: Setting) -> Setting:
    """The setting without the widths that are meant for the real shape."""
    return replace(setting, options={name: value for name, value in setting.options.items() if name not in {"l", "q"}})


def _few(instance: Instance) -> float | None:
    """Components for the warm-up: as asked, but few where a number is given."""
    return 5 if isinstance(instance.n_components, int) else instance.n_components


def _timed(peer: Peer, rows: Any, instance: Instance, setting: Setting) -> tuple[Any, float]:
    """Fit once; the fitted thing and the seconds."""
    start = perf_counter()
    fitted = peer.fit(rows, instance, setting)
    return fitted, perf_counter() - start


def _further_times(peer: Peer, rows: Any, instance: Instance, setting: Setting) -> list[float]:
    """Seconds of further fits, at least three, until the time is filled."""
    times: list[float] = []
    fill = _QUICK_FILL_SECONDS if instance.quick else _FILL_SECONDS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        while len(times) < 3 or (sum(times) < fill and len(times) < _MOST_FITS):
            times.append(_timed(peer, rows, instance, setting)[1])
    return times
