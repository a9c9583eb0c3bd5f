"""What ``pca``, ``mca``, ``famd``, ``kpca`` and ``ica`` share: read, plan, fit, write, and print the answer.

The answer says the method and why, how many components, what they are made of, how sure, and what was written.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from textwrap import wrap
from typing import Any

import click

from gramian.analysis.analyze import Analysis, Request, analyze_table, plan_of, require_device, require_varying
from gramian.analysis.categories import columns_in_words, open_for
from gramian.analysis.findings import counted, shortened
from gramian.analysis.table import Prepared
from gramian.arrays.namespace import to_host
from gramian.cli.exits import NotConvergedError
from gramian.cli.options import name_of, read_options, readable, stem_of
from gramian.cli.output import Progress, in_flags, json_text
from gramian.cli.writing import cannot_write, claimed, refuse_written, remove_stale
from gramian.sources.paths import files_of

SHOWN = 12
"""Components that are listed."""

VALUES = {"kernel": "of K / n", "ica": "variance"}
"""What the numbers beside the shares are; of the other models they are eigenvalues."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An analysis as the command line says it: what is said and written about one fit."""

    path: str
    found: Analysis
    notes: tuple[str, ...]
    files: tuple[Path, ...]
    command: str
    traced: bool = False

    @property
    def origin(self) -> str:
        """What the input is called in words."""
        return name_of(self.path)


def run(path: str, flags: dict[str, Any], request: Request) -> None:
    """Do what a verb is for: analyze a table as its flags say, write what was found, and print the answer."""
    request = replace(request, device=flags["device"])
    require_device(request)
    verb = "pca" if request.method == "auto" else request.method
    folder = flags["output"] or f"{stem_of(path)}-{verb}"
    refuse_written(folder, path)
    with readable(path) as file, Progress(quiet=flags["quiet"]) as progress:
        options = read_options(
            flags,
            file,
            color=flags["color"],
            missing="error" if request.is_matrix else flags["missing"],
            scale=False if request.is_matrix else flags["scale"],
            # The pixels of an image stay together, also those that never change; so do the columns of a matrix.
            keep_constant=request.image_shape is not None or request.is_matrix,
            supplementary=flags["supplementary"],
            device=flags["device"],
        )
        if flags["dry_run"]:
            # A kernel is resolved by rows, of which none may miss a value.
            table, method = open_for(file, options, request.method, progress, fill=request.method == "kpca")
            require_varying(table)
            click.echo(_planned(path, table, replace(request, method=method), as_json=flags["as_json"]))
            return
        # Before a folder is made, which is not what a person who mistyped a name was looking for.
        files_of(file)
        with claimed(folder) as target:
            from gramian.report.analysis import PAGES

            table, method = open_for(file, options, request.method, progress)
            found = analyze_table(table, replace(request, method=method), progress, pages=PAGES, opened=file)
            answer = _written(
                found, path, target, page=not flags["no_report"], embed_rows=not flags["no_rows"], progress=progress
            )
            answer = replace(answer, traced=flags.get("trace", False))
        text = json_text(as_json(answer)) if flags["as_json"] else as_text(answer)
    click.echo(text)
    if not found.converged:
        message = "the fit has not converged; what is certified was written (see the lines above)"
        raise NotConvergedError(message)


def _planned(path: str, table: Prepared, request: Request, *, as_json: bool) -> str:
    """Return what would be done, for a person or a machine."""
    plan, notes = plan_of(table, request), list(map(in_flags, table.notes))
    if not as_json:
        return "\n".join([*notes, plan])
    return json_text(
        {
            "method": request.method,
            "file": name_of(path),
            "rows": table.source.n_rows,
            "columns": list(table.names),
            "scaled": table.scale,
            "notes": notes,
            "plan": plan,
        }
    )


def _written(found: Analysis, path: str, folder: Path, *, page: bool, embed_rows: bool, progress: Progress) -> Answer:
    """Write what was found into a folder of ours, and return the answer."""
    from gramian.report.analysis import TITLES
    from gramian.report.recipes import opening_code

    notes = tuple(map(in_flags, found.notes))
    command = shlex.join(["gramian", *click.get_current_context().find_root().obj])
    shown: dict[str, Any] = {}
    if page:
        shown = {
            "embed_rows": embed_rows,
            "title": f"{TITLES[found.method]} of {stem_of(path)}",
            "command": command,
            "opening": opening_code(found.table, path=path, array=found.image_shape is not None),
            "made": {"file": name_of(path), "command": command, "time": f"{progress.seconds:.2f} s"},
        }
    with cannot_write(folder):
        files = found.save(folder, page=page, notes=notes, progress=progress, **shown)
        remove_stale(folder, files)
    return Answer(path, found, notes, files, command)


