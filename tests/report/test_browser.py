"""The page in a real browser: each thing a reader does changes something that is read back."""

import csv
import shutil
from collections.abc import Iterator

import numpy as np
import pytest

from gramian import ICA, PCA, KernelPCA, how_many, kernels
from tests.catalog import slowly

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")

pytestmark = [
    pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine: apt-get install chromium"),
    # Playwright's own loop lingers in the interpreter when a test ends; it is no part of the page.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"),
]

# WebGL by software: a test machine has no graphics card. The rest is drawn without one, at half the price.
FLAGS = [
    *("--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"),
    *("--disable-gpu-rasterization", "--disable-gpu-compositing"),
]
SCREEN = {"width": 1280, "height": 900}

# Milliseconds until a page that does not answer is a failure, on a machine however busy.
PATIENCE = 180_000


@pytest.fixture(scope="module")
def browser() -> Iterator:
    """One browser for all tests of this file."""
    with playwright.sync_playwright() as driver:
        found = driver.chromium.launch(executable_path=BROWSER, args=FLAGS, timeout=PATIENCE)
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
    """A tab that has compiled the page's script once: a new one takes four times as long to show a page."""
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
    # Software rendering is slow to read back, and Chromium says so; the page cannot help that.
    assert not [line for line in trouble if "GPU stall" not in line and "software WebGL" not in line]


