"""Run a program that measures itself in a process of its own, and read what it printed last."""

import json
import subprocess
import sys


def measured_apart(program, asked, *, timeout=600):
    """Return what the program says of the case ``asked``: the JSON on its last line."""
    words = [sys.executable, "-W", "ignore", str(program), json.dumps(asked)]
    run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=timeout)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout.splitlines()[-1])
