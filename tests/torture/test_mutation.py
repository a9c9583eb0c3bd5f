"""Changes that are drawn are changes, and the patches that break rules fit the code."""

import ast

import pytest

from torture import mutation
from torture.rules import RULES


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.number}, {rule.rule}")
def test_a_rule_can_be_broken(rule):
    """What a patch takes away is there once, what it leaves can be read by Python, and its tests are there."""
    text = (mutation.ROOT / rule.file).read_text()
    assert text.count(rule.old) == 1
    ast.parse(text.replace(rule.old, rule.new))
    assert all((mutation.ROOT / test).exists() for test in rule.tests)


def test_each_rule_is_broken():
    """There is a patch for each of the eight rules."""
    assert {rule.number for rule in RULES} == set(range(1, 9))


def test_changes_are_drawn_by_seed():
    """The same seed draws the same changes; each gives another program, which Python reads."""
    drawn = mutation.drawn(5, 12)
    assert drawn[:6] == mutation.drawn(5, 6)
    for mutant in drawn:
        text = (mutation.ROOT / mutant.file).read_text()
        assert text[mutant.start : mutant.stop] == mutant.old
        assert ast.dump(ast.parse(mutant.applied(text))) != ast.dump(ast.parse(text))


def test_words_and_annotations_are_left_alone(tmp_path):
    """Docstrings, annotations and what errors say are not changed; what computes is, each in its place."""
    path = tmp_path / "some.py"
    path.write_text(
        'def f(x: tuple[int, "a < 1"] = 2) -> list[3]:\n'
        '    """Take x + 4."""\n'
        '    message = "x" + "5"\n'
        "    if not x <= 6 and x > 7:\n"
        "        raise ValueError(message, 8)\n"
        "    return x + 9\n"
    )
    found = {(mutant.line, mutant.old, mutant.new) for mutant in mutation.mutants_of(path, "some.py")}
    assert {line for line, _, _ in found} == {1, 4, 6}
    assert {(4, "x <= 6", "x < 6"), (4, "not x <= 6", "(x <= 6)"), (6, "x + 9", "x - 9")} <= found
    assert {old for _, old, _ in found if old.isdecimal()} == {"2", "6", "7", "9"}
