"""A fitted model in formats that others read: CSV, Parquet, npz and ONNX.

``PARTS`` says for each kind of model which arrays it has, the table of its weights, and the ONNX graph of its scores.
In that graph PCA and ICA are an affine map. Kernel PCA compares each row with those of the fit, centers by the means it
keeps, and multiplies by the coefficients; sums, products and multiples of kernels are built from their parts.
"""

import csv
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from gramian import __version__
from gramian.arrays.namespace import HostArray, host_floats, to_host
from gramian.arrays.precision import FLOAT64
from gramian.atomic import atomic_write
from gramian.errors import NotSupportedError, ParameterError
from gramian.kernels.combination import Product, Scaled, Stretched, Sum
from gramian.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from gramian.kernels.kernel import Kernel
from gramian.kernels.radial import Gaussian
from gramian.models.categories.model import CodedModel, FAMDModel, MCAModel
from gramian.models.ica.model import ICAModel
from gramian.models.kernel_pca.expansion import FeatureExpansion
from gramian.models.kernel_pca.model import KernelPCAModel
from gramian.models.kernel_pca.preimage import expansion_of
from gramian.models.pca.model import PCAModel
from gramian.sources.arrow import from_numpy
from gramian.sources.names import numbered

FORMATS = ("csv", "parquet", "npz", "onnx")
"""What a model can be exported to."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""What a cell begins with that a spreadsheet would take for a formula."""


def export(model: Any, path: str | os.PathLike[str], *, to: str, names: Sequence[str] | None = None) -> Path:
    """Write a model in another format, whole or not at all.

    CSV and Parquet hold one line per column of the table: its name, mean, scale and weight in each component (for a
    kernel model one line per row of the fit: its coefficients; for one of categories the coordinates, contributions and
    squared cosines of quantities and levels). npz holds every array by its name. ONNX is a graph from
    rows to scores, in float64; see :mod:`gramian.models.archive.export`.

    Parameters
    ----------
    model : PCAModel, KernelPCAModel or ICAModel
    path : path
    to : {"csv", "parquet", "npz", "onnx"}
    names : sequence of str, optional
        Of the columns.

    Examples
    --------
    >>> import tempfile
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> model = fit_pca(as_source(np.array([[0.0, 1.0], [3.0, 5.0]])))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     print(export(model, f"{folder}/m.csv", to="csv", names=["a", "b"]).read_text().splitlines()[0])
    column,mean,PC1,PC2
    """
    if to not in FORMATS:
        message = f"{to!r} is no format of an export. Pass one of {', '.join(FORMATS)}."
        raise ParameterError(message)
    if type(model) not in PARTS:
        message = f"A {type(model).__name__} is no model that can be exported."
        raise NotSupportedError(message)
    parts = PARTS[type(model)]
    with atomic_write(path) as part:
        if to == "onnx":
            write_onnx(model, part, names=names)
        elif to == "npz":
            arrays: dict[str, Any] = {
                name: to_host(array) for name, array in parts.arrays(model).items() if array is not None
            }
            with part.open("wb") as file:
                np.savez(file, **arrays)
        else:
            header, columns = parts.table(model, names)
            (write_csv if to == "csv" else write_parquet)(part, header, columns)
    return Path(path)


def _linear_arrays(model: PCAModel | ICAModel) -> dict[str, Any]:
    fields = ("components", "variances", "shares", "singular_values", "mean", "factor", "mixing", "whitening")
    return {name: getattr(model, name, None) for name in fields}


def _kernel_arrays(model: KernelPCAModel) -> dict[str, Any]:
    return {
        "eigenvalues": model.eigenvalues,
        "vectors": model.vectors,
        "alphas": model.alphas if model.source.n_rows else None,
        "shares": model.shares,
        "row_means": model.centering.row_means,
        "rows": getattr(model.source, "array", None),
    }


