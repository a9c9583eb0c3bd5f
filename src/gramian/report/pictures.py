"""The pictures of a page: where each is drawn, what is said about it, and what a reader can do with it."""

from statistics import median
from typing import Any

from gramian.report import sections as parts
from gramian.report.material import KEPT_UNUSUAL, Material
from gramian.report.recipes import Recipes


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


def rows_section(made: Material, data: dict[str, Any], recipes: Recipes) -> str:
    """The map of rows, with what can be chosen on it."""
    if "rows" not in data:
        words = (
            "The rows were not given to this page, so there is no map of them. "
            "In a shell, gramian report MODEL FILE shows one; in Python, model.report(path, X)."
        )
        return parts.section("rows", "The map of rows", parts.paragraph(words))
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
    return parts.section(
        "rows",
        "The map of rows",
        parts.paragraph(words),
        f'<div class="controls">{controls}{search}{pick}</div>',
        f'<div class="map">{parts.plot("rows-plot", _drawn(made.rows.scores.shape[1]))}{side}</div>',
        parts.below("rows", recipes.scores),
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
    return parts.section(
        "columns",
        "The map of columns",
        parts.paragraph(words),
        f'<div class="controls">{controls}</div>',
        parts.plot("columns-plot", "Columns as arrows on two components."),
        '<p class="note" id="columns-note"></p>',
        parts.below("columns", recipes.columns),
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
    return parts.section(
        "images",
        "An image from a few numbers",
        parts.paragraph(words),
        controls,
        '<div class="rebuilding"><figure><canvas id="image-rebuilt"></canvas></figure>'
        '<div><p id="image-words" aria-live="polite" class="result"></p><div class="strip" id="image-strip"></div>'
        '<p class="note">The numbers are those of components used.</p></div></div>',
        parts.below("images", recipes.images),
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
    return parts.section(
        "surfaces",
        "The components as functions over the plane",
        parts.paragraph(words),
        parts.plot("surfaces-plot", "Contours of the first components over the plane of the two columns."),
        parts.below("surfaces", recipes.surfaces),
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
    return parts.section(
        "preimages",
        "What changes along each component",
        parts.paragraph(walk),
        '<div class="cards" id="profiles"></div>',
        parts.below("profiles", recipes.profiles),
    ) + parts.section(
        "rebuilt",
        "Rows from their scores",
        parts.paragraph(rows),
        choice,
        '<div class="strip" id="preimage-rows"></div>',
        parts.below("preimages", recipes.preimages),
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
    return parts.section(
        "outliers",
        "Rows worth a look",
        parts.paragraph(words),
        parts.plot("outliers-plot", f"Distances of each row; {_flagged(len(found.flagged))} beyond a limit."),
        parts.unusual_rows(made),
        parts.below("outliers", recipes.outliers),
    )


def _flagged(count: int) -> str:
    return f"{count:,} {'row lies' if count == 1 else 'rows lie'}"
