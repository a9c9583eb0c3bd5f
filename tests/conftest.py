"""What every test stands on: no window opens, and drawn examples do not depend on how busy the machine is."""

import os
import signal

import pytest
from hypothesis import HealthCheck, settings

# Set before anything imports matplotlib: a test machine has no screen.
os.environ["MPLBACKEND"] = "Agg"

settings.register_profile("gramian", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("gramian")


@pytest.fixture
def ctrl_c():
    """Ctrl-C interrupts, as at a terminal: programs in the background of a shell ignore it, and so would the tests."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


# Run by a test as a program of its own, whose folder is then on the path.
collect_ignore = ["dask/lost_scheduler.py"]
