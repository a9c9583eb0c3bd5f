"""PCA of 178 Italian wines as a page to look at: `make demo`.

The walk of the whole library in one file: rows -> model -> views (numbers) -> plots (pictures) -> page.
Writes `out/wine.html`, or the file named as the first argument.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_wine

from gramian import __version__
from gramian.choosing import Panel, panel
from gramian.models.pca import PCAModel, PCAOptions, fit_pca
from gramian.plots import blank_axes, plot_loadings, plot_scores, plot_scree, to_svg
from gramian.report import (
    Page,
    Section,
    Table,
    certificate_words,
    component_words,
    fit_words,
    separation_words,
    write_page,
)
from gramian.sources.opening import as_source
from gramian.views import (
    between_share,
    certificate_table,
    component_label,
    leading_columns,
    scores_map,
    scree_of,
)

SHORT_NAMES = {"od280/od315_of_diluted_wines": "OD280/OD315"}


@dataclass(frozen=True)
class Fitted:
    """A fitted table with its names, its groups, and what each rule says about the number of components."""

    model: PCAModel
    scores: np.ndarray
    names: list[str]
    groups: np.ndarray
    rules: Panel

    @property
    def chosen(self) -> int:
        """The automatic choice."""
        return self.rules.n_components


def fit_wine() -> Fitted:
    """Fit all components of the table that comes with scikit-learn, each column scaled to unit variance."""
    wine = load_wine()
    source = as_source(wine.data)
    model = fit_pca(source, PCAOptions(scale=True))
    rules = panel(
        model.variances,
        source,
        n_rows=model.n_rows,
        n_columns=model.n_columns,
        total_variance=model.total_variance,
        components=model.components,
        mean=model.mean,
        factor=model.factor,
    )
    names = [SHORT_NAMES.get(name, name.replace("_", " ")) for name in wine.feature_names]
    groups = np.array([f"cultivar {label + 1}" for label in wine.target])
    return Fitted(model, model.project(wine.data), names, groups, rules)


def opening(fitted: Fitted) -> tuple[str, ...]:
    """What was found, in a paragraph or two."""
    model = fitted.model
    scree = scree_of(model, chosen=fitted.chosen)
    apart = [between_share(fitted.scores[:, j], fitted.groups) for j in range(2)]
    parts = [
        component_words(
            j,
            scree.shares[j],
            leading_columns(model, j, names=fitted.names, count=6),
            n_columns=model.n_columns,
        )
        for j in range(2)
    ]
    size = fit_words(scree, n_rows=model.n_rows, n_columns=model.n_columns, scaled=True)
    return f"{size} {separation_words(apart, grouping='cultivar')}", " ".join(parts)


def scores_section(fitted: Fitted) -> Section:
    """Where the rows fall."""
    view = scores_map(fitted.model, fitted.scores, labels=fitted.groups)
    picture = to_svg(
        plot_scores(view, ax=blank_axes(5.0, 3.9)),
        description="Wines on their first two components, by cultivar: three groups lie apart.",
    )
    caption = "Each mark is a wine. Equal distances on the map are equal distances in these two components."
    return Section("Where the wines fall", figure=picture, caption=caption)


def scree_section(fitted: Fitted) -> Section:
    """What each component holds."""
    view = scree_of(fitted.model, chosen=fitted.chosen)
    picture = to_svg(
        plot_scree(view, ax=blank_axes(5.0, 3.9)),
        description=f"Share of the variance by component; the first {view.chosen} hold {view.kept:.0%}.",
    )
    caption = "Bars: the share of each component. Line: the share of all up to it. Dashed: where the cut falls."
    return Section("What each component holds", figure=picture, caption=caption)


def loadings_section(fitted: Fitted, component: int) -> Section:
    """What a component is made of."""
    label = component_label(component, float(fitted.model.shares[component]))
    columns = leading_columns(fitted.model, component, names=fitted.names, count=8)
    picture = to_svg(
        plot_loadings(columns, ax=blank_axes(5.0, 2.9)),
        description=f"Weights in {label}: " + ", ".join(f"{c.name} {c.weight:+.2f}" for c in columns),
    )
    return Section(f"What {label} is made of", figure=picture)


def rules_section(fitted: Fitted) -> Section:
    """How many components each rule would keep."""
    rows = tuple((v.rule, str(v.n_components), v.reason) for v in fitted.rules.verdicts)
    table = Table(("rule", "k", "because"), rows, numeric=frozenset({1}))
    words = (
        f"Each rule asks its own question and names a number k. This page keeps {fitted.chosen}, as 'auto' says. "
        f"{fitted.rules.agreement}"
    )
    return Section("How many components", (words,), table=table, wide=True)


def certificate_section(fitted: Fitted) -> Section:
    """How far the numbers can be from the truth."""
    view = certificate_table(fitted.model)
    table = Table(view.header, view.rows, numeric=frozenset({1, 2, 3, 4}), cut=fitted.chosen)
    words = (
        f"{certificate_words(view)} This is about arithmetic alone: how much other wines would change the "
        "numbers is another question."
    )
    caption = (
        "A true variance differs from the one shown by at most 'variance within'; the sine of the angle "
        "between a component and the true one is at most 'angle within'. "
        "Dimmed: components that are not kept."
    )
    return Section("How sure this is", (words,), table=table, caption=caption, wide=True)


def plan_section(fitted: Fitted) -> Section:
    """What was done, and why."""
    lines = tuple(f"{line[0].upper()}{line[1:]}." for line in str(fitted.model.plan).splitlines() if line)
    return Section("What was done", lines, wide=True)


def main(target: Path) -> None:
    """Fit, draw, write, and say where."""
    fitted = fit_wine()
    words = opening(fitted)
    model = fitted.model
    page = Page(
        title="What tells 178 wines apart",
        lead=words,
        facts=(
            (f"{model.n_rows:,} x {model.n_columns}", "wines x measurements"),
            (str(fitted.chosen), "components kept"),
            (f"{scree_of(model, chosen=fitted.chosen).kept:.0%}", "of the variance in them"),
            (certificate_table(model).value_bound, "largest possible arithmetic error of a variance"),
        ),
        sections=(
            scores_section(fitted),
            scree_section(fitted),
            loadings_section(fitted, 0),
            loadings_section(fitted, 1),
            rules_section(fitted),
            certificate_section(fitted),
            plan_section(fitted),
        ),
        footer=f"Made by Gramian {__version__} from the wine table that comes with scikit-learn.",
    )
    print(words[0])
    print(f"The page: {write_page(page, target).resolve()}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/wine.html"))
