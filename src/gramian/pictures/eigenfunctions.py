"""The components of a kernel as functions over the plane of two columns, drawn as contours."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.errors import NotSupportedError
from gramian.models.row_values import values_at
from gramian.pictures.drawing import axes_or_new, bare, panels
from gramian.pictures.fitted import require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class Eigenfunctions:
    """Scores of every point of a grid.

    Attributes
    ----------
    x, y : (g,), (h,) arrays
        The grid.
    values : (c, h, g) array
        One surface per component.
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
        Points per side.
    limit : int
        At most so many rows are given back as points.

    Examples
    --------
    >>> from gramian import KernelPCA
    >>> X = np.random.default_rng(0).standard_normal((40, 2))
    >>> eigenfunctions_of(KernelPCA(3, kernel="rbf", gamma=0.5).fit(X), steps=8).values.shape
    (3, 8, 8)
    """
    model = require_kind(fitted, "kernel")
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


def eigenfunctions(model: Any, *, count: int = 6, steps: int = 80, ax: Axes | None = None) -> Axes:
    """Draw the components of a kernel over two columns as contours.

    Parameters
    ----------
    model : a fitted KernelPCA of two columns
    count, steps : int
        Components, and points of the grid per side.
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    return plot_eigenfunctions(eigenfunctions_of(model, count=count, steps=steps), ax=ax)


def plot_eigenfunctions(view: Eigenfunctions, *, ax: Axes | None = None) -> Axes:
    """Draw each component as bands of equal score, zero as a darker line, with the rows it was learned from."""
    count = len(view.values)
    columns = min(3, max(count, 1))
    rows = max(1, ceil(count / columns))
    ax = axes_or_new(ax, width=2.8 * columns, height=2.7 * rows)
    grid = panels(ax, rows, columns, gap=(0.06, 0.14))
    for position, panel in enumerate(grid.flat):
        bare(panel)
        if position < count:
            _draw(panel, view, position)
        else:
            panel.set_visible(False)
    return ax


def _draw(ax: Axes, view: Eigenfunctions, component: int) -> None:
    values = view.values[component]
    top = float(np.abs(values).max()) or 1.0
    levels = np.linspace(-top, top, 16)
    ax.contourf(view.x, view.y, values, levels=levels, cmap="PuOr", vmin=-1.25 * top, vmax=1.25 * top)
    ax.contour(view.x, view.y, values, levels=levels, colors="white", linewidths=0.4)
    if values.min() < 0.0 < values.max():
        ax.contour(view.x, view.y, values, levels=[0.0], colors="#5b6570", linewidths=0.9)
    x, y = view.points.T
    ax.scatter(x, y, s=4, color="#1d2733", linewidths=0, zorder=3, rasterized=len(view.points) > 500)
    ax.set_aspect("equal")
    ax.set_title(f"PC{component + 1} ({view.shares[component]:.0%})", fontsize="small", loc="left")
