"""Code that a page shows: under each picture what draws it, and at the end what reproduces it all.

All of it runs. Where the caller says how the table was opened, it runs as it stands; otherwise `X` (and `names`,
`labels`) are what the reader handed over.
"""

from dataclasses import dataclass
from typing import Any

from gramian.models.ica.model import ica_code
from gramian.models.kernel_pca.model import kernel_code
from gramian.pictures.fitted import KINDS
from gramian.report.material import Material


@dataclass(frozen=True, slots=True)
class Recipes:
    """Python for each picture, after the lines that open the table and fit the model.

    Attributes
    ----------
    reproduce, scree, scores, columns, weights, outliers, images, surfaces, profiles, preimages, traces : str
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
    return Recipes(
        reproduce=code or fit,
        scree=then(*_panel(made)),
        scores=then(*_strip()) if len(made.components) == 1 else on_two("scores", "X", *label),
        columns=on_two("correlation_circle", *rows, *names),
        weights=then(f"plot.loadings({', '.join(('model', 'component=0', *names))})"),
        outliers=then("plot.outliers(model, X)", "print(model.outliers(X).flagged)"),
        images=then(f"plot.reconstructions(model, X[0], {made.image_shape})"),
        surfaces=then("plot.eigenfunctions(model)"),
        profiles=then("from gramian.pictures import kernel_profiles", "print(kernel_profiles(model, X).profiles)"),
        preimages=then("from gramian.pictures import kernel_profiles", "print(kernel_profiles(model, X).rebuilt)"),
        traces=then(f"plot.sources(model, X{rate})"),
    )


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
    return f"model = {type_of(made)}({words}).fit(X)"


def _panel(made: Material) -> tuple[str, ...]:
    """Lines that draw the variance; with every rule asked again where the page asked them."""
    if made.choice is None or made.kind != "pca":
        return ("plot.scree(model)",)
    scale = ", scale=True" if made.scaled else ""
    return ("from gramian import how_many", f"plot.scree(model, choice=how_many(X{scale}))")