def as_text(answer: Answer) -> str:
    """Return the answer for a person."""
    found, source = answer.found, answer.found.table.source
    size = f"{counted(source.n_rows, 'row')}, {columns_in_words(found.table)}"
    head = f"{found.method.upper()} of {answer.origin}: {size}"
    parts = [head, *paragraphs([f"- {note}" for note in answer.notes], indent="  "), ""]
    parts += [*paragraphs([*map(str, found.findings)]), "", *paragraphs([found.why]), ""]
    parts += [*component_table(answer), ""]
    parts += [*_power_steps(found.model), ""] if answer.traced else []
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
    found, model, table = answer.found, answer.found.model, answer.found.table
    certificate, panel = model.certificate, found.panel
    return {
        "method": found.method,
        "why": found.why,
        "file": answer.origin,
        "rows": table.source.n_rows,
        "columns": list(table.names),
        "scaled": table.scale,
        "filled": table.n_filled,
        "notes": list(answer.notes),
        "findings": [finding.as_json() for finding in found.findings],
        "components": model.n_components,
        "rules": None if panel is None else {rule: int(k) for rule, k in panel.counts.items()},
        "shares": to_host(model.shares).astype(float).tolist(),
        # Of a kernel, in its feature space: eigenvalues of its matrix K over the number of rows.
        "variances": to_host(model.variances).astype(float).tolist(),
        # Of K itself, as the estimator's eigenvalues_.
        "kernel_eigenvalues": model.eigenvalues.tolist() if model.kind == "kernel" else None,
        "power_trace": _trace(model) if answer.traced else None,
        "mutual_information_drop": model.independence.drop if model.kind == "ica" else None,
        "certificate": None
        if certificate is None
        else [
            {"grade": line.grade, "residual": line.residual, "value_bound": line.value_bound, "tie": line.tie}
            for line in certificate.lines
        ],
        "supplementary": _supplementary(found.supplementary),
        "files": [str(path) for path in answer.files],
        "command": answer.command,
    }


def _trace(model: Any) -> list[dict[str, list[float]]]:
    """Return what each step of the power method saw, by component."""
    traces = [model.power_trace.of(i) for i in range(model.n_components)]
    return [{name: getattr(trace, name).tolist() for name in ("value", "residual", "angle")} for trace in traces]


def _supplementary(found: Any) -> dict[str, Any] | None:
    """Return where supplementary columns stand: correlations of quantities, coordinates of levels, eta2."""
    if found is None:
        return None
    return {
        "correlations": dict(zip(found.quantities, found.correlations.tolist(), strict=True)),
        "coordinates": dict(zip(found.names, found.coordinates.tolist(), strict=True)),
        "eta2": dict(zip(found.categories, found.eta2.tolist(), strict=True)),
    }


def component_table(answer: Answer) -> list[str]:
    """Return a line per component: its eigenvalue and share, the columns that lead it, and its certificate."""
    found, model = answer.found, answer.found.model
    shares, k = to_host(model.shares).astype(float), model.n_components
    values = to_host(model.variances).astype(float)
    value = VALUES.get(model.kind, "eigenvalue")
    # Of an image no pixel by itself tells anything, and a kernel has no weights of columns.
    named = found.image_shape is None and model.loadings is not None
    title = "leading columns" if named else ""
    shares_of_mca = model.greenacre_shares if found.method == "mca" else None
    corrected = [""] * k if shares_of_mca is None else [f"{share:>11.1%}" for share in shares_of_mca]
    head = "" if shares_of_mca is None else f"{'corrected':>11}"
    lines = [f"{'':6}{value:>11}{'share':>8}{'together':>10}{head}  {'certificate':24}{title}".rstrip()]
    for j in range(min(k, SHOWN)):
        leading = _leading(model, j, found.table.names) if named else ""
        name = f"{model.prefix}{j + 1}"
        lines.append(
            f"{name:6}{values[j]:>11.5g}{shares[j]:>8.1%}{shares[: j + 1].sum():>10.1%}{corrected[j]}"
            f"  {_certified(model, j):24}{leading}".rstrip()
        )
    if k > SHOWN:
        lines.append(f"... and {k - SHOWN} more in {answer.files[2].name}")
    if head:
        lines.append("corrected: shares without what coding by levels adds (Benzécri, Greenacre)")
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


def _power_steps(model: Any) -> list[str]:
    """Return a line per step of the power method, thinned where there are many, and the steps that are claimed."""
    from gramian.eigen.power import steps_enough

    lines = []
    for i, steps in enumerate(model.power_trace.n_steps.tolist()):
        trace = model.power_trace.of(i)
        lines += [f"{model.prefix}{i + 1}: {counted(steps, 'step')} of the power method"]
        lines += [f"{'step':>8}{'value':>14}{'residual':>12}{'angle':>12}"]
        shown = sorted(
            {*range(min(5, steps)), *(t for t in (round(1.5**e) for e in range(50)) if t < steps), steps - 1}
        )
        lines += [f"{t + 1:>8,}{trace.value[t]:>14.6g}{trace.residual[t]:>12.2e}{trace.angle[t]:>12.2e}" for t in shown]
        if i == 0:
            within = 1 + int((trace.value < 0.99 * trace.value[-1]).sum())
            enough = steps_enough(min(model.n_rows, model.n_columns), 0.01)
            lines.append(f"The value is within 1% after {within}; log(m / e) / e = {enough:,.0f} steps are claimed.")
    return lines


def rows_worth_a_look(answer: Answer) -> list[str]:
    """Return a line per row that lies beyond the limits, with the columns to blame."""
    found, table = answer.found, answer.found.table
    rows = found.at(found.n_components).outliers
    if rows is None or not rows.unusual:
        return []
    lines = ["Rows worth a look, furthest beyond a limit first:"]
    called = table.called
    for row in rows.unusual[:5]:
        name = f"row {row.row + 1}" if called is None else called[row.row]
        blame = ", ".join(
            f"{shortened(part.name, 24)} {part.value:.4g} ({part.deviations:+.1f} sd)" for part in row.blame[:2]
        )
        lines.append(f"  {shortened(name, 24):26}{row.beyond}{'' if found.image_shape else f': {blame}'}")
    return lines


def paragraphs(texts: Sequence[str], indent: str = "") -> list[str]:
    """Return texts as lines of a width that is read well."""
    inner = indent + ("  " if indent else "")
    return [line for text in texts if text for line in wrap(text, 100, initial_indent=indent, subsequent_indent=inner)]
