"""Progress of a pass: the part done, the rate and the time left, in a sentence about once a second."""

import threading
import time
from collections.abc import Callable
from typing import Any, Self

Say = Callable[[str], None]


def say(asked: Any, sentence: str) -> None:
    """Tell the ``progress`` of an estimator, or of what a fit is asked for, what comes next."""
    if asked.progress is not None:
        asked.progress(sentence)


class PassProgress(str):
    """A sentence about a pass that carries its numbers, for a progress bar.

    Examples
    --------
    >>> said = PassProgress("half of it", what="rows.npy", done=50, total=100)
    >>> said, said.done / said.total
    ('half of it', 0.5)
    """

    __slots__ = ("done", "total", "what")
    what: str
    done: int
    total: int

    def __new__(cls, sentence: str, *, what: str, done: int, total: int) -> Self:
        """Keep the numbers with the sentence."""
        made = super().__new__(cls, sentence)
        made.what, made.done, made.total = what, done, total
        return made


class Meter:
    """Counts rows from several workers and reports them about once a second (``every``), if anybody listens.

    Examples
    --------
    >>> said = []
    >>> meter = Meter(said.append, "rows.npy", 100, 4_000_000, every=0.0)
    >>> meter.add(50)
    >>> said[0].startswith("rows.npy: 50% of 100 rows read,")
    True
    """

    def __init__(self, say: Say | None, origin: str, rows: int, size: int, *, every: float = 1.0) -> None:
        self._say, self._origin, self._rows, self._size, self._every = say, origin, rows, size, every
        self._done = 0
        self._began = self._last = time.monotonic()
        self._lock = threading.Lock()

    def add(self, rows: int) -> None:
        """Count rows that are done."""
        if self._say is None:
            return
        with self._lock:
            self._done += rows
            now = time.monotonic()
            if now - self._last < self._every:
                return
            self._last = now
            self._say(self._sentence(max(now - self._began, 1e-9)))

    def _sentence(self, seconds: float) -> PassProgress:
        part = self._done / max(self._rows, 1)
        rate = self._size * part / seconds / 1e6
        left = seconds * (1 - part) / part if part else 0.0
        text = f"{self._origin}: {part:.0%} of {self._rows:,} rows read, {rate:,.0f} MB/s, {in_words(left)} left"
        return PassProgress(text, what=self._origin, done=self._done, total=self._rows)


def in_words(seconds: float) -> str:
    """Return a time in words.

    Examples
    --------
    >>> in_words(8.4), in_words(200), in_words(9000)
    ('8 s', '3 min 20 s', '2 h 30 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
