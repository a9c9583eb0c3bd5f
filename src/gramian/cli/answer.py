"""The printed answer: the method and why, how many components, what they are made of, how sure, what was written."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any

from gramian.arrays.namespace import to_host
from gramian.cli.flag_words import in_flags
from gramian.cli.prepared import Prepared
from gramian.models.ica import ICAModel
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.pca import PCAModel
from gramian.views.labels import counted, shortened

WIDTH = 100
"""Columns of the printed answer."""

SHOWN = 12
"""Components that are listed."""

WORTH = 5
"""Rows worth a look that are listed."""


@dataclass(frozen=True, eq=False)
class Answer:
    """All that is said and written about one fit."""

    verb: str
    prefix: str
    origin: str
    prepared: Prepared
    fitted: Any
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    command: str
    opening: str = ""
    image_shape: tuple[int, int] | None = None


def count_of(model: Any) -> int:
    """Return how many components a model has."""
    return len(model.eigenvalues) if isinstance(model, KernelPCAModel) else len(model.components)


def as_text(answer: Answer) -> str:
    """Return the answer for a person."""
    source = answer.prepared.source
    size = f"{counted(source.n_rows, 'row')}, {counted(source.n_columns, 'column')}"
    head = f"{answer.verb.upper()} of {answer.origin}: {size}"
    parts = [head, *_paragraphs([f"- {note}" for note in answer.notes], indent="  "), ""]
    parts += [*_paragraphs(_words(answer)), "", *_paragraphs([answer.fitted.why]), ""]
    parts += [*how_many(answer), *component_table(answer), ""]
    worth = rows_worth_a_look(answer)
    parts += [*worth, ""] if worth else []
    folder = answer.files[0].parent
    parts.append(f"Written to {folder}/: {', '.join(path.name for path in answer.files)}")
    model = str(answer.files[0])
    parts.append(f"Use it again: gramian project {quote(model)} NEW.csv   or, in Python, gramian.load({model!r})")
    parts.append(f"Reproduce it: {answer.command}")
    return "\n".join(parts)


def as_json(answer: Answer) -> dict[str, Any]:
    """Return the answer for a machine: numbers as numbers, nothing rounded."""
    model, source = answer.fitted.model, answer.prepared.source
    certificate = getattr(model, "certificate", None)
    panel = answer.fitted.panel
    return {
        "method": answer.verb,
        "why": answer.fitted.why,
        "file": answer.origin,
        "rows": source.n_rows,
        "columns": list(answer.prepared.names),
        "scaled": answer.prepared.scale,
        "filled": answer.prepared.n_holes,
        "notes": list(answer.notes),
        "components": count_of(model),
        "rules": None if panel is None else {rule: int(k) for rule, k in panel.counts.items()},
        "shares": _shares(model).tolist(),
        "variances": _variances(model).tolist(),
        "certificate": None
        if certificate is None
        else [
            {"grade": line.grade, "residual": line.residual, "value_bound": line.value_bound, "tie": line.tie}
            for line in certificate.lines
        ],
        "files": [str(path) for path in answer.files],
        "command": answer.command,
    }


def _words(answer: Answer) -> list[str]:
    from gramian.report import answer_words

    fitted, prepared = answer.fitted, answer.prepared
    said = answer_words(
        fitted.shown,
        rows=prepared.source,
        names=prepared.names,
        labels=prepared.labels or None,
        row_names=prepared.called,
        choice=fitted.panel,
        chosen=count_of(fitted.model),
        image_shape=answer.image_shape,
    )
    return [in_flags(paragraph) for paragraph in said]


def how_many(answer: Answer) -> list[str]:
    """Say how many components there are and what the other rules say."""
    k, panel = count_of(answer.fitted.model), answer.fitted.panel
    if panel is None:
        return []
    said = ", ".join(f"{verdict.rule} {verdict.n_components}" for verdict in panel.verdicts)
    return [*_paragraphs([f"Kept {k}. What the rules say: {said}. {panel.agreement}"]), ""]


def component_table(answer: Answer) -> list[str]:
    """Return a line a component: its share, the columns that lead it, and its certificate."""
    model = answer.fitted.model
    shares, k = _shares(model), count_of(model)
    # Of an image no pixel by itself tells anything, and a kernel has no weights of columns.
    named = answer.image_shape is None and not isinstance(model, KernelPCAModel)
    title = "leading columns" if named else ""
    lines = [f"{'':6}{'share':>8}{'together':>10}  {'certificate':24}{title}".rstrip()]
    for j in range(min(k, SHOWN)):
        leading = _leading(model, j, answer.prepared.names) if named else ""
        name = f"{answer.prefix}{j + 1}"
        lines.append(
            f"{name:6}{shares[j]:>8.1%}{shares[: j + 1].sum():>10.1%}  {_certified(model, j):24}{leading}".rstrip()
        )
    if k > SHOWN:
        lines.append(f"... and {k - SHOWN} more in {answer.files[2].name}")
    return lines


def _certified(model: Any, j: int) -> str:
    certificate = getattr(model, "certificate", None)
    if certificate is None:
        return f"gradient {model.gradient_norm:.0e}"
    if j >= len(certificate.values):
        return "-"
    line = certificate.lines[j]
    size = abs(float(certificate.values[0])) or 1.0
    return f"{line.grade}{', tie' if line.tie else ''}, to {line.quadratic_bound / size:.0e}"


def _leading(model: Any, j: int, names: Sequence[str]) -> str:
    from gramian.views.loadings import leading_columns

    # The numbers of the page's cards.
    columns = leading_columns(model, j, count=4, names=names)
    return ", ".join(f"{_short(column.name)} {column.weight:+.2f}" for column in columns if column.weight != 0)


def _short(name: str) -> str:
    return shortened(name, 24)


def _shares(model: Any) -> Any:
    if isinstance(model, ICAModel):
        variances = to_host(model.variances).astype(float)
        return variances / variances.sum() if variances.sum() > 0 else variances
    return to_host(model.shares).astype(float)


def _variances(model: Any) -> Any:
    return to_host(model.eigenvalues if isinstance(model, KernelPCAModel) else model.variances).astype(float)


def rows_worth_a_look(answer: Answer) -> list[str]:
    """Return a line a row that lies beyond the limits, with the columns to blame."""
    if not isinstance(answer.fitted.model, PCAModel):
        return []
    from gramian.views.outliers import outlier_map

    k = count_of(answer.fitted.model)
    rows, names = answer.prepared.source, answer.prepared.names
    found = outlier_map(answer.fitted.shown, rows, n_components=k, names=names, count=WORTH)
    if not found.unusual:
        return ["Rows worth a look: none lies beyond the limits that 99% of Gaussian rows stay under."]
    flagged = len(found.found.flagged)
    lines = [
        f"Rows worth a look ({flagged:,} beyond the limits; {found.found.expected:.0f} expected of Gaussian rows):"
    ]
    called = answer.prepared.called
    for row in found.unusual:
        name = f"row {row.row + 1}" if called is None else called[row.row]
        blame = ", ".join(f"{_short(part.name)} {part.value:.4g} ({part.deviations:+.1f} sd)" for part in row.blame[:2])
        lines.append(f"  {_short(name):26}{row.beyond}{'' if answer.image_shape else f': {blame}'}")
    return lines


def _paragraphs(texts: Sequence[str], indent: str = "") -> list[str]:
    inner = indent + ("  " if indent else "")
    return [
        line for text in texts if text for line in wrap(text, WIDTH, initial_indent=indent, subsequent_indent=inner)
    ]
