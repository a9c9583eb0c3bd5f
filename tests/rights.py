"""The rights of an ordinary user, also for the superuser, whom no folder refuses otherwise."""

import ctypes
import os
from contextlib import contextmanager

import pytest

VERSION_3 = 0x20080522
DAC_OVERRIDE = 1 << 1
"""The capability of Linux that lets a process write where the rights of a folder say no."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Set(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def ordinary_rights():
    """Lay the capability down in this thread, and take it up again afterwards."""
    if os.name == "nt" or os.geteuid() != 0:
        yield
        return
    libc, header, sets = ctypes.CDLL(None), _Header(VERSION_3, 0), (_Set * 2)()
    if not hasattr(libc, "capset") or libc.capget(ctypes.byref(header), sets) != 0:
        pytest.skip("the superuser may write to any folder, and cannot lay that down here")
    whole = sets[0].effective
    sets[0].effective = whole & ~DAC_OVERRIDE
    assert libc.capset(ctypes.byref(header), sets) == 0
    try:
        yield
    finally:
        sets[0].effective = whole
        assert libc.capset(ctypes.byref(header), sets) == 0
