"""Labels of rows: which are numbers, which group each row is in, and which components tell the groups apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.analysis.findings import Finding, not_kept, percent
from gramian.arrays.namespace import HostArray
from gramian.arrays.precision import FLOAT64
from gramian.models.pca.robust import sample_rows
from gramian.sources.conversion import is_missing

LEVEL = 0.0075
"""Chance that any label of pure noise is said to go with any component."""

PERMUTATIONS = 999
MOST_ROWS = 4000
MOST_LABELS = 20
NAMED_LABELS = 5
"""Labels that no component tells which a sentence names, at most."""

MOST_GROUPS = 50
"""More groups tell rows apart one by one."""


def is_number(values: np.ndarray) -> bool:
    """Tell whether a label is a number and not a group.

    Examples
    --------
    >>> is_number(np.array([1.5, 2.0])), is_number(np.array(["a", "b"]))
    (True, False)
    """
    return values.dtype.kind in "fiu"


def groups_of(values: np.ndarray) -> np.ndarray:
    """Return labels as text, with one word for what is missing.

    Examples
    --------
    >>> groups_of(np.array(["a", None], dtype=object)).tolist()
    ['a', 'missing']
    """
    return np.array(["missing" if _is_missing(value) else str(value) for value in values.tolist()], dtype=object)


def groups_by_label(labels: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return, for labels that are no numbers, the number of the group of each row, groups numbered as they come.

    A row whose label is missing is in no group, and has -1.

    Examples
    --------
    >>> groups_by_label({"side": np.array(["left", "right", "left"]), "size": np.array([1.0, 2.0, 3.0])})
    {'side': array([0, 1, 0])}
    """
    return {name: _codes(values) for name, values in labels.items() if not is_number(values)}


def label_values(values: Any) -> np.ndarray:
    """Return a column of labels: numbers as floats, all else as it is."""
    column = np.asarray(values)
    if column.dtype.kind == "O" and all(_is_missing(v) or isinstance(v, int | float) for v in column.tolist()):
        return np.array([np.nan if _is_missing(v) else float(v) for v in column.tolist()])
    return column


def _codes(values: np.ndarray) -> np.ndarray:
    place: dict[str, int] = {}
    codes = [-1 if _is_missing(v) else place.setdefault(str(v), len(place)) for v in values.tolist()]
    return np.array(codes, dtype=np.int64)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return not value
    return is_missing(value) or bool(value != value)  # noqa: PLR0124 - NaN alone differs from itself


@dataclass(frozen=True, eq=False)
class LabelTest:
    """How a label goes with each component.

    Attributes
    ----------
    name : str
    is_number : bool
    effects : numpy array (k,)
        Eta squared, the part of each score's variance that lies between the groups; of a number the squared
        correlation.
    correlations : numpy array (k,) or None
        Of a number.
    p_values : numpy array (k,)
        Family-wise over all labels and components.
    n_groups : int
        Two for a number that has any value.
    n_rows, n_tested : int
        Rows with this label, and rows of the test.
    """

    name: str
    is_number: bool
    effects: HostArray
    correlations: HostArray | None
    p_values: HostArray
    n_groups: int
    n_rows: int
    n_tested: int


def eta_squared(scores: HostArray, groups: HostArray) -> HostArray:
    """Return the part of each column's variance that lies between groups (k,).

    Computes  sum_g n_g (mean_g - mean)^2 / sum_i (x_i - mean)^2  over the rows whose group is known, not -1.

    Examples
    --------
    >>> eta_squared(np.array([[0.0, 1.0], [0.0, -1.0], [2.0, 1.0], [2.0, -1.0]]), np.array([0, 0, 1, 1])).tolist()
    [1.0, 0.0]
    """
    scores, groups = scores[groups >= 0], groups[groups >= 0]
    centered = scores - scores.mean(axis=0)
    counts = np.bincount(groups)
    sums = np.stack([np.bincount(groups, weights=column, minlength=len(counts)) for column in centered.T])
    between = (sums**2 / np.maximum(counts, 1)).sum(axis=1)
    whole = np.square(centered).sum(axis=0)
    found: HostArray = np.clip(np.divide(between, whole, out=np.zeros_like(whole), where=whole > 0), 0.0, 1.0)
    return found


def label_notes(names: Sequence[str]) -> tuple[str, ...]:
    """Say which labels are tested, where they are more than are.

    Examples
    --------
    >>> label_notes([f"label {i}" for i in range(25)])
    ("Of 25 labels the first 20 by name are tested, 'label 0' to 'label 4'.",)
    """
    if len(names) <= MOST_LABELS:
        return ()
    first = sorted(names)
    ends = f"{first[0]!r} to {first[MOST_LABELS - 1]!r}"
    words = f"Of {len(names)} labels the first {MOST_LABELS} by name are tested, {ends}."
    return (words,)


