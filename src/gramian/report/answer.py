"""The answer in words: what was found, first. Each finding has sentences of its own."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.analysis.groups import is_number
from gramian.analysis.table import counted
from gramian.models.kernel_pca.model import kernel_words
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
    '200 rows of 3 columns, each centered. One direction is nearly all there is: PC1 alone holds 99.8% ...'
    """
    known = {"rows": rows, "scores": scores, "names": names, "labels": labels, "row_names": row_names}
    return answer(gather(fitted, **known, choice=choice, chosen=chosen, image_shape=image_shape))


def answer(made: Material) -> tuple[str, ...]:
    """Say what was found, in paragraphs, the most important first."""
    tell = {"pca": _pca, "kernel": _kernel, "ica": _ica}[made.kind]
    return tuple(paragraph for paragraph in tell(made) if paragraph)


def _pca(made: Material) -> tuple[str, ...]:
    return (
        f"{_table(made)} {_structure(made)}",
        " ".join(filter(None, (*_meanings(made), _units(made)))),
        " ".join(filter(None, (*_labels(made), _unusual(made)))),
    )


def _table(made: Material) -> str:
    model = made.model
    done = "centered and scaled to unit variance" if made.scaled else "centered" if model.options.center else "as it is"
    return f"{counted(model.n_rows, 'row')} of {counted(model.n_columns, 'column')}, each {done}."


def _structure(made: Material) -> str:
    """How many directions there are, and how much they hold."""
    scree, k = made.scree, made.scree.chosen
    if not scree.shares.any():
        return "All rows are the same, so there is nothing to find."
    if made.model.n_columns == 1:
        return f"There is one column, {made.names[0]}, so PC1 is that column."
    noise = _stands_out(made)
    if _is_noise(made):
        return (
            "No direction stands out from what unrelated columns of noise would show: these columns do not move "
            "together, and fewer components than columns would lose what is there."
        )
    first = f"PC1 alone holds {scree.shares[0]:.1%} of the variance"
    if k == 1 and scree.shares[0] > ONE_COLUMN:
        return f"One direction is nearly all there is: {first}."
    if scree.shares[0] > DOMINANT and noise != 0:
        more = f", and {k} components together {scree.kept:.1%}" if k > 1 else ""
        return f"One direction leads: {first}{more}."
    how = "stand" if k > 1 else "stands"
    kept = f"{k} components are kept" if k > 1 else "1 component is kept"
    if noise is not None:
        finds = f"{noise or 'none'} that {'stand' if noise > 1 else 'stands'} out from noise"
        found = f"{kept} (parallel analysis finds {finds})"
        whole = min(made.model.n_rows, made.model.n_columns)
        kept = f"{k} of {whole} components {how} out" if noise == k else found
    rest = " Most of it is spread over directions that do not stand out." if scree.kept < 0.5 and noise == k else ""
    return f"{kept} and {'hold' if k > 1 else 'holds'} {scree.kept:.1%} of the variance.{rest}"


def _stands_out(made: Material) -> int | None:
    """Components that parallel analysis counts; ``None`` where it was not asked."""
    if made.choice is None:
        return None
    return next((v.n_components for v in made.choice.verdicts if v.rule == "parallel analysis"), None)


def _is_noise(made: Material) -> bool:
    """Whether parallel analysis finds nothing, and no direction leads by its share (of few rows it sees little)."""
    return _stands_out(made) == 0 and bool(made.scree.shares[0] <= DOMINANT)


def _meanings(made: Material) -> list[str]:
    """What the first components are made of; nothing where none stands out."""
    if _is_noise(made) or not made.scree.shares.any() or not made.telling or made.model.n_columns == 1:
        return []
    return [meaning(made, j) for j in range(min(2, max(made.scree.chosen, 1), len(made.components)))]


