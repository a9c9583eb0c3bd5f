"""Categories in an analysis: which method the columns of a table ask for, its rows coded, and supplementary columns.

The rule: a table of categories alone is one for multiple correspondence analysis; one whose categories are as many as
its quantities, or that has one quantity, for factor analysis of mixed data; any other for principal components of its
quantities, which its categories color. A category has two to fifty levels, and two of them are needed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from gramian.analysis.findings import counted, listed
from gramian.analysis.groups import is_number
from gramian.analysis.table import Prepared, ReadOptions, Say, labels_of, open_table, opened, scaled
from gramian.arrays.namespace import HostArray, to_host
from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.sources.categories import LevelColumn, MixedTable, level_column
from gramian.sources.dense import DenseRows
from gramian.sources.indicator import IndicatorRows
from gramian.sources.roles import MOST_LEVELS

if TYPE_CHECKING:
    from gramian.models.categories.model import Supplementary

CODED = ("mca", "famd")
"""Methods whose rows are coded categories."""


def open_for(
    X: Any, options: ReadOptions, method: str, say: Say | None = None, *, fill: bool = True
) -> tuple[Prepared, str]:
    """Open a table for a method; "auto" is the one that its columns ask for, and a note says which.

    Parameters
    ----------
    X : path, table or array (n, d)
    options : ReadOptions
    method : str
        "auto", "pca", "kpca", "ica", "mca" or "famd". Where columns, scaling or images are spoken of, "auto" is "pca".
    say : callable, optional
    fill : bool
        As for :func:`~gramian.analysis.table.open_table`.

    Returns
    -------
    Prepared, str
        The table, coded where the method is one of categories; the method.
    """
    quantities_are_meant = bool(options.columns) or options.scale is not None or options.keep_constant
    if method not in ("auto", *CODED) or (method == "auto" and quantities_are_meant):
        found = "pca" if method == "auto" else method
        return open_table(X, options, say, fill=fill, scatter=fill and found == "pca"), found
    coded = replace(options, categories=True, quantities=method != "mca")
    table = open_table(X, coded, say, fill=fill, scatter=fill and method == "auto")
    labels = table.source.label_names
    if not fill and (method != "auto" or 1 < len(labels) >= len(table.names)):
        # Rows that are only looked at have no labels: they are read where the choice rests on them.
        table = replace(table, labels=labels_of(table.source))
    columns = _categories(table)
    if method == "auto":
        method, note = _chosen(table, len(columns) if table.labels else len(labels))
        if method == "pca" and not table.names:
            # As a table without a category would be refused.
            return open_table(X, options, say, fill=fill, scatter=fill), method
        table = replace(table, notes=(*table.notes, *note))
        if method == "pca":
            return scaled(replace(table, options=replace(table.options, categories=False)), options), method
    return _coded(table, columns, method, passive=not fill and any(table.missing.values())), method


def _categories(table: Prepared) -> dict[str, LevelColumn]:
    """Return the labels of rows that are categories with two to fifty levels."""
    found = {name: level_column(values) for name, values in table.labels.items() if not is_number(np.asarray(values))}
    return {name: column for name, column in found.items() if 2 <= len(column.levels) <= MOST_LEVELS}


def _chosen(table: Prepared, c: int) -> tuple[str, tuple[str, ...]]:
    """Return the method that a table with ``c`` categories asks for, and the sentence that says so."""
    q = len(table.names)
    if c < 2 or table.image_shape is not None:
        return "pca", ()
    if q > c:
        said = Sentence(
            "The {c} categories color the rows and are not fitted, because the {q} quantities outnumber them; "
            "{famd} fits both.",
            c=c,
            q=q,
            famd=Parameter("method", ("famd",)),
        )
        return "pca", (said,)
    if q == 0:
        said = Sentence(
            "Multiple correspondence analysis of {c} categories, because no column is a quantity.",
            c=c,
        )
        return "mca", (said,)
    why = "there is one quantity" if q == 1 else "the categories are as many as the quantities, or more"
    said = Sentence(
        "Factor analysis of mixed data, of {quantities} and {c} categories, because {why}; {pca} fits the quantities "
        "alone, {mca} the categories alone.",
        quantities=counted(q, "quantity") if q == 1 else f"{q} quantities",
        c=c,
        why=why,
        pca=Parameter("method", ("pca",)),
        mca=Parameter("method", ("mca",)),
    )
    return "famd", (said,)


def _coded(table: Prepared, columns: Mapping[str, LevelColumn], method: str, *, passive: bool) -> Prepared:
    """Return a table whose rows are coded columns; ``passive`` where quantities are looked at that were not filled."""
    from gramian.models.categories.fit import coding_of

    if table.source.n_rows == 1:
        return replace(table, varies=False)
    if not columns:
        message = Sentence(
            "{origin} has no category of 2 to {most} levels, so there is nothing for {method}. Say which columns are "
            "categories ({roles}), or use {pca}.",
            origin=table.origin,
            most=MOST_LEVELS,
            method=Parameter("method", (method,)),
            roles=Parameter("roles"),
            pca=Parameter("method", ("pca",)),
        )
        raise InputError(message)
    numbers = table.source if method == "famd" and table.names else DenseRows(np.empty((table.source.n_rows, 0)))
    quantities = table.names if method == "famd" else ()
    mixed = MixedTable(numbers, quantities, columns, (*quantities, *columns))
    share = 1.0 / len(columns) if method == "mca" else 1.0
    coding = coding_of(mixed, list(columns), quantities, share=share, missing="level", passive=passive)
    rows = IndicatorRows(mixed, coding, passive=passive)
    notes = [*table.notes]
    many = [name for name in table.labels if name not in columns]
    if many:
        notes.append(f"Not fitted, and kept for colors: {listed([repr(name) for name in many])}.")
    gone = [name for name, levels in zip(coding.categories, coding.levels, strict=True) if "" in levels]
    if gone:
        notes.append(f"Cells without a value are a level of their own in {listed([repr(name) for name in gone])}.")
    if method == "mca" and table.names:
        notes.append(f"Not fitted: {listed([repr(name) for name in table.names])}, because MCA takes categories alone.")
    spread = np.concatenate([np.ones(len(quantities)), np.sqrt(coding.share * (1.0 - coding.proportions))])
    return replace(
        table,
        source=rows,
        names=coding.names,
        scale=False,
        notes=tuple(notes),
        spread=spread,
        moments=None,
        varies=bool((spread[len(quantities) :] > 0).any()) or (bool(quantities) and table.varies),
        method=method,
    )


def project_supplementary(X: Any, table: Prepared, scores: Any, variances: Any, *, unit: HostArray) -> "Supplementary":
    """Return where the columns that ``options.supplementary`` names stand on the components of a fit.

    They took no part in it: the table is opened again for them. Values that are missing are left out.

    Cost: reading the table once more.
    """
    from gramian.models.categories.fit import supplementary_of

    names = table.options.supplementary
    source = opened(X, replace(table.options, categories=True, drop=(), columns=(), supplementary=()), None)
    kept = slice(None) if table.row_numbers is None else table.row_numbers - 1
    held = [column.name for column in source.facts.used] if source.facts is not None else source.column_names or ()
    used = [name for name in names if name in held]
    numbers = np.empty((source.n_rows, 0))
    if used:
        places = [list(held).index(name) for name in used]
        numbers = np.asarray(source.map_rows(lambda block: to_host(block.rows)[:, places]), dtype=np.float64)
    categories = {name: level_column(source.labels(name)) for name in names if name in source.label_names}
    odd = next((name for name in names if name not in used and name not in categories), None)
    if odd is not None:
        message = Sentence(
            "{asked} is neither a quantity nor a category. Say which it is ({roles}).",
            asked=Parameter("supplementary", (odd,)),
            roles=Parameter("roles"),
        )
        raise ParameterError(message, parameter="supplementary", value=odd)
    columns = {name: LevelColumn(column.levels, column.codes[kept]) for name, column in categories.items()}
    return supplementary_of(
        to_host(scores).astype(np.float64), dict(zip(used, numbers[kept].T, strict=True)), columns, variances, unit=unit
    )


def supplementary_notes(found: "Supplementary", prefix: str) -> list[str]:
    """Say where supplementary columns stand on the first two components.

    Examples
    --------
    >>> from gramian.models.categories.model import Supplementary
    >>> found = Supplementary(("age",), np.array([[0.5]]), (), (), np.ones((0, 1)), np.ones((0, 1)), np.ones((0, 1)))
    >>> supplementary_notes(found, "PC")
    ["Supplementary 'age', projected and not fitted: correlation +0.50 with PC1."]
    """
    said = []
    for name, row in zip(found.quantities, found.correlations, strict=True):
        parts = [f"{value:+.2f} with {prefix}{j + 1}" for j, value in enumerate(row[:2])]
        said.append(f"Supplementary {name!r}, projected and not fitted: correlation {' and '.join(parts)}.")
    for name, row in zip(found.categories, found.eta2, strict=True):
        parts = [f"{value:.0%} of the variance of {prefix}{j + 1}" for j, value in enumerate(row[:2])]
        said.append(f"Supplementary {name!r}, projected and not fitted: its levels part {' and '.join(parts)}.")
    return said


def coded_categories(rows: Any) -> tuple[str, ...]:
    """Return the categories that rows are the levels of; none where they are numbers."""
    return rows.coding.categories if isinstance(rows, IndicatorRows) else ()


def columns_in_words(table: Prepared) -> str:
    """Return how many columns a table has, in words: quantities and categories where it is coded.

    Examples
    --------
    >>> rows = DenseRows(np.zeros((3, 2)))
    >>> columns_in_words(Prepared(rows, ("a", "b"), scale=False, notes=(), spread=np.ones(2)))
    '2 columns'
    """
    if not isinstance(table.source, IndicatorRows):
        return counted(table.source.n_columns, "column")
    coding = table.source.coding
    q, c, levels = len(coding.quantities), len(coding.categories), len(coding.proportions)
    quantities = "" if not q else "1 quantity, " if q == 1 else f"{q} quantities, "
    return f"{quantities}{c} {'category' if c == 1 else 'categories'} of {levels} levels"
