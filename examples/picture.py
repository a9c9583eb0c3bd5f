"""The picture at the top of the documentation: `python examples/picture.py docs/images`.

Plots draw on any axes, so two of them share a figure like any others.
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure
from sklearn.datasets import load_wine

from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.pictures import plot_scores, plot_scree, scores_map, scree_of
from gramian.sources.opening import as_source


def main(folder: Path) -> None:
    """Draw the wines on their first two components beside the scree."""
    wine = load_wine()
    model = fit_pca(as_source(wine.data), PCAOptions(scale=True))
    cultivars = [f"cultivar {label + 1}" for label in wine.target]
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    plot_scores(scores_map(model, model.project(wine.data), labels=cultivars), ax=left)
    plot_scree(scree_of(model, chosen=3), ax=right)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "wine.png", dpi=110)
    print(f"Wrote {folder / 'wine.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
