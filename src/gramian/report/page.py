"""One self-contained HTML page: no script, no network, readable on a phone, in light and in dark.

Every word that comes from outside (a title, a column's name, a file's name) is escaped here, so a page
cannot be made to run anything. Pictures are SVG text made by our own plots and are taken as they are.
"""

import os
from dataclasses import dataclass, field
from html import escape
from importlib.resources import files
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Table:
    """A small table.

    Attributes
    ----------
    header : tuple of str
        Names of the columns.
    rows : tuple of tuple of str
        The cells, already as text.
    numeric : frozenset of int
        Columns set flush right.
    cut : int, optional
        Rows from this one on stand below a line and are dimmed.
    """

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numeric: frozenset[int] = frozenset()
    cut: int | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of a page: words, then a picture, then a table; each may be missing.

    Attributes
    ----------
    title : str
        The heading.
    words : tuple of str
        Paragraphs.
    figure : str
        An ``<svg>`` element, from ``gramian.plots.to_svg``.
    caption : str
        What to see in the picture or the table.
    table : Table, optional
        Numbers.
    wide : bool
        Takes the whole width of a broad screen.
    """

    title: str
    words: tuple[str, ...] = ()
    figure: str = ""
    caption: str = ""
    table: Table | None = None
    wide: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """Everything a page says.

    Attributes
    ----------
    title : str
        Title of the window and first heading.
    lead : tuple of str
        Opening paragraphs: what was found.
    facts : tuple of (str, str)
        A few large numbers with what they are.
    sections : tuple of Section
        The rest, in order.
    footer : str
        How the page was made.
    """

    title: str
    lead: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    sections: tuple[Section, ...] = field(default=())
    footer: str = ""


def render(page: Page) -> str:
    """The page as HTML text.

    Examples
    --------
    >>> "<h1>Tom &amp; Jerry</h1>" in render(Page("Tom & Jerry"))
    True
    """
    style = files("gramian.report").joinpath("page.css").read_text(encoding="utf-8")
    title = escape(page.title)
    return "\n".join(
        (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>",
            f"<header>\n<h1>{title}</h1>\n{_paragraphs(page.lead)}\n{_facts(page.facts)}\n</header>",
            *(_section(section) for section in page.sections),
            f"<footer>{escape(page.footer)}</footer>\n</main>\n</body>\n</html>\n",
        )
    )


def write_page(page: Page, path: str | os.PathLike[str]) -> Path:
    """Write a page to a file and return where it is.

    The text goes to a temporary name beside the file and is then renamed, so a reader sees the old page or
    the new one, never half of one. Missing folders are made.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(Page("A page"), f"{folder}/page.html").name
    'page.html'
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_text(render(page), encoding="utf-8")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target


def _section(section: Section) -> str:
    """One section, in the order words, picture, table, caption."""
    parts = [f"<h2>{escape(section.title)}</h2>", _paragraphs(section.words)]
    if section.figure or section.table:
        parts.append(f"<figure>{section.figure}{_table(section.table)}{_caption(section.caption)}</figure>")
    return f'<section class="{"wide" if section.wide else "half"}">{"".join(parts)}</section>'


def _paragraphs(words: tuple[str, ...]) -> str:
    """Each string as a paragraph."""
    return "".join(f"<p>{escape(text)}</p>" for text in words)


def _facts(facts: tuple[tuple[str, str], ...]) -> str:
    """Large numbers with what they are under them."""
    if not facts:
        return ""
    cells = (f"<div><dd>{escape(value)}</dd><dt>{escape(name)}</dt></div>" for value, name in facts)
    return f"<dl>{''.join(cells)}</dl>"


def _caption(caption: str) -> str:
    """What to see, under a picture."""
    return f"<figcaption>{escape(caption)}</figcaption>" if caption else ""


def _table(table: Table | None) -> str:
    """A table that scrolls by itself on a narrow screen instead of widening the page."""
    if table is None:
        return ""
    head = _cells(table.header, table.numeric, "th")
    kept = len(table.rows) if table.cut is None else table.cut
    opened = ("<tr>" if position < kept else '<tr class="beyond">' for position in range(len(table.rows)))
    body = "".join(f"{tr}{_cells(row, table.numeric, 'td')}</tr>" for tr, row in zip(opened, table.rows, strict=True))
    return f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(texts: tuple[str, ...], numeric: frozenset[int], tag: str) -> str:
    """The cells of one row."""
    kinds = ('class="number"' if column in numeric else 'class="text"' for column in range(len(texts)))
    return "".join(f"<{tag} {kind}>{escape(text)}</{tag}>" for kind, text in zip(kinds, texts, strict=True))
