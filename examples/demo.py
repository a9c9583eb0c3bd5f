"""PCA of 178 Italian wines as a page to look at: `make demo`.

The walk of the whole library in one file: rows -> model -> what every rule says -> page.
Writes `out/wine.html`, or the file named as the first argument.
"""

import sys
from pathlib import Path
from time import perf_counter

from sklearn.datasets import load_wine

from gramian import how_many
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.report import answer_words, write_report
from gramian.sources.opening import as_source

CODE = """from sklearn.datasets import load_wine
from gramian import PCA, how_many
X = load_wine().data
pca = PCA(scale=True).fit(X)
pca.report("wine.html", X, choice=how_many(X, scale=True))"""


def main(target: Path) -> None:
    """Fit, write the page, and say where it is."""
    wine = load_wine()
    names = [name.replace("_", " ").replace("of diluted wines", "").strip() for name in wine.feature_names]
    labels = {"cultivar": [f"cultivar {label + 1}" for label in wine.target]}
    begun = perf_counter()
    model = fit_pca(as_source(wine.data), PCAOptions(scale=True))
    rules = how_many(wine.data, scale=True)
    spent = perf_counter() - begun
    page = write_report(
        model,
        target,
        rows=wine.data,
        names=names,
        labels=labels,
        choice=rules,
        title="What tells 178 wines apart",
        facts=(
            "All 13 measurements were used; the cultivar is a label: it colors the rows and takes no part in the fit.",
            "Columns were scaled to unit variance, because their units differ: proline alone would decide otherwise.",
        ),
        code=CODE,
        made={
            "time": f"{spent:.2f} s for the fit and all rules",
            "data": "the wine table that comes with scikit-learn",
        },
    )
    print(answer_words(model, names=names, choice=rules)[0])
    print(f"The page: {page.resolve()}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out/wine.html"))
