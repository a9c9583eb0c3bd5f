"""From a fitted model and its rows to findings: what is tested is tested once, what is said follows the cut.

:func:`examine` measures all that sentences rest on. :meth:`Examined.at` then says what is so when k components are
kept, and passes over no row.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gramian.analysis.components import ColumnParts, Described, component_finding, plane_finding
from gramian.analysis.findings import Cut, Finding, share_words
from gramian.analysis.groups import LabelTest, examine_labels, group_finding
from gramian.analysis.independent import source_correlations, source_findings
from gramian.analysis.intervals import bootstrap
from gramian.analysis.kernel import kernel_findings
from gramian.analysis.outliers import OutlierMap
from gramian.analysis.rows import RowMeasures
from gramian.analysis.table import counted
from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64

MOST_CUTS = 10
"""Numbers of components that a reader can cut at."""

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
    seed: int = 0

    @property
    def components(self) -> list[str]:
        """What the components are called."""
        return [f"{self.model.prefix}{j + 1}" for j in range(self.model.n_components)]

    @property
    def shares(self) -> HostArray:
        """Of the variance, per component."""
        return to_host(self.model.shares).astype(FLOAT64)


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
    """

    subject: Subject
    about: Described
    labels: tuple[LabelTest, ...] = ()
    sources: HostArray | None = None

    @property
    def cuts(self) -> range:
        """Numbers of components that :meth:`at` takes."""
        return range(1, max(min(MOST_CUTS, len(self.subject.shares)), 1) + 1)

    def at(self, k: int) -> Cut:
        """Say what is so when ``k`` components are kept: no pass over the rows."""
        shares = self.subject.shares
        outliers = outliers_at(self.subject, k)
        return Cut(k, float(shares[:k].sum()), self.about.together(k), outliers, tuple(self._findings(k, outliers)))

    def _findings(self, k: int, outliers: OutlierMap | None) -> list[Finding]:
        subject = self.subject
        if subject.model.kind == "kernel":
            found = kernel_findings(subject.model, subject.components, subject.shares, k)
        elif subject.model.kind == "ica":
            found = source_findings(
                subject.model, subject.names, subject.components, self.sources, telling=subject.telling
            )
        else:
            found = [*self._components(k), count_finding(subject, self.about, k)]
        found += [group_finding(test, k, subject.components) for test in self.labels]
        found += [] if outliers is None else outlier_findings(subject, outliers)
        return [*found, table_finding(subject)]

    def _components(self, k: int) -> list[Finding]:
        """Describe the first components, those that share a variance together."""
        found: list[Finding] = []
        done: set[int] = set()
        for j in range(min(k, DESCRIBED)):
            tied = self.about.tied(j)
            if j in done:
                continue
            found.append(component_finding(self.about, j) if len(tied) == 1 else plane_finding(self.about, tied))
            done |= set(tied)
        return found


def examine(subject: Subject) -> Examined:
    """Measure and test what sentences rest on; see the parts for their costs."""
    model, scores = subject.model, subject.scores
    is_pca = model.kind == "pca"
    spread = _seen(subject) if is_pca else None
    intervals = None
    if is_pca and scores is not None and spread is not None and model.is_centered:
        intervals = bootstrap(model, scores, spread, seed=subject.seed)
    parts = ColumnParts.of(model, spread) if is_pca else ColumnParts(None, np.zeros((0, 0)))
    about = Described(
        subject.names, subject.shares, parts, intervals, scores, subject.row_names, subject.telling, model.prefix
    )
    tests = () if scores is None else examine_labels(scores, subject.labels, subject.groups, seed=subject.seed)
    sources = source_correlations(model, scores, subject.spread) if model.kind == "ica" else None
    return Examined(subject, about, tests, sources)


def _seen(subject: Subject) -> HostArray | None:
    """Return the deviations of the columns as the model saw them."""
    model = subject.model
    if model.is_scaled or subject.spread is None:
        found: HostArray | None = model.column_deviations
        return found
    return subject.spread


def outliers_at(subject: Subject, k: int) -> OutlierMap | None:
    """Return the rows beyond the limits where ``k`` components are kept."""
    if subject.measured is None or k != subject.kept:
        return None
    return subject.measured.outlier_map(subject.names)


def count_finding(subject: Subject, about: Described, k: int) -> Finding:
    """Say how many components are kept, what they hold, and why so many."""
    share, interval = float(subject.shares[:k].sum()), about.together(k)
    kept = f"{counted(k, 'component')} {'is' if k == 1 else 'are'} kept and {'holds' if k == 1 else 'hold'}"
    numbers: dict[str, Any] = {"kept": k, "share": share}
    if interval is not None:
        numbers |= {"share_low": interval[0], "share_high": interval[1]}
    words = f"{kept} {share_words(share, interval)} of the variance."
    return Finding("count", words, numbers, {"components": k}, tuple(range(k)))


def outlier_findings(subject: Subject, outliers: OutlierMap) -> list[Finding]:
    """Say which rows lie beyond the limits."""
    found = outliers.found
    count = len(found.flagged)
    if not np.isfinite([found.t2_limit, found.spe_limit]).any():
        return []
    level = {"level": found.level}
    if count == 0:
        return [Finding("outliers", f"No row lies beyond the {found.level:.0%} limits.", level)]
    rows = f"{count:,} {'row lies' if count == 1 else 'rows lie'} beyond the {found.level:.0%} limits"
    first = int(found.flagged[0])
    called = f"row {first + 1}" if subject.row_names is None else subject.row_names[first]
    numbers = {"flagged": count, "expected": found.expected, **level}
    words = f"{rows}, where chance would put {found.expected:.0f}; {called} is furthest out."
    return [Finding("outliers", words, numbers, {"rows": found.flagged[:20].tolist(), "furthest": first})]


def table_finding(subject: Subject) -> Finding:
    """Say what was analyzed, and what was done to its columns."""
    model = subject.model
    done = (
        "centered and scaled to unit variance" if model.is_scaled else "centered" if model.is_centered else "as it is"
    )
    done = "" if model.kind == "kernel" else f", each {done}"
    words = f"{counted(model.n_rows, 'row')} of {counted(model.n_columns, 'column')}{done}."
    return Finding("table", words, {"rows": model.n_rows, "columns": model.n_columns})
