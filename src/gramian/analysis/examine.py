"""From a fitted model and its rows to findings: what is tested is tested once, what is said follows the cut.

:func:`examine` measures all that sentences rest on. :meth:`Examined.at` then says what is so when k components are
kept, and passes over no row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from gramian.analysis.clouds import Clouds, cloud_finding, find_clouds
from gramian.analysis.components import ColumnParts, Described, along_axis, component_finding, plane_finding
from gramian.analysis.findings import Finding, called, columns_word, counted, joined, percent, share_words
from gramian.analysis.groups import LabelTest, examine_labels, group_findings
from gramian.analysis.independent import source_correlations, source_findings
from gramian.analysis.intervals import bootstrap
from gramian.analysis.kernel import kernel_findings
from gramian.analysis.noise import (
    LEAST_ROWS,
    Relation,
    few_rows_finding,
    noise_finding,
    relation_of,
    relation_of_coded,
)
from gramian.analysis.outliers import OutlierMap, unusual_rows
from gramian.analysis.rows import LISTED_UNUSUAL, RowMeasures, spread_of
from gramian.arrays.namespace import HostArray, dtype_of, from_host, to_host
from gramian.arrays.precision import FLOAT64
from gramian.choosing.auto import choose_automatically
from gramian.choosing.spectrum import Verdict
from gramian.models.pca.robust import RobustFit, fit_robust, row_order
from gramian.sources.dense import DenseRows

MOST_CUTS = 10
"""Numbers of components that a reader can cut at."""

NAMED_ROWS = 6
"""Rows that a sentence names, at most."""

INTERVALS = ("shares", "together", "correlations")

MOST_COUNTED_AGAIN = 200_000
"""Numbers of a table up to which components are counted again without the rows far out."""

MOST_TIMES = 100
"""Times a limit up to which a distance is said by how many."""

SKEWED, MENDED, LEFT, TIMES = 2.0, 0.1, 1.0, 10.0
"""Skewness above which logarithms are spoken of, the part of it that they may leave and how much at most, and how many
times the median the largest value is at least. Of 1,500 columns of 200 exponential numbers, or of squared Gaussian
ones, none is named; of exponentials of Gaussian numbers 86% with deviation 1, and 99% with 1.5."""

NOTHING = "nothing stands out from noise, and one is kept to look at"

MADE = 0.5
"""Part of a component's variance from which on outlying rows, a tenth of all at most, make it."""

MUCH_FILLED = 0.2
"""Part of the cells above which neither clouds nor rows far out are looked for. Of 40 clean tables of two factors
(200 x 8, missing at random) two or fewer named a row with up to 20% missing, as with none; 4 with 25%, 21 with 45%, 35
with 60%, and all with 80%, of which 21 had clouds."""

DESCRIBED = 4
"""Components that are described in sentences, at most."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A fitted model and what is known of its rows: all that findings are drawn from.

    Attributes
    ----------
    model : PCAModel, KernelPCAModel or ICAModel
        With all components that were solved.
    names : sequence of str
        Of the columns.
    kept : int
        Components that are kept where nothing is said.
    scores : numpy array (n, K) or None
    spread : numpy array (d,) or None
        Deviations of the columns as they are in the table.
    measured : RowMeasures or None
        What the pass over the rows of a PCA left.
    labels : mapping of str to numpy array (n,)
    groups : mapping of str to numpy array of int (n,)
    row_names : sequence of str or None
    panel : Panel or None
        What each rule says about the number of components.
    telling : bool
        Whether names of columns tell a reader anything: not those of pixels.
    blocks : tuple of tuples of int
        Columns that are dummies of one category.
    recommended : int or None
        Components that stand out, by the one rule that is followed; ``None`` where it was not asked.
    filled : numpy array of bool (n, d) or None
        Cells that were filled.
    shuffled : Verdict or None
        How many components of coded rows stand out of shuffled columns.
    coded : tuple of str
        Categories that were analyzed themselves. Components part their levels by construction, and rows that are
        levels lie on a lattice: neither groups of these nor clouds are said.
    table_columns : sequence of str
        All columns of the table, those left out too; empty where these are not known.
    seed : int
    """

    model: Any
    names: Sequence[str]
    kept: int
    scores: HostArray | None = None
    spread: HostArray | None = None
    measured: RowMeasures | None = None
    labels: Mapping[str, HostArray] = field(default_factory=dict)
    groups: Mapping[str, HostArray] = field(default_factory=dict)
    row_names: Sequence[str] | None = None
    panel: Any = None
    telling: bool = True
    blocks: tuple[tuple[int, ...], ...] = ()
    recommended: int | None = None
    filled: HostArray | None = None
    shuffled: Verdict | None = None
    coded: tuple[str, ...] = ()
    table_columns: Sequence[str] = ()
    seed: int = 0

    @property
    def components(self) -> list[str]:
        """What the components are called."""
        return [f"{self.model.prefix}{j + 1}" for j in range(self.model.n_components)]

    @property
    def filled_share(self) -> float:
        """Part of the cells that was filled."""
        return 0.0 if self.filled is None else float(self.filled.mean())

    @property
    def is_much_filled(self) -> bool:
        """Whether so much was filled that rows are not told by it."""
        return self.filled_share > MUCH_FILLED

    @property
    def shares(self) -> HostArray:
        """Of the variance, per component."""
        return to_host(self.model.shares).astype(FLOAT64)


