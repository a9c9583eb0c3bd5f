"""The pictures, drawn with matplotlib: each takes a view and ``ax=``, and returns the axes it drew on.

matplotlib is an extra (``pip install gramian[plot]``) and is loaded only when a picture is asked for.
"""

from gramian.plots.gamma import plot_gamma
from gramian.plots.loadings import plot_loadings
from gramian.plots.palette import COLORS, MARKERS
from gramian.plots.scores import plot_scores
from gramian.plots.scree import plot_scree
from gramian.plots.svg import blank_axes, to_svg

__all__ = ["COLORS", "MARKERS", "blank_axes", "plot_gamma", "plot_loadings", "plot_scores", "plot_scree", "to_svg"]
