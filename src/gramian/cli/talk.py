"""What is said while work goes on: a moving line on a terminal, plain lines elsewhere, nothing when quiet."""

import re
import sys
import time
from types import TracebackType
from typing import Any, Self

PART = re.compile(r"\b(\d{1,3})% of ")
"""How a sentence says how far a pass has come."""


class Talk:
    """Progress on stderr.

    Parameters
    ----------
    quiet : bool
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty() and not quiet
        self._bar: Any = None
        self._task: Any = None
        self._started = time.perf_counter()
        self._said = ""

    def __enter__(self) -> Self:
        if self._terminal:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), BarColumn(20), TextColumn("{task.description}"), TimeElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("starting", total=None)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, sentence: Any) -> None:
        """Say what is being done now; passes over files bring their rate and the time that is left."""
        text = str(sentence).strip().partition("\n")[0]
        if self._quiet or not text or text == self._said:
            return
        self._said = text
        if self._bar is not None:
            # Passes over files say how far they are, how fast, and how long they will take.
            part = PART.search(text)
            known = {"total": 100, "completed": int(part[1])} if part else {"total": None}
            self._bar.update(self._task, description=text[:100], **known)
        else:
            sys.stderr.write(f"[{self.seconds:6.1f} s] {text}\n")
            sys.stderr.flush()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._started
