"""Every row of the lectures, from the library and from the command line; ``docs/conf.py`` shows what is proved here."""

import re

import pytest

from tests.lectures.rows import ROWS, Proof, prove, section_of

METHODS = [f"M{i}" for i in range(1, 12)]
FACTS = [f"F{i}" for i in range(1, 20)]
EXAMPLES = [f"E{i}" for i in range(1, 12)]


def name_of(row):
    """A row's id, and what it is where an id has several."""
    return f"{row.id}-{re.sub('[^a-z0-9]+', '-', row.what.lower())[:30]}"


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_row_has_the_lectures_number(row):
    """The call gives the lectures' number, and so does the command."""
    proof = prove(row)
    assert proof.holds(proof.ours), f"the lectures: {proof.lecture}, Gramian: {proof.ours}"
    if row.answer:
        assert proof.holds(proof.command), f"the lectures: {proof.lecture}, the command line: {proof.command}"


def test_no_row_is_missing():
    """Every method, fact and example of the lectures has its row, in their order."""
    assert list(dict.fromkeys(row.id for row in ROWS)) == [*METHODS, *FACTS, *EXAMPLES]


@pytest.mark.parametrize("row", ROWS, ids=name_of)
def test_each_section_has_its_command_or_says_that_there_is_none(row):
    """A reader of the page learns which rows the library alone has."""
    said = section_of(Proof(row, 0.0, 0.0, 0.0))
    assert ("$ gramian" in said) is bool(row.command)
    assert ("No command: library only." in said) is not bool(row.command)
