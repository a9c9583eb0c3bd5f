import json
import re
from base64 import b64decode
from html.parser import HTMLParser
from importlib.resources import files

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA, analyze, how_many
from gramian.cli.main import main
from gramian.errors import NotSupportedError, ParameterError
from gramian.report import write_report
from gramian.report.document import LARGEST, SCRIPTS
from gramian.sources import as_source

HOSTILE = ["<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", '"quoted" & <b>', "=1+1", "  "]


class Outline(HTMLParser):
    """Counts elements and collects the visible text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self._inside = [], [], []

    def handle_starttag(self, tag, attrs):
        """Note a tag and its attributes."""
        self.tags.append((tag, dict(attrs)))
        if tag in {"script", "style"}:
            self._inside.append(tag)

    def handle_endtag(self, tag):
        """Leave a script or style."""
        if self._inside and self._inside[-1] == tag:
            self._inside.pop()

    def handle_data(self, data):
        """Collect what a reader sees."""
        if not self._inside:
            self.text.append(data)


def table(n=60, d=5, seed=0):
    """Rows with two strong directions."""
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 2)) @ rng.standard_normal((2, d)) * 3 + rng.standard_normal((n, d))


def outline(path):
    """Parse a page."""
    parser = Outline()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def data_of(path):
    """The data element of a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    return json.loads(found[1])


def test_page_has_every_part_of_a_pca(tmp_path):
    """With rows, labels and rules, each part of the page is there, with code and data under each picture."""
    X = table()
    page = (
        PCA()
        .fit(X)
        .report(tmp_path / "page.html", X, labels={"side": np.where(X[:, 0] > 0, "a", "b")}, choice=how_many(X))
    )
    found = outline(page)
    ids = [attributes.get("id") for tag, attributes in found.tags if tag == "section"]
    assert ids == ["map", "found", "components", "variance", "check", "groups", "appendix"]
    files_ = [attributes["data-of"] for tag, attributes in found.tags if attributes.get("data-save") == "csv"]
    assert files_ == [
        *("map-plot", "circle-plot", "parts-table", "variance-plot", "check-plot", "groups-table", "groups-plot")
    ]
    text = " ".join(found.text)
    assert "parallel analysis" in text
    assert "gramian" in text
    assert "PCA(n_components=2)" in text


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_shown_and_not_run(name, tmp_path):
    """Markup in names, labels, titles, facts and code adds no element to the page and is there to be read."""
    X = table()
    plain, hostile = (
        write_report(
            PCA().fit(X),
            tmp_path / f"{position}.html",
            rows=X,
            names=[word, *"bcde"],
            labels={word: [word] * 30 + ["x"] * 30},
            row_names=[word] * 60,
            title=word,
            facts=[word],
            code=word,
            made={word: word},
        )
        for position, word in enumerate(("a", name))
    )
    tags = [[tag for tag, _ in outline(page).tags] for page in (plain, hostile)]
    assert tags[0] == tags[1]
    assert name in "".join(outline(hostile).text)
    assert data_of(hostile)["rows"]["labels"][0]["name"] == name


def test_page_asks_nobody_for_anything(tmp_path):
    """No element of the page names another file, and its policy forbids to ask for one."""
    found = outline(write_report(PCA().fit(table()), tmp_path / "page.html", rows=table()))
    assert not [attributes for _, attributes in found.tags if "src" in attributes]
    assert all(attributes["href"][:1] in "#d" for _, attributes in found.tags if "href" in attributes)
    policy = next(attributes["content"] for _, attributes in found.tags if "http-equiv" in attributes)
    assert "default-src 'none'" in policy
    assert "http" not in policy


def test_many_rows_become_a_sample_that_keeps_the_unusual_ones_and_says_so(tmp_path):
    """Of 60,000 rows some are shown, the planted outlier among them; the page stays within its size and says so."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 20)) * np.linspace(5, 1, 20)
    X[4321] = 60.0
    page = write_report(PCA(5).fit(X), tmp_path / "page.html", rows=X, chosen=3)
    rows = data_of(page)["rows"]
    positions = np.frombuffer(b64decode(rows["positions"]["i32"]), "<i4")
    assert rows["total"] == 60_000
    assert len(positions) == rows["shown"] < 20_001
    assert 4321 in positions
    assert page.stat().st_size <= LARGEST
    assert f"{rows['shown']:,} of 60,000 rows, drawn at random" in " ".join(outline(page).text)


def test_page_stays_within_its_size_whatever_the_names(tmp_path):
    """Long names and labels of many rows make the sample smaller, not the page larger."""
    X = table(20_000, 30)
    long = ["x" * 200 + str(i) for i in range(20_000)]
    page = write_report(PCA(3).fit(X), tmp_path / "page.html", rows=X, row_names=long, labels={"a": long, "b": long})
    assert page.stat().st_size <= LARGEST


def test_numbers_of_the_page_are_those_of_the_model(tmp_path):
    """Shares and scores in the page equal the model's, to the digits they are kept with."""
    X = table()
    pca = PCA().fit(X)
    data = data_of(pca.report(tmp_path / "page.html", X))
    np.testing.assert_allclose(data["scree"]["shares"], pca.explained_variance_ratio_, rtol=1e-7)
    scores = np.frombuffer(b64decode(data["rows"]["scores"]["f32"]), "<f4").reshape(5, 60).T
    np.testing.assert_allclose(scores, pca.transform(X), rtol=1e-5, atol=1e-5)