def _pca_table(model: PCAModel, names: Sequence[str] | None) -> "Table":
    header, columns = _weights(model, names, to_host(model.components))
    if model.factor is not None:
        header.insert(2, "factor")
        columns.insert(2, to_host(model.factor))
    return header, columns


def _coded_arrays(model: CodedModel) -> dict[str, Any]:
    fields = ("column_coordinates", "contributions", "cos2", "eta2", "v_tests")
    found = {name: getattr(model, name) for name in fields}
    return _linear_arrays(model.pca) | found | {"proportions": model.coding.proportions}


def _coded_table(model: CodedModel, names: Sequence[str] | None) -> "Table":
    """Return where each quantity and level stands, what it contributes, and how well each component shows it."""
    del names  # the coding has them
    parts = {"": model.column_coordinates, "contribution ": model.contributions, "cos2 ": model.cos2}
    header = [f"{what}{model.prefix}{j + 1}" for what, values in parts.items() for j in range(values.shape[1])]
    columns = [column for values in parts.values() for column in values.T]
    return ["column", *header], [np.array(model.column_names, dtype=object), *columns]


def _coded_scores(model: CodedModel, graph: "Graph") -> str:
    del graph
    message = (
        f"A {type(model).__name__} takes levels, which an ONNX graph from numbers to scores does not know. Export it "
        "as npz, or keep the .gramian file."
    )
    raise NotSupportedError(message)


def _ica_table(model: ICAModel, names: Sequence[str] | None) -> "Table":
    return _weights(model, names, to_host(model.mixing).T)


def _weights(model: PCAModel | ICAModel, names: Sequence[str] | None, weights: HostArray) -> "Table":
    columns = numbered(model.n_columns) if names is None else list(names)
    mean = np.zeros(model.n_columns) if model.mean is None else to_host(model.mean)
    header = ["column", "mean", *(f"{model.prefix}{j + 1}" for j in range(len(weights)))]
    return header, [np.array(columns, dtype=object), mean, *weights]


def _kernel_table(model: KernelPCAModel, names: Sequence[str] | None) -> "Table":
    del names
    header = ["row", *(f"{model.prefix}{j + 1}" for j in range(model.n_components))]
    return header, [np.arange(1, model.n_rows + 1), *model.vectors.T]


def write_csv(path: Path, header: Sequence[str], columns: Sequence[Any]) -> None:
    """Write columns as CSV: numbers with every digit they have, text that no spreadsheet takes for a formula."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([plain_cell(name) for name in header])
        writer.writerows(_lines(columns))


def write_parquet(path: Path, header: Sequence[str], columns: Sequence[Any]) -> None:
    """Write columns as Parquet."""
    import pyarrow as pa
    from pyarrow import parquet

    unique = [name if header.index(name) == j else f"{name} ({j})" for j, name in enumerate(header)]
    parquet.write_table(pa.table(dict(zip(unique, map(_as_arrow, columns), strict=True))), path)


def _as_arrow(column: Any) -> Any:
    """Return a column as Arrow's."""
    import pyarrow as pa

    if _is_text(column):
        return pa.array(list(column))
    values = np.ascontiguousarray(column)
    return from_numpy(values) if values.dtype.kind in "fiu" else pa.array(values)


def plain_cell(text: Any) -> str:
    """Return text as a cell that is shown and never computed.

    Examples
    --------
    >>> plain_cell("=1+1"), plain_cell("wine")
    ("'=1+1", 'wine')
    """
    text = str(text)
    return f"'{text}" if text.startswith(FORMULA) else text


def _lines(columns: Sequence[Any]) -> Iterator[list[str]]:
    """Give the cells of each line; numbers are written so that reading them gives the same number."""
    ready = [[plain_cell(v) for v in column] if _is_text(column) else _numbers(column) for column in columns]
    return (list(line) for line in zip(*ready, strict=True))


