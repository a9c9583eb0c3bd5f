"""A fit over a file that was killed goes on where it was, to the same answer."""

import io
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest

from gramian import PCA
from gramian.errors import InputError, ParameterError
from gramian.sources import as_source
from gramian.sources.pass_log import PassLog, _load, _Values
from tests.catalog import slowly
from tests.files.killed import READS, answer, fit
from tests.sources.files import write


@pytest.fixture(scope="module", name="X")
def rows():
    """Uniform sources, mixed; some dozens of windows of 250 kB."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60_000, 5)) @ (rng.standard_normal((5, 20)) * [[5], [4], [3], [2], [1.0]])
    return X + 0.1 * rng.standard_normal(X.shape)


def kill_after(method, path, folder, last):
    """Run a fit in a process that kills itself after some reads."""
    command = [sys.executable, "-m", "tests.files.killed", method, str(path), str(folder), str(last)]
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]


@pytest.mark.parametrize("method", ["PCA", "ICA", *slowly("PCA krylov", "KernelPCA")])
def test_a_killed_fit_resumes_to_the_same_answer(tmp_path, X, method):
    """After kill -9, twice, the answer is that of a fit that was left in peace, and reading done is not done again."""
    path, folder = write(tmp_path, "npy", X), tmp_path / "log"
    truth = answer(fit(method, path, None))
    whole = len(READS)
    kill_after(method, path, folder, 2 * whole // 3)
    kill_after(method, path, folder, whole // 3)
    resumed = answer(fit(method, path, folder))
    assert len(READS) < 0.75 * whole
    for found, wanted in zip(resumed, truth, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9 * np.abs(wanted).max())


def test_a_finished_log_answers_without_a_pass(tmp_path, X):
    """A second fit with the log of the first reads next to nothing."""
    path = write(tmp_path, "npy", X)
    first = answer(fit("PCA", path, tmp_path / "log"))
    whole = len(READS)
    second = answer(fit("PCA", path, tmp_path / "log"))
    assert len(READS) < whole / 2
    np.testing.assert_array_equal(first[1], second[1])


def test_another_question_is_not_answered_from_the_log(tmp_path, X):
    """Passes of a fit with other options are made anew."""
    path = write(tmp_path, "npy", X)
    PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))
    other = PCA(3, center=False).fit(as_source(path, checkpoint=tmp_path / "log"))
    np.testing.assert_allclose(other.explained_variance_, PCA(3, center=False).fit(X).explained_variance_)


def test_other_weights_or_columns_are_not_answered_from_the_log(tmp_path, X):
    """What is taken of a file is part of the question: its weights, and which columns in which order."""
    path, log = write(tmp_path, "parquet", X[:3000]), tmp_path / "log"
    weights = np.random.default_rng(1).integers(1, 4, size=3000)
    names = list(as_source(path).column_names)
    for options in ({}, {"weights": weights}, {"columns": names[:6]}, {"columns": names[6:12]}):
        kept = PCA(3).fit(as_source(path, checkpoint=log, **options))
        fresh = PCA(3).fit(as_source(path, **options))
        np.testing.assert_allclose(kept.explained_variance_, fresh.explained_variance_, rtol=1e-12)


def test_a_checkpoint_that_is_a_file_is_refused(tmp_path, X):
    """A folder is wanted, and the sentence says so."""
    path = write(tmp_path, "npy", X[:100])
    with pytest.raises(ParameterError, match="is a file, and a folder is wanted"):
        as_source(path, checkpoint=path)


def test_a_changed_input_is_noticed(tmp_path, X):
    """A checkpoint of another file, or of an earlier version, is refused with what to do."""
    path = write(tmp_path, "npy", X)
    PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))
    os.utime(path, ns=(1, 1))
    with pytest.raises(InputError, match=r"x\.npy is not what it was when the checkpoint in .*log was begun"):
        PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))


def test_a_change_that_keeps_size_and_date_is_noticed(tmp_path, X):
    """Content put in place with the former date, as ``cp -p`` does, is other content."""
    path = write(tmp_path, "npy", X)
    PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))
    before = path.stat()
    np.save(path, 2 * X)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_size == before.st_size
    with pytest.raises(InputError, match=r"x\.npy is not what it was when the checkpoint"):
        PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))


@pytest.mark.parametrize("name", ["", "inner"])
def test_a_changed_chunk_of_a_store_is_noticed(tmp_path, X, name):
    """A Zarr store is all of its files, also those of an array in a group."""
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "x.zarr"
    options = {"shape": X.shape, "chunks": (10_000, 20), "dtype": X.dtype}
    store = zarr.open_group(str(path), mode="w") if name else None
    array = store.create_array(name, **options) if name else zarr.create_array(str(path), **options)
    array[:] = X
    PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))
    array[:10_000] = 2 * X[:10_000]
    with pytest.raises(InputError, match=r"x\.zarr is not what it was when the checkpoint"):
        PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))


def test_a_changed_image_is_noticed(tmp_path):
    """A folder of images is all of its images."""
    image = pytest.importorskip("PIL.Image")
    folder, pixels = tmp_path / "images", np.random.default_rng(0).integers(0, 255, (6, 4, 5), dtype=np.uint8)
    folder.mkdir()
    for i, one in enumerate(pixels):
        image.fromarray(one).save(folder / f"{i}.png")
    PCA(2).fit(as_source(folder, checkpoint=tmp_path / "log"))
    image.fromarray(255 - pixels[3]).save(folder / "3.png")
    with pytest.raises(InputError, match=r"3\.png is not what it was when the checkpoint"):
        PCA(2).fit(as_source(folder, checkpoint=tmp_path / "log"))


def test_a_checkpoint_without_its_list_of_files_is_refused(tmp_path, X):
    """An empty list, as a full disk leaves it, and a folder that cannot be made: sentences, no tracebacks."""
    path = write(tmp_path, "npy", X[:100])
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "input.json").write_bytes(b"")
    with pytest.raises(InputError, match=r"input\.json is damaged"):
        PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))
    with pytest.raises(ParameterError, match="cannot be written to"):
        PCA(3).fit(as_source(path, checkpoint=path / "log"))


def test_a_damaged_log_is_not_believed(tmp_path, X):
    """A file of the log that was cut short, or altered, is as if it were not there."""
    path = write(tmp_path, "npy", X)
    truth = PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))
    for kept in (tmp_path / "log").glob("*.done"):
        kept.write_bytes(kept.read_bytes()[:-5])
    again = PCA(3).fit(as_source(path, checkpoint=tmp_path / "log"))
    np.testing.assert_array_equal(again.components_, truth.components_)


def test_a_log_runs_no_code(tmp_path):
    """What a saved state may be made of is arrays and values: a pickle that calls something is refused."""
    import hashlib

    body = b"cos\nsystem\n(S'echo'\ntR."
    (tmp_path / "00001.done").write_bytes(hashlib.sha256(body).digest() + body)
    with pytest.raises(pickle.UnpicklingError, match="has no place in a checkpoint"):
        _load(tmp_path / "00001.done", "x")
    with pytest.raises(pickle.UnpicklingError):
        _Values(io.BytesIO()).find_class("gramian.sources.row_file", "os")


def test_passes_that_cannot_be_kept_are_made_again(tmp_path, X):
    """A callable that does not pickle costs the checkpoint, not the fit."""
    log = PassLog(tmp_path / "log")
    source = as_source(write(tmp_path, "npy", X[:500]), checkpoint=log)
    total = source.reduce(lambda state, block: (state or 0.0) + block.rows.sum(), lambda a, b: a + b)
    np.testing.assert_allclose(total, X[:500].sum())
    assert list((tmp_path / "log").glob("*.done")) == []


def test_a_log_names_no_function_of_numpy(tmp_path, X):
    """A state is written as bytes, type and shape, so that another release of NumPy reads it; layout is kept."""
    import pickletools

    from gramian.sources.pass_log import _save

    state = {
        "c": X[:5].copy(),
        "f": np.asfortranarray(X[:5]),
        "scalar": np.float64(2.5),
        "kind": np.dtype("f4"),
        "n": 3,
    }
    _save(tmp_path / "x", "digest", state)
    names = [arg for _, arg, _ in pickletools.genops((tmp_path / "x").read_bytes()[32:]) if isinstance(arg, str)]
    assert not any(name.startswith("numpy.") for name in names)
    found = _load(tmp_path / "x", "digest")
    np.testing.assert_array_equal(found["c"], X[:5])
    np.testing.assert_array_equal(found["f"], X[:5])
    assert found["f"].flags.f_contiguous
    assert found["c"].flags.writeable
    assert (found["scalar"], found["kind"], found["n"]) == (2.5, np.dtype("f4"), 3)
