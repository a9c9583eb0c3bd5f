"""Independent sources: contrasts, the methods that unmix, and how far their answer can be trusted.

Every method sees rows as white (:class:`~gramian.unmixing.white_rows.WhiteRows`) and asks them for means, one pass
each. A new contrast or method is one new file.
"""

from gramian.unmixing.contrast import Contrast, Cube, Exp, LogCosh, Own, check_contrast, contrast_of
from gramian.unmixing.fastica import Deflation, SymmetricFastICA
from gramian.unmixing.independence import Independence, entropy, measure_independence
from gramian.unmixing.infomax import Infomax
from gramian.unmixing.method import Unmixing, UnmixingMethod, unmix
from gramian.unmixing.picard import PicardO
from gramian.unmixing.stability import Stability, measure_stability
from gramian.unmixing.white_rows import WhiteRows

__all__ = [
    "Contrast",
    "Cube",
    "Deflation",
    "Exp",
    "Independence",
    "Infomax",
    "LogCosh",
    "Own",
    "PicardO",
    "Stability",
    "SymmetricFastICA",
    "Unmixing",
    "UnmixingMethod",
    "WhiteRows",
    "check_contrast",
    "contrast_of",
    "entropy",
    "measure_independence",
    "measure_stability",
    "unmix",
]
