"""The numbers of a page, packed for its script: what is said at every cut, and one entry per picture."""

import json
import re
from base64 import b64encode
from typing import Any

import numpy as np

from gramian.analysis.components import ColumnParts, ends_of, stretch_names
from gramian.analysis.findings import counted, percent, share_words, shortened
from gramian.analysis.groups import LEVEL, groups_of, is_number
from gramian.analysis.rows import ShownRows
from gramian.choosing.spectrum import Verdict
from gramian.errors import NotSupportedError
from gramian.models.categories.model import CodedModel
from gramian.models.pca.scoring import Outliers
from gramian.models.row_values import values_at
from gramian.pictures import column_map, eigenfunctions_of, kernel_profiles, source_traces
from gramian.pictures.fitted import host
from gramian.pictures.sources import FEWEST_ROWS
from gramian.report.material import Material
from gramian.report.recipes import cut_code

MOST_COMPONENTS = 200
"""Components in the picture of the variance, and those that can be chosen."""

MOST_COLUMNS = 300
"""Columns of the circle and of the table, those with the largest parts; ordered columns are all drawn."""

MOST_NUMBERS = 600_000
"""Scores of rows on all components together, and numbers of columns."""

MOST_GROUPS = 200
"""Groups of a label that are kept apart; the rest is called other."""

THUMBNAILS = 120
"""Rows whose images are drawn on the map."""

MOST_SURFACES = 40
"""Components of a kernel that are drawn."""

SMOOTH = 0.7
"""Correlation of neighbors along the first component above which columns with numbers as names are a curve."""


def contents(made: Material, cuts: dict[str, Any], *, sampling_rate: float | None) -> dict[str, Any]:
    """Return everything that the script of a page draws; ``cuts`` are those of :func:`cuts_of`."""
    shape = made.image_shape
    shown = range(min(len(made.components), MOST_COMPONENTS))
    parts = {
        "kind": made.kind,
        "imageShape": None if shape is None else {"height": shape[0], "width": shape[1]},
        "components": [short(made.components[j]) for j in shown],
        "total": len(made.components),
        "kept": max(made.scree.chosen, 1),
        "cuts": cuts,
        "scree": _scree(made),
        "poles": _poles(made, shown),
        "rows": _rows(made),
        "columns": _columns(made),
        "groups": _groups(made),
        "images": _images(made),
        "surfaces": _surfaces(made),
        "preimages": _preimages(made),
        "traces": _traces(made, sampling_rate),
    }
    return {name: part for name, part in parts.items() if part is not None}


def cuts_of(made: Material) -> dict[str, Any]:
    """Return what is said, and which rows are to be checked, by the number of components kept."""
    return {str(k): _cut(made, k) for k in made.cuts}


def _cut(made: Material, k: int) -> dict[str, Any]:
    cut = made.at(k)
    found = {
        "holds": share_words(cut.share, cut.share_interval),
        "said": [{"kind": one.kind, "text": str(one)} for one in cut.findings],
        "figures": _figures(made, k, cut),
        "code": cut_code(made).replace("{}", str(k)),
    }
    if cut.outliers is None:
        return found
    check: dict[str, Any] = {"flagged": len(cut.outliers.found.flagged)}
    if made.rows is not None:
        listed = cut.outliers.unusual
        times = _over_limits(cut.outliers.found, [row.row for row in listed])
        check["unusual"] = [
            {
                "row": row.row,
                "name": short(made.row_name(row.row)),
                **{name: None if d is None else rounded(d)[i] for name, d in times.items()},
                "blame": [[short(b.name), *rounded([b.value, b.deviations], 4)] for b in row.blame]
                if made.telling
                else [],
            }
            for i, row in enumerate(listed)
        ]
    return found | {"check": check}