@dataclass(frozen=True)
class Without:
    """How many components stand out among the other rows, where some rows lie far out."""

    rows: tuple[int, ...]
    count: int


@dataclass(frozen=True, eq=False)
class Cut:
    """What is said and flagged when so many components are kept.

    Attributes
    ----------
    n_components : int
    share : float
        Of the variance, in the components kept.
    share_interval : pair of float or None
        Where the share would lie in other samples of as many rows, 95%; ``None`` where rows are too few to tell.
    outliers : OutlierMap or None
    findings : tuple of Finding
        The first is the lead.
    """

    n_components: int
    share: float
    share_interval: tuple[float, float] | None
    outliers: OutlierMap | None
    findings: tuple[Finding, ...]


@dataclass(frozen=True, eq=False)
class Examined:
    """What was measured and tested, from which every cut is told.

    Attributes
    ----------
    subject : Subject
    about : Described
        Shares, correlations, intervals.
    labels : tuple of LabelTest
    sources : numpy array (k, d) or None
        Correlations of columns with sources, for ICA.
    relation : Relation or None
        Whether the columns are related at all.
    clouds : Clouds or None
        Parts of the rows that gaps separate.
    robust : RobustFit or None
        The rows that are not outlying, and their components.
    without : Without or None
        Rows that change how many components stand out.
    skewed : Finding or None
        Columns that logarithms would mend.
    """

    subject: Subject
    about: Described
    labels: tuple[LabelTest, ...] = ()
    sources: HostArray | None = None
    relation: Relation | None = None
    clouds: Clouds | None = None
    robust: RobustFit | None = None
    without: Without | None = None
    skewed: Finding | None = None

    @property
    def cuts(self) -> range:
        """Numbers of components that :meth:`at` takes."""
        return range(1, max(min(MOST_CUTS, len(self.subject.shares)), 1) + 1)

    def at(self, k: int) -> Cut:
        """Say what is so when ``k`` components are kept: no pass over the rows."""
        shares = self.subject.shares
        outliers = outliers_at(self.subject, self.robust, k)
        return Cut(k, float(shares[:k].sum()), self.about.together(k), outliers, tuple(self._findings(k, outliers)))

    @cached_property
    def _parted(self) -> HostArray | None:
        """Differences of the columns' means across the first gap: the same at every cut."""
        return _differences(self) if self.clouds is not None and self.clouds.gaps else None

    def _findings(self, k: int, outliers: OutlierMap | None) -> list[Finding]:
        subject = self.subject
        if subject.model.kind == "kernel":
            found = kernel_findings(subject.model, subject.components, subject.shares, k)
        elif subject.model.kind == "ica":
            found = source_findings(
                subject.model, subject.names, subject.components, self.sources, telling=subject.telling
            )
        else:
            found = [*self._components(k), count_finding(subject, self.about, k, self.relation, self.without)]
        if self.labels:
            found += group_findings(self.labels, k, subject.components[: len(self.labels[0].effects)])
        if self.clouds is not None:
            found.append(cloud_finding(self.clouds, subject.components, subject.names, self._parted, kept=k))
        if subject.is_much_filled:
            return [*found, filled_finding(subject), table_finding(subject)]
        made = [] if self.robust is None else few_rows_findings(subject, self.robust, k)
        # Rows that make the first component are the lead: what is said of its columns is of theirs.
        first = [one for one in made if one.components == (0,)]
        found = [*first, *found, *(one for one in made if one not in first)]
        found += [] if outliers is None else outlier_findings(subject, outliers)
        found += [] if self.skewed is None else [self.skewed]
        return [*found, table_finding(subject)]

    def _components(self, k: int) -> list[Finding]:
        """Describe the first components, those that share a variance together."""
        if self.relation is not None and not self.relation.stands_out:
            subject = self.subject
            first, d = float(subject.shares[0]), subject.model.n_columns
            return [noise_finding(self.relation, first, d, subject.blocks)]
        if _is_small(self.subject) and self.subject.model.n_columns > 1:
            return [few_rows_finding(self.subject.model.n_rows)]
        found: list[Finding] = []
        done: set[int] = set()
        for j in range(min(k, DESCRIBED)):
            tied = self.about.tied(j)
            if j in done:
                continue
            done |= set(tied)
            if len(tied) == 1:
                found.append(component_finding(self.about, j))
            elif j < (self.subject.recommended or k):
                found.append(plane_finding(self.about, tied, kept=k))
        return found


