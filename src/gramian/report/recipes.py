"""Code that a page shows: under each picture what draws it, and at the end what reproduces it all."""

from dataclasses import dataclass

from gramian.report.material import Material


@dataclass(frozen=True, slots=True)
class Recipes:
    """Python for each picture, after the lines that fit the model.

    Attributes
    ----------
    fit, reproduce, scree, scores, columns, outliers, images, surfaces, traces : str
    """

    fit: str
    reproduce: str
    scree: str
    scores: str
    columns: str
    outliers: str
    images: str
    surfaces: str
    traces: str


def recipes_of(made: Material, code: str) -> Recipes:
    """Return the code of every picture of a page."""
    fit = fit_code(made)

    def then(line: str) -> str:
        return f"{fit}\n{line}"

    choice = ", choice=how_many(X, scale=True)" if made.scaled and made.choice is not None else ""
    label = f", color=labels[{made.color!r}]" if made.color is not None else ""
    return Recipes(
        fit=fit,
        reproduce=code or fit,
        scree=(f"from gramian import how_many\n{fit}" if choice else fit) + f"\nplot.scree(model{choice})",
        scores=then(f"plot.scores(model, X{label})"),
        columns=then("plot.correlation_circle(model, names=names)"),
        outliers=then("plot.outliers(model, X)\nmodel.outliers(X).flagged"),
        images=then("plot.reconstructions(model, X[0], image_shape)"),
        surfaces=then("plot.eigenfunctions(model)"),
        traces=then("plot.sources(model, X)"),
    )


def fit_code(made: Material) -> str:
    """Return the lines that fit this model again."""
    k, options = made.scree.chosen, made.model.options
    if made.kind == "ica":
        words = f"n_components={len(made.components)}, random_state={options.seed}"
        words += f", runs={options.runs}" if options.runs > 1 else ""
        return f"from gramian import ICA, plot\nmodel = ICA({words}).fit(X)"
    if made.kind == "kernel":
        words = f"{k}, kernel=kernels.{made.model.kernel!r}"
        return f"from gramian import KernelPCA, kernels, plot\nmodel = KernelPCA({words}).fit(X)"
    words = f"n_components={k}"
    words += ", scale=True" if made.scaled else ""
    words += "" if options.center else ", center=False"
    return f"from gramian import PCA, plot\nmodel = PCA({words}).fit(X)"
