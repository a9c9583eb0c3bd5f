"""What is said about a table is true, and does not depend on what it must not depend on."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import gramian
from benchmarks.check_findings import Table, faults, faults_of, generated, options_of, unfounded_numbers
from gramian.analysis.clouds import cloud_finding, find_clouds
from gramian.analysis.components import component_finding, ends_of
from gramian.analysis.groups import examine_labels
from gramian.analysis.intervals import Intervals, bootstrap
from gramian.analysis.kernel import kernel_findings
from gramian.analysis.noise import first_variances
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.models.pca.robust import row_order
from gramian.report.contents import contents, cuts_of, floats
from gramian.report.material import material_of
from gramian.sources import as_source
from tests.shared_data import files_of

COLUMNS = list("abcdef")


def found_in(frame, **options):
    """Findings by kind; ``options`` are those of analyze."""
    by_kind = {}
    for finding in gramian.analyze(frame, **options).findings:
        by_kind.setdefault(finding.kind, []).append(finding)
    return by_kind


def of_rows(X, columns=COLUMNS):
    """Rows as a table whose columns are called a, b, c, ..."""
    return pd.DataFrame(X, columns=columns[: X.shape[1]])


def with_factor(n=150, seed=0):
    """Six columns, four of which share a factor."""
    rng = np.random.default_rng(seed)
    return of_rows(rng.standard_normal((n, 1)) * [1, 1, 1, 1, 0, 0] + 0.6 * rng.standard_normal((n, 6)))


@pytest.mark.parametrize("kind", generated(0))
def test_every_finding_of_a_generated_table_is_true(kind):
    """Recomputed with NumPy and pandas each number holds, and what was planted is found."""
    frame, missed = generated(1)[kind]
    options = options_of(kind, frame)
    if frame.isna().any(axis=None):
        findings = [finding.as_json() for finding in gramian.analyze(frame, **options).findings]
        wrong = []
    else:
        wrong, findings = faults_of(frame, frame, **options)
    assert not wrong
    assert not missed(findings)


@pytest.mark.parametrize(
    "change",
    [
        ("component", {"share": 0.9}, {}, "the share is"),
        ("component", {}, {"correlations": [0.1, 0.2, 0.3]}, "the correlation of"),
        ("outliers", {"flagged": 1, "expected": 70.0}, {}, "the expected count"),
        ("table", {"rows": 7}, {}, "the table has 150 rows"),
    ],
    ids=str,
)
def test_the_checker_fails_on_what_is_false(change):
    """A share, a correlation, a count and a size that are not the table's are called false."""
    kind, numbers, evidence, said = change
    frame = with_factor()
    found = gramian.analyze(frame)
    finding = next(finding for finding in found.findings if finding.kind == kind).as_json()
    assert not faults([finding], Table(frame, scaled=found.table.scale, labels={}, rows=None), kept=1)
    finding = finding | {"numbers": finding["numbers"] | numbers, "evidence": finding["evidence"] | evidence}
    finding["evidence"]["columns"] = finding["evidence"].get("columns", [])[:3]
    assert said in " ".join(faults([finding], Table(frame, scaled=found.table.scale, labels={}, rows=None), kept=1))


def test_the_checker_fails_on_what_was_let_through():
    """A sign that is turned, a whole number off by one, a gap that is denied and a plane of unequal axes are false."""
    frame = generated(0)["clouds"][0]
    found = gramian.analyze(frame)
    table = Table(frame, scaled=found.table.scale, labels={}, rows=None)
    clouds = next(finding for finding in found.findings if finding.kind == "clouds").as_json()
    assert not faults([clouds], table, kept=1)
    denied = clouds | {"sentence": "No gap.", "evidence": {"gaps": [], "components_examined": [0]}}
    assert "has a gap" in " ".join(faults([denied], table, kept=1))
    plane = {"kind": "plane", "sentence": "", "numbers": {"share": float(table.shares[:2].sum())}, "evidence": {}}
    assert "standard errors" in " ".join(faults([plane | {"components": [0, 1]}], table, kept=2))
    said = {"kind": "said", "numbers": {"r": -0.45, "rows": 1201}, "evidence": {}, "components": []}
    assert not unfounded_numbers(said | {"sentence": "r is -0.45, of size 0.45, over 1,201 rows"}, table)
    assert len(unfounded_numbers(said | {"sentence": "r is +0.45 over 1,200 rows"}, table)) == 2


def test_a_sentence_with_a_number_of_its_own_is_false():
    """A number that is none of the finding's is called false, however true it is elsewhere."""
    frame = with_factor()
    finding = gramian.analyze(frame).findings[-1].as_json()
    finding["sentence"] += " There are 42 more."
    table = Table(frame, scaled=False, labels={}, rows=None)
    assert any("42 is none of its numbers" in fault for fault in faults([finding], table, kept=1))


def told_alike(found, other):
    """Whether kinds, components and numbers agree; what noise reaches is drawn, and agrees to two digits."""
    assert [(one.kind, one.components) for one in found.findings] == [
        (two.kind, two.components) for two in other.findings
    ]
    for one, two in zip(found.findings, other.findings, strict=True):
        assert one.numbers.keys() == two.numbers.keys()
        for name, value in one.numbers.items():
            assert value == pytest.approx(two.numbers[name], rel=0.03 if name == "noise_reaches" else 1e-6), one
    return True


