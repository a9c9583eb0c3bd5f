"""What renders an analysis: its page, and a short view for notebooks."""

import os
from functools import wraps
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from gramian.analysis.analyze import Analysis
from gramian.analysis.analyze import analyze as analyze_unrendered
from gramian.analysis.findings import shortened
from gramian.analysis.groups import groups_of, is_number
from gramian.pictures.drawing import color_of
from gramian.pictures.fitted import axis_label
from gramian.pictures.loadings import leading_columns
from gramian.report.document import write_material
from gramian.report.material import material_of
from gramian.report.recipes import opening_code

TITLES = {
    "pca": "Principal components",
    "kpca": "Kernel principal components",
    "ica": "Independent sources",
    "mca": "Multiple correspondence analysis",
    "famd": "Factor analysis of mixed data",
}


CELL = "padding:0.15em 0.8em 0.15em 0;text-align:left"


class AnalysisPages:
    """The page and the notebook view of an analysis; see :class:`~gramian.analysis.analyze.Pages`."""

    def write(
        self,
        found: Analysis,
        path: str | os.PathLike[str],
        *,
        title: str | None = None,
        notes: tuple[str, ...] | None = None,
        command: str = "",
        opening: str | None = None,
        made: dict[str, str] | None = None,
        embed_rows: bool = True,
    ) -> Path:
        """Write the page: nothing is measured again.

        Parameters
        ----------
        found : Analysis
        path : path
        title : str, optional
        notes : tuple of str, optional
            Those of the analysis in the words of a front end.
        command : str
            What reproduces the page in a shell.
        opening : str, optional
            Lines of Python that define `X`, `names` and `labels`.
        made : dict, optional
            Further lines of "how it was computed".
        embed_rows : bool
            Whether the page holds rows; without them it names none.
        """
        return write_material(
            material_of(found),
            path,
            title=title or f"{TITLES[found.method]} of {Path(found.table.origin).stem}",
            facts=tuple(map(str, found.notes)) if notes is None else notes,
            command=command,
            opening=opening_code(found.table, array=found.image_shape is not None) if opening is None else opening,
            made={"file": found.table.origin} if made is None else made,
            sampling_rate=found.request.sampling_rate,
            seed=found.seed,
            embed_rows=embed_rows,
        )

    def html(self, found: Analysis) -> str:
        """Return what was found, a line per component, and the map of rows, as light HTML for a notebook."""
        lead = "".join(f"<p>{escape(str(text))}</p>" for text in found.findings)
        notes = "".join(f"<li>{escape(str(note))}</li>" for note in found.notes)
        more = f"<details><summary>What was done to the table</summary><ul>{notes}</ul></details>" if notes else ""
        size = f"{found.table.source.n_rows:,} x {found.table.source.n_columns:,}"
        head = f"<p><b>{escape(TITLES[found.method])}</b> of {escape(found.table.origin)}, {size}</p>"
        parts = f"{_component_table(found)}{_row_map(found)}"
        return (
            f'<div style="max-width:60em;line-height:1.4">{head}{lead}'
            f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">{parts}</div>{more}</div>'
        )


PAGES = AnalysisPages()


@wraps(analyze_unrendered)
def analyze(X: Any, **options: Any) -> Analysis:
    """Analyze a table; see :func:`gramian.analysis.analyze.analyze`."""
    return analyze_unrendered(X, **{"pages": PAGES, **options})


def _component_table(found: Analysis) -> str:
    """Return a line per component: its share, the running sum, and the columns that lead it."""
    model, names = found.model, found.table.names
    shares = np.asarray(model.shares, dtype=float)
    named = found.image_shape is None and model.loadings is not None
    lines = []
    for j in range(min(found.n_components, 10)):
        leading = ""
        if named:
            columns = leading_columns(model, j, count=3, names=names)
            leading = ", ".join(f"{shortened(c.name, 24)} {c.weight:+.2f}" for c in columns if c.weight != 0)
        cells = (f"{model.prefix}{j + 1}", f"{shares[j]:.1%}", f"{shares[: j + 1].sum():.1%}", leading)
        lines.append("".join(f'<td style="{CELL}">{escape(cell)}</td>' for cell in cells))
    head = "".join(
        f'<th style="{CELL}">{name}</th>' for name in ("", "share", "together", "leading columns" if named else "")
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    left = found.n_components - len(lines)
    rest = f"<caption>and {left:,} more</caption>" if left else ""
    return f"<table>{rest}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _row_map(found: Analysis) -> str:
    """Return the map of some rows on the first two components as SVG; nothing for one component or no rows."""
    sample = found.sample
    if sample is None or sample.scores.shape[1] < 2 or not len(sample.positions):
        return ""
    width, height = 420, 300
    step = -(-len(sample.positions) // 1500)
    points, at = sample.scores[::step, :2], sample.positions[::step]
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array([width - 44.0, height - 44.0])
    # One unit for both axes: a distance on the map is a distance between rows.
    unit = float(np.min(room / np.where(high > low, high - low, 1.0)))
    at_middle = (points - (low + high) / 2) * unit
    x, y = 34 + room[0] / 2 + at_middle[:, 0], 10 + room[1] / 2 - at_middle[:, 1]
    name, groups, colors = _groups(found, at)
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="2.5" fill="{color}" fill-opacity="0.6"/>'
        for a, b, color in zip(x, y, colors, strict=True)
    )
    across, up = (escape(axis_label(found.shown, j)) for j in (0, 1))
    text = 'font-size="12" fill="currentColor"'
    key = "".join(
        f'<span style="color:{color_of(i)}">&#9679;</span> {escape(shortened(group, 24))} '
        for i, group in enumerate(groups[:6])
    )
    under = f'<div style="font-size:90%">{escape(name)}: {key}</div>' if groups else ""
    return (
        f'<div><svg width="{width}" height="{height}" role="img" aria-label="Map of rows on {across} and {up}">'
        f'<path d="M34 10V{height - 34}H{width - 10}" fill="none" stroke="currentColor" stroke-opacity="0.4"/>'
        f'<text x="{width / 2:.0f}" y="{height - 8}" text-anchor="middle" {text}>{across}</text>'
        f'<text x="14" y="{height / 2:.0f}" text-anchor="middle" {text} '
        f'transform="rotate(-90 14 {height / 2:.0f})">{up}</text>{dots}</svg>{under}</div>'
    )


def _groups(found: Analysis, at: np.ndarray) -> tuple[str, list[str], list[str]]:
    """Return the name of the label of rows, its groups, and a color for each row."""
    for name, values in found.labels.items():
        own = np.asarray(values)[at]
        if is_number(own):
            continue
        texts = groups_of(own)
        groups = sorted(set(texts.tolist()))
        if 1 < len(groups) <= 6:
            place = {group: color_of(i) for i, group in enumerate(groups)}
            return str(name), groups, [place[text] for text in texts]
    return "", [], [color_of(0)] * len(at)
