"""Rows on their way from the host to a device: through two pinned buffers in turn, beside what the device computes."""

import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import Array, HostArray, dtype_of, namespace_of, to_host
from gramian.errors import Parameter, ParameterError, Phrase, Sentence


def empty_on(device: Any) -> Array:
    """Return an empty float64 tensor on a device that torch names; one that is not there is refused.

    Examples
    --------
    >>> empty_on("cuda:99")  # doctest: +SKIP
    Traceback (most recent call last):
    gramian.errors.ParameterError: device='cuda:99', and ...
    """

    def refused(words: str) -> ParameterError:
        message = Sentence(
            "{device}, and {words} {other} to compute where the rows are.",
            device=Parameter("device", (str(device),)),
            words=words,
            other=Phrase("Leave device=None", "Leave it out"),
        )
        return ParameterError(message, parameter="device", value=device)

    try:
        torch = import_module("torch")
    except ImportError as error:
        words = "torch, which moves rows there, is not installed: pip install torch."
        raise refused(words) from error
    if str(device).startswith("cuda") and not torch.cuda.is_available():
        words = f"torch {torch.__version__} finds no CUDA device here (torch.cuda.is_available())."
        raise refused(words)
    try:
        return torch.empty((0, 0), dtype=torch.float64, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:  # not there, or without float64
        reason = (str(error).strip() or type(error).__name__).splitlines()[0].partition(". ")[0].rstrip(".")
        words = f"torch cannot keep float64 numbers there ({reason})."
        raise refused(words) from error


class Sent(NamedTuple):
    """Rows on their way: the tensor that they are to be, and what has happened when they are there."""

    rows: Array
    event: Any

    def received(self) -> Array:
        """Return the rows; what is computed of them from now on waits until they are there."""
        if self.event is not None:
            _cuda().current_stream(self.rows.device).wait_event(self.event)
        return self.rows


class Lane:
    """The way of one worker to the device of an array.

    Rows are copied into one of two pinned buffers, which the device reads on a stream of its own while the other one is
    filled. On devices other than CUDA's a copy is one call.
    """

    def __init__(self, like: Array) -> None:
        self._like = like
        self._stream = _cuda().Stream(like.device) if _is_cuda(like) else None
        self._buffers: list[Any] = [None, None]
        self._read: list[Any] = [None, None]
        self._turn = 0

    def send(self, rows: Array, out: Array = None) -> Sent:
        """Begin to copy rows to the device, into ``out`` where it is given."""
        rows, xp = to_host(rows), namespace_of(self._like)
        dtype = getattr(xp, dtype_of(rows if out is None else out).name)
        if self._stream is None:
            there = _filled(xp.empty(rows.shape, dtype=dtype), rows).to(self._like.device)
            return Sent(there if out is None else out.copy_(there), None)
        at = self._turn = 1 - self._turn
        if self._read[at] is not None:
            self._read[at].synchronize()
        if self._buffers[at] is None or self._buffers[at].numel() < rows.size or self._buffers[at].dtype != dtype:
            self._buffers[at] = sys.modules["torch"].empty(rows.size, dtype=dtype, pin_memory=True)
        filled = _filled(self._buffers[at][: rows.size].view(rows.shape), rows)
        there = xp.empty(rows.shape, dtype=dtype, device=self._like.device) if out is None else out
        # The memory of ``there`` may still be in use by what was asked of the device before.
        self._stream.wait_stream(_cuda().current_stream(self._like.device))
        with _cuda().stream(self._stream):
            there.copy_(filled, non_blocking=True)
            self._read[at] = self._stream.record_event()
        there.record_stream(self._stream)
        return Sent(there, self._read[at])


def _filled(buffer: Any, rows: HostArray) -> Any:
    np.copyto(buffer.numpy(), rows)
    return buffer


def stream_of(like: Array) -> Any:
    """Return the stream on which this thread asks for work on the device of an array; None where there are none."""
    return _cuda().current_stream(like.device) if _is_cuda(like) else None


def on_stream(stream: Any) -> AbstractContextManager[Any]:
    """Ask for work on this stream, whichever thread it is that asks."""
    return nullcontext() if stream is None else _cuda().stream(stream)


def wait_for(like: Array) -> None:
    """Wait until the device of an array has done all that it was asked for."""
    if _is_cuda(like):
        _cuda().synchronize(like.device)


def _is_cuda(like: Array) -> bool:
    return bool(like.device.type == "cuda")


def _cuda() -> Any:
    return sys.modules["torch"].cuda