def groups_table():
    """Two groups of rows that differ in the column called height, by six deviations."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((120, 5))
    X[60:, 1] += 12.0
    return X, ["low"] * 60 + ["high"] * 60


@pytest.fixture(scope="module")
def pca_page(tmp_path_factory):
    """A PCA page of two groups, one row with a hostile name."""
    X, side = groups_table()
    path = tmp_path_factory.mktemp("pages") / "pca.html"
    names = ["width", "height", "<script>alert(1)</script>", "depth", "=weight"]
    rows = [f"sample {i + 1}" for i in range(119)] + ["=cmd()"]
    labels = {"side": side, "age": np.arange(120.0)}
    return PCA().fit(X).report(path, X, names=names, labels=labels, row_names=rows, choice=how_many(X))


def points(page, group):
    """How many marks of a group the map has."""
    return page.evaluate(
        f"document.querySelectorAll('#rows-plot .scatterlayer .trace')[{group}].querySelectorAll('.point').length"
    )


def lasso(page, left, top, right, bottom):
    """Draw around a part of the map, given in shares of its plotting area."""
    page.locator("#rows-plot").scroll_into_view_if_needed()
    box = page.locator("#rows-plot .nsewdrag").first.bounding_box()
    corners = [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    spots = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in corners]
    page.mouse.move(*spots[0])
    page.mouse.down()
    for spot in spots[1:]:
        page.mouse.move(*spot, steps=8)
    page.mouse.up()


def saved(page, button):
    """The lines of the CSV that a button gives."""
    with page.expect_download() as waiting:
        button.click()
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:  # noqa: PTH123 - a browser's own file
        return list(csv.reader(file))


def test_cut_can_be_dragged_and_moved_by_keys(opened, pca_page):
    """The slider by key and the dashed line by mouse both change the number kept, the words and the code."""
    page = opened(pca_page)
    before = page.inner_text("#cut-words")
    page.focus("#cut")
    page.keyboard.press("ArrowRight")
    by_key = page.inner_text("#cut-words")
    assert by_key != before
    kept = int(page.input_value("#cut"))
    assert by_key.startswith(f"{kept} components hold")
    assert f"n_components={kept}" in page.inner_text("#cut-code")
    page.locator("#scree-plot").scroll_into_view_if_needed()
    line = page.locator("#scree-plot .shapelayer path").first.bounding_box()
    x, y = line["x"] + line["width"] / 2, line["y"] + line["height"] * 0.4
    bar = page.locator("#scree-plot .bars .point").nth(1).bounding_box()
    step = bar["x"] - page.locator("#scree-plot .bars .point").first.bounding_box()["x"]
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 1.9 * step, y, steps=12)
    page.mouse.up()
    page.wait_for_function(f"document.getElementById('cut').value === '{kept + 2}'")
    assert f"n_components={kept + 2}" in page.inner_text("#cut-code")
    dimmed = page.locator(".card.beyond").count()
    assert dimmed == page.locator(".card").count() - min(kept + 2, page.locator(".card").count())


def test_axes_and_color_can_be_chosen(opened, pca_page):
    """Another axis renames and moves the marks; another color changes their groups, or brings a color bar."""
    page = opened(pca_page)
    first = page.locator("#rows-plot .xtitle").text_content()
    place = page.locator("#rows-plot .point").first.get_attribute("transform")
    page.select_option("#rows-x", "2")
    assert page.locator("#rows-plot .xtitle").text_content() != first
    assert page.locator("#rows-plot .point").first.get_attribute("transform") != place
    assert points(page, 0) == 60
    page.select_option("#rows-color", label="age")
    assert points(page, 0) == 120
    assert page.locator("#rows-plot .cbtitle").text_content() == "age"
    page.select_option("#rows-color", label="<script>alert(1)</script>")
    assert page.locator("#rows-plot .cbtitle").text_content() == "<script>alert(1)</script>"
    page.select_option("#columns-x", "1")
    assert page.locator("#columns-plot .xtitle").text_content().startswith("PC2")


def test_lasso_tells_what_makes_rows_different(opened, pca_page):
    """Around one group, the lasso counts its rows, names the column that differs first, and saves them."""
    page = opened(pca_page)
    lasso(page, 0.5, 0.01, 0.99, 0.99)
    assert page.locator("#selection h3").inner_text() == "60 rows picked"
    row = page.locator("#selection table tr").nth(1).locator("td").all_inner_texts()
    assert row[0] == "height"
    X, _ = groups_table()
    apart = (X[60:, 1].mean() - X[:60, 1].mean()) / X[:, 1].std(ddof=1)
    assert float(row[3].replace("\N{MINUS SIGN}", "-")) == pytest.approx(apart, abs=0.01)
    lines = saved(page, page.locator("#selection-csv"))
    assert len(lines) == 61
    assert lines[0][:4] == ["row", "name", "side", "age"]
    assert {line[2] for line in lines[1:]} == {"high"}
    page.locator("#selection button", has_text="Clear").click()
    assert page.locator("#selection").inner_text() == ""


def test_a_group_can_be_picked_without_a_mouse(opened, pca_page):
    """The list of groups picks the same rows as a lasso, and search finds a row by its name."""
    page = opened(pca_page)
    page.select_option("#rows-group", label="high")
    assert page.locator("#selection h3").inner_text() == "60 rows picked: high"
    page.fill("#rows-search", "sample 17")
    assert page.locator("#selection h3").inner_text() == "1 row picked: “sample 17”"
    assert page.locator("#row-card h3").inner_text() == "sample 17"


def test_hover_shows_the_row(opened, pca_page):
    """Pointing at a mark shows its row: name, labels, and columns with their deviations."""
    page = opened(pca_page)
    page.locator("#rows-plot").scroll_into_view_if_needed()
    mark = page.locator("#rows-plot .point").nth(5).bounding_box()
    page.mouse.move(mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2, steps=4)
    page.wait_for_selector("#row-card h3")
    card = page.inner_text("#row-card")
    assert "side: " in card
    assert " sd)" in card
    assert "height: " in card


def test_arrow_keys_walk_through_the_rows(opened, pca_page):
    """With the map focused, arrow keys go from row to row along the first component, and back."""
    page = opened(pca_page)
    page.focus("#rows-plot")
    seen = []
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        seen.append(page.inner_text("#row-card h3"))
    assert seen[0] == seen[2] != seen[1]


def test_every_control_can_be_reached_by_tab(opened, pca_page):
    """Tab comes to the theme, the cut, the axes, the search and the files, in the order of the page."""
    page = opened(pca_page)
    wanted = ["theme", "cut", "rows-x", "rows-y", "rows-color", "rows-search", "rows-group", "rows-plot", "columns-x"]
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.append(page.evaluate("document.activeElement.id"))
        if reached[-1] == wanted[-1]:
            break
    assert [name for name in reached if name in wanted] == wanted


def test_csv_keeps_numbers_and_defuses_formulas(opened, pca_page):
    """Each picture's data can be saved; negative numbers stay numbers, names that look like formulas do not run."""
    page = opened(pca_page)
    rows = saved(page, page.locator("[data-csv=rows]"))
    assert rows[0][-1] == "'=weight"
    assert rows[-1][1] == "'=cmd()"
    X, _ = groups_table()
    np.testing.assert_allclose(float(rows[1][-5]), X[0, 0], rtol=1e-6)
    for name, header in (("scree", "component"), ("columns", "column"), ("weights", "component"), ("outliers", "row")):
        assert saved(page, page.locator(f"[data-csv={name}]"))[0][0] == header


