"""The page of a filled table: its frame is that of every page, and its figures read as they are."""

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
