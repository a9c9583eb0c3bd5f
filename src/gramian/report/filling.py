"""The page of a filled table: what was missing, how well it is predicted, and by what.

Pictures are drawn here as SVG in the colors of the style sheet, so that they follow the theme and need no script.
"""

import os
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from gramian.analysis.filled_files import PLAIN, Style, styles_of
from gramian.analysis.filling import Check, Filling
from gramian.analysis.findings import counted, percent, shortened
from gramian.report import sections as parts
from gramian.report.document import shell, write_page

SHOWN_ROWS, SHOWN_COLUMNS = 14, 10
"""Rows and columns of the filled table that are shown."""

PATTERN = (80, 120)
"""Rows and columns that the picture of what is missing is cut into, at most."""

MOST_POINTS = 1_500
"""Held-out values that are drawn."""

LEVELS = (0.5, 0.8, 0.9, 0.95, 0.99)
"""Levels of intervals that are compared with what they hold."""

LISTED = 40
"""Columns and pairs that are listed."""

STYLE = """
:root { --mark-1: var(--accent); --mark-2: var(--flag); }
main { max-width: 72rem; margin: 0 auto; padding: 0 1.5rem 3rem; }
.done { color: var(--soft); font-size: 13px; padding-left: 1.1rem; }
.guess { color: var(--mark-2); font-weight: 600; white-space: nowrap; }
.guess small { font-weight: 400; color: var(--soft); }
.picture { display: block; width: 100%; height: auto; }
.picture text { fill: var(--soft); font-size: 12px; }
.key { color: var(--soft); font-size: 13px; }
.key i { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; margin: 0 0.35em 0 1.1em; }
.key i:first-child { margin-left: 0; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(18rem, 1fr)); gap: 1.6rem 2rem; }
.card h3 span { color: var(--soft); font-weight: 400; }
.card ul { list-style: none; margin: 0.4rem 0; padding: 0; }
.card li { display: grid; grid-template-columns: 8rem 1fr 3rem; gap: 0.6rem; align-items: center; font-size: 13px; }
.card .name { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.card .value { text-align: right; font-variant-numeric: tabular-nums; }
.card .bar { display: block; height: 0.6rem; margin: 0; --c: linear-gradient(var(--accent), var(--accent)); }
.card .rising { background: var(--c) left / var(--w) 100% no-repeat; margin-left: 50%; }
.card .falling { background: var(--c) right / var(--w) 100% no-repeat; margin-right: 50%; }
"""


def write_filling_page(
    found: Filling,
    path: str | os.PathLike[str],
    *,
    title: str,
    notes: Sequence[str] | None = None,
    command: str = "",
    made: dict[str, str] | None = None,
) -> Path:
    """Write the page of a filled table: one HTML file that needs nothing else.

    Parameters
    ----------
    found : Filling
    path : path
    title : str
    notes : sequence of str, optional
        Those of the filling in the words of a front end.
    command : str
        What reproduces the page in a shell.
    made : dict, optional
        Further lines of "how it was computed".
    """
    said = tuple(map(str, found.notes)) if notes is None else tuple(notes)
    body = "".join(
        (
            _header(found, title, said),
            _table_section(found),
            _pattern_section(found),
            _check_section(found),
            _component_section(found),
            _column_section(found),
            _how_section(found, command, made or {}),
        )
    )
    text = shell(escape(title), f"{body}</main>", {}, style=STYLE, scripts=("data", "frame"))
    return write_page(text.encode("utf-8"), Path(path))


