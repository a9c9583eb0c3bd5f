"""Model files that are damaged or hostile: one kind of error, bounded memory, nothing run."""

import json
import os
import pickle
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.numpy import save as to_safetensors

from gramian import kernels
from gramian.errors import ModelFileError
from gramian.models.archive import file as archive
from gramian.models.ica.fit import fit_ica
from gramian.models.ica.model import ICAOptions
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source

X = np.random.default_rng(0).uniform(-1, 1, (30, 3))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The bytes of a small file of each kind."""
    folder = tmp_path_factory.mktemp("models")
    source = as_source(X)
    models = {
        "pca": fit_pca(source, PCAOptions(2)),
        "kernel": fit_kernel_pca(source, KernelPCAOptions(2, kernels.Gaussian(0.5) + kernels.Linear())),
        "features": fit_kernel_pca(source, KernelPCAOptions(2, kernels.Polynomial(2))),
        "landmarks": fit_kernel_pca(source, KernelPCAOptions(2, kernels.Gaussian(0.5), landmarks=8)),
        "ica": fit_ica(source, ICAOptions(independence=False)),
    }
    return {name: archive.save(model, folder / name, names="abc").read_bytes() for name, model in models.items()}


def assert_refused(content, tmp_path, match=None):
    """Write bytes to a file and ask that it is refused as a model file."""
    path = tmp_path / "hostile.gramian"
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=match) as caught:
        archive.open_archive(path)
    assert caught.value.path == str(path)


def test_every_byte_of_a_file_matters(small, tmp_path):
    """Any one byte changed, anywhere in a small file, is noticed."""
    content = small["pca"]
    for place in range(len(content)):
        assert_refused(content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :], tmp_path)


@pytest.mark.parametrize("bit", range(8))
def test_single_bits_matter(small, tmp_path, bit):
    """So is any one bit of every seventh byte."""
    content = small["kernel"]
    for place in range(bit, len(content), 7):
        assert_refused(content[:place] + bytes([content[place] ^ 1 << bit]) + content[place + 1 :], tmp_path)


def test_truncations_and_additions_are_refused(small, tmp_path):
    """A file cut anywhere, or with something behind it, is refused."""
    content = small["pca"]
    for length in [*range(0, len(content), 37), len(content) - 1]:
        assert_refused(content[:length], tmp_path)
    assert_refused(content + b"\0", tmp_path)


class Trap:
    """Runs a command when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        """Make a folder."""
        return os.mkdir, (self.path,)


def test_pickle_in_disguise_is_not_run(tmp_path):
    """A pickle with a model file's name is refused and does nothing."""
    assert_refused(pickle.dumps(Trap(str(tmp_path / "sprung"))), tmp_path)
    inside = to_safetensors({"a": np.ones(2)}, metadata={"gramian": pickle.dumps(Trap("x"), 0).decode("latin-1")})
    assert_refused(inside, tmp_path)
    assert not (tmp_path / "sprung").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x00" * 4,
        b"\xff" * 64,
        (2**63).to_bytes(8, "little") + b"{}" * 20,
        (2).to_bytes(8, "little") + b"{}",
        b"PK\x03\x04" + b"\0" * 60,
        np.lib.format.MAGIC_PREFIX + b"\1\0" + b"\0" * 60,
    ],
    ids=["empty", "short", "ones", "huge header", "no metadata", "zip", "npy"],
)
def test_other_files_are_refused(content, tmp_path):
    """Files of other kinds, and headers longer than the file, are no model files."""
    assert_refused(content, tmp_path)


def with_document(content, change, arrays=None):
    """Return a file with changed JSON or arrays and a right checksum: what a hostile writer can make."""
    from safetensors.numpy import load

    from gramian.models.archive.file import _digest, _document, _sum_place

    length = int.from_bytes(content[:8], "little")
    document = _document(content[8 : 8 + length])
    change(document)
    document["sha256"] = "0" * 64
    changed = to_safetensors(
        load(content) | (arrays or {}), metadata={"gramian": json.dumps(document, separators=(",", ":"))}
    )
    return _summed(changed, _digest, _sum_place)