def examine(subject: Subject) -> Examined:
    """Measure and test what sentences rest on; see the parts for their costs."""
    model, scores = subject.model, subject.scores
    is_pca = model.kind == "pca"
    spread = _seen(subject) if is_pca else None
    order = np.zeros(0, dtype=np.int64) if scores is None else row_order(scores)
    intervals = None
    if is_pca and scores is not None and spread is not None and model.is_centered:
        coding = getattr(model, "coding", None)
        intervals = bootstrap(model, scores, spread, order=order, coding=coding, seed=subject.seed)
    robust = _robust(subject, order) if is_pca else None
    if intervals is not None and robust is not None:
        _, made = _parts_of_outlying(subject, robust, len(intervals.gaps))
        intervals = replace(intervals, alone=made.sum(axis=0) >= MADE)
    if intervals is not None and subject.is_much_filled:
        # Draws of filled rows know nothing of how sure the filling is.
        intervals = replace(intervals, **{name: getattr(intervals, name)[:0] for name in INTERVALS})
    parts = ColumnParts.of(model, spread) if is_pca else ColumnParts(None, np.zeros((0, 0)))
    about = Described(
        subject.names,
        subject.shares,
        parts,
        intervals,
        scores,
        subject.row_names,
        subject.telling,
        model.prefix,
        along_axis(subject.names, subject.table_columns) if subject.telling else None,
    )
    tests: tuple[LabelTest, ...] = ()
    if scores is not None:
        # The scores of a null direction are rounding, and tell nothing.
        varying = scores[:, : max(model.rank, 1)] if is_pca else scores
        labels = {name: values for name, values in subject.labels.items() if name not in subject.coded}
        tests = examine_labels(varying, labels, subject.groups, order=order, seed=subject.seed)
    sources = source_correlations(model, scores, subject.spread) if model.kind == "ica" else None
    relation = None
    if subject.shuffled is not None:
        relation = relation_of_coded(subject.shuffled, float(to_host(model.variances)[0]), model.n_rows)
    elif is_pca and scores is not None:
        relation = relation_of(model, scores, subject.panel, subject.blocks, order=order, seed=subject.seed)
    clouds = None
    # Along kernel components an even line has gaps, too: their scores are waves.
    if scores is not None and is_pca and not subject.coded and not subject.is_much_filled:
        clouds = find_clouds(scores, order=order, seed=subject.seed)
    without = None if robust is None else _without(subject, robust)
    return Examined(subject, about, tests, sources, relation, clouds, robust, without, skewed_finding(subject))


def _differences(examined: Examined) -> HostArray | None:
    """Return by how many deviations the columns' means above and below the first gap differ (d,).

    Computes  V' (mean score above - mean score below) / deviations,  where all components are known.
    """
    subject, clouds = examined.subject, examined.clouds
    model, scores, spread = subject.model, subject.scores, _seen(subject) if subject.model.kind == "pca" else None
    if clouds is None or scores is None or spread is None or not subject.telling:
        return None
    if not model.is_whole:
        return None
    apart = (scores[clouds.first].mean(axis=0) - scores[~clouds.first].mean(axis=0)) @ model.directions
    found: HostArray = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    return found