def examine_labels(
    scores: HostArray,
    labels: Mapping[str, HostArray],
    groups: Mapping[str, HostArray],
    *,
    order: HostArray,
    seed: int = 0,
) -> tuple[LabelTest, ...]:
    """Test every label against every component by permutation.

    Computes eta squared (of a number, the squared correlation) of each label and component on all rows; its p-value is
    the part of 999 random orders of the rows in which the largest statistic over all labels and components is as
    large. Statistics of labels with different numbers of groups are compared as Wilson and Hilferty's normal
    approximation of F.

    Cost: one pass over the scores per label, and 999 sums of groups over at most 4,000 rows.

    Parameters
    ----------
    scores : numpy array (n, k)
    labels : mapping of str to numpy array (n,)
        Numbers, or groups.
    groups : mapping of str to numpy array of int (n,)
        Of the labels that are no numbers.
    order : numpy array of int (n,)
        Of the rows, by :func:`~gramian.models.pca.robust.row_order`.
    seed : int

    Returns
    -------
    tuple of LabelTest
        Of the first 20 labels by name; labels that name rows one by one, or have one group, are
        left out.
    """
    n, k = scores.shape
    # Squares of scores near the end of the range of floats are not floats.
    scores = scores / (np.abs(scores).max(initial=0.0) or 1.0)
    varying = np.ptp(scores, axis=0) > 0
    coded = [_coded(name, labels[name], groups.get(name)) for name in sorted(labels)[:MOST_LABELS]]
    usable = [code for code in coded if code is not None]
    if not usable or n < 4 or not varying.any():
        return ()
    width = k * sum(code.n_columns for code in usable)
    at = sample_rows(order, min(MOST_ROWS, max(500, 1_000_000 // max(width, 1))), seed=seed)
    some, tested = _standardized(scores[at]), [code.at(at) for code in usable]
    observed = [code.statistics(some) for code in tested]
    rng = np.random.default_rng(seed)
    largest = np.empty(PERMUTATIONS)
    for i in range(PERMUTATIONS):
        shuffled = some[rng.permutation(len(some))]
        largest[i] = max(float(code.statistics(shuffled)[varying].max()) for code in tested)
    found = []
    for code, small, statistic in zip(usable, tested, observed, strict=True):
        effects, correlations = code.effects(scores)
        p = (1.0 + (largest[:, None] >= statistic - 1e-9).sum(axis=0)) / (PERMUTATIONS + 1.0)
        p = np.where(varying, p, 1.0)
        found.append(
            LabelTest(code.name, code.is_number, effects, correlations, p, code.n_groups, code.n_rows, small.n_rows)
        )
    return tuple(found)


@dataclass(frozen=True, eq=False)
class _Coded:
    """A label as numbers (NaN where missing), or as the groups of the rows (-1 where missing)."""

    name: str
    values: HostArray
    is_number: bool

    @property
    def n_groups(self) -> int:
        return 2 if self.is_number else int(self.values.max()) + 1

    @property
    def n_columns(self) -> int:
        return 1 if self.is_number else self.n_groups

    @property
    def known(self) -> HostArray:
        found: HostArray = np.isfinite(self.values) if self.is_number else self.values >= 0
        return found

    @property
    def n_rows(self) -> int:
        return int(self.known.sum())

    def at(self, rows: HostArray) -> "_Coded":
        values = self.values[rows]
        if self.is_number:
            return _Coded(self.name, values, is_number=True)
        # Groups that no row drawn is in have no column.
        codes = np.full(len(values), -1)
        codes[values >= 0] = np.unique(values[values >= 0], return_inverse=True)[1]
        return _Coded(self.name, codes, is_number=False)

    def effects(self, scores: HostArray) -> tuple[HostArray, HostArray | None]:
        if not self.is_number:
            return eta_squared(scores, self.values), None
        known = self.known
        r = _standardized(scores[known]).T @ _standardized(self.values[known][:, None])[:, 0]
        r = np.clip(r, -1.0, 1.0)
        return r**2, r

    def statistics(self, some: HostArray) -> HostArray:
        """Return the normal score of F per component, from columns of unit length."""
        known = self.known
        if self.is_number:
            y = np.where(known, self.values - self.values[known].mean(), 0.0)
            length = np.sqrt(y @ y * known.mean()) or 1.0
            return _normal_score(np.clip((y @ some / length) ** 2, 0.0, 1.0), 1, known.sum() - 2)
        counts, m = np.bincount(self.values[known]), int(known.sum())
        inside = np.zeros((len(counts), len(some)))
        inside[self.values[known], np.flatnonzero(known)] = 1.0
        sums = inside @ some
        effects = (sums**2 / np.maximum(counts, 1)[:, None]).sum(axis=0)
        if m < len(some):
            middle = sums.sum(axis=0) ** 2 / max(m, 1)
            whole = known.astype(FLOAT64) @ some**2 - middle
            effects = np.divide(effects - middle, whole, out=np.zeros_like(whole), where=whole > 1e-12)
        return _normal_score(np.clip(effects, 0.0, 1.0), len(counts) - 1, m - len(counts))


def _coded(name: str, values: HostArray, groups: HostArray | None) -> _Coded | None:
    """Return a label that can be tested: with two different values or more, and not one per row."""
    if is_number(values):
        finite = values[np.isfinite(values)]
        usable = len(finite) > 3 and float(np.ptp(finite)) > 0
        return _Coded(name, values.astype(FLOAT64), is_number=True) if usable else None
    if groups is None:
        return None
    count = int(groups.max(initial=-1)) + 1
    known = int((groups >= 0).sum())
    return _Coded(name, groups, is_number=False) if 1 < count <= min(MOST_GROUPS, known // 2) else None


def _standardized(scores: HostArray) -> HostArray:
    """Return columns with mean zero and length one; zeros where they do not vary."""
    centered = scores - scores.mean(axis=0)
    lengths = np.sqrt(np.square(centered).sum(axis=0))
    found: HostArray = np.divide(centered, lengths, out=np.zeros_like(centered), where=lengths > 0)
    return found


def _normal_score(effects: HostArray, between: int, within: int) -> HostArray:
    """Return Wilson and Hilferty's normal approximation of F = (effect / between) / ((1 - effect) / within)."""
    if between < 1 or within < 1:
        return np.full(len(effects), -np.inf)
    F = (effects / between) / np.maximum((1.0 - effects) / within, np.finfo(np.float64).tiny)
    a, b, root = 2.0 / (9.0 * between), 2.0 / (9.0 * within), np.cbrt(np.minimum(F, 1e300))
    score: HostArray = ((1.0 - b) * root - (1.0 - a)) / np.sqrt(b * root**2 + a)
    return score


def group_findings(tests: Sequence[LabelTest], kept: int, names: Sequence[str]) -> list[Finding]:
    """Say which of the components that were examined tells a label, and of which labels none does.

    ``names`` are those of the components. A component beyond the ``kept`` ones is said to be one.
    """
    told = [test for test in tests if (test.p_values <= LEVEL).any()]
    found = [_told(test, kept, names) for test in told]
    for is_number in (False, True):
        others = [test for test in tests if test not in told and test.is_number == is_number]
        found += [_none_follows(others, names)] if others else []
    return found


def _evidence(test: LabelTest) -> dict[str, Any]:
    return {
        "label": test.name,
        "components_examined": len(test.effects),
        "effects": [float(effect) for effect in test.effects],
        "p_values": [float(p) for p in test.p_values],
        "test": f"{PERMUTATIONS} permutations, largest statistic over components and labels",
        "level": LEVEL,
        "rows_tested": test.n_tested,
    }


def _told(test: LabelTest, kept: int, names: Sequence[str]) -> Finding:
    best = int(np.argmax(np.where(test.p_values <= LEVEL, test.effects, -1.0)))
    effect = float(test.effects[best])
    numbers = {"effect": effect}
    beyond = ""
    if best >= kept:
        beyond = f"{not_kept(kept)},"
        numbers |= {"kept": kept} if kept > 1 else {}
    who = f"{names[best]}{beyond}"
    if test.correlations is not None:
        r = float(test.correlations[best])
        numbers["correlation"] = r
        words = f"{who} goes most with {test.name}: correlation {r:+.2f}, {percent(effect)} of its variance."
    else:
        part = f"{percent(effect)} of its variance lies between them"
        words = f"{who} tells the groups of {test.name} apart most: {part}."
    return Finding("group", words, numbers, _evidence(test) | {"p_value": float(test.p_values[best])}, (best,))


def _none_follows(tests: Sequence[LabelTest], names: Sequence[str]) -> Finding:
    """Say that no component that was examined goes with some labels, of one kind, more than chance would have it."""
    most = max(float(test.effects.max()) for test in tests)
    numbers: dict[str, Any] = {"most": most}
    labels = [test.name for test in tests]
    if len(labels) > NAMED_LABELS:
        numbers["more_labels"] = len(labels) - NAMED_LABELS
        labels = [*labels[:NAMED_LABELS], f"{len(labels) - NAMED_LABELS} more labels"]
    of = labels[0] if len(labels) == 1 else f"{', '.join(labels[:-1])} or {labels[-1]}"
    is_number = tests[0].is_number
    what = f"follows {of}" if is_number else f"tells the groups of {of} apart"
    part = "of a variance goes with it" if is_number else "of a variance lies between them"
    if len(tests) > 1:
        part = "of a variance goes with one of them" if is_number else "of a variance lies between those of one label"
    if len(names) == 1:
        words = f"{names[0]}, the one component examined, does not {what.replace('s ', ' ', 1)}"
    else:
        words = f"None of the {len(names)} components examined {what}"
        numbers["examined"] = len(names)
    evidence = _evidence(tests[0]) if len(tests) == 1 else {"labels": [_evidence(test) for test in tests]}
    at_most = (
        f": {'' if len(names) == len(tests) == 1 else 'at most '}{percent(most)} {part}, which chance alone may give."
    )
    return Finding("group", f"{words}{at_most}", numbers, evidence)
