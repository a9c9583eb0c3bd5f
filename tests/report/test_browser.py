"""The page in a real browser: each thing a reader does changes everything that depends on it, and is read back."""

import csv
import json
import shutil
import time
from collections.abc import Iterator

import numpy as np
import pytest

import gramian
from gramian import ICA, PCA, KernelPCA, how_many, kernels
from gramian.analysis.filling import fill
from gramian.analysis.findings import percent
from gramian.report.analysis import analyze
from gramian.report.filling import write_filling_page
from tests.catalog import slowly

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine: apt-get install chromium"),
    # Playwright's own loop lingers in the interpreter when a test ends; it is no part of the page.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

SCREEN = {"width": 1400, "height": 900}
PHONE = {"width": 390, "height": 844}

# Milliseconds until a page that does not answer is a failure, on a machine however busy.
PATIENCE = 60_000


def until(page, condition):
    """Wait until a condition holds in a page.

    Playwright's own ``wait_for_function`` asks again from within, by ``eval``, which the page's policy forbids.
    """
    end = time.monotonic() + PATIENCE / 1_000
    while not page.evaluate(condition):
        assert time.monotonic() < end, f"this never came true: {condition}"
        page.wait_for_timeout(20)


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """One browser for all tests of this file."""
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"], timeout=PATIENCE)
        yield found
        found.close()


def new_tab(browser, trouble, **more):
    """A tab in a window of its own, and what its pages complain of or ask others for."""
    context = browser.new_context(viewport=SCREEN, accept_downloads=True, **more)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.on("console", lambda message: message.type in {"error", "warning"} and trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda asked: asked.url.startswith("http") and trouble.append(asked.url))
    return page


@pytest.fixture(scope="module")
def shared_tab(browser):
    """A tab that all tests use one after the other."""
    trouble = []
    page = new_tab(browser, trouble)
    yield page, trouble
    page.context.close()


@pytest.fixture
def opened(browser, shared_tab):
    """Open a page; at the end it must have complained of nothing and asked nobody for anything."""
    shared, trouble = shared_tab
    trouble.clear()
    others = []

    def open_page(path, **more):
        if more:
            others.append(new_tab(browser, trouble, **more))
        page = others[-1] if more else shared
        page.goto("about:blank")  # nothing of the page before is left: scrolling, focus, what was picked
        page.set_viewport_size(SCREEN)
        page.mouse.move(0, 0)
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        return page

    yield open_page
    for page in others:
        page.context.close()
    assert not trouble


