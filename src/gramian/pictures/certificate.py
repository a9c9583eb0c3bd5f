"""The certificate of a fit: how far each component can be from the truth, as a table of text and as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context
from math import inf, isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.pictures.drawing import COLORS, MUTED, axes_or_new, plain_frame
from gramian.pictures.fitted import FittedModel, require_kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, slots=True)
class CertificateTable:
    """A certificate laid out.

    Attributes
    ----------
    header : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        One row per component.
    grades : tuple of str
        The grade of each row, also its last column but one.
    value_bound, angle_bound : str
        The largest bounds that were given.
    n_free : int
        Components without a bound on their angle: ties, and directions without variance.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    grades: tuple[str, ...]
    value_bound: str
    angle_bound: str
    n_free: int


_TWO_DIGITS_UP = Context(prec=2, rounding=ROUND_CEILING)


def certificate_table(model: FittedModel, *, count: int | None = None) -> CertificateTable:
    """Lay out the certificate of a fitted model, one row per component.

    Variances are followed by the bound on their error, |lam - true|, and components by the bound on the
    sine of the angle to the truth. A bound that could not be given reads ``none``, never zero.

    Parameters
    ----------
    model : PCAModel or KernelPCAModel
        The fitted model.
    count : int, optional
        At most this many rows.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources.opening import as_source
    >>> model = fit_pca(as_source(np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])))
    >>> certificate_table(model).grades
    ('proved', 'proved')
    """
    lines = model.certificate.lines[:count]
    errors = [min(line.value_bound, line.quadratic_bound) for line in lines]
    rows = tuple(
        (
            f"{model.prefix}{position + 1}",
            f"{line.value:.6g}",
            bound_text(line.residual),
            bound_text(error),
            bound_text(line.angle_bound),
            line.grade,
            "yes" if line.tie else "no",
        )
        for position, (line, error) in enumerate(zip(lines, errors, strict=True))
    )
    angles = [line.angle_bound for line in lines if isfinite(line.angle_bound)]
    return CertificateTable(
        ("component", "variance", "residual", "variance within", "angle within", "grade", "tie"),
        rows,
        tuple(line.grade for line in lines),
        value_bound=bound_text(max(errors, default=0.0)),
        angle_bound=bound_text(max(angles, default=inf)),
        n_free=len(lines) - len(angles),
    )


def bound_text(bound: float) -> str:
    """A bound with two digits, rounded up so that it stays one, or ``none``.

    Examples
    --------
    >>> bound_text(3.21e-13), bound_text(float("inf"))
    ('3.3e-13', 'none')
    """
    if not isfinite(bound):
        return "none"
    return f"{_TWO_DIGITS_UP.create_decimal(bound):.1e}"


@dataclass(frozen=True, slots=True)
class Residuals:
    """What was measured of each component, without its unit.

    Attributes
    ----------
    residuals : (k,) array
        |A v - lambda v| over the largest lambda; never less than rounding.
    angles : (k,) array
        Bound on the sine of the angle to the truth; inf for ties.
    grades : tuple of str
    """

    residuals: np.ndarray
    angles: np.ndarray
    grades: tuple[str, ...]


def certificate_residuals(fitted: Any) -> Residuals:
    """Lay out the residuals of a fitted model.

    Examples
    --------
    >>> from gramian import PCA
    >>> certificate_residuals(PCA().fit([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])).grades
    ('proved', 'proved')
    """
    certificate = require_kind(fitted, "pca", "kernel").certificate
    lines = certificate.lines
    largest = max((abs(line.value) for line in lines), default=0.0) or 1.0
    smallest = float(np.finfo(np.float64).eps) / 8
    return Residuals(
        np.array([max(line.residual / largest, smallest) for line in lines]),
        np.array([line.angle_bound for line in lines]),
        tuple(line.grade for line in lines),
    )


_LOOKS = {
    "proved": (COLORS[2], "o"),
    "measured": (COLORS[3], "D"),
    "probable": (COLORS[0], "s"),
    "conditional": (COLORS[4], "^"),
    "rejected": (COLORS[1], "X"),
}


def certificate(model: Any, *, ax: Axes | None = None) -> Axes:
    """Draw the measured residual of each component by its grade, and the bound on its angle.

    Parameters
    ----------
    model : a fitted PCA or KernelPCA
    ax : matplotlib axes, optional

    Returns
    -------
    matplotlib axes
    """
    return plot_certificate(certificate_residuals(model), ax=ax)


def plot_certificate(residuals: Residuals, *, ax: Axes | None = None) -> Axes:
    """Draw the residual of each component, relative to the largest variance, by grade, and the bound on its angle."""
    ax = axes_or_new(ax)
    from matplotlib.ticker import MaxNLocator

    positions = np.arange(1, len(residuals.residuals) + 1)
    known = np.isfinite(residuals.angles)
    ax.plot(positions[known], residuals.angles[known], "_", color=MUTED, markersize=9, label="angle at most (sine)")
    for grade, (color, marker) in _LOOKS.items():
        members = np.array([g == grade for g in residuals.grades], dtype=bool)
        if members.any():
            name = f"residual, {grade}"
            ax.plot(positions[members], residuals.residuals[members], marker, color=color, markersize=5, label=name)
    ax.set_yscale("log")
    ax.set(xlabel="component", ylabel="relative to the largest variance")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.legend(frameon=False, fontsize="small", loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    plain_frame(ax)
    return ax
