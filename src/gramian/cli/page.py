"""The one place that calls the page."""

from pathlib import Path
from typing import Any

from gramian.cli.answer import Answer, count_of
from gramian.cli.input_path import stem_of
from gramian.report import write_report

METHODS = {"pca": "Principal components", "kpca": "Kernel principal components", "ica": "Independent sources"}
"""What the title of a page calls each verb."""


def write_page(answer: Answer, path: Path, *, seconds: float, seed: int, **shown: Any) -> Path:
    """Write the page of an answer."""
    fitted, prepared = answer.fitted, answer.prepared
    return write_report(
        fitted.shown,
        path,
        rows=prepared.source,
        names=prepared.names,
        labels=prepared.labels or None,
        row_names=prepared.called,
        facts=answer.notes,
        choice=fitted.panel,
        chosen=count_of(fitted.model),
        title=f"{METHODS[answer.verb]} of {stem_of('-' if answer.origin == 'standard input' else answer.origin)}",
        command=answer.command,
        opening=answer.opening,
        made={"file": answer.origin, "command": answer.command, "time": f"{seconds:.2f} s"},
        seed=seed,
        **shown,
    )
