import csv

import numpy as np
import pytest
import scipy.sparse as sp
from pyarrow import parquet

from gramian import kernels
from gramian.errors import NotSupportedError, ParameterError
from gramian.features.fourier import RandomFourier
from gramian.models.archive.export import export, plain_cell
from gramian.models.ica.fit import fit_ica
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source

# Few rows of uniform sources are nearly Gaussian: what is exported is the map, whatever it found.
pytestmark = pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")

X = np.random.default_rng(0).uniform(-1, 1, (80, 4)) @ np.random.default_rng(1).standard_normal((4, 4)) + 2.0
NEW = np.random.default_rng(2).standard_normal((9, 4)) + 2.0


def kernel_model(kernel, **options):
    """Kernel PCA of the rows."""
    return fit_kernel_pca(as_source(X), KernelPCAOptions(3, kernel, **options))


MODELS = {
    "pca": lambda: fit_pca(as_source(X)),
    "pca, scaled": lambda: fit_pca(as_source(X), PCAOptions(2, scale=True)),
    "pca, float32": lambda: fit_pca(as_source(X.astype("float32")), PCAOptions(2)),
    "pca, not centered": lambda: fit_pca(as_source(X), PCAOptions(2, center=False)),
    "ica": lambda: fit_ica(as_source(X)),
    "linear": lambda: kernel_model(kernels.Linear()),
    "gaussian": lambda: kernel_model(kernels.Gaussian("median")),
    "gaussian, not centered": lambda: kernel_model(kernels.Gaussian(0.2), center=False),
    "polynomial": lambda: kernel_model(kernels.Polynomial(2)),
    "polynomial tiles": lambda: kernel_model(kernels.Polynomial(3, 0.5, 1.0), way="stored"),
    "cosine": lambda: kernel_model(kernels.Cosine()),
    "sum of products": lambda: kernel_model(kernels.Gaussian(0.1) * kernels.Cosine() + 0.5 * kernels.Linear()),
    "stretched": lambda: kernel_model(kernels.Stretched(kernels.Gaussian(0.3), (1.0, 0.5, 2.0, 1.0))),
    "landmarks": lambda: kernel_model(kernels.Gaussian(0.2), landmarks=30),
}


@pytest.mark.parametrize("name", MODELS)
def test_onnx_computes_the_same_scores(name, tmp_path):
    """onnxruntime gives the model's own scores of new rows, to 1e-9 (1e-5 for a float32 model)."""
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed (group tests)")
    model = MODELS[name]()
    path = export(model, tmp_path / "m.onnx", to="onnx", names=["a", "b", "c", "d"])
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    found = session.run(["scores"], {"rows": NEW})[0]
    expected = model.project(NEW)
    tolerance = 1e-5 if name.endswith("float32") else 1e-9
    assert found.dtype == np.float64
    assert np.allclose(found, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize(
    "model",
    [
        lambda: kernel_model(kernels.Laplacian(0.1)),
        lambda: kernel_model(kernels.Linear(), features=RandomFourier(kernels.Gaussian(0.2), 20)),
    ],
    ids=["kernel", "random features"],
)
def test_what_onnx_cannot_say_is_refused(model, tmp_path):
    """Other kernels and random features are refused with a sentence, and no file is left."""
    pytest.importorskip("onnx", reason="onnx is not installed (extra onnx)")
    with pytest.raises(NotSupportedError, match="not exported to ONNX"):
        export(model(), tmp_path / "m.onnx", to="onnx")
    assert not list(tmp_path.iterdir())


def read_csv(path):
    """Columns of a CSV by name, numbers read as Python reads them: to the last digit."""
    with path.open(newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    return {name: [line[name] for line in lines] for name in lines[0]}


def numbers(table, names):
    """Some columns of a table as rows of numbers."""
    return np.array([[float(cell) for cell in table[name]] for name in names])


def test_tables_hold_every_digit(tmp_path):
    """Reading the CSV, the Parquet file and the npz back gives the very numbers."""
    model = fit_pca(as_source(X), PCAOptions(3, scale=True))
    names = ["=a", "b", "c", "d"]
    text = read_csv(export(model, tmp_path / "m.csv", to="csv", names=names))
    table = parquet.read_table(export(model, tmp_path / "m.parquet", to="parquet", names=names)).to_pydict()
    for found in (text, table):
        assert np.array_equal(numbers(found, ["PC1", "PC2", "PC3"]), model.components)
        assert np.array_equal(numbers(found, ["factor"])[0], model.factor)
    assert text["column"] == ["'=a", "b", "c", "d"]
    assert table["column"] == names
    with np.load(export(model, tmp_path / "m.npz", to="npz")) as found:
        assert np.array_equal(found["mean"], model.mean)


def test_kernel_and_independent_models_become_tables(tmp_path):
    """A kernel model gives a line a row, an ICA its mixing."""
    kernel = kernel_model(kernels.Gaussian(0.2))
    found = read_csv(export(kernel, tmp_path / "k.csv", to="csv"))
    assert np.array_equal(numbers(found, ["KPC1", "KPC2", "KPC3"]).T, kernel.vectors)
    ica = fit_ica(as_source(X))
    found = read_csv(export(ica, tmp_path / "i.csv", to="csv"))
    assert np.array_equal(numbers(found, [f"IC{j}" for j in (1, 2, 3, 4)]).T, ica.mixing)
    sparse = fit_kernel_pca(as_source(sp.csr_array(X)), KernelPCAOptions(2, kernels.Gaussian(0.2)))
    with np.load(export(sparse, tmp_path / "s.npz", to="npz")) as arrays:
        assert np.array_equal(arrays["eigenvalues"], sparse.eigenvalues)


def test_unknown_format_is_refused(tmp_path):
    """The formats are named."""
    with pytest.raises(ParameterError, match="csv, parquet, npz, onnx"):
        export(fit_pca(as_source(X)), tmp_path / "m.xls", to="xls")


def test_cells_that_compute_are_marked():
    """Every beginning that a spreadsheet computes is shown as text."""
    assert [plain_cell(text)[0] for text in ("=1", "+1", "-1", "@x", "\tx")] == ["'"] * 5
    assert plain_cell("plain") == "plain"