def _seen(subject: Subject) -> HostArray | None:
    """Return the deviations of the columns as the model saw them."""
    model = subject.model
    if model.is_scaled or subject.spread is None:
        found: HostArray | None = model.column_deviations
        return found
    return subject.spread


def _robust(subject: Subject, order: HostArray) -> RobustFit | None:
    """Find the rows that are not outlying, and their components: no pass."""
    measured, scores, model = subject.measured, subject.scores, subject.model
    if measured is None or scores is None or not model.is_centered or not 0.0 < model.total_variance < np.inf:
        return None
    beyond = np.zeros(len(scores))  # where all components are known, all else is rounding
    if not model.is_whole:
        between = np.square(scores[:, subject.kept :]).sum(axis=1)
        beyond = np.maximum(measured.outliers.spe - between, 0.0)
    return fit_robust(model, scores, k=subject.kept, beyond=beyond, order=order, seed=subject.seed)


def _without(subject: Subject, robust: RobustFit) -> Without | None:
    """Count the components that stand out without the rows far out, a tenth of all at most: no pass.

    A wild row swells what counts as noise, and may hide all else; or is counted as a component.
    """
    model, scores = subject.model, subject.scores
    if scores is None or subject.panel is None or subject.recommended is None:
        return None
    if subject.blocks or subject.is_much_filled or not model.is_whole:
        return None
    n, d = len(scores), model.n_columns
    far = _told_far(subject, robust, subject.kept) if n * d <= MOST_COUNTED_AGAIN else np.zeros(n, dtype=bool)
    if not 0 < 10 * far.sum() <= n:
        return None
    Z = scores[~far] @ model.directions
    Z -= Z.mean(axis=0)
    if model.is_scaled:
        spread = Z.std(axis=0)
        Z = np.divide(Z, spread, out=np.zeros_like(Z), where=spread > 1e-9)
    variances = np.linalg.svd(Z, compute_uv=False)[: min(len(Z) - 1, d)] ** 2 / (len(Z) - 1)
    found = choose_automatically(variances, DenseRows(Z), n_rows=len(Z), n_columns=d, seed=subject.seed)
    if not found.detail["parallel"] or found.n_components == _standing_out(subject):
        return None
    return Without(tuple(np.flatnonzero(far).tolist()), found.n_components)


def _standing_out(subject: Subject) -> int:
    """Return how many components stand out of noise, by the rule that is followed."""
    return (subject.recommended or 0) if subject.panel.verdicts[0].detail["parallel"] else 0


def _told_far(subject: Subject, robust: RobustFit, k: int) -> HostArray:
    """Tell which rows (n,) lie far out by what was measured: not those of which more than half was filled."""
    far = robust.far_rows(k)
    if subject.filled is None:
        return far
    told: HostArray = far & (subject.filled.mean(axis=1) <= 0.5)
    return told


def outliers_at(subject: Subject, robust: RobustFit | None, k: int) -> OutlierMap | None:
    """Return the rows beyond the limits where ``k`` components are kept: no pass over the rows.

    Both distances are those from the components of the rows that are not outlying. Columns are blamed where rows are
    known: of any cut where all components were solved, else of the rows that the pass kept.
    """
    measured, scores = subject.measured, subject.scores
    if measured is None or scores is None or subject.is_much_filled:
        return None
    if robust is None:
        return measured.outlier_map(subject.names) if k == subject.kept else None
    found = robust.outliers(k)
    far = [int(i) for i in found.flagged[_told_far(subject, robust, k)[found.flagged]]]
    model, shown = subject.model, found.flagged[:LISTED_UNUSUAL]
    if model.is_whole:
        rows = to_host(
            model.reconstruct(from_host(scores[shown], like=model.components, dtype=dtype_of(model.components)))
        )
    else:
        kept = {int(row): i for i, row in enumerate(measured.outliers.flagged[: len(measured.unusual)])}
        shown = np.array([row for row in shown if int(row) in kept], dtype=np.int64)
        rows = measured.unusual[[kept[int(row)] for row in shown]]
    mean, spread = spread_of(measured.moments)
    filled = None if subject.filled is None else subject.filled[shown]
    listed = replace(found, flagged=shown)
    unusual = unusual_rows(robust.model, listed, rows, mean=mean, spread=spread, names=subject.names, filled=filled)
    return OutlierMap(found, unusual, tuple(far), robust.method, robust.n_rows)