def _header(found: Filling, title: str, notes: Sequence[str]) -> str:
    known, check = found.known, found.check
    first, *others = map(str, found.findings) if found.findings else (title,)
    lead = "".join(f"<li>{escape(text)}</li>" for text in others)
    numbers = [(f"{known.X.shape[0]:,} x {known.X.shape[1]:,}", "rows x columns")]
    numbers.append((percent(known.share_missing), "of the values missing"))
    if check is not None:
        if check.rmse_of_means > 0:
            gain = 1.0 - check.rmse / check.rmse_of_means
            numbers.append((percent(abs(gain)), f"{'less' if gain >= 0 else 'more'} error than means"))
        numbers.append((percent(check.coverage()), "of held-out values in 95% intervals"))
    shown = "".join(
        f"<div><strong>{escape(value)}</strong><span>{escape(name)}</span></div>" for value, name in numbers
    )
    done = "".join(f"<li>{escape(note)}</li>" for note in notes)
    head = parts.header(escape(title), first, numbers=shown)
    return (
        f'<a class="skip" href="#missing">Skip to the pictures</a><main>{head}'
        f'<ul class="findings">{lead}</ul><ul class="done">{done}</ul>'
    )


def _table_section(found: Filling) -> str:
    """Return some rows of the table with what was filled in them, or some of the predicted pairs."""
    known = found.known
    if found.filled is None or found.errors is None:
        return _pairs_section(found)
    missing = np.isnan(known.X)
    if not missing.any():
        return ""
    n, d = missing.shape
    rows = np.arange(n) if n <= SHOWN_ROWS else np.flatnonzero(missing.any(axis=1))[:SHOWN_ROWS]
    # The columns in which these rows miss most, in their own order.
    columns = np.sort(np.argsort(-missing[rows].sum(axis=0), kind="stable")[:SHOWN_COLUMNS])
    styles = dict(zip(columns.tolist(), styles_of(known.whole, [known.names[j] for j in columns]), strict=True))

    def cell(i: int, j: int) -> str:
        if not missing[i, j]:
            return f'<td class="number">{escape(_as_written(float(known.X[i, j]), styles[j]))}</td>'
        value, error = map(escape, _with_error(float(found.filled[i, j]), float(found.errors[i, j]), styles[j]))  # type: ignore[index]
        return f'<td class="number"><span class="guess">{value} <small>± {error}</small></span></td>'

    head = "".join(f'<th class="number">{escape(shortened(known.names[j], 24))}</th>' for j in columns)
    body = "".join(
        f"<tr><td>{escape(shortened(known.row_name(i), 32))}</td>{''.join(cell(i, j) for j in styles)}</tr>"
        for i in rows
    )
    lacking = counted(int(missing.any(axis=1).sum()), "row")
    some = [] if len(rows) == n else [f"{len(rows)} of the {lacking} that miss some"]
    some += [] if len(columns) == d else [f"{len(columns)} of {d:,} columns"]
    words = "A filled value stands with its standard error: a new measurement lies within two of them, 95 times of 100."
    if found.within_two < 95:
        words = (
            "A filled value stands with its standard error. From so few values the errors are too small: in tables "
            f"like this about {found.within_two} of 100 new measurements lie within two of them."
        )
    if found.check is not None and found.check.errors_are_too_small:
        words = (
            "A filled value stands with its standard error. These are too small here: 95% intervals hold "
            f"{percent(found.check.coverage())} of the values that were held out."
        )
    return parts.section(
        "table",
        "What was filled in",
        parts.paragraph(words),
        f'<div class="scroll" tabindex="0"><table><thead><tr><th></th>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>",
        parts.paragraph(f"Shown: {', '.join(some)}; filled.csv has all." if some else "", "note"),
    )


def _as_written(value: float, style: Style) -> str:
    """Return a known value as its column writes it, and where that says nothing, with six digits."""
    return f"{value:,.6g}" if style == PLAIN else style.filled(np.array([value]), np.zeros(1))[0]


def _with_error(value: float, error: float, style: Style) -> tuple[str, str]:
    """Return a value and its error, both with two digits of the error, and as the column writes its numbers.

    Examples
    --------
    >>> _with_error(2.9341, 0.9317, PLAIN), _with_error(1234.5, 61.0, PLAIN)
    (('2.93', '0.93'), ('1,234', '61'))
    >>> _with_error(-1234.5, 61.0, Style(".", ",", ("$", ""), ("-$", ""), places=2))
    ('-$1,234.50', '$61')
    """
    if not error > 0:
        return _as_written(value, style), "0"
    digits = int(np.clip(1 - np.floor(np.log10(error)), 0, 12))
    if style == PLAIN:
        return f"{value:,.{digits}f}", f"{error:,.{digits}f}"
    before, after = style.affixes
    size = style._replace(affixes=(before.replace("+", ""), after)).written(f"{error:.{digits}f}")
    return style.filled(np.array([value]), np.array([error]), 0.1)[0], size


