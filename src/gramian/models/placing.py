"""Where a fitted model is: with the rows of the host that were moved to a device for the fit, or there."""

from dataclasses import fields, replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import from_host, is_torch, to_host
from gramian.sources.rows import RowSource


def home(model: Any, source: RowSource) -> Any:
    """Return a model of moved rows with its arrays, and the rows that it holds, where these came from; others as is."""
    if source.origin is None:
        return model
    like = source.origin.like()
    arrays = {field.name: getattr(model, field.name) for field in fields(model)}
    changed: dict[str, Any] = {
        name: from_host(to_host(value), like=like) for name, value in arrays.items() if is_torch(value)
    }
    if model.source is not None:
        changed |= {"source": source.origin, "expansion": replace(model.expansion, source=source.origin)}
    if "plan" in arrays:
        changed["plan"] = replace(model.plan, moved=source.moved)
    return replace(model, **changed)


def near(model: Any, source: RowSource) -> Any:
    """Return a model of moved rows with its arrays where the rows were moved to; others as is."""
    if source.origin is None:
        return model
    arrays = {field.name: getattr(model, field.name) for field in fields(model)}
    like = source.like()
    return replace(model, **{n: from_host(x, like=like) for n, x in arrays.items() if isinstance(x, np.ndarray)})
