"""The numbers behind each picture: pure functions from a fitted model to small frozen values.

A view knows nothing of colors, axes or pages, so the same numbers serve a plot, a page and a test.
"""

from gramian.models.ica_text import ica_code
from gramian.models.kernel_text import kernel_code, kernel_words
from gramian.views.biplot import Biplot, biplot_of
from gramian.views.certificates import CertificateTable, Residuals, certificate_residuals, certificate_table
from gramian.views.columns import ColumnMap, column_map
from gramian.views.eigenfunctions import Eigenfunctions, eigenfunctions_of
from gramian.views.fitted import column_names, count_of, kind_of, model_of, names_of, shares_of
from gramian.views.gamma import GammaCurve, gamma_curve
from gramian.views.images import ImageStrip, image_strip
from gramian.views.labels import component_label, component_name, counted, shortened
from gramian.views.loadings import ColumnWeight, leading_columns
from gramian.views.outliers import OutlierMap, UnusualRow, outlier_map
from gramian.views.preimages import KernelProfiles, kernel_profiles
from gramian.views.rows import (
    ShownRows,
    deviations_of,
    open_source,
    scores_of,
    scores_table,
    shown_rows,
    values_of_rows,
)
from gramian.views.scores import ScoreGroup, ScoresMap, scores_map
from gramian.views.scree import Scree, scree_of
from gramian.views.separation import between_share
from gramian.views.sources import SourceTraces, source_traces

__all__ = [
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
    "certificate_residuals",
    "certificate_table",
    "column_map",
    "column_names",
    "component_label",
    "component_name",
    "count_of",
    "counted",
    "deviations_of",
    "eigenfunctions_of",
    "gamma_curve",
    "ica_code",
    "image_strip",
    "kernel_code",
    "kernel_profiles",
    "kernel_words",
    "kind_of",
    "leading_columns",
    "model_of",
    "names_of",
    "open_source",
    "outlier_map",
    "scores_map",
    "scores_of",
    "scores_table",
    "scree_of",
    "shares_of",
    "shortened",
    "shown_rows",
    "source_traces",
    "values_of_rows",
]