def groups_table():
    """Two groups of rows that differ in the column called height, by six deviations; row 100 is far out."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    X[60:, 1] += 12.0
    X[:, 4] += 0.8 * X[:, 3]
    X[99, 2] += 9.0
    return X, ["low"] * 60 + ["high"] * 60


NAMES = ["width", "height", "<script>alert(1)</script>", "depth", "=weight"]


@pytest.fixture(scope="module")
def pca_page(tmp_path_factory):
    """A PCA page of two groups, one row with a hostile name."""
    X, side = groups_table()
    path = tmp_path_factory.mktemp("pages") / "pca.html"
    rows = [f"sample {i + 1}" for i in range(119)] + ["=cmd()"]
    labels = {"side": side, "age": np.arange(120.0)}
    return PCA().fit(X).report(path, X, names=NAMES, labels=labels, row_names=rows, choice=how_many(X), chosen=2)


def state(page, name):
    """A part of the state of a page."""
    return page.evaluate(f"[...(gramian.state.{name}.forEach ? gramian.state.{name} : [gramian.state.{name}])]")


def words(page, selector):
    """The text of an element."""
    return page.locator(selector).text_content()


def pictures(page):
    """What every picture and table of a page shows now, by the box that it is drawn in."""
    return page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.draw, #check-table, #picked, #card, #lead, #numbers')]"
        ".map((box) => [box.id, box.innerHTML + [...box.querySelectorAll('canvas')].map((c) => c.toDataURL()).join()]))"
    )


def changed(page, act):
    """The boxes that show something else after an act."""
    before = pictures(page)
    act()
    after = pictures(page)
    return {name for name in after if after[name] != before[name]}


def spot(page, row):
    """Where the mark of a row lies on the screen."""
    page.locator("#map-plot").scroll_into_view_if_needed()
    box = page.locator("#map-plot").bounding_box()
    at = page.evaluate(f"gramian.figures['map-plot'].hit.marks.find((mark) => mark.i === {row})")
    return box["x"] + at["x"], box["y"] + at["y"]


def lasso(page, left, top, right, bottom):
    """Draw around a part of the map, given in shares of its box."""
    page.locator("#map-plot").scroll_into_view_if_needed()
    box = page.locator("#map-plot").bounding_box()
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    spots = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*spots[0])
    page.mouse.down()
    for place in spots[1:]:
        page.mouse.move(*place, steps=6)
    page.mouse.up()


def downloaded(page, selector):
    """The bytes of the file that a button gives."""
    with page.expect_download() as waiting:
        page.locator(selector).click()
    with open(waiting.value.path(), "rb") as file:  # noqa: PTH123 - a browser's own file
        return file.read()


def saved(page, selector):
    """The lines of the CSV that a button gives."""
    return list(csv.reader(downloaded(page, selector).decode("utf-8").splitlines()))


def test_the_cut_moves_everything_at_once(opened, pca_page):
    """By button, key and drag the cut changes lead, figures, findings, code, rows to check and what is drawn."""
    page = opened(pca_page)
    X, _ = groups_table()
    seen = changed(page, lambda: page.click("#cut-more"))
    assert {"numbers", "variance-plot", "check-plot", "check-table", "map-plot", "groups-table"} <= seen
    assert words(page, "#cut-count") == "3"
    assert "3 components" in words(page, "#numbers")
    assert "3 components are kept" in words(page, "#findings")
    assert "n_components=3" in words(page, "#cut-code")
    # Both distances of the new cut are those that the sentences speak of.
    far = gramian.analyze(X, n_components=3).at(3).outliers.found
    page.focus("#variance-plot")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    lines = saved(page, "[data-of=check-plot][data-save=csv]")
    np.testing.assert_allclose([float(line[2]) for line in lines[1:]], far.t2 / far.t2_limit, rtol=1e-4)
    np.testing.assert_allclose([float(line[3]) for line in lines[1:]], far.spe / far.spe_limit, rtol=2e-3, atol=1e-5)
    assert f"{len(far.flagged)} row" in words(page, "#check-table .result")
    page.locator("#variance-plot").scroll_into_view_if_needed()
    box = page.locator("#variance-plot").bounding_box()
    place = page.evaluate("(() => { const { X } = gramian.figures['variance-plot'].hit; return [X(3.5), X(1.5)]; })()")
    page.mouse.move(box["x"] + place[0], box["y"] + 100)
    page.mouse.down()
    page.mouse.move(box["x"] + place[1], box["y"] + 100, steps=5)
    page.mouse.up()
    assert state(page, "cut") == [1]
    assert page.get_attribute("#variance-plot", "aria-valuenow") == "1"
    assert "1 component holds" in words(page, "#cut-words")


def test_rows_drawn_beyond_a_limit_are_those_of_the_sentence(opened, tmp_path):
    """Every cut draws, lists and saves as many rows as its sentence counts, the six shifted far out among them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 6))
    X[:6] += 9 * rng.standard_normal(6)
    page = opened(PCA().fit(X).report(tmp_path / "planted.html", X, chosen=1))
    for k in range(1, 7):
        assert words(page, "#cut-count") == str(k)
        said = words(page, "#findings .outliers")
        assert words(page, "#check-table .result") == said
        drawn = page.evaluate(
            "gramian.figures['check-plot'].hit.marks.filter(({ shape }) => shape === 'diamond').map(({ i }) => i)"
        )
        assert said.startswith(f"{len(drawn)} rows lie beyond")
        assert set(range(6)) <= set(drawn)
        assert page.locator("#check-table tbody tr").count() == len(drawn)
        lines = saved(page, "[data-of=check-plot][data-save=csv]")
        assert [i for i, line in enumerate(lines[1:]) if line[4] == "yes"] == sorted(drawn)
        assert words(page, "#numbers a[href='#check'] strong") == str(len(drawn))
        page.click("#cut-more") if k < 6 else None