def _figures(made: Material, k: int, cut: Any) -> list[list[str]]:
    """Return four figures that answer a reader's questions: value, what it is, a remark, and where more of it is."""
    found: list[list[str]] = []
    if made.kind == "ica":
        found.append([str(k), "source" if k == 1 else "sources", "unmixed from the columns", "traces"])
    else:
        low, high = cut.share_interval or (0.0, 0.0)
        ends = percent(low), percent(high)
        remark = f"{ends[0]} to {ends[1]} in other samples" if cut.share_interval and ends[0] != ends[1] else ""
        found.append([percent(cut.share), f"of the variance in {counted(k, 'component')}", remark, "variance"])
    if cut.outliers is not None and np.isfinite([cut.outliers.found.t2_limit, cut.outliers.found.spe_limit]).any():
        count, remark = len(cut.outliers.found.flagged), f"beyond the {cut.outliers.found.level:.0%} limits"
        found.append([f"{count:,}", "row to check" if count == 1 else "rows to check", remark, "check"])
    sure = [t for t in made.told.labels if not t.is_number and t.p_values.min(initial=1.0) <= LEVEL]
    clouds = made.told.clouds
    if sure:
        test, j = max(((t, int(np.argmax(t.effects))) for t in sure), key=lambda pair: pair[0].effects[pair[1]])
        where = f"of {made.components[j]} lies between groups"
        found.append([percent(float(test.effects[j])), where, f"of {shortened(test.name, 40)}", "groups"])
    elif clouds is not None:
        count = len(clouds.sizes) if clouds.gaps else 1
        remark = "no gap parts the rows" if count == 1 else " and ".join(f"{size:,}" for size in clouds.sizes[:3])
        found.append(["no" if count == 1 else str(count), "separate clouds", remark, "map"])
    if made.missing is not None:
        count, became = made.missing
        found.append([f"{count:,}", "missing value" if count == 1 else "missing values", became, "done"])
    found.append([f"{made.model.n_rows:,}", "row" if made.model.n_rows == 1 else "rows", "", "done"])
    coded = "" if made.coding is None else f"coded as {made.model.n_columns:,}"
    found.append([f"{made.n_columns:,}", "column" if made.n_columns == 1 else "columns", coded, "done"])
    return found[:4]


def _scree(made: Material) -> dict[str, Any]:
    scree, shown = made.scree, slice(0, MOST_COMPONENTS)
    rules = [] if made.choice is None else [{"rule": v.rule, "k": _stands_out(v)} for v in made.choice.verdicts]
    intervals = made.told.about.intervals
    return {
        "shares": rounded(scree.shares[shown], 8),
        "variances": rounded(scree.variances[shown], 8),
        "noise": rounded(scree.noise[shown], 6),
        "intervals": [] if intervals is None else [rounded(pair, 8) for pair in intervals.shares[shown]],
        "rules": rules,
    }


def _stands_out(verdict: Verdict) -> int:
    """Return what a rule answers: none, where one is kept although nothing stands out."""
    return 0 if verdict.detail.get("parallel") == 0 else verdict.n_components


def _poles(made: Material, shown: range) -> list[list[list[str]]] | None:
    """Return the columns at both ends of each component: those falling, and those rising."""
    examined = made.told
    if not made.telling or made.kind == "kernel":
        return None
    parts, intervals = examined.about.parts, examined.about.intervals
    if made.kind == "ica":
        if examined.sources is None:
            return None
        parts, intervals = ColumnParts(examined.sources, examined.sources**2), None
    found = []
    for j in shown:
        ends = ends_of(j, parts, intervals, None, has_names=False, near=examined.about.near)
        sides = (stretch_names(made.names, side, ends.stretches) for side in (ends.falling, ends.rising))
        found.append([[shortened(name, 28) for name in side] for side in sides])
    return found


