"""Rows seen as white: by PCA on the directions that they have, or as they are where they are said to be white."""

import warnings
from dataclasses import replace

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import IdentifiabilityWarning, InputError, RankWarning, users_line
from gramian.models.ica_model import ICAOptions
from gramian.models.pca import PCAModel, PCAOptions, fit_pca
from gramian.models.scoring import deviations
from gramian.sources.measuring import measure_moments
from gramian.sources.rows import RowSource
from gramian.unmixing.white_rows import WhiteRows

NOT_WHITE = 0.1
"""Entry of the second moments less the identity above which rows given as white are said not to be."""

SQUARES = 1e-30, 1e30
"""Mean squares between which rows given as white can be held in float32 with their powers."""


def require_rows(source: RowSource, options: ICAOptions) -> None:
    """Refuse a single row."""
    if source.n_rows < 2:
        message = (
            f"Found array with 1 sample(s) (shape={(source.n_rows, source.n_columns)}) while a minimum of 2 is "
            f"required by {options.name}: one row has no variation to unmix."
        )
        raise InputError(message)


def white_rows(source: RowSource, options: ICAOptions) -> tuple[WhiteRows, PCAModel | None]:
    """Return the rows seen as white, and the PCA that made them so."""
    if not options.whiten:
        moments = measure_moments(source, center=False)
        second = to_host(moments.scatter) / moments.weight
        _check_white(source, second)
        return WhiteRows(source, np.eye(source.n_columns), None, second), None
    most = min(source.n_rows, source.n_columns)
    k = most if options.n_components is None else options.n_components
    if k > most:
        message = f"n_components is too large: it will be set to {most}, the smaller side of these rows."
        warnings.warn(message, RankWarning, stacklevel=users_line())
        k, options = most, replace(options, n_components=None)
    pca = fit_pca(source, PCAOptions(n_components=k, ddof=0, seed=options.seed, memory_budget=options.memory_budget))
    _check_rank(pca, k, options)
    K = to_host(pca.components).astype(FLOAT64)[: pca.rank] / deviations(pca)[: pca.rank, None]
    return WhiteRows(source, K, to_host(pca.mean).astype(FLOAT64), np.eye(pca.rank)), pca


def _check_white(source: RowSource, second: HostArray) -> None:
    """Refuse rows that do not vary or are far from any unit, and warn of others that are not white."""
    with np.errstate(invalid="ignore"):
        apart, largest = float(np.abs(second - np.eye(len(second))).max()), float(np.diagonal(second).max())
    # Equal rows have second moments of rank one: only those of a single column can look white.
    if (not apart <= NOT_WHITE or len(second) == 1) and not _vary(source):
        message = f"All {source.n_rows:,} rows are equal, so there is nothing to unmix. Pass rows that vary."
        raise InputError(message)
    if not SQUARES[0] <= largest <= SQUARES[1]:
        message = (
            f"whiten=False takes rows that are white already, and the largest mean square of these columns is "
            f"{largest:.3g}, too far from 1 to unmix them. Let ICA whiten them (whiten='unit-variance')."
        )
        raise InputError(message)
    if apart > NOT_WHITE:
        message = (
            "whiten=False takes rows that are white already, and the second moments of these differ from the identity "
            f"by up to {apart:.3g}: the sources found may not be independent. Let ICA whiten the rows "
            "(whiten='unit-variance'), or center them and divide by their principal deviations first."
        )
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _vary(source: RowSource) -> bool:
    """Tell whether any column varies by more than the rounding of its mean: one pass."""
    moments = measure_moments(source, scatter=False)
    rounding = 8 * np.finfo(FLOAT64).eps * np.abs(moments.mean)
    with np.errstate(over="ignore", invalid="ignore"):
        return not (np.sqrt(moments.squares / moments.weight) <= rounding).all()


def _check_rank(pca: PCAModel, k: int, options: ICAOptions) -> None:
    if pca.rank == 0:
        message = f"All {pca.n_rows:,} rows are equal, so there is nothing to unmix. Pass rows that vary."
        raise InputError(message)
    natural = min(pca.n_rows - 1, pca.n_columns)
    if pca.rank < (k if options.n_components is not None else min(k, natural)):
        message = (
            f"There are some small singular values: the rows have {pca.rank} directions, so {pca.rank} sources are "
            f"returned and not {k}. Columns may be constant or repeated, or the rows too few; pass "
            f"n_components={pca.rank} to say that this is meant."
        )
        warnings.warn(message, RankWarning, stacklevel=users_line())
