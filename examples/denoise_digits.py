"""Digits with noise, cleaned by linear and by kernel PCA: `python examples/denoise_digits.py out`.

The classical experiment of pre-images (Mika et al., 1998). Components are learned on clean digits; noisy ones are
projected on them and rebuilt. Numbers of components and the kernel's width are chosen on digits that are used for
nothing else, separately for each method, and errors are of others again. Uses the small digits of scikit-learn, or a
file given second, such as one of the USPS digits: `images` (n, height, width) from 0 to 255 and `labels`.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from gramian.kernels import Gaussian, facts_of
from gramian.models.kernel_pca.expansion import KernelExpansion, solve_densely
from gramian.models.kernel_pca.preimage import DistanceConstraints, FixedPoint, PreimageMethod, Ridge
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.pictures.drawing import COLORS, plain_frame
from gramian.sources.opening import as_source

Rows = Any
Rebuild = Callable[[Rows, int], Rows]
NOISE = 0.5
COMPONENTS = (4, 8, 16, 24, 32, 48, 64, 128, 256)
WIDTHS = (0.25, 0.5, 1.0)
INK, FAINT = "#1d2733", "#5b6570"
METHODS: dict[str, PreimageMethod] = {
    "distance constraints": DistanceConstraints(),
    "ridge": Ridge(0.1, Gaussian("median")),
    "fixed point": FixedPoint(tol=1e-4),
}


class Digits(NamedTuple):
    """Clean digits to learn from, and two sets to rebuild, with their noisy versions."""

    learned: Rows
    chosen_on: tuple[Rows, Rows]
    judged_on: tuple[Rows, Rows]
    labels: Rows
    side: int


class Curve(NamedTuple):
    """A way to clean, and its errors by number of components on the digits for choosing."""

    name: str
    components: list[int]
    errors: list[float]
    rebuild: Rebuild

    @property
    def best(self) -> int:
        """The number of components with the least error."""
        return self.components[int(np.argmin(self.errors))]


def load(file: str | None) -> Digits:
    """Read the digits, values from 0 to 1, split them at random and add noise."""
    if file:
        arrays = np.load(file)
        X, labels = arrays["images"].reshape(len(arrays["images"]), -1) / 255.0, arrays["labels"]
    else:
        X, labels = load_digits(return_X_y=True)
        X = X / 16.0
    rng = np.random.default_rng(0)
    order = rng.permutation(len(X))
    learned, chosen, judged = order[:1000], order[1000:1250], order[1250:1650]
    noisy = X + NOISE * rng.standard_normal(X.shape)
    side = round(np.sqrt(X.shape[1]))
    return Digits(X[learned], (X[chosen], noisy[chosen]), (X[judged], noisy[judged]), labels[judged], side)


def error(pair: tuple[Rows, Rows], rebuilt: Rows) -> float:
    """Mean squared error a pixel."""
    return float(np.mean((rebuilt - pair[0]) ** 2))


def clean_linearly(digits: Digits) -> Curve:
    """Project on principal components and back."""
    model = fit_pca(as_source(digits.learned), PCAOptions(n_components=min(COMPONENTS[-1], digits.side**2)))

    def rebuild(noisy: Rows, k: int) -> Rows:
        few = replace(model, components=model.components[:k])
        return few.reconstruct(few.project(noisy))

    return tried("linear PCA", digits, [k for k in COMPONENTS if k <= len(model.components)], rebuild)


def clean_by_kernel(digits: Digits) -> list[Curve]:
    """Project on kernel components of several widths, and find pre-images by each method at its best width."""
    middle = Gaussian("median").resolved(facts_of(digits.learned)).gamma
    fits = [solve_densely(digits.learned, Gaussian(width * middle), COMPONENTS[-1]) for width in WIDTHS]
    curves = []
    for name, method in METHODS.items():
        each = [tried(f"kernel PCA, {name}", digits, list(COMPONENTS), rebuilder(fit, method)) for fit in fits]
        curves.append(min(each, key=lambda curve: min(curve.errors)))
    return curves


def rebuilder(fit: KernelExpansion, method: PreimageMethod) -> Rebuild:
    """A function that cleans with the first k components of a fit."""

    def rebuild(noisy: Rows, k: int) -> Rows:
        few = replace(fit, coefficients=fit.coefficients[:, :k], scores=fit.scores[:, :k])
        return method.fit(few).rebuild(few.project(noisy)).rows

    return rebuild


def tried(name: str, digits: Digits, counts: list[int], rebuild: Rebuild) -> Curve:
    """Clean the digits for choosing with every number of components."""
    errors = [error(digits.chosen_on, rebuild(digits.chosen_on[1], k)) for k in counts]
    return Curve(name, counts, errors, rebuild)


def draw(digits: Digits, curves: list[Curve], cleaned: list[Rows]) -> Figure:
    """Ten digits cleaned both ways, above the errors by number of components."""
    errors = [error(digits.judged_on, rows) for rows in cleaned]
    best = 1 + int(np.argmin([min(curve.errors) for curve in curves[1:]]))
    clean, noisy = digits.judged_on
    lines = [("original", "", clean), ("with noise", f"error {error(digits.judged_on, noisy):.3f}", noisy)]
    for i in (0, best):
        name, _, preimage = curves[i].name.partition(", ")
        lines.append((name, "\n".join([*([preimage] if preimage else []), f"error {errors[i]:.3f}"]), cleaned[i]))
    figure = Figure(figsize=(9.4, 6.2), layout="constrained")
    pictures, chart = figure.subplots(2, 1, height_ratios=[1, 0.9])
    draw_digits(pictures, digits, lines)
    draw_errors(chart, curves)
    return figure


def draw_digits(ax: Axes, digits: Digits, lines: list[tuple[str, str, Rows]]) -> None:
    """One digit of each class in a column: as it was, with noise, and cleaned."""
    columns = [int(np.flatnonzero(digits.labels == label)[0]) for label in range(10)]
    side, step = digits.side, digits.side + max(1, digits.side // 8)
    sheet = np.full((len(lines) * step, 10 * step), np.nan)
    for i, (name, number, rows) in enumerate(lines):
        for j, column in enumerate(columns):
            sheet[i * step : i * step + side, j * step : j * step + side] = rows[column].reshape(side, side)
        place = (-0.04 * step, i * step + side / 2)
        style = {"textcoords": "offset points", "ha": "right", "va": "center", "annotation_clip": False}
        more = 6 * number.count("\n")
        ax.annotate(name, place, (-8, 7 + more if number else 0), fontsize=11, color=INK, **style)
        ax.annotate(number, place, (-8, -8), fontsize=9, color=FAINT, **style)
    ax.imshow(sheet, cmap="gray_r", vmin=0, vmax=1, interpolation="nearest")
    ax.set_axis_off()


def draw_errors(ax: Axes, curves: list[Curve]) -> None:
    """Errors by number of components, each curve with its name and a mark where it is lowest."""
    top = 1.25 * max(curve.errors[0] for curve in curves)
    for curve, color in zip(curves, (INK, *COLORS), strict=False):
        seen = [i for i, value in enumerate(curve.errors) if value <= top]
        ax.plot(curve.components, curve.errors, color=color, linewidth=2)
        ax.plot(curve.best, min(curve.errors), "o", color=color, markersize=6.5)
        place = (curve.components[seen[-1]], curve.errors[seen[-1]])
        ax.annotate(curve.name, place, (8, 0), textcoords="offset points", color=color, va="center", fontsize=10)
    ax.set_xscale("log", base=2)
    ax.set_xticks(COMPONENTS[::2], [str(k) for k in COMPONENTS[::2]])
    ax.minorticks_off()
    # Room for the names beside the ends of the curves.
    ax.set_xlim(COMPONENTS[0] * 0.9, COMPONENTS[-1] * 8)
    ax.set_ylim(0.0, top)
    ax.set_xlabel("components kept", loc="left")
    ax.set_ylabel("mean squared error a pixel")
    title = (
        f"Error on the digits for choosing, noise of deviation {NOISE:g} on pixels from 0 to 1; dots: what was chosen"
    )
    ax.set_title(title, fontsize=10, color=FAINT, loc="left")
    plain_frame(ax)


def main(folder: Path, file: str | None) -> None:
    """Clean the digits, print the errors and draw them."""
    digits = load(file)
    curves = [clean_linearly(digits), *clean_by_kernel(digits)]
    cleaned = [curve.rebuild(digits.judged_on[1], curve.best) for curve in curves]
    print(f"{'with noise':34} {error(digits.judged_on, digits.judged_on[1]):.4f}")
    for curve, rows in zip(curves, cleaned, strict=True):
        print(f"{curve.name:34} {error(digits.judged_on, rows):.4f}  with {curve.best} components")
    folder.mkdir(parents=True, exist_ok=True)
    draw(digits, curves, cleaned).savefig(folder / "denoise_digits.png", dpi=110)
    print(f"Wrote {folder / 'denoise_digits.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"), sys.argv[2] if len(sys.argv) > 2 else None)
