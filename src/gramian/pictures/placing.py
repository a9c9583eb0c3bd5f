"""Names beside points, none over another, wherever the points come to lie when a figure is drawn.

The one module that needs matplotlib to be imported, because its class is one of matplotlib's artists; pictures import
it where they draw.
"""

from collections.abc import Sequence

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backend_bases import RendererBase
from matplotlib.patheffects import withStroke
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox

_OFFSETS = (
    (5, 0),
    (-5, 0),
    (0, 6),
    (0, -6),
    (5, 6),
    (-5, 6),
    (5, -6),
    (-5, -6),
    (5, 13),
    (-5, 13),
    (5, -13),
    (-5, -13),
)
_MANY = 20
_HALO = withStroke(linewidth=2.0, foreground="white", alpha=0.75)
_SIDES = {1: "left", -1: "right", 0: "center"}
_HEIGHTS = {1: "bottom", -1: "top", 0: "center"}


class NameLayer(Artist):
    """Names of points, placed anew at each drawing: a figure may be laid out, resized or saved larger after the plot.

    The first names come first; one for which no place is free, between the others, the legend and the frame, is not
    shown, and their number is said at the lower right.

    Parameters
    ----------
    ax : matplotlib axes
    points : (m, 2) array
    names : sequence of m str
    color : str
    outward : bool
        Whether a name is tried first on the side away from the origin.
    """

    def __init__(self, ax: Axes, points: np.ndarray, names: Sequence[str], *, color: str, outward: bool) -> None:
        super().__init__()
        self._ax = ax
        self._left = ax.text(
            0.99, 0.01, "", transform=ax.transAxes, ha="right", va="bottom", fontsize="x-small", in_layout=False
        )
        self._sides = [int(np.sign(point[0])) if outward else 0 for point in points]
        self._texts = [_annotated(ax, point, str(name)) for point, name in zip(points, names, strict=True)]
        for text in self._texts:
            text.set(color=color, fontsize="small", in_layout=False, zorder=5, path_effects=[_HALO])
        # Before the names themselves are drawn, and after nothing that could move the axes.
        self.set_zorder(-1)
        self.set_in_layout(False)

    def draw(self, renderer: RendererBase) -> None:
        """Find a place for each name; the names are drawn by the axes, later."""
        frame, legend = self._ax.get_window_extent(renderer), self._ax.get_legend()
        taken = [] if legend is None else [legend.get_window_extent(renderer)]
        if len(self._texts) > _MANY:
            # Room for the sentence about names that find none.
            self._left.set_text(_left_out(len(self._texts)))
            taken.append(self._left.get_window_extent(renderer))
        for text, side in zip(self._texts, self._sides, strict=True):
            box = _free_place(text, side, frame, taken, renderer)
            text.set_visible(box is not None)
            taken += [] if box is None else [box]
        self._left.set_text(_left_out(sum(not text.get_visible() for text in self._texts)))
        self.stale = False


def place_names(ax: Axes, points: np.ndarray, names: Sequence[str], *, color: str, outward: bool = False) -> NameLayer:
    """Write names beside points, the first ones first, where they cover neither one another nor the frame.

    Examples
    --------
    >>> from gramian.pictures import blank_axes
    >>> ax = blank_axes()
    >>> layer = place_names(ax, np.full((40, 2), 0.5), ["one"] * 40, color="k")
    >>> ax.figure.draw_without_rendering()
    >>> 0 < sum(text.get_visible() for text in ax.texts) < 40
    True
    """
    layer = NameLayer(ax, points, names, color=color, outward=outward)
    ax.add_artist(layer)
    return layer


def _left_out(count: int) -> str:
    return f"{count} {'name has' if count == 1 else 'names have'} no room here" if count else ""


def _annotated(ax: Axes, point: np.ndarray, name: str) -> Annotation:
    place = float(point[0]), float(point[1])
    return ax.annotate(name, place, (0, 0), textcoords="offset points", parse_math=False)


def _free_place(text: Annotation, side: int, frame: Bbox, taken: list[Bbox], renderer: RendererBase) -> Bbox | None:
    """Move a name to the first place that is free; ``None`` where there is none."""
    text.set_visible(True)
    for across, up in sorted(_OFFSETS, key=lambda offset: bool(side and np.sign(offset[0]) != side)):
        text.set(position=(across, up), ha=_SIDES[int(np.sign(across))], va=_HEIGHTS[int(np.sign(up))])
        box = text.get_window_extent(renderer).padded(1.0)
        inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
        if inside and not any(box.overlaps(other) for other in taken):
            return box
    return None
