"""Cutting the rows of a file into windows, and the windows into stretches: one for each worker, in order."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import Event
from typing import Any

from gramian.sources.progress import Meter
from gramian.sources.read_ahead import read_ahead
from gramian.sources.rows import Block, Fold, ranges


@dataclass(frozen=True, eq=False)
class Stretch:
    """Consecutive windows of one worker, the value they begin with, and what is told of each value on the way."""

    windows: Sequence[slice]
    state: Any
    keep: Callable[[int, Any], None]


def fold_stretch(
    blocks: Callable[[Sequence[slice]], Iterator[Block]],
    fold: Fold,
    meter: Meter,
    stop: Event,
    _state: Any,
    stretch: Stretch,
) -> Any:
    """Fold the blocks of a stretch, read ahead by one, into the value it begins with; ``stop`` ends it early."""
    state = stretch.state
    for done, block in enumerate(read_ahead(blocks(stretch.windows)), start=1):
        if stop.is_set():
            break
        state = fold(state, block)
        stretch.keep(done, state)
        meter.add(block.rows.shape[0])
    return state


def forget(_done: int, _state: Any) -> None:
    """Keep nothing of a value on the way."""
    return


def cut_windows(n_rows: int, step: int, starts: Sequence[int]) -> list[slice]:
    """Cut the rows into even windows of at most ``step``; none crosses a start, where reading begins anew.

    Even ones, because a short window beside a long one costs as many calls, and Arrow decodes it at a worse rate.

    Examples
    --------
    >>> cut_windows(5, 2, (0, 3))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 5, None)]
    """
    bounds = [*starts, n_rows] if starts else [0, n_rows]
    cut = []
    for low, high in pairwise(bounds):
        even = -(-(high - low) // -(-(high - low) // step))
        cut += [slice(low + part.start, low + part.stop) for part in ranges(high - low, even)]
    return cut


def runs_of(windows: list[slice], workers: int, starts: Sequence[int]) -> list[list[slice]]:
    """Share the windows out in contiguous runs, each beginning where reading is cheap if there are many such places."""
    places = range(len(windows))
    if len(starts) >= 4 * workers:
        firsts = set(starts)
        places = [i for i, window in enumerate(windows) if window.start in firsts]  # type: ignore[assignment]
    bounds = sorted({0, len(windows), *(places[round(w * len(places) / workers)] for w in range(1, workers))})
    return [windows[low:high] for low, high in pairwise(bounds)]