def _numbers(column: HostArray) -> list[str]:
    if column.dtype == np.float32:
        return [str(value) for value in column]
    return [repr(value) for value in column.tolist()]


def _is_text(column: Any) -> bool:
    return np.asarray(column).dtype.kind in "OUS"


class Graph:
    """Nodes and constants of a graph, named one after the other."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        """Add an operation and return the name of its result."""
        from onnx import helper

        name = f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def constant(self, value: Any, dtype: Any = FLOAT64) -> str:
        """Add a constant and return its name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value, dtype=dtype), name))
        return name


def write_onnx(model: Any, path: Path, *, names: Sequence[str] | None = None) -> None:
    """Write a model as ONNX: input ``rows`` (n, d), output ``scores`` (n, k), both float64.

    Computes what ``model.project`` does, to rounding: 1e-10 of the scores for well-scaled rows. Kernels: linear,
    polynomial, Gaussian, cosine, sigmoid, and their sums, products, multiples and stretched forms.

    Raises
    ------
    NotSupportedError
        For other kernels and for random features, and where the extra ``onnx`` is not installed.
    """
    try:
        import onnx
        from onnx import TensorProto, helper
    except ImportError:
        message = "Export to ONNX needs the package onnx. Install it with: pip install 'gramian[onnx]'."
        raise ParameterError(message) from None
    graph = Graph()
    graph.add("Identity", PARTS[type(model)].scores(model, graph))
    graph.nodes[-1].output[0] = "scores"
    rows = helper.make_tensor_value_info("rows", TensorProto.DOUBLE, ["n", model.n_columns])
    out = helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["n", model.n_components])
    made = helper.make_graph(graph.nodes, "gramian", [rows], [out], initializer=graph.constants)
    # Operators of set 17: every one used here is in it, and runtimes since 2022 have it.
    whole = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", 17)], producer_name="gramian", producer_version=__version__
    )
    whole.ir_version = 8
    if names is not None:
        helper.set_model_props(whole, {"columns": "\n".join(names)})
    onnx.checker.check_model(whole)
    path.write_bytes(whole.SerializeToString())


def _pca_scores(model: PCAModel, graph: Graph) -> str:
    factor = 1.0 if model.factor is None else host_floats(model.factor)
    mean = host_floats(model.mean) if model.options.center else np.zeros(model.n_columns)
    return _affine(graph, mean, (host_floats(model.components) * factor).T)


def _ica_scores(model: ICAModel, graph: Graph) -> str:
    mean = np.zeros(model.n_columns) if model.mean is None else host_floats(model.mean)
    return _affine(graph, mean, host_floats(model.components).T)


def _affine(graph: Graph, mean: HostArray, weights: HostArray) -> str:
    return graph.add("MatMul", graph.add("Sub", "rows", graph.constant(mean)), graph.constant(weights))


def _kernel_scores(model: KernelPCAModel, graph: Graph) -> str:
    found = model.expansion
    if isinstance(found, FeatureExpansion):
        if found.phi is None:
            return _affine(graph, found.mean, found.components)
        if found.phi.by_landmarks is None and model.approximate:
            message = "Components in random features are not exported to ONNX. Use landmarks, or the exact model."
            raise NotSupportedError(message)
    expansion = expansion_of(model)
    points, kernel = to_host(expansion.rows).astype(FLOAT64), expansion.kernel
    # Kernels of the difference of two rows keep their digits when both are near the origin.
    origin = points.mean(axis=0) if kernel.shift_invariant else np.zeros(points.shape[1])
    rows = graph.add("Sub", "rows", graph.constant(origin))
    K = _kernel(kernel, graph, rows, points - origin)
    C = expansion.coefficients
    raw = graph.add("MatMul", K, graph.constant(C))
    return graph.add("Sub", raw, graph.constant((expansion.means @ C)[None, :]))


