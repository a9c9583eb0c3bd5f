"""The table in the README, rewritten from a results file between its two markers."""

from __future__ import annotations

from pathlib import Path

BEGIN = "<!-- benchmark table: begin -->"
END = "<!-- benchmark table: end -->"


class MarkerError(ValueError):
    """The page has no place for the table."""


def splice(page: str, table: str) -> str:
    """The page with everything between the markers replaced by the table."""
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        message = f"The page must hold {BEGIN} and then {END}, once each. Put both where the table belongs."
        raise MarkerError(message)
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}\n{table.strip()}\n{END}{rest.split(END)[1]}"


def rewrite(path: Path, table: str) -> None:
    """Splice the table into a file."""
    path.write_text(splice(path.read_text(encoding="utf-8"), table), encoding="utf-8")
