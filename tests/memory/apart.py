"""Run a program that measures itself in a process of its own, and read what it printed last."""

import json
import os
import subprocess
import sys

KEPT = 1 << 20
"""Bytes from which on memory that is freed goes back to the system at once, so that memory in use is what is measured.

Left to itself, glibc keeps up to 64 MB of it, now more, now less: see ``test_the_plan_is_never_under_by_default``.
"""


def measured_apart(program, asked, *, timeout=600, returns_memory=True):
    """Return what the program says of the case ``asked``: the JSON on its last line."""
    words = [sys.executable, "-W", "ignore", str(program), json.dumps(asked)]
    malloc = {"MALLOC_MMAP_THRESHOLD_": str(KEPT), "MALLOC_TRIM_THRESHOLD_": str(KEPT)} if returns_memory else {}
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout, env=os.environ | malloc)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])
