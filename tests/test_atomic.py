"""The one writer of whole files, under faults: the old file or the new one, and nothing beside it."""

import os
from pathlib import Path

import numpy as np
import pytest

from gramian import PCA, atomic, load
from gramian.atomic import atomic_write
from gramian.models.score_file import write_scores
from gramian.report.document import write_page
from gramian.sources import as_source

FAULTS = {"fsync": (os, "fsync"), "replace": (Path, "replace"), "write": (Path, "write_bytes")}


def _broken(*_args, **_options):
    raise OSError(28, "No space left on device")


def _names(folder):
    return [found.name for found in folder.iterdir()]


def _scores(target):
    write_scores(lambda block: block.rows, as_source([[1.0], [2.0]]), target, names=["a"])


WRITERS = {
    "bytes": (lambda target: write_page(b"new", target), "x.html"),
    "scores": (_scores, "x.npy"),
    "model": (lambda target: PCA(1).fit(np.eye(3)).save(target), "x.gramian"),
}


# Scores and models are written through a file of their own: a full disk there is the flush that fails.
CASES = [(writer, fault) for writer in WRITERS for fault in FAULTS if fault != "write" or writer == "bytes"]


@pytest.mark.parametrize("writer, fault", CASES)
def test_a_fault_leaves_the_old_file_alone(tmp_path, monkeypatch, writer, fault):
    """A write, a flush or a rename that fails: the old file is as it was, and no temporary one is left."""
    write, name = WRITERS[writer]
    target = tmp_path / name
    target.write_bytes(b"old")
    with monkeypatch.context() as patched:
        patched.setattr(*FAULTS[fault], _broken)
        with pytest.raises(OSError, match="No space left"):
            write(target)
    assert target.read_bytes() == b"old"
    assert _names(tmp_path) == [name]
    write(target)
    assert target.read_bytes() != b"old"
    assert _names(tmp_path) == [name]


def test_a_file_that_was_not_written_is_an_error_and_no_empty_file(tmp_path):
    """Who writes nothing to the temporary name gets no file."""
    with pytest.raises(FileNotFoundError), atomic_write(tmp_path / "x"):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("what", ["open", "fsync"])
def test_where_folders_cannot_be_flushed_files_are_written_all_the_same(tmp_path, monkeypatch, what):
    """Windows opens no folder, and some disks flush none: the rename alone must do."""
    open_, fsync = os.open, os.fsync

    def no_folder(path, *arguments, **options):
        if Path(path).is_dir():
            raise PermissionError(13, "Permission denied", str(path))
        return open_(path, *arguments, **options)

    def files_alone(handle):
        if os.path.isdir(f"/proc/self/fd/{handle}"):  # noqa: PTH112
            raise OSError(22, "Invalid argument")
        fsync(handle)

    monkeypatch.setattr(atomic.os, what, no_folder if what == "open" else files_alone)
    with atomic_write(tmp_path / "x") as part:
        part.write_text("new")
    assert (tmp_path / "x").read_text() == "new"
    assert _names(tmp_path) == ["x"]


def test_the_page_and_the_folder_are_flushed(tmp_path, monkeypatch):
    """The page is on the disk before it gets its name, and its name after that."""
    flushed, fsync, order = [], os.fsync, []
    monkeypatch.setattr(
        os, "fsync", lambda handle: flushed.append(os.fstat(handle).st_ino) or order.append("fsync") or fsync(handle)
    )
    replace = Path.replace
    monkeypatch.setattr(Path, "replace", lambda self, target: order.append("replace") or replace(self, target))
    page = write_page(b"page", tmp_path / "deep" / "page.html")
    assert flushed == [page.stat().st_ino, page.parent.stat().st_ino]
    assert order == ["fsync", "replace", "fsync"]


def test_two_threads_do_not_share_a_temporary_file(tmp_path):
    """Each writes its own, and the last one to finish has the name."""
    from concurrent.futures import ThreadPoolExecutor

    def write(i):
        with atomic_write(tmp_path / "x") as part:
            part.write_text(str(i) * 1000)
            return part

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(8)))
    assert len(set((tmp_path / "x").read_text())) == 1
    assert _names(tmp_path) == ["x"]


def test_a_model_that_is_saved_is_loaded(tmp_path):
    """Through the same writer."""
    model = PCA(1).fit(np.diag([3.0, 2.0, 1.0]))
    model.save(tmp_path / "m.gramian")
    np.testing.assert_array_equal(load(tmp_path / "m.gramian").components_, model.components_)
