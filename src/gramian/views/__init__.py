"""The numbers behind each picture: pure functions from a fitted model to small frozen values.

A view knows nothing of colors, axes or pages, so the same numbers serve a plot, a page and a test.
"""

from gramian.views.certificates import CertificateTable, certificate_table
from gramian.views.gamma import GammaCurve, gamma_curve
from gramian.views.labels import component_label, component_name
from gramian.views.loadings import ColumnWeight, leading_columns
from gramian.views.scores import ScoreGroup, ScoresMap, scores_map
from gramian.views.scree import Scree, scree_of
from gramian.views.separation import between_share

__all__ = [
    "CertificateTable",
    "ColumnWeight",
    "GammaCurve",
    "ScoreGroup",
    "ScoresMap",
    "Scree",
    "between_share",
    "certificate_table",
    "component_label",
    "component_name",
    "gamma_curve",
    "leading_columns",
    "scores_map",
    "scree_of",
]
