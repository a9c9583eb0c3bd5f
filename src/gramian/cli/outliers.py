"""``gramian outliers MODEL FILE``: rows that a model finds unusual."""

from math import isfinite
from typing import Any

import click

from gramian.cli.options import row_flags
from gramian.cli.output import Progress, json_text

EXAMPLES = """\b
Examples:
  gramian outliers wine-pca/model.gramian wine.csv
  gramian outliers wine-pca/model.gramian new.csv --level 0.999 --count 50
"""


@click.command("outliers", epilog=EXAMPLES)
@click.argument("model")
@click.argument("file")
@click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.99, show_default=True)
@click.option("--count", type=click.IntRange(1), default=20, show_default=True, help="Rows that are listed.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
@row_flags
def command(model: str, file: str, **flags: Any) -> None:
    """List the rows of FILE that MODEL, a PCA, finds unusual, and the columns to blame.

    Two distances: within the components (Hotelling's T2) and off them (squared prediction error), each with the limit
    that a share --level of Gaussian rows stays under.
    """
    from gramian.analysis.findings import counted
    from gramian.cli.loaded import open_rows, refuse_coded
    from gramian.cli.options import readable
    from gramian.errors import ParameterError
    from gramian.models.archive.file import open_archive
    from gramian.pictures.outliers import outlier_map

    found = open_archive(model)
    refuse_coded(found.model, "outliers", "Its limits are those of Gaussian rows, which levels are not.")
    if found.model.kind != "pca":
        message = f"{model} is no PCA model, and only that has limits for outliers. Make one with gramian pca."
        raise ParameterError(message)
    with readable(file) as path, Progress(quiet=flags["quiet"]) as progress:
        rows = open_rows(path, found, flags, progress)
        unusual = outlier_map(found.model, rows.source, names=found.names, level=flags["level"], count=flags["count"])
    listed = [_line(row, rows.row_names) for row in unusual.unusual]
    if flags["as_json"]:
        limits = {"t2_limit": unusual.found.t2_limit, "spe_limit": unusual.found.spe_limit}
        click.echo(json_text(limits | {"flagged": len(unusual.found.flagged), "rows": listed}))
        return
    lie = "lies" if len(unusual.found.flagged) == 1 else "lie"
    click.echo(
        f"{len(unusual.found.flagged):,} of {counted(len(unusual.found.t2), 'row')} {lie} beyond a limit; "
        f"{unusual.found.expected:.1f} are expected of Gaussian rows."
    )
    pairs = (("T2", unusual.found.t2_limit), ("SPE", unusual.found.spe_limit))
    ends = [f"{name} {limit:.3g}" for name, limit in pairs if isfinite(limit)]
    click.echo(f"Limits: {', '.join(ends) or 'none'}.")
    click.echo("Distances are from the components of all rows of the fit; gramian pca leaves out those that lie apart.")
    for row in listed:
        name = f"row {row['row']}" if rows.row_names is None else row["row"]
        blame = ", ".join(
            f"{part['column']} {part['value']:.4g} ({part['deviations']:+.1f} sd)" for part in row["blame"]
        )
        click.echo(f"{name[:30]:30}  T2 {row['t2']:<9.3g} SPE {row['spe']:<9.3g} {row['beyond']}: {blame}")


def _line(row: Any, row_names: Any) -> dict[str, Any]:
    return {
        "row": row.row + 1 if row_names is None else str(row_names[row.row]),
        "t2": row.t2,
        "spe": row.spe,
        "beyond": row.beyond,
        "blame": [{"column": b.name, "value": b.value, "deviations": b.deviations} for b in row.blame],
    }
