"""Is every finding true? Recomputed from the table with NumPy and pandas, by nothing that wrote the sentences.

    python -m benchmarks.check_findings true FILE ...      every finding of these tables, and of generated ones
    python -m benchmarks.check_findings noise [COUNT]      how often something is said to stand out of pure noise
    python -m benchmarks.check_findings far [COUNT]        in how many Gaussian tables a row is said to lie far out
    python -m benchmarks.check_findings power [REPEATS [FILE]]   how often groups, clouds, outliers are found, by size

A finding is false where a number of its sentence is none of its numbers, or where these are not what the table says:
shares and correlations by a singular value decomposition, intervals by drawing rows again, groups by means within them,
clouds by a histogram, outliers by the components of the rows that are not said to be far out.
"""

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

DRAWS = 100


class Table:
    """Numbers as they were fitted, their components, and what names and labels the rows.

    ``blocks`` are the columns of each category that was coded: variances of those are over n, not n - 1.
    """

    def __init__(
        self,
        frame: pd.DataFrame,
        *,
        scaled: bool,
        labels: Mapping[str, Any],
        rows: Sequence[str] | None,
        blocks: Sequence[Sequence[int]] = (),
    ) -> None:
        self.frame, self.scaled, self.rows, self.blocks = frame, scaled, rows, blocks
        self.labels = {name: pd.Series(np.asarray(values, dtype=object)) for name, values in labels.items()}
        self.X = frame.to_numpy(dtype=np.float64)
        self.n, self.d = self.X.shape
        self.Z = self._standardized(self.X)
        self.variances, self.scores = components(self.Z)
        self.shares = self.variances / np.square(self.Z).sum() * (self.n - 1)
        self.unit = (self.n - 1) / self.n if blocks else 1.0
        self.variances = self.variances * self.unit

    def _standardized(self, X: np.ndarray) -> np.ndarray:
        centered = X - X.mean(axis=0)
        if not self.scaled:
            return centered
        spread = centered.std(axis=0, ddof=1)
        return np.divide(centered, spread, out=np.zeros_like(centered), where=spread > 0)

    def between(self, first: str, last: str) -> list[str]:
        """Return the columns from one to another."""
        names = list(self.frame.columns)
        return names[names.index(first) : names.index(last) + 1]

    def correlation(self, column: str, component: int) -> float:
        """Return Pearson's correlation of a column with a score."""
        found = np.corrcoef(self.frame[column].to_numpy(dtype=np.float64), self.scores[:, component])
        return float(found[0, 1])

    def drawn_shares(self, draws: int, rng: np.random.Generator) -> np.ndarray:
        """Return shares of the components of rows drawn again (draws, k)."""
        found = []
        for _ in range(draws):
            Z = self._standardized(self.X[rng.integers(0, self.n, self.n)])
            variances = components(Z)[0]
            found.append((variances / variances.sum())[: len(self.shares)])
        least = min(map(len, found))
        return np.array([shares[:least] for shares in found])