def _rows(made: Material) -> dict[str, Any] | None:
    rows = made.rows
    if rows is None:
        return None
    at, m = rows.positions, max(len(rows.positions), 1)
    scores = rows.scores
    if made.scores is not None:
        count = min(made.scores.shape[1], max(rows.scores.shape[1], MOST_NUMBERS // m), MOST_COMPONENTS)
        scores = made.scores[at][:, :count]
    names = None if made.row_names is None else [short(made.row_names[i]) for i in at]
    # Coded columns, as the table has them.
    unit, origin = (1.0, 0.0) if made.coding is None else made.coding.units[:, rows.columns]
    quantities = made.n_columns if made.coding is None else len(made.coding.quantities)
    return {
        "total": rows.n_rows,
        "shown": len(at),
        "positions": integers(at),
        "names": names,
        "scores": floats(scores),
        "components": scores.shape[1],
        "values": floats(rows.values * unit + origin),
        "valueNames": [] if made.image_shape else [short(made.names[j]) for j in rows.columns],
        "quantities": int((rows.columns < quantities).sum()),
        "mean": rounded(rows.mean[rows.columns] * unit + origin) if len(rows.mean) else [],
        "spread": rounded(rows.spread[rows.columns] * unit) if len(rows.spread) else [],
        "labels": [_label(name, values[at]) for name, values in made.labels.items()],
        "dates": [_dates(name, values[at]) for name, values in made.dates.items()],
        "color": made.color,
        "distances": {
            str(k): {name: None if d is None else floats(d) for name, d in _over_limits(far.found, at).items()}
            for k in made.cuts
            if (far := made.at(k).outliers) is not None
        },
    }


def _over_limits(far: Outliers, at: Any) -> dict[str, np.ndarray | None]:
    """Return both distances of some rows, in units of their limits; ``None`` where a limit means nothing."""
    pairs = {"t2": (far.t2, far.t2_limit), "spe": (far.spe, far.spe_limit)}
    return {name: values[at] / limit if np.isfinite(limit) else None for name, (values, limit) in pairs.items()}


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


def _dates(name: str, values: np.ndarray) -> dict[str, Any]:
    """Return dates as seconds since 1970; what is no date is no number."""
    seconds = values.astype("datetime64[s]").astype(np.float64)
    seconds[np.isnat(values)] = np.nan
    return {"name": short(name), "seconds": {"f64": b64encode(seconds.astype("<f8").tobytes()).decode("ascii")}}


def _naturally(text: str) -> tuple[int, float, str]:
    """Put numbers written as text in the order of numbers."""
    try:
        return (0, float(text), text)
    except ValueError:
        return (1, 0.0, text)


def _columns(made: Material) -> dict[str, Any] | None:
    """The columns on all components: where they stand, squared cosines, contributions, and intervals."""
    model = made.model
    if model.loadings is None or made.image_shape is not None:
        return None
    positions, cos2, words = _positions(made)
    contributions = np.asarray(host(model.directions), dtype=np.float64).T ** 2
    ordered = _ordered(made)
    if ordered is None and not made.telling:
        return None
    d, k = positions.shape
    kept = np.arange(d)
    if ordered is None and d > MOST_COLUMNS:
        weight = contributions[:, : max(3, made.scree.chosen)].max(axis=1)
        kept = np.sort(np.argsort(-weight, kind="stable")[:MOST_COLUMNS])
    count = max(1, min(k, MOST_COMPONENTS, MOST_NUMBERS // (3 * len(kept))))
    found = {
        "names": [short(made.names[j]) for j in kept],
        "total": d,
        "components": count,
        "positions": floats(positions[kept, :count]),
        "contributions": floats(contributions[kept, :count]),
        "cos2": None if cos2 is None else floats(cos2[kept, :count]),
        "words": words,
        "unit": "coordinate" if isinstance(model, CodedModel) else "loading" if cos2 is None else "correlation",
        "ordered": ordered,
        "telling": made.telling,
    }
    intervals = made.told.about.intervals
    between = np.zeros((0, 0, 2)) if intervals is None else intervals.correlations[:count, kept]
    if len(between) and cos2 is not None and not isinstance(model, CodedModel) and len(kept) <= MOST_COLUMNS:
        found |= {"intervals": [floats(between[..., 0].T), floats(between[..., 1].T)], "sure": len(between)}
    more = made.supplementary
    if more is not None and len(more.quantities):
        found["supplementary"] = {
            "names": [short(name) for name in more.quantities],
            "components": more.correlations.shape[1],
            "positions": floats(more.correlations),
        }
    return found


def _positions(made: Material) -> tuple[np.ndarray, np.ndarray | None, str]:
    """Return coordinates of the columns (d, k), squared cosines, and what the coordinates are in words."""
    model = made.model
    if isinstance(model, CodedModel):
        return model.column_coordinates, model.cos2, "coordinates of levels, and correlations of quantities"
    sources = made.told.sources
    if made.kind == "ica" and sources is not None:
        return sources.T, sources.T**2, "correlations with the sources"
    spread = made.rows.spread if made.rows is not None and len(made.rows.spread) and not made.scaled else None
    if made.told.about.parts.correlations is not None:
        found = np.asarray(made.told.about.parts.correlations).T
        return found, found**2, "correlations with the components"
    view = column_map(model, names=made.names, deviations=spread)
    return view.positions, view.positions**2 if view.correlations else None, view.scaling


def _ordered(made: Material) -> dict[str, Any] | None:
    """Return the axis of columns that are points of a curve: a spectrum, a time series; ``None`` of any others."""
    d = len(made.names)
    if not made.telling:
        return {"at": list(range(1, d + 1)), "name": "column"}
    if d < 20:
        return None
    found = [re.fullmatch(r"(.*?)(-?\d+(?:\.\d+)?)(\D*)", name) for name in made.names]
    if any(one is None for one in found) or len({(one[1], one[3]) for one in found if one is not None}) > 1:
        return None
    at = np.array([float(one[2]) for one in found if one is not None])
    first = np.asarray(host(made.model.directions), dtype=np.float64)[0]
    first = first - first.mean()
    size = float(first @ first)
    if not (np.all(np.diff(at) > 0) or np.all(np.diff(at) < 0)) or size == 0 or first[1:] @ first[:-1] < SMOOTH * size:
        return None
    words = f"{found[0][1]} {found[0][3]}".strip(" _-.") if found[0] is not None else ""
    return {"at": rounded(at), "name": short(words or "column")}


def _groups(made: Material) -> list[dict[str, Any]] | None:
    """How each label goes with each component: effect sizes, correlations of numbers, and p-values."""
    tests = made.told.labels
    if not tests:
        return None
    shown = slice(0, MOST_COMPONENTS)
    return [
        {
            "name": short(test.name),
            "number": test.is_number,
            "effects": rounded(test.effects[shown], 8),
            "correlations": None if test.correlations is None else rounded(test.correlations[shown], 4),
            "p": rounded(test.p_values[shown], 4),
            "level": LEVEL,
        }
        for test in tests
    ]


def _images(made: Material) -> dict[str, Any] | None:
    if made.image_shape is None or made.kind != "pca":
        return None
    d = made.model.n_columns
    # About 64 images of 64 x 64 pixels, and fewer of larger ones.
    count = max(1, min(made.model.n_components, 64, 260_000 // d))
    factor = 1.0 if made.model.factor is None else np.where(made.model.factor > 0, made.model.factor, 1.0)
    found = {
        "count": count,
        "mean": pixels(np.asarray(made.model.mean, dtype=np.float64)),
        "components": [pixels(v / factor) for v in np.asarray(made.model.components[:count], dtype=np.float64)],
    }
    if made.source is None or made.rows is None or made.scores is None:
        return found
    chosen = np.unique(np.linspace(0, made.rows.n_rows - 1, min(12, made.rows.n_rows)).astype(np.int64))
    return found | {
        "examples": [made.row_name(int(i)) for i in chosen],
        "originals": [pixels(row) for row in values_at(made.source, chosen)],
        "scores": [rounded(made.scores[i, :count]) for i in chosen],
        "thumbnails": _thumbnails(made, made.rows, made.image_shape),
    }


def _thumbnails(made: Material, rows: ShownRows, shape: tuple[int, int]) -> dict[str, Any]:
    """Return small images of rows that lie all over the map, of at most 32 pixels a side."""
    height, width = shape
    plane = rows.scores[:, :2] if rows.scores.shape[1] > 1 else np.c_[rows.scores[:, 0], rows.positions]
    low, high = plane.min(axis=0), plane.max(axis=0)
    cells = np.floor((plane - low) / np.where(high > low, high - low, 1.0) * [13.99, 9.99]).astype(int) @ [10, 1]
    _, first = np.unique(cells, return_index=True)
    taken = np.sort(first[:THUMBNAILS])
    step = -(-max(height, width) // 32)
    h, w = height // step, width // step
    images = np.asarray(values_at(made.source, rows.positions[taken]), dtype=np.float64)
    small = images.reshape(-1, height, width)[:, : h * step, : w * step].reshape(-1, h, step, w, step).mean(axis=(2, 4))
    low_, high_ = small.min(axis=(1, 2), keepdims=True), small.max(axis=(1, 2), keepdims=True)
    grays = np.round(255 * (small - low_) / np.where(high_ > low_, high_ - low_, 1.0)).astype(np.uint8)
    return {"rows": taken.tolist(), "height": h, "width": w, "u8": b64encode(grays.tobytes()).decode("ascii")}


def _surfaces(made: Material) -> dict[str, Any] | None:
    if made.kind != "kernel" or made.model.n_columns != 2 or not made.model.source.n_rows:
        return None
    view = eigenfunctions_of(made.model, count=MOST_SURFACES, steps=48)
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
        view = kernel_profiles(made.model, made.source, count=MOST_SURFACES)
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
    return {
        "names": list(view.names),
        "time": rounded(view.time, 6),
        "low": [floats(line) for line in view.low],
        "high": [floats(line) for line in view.high],
        "frequencies": rounded(view.frequencies, 6),
        "spectra": [floats(line) for line in view.spectra],
        "shares": rounded(view.shares, 8),
        "kurtosis": None if view.kurtosis is None else rounded(view.kurtosis, 4),
        "stability": None if view.stability is None else rounded(view.stability, 4),
        "gaussian": list(view.gaussian),
        "unit": view.unit,
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
