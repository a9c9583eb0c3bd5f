"""Frozen values as JSON and arrays, and back: only values of the catalog, their fields checked one by one."""

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
import scipy.sparse as sp

from gramian.arrays.namespace import HostArray, is_sparse, to_host
from gramian.errors import GramianError, NotSupportedError
from gramian.models.archive.catalog import CLASSES, KINDS, LEFT_OUT, MAY_OVERFLOW, NOT_FINITE, RENAMED, SHAPES, refuse
from gramian.sources.dense import DenseRows
from gramian.sources.rows import RowSource
from gramian.sources.sparse import SparseRows

DEPTH = 24
"""Levels of values inside values, at most: a sum of products of kernels needs six."""

DTYPES = {"float64": "F64", "float32": "F32", "int64": "I64", "int32": "I32", "bool": "BOOL"}
"""Types of arrays that a file may hold, as safetensors calls them."""


class Encoder:
    """Turns values into JSON, and puts their arrays aside by name; an array that is there twice is kept once."""

    def __init__(self) -> None:
        self.arrays: dict[str, HostArray] = {}
        self._known: dict[int, tuple[Any, dict[str, Any]]] = {}

    def encode(self, value: Any, name: str) -> Any:
        """Return a value as JSON; ``name`` says where it stands, and names its arrays."""
        if value is None or isinstance(value, str):
            return value
        if isinstance(value, bool | int | float | np.number | np.bool_):
            return _number(value)
        if isinstance(value, Mapping):
            return {"mapping": {str(key): self.encode(part, f"{name}.{key}") for key, part in value.items()}}
        kind = type(value).__name__
        if CLASSES.get(kind) is type(value):
            return {"class": kind, "fields": self._fields(value, name)}
        if isinstance(value, tuple | list):
            return [self.encode(part, f"{name}.{i}") for i, part in enumerate(value)]
        return self._large(value, name)

    def _fields(self, value: Any, name: str) -> dict[str, Any]:
        return {
            field: self.encode(getattr(value, field), f"{name}.{field}" if name else field)
            for field in field_names(type(value))
            if field not in LEFT_OUT
        }

    def _large(self, value: Any, name: str) -> dict[str, Any]:
        if id(value) not in self._known:
            # The value is kept with its name, so that its id is not given to another one meanwhile.
            self._known[id(value)] = (value, self._stored(value, name))
        return self._known[id(value)][1]

    def _stored(self, value: Any, name: str) -> dict[str, Any]:
        if isinstance(value, RowSource):
            return {"rows": self.encode(_held_rows(value), name), "weights": self.encode(value.weights, f"{name}.w")}
        if is_sparse(value):
            csr = value.tocsr()
            parts = {part: self.encode(getattr(csr, part), f"{name}.{part}") for part in ("data", "indices", "indptr")}
            return {"csr": parts, "shape": list(csr.shape)}
        if hasattr(value, "shape") and hasattr(value, "dtype"):
            array = np.ascontiguousarray(to_host(value))
            if array.dtype.name in DTYPES:
                self.arrays[name] = array
                return {"array": name}
        raise NotSupportedError(_refusal(value, name))


def _number(value: Any) -> Any:
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    return float(value) if np.isfinite(value) else {"float": str(float(value))}


def _held_rows(source: RowSource) -> Any:
    whole = source.whole
    if whole is not None:  # an array that converts its entries as they are read has no number of dimensions
        return whole if hasattr(whole, "ndim") else whole[:, :]
    blocks = [source.block(i).rows for i in range(source.n_blocks)]
    return sp.vstack(blocks, format="csr") if source.is_sparse else np.concatenate([to_host(b) for b in blocks])


def _refusal(value: Any, name: str) -> str:
    own = callable(value) or callable(getattr(value, "function", None))
    what = "a function of one's own" if own else f"a {type(value).__name__}"
    return (
        f"This model holds {what} ({name}), and a model file holds numbers and named values alone, so that opening one "
        "runs no code. Use a kernel or contrast that Gramian has by name, or pickle the estimator for your own use."
    )