def count_finding(
    subject: Subject, about: Described, k: int, relation: Relation | None, without: Without | None = None
) -> Finding:
    """Say how many components are kept and what they hold, how many are recommended, and why."""
    share, interval, recommended = float(subject.shares[:k].sum()), about.together(k), subject.recommended
    many = k > 1
    words = f"{counted(k, 'component')} {'are' if many else 'is'} kept and {'hold' if many else 'holds'} "
    words += f"{share_words(share, interval)} of the variance"
    numbers: dict[str, Any] = {"kept": k, "share": share}
    if interval is not None:
        numbers |= {"share_low": interval[0], "share_high": interval[1]}
    evidence: dict[str, Any] = {"recommended": recommended}
    if subject.panel is not None:
        evidence["rules"] = {rule: int(count) for rule, count in subject.panel.counts.items()}
    if recommended is not None:
        hidden = without is not None and _standing_out(subject) == 0 and (relation is None or relation.stands_out)
        reason, more = ("", {}) if hidden else _reason(subject, recommended, relation)
        numbers |= more
        if k != recommended:
            words += f". {counted(recommended, 'component')} {'is' if recommended == 1 else 'are'} recommended"
            numbers["recommended"] = recommended
        words += f": {reason}" if reason else ""
        if without is not None and (relation is None or relation.stands_out):
            out = len(without.rows)
            who = _rows_named(subject, without.rows) if out <= NAMED_ROWS else f"the {out} rows furthest out"
            who = f"{who[0].lower()}{who[1:]}" if subject.row_names is None or who.startswith("The row") else who
            stand = "stands out" if without.count == 1 else "stand out"
            who += f", which {'swells' if out == 1 else 'swell'} what counts as noise" if hidden else ""
            words += f". Without {who}, {counted(without.count, 'component')} {stand}"
            numbers |= {"without": without.count, "rows_without": out}
            evidence["left_out"] = list(without.rows)
    return Finding("count", f"{words}.", numbers, evidence, tuple(range(k)))


def _is_small(subject: Subject) -> bool:
    """Tell whether rows are too few to show any relation: the mean takes one of them."""
    return bool(subject.model.is_centered and subject.model.n_rows < LEAST_ROWS)


def _reason(subject: Subject, k: int, relation: Relation | None) -> tuple[str, dict[str, Any]]:
    """Say why so many components are recommended, and return the numbers of it."""
    if relation is not None and not relation.stands_out:
        return NOTHING if k == 1 else "", {}
    detail, variances = subject.panel.verdicts[0].detail, to_host(subject.model.variances).astype(FLOAT64)
    parallel, thresholds = int(detail["parallel"]), detail["thresholds"]
    if parallel == 0 and relation is None:
        return "" if _is_small(subject) or subject.model.n_columns == 1 else NOTHING, {}
    if parallel == 0:
        # Columns are related, but rows are so unequal that the signs of a few could do as much.
        more = {"variance": float(variances[0]), "noise_reaches": float(thresholds[0])}
        words = f"{subject.components[0]} has variance {variances[0]:.3g}, and noise of rows as unequal as these"
        return f"{words} reaches {float(thresholds[0]):.3g}", more
    following = subject.components[k] if k < len(variances) else ""
    if k < parallel and subject.blocks:
        return "the others are no larger than dummy columns of unrelated categories make them", {}
    if k < parallel and following:
        fall = f"variances fall from {variances[k - 1]:.3g} to {variances[k]:.3g} after that"
        said = f"{fall}, and what is left is like noise that is related between columns"
        return said, {"before": float(variances[k - 1]), "after": float(variances[k])}
    if k < min(len(thresholds), len(variances)):
        reaches = float(thresholds[k])
        said = f"{following} has variance {variances[k]:.3g}, and noise alone reaches {reaches:.3g}"
        return said, {"next_variance": float(variances[k]), "noise_reaches": reaches}
    return "all of them are larger than noise alone would make them", {}


