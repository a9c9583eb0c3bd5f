"""The one place that calls the page."""

from pathlib import Path
from typing import Any

from gramian.cli.answer import Answer, count_of
from gramian.report import write_report


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
        code=f"# in a shell\n{answer.command}\n\n# in Python\n{fitted.code}",
        made={"file": answer.origin, "command": answer.command, "time": f"{seconds:.2f} s"},
        seed=seed,
        **shown,
    )