def _pairs_section(found: Filling) -> str:
    long = found.known.long
    if long is None:
        return ""
    pairs = found.lines if found.pairs is None else found.pairs
    if pairs is None:
        return ""
    title = "The pairs that were asked for" if found.pairs is not None else "The lines without a value"
    count = len(pairs.i)
    (style,) = styles_of(found.known.whole, [long.names.value])
    lines = [
        (row, column, *_with_error(float(value), float(error), style))
        for row, column, value, error in zip(*pairs.names(LISTED), pairs.values, pairs.errors, strict=False)
    ]
    more = f"{count - len(lines):,} more in the files." if count > len(lines) else ""
    header = (*long.names, "standard error")
    return parts.section("table", title, parts.table(header, lines, numeric=(2, 3)), parts.paragraph(more, "note"))


def _pattern_section(found: Filling) -> str:
    """Return the picture of what is known, as a table of shares."""
    known = found.known
    shares = known.pattern(PATTERN)
    n, d = shares.shape
    whole = (n, d) == tuple(known.X.shape)
    order = "in the order of the file" if known.long is None else "those of which most is known first"
    size = f"{known.X.shape[0] / n:,.0f} x {known.X.shape[1] / d:,.0f}"
    cut = "" if whole else f" Each mark stands for about {size} values: the darker, the more is known."
    words = f"Rows from top to bottom, columns from left to right, {order}.{cut}"
    wide = 960.0
    side = min(wide / d, 26.0)
    tall = min(side, 420.0 / n) if n > 16 else side
    marks = []
    # One path for each level of gray keeps the page small.
    levels = np.ceil(8 * np.sqrt(shares / max(float(shares.max()), 1e-300))).astype(int)
    gap = 0.06 if min(side, tall) > 5 else 0.0
    for level in range(9):
        at = np.argwhere(levels == level)
        if not len(at):
            continue
        width, height = side * (1 - 2 * gap), tall * (1 - 2 * gap)
        path = "".join(
            f"M{(j + gap) * side:.1f} {(i + gap) * tall:.1f}h{width:.1f}v{height:.1f}h-{width:.1f}z" for i, j in at
        )
        color, strength = ("grid", 1.0) if level == 0 else ("mark-1", 0.15 + 0.85 * level / 8)
        marks.append(f'<path d="{path}" fill="var(--{color})" fill-opacity="{strength:.2f}"/>')
    key = '<i style="background:var(--mark-1)"></i>known<i style="background:var(--grid)"></i>missing'
    said = f"Which values are known: {percent(1 - known.share_missing)} of them."
    drawn = (
        f'<svg class="picture" style="max-width:{side * d:.0f}px" viewBox="0 0 {side * d:.1f} {tall * n:.1f}" '
        f'role="img" aria-label="{said}">{"".join(marks)}</svg>'
    )
    return parts.section("missing", "What is missing", parts.paragraph(words), drawn, f'<p class="key">{key}</p>')


def _check_section(found: Filling) -> str:
    """Return predictions of held-out values against what they were, and what intervals hold."""
    check = found.check
    if check is None:
        return ""
    unit = ", in standard deviations of its column" if found.known.scale else ""
    often = f", in {check.draws} draws," if check.draws > 1 else ""
    m = len(check.actual)
    words = (
        f"{m:,} known values{often} were held out, and predicted by a model that did not see them{unit}. On the line a "
        "prediction is right."
    )
    lines = [(f"{level:.0%}", percent(check.coverage(level))) for level in LEVELS]
    levels = parts.table(("intervals of", "hold"), lines, numeric=(0, 1))
    means = "means of rows and columns" if found.model.row_bias_variance > 0 else "column means"
    off = parts.table(
        ("off by (root mean square)", ""),
        [("the model", f"{check.rmse:.4g}"), (means, f"{check.rmse_of_means:.4g}")],
        numeric=(1,),
    )
    more = f"{MOST_POINTS:,} of them are drawn." if m > MOST_POINTS else ""
    key = '<i style="background:var(--mark-1)"></i>in its 95% interval<i style="background:var(--mark-2)"></i>outside'
    return parts.section(
        "check",
        "How well it predicts",
        parts.paragraph(words),
        f'<div class="pair"><div>{_scatter(check)}<p class="key">{key}</p></div>'
        f"<div>{off}{levels}{parts.paragraph('Intervals hold what they promise where the errors are right.', 'note')}"
        f"{parts.paragraph(more, 'note')}</div></div>",
    )


