"""Every exit code is reached, in a sentence; nothing is left half written."""

import resource
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from gramian.cli import exits, output
from gramian.cli.main import main
from gramian.errors import ClusterLostError
from tests.cli.command import run, run_here
from tests.rights import ordinary_rights


def code_of(capfd, *words):
    """Run and return the code, checking that the fault is said in a line and without a traceback."""
    code, _, err = run_here(capfd, *words)
    assert "Traceback" not in err
    assert err.strip()
    return code


def test_usage_is_2(folder, capfd):
    """Unknown verbs, flags, numbers and columns are usage."""
    assert code_of(capfd, "dance") == exits.USAGE
    assert code_of(capfd, "pca") == exits.USAGE
    assert code_of(capfd, "pca", "table.csv", "-k", "many") == exits.USAGE
    assert code_of(capfd, "pca", "table.csv", "-k", "99", "--quiet") == exits.USAGE
    assert code_of(capfd, "pca", "table.csv", "--memory", "lots") == exits.USAGE
    assert code_of(capfd, "pca", "table.csv", "--columns", "z", "--quiet") == exits.USAGE
    assert code_of(capfd, "pca", "table.csv", "--device", "cuda") == exits.USAGE
    assert code_of(capfd, "kpca", "table.csv", "--gamma", "wide") == exits.USAGE
    assert code_of(capfd, "ica", "table.csv", "-k", "0.5", "--quiet") == exits.USAGE
    assert not list(folder.glob("table-*"))


def test_data_is_3_and_names_file_row_and_column(folder, capfd):
    """Files that are not there, empty, or hold no number; holes where they are refused."""
    assert code_of(capfd, "pca", "missing.csv") == exits.DATA
    (folder / "empty.csv").write_text("")
    assert code_of(capfd, "pca", "empty.csv") == exits.DATA
    (folder / "words.csv").write_text("a,b\nx,y\nz,w\n")
    assert code_of(capfd, "pca", "words.csv") == exits.DATA
    (folder / "holes.csv").write_text("a,b\n1,2\n3,\n5,7\n2,2\n")
    code, _, err = run_here(capfd, "pca", "holes.csv", "--missing", "error", "--quiet")
    assert code == exits.DATA
    assert "holes.csv: row 2, column 'b'" in err
    assert not list(folder.glob("*-pca"))


def test_model_file_is_4(folder, capfd):
    """A model that is missing, no model, or damaged."""
    assert code_of(capfd, "project", "none.gramian", "table.csv") == exits.MODEL
    assert code_of(capfd, "project", "table.csv", "table.csv") == exits.MODEL
    assert run_here(capfd, "pca", "table.csv", "--quiet", "--no-report")[0] == 0
    model = folder / "table-pca" / "model.gramian"
    model.write_bytes(model.read_bytes()[:-1])
    for words in (["project", model, "table.csv"], ["export", model, "--to", "csv"], ["compare", model, model]):
        assert code_of(capfd, *words) == exits.MODEL


def test_foreign_folder_is_5_and_not_touched(folder, capfd):
    """A folder that holds other things is left as it is; so is a file in the folder's place."""
    (folder / "mine").mkdir()
    (folder / "mine" / "letter.txt").write_text("dear")
    assert code_of(capfd, "pca", "table.csv", "-o", "mine", "--quiet") == exits.WRITE
    assert [path.name for path in (folder / "mine").iterdir()] == ["letter.txt"]
    (folder / "file").write_text("x")
    assert code_of(capfd, "pca", "table.csv", "-o", "file", "--quiet") == exits.WRITE
    assert (folder / "file").read_text() == "x"


def test_read_only_folder_is_5(folder, capfd):
    """A folder without the right to write: nothing is written, and what was there stays."""
    closed = folder / "closed"
    closed.mkdir()
    (closed / "scores.csv").write_text("old")
    closed.chmod(0o500)
    with ordinary_rights():
        assert code_of(capfd, "pca", "table.csv", "-o", "closed/out", "--quiet") == exits.WRITE
    assert [(path.name, path.read_text()) for path in closed.iterdir()] == [("scores.csv", "old")]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="there is no /proc, in which nobody can write")