def test_a_cut_without_distances_has_no_rows_to_check(opened, tmp_path):
    """Columns that were not centered have distances at one cut alone: at the others that part of the page is away."""
    X = 3.0 + np.random.default_rng(0).standard_normal((60, 5))
    page = opened(PCA(3, center=False).fit(X).report(tmp_path / "uncentered.html", X))
    assert page.locator("#check").is_visible()
    page.click("#cut-less")
    assert page.locator("#check").is_hidden()
    page.click("#cut-more")
    assert page.evaluate("gramian.figures['check-plot'].hit.marks.length") == 60


def test_shares_read_the_same_in_page_and_sentences(opened, pca_page):
    """The page words a share as Python does: a part is never 0% or 100%."""
    # Ties as 98.5 are left out: JavaScript rounds them up, Python to even.
    rng = np.random.default_rng(0)
    shares = [0.0, 1e-15, 4e-6, 0.0003, 0.05, 0.099, 0.9849, 0.9996, 0.9997, 0.99996, 1 - 1e-15, 1.0, *rng.random(300)]
    page = opened(pca_page)
    assert page.evaluate("(shares) => shares.map(gramian.percent)", shares) == [percent(share) for share in shares]
    assert page.evaluate("gramian.percent(0.9997)") == "99.97%"


def test_axes_move_map_and_circle_and_color_moves_map_and_groups(opened, pca_page):
    """Another axis redraws map, circle and table of columns; another color redraws map, legend and strips."""
    page = opened(pca_page)
    assert {"map-plot", "circle-plot", "parts-table"} <= changed(page, lambda: page.select_option("#map-x", "2"))
    assert "PC3" in page.get_attribute("#map-plot", "aria-label")
    assert words(page, "#parts-table thead").startswith("column")
    assert page.locator("#legend button[aria-pressed]").count() == 2
    page.select_option("#map-color", label="age")
    assert page.locator("#legend .ramp").count() == 1
    assert "map-plot" in changed(page, lambda: page.select_option("#map-color", label="<script>alert(1)</script>"))
    assert "<script>alert(1)</script>" in words(page, "#legend")
    # A cell of the table of labels chooses component and color at once.
    row = page.locator("#groups-table tbody tr").first
    row.locator("button").nth(1).click()
    assert state(page, "component") == [1]
    assert (
        page.eval_on_selector("#map-color", "box => box.selectedOptions[0].label")
        == row.locator("th,td").first.inner_text()
    )


def test_a_group_is_hidden_by_its_entry_in_the_legend(opened, pca_page):
    """Pressed, its rows leave map and strips; what is shown can be picked without a mouse."""
    page = opened(pca_page)
    marks = "gramian.figures['map-plot'].hit.marks.length"
    assert page.evaluate(marks) == 120
    page.locator("#legend button", has_text="low").click()
    assert page.evaluate(marks) == 60
    assert page.locator("#legend button", has_text="low").get_attribute("aria-pressed") == "false"
    page.get_by_text("Pick the groups shown").click()
    assert words(page, "#picked h3") == "60 rows picked: the groups shown"
    page.locator("#legend button", has_text="low").click()
    assert page.evaluate(marks) == 120