def test_dark_mode_changes_page_and_pictures(opened, pca_page):
    """The button turns page and pictures dark and back; a reader who prefers dark gets it at once."""
    page = opened(pca_page, color_scheme="light")
    look = (
        "[getComputedStyle(document.body).backgroundColor, document.querySelector('#scree-plot .bars path').style.fill]"
    )
    light = page.evaluate(look)
    page.click("#theme")
    dark = page.evaluate(look)
    assert all(a != b for a, b in zip(light, dark, strict=True))
    page.click("#theme")
    assert page.evaluate(look) == light
    assert opened(pca_page, color_scheme="dark").evaluate(look) == dark


def test_phone_width_needs_no_sideways_scrolling(opened, pca_page):
    """At 390 pixels nothing is wider than the screen."""
    page = opened(pca_page)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function("document.querySelector('#rows-plot .main-svg').getBoundingClientRect().width <= 390")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_unticked_sources_become_code(opened, tmp_path):
    """Dropping a source yields the call that takes it out of the rows."""
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(800, 3)) @ rng.standard_normal((3, 3))
    page = opened(ICA().fit(X).report(tmp_path / "ica.html", X, sampling_rate=100.0))
    assert page.inner_text("#drop-code") == "cleaned = model.remove(X, [])"
    page.uncheck("#keep-2")
    page.uncheck("#keep-0")
    assert page.inner_text("#drop-code") == "cleaned = model.remove(X, [0, 2])"
    assert page.inner_text("#drop-words").startswith("1 of 3 sources kept")
    assert len(saved(page, page.locator("[data-csv=traces]"))) == 701


def test_images_are_rebuilt_by_the_slider(opened, tmp_path):
    """More components bring the error down, to nothing with all of them."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 12))
    page = opened(PCA(3).fit(X).report(tmp_path / "images.html", X, image_shape=(3, 4)))
    errors = []
    for count in ("0", "1", "3"):
        page.evaluate(f"document.getElementById('image-count').value = {count}")
        page.dispatch_event("#image-count", "input")
        errors.append(float(page.inner_text("#image-words").split("off by ")[1].split(" ")[0]))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 1e-2
    before = page.inner_text("#image-words")
    page.select_option("#image-row", "3")
    assert page.inner_text("#image-words") != before


def test_kernel_page_draws_its_surfaces(opened, tmp_path):
    """A kernel over the plane shows one contour picture a component, and its data."""
    X = np.random.default_rng(0).standard_normal((60, 2))
    page = opened(KernelPCA(4, kernel="rbf", gamma=0.5).fit(X).report(tmp_path / "kernel.html"))
    page.wait_for_selector("#surfaces-plot .contour")
    assert page.locator("#surfaces-plot .contour").count() == 4
    assert len(saved(page, page.locator("[data-csv=surfaces]"))) == 48 * 48 + 1


def test_kernel_of_many_columns_shows_what_changes(opened, tmp_path):
    """Without a plane, each component has a walk of pre-images; a row and what is kept of it stand side by side."""
    t = np.linspace(0, 6, 120)
    X = np.column_stack([np.cos(t), np.sin(t), 100 * t, 5 + np.cos(2 * t)])
    names = ["across", "up", "<b>time</b>", "twice"]
    scales = kernels.Stretched(kernels.Gaussian(0.2), tuple(1 / X.std(axis=0)))
    page = opened(KernelPCA(3, kernel=scales).fit(X).report(tmp_path / "kernel.html", X, names=names))
    page.wait_for_selector("#profiles .card:nth-child(3) .scatterlayer .trace")
    assert page.locator("#profiles .card").count() == 3
    assert page.locator("#profiles .card").first.locator(".legendtext").count() == 4
    before = page.locator("#preimage-rows td").all_inner_texts()
    page.select_option("#preimage-row", "4")
    after = page.locator("#preimage-rows td").all_inner_texts()
    assert before != after
    assert set(names) == set(after[::4])
    walks = saved(page, page.locator("[data-csv=profiles]"))
    assert len(walks) == 1 + 3 * 5
    assert walks[0][2:] == names
    page.evaluate("document.getElementById('cut').value = 1")
    page.dispatch_event("#cut", "input")
    assert page.locator("#profiles .card.beyond").count() == 2


def test_row_of_an_image_is_shown_as_one(opened, tmp_path):
    """The row that the keys are at is drawn from the numbers that the page has of it; pixels are not listed."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 12))
    page = opened(PCA(3).fit(X).report(tmp_path / "images.html", X, image_shape=(3, 4)))
    page.focus("#rows-plot")
    page.keyboard.press("ArrowRight")
    assert page.locator("#row-card canvas").count() == 1
    assert page.locator("#row-card figcaption").inner_text() == "from 3 numbers"
    assert "column" not in page.inner_text("#row-card")
    assert page.locator("#image-strip canvas").count() == 3
    assert page.locator("#columns").count() == 0


