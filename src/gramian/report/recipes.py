"""Code that a page shows: under each picture what draws it, and at the end what reproduces it all.

All of it runs. Where the caller says how the table was opened, it runs as it stands; otherwise `X` (and `names`,
`labels`) are what the reader handed over.
"""

from dataclasses import dataclass
from typing import Any

from gramian.analysis.table import Prepared, ReadOptions, exactly
from gramian.models.ica.model import ica_code
from gramian.models.kernel_pca.model import kernel_code
from gramian.pictures.fitted import KINDS
from gramian.report.material import Material

CODE_WIDTH = 88
"""Columns of code, where a list of names is broken."""


@dataclass(frozen=True, slots=True)
class Recipes:
    """Python for each picture, after the lines that open the table and fit the model.

    Attributes
    ----------
    reproduce, scree, scores, columns, weights, outliers, images, surfaces, profiles, preimages, traces : str
    groups, time : str
    """

    reproduce: str
    scree: str
    scores: str
    columns: str
    weights: str
    outliers: str
    images: str
    surfaces: str
    profiles: str
    preimages: str
    traces: str
    groups: str
    time: str


def recipes_of(made: Material, code: str, opening: str = "", sampling_rate: float | None = None) -> Recipes:
    """Return the code of every picture of a page.

    Parameters
    ----------
    made : Material
    code : str
        What reproduces it all; the fit alone unless given.
    opening : str
        Lines that define `X`, `names` and `labels`.
    sampling_rate : float, optional
    """
    fit = fit_code(made, opening)
    pair = fit_code(made, opening, least=min(2, len(made.components)))

    def then(*lines: str) -> str:
        return "\n".join((fit, *lines))

    def on_two(picture: str, *words: str) -> str:
        # A map has two axes, also where one component is kept.
        return f"{pair}\nplot.{picture}({', '.join(('model', *words))})"

    label = (f"color=labels[{made.color!r}]",) if made.color is not None else ()
    names = ("names=names",) if made.named else ()
    rate = "" if sampling_rate is None else f", sampling_rate={sampling_rate!r}"
    rows = () if made.kind != "pca" or made.scaled else ("X=X",)
    weights = then(f"plot.loadings({', '.join(('model', 'component=0', *names))})")
    columns = weights if len(made.components) == 1 else on_two("correlation_circle", *rows, *names)
    if made.coding is not None:
        weights = columns = _coordinates(opening)
    return Recipes(
        reproduce=code or fit,
        scree=then(*_panel(made)),
        scores=then(*_strip()) if len(made.components) == 1 else on_two("scores", "X", *label),
        columns=columns,
        weights=weights,
        outliers=then("plot.outliers(model, X)", "print(model.outliers(X).flagged)"),
        images=then(f"plot.reconstructions(model, X[0], {made.image_shape})"),
        surfaces=then("plot.eigenfunctions(model)"),
        profiles=then("from gramian.pictures import kernel_profiles", "print(kernel_profiles(model, X).profiles)"),
        preimages=then("from gramian.pictures import kernel_profiles", "print(kernel_profiles(model, X).rebuilt)"),
        traces=then(f"plot.sources(model, X{rate})"),
        groups=then(
            "from gramian.analysis.groups import eta_squared, groups_by_label, label_values",
            "known = {name: label_values(values) for name, values in labels.items()}",
            "for name, groups in groups_by_label(known).items():",
            "    print(name, eta_squared(model.transform(X), groups))",
        ),
        time=then("import matplotlib.pyplot as plt", "plt.plot(model.transform(X))  # rows in the order of time"),
    )


def _coordinates(opening: str) -> str:
    """Return the lines that show where quantities and levels stand on the components."""
    lines = (opening, "model = found.shown") if opening else ("# model: what was fitted",)
    return "\n".join((*lines, "for place in zip(model.column_names, model.column_coordinates):", "    print(*place)"))


def _strip() -> tuple[str, ...]:
    """Return the lines that draw one component against the number of the row."""
    return (
        "import matplotlib.pyplot as plt",
        "scores = model.transform(X)[:, 0]",
        "plt.scatter(scores, range(1, len(scores) + 1))",
    )


def fit_code(made: Material, opening: str = "", *, least: int = 0) -> str:
    """Return the lines that fit this model again, with some number of components at least."""
    more = ", kernels" if made.kind == "kernel" else ""
    first = f"from gramian import {type_of(made)}{more}, plot"
    return "\n".join(filter(None, (first, opening, fit_line(made, max(made.scree.chosen, least)))))


def cut_code(made: Material) -> str:
    """Return the line that fits with as many components as stand where it says ``{}``."""
    return fit_line(made, "{}")


def type_of(made: Material) -> str:
    """What the estimator is called."""
    if made.kind == "ica":
        return "FastICA" if made.model.options.name == "FastICA" else "ICA"
    return KINDS[made.kind]


def fit_line(made: Material, count: Any) -> str:
    """Return the line that fits this model with some number of components."""
    options = made.model.options
    if made.kind == "ica":
        return ica_code(made.model, type_of(made))
    if made.kind == "kernel":
        words = f"n_components={count}, kernel={kernel_code(made.model.kernel)}"
        words += "" if options.landmarks is None else f", landmarks={options.landmarks}, random_state={options.seed}"
    else:
        words = f"n_components={count}"
        words += ", scale=True" if made.scaled else ""
        words += "" if options.center else ", center=False"
        words += ", ddof=0" if options.ddof == 0 else ""
    return f"model = {type_of(made)}({words}).fit(X)"


