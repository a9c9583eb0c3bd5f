"""What a kernel does, in three pictures: `python examples/kernel_pictures.py docs/images`.

The components of a Gaussian kernel as functions over the plane; a circle and two rings made linear; and the width of
the kernel chosen without labels.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from gramian import KernelPCA, PolynomialMap, choose_gamma, plot
from gramian.pictures import COLORS, MARKERS
from gramian.pictures.drawing import plain_frame

Rows = Any
INK, FAINT, LINE = "#1d2733", "#5b6570", "#8C939C"


def clusters(rng: np.random.Generator) -> Rows:
    """Three clouds of thirty points, as in the lecture."""
    centers = np.array([[-0.5, -0.2], [0.0, 0.6], [0.5, 0.0]])
    return np.concatenate([center + 0.1 * rng.standard_normal((30, 2)) for center in centers])


def ring(rng: np.random.Generator, radius: float, n: int, spread: float) -> Rows:
    """Points about a circle."""
    t = rng.uniform(0.0, 2 * np.pi, n)
    r = radius + spread * rng.standard_normal(n)
    return np.column_stack([r * np.cos(t), r * np.sin(t)])


def draw_eigenfunctions(X: Rows) -> Figure:
    """The first eight components of a Gaussian kernel: the score of every point of the plane."""
    kpca = KernelPCA(8, kernel="rbf", gamma=10.0).fit(X)
    x, y = np.linspace(-1.0, 1.0, 120), np.linspace(-0.7, 1.1, 108)
    plane = np.stack(np.meshgrid(x, y), axis=-1)
    values = kpca.transform(plane.reshape(-1, 2)).reshape(len(y), len(x), 8)
    figure = Figure(figsize=(9.6, 5.0), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.06)
    for j, ax in enumerate(figure.subplots(2, 4, sharex=True, sharey=True).flat):
        draw_function(ax, (x, y, values[:, :, j]), X)
        share = kpca.explained_variance_ratio_[j]
        ax.set_title(f"component {j + 1} ({share:.0%})", fontsize=10, color=INK, loc="left")
    return figure


def draw_function(ax: Axes, surface: tuple[Rows, Rows, Rows], X: Rows) -> None:
    """One component: bands of equal score, zero drawn darker, and the points it was learned from."""
    x, y, values = surface
    top = float(np.abs(values).max())
    ax.contourf(x, y, values, levels=np.linspace(-top, top, 16), cmap="PuOr", vmin=-1.25 * top, vmax=1.25 * top)
    ax.contour(x, y, values, levels=np.linspace(-top, top, 16), colors="white", linewidths=0.4)
    ax.contour(x, y, values, levels=[0.0], colors=FAINT, linewidths=0.9)
    ax.scatter(*X.T, s=5, color=INK, linewidths=0, zorder=3)
    ax.set_aspect("equal")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def draw_made_linear(circle: Rows, rings: list[Rows]) -> Figure:
    """Two curves that no line describes, each beside the features in which one does."""
    figure = Figure(figsize=(9.6, 5.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.1)
    (one, two), (three, four) = figure.subplots(2, 2, width_ratios=[1, 1.5])
    draw_plane(one, [circle], "a circle in the plane")
    draw_squares(two, circle)
    draw_plane(three, rings, "two rings in the plane")
    draw_components(four, rings)
    return figure


def draw_plane(ax: Axes, groups: list[Rows], title: str) -> None:
    """Points where they are."""
    draw_groups(ax, groups)
    ax.set_aspect("equal")
    ax.set(xlabel="$x_1$", ylabel="$x_2$")
    finish(ax, title)


def draw_squares(ax: Axes, circle: Rows) -> None:
    """The circle's two squared coordinates, from the features of the polynomial kernel."""
    phi = PolynomialMap(2).fit(circle)
    names = list(phi.get_feature_names_out())
    squares = phi.transform(circle)[:, [names.index("x0^2"), names.index("x1^2")]]
    draw_groups(ax, [squares])
    ax.set(xlabel="$x_1^2$", ylabel="$x_2^2$")
    share = KernelPCA(2).fit(squares).explained_variance_ratio_[0]
    finish(ax, f"its squares, features of the kernel $(1 + x \\cdot y)^2$: a line ({share:.0%})")


def draw_components(ax: Axes, rings: list[Rows]) -> None:
    """The rings on two components of a Gaussian kernel, with a line between them."""
    kpca = KernelPCA(2, kernel="rbf", gamma=2.0).fit(np.concatenate(rings))
    scores = [kpca.transform(group) for group in rings]
    draw_groups(ax, scores)
    first = sorted((group[:, 0].min(), group[:, 0].max()) for group in scores)
    between = (first[0][1] + first[1][0]) / 2
    ax.axvline(between, color=LINE, linestyle=(0, (4, 3)), linewidth=1.0)
    ax.set(xlabel="component 1", ylabel="component 2")
    finish(ax, "the same on two components of a Gaussian kernel: one line parts them")
    print(f"Gap between the rings on the first component: {first[1][0] - first[0][1]:.2f}")


def draw_groups(ax: Axes, groups: list[Rows]) -> None:
    """Each group in its own color and shape."""
    for group, color, marker in zip(groups, COLORS, MARKERS, strict=False):
        ax.scatter(*group.T, s=14, color=color, marker=marker, alpha=0.7, linewidths=0)


def finish(ax: Axes, title: str) -> None:
    """A title in words, and a plain frame."""
    ax.set_title(title, fontsize=10, color=INK, loc="left")
    plain_frame(ax)


def draw_choice(rings: list[Rows]) -> Figure:
    """How wide the kernel should be for the rings."""
    choice = choose_gamma(np.concatenate(rings), n_components=6)
    print(choice)
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    plot.gamma(choice, ax=figure.subplots())
    return figure


def main(folder: Path) -> None:
    """Draw all pictures."""
    rng = np.random.default_rng(0)
    rings = [ring(rng, 1.0, 200, 0.04), ring(rng, 0.3, 200, 0.04)]
    pictures = {
        "eigenfunctions": draw_eigenfunctions(clusters(rng)),
        "made_linear": draw_made_linear(ring(rng, 10.0, 120, 0.0), rings),
        "gamma": draw_choice(rings),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, figure in pictures.items():
        figure.savefig(folder / f"kernel_{name}.png", dpi=110)
        print(f"Wrote {folder / f'kernel_{name}.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
