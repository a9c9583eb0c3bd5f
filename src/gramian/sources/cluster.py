"""Running tasks of Dask: on the cluster of the current ``Client``, or in the threads of this process.

Everything that Gramian computes through Dask goes through :func:`computed`, so that results can be counted and a lost
cluster is told in one sentence.
"""

import sys
from asyncio import CancelledError as LoopCancelled
from concurrent.futures import CancelledError
from contextlib import nullcontext
from typing import Any

from gramian.errors import ClusterLostError
from gramian.planning.machine import one_blas_thread

__all__ = ["computed", "is_dask", "shared", "task"]


def is_dask(X: Any) -> bool:
    """Tell whether X is a Dask collection, without importing Dask."""
    return hasattr(X, "__dask_graph__") and not isinstance(X, type)


def task(function: Any, *arguments: Any) -> Any:
    """Return a call as a task of Dask, done when it is computed."""
    from dask import delayed

    # Not pure: a key that is a digest of the arguments would cost a look at every number in them.
    return delayed(function, pure=False, traverse=False)(*arguments)


def shared(value: Any) -> Any:
    """Return a value as a task of its own, so that it is sent to a worker once, however many tasks there use it.

    It stays part of the graph: should the worker that holds it die, the scheduler makes it again.
    """
    return task(_unboxed, _Box(value))


def computed(lazy: Any) -> Any:
    """Compute a task, a list of tasks or a lazy array, and return what comes of it.

    Raises
    ------
    ClusterLostError
        When the scheduler is gone, or a task has taken several workers with it.
    """
    import dask

    client = _client()
    with (
        one_blas_thread() if client is None else nullcontext(),
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 GB"}),
    ):
        try:
            return dask.compute(lazy)[0]
        except (Exception, LoopCancelled) as error:
            if client is None or not _is_loss(error, client):
                raise
            raise ClusterLostError(_sentence(error)) from error


class _Box:
    """Keeps Dask from looking into a value for tasks: what is inside may be long."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _unboxed(box: _Box) -> Any:
    return box.value


def _client() -> Any:
    """Return the client that Dask would compute with; ``None`` where the threads of this process do."""
    from dask.base import get_scheduler

    distributed = sys.modules.get("distributed")
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if distributed is not None and isinstance(owner, distributed.Client) else None


def _is_loss(error: BaseException, client: Any) -> bool:
    """Tell a cluster that is gone, or a part of it that cannot be spared, from what a task itself has raised."""
    kinds = ("KilledWorker", "CommClosedError")
    return (
        isinstance(error, CancelledError | LoopCancelled) or type(error).__name__ in kinds or client.status != "running"
    )


def _sentence(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        return (
            f"Several workers of the Dask cluster died over the same task ({error}). Mostly they run out of memory: "
            "give them more, make the chunks smaller, or ask for fewer components."
        )
    first = str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
    return (
        f"The Dask cluster is lost: {first}. Nothing of this fit is left; start the scheduler and its workers, connect "
        "a new Client, and fit again."
    )
