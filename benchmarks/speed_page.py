"""The tables of docs/speed.md, each rewritten from a results file between its two markers."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs" / "speed.md"
BEGIN = "<!-- benchmark table: begin -->"
END = "<!-- benchmark table: end -->"


class MarkerError(ValueError):
    """The page has no place for the table."""


def splice(page: str, table: str, *, begin: str = BEGIN, end: str = END) -> str:
    """The page with everything between the markers replaced by the table."""
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        message = f"The page must hold {begin} and then {end}, once each. Put both where the table belongs."
        raise MarkerError(message)
    before, rest = page.split(begin)
    return f"{before}{begin}\n{table.strip()}\n{end}{rest.split(end)[1]}"


def rewrite(table: str, *, begin: str = BEGIN, end: str = END) -> None:
    """Splice the table into the page."""
    PAGE.write_text(splice(PAGE.read_text(encoding="utf-8"), table, begin=begin, end=end), encoding="utf-8")