def test_kernel_page_has_surfaces_and_ica_page_has_traces(tmp_path):
    """Each kind of model gets its own pictures, and not those of others."""
    plane = np.random.default_rng(0).standard_normal((50, 2))
    kernel = data_of(KernelPCA(4, kernel="rbf", gamma=0.5).fit(plane).report(tmp_path / "k.html"))
    mixed = np.random.default_rng(1).laplace(size=(4000, 3)) @ np.random.default_rng(2).standard_normal((3, 3))
    sources = data_of(ICA().fit(mixed).report(tmp_path / "i.html", mixed, sampling_rate=100.0))
    always = {"kind", "components", "total", "kept", "cuts", "scree", "rows"}
    assert set(kernel) == {*always, "surfaces"}
    assert set(sources) == {*always, "poles", "columns", "traces"}
    assert sources["traces"]["unit"] == "seconds"


def test_image_page_can_be_rebuilt(tmp_path):
    """Rows that are images bring their mean, components and scores: all of them together give the original back."""
    X = table(40, 12)
    images = data_of(write_report(PCA().fit(X), tmp_path / "page.html", rows=X, image_shape=(3, 4)))["images"]

    def unpack(packed):
        steps = np.frombuffer(b64decode(packed["u16"]), "<u2")
        return packed["low"] + (packed["high"] - packed["low"]) / 65535 * steps

    parts = np.array([unpack(part) for part in images["components"]])
    rebuilt = unpack(images["mean"]) + np.array(images["scores"][0]) @ parts
    np.testing.assert_allclose(rebuilt, X[0], atol=2e-3)
    with pytest.raises(ParameterError, match=r"image_shape=\(5, 5\) does not make 12 columns"):
        write_report(PCA().fit(X), tmp_path / "no.html", rows=X, image_shape=(5, 5))


def test_certificate_is_told_of_all_components_where_some_are_listed(tmp_path):
    """The sentence counts all thirty components; the table says that it lists twenty."""
    text = "".join(outline(write_report(PCA().fit(table(200, 30)), tmp_path / "page.html")).text)
    assert "All 30 components are proved" in text
    assert "the first 20 of 30 components" in text


def test_page_without_rows_says_what_is_missing(tmp_path):
    """A model alone gives a page, which says why there is no map."""
    found = outline(write_report(PCA().fit(table()), tmp_path / "page.html"))
    assert "The rows were not given to this page" in " ".join(found.text)