def test_place_where_nobody_can_write_is_5(folder, capfd):
    """A file system that takes no files, not even from the superuser, is a sentence."""
    assert code_of(capfd, "pca", "table.csv", "-o", "/proc/gramian-out", "--quiet") == exits.WRITE
    assert run_here(capfd, "pca", "table.csv", "--quiet", "--no-report")[0] == 0
    model = folder / "table-pca" / "model.gramian"
    assert code_of(capfd, "project", model, "table.csv", "-o", "/proc/scores.csv", "--quiet") == exits.WRITE
    assert code_of(capfd, "report", model, "-o", "/proc/report.html", "--quiet") == exits.WRITE


def test_full_disk_leaves_the_old_file(folder, capfd):
    """When the disk is full (a limit on the size of files stands for it), the old files are as they were."""
    assert run_here(capfd, "pca", "table.csv", "--quiet", "--no-report")[0] == 0
    before = {path.name: path.read_bytes() for path in (folder / "table-pca").iterdir()}

    def tight():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    finished = run("pca", "table.csv", "-k", "1", "--quiet", "--no-report", cwd=folder, preexec_fn=tight)
    assert finished.returncode == exits.WRITE, finished.stderr
    assert b"Traceback" not in finished.stderr
    assert {path.name: path.read_bytes() for path in (folder / "table-pca").iterdir()} == before


def test_memory_is_6(folder, capfd):
    """A budget that nothing fits into is refused before the work."""
    wide = np.random.default_rng(0).standard_normal((400, 300))
    np.save(folder / "wide.npy", wide)
    code, _, err = run_here(capfd, "pca", "wide.npy", "-k", "100", "--memory", "1kB", "--quiet")
    assert code == exits.MEMORY, err
    assert "Traceback" not in err


def test_not_converged_is_7_and_written(folder, capfd):
    """Gaussian columns have no sources for deflation to settle on: it says so, and what it has is written."""
    rows = np.random.default_rng(0).standard_normal((100, 10))
    np.savetxt(folder / "noise.csv", rows, delimiter=",", header=",".join("abcdefghij"), comments="")
    finished = run("ica", "noise.csv", "--algorithm", "deflation", "--quiet", "--no-report", cwd=folder)
    assert finished.returncode == exits.NOT_CONVERGED, finished.stderr
    assert b"has not converged" in finished.stderr
    assert b"Traceback" not in finished.stderr
    assert run_here(capfd, "compare", "noise-ica/model.gramian", "noise-ica/model.gramian")[0] == 0


def test_lost_cluster_is_8(monkeypatch, capfd, folder):
    """A cluster that goes away has a code of its own; the tests of Dask reach it by killing a scheduler."""
    from gramian.analysis import table

    def lost(*_, **__):
        message = "The cluster is gone."
        raise ClusterLostError(message)

    monkeypatch.setattr(table, "as_source", lost)
    assert code_of(capfd, "pca", "table.csv") == exits.CLUSTER
    del folder


def test_fault_of_ours_is_1_with_a_traceback(monkeypatch, capfd, folder):
    """What nobody foresaw is ours, and shows where it happened."""
    from gramian.analysis import table

    def broken(*_, **__):
        message = "unforeseen"
        raise RuntimeError(message)

    monkeypatch.setattr(table, "as_source", broken)
    code, _, err = run_here(capfd, "pca", "table.csv")
    assert code == exits.OURS
    assert "Traceback" in err
    del folder


