"""A picture as SVG text that takes its ink and its typeface from the page it stands in."""

import re
from html import escape
from io import StringIO
from typing import Any
from zlib import crc32

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gramian.errors import ParameterError
from gramian.plots.palette import COLORS, FALLING, RISING

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
