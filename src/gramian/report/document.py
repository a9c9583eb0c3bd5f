"""The page as a whole: one HTML file with its style, script, pictures and data inside, and no need of a network."""

import os
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from gramian.report import sections as parts
from gramian.report.answer import answer
from gramian.report.contents import contents
from gramian.report.material import Labels, Material, gather
from gramian.report.packing import safe_json
from gramian.report.provenance import computed_facts
from gramian.report.recipes import Recipes, recipes_of
from gramian.views.images import require_shape

LARGEST = 8_000_000
"""Bytes that a page may have, the script of plotly (4.8 MB) included."""

FIRST_LIMIT = 20_000
"""Rows that are shown where there is room; the sample is halved until the page fits."""

# What a page may do: run its own script and style, draw its own images, and nothing from anywhere else. WebGL
# pictures compile small functions (unsafe-eval), and plotly sets styles on its elements.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; "
    "img-src data: blob:; connect-src 'none'; base-uri 'none'; form-action 'none'"
)


def write_report(
    model: Any,
    path: str | os.PathLike[str],
    *,
    rows: Any = None,
    scores: Any = None,
    names: Sequence[str] | None = None,
    labels: Labels | None = None,
    color: str | None = None,
    row_names: Sequence[Any] | None = None,
    title: str | None = None,
    facts: Sequence[str] | Mapping[str, str] = (),
    choice: Any = None,
    chosen: int | None = None,
    code: str = "",
    made: Mapping[str, str] | None = None,
    image_shape: tuple[int, int] | None = None,
    sampling_rate: float | None = None,
    seed: int = 0,
) -> Path:
    """Write a page that says in words and pictures what a fitted model found.

    The page is one HTML file of at most 8 MB that opens from disk and asks the network for nothing. Where all rows do
    not fit, it shows a sample that keeps the unusual ones, and says so.

    Cost: a pass for the scores, two for outliers, two for the rows shown; about a second for small tables.

    Parameters
    ----------
    model : PCAModel, KernelPCAModel or ICAModel, or an estimator
    path : path
        Written under a temporary name and renamed; missing folders are made.
    rows : rows (n, d), or a source of them, optional
        Those of the fit. Without them there are no column values, no outliers, and no map unless `scores` are given.
    scores : array (n, k), optional
        Of all rows, where they are known already.
    names : sequence of d str, optional
    labels : mapping of str to n labels, optional
        Text or numbers that color the map.
    color : str, optional
        The label that colors first.
    row_names : sequence of n, optional
    title : str, optional
    facts : sequence of str, or mapping to them
        Sentences about the table: what was left out, scaled, filled.
    choice : Panel, optional
        What each rule says, from ``gramian.how_many``.
    chosen : int, optional
        Components kept: what `choice` says, or all, unless told.
    code : str
        What reproduces the fit.
    made : mapping of str to str, optional
        Further lines of "how it was computed": time, memory, file, command.
    image_shape : pair of int, optional
        Rows are images of this height and width.
    sampling_rate : float, optional
        Rows a second, for sources.
    seed : int
        Of the sample of rows.

    Returns
    -------
    Path
        Where the page is.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from gramian import PCA
    >>> X = np.random.default_rng(0).standard_normal((30, 4))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(PCA().fit(X), f"{folder}/page.html", rows=X)
    ...     page.name, page.stat().st_size < 8_000_000
    ('page.html', True)
    """
    if image_shape is not None:
        require_shape(image_shape, _columns_of(model))
    limit, smallest = FIRST_LIMIT, 50
    while True:
        material = gather(
            model,
            rows=rows,
            scores=scores,
            names=names,
            labels=labels,
            color=color,
            row_names=row_names,
            choice=choice,
            chosen=chosen,
            seed=seed,
            limit=limit,
        )
        data = contents(material, image_shape=image_shape, sampling_rate=sampling_rate)
        spoken = tuple(facts.values()) if isinstance(facts, Mapping) else tuple(facts)
        recipes = recipes_of(material, code)
        told = computed_facts(material, made or {}, seed)
        text = render(material, data, title=title, facts=spoken, recipes=recipes, computed=told).encode("utf-8")
        if len(text) <= LARGEST or limit <= smallest:
            return _write(text, Path(path))
        limit //= 2


