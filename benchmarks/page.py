"""How long a page of a million rows takes to write, to open and to pan: `python -m benchmarks.page`.

Needs playwright and chromium. Seconds to interactive run from the start of navigation until the map of rows can be
used; a pan is a drag of the map, timed until the browser has painted the next frame.
"""

import json
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np

from benchmarks.machine import describe
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.report import write_report
from gramian.sources.opening import as_source

ROWS, COLUMNS, REPEATS = 1_000_000, 20, 3
FLAGS = ["--no-sandbox"]
RESULT = Path(__file__).parent / "results" / "page.json"


def table(n: int, d: int) -> np.ndarray:
    """Rows in three groups along three directions, with noise."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((3, 3)) * 4
    hidden = centers[rng.integers(0, 3, n)] + rng.standard_normal((n, 3))
    return hidden @ rng.standard_normal((3, d)) + rng.standard_normal((n, d))


def opened(page_path: Path) -> dict[str, float]:
    """Open a page in a new browser; return seconds until it can be used, and milliseconds of a pan."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        begun = perf_counter()
        page.goto(page_path.as_uri())
        page.wait_for_selector("body[data-ready]", timeout=120_000)
        seconds = perf_counter() - begun
        page.locator("#map-plot").scroll_into_view_if_needed()
        pans = [pan(page) for _ in range(5)]
        browser.close()
    return {"seconds_to_interactive": seconds, "milliseconds_a_pan": statistics.median(pans)}


def pan(page) -> float:  # noqa: ANN001 - playwright is loaded only when it is needed
    """Drag the map by a few pixels and wait for two frames."""
    page.evaluate("gramian.set({ lasso: false })")
    box = page.locator("#map-plot").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    before = page.evaluate("gramian.figures['map-plot'].hit.view.x")
    begun = perf_counter()
    page.mouse.move(x + 60, y)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    spent = 1000 * (perf_counter() - begun)
    page.mouse.up()
    after = page.evaluate("gramian.figures['map-plot'].hit.view.x")
    assert before != after, "the map did not move"
    return spent


def main() -> None:
    """Fit, write, open a few times, and keep the record."""
    X = table(ROWS, COLUMNS)
    source = as_source(X)
    begun = perf_counter()
    model = fit_pca(source, PCAOptions(scale=True))
    fitted = perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        path = write_report(model, Path(folder) / "page.html", rows=source, chosen=3)
        written = perf_counter()
        size = path.stat().st_size
        runs = [opened(path) for _ in range(REPEATS)]
    record = {
        "rows": ROWS,
        "columns": COLUMNS,
        "machine": describe(("gramian", "numpy", "playwright")),
        "seconds_to_fit": round(fitted - begun, 2),
        "seconds_to_write": round(written - fitted, 2),
        "bytes": size,
        **{name: round(statistics.median(run[name] for run in runs), 2) for name in runs[0]},
        "repeats": REPEATS,
    }
    RESULT.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")
    json.dump(record, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