def _summed(content, digest, sum_place):
    import io

    length = int.from_bytes(content[:8], "little")
    place = sum_place(content[8 : 8 + length], "0" * 64)
    return content[:place] + digest(io.BytesIO(content), place).encode() + content[place + 64 :]


def fields_of(document):
    """The fields of the model."""
    return document["model"]["fields"]


CHANGES = {
    "another class": ("pca", lambda d: d["model"].update({"class": "Popen"}), "no value of a model"),
    "a value for a model": ("pca", lambda d: d.update(model=fields_of(d)["plan"]), "holds no model"),
    "text for a number": ("pca", lambda d: fields_of(d).update(rank="many"), "wrong type"),
    "a negative count": ("pca", lambda d: fields_of(d).update(n_rows=-1), "wrong type"),
    "an array for a plan": ("pca", lambda d: fields_of(d).update(plan=fields_of(d)["mean"]), "wrong type"),
    "a missing field": ("pca", lambda d: fields_of(d).pop("mean"), "cannot be made"),
    "an unknown field": ("pca", lambda d: fields_of(d).update(code="import os"), "no field"),
    "an array that is not there": ("pca", lambda d: fields_of(d).update(mean={"array": "x"}), "not there"),
    "another array": ("pca", lambda d: fields_of(d).update(mean=fields_of(d)["variances"]), "does not fit"),
    "other columns": ("pca", lambda d: fields_of(d).update(n_columns=7), "columns do not agree"),
    "too few names": ("pca", lambda d: d.update(names=["a"]), "1 names for 3"),
    "numbers for names": ("pca", lambda d: d.update(names=[1, 2, 3]), "not text"),
    "version of text": ("pca", lambda d: d.update(version="1"), "no version"),
    "no version": ("pca", lambda d: d.pop("version"), "no version"),
    "a grade too few": ("pca", lambda d: fields_of(d)["certificate"]["fields"]["grades"].pop(), "does not fit"),
    "too high a rank": ("pca", lambda d: fields_of(d).update(rank=9), "another model"),
    "NaN": ("pca", lambda d: fields_of(d).update(weight={"float": "nan"}), "NaN or infinity"),
    "a number of text": ("pca", lambda d: fields_of(d).update(weight={"float": "__import__"}), "number that is none"),
    "a kernel of nothing": (
        "kernel",
        lambda d: fields_of(d)["kernel"]["fields"].update(terms=[]),
        "not a usable",
    ),
    "a negative width": (
        "kernel",
        lambda d: fields_of(d)["kernel"]["fields"]["terms"][0]["fields"].update(gamma=-1.0),
        "cannot be made",
    ),
    "a kernel of words": (
        "kernel",
        lambda d: fields_of(d)["expansion"]["fields"]["placed"]["fields"].update(kernel=words_kernel()),
        "words where numbers belong",
    ),
    "a move to nowhere": (
        "kernel",
        lambda d: fields_of(d)["expansion"]["fields"]["placed"]["fields"].update(origin=None, moves=True),
        "where to",
    ),
    "endless sums": ("kernel", lambda d: nest(fields_of(d)["kernel"]), "levels deep"),
    "a deep list": ("kernel", lambda d: d.update(model=deep_list(200)), "levels deep"),
    "rows missing": ("kernel", lambda d: fields_of(d).update(n_rows=31), "rows do not agree"),
    "monomials without end": (
        "features",
        lambda d: fields_of(d)["expansion"]["fields"]["phi"]["fields"].update(degree=10**9),
        "monomials",
    ),
    "other monomials": (
        "features",
        lambda d: fields_of(d)["expansion"]["fields"]["phi"]["fields"].update(degree=3),
        "features do not agree",
    ),
    "no mean": ("ica", lambda d: fields_of(d).update(mean=None), "means do not agree"),
    "estimator of text": ("ica", lambda d: d.update(estimator="ICA"), "no list of values"),
}


def words_kernel():
    """A kernel whose width is still a word."""
    return {"class": "Gaussian", "fields": {"gamma": "median"}}