def test_lasso_tells_what_makes_rows_different(opened, pca_page):
    """Around one group, the lasso counts its rows, names the column that differs first, and saves them."""
    page = opened(pca_page)
    middle = page.evaluate("(() => { const { X } = gramian.figures['map-plot'].hit; return X(0); })()")
    right = page.locator("#map-plot").bounding_box()["width"]
    high = page.evaluate("gramian.figures['map-plot'].hit.marks.find((mark) => mark.i === 80).x") > middle
    assert {"map-plot", "check-plot", "groups-plot", "picked"} <= changed(
        page, lambda: lasso(page, middle / right if high else 0.01, 0.001, 0.999 if high else middle / right, 0.99)
    )
    assert words(page, "#picked h3") == "60 rows picked"
    row = page.locator("#picked tbody tr").first.locator("td").all_text_contents()
    assert row[0] == "height"
    X, _ = groups_table()
    apart = (X[60:, 1].mean() - X[:60, 1].mean()) / X[:, 1].std(ddof=1)
    assert float(row[4].replace("\N{MINUS SIGN}", "-")) == pytest.approx(apart, abs=0.01)
    lines = saved(page, "#picked-csv")
    assert len(lines) == 61
    assert lines[0][:4] == ["row", "name", "side", "age"]
    assert {line[2] for line in lines[1:]} == {"high"}
    page.click("#picked-clear")
    assert words(page, "#picked") == ""


def test_pointing_searching_and_keys_read_rows(opened, pca_page):
    """A mark shows its row, search picks by name, arrow keys walk, Enter picks and Escape clears."""
    page = opened(pca_page)
    page.mouse.move(*spot(page, 5), steps=3)
    assert words(page, ".tip") == words(page, "#card h3") == "sample 6"
    assert "side" in words(page, "#card")
    page.keyboard.press("/")
    page.keyboard.type("sample 17")
    assert words(page, "#picked h3") == "1 row picked: \u201csample 17\u201d"
    assert words(page, "#card h3") == "sample 17"
    page.focus("#map-plot")
    page.keyboard.press("Escape")
    assert state(page, "picked") == []
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(words(page, "#card h3"))
    assert seen[0] == seen[2] != seen[1]
    page.keyboard.press("Enter")
    assert words(page, "#picked h3") == "1 row picked"
    before = page.evaluate("gramian.figures['map-plot'].hit.view.x")
    page.keyboard.press("+")
    after = page.evaluate("gramian.figures['map-plot'].hit.view.x")
    assert after[1] - after[0] < before[1] - before[0]


def test_a_row_to_check_is_found_on_the_map(opened, pca_page):
    """The row planted far out heads the table; pressing its name reads it everywhere."""
    page = opened(pca_page)
    first = page.locator("#check-table button").first
    assert first.text_content() == "sample 100"
    assert {"map-plot", "check-plot", "card"} & changed(page, first.click) >= {"map-plot", "check-plot"}
    assert state(page, "current") == [99]
    assert "To check" in words(page, "#card")


