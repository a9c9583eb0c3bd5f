"""Who is measured when: a first round that finds each peer's settings, then further rounds in turn.

Equal accuracy, everywhere: the ceilings are Gramian's house tolerance (or what Gramian reached, where that is
worse) for the residual and for the angle it implies; a peer stands with the loosest of its settings that
stays below them, and is shown at its default too. How much time is spent on whom, so that a whole run is minutes and no
row is dropped in silence, is in :class:`Rules`.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import psutil

from benchmarks import store
from benchmarks.case import Accuracy, Arrays, Instance
from benchmarks.isolate import STOPPED, call_apart
from benchmarks.measure import Reading, take_reading
from benchmarks.peers.peer import Ladder, Peer, Setting

_WARM_UP_AND_JUDGE_SECONDS = 60.0
# In float32 an error this small that no longer falls is rounding: only a float64 copy can help.
_ROUNDING = 3e-5
# An error beyond this is no rounding, even summed over a million rows: a float64 copy would not help.
_FAR = 1e-3
# Up to this long, the peer that a promise names is measured as often as Gramian.
_PROMISED_SECONDS = 10.0

Known = dict[tuple[str, str, str], float]
"""Seconds of each peer's default by case, precision and peer, from the spectra measured so far."""


@dataclass(frozen=True)
class Rules:
    """The limits of a run; every time is compared with Gramian's on the same instance.

    Attributes
    ----------
    repeats : int
        Processes per setting that is shown.
    limit : float
        Seconds that a fit may take, or be forecast to take.
    patience : float
        Tightening a peer ends when this many times Gramian's time is used up, or is forecast to be.
    once_beyond : float
        A setting that takes over a second and this many times Gramian's time is measured once.
    hopeless : float
        A peer whose default takes this many times Gramian's time is not tuned to be faster, and a dense
        method not measured again on other data of the same shape. A fit is stopped at twice this time, but
        not before 20 seconds.
    """

    repeats: int = 3
    limit: float = 120.0
    patience: float = 3.0
    once_beyond: float = 2.0
    hopeless: float = 5.0

    def runs_once(self, seconds: float, gramian: float) -> bool:
        """Whether one reading is enough; over five seconds a peer must be close to Gramian to be run again."""
        return seconds > max(1.0, self.once_beyond * gramian) or seconds > max(5.0, 1.3 * gramian)

    def is_hopeless(self, seconds: float, gramian: float) -> bool:
        """Whether no setting could make up for this time."""
        return seconds > max(0.1, self.hopeless * gramian)

    def is_too_slow(self, seconds: float, gramian: float) -> bool:
        """Whether an inaccurate setting already took longer than patience allows."""
        return seconds > max(0.05, self.patience * gramian)

    def stops_after(self, gramian: float) -> float:
        """Seconds after which a fit is stopped."""
        return min(self.limit, max(20.0, 2 * self.hopeless * gramian))


@dataclass
class Entry:
    """One setting of one peer on one instance, and everything measured of it."""

    instance: Instance
    peer: Peer
    setting: Setting
    roles: set[str] = field(default_factory=set)
    readings: list[Reading] = field(default_factory=list)
    failure: str | None = None
    reached: bool = False
    within_target: bool = False

    @property
    def seconds(self) -> float:
        """Median over the processes."""
        return statistics.median(reading.seconds for reading in self.readings)

    @property
    def accuracy(self) -> Accuracy:
        """Errors of the first answer; the seeds are fixed, so the later ones are the same."""
        return self.readings[0].accuracy if self.readings else {}


