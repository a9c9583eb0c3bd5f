import json
import os
import stat
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import kernels
from gramian.atomic import atomic_write
from gramian.errors import ModelFileError, NotSupportedError
from gramian.features.fourier import RandomFourier
from gramian.features.nystrom import Landmarks
from gramian.models.archive import file as archive
from gramian.models.ica.fit import fit_ica
from gramian.models.ica.model import ICAOptions
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source
from tests.rights import ordinary_rights

# Few rows of uniform sources are nearly Gaussian: what is kept is the model, whatever it found.
pytestmark = pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")

WRITTEN_BEFORE = sorted((Path(__file__).parent / "files").glob("*.gramian"))


def rows(n=60, d=4, *, dtype="float64", seed=0):
    """Rows of uniform sources, mixed, so that every method has something to find."""
    rng = np.random.default_rng(seed)
    return (rng.uniform(-1, 1, (n, d)) @ rng.standard_normal((d, d)) + 3).astype(dtype)


def pca(X, **options):
    """PCA of rows."""
    return fit_pca(as_source(X), PCAOptions(**options))


def kernel_pca(X, kernel, **options):
    """Kernel PCA of rows, three components."""
    return fit_kernel_pca(as_source(X), KernelPCAOptions(3, kernel, **options))


MAKERS = {
    "pca": lambda: pca(rows()),
    "pca, scaled, float32": lambda: pca(rows(dtype="float32"), scale=True, n_components=2),
    "pca, wide, by Krylov": lambda: pca(rows(40, 300), n_components=3, solver="krylov"),
    "pca, a share": lambda: pca(rows(), n_components=0.9),
    "pca of nothing": lambda: pca(np.ones((5, 3))),
    "gaussian": lambda: kernel_pca(rows(), kernels.Gaussian("median")),
    "float32 rows": lambda: kernel_pca(rows(dtype="float32"), kernels.Gaussian(0.1)),
    "sum of products": lambda: kernel_pca(rows(), kernels.Gaussian(0.1) * kernels.Linear() + 0.5 * kernels.Matern(1.5)),
    "polynomial features": lambda: kernel_pca(rows(), kernels.Polynomial(2)),
    "polynomial tiles": lambda: kernel_pca(rows(), kernels.Polynomial(3), way="stored"),
    "linear": lambda: kernel_pca(rows(), kernels.Linear()),
    "sparse rows": lambda: kernel_pca(
        sp.random_array((50, 9), density=0.4, rng=0, format="csr"), kernels.Gaussian(0.3)
    ),
    "matrix given": lambda: kernel_pca(kernels.Gaussian(0.1)(rows()), kernels.Precomputed()),
    "landmarks": lambda: kernel_pca(rows(), kernels.Gaussian(0.1), landmarks=20),
    "k-means": lambda: kernel_pca(rows(), kernels.Linear(), features=Landmarks(kernels.Gaussian(0.2), 9, "kmeans")),
    "waves": lambda: kernel_pca(rows(), kernels.Linear(), features=RandomFourier(kernels.Gaussian(0.2), 31)),
    "ica": lambda: fit_ica(as_source(rows(500))),
    "ica of white rows": lambda: fit_ica(as_source(rows(500)), ICAOptions(whiten=False, independence=False)),
    "ica, stability": lambda: fit_ica(as_source(rows(500)), ICAOptions(2, runs=3)),
}


@pytest.fixture(params=MAKERS, scope="module")
def model(request):
    """A fitted model of every kind."""
    return MAKERS[request.param]()


def new_rows(model):
    """Rows of the kind that a model takes."""
    X = rows(17, model.n_columns, seed=5)
    return X if not getattr(getattr(model, "source", None), "is_sparse", False) else sp.csr_array(X)


def test_loaded_model_gives_the_same_scores(model, tmp_path):
    """A model that went through a file projects new rows as the one that was fitted, to rounding."""
    again = archive.load(archive.save(model, tmp_path / "m.gramian"))
    X = new_rows(model)
    scores = model.project(X)
    assert np.allclose(again.project(X), scores, rtol=1e-12, atol=1e-12 * np.abs(scores).max(initial=1e-300))


def test_fields_of_a_model_come_back_as_they_were(model, tmp_path):
    """Every field, down to the last array of the certificate, is bit for bit what was saved."""
    again = archive.load(archive.save(model, tmp_path / "m.gramian"))
    assert_same(again, model)


def assert_same(left, right, where="model"):
    """Compare two values field by field."""
    if isinstance(right, np.ndarray):
        assert left.dtype == right.dtype, where
        assert np.array_equal(left, right, equal_nan=right.dtype.kind == "f"), where
    elif hasattr(right, "__dataclass_fields__"):
        assert type(left) is type(right), where
        for field in fields(right):
            if not field.name.startswith("_") and field.name not in {"warning", "source"}:
                assert_same(getattr(left, field.name), getattr(right, field.name), f"{where}.{field.name}")
    elif sp.issparse(right):
        assert (abs(left - right)).nnz == 0, where
    elif not callable(right):
        assert left == right or (left != left and right != right), where  # noqa: PLR0124 - NaN is like NaN


def test_names_and_notes_travel(tmp_path):
    """Column names with any character, and sentences about the table, come back."""
    names = ["<script>", "größe\n", '"', "=1+1"]
    path = archive.save(MAKERS["pca"](), tmp_path / "m.gramian", names=names, notes=["left out 'id'"], id="town")
    found = archive.open_archive(path)
    assert found.names == tuple(names)
    assert found.notes == ("left out 'id'",)
    assert found.id == "town"