def test_names_of_sixty_rows_do_not_overlap(opened, tmp_path):
    """All of sixty rows have their names on the map, and no two boxes of names overlap; equal units are said."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 4)) * [3.0, 2.0, 1.0, 1.0]
    names = [f"a rather long name {i}" for i in range(60)]
    page = opened(PCA().fit(X).report(tmp_path / "names.html", X, row_names=names))
    boxes = page.evaluate("gramian.figures['map-plot'].hit.placed.map(({ left, top, w, h }) => [left, top, w, h])")
    assert len(boxes) == 60
    for i, (x, y, w, h) in enumerate(boxes):
        for a, b, c, d in boxes[:i]:
            # Boxes are given without their margin of two pixels.
            assert x >= a + c - 4 or a >= x + w - 4 or y >= b + d or b >= y + h
    assert "Both axes have one unit." in words(page, "#map-note")
    assert {"map-plot"} == changed(page, lambda: page.click("#map-arrows"))


def test_every_control_can_be_reached_by_tab(opened, pca_page):
    """Tab comes to the cut, the theme, the axes, the search, the map and the pictures, in the order of the page."""
    page = opened(pca_page)
    wanted = ["cut-more", "theme", "map-x", "map-y", "map-color", "map-names", "map-lasso", "find", "map-plot"]
    reached = []
    for _ in range(80):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == "variance-plot":
            break
    assert [name for name in reached if name in wanted] == wanted
    assert reached[-1] == "variance-plot"
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"


def test_csv_keeps_numbers_and_defuses_formulas(opened, pca_page):
    """Negative numbers stay numbers, names that look like formulas do not run."""
    page = opened(pca_page)
    rows = saved(page, "[data-of=map-plot][data-save=csv]")
    assert rows[0][-1] == "'=weight"
    assert rows[-1][1] == "'=cmd()"
    X, _ = groups_table()
    np.testing.assert_allclose(float(rows[1][-5]), X[0, 0], rtol=1e-6)


def test_dark_mode_and_phone_change_page_and_pictures(opened, pca_page):
    """The button turns page and pictures dark and back; a phone has one column and needs no sideways scrolling."""
    page = opened(pca_page, color_scheme="light")
    bar = "document.querySelector('#variance-plot rect').getAttribute('fill')"
    look = f"[getComputedStyle(document.body).backgroundColor, {bar}]"
    light = page.evaluate(look)
    page.click("#theme")
    dark = page.evaluate(look)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    page.click("#theme")
    assert page.evaluate(look) == light
    page.set_viewport_size(PHONE)
    until(page, "gramian.state.width === 390")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    order = page.evaluate("[...document.querySelectorAll('main > section')].map((one) => one.id)")
    assert order[0] == "map"
    assert not page.evaluate("document.getElementById('contents').open")
    assert opened(pca_page, color_scheme="dark").evaluate(look) == dark


def test_nothing_is_cut_on_a_small_screen(opened, tmp_path):
    """Tables fit or show that they scroll, long names break, and the legend alone names groups on a phone."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 1)) + rng.standard_normal((60, 4))
    names = ["a", "charRoundbracketAndSomeMoreOfIt", "c", "d"]
    labels = {"kind": ["one kind of a very long name"] * 30 + ["another kind of a long name"] * 30}
    page = opened(PCA().fit(X).report(tmp_path / "p.html", X, names=names, labels=labels))
    tables = "[...document.querySelectorAll('#card .scroll, #parts-table .scroll')]"
    hidden = f"{tables}.map((box) => box.scrollWidth - box.clientWidth)"
    assert page.evaluate(hidden) == [0, 0]
    assert "one kind" in words(page, "#map-plot")
    page.set_viewport_size(PHONE)
    until(page, "gramian.state.width === 390")
    assert page.evaluate(hidden) == [0, 0]
    assert "one kind" not in words(page, "#map-plot")
    assert "one kind" in words(page, "#legend")
    assert "gradient" in page.evaluate("getComputedStyle(document.querySelector('.scroll')).backgroundImage")


def test_whiskers_stay_in_the_plot(opened, pca_page, tmp_path):
    """A share whose interval leaves the plot has a whisker up to where the plot ends."""
    text = pca_page.read_text("utf-8")
    given = json.loads(text.partition('id="data">')[2].partition("</script>")[0])["scree"]["intervals"]
    wide = text.replace(json.dumps(given, separators=(",", ":")), json.dumps([*given[:4], [0.0, 3.0]]))
    assert wide != text
    (tmp_path / "wide.html").write_text(wide, "utf-8")
    page = opened(tmp_path / "wide.html")
    tops = page.evaluate("[...document.querySelectorAll('#variance-plot line')].map((line) => line.y2.baseVal.value)")
    assert min(tops) >= 0


def test_names_of_arrows_lie_beyond_their_heads(opened, tmp_path):
    """A name goes on where its arrow ends, to the left where that points there."""
    t, u = np.random.default_rng(0).standard_normal((2, 60))
    X = np.column_stack([t, -t, u]) + 0.1 * np.random.default_rng(1).standard_normal((60, 3))
    page = opened(PCA(scale=True).fit(X).report(tmp_path / "p.html", X, names=["aaa", "bbb", "ccc"]))
    circles = "[...document.querySelectorAll('#circle-plot circle')].filter((mark) => mark.textContent)"
    heads = page.evaluate(f"{circles}.map((mark) => [mark.textContent.slice(0, 3), mark.cx.baseVal.value])")
    across = [(name, x) for name, x in heads if name != "ccc"]
    middle = np.mean([x for _, x in across])
    for name, x in across:
        box = page.evaluate(
            "(name) => { const one = [...document.querySelectorAll('#circle-plot text')].find((text) => "
            "text.textContent === name).getBBox(); return one.x + one.width / 2; }",
            name,
        )
        assert abs(box - middle) > abs(x - middle)