def render(
    made: Material,
    data: dict[str, Any],
    *,
    title: str | None,
    facts: Sequence[str],
    recipes: Recipes,
    computed: Mapping[str, str],
) -> str:
    """The page as HTML text."""
    heading = escape(title or default_title(made))
    body = "".join(
        (
            _header(made, heading, facts),
            _variance(made, recipes),
            _traces(data, recipes),
            _rows(made, data, recipes),
            _surfaces(data, recipes),
            _columns(data, recipes),
            parts.cards(made, recipes.fit, images="images" in data),
            _images(data, recipes),
            _outliers(made, data, recipes),
            parts.section("how", "How it was computed", parts.how_computed(made, computed)),
            parts.section("code", "Code that reproduces it", parts.code_block(recipes.reproduce)),
        )
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{heading}</title>\n<style>\n{_asset('page.css')}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{safe_json(data)}</script>\n'
        f"<script>{_plotly()}</script>\n<script>\n{_asset('page.js')}</script>\n</body>\n</html>\n"
    )


def default_title(made: Material) -> str:
    """A title for a page that was given none."""
    what = {"pca": "Principal components", "kernel": "Kernel principal components", "ica": "Independent sources"}
    return f"{what[made.kind]} of {made.model.n_rows:,} rows"


def _header(made: Material, heading: str, facts: Sequence[str]) -> str:
    lead = "".join(parts.paragraph(text, "lead") for text in answer(made))
    done = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    scree = made.scree
    noun = "sources" if made.kind == "ica" else "components kept"
    numbers = [(f"{made.model.n_rows:,} × {made.model.n_columns:,}", "rows × columns"), (str(scree.chosen), noun)]
    if made.kind != "ica":
        numbers.append((f"{scree.kept:.1%}", "of the variance in them"))
        numbers.append((made.model.certificate.grade, "grade of the certificate"))
    shown = "".join(f"<div><dd>{escape(value)}</dd><dt>{escape(name)}</dt></div>" for value, name in numbers)
    return (
        '<a class="skip" href="#variance">Skip to the pictures</a><main><header>'
        '<button type="button" id="theme" aria-pressed="false">Dark</button>'
        f'<h1>{heading}</h1>{lead}<dl class="numbers">{shown}</dl>'
        f"{f'<ul class=done>{done}</ul>' if done else ''}</header>"
    )


def _variance(made: Material, recipes: Recipes) -> str:
    noun = "source explains" if made.kind == "ica" else "component holds"
    k = len(made.scree.shares)
    cut = (
        '<div class="controls"><label class="grow">Components kept '
        f'<input type="range" id="cut" min="0" max="{min(k, 200)}" value="{min(made.scree.chosen, 200)}" step="1">'
        '</label></div><p id="cut-words" aria-live="polite" class="result"></p>'
    )
    code = '<div class="code"><pre tabindex="0"><code id="cut-code"></code></pre></div>'
    hint = "Drag the dashed line, or move the slider with the arrow keys."
    return parts.section(
        "variance",
        f"What each {noun}",
        parts.plot("scree-plot", f"Share of the variance of each of {k} components, and of all up to it."),
        cut if made.kind != "ica" else "",
        code if made.kind != "ica" else "",
        parts.paragraph(hint if made.kind != "ica" else "", "note"),
        parts.rules(made),
        parts.below("scree", recipes.scree),
    )


def _rows(made: Material, data: dict[str, Any], recipes: Recipes) -> str:
    if "rows" not in data:
        words = "The rows were not given to this page, so there is no map of them. Pass rows= to see one."
        return parts.section("rows", "The map of rows", parts.paragraph(words))
    if made.rows is None or made.rows.scores.shape[1] == 0:
        return ""
    total, shown = made.rows.n_rows, len(made.rows.positions)
    sample = (
        f"{shown:,} of {total:,} rows, drawn at random with seed 0; the rows worth a look are all among them. "
        if made.rows.sampled
        else ""
    )
    words = f"{sample}Each mark is a row. Draw around some of them with the lasso to see what makes them different."
    controls = "".join(
        f'<label>{name} <select id="rows-{ident}"></select></label>'
        for ident, name in (("x", "Across"), ("y", "Up"), ("color", "Color"))
    )
    search = '<label class="grow">Search <input type="search" id="rows-search" placeholder="name of a row"></label>'
    pick = '<label>Pick a group <select id="rows-group"></select></label>'
    side = (
        '<aside id="rows-side"><div id="row-card" aria-live="polite"></div><div id="selection" aria-live="polite"></div></aside>'
    )
    return parts.section(
        "rows",
        "The map of rows",
        parts.paragraph(words),
        f'<div class="controls">{controls}{search}{pick}</div>',
        f'<div class="map">{parts.plot("rows-plot", "Rows as points on two components.")}{side}</div>',
        parts.below("rows", recipes.scores),
    )


