"""How often an analysis reads its rows, solves and parses."""

import numpy as np
import pytest

from gramian.analysis import table as tables
from gramian.analysis.analyze import analyze
from gramian.models.pca import fit
from gramian.report.analysis import PAGES
from gramian.sources.formats import csv
from gramian.sources.opening import as_source
from gramian.testing.counting import CountingRows


def rows(n=3000, d=6, seed=0):
    """Rows of two strong directions and noise, with columns of one size."""
    rng = np.random.default_rng(seed)
    return 3.0 * rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) + rng.standard_normal((n, d)) + 5.0


@pytest.fixture
def written(tmp_path):
    """A text table with a label, an id and a constant column."""
    X = rows(500)
    lines = ["who,group,still,a,b,c,d,e,f"]
    lines += [f"row {i},{'xyz'[i % 3]},7,{','.join(map(str, x))}" for i, x in enumerate(X)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def counted(monkeypatch):
    """Count the passes over every source that an analysis opens."""
    made = []

    def opened(*words, **more):
        made.append(CountingRows(as_source(*words, **more)))
        return made[-1]

    monkeypatch.setattr(tables, "as_source", opened)
    return made


@pytest.fixture
def solves(monkeypatch):
    """Count eigenproblems of the rows."""
    made, decompose = [], fit.decompose

    def solved(*words, **more):
        made.append(more["k"])
        return decompose(*words, **more)

    monkeypatch.setattr(fit, "decompose", solved)
    return made


@pytest.mark.parametrize("scale", [None, True])
@pytest.mark.parametrize("n_components", ["auto", 3, 0.8])
def test_rows_in_memory_are_passed_over_at_most_four_times_and_solved_once(
    tmp_path, counted, solves, n_components, scale
):
    """From opening to the page: one pass for moments, one for the rules, one for scores, distances and rows shown."""
    found = analyze(rows(), n_components=n_components, scale=scale, pages=PAGES)
    found.save(tmp_path / "out")
    (source,) = counted
    assert source.passes == 3
    assert len(solves) == 1
    assert (tmp_path / "out" / "report.html").exists()


def test_text_is_parsed_once(tmp_path, written, counted, solves, monkeypatch):
    """A file with a label, an id and a constant column is opened once, each piece of it parsed once."""
    parses, read_text = [], csv.read_text

    def reading(data, *words, **more):
        parses.append(len(data))
        return read_text(data, *words, **more)

    monkeypatch.setattr(csv, "read_text", reading)
    found = analyze(written, pages=PAGES)
    found.save(tmp_path / "out")
    assert 0.9 * written.stat().st_size < sum(parses) <= written.stat().st_size
    (source,) = counted
    assert source.passes <= 4
    assert len(solves) == 1
    assert found.table.left_out == ("still",)


def test_missing_values_cost_a_pass_that_counts_them_and_the_filling(tmp_path, counted, solves):
    """Rows with missing values are counted and copied once; the filled ones are passed over as others are."""
    X = rows(300)
    X[::17, 2] = np.nan
    np.savetxt(tmp_path / "t.csv", X, delimiter=",", header="a,b,c,d,e,f", comments="", fmt="%.17g")
    found = analyze(tmp_path / "t.csv", pages=PAGES)
    (source,) = counted
    # Moments, where they are not finite, the count, and the copy that is filled.
    assert source.passes <= 4
    assert len(solves) == 1
    assert found.table.n_filled == int(np.isnan(X).sum())


def test_a_wide_table_is_solved_once(counted, solves):
    """Of a wide table the n x n problem is solved once; models of k and of more components come from it."""
    found = analyze(rows(40, 200), pages=PAGES)
    assert len(solves) == 1
    assert found.shown.n_components == 30
    assert found.model.n_components < 30
    assert counted[0].passes <= 7


def test_rendering_reads_nothing(tmp_path, counted):
    """The page, the folder and the notebook view of an analysis are made of it alone."""
    found = analyze(rows(), pages=PAGES)
    before = counted[0].passes
    found.report(tmp_path / "page.html")
    found.save(tmp_path / "out")
    assert "<svg" in found._repr_html_()
    assert counted[0].passes == before


def test_values_are_filled_beside_columns_whose_squares_leave_the_floats():
    """Columns times powers of two are filled with the same values times these powers, and warn of nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) @ rng.normal(size=(2, 4)) + 0.1 * rng.normal(size=(60, 4))
    X[3, 1] = X[7, 2] = np.nan
    small, large = (np.exp2(np.array([0, power, -power, 0])) for power in (10, 600))
    sources = (as_source(X * times, column_names=list("abcd")) for times in (small, large))
    usual, far = (analyze(source, scale=True) for source in sources)
    assert far.table.n_filled == 2
    np.testing.assert_allclose(far.table.source.whole / large, usual.table.source.whole / small, rtol=1e-12)
