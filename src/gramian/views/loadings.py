"""What a component is made of: the columns that weigh most in it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import ParameterError
from gramian.models.ica import ICAModel
from gramian.models.pca import PCAModel
from gramian.views.fitted import column_names, host, require_kind


@dataclass(frozen=True, slots=True)
class ColumnWeight:
    """One column's part in a component.

    Attributes
    ----------
    name : str
        The column.
    weight : float
        Its entry in the unit vector of the component, with its sign.
    contribution : float
        weight^2: the entries of a component add up to one.
    """

    name: str
    weight: float
    contribution: float


def leading_columns(
    fitted: Any, component: int = 0, *, count: int = 6, names: Sequence[str] | None = None
) -> tuple[ColumnWeight, ...]:
    """Columns with the largest weights in one component, largest first.

    Computes  contribution_j = V[j, component]^2,  which sum to one over the columns.
    Cost: O(d log d); no pass over the rows.

    A weight compares columns only when they share a unit or were scaled; otherwise it tells mostly which
    column has the larger numbers.

    Parameters
    ----------
    fitted : PCAModel or ICAModel, or an estimator
        The fitted model; for a source, its column of the mixing at unit length.
    component : int
        Position of the component, from zero.
    count : int
        How many columns at most.
    names : sequence of d str, optional
        Names of the columns; ``column 1``, ``column 2``, ... unless given.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> model = fit_pca(as_source(np.array([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]])))
    >>> columns = leading_columns(model, names=["width", "height"])
    >>> [(column.name, round(column.weight, 6)) for column in columns]
    [('height', 0.8), ('width', 0.6)]
    """
    model = require_kind(fitted, PCAModel, ICAModel)
    k = len(model.components)
    if not 0 <= component < k:
        message = f"component={component} lies outside 0..{k - 1}: the model has {k} components."
        raise ParameterError(message)
    weights = _unit_weights(model, component)
    named = column_names(model, names)
    # Tied columns keep the order of the table, so that a page does not change by rounding alone.
    order = np.argsort(-np.round(np.abs(weights), 12), kind="stable")[:count]
    return tuple(ColumnWeight(named[j], float(weights[j]), float(weights[j] ** 2)) for j in order)


def _unit_weights(model: PCAModel | ICAModel, component: int) -> np.ndarray:
    if isinstance(model, PCAModel):
        return host(model.components[component])
    column = host(model.mixing)[:, component]
    length = float(np.linalg.norm(column))
    return column / length if length > 0 else column