INTERRUPTED_AT = """
import signal, sys
from gramian.cli import main, output
moment, *words = sys.argv[1:]
say = output.Progress.__call__
def interrupt(progress, sentence):
    say(progress, sentence)
    if str(sentence).startswith(moment):
        signal.raise_signal(signal.SIGINT)
output.Progress.__call__ = interrupt
sys.exit(main.main(words))
"""
"""The command line, with Ctrl-C at the moment that progress begins to say a sentence: no clock decides when."""


@pytest.mark.usefixtures("ctrl_c")
def test_interruption_is_130_and_leaves_nothing(folder):
    """Ctrl-C in the middle of the work: no folder, no part of a file."""
    rows = np.random.default_rng(0).standard_normal((1200, 5))
    np.savetxt(folder / "long.csv", rows, delimiter=",", header="a,b,c,d,e", comments="")
    words = ["kpca", "long.csv", "--kernel", "laplacian", "-k", "3"]
    command = [sys.executable, "-c", INTERRUPTED_AT, "product 2", *words]
    finished = subprocess.run(command, cwd=folder, capture_output=True, check=False)
    assert finished.returncode == exits.INTERRUPTED, finished.stderr
    assert b"product 2" in finished.stderr
    assert b"product 3" not in finished.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["long.csv", "table.csv"]


@pytest.mark.usefixtures("ctrl_c")
def test_interruption_at_any_moment_leaves_the_old_files(folder, capfd, monkeypatch):
    """Ctrl-C while reading, choosing, fitting or writing: the files are those of the fit before, and no others."""
    assert run_here(capfd, "pca", "table.csv", "--quiet", "--no-report")[0] == 0
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    say = output.Progress.__call__
    for moment in ("opening", "asking every rule", "solving", "projecting", "writing the model", "writing the page"):
        said = []

        def interrupt(progress, sentence, moment=moment, said=said):
            say(progress, sentence)
            said.append(str(sentence))
            if said[-1].startswith(moment):
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(output.Progress, "__call__", interrupt)
        code, _, err = run_here(capfd, "pca", "table.csv", "-k", "2")
        assert code == exits.INTERRUPTED, err
        assert said[-1].startswith(moment)
        assert "Traceback" not in err
        assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_output_equal_to_input_is_refused(folder, capfd):
    """Nothing is written over what is read, by whatever name."""
    before = (folder / "table.csv").read_bytes()
    assert run_here(capfd, "pca", "table.csv", "--quiet", "--no-report")[0] == 0
    model = "table-pca/model.gramian"
    kept = (folder / model).read_bytes()
    (folder / "other").symlink_to("table.csv")
    for words in (
        ["project", model, "table.csv", "-o", "table.csv"],
        ["project", model, "table.csv", "-o", "./other"],
        ["rebuild", model, "table.csv", "-o", model],
        ["report", model, "table.csv", "-o", "table.csv"],
        ["export", model, "--to", "csv", "-o", model],
        ["pca", "table.csv", "-o", "table.csv", "--quiet"],
    ):
        assert code_of(capfd, *words) == exits.USAGE, words
    assert (folder / "table.csv").read_bytes() == before
    assert (folder / model).read_bytes() == kept


def test_closed_pipe_is_no_fault(folder, capfd):
    """`gramian project ... | head` ends quietly."""
    assert run_here(capfd, "pca", "table.csv", "--quiet", "--no-report")[0] == 0
    words = f"{sys.executable} -m gramian.cli.main project table-pca/model.gramian table.csv --quiet | head -c 10"
    finished = subprocess.run(["/bin/sh", "-c", words], cwd=folder, capture_output=True, check=False)
    assert finished.returncode == 0
    assert b"Traceback" not in finished.stderr


def test_codes_are_those_of_the_manual():
    """The codes that scripts rely on."""
    assert (exits.OURS, exits.USAGE, exits.DATA, exits.MODEL, exits.WRITE) == (1, 2, 3, 4, 5)
    assert (exits.MEMORY, exits.NOT_CONVERGED, exits.CLUSTER, exits.INTERRUPTED) == (6, 7, 8, 130)
    assert main(["--version"]) == 0