@pytest.fixture(scope="module")
def told():
    """A table of a factor, groups, two clouds and a row far out, and what is said of it."""
    frame = with_factor()
    frame["side"] = np.where(np.arange(150) < 60, "left", "right")
    frame.loc[:59, ["e", "f"]] += 7.0
    frame.loc[100, "a"] += 15.0
    frame["b"] *= 40.0
    frame["name"] = [f"row_{i}x" for i in range(150)]
    return frame, gramian.analyze(frame, id="name")


def test_order_of_the_rows_changes_nothing(told):
    """Shuffled rows give the same findings, with the same rows by name."""
    frame, found = told
    again = gramian.analyze(frame.sample(frac=1.0, random_state=0).reset_index(drop=True), id="name")
    assert told_alike(again, found)
    said, now = ([str(finding) for finding in part.findings if finding.kind != "count"] for part in (found, again))
    assert now == said


def test_order_of_the_columns_changes_nothing(told):
    """Shuffled columns give the same sentences."""
    frame, found = told
    again = gramian.analyze(frame[["f", "side", "b", "name", "d", "a", "e", "c"]], id="name")
    assert told_alike(again, found)


def test_neighbors_along_an_axis_are_named_together_and_others_are_not():
    """Bands of a spectrum are said by where they begin and end; the same columns in another order one by one."""
    frame = generated(0)["spectrum"][0]
    said = str(found_in(frame)["component"][0])
    assert re.match(r"Columns \d+ to \d+ against \d+ to \d+ along PC1", said)
    mixed = found_in(frame[np.random.default_rng(0).permutation(frame.columns)])["component"][0]
    assert " to " not in mixed.sentence.split(" along ")[0]
    assert "stretches" not in mixed.evidence
    one = pd.DataFrame({"1": [1.0, -2.0, 3.0] * 9, "2": [0.0, 0.1, 0.0] * 9, "3": [0.1, 0.0, -0.1] * 9})
    assert "the column 1." in str(found_in(one)["component"][0])


def test_a_stretch_ends_where_a_column_was_left_out_and_others_take_no_part():
    """A constant column, one that is dropped, and one whose name is no number are in none; units may follow numbers."""
    frame = generated(0)["spectrum"][0].add_suffix(" nm").assign(**{"1200 nm": 1.0})
    frame["octane"] = np.random.default_rng(0).standard_normal(len(frame)) * 0.5
    finding = next(
        one for one in found_in(frame, drop=["990 nm"], scale=False)["component"] if "stretches" in one.evidence
    )
    said = {name for ends in finding.evidence["stretches"] for name in ends}
    names = list(frame.columns)
    for first, last in finding.evidence["stretches"]:
        inside = names[names.index(first) : names.index(last) + 1]
        assert not {"1200 nm", "990 nm", "octane"} & set(inside)
    assert {"1190 nm", "1210 nm"} <= said or {"980 nm", "1000 nm"} <= said


def test_columns_whose_names_are_numbers_are_said_to_be_columns():
    """Two numbered columns, a skewed one, and the columns of a source."""
    rng = np.random.default_rng(0)
    t = rng.standard_normal((80, 1))
    two = pd.DataFrame(t + 0.2 * rng.standard_normal((80, 2)), columns=["1", "2"])
    assert found_in(two)["component"][0].sentence.startswith("Columns ")
    skewed_one = pd.DataFrame(np.exp(1.5 * rng.standard_normal((300, 2))), columns=["7", "8"])
    assert found_in(skewed_one)["skew"][0].sentence.startswith("Columns ")
    sources = found_in(pd.DataFrame(rng.uniform(-1, 1, (300, 3)), columns=["7", "8", "9"]), method="ica")["source"]
    assert any("correlates most with column" in one.sentence for one in sources)


def test_intervals_hold_the_correlations_of_more_columns_than_are_solved():
    """Of 60 scaled columns 40 components are solved: no strong correlation has an interval with zero in it."""
    frame = generated(0)["many columns, scaled"][0]
    found = gramian.analyze(frame)
    intervals, parts = found.examined.about.intervals, found.examined.about.parts
    strong = np.abs(parts.correlations[0]) > 0.7
    low, high = np.moveaxis(intervals.correlations[0], -1, 0)
    assert strong.sum() > 10
    assert ((low > 0) | (high < 0))[strong].all()
    assert (high - low)[strong].max() < 0.5


def test_components_that_few_rows_make_part_no_others():
    """The walk over near-equal variances passes over them."""
    gaps = np.array([[0.0, 0.5, 1.0, 5.0]] * 4)
    alone = np.array([False, True, False, False])
    intervals = Intervals(np.zeros((4, 2)), np.zeros((4, 2)), np.zeros((4, 3, 2)), gaps, alone, 10, 10)
    assert [intervals.tied_with(j) for j in range(4)] == [(0, 2), (1,), (0, 2), (3,)]


def test_skewness_is_told_of_the_columns_that_were_looked_at():
    """Of 60 columns 40 are; a column with one mistyped cell is not mended by logarithms."""
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(np.exp(1.5 * rng.standard_normal((200, 60))), columns=[f"v{i}" for i in range(60)])
    (finding,) = found_in(wide)["skew"]
    assert "more of the 40 columns that were looked at: where" in finding.sentence
    typed = of_rows(np.exp(0.5 * rng.standard_normal((5_000, 3))))
    typed.loc[3, "a"] = 1e6
    assert "skew" not in found_in(typed)