def components(Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return variances and scores of centered rows, by the smaller of both matrices."""
    n, d = Z.shape
    if d <= n:
        values, V = np.linalg.eigh(Z.T @ Z / (n - 1))
        order = np.argsort(-values)[: min(n - 1, d)]
        return np.maximum(values[order], 0.0), Z @ V[:, order]
    values, U = np.linalg.eigh(Z @ Z.T / (n - 1))
    order = np.argsort(-values)[: n - 1]
    return np.maximum(values[order], 0.0), U[:, order] * np.sqrt(np.maximum(values[order], 0.0) * (n - 1))


def faults(found: Sequence[Mapping[str, Any]], table: Table, *, kept: int, seed: int = 0) -> list[str]:
    """Return a line for every finding that is false, and for every number in one that is not its own."""
    lines = []
    for finding in found:
        test = CHECKS.get(finding["kind"])
        said = [] if test is None else list(test(finding, table, kept, np.random.default_rng(seed)))
        lines += [f"{fault}: {finding['sentence']}" for fault in [*said, *unfounded_numbers(finding, table)]]
    return lines


def unfounded_numbers(finding: Mapping[str, Any], table: Table) -> list[str]:
    """Return numbers of a sentence that are none of its finding's, rounded as they are written."""
    text = finding["sentence"]
    named = [*map(str, table.frame.columns), *(table.rows or []), *map(str, table.labels)]
    evidence = finding["evidence"]
    for name in sorted({str(name) for name in named if re.search(r"[^\W\d]", str(name))}, key=len, reverse=True):
        text = text.replace(name, " ")
    text = re.sub(r"\b(?:PC|IC|KPC|D)\d+\b|\b[Rr]ows? \d+(?:, \d+)*(?: and \d+)?", " ", text)
    known = [*_numbers(finding["numbers"]), *_numbers(evidence)]
    wrong = []
    for match in re.finditer(r"(?<![\w.])[-+]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?%?", text):
        word = match[0].rstrip(",.").replace(",", "")
        is_share = text[match.start() :].startswith(match[0]) and (
            match[0].endswith("%") or re.match(r"[\d.]+ to [\d.]+%", text[match.start() :]) is not None
        )
        value = float(word.rstrip("%")) / (100 if is_share else 1)
        digits = len(word.rstrip("%").partition(".")[2]) + (2 if is_share else 0)
        mantissa, _, exponent = word.partition("e")
        step = 0.51 * 10.0**-digits
        if exponent:
            step = 0.51 * 10.0 ** (int(exponent) - len(mantissa.partition(".")[2]))
        # A value without a sign is the size of a number; a sign that is written is meant.
        signed = match[0][0] in "+-"
        if not any(abs(value - (other if signed else abs(other))) <= step for other in known):
            wrong.append(f"{match[0]} is none of its numbers")
    return wrong


def _numbers(values: Any) -> list[float]:
    if isinstance(values, Mapping):
        return [number for value in values.values() for number in _numbers(value)]
    if isinstance(values, list | tuple):
        return [number for value in values for number in _numbers(value)]
    if isinstance(values, str):  # a name that is a number
        return [float(values)] if re.fullmatch(r"[-+]?\d+(\.\d+)?", values) else []
    return [float(values)] if isinstance(values, int | float) and not isinstance(values, bool) else []


def _apart(name: str, said: float, truth: float, tolerance: float = 1e-6) -> list[str]:
    return [] if abs(said - truth) <= tolerance * max(1.0, abs(truth)) else [f"{name} is {truth:.6g}, not {said:.6g}"]


def check_component(finding: Mapping[str, Any], table: Table, _kept: int, rng: np.random.Generator) -> Iterable[str]:
    """Share, its interval, columns by correlation, and rows at both ends."""
    (j,), numbers, evidence = finding["components"], finding["numbers"], finding["evidence"]
    if "share" in numbers:
        yield from _apart("the share", numbers["share"], float(table.shares[j]))
        yield from _check_interval(numbers, table, lambda shares: shares[:, j], rng)
    sign = 1.0
    if "columns" not in evidence and table.n >= 30 and table.d > 1:
        strongest = max(abs(table.correlation(name, j)) for name in table.frame.columns)
        squares = np.square(table.scores[:, j])
        if strongest > 0.6 and squares.max() < 0.1 * squares.sum():
            yield "no column is named"
    if "correlations" in evidence:
        truth = [table.correlation(name, j) for name in evidence["columns"]]
        sign = 1.0 if truth[0] * evidence["correlations"][0] >= 0 else -1.0
        for name, said, r in zip(evidence["columns"], evidence["correlations"], truth, strict=True):
            yield from _apart(f"the correlation of {name}", said, sign * r, 1e-5)
        rest = [abs(table.correlation(name, j)) for name in table.frame.columns if table.frame[name].std() > 0]
        if max(map(abs, truth)) < max(rest) - 1e-6:
            yield "another column correlates more"
        for first, last in evidence.get("stretches", ()):
            inside = [table.correlation(name, j) for name in table.between(first, last)]
            if min(map(abs, inside)) < 0.7 * max(map(abs, truth)) - 1e-6 or min(inside) * max(inside) <= 0:
                yield f"columns {first} to {last} do not go together"
        against = " against " in finding["sentence"].split(" along ")[0]
        if len({said > 0 for said in evidence["correlations"]}) != (2 if against else 1):
            yield "columns that rise are not told from those that fall"
    if "rows" in evidence:
        scores = table.scores[:, j]
        half = len(evidence["rows"]) // 2
        ends = [set(np.argsort(s * scores)[-half:].tolist()) for s in (1, -1)]
        said = [set(evidence["rows"][:half]), set(evidence["rows"][half:])]
        values = [sorted(np.round(np.abs(scores[list(end)]), 6)) for end in said]
        truth_values = [sorted(np.round(np.abs(scores[list(end)]), 6)) for end in ends]
        if sorted(map(tuple, values)) != sorted(map(tuple, truth_values)):
            yield "other rows lie further out"


def _check_interval(
    numbers: Mapping[str, Any], table: Table, of: Callable[[np.ndarray], np.ndarray], rng: np.random.Generator
) -> Iterable[str]:
    """An interval holds its estimate, and is about as wide as the middle of rows drawn again."""
    if "share_low" not in numbers:
        return
    low, high, share = numbers["share_low"], numbers["share_high"], numbers["share"]
    if not low <= share <= high:
        yield "the interval does not hold its estimate"
    if table.n * table.d > 50_000 or table.n < 20:
        return
    drawn = of(table.drawn_shares(DRAWS, rng))
    width = 2 * 1.96 * float(drawn.std())
    if not 0.4 * width - 0.01 <= high - low <= 2.5 * width + 0.01:
        yield f"the interval is {high - low:.3f} wide, and {width:.3f} by drawing rows again"


def check_plane(finding: Mapping[str, Any], table: Table, _kept: int, rng: np.random.Generator) -> Iterable[str]:
    """Neighbors whose variances rows drawn again do not tell apart by two deviations, and that no single row makes."""
    tied = finding["components"]
    yield from _apart("the share", finding["numbers"]["share"], float(table.shares[list(tied)].sum()))
    for name, said in zip(finding["evidence"].get("columns", []), finding["evidence"].get("cos2", []), strict=True):
        yield from _apart(f"cos2 of {name}", said, sum(table.correlation(name, j) ** 2 for j in tied), 1e-5)
    for first, last in finding["evidence"].get("stretches", ()):
        for name in table.between(first, last):
            if sum(table.correlation(name, j) ** 2 for j in tied) < 0.5 - 1e-6:
                yield f"{name} is not held by these components"
    squares = np.square(table.scores[:, list(tied)])
    draws = rng.poisson(1.0, (4 * DRAWS, table.n)).astype(np.float64)
    drawn = np.log(draws @ squares / draws.sum(axis=1, keepdims=True))
    parts = squares / squares.sum(axis=0)
    if (parts.max(axis=0) > 0.5).any():
        yield "one row makes one of these components"
    for i, other in enumerate(tied[1:], start=1):
        gap = np.log(table.variances[tied[0]] / table.variances[other])
        # Where draws lack the rows that count, their deviation is no error of these rows.
        error = min(float((drawn[:, 0] - drawn[:, i]).std()), float(np.linalg.norm(parts[:, 0] - parts[:, i])))
        # Two errors are claimed; each side knows its error to a tenth, and scaling is not drawn again here.
        if gap > 2.5 * error:
            yield f"these variances are apart by {gap / error:.1f} standard errors"


def check_count(finding: Mapping[str, Any], table: Table, _kept: int, rng: np.random.Generator) -> Iterable[str]:
    """What the components kept hold, and what the next one has."""
    k, numbers = finding["numbers"]["kept"], finding["numbers"]
    yield from _apart("the share", numbers["share"], float(table.shares[:k].sum()))
    if k < len(table.shares):
        yield from _check_interval(numbers, table, lambda shares: shares[:, :k].sum(axis=1), rng)
    at = numbers.get("recommended", k)
    if "next_variance" in numbers:
        yield from _apart("the next variance", numbers["next_variance"], float(table.variances[at]))
    if "after" in numbers:
        yield from _apart("the variance after", numbers["after"], float(table.variances[at]))
    if "variance" in numbers:
        yield from _apart("the first variance", numbers["variance"], float(table.variances[0]), 1e-4)
    if "without" in numbers:
        others = np.delete(table.X, finding["evidence"]["left_out"], axis=0)
        Z = (others - others.mean(axis=0)) / (others.std(axis=0, ddof=1) if table.scaled else 1.0)
        reached = np.quantile([components(rng.permuted(Z, axis=0))[0][0] for _ in range(DRAWS)], 0.9)
        if components(Z)[0][0] <= reached:
            yield "without these rows nothing is larger than shuffled columns"


def check_noise(finding: Mapping[str, Any], table: Table, _kept: int, rng: np.random.Generator) -> Iterable[str]:
    """The first variance, and what columns reach that are shuffled each by itself; of few rows how many they are."""
    if "variance" not in finding["numbers"]:
        yield from [] if finding["numbers"]["rows"] == table.n < 4 else [f"the table has {table.n} rows"]
        return
    yield from _apart("the variance", finding["numbers"]["variance"], float(table.variances[0]), 1e-3)
    if finding["numbers"]["variance"] > finding["numbers"]["noise_reaches"]:
        yield "the first variance is larger than that of noise"
    if table.n * table.d <= 50_000 and ("columns" in finding["numbers"] or table.blocks):
        drawn = [components(_shuffled(table, rng))[0][0] * table.unit for _ in range(DRAWS)]
        reached = np.quantile(drawn, 1.0 - finding["evidence"]["level"])
        if not 0.85 <= finding["numbers"]["noise_reaches"] / reached <= 1.2:
            yield f"shuffled columns reach {reached:.3g}"


def _shuffled(table: Table, rng: np.random.Generator) -> np.ndarray:
    """Return the table with each column shuffled by itself, those of a category together."""
    Z = rng.permuted(table.Z, axis=0)
    for block in table.blocks:
        Z[:, block] = table.Z[np.ix_(rng.permutation(table.n), block)]
    return Z


def check_group(finding: Mapping[str, Any], table: Table, _kept: int, rng: np.random.Generator) -> Iterable[str]:
    """The part of a score's variance between groups, and whether shuffled labels reach it."""
    for one in finding["evidence"].get("labels", []):
        yield from check_group({**finding, "evidence": one}, table, _kept, rng)
    if "labels" in finding["evidence"]:
        return
    name, evidence = finding["evidence"]["label"], finding["evidence"]
    values = table.labels[name]
    effects = np.array(
        [association(values, table.scores[:, j]) for j in range(min(len(evidence["effects"]), table.scores.shape[1]))]
    )
    for j, said in enumerate(evidence["effects"][: len(effects)]):
        if table.variances[j] > 1e-9 * table.variances[0]:
            yield from _apart(f"the effect on component {j + 1}", said, float(effects[j]), 1e-4)
    shuffled = [
        max(association(values.sample(frac=1.0, random_state=int(s)), table.scores[:, j]) for j in range(len(effects)))
        for s in rng.integers(0, 2**31, 40)
    ]
    if finding["components"]:
        (best,) = finding["components"]
        yield from _apart("the effect", finding["numbers"]["effect"], float(effects[best]), 1e-4)
        if effects[best] <= np.median(shuffled):
            yield "shuffled labels go with a component as well"
    elif effects.max() > 1.5 * max(shuffled):
        yield f"shuffled labels reach {max(shuffled):.3f} at most, and these {effects.max():.3f}"


def association(values: pd.Series, scores: np.ndarray) -> float:
    """Return eta squared of groups, or the squared correlation with a number."""
    frame = pd.DataFrame({"label": values.to_numpy(), "score": scores})
    if all(isinstance(value, float | int) for value in frame["label"]):
        known = frame[frame["label"].notna()].astype(float)
        return float(known["label"].corr(known["score"]) ** 2)
    frame = frame[frame["label"].notna() & (frame["label"].astype(str) != "")]
    means, known = frame.groupby(frame["label"].astype(str))["score"].transform("mean"), frame["score"]
    return float(np.square(means - known.mean()).sum() / np.square(known - known.mean()).sum())


def check_clouds(finding: Mapping[str, Any], table: Table, _kept: int, _rng: np.random.Generator) -> Iterable[str]:
    """Sizes on both sides of the gaps, and few rows in each gap itself."""
    sizes = [value for key, value in finding["numbers"].items() if key.startswith("rows_")]
    gaps = finding["evidence"]["gaps"]
    if not gaps:
        for j in finding["evidence"]["components_examined"]:
            if has_gap(table.scores[:, j]):
                yield f"a histogram of component {j + 1} has a gap"
        return
    if sum(sizes) != table.n:
        yield f"the clouds have {sum(sizes)} rows, and the table {table.n}"
    if len(gaps) == 1:
        at, scores = gaps[0]["threshold"], table.scores[:, gaps[0]["component"]]
        sides = {int((sign * scores > at).sum()) for sign in (1, -1)}
        if not sides & set(sizes):
            yield f"{sorted(sides)} rows lie beyond the gap"
        sign = 1 if int((scores > at).sum()) in sizes else -1
        low, high = (np.median(part) for part in (scores[sign * scores <= at], scores[sign * scores > at]))
        width = abs(high - low) / 8
        inside, left, right = (int((np.abs(sign * scores - c) < width).sum()) for c in (at, sign * low, sign * high))
        if inside > 0.75 * min(left, right):
            yield f"{inside} rows lie in the gap, and {left} and {right} at both sides"


def has_gap(values: np.ndarray) -> bool:
    """Tell whether a quarter of a histogram is all but empty, with a quarter of at least 80 rows on both sides."""
    if len(values) < 80:
        return False
    counts, _ = np.histogram(np.clip(values, *np.quantile(values, [0.01, 0.99])), bins=16)
    return any(
        min(counts[:at].sum(), counts[at + 4 :].sum()) >= 0.25 * len(values)
        and counts[at : at + 4].max() <= 0.1 * min(counts[:at].max(), counts[at + 4 :].max())
        for at in range(1, 12)
    )


def check_outliers(finding: Mapping[str, Any], table: Table, kept: int, _rng: np.random.Generator) -> Iterable[str]:
    """Rows said to be far out lie beyond the limits of the components of all others; as many as said do."""
    numbers, evidence = finding["numbers"], finding["evidence"]
    flagged, far = numbers.get("flagged", 0), evidence.get("far", [])
    others = np.setdiff1d(np.arange(table.n), [*far, *(evidence.get("rows", []) if flagged <= 20 else [])])
    X = table.X[others]
    spread = X.std(axis=0, ddof=1) if table.scaled else np.ones(table.d)
    spread = np.where(spread > 0, spread, np.inf)
    Z, all_rows = (X - X.mean(axis=0)) / spread, (table.X - X.mean(axis=0)) / spread
    values, U = np.linalg.eigh(Z @ Z.T) if table.d > len(Z) else np.linalg.eigh(Z.T @ Z)
    order = np.argsort(-values)[:kept]
    V = (Z.T @ U[:, order] / np.sqrt(values[order])) if table.d > len(Z) else U[:, order]
    scores = all_rows @ V
    t2 = (np.square(scores) / (values[order] / (len(Z) - 1))).sum(axis=1)
    spe = np.square(all_rows).sum(axis=1) - np.square(scores).sum(axis=1)
    # Most rows tell what is usual: 97.5% of them lie under these, or more.
    usual = np.quantile(t2[others], 0.975), np.quantile(spe[others], 0.975)
    for row in far:
        if t2[row] <= usual[0] and spe[row] <= usual[1]:
            yield f"row {row + 1} lies among the others"
    if flagged and not 0 < flagged <= table.n:
        yield "more rows are flagged than there are"
    if "expected" in numbers and not 0.005 * table.n <= numbers["expected"] <= 0.021 * table.n:
        yield "the expected count is none of two limits at 99%"


def check_rows(finding: Mapping[str, Any], table: Table, _kept: int, _rng: np.random.Generator) -> Iterable[str]:
    """Contributions of a few rows to a component: half of it or more, by a tenth of the rows or fewer."""
    (j,) = finding["components"]
    squares = np.square(table.scores[:, j])
    share = float(squares[finding["evidence"]["rows"]].sum() / squares.sum())
    yield from _apart("the share", finding["numbers"]["share"], share, 1e-5)
    if share < 0.5 or 10 * len(finding["evidence"]["rows"]) > table.n:
        yield "these rows do not make the component"


def check_table(finding: Mapping[str, Any], table: Table, _kept: int, _rng: np.random.Generator) -> Iterable[str]:
    """Rows and columns are counted, and what was done to them is so."""
    if (finding["numbers"]["rows"], finding["numbers"]["columns"]) != (table.n, table.d):
        yield f"the table has {table.n} rows and {table.d} columns"
    if ("unit variance" in finding["sentence"]) != table.scaled:
        yield "scaling is said otherwise"


def check_skew(finding: Mapping[str, Any], table: Table, _kept: int, _rng: np.random.Generator) -> Iterable[str]:
    """Skewness of columns and of their logarithms by pandas, and the largest value by the median."""
    numbers, n = finding["numbers"], table.n
    if finding["evidence"]["rows_measured"] != n:
        return
    exact = (n - 2) / np.sqrt(n * (n - 1.0))  # pandas gives the unbiased one
    for name, *said in zip(
        finding["evidence"]["columns"],
        *(numbers[k] for k in ("skewness", "of_logarithms", "times_median")),
        strict=False,
    ):
        values = table.frame[name]
        truth = (values.skew() * exact, np.log(values).skew() * exact, values.max() / values.median())
        for what, one, real in zip(("skewness", "that of logarithms", "the ratio"), said, truth, strict=True):
            yield from _apart(f"{what} of {name}", one, float(real))
        if not (truth[0] > 2 and abs(truth[1]) <= min(truth[0] / 10, 1) and truth[2] >= 10):
            yield f"{name} is not skewed, or its logarithms are"


CHECKS: dict[str, Callable[..., Iterable[str]]] = {
    "component": check_component,
    "plane": check_plane,
    "count": check_count,
    "noise": check_noise,
    "group": check_group,
    "clouds": check_clouds,
    "outliers": check_outliers,
    "rows": check_rows,
    "skew": check_skew,
    "table": check_table,
}


def examined(X: Any, **options: Any) -> tuple[list[dict[str, Any]], Any]:
    """Return the findings of a table as machines read them, and the analysis."""
    import gramian

    found = gramian.analyze(X, **{"method": "pca"} | options)
    return json.loads(json.dumps([finding.as_json() for finding in found.findings])), found


def read_again(path: Path, found: Any) -> pd.DataFrame:
    """Read a file with NumPy and pandas: the columns that were used, and what was filled where cells are missing."""
    if path.suffix == ".npz":
        X = _largest_array(path)
        frame = pd.DataFrame(X, columns=[f"column {j + 1}" for j in range(X.shape[1])])
        if list(found.table.names) != list(frame.columns) and len(found.table.names) == X.shape[1]:
            frame.columns = pd.Index(found.table.names)
    else:
        sep = ";" if "semicolon" in path.name else ","
        frame = pd.read_csv(path, sep=sep)
        frame.columns = pd.Index([str(name) for name in frame.columns])
    frame = frame[list(found.table.names)].astype(np.float64)
    if frame.isna().any(axis=None):
        source = found.table.source
        filled = np.vstack([np.asarray(source.block(i).rows) for i in range(source.n_blocks)])
        frame = frame.where(frame.notna(), pd.DataFrame(filled, columns=frame.columns))
    return frame


def _largest_array(path: Path) -> np.ndarray:
    with np.load(path) as file:
        if "indptr" in file:
            from scipy import sparse

            return np.asarray(sparse.load_npz(path).toarray(), dtype=np.float64)
        arrays = [file[name] for name in file.files]
    X = max((array for array in arrays if array.ndim > 1 and array.dtype.kind in "fiub"), key=lambda array: array.size)
    return X.reshape(len(X), -1).astype(np.float64)


def faults_of(X: Any, frame: pd.DataFrame | None = None, **options: Any) -> tuple[list[str], list[dict[str, Any]]]:
    """Analyze a table, and check every finding against the same numbers read again."""
    findings, found = examined(X, **options)
    blocks: list[list[int]] = []
    if found.method in ("mca", "famd") and frame is not None:
        frame, blocks = coded(frame, found.method)
    frame = read_again(Path(X), found) if frame is None else frame[list(found.table.names)]
    table = Table(frame, scaled=found.table.scale, labels=found.labels, rows=found.table.called, blocks=blocks)
    return faults(findings, table, kept=found.n_components), findings


def coded(frame: pd.DataFrame, method: str) -> tuple[pd.DataFrame, list[list[int]]]:
    """Return standardized quantities and weighted indicators, as the books have them, and the columns of each category.

    An indicator is divided by the root of its share of the rows; of MCA also by that of the number of categories.
    """
    names = [name for name in frame.columns if frame[name].dtype == object]
    numbers = frame.drop(columns=names).astype(np.float64) if method == "famd" else pd.DataFrame(index=frame.index)
    parts, blocks = [(numbers - numbers.mean()) / numbers.std(ddof=0)], []
    for name in names:
        ones = pd.get_dummies(frame[name], prefix=name, prefix_sep="=").astype(np.float64)
        first = sum(part.shape[1] for part in parts)
        blocks.append(list(range(first, first + ones.shape[1])))
        parts.append(ones / np.sqrt(ones.mean() * (len(names) if method == "mca" else 1)))
    return pd.concat(parts, axis=1), blocks


def options_of(name: str, frame: pd.DataFrame) -> dict[str, Any]:
    """Return how a generated table is analyzed."""
    if name in ("dummies", "lattice"):
        return {"roles": dict.fromkeys(frame.columns, "quantity")}
    return {"method": name.partition(",")[0]} if name.startswith(("mca", "famd")) else {}


def generated(seed: int) -> dict[str, tuple[pd.DataFrame, Callable[[list[dict[str, Any]]], str]]]:
    """Return tables of known structure, and for each what says whether its findings miss or invent some."""
    rng, more = np.random.default_rng(seed), np.random.default_rng(1000 + seed)

    def named(X: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(X, columns=[f"v{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"[: X.shape[1]]])

    noise = named(rng.standard_normal((120, 8)))
    factor = rng.standard_normal((150, 1)) * np.r_[np.ones(4), np.zeros(4)] + 0.6 * rng.standard_normal((150, 8))
    two = rng.standard_normal((200, 6))
    two[:80] += 6.0 * np.r_[1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    groups = named(rng.standard_normal((150, 6)))
    groups["side"] = np.where(np.arange(150) % 3 == 0, "left", "right")
    groups.loc[groups["side"] == "left", ["va", "vb"]] += 2.5
    groups.loc[::7, "side"] = ""
    groups["other"], groups["third"] = more.choice(["x", "y"], 150), more.choice(["x", "y", "z"], 150)
    outlying = named(rng.standard_normal((100, 6)) @ np.diag([3.0, 2.5, 2.2, 2.0, 1.9, 1.8]))
    outlying.loc[:5, "va"] += 60.0
    grouped = named(rng.standard_normal((100, 6)))
    grouped.loc[:5, ["va", "vb", "vc"]] += 20.0
    wild = named(more.standard_normal((60, 5)) + 2.0 * more.standard_normal((60, 1)))
    wild.loc[7] = 1000.0 * more.standard_normal(5)
    skewed = named(0.4 * more.standard_normal((150, 4)) + more.standard_normal((150, 1)))
    skewed[["va", "vb"]] = np.exp(1.5 * skewed[["va", "vb"]])
    level = rng.integers(0, 4, (200, 3))
    dummies = pd.DataFrame({f"{q}{k}": (level[:, i] == k).astype(int) for i, q in enumerate("pqr") for k in range(4)})
    missing = named(factor @ np.diag(np.linspace(1, 3, 8)))
    missing = missing.mask(rng.random(missing.shape) < 0.1)
    lattice = pd.DataFrame({"va": np.r_[rng.integers(0, 3, 50), 10 + rng.integers(0, 3, 50)] * 1.0})
    lattice["vb"] = rng.integers(0, 3, 100) * 1.0
    wavelengths = np.arange(900, 1300, 10)
    bands = [np.exp(-0.5 * ((wavelengths - at) / 30.0) ** 2) for at in (1000, 1200)]
    spectra = np.outer(more.standard_normal(80), bands[0] - bands[1]) + 0.02 * more.standard_normal((80, 40))
    spectrum = pd.DataFrame(spectra, columns=wavelengths.astype(str))
    words = np.array(["low", "middle", "high"], dtype=object)
    apart = pd.DataFrame({f"v{q}": rng.choice(words, 200) for q in "abcd"}, dtype=object)
    hidden = rng.standard_normal(200)
    one = {f"v{q}": words[np.digitize(hidden + rng.standard_normal(200), [-0.6, 0.6])] for q in "abcd"}
    together = pd.DataFrame(one, dtype=object)
    chance = "unrelated categories are said to stand out"

    def is_noise(findings: list[dict[str, Any]]) -> str:
        return "" if _stands_out(findings) == "" and "noise" in {x["kind"] for x in findings} else chance

    def is_found(findings: list[dict[str, Any]]) -> str:
        return "" if "component" in _stands_out(findings) else "the hidden number is missed"

    mixed = more.standard_normal((100, 2)) * [2.0, 1.0] @ more.standard_normal((2, 60)) + 0.3 * more.standard_normal(
        (100, 60)
    )
    many = pd.DataFrame(mixed * np.geomspace(1, 1000, 60), columns=[f"w{i}" for i in range(60)])

    def is_bands(findings: list[dict[str, Any]]) -> str:
        said = [stretch for x in findings for stretch in x["evidence"].get("stretches", ())]
        held = [[int(a) <= at - 30 and at + 30 <= int(b) for a, b in said] for at in (1000, 1200)]
        return "" if len(said) == 2 and all(map(any, held)) else f"bands at 1000 and 1200 are said to be at {said}"

    return {
        "spectrum": (spectrum, is_bands),
        "many columns, scaled": (many, lambda f: "" if "component" in _stands_out(f) else "the factors are missed"),
        "mca, unrelated": (apart, is_noise),
        "famd, unrelated": (apart.assign(vx=rng.standard_normal(200)), is_noise),
        "mca, one number": (together, is_found),
        "famd, one number": (together.assign(vx=hidden + rng.standard_normal(200)), is_found),
        "lattice": (
            lattice,
            lambda f: "the gap of a lattice is denied" if any("No gap" in x["sentence"] for x in f) else "",
        ),
        "noise": (noise, lambda f: "" if _stands_out(f) in ("", "outliers") else "noise is said to stand out"),
        "factor": (named(factor), lambda f: "" if "component" in _stands_out(f) else "the factor is missed"),
        "clouds": (named(two), lambda f: "" if _clouds(f) == [120, 80] else f"clouds of {_clouds(f)}, not [120, 80]"),
        "groups": (groups, lambda f: "" if "group" in _stands_out(f) else "the groups are missed"),
        "outliers": (outlying, lambda f: "" if set(range(6)) <= set(_far(f)) else f"only rows {_far(f)} are far out"),
        "a group of rows": (
            grouped,
            lambda f: "" if "rows" in {x["kind"] for x in f} else "six rows make PC1, unsaid",
        ),
        "a wild row": (
            wild,
            lambda f: "PC1 is one row's" if any(x["kind"] == "plane" and 0 in x["components"] for x in f) else "",
        ),
        "skewed": (skewed, lambda f: "" if "skew" in {x["kind"] for x in f} else "skewed columns are missed"),
        "dummies": (dummies, lambda f: "" if "component" not in _stands_out(f) else "dummies are said to stand out"),
        "missing": (missing, lambda f: "" if "component" in _stands_out(f) else "the factor is missed"),
    }


def _stands_out(findings: Iterable[Mapping[str, Any]]) -> str:
    """Return what is said to stand out: components, rows that make one, groups, clouds, rows far out."""
    said = []
    for finding in findings:
        kind = finding["kind"]
        if kind in ("component", "plane"):
            said.append("component")
        if kind == "rows":
            said.append("rows")
        if kind == "group" and finding["components"]:
            said.append("group")
        if kind == "clouds" and finding["evidence"]["gaps"]:
            said.append("clouds")
        if kind == "outliers" and finding["evidence"].get("far"):
            said.append("outliers")
    return " ".join(dict.fromkeys(said))


def _clouds(findings: Iterable[Mapping[str, Any]]) -> list[int]:
    found = next(finding for finding in findings if finding["kind"] == "clouds")
    return [value for key, value in found["numbers"].items() if key.startswith("rows_")]


def _far(findings: Iterable[Mapping[str, Any]]) -> list[int]:
    return [row for finding in findings if finding["kind"] == "outliers" for row in finding["evidence"].get("far", [])]


def check_all(paths: Sequence[str]) -> int:
    """Check every finding of files and of generated tables; return how many are false."""
    count = false = chance = 0
    for path in paths:
        try:
            wrong, findings = faults_of(path)
        except Exception as error:  # noqa: BLE001 - a table that is refused says nothing false
            print(f"{Path(path).name}: {type(error).__name__}: {error}")
            continue
        count, false = count + len(findings), false + len(wrong)
        print(f"{Path(path).name}: {len(findings)} findings", *wrong, sep="\n    ")
    for seed in range(10):
        for name, (frame, missed) in generated(seed).items():
            numbers = None if frame.isna().any(axis=None) else frame
            more = options_of(name, frame)
            wrong, findings = ([], examined(frame)[0]) if numbers is None else faults_of(frame, frame, **more)
            if said := missed(findings):
                print(f"{name}, seed {seed}: {said}")
                by_chance = name.endswith("unrelated")
                chance, false = chance + by_chance, false + (not by_chance)
            count, false = count + len(findings), false + len(wrong)
            if wrong:
                print(f"{name}, seed {seed}", *wrong, sep="\n    ")
    # One in twenty tables of unrelated categories is said to have a component: of twenty, four are too many.
    false += chance if chance > 3 else 0
    print(
        f"{count} findings, {false} false or missed; {chance} of 20 tables of unrelated categories said to be related"
    )
    return false


def said_of_noise(count: int) -> dict[str, float]:
    """Return the share of tables of pure noise in which something is said to stand out, and what."""
    sizes = ((30, 5), (60, 8), (100, 10), (150, 20), (200, 6), (40, 60), (400, 12), (80, 200), (20, 4), (1000, 8))
    kinds: dict[str, int] = dict.fromkeys(["component", "rows", "group", "clouds", "outliers", "anything"], 0)
    for seed in range(count):
        rng = np.random.default_rng(seed)
        n, d = sizes[seed % len(sizes)]
        frame = pd.DataFrame(rng.standard_normal((n, d)), columns=[f"v{j}x" for j in range(d)])
        frame["side"] = rng.choice(["left", "right", "middle"], n)
        said = _stands_out(examined(frame, n_components=2, drop=[])[0]).split()
        for kind in [*said, *(["anything"] if said else [])]:
            kinds[kind] += 1
    return {kind: times / count for kind, times in kinds.items()}


def said_of_categories(count: int) -> float:
    """Return the share of tables of unrelated categories, 200 rows of four, in which a component is described."""
    times = 0
    for seed in range(count):
        frame = generated(seed)["mca, unrelated"][0]
        times += "component" in _stands_out(examined(frame, method="mca")[0])
    return times / count


FAR_SHAPES = ((20, 3), (50, 5), (100, 10), (30, 12), (200, 4), (1000, 12), (60, 400), (30, 1000))


def far_in_noise(shape: tuple[int, int], count: int) -> dict[int, float]:
    """Return the share of Gaussian tables in which a row is said to lie far out, by the number of components kept."""
    from gramian.models.pca.fit import fit_pca
    from gramian.models.pca.robust import fit_robust
    from gramian.sources import as_source

    said = {k: 0 for k in (1, 2, 5) if k < shape[1]}
    for seed in range(count):
        source = as_source(np.random.default_rng([seed, *shape]).standard_normal(shape))
        model = fit_pca(source)
        scores, found = np.asarray(model.project(source)), None
        for k in said:
            if found is None or not found.is_tall:  # where rows are many all components are fitted, whatever k
                found = fit_robust(model, scores, k=k)
            said[k] += bool(found.far_rows(k).any())
    return {k: times / count for k, times in said.items()}


def power(repeats: int, kinds: Sequence[str] = ()) -> dict[str, list[tuple[float, float]]]:
    """Return how often groups, clouds and outliers of some size are found, by their size in deviations."""
    places: dict[str, tuple[Callable[..., pd.DataFrame], str, dict[str, Any]]] = {
        "groups": (_with_groups, "group", {}),
        "clouds": (_with_clouds, "clouds", {}),
        "clouds in one column": (_with_clouds_in_one_column, "clouds", {"scale": True}),
        "outliers": (_with_outliers, "outliers", {}),
    }
    curves: dict[str, list[tuple[float, float]]] = {}
    for n in (50, 200):
        for name in kinds or places:
            place, kind, options = places[name]
            curve = []
            for size in (0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0):
                times = 0
                for seed in range(repeats):
                    frame = place(n, size, np.random.default_rng(seed))
                    times += kind in _stands_out(examined(frame, n_components=2, **options)[0]).split()
                curve.append((size, times / repeats))
            curves[f"{name}, {n} rows"] = curve
    return curves


def _with_groups(n: int, size: float, rng: np.random.Generator) -> pd.DataFrame:
    frame = pd.DataFrame(rng.standard_normal((n, 5)), columns=list("abcde"))
    frame["side"] = np.where(np.arange(n) % 2, "left", "right")
    frame.loc[frame["side"] == "left", ["a", "b", "c"]] += size / np.sqrt(3.0)
    return frame


def _with_clouds(n: int, size: float, rng: np.random.Generator) -> pd.DataFrame:
    return _with_groups(n, size, rng).drop(columns="side")


def _with_clouds_in_one_column(n: int, size: float, rng: np.random.Generator) -> pd.DataFrame:
    frame = pd.DataFrame(rng.standard_normal((n, 5)), columns=list("abcde"))
    frame.loc[: n // 2, "a"] += size
    return frame


def _with_outliers(n: int, size: float, rng: np.random.Generator) -> pd.DataFrame:
    frame = pd.DataFrame(rng.standard_normal((n, 5)), columns=list("abcde"))
    frame.loc[: n // 20, ["a", "b", "c"]] += size / np.sqrt(3.0)
    return frame


def draw(curves: Mapping[str, Sequence[tuple[float, float]]], path: str) -> None:
    """Draw power curves, one picture for each kind."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "gramian"
    from matplotlib import pyplot as plt

    fig, axes = plt.subplots(1, 4, figsize=(11, 2.8), sharey=True, layout="constrained")
    for ax, kind in zip(axes, ("groups", "clouds", "clouds in one column", "outliers"), strict=True):
        for style, n in ((":", 50), ("-", 200)):
            ax.plot(*np.array(curves[f"{kind}, {n} rows"]).T, style, color="#20639b", label=f"{n} rows")
        ax.set(title=kind, xlabel="distance, in deviations", ylim=(-0.02, 1.02))
    axes[0].set_ylabel("share of tables that are told")
    axes[0].legend(frameon=False)
    fig.savefig(path, metadata={"Date": None})


def main(words: Sequence[str]) -> int:
    """Run what the words ask for."""
    verb, *rest = words or ["true"]
    if verb == "true":
        return int(check_all(rest) > 0)
    if verb == "noise":
        count = int(rest[0]) if rest else 1000
        print(json.dumps(said_of_noise(count) | {"categories": said_of_categories(count)}, indent=2))
    if verb == "far":
        for shape in FAR_SHAPES:
            print(shape, far_in_noise(shape, int(rest[0]) if rest else 400), flush=True)
    if verb == "power":
        curves = power(int(rest[0]) if rest else 16)
        for name, curve in curves.items():
            print(f"{name:22}", *(f"{size:g}: {share:.0%}" for size, share in curve), sep="  ")
        if len(rest) > 1:
            draw(curves, rest[1])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