def test_a_filled_page_turns_dark_and_hands_its_command_over(browser, tmp_path):
    """The page of a filled table has theme and copying of all pages, and its policy forbids none of it."""
    X = np.random.default_rng(0).standard_normal((40, 4))
    X[::7, 1] = np.nan
    trouble = []
    page = new_tab(browser, trouble, color_scheme="light")
    page.goto(write_filling_page(fill(X), tmp_path / "f.html", title="filled", command="gramian fill").as_uri())
    look = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(look)
    assert words(page, "#theme") == "Dark"
    page.click("#theme")
    assert words(page, "#theme") == "Light"
    assert page.evaluate(look) != light
    page.click(".copy")
    until(page, "document.querySelector('.copy').textContent !== 'Copy'")
    page.context.close()
    assert not trouble


def pages_of_every_kind(folder):
    """A page of each kind of model."""
    rng = np.random.default_rng(0)
    X, plane = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 12)), rng.standard_normal((60, 2))
    mixed = rng.laplace(size=(800, 3)) @ rng.standard_normal((3, 3))
    kernel, ica = KernelPCA(3, kernel="rbf", gamma=0.1), ICA().fit(mixed)
    days = np.datetime64("2020-01-01") + np.arange(40)
    yield PCA(2).fit(X).report(folder / "table.html", X, labels={"half": ["a", "b"] * 20, "day": days})
    yield PCA(3).fit(X).report(folder / "images.html", X, image_shape=(3, 4))
    yield kernel.fit(plane).report(folder / "plane.html", plane)
    yield kernel.fit(X).report(folder / "kernel.html", X)
    yield kernel.fit(X).report(folder / "kernel-images.html", X, image_shape=(3, 4))
    yield getattr(ica, "write_report", ica.report)(folder / "ica.html", mixed)


def test_each_picture_has_its_code_its_data_and_itself_as_a_file(opened, tmp_path):
    """On a page of every kind each has code, a CSV of whole lines, an SVG that stands alone and a PNG; all are told."""
    for path in pages_of_every_kind(tmp_path):
        page = opened(path)
        boxes = page.locator(".draw").evaluate_all("(boxes) => boxes.map((box) => box.id)")
        assert len(boxes) >= 3
        for name in boxes:
            where = f"{path.stem}: {name}"
            assert page.locator(f"#{name}-figure .recipe pre").count() == 1, where
            assert page.get_attribute(f"#{name}", "aria-label"), where
            assert page.locator(f"[data-of={name}][data-save=csv]").count() == 1, where
            _, header, lines = page.evaluate(f"gramian.figures['{name}'].lines()")
            assert lines, where
            assert {len(line) for line in lines} == {len(header)}, where
            if page.locator(f"[data-of={name}][data-save=svg]").count():
                drawn = page.evaluate(f"gramian.svgOf('{name}').text")
                assert drawn.startswith("<svg"), where
                assert "var(--" not in drawn, where
        assert downloaded(page, "[data-of=variance-plot][data-save=png]").startswith(b"\x89PNG")
        assert downloaded(page, "[data-of=variance-plot][data-save=svg]").startswith(b"<svg")
        assert page.locator(".how").count() == len(boxes)


def test_dates_become_time_and_a_color(opened, tmp_path):
    """Rows with dates have their scores drawn over time, and are colored by it where no label is there."""
    rng = np.random.default_rng(0)
    pandas = pytest.importorskip("pandas")
    t = pandas.DataFrame(rng.standard_normal((90, 3)), columns=["a", "b", "c"])
    t.insert(0, "day", pandas.date_range("2021-03-01", periods=90))
    page = opened(analyze(t).report(tmp_path / "time.html"))
    assert "2021-03-01" in words(page, "#time-plot")
    assert "day" in words(page, "#legend")
    assert "00:00:00" not in words(page, "main")
    assert "time-plot" in changed(page, lambda: page.evaluate("gramian.set({ current: 7 })"))