@pytest.mark.parametrize(
    "more, said",
    [
        ({"names": ["a"]}, "names has 1 entries and the model 5 columns"),
        ({"labels": {"a": [1, 2]}}, r"labels\['a'\] has shape \(2,\) and there are 60 rows"),
        ({"color": "b"}, "color='b' is none of the labels: there are none"),
        ({"row_names": ["a"]}, "row_names has 1 entries and there are 60 rows"),
        ({"chosen": 9}, "chosen=9 lies outside 0..5"),
        ({"scores": np.ones((60, 2))}, r"scores has shape \(60, 2\) and the model 5 components"),
        ({"scores": np.ones((7, 5))}, "scores has 7 rows and the table 60"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(more, said, tmp_path):
    """Each mistake is a sentence with both numbers, and leaves no file."""
    with pytest.raises(ParameterError, match=said):
        write_report(PCA().fit(table()), tmp_path / "page.html", rows=table(), **more)
    assert list(tmp_path.iterdir()) == []


def test_something_else_than_a_model_is_refused():
    """An array is no model, and the sentence says what is."""
    with pytest.raises(NotSupportedError, match="A ndarray is no fitted model"):
        write_report(np.ones(3), "page.html")


def test_a_failed_write_leaves_the_old_page(tmp_path, monkeypatch):
    """If the disk is full half way, the old page is still there and nothing else."""
    page = tmp_path / "page.html"
    page.write_text("old", encoding="utf-8")
    from pathlib import Path

    def full(self, _data):
        self.touch()
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(OSError, match="No space left"):
        write_report(PCA().fit(table()), page, rows=table())
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]
    assert page.read_text(encoding="utf-8") == "old"


def test_command_line_writes_a_page_without_rows(tmp_path, capsys):
    """With --no-rows no name of a row is in the page, though the sentences of the terminal name some."""
    cells = table(30, 3)
    lines = ["name,a,b,c", *(f"secret{i},{a:.4f},{b:.4f},{c:.4f}" for i, (a, b, c) in enumerate(cells))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert main(["pca", str(tmp_path / "t.csv"), "-o", str(tmp_path / "out"), "--no-rows", "--quiet"]) == 0
    assert "secret" in capsys.readouterr().out
    assert "secret" not in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")


def test_labels_with_holes_are_shown_as_missing(tmp_path):
    """None and NaN among labels become a group of their own, or a number that is not there."""
    X = table(6)
    labels = {"text": ["a", None, "b", "a", "b", None], "number": [1.0, None, 2.0, float("nan"), 3.0, 4.0]}
    text, number = data_of(write_report(PCA().fit(X), tmp_path / "page.html", rows=X, labels=labels))["rows"]["labels"]
    assert "missing" in text["groups"]
    values = np.frombuffer(b64decode(number["numbers"]["f32"]), "<f4")
    assert np.isnan(values).tolist() == [False, True, False, True, False, False]


def test_script_and_style_are_files_of_their_own(tmp_path):
    """The page's script is packaged beside the code that reads it, and a page of few rows stays under 250 kB."""
    folder = files("gramian.report")
    assert folder.joinpath("page.css").is_file()
    scripts = {path.name.removesuffix(".js"): path for path in folder.joinpath("script").iterdir()}
    assert set(scripts) == set(SCRIPTS)
    assert write_report(PCA().fit(table()), tmp_path / "page.html", rows=table()).stat().st_size < 250_000


def test_package_without_metadata_is_of_an_unknown_version(tmp_path, monkeypatch):
    """A package that was copied rather than installed does not end a run: the page says that its version is unknown."""
    from importlib import metadata

    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", missing)
    X = np.random.default_rng(0).standard_normal((30, 4))
    page = write_report(PCA(2).fit(X), tmp_path / "page.html", rows=X).read_text(encoding="utf-8")
    assert "numpy (unknown version), scipy (unknown version)" in page


def test_page_says_what_became_of_missing_values(tmp_path):
    """Values are called filled where they were: not where rows were dropped, nor in a column that was left out."""
    X = table(40, 4)
    X[3, 1] = X[5, 2] = np.nan
    found = {
        "filled": analyze(X),
        "dropped": analyze(X, missing="drop"),
        "left out": analyze(as_source(np.c_[X, np.r_[np.ones(3), np.full(37, np.nan)]], column_names=list("abcde"))),
    }
    figures = {name: data_of(one.report(tmp_path / "p.html"))["cuts"] for name, one in found.items()}
    told = {
        name: [row for row in next(iter(cuts.values()))["figures"] if "missing" in row[1]]
        for name, cuts in figures.items()
    }
    share = f"{2 / 160:.1%} of the cells of quantities, filled"
    assert told["filled"] == told["left out"] == [["2", "missing values", share, "done"]]
    assert told["dropped"] == [["2", "missing values", "in rows that were dropped", "done"]]


def test_page_of_categories_shows_the_values_of_the_table(tmp_path):
    """Quantities are as the table has them, levels 0 or 1; its columns are counted, captions say what is drawn."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    code = rng.integers(0, 3, 120)
    t = pandas.DataFrame({"a": 5 + 2 * code + rng.normal(size=120), "p": np.array(list("xyz"))[code]})
    t["q"] = np.array(list("uvw"))[(code + (rng.random(120) < 0.2)) % 3]
    path = analyze(t, method="famd").report(tmp_path / "p.html")
    rows = data_of(path)["rows"]
    values = np.frombuffer(b64decode(rows["values"]["f32"]), "<f4").reshape(len(rows["valueNames"]), -1)
    for name, column in zip(rows["valueNames"], values, strict=True):
        known = t["a"] if name == "a" else t[name[0]] == name[2]
        np.testing.assert_allclose(column, known, atol=1e-5)
    said = " ".join(" ".join(outline(path).text).split())
    assert "120 rows · 3 columns" in said
    assert "circle" not in said
    assert "whisker is" not in said
    assert "correlation_circle" not in said
