"""The command line as a person runs it: in a process of its own, or in this one where only words are looked at."""

import os
import subprocess
import sys

from gramian.cli.main import main


def run(*words, cwd=None, stdin=None, timeout=600, **more):
    """Run ``gramian words...`` in a process of its own."""
    command = [sys.executable, "-m", "gramian.cli.main", *map(str, words)]
    environment = os.environ | more.pop("env", {})
    return subprocess.run(
        command, cwd=cwd, input=stdin, capture_output=True, timeout=timeout, check=False, env=environment, **more
    )


def run_here(capfd, *words):
    """Run it in this process; return exit code, stdout and stderr."""
    code = main([str(word) for word in words])
    out, err = capfd.readouterr()
    return code, out, err
