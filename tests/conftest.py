"""What every test stands on: no window opens, and drawn examples do not depend on how busy the machine is."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Set before anything imports matplotlib: a test machine has no screen.
os.environ["MPLBACKEND"] = "Agg"
# Set before anything imports Triton: its kernels are interpreted, as a test machine has no GPU. 0 compiles them.
os.environ.setdefault("TRITON_INTERPRET", "1")

settings.register_profile("gramian", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gramian")


@pytest.fixture
def ctrl_c():
    """Ctrl-C interrupts, as at a terminal: programs in the background of a shell ignore it, and so would the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def device(monkeypatch):
    """The host's memory passes for a device's. Gives a list of how many numbers each copy to the host has.

    A tensor that becomes a NumPy array unasked is an error, as it would be there.
    """
    torch = pytest.importorskip("torch")
    from gramian.arrays import namespace

    def refuse(*_given, **_asked):
        message = "a tensor became a NumPy array unasked, which fails on a device"
        raise TypeError(message)

    copies, cpu = [], torch.Tensor.cpu

    def counted(tensor):
        copies.append(tensor.numel())
        return cpu(tensor)

    monkeypatch.setattr(namespace, "HOST_DEVICES", set())
    monkeypatch.setattr(torch.Tensor, "__array__", refuse)
    monkeypatch.setattr(torch.Tensor, "cpu", counted)
    return copies


# Run by a test as a program of its own, whose folder is then on the path.
collect_ignore = ["dask/lost_scheduler.py"]
