"""The tables of a fitted PCA, as R's ``summary(prcomp(...))`` and FactoMineR have them, in the library of the input."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.analysis.components import ColumnParts
from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.models.pca.model import PCAModel

LIBRARIES = ("pandas", "polars", "pyarrow")

PRINTED = 10
"""Columns, and rows, that are printed."""

PRINTED_COMPONENTS = 3
"""Components whose columns and rows are printed."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Components, columns and rows of a fitted PCA, as tables; prints as ``summary(prcomp)`` and FactoMineR do.

    Attributes
    ----------
    components : table
        Of each component its standard deviation, its variance, its share and that of it and those before.
    loadings : table (d, k)
        Components times their deviations: correlations of columns with components where columns were scaled
        (FactoMineR's ``var$coord``).
    contributions : table (d, k)
        Parts of a component that columns make up; each component sums to one (``var$contrib``, over 100).
    cos2 : table (d, k) or None
        Parts of a column's variance that components hold (``var$cos2``); ``None`` where these are not known: for part
        of the components of columns that were not scaled, without rows.
    scores : table (n, k) or None
        Of the rows that were given (``ind$coord``).
    row_contributions : table (n, k) or None
        Parts of a component that rows make up, of the sum over these rows (``ind$contrib``, over 100); zero of rows
        that a robust fit did not use.
    row_cos2 : table (n, k) or None
        Parts of a row's squared distance from the mean that components hold (``ind$cos2``).
    """

    components: Any
    loadings: Any
    contributions: Any
    cos2: Any
    scores: Any
    row_contributions: Any
    row_cos2: Any
    _text: str

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return self._text


@dataclass(frozen=True, eq=False)
class SummaryRows:
    """What a summary says of rows: scores (n, k), squared distances from the mean (n,), names, which were used."""

    scores: HostArray
    squares: HostArray
    names: Sequence[str]
    used: HostArray


def library_of(X: Any) -> str | None:
    """Return the library that a table is of: "pandas", "polars" or "pyarrow"; ``None`` for all else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> library_of(pa.table({"a": [1.0]})), library_of(np.zeros((2, 2)))
    ('pyarrow', None)
    """
    name = type(X).__module__.partition(".")[0]
    return name if name in LIBRARIES else None


def summarize(
    model: PCAModel,
    names: Sequence[str],
    *,
    spread: HostArray | None = None,
    rows: SummaryRows | None = None,
    library: str | None = None,
) -> Summary:
    """Return the tables of a fitted PCA.

    Parameters
    ----------
    model : PCAModel
    names : sequence of d str
    spread : numpy array (d,), optional
        Deviations of the columns as the model saw them, where the model alone does not tell them.
    rows : SummaryRows, optional
    library : str, optional
        Of the tables: "pandas", "polars" or "pyarrow"; pandas where it is installed for all else.

    Examples
    --------
    >>> from gramian.models.pca.fit import fit_pca
    >>> from gramian.sources import as_source
    >>> X = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 5.0], [4.0, 4.0]])
    >>> print(summarize(fit_pca(as_source(X)), ["a", "b"], library="pyarrow"))
    Importance of components
                                PC1     PC2
    Standard deviation        2.089   0.798
    Variance                  4.363   0.637
    Proportion of variance    0.873   0.127
    Cumulative proportion     0.873   1.000
    <BLANKLINE>
    Columns (loading, contribution in %, cos2)
             PC1    ctr   cos2     PC2    ctr   cos2
    a      1.098  27.64  0.724   0.679  72.36  0.276
    b      1.777  72.36  0.947  -0.419  27.64  0.053
    """
    if library not in LIBRARIES:
        library = "pandas" if importlib.util.find_spec("pandas") else "pyarrow"
    called = [f"{model.prefix}{j + 1}" for j in range(model.n_components)]
    variances, shares = (to_host(part).astype(FLOAT64) for part in (model.variances, model.shares))
    parts = ColumnParts.of(model, model.column_deviations if spread is None else spread)
    importance = np.column_stack([np.sqrt(np.maximum(variances, 0.0)), variances, shares, np.cumsum(shares)])
    heads = ["deviation", "variance", "share", "together"]
    cos2 = parts.cos2
    squares = None if rows is None else np.square(rows.scores)
    text = [_importance(importance, called)]
    text.append(
        _detailed(
            "Columns",
            names,
            called,
            values=model.loadings,
            contributions=parts.contributions.T,
            cos2=None if cos2 is None else cos2.T,
        )
    )
    row_parts = row_cos2 = None
    if rows is not None and squares is not None:
        fitted = np.where(rows.used[:, None], squares, 0.0)
        row_parts, row_cos2 = _over(fitted, fitted.sum(axis=0)), _over(squares, rows.squares[:, None])
        text.append(_detailed("Rows", rows.names, called, values=rows.scores, contributions=row_parts, cos2=row_cos2))

    def table(values: HostArray | None, first: str, at: Sequence[str], columns: Sequence[str]) -> Any:
        return None if values is None else _table(values, first, at, columns, library)

    at_rows = () if rows is None else rows.names
    return Summary(
        table(importance, "component", called, heads),
        table(model.loadings, "column", names, called),
        table(parts.contributions.T, "column", names, called),
        table(None if cos2 is None else cos2.T, "column", names, called),
        table(None if rows is None else rows.scores, "row", at_rows, called),
        table(row_parts, "row", at_rows, called),
        table(row_cos2, "row", at_rows, called),
        "\n\n".join(text),
    )


def _over(values: HostArray, whole: HostArray) -> HostArray:
    whole = np.broadcast_to(whole, values.shape)
    found: HostArray = np.divide(values, whole, out=np.zeros_like(values), where=whole > 0)
    return found


def _table(values: HostArray, first: str, at: Sequence[str], columns: Sequence[str], library: str) -> Any:
    """Return a table whose rows have names: the index of a pandas frame, the first column of others."""
    import narwhals as nw

    data = {first: list(at)} | {name: np.ascontiguousarray(values[:, j]) for j, name in enumerate(columns)}
    backend: Any = library
    found = nw.from_dict(data, backend=backend)
    return nw.maybe_set_index(found, column_names=first).to_native()


def _importance(values: HostArray, called: Sequence[str]) -> str:
    words = ("Standard deviation", "Variance", "Proportion of variance", "Cumulative proportion")
    lines = ["Importance of components", " " * 23 + "".join(f"{name:>8}" for name in called[:PRINTED])]
    lines += [
        f"{word:23}" + "".join(f"{_digits(value):>8}" for value in row[:PRINTED])
        for word, row in zip(words, values.T, strict=True)
    ]
    return "\n".join([*lines, *_more(len(called) - PRINTED, "component")])


def _digits(value: float) -> str:
    size = abs(value)
    return f"{value:.3f}" if 5e-4 <= size < 100 or not size else f"{value:.0f}" if 100 <= size < 1e5 else f"{value:.1e}"


def _detailed(
    title: str,
    at: Sequence[str],
    called: Sequence[str],
    *,
    values: HostArray,
    contributions: HostArray,
    cos2: HostArray | None,
) -> str:
    """Return a line per column or row: place, contribution in percent and squared cosine, by component."""
    k, what = min(len(called), PRINTED_COMPONENTS), "loading" if title == "Columns" else "score"
    width = max(4, *(len(name) for name in at[:PRINTED]))
    told = f"{what}, contribution in %{'' if cos2 is None else ', cos2'}"
    lines = [f"{title} ({told}{f'; the first {PRINTED} of {len(at):,}' if len(at) > PRINTED else ''})"]
    lines.append(
        " " * width + "".join(f"{name:>8}{'ctr':>7}{'' if cos2 is None else '   cos2'}" for name in called[:k])
    )
    for i, name in enumerate(at[:PRINTED]):
        cells = (
            f"{_digits(values[i, j]):>8}{100 * contributions[i, j]:>7.2f}"
            f"{'' if cos2 is None else f'{cos2[i, j]:>7.3f}'}"
            for j in range(k)
        )
        lines.append(f"{name:{width}}{''.join(cells)}")
    return "\n".join(lines)


def _more(count: int, noun: str) -> list[str]:
    return [f"and {count} more {noun}{'' if count == 1 else 's'}"] if count > 0 else []