def test_ordered_columns_are_curves(opened, tmp_path):
    """Columns whose names are numbers, with neighbors alike, are drawn as curves over these numbers."""
    pandas = pytest.importorskip("pandas")
    at, rng = np.arange(400, 500, 2), np.random.default_rng(0)
    peaks = np.exp(-0.5 * ((at - np.array([[430.0], [470.0]])) / 8) ** 2)
    t = pandas.DataFrame(
        rng.standard_normal((40, 2)) @ peaks + 0.01 * rng.standard_normal((40, 50)), columns=[f"{w} nm" for w in at]
    )
    page = opened(analyze(t).report(tmp_path / "spectra.html"))
    assert "over nm, from 400 to 498" in page.get_attribute("#curve-plot", "aria-label")
    assert page.locator("#circle-plot").count() == 0
    assert "curve-plot" in changed(page, lambda: page.click("#component-next"))


def test_a_page_without_rows_holds_none(opened, tmp_path):
    """No name, value or score of a row is in the file; variance, columns and counts are."""
    pandas = pytest.importorskip("pandas")
    X, side = groups_table()
    t = pandas.DataFrame(X, columns=["a", "b", "c", "d", "e"]).assign(side=side)
    t.insert(0, "name", [f"secret{i}" for i in range(120)])
    path = analyze(t).report(tmp_path / "none.html", embed_rows=False)
    text = path.read_text(encoding="utf-8")
    assert "secret" not in text
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert "rows" not in data
    assert "unusual" not in json.dumps(data)
    page = opened(path)
    assert "written without rows" in words(page, "#map")
    assert "rows to check" in words(page, "#numbers") or "row to check" in words(page, "#numbers")
    assert {"numbers", "variance-plot"} <= changed(page, lambda: page.click("#cut-more"))


def test_unticked_sources_become_code(opened, tmp_path):
    """All sources are shown; dropping some yields the call that takes them out of the rows."""
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(800, 20)) @ rng.standard_normal((20, 20))
    page = opened(ICA(20, random_state=0).fit(X).report(tmp_path / "ica.html", X, sampling_rate=100.0))
    assert page.locator(".sources input").count() == 20
    assert words(page, "#drop-code") == "cleaned = model.remove(X, [])"
    page.uncheck("#keep-19")
    assert "traces-plot" in changed(page, lambda: page.uncheck("#keep-0"))
    assert words(page, "#drop-code") == "cleaned = model.remove(X, [0, 19])"
    assert words(page, "#drop-words").startswith("18 of 20 sources kept")
    page.select_option("#map-x", "19")
    assert "IC20" in page.get_attribute("#map-plot", "aria-label")


def test_images_are_components_thumbnails_and_rebuilt(opened, tmp_path):
    """More components bring the error down, to nothing with all; the map has thumbnails; a row is drawn as one."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 12))
    page = opened(PCA(3).fit(X).report(tmp_path / "images.html", X, image_shape=(3, 4)))
    errors = []
    for count in ("0", "1", "3"):
        page.evaluate(f"document.getElementById('image-count').value = {count}")
        page.dispatch_event("#image-count", "input")
        errors.append(float(words(page, "#image-words").split("off by ")[1].split(" ")[0]))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-2
    assert "image-plot" in changed(page, lambda: page.select_option("#image-row", "3"))
    assert page.locator("#parts-plot image").count() == 3
    assert page.locator("#map-plot image").count() > 5
    page.click("#map-thumbs")
    assert page.locator("#map-plot image").count() == 0
    page.focus("#map-plot")
    page.keyboard.press("ArrowRight")
    assert page.locator("#card img").count() == 1
    assert page.locator("#circle-plot").count() == 0


def test_kernel_pages_show_surfaces_or_what_changes(opened, tmp_path):
    """A kernel over the plane has one contour picture a component; one of more columns walks and rebuilt rows."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    page = opened(KernelPCA(8, kernel="rbf", gamma=0.5).fit(X).report(tmp_path / "plane.html"))
    assert page.locator("#surfaces-plot .surface image").count() == 8
    assert len(saved(page, "[data-of=surfaces-plot][data-save=csv]")) == 48 * 48 + 1
    assert "surfaces-plot" in changed(page, lambda: page.click("#cut-less"))
    t = np.linspace(0, 6, 120)
    X = np.column_stack([np.cos(t), np.sin(t), 100 * t, 5 + np.cos(2 * t)])
    names = ["across", "up", "<b>time</b>", "twice"]
    scales = kernels.Stretched(kernels.Gaussian(0.2), tuple(1 / X.std(axis=0)))
    page = opened(KernelPCA(3, kernel=scales).fit(X).report(tmp_path / "kernel.html", X, names=names))
    assert page.locator("#profiles-plot .profile").count() == 3
    assert "<b>time</b>" in words(page, "#profiles-plot")
    assert {"rebuilt-plot"} == changed(page, lambda: page.select_option("#rebuilt-row", "4"))
    walks = saved(page, "[data-of=profiles-plot][data-save=csv]")
    assert len(walks) == 1 + 3 * 5
    assert walks[0][2:] == names


