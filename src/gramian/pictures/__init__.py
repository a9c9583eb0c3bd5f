"""One file per picture: the numbers behind it, and the drawing of it.

The numbers are pure functions from a fitted model to small frozen values (``scree_of(model)``), which know nothing of
colors or pages: a plot, a page and a test share them. Each is drawn by a function that takes such a value and ``ax=``,
and returns the axes it drew on (``plot_scree``). ``gramian.plot`` does both from a fitted model.

matplotlib is an extra (``pip install gramian[plot]``) and is loaded only when something is drawn.
"""

from gramian.analysis.outliers import OutlierMap, UnusualRow
from gramian.analysis.rows import ShownRows, shown_rows
from gramian.pictures.biplot import Biplot, ColumnMap, biplot_of, column_map, plot_biplot, plot_columns
from gramian.pictures.certificate import (
    CertificateTable,
    Residuals,
    certificate_residuals,
    certificate_table,
    plot_certificate,
)
from gramian.pictures.drawing import COLORS, MARKERS, blank_axes, to_svg
from gramian.pictures.eigenfunctions import Eigenfunctions, eigenfunctions_of, plot_eigenfunctions
from gramian.pictures.fitted import (
    column_names,
    model_of,
    names_of,
    scores_of,
    scores_table,
)
from gramian.pictures.gamma import GammaCurve, gamma_curve, plot_gamma
from gramian.pictures.images import ImageStrip, image_strip, plot_reconstructions
from gramian.pictures.loadings import ColumnWeight, leading_columns, plot_contributions, plot_loadings
from gramian.pictures.outliers import outlier_map, plot_outliers
from gramian.pictures.preimages import KernelProfiles, kernel_profiles
from gramian.pictures.scores import ScoreGroup, ScoresMap, between_share, plot_scores, scores_map
from gramian.pictures.scree import Scree, plot_scree, scree_of
from gramian.pictures.sources import SourceTraces, plot_sources, source_traces

__all__ = [
    "COLORS",
    "MARKERS",
    "Biplot",
    "CertificateTable",
    "ColumnMap",
    "ColumnWeight",
    "Eigenfunctions",
    "GammaCurve",
    "ImageStrip",
    "KernelProfiles",
    "OutlierMap",
    "Residuals",
    "ScoreGroup",
    "ScoresMap",
    "Scree",
    "ShownRows",
    "SourceTraces",
    "UnusualRow",
    "between_share",
    "biplot_of",
    "blank_axes",
    "certificate_residuals",
    "certificate_table",
    "column_map",
    "column_names",
    "eigenfunctions_of",
    "gamma_curve",
    "image_strip",
    "kernel_profiles",
    "leading_columns",
    "model_of",
    "names_of",
    "outlier_map",
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
    "scores_map",
    "scores_of",
    "scores_table",
    "scree_of",
    "shown_rows",
    "source_traces",
    "to_svg",
]