def _scatter(check: Check) -> str:
    size, left, base = 480.0, 52.0, 44.0
    step = -(-len(check.actual) // MOST_POINTS)
    actual, predicted, errors, inside = (
        part[::step] for part in (check.actual, check.predicted, check.errors, check.within())
    )
    low, high = float(min(actual.min(), predicted.min())), float(max(actual.max(), predicted.max()))
    room = 0.04 * (high - low) or 1.0
    low, high = low - room, high + room
    scale = (size - left - 8) / (high - low)

    def x(values: Any) -> Any:
        return left + (values - low) * scale

    def y(values: Any) -> Any:
        return size - base - (values - low) * scale

    ticks = _ticks(low, high)
    grid = "".join(
        f'<path d="M{x(t):.1f} {y(low):.1f}V{y(high):.1f}M{x(low):.1f} {y(t):.1f}H{x(high):.1f}" stroke="var(--grid)"/>'
        f'<text x="{x(t):.1f}" y="{y(low) + 16:.1f}" text-anchor="middle">{t:g}</text>'
        f'<text x="{left - 6:.1f}" y="{y(t) + 4:.1f}" text-anchor="end">{t:g}</text>'
        for t in ticks
    )
    bars = ""
    if len(actual) <= 120:
        ends = np.clip(np.column_stack([predicted - 1.96 * errors, predicted + 1.96 * errors]), low, high)
        bars = "".join(
            f'<path d="M{x(a):.1f} {y(v):.1f}H{x(b):.1f}" stroke="var(--muted)"/>'
            for (a, b), v in zip(ends, actual, strict=True)
        )
    # Values on few levels would hide each other.
    levels = np.unique(actual)
    apart = np.diff(levels).min() if 1 < len(levels) <= 12 < len(actual) // 8 else 0.0
    up = actual + 0.5 * apart * (np.arange(len(actual)) * 0.618 % 1.0 - 0.5)
    radius, strength = (3.5, 0.8) if len(actual) <= 300 else (2.4, 0.45)
    dots = "".join(
        f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius}" fill="var(--mark-{1 if good else 2})" '
        f'fill-opacity="{strength}"/>'
        for a, b, good in zip(x(predicted), y(up), inside, strict=True)
    )
    ends_of_line = f"M{x(low):.1f} {y(low):.1f}L{x(high):.1f} {y(high):.1f}"
    line = f'<path d="{ends_of_line}" stroke="var(--soft)" stroke-dasharray="4 4"/>'
    middle = (size - base) / 2
    return (
        f'<svg class="picture" viewBox="0 0 {size:.0f} {size:.0f}" role="img" aria-label="Held-out values against '
        f'their predictions; {percent(check.coverage())} lie in their 95% intervals.">{grid}{line}{bars}{dots}'
        f'<text x="{(left + size) / 2:.0f}" y="{size - 8:.0f}" text-anchor="middle">predicted</text>'
        f'<text x="14" y="{middle:.0f}" text-anchor="middle" transform="rotate(-90 14 {middle:.0f})">true</text></svg>'
    )


