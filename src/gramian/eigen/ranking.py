"""Whether a larger eigenvalue was passed over: proved by a factorization, made probable by a random search, or open."""

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.eigen.held_checks import check_rounding, none_above
from gramian.eigen.pairs import EigenPairs, Probe
from gramian.operators.symmetric import MatrixLike, SymmetricOperator

LARGEST_FAILURE = 1e-3
"""Chance of failure above which a random search is not called proof of anything."""


def rank_pairs(
    operator: SymmetricOperator, pairs: EigenPairs, bounds: HostArray
) -> tuple[float | None, tuple[str, ...], HostArray]:
    """Grade the claim that no larger eigenvalue was missed.

    Parameters
    ----------
    operator : SymmetricOperator
    pairs : EigenPairs
    bounds : numpy array (k,)
        What each value may be wrong by.

    Returns
    -------
    next_bound : float or None
        A bound, or an estimate where nothing is proved, of eigenvalue k + 1.
    grades : tuple of str
        One a pair; see :mod:`gramian.eigen.certificate`.
    chances : numpy array (k,)
        That a larger eigenvalue was missed: 0 when proved, nan when nothing is claimed.
    """
    k = len(pairs.values)
    if pairs.complete:
        return pairs.next_value, ("proved",) * k, np.zeros(k)
    if isinstance(operator, MatrixLike) and k:
        return _rank_by_inertia(operator, pairs, bounds)
    chances = _failure(pairs, operator) if operator.is_psd else np.full(k, np.nan)
    grades = tuple("probable" if chance <= LARGEST_FAILURE else "conditional" for chance in chances)
    return pairs.next_value, grades, chances


def _rank_by_inertia(
    operator: MatrixLike, pairs: EigenPairs, bounds: HostArray
) -> tuple[float | None, tuple[str, ...], HostArray]:
    """Prove by Cholesky that no eigenvalue above the ones found is left, or say which pairs are passed over."""
    k, last = len(pairs.values), float(pairs.values[-1])
    margin = float(bounds[-1]) + check_rounding(operator.trace(), pairs.values, last, operator.size)
    if pairs.next_value is not None and last - pairs.next_value > 4 * margin:
        between = pairs.next_value + 0.25 * (last - pairs.next_value)
        if _has_none_above(operator, pairs, between):
            return between + margin, ("proved",) * k, np.zeros(k)
    if _has_none_above(operator, pairs, last + margin):
        return _proved_level(operator, pairs, last, margin) + margin, ("proved",) * k, np.zeros(k)
    proved = _count_above_missed(operator, pairs, margin)
    grades = ("proved",) * proved + ("rejected",) * (k - proved)
    return None, grades, np.where(np.arange(k) < proved, 0.0, np.nan)


def _has_none_above(operator: MatrixLike, pairs: EigenPairs, level: float) -> bool:
    return none_above(operator.matrix, pairs.values, pairs.vectors, level, in_place=operator.is_spare)


def _proved_level(operator: MatrixLike, pairs: EigenPairs, last: float, margin: float) -> float:
    """Return a level, as far below the last pair as a few tries find, that no other eigenvalue exceeds."""
    if pairs.next_value is None:
        for share in (0.5, 0.1, 0.01, 1e-4):
            level = last - share * abs(last)
            if level > margin and _has_none_above(operator, pairs, level):
                return level
    return last + margin


def _count_above_missed(operator: MatrixLike, pairs: EigenPairs, margin: float) -> int:
    """Count the leading pairs that no missed eigenvalue exceeds, by bisection over their values."""
    low, high = 0, len(pairs.values) - 1
    while low < high:
        middle = (low + high) // 2
        if _has_none_above(operator, pairs, float(pairs.values[middle]) + margin):
            low = middle + 1
        else:
            high = middle
    return low


def _failure(pairs: EigenPairs, operator: SymmetricOperator) -> HostArray:
    """Return the chance, a pair, that an eigenvalue above it was missed by the random search.

    From one Gaussian start, q Krylov steps miss the largest eigenvalue of a positive semidefinite map by a share e or
    more with probability at most 1.648 sqrt(m) exp(-sqrt(e) (2 q - 1)) (Kuczynski and Wozniakowski 1992, theorem
    4.1); independent columns multiply. The map here is the operator with the found pairs removed, and e the share
    from ``next_value`` to the pair.
    """
    probe = pairs.probe or Probe(0, 0)
    if pairs.next_value is None or probe.steps < 1 or probe.columns < 1:
        return np.full(len(pairs.values), np.nan)
    return chance_of_miss(pairs.values, pairs.next_value, probe, operator.size)


def chance_of_miss(values: HostArray, following: float, probe: Probe, size: int) -> HostArray:
    """Return the chance, a value, that a search which found ``following`` has missed an eigenvalue above it.

    Examples
    --------
    >>> chance_of_miss(np.array([2.0, 1.01]), 1.0, Probe(4, 7), 4000).round(5)
    array([0., 1.])
    """
    share = np.clip(1.0 - following / np.maximum(values, np.finfo(float).tiny), 0.0, 1.0)
    log_chance = np.log(1.648 * np.sqrt(size)) - np.sqrt(share) * (2 * probe.steps - 1)
    return np.asarray(np.exp(np.minimum(log_chance * probe.columns, 0.0)))
