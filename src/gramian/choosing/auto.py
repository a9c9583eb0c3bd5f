"""The default rule: parallel analysis, with an eye on noise that is related between columns."""

from typing import Any

import numpy as np

from gramian.choosing.facts import Facts, gather_facts
from gramian.choosing.parallel import Evidence, reason_of, weigh
from gramian.choosing.verdict import Verdict, counted
from gramian.sources.rows import RowSource

RELATED = 0.10
"""Excess of the sum of squared variances beyond which noise counts as related between columns."""

CLEAR_GAP = 1.5
"""How many times larger than the next a variance is, at the end of components that stand clear of related noise."""

COMPACT = 3.0
"""How far above unrelated noise, at most, the first variance after such a gap lies."""


def choose_automatically(
    variances: Any,
    source: RowSource | None = None,
    *,
    n_rows: float,
    n_columns: int,
    total_variance: float | None = None,
    column_variances: Any | None = None,
    components: Any | None = None,
    mean: Any | None = None,
    factor: Any | None = None,
    seed: int = 0,
) -> Verdict:
    """Docs later."""
    facts = gather_facts(
        variances,
        source,
        n_rows=n_rows,
        n_columns=n_columns,
        total_variance=total_variance,
        column_variances=column_variances,
        components=components,
        mean=mean,
        factor=factor,
        seed=seed,
    )
    return judge(facts)


def judge(facts: Facts) -> Verdict:
    if facts.spectrum.total_variance == 0.0:
        return Verdict("auto", 1, "Nothing varies, so one component says it all.")
    evidence = weigh(facts)
    relation = relation_left(facts, evidence)
    detail = {
        "thresholds": evidence.thresholds,
        "inflation": evidence.draws.inflation,
        "relation": relation,
        "exhausted": evidence.exhausted,
        "parallel": evidence.count,
    }
    gap = clear_gap(facts, evidence) if relation > RELATED else None
    k = evidence.count if gap is None else gap
    return Verdict("auto", max(k, 1), "", detail)


def relation_left(facts: Facts, evidence: Evidence) -> float:
    if facts.source is not None:
        return evidence.draws.relation
    if not facts.spectrum.complete:
        return 0.0
    rest = facts.spectrum.values[evidence.count :]
    expected = evidence.noise.sum_of_squares() * (1.0 - evidence.count / facts.spectrum.degrees) ** 2
    return float(rest @ rest) / expected - 1.0 if expected > 0.0 else 0.0


def clear_gap(facts: Facts, evidence: Evidence) -> int | None:
    values = facts.spectrum.values
    last = min(evidence.count, len(values) - 1)
    after = values[1 : last + 1]
    clear = values[:last] > CLEAR_GAP * after
    compact = after <= COMPACT * evidence.thresholds[1 : last + 1] if len(evidence.thresholds) > last else after < 0
    found = np.flatnonzero(clear & compact)
    return int(found[-1]) + 1 if found.size else None