def outlier_findings(subject: Subject, outliers: OutlierMap) -> list[Finding]:
    """Say which rows lie beyond the limits, by count and by size."""
    found = outliers.found
    count = len(found.flagged)
    if not np.isfinite([found.t2_limit, found.spe_limit]).any():
        return []
    numbers: dict[str, Any] = {"level": found.level}
    evidence: dict[str, Any] = {
        "location_and_scatter": outliers.method,
        "rows_measured": outliers.n_measured,
        "t2_limit": found.t2_limit,
        "spe_limit": found.spe_limit,
    }
    if count == 0:
        return [Finding("outliers", f"No row lies beyond the {found.level:.0%} limits.", numbers, evidence)]
    numbers |= {"flagged": count, "expected": found.expected}
    evidence |= {"rows": found.flagged[:LISTED_UNUSUAL].tolist(), "far": list(outliers.far)}
    expected = f"{found.expected:,.0f}" if found.expected >= 0.5 else f"{found.expected:.1f}"
    words = f"{count:,} {'row lies' if count == 1 else 'rows lie'} beyond the {found.level:.0%} limits"
    words += f"; {expected} {'is' if expected == '1' else 'are'} expected of Gaussian rows"
    if not outliers.far:
        return [Finding("outliers", f"{words}.", numbers, evidence)]
    first = outliers.far[0]
    times = {
        "within the components": float(found.t2[first] / found.t2_limit),
        "off the components": float(found.spe[first] / found.spe_limit),
    }
    side = max(times, key=lambda where: times[where])
    numbers |= {"far": len(outliers.far), "rows": len(found.t2), "times_limit": times[side]}
    if times[side] > MOST_TIMES:
        numbers["more_than"] = MOST_TIMES
    size = f"{times[side]:.2g}" if times[side] <= MOST_TIMES else f"more than {MOST_TIMES}"
    who = _rows_named(subject, outliers.far) if len(outliers.far) <= NAMED_ROWS else f"{len(outliers.far):,} of them"
    verb, the_furthest = (
        ("lies", "") if len(outliers.far) == 1 else ("lie", f" {_row_name(subject, first)} is furthest,")
    )
    words += (
        f". {who} {verb} further out than any of {len(found.t2):,} Gaussian rows would{':' if the_furthest else ''}"
    )
    words += f"{the_furthest or ','} at {size} times the limit of the squared distance {side}."
    return [Finding("outliers", words, numbers, evidence)]


def _row_name(subject: Subject, row: int) -> str:
    return f"row {row + 1}" if subject.row_names is None else called([subject.row_names[row]])


def _rows_named(subject: Subject, rows: Sequence[int]) -> str:
    if subject.row_names is not None:
        named = called([subject.row_names[row] for row in rows])
        return f"T{named[1:]}" if named.startswith("the row") else named
    return f"{'Row' if len(rows) == 1 else 'Rows'} {joined([str(row + 1) for row in sorted(rows)])}"


def filled_finding(subject: Subject) -> Finding:
    """Say why neither clouds nor rows far out are looked for."""
    share = subject.filled_share
    words = f"{percent(share)} of the cells of quantities were filled, and filled cells part rows by themselves:"
    words += " neither clouds nor rows far out are looked for, and shares have no intervals."
    return Finding("missing", words, {"filled": share}, {"most": MUCH_FILLED})


def _parts_of_outlying(subject: Subject, robust: RobustFit, count: int) -> tuple[HostArray, HostArray]:
    """Return the outlying rows (m,), and the contribution of each to the first components, t_i^2 / sum t_i^2 (m, k).

    None where they are more than a tenth of all: these are no few rows.
    """
    scores, rows = subject.scores, np.flatnonzero(~robust.used)
    if scores is None or 10 * len(rows) > len(robust.used):
        rows = rows[:0]
    first: HostArray = np.zeros((len(robust.used), count)) if scores is None else scores[:, :count]
    totals = np.einsum("ij,ij->j", first, first)
    return rows, np.square(first[rows]) / np.where(totals > 0, totals, 1.0)


