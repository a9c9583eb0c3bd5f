"""The walk that ``pca``, ``kpca`` and ``ica`` share: read, plan, fit, write, answer."""

import shlex
import warnings
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click

from gramian.cli.answer import Answer, as_json, as_text
from gramian.cli.exits import NotConvergedError
from gramian.cli.flag_words import in_flags
from gramian.cli.input_path import readable, stem_of
from gramian.cli.json_text import json_text
from gramian.cli.opening_code import opening_code
from gramian.cli.options import require_device
from gramian.cli.prepared import Asked, Prepared
from gramian.cli.table import open_table
from gramian.cli.talk import Talk
from gramian.cli.writing import MODEL, cannot_write, claimed, refuse_written, remove_stale, scores_name, write_scores
from gramian.errors import ConvergenceWarning, InputError
from gramian.models.whole_file import whole_file
from gramian.sources.paths import files_of


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
        Sentences beside those about the table.
    """

    model: Any
    why: str
    scores: Any
    shown: Any
    panel: Any = None
    notes: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class Verb:
    """How one verb differs from the others."""

    name: str
    prefix: str
    plan: Callable[[Prepared, dict[str, Any]], str]
    fit: Callable[[Prepared, dict[str, Any], Talk], Fitted]


def run(verb: Verb, path: str, flags: dict[str, Any]) -> None:
    """Do what a verb is for."""
    require_device(flags["device"])
    asked = Asked(
        columns=flags["columns"],
        drop=flags["drop"],
        id=flags["id_"],
        color=flags["color"],
        missing=flags["missing"],
        scale=flags["scale"],
        memory=flags["memory"],
        # The pixels of an image stay together, also those that never change.
        keep_constant="image_shape" in flags.get("shown", {}),
    )
    folder = flags["output"] or f"{stem_of(path)}-{verb.name}"
    refuse_written(folder, path)
    with readable(path) as file, Talk(quiet=flags["quiet"]) as talk:
        if flags["dry_run"]:
            prepared = _varying(open_table(file, asked, talk))
            click.echo(_planned(verb, path, prepared, flags))
            return
        # Before a folder is made, which is not what a person who mistyped a name was looking for.
        files_of(file)
        with claimed(folder) as target:
            prepared = _varying(open_table(file, asked, talk))
            answer, converged = _work(verb, path, asked, prepared, target, flags=flags, talk=talk)
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
            "file": _origin(path),
            "rows": prepared.source.n_rows,
            "columns": list(prepared.names),
            "scaled": prepared.scale,
            "notes": list(prepared.notes),
            "plan": plan,
        }
    )


def _origin(path: str) -> str:
    return "standard input" if path == "-" else path


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
    verb: Verb, path: str, asked: Asked, prepared: Prepared, folder: Path, *, flags: dict[str, Any], talk: Talk
) -> tuple[Answer, bool]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fitted = verb.fit(prepared, flags, talk)
    said = tuple(dict.fromkeys(in_flags(str(warning.message)) for warning in caught))
    converged = not any(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    notes = (*prepared.notes, *fitted.notes, *said)
    shape = flags.get("shown", {}).get("image_shape")
    command = shlex.join(["gramian", *(flags.get("words") or click.get_current_context().find_root().obj)])
    names = (MODEL, scores_name(len(fitted.scores)), "loadings.csv", *(() if flags["no_report"] else ("report.html",)))
    answer = Answer(
        verb=verb.name,
        prefix=verb.prefix,
        origin=_origin(path),
        prepared=prepared,
        fitted=fitted,
        notes=notes,
        opening=opening_code(path, asked, prepared, array=shape is not None),
        image_shape=shape,
        files=tuple(folder / name for name in names),
        command=command,
    )
    _write(answer, flags, talk)
    return answer, converged


def _write(answer: Answer, flags: dict[str, Any], talk: Talk) -> None:
    """Write every file under another name, and give them their names at the end: all of one fit, or none."""
    from gramian.cli.page import write_page
    from gramian.models import archive
    from gramian.models.export import export

    fitted, prepared, folder = answer.fitted, answer.prepared, answer.files[0].parent
    with cannot_write(folder), ExitStack() as drafts:
        model, scores, loadings, *page = (drafts.enter_context(whole_file(path)) for path in answer.files)
        talk("writing the model")
        archive.save(fitted.model, model, names=prepared.source.column_names, notes=answer.notes, copy_rows=True)
        row_names = prepared.row_numbers if prepared.row_names is None else prepared.row_names
        write_scores(scores, fitted.scores, prefix=answer.prefix, labels=prepared.labels, row_names=row_names)
        export(fitted.model, loadings, to="csv", names=prepared.names)
        for part in page:
            talk("writing the page")
            write_page(answer, part, seconds=talk.seconds, seed=flags["seed"], **flags.get("shown", {}))
    with cannot_write(folder):
        remove_stale(folder, answer.files)