def test_names_of_columns_change_names_alone(told):
    """Columns called otherwise, by names that no rule uses, give the same sentences with those names."""
    frame, found = told
    names = dict(zip(COLUMNS, ["uva", "uvb", "uvc", "uvd", "uve", "uvf"], strict=True))
    assert told_alike(gramian.analyze(frame.rename(columns=names), id="name"), found)


def test_units_change_nothing_where_columns_are_scaled(told):
    """Grams for kilograms, and degrees of another zero, give the same findings."""
    frame, found = told
    assert found.table.scale
    other = frame.assign(a=1000.0 * frame["a"], c=32.0 + 1.8 * frame["c"], e=frame["e"] / 60.0)
    assert told_alike(gramian.analyze(other, id="name"), found)


def test_a_filled_cell_is_no_evidence():
    """Columns that were filled in a row are not blamed for it."""
    frame = with_factor()
    frame.loc[3, ["a", "b"]] = [9.0, np.nan]
    frame.loc[4, ["e", "f"]] = [np.nan, 12.0]
    cut = gramian.analyze(frame, n_components=2).at(2)
    blamed = {row.row: {part.name for part in row.blame} for row in cut.outliers.unusual}
    assert {3, 4} <= set(blamed)
    assert "b" not in blamed[3]
    assert "e" not in blamed[4]
    assert "f" in blamed[4]


