"""The components of a kernel as functions over the plane."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.errors import NotSupportedError
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.row_values import values_at
from gramian.views.fitted import require_kind


@dataclass(frozen=True, slots=True)
class Eigenfunctions:
    """Scores of every point of a grid.

    Attributes
    ----------
    x, y : (g,), (h,) arrays
        The grid.
    values : (c, h, g) array
        One surface a component.
    points : (m, 2) array
        Rows of the fit, or some of them.
    shares : (c,) array
    """

    x: np.ndarray
    y: np.ndarray
    values: np.ndarray
    points: np.ndarray
    shares: np.ndarray


def eigenfunctions_of(fitted: Any, *, count: int = 6, steps: int = 60, limit: int = 1_000) -> Eigenfunctions:
    """Evaluate the components of a kernel PCA of two columns over the plane around its rows.

    Computes the score  y_a(x) = sum_i alpha_ai kc(x_i, x)  at steps^2 points.  Cost: n steps^2 kernel values.
    Only for rows of two columns: there is no plane to draw otherwise.

    Parameters
    ----------
    fitted : KernelPCAModel or KernelPCA
    count : int
        At most so many components.
    steps : int
        Points a side.
    limit : int
        At most so many rows are given back as points.

    Examples
    --------
    >>> from gramian import KernelPCA
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> eigenfunctions_of(KernelPCA(3, kernel="rbf", gamma=0.5).fit(X), steps=8).values.shape
    (3, 8, 8)
    """
    model = require_kind(fitted, KernelPCAModel)
    if model.n_columns != 2 or model.source.n_rows == 0:
        message = f"Eigenfunctions are drawn over a plane, and these rows have {model.n_columns} columns and not two."
        raise NotSupportedError(message)
    positions = np.unique(np.linspace(0, model.n_rows - 1, min(limit, model.n_rows)).astype(np.int64))
    points = values_at(model.source, positions)
    low, high = points.min(axis=0), points.max(axis=0)
    margin = 0.15 * np.maximum(high - low, 1e-12)
    x, y = (np.linspace(low[j] - margin[j], high[j] + margin[j], steps) for j in (0, 1))
    plane = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    values = np.asarray(model.project(plane))[:, :count].T.reshape(-1, steps, steps)
    return Eigenfunctions(x, y, values, points, np.asarray(model.shares)[:count])
