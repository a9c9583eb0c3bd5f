"""The answer in words: what was found, first. Each finding has sentences of its own."""

from collections.abc import Sequence
from typing import Any

from gramian.analysis.findings import Finding
from gramian.pictures.certificate import CertificateTable
from gramian.report.material import Labels, Material, gather


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
    return made.at(max(made.scree.chosen, 1)).findings


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