def test_many_rows_are_a_sample_that_can_be_picked(opened, tmp_path):
    """Of 30,000 rows a stated sample is drawn; the lasso works on it, and the page stays small."""
    X = np.random.default_rng(0).standard_normal((30_000, 40)).astype(np.float32)
    path = PCA(6).fit(X).report(tmp_path / "many.html", X)
    page = opened(path)
    assert "of 30,000 rows, a sample drawn at random" in words(page, "#map-note")
    shown = page.evaluate("gramian.figures['map-plot'].hit.marks.length")
    lasso(page, 0.02, 0.02, 0.5, 0.85)
    picked = len(state(page, "picked"))
    assert 0.2 * shown < picked < 0.8 * shown
    assert path.stat().st_size < 8_000_000


def test_one_component_is_a_strip(opened, tmp_path):
    """Rows of one column lie by their number, not on a diagonal; no distance of rounding."""
    X = np.random.default_rng(0).standard_normal((80, 1))
    page = opened(PCA().fit(X).report(tmp_path / "one.html", X, names=["height"]))
    assert "row number" in words(page, "#map-plot")
    assert "row number" in words(page, "#check-plot")
    assert page.locator("#map-y").is_hidden()
    assert "There is one column, height" in words(page, "#lead")


def test_levels_of_categories_stand_among_the_columns(opened, tmp_path):
    """A correspondence analysis has coordinates of levels, and every category colors the map."""
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 150)
    t = pandas.DataFrame(
        {
            "job": np.array(["farm", "shop", "office"])[a],
            "home": np.array(["x", "y", "z"])[(a + (rng.random(150) < 0.2)) % 3],
        }
    )
    page = opened(gramian.analyze(t).report(tmp_path / "mca.html"))
    assert "job=farm" in words(page, "#parts-table")
    assert "coordinate" in words(page, "#parts-table thead")
    assert {"job", "home"} <= set(page.locator("#map-color option").all_text_contents())


@pytest.mark.parametrize("columns", [3, *slowly(60)])
@pytest.mark.parametrize("kind", ["pca", "kernel", "ica"])
@pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")
def test_page_of_a_plain_array_works_without_names(opened, tmp_path, kind, columns):
    """Neither columns nor rows have names: every picture is drawn, every button gives its file, a row has a number."""
    X = np.random.default_rng(0).laplace(size=(80, columns))
    model = {"pca": PCA(2), "kernel": KernelPCA(3, kernel="rbf", gamma=0.3 / columns), "ica": ICA(2, random_state=0)}[
        kind
    ]
    page = opened(model.fit(X).report(tmp_path / "plain.html", X))
    for name in page.locator(".draw").evaluate_all("(boxes) => boxes.map((box) => box.id)"):
        assert len(saved(page, f"[data-of={name}][data-save=csv]")) > 1
        assert page.locator(f"#{name} svg, #{name} table").count(), name
    page.focus("#map-plot")
    page.keyboard.press("ArrowRight")
    assert words(page, "#card h3").startswith("row ")