def _kernel(kernel: Kernel, graph: Graph, rows: str, points: HostArray) -> str:
    """Add the matrix k(x, y) between the rows and fixed points."""
    if type(kernel) in _BUILDERS:
        return _BUILDERS[type(kernel)](kernel, graph, rows, points)
    message = (
        f"{kernel} is not exported to ONNX. These are: linear, polynomial, Gaussian, cosine, sigmoid, and sums, "
        "products and multiples of them."
    )
    raise NotSupportedError(message)


def _linear(_: Any, graph: Graph, rows: str, points: HostArray) -> str:
    return graph.add("MatMul", rows, graph.constant(points.T))


def _inner(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    product = graph.add("MatMul", rows, graph.constant(float(kernel.gamma) * points.T))
    return graph.add("Add", product, graph.constant(float(kernel.coef0)))


def _polynomial(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    return graph.add("Pow", _inner(kernel, graph, rows, points), graph.constant(float(kernel.degree)))


def _sigmoid(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    return graph.add("Tanh", _inner(kernel, graph, rows, points))


def _cosine(_: Any, graph: Graph, rows: str, points: HostArray) -> str:
    norms = np.linalg.norm(points, axis=1)
    unit = points / np.where(norms > 0, norms, 1.0)[:, None]
    squares = graph.add("ReduceSum", graph.add("Mul", rows, rows), graph.constant([1], np.int64), keepdims=1)
    length = graph.add("Max", graph.add("Sqrt", squares), graph.constant(np.finfo(FLOAT64).tiny))
    return graph.add("MatMul", graph.add("Div", rows, length), graph.constant(unit.T))


def _gaussian(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    squares = graph.add("ReduceSum", graph.add("Mul", rows, rows), graph.constant([1], np.int64), keepdims=1)
    cross = graph.add("MatMul", rows, graph.constant(-2.0 * points.T))
    both = graph.add("Add", squares, graph.constant((points**2).sum(axis=1)[None, :]))
    distance = graph.add("Max", graph.add("Add", cross, both), graph.constant(0.0))
    return graph.add("Exp", graph.add("Mul", distance, graph.constant(-float(kernel.gamma))))


def _combined(operation: str, kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    """Add the matrices of all parts of a kernel, and put them together by one operation."""
    parts = [_kernel(part, graph, rows, points) for part in kernel.parts]
    return reduce(partial(graph.add, operation), parts)


def _scaled(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    return graph.add("Mul", _kernel(kernel.kernel, graph, rows, points), graph.constant(float(kernel.factor)))


def _stretched(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    factors = np.array(kernel.factors)
    return _kernel(kernel.kernel, graph, graph.add("Mul", rows, graph.constant(factors)), points * factors)


_BUILDERS: dict[type[Any], Callable[[Any, Graph, str, HostArray], str]] = {
    Linear: _linear,
    Polynomial: _polynomial,
    Sigmoid: _sigmoid,
    Cosine: _cosine,
    Gaussian: _gaussian,
    Sum: partial(_combined, "Add"),
    Product: partial(_combined, "Mul"),
    Scaled: _scaled,
    Stretched: _stretched,
}


Table = tuple[list[str], list[Any]]
"""Header and columns."""


class Parts(NamedTuple):
    """How one kind of model is exported: its arrays by name, the table of its weights, and its scores in a graph."""

    arrays: Callable[[Any], dict[str, Any]]
    table: Callable[[Any, Sequence[str] | None], Table]
    scores: Callable[[Any, Graph], str]


PARTS: dict[type[Any], Parts] = {
    PCAModel: Parts(_linear_arrays, _pca_table, _pca_scores),
    ICAModel: Parts(_linear_arrays, _ica_table, _ica_scores),
    KernelPCAModel: Parts(_kernel_arrays, _kernel_table, _kernel_scores),
    MCAModel: Parts(_coded_arrays, _coded_table, _coded_scores),
    FAMDModel: Parts(_coded_arrays, _coded_table, _coded_scores),
}