class Decoder:
    """Turns JSON and arrays into values of the catalog; whatever does not fit is refused."""

    def __init__(self, arrays: Mapping[str, HostArray]) -> None:
        self._arrays = arrays

    def decode(self, node: Any, depth: int = 0) -> Any:
        """Return the value that JSON stands for."""
        if depth > DEPTH:
            refuse(f"values lie more than {DEPTH} levels deep")
        if isinstance(node, list):
            return tuple(self.decode(part, depth + 1) for part in node)
        if not isinstance(node, dict):
            return node
        make = next((make for mark, make in self._makers().items() if mark in node), None)
        if make is None:
            refuse("it holds something that is no value")
        return make(node, depth)

    def _makers(self) -> dict[str, Any]:
        return {
            "class": self._value,
            "array": self._array,
            "csr": self._csr,
            "rows": self._rows,
            "mapping": self._mapping,
            "float": _special,
        }

    def _mapping(self, node: dict[str, Any], depth: int) -> dict[str, Any]:
        return {key: self.decode(part, depth + 1) for key, part in node["mapping"].items()}

    def _array(self, node: dict[str, Any], depth: int) -> HostArray:
        del depth
        name = node["array"]
        if not isinstance(name, str) or name not in self._arrays:
            refuse(f"the array {name!r} is not there")
        return self._arrays[name]

    def _csr(self, node: dict[str, Any], depth: int) -> Any:
        parts = {part: self.decode(node["csr"][part], depth + 1) for part in ("data", "indices", "indptr")}
        n, d = (_count(side) for side in node["shape"])
        data, indices, indptr = parts["data"], parts["indices"], parts["indptr"]
        if any(not isinstance(part, np.ndarray) or part.ndim != 1 for part in parts.values()):
            refuse("sparse rows are not three arrays")
        if len(indptr) != n + 1 or len(indices) != len(data) or indices.dtype.kind != "i" or indptr.dtype.kind != "i":
            refuse("sparse rows do not fit together")
        if indptr[0] != 0 or indptr[-1] != len(data) or np.any(np.diff(indptr) < 0):
            refuse("sparse rows do not begin where others end")
        if len(indices) and not 0 <= indices.min() <= indices.max() < d:
            refuse("sparse rows have entries beyond their columns")
        return sp.csr_array((data, indices, indptr), shape=(n, d))

    def _rows(self, node: dict[str, Any], depth: int) -> RowSource:
        rows = self.decode(node["rows"], depth + 1)
        weights = self.decode(node.get("weights"), depth + 1)
        if is_sparse(rows):
            source: RowSource = SparseRows(rows, weights=weights)
        elif isinstance(rows, np.ndarray) and rows.ndim == 2 and rows.dtype.kind == "f":
            source = DenseRows(rows, weights=weights)
        else:
            refuse("its rows are no table of numbers")
        if not np.isfinite(rows.data if is_sparse(rows) else rows).all():
            refuse("rows holds NaN or infinity")
        if weights is not None and (not isinstance(weights, np.ndarray) or weights.shape != (source.n_rows,)):
            refuse("its weights are not one per row")
        return source

    def _value(self, node: dict[str, Any], depth: int) -> Any:
        name, given = node["class"], node["fields"]
        if not isinstance(name, str) or name not in CLASSES or not isinstance(given, dict):
            refuse(f"it names {str(name)[:40]!r}, which is no value of a model")
        kind, given = CLASSES[name], {RENAMED.get((name, field), field): part for field, part in given.items()}
        unknown = set(given) - set(field_names(kind))
        if unknown:
            refuse(f"{name} has no field {min(unknown)!r:.40}")
        values = {field: self.decode(part, depth + 1) for field, part in given.items()}
        for field, value in values.items():
            _require_type(name, field, value)
            _require_finite(name, field, value)
        _require_shapes(name, values)
        try:
            return kind(**values)
        except (GramianError, TypeError, ValueError) as error:
            refuse(f"{name} cannot be made from its fields ({error})")


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the fields of a value that are kept: not those that only remember work already done."""
    names = [field.name for field in fields(kind)] if is_dataclass(kind) else kind._fields
    return tuple(name for name in names if not name.startswith("_"))


def _special(node: dict[str, Any], depth: int) -> float:
    del depth
    if node["float"] not in {"nan", "inf", "-inf"}:
        refuse("it holds a number that is none")
    return float(node["float"])


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**62:
        refuse("a shape is no pair of counts")
    return value


@cache
def _hints(name: str) -> dict[str, Any]:
    return get_type_hints(CLASSES[name])


def _require_type(name: str, field: str, value: Any) -> None:
    numbers = value.data if is_sparse(value) else value
    odd = isinstance(numbers, np.ndarray) and numbers.dtype.kind != KINDS.get((name, field), "f")
    if odd or not _fits(value, _hints(name)[field]):
        refuse(f"{name}.{field} is of the wrong type")


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value is of a declared type; an array of any library is one of NumPy, or CSR, in a file."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in get_args(hint))
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(part, get_args(hint)[0]) for part in value)
    if origin is Literal:
        return value in get_args(hint)
    if hint is Any:
        return isinstance(value, np.ndarray) or is_sparse(value)
    kind = origin or hint
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return isinstance(value, kind)


def _require_finite(name: str, field: str, value: Any) -> None:
    if name in NOT_FINITE:
        return
    numbers = value.data if is_sparse(value) else value
    if isinstance(value, float):
        numbers = np.array(value)
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind != "f":
        return
    bad = np.isnan(numbers) if (name, field) in MAY_OVERFLOW else ~np.isfinite(numbers)
    if bad.any():
        refuse(f"{name}.{field} holds NaN or infinity")


def _require_shapes(name: str, values: Mapping[str, Any]) -> None:
    sides: dict[str, int] = {}
    for field, letters in SHAPES.get(name, {}).items():
        value = values.get(field)
        if value is None:
            continue
        shape = (len(value),) if isinstance(value, tuple) else value.shape
        agree = len(shape) == len(letters) and all(
            sides.setdefault(letter, side) == side for letter, side in zip(letters, shape, strict=True)
        )
        if not agree:
            refuse(f"{name}.{field} has the shape {shape}, which does not fit the rest")
