"""Reading one step ahead of the computation, in a thread of its own."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

Item = TypeVar("Item")
_END: Any = object()


def read_ahead(items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items in order; the next one is made in the background while the last one is used.

    Never more than one item waits, so that memory stays that of two. An error in the background is raised where the
    item would have come. Where the system refuses a thread, the items are made in turn, without one.

    Examples
    --------
    >>> list(read_ahead(iter([1, 2, 3])))
    [1, 2, 3]
    """
    with ThreadPoolExecutor(1, thread_name_prefix="gramian-reader") as reader:
        try:
            coming = reader.submit(next, items, _END)
        except RuntimeError:  # no memory, or no number, left for a thread
            yield from items
            return
        while (item := coming.result()) is not _END:
            coming = reader.submit(next, items, _END)
            yield item
            del item
