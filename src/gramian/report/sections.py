"""The sections of a page as HTML: words, tables, and places where its script draws.

All that comes from outside (names, labels, titles, code) is escaped here or in ``contents``.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from html import escape
from importlib import metadata
from platform import platform, python_version
from statistics import median
from typing import Any

import numpy as np

from gramian.analysis.rows import KEPT_UNUSUAL
from gramian.pictures import certificate_table, leading_columns
from gramian.report.answer import certificate_words, label_shares, special_meaning
from gramian.report.material import Material
from gramian.report.recipes import Recipes


def section(ident: str, title: str, *parts: str) -> str:
    """A titled part of the page."""
    return f'<section id="{ident}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


def paragraph(text: str, kind: str = "") -> str:
    """Words, escaped."""
    return f'<p class="{kind}">{escape(text)}</p>' if text else ""


def plot(ident: str, description: str) -> str:
    """A place that the script draws in; what it shows is said for those who cannot see it."""
    return f'<div class="plot" id="{ident}" role="img" aria-label="{escape(description, quote=True)}"></div>'


def below(ident: str, code: str, *, csv: bool = True) -> str:
    """What stands under a picture: the code that draws it, and its data."""
    data = f'<button type="button" data-csv="{ident}">Data as CSV</button>' if csv else ""
    return f'<div class="below">{data}<details><summary>Code</summary>{code_block(code)}</details></div>'


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


def variance_section(made: Material, recipes: Recipes) -> str:
    """What each component holds, with a cut that can be moved."""
    noun = "source explains" if made.kind == "ica" else "component holds"
    k = len(made.scree.shares)
    cut = (
        '<div class="controls"><label class="grow">Components kept '
        f'<input type="range" id="cut" min="0" max="{min(k, 200)}" value="{min(made.scree.chosen, 200)}" step="1">'
        '</label></div><p id="cut-words" aria-live="polite" class="result"></p>'
    )
    code = '<div class="code"><pre tabindex="0"><code id="cut-code"></code></pre></div>'
    hint = "Drag the dashed line, or move the slider with the arrow keys."
    return section(
        "variance",
        f"What each {noun}",
        plot("scree-plot", f"Share of the variance of each of {k} components, and of all up to it."),
        cut if made.kind != "ica" else "",
        code if made.kind != "ica" else "",
        paragraph(hint if made.kind != "ica" else "", "note"),
        rules(made),
        below("scree", recipes.scree),
    )


def rows_section(made: Material, data: dict[str, Any], recipes: Recipes) -> str:
    """The map of rows, with what can be chosen on it."""
    if "rows" not in data:
        words = (
            "The rows were not given to this page, so there is no map of them. "
            "In a shell, gramian report MODEL FILE shows one; in Python, model.report(path, X)."
        )
        return section("rows", "The map of rows", paragraph(words))
    if made.rows is None or made.rows.scores.shape[1] == 0:
        return ""
    total, shown = made.rows.n_rows, len(made.rows.positions)
    flagged = 0 if made.outliers is None else len(made.outliers.found.flagged)
    among = f"; the {min(KEPT_UNUSUAL, flagged):,} rows furthest out are all among them" if flagged else ""
    sample = f"{shown:,} of {total:,} rows, drawn at random{among}. " if made.rows.sampled else ""
    words = f"{sample}Each mark is a row. Draw around some of them with the lasso to see what makes them different."
    controls = "".join(
        f'<label>{name} <select id="rows-{ident}"></select></label>'
        for ident, name in (("x", "Across"), ("y", "Up"), ("color", "Color"))
    )
    search = '<label class="grow">Search <input type="search" id="rows-search" placeholder="name of a row"></label>'
    pick = '<label>Pick a group <select id="rows-group"></select></label>'
    live = "".join(f'<div id="{ident}" aria-live="polite"></div>' for ident in ("row-card", "selection"))
    side = f'<aside id="rows-side" tabindex="0" aria-label="What is picked">{live}</aside>'
    return section(
        "rows",
        "The map of rows",
        paragraph(words),
        f'<div class="controls">{controls}{search}{pick}</div>',
        f'<div class="map">{plot("rows-plot", _drawn(made.rows.scores.shape[1]))}{side}</div>',
        below("rows", recipes.scores),
    )


def _drawn(n_components: int) -> str:
    """What the map of rows shows, for those who hear it."""
    return f"Rows as points on {'one component, by their number' if n_components == 1 else 'two components'}."


def columns_section(data: dict[str, Any], recipes: Recipes) -> str:
    """The map of columns."""
    if "columns" not in data:
        return ""
    view = data["columns"]
    left = view["total"] - len(view["names"])
    note = f"{left:,} columns with shorter arrows are left out. " if left else ""
    circle = "A column at the circle is described whole by these two. " if view["correlations"] else ""
    words = f"{note}Positions are {view['scaling']}. {circle}Columns that point the same way rise together."
    controls = "".join(
        f'<label>{name} <select id="columns-{ident}"></select></label>'
        for ident, name in (("x", "Across"), ("y", "Up"))
    )
    return section(
        "columns",
        "The map of columns",
        paragraph(words),
        f'<div class="controls">{controls}</div>',
        plot("columns-plot", "Columns as arrows on two components."),
        '<p class="note" id="columns-note"></p>',
        below("columns", recipes.columns),
    )


def images_section(data: dict[str, Any], recipes: Recipes) -> str:
    """An image put together from more and more components."""
    if "images" not in data:
        return ""
    count = data["images"]["count"]
    controls = (
        '<div class="controls"><label>Image <select id="image-row"></select></label>'
        f'<label class="grow">Components <input type="range" id="image-count" min="0" max="{count}" '
        f'value="{min(15, count)}" step="1"></label></div>'
    )
    words = "An image is the mean, plus each component times one number. Move the slider to use more of them."
    return section(
        "images",
        "An image from a few numbers",
        paragraph(words),
        controls,
        '<div class="rebuilding"><figure><canvas id="image-rebuilt"></canvas></figure>'
        '<div><p id="image-words" aria-live="polite" class="result"></p><div class="strip" id="image-strip"></div>'
        '<p class="note">The numbers are those of components used.</p></div></div>',
        below("images", recipes.images),
    )


def surfaces_section(data: dict[str, Any], recipes: Recipes) -> str:
    """The components of a kernel over the plane."""
    if "surfaces" not in data:
        return ""
    across, up = data["surfaces"]["names"]
    words = (
        "The score that every point of the plane would get: along a line, the component does not change. "
        f"Across is {across}, up is {up}; the dots are rows."
    )
    return section(
        "surfaces",
        "The components as functions over the plane",
        paragraph(words),
        plot("surfaces-plot", "Contours of the first components over the plane of the two columns."),
        below("surfaces", recipes.surfaces),
    )


def preimages_section(data: dict[str, Any], recipes: Recipes) -> str:
    """What the components of a kernel mean in the columns, where there is no plane to draw them over."""
    if "preimages" not in data:
        return ""
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
    choice = '<div class="controls"><label>Row <select id="preimage-row"></select></label></div>'
    return section(
        "preimages",
        "What changes along each component",
        paragraph(walk),
        '<div class="cards" id="profiles"></div>',
        below("profiles", recipes.profiles),
    ) + section(
        "rebuilt",
        "Rows from their scores",
        paragraph(rows),
        choice,
        '<div class="strip" id="preimage-rows"></div>',
        below("preimages", recipes.preimages),
    )


def traces_section(data: dict[str, Any], recipes: Recipes) -> str:
    """Sources over time, each to be kept or dropped."""
    if "traces" not in data:
        return ""
    words = (
        "Each source over time, its spectrum, and how far from a Gaussian it is. Untick those that are not wanted: "
        "the code below takes them out of the rows."
    )
    left = data["traces"]["total"] - len(data["traces"]["names"])
    return section(
        "traces",
        "The sources",
        paragraph(words),
        '<div id="sources"></div>',
        paragraph(f"{left} more sources are not shown." if left else "", "note"),
        '<p class="result" id="drop-words" aria-live="polite"></p>',
        '<div class="code"><button type="button" class="copy">Copy</button>'
        '<pre tabindex="0"><code id="drop-code"></code></pre></div>',
        below("traces", recipes.traces),
    )


def outliers_section(made: Material, data: dict[str, Any], recipes: Recipes) -> str:
    """Rows by both distances, and those beyond a limit."""
    if "outliers" not in data or made.outliers is None:
        return ""
    found = made.outliers.found
    one = found.n_components == 1
    upwards = f"upwards, rows far off {'it' if one else 'them'} (squared prediction error, SPE)"
    if data["outliers"]["spe"] is None:
        upwards = "upwards, the number of the row, as every direction is kept and no row is off them"
    words = (
        f"To the right, rows far out within the {found.n_components} {'component' if one else 'components'} "
        f"(Hotelling's T²); {upwards}. Dashed: what {found.level:.0%} of Gaussian rows stay under."
    )
    return section(
        "outliers",
        "Rows worth a look",
        paragraph(words),
        plot("outliers-plot", f"Distances of each row; {_flagged(len(found.flagged))} beyond a limit."),
        unusual_rows(made),
        below("outliers", recipes.outliers),
    )


def _flagged(count: int) -> str:
    return f"{count:,} {'row lies' if count == 1 else 'rows lie'}"


def cards(made: Material, code: str, *, images: bool) -> str:
    """One card per component: what it is made of, who lies at its ends, which label it follows."""
    if made.model.loadings is None:
        return ""
    shown = min(len(made.components), 10, max(made.scree.chosen + 1, 3))
    noun = "source" if made.kind == "ica" else "component"
    left = len(made.components) - shown
    more = f"{left} more {noun if left == 1 else noun + 's'} not shown here." if left else ""
    inner = "".join(_card(made, j, images=images) for j in range(shown))
    title = "What each source is made of" if made.kind == "ica" else "What each component is made of"
    kind = "cards images" if images else "cards"
    data = below("weights", code, csv=made.telling or images)
    return section("cards", title, f'<div class="{kind}">{inner}</div>', paragraph(more, "note more"), data)


def _card(made: Material, component: int, *, images: bool) -> str:
    name, share = made.components[component], float(made.scree.shares[component])
    columns = leading_columns(made.model, component, count=6, names=made.names)
    largest = max((abs(column.weight) for column in columns), default=0.0) or 1.0
    bars = "".join(_bar(column.name, column.weight, abs(column.weight) / largest) for column in columns)
    image = f'<canvas class="eigenimage" data-component="{component}"></canvas>' if images else f"<ul>{bars}</ul>"
    words = special_meaning(made, component) if made.telling and made.kind == "pca" else ""
    said = (words, _ends(made, component), _label_notes(made, component))
    notes = "".join(paragraph(text, "note") for text in said)
    head = f"<h3>{escape(name)} <span>{share:.1%}</span></h3>"
    return f'<article class="card" data-component="{component}">{head}{image}{notes}</article>'


def _bar(name: str, weight: float, width: float) -> str:
    side = "rising" if weight >= 0 else "falling"
    return (
        f'<li><span class="name" title="{escape(name, quote=True)}">{escape(name)}</span>'
        f'<span class="bar {side}" style="--w:{100 * width:.1f}%"></span><span class="value">{weight:+.2f}</span></li>'
    )


def _ends(made: Material, component: int) -> str:
    """Who lies furthest along a component, where rows have names."""
    if made.scores is None or made.row_names is None or made.kind == "ica":
        return ""
    order = np.argsort(made.scores[:, component], kind="stable")
    high, low = (", ".join(made.row_name(int(i)) for i in end) for end in (order[::-1][:3], order[:3]))
    return f"Highest: {high}. Lowest: {low}."


def _label_notes(made: Material, component: int) -> str:
    """Which labels this component accounts for, in percent."""
    parts = []
    for name in list(made.labels)[:3]:
        shares = label_shares(made, name, range(component, component + 1))
        if shares and shares[0] >= 0.1:
            parts.append(f"{shares[0]:.0%} of its spread goes with {name}")
    return f"{'; '.join(parts)}." if parts else ""


def unusual_rows(made: Material) -> str:
    """The table of rows beyond a limit, with the columns to blame."""
    if made.outliers is None:
        return ""
    rows = (
        (
            made.row_name(row.row),
            f"{row.t2:.3g}",
            f"{row.spe:.3g}",
            row.beyond,
            "; ".join(f"{b.name} = {b.value:.4g} ({b.deviations:+.1f} sd, {b.share:.0%})" for b in row.blame),
        )
        for row in made.outliers.unusual
    )
    head = ("row", "T²", "SPE", "unusual", "columns to blame: value (deviations from the mean, part of the distance)")
    if not made.outliers.unusual:
        return ""
    # Columns without names, pixels mostly, are nothing that a reader could blame.
    if made.telling:
        return table(head, rows, numeric=(1, 2))
    return f'<div class="few">{table(head[:4], (row[:4] for row in rows), (1, 2))}</div>'


def rules(made: Material) -> str:
    """How many components each rule would keep, and why."""
    if made.choice is None:
        return ""
    said = [(v.rule, str(v.n_components), v.reason) for v in made.choice.verdicts]
    said += [(rule, "-", why) for rule, why in made.choice.refusals]
    inner = table(("rule", "keeps", "because"), said, numeric=(1,))
    return f"<details><summary>What each rule says. {escape(made.choice.agreement)}</summary>{inner}</details>"


def how_computed(made: Material, facts: Mapping[str, str]) -> str:
    """Plan, certificate, versions, seed, time, memory."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in facts.items())
    proof = ""
    if made.model.certificate is not None:
        view = certificate_table(made.model, count=20)
        whole = certificate_table(made.model)
        alone = "This is about arithmetic alone: how much other rows would change the numbers is another question."
        words = f"{certificate_words(whole)} {alone}"
        inner = table(view.header, view.rows, numeric=(1, 2, 3, 4))
        listed, held = len(view.rows), len(whole.rows)
        part = f": the first {listed} of {held} components" if listed < held else ""
        proof = f"{paragraph(words)}<details><summary>The certificate{part}</summary>{inner}</details>"
    return f'<dl class="facts">{items}</dl>{proof}'


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
        "versions": ", ".join(f"{name} {_version(name)}" for name in ("gramian", "numpy", "scipy", "plotly")),
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


def reproduction(command: str, code: str) -> str:
    """What reproduces the page: in a shell, and in Python."""
    shell = f"<h3>In a shell</h3>{code_block(command)}<h3>In Python</h3>" if command else ""
    return section("code", "Code that reproduces it", shell, code_block(code))
