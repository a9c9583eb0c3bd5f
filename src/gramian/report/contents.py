"""The numbers of a page, packed for its script: one entry per picture."""

import json
from base64 import b64encode
from typing import Any

import numpy as np

from gramian.analysis.groups import groups_of, is_number
from gramian.analysis.table import shortened
from gramian.errors import NotSupportedError
from gramian.models.row_values import values_at
from gramian.pictures import (
    column_map,
    eigenfunctions_of,
    kernel_profiles,
    leading_columns,
    source_traces,
)
from gramian.pictures.sources import FEWEST_ROWS
from gramian.report.material import Material
from gramian.report.recipes import cut_code

MOST_BARS = 200
"""Components in the picture of the variance."""

MOST_COLUMNS = 300
"""Arrows in the map of columns, the longest ones."""

MAP_COMPONENTS = 10
"""Components that a map can be drawn on."""

MOST_GROUPS = 200
"""Groups of a label that are kept apart; the rest is called other."""


def contents(made: Material, *, sampling_rate: float | None) -> dict[str, Any]:
    """Return everything that the script of a page draws."""
    shape = made.image_shape
    parts = {
        "kind": made.kind,
        "imageShape": None if shape is None else {"height": shape[0], "width": shape[1]},
        "components": [short(name) for name in made.components[:MOST_BARS]],
        "scree": _scree(made),
        "rows": _rows(made),
        "columns": _columns(made),
        "weights": _weights(made),
        "outliers": _outliers(made),
        "images": _images(made),
        "surfaces": _surfaces(made),
        "preimages": _preimages(made),
        "traces": _traces(made, sampling_rate),
    }
    return {name: part for name, part in parts.items() if part is not None}


def _scree(made: Material) -> dict[str, Any]:
    scree = made.scree
    rules = [] if made.choice is None else [{"rule": v.rule, "k": v.n_components} for v in made.choice.verdicts]
    return {
        "shares": rounded(scree.shares[:MOST_BARS], 8),
        "variances": rounded(scree.variances[:MOST_BARS], 8),
        "noise": rounded(scree.noise[:MOST_BARS], 6),
        "chosen": scree.chosen,
        "even": scree.even_share,
        "total": len(scree.shares),
        "rules": rules,
        "code": cut_code(made),
    }


def _rows(made: Material) -> dict[str, Any] | None:
    rows = made.rows
    if rows is None:
        return None
    at = rows.positions
    return {
        "total": rows.n_rows,
        "shown": len(at),
        "positions": integers(at),
        "names": None if made.row_names is None else [short(made.row_names[i]) for i in at],
        "scores": floats(rows.scores),
        "components": rows.scores.shape[1],
        "values": floats(rows.values),
        "valueNames": [short(made.names[j]) for j in rows.columns],
        "mean": rounded(rows.mean[rows.columns]) if len(rows.mean) else [],
        "spread": rounded(rows.spread[rows.columns]) if len(rows.spread) else [],
        "labels": [_label(name, values[at]) for name, values in made.labels.items()],
        "color": made.color,
    }


def _label(name: str, values: np.ndarray) -> dict[str, Any]:
    """Return one label of the shown rows: numbers, or codes into a list of groups, the largest first."""
    if is_number(values):
        return {"name": short(name), "numbers": floats(values)}
    groups = groups_of(values)
    found, counts = np.unique(groups.astype(str), return_counts=True)
    kept = sorted(found[np.argsort(-counts, kind="stable")][:MOST_GROUPS].tolist(), key=_naturally)
    place = {group: code for code, group in enumerate(kept)}
    if len(found) > MOST_GROUPS:
        kept.append("other")
    codes = [place.get(str(group), MOST_GROUPS) for group in groups]
    return {"name": short(name), "groups": [short(group) for group in kept], "codes": integers(codes)}