@pytest.mark.parametrize("n, d", [(40, 90), (40, 12)])
def test_first_variances_of_noise_are_those_of_tables(n, d):
    """Half of them, and 95%, lie under the same values as of tables drawn row by row; of more columns than rows too."""
    rng = np.random.default_rng(0)
    covariance = np.where(np.arange(d)[:, None] // 3 == np.arange(d) // 3, 0.4, 0.0) + 0.6 * np.eye(d)
    root = np.linalg.cholesky(covariance)
    tables = (rng.standard_normal((n, d)) @ root.T for _ in range(400))
    truth = [np.linalg.eigvalsh(np.cov(X.T))[-1] for X in tables]
    found = first_variances(covariance, n, count=400)
    np.testing.assert_allclose(np.quantile(found, [0.5, 0.95]), np.quantile(truth, [0.5, 0.95]), rtol=0.03)


def test_no_gap_is_said_only_of_components_that_were_tested():
    """Fifty rows near 0 and fifty near 10, on a lattice, say nothing of gaps; of one other column its own is said."""
    lattice = np.r_[np.arange(50) % 3, 10 + np.arange(50) % 3] - 6.0
    assert find_clouds(lattice[:, None], order=np.arange(100)) is None
    flat = np.random.default_rng(0).standard_normal(100)
    clouds = find_clouds(np.column_stack([lattice, flat]), order=np.arange(100))
    finding = cloud_finding(clouds, ["PC1", "PC2"], [], None, kept=2)
    assert finding.sentence == "No gap along PC2 parts the rows into clouds (dip test)."
    assert finding.evidence["components_examined"] == [1]


def test_no_clouds_are_said_of_an_even_line_under_a_kernel():
    """Kernel scores of rows on a line are waves, which have two modes wherever there are no clouds."""
    t = np.random.default_rng(0).uniform(0.0, 6.0, 600)
    found = gramian.analyze(np.column_stack([t, 2 * t]), method="kpca", n_components=4)
    scores = np.asarray(found.scores)
    assert find_clouds(scores, order=np.arange(600)).gaps
    assert not [finding for finding in found.findings if finding.kind == "clouds"]


def test_components_that_are_rounding_are_not_shown():
    """Of three columns that say the same there is one component to look at, and clouds along it have their columns."""
    t = np.r_[np.random.default_rng(0).standard_normal(80), 12 + np.random.default_rng(1).standard_normal(80)]
    found = gramian.analyze(np.outer(t, [2.0, -1.0, 2.0]), method="pca", scale=False)
    assert found.shown.n_components == 1
    clouds = next(finding for finding in found.findings if finding.kind == "clouds")
    assert clouds.numbers["clouds"] == 2
    assert clouds.evidence["columns"]
    assert not any("PC2" in finding.sentence for finding in found.findings)


def test_labels_that_are_not_tested_are_said():
    """Of 22 labels the first twenty by name are tested, and a note says which."""
    frame = with_factor()
    for j in range(22):
        frame[f"label{j:02}x"] = np.random.default_rng(j).choice(["left", "right"], 150)
    found = gramian.analyze(frame, method="pca")
    (finding,) = [finding for finding in found.findings if finding.kind == "group"]
    tested = [one["label"] for one in finding.evidence["labels"]]
    assert "label00x, label01x, label02x, label03x, label04x or 15 more labels apart" in finding.sentence
    assert tested == [f"label{j:02}x" for j in range(20)]
    assert any("Of 22 labels the first 20" in str(note) and "'label19x'" in str(note) for note in found.notes)


@pytest.mark.parametrize("count, tested", [(50, True), (51, False)])
def test_labels_of_more_than_fifty_groups_are_not_tested(count, tested):
    """Of four rows each, fifty groups are compared; more tell rows apart one by one."""
    codes = np.repeat(np.arange(count), 4)
    scores = np.random.default_rng(0).standard_normal((len(codes), 2))
    found = examine_labels(scores, {"group": codes.astype(str)}, {"group": codes}, order=np.arange(len(codes)))
    assert bool(found) == tested


def test_a_row_far_out_is_named_however_few_rows_are():
    """One row 44 deviations out, no more rows than expected: its size is said."""
    frame = with_factor()
    frame.loc[17, "e"] += 44.0
    (finding,) = found_in(frame)["outliers"]
    assert "Row 18 lies further out than any of 150 Gaussian rows would" in finding.sentence
    assert finding.numbers["times_limit"] > 10


def test_a_distance_far_beyond_its_limit_is_more_than_a_hundred_times():
    """A ratio of squared distances in the thousands tells no more than that it is large; the number is kept."""
    frame = with_factor()
    frame.loc[17, "e"] += 440.0
    (finding,) = found_in(frame)["outliers"]
    assert "Row 18 lies further out" in finding.sentence
    assert "at more than 100 times the limit of the squared distance" in finding.sentence
    assert finding.numbers["times_limit"] > 1000


def test_the_page_has_the_distances_of_the_sentences():
    """Six rows far out turn the first component: page and findings hold all rows against that of the others."""
    frame = of_rows(np.random.default_rng(1).standard_normal((100, 6)))
    frame.loc[:5, ["a", "b", "c"]] += 20.0
    found = gramian.analyze(frame)
    made = material_of(found)
    assert made.outliers.found.flagged.tolist() == found.distances.flagged.tolist()
    distances = contents(made, cuts_of(made), sampling_rate=None)["rows"]["distances"]
    assert set(distances) == {str(k) for k in made.cuts}
    for k in made.cuts:
        told = found.at(k).outliers.found
        assert distances[str(k)]["t2"] == floats(told.t2[made.rows.positions] / told.t2_limit)


def test_six_rows_that_make_a_component_are_said_to():
    """Six rows far out in one direction are that component, and flagged; others are not."""
    frame = of_rows(np.random.default_rng(1).standard_normal((100, 6)))
    frame.loc[:5, ["a", "b", "c"]] += 20.0
    found = found_in(frame)
    (rows,) = found["rows"]
    assert rows.sentence.startswith("Rows 1, 2, 3, 4, 5 and 6 make PC1:")
    assert set(found["outliers"][0].evidence["far"]) == set(range(6))
    assert found["outliers"][0].numbers["flagged"] <= 6 + 6


def skewed(n=200, seed=0):
    """Two columns whose logarithms are Gaussian, and others that logarithms do not mend."""
    rng = np.random.default_rng(seed)
    normal, t = rng.standard_normal((n, 4)), rng.standard_normal(n)
    frame = pd.DataFrame({"income": np.exp(1.3 * t + 8.0), "area": np.exp(t + normal[:, 0])})
    frame["height"], frame["wait"] = 170.0 + 8.0 * t + normal[:, 1], rng.exponential(size=n)
    return frame.assign(square=normal[:, 2] ** 2 + 1e-9, debt=-frame["income"], zero=np.maximum(normal[:, 3], 0.0))


def test_columns_that_logarithms_mend_are_named():
    """Incomes and areas, and neither heights, waiting times, squares, debts nor columns with zeros; all as computed."""
    for seed in range(5):
        frame = skewed(seed=seed)
        wrong, findings = faults_of(frame, frame)
        (finding,) = [finding for finding in findings if finding["kind"] == "skew"]
        assert set(finding["evidence"]["columns"]) == {"income", "area"}
        assert finding["sentence"].endswith("times the medians: where ratios count, analyze logarithms.")
        assert not [fault for fault in wrong if "logarithms" in fault]
        logs = np.log(frame[["income", "area"]]).assign(height=frame["height"])
        assert "skew" not in found_in(logs)


def test_one_skewed_column_is_one_and_many_are_counted():
    """Of five columns the three that are most skewed are named; a finding with another number is false."""
    rng = np.random.default_rng(1)
    frame = of_rows(np.exp(1.5 * rng.standard_normal((300, 5))))
    (finding,) = found_in(frame)["skew"]
    assert "; so are 2 more columns: where" in finding.sentence
    assert len(finding.evidence["columns"]) == 5
    table = Table(frame, scaled=False, labels={}, rows=None)
    said = finding.as_json()
    assert not faults([said], table, kept=1)
    said["numbers"]["of_logarithms"][1] += 0.2
    assert "that of logarithms of" in " ".join(faults([said], table, kept=1))
    (finding,) = found_in(frame[["a"]].assign(b=rng.standard_normal(300)))["skew"]
    assert finding.sentence.startswith("a is skewed (")
    assert "its logarithm far less" in finding.sentence


def test_skewness_of_many_rows_is_that_of_some_and_said_to_be():
    """Of 60,000 rows as many are measured as are kept, without those that are kept because they lie far out."""
    frame = skewed(60_000)
    (finding,) = found_in(frame)["skew"]
    m = finding.evidence["rows_measured"]
    assert f"(in {m:,} rows that were drawn)" in finding.sentence
    drawn = np.sort(np.random.default_rng(0).permutation(60_000)[:m])
    values = frame[finding.evidence["columns"][0]].to_numpy()[drawn]
    assert finding.numbers["times_median"][0] == pytest.approx(values.max() / np.median(values))


def test_filled_cells_tell_nothing_of_skewness():
    """A column of which cells were filled is not named."""
    frame = skewed()
    frame.loc[[3, 50, 90], "income"] = np.nan
    (finding,) = found_in(frame)["skew"]
    assert finding.evidence["columns"] == ["area"]


def test_one_count_is_expected_everywhere():
    """The finding, the map of rows and its formula have one expected count."""
    found = gramian.analyze(with_factor().assign(a=lambda frame: frame["a"].where(frame.index != 9, 9.0)))
    cut = found.at(found.n_components)
    (finding,) = [finding for finding in cut.findings if finding.kind == "outliers"]
    assert finding.numbers["expected"] == cut.outliers.found.expected == found.distances.expected


def test_columns_of_the_distance_that_is_beyond_are_blamed():
    """A row far out along the components is blamed on their columns, one off them on its own."""
    frame = with_factor(300)
    frame.loc[5, ["a", "b", "c", "d"]] = 9.0
    frame.loc[6, "e"] = 12.0
    unusual = {row.row: row for row in gramian.analyze(frame, n_components=1).at(1).outliers.unusual}
    assert unusual[5].beyond == "within the components"
    assert {part.name for part in unusual[5].blame} <= set("abcd")
    assert unusual[6].beyond == "off the components"
    assert unusual[6].blame[0].name == "e"


def test_columns_of_several_units_are_scaled_and_of_one_are_not():
    """Spreads that differ four-fold are scaled, unless the names give one unit."""
    frame = with_factor() * [1.0, 2.0, 4.2, 1.0, 1.0, 1.0]
    assert gramian.analyze(frame).table.scale
    assert not gramian.analyze(frame.rename(columns=lambda name: f"{name} (mm)")).table.scale


def test_a_component_beyond_the_cut_tells_groups():
    """Groups along PC2, one component kept: PC2 is named, and said not to be kept."""
    rng = np.random.default_rng(0)
    frame = of_rows(rng.standard_normal((120, 6)) * [9.0, 3.0, 0.5, 0.5, 0.5, 0.5])
    frame["side"] = np.where(frame["b"] > 0, "left", "right")
    (finding,) = found_in(frame, n_components=1, scale=False)["group"]
    assert finding.components == (1,)
    assert "which is not kept" in finding.sentence


def test_near_equal_variances_are_a_plane():
    """Two components of one variance are no axes, and are described together."""
    X = np.random.default_rng(0).standard_normal((80, 6))
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    frame = of_rows(np.linalg.qr(X - X.mean(axis=0))[0] * [5.0, 4.9, 1.0, 0.9, 0.8, 0.7] @ turn)
    (finding,) = found_in(frame, n_components=2, scale=False)["plane"]
    assert finding.components == (0, 1)
    assert "a plane, not as two axes" in finding.sentence
    assert abs(finding.evidence["gaps"][0]) < 2.0
    assert finding.evidence["draws"] > 0


def test_ranges_of_correlations_are_as_wide_as_other_tables_differ():
    """Half a 95% range is 1.96 deviations, on Fisher's scale, of the correlations in sixty tables drawn alike."""
    rng, seen, halves = np.random.default_rng(0), [], []
    plane = np.array([[3.0, 2.0, 1.0, 0.5], [-1.0, 1.0, 1.5, 0.7]])
    for i in range(60):
        X = rng.standard_normal((200, 2)) @ plane + rng.standard_normal((200, 4))
        model = fit_pca(as_source(X), PCAOptions(4))
        scores = (X - model.mean) @ model.components.T
        correlations = np.corrcoef(X.T, scores[:, :2].T)[4:, :4]
        seen.append(np.arctanh(correlations * np.sign([correlations[0, :1], correlations[1, 2:3]])))
        if i < 8:
            ends = bootstrap(model, scores, X.std(axis=0, ddof=1), order=row_order(scores), seed=i).correlations[:2]
            halves.append(np.diff(np.arctanh(ends), axis=2)[:, :, 0] / 2)
            assert np.all((ends[:, :, 0] < correlations) & (correlations < ends[:, :, 1]))
    np.testing.assert_allclose(np.mean(halves, axis=0), 1.96 * np.std(seen, axis=0), rtol=0.35)


@pytest.mark.parametrize("scale", [False, True])
def test_one_wild_row_makes_no_plane(scale):
    """Draws without the row hold none of its component: that has no variance near those of others, nor have they."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        frame = of_rows(rng.standard_normal((60, 6)) + 2.0 * rng.standard_normal((60, 2)) @ rng.standard_normal((2, 6)))
        frame.loc[7] = 1000.0 * rng.standard_normal(6)
        found = gramian.analyze(frame, n_components=4, scale=scale)
        for finding in (one for one in found.findings if one.kind == "plane"):
            assert 0 not in finding.components
            shares = found.shown.shares[list(finding.components)]
            assert np.log(shares[0] / shares[-1]) < 2 * np.sqrt(2)
        assert found.examined.about.tied(0) == (0,)


def test_no_column_goes_most_with_a_component_where_a_stronger_one_may_not():
    """Where the interval of the strongest correlation contains zero, weaker ones are not named in its place."""
    frame, _ = generated(5)["a wild row"]
    found = gramian.analyze(frame)
    about = found.examined.about
    low, high = np.moveaxis(about.intervals.correlations, -1, 0)
    unsure = (low < 0) & (high > 0)
    strongest = np.argmax(np.abs(about.parts.correlations[: len(unsure)]), axis=1)
    lost = [j for j in range(len(unsure)) if unsure[j, strongest[j]] and not unsure[j].all()]
    assert lost
    for j in lost:
        ends = ends_of(j, about.parts, about.intervals, about.scores, has_names=False)
        assert not ends.rising + ends.falling
        assert component_finding(about, j).sentence.startswith(f"PC{j + 1} holds")


def test_a_plane_is_told_by_the_error_of_these_rows():
    """To first order log(lam_i / lam_j) varies as the squares of the scores do, and as the logarithm of drawn ones."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 3)) * [1.5, 1.2, 1.0]
    model = fit_pca(as_source(X), PCAOptions(3))
    scores = (X - model.mean) @ model.components.T
    gaps = bootstrap(model, scores, X.std(axis=0, ddof=1), order=row_order(scores)).gaps
    drawn = np.log(rng.poisson(1.0, (2000, 400)) @ scores**2)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        error = np.log(model.variances[i] / model.variances[j]) / gaps[i, j]
        assert error == pytest.approx((drawn[:, i] - drawn[:, j]).std(), rel=0.15)


def test_a_cut_through_a_plane_is_said_to_be():
    """Of two components of one variance one is kept: they are no plane to take, and one is said to be left out."""
    X = np.random.default_rng(0).standard_normal((80, 6))
    turn = np.linalg.qr(np.random.default_rng(1).standard_normal((6, 6)))[0]
    frame = of_rows(np.linalg.qr(X - X.mean(axis=0))[0] * [5.0, 4.9, 1.0, 0.9, 0.8, 0.7] @ turn)
    (finding,) = found_in(frame, n_components=1, scale=False)["plane"]
    assert "and the cut goes through them: PC2 is not kept" in finding.sentence
    assert "take them" not in finding.sentence


def test_components_within_the_noise_are_no_plane():
    """One factor, and five components kept: those of noise, which no test tells apart, are not described as a space."""
    found = found_in(with_factor(), n_components=5)
    assert found["count"][0].evidence["recommended"] == 1
    assert "plane" not in found


def test_sources_are_named_by_correlations_whatever_the_units():
    """Columns in square meters and in percent: each source has the column that correlates with it."""
    rng = np.random.default_rng(0)
    S = rng.laplace(size=(400, 3))
    frame = of_rows(S @ (np.eye(3) + 0.2) * [1000.0, 1.0, 0.01])
    found = [finding for finding in found_in(frame, method="ica")["source"] if "correlates most" in finding.sentence]
    assert sorted(finding.evidence["columns"][0] for finding in found) == ["a", "b", "c"]


def test_sources_that_are_all_flat_are_not_called_peaked():
    """Uniform sources are flat: none is the most peaked."""
    rng = np.random.default_rng(0)
    frame = of_rows(rng.uniform(size=(400, 3)) @ (np.eye(3) + 0.3))
    said = " ".join(finding.sentence for finding in found_in(frame, method="ica", runs=3)["source"])
    assert "flattest" in said
    assert "peaked" not in said
    assert "or more" not in said


def test_one_number_of_components_is_recommended():
    """One finding says how many and why; what other rules say is evidence."""
    (finding,) = found_in(with_factor())["count"]
    assert finding.evidence["recommended"] == 1
    assert len(finding.evidence["rules"]) > 4
    assert not any(rule in finding.sentence for rule in finding.evidence["rules"])


def test_kernel_components_hold_a_share_of_a_variance():
    """What kernel components hold is a share of the variance in feature space: one at most."""
    found = gramian.analyze(with_factor(), method="kpca")
    first = next(finding for finding in found.findings if finding.kind == "kernel")
    assert 0 < first.numbers["share"] < 1
    assert float(np.asarray(found.model.variances).sum()) <= 1.0


def test_one_kernel_component_is_said_once():
    """Of several components the first one's share is said too; of one it is the share of all."""
    found = gramian.analyze(with_factor(), method="kpca")
    shares, names = np.asarray(found.model.shares), ["first", "second"]
    two, one = (kernel_findings(found.model, names, shares, k)[0] for k in (2, 1))
    assert "first" in two.sentence
    assert two.numbers["share_1"] == one.numbers["share"] == pytest.approx(shares[0])
    assert "first" not in one.sentence
    assert "share_1" not in one.numbers


def test_a_kernel_is_too_narrow_by_its_components_alone():
    """Shares of single rows are noticed where there are several; of one component there is nothing to compare."""
    model = replace(gramian.analyze(with_factor(), method="kpca").model, n_rows=150)
    names = ["first", "second"]
    several, one = (kernel_findings(model, names, np.full(k, 0.01), k) for k in (2, 1))
    assert "too narrow" in several[-1].sentence
    assert len(one) == 1


@pytest.mark.slow
@pytest.mark.parametrize("path", files_of("tables/*"))
def test_every_finding_of_a_real_table_is_true(path):
    """The tables at hand, where they are: no finding is false."""
    assert not faults_of(path)[0]


@pytest.mark.parametrize("seed", range(4))
def test_components_of_one_plane_have_shares_that_overlap(seed):
    """Two groups, and a component that two rows make: shares whose intervals lie apart are told apart."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((30, 6)) * [0.3, 1.5, 0.3, 0.1, 0.1, 0.02]
    X[::2, 0] += 4.0
    X[[3, 4], 5] += [2.0, -2.0]
    intervals = gramian.analyze(of_rows(X), scale=False).examined.about.intervals
    for j in range(len(intervals.shares)):
        tied = [i for i in intervals.tied_with(j) if i < len(intervals.shares)]
        assert intervals.shares[tied[0], 0] <= intervals.shares[tied[-1], 1]


def test_the_gap_of_coded_components_varies_as_in_tables_that_are_fitted_again():
    """Rows drawn again and coded by their own levels: the bootstrap has the error of the gap within a factor of 1.6."""
    rng = np.random.default_rng(2)
    t, rare = rng.standard_normal(60), rng.random((2, 60)) < 0.07
    frame = pd.DataFrame({"a": t, "b": -t, "c": 0.0 * t, "k": "y", "l": "p"})
    frame[["a", "b", "c"]] += rng.standard_normal((60, 3)) * [0.5, 0.5, 1.0]
    frame.loc[t > 0.5, "k"], frame.loc[rare[0], "k"], frame.loc[rng.random(60) < 0.5, "l"] = "x", "rare", "q"
    frame.loc[rare[1], "l"] = "odd"
    found = gramian.analyze(frame, method="famd", n_components=2)
    again = [gramian.FAMD(2).fit(frame.sample(60, replace=True, random_state=i)).eigenvalues_ for i in range(60)]
    errors = np.diff(np.log(again), axis=1).std()
    gap = float(np.log(found.shown.variances[0] / found.shown.variances[1]))
    assert errors / 1.6 < gap / found.examined.about.intervals.gaps[0, 1] < 1.6 * errors


def test_rows_of_a_frame_are_named_by_its_index():
    """An index of integers that is not 0, 1, 2, ... names the rows of findings as it does those of a summary."""
    frame = with_factor()
    frame.loc[17, "e"] += 44.0
    frame.index = range(1000, 1150)
    found = gramian.analyze(frame)
    (finding,) = [finding for finding in found.findings if finding.kind == "outliers"]
    assert "the row named 1017" in finding.sentence.lower()
    assert "1017" in found.table.called
    assert gramian.PCA(2).fit(frame).summary(frame).scores.index[17] == "1017"


def test_nothing_that_stands_out_is_no_rule_s_answer():
    """Noise: the page's rule auto keeps none, and no sentence says that fewer components would lose what is there."""
    found = gramian.analyze(of_rows(np.random.default_rng(0).standard_normal((60, 5))))
    made = material_of(found)
    rules = {rule["rule"]: rule["k"] for rule in contents(made, cuts_of(made), sampling_rate=None)["scree"]["rules"]}
    assert rules["auto"] == 0
    assert "would lose" not in str(found)


def test_clouds_along_a_component_that_is_not_kept_are_said_to_be():
    """Two groups along PC2, one component kept."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 6)) * [9.0, 0.3, 0.5, 0.5, 0.5, 0.5]
    X[::2, 1] += 8.0
    (finding,) = found_in(of_rows(X), n_components=1, scale=False)["clouds"]
    assert "along PC2, which is not kept, of 60 and 60 rows" in finding.sentence


def test_one_row_that_makes_a_component_is_one():
    """One row far out: the component is that row's, and that is the lead."""
    frame = with_factor()
    frame.loc[17, ["e", "f"]] += 90.0
    finding = gramian.analyze(frame, scale=False).findings[0]
    assert finding.sentence.startswith("Row 18 makes PC1:")
    assert finding.sentence.endswith("of its variance is that row's.")


def test_a_wild_row_does_not_hide_what_stands_out():
    """One row 50 off in a table of three components: the row is named, and the three are counted without it."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 8)) + 0.2 * rng.standard_normal((200, 8))
    X[17] += 50.0
    frame = of_rows(X, list("abcdefgh"))
    found = gramian.analyze(frame)
    assert found.panel.verdicts[0].detail["parallel"] == 0
    assert not faults_of(frame, frame)[0]
    (finding,) = [finding for finding in found.findings if finding.kind == "count"]
    assert finding.sentence.endswith("Without row 18, which swells what counts as noise, 3 components stand out.")
    assert "nothing stands out" not in str(found)


@pytest.mark.parametrize("rate, seed", [(0.45, 9), (0.8, 0), (0.8, 3)])
def test_what_was_filled_makes_neither_outliers_nor_clouds(rate, seed):
    """Clean tables of two factors with cells missing at random: nothing is told from filled cells, and that is said."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 8)) + 0.5 * rng.standard_normal((200, 8))
    X[rng.random(X.shape) < rate] = np.nan
    found = gramian.analyze(of_rows(X, list("abcdefgh")), method="pca")
    kinds = {finding.kind for finding in found.findings}
    assert "missing" in kinds
    assert not kinds & {"clouds", "outliers", "rows"}
    assert found.at(1).share_interval is None
    made = material_of(found)
    assert contents(made, cuts_of(made), sampling_rate=None)["scree"]["intervals"] == []


def test_a_row_that_was_mostly_filled_is_not_said_to_lie_far_out():
    """A row far out with two cells of six known is not named; with all known it is."""
    frame = with_factor()
    frame.loc[17, "e"] += 44.0
    assert found_in(frame)["outliers"][0].evidence["far"] == [17]
    frame.loc[17, list("abcd")] = np.nan
    assert not found_in(frame)["outliers"][0].evidence.get("far")


@pytest.mark.parametrize("gap", ["", None, np.nan])
def test_missing_labels_are_no_group(gap):
    """Labels that say nothing, missing where a score is large: nothing is told apart, and the page says missing."""
    frame = with_factor()
    side = np.random.default_rng(1).choice(["left", "right"], 150).astype(object)
    side[frame["a"].to_numpy() > 0.8] = gap
    frame["side"] = side
    found = gramian.analyze(frame, method="pca")
    (finding,) = [finding for finding in found.findings if finding.kind == "group"]
    assert finding.components == ()
    assert finding.evidence["rows_tested"] == (frame["a"] <= 0.8).sum()
    made = material_of(found)
    (label,) = contents(made, cuts_of(made), sampling_rate=None)["rows"]["labels"]
    assert label["groups"] == ["left", "missing", "right"]


@pytest.mark.parametrize("kind", ["string", "category", "boolean"])
def test_labels_of_any_kind_of_pandas_are_read(tmp_path, kind):
    """NA of a column with a type of its own is a missing label, in sentences and on the page."""
    X = np.random.default_rng(0).standard_normal((60, 3))
    words = [True, None, False] if kind == "boolean" else ["x", None, "y"]
    label = pd.Series(words * 20, dtype=kind)
    page = gramian.PCA(2).fit(X).report(tmp_path / "page.html", X, labels={"g": label})
    assert '"missing"' in page.read_text()


def test_a_share_that_one_row_makes_has_no_interval():
    """A column of one row that is not zero: in draws without the row it holds nothing, and no interval is 0 to 100%."""
    X = np.random.default_rng(0).standard_normal((40, 4)) * [9.0, 6.0, 3.0, 0.0]
    X[7, 3] = 3.0
    found = gramian.analyze(of_rows(X), scale=False)
    shares = found.examined.about.intervals.shares
    assert np.isfinite(shares).all(axis=1).tolist() == [True, True, True, False]
    assert found.examined.about.interval(3) is None
    made = material_of(found)
    assert contents(made, cuts_of(made), sampling_rate=None)["scree"]["intervals"][3] == [None, None]


@pytest.mark.parametrize("n, said", [(2, "Two rows always lie on one line"), (3, "Three rows are too few")])
def test_two_or_three_rows_show_no_relation(n, said):
    """Of random rows too few for any test no columns are said to go together, nor to be noise."""
    found = gramian.analyze(of_rows(np.random.default_rng(n).standard_normal((n, 3))))
    assert found.findings[0].sentence.startswith(said)
    assert "along PC1" not in str(found)
    assert "nothing stands out" not in str(found)


def test_one_column_is_not_called_noise():
    """A component that is the one column there is stands out from nothing, and is not said to fail to."""
    found = gramian.analyze(of_rows(np.random.default_rng(0).standard_normal((50, 1))))
    assert "There is one column, a, so PC1 is that column." in str(found)
    assert "nothing stands out" not in str(found)


def test_one_filled_cell_is_one():
    """The note about one missing value speaks of one."""
    frame = with_factor()
    frame.loc[3, "a"] = np.nan
    (note,) = [str(note) for note in gramian.analyze(frame).notes if "Filled" in str(note)]
    assert "Filled 1 missing value (" in note
    assert note.endswith("it counts as if it were measured.")


def test_columns_with_nothing_to_blame_are_not_blamed():
    """A row that is far out in one column is blamed on that column, not on others at their means."""
    frame = with_factor(300)
    frame.loc[6, "e"] = 40.0
    unusual = {row.row: row for row in gramian.analyze(frame, n_components=1).at(1).outliers.unusual}
    assert [part.name for part in unusual[6].blame] == ["e"]


@pytest.mark.parametrize("k", [1, 2, 5])
def test_rows_off_the_components_lie_as_far_off_where_not_all_of_these_are_known(k):
    """The squared distances are those of whole rows, to the components of rows not outlying, written out in NumPy."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 120)) * 2 + rng.standard_normal((200, 120))
    X[:4] += 4.0 * rng.standard_normal((4, 120))
    found = gramian.analyze(X, scale=False, n_components=2)
    K, used = found.examined.subject.model.n_components, found.examined.robust.fitted
    assert 5 < K < 100  # of the 120 that there are
    assert 150 < len(used) < 200
    Xc = X - X.mean(axis=0)
    V = np.linalg.svd(Xc, full_matrices=False)[2][:K]
    T = Xc @ V.T
    T -= T[used].mean(axis=0)
    W = np.linalg.svd(T[used], full_matrices=False)[2][k:]
    off, left_out = np.square(T @ W.T).sum(axis=1), np.square(Xc - Xc @ V.T @ V).sum(axis=1)
    assert np.median(left_out) > 0.05 * np.median(off) > 0.0  # both parts weigh
    outliers = found.at(k).outliers.found
    np.testing.assert_allclose(outliers.spe, off + left_out, rtol=1e-8)
