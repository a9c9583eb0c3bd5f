"""The answer in words: what was found, first. Each finding has sentences of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.analysis.examine import Subject, examine
from gramian.analysis.findings import Finding, joined
from gramian.analysis.groups import is_number
from gramian.pictures import between_share, leading_columns
from gramian.pictures.certificate import CertificateTable
from gramian.pictures.loadings import ColumnWeight
from gramian.report.material import Labels, Material, gather

DOMINANT = 0.6
"""Share of the variance beyond which one component is called the main thing."""

ONE_COLUMN = 0.9
"""Contribution of a single column beyond which a component is little more than that column."""


def answer_words(
    fitted: Any,
    *,
    rows: Any = None,
    scores: Any = None,
    names: Sequence[str] | None = None,
    labels: Labels | None = None,
    row_names: Sequence[Any] | None = None,
    choice: Any = None,
    chosen: int | None = None,
    image_shape: tuple[int, int] | None = None,
) -> tuple[str, ...]:
    """Say what a fitted model found, in paragraphs.

    Parameters
    ----------
    fitted : PCAModel, KernelPCAModel or ICAModel, or an estimator
    rows, scores, names, labels, row_names, choice, chosen, image_shape
        As for :func:`~gramian.report.write_report`.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian import PCA
    >>> t = np.random.default_rng(0).standard_normal(200)
    >>> X = np.column_stack([t, 2 * t, -t]) + 0.1 * np.random.default_rng(1).standard_normal((200, 3))
    >>> answer_words(PCA().fit(X), names=["a", "b", "c"], chosen=1)[0]
    'b and a against c along PC1. It holds 99.7% of the variance.'
    """
    known = {"rows": rows, "scores": scores, "names": names, "labels": labels, "row_names": row_names}
    return tuple(map(str, answer(gather(fitted, **known, choice=choice, chosen=chosen, image_shape=image_shape))))


def answer(made: Material) -> tuple[Finding, ...]:
    """Say what was found: the findings of the analysis, or of a model and its rows."""
    examined = made.examined or examine(_subject(made))
    return examined.at(made.scree.chosen).findings


def _subject(made: Material) -> Subject:
    """Return what findings about a fitted model and its rows are drawn from."""
    return Subject(
        made.model,
        made.names,
        max(made.scree.chosen, 1),
        scores=made.scores,
        spread=made.rows.spread if made.rows is not None and len(made.rows.spread) else None,
        measured=made.measured,
        labels=made.labels,
        groups=made.groups,
        row_names=made.row_names,
        panel=made.choice,
        telling=made.telling,
        recommended=None if made.choice is None else made.choice.n_components,
        seed=made.seed,
    )


def special_meaning(made: Material, component: int) -> str:
    """Notice a component that is one column, or all columns together; nothing to say of any other."""
    d, share = made.model.n_columns, float(made.scree.shares[component])
    columns = leading_columns(made.model, component, count=d if d <= 40 else 6, names=made.names)
    name = made.components[component]
    if d > 1 and columns[0].contribution > ONE_COLUMN:
        return f"{name} is little more than the column {columns[0].name} ({share:.1%} of the variance)."
    together = d <= 40 and d > 2 and len({column.weight > 0 for column in columns}) == 1
    if together and columns[0].contribution < 3.0 / d and columns[-1].contribution > 0.1 / d:
        return f"All columns rise together along {name} ({share:.1%} of the variance): it measures their common level."
    return ""


def label_shares(made: Material, name: str, kept: range) -> list[float]:
    """Return, per component, the part of its spread that a label accounts for; empty where that means nothing."""
    if made.scores is None:
        return []
    values = made.labels[name]
    if is_number(values):
        known = np.isfinite(values)
        if known.sum() < 3 or np.ptp(values[known]) == 0:
            return []
        return [_squared_correlation(made.scores[known, j], values[known]) for j in kept]
    groups = made.groups[name]
    count = int(groups.max(initial=-1)) + 1
    # More groups tell rows apart one by one.
    if not 1 < count <= min(50, len(groups) / 2):
        return []
    return [between_share(made.scores[:, j], groups) for j in kept]


def _squared_correlation(a: np.ndarray, b: np.ndarray) -> float:
    if np.ptp(a) == 0:
        return 0.0
    return float(np.corrcoef(a, b)[0, 1] ** 2)


def component_words(
    component: int, share: float, columns: Sequence[ColumnWeight], *, n_columns: int, name: str | None = None
) -> str:
    """Name a component by the columns that rise and fall along it.

    Examples
    --------
    >>> columns = [ColumnWeight("height", 0.8, 0.64), ColumnWeight("age", -0.6, 0.36)]
    >>> component_words(0, 0.7, columns, n_columns=3)
    'PC1 holds 70.0% of the variance: height rises along it, age falls.'
    """
    # Half of an equal share: columns that share a component equally have one each but for rounding, and all are named.
    heavy = [column for column in columns if column.contribution * n_columns >= 0.5] or columns[:1]
    rising = [column.name for column in heavy if column.weight > 0]
    falling = [column.name for column in heavy if column.weight < 0]
    opening = f"{name or f'PC{component + 1}'} holds {share:.1%} of the variance"
    if not falling:
        return f"{opening}: {joined(rising)} {_verb(rising, 'rise')} along it."
    if not rising:
        return f"{opening}: {joined(falling)} {_verb(falling, 'fall')} along it."
    return f"{opening}: {joined(rising)} {_verb(rising, 'rise')} along it, {joined(falling)} {_verb(falling, 'fall')}."


def certificate_words(certificate: CertificateTable) -> str:
    """Say what the certificate promises, and what it does not.

    Examples
    --------
    >>> certificate_words(CertificateTable((), (), ("proved",), "1.0e-14", "2.0e-14", 0))
    'The one component is proved: no variance is off by more than 1.0e-14, ... 2.0e-14 in the sine ...'
    """
    grades = certificate.grades
    limits = f"no variance is off by more than {certificate.value_bound}, {_direction_words(certificate)}"
    if set(grades) == {"proved"}:
        return f"{_all_of(len(grades))} {'is' if len(grades) == 1 else 'are'} proved: {limits}."
    counts = ", ".join(f"{grades.count(grade)} {grade}" for grade in dict.fromkeys(grades))
    return f"Of {len(grades)} components: {counts}. As far as each grade reaches, {limits}."


def _direction_words(certificate: CertificateTable) -> str:
    """What is promised of directions, and how many are fixed only together."""
    if certificate.n_free == len(certificate.grades):
        return "and no direction is fixed by itself"
    bound = f"no direction by more than {certificate.angle_bound} in the sine of its angle"
    if not certificate.n_free:
        return bound
    return f"{bound}; {certificate.n_free} share their variance with others and are fixed only together"


def _all_of(count: int) -> str:
    """All of some components, as a person says it."""
    return {1: "The one component", 2: "Both components"}.get(count, f"All {count} components")


def _verb(names: Sequence[str], verb: str) -> str:
    """The verb as one or many do it."""
    return f"{verb}s" if len(names) == 1 else verb
