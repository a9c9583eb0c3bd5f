"""Ratings with question marks, each filled in with its error: `python examples/ratings.py [folder for the picture]`.

Four people have rated six films, seven ratings are missing. A value is filled with what is expected there, given all
that is known; its standard error says how much that is worth. `gramian demo ratings` goes on to 900 people.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from gramian import ProbabilisticPCA
from gramian.cli.demo import QUESTION_MARKS
from gramian.pictures.drawing import COLORS

people, *films = QUESTION_MARKS.values()
X = np.array([[np.nan if cell == "?" else float(cell) for cell in film] for film in films]).T
model = ProbabilisticPCA(bounds=(1, 5), tol=1e-6).fit(X)
filled, error = model.impute(X, return_std=True)
missing = np.isnan(X)
print(f"{missing.sum()} of {X.size} ratings are missing; {model.n_components_} component fills them")
print(f"their standard errors are {error[missing].min():.1f} to {error[missing].max():.1f} stars")

ax = Figure(figsize=(7.0, 2.9), layout="constrained").subplots()
for i, j in np.ndindex(X.shape):
    if missing[i, j]:
        # A pale cell is a value of which little is known.
        ax.fill_between([j - 0.5, j + 0.5], i - 0.5, i + 0.5, color=COLORS[1], alpha=0.5 / (1 + 2 * error[i, j]), lw=0)
        ax.text(
            j, i, f"{filled[i, j]:.1f} ± {error[i, j]:.1f}", ha="center", va="center", color=COLORS[1], weight="bold"
        )
    else:
        ax.text(j, i, f"{X[i, j]:.0f}", ha="center", va="center")
ax.set(xlim=(-0.5, 5.5), ylim=(3.5, -0.5), yticks=range(4), yticklabels=people)
ax.set_xticks(range(6), list(QUESTION_MARKS)[1:])
ax.xaxis.tick_top()
ax.tick_params(length=0)
for side in ax.spines.values():
    side.set_visible(False)
folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
folder.mkdir(parents=True, exist_ok=True)
ax.figure.savefig(folder / "ratings.png", dpi=110)
