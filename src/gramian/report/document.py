"""The page as a whole: one HTML file with its style, script, pictures and data inside, and no need of a network."""

import os
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from gramian.analysis.rows import MOST_ROWS
from gramian.atomic import atomic_write
from gramian.pictures import model_of
from gramian.pictures.images import require_shape
from gramian.report import sections as parts
from gramian.report.contents import contents, cuts_of, safe_json
from gramian.report.material import Labels, Material, gather
from gramian.report.recipes import Recipes, recipes_of

LARGEST = 8_000_000
"""Bytes that a page may have."""

SCRIPTS = (
    "data",
    "frame",
    "state",
    "draw",
    "labels",
    "rows",
    "map",
    "side",
    "columns",
    "variance",
    "check",
    "groups",
    "images",
    "sources",
    "kernel",
    "start",
)
"""Files of the page's script, in the order in which they are read."""

# What a page may do: run its own script and style, draw its own images, and nothing from anywhere else.
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
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
    command: str = "",
    opening: str = "",
    made: Mapping[str, str] | None = None,
    image_shape: tuple[int, int] | None = None,
    sampling_rate: float | None = None,
    seed: int = 0,
    embed_rows: bool = True,
) -> Path:
    """Write a page that says in words and pictures what a fitted model found.

    The page is one HTML file of at most 8 MB that opens from disk and asks the network for nothing. Where all rows do
    not fit, it shows a sample that keeps the unusual ones, and says so.

    Cost: two passes over the rows of a PCA, three of other models; under a second for small tables.

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
        Components kept: what `choice` says, or all, unless given.
    code : str
        What reproduces the fit, where the page would not know.
    command : str
        The same in a shell.
    opening : str
        Lines of Python that define `X`, `names` and `labels`, so that the code of the page runs as it stands.
    made : mapping of str to str, optional
        Further lines of "how it was computed": time, memory, file, command.
    image_shape : pair of int, optional
        Rows are images of this height and width.
    sampling_rate : float, optional
        Rows per second, for sources.
    seed : int
        Of the sample of rows.
    embed_rows : bool
        Whether the page holds rows. Without them it has no map, and names no row: shares, columns and counts stay.

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
        require_shape(image_shape, model_of(model).n_columns)
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
        image_shape=image_shape,
        seed=seed,
    )
    return write_material(
        material,
        path,
        title=title,
        facts=tuple(facts.values()) if isinstance(facts, Mapping) else tuple(facts),
        code=code,
        command=command,
        opening=opening,
        made=made,
        sampling_rate=sampling_rate,
        seed=seed,
        embed_rows=embed_rows,
    )


def write_material(
    material: Material,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    facts: Sequence[str] = (),
    code: str = "",
    command: str = "",
    opening: str = "",
    made: Mapping[str, str] | None = None,
    sampling_rate: float | None = None,
    seed: int = 0,
    embed_rows: bool = True,
) -> Path:
    """Write the page of what was gathered; parameters are those of :func:`write_report`."""
    if material.image_shape is not None:
        require_shape(material.image_shape, material.model.n_columns)
    recipes = recipes_of(material, code, opening, sampling_rate)
    material = material if embed_rows else material.without_rows()
    computed = parts.computed_facts(material, made or {}, seed)
    cuts = cuts_of(material)
    # Rows that are shown where there is room; the sample is halved until the page fits.
    limit, smallest = MOST_ROWS, 50
    while True:
        data = contents(material, cuts, sampling_rate=sampling_rate)
        page = render(material, data, title=title, facts=facts, recipes=recipes, computed=computed, command=command)
        text = page.encode("utf-8")
        if len(text) <= LARGEST or limit <= smallest:
            return write_page(text, Path(path))
        limit //= 2
        material = material.narrowed(limit)


def render(
    made: Material,
    data: dict[str, Any],
    *,
    title: str | None,
    facts: Sequence[str],
    recipes: Recipes,
    computed: Mapping[str, str],
    command: str = "",
) -> str:
    """The page as HTML text."""
    heading = escape(title or default_title(made))
    found = (
        parts.traces_section(data, recipes),
        parts.map_section(made, data, recipes),
        parts.found_section(made),
        parts.surfaces_section(data, recipes),
        *parts.preimages_section(data, recipes),
        parts.components_section(made, data, recipes),
        parts.variance_section(made, recipes),
        parts.check_section(made, data, recipes),
        parts.groups_section(data, recipes),
        parts.time_section(data, recipes),
        parts.images_section(data, recipes),
        parts.appendix(made, facts, computed, command, recipes.reproduce),
    )
    sections = [one for one in found if one is not None]
    entries = "".join(f'<li><a href="#{one.ident}">{escape(one.entry)}</a></li>' for one in sections)
    cut = (
        '<div class="cut" role="group" aria-label="Components kept"><span>Components kept</span>'
        '<button type="button" id="cut-less" aria-label="Keep one less">&minus;</button>'
        '<output id="cut-count"></output>'
        '<button type="button" id="cut-more" aria-label="Keep one more">+</button></div>'
    )
    menu = f'<details class="contents" id="contents"><summary>Contents</summary><ol>{entries}</ol></details>'
    size = f"{made.model.n_rows:,} rows · {made.n_columns:,} columns"
    head = parts.header(heading, made.findings[0].sentence, size)
    body = (
        f'<a class="skip" href="#{sections[0].ident}">Skip to the pictures</a><div class="page">'
        f'<nav aria-label="Contents">{menu}{"" if made.kind == "ica" else cut}</nav>'
        f"<main>{head}{''.join(one.html for one in sections)}</main></div>"
    )
    return shell(heading, body, data)


def shell(heading: str, body: str, data: dict[str, Any], *, style: str = "", scripts: Sequence[str] = SCRIPTS) -> str:
    """Return a page: style, body, data and script in one HTML text that asks the network for nothing."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{heading}</title>\n<style>\n{_asset('page.css')}{style}</style>\n</head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{safe_json(data)}</script>\n'
        f"<script>\n{_script(scripts)}</script>\n</body>\n</html>\n"
    )


def default_title(made: Material) -> str:
    """A title for a page that was given none."""
    what = {"pca": "Principal components", "kernel": "Kernel principal components", "ica": "Independent sources"}
    return f"{what[made.kind]} of {made.model.n_rows:,} rows"


def _asset(name: str) -> str:
    return files("gramian.report").joinpath(name).read_text(encoding="utf-8")


def _script(names: Sequence[str]) -> str:
    """The page's own script: files that share one scope, those that others need first."""
    return '"use strict";\n(() => {\n' + "".join(_asset(f"script/{name}.js") for name in names) + "})();\n"


def write_page(text: bytes, target: Path) -> Path:
    """Write the page whole, into a folder that is made where it is missing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with atomic_write(target) as part:
        part.write_bytes(text)
    return target
