"""What every picture shares: colors and marks, axes and panels, and a picture as SVG text for a page.

matplotlib is an extra, so it is imported where something is drawn: colors and numbers are at hand without it.
"""

from __future__ import annotations

import re
from html import escape
from io import StringIO
from typing import TYPE_CHECKING, Any
from zlib import crc32

import numpy as np

from gramian.errors import NotSupportedError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
"""Colors and marks that stay apart for every kind of color vision, on white and on black: the hues of Okabe and Ito
(2008, "Color Universal Design") less black, which is the ink, and less yellow, which vanishes on white. Groups also
differ in shape, so that a map can be read without any color."""
KEPT = COLORS[0]
MUTED = "#8C939C"
RUNNING = COLORS[1]
RISING = "#5E4FA2"
FALLING = "#9C7A3C"
"""Color of a negative weight. No group has it or ``RISING``, so that a bar is not taken for a group of rows."""


def color_of(position: int) -> str:
    """Color of the group at a position; they repeat after six, with another mark.

    Examples
    --------
    >>> color_of(0) == color_of(6)
    True
    """
    return COLORS[position % len(COLORS)]


def marker_of(position: int) -> str:
    """Mark of the group at a position; seven of them, so that pairs with a color repeat only after 42.

    Examples
    --------
    >>> marker_of(0) == marker_of(6)
    False
    """
    return MARKERS[position % len(MARKERS)]


def axes_or_new(ax: Axes | None, *, width: float = 6.4, height: float = 4.8) -> Axes:
    """The axes given, or those of a new figure of so many inches, which a notebook then shows.

    The first line of every drawing: what it imports of matplotlib comes after, so that its absence is said here.
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot as plt
    except ModuleNotFoundError as error:
        message = "Pictures are drawn by matplotlib, which is not installed. Install it: pip install 'gramian[plot]'."
        raise NotSupportedError(message) from error
    axes: Axes = plt.subplots(layout="constrained", figsize=(width, height))[1]
    return axes


def zero_lines(ax: Axes) -> None:
    """Thin lines through the origin, behind all else."""
    ax.axhline(0.0, color=MUTED, linewidth=0.6, zorder=0)
    ax.axvline(0.0, color=MUTED, linewidth=0.6, zorder=0)


def plain_frame(ax: Axes) -> None:
    """Leave only the two lines that carry numbers."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(length=3)


def panels(ax: Axes, rows: int, columns: int, *, gap: tuple[float, float] = (0.04, 0.16)) -> np.ndarray:
    """Small axes in rows and columns inside others, whose own frame disappears.

    Parameters
    ----------
    ax : matplotlib axes
    rows, columns : int
    gap : pair of float
        Between panels, across and up, as shares of a panel.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> panels(Figure().subplots(), 2, 3).shape
    (2, 3)
    """
    ax.set_axis_off()
    width, height = 1.0 / (columns + gap[0] * (columns - 1)), 1.0 / (rows + gap[1] * rows)
    made = [
        [
            ax.inset_axes((j * width * (1 + gap[0]), 1.0 - (i + 1) * height * (1 + gap[1]), width, height))
            for j in range(columns)
        ]
        for i in range(rows)
    ]
    return np.array(made, dtype=object)


def bare(ax: Axes) -> None:
    """No ticks and no frame: an image, or a surface."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


_VARIABLES = {f"--mark-{position}": color for position, color in enumerate(COLORS, start=1)} | {
    "--rising": RISING,
    "--falling": FALLING,
}

_STYLE: Any = {
    "svg.fonttype": "none",  # Text stays text: it can be searched, read aloud, and takes the page's typeface.
    "svg.hashsalt": "gramian",  # The same picture gives the same bytes.
    "font.size": 10.5,
}


def blank_axes(width: float = 5.0, height: float = 3.6) -> Axes:
    """Axes of a new figure that no window knows of, so nothing has to be closed.

    Parameters
    ----------
    width, height : float
        Inches.

    Examples
    --------
    >>> blank_axes(5.0, 3.0).figure.get_size_inches()
    array([5., 3.])
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(_STYLE):
        return Figure(figsize=(width, height), layout="constrained").subplots()


def to_svg(ax: Axes, *, description: str) -> str:
    """The figure of some axes as an ``<svg>`` element, for a page.

    Black becomes ``currentColor``, white ``var(--paper)``, the colors of the palette ``var(--mark-1)`` and so on,
    those of signs ``var(--rising)`` and ``var(--falling)``, so a picture follows a page that sets these from light
    to dark, and keeps its colors elsewhere. Width and typeface are left to the page. Ids carry a prefix, so that
    several pictures can share one page.

    Parameters
    ----------
    ax : matplotlib axes
        Any axes of the figure.
    description : str
        What the picture shows, for those who cannot see it.

    Examples
    --------
    >>> to_svg(blank_axes(), description="nothing yet")[:40]
    '<svg role="img" aria-label="nothing yet"'
    """
    from matplotlib import rc_context

    figure = ax.get_figure(root=True)
    if figure is None:
        message = "These axes belong to no figure any more. Draw again on axes that have one."
        raise ParameterError(message)
    text = StringIO()
    with rc_context(_STYLE):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    document = text.getvalue()
    body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", document, flags=re.DOTALL)
    prefix = f"g{crc32(document.encode()):08x}-"
    # Only tags are touched: a column may be called "#000000", and is then to be shown so.
    body = re.sub(r"<[^>]+>", lambda tag: _free_tag(tag[0], prefix), body[body.index("<svg") :])
    return body.replace("<svg", f'<svg role="img" aria-label="{escape(description)}"', 1)


def _free_tag(tag: str, prefix: str) -> str:
    """Take out of a tag what would overrule the page, and make its ids this picture's own."""
    if tag.startswith("<svg"):
        tag = re.sub(r' (width|height)="[^"]*"', "", tag).replace("<svg", '<svg stroke-linejoin="round"')
    tag = re.sub(r"font-family: [^;\"]*;? ?", "", tag)
    tag = tag.replace("#000000", "currentColor").replace("#ffffff", "var(--paper, #ffffff)")
    for name, color in _VARIABLES.items():
        tag = tag.replace(color.lower(), f"var({name}, {color})")
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}", tag)
