"""Rows beyond the limits of a PCA, and the columns to blame for them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import to_host
from gramian.arrays.precision import FLOAT64
from gramian.models.pca.model import PCAModel
from gramian.models.pca.scoring import Outliers

WEIGHS = 0.1
"""Part of the largest share under which a column is not to blame."""


@dataclass(frozen=True, slots=True)
class Blame:
    """A column's part in what makes a row unusual.

    Attributes
    ----------
    name : str
    share : float
        Of the distance that the row is flagged for.
    value : float
        In the row.
    deviations : float
        How many standard deviations of its column that lies from the mean.
    """

    name: str
    share: float
    value: float
    deviations: float


@dataclass(frozen=True, slots=True)
class UnusualRow:
    """A row beyond a limit.

    Attributes
    ----------
    row : int
        Its position.
    t2, spe : float
    beyond : str
        "within the components", "off the components" or "within and off the components": which limit it
        passes.
    blame : tuple of Blame
        Columns with the largest parts, largest first.
    """

    row: int
    t2: float
    spe: float
    beyond: str
    blame: tuple[Blame, ...]


@dataclass(frozen=True, slots=True)
class OutlierMap:
    """All rows by both distances, and those beyond a limit in detail.

    Attributes
    ----------
    found : Outliers
    unusual : tuple of UnusualRow
        Furthest beyond a limit first; at most as many as were asked for.
    far : tuple of int
        Rows further out than any row of a Gaussian table would be, 99 times of 100; furthest first.
    method : str
        How the rows were found that the limits rest on; see :class:`~gramian.models.pca.robust.RobustFit`.
    n_measured : int
        Rows that those were found among.
    """

    found: Outliers
    unusual: tuple[UnusualRow, ...]
    far: tuple[int, ...] = ()
    method: str = "all rows"
    n_measured: int = 0


def unusual_rows(
    model: PCAModel,
    found: Outliers,
    rows: np.ndarray,
    *,
    mean: np.ndarray,
    spread: np.ndarray,
    names: Sequence[str],
    columns: int = 3,
    filled: np.ndarray | None = None,
) -> tuple[UnusualRow, ...]:
    """Say of the rows furthest beyond a limit which columns put them there.

    Computes, for a row within the components, the parts of T2,  c_j = z_j sum_a t_a v_aj / lam_a,  which sum to it
    (z being the row as the model saw it); for a row off them, the squared residuals of its columns; for a row beyond
    both limits the mean of both shares.

    Parameters
    ----------
    model : PCAModel
    found : Outliers
    rows : numpy array (m, d)
        Those of the first m of ``found.flagged``.
    mean, spread : numpy array (d,)
        Of the columns.
    names : sequence of d str
    columns : int
        At most so many of them per row.
    filled : numpy array of bool (m, d), optional
        Cells that were filled, and tell nothing.
    """
    shown = found.flagged[: len(rows)]
    if not len(shown):
        return ()
    parts = _parts(model.truncated(found.n_components), rows, found, shown)
    known = np.ones(rows.shape, dtype=bool) if filled is None else ~filled
    away = np.divide(rows - mean, spread, out=np.zeros_like(rows), where=spread > 0)
    return tuple(
        UnusualRow(
            int(row),
            float(found.t2[row]),
            float(found.spe[row]),
            _beyond(found, row),
            tuple(
                Blame(names[j], float(part[j]), float(rows[i, j]), float(away[i, j]))
                for j in np.argsort(-np.where(known[i], part, -np.inf), kind="stable")[:columns]
                if known[i, j] and part[j] >= WEIGHS * part[known[i]].max()
            ),
        )
        for i, (row, part) in enumerate(zip(shown, parts, strict=True))
    )


def _beyond(found: Outliers, row: int) -> str:
    far, off = found.t2[row] > found.t2_limit, found.spe[row] > found.spe_limit
    return "within and off the components" if far and off else "within the components" if far else "off the components"


def _parts(model: PCAModel, rows: np.ndarray, found: Outliers, shown: np.ndarray) -> np.ndarray:
    """Return each column's share of the distance that a row is further beyond (m, d)."""
    V, lam = _host(model.components), _host(model.variances)
    z = rows - _host(model.mean) if model.options.center else rows
    z = z if model.factor is None else z * _host(model.factor)
    scores = z @ V.T
    inverse = np.divide(1.0, lam, out=np.zeros_like(lam), where=lam > 0)
    inverse[model.rank :] = 0.0
    within, off = z * ((scores * inverse) @ V), (z - scores @ V) ** 2
    shares = np.zeros_like(rows)
    for parts, distance, limit in ((within, found.t2, found.t2_limit), (off, found.spe, found.spe_limit)):
        totals = parts.sum(axis=1, keepdims=True)
        part = np.divide(parts, totals, out=np.zeros_like(parts), where=totals > 0)
        shares += np.where((distance[shown] > limit)[:, None], part, 0.0)
    both = (found.t2[shown] > found.t2_limit) & (found.spe[shown] > found.spe_limit)
    return shares / np.where(both, 2.0, 1.0)[:, None]


def _host(values: Any) -> np.ndarray:
    return to_host(values).astype(FLOAT64)
