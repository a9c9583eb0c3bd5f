"""The sections of a page as HTML: words, tables, and places where its script draws.

All that comes from outside (names, labels, titles, code) is escaped here or in ``contents``.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from importlib import metadata
from platform import platform, python_version
from statistics import median
from typing import Any

import numpy as np

from gramian.pictures import certificate_table
from gramian.pictures.certificate import CertificateTable
from gramian.report.material import Material
from gramian.report.recipes import Recipes


@dataclass(frozen=True, slots=True)
class Section:
    """A titled part of the page, with its entry in the contents at the side.

    Attributes
    ----------
    ident : str
    entry : str
        In the contents; a word or two.
    html : str
    """

    ident: str
    entry: str
    html: str


def section(ident: str, title: str, *parts: str, kind: str = "") -> str:
    """A titled part of a page."""
    head = f"<h2>{escape(title)}</h2>" if title else ""
    return f'<section id="{ident}" class="{kind}">{head}{"".join(parts)}</section>'


def paragraph(text: str, kind: str = "") -> str:
    """Words, escaped."""
    return f'<p class="{kind}">{escape(text)}</p>' if text else ""


def figure(
    ident: str,
    title: str,
    described: str,
    reading: str,
    code: str,
    *,
    before: str = "",
    after: str = "",
    focus: bool = False,
    pictured: bool = True,
) -> str:
    """A picture that the script draws, with its files, its code, and a line on how to read it.

    Parameters
    ----------
    ident : str
        Of the box that is drawn in; files are asked for by it.
    title : str
        What it shows.
    described : str
        For those who cannot see it; the script says more once it is drawn.
    reading : str
        How to read it, in plain words.
    code : str
    before, after : str
        HTML above and below the box.
    focus : bool
        Whether keys act on it.
    pictured : bool
        Whether it can be saved as a picture.
    """
    names = (("png", "PNG"), ("svg", "SVG")) if pictured else ()
    buttons = "".join(
        f'<button type="button" data-save="{kind}" data-of="{ident}" aria-label="Save {escape(title)} as {word}">'
        f"{word}</button>"
        for kind, word in (*names, ("csv", "CSV"))
    )
    key = ' tabindex="0"' if focus else ""
    role = "application" if focus else "img"
    box = f'<div class="draw" id="{ident}" role="{role}"{key} aria-label="{escape(described, quote=True)}"></div>'
    words = f'<details class="how"><summary>How to read this</summary><p>{escape(reading)}</p></details>'
    lines = f'<details class="recipe"><summary>Code</summary>{code_block(code)}</details>' if code else ""
    return (
        f'<div class="figure" id="{ident}-figure"><div class="caption"><h3>{escape(title)}</h3></div>'
        f"{before}{box}{after}"
        f'<div class="below">{words}{lines}<span class="files">{buttons}</span></div></div>'
    )


def code_block(code: str) -> str:
    """Code that can be copied."""
    copy = '<button type="button" class="copy">Copy</button>'
    return f'<div class="code">{copy}<pre tabindex="0"><code>{escape(code)}</code></pre></div>'


def table(header: Iterable[str], rows: Iterable[Iterable[str]], numeric: Iterable[int] = ()) -> str:
    """A table that scrolls by itself on a narrow screen; cells are escaped."""
    right = set(numeric)

    def cells(texts: Iterable[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=number' if j in right else ''}>{escape(text)}</{tag}>" for j, text in enumerate(texts)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{cells(header, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def select(ident: str, name: str) -> str:
    """A choice that the script fills."""
    return f'<label>{escape(name)} <select id="{ident}"></select></label>'


def switch(ident: str, name: str) -> str:
    """A button that is on or off."""
    return f'<button type="button" class="switch" id="{ident}" aria-pressed="false">{escape(name)}</button>'


def header(heading: str, lead: str, size: str = "", numbers: str = "") -> str:
    """The title (HTML), the lead sentence, and figures, which the script may word for other cuts."""
    return (
        f'<header><p class="kicker"><span class="name">{heading}</span> <span>{size}</span>'
        '<button type="button" id="theme" aria-pressed="false">Dark</button></p>'
        f'<h1 id="lead">{escape(lead)}</h1><div class="numbers" id="numbers">{numbers}</div></header>'
    )


def map_section(made: Material, data: dict[str, Any], recipes: Recipes) -> Section | None:
    """The map of rows, with what can be chosen on it."""
    if "rows" not in data:
        words = (
            "This page was written without rows: it holds no name, no value and no score of any row."
            if not made.embed_rows
            else "The rows were not given to this page, so there is no map of them. "
            "In a shell, gramian report MODEL FILE shows one; in Python, model.report(path, X)."
        )
        return Section("map", "Rows", section("map", "The map of rows", paragraph(words, "note")))
    if made.rows is None or made.rows.scores.shape[1] == 0:
        return None
    total, shown = made.rows.n_rows, len(made.rows.positions)
    flagged = () if made.outliers is None else made.outliers.found.flagged
    missed = np.flatnonzero(~np.isin(flagged, made.rows.positions))
    first = int(missed[0]) if len(missed) else len(flagged)
    among = f"; the {first:,} rows furthest out are all among them" if first > 1 else ""
    sample = f"{shown:,} of {total:,} rows, drawn at random{among}. " if made.rows.sampled else ""
    reading = (
        f"{sample}Each mark is a row; rows that lie close together are alike in what these two components hold. "
        "The words at the ends of an axis are the columns that go with it. Draw around marks to pick rows and see what "
        "makes them different; point at one to read it. With keys: arrows walk, Enter picks, Escape clears, "
        "+ and - zoom, / searches. Ellipses hold 95% of a group that is Gaussian."
    )
    choices = "".join(
        select(f"map-{ident}", name) for ident, name in (("x", "Across"), ("y", "Up"), ("color", "Color"))
    )
    switches = switch("map-names", "Names") + switch("map-ellipses", "Ellipses") + switch("map-arrows", "Arrows")
    switches += switch("map-thumbs", "Images") if "images" in data else ""
    zoom = "".join(
        f'<button type="button" id="map-{ident}" aria-label="{name}">{sign}</button>'
        for ident, name, sign in (
            ("in", "Zoom in", "+"),
            ("out", "Zoom out", "&minus;"),
            ("whole", "Whole map", "&#10530;"),
        )
    )
    find = '<label class="find">Find <input type="search" id="find" placeholder="name of a row"></label>'
    bar = (
        f'<div class="bar"><div class="choices">{choices}</div><div class="switches">{switches}</div>'
        f'<div class="switches zoom"><button type="button" class="switch" id="map-lasso" aria-pressed="true">Lasso'
        f"</button>{zoom}</div>{find}</div>"
    )
    live = "".join(f'<div id="{ident}" aria-live="polite"></div>' for ident in ("card", "picked"))
    side = f'<aside id="side" tabindex="0" aria-label="The row pointed at, and rows picked">{live}</aside>'
    legend = '<div id="legend" class="legend" role="group" aria-label="Groups; press one to hide it"></div>'
    remark = f'<p class="note" id="map-note">{escape(sample)}</p>'
    inner = figure(
        "map-plot", "The map of rows", "Rows as points on two components.", reading, recipes.scores, focus=True
    )  # fmt: skip
    # The box and the panel beside it are one frame: the panel goes between the box and what is below it.
    box_at, below_at = inner.index('<div class="draw"'), inner.index('<div class="below"')
    framed = (
        f'{inner[:box_at]}{bar}{legend}<div class="frame"><div class="field">{inner[box_at:below_at]}{remark}</div>'
        f"{side}</div>{inner[below_at:]}"
    )
    return Section("map", "Map", section("map", "", framed, kind="hero"))


def found_section(made: Material) -> Section:
    """What was found, with the components that are kept: the findings after the lead."""
    said = "".join(f"<li>{escape(one.sentence)}</li>" for one in made.findings[1:])
    return Section(
        "found", "Findings", section("found", "What else was found", f'<ul class="findings" id="findings">{said}</ul>')
    )


def components_section(made: Material, data: dict[str, Any], recipes: Recipes) -> Section | None:
    """The columns: a circle, a curve or images, and the table of one component."""
    noun = "sources" if made.kind == "ica" else "components"
    title = f"What are the {noun} made of?"
    if "images" in data:
        reading = "Each picture is a component: where it is dark it lowers, where it is bright it raises the pixel."
        drawn = figure(
            "parts-plot", f"The {noun} as images", f"Images of the {noun}.", reading, recipes.weights,
            before=f'<div class="bar">{pager("parts")}</div>',
        )  # fmt: skip
        return Section("components", "Components", section("components", title, drawn))
    if "columns" not in data:
        return None
    view = data["columns"]
    left = view["total"] - len(view["names"])
    note = f" {left:,} columns with smaller parts are left out." if left else ""
    if view["ordered"] is not None:
        reading = (
            f"One line per component that is kept, over the columns in their order: {view['words']}. Where a line is "
            "far from zero, these columns rise or fall together with it."
        )
        first = figure("curve-plot", "Columns in their order", "Components as curves.", reading, recipes.weights)
    else:
        round_ = view["cos2"] is not None and made.coding is None
        circle = " A column at the circle is described whole by these two." if round_ else ""
        reading = (
            f"Positions are {view['words']}.{circle} Arrows that point the same way rise together, those that point "
            f"apart one against the other; a right angle is no relation.{note}"
        )
        called = "The circle of columns" if round_ else "The columns as arrows"
        first = figure("circle-plot", called, "Columns as arrows.", reading, recipes.columns)
    if not view["telling"]:
        return Section("components", "Components", section("components", title, first))
    whisker = "; a whisker is where it would lie in 95% of other samples" if "intervals" in view else ""
    held = (
        "variance that the component holds"
        if made.coding is None
        else "distance from the center, squared, that is along it"
    )
    cos2 = "" if view["cos2"] is None else f" Cos²: the part of the column's {held}."
    reading = (
        f"Bars go from zero to the {view['unit']} of the column{whisker}. Contribution: the part of the component that "
        f"the column makes up.{cos2}{note}"
    )
    second = figure(
        "parts-table", "One component, column by column", "Table of columns.", reading, recipes.weights,
        before=f'<div class="bar">{pager("component")}</div>', pictured=False,
    )  # fmt: skip
    return Section("components", "Components", section("components", title, f'<div class="pair">{first}{second}</div>'))


def pager(ident: str) -> str:
    """A choice with the one before and the one after."""
    return (
        f'<span class="pager"><button type="button" id="{ident}-back" aria-label="The one before">&#8249;</button>'
        f'<select id="{ident}" aria-label="Component"></select>'
        f'<button type="button" id="{ident}-next" aria-label="The next one">&#8250;</button></span>'
    )


def variance_section(made: Material, recipes: Recipes) -> Section:
    """What each component holds, with the cut."""
    movable = made.kind != "ica"
    noun = "source" if made.kind == "ica" else "component"
    title = f"How much does each {noun} hold?"
    line = "The line is the cut: drag it, or move it with the arrow keys. Everything on the page follows. "
    whisker = "Bars are shares of the variance, whiskers where they would lie in 95% of other samples. "
    noise = "The stepped line is what noise alone would reach, 95 times of 100. "
    reading = f"{whisker}{noise if len(made.scree.noise) else ''}{line if movable else ''}"
    words = '<p class="result" id="cut-words" aria-live="polite"></p>' if movable else ""
    code = (
        '<div class="code"><button type="button" class="copy">Copy</button><pre tabindex="0"><code id="cut-code">'
        "</code></pre></div>"
    )
    drawn = figure(
        "variance-plot", f"Share of the variance of each {noun}", "Bars of shares.", reading, recipes.scree,
        after=f"{words}{code if movable else ''}", focus=movable,
    )  # fmt: skip
    return Section("variance", "Variance", section("variance", title, drawn))


def check_section(made: Material, data: dict[str, Any], recipes: Recipes) -> Section | None:
    """Rows by both distances, and those beyond a limit."""
    if made.outliers is None or "rows" not in data:
        return None
    reading = (
        "To the right, rows far out within the components kept (Hotelling's T²); upwards, rows far off them (squared "
        "prediction error, SPE). Both are in units of their limit, which 99% of Gaussian rows stay under: beyond 1 a "
        "row is worth a look. Of many rows some are beyond by chance alone."
    )
    drawn = figure("check-plot", "Distances of the rows", "Rows by two distances.", reading, recipes.outliers)
    listed = '<div id="check-table" class="listed" aria-live="polite"></div>'
    return Section(
        "check",
        "Rows to check",
        section("check", "Which rows are unusual?", f'<div class="pair">{drawn}{listed}</div>'),
    )


def groups_section(data: dict[str, Any], recipes: Recipes) -> Section | None:
    """Which label goes with which component."""
    if "groups" not in data or "rows" not in data:
        return None
    reading = (
        "The part of each component's spread that lies between the groups of a label (of a number, its squared "
        "correlation): 100% is groups that are told apart whole. Dark cells are beyond chance (permutations, all cells "
        "together); light ones are not. Press a cell to see its groups below."
    )
    first = figure(
        "groups-table", "Labels and components", "Table of effect sizes.", reading, recipes.groups, pictured=False
    )  # fmt: skip
    reading = "Each line is a group: dots are its rows, the bar goes from quartile to quartile, the tick is the median."
    second = figure("groups-plot", "Groups along one component", "Rows by group.", reading, recipes.groups)
    return Section(
        "groups",
        "Groups",
        section("groups", "Which groups differ, and where?", f'<div class="pair">{first}{second}</div>'),
    )


def time_section(data: dict[str, Any], recipes: Recipes) -> Section | None:
    """Scores over time, where rows have dates."""
    if "rows" not in data or not data["rows"]["dates"]:
        return None
    reading = "Scores of the rows in the order of their dates, one line per component that is kept."
    drawn = figure("time-plot", "Scores over time", "Scores over time.", reading, recipes.time)
    return Section("time", "Over time", section("time", "What happens over time?", drawn))


def images_section(data: dict[str, Any], recipes: Recipes) -> Section | None:
    """An image put together from more and more components."""
    if "images" not in data or "examples" not in data["images"]:
        return None
    count = data["images"]["count"]
    controls = (
        f'<div class="bar">{select("image-row", "Image")}<label class="wide">Components <input type="range" '
        f'id="image-count" min="0" max="{count}" value="{min(15, count)}" step="1"></label></div>'
    )
    reading = "An image is the mean plus each component times one number. Move the slider to use more of them."
    drawn = figure(
        "image-plot", "An image from a few numbers", "An image rebuilt.", reading, recipes.images,
        before=f'{controls}<p id="image-words" aria-live="polite" class="result"></p>',
    )  # fmt: skip
    return Section("images", "Images", section("images", "How few numbers make an image?", drawn))


def surfaces_section(data: dict[str, Any], recipes: Recipes) -> Section | None:
    """The components of a kernel over the plane."""
    if "surfaces" not in data:
        return None
    across, up = data["surfaces"]["names"]
    reading = (
        "The score that every point of the plane would get: along a line, the component does not change. "
        f"Across is {across}, up is {up}; the dots are rows. Pale panels are components that are not kept."
    )
    drawn = figure(
        "surfaces-plot", "The components as functions over the plane", "Contours.", reading, recipes.surfaces
    )  # fmt: skip
    return Section("surfaces", "Surfaces", section("surfaces", "What do the components look like?", drawn))


def preimages_section(data: dict[str, Any], recipes: Recipes) -> list[Section]:
    """What the components of a kernel mean in the columns, where there is no plane to draw them over."""
    if "preimages" not in data:
        return []
    kept = median(share for share in data["preimages"]["kept"] if share is not None)
    trust = (
        f"Of rows that were held out, they bring back {max(kept, 0.0):.0%} of the variance of a typical column"
        f"{': take them with care' if kept < 0.5 else ''}."
    )
    walk = (
        "A kernel has no weights of columns. Instead, rows are rebuilt from scores (pre-images): here one score goes "
        "from low, where 5% of the rows lie below it, to high, where 95% do, and all others stay at their means. "
        f"{trust}"
    )
    rows = "A row, and what the components keep of it: what changes most is what they do not see."
    if "imageShape" in data:
        rows = "Above, some rows; below, what the components keep of them."
    first = figure("profiles-plot", "From low to high along each component", "Profiles.", walk, recipes.profiles)
    second = figure(
        "rebuilt-plot", "Rows and what is kept of them", "Rows rebuilt.", rows, recipes.preimages,
        before=f'<div class="bar">{select("rebuilt-row", "Row")}</div>',
    )  # fmt: skip
    return [
        Section("profiles", "Components", section("profiles", "What changes along each component?", first)),
        Section("rebuilt", "Rebuilt rows", section("rebuilt", "What do the components keep of a row?", second)),
    ]


def traces_section(data: dict[str, Any], recipes: Recipes) -> Section | None:
    """Sources over time, each to be kept or dropped."""
    if "traces" not in data:
        return None
    reading = (
        "Each source over time and, at the right, its spectrum. Untick those that are not wanted: the code below takes "
        "them out of the rows."
    )
    code = (
        '<p class="result" id="drop-words" aria-live="polite"></p><div class="code"><button type="button" class="copy">'
        'Copy</button><pre tabindex="0"><code id="drop-code"></code></pre></div>'
    )
    drawn = figure("traces-plot", "Sources over time", "Traces.", reading, recipes.traces, after=code)
    return Section("traces", "Sources", section("traces", "What are the sources?", drawn))


def appendix(made: Material, facts: Sequence[str], computed: Mapping[str, str], command: str, code: str) -> Section:
    """What was done to the table, the other rules, the certificate, how it was computed, and code for all of it."""
    done = "".join(f"<li>{escape(fact)}</li>" for fact in facts)
    parts = [("done", "What was done to the table", f"<ul>{done}</ul>")] if done else []
    parts += [("rules", "Other rules for the number of components", rules(made))] if made.choice is not None else []
    if made.model.certificate is not None:
        parts.append(("certificate", "How far the arithmetic can be trusted", certificate(made)))
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in computed.items())
    parts.append(("how", "Plan, versions, time", f'<dl class="facts">{items}</dl>'))
    shell = f"<h3>In a shell</h3>{code_block(command)}<h3>In Python</h3>" if command else ""
    parts.append(("code", "Code that reproduces it", f"{shell}{code_block(code)}"))
    inner = "".join(
        f'<details id="{ident}"><summary>{escape(title)}</summary><div class="inside">{body}</div></details>'
        for ident, title, body in parts
    )
    return Section(
        "appendix", "Appendix", section("appendix", "How was it computed?", f'<div class="appendix">{inner}</div>')
    )


def rules(made: Material) -> str:
    """How many components each rule would keep, and why."""
    if made.choice is None:
        return ""
    said = [(v.rule, str(v.n_components), v.reason) for v in made.choice.verdicts]
    said += [(rule, "-", why) for rule, why in made.choice.refusals]
    return paragraph(made.choice.agreement) + table(("rule", "keeps", "because"), said, numeric=(1,))


def certificate(made: Material) -> str:
    """What is proved of each component, and what is not."""
    view, whole = certificate_table(made.model, count=20), certificate_table(made.model)
    alone = "This is about arithmetic alone: how much other rows would change the numbers is another question."
    listed, held = len(view.rows), len(whole.rows)
    part = f"Here are the first {listed} of {held} components." if listed < held else ""
    words = paragraph(f"{certificate_words(whole)} {alone} {part}".strip())
    return words + table(view.header, view.rows, numeric=(1, 2, 3, 4))


def certificate_words(certificate: CertificateTable) -> str:
    """Say what the certificate promises, and what it does not.

    Examples
    --------
    >>> certificate_words(CertificateTable((), (), ("proved",), "1.0e-14", "2.0e-14", 0))
    'The one component is proved: no variance is off by more than 1.0e-14, ... 2.0e-14 in the sine ...'
    """
    grades = certificate.grades
    limits = f"no variance is off by more than {certificate.value_bound}, {_direction_words(certificate)}"
    if set(grades) == {"proved"}:
        return f"{_all_of(len(grades))} {'is' if len(grades) == 1 else 'are'} proved: {limits}."
    counts = ", ".join(f"{grades.count(grade)} {grade}" for grade in dict.fromkeys(grades))
    return f"Of {len(grades)} components: {counts}. As far as each grade reaches, {limits}."


def _direction_words(certificate: CertificateTable) -> str:
    """What is promised of directions, and how many are fixed only together."""
    if certificate.n_free == len(certificate.grades):
        return "and no direction is fixed by itself"
    bound = f"no direction by more than {certificate.angle_bound} in the sine of its angle"
    if not certificate.n_free:
        return bound
    return f"{bound}; {certificate.n_free} share their variance with others and are fixed only together"


def _all_of(count: int) -> str:
    """All of some components, as a person says it."""
    return {1: "The one component", 2: "Both components"}.get(count, f"All {count} components")


def plan_lines(model: Any) -> str:
    """The plan of a model as one line; sources have none of their own."""
    plan = getattr(model, "plan", None)
    return "" if plan is None else "; ".join(line.strip() for line in str(plan).splitlines() if line.strip())


def computed_facts(made: Material, more: Mapping[str, str], seed: int) -> dict[str, str]:
    """Return names and texts of how a model was computed; `more` is what only the caller knows (time, memory)."""
    facts = {
        "plan": plan_lines(made.model) or _ica_lines(made),
        "number of components": getattr(made.model, "verdict", ""),
        **{str(name): str(text) for name, text in more.items()},
        "seed": f"{made.model.options.seed} for the fit, {seed} for the sample of rows",
        "versions": ", ".join(f"{name} {_version(name)}" for name in ("gramian", "numpy", "scipy")),
        "machine": f"Python {python_version()}, {platform(terse=True)}",
        "written": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }
    return {name: text for name, text in facts.items() if text}


def _version(package: str) -> str:
    """Return the version of a package; one that was copied, vendored or frozen may come without word of it."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "(unknown version)"


def _ica_lines(made: Material) -> str:
    model = made.model
    how = "converged" if model.converged else "not converged"
    return (
        f"{model.options.algorithm} with the contrast {model.options.contrast}: {how} after {model.n_iter} iterations, "
        f"gradient norm {model.gradient_norm:.1e}"
    )
