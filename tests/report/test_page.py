import re
from html.parser import HTMLParser

import pytest

from gramian.report import Page, Section, Table, render, write_page

EVIL = "<script>alert(1)</script>\"'&"


class Outline(HTMLParser):
    """Collects tags and text, and notices tags that are not closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text, self.crossed = [], [], [], []

    def handle_starttag(self, tag, _attributes):
        """Remember a tag; void ones close themselves."""
        self.tags.append(tag)
        if tag not in {"meta", "br", "img"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        """Take back the last open tag, which must be this one."""
        if self.open.pop() != tag:
            self.crossed.append(tag)

    def handle_data(self, data):
        """Remember the text."""
        self.text.append(data)


def outline(page):
    """Parse a page."""
    parser = Outline()
    parser.feed(render(page))
    return parser


def full_page(words):
    """A page with the same words in every place that takes words."""
    table = Table((words, words), ((words, words),), numeric=frozenset({1}))
    section = Section(words, (words,), figure="<svg></svg>", caption=words, table=table)
    return Page(words, (words,), ((words, words),), (section,), words)


def test_words_from_outside_cannot_become_markup():
    """A name with a script in it appears as text in every place of a page, and runs nowhere."""
    parsed = outline(full_page(EVIL))
    assert "script" not in parsed.tags
    assert "".join(parsed.text).count(EVIL) == 13


def test_page_is_well_formed():
    """Every tag that is opened is closed, in order."""
    parsed = outline(full_page("plain"))
    assert not parsed.open
    assert not parsed.crossed


def test_page_needs_nothing_else():
    """A page has no script and loads nothing from anywhere."""
    text = render(full_page("plain"))
    assert not re.search(r"<script|<link|<img|@import|url\(|https?://", text)


def test_page_knows_phones_and_the_dark():
    """A page fits its width to the screen and has colors for light and for dark."""
    text = render(Page("plain"))
    assert 'name="viewport" content="width=device-width' in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.parametrize("wide", [True, False])
def test_section_without_picture_or_table_has_no_figure(wide):
    """Words alone make a section of words alone."""
    parsed = outline(Page("t", sections=(Section("s", ("words",), wide=wide),)))
    assert "figure" not in parsed.tags


def test_numeric_columns_are_set_flush_right():
    """Only the columns named as numeric carry that class."""
    table = Table(("a", "b"), (("1", "2"),), numeric=frozenset({1}))
    text = render(Page("t", sections=(Section("s", table=table),)))
    assert '<td class="text">1</td><td class="number">2</td>' in text


def test_write_makes_folders_and_replaces_the_old_page(tmp_path):
    """A page is written where it is asked for, over an old one, and leaves nothing else behind."""
    target = tmp_path / "new" / "page.html"
    write_page(Page("first"), target)
    assert write_page(Page("second"), target) == target
    assert "<h1>second</h1>" in target.read_text(encoding="utf-8")
    assert [path.name for path in target.parent.iterdir()] == ["page.html"]


def test_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    """When a page cannot be rendered, the old file stays as it was."""
    target = write_page(Page("old"), tmp_path / "page.html")
    monkeypatch.setattr("gramian.report.page.render", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_page(Page("new"), target)
    assert "<h1>old</h1>" in target.read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_rows_behind_the_cut_are_marked():
    """Rows from the cut on carry a class that dims them; without a cut none does."""
    rows = (("1",), ("2",), ("3",))
    texts = [render(Page("t", sections=(Section("s", table=Table(("a",), rows, cut=cut)),))) for cut in (2, None)]
    assert texts[0].count('<tr class="beyond">') == 1
    assert '<tr class="beyond"><td class="text">3</td>' in texts[0]
    assert '<tr class="beyond">' not in texts[1]