def few_rows_findings(subject: Subject, robust: RobustFit, k: int) -> list[Finding]:
    """Say which of the components kept, and of the first three, are made by a few outlying rows."""
    outlying, every = _parts_of_outlying(subject, robust, min(max(k, 3), DESCRIBED))
    found = []
    for j, parts in enumerate(every.T):
        if parts.sum() < MADE:
            continue
        # Those that weigh: not those that add the last tenth.
        order = np.argsort(-parts, kind="stable")
        order = order[: int(np.searchsorted(np.cumsum(parts[order]), max(MADE, 0.9 * parts.sum()))) + 1]
        rows, share, name = outlying[order].tolist(), float(parts[order].sum()), subject.components[j]
        who = f"{len(rows):,} rows" if len(rows) > NAMED_ROWS else _rows_named(subject, rows)
        make, theirs = ("makes", "that row's") if len(rows) == 1 else ("make", "theirs")
        words = f"{who} {make} {name}: {percent(share)} of its variance is {theirs}."
        evidence = {"rows": rows, "contributions": parts[order].tolist(), "location_and_scatter": robust.method}
        found.append(Finding("rows", words, {"rows": len(rows), "share": share}, evidence, (j,)))
    return found


def skewed_finding(subject: Subject) -> Finding | None:
    """Say which columns of positive numbers are skewed, and their logarithms are not."""
    if subject.measured is None or not subject.telling or subject.is_much_filled:
        return None
    X, columns = subject.measured.drawn(), subject.measured.columns
    able = (X > 0).all(axis=0) & np.isfinite(X).all(axis=0)
    if subject.filled is not None:
        able &= ~subject.filled[:, columns].any(axis=0)
    X, columns = X[:, able], columns[able]
    own, of_logs = _skewness(X / X.max(axis=0)), _skewness(np.log(X))
    times = X.max(axis=0) / np.median(X, axis=0)
    there = (own > SKEWED) & (np.abs(of_logs) <= np.minimum(MENDED * own, LEFT)) & (times >= TIMES)
    order = np.flatnonzero(there)[np.argsort(-own[there], kind="stable")]
    first = order[:3]
    if not len(first):
        return None
    named, many = [subject.names[int(columns[j])] for j in order], len(first) > 1
    before, after = (joined([f"{round(value, 1) + 0.0:.1f}" for value in part[first]]) for part in (own, of_logs))
    words = f"{columns_word(named[:3]).capitalize()}{joined(named[:3])} {'are' if many else 'is'} skewed ({before}), "
    words += f"{'their logarithms' if many else 'its logarithm'} far less ({after}), and the largest value is "
    words += f"{joined([f'{value:,.0f}' for value in times[first]])} times the {'medians' if many else 'median'}"
    numbers: dict[str, Any] = {
        "skewness": own[first].tolist(),
        "of_logarithms": of_logs[first].tolist(),
        "times_median": times[first].tolist(),
    }
    if len(order) > len(first):
        numbers["more"] = len(order) - len(first)
        looked, d = len(subject.measured.columns), subject.model.n_columns
        more = f"{counted(numbers['more'], 'more column')}" if looked == d else f"{numbers['more']} more"
        words += f"; so {'is' if numbers['more'] == 1 else 'are'} {more}"
        if looked < d:
            numbers["columns_looked_at"] = looked
            words += f" of the {looked} columns that were looked at"
    if len(X) < subject.model.n_rows:
        numbers["rows"] = len(X)
        words += f" (in {len(X):,} rows that were drawn)"
    words += ": where ratios count, analyze logarithms."
    return Finding("skew", words, numbers, {"columns": named, "rows_measured": len(X)})


def _skewness(X: HostArray) -> HostArray:
    """Return the skewness of columns (d,): the mean cube over the deviation's."""
    Z = X - X.mean(axis=0)
    spread = np.sqrt(np.square(Z).mean(axis=0))
    found: HostArray = ((Z / np.where(spread > 0, spread, 1.0)) ** 3).mean(axis=0)
    return found


def table_finding(subject: Subject) -> Finding:
    """Say what was analyzed, and what was done to its columns."""
    model = subject.model
    if model.is_centered:
        done = "centered and scaled to unit variance" if model.is_scaled else "centered"
    else:
        done = "scaled to unit mean square, not centered" if model.is_scaled else "as it is"
    done = "" if model.kind == "kernel" else f", each {done}"
    columns = counted(model.n_columns, "coded column" if subject.coded else "column")
    words = f"{counted(model.n_rows, 'row')} of {columns}{done}."
    return Finding("table", words, {"rows": model.n_rows, "columns": model.n_columns})