def _columns(data: dict[str, Any], recipes: Recipes) -> str:
    if "columns" not in data:
        return ""
    view = data["columns"]
    left = view["total"] - len(view["names"])
    note = f"{left:,} columns with shorter arrows are left out. " if left else ""
    circle = "A column at the circle is described whole by these two. " if view["correlations"] else ""
    words = f"{note}Positions are {view['scaling']}. {circle}Columns that point the same way rise together."
    controls = "".join(
        f'<label>{name} <select id="columns-{ident}"></select></label>' for ident, name in (("x", "Across"), ("y", "Up"))
    )
    return parts.section(
        "columns",
        "The map of columns",
        parts.paragraph(words),
        f'<div class="controls">{controls}</div>',
        parts.plot("columns-plot", "Columns as arrows on two components."),
        parts.below("columns", recipes.columns),
    )


def _images(data: dict[str, Any], recipes: Recipes) -> str:
    if "images" not in data:
        return ""
    count = data["images"]["count"]
    controls = (
        '<div class="controls"><label>Image <select id="image-row"></select></label>'
        f'<label class="grow">Components <input type="range" id="image-count" min="0" max="{count}" '
        f'value="{min(15, count)}" step="1"></label></div>'
    )
    shown = "".join(
        f'<figure><canvas id="image-{ident}"></canvas><figcaption>{name}</figcaption></figure>'
        for ident, name in (("mean", "the mean"), ("rebuilt", "rebuilt"), ("original", "the original"))
    )
    return parts.section(
        "images",
        "An image from a few numbers",
        controls,
        f'<div class="images">{shown}</div><p id="image-words" aria-live="polite" class="result"></p>',
        parts.below("images", recipes.images),
    )


def _surfaces(data: dict[str, Any], recipes: Recipes) -> str:
    if "surfaces" not in data:
        return ""
    words = "The score that every point of the plane would get: along a line, the component does not change."
    return parts.section(
        "surfaces",
        "The components as functions over the plane",
        parts.paragraph(words),
        parts.plot("surfaces-plot", "Contours of the first components over the plane of the two columns."),
        parts.below("surfaces", recipes.surfaces),
    )


def _traces(data: dict[str, Any], recipes: Recipes) -> str:
    if "traces" not in data:
        return ""
    words = (
        "Each source over time, its spectrum, and how far from a Gaussian it is. Untick those that are not wanted: "
        "the code below takes them out of the rows."
    )
    left = data["traces"]["total"] - len(data["traces"]["names"])
    return parts.section(
        "traces",
        "The sources",
        parts.paragraph(words),
        '<div id="sources"></div>',
        parts.paragraph(f"{left} more sources are not shown." if left else "", "note"),
        '<p class="result" id="drop-words" aria-live="polite"></p>',
        '<div class="code"><button type="button" class="copy">Copy</button>'
        '<pre tabindex="0"><code id="drop-code"></code></pre></div>',
        parts.below("traces", recipes.traces),
    )


def _outliers(made: Material, data: dict[str, Any], recipes: Recipes) -> str:
    if "outliers" not in data or made.outliers is None:
        return ""
    found = made.outliers.found
    words = (
        f"To the right, rows far out within the {found.n_components} components (Hotelling's T²); upwards, rows far off "
        f"them (squared prediction error, SPE). Dashed: what {found.level:.0%} of Gaussian rows stay under."
    )
    return parts.section(
        "outliers",
        "Rows worth a look",
        parts.paragraph(words),
        parts.plot("outliers-plot", f"Two distances of each row; {len(found.flagged)} rows lie beyond a limit."),
        parts.unusual_rows(made),
        parts.below("outliers", recipes.outliers),
    )


def _columns_of(model: Any) -> int:
    return int(getattr(model, "n_columns", None) or model.n_features_in_)


def _asset(name: str) -> str:
    return files("gramian.report").joinpath(name).read_text(encoding="utf-8")


def _plotly() -> str:
    """The script of plotly; an end tag inside a string of it would end ours."""
    text = files("plotly").joinpath("package_data", "plotly.min.js").read_text(encoding="utf-8")
    return text.replace("</script", "<\\/script")


def _write(text: bytes, target: Path) -> Path:
    """Write beside the target and rename, so that a reader sees the old page or the new one."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        part.write_bytes(text)
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    return target