def _naturally(text: str) -> tuple[int, float, str]:
    """Put numbers written as text in the order of numbers."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def _columns(made: Material) -> dict[str, Any] | None:
    # Arrows on a line say no more than the weights on the card.
    if made.model.loadings is None or not made.telling or made.model.n_components < 2:
        return None
    spread = made.rows.spread if made.rows is not None and len(made.rows.spread) and not made.scaled else None
    view = column_map(made.model, names=made.names, deviations=spread)
    near = view.positions[:, :MAP_COMPONENTS]
    order = np.argsort(-(near[:, :2] ** 2).sum(axis=1), kind="stable")[:MOST_COLUMNS]
    return {
        "names": [short(view.names[j]) for j in order],
        "positions": floats(near[order]),
        "components": near.shape[1],
        "correlations": view.correlations,
        "scaling": view.scaling,
        "total": len(view.names),
    }


def _weights(made: Material) -> dict[str, Any] | None:
    """The numbers of the cards: every column of the first components; images have their pixels elsewhere."""
    if made.model.loadings is None or not made.telling:
        return None
    shown = range(min(len(made.components), MAP_COMPONENTS))
    columns = [leading_columns(made.model, j, count=MOST_COLUMNS, names=made.names) for j in shown]
    return {"lines": [[made.components[j], short(c.name), *rounded([c.weight])] for j in shown for c in columns[j]]}


def _outliers(made: Material) -> dict[str, Any] | None:
    if made.outliers is None or made.rows is None:
        return None
    found, at = made.outliers.found, made.rows.positions
    limits = rounded([found.t2_limit, found.spe_limit])
    # Without a limit every direction is kept, and what is left of the rows is rounding.
    spe = floats(found.spe[at]) if np.isfinite(found.spe_limit) else None
    return {"t2": floats(found.t2[at]), "spe": spe, "t2Limit": limits[0], "speLimit": limits[1]}


def _images(made: Material) -> dict[str, Any] | None:
    if made.image_shape is None or made.kind != "pca" or made.source is None or made.rows is None:
        return None
    d, scores = made.model.n_columns, made.scores
    # About 64 images of 64 x 64 pixels, and fewer of larger ones.
    count = max(1, min(made.model.n_components, 64, 260_000 // d))
    chosen = np.unique(np.linspace(0, made.rows.n_rows - 1, min(12, made.rows.n_rows)).astype(np.int64))
    factor = 1.0 if made.model.factor is None else np.where(made.model.factor > 0, made.model.factor, 1.0)
    return {
        "count": count,
        "mean": pixels(np.asarray(made.model.mean, dtype=np.float64)),
        "components": [pixels(v / factor) for v in np.asarray(made.model.components[:count], dtype=np.float64)],
        "examples": [made.row_name(int(i)) for i in chosen],
        "originals": [pixels(row) for row in values_at(made.source, chosen)],
        "scores": [] if scores is None else [rounded(scores[i, :count]) for i in chosen],
    }


def _surfaces(made: Material) -> dict[str, Any] | None:
    if made.kind != "kernel" or made.model.n_columns != 2 or not made.model.source.n_rows:
        return None
    view = eigenfunctions_of(made.model, count=6, steps=48)
    return {
        "x": rounded(view.x, 5),
        "y": rounded(view.y, 5),
        "values": [floats(surface.ravel()) for surface in view.values],
        "points": floats(view.points[:600]),
        "names": made.names,
    }


def _preimages(made: Material) -> dict[str, Any] | None:
    """Pre-images of a kernel, where the columns are no plane to draw on and rows can be rebuilt."""
    if made.kind != "kernel" or made.model.n_columns == 2 or made.source is None or made.rows is None:
        return None
    try:
        view = kernel_profiles(made.model, made.source)
    except NotSupportedError:
        return None
    kept = np.arange(made.model.n_columns) if made.image_shape else made.rows.columns
    return {
        "names": [short(made.names[j]) for j in kept],
        "steps": list(view.steps),
        "profiles": [floats(walk[:, kept].ravel()) for walk in view.profiles],
        "mean": rounded(made.rows.mean[kept]),
        "spread": rounded(made.rows.spread[kept]),
        "examples": [made.row_name(int(i)) for i in view.positions],
        "originals": [floats(row[kept]) for row in view.originals],
        "rebuilt": [floats(row[kept]) for row in view.rebuilt],
        "kept": rounded(view.kept, 4),
    }


def _traces(made: Material, sampling_rate: float | None) -> dict[str, Any] | None:
    if made.kind != "ica" or made.scores is None or len(made.scores) < FEWEST_ROWS:
        return None
    view = source_traces(made.model, made.scores, sampling_rate=sampling_rate, steps=700)
    shown = slice(0, 16)
    return {
        "names": list(view.names[shown]),
        "time": rounded(view.time, 6),
        "low": [floats(line) for line in view.low[shown]],
        "high": [floats(line) for line in view.high[shown]],
        "frequencies": rounded(view.frequencies, 6),
        "spectra": [floats(line) for line in view.spectra[shown]],
        "shares": rounded(view.shares[shown], 4),
        "kurtosis": None if view.kurtosis is None else rounded(view.kurtosis[shown], 4),
        "stability": None if view.stability is None else rounded(view.stability[shown], 4),
        "gaussian": list(view.gaussian),
        "unit": view.unit,
        "total": len(view.names),
    }


def floats(values: Any) -> dict[str, str]:
    """Pack numbers as little-endian float32 in base64, column after column.

    Examples
    --------
    >>> floats(np.array([1.0, 2.0]))
    {'f32': 'AACAPwAAAEA='}
    """
    return {"f32": b64encode(np.asarray(values, dtype="<f4").tobytes(order="F")).decode("ascii")}


def integers(values: Any) -> dict[str, str]:
    """Pack whole numbers as little-endian int32 in base64."""
    return {"i32": b64encode(np.asarray(values, dtype="<i4").tobytes(order="F")).decode("ascii")}


def pixels(values: np.ndarray) -> dict[str, Any]:
    """Pack numbers as 16-bit steps between their extremes: 1/65535 of the range is finer than a screen shows.

    Examples
    --------
    >>> pixels(np.array([0.0, 1.0]))["high"]
    1.0
    """
    low, high = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    unit = (high - low) / 65535 or 1.0
    steps = np.round((np.asarray(values) - low) / unit).astype("<u2")
    return {"u16": b64encode(steps.tobytes()).decode("ascii"), "low": low, "high": high}


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Return numbers as short JSON, ``None`` for those that JSON does not have.

    Examples
    --------
    >>> rounded([1 / 3, float("nan")])
    [0.333333, None]
    """
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values).tolist()]


def short(name: Any) -> str:
    """Return a name, cut in the middle to the 80 letters that a page keeps.

    Examples
    --------
    >>> len(short("a" * 500))
    80
    """
    return shortened(str(name), 80)


def safe_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element, whatever names are in it.

    Examples
    --------
    >>> safe_json({"a": "</script><script>"})
    '{"a":"\\u003c/script>\\u003cscript>"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