def test_the_same_model_gives_the_same_bytes(tmp_path):
    """Saving twice gives one and the same file."""
    model = MAKERS["gaussian"]()
    first, second = (archive.save(model, tmp_path / name).read_bytes() for name in ("a.gramian", "b.gramian"))
    assert first == second


def test_kernel_model_is_self_contained_and_holds_its_rows_once(tmp_path):
    """Rows and coefficients are in the file, each array once."""
    X = rows(400, 6)
    path = archive.save(kernel_pca(X, kernels.Gaussian(0.1)), tmp_path / "m.gramian")
    numbers = X.size + 400 * (3 + 3 + 1)
    assert 8 * numbers < path.stat().st_size < 8 * numbers + 8000


def test_approximate_model_leaves_the_rows_behind(tmp_path):
    """A model on landmarks holds those, and not the rows of its fit."""
    model = kernel_pca(rows(2000, 50), kernels.Gaussian(0.01), landmarks=10)
    size = archive.save(model, tmp_path / "m.gramian").stat().st_size
    assert size < 8 * 2000 * 50 / 4


@pytest.mark.parametrize("kernel", [kernels.PointKernel(np.dot), kernels.BlockKernel(lambda x, y: x @ y.T)])
def test_own_function_is_refused_with_a_sentence(kernel, tmp_path):
    """A kernel that is a user's own function is not saved: only code could bring it back."""
    with pytest.raises(NotSupportedError, match=r"a function of one's own.*runs no code"):
        archive.save(kernel_pca(rows(), kernel), tmp_path / "m.gramian")
    assert not list(tmp_path.iterdir())


def test_what_is_no_model_is_refused(tmp_path):
    """An array is not a model."""
    with pytest.raises(NotSupportedError, match="no model"):
        archive.save(np.eye(3), tmp_path / "m.gramian")


def rewritten(path, change):
    """Change the JSON of a model file and give it a right checksum again, as a hostile writer would."""
    from safetensors.numpy import load_file

    with path.open("rb") as file:
        document = archive._document(archive._header(file))
    change(document)
    document["sha256"] = "0" * 64
    archive._write(load_file(path), json.dumps(document, separators=(",", ":")), path)
    return path


def test_newer_format_is_refused_with_a_sentence(tmp_path):
    """A file of a later format says which Gramian wrote it and what to do."""
    path = archive.save(MAKERS["pca"](), tmp_path / "m.gramian")
    rewritten(path, lambda found: found.update(version=archive.VERSION + 1, written_by="9.9"))
    with pytest.raises(ModelFileError, match=r"format 2, written by Gramian 9\.9.*update Gramian"):
        archive.load(path)


def test_older_file_without_a_later_field_opens(tmp_path):
    """A field that has come since takes its default."""
    path = archive.save(pca(rows(), n_components=0.9), tmp_path / "m.gramian")
    rewritten(path, lambda found: found["model"]["fields"].pop("verdict"))
    assert archive.load(path).verdict == ""


@pytest.mark.parametrize("path", WRITTEN_BEFORE, ids=lambda path: path.stem)
def test_files_written_before_still_open(path):
    """Files kept from earlier versions open, and project as they did."""
    found = archive.open_archive(path)
    grid = np.linspace(-1, 1, 3 * found.model.n_columns).reshape(3, -1)
    said = np.array(json.loads(found.notes[0]))
    assert np.allclose(found.model.project(grid), said, rtol=1e-12)


def test_there_are_files_written_before():
    """One of each kind of model."""
    assert {path.stem for path in WRITTEN_BEFORE} >= {"ica_1", "kernel_pca_1", "pca_1"}


def test_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    """When writing fails in the middle, the old file is as it was and nothing else is left."""
    path = archive.save(MAKERS["pca"](), tmp_path / "m.gramian")
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(archive, "_digest", full)
    with pytest.raises(OSError, match="No space"):
        archive.save(MAKERS["ica"](), path)
    assert path.read_bytes() == before
    assert [found.name for found in tmp_path.iterdir()] == ["m.gramian"]


def test_interruption_leaves_the_old_file(tmp_path):
    """Ctrl-C while a file is written leaves the old one, and no part of the new one."""
    path = tmp_path / "m.txt"
    path.write_text("old")

    def interrupted():
        with atomic_write(path) as part:
            part.write_text("ne")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 1


def test_link_is_followed(tmp_path):
    """Saving to a link replaces what it points to, and the link stays."""
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    with atomic_write(tmp_path / "link") as part:
        part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
def test_folder_that_cannot_be_written(tmp_path):
    """A folder without the right to write is an OSError, and the old file stays as it was, alone."""
    folder = tmp_path / "closed"
    folder.mkdir()
    (folder / "m.gramian").write_bytes(b"old")
    folder.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with ordinary_rights(), pytest.raises(PermissionError):
        archive.save(MAKERS["pca"](), folder / "m.gramian")
    assert [(path.name, path.read_bytes()) for path in folder.iterdir()] == [("m.gramian", b"old")]


def test_rows_in_files_are_copied_in_only_when_that_is_said(tmp_path):
    """A kernel model over rows that are not in memory asks first."""
    np.save(tmp_path / "rows.npy", rows())
    model = kernel_pca(tmp_path / "rows.npy", kernels.Gaussian(0.1))
    with pytest.raises(NotSupportedError, match=r"copy_rows=True"):
        archive.save(model, tmp_path / "m.gramian")
    again = archive.load(archive.save(model, tmp_path / "m.gramian", copy_rows=True))
    assert np.allclose(again.project(rows(5)), model.project(rows(5)))
