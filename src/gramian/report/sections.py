"""The parts of a page as HTML: words, tables, and places where its script draws.

All that comes from outside (names, labels, titles, code) is escaped here or in ``packing``.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np

from gramian.report.answer import label_shares, special_meaning
from gramian.report.material import Material
from gramian.report.words import certificate_words
from gramian.views import certificate_table, leading_columns

MOST_CARDS = 10
"""Components that get a card of their own."""

ARITHMETIC = "This is about arithmetic alone: how much other rows would change the numbers is another question."

MOST_LINES = 20
"""Components in the table of the certificate."""


def section(ident: str, title: str, *parts: str) -> str:
    """A titled part of the page."""
    return f'<section id="{ident}"><h2>{escape(title)}</h2>{"".join(parts)}</section>'


def paragraph(text: str, kind: str = "") -> str:
    """Words, escaped."""
    return f'<p class="{kind}">{escape(text)}</p>' if text else ""


def plot(ident: str, description: str) -> str:
    """A place that the script draws in; what it shows is said for those who cannot see it."""
    return f'<div class="plot" id="{ident}" role="img" aria-label="{escape(description, quote=True)}"></div>'


def below(ident: str, code: str, *, csv: bool = True) -> str:
    """What stands under a picture: the code that draws it, and its data."""
    data = f'<button type="button" data-csv="{ident}">Data as CSV</button>' if csv else ""
    return f'<div class="below">{data}<details><summary>Code</summary>{code_block(code)}</details></div>'


def code_block(code: str) -> str:
    """Code that can be copied."""
    copy = '<button type="button" class="copy">Copy</button>'
    return f'<div class="code">{copy}<pre tabindex="0"><code>{escape(code)}</code></pre></div>'


def table(header: Iterable[str], rows: Iterable[Iterable[str]], numeric: Iterable[int] = ()) -> str:
    """A table that scrolls by itself on a narrow screen; cells are escaped."""
    right = set(numeric)

    def cells(texts: Iterable[str], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=number' if j in right else ''}>{escape(text)}</{tag}>" for j, text in enumerate(texts)
        )

    body = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in rows)
    return (
        f'<div class="scroll" tabindex="0"><table><thead><tr>{cells(header, "th")}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def reproduction(command: str, code: str) -> str:
    """What reproduces the page: in a shell, and in Python."""
    shell = f"<h3>In a shell</h3>{code_block(command)}<h3>In Python</h3>" if command else ""
    return section("code", "Code that reproduces it", shell, code_block(code))


def cards(made: Material, code: str, *, images: bool) -> str:
    """One card a component: what it is made of, who lies at its ends, which label it follows."""
    if made.kind == "kernel":
        return ""
    shown = min(len(made.components), MOST_CARDS, max(made.scree.chosen + 1, 3))
    noun = "source" if made.kind == "ica" else "component"
    left = len(made.components) - shown
    more = f"{left} more {noun if left == 1 else noun + 's'} not shown here." if left else ""
    inner = "".join(_card(made, j, images=images) for j in range(shown))
    title = "What each source is made of" if made.kind == "ica" else "What each component is made of"
    kind = "cards images" if images else "cards"
    data = below("weights", code, csv=made.telling or images)
    return section("cards", title, f'<div class="{kind}">{inner}</div>', paragraph(more, "note more"), data)


def _card(made: Material, component: int, *, images: bool) -> str:
    name, share = made.components[component], float(made.scree.shares[component])
    columns = leading_columns(made.model, component, count=6, names=made.names)
    largest = max((abs(column.weight) for column in columns), default=0.0) or 1.0
    bars = "".join(_bar(column.name, column.weight, abs(column.weight) / largest) for column in columns)
    image = f'<canvas class="eigenimage" data-component="{component}"></canvas>' if images else f"<ul>{bars}</ul>"
    words = special_meaning(made, component) if made.telling and made.kind == "pca" else ""
    told = "".join(paragraph(text, "note") for text in (words, _ends(made, component), _told(made, component)) if text)
    head = f"<h3>{escape(name)} <span>{share:.1%}</span></h3>"
    return f'<article class="card" data-component="{component}">{head}{image}{told}</article>'


def _bar(name: str, weight: float, width: float) -> str:
    side = "rising" if weight >= 0 else "falling"
    return (
        f'<li><span class="name" title="{escape(name, quote=True)}">{escape(name)}</span>'
        f'<span class="bar {side}" style="--w:{100 * width:.1f}%"></span><span class="value">{weight:+.2f}</span></li>'
    )


def _ends(made: Material, component: int) -> str:
    """Who lies furthest along a component, where rows have names."""
    if made.scores is None or made.row_names is None or made.kind == "ica":
        return ""
    order = np.argsort(made.scores[:, component], kind="stable")
    high, low = (", ".join(made.row_name(int(i)) for i in end) for end in (order[::-1][:3], order[:3]))
    return f"Highest: {high}. Lowest: {low}."


def _told(made: Material, component: int) -> str:
    """Which labels this component accounts for, in percent."""
    parts = []
    for name, values in list(made.labels.items())[:3]:
        shares = label_shares(made, values, range(component, component + 1))
        if shares and shares[0] >= 0.1:
            parts.append(f"{shares[0]:.0%} of its spread goes with {name}")
    return f"{'; '.join(parts)}." if parts else ""


def unusual_rows(made: Material) -> str:
    """The table of rows beyond a limit, with the columns to blame."""
    if made.outliers is None:
        return ""
    rows = (
        (
            made.row_name(row.row),
            f"{row.t2:.3g}",
            f"{row.spe:.3g}",
            row.beyond,
            "; ".join(f"{b.name} = {b.value:.4g} ({b.deviations:+.1f} sd, {b.share:.0%})" for b in row.blame),
        )
        for row in made.outliers.unusual
    )
    head = ("row", "T²", "SPE", "unusual", "columns to blame: value (deviations from the mean, part of the distance)")
    if not made.outliers.unusual:
        return ""
    # Columns without names, pixels mostly, are nothing that a reader could blame.
    if made.telling:
        return table(head, rows, numeric=(1, 2))
    return f'<div class="few">{table(head[:4], (row[:4] for row in rows), (1, 2))}</div>'


def rules(made: Material) -> str:
    """How many components each rule would keep, and why."""
    if made.choice is None:
        return ""
    said = [(v.rule, str(v.n_components), v.reason) for v in made.choice.verdicts]
    said += [(rule, "-", why) for rule, why in made.choice.refusals]
    inner = table(("rule", "keeps", "because"), said, numeric=(1,))
    return f"<details><summary>What each rule says. {escape(made.choice.agreement)}</summary>{inner}</details>"


def how_computed(made: Material, facts: Mapping[str, str]) -> str:
    """Plan, certificate, versions, seed, time, memory."""
    items = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in facts.items())
    proof = ""
    if made.kind != "ica":
        view = certificate_table(made.model, count=MOST_LINES)
        whole = certificate_table(made.model)
        words = f"{certificate_words(whole)} {ARITHMETIC}"
        inner = table(view.header, view.rows, numeric=(1, 2, 3, 4))
        listed, held = len(view.rows), len(whole.rows)
        part = f": the first {listed} of {held} components" if listed < held else ""
        proof = f"{paragraph(words)}<details><summary>The certificate{part}</summary>{inner}</details>"
    return f'<dl class="facts">{items}</dl>{proof}'


def plan_lines(model: Any) -> str:
    """The plan of a model as one line; sources have none of their own."""
    plan = getattr(model, "plan", None)
    return "" if plan is None else "; ".join(line.strip() for line in str(plan).splitlines() if line.strip())
