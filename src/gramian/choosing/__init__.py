"""How many components: one file per rule, and one call that asks them all (``panel``).

Rules are pure functions of a measured spectrum, largest variance first; those that examine rows take a source of them.
Each answers with a ``Verdict``: the number, and the sentence why.
"""

from gramian.choosing.auto import choose_automatically
from gramian.choosing.cross_validation import cross_validation, generalized_cross_validation
from gramian.choosing.gavish_donoho import gavish_donoho
from gramian.choosing.minka import choose_by_minka, minka
from gramian.choosing.panel import Panel, panel
from gramian.choosing.parallel import parallel_analysis
from gramian.choosing.share import broken_stick, choose_by_share, share_of_variance
from gramian.choosing.spectrum import Verdict

__all__ = [
    "Panel",
    "Verdict",
    "broken_stick",
    "choose_automatically",
    "choose_by_minka",
    "choose_by_share",
    "cross_validation",
    "gavish_donoho",
    "generalized_cross_validation",
    "minka",
    "panel",
    "parallel_analysis",
    "share_of_variance",
]
