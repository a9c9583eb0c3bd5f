"""How soon the power method knows the first eigenvalue: `python examples/power_method.py docs/images`.

From 200 random starts on each of five spectra, tied and clustered ones among them: 1 - v'Av / lambda_1 after each step,
beside the e that  log(d / e) / e  steps allow.  It is about the value; the vector needs a gap. Then one run on real
digits, as `power_trace_` keeps it.
"""

import sys
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from gramian import PCA
from gramian.eigen.power import steps_enough
from gramian.pictures.drawing import plain_frame

STARTS, STEPS = 200, 400
INK, FAINT, LINE, BOUND = "#1d2733", "#5b6570", "#8C939C", "#B4532A"
SPECTRA = {
    "four tied, the rest at a half": np.r_[np.ones(4), np.full(60, 0.5)],
    "one above another by 1e-9": np.r_[1.0, 1.0 - 1e-9, np.full(62, 0.9)],
    "eight in a cluster": np.r_[np.linspace(1.0, 0.999, 8), np.linspace(0.9, 0.1, 56)],
    "one against many just below": np.r_[1.0, np.full(63, 0.97)],
    "no gap anywhere": np.linspace(1.0, 0.0, 64),
}


def errors_of(spectrum: np.ndarray) -> np.ndarray:
    """Return 1 - v'Av / lambda_1 after each step, for every start (steps, starts)."""
    V = np.random.default_rng(1).standard_normal((len(spectrum), STARTS))
    errors = np.empty((STEPS, STARTS))
    for step in range(STEPS):
        V *= spectrum[:, None]
        V /= np.linalg.norm(V, axis=0)
        errors[step] = 1.0 - spectrum @ V**2 / spectrum.max()
    return errors


def bound_of(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the steps  log(d / e) / e  and the errors e that they allow."""
    errors = np.geomspace(1e-3, 0.9, 200)
    return np.log(d / errors) / errors, errors


def worst_constant(errors: np.ndarray, d: int) -> float:
    """Return the least c that covers every start, over errors from 0.01 to 0.3."""
    asked = np.geomspace(0.01, 0.3, 30)
    steps = [1 + int(np.argmax((errors <= e).all(axis=1))) for e in asked]
    return float(np.max(steps * asked / np.log(d / asked)))


def draw(ax: Axes, name: str, spectrum: np.ndarray) -> float:
    """Draw all starts of one spectrum, the worst of them darker, and the bound."""
    errors, steps = errors_of(spectrum), np.arange(1, STEPS + 1)
    worst = worst_constant(errors, len(spectrum))
    ax.plot(steps, errors, color=LINE, alpha=0.12, linewidth=0.6)
    ax.plot(steps, errors.max(axis=1), color=INK, linewidth=1.4)
    ax.plot(*bound_of(len(spectrum)), color=BOUND, linewidth=1.6)
    ax.set(xscale="log", yscale="log", xlim=(1, STEPS), ylim=(1e-3, 1.2))
    ax.set_title(f"{name}: c = {worst:.2f}", fontsize=10, color=INK, loc="left")
    plain_frame(ax)
    return worst


def watched() -> Figure:
    """One run on digits: the value is right to 1% long before the vector, whose error falls by a constant factor."""
    pca = PCA(1, svd_solver="power", random_state=0).fit(load_digits().data)
    trace, bound = pca.power_trace_.of(0), steps_enough(64, 0.01)
    steps = np.arange(1, len(trace.value) + 1)
    short = 1.0 - trace.value / trace.value[-1]
    print(f"digits: value within 1% after {1 + np.argmax(short <= 0.01)} steps, of {bound:.0f} that are claimed")
    figure = Figure(figsize=(7.0, 3.8), layout="constrained")
    ax = figure.subplots()
    ax.plot(steps, np.maximum(short, 1e-16), color=INK, label="value short of the last, relative")
    ax.plot(steps, trace.residual / trace.value[-1], color=LINE, label="residual over the value")
    known = trace.angle > 2e-6
    ax.plot(steps[known], trace.angle[known], color=BOUND, label="angle with the last vector")
    ax.axhline(0.01, color=FAINT, linestyle=(0, (4, 3)), linewidth=0.8)
    ax.text(len(steps), 0.012, "1%", color=FAINT, fontsize=9, ha="right", va="bottom")
    ax.set(yscale="log", xlabel="steps on the covariance of 1,797 digits", ylim=(1e-13, 3))
    ax.legend(frameon=False, fontsize=9)
    plain_frame(ax)
    return figure


def main(folder: Path) -> None:
    """Draw the five spectra, and say the constants; then one run."""
    figure = Figure(figsize=(9.6, 5.4), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)
    axes = figure.subplots(2, 3, sharex=True, sharey=True).flat
    for ax, (name, spectrum) in zip(axes, SPECTRA.items(), strict=False):
        print(f"{name}: every one of {STARTS} starts within {draw(ax, name, spectrum):.2f} log(d / e) / e steps")
    last = axes[-1]
    last.axis("off")
    for y, color, words in (
        (0.72, LINE, "each of 200 starts"),
        (0.54, INK, "the worst of them"),
        (0.36, BOUND, "log(d / e) / e steps"),
    ):
        last.plot([0.02, 0.14], [y, y], color=color, linewidth=2, transform=last.transAxes)
        last.text(0.19, y, words, va="center", fontsize=10, color=INK, transform=last.transAxes)
    figure.supxlabel("steps", fontsize=10, color=FAINT)
    figure.supylabel("e:  value short of the first eigenvalue, relative", fontsize=10, color=FAINT)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "power_method.png", dpi=150)
    watched().savefig(folder / "power_trace.png", dpi=110)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