def _ticks(low: float, high: float) -> list[float]:
    """Return round numbers between two, four to nine of them.

    Examples
    --------
    >>> _ticks(0.8, 5.2), _ticks(-40.0, 130.0)
    ([1.0, 2.0, 3.0, 4.0, 5.0], [-25.0, 0.0, 25.0, 50.0, 75.0, 100.0, 125.0])
    """
    rough = (high - low) / 8
    size = 10.0 ** np.floor(np.log10(rough))
    step = next(size * part for part in (1.0, 2.0, 2.5, 5.0, 10.0) if size * part >= rough)
    first = int(np.ceil(low / step))
    return [float(f"{i * step:.12g}") for i in range(first, int(np.floor(high / step)) + 1)]


def _component_section(found: Filling) -> str:
    """Return a card for each of the first components: its share, and the columns that lead it."""
    model = found.model
    if not model.n_components:
        return ""
    shown = min(model.n_components, 9)
    cards = []
    for j in range(shown):
        columns = found.leading(j)
        largest = max(abs(weight) for _, weight in columns) or 1.0
        bars = "".join(
            f'<li><span class="name" title="{escape(name, quote=True)}">{escape(name)}</span>'
            f'<span class="bar {"rising" if weight >= 0 else "falling"}" '
            f'style="--w:{100 * abs(weight) / largest:.1f}%"></span>'
            f'<span class="value">{weight:+.2f}</span></li>'
            for name, weight in columns
        )
        share = f"{model.shares[j]:.1%} ± {model.share_errors[j]:.1%}"
        cards.append(f'<article class="card"><h3>PC{j + 1} <span>{share}</span></h3><ul>{bars}</ul></article>')
    left = model.n_components - shown
    words = "Missing values are predicted from these: shares are of the variance that the model sees, noise included."
    return parts.section(
        "components",
        "The components",
        parts.paragraph(words),
        f'<div class="cards">{"".join(cards)}</div>',
        parts.paragraph(f"{left} more in loadings.csv." if left else "", "note more"),
    )


def _column_section(found: Filling) -> str:
    """Return a line per column: what is known, and how well it is predicted; of many the emptiest first."""
    known, check, counts = found.known, found.check, found.known.counts
    order = np.arange(len(counts)) if len(counts) <= LISTED else np.argsort(counts, kind="stable")[:LISTED]
    lines = []
    for j in order.tolist():
        off = "-"
        if check is not None and (here := check.columns == j).sum() > 1:
            error = np.sqrt(np.mean((check.actual[here] - check.predicted[here]) ** 2)) / found.model.factor[j]
            off = f"{error:.3g}"
        typical = "-"
        if found.errors is not None and (missing := np.isnan(known.X[:, j])).any():
            typical = f"{np.median(found.errors[missing, j]):.3g}"
        lacking = 1 - counts[j] / known.X.shape[0]
        lines.append((known.names[j], f"{int(counts[j]):,}", percent(lacking) if lacking > 0 else "-", typical, off))
    header = ("column", "known", "missing", "standard error", "off, held out")
    # Of a long table what is filled depends on what is asked for.
    kept = range(5) if found.errors is not None else (0, 1, 2, 4)
    left = len(known.names) - len(lines)
    more = f"The emptiest {LISTED} of {len(known.names):,}; loadings.csv has all." if left else ""
    return parts.section(
        "columns",
        "The columns",
        parts.table([header[i] for i in kept], [[line[i] for i in kept] for line in lines], numeric=range(1, 5)),
        parts.paragraph(f"Errors are in the units of each column. {more}", "note"),
    )


def _how_section(found: Filling, command: str, made: dict[str, str]) -> str:
    from gramian import __version__

    model, method = found.model, found.request.method(found.known)
    rounds = f", {counted(model.n_steps, 'round')}" if method == "variational Bayes" else ""
    facts = {
        "model": f"x = mean + W z + noise{', and levels of rows' if model.row_bias_variance > 0 else ''}",
        "fit": f"{method}{rounds}{'' if model.converged else ', not converged'}",
        "components": f"{model.n_components}: {model.reason}",
        "noise": found.known.deviations(float(np.sqrt(model.noise_variance)), 4),
        "seed": str(found.request.seed),
        "gramian": __version__,
    }
    lines = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in (facts | made).items())
    code = parts.code_block(command) if command else ""
    return parts.section("how", "How it was computed", f'<dl class="facts">{lines}</dl>', code)
