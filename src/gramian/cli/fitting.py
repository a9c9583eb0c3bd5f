"""What ``pca``, ``kpca`` and ``ica`` share: read, plan, fit, write, and print the answer.

The answer says the method and why, how many components, what they are made of, how sure, and what was written.
"""

import shlex
import warnings
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any

import click

from gramian.arrays.namespace import to_host
from gramian.atomic import atomic_write
from gramian.cli.exits import NotConvergedError
from gramian.cli.options import file_options, name_of, readable, require_device, stem_of
from gramian.cli.output import Progress, json_text, said_by
from gramian.cli.table import Prepared, ReadOptions, exactly, open_table
from gramian.cli.writing import MODEL, cannot_write, claimed, refuse_written, remove_stale, scores_name, write_scores
from gramian.errors import ConvergenceWarning, InputError
from gramian.pictures.fitted import counted, shortened
from gramian.sources.paths import files_of

SHOWN = 12
"""Components that are listed."""

CODE_WIDTH = 88
"""Columns of code, where a list of names is broken."""


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a verb found.

    Attributes
    ----------
    model : PCAModel, KernelPCAModel or ICAModel
    why : str
        The method, and why it.
    scores : array (n, k)
    shown : model
        With more components where that was cheap, for the page.
    panel : Panel or None
        What every rule says about the number of components.
    notes : tuple of str
        Sentences in addition to those about the table.
    """

    model: Any
    why: str
    scores: Any
    shown: Any
    panel: Any = None
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Verb:
    """How one verb differs from the others.

    ``plans_from_rows``: its plan looks at rows, so none may miss a value; ``shows_images``: rows may be images.
    """

    name: str
    plan: Callable[[Prepared, dict[str, Any]], str]
    fit: Callable[[Prepared, dict[str, Any], Progress], Fitted]
    plans_from_rows: bool = False
    shows_images: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """All that is said and written about one fit."""

    verb: str
    path: str
    prepared: Prepared
    fitted: Any
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    command: str
    opening: str = ""
    image_shape: tuple[int, int] | None = None

    @property
    def origin(self) -> str:
        """What the input is called in words."""
        return name_of(self.path)


def run(verb: Verb, path: str, flags: dict[str, Any]) -> None:
    """Do what a verb is for."""
    require_device(flags["device"])
    options = ReadOptions(
        columns=flags["columns"],
        drop=flags["drop"],
        id=flags["id_"],
        color=flags["color"],
        missing=flags["missing"],
        scale=flags["scale"],
        memory=flags["memory"],
        # The pixels of an image stay together, also those that never change.
        keep_constant="image_shape" in flags.get("shown", {}),
        file=file_options(flags),
    )
    folder = flags["output"] or f"{stem_of(path)}-{verb.name}"
    refuse_written(folder, path)
    with readable(path) as file, Progress(quiet=flags["quiet"]) as progress:
        if flags["dry_run"]:
            prepared = _varying(open_table(file, options, progress, fill=verb.plans_from_rows))
            click.echo(_planned(verb, path, prepared, flags))
            return
        # Before a folder is made, which is not what a person who mistyped a name was looking for.
        files_of(file)
        with claimed(folder) as target:
            prepared = _varying(open_table(file, options, progress))
            if verb.shows_images and prepared.image_shape is not None:
                flags = {"shown": {"image_shape": prepared.image_shape}} | flags
            answer, converged = _work(verb, path, options, prepared, target, flags=flags, progress=progress)
            # Here, while the rows can still be read: those of standard input are gone at the end.
            text = json_text(as_json(answer)) if flags["as_json"] else as_text(answer)
    click.echo(text)
    if not converged:
        message = "the fit has not converged; what is certified was written (see the lines above)"
        raise NotConvergedError(message)


def _planned(verb: Verb, path: str, prepared: Prepared, flags: dict[str, Any]) -> str:
    """Return what would be done, for a person or a machine."""
    plan = verb.plan(prepared, flags)
    if not flags["as_json"]:
        return "\n".join([*prepared.notes, plan])
    return json_text(
        {
            "method": verb.name,
            "file": name_of(path),
            "rows": prepared.source.n_rows,
            "columns": list(prepared.names),
            "scaled": prepared.scale,
            "notes": list(prepared.notes),
            "plan": plan,
        }
    )


def _varying(prepared: Prepared) -> Prepared:
    """Refuse a table in which nothing varies: every number that a fit would give is arbitrary."""
    if prepared.varies:
        return prepared
    n = prepared.source.n_rows
    if n == 1:
        message = f"{prepared.origin} has one row, so nothing varies and there is nothing to find. Give it more rows."
    else:
        message = (
            f"{prepared.origin}: every column is constant over its {n:,} rows, so there is nothing to find. "
            "Use columns that vary."
        )
    raise InputError(message)


def _work(
    verb: Verb,
    path: str,
    options: ReadOptions,
    prepared: Prepared,
    folder: Path,
    *,
    flags: dict[str, Any],
    progress: Progress,
) -> tuple[Answer, bool]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = verb.fit(prepared, flags, progress)
    said = tuple(dict.fromkeys(said_by(warning) for warning in caught))
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    notes = (*prepared.notes, *fitted.notes, *said)
    shape = flags.get("shown", {}).get("image_shape")
    command = shlex.join(["gramian", *click.get_current_context().find_root().obj])
    names = (MODEL, scores_name(len(fitted.scores)), "loadings.csv", *(() if flags["no_report"] else ("report.html",)))
    answer = Answer(
        verb=verb.name,
        path=path,
        prepared=prepared,
        fitted=fitted,
        notes=notes,
        opening=_opening_code(path, options, prepared, array=shape is not None),
        image_shape=shape,
        files=tuple(folder / name for name in names),
        command=command,
    )
    _write(answer, flags, progress)
    return answer, converged


def _write(answer: Answer, flags: dict[str, Any], progress: Progress) -> None:
    """Write every file under another name, and give them their names at the end: all of one fit, or none."""
    from gramian.models.archive import file as archive
    from gramian.models.archive.export import export

    fitted, prepared, folder = answer.fitted, answer.prepared, answer.files[0].parent
    with cannot_write(folder), ExitStack() as drafts:
        model, scores, loadings, *page = (drafts.enter_context(atomic_write(path)) for path in answer.files)
        progress("writing the model")
        archive.save(fitted.model, model, names=prepared.source.column_names, notes=answer.notes, copy_rows=True)
        row_names = prepared.row_numbers if prepared.row_names is None else prepared.row_names
        write_scores(scores, fitted.scores, prefix=fitted.model.prefix, labels=prepared.labels, row_names=row_names)
        export(fitted.model, loadings, to="csv", names=prepared.names)
        for part in page:
            progress("writing the page")
            _write_page(answer, part, seconds=progress.seconds, seed=flags["seed"], **flags.get("shown", {}))
    with cannot_write(folder):
        remove_stale(folder, answer.files)


def _write_page(answer: Answer, path: Path, *, seconds: float, seed: int, **shown: Any) -> None:
    from gramian.report import write_report

    fitted, prepared = answer.fitted, answer.prepared
    titles = {"pca": "Principal components", "kpca": "Kernel principal components", "ica": "Independent sources"}
    write_report(
        fitted.shown,
        path,
        rows=prepared.source,
        names=prepared.names,
        labels=prepared.labels or None,
        row_names=prepared.called,
        facts=answer.notes,
        choice=fitted.panel,
        chosen=fitted.model.n_components,
        title=f"{titles[answer.verb]} of {stem_of(answer.path)}",
        command=answer.command,
        opening=answer.opening,
        made={"file": answer.origin, "command": answer.command, "time": f"{seconds:.2f} s"},
        seed=seed,
        **shown,
    )


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
    certificate, panel = model.certificate, answer.fitted.panel
    return {
        "method": answer.verb,
        "why": answer.fitted.why,
        "file": answer.origin,
        "rows": source.n_rows,
        "columns": list(answer.prepared.names),
        "scaled": answer.prepared.scale,
        "filled": answer.prepared.n_filled,
        "notes": list(answer.notes),
        "components": model.n_components,
        "rules": None if panel is None else {rule: int(k) for rule, k in panel.counts.items()},
        "shares": to_host(model.shares).astype(float).tolist(),
        # Of a kernel, the eigenvalues of its matrix.
        "variances": to_host(model.eigenvalues if model.kind == "kernel" else model.variances).astype(float).tolist(),
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
    words = answer_words(
        fitted.shown,
        rows=prepared.source,
        names=prepared.names,
        labels=prepared.labels or None,
        row_names=prepared.called,
        choice=fitted.panel,
        chosen=fitted.model.n_components,
        image_shape=answer.image_shape,
    )
    return list(words)


def how_many(answer: Answer) -> list[str]:
    """Say how many components there are and what the other rules say."""
    k, panel = answer.fitted.model.n_components, answer.fitted.panel
    if panel is None:
        return []
    said = ", ".join(f"{verdict.rule} {verdict.n_components}" for verdict in panel.verdicts)
    return [*_paragraphs([f"Kept {k}. What the rules say: {said}. {panel.agreement}"]), ""]


def component_table(answer: Answer) -> list[str]:
    """Return a line per component: its share, the columns that lead it, and its certificate."""
    model = answer.fitted.model
    shares, k = to_host(model.shares).astype(float), model.n_components
    # Of an image no pixel by itself tells anything, and a kernel has no weights of columns.
    named = answer.image_shape is None and model.loadings is not None
    title = "leading columns" if named else ""
    lines = [f"{'':6}{'share':>8}{'together':>10}  {'certificate':24}{title}".rstrip()]
    for j in range(min(k, SHOWN)):
        leading = _leading(model, j, answer.prepared.names) if named else ""
        name = f"{model.prefix}{j + 1}"
        lines.append(
            f"{name:6}{shares[j]:>8.1%}{shares[: j + 1].sum():>10.1%}  {_certified(model, j):24}{leading}".rstrip()
        )
    if k > SHOWN:
        lines.append(f"... and {k - SHOWN} more in {answer.files[2].name}")
    return lines


def _certified(model: Any, j: int) -> str:
    certificate = model.certificate
    if certificate is None:
        return f"gradient {model.gradient_norm:.0e}"
    if j >= len(certificate.values):
        return "-"
    line = certificate.lines[j]
    size = abs(float(certificate.values[0])) or 1.0
    return f"{line.grade}{', tie' if line.tie else ''}, to {line.quadratic_bound / size:.0e}"


def _leading(model: Any, j: int, names: Sequence[str]) -> str:
    from gramian.pictures.loadings import leading_columns

    # The numbers of the page's cards.
    columns = leading_columns(model, j, count=4, names=names)
    return ", ".join(f"{shortened(column.name, 24)} {column.weight:+.2f}" for column in columns if column.weight != 0)


def rows_worth_a_look(answer: Answer) -> list[str]:
    """Return a line per row that lies beyond the limits, with the columns to blame."""
    if answer.fitted.model.kind != "pca":
        return []
    from gramian.pictures.outliers import outlier_map

    k = answer.fitted.model.n_components
    rows, names = answer.prepared.source, answer.prepared.names
    found = outlier_map(answer.fitted.shown, rows, n_components=k, names=names, count=5)
    if not found.unusual:
        return ["Rows worth a look: none lies beyond the limits that 99% of Gaussian rows stay under."]
    flagged = len(found.found.flagged)
    lines = [
        f"Rows worth a look ({flagged:,} beyond the limits; {found.found.expected:.0f} expected of Gaussian rows):"
    ]
    called = answer.prepared.called
    for row in found.unusual:
        name = f"row {row.row + 1}" if called is None else called[row.row]
        blame = ", ".join(
            f"{shortened(part.name, 24)} {part.value:.4g} ({part.deviations:+.1f} sd)" for part in row.blame[:2]
        )
        lines.append(f"  {shortened(name, 24):26}{row.beyond}{'' if answer.image_shape else f': {blame}'}")
    return lines


def _paragraphs(texts: Sequence[str], indent: str = "") -> list[str]:
    inner = indent + ("  " if indent else "")
    return [line for text in texts if text for line in wrap(text, 100, initial_indent=indent, subsequent_indent=inner)]


def _opening_code(path: str, options: ReadOptions, prepared: Prepared, *, array: bool = False) -> str:
    """Return lines that define `X` and `names`, and `labels` where there are some.

    Parameters
    ----------
    path : str
    options : ReadOptions
    prepared : Prepared
    array : bool
        Whether `X` has to be an array, because a line takes one row of it.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> rows = as_source(np.eye(3))
    >>> prepared = Prepared(rows, ("a", "b", "c"), scale=False, notes=(), spread=np.ones(3), left_out=("d",))
    >>> print(_opening_code("t.csv", ReadOptions(), prepared))
    from gramian.sources import as_source
    <BLANKLINE>
    rows = as_source('t.csv', drop=['d'])
    X = rows
    names = [f"column {j + 1}" for j in range(rows.n_columns)]
    """
    filled = prepared.n_filled > 0
    lines = ["from gramian.models.probabilistic.filling import fill_missing"] if filled else []
    lines += ["from gramian.sources import as_source", "", _rows_code(path, options, prepared)]
    lines.append(_values_code(prepared, array=array))
    lines.append(f"names = {_names_code(prepared)}")
    lines += [f"labels = {{{name!r}: {_labels_code(prepared)}}}" for name in prepared.labels]
    return "\n".join(lines)


def _rows_code(path: str, options: ReadOptions, prepared: Prepared) -> str:
    drop = [*options.drop, *map(exactly, prepared.left_out)]
    words: dict[str, Any] = {
        "columns": list(options.columns),
        "drop": drop,
        "label": options.color,
        "id": options.id,
        **options.file._asdict(),
    }
    source = "'table.csv'" if path == "-" else repr(path)
    given = [source, *(f"{name}={_list_code(value)}" for name, value in words.items() if value)]
    note = "  # what came from standard input" if path == "-" else ""
    line = f"rows = as_source({', '.join(given)}){note}"
    return line if len(line) <= CODE_WIDTH else "rows = as_source(\n    " + ",\n    ".join(given) + f",\n){note}"


def _list_code(value: Any) -> str:
    """A value as Python; a list too long for a line, broken between its entries."""
    if isinstance(value, str) or len(repr(value)) < CODE_WIDTH - 16:
        return repr(value)
    lines = [""]
    for entry in map(repr, value):
        if len(lines[-1]) + len(entry) > CODE_WIDTH - 10:
            lines.append("")
        lines[-1] += f" {entry},"
    return "[\n       " + "\n       ".join(lines) + "\n    ]"


def _values_code(prepared: Prepared, *, array: bool) -> str:
    taken = "rows.map_rows(lambda block: block.rows)"
    if prepared.n_filled:
        return f"X = fill_missing({taken}{'' if prepared.filled_scaled else ', scale=False'}).rows"
    if prepared.row_numbers is not None:
        return f"X = {taken}\nwhole = (X == X).all(axis=1)  # rows without missing values\nX = X[whole]"
    return f"X = {taken}" if array else "X = rows"


def _names_code(prepared: Prepared) -> str:
    """Columns without names of their own are called by their place, as on the page."""
    if prepared.source.column_names is not None:
        return "rows.column_names"
    if prepared.facts is not None:
        return "[column.name for column in rows.facts.used]"
    return '[f"column {j + 1}" for j in range(rows.n_columns)]'


def _labels_code(prepared: Prepared) -> str:
    return "rows.labels()" if prepared.row_numbers is None else "rows.labels()[whole]"