def meaning(made: Material, component: int) -> str:
    """Say what a component is made of."""
    columns = leading_columns(made.model, component, count=6, names=made.names)
    share, name = float(made.scree.shares[component]), made.components[component]
    return special_meaning(made, component) or component_words(
        component, share, columns, n_columns=made.model.n_columns, name=name
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


def _units(made: Material) -> str:
    """Warn where the largest numbers decide."""
    model = made.model
    if made.scaled or model.n_columns < 2 or made.rows is None or not len(made.rows.spread):
        return ""
    # Of spreads near the end of the range the squares are not known, those of their ratios are.
    variances = (made.rows.spread / max(float(made.rows.spread.max()), np.finfo(np.float64).tiny)) ** 2
    total, largest = float(variances.sum()), int(np.argmax(variances))
    if total == 0.0 or variances[largest] < 0.5 * total or _is_first(made, largest) < ONE_COLUMN:
        return ""
    share = variances[largest] / total
    return (
        f"The column {made.names[largest]} alone has {share:.0%} of the variance because its numbers are the largest; "
        "scaled to unit variance (scale=True, --scale) every column would count alike."
    )


def _is_first(made: Material, column: int) -> float:
    return float(np.asarray(made.model.components[0])[column] ** 2)


def _labels(made: Material) -> list[str]:
    """Say along which component each label shows most."""
    if made.scores is None or not made.components:
        return []
    kept = range(min(max(made.scree.chosen, 1), len(made.components), 10))
    sentences = (label_words(made, name, kept) for name in list(made.labels)[:4])
    return [words for words in sentences if words]


def label_words(made: Material, name: str, kept: range) -> str:
    """Say how much a label has to do with the components; nothing for one that names rows one by one."""
    shares, values = label_shares(made, name, kept), made.labels[name]
    if not shares:
        return ""
    best = int(np.argmax(shares))
    most, component = shares[best], made.components[best]
    if most < 0.3:  # Too little of a spread, or of a squared correlation, to be worth naming a component.
        return _no_label(name, most, component if len(shares) == 1 else "", number=is_number(values))
    if is_number(values):
        return f"{component} follows {name} most: {most:.0%} of its variance goes with it."
    return (
        f"{component} tells most about {name}: {most:.0%} of its spread lies between the groups, {1 - most:.0%} inside."
    )


def _no_label(name: str, most: float, alone: str, *, number: bool) -> str:
    """Say that a label does not show; `alone` is the one component kept, where there is one."""
    if number:
        return (
            f"{alone} does not follow {name}: {most:.0%} of its variance goes with it."
            if alone
            else f"No component follows {name}: at most {most:.0%} of its variance goes with one."
        )
    return (
        f"{alone} does not tell the groups of {name} apart: {most:.0%} of its spread lies between them."
        if alone
        else f"No component tells the groups of {name} apart: at most {most:.0%} of a spread lies between them."
    )


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


def _unusual(made: Material) -> str:
    """Say how many rows lie beyond the limits, and whether that is more than chance."""
    if made.outliers is None:
        return ""
    found = made.outliers.found
    count = len(found.flagged)
    if not np.isfinite([found.t2_limit, found.spe_limit]).any():
        return ""
    if count == 0:
        return f"No row lies beyond the {found.level:.0%} limits."
    rows = f"{count:,} {'row lies' if count == 1 else 'rows lie'} beyond the {found.level:.0%} limits"
    worst = made.outliers.unusual[0]
    within_chance = count <= found.expected + 2.0 * np.sqrt(found.expected)
    # A row at 2.5 times its limit is named, however many are expected beyond it by chance.
    if within_chance and max(worst.t2 / found.t2_limit, worst.spe / found.spe_limit) < 2.5:
        return f"{rows}, no more than chance would put there in {len(found.t2):,} rows."
    blamed = max(worst.blame, key=lambda blame: abs(blame.deviations))
    side = "high" if blamed.deviations > 0 else "low"
    away = f" ({blamed.name} is {side}, {abs(blamed.deviations):.1f} standard deviations from its mean)"
    away = away if made.telling and abs(blamed.deviations) > 2.0 else ""
    chance = (
        "about as many as chance would put there"
        if within_chance
        else f"where chance would put {found.expected:.0f}"
        if found.expected >= 1
        else "where chance would put none"
    )
    return f"{rows}, {chance}; {made.row_name(worst.row)} is furthest out{away}."


def _kernel(made: Material) -> tuple[str, ...]:
    model, scree = made.model, made.scree
    seen = f"{'approximately ' if model.approximate else ''}through the kernel {kernel_words(model.kernel)}"
    opening = f"{counted(model.n_rows, 'row')} of {counted(model.n_columns, 'column')}, seen {seen}."
    if not scree.shares.any():
        return (f"{opening} All rows are alike to this kernel, so there is nothing to find.",)
    k = scree.chosen
    holds = "component holds" if k == 1 else "components hold"
    found = f"{k} {holds} {scree.kept:.1%} of the variance in its feature space"
    first = f", {made.components[0]} {scree.shares[0]:.1%}." if k > 1 else "."
    words = f"{opening} {found[0].upper()}{found[1:]}{first} {_kernel_width(made)}"
    return (words.strip(), " ".join(_labels(made)))


def _kernel_width(made: Material) -> str:
    """Notice a kernel that sees every row as like itself alone, or one that is nearly linear."""
    shares = made.scree.shares
    if len(shares) > 1 and shares[0] < 3.0 / made.model.n_rows:
        return (
            "The components hold little more than single rows: the kernel is too narrow, and finds every row like "
            "itself alone. A smaller gamma makes it wider."
        )
    if shares[0] > DOMINANT:
        return "One curved direction leads."
    return ""


def _ica(made: Material) -> tuple[str, ...]:
    model, report = made.model, made.model.independence
    k = len(made.components)
    table = f"{counted(model.n_rows, 'row')} of {counted(model.n_columns, 'column')}"
    opening = f"{table}, unmixed into {counted(k, 'source')}."
    if not model.converged:
        opening += f" The algorithm stopped before it converged, so take them with care ({model.n_iter} iterations)."
    return (
        f"{opening} {_independence(report, made.components, whitened=model.options.whiten)}",
        " ".join(filter(None, (_shapes(made), _stability(model, made.components)))),
    )


def _independence(report: Any, names: Sequence[str], *, whitened: bool) -> str:
    """Say what unmixing took out beyond whitening, from which the drop is measured."""
    if report is None:
        return ""
    gaussian = len(report.gaussian)
    if gaussian and gaussian == len(report.kurtosis):
        return str(report.doubt("The sources" if report.can_tell else "them"))
    if not np.isfinite([report.drop, report.drop_error]).all():
        return str(report.summary)
    before = "the columns after whitening (decorrelation)" if whitened else "the columns, given as white"
    drop = f"The sources share {report.drop:.2f} ± {report.drop_error:.2f} nats of information less than {before}"
    if report.drop <= report.drop_error:
        # A difference within error is no sign of independence: these rows may be too few to show more.
        return f"{drop}: these rows do not show more than decorrelation already gave."
    if gaussian > 1:
        which = joined([names[i] for i in report.gaussian])
        return f"{drop}. {report.doubt(which)}"
    return f"{drop}."


def _shapes(made: Material) -> str:
    """Which source is the most peaked, which the flattest."""
    report = made.model.independence
    if report is None or len(report.kurtosis) < 2 or not np.isfinite(report.kurtosis).all():
        return ""
    peaked, flat = int(np.argmax(report.kurtosis)), int(np.argmin(report.kurtosis))
    words = f"{made.components[peaked]} is the most peaked (kurtosis {report.kurtosis[peaked]:+.1f})"
    if report.kurtosis[flat] < 0:
        words += f", {made.components[flat]} the flattest ({report.kurtosis[flat]:+.1f})"
    return f"{words[0].upper()}{words[1:]}."


def _stability(model: Any, names: Sequence[str]) -> str:
    """Say what the index is, which is a mean over pairs of runs, and how many runs did not converge."""
    if model.stability is None:
        return ""
    index, runs = np.asarray(model.stability), model.options.runs
    shaky = np.flatnonzero(index < 0.8)
    words = (
        f"Over {runs} runs on different parts of the rows, the stability of every source is {index.min():.2f} or more"
    )
    if len(shaky):
        which = joined([f"{names[i]} ({index[i]:.2f})" for i in shaky.tolist()])
        words = f"Over {runs} runs on different parts of the rows, {which} came back only in part"
    short = 0 if model.converged_runs is None else runs - model.converged_runs
    cut = f" {short} of these runs did not converge, so it may be lower than the rows would give." if short else ""
    return f"{words} (1 is a source that all runs find alike).{cut}"


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