def pages_of_every_kind(folder):
    """A page of each kind of model."""
    rng = np.random.default_rng(0)
    X, plane = rng.standard_normal((40, 3)) @ rng.standard_normal((3, 12)), rng.standard_normal((60, 2))
    mixed = rng.laplace(size=(800, 3)) @ rng.standard_normal((3, 3))
    kernel, ica = KernelPCA(3, kernel="rbf", gamma=0.1), ICA().fit(mixed)
    yield PCA(2).fit(X).report(folder / "table.html", X)
    yield PCA(3).fit(X).report(folder / "images.html", X, image_shape=(3, 4))
    yield kernel.fit(plane).report(folder / "plane.html", plane)
    yield kernel.fit(X).report(folder / "kernel.html", X)
    yield kernel.fit(X).report(folder / "kernel-images.html", X, image_shape=(3, 4))
    yield getattr(ica, "write_report", ica.report)(folder / "ica.html", mixed)


def test_under_each_picture_are_its_code_and_its_data(opened, tmp_path):
    """On a page of every kind each picture has both, and each file has a header, lines, and as many cells in each."""
    for path in pages_of_every_kind(tmp_path):
        page = opened(path)
        pictured = page.locator("section:has(.plot, canvas, .cards, #sources, #preimage-rows)")
        assert pictured.count() >= 3
        for i in range(pictured.count()):
            section = pictured.nth(i)
            name = f"{path.stem}: {section.get_attribute('id')}"
            assert section.locator(".below pre").count() == 1, name
            lines = saved(page, section.locator("[data-csv]"))
            assert len(lines) > 1, name
            assert len({len(line) for line in lines}) == 1, name


def test_many_rows_are_drawn_by_webgl_and_can_be_picked(opened, tmp_path):
    """Beyond 2,000 rows the map is a WebGL canvas; lasso and hover work there too."""
    X = np.random.default_rng(0).standard_normal((3000, 4))
    page = opened(PCA().fit(X).report(tmp_path / "many.html", X))
    assert page.locator("#rows-plot canvas").count() > 0
    assert page.locator("#rows-plot .scatterlayer .point").count() == 0
    lasso(page, 0.02, 0.02, 0.5, 0.98)
    picked = int(page.locator("#selection h3").inner_text().split(" ")[0].replace(",", ""))
    assert 1000 < picked < 2000


def test_one_component_is_a_strip(opened, tmp_path):
    """Rows of one column lie by their number, not on a diagonal; no arrows, no distance of rounding."""
    X = np.random.default_rng(0).standard_normal((80, 1))
    page = opened(PCA().fit(X).report(tmp_path / "one.html", X, names=["height"]))
    assert page.locator("#rows-plot .ytitle").text_content() == "row number"
    assert page.locator("#outliers-plot .ytitle").text_content() == "row number"
    assert page.locator("#columns-plot").count() == 0
    assert page.locator("#rows-y").is_hidden()
    assert "There is one column, height" in page.inner_text("header")


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
    buttons = page.locator("[data-csv]")
    assert buttons.count() >= 2
    for k in range(buttons.count()):
        assert len(saved(page, buttons.nth(k))) > 1
    for plot in page.locator(".plot").all():
        assert plot.locator("svg").count()
    page.focus("#rows-plot")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#row-card h3").startswith("row ")
