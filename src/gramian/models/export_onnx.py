"""A fitted model as an ONNX graph from rows to scores, in float64, that any ONNX runtime computes.

PCA and ICA are an affine map. Kernel PCA compares each row with those of the fit, centers by the means it keeps, and
multiplies by the coefficients; sums, products and multiples of the kernels below are built from their parts.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gramian import __version__
from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError, ParameterError
from gramian.features.nystrom import LandmarkMap
from gramian.kernels.combination import Product, Scaled, Sum
from gramian.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from gramian.kernels.kernel import Kernel
from gramian.kernels.radial import Gaussian
from gramian.kernels.stretched import Stretched
from gramian.models.ica import ICAModel
from gramian.models.kernel_inverse import expansion_of
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.kernel_projection import FeatureExpansion
from gramian.models.pca import PCAModel

OPSET = 17
"""Of ONNX's operators: every one used here is in it, and runtimes since 2022 have it."""


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
    graph.add("Identity", _scores(model, graph))
    graph.nodes[-1].output[0] = "scores"
    k = len(model.eigenvalues) if isinstance(model, KernelPCAModel) else len(model.components)
    rows = helper.make_tensor_value_info("rows", TensorProto.DOUBLE, ["n", model.n_columns])
    out = helper.make_tensor_value_info("scores", TensorProto.DOUBLE, ["n", k])
    made = helper.make_graph(graph.nodes, "gramian", [rows], [out], initializer=graph.constants)
    whole = helper.make_model(
        made, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="gramian", producer_version=__version__
    )
    whole.ir_version = 8
    if names is not None:
        helper.set_model_props(whole, {"columns": "\n".join(names)})
    onnx.checker.check_model(whole)
    path.write_bytes(whole.SerializeToString())


def _scores(model: Any, graph: Graph) -> str:
    if isinstance(model, PCAModel):
        factor = 1.0 if model.factor is None else _host(model.factor)
        mean = _host(model.mean) if model.options.center else np.zeros(model.n_columns)
        return _affine(graph, mean, (_host(model.components) * factor).T)
    if isinstance(model, ICAModel):
        mean = np.zeros(model.n_columns) if model.mean is None else _host(model.mean)
        return _affine(graph, mean, _host(model.components).T)
    if isinstance(model, KernelPCAModel):
        return _kernel_scores(model, graph)
    message = f"A {type(model).__name__} is no model that can be exported."
    raise NotSupportedError(message)


def _affine(graph: Graph, mean: HostArray, weights: HostArray) -> str:
    return graph.add("MatMul", graph.add("Sub", "rows", graph.constant(mean)), graph.constant(weights))


def _kernel_scores(model: KernelPCAModel, graph: Graph) -> str:
    found = model.expansion
    if isinstance(found, FeatureExpansion) and found.phi is None:
        return _affine(graph, found.mean, found.components)
    if isinstance(found, FeatureExpansion) and not isinstance(found.phi, LandmarkMap) and model.approximate:
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
    for kind, build in _BUILDERS.items():
        if type(kernel) is kind:
            return build(kernel, graph, rows, points)
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


def _sum(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    first, *more = [_kernel(term, graph, rows, points) for term in kernel.terms]
    for term in more:
        first = graph.add("Add", first, term)
    return first


def _product(kernel: Any, graph: Graph, rows: str, points: HostArray) -> str:
    first, *more = [_kernel(factor, graph, rows, points) for factor in kernel.factors]
    for factor in more:
        first = graph.add("Mul", first, factor)
    return first


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
    Sum: _sum,
    Product: _product,
    Scaled: _scaled,
    Stretched: _stretched,
}


def _host(values: Any) -> HostArray:
    return to_host(values).astype(FLOAT64)
