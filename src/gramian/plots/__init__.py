"""The pictures, drawn with matplotlib: each takes a view and ``ax=``, and returns the axes it drew on.

``gramian.plot`` draws them from a fitted model. matplotlib is an extra (``pip install gramian[plot]``) and is loaded
only when a picture is asked for.
"""

from gramian.plots.biplot import plot_biplot
from gramian.plots.certificate import plot_certificate
from gramian.plots.columns import plot_columns
from gramian.plots.eigenfunctions import plot_eigenfunctions
from gramian.plots.gamma import plot_gamma
from gramian.plots.images import plot_reconstructions
from gramian.plots.loadings import plot_contributions, plot_loadings
from gramian.plots.outliers import plot_outliers
from gramian.plots.palette import COLORS, MARKERS
from gramian.plots.scores import plot_scores
from gramian.plots.scree import plot_scree
from gramian.plots.sources import plot_sources
from gramian.plots.svg import blank_axes, to_svg

__all__ = [
    "COLORS",
    "MARKERS",
    "blank_axes",
    "plot_biplot",
    "plot_certificate",
    "plot_columns",
    "plot_contributions",
    "plot_eigenfunctions",
    "plot_gamma",
    "plot_loadings",
    "plot_outliers",
    "plot_reconstructions",
    "plot_scores",
    "plot_scree",
    "plot_sources",
    "to_svg",
]