def nest(kernel):
    """Put a kernel into a sum, forty times."""
    inner, linear = dict(kernel), {"class": "Linear", "fields": {}}
    for _ in range(40):
        inner = {"class": "Sum", "fields": {"terms": [inner, linear]}}
    kernel.update(inner)


def deep_list(depth):
    """Lists in lists."""
    return [] if depth == 0 else [deep_list(depth - 1)]


@pytest.mark.parametrize("name", CHANGES)
def test_hostile_values_with_a_right_checksum_are_refused(small, tmp_path, name):
    """Values that do not fit are refused one by one, in words, though the checksum is right."""
    kind, change, words = CHANGES[name]
    assert_refused(with_document(small[kind], change), tmp_path, words)


@pytest.mark.parametrize(
    "array",
    [
        np.full((2, 3), np.nan),
        np.full((2, 3), np.inf),
        np.ones((3, 2)),
        np.ones((2, 3), dtype=np.int64),
        np.ones((2, 3), dtype=np.float16),
        np.ones((2, 3), dtype=bool),
        np.ones((0, 3)),
        np.ones(6),
    ],
    ids=["NaN", "inf", "turned", "int", "half", "bool", "none", "flat"],
)
def test_hostile_arrays_are_refused(small, tmp_path, array):
    """Components that are not finite, of another shape or type are refused."""
    assert_refused(with_document(small["pca"], lambda _: None, {"components": array}), tmp_path)


def test_overlapping_arrays_are_refused(small, tmp_path):
    """Two arrays that claim the same bytes, and arrays that claim bytes beyond the file, are refused."""
    content = small["pca"]
    length = int.from_bytes(content[:8], "little")
    outer = json.loads(content[8 : 8 + length])
    for offsets in ([0, 48], [0, 2**40], [8, 4]):
        outer["components"]["data_offsets"] = offsets
        outer["mean"]["data_offsets"] = offsets
        header = json.dumps(outer, separators=(",", ":")).encode()
        changed = len(header).to_bytes(8, "little") + header + content[8 + length :]
        assert_refused(changed, tmp_path)


def test_deep_json_is_refused(tmp_path):
    """JSON that is nested a hundred thousand deep is refused, not followed."""
    for header in (b"[" * 100_000, b'{"__metadata__":{"gramian":"' + b"[" * 100_000 + b'"}}'):
        assert_refused(len(header).to_bytes(8, "little") + header, tmp_path)


def test_refusal_takes_little_memory(tmp_path, monkeypatch):
    """A header made to grow most takes less than 32 times its size: half a gigabyte for the longest that is read."""
    monkeypatch.setattr(archive, "LARGEST_HEADER", 1 << 19)
    header = b"[" + b"[]," * ((archive.LARGEST_HEADER - 8) // 3) + b"[]]"
    path = tmp_path / "grows.gramian"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        archive.open_archive(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 32 * len(header)


def test_header_beyond_the_limit_is_not_read(tmp_path):
    """A longer header is refused before it is read."""
    path = tmp_path / "long.gramian"
    with path.open("wb") as file:
        file.write((1 << 40).to_bytes(8, "little"))
        file.truncate((1 << 40) + 8)
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        archive.open_archive(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


def test_missing_file_and_folder_are_refused(tmp_path):
    """A file that is not there, or is a folder, says so."""
    with pytest.raises(ModelFileError, match=r"There is no model file .*none\.gramian"):
        archive.load(tmp_path / "none.gramian")
    with pytest.raises(ModelFileError, match="directory"):
        archive.load(tmp_path)


@settings(max_examples=150)
@given(data=st.data())
def test_any_change_is_refused_or_harmless(small, tmp_path_factory, data):
    """Bytes cut, repeated, moved or replaced anywhere end in one kind of error."""
    content = small[data.draw(st.sampled_from(sorted(small)))]
    start = data.draw(st.integers(0, len(content) - 1))
    stop = data.draw(st.integers(start, min(start + 64, len(content))))
    changed = content[:start] + data.draw(st.binary(max_size=32)) + content[stop:]
    if changed != content:
        assert_refused(changed, tmp_path_factory.mktemp("h"))
