"""The page of a filled table: its frame is that of every page, and its figures read as they are."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest

from gramian.analysis.filling import FillRequest, fill
from gramian.report.document import POLICY
from gramian.report.filling import write_filling_page


@pytest.fixture(scope="module")
def found():
    """A filled table of two directions, a tenth of it missing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 2)) @ rng.standard_normal((2, 6)) + 0.3 * rng.standard_normal((80, 6))
    return fill(np.where(rng.random(X.shape) < 0.1, np.nan, X))


def test_it_has_the_policy_of_every_page_and_its_command_can_be_copied(found, tmp_path):
    """What a page may do is said once for all pages: nothing is fetched, and no form is sent."""
    page = write_filling_page(found, tmp_path / "page.html", title="a & b", command="gramian fill").read_text("utf-8")
    assert re.findall(r'Content-Security-Policy" content="([^"]*)"', page) == [POLICY]
    assert "form-action 'none'" in page
    assert "<title>a &amp; b</title>" in page
    assert page.count('class="copy"') == 1


def money(x):
    """Write a number as ledgers do."""
    return f"{'-' if x < 0 else ''}${abs(x):,.2f}"


@pytest.mark.parametrize(
    "written, like",
    [
        (money, r"-?\$\d{1,3}(,\d{3})*\.\d\d"),
        (lambda x: f"{x:,.2f} €".translate(str.maketrans(",.", ".,")), r"-?\d{1,3}(\.\d{3})*,\d\d €"),
        (lambda x: f"{x:.2f}", r"-?\d+\.\d\d"),
    ],
)
def test_numbers_are_shown_as_the_file_writes_them(tmp_path, written, like):
    """Money with its sign and its cents, filled or known, in a wide table and in pairs of a long one."""
    rng = np.random.default_rng(0)
    t = 3000 * rng.standard_normal(60)
    X = [[written(v) for v in row] for row in np.column_stack([t, 2 * t, -t]) + 90 * rng.standard_normal((60, 3))]
    lines = [["" if i % 9 == j else cell for j, cell in enumerate(row)] for i, row in enumerate(X)]
    long = [[f"u{i}", f"f{j}", cell] for i, row in enumerate(lines) for j, cell in enumerate(row)]
    for header, rows in ((["a", "b", "c"], lines), (["who", "film", "value"], long)):
        with (tmp_path / "t.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=";").writerows([header, *rows])
        request = FillRequest(1, row="who", column="film", value="value") if "who" in header else FillRequest(1)
        found = fill(tmp_path / "t.csv", request)
        page = write_filling_page(found, tmp_path / "page.html", title="filled").read_text("utf-8")
        section = page.split('id="table"')[1].split("</section>")[0]
        guesses = re.findall(r'class="guess">([^<]*) <small>', section)
        guesses += [
            cells[2] for row in section.split("<tr>") if (cells := re.findall(r"<td[^>]*>([^<]+)</td>", row))[2:]
        ]
        assert len(guesses) > 10
        assert all(re.fullmatch(like, guess) for guess in guesses)


def test_errors_that_the_check_finds_too_small_are_called_that(found, tmp_path):
    """No promise of 95 in 100 stands over a check that denies it."""
    check = replace(found.check, errors=0.1 * found.check.errors)
    page = write_filling_page(replace(found, check=check), tmp_path / "page.html", title="filled").read_text("utf-8")
    assert "These are too small here: 95% intervals hold" in page
    assert "95 times of 100" not in page


@pytest.mark.parametrize("rows, covered", [(4, 80), (8, 87), (14, 93), (80, 95)])
def test_intervals_of_small_tables_promise_what_they_hold(found, tmp_path, rows, covered):
    """The sentence on errors is that of the number of known values."""
    part = replace(found.known, X=found.known.X[:rows])
    small = replace(found, known=part, filled=found.filled[:rows], errors=found.errors[:rows])
    page = write_filling_page(small, tmp_path / "page.html", title="filled").read_text("utf-8")
    said = f"in tables like this about {covered} of 100" if covered < 95 else "within two of them, 95 times of 100"
    assert said in page
    assert page.count("of 100") == 1


@pytest.mark.parametrize("times, said", [(0.75, "25%</strong><span>less"), (1.05, "5.0%</strong><span>more")])
def test_an_error_above_that_of_means_is_called_more(found, tmp_path, times, said):
    """Predictions that are off by less than the means have less error, by more than these more."""
    check = found.check
    off = (check.means - check.actual) * times
    wrong = replace(found, check=replace(check, predicted=check.actual + off))
    page = write_filling_page(wrong, tmp_path / "page.html", title="filled").read_text("utf-8")
    assert f"{said} error than means" in page


@pytest.mark.parametrize("biases, way", [(None, "closed form"), (True, "variational Bayes, ")])
def test_where_nothing_is_missing_nothing_was_filled_in(tmp_path, biases, way):
    """A small whole table: no table of filled values, and the fit is called what it was."""
    X = np.random.default_rng(0).standard_normal((10, 4))
    found = fill(X, FillRequest(1, biases=biases))
    page = write_filling_page(found, tmp_path / "page.html", title="whole").read_text("utf-8")
    assert "filled value" not in page
    assert "What was filled in" not in page
    assert f"<dt>fit</dt><dd>{way}" in page