@dataclass
class Bench:
    """One instance with its rows loaded, its truth known, and the rules to measure by."""

    instance: Instance
    X: Any
    reference: Arrays
    rules: Rules
    rate: float
    tell: Callable[[str], None]
    known: Known
    gramian_seconds: float = 1.0

    def __post_init__(self) -> None:
        self.target = self.instance.case.problem.target(self.instance, self.reference)
        self.ceilings = self.target

    def scout(self, peer: Peer) -> list[Entry]:
        """First readings of a peer: its default, and the search for its loosest accurate setting."""
        ladder = peer.ladder(self.instance)
        default = Entry(self.instance, peer, ladder.settings[ladder.default], {"default"})
        default.failure = self.why_not(peer)
        if default.failure is not None:
            return [] if peer.is_floor else [default]
        self.run(default)
        if peer.is_floor or default.failure is not None:
            return [default]
        if peer.name == "Gramian":
            self._take_as_measure(default)
        self.known.setdefault(_shape_key(self.instance, peer), default.seconds)
        tried = list(self._loosen(ladder, default) if default.reached else self._tighten(ladder, default))
        return _with_equal([default, *tried], loosest_first=default.reached)

    def why_not(self, peer: Peer) -> str | None:
        """A sentence on why this peer is not run here, or None."""
        if (reason := peer.refusal(self.instance)) is not None:
            return reason
        price, free = peer.forecast(self.instance, self.rate), psutil.virtual_memory().available
        if price.bytes > free:
            return f"would need {price.bytes / 1e9:.0f} GB beyond the input, and {free / 1e9:.0f} GB are free"
        if price.seconds > (limit := self.rules.stops_after(self.gramian_seconds)):
            return f"would take about {price.seconds:.0f} s a fit, and would be stopped after {limit:.0f} s"
        before = self.known.get(_shape_key(self.instance, peer), 0.0)
        if peer.does_the_same_work(self.instance) and self.rules.is_hopeless(before, self.gramian_seconds):
            return f"not run again: {before:.1f} s on other data of this shape, and it does the same work on any"
        return None

    def run(self, entry: Entry, *, judged: bool = True) -> Entry:
        """Take one more reading of an entry, in a process of its own."""
        limit = self.rules.stops_after(self.gramian_seconds)
        reference = self.reference if judged else None
        outcome = call_apart(_reading, entry, self.X, reference, limit, timeout=limit + _WARM_UP_AND_JUDGE_SECONDS)
        if outcome.failure is not None:
            entry.failure = f"stopped after {limit:.0f} s" if outcome.failure == STOPPED else outcome.failure
        else:
            entry.readings.append(outcome.value)
            entry.reached = _is_within(entry.accuracy, self.ceilings)
            entry.within_target = _is_within(entry.accuracy, self.target)
        self.tell(_line(entry))
        return entry

    def repeat(self, entries: list[Entry]) -> None:
        """Further rounds over what is shown, each starting at another peer, so that drift hits all alike."""
        shown = [entry for entry in entries if entry.roles and entry.failure is None]
        again = [entry for entry in shown if not self._runs_once(entry)]
        for number in range(1, self.rules.repeats):
            turn = number * len(again) // self.rules.repeats
            for entry in again[turn:] + again[:turn]:
                self.run(entry, judged=False)

    def _runs_once(self, entry: Entry) -> bool:
        """Whether the first reading is enough: not of Gramian, nor of what a promise rests on while it is short."""
        promised = {promise.peer for promise in self.instance.case.promises}
        if entry.peer.name == "Gramian" or (entry.peer.name in promised and entry.seconds < _PROMISED_SECONDS):
            return False
        at_default_only = "equal" not in entry.roles and not entry.peer.is_floor and entry.seconds > 1.0
        return at_default_only or self.rules.runs_once(entry.seconds, self.gramian_seconds)

    def _take_as_measure(self, gramian: Entry) -> None:
        """Where Gramian's accuracy is worse than promised it becomes what peers must meet."""
        self.gramian_seconds = gramian.seconds
        if not gramian.within_target:
            self.tell(f"    Gramian missed its target {self.target}")
            self.ceilings = {name: max(most, gramian.accuracy[name]) for name, most in self.target.items()}
            gramian.reached = True

    def _loosen(self, ladder: Ladder, default: Entry) -> Iterator[Entry]:
        """Looser settings than an accurate default, down to the first that fails; none if it is hopeless."""
        if self.rules.is_hopeless(default.seconds, self.gramian_seconds):
            return
        for setting in reversed(ladder.settings[: ladder.default]):
            entry = self.run(Entry(self.instance, default.peer, setting))
            yield entry
            if not entry.reached:
                return

    def _tighten(self, ladder: Ladder, default: Entry) -> Iterator[Entry]:
        """Tighter settings than an inaccurate default, to the first accurate one or the end of patience."""
        last = default
        for setting in ladder.settings[ladder.default + 1 :]:
            if self._is_too_slow(last):
                return
            before, last = last, self.run(Entry(self.instance, default.peer, setting))
            yield last
            if last.reached or last.failure is not None or _at_rounding(before, last):
                break
            if self._forecast(before, last) > self.rules.patience * self.gramian_seconds:
                return
        if not (last.reached or last.failure or self._is_too_slow(last)):
            yield from self._in_float64(ladder, last)

    def _forecast(self, before: Entry, last: Entry) -> float:
        """Seconds at which the errors would be small enough, if their logarithm went on falling with time."""
        old, new = (_excess(entry.accuracy, self.ceilings) for entry in (before, last))
        longer = last.seconds - before.seconds
        if not (longer > 0 and 1 < new < old):
            return 0.0
        return last.seconds + longer * math.log(new) / math.log(old / new)

    def _in_float64(self, ladder: Ladder, last: Entry) -> Iterator[Entry]:
        """The last settings again, on a copy in float64, for float32 rows whose rounding may be to blame."""
        if self.instance.dtype == "float64" or last.accuracy.get("residual", 0.0) > _FAR:
            return
        place = ladder.settings.index(last.setting)
        for setting in ladder.settings[max(place - 1, 0) : place + 1]:
            wide = replace(setting, label=f"{setting.label}, float64 copy", in_float64=True)
            entry = self.run(Entry(self.instance, last.peer, wide))
            yield entry
            if entry.reached:
                return

    def _is_too_slow(self, entry: Entry) -> bool:
        """Whether an inaccurate setting used up the patience."""
        return bool(entry.readings) and self.rules.is_too_slow(entry.seconds, self.gramian_seconds)


