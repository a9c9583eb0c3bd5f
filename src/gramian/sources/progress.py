"""How far a pass has come: the part done, the rate, and the time left, in a sentence now and then."""

import threading
import time
from collections.abc import Callable

Say = Callable[[str], None]

EVERY = 1.0
"""Seconds between two sentences."""


class Meter:
    """Counts rows from several workers and says a sentence about once a second; silent when nobody listens.

    Examples
    --------
    >>> said = []
    >>> meter = Meter(said.append, "rows.npy", 100, 4_000_000, every=0.0)
    >>> meter.add(50)
    >>> said[0].startswith("rows.npy: 50% of 100 rows read,")
    True
    """

    def __init__(self, say: Say | None, origin: str, rows: int, size: int, *, every: float = EVERY) -> None:
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

    def _sentence(self, seconds: float) -> str:
        part = self._done / max(self._rows, 1)
        rate = self._size * part / seconds / 1e6
        left = seconds * (1 - part) / part if part else 0.0
        return f"{self._origin}: {part:.0%} of {self._rows:,} rows read, {rate:,.0f} MB/s, {in_words(left)} left"


def in_words(seconds: float) -> str:
    """Say a time as a person does.

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
