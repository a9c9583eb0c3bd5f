"""What was found, in sentences. They are made from views alone, so they can only say what was measured."""

from collections.abc import Sequence

from gramian.views.certificates import CertificateTable
from gramian.views.labels import component_name
from gramian.views.loadings import ColumnWeight

# A column is named when it carries at least this part of an equal share of the component. Well below one: columns that
# share it equally carry one each but for rounding, and all of them are to be named.
_WORTH_NAMING = 0.5


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
    heavy = [column for column in columns if column.contribution * n_columns >= _WORTH_NAMING] or columns[:1]
    rising = [column.name for column in heavy if column.weight > 0]
    falling = [column.name for column in heavy if column.weight < 0]
    opening = f"{name or component_name(component)} holds {share:.1%} of the variance"
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


def joined(names: Sequence[str]) -> str:
    """Names as a person lists them.

    Examples
    --------
    >>> joined(["a", "b", "c"])
    'a, b and c'
    """
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _verb(names: Sequence[str], verb: str) -> str:
    """The verb as one or many do it."""
    return f"{verb}s" if len(names) == 1 else verb