def measure_instance(
    instance: Instance,
    peers: Iterable[Peer],
    *,
    rules: Rules,
    rate: float,
    tell: Callable[[str], None],
    known: Known,
) -> list[Entry]:
    """Every entry of one instance: the first round, then the others; ``known`` learns the dense times."""
    X = store.load_rows(instance)
    bench = Bench(instance, X, store.load_reference(instance, X), rules, rate, tell, known)
    named = [peer for peer in peers if peer.problem == instance.case.problem.name]
    entries = [entry for peer in named for entry in bench.scout(peer)]
    bench.repeat(entries)
    return entries


def _reading(entry: Entry, X: Any, reference: Arrays | None, limit: float) -> Reading:
    """The child's work."""
    return take_reading(entry.peer, entry.instance, entry.setting, X, reference=reference, limit=limit)


def _shape_key(instance: Instance, peer: Peer) -> tuple[str, str, str]:
    """What the time of a dense method depends on."""
    return instance.case.name, instance.dtype, peer.name


def _excess(accuracy: Accuracy, ceilings: Accuracy) -> float:
    """How many times its ceiling the worst error is."""
    return max(accuracy.get(name, 1.0) / most for name, most in ceilings.items())


def _is_within(accuracy: Accuracy, ceilings: Accuracy) -> bool:
    """Whether every error that has a ceiling is below it; a NaN is not."""
    return all(accuracy.get(name, 1.0) <= most for name, most in ceilings.items())


def _with_equal(entries: list[Entry], *, loosest_first: bool) -> list[Entry]:
    """Mark the loosest accurate entry: the last accurate one on the way down, the only one on the way up."""
    accurate = [entry for entry in entries if entry.reached and entry.failure is None]
    if accurate:
        accurate[-1 if loosest_first else 0].roles.add("equal")
    return entries


def _at_rounding(before: Entry, after: Entry) -> bool:
    """Whether tightening has stopped helping because float32 can hold no better answer."""
    old, new = before.accuracy.get("residual", 1.0), after.accuracy.get("residual", 1.0)
    return after.instance.dtype == "float32" and new < _ROUNDING and new > 0.5 * old


def _line(entry: Entry) -> str:
    """One line of progress."""
    head = f"    {entry.peer.name} [{entry.setting.label}]"
    if entry.failure is not None:
        return f"{head}: {entry.failure}"
    last = entry.readings[-1]
    errors = ", ".join(f"{name} {value:.1e}" for name, value in last.accuracy.items() if name != "components")
    return f"{head}: {last.seconds:.4g} s, {last.peak_bytes / 1e6:.0f} MB {errors}"