def _panel(made: Material) -> tuple[str, ...]:
    """Lines that draw the variance; with every rule asked again where the page asked them."""
    if made.choice is None or made.kind != "pca":
        return ("plot.scree(model)",)
    scale = ", scale=True" if made.scaled else ""
    return ("from gramian import how_many", f"plot.scree(model, choice=how_many(X{scale}))")


def opening_code(prepared: Prepared, *, path: str | None = None, array: bool = False) -> str:
    """Return lines that define `X` and `names`, and `labels` where there are some.

    Parameters
    ----------
    prepared : Prepared
    path : str, optional
        What a person calls the file, where that is not where it was read from; "-" for standard input.
    array : bool
        Whether `X` has to be an array, because a line takes one row of it.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> rows = as_source(np.eye(3))
    >>> prepared = Prepared(rows, ("a", "b", "c"), scale=False, notes=(), spread=np.ones(3), left_out=("d",))
    >>> print(opening_code(prepared, path="t.csv"))
    from gramian.sources import as_source
    <BLANKLINE>
    rows = as_source('t.csv', drop=['d'])
    X = rows
    names = [f"column {j + 1}" for j in range(rows.n_columns)]
    """
    path = path or prepared.path
    if path is None or prepared.method:
        return _table_code(prepared, path)
    filled = prepared.n_filled > 0
    lines = ["from gramian.models.probabilistic.filling import fill_missing"] if filled else []
    lines += ["from gramian.sources import as_source", "", _rows_code(path, prepared.options, prepared)]
    lines.append(_values_code(prepared, array=array))
    lines.append(f"names = {_names_code(prepared)}")
    lines += [f"labels = {{name: {_labels_code(prepared)} for name in rows.label_names}}"] * bool(prepared.labels)
    return "\n".join(lines)


def _table_code(prepared: Prepared, path: str | None = None) -> str:
    """Return the lines for rows as the analysis made them ready: coded ones, or those of a table in memory."""
    options = prepared.options
    words = {
        "method": prepared.method,
        "columns": list(options.columns),
        "drop": list(options.drop),
        "id": options.id,
        "color": options.color,
        "roles": dict(options.roles),
        "missing": "" if options.missing == "em" else options.missing,
        **({} if path is None else options.file._asdict()),
    }
    source = "table" if path is None else "'table.csv'" if path == "-" else repr(path)
    given = [source, *(f"{name}={_list_code(value)}" for name, value in words.items() if value)]
    note = "  # table: what was analyzed" if path is None else ""
    lines = ["import gramian", "", f"found = gramian.analyze({', '.join(given)}){note}"]
    lines += ["X = found.table.source", "names = found.table.names"]
    return "\n".join([*lines, *(["labels = found.labels"] if prepared.labels else [])])


def _rows_code(path: str, options: ReadOptions, prepared: Prepared) -> str:
    drop = [*options.drop, *map(exactly, prepared.left_out)]
    words: dict[str, Any] = {
        "columns": list(options.columns),
        "drop": drop,
        "label": options.color,
        "id": options.id,
        "roles": dict(options.roles),
        **options.file._asdict(),
        "bad_cells": "missing" if prepared.facts is not None and options.missing != "error" else "",
        "sentinels": prepared.facts is not None and options.missing == "error",
    }
    source = "'table.csv'" if path == "-" else repr(path)
    given = [source, *(f"{name}={_list_code(value)}" for name, value in words.items() if value)]
    note = "  # what came from standard input" if path == "-" else ""
    line = f"rows = as_source({', '.join(given)}){note}"
    return line if len(line) <= CODE_WIDTH else "rows = as_source(\n    " + ",\n    ".join(given) + f",\n){note}"


def _list_code(value: Any) -> str:
    """A value as Python; a list too long for a line, broken between its entries."""
    if isinstance(value, str) or len(repr(value)) < CODE_WIDTH - 16:
        return repr(value)
    lines = [""]
    for entry in map(repr, value):
        if len(lines[-1]) + len(entry) > CODE_WIDTH - 10:
            lines.append("")
        lines[-1] += f" {entry},"
    return "[\n       " + "\n       ".join(lines) + "\n    ]"


def _values_code(prepared: Prepared, *, array: bool) -> str:
    taken = "rows.map_rows(lambda block: block.rows)"
    if prepared.n_filled:
        return f"X = fill_missing({taken}{'' if prepared.filled_scaled else ', scale=False'}).rows"
    if prepared.row_numbers is not None:
        return f"X = {taken}\nwhole = (X == X).all(axis=1)  # rows without missing values\nX = X[whole]"
    return f"X = {taken}" if array else "X = rows"


def _names_code(prepared: Prepared) -> str:
    """Columns without names of their own are called by their place, as on the page."""
    if prepared.source.column_names is not None:
        return "rows.column_names"
    if prepared.facts is not None:
        return "[column.name for column in rows.facts.used]"
    return '[f"column {j + 1}" for j in range(rows.n_columns)]'


def _labels_code(prepared: Prepared) -> str:
    return "rows.labels(name)" if prepared.row_numbers is None else "rows.labels(name)[whole]"
