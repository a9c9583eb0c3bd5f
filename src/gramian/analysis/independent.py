"""What is said about independent sources: what unmixing took out, what each source is, and how sure it is."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from gramian.analysis.findings import Finding, columns_word, counted, joined
from gramian.arrays.namespace import HostArray

DESCRIBED = 4
"""Sources that are described in sentences, at most."""


def source_correlations(model: Any, scores: HostArray | None, spread: HostArray | None) -> HostArray | None:
    """Return the correlations of columns with sources (k, d); ``None`` where rows are not known.

    Computes  mixing_cj deviation_j / deviation_c:  sources are uncorrelated, so that the mixing has their covariances
    with the columns. Units of the columns cancel.
    """
    if scores is None or spread is None or not model.is_centered or not len(scores):
        return None
    covariances = model.loadings * scores.std(axis=0, ddof=min(1, len(scores) - 1))
    found: HostArray = np.divide(
        covariances, spread[:, None], out=np.zeros_like(covariances), where=spread[:, None] > 0
    )
    return found.T.clip(-1.0, 1.0)


def source_findings(
    model: Any, names: Sequence[str], components: Sequence[str], correlations: HostArray | None, *, telling: bool
) -> list[Finding]:
    """Say what was unmixed, what the sources are, their shapes, and how stable they are."""
    found = [_independence(model, components)]
    if telling and correlations is not None:
        found += [_source(j, components[j], names, correlations[j]) for j in range(min(len(components), DESCRIBED))]
    return [*found, *_shapes(model, components), *_stability(model, components)]


def _independence(model: Any, names: Sequence[str]) -> Finding:
    """Say what unmixing took out beyond whitening, from which the drop is measured."""
    report, k = model.independence, len(names)
    opening = f"{counted(k, 'source')} {'was' if k == 1 else 'were'} unmixed from {counted(model.n_columns, 'column')}."
    numbers: dict[str, Any] = {"sources": k, "columns": model.n_columns}
    if not model.converged:
        opening += f" The algorithm stopped before it converged, so take them with care ({model.n_iter} iterations)."
        numbers["iterations"] = model.n_iter
    if report is None:
        return Finding("source", opening, numbers, {}, tuple(range(k)))
    evidence = {"rows_measured": report.n_rows}
    words, more = _drop(report, names, whitened=model.options.whiten)
    return Finding("source", f"{opening} {words}", numbers | more, evidence, tuple(range(k)))


def _drop(report: Any, names: Sequence[str], *, whitened: bool) -> tuple[str, dict[str, Any]]:
    gaussian, rows = len(report.gaussian), {"rows": report.n_rows}
    if gaussian and gaussian == len(report.kurtosis):
        return str(report.doubt("The sources" if report.can_tell else "them")), rows
    if not np.isfinite([report.drop, report.drop_error]).all():
        numbers = {"drop": report.drop, **rows} if np.isfinite(report.drop) else rows
        return str(report.summary), numbers
    before = "the columns after whitening (decorrelation)" if whitened else "the columns, given as white"
    drop = f"The sources share {report.drop:.2f} ± {report.drop_error:.2f} nats of information less than {before}"
    numbers = {"drop": report.drop, "drop_error": report.drop_error}
    if report.drop <= report.drop_error:
        # A difference within error is no sign of independence: these rows may be too few to show more.
        return f"{drop}: these rows do not show more than decorrelation already gave.", numbers
    if gaussian > 1:
        return f"{drop}. {report.doubt(joined([names[i] for i in report.gaussian]))}", numbers | rows
    return f"{drop}.", numbers


def _source(j: int, name: str, names: Sequence[str], correlations: HostArray) -> Finding:
    """Name a source by the columns that it correlates with, which their units do not change."""
    order = np.argsort(-np.round(np.abs(correlations), 9), kind="stable")
    most = np.abs(correlations[order[0]])
    named = [int(c) for c in order[:3] if np.abs(correlations[c]) >= 0.7 * most]
    words = columns_word([names[c] for c in named])
    words += joined([f"{names[c]} ({correlations[c]:+.2f})" for c in named])
    numbers = {f"correlation_{i + 1}": float(correlations[c]) for i, c in enumerate(named)}
    evidence = {"component": j, "columns": [names[c] for c in named]}
    return Finding("source", f"{name} correlates most with {words}.", numbers, evidence, (j,))


def _shapes(model: Any, names: Sequence[str]) -> list[Finding]:
    """Say which source is the most peaked, and which the flattest, where one is peaked and another flat."""
    report = model.independence
    if report is None or len(report.kurtosis) < 2 or not np.isfinite(report.kurtosis).all():
        return []
    told = [i for i in range(len(report.kurtosis)) if i not in report.gaussian]
    if not told:
        return []
    kurtosis = np.asarray(report.kurtosis)
    peaked, flat = max(told, key=lambda i: kurtosis[i]), min(told, key=lambda i: kurtosis[i])
    said, numbers, about = [], {}, []
    if kurtosis[peaked] > 0:
        said.append(f"{names[peaked]} is the most peaked (kurtosis {kurtosis[peaked]:+.1f})")
        numbers["most"] = float(kurtosis[peaked])
        about.append(peaked)
    if kurtosis[flat] < 0:
        said.append(f"{names[flat]} is the flattest (kurtosis {kurtosis[flat]:+.1f})")
        numbers["least"] = float(kurtosis[flat])
        about.append(flat)
    evidence = {"components": about, "rows_measured": report.n_rows}
    return [Finding("source", f"{joined(said)}.", numbers, evidence, tuple(about))] if said else []


def _stability(model: Any, names: Sequence[str]) -> list[Finding]:
    """Say what the index is, which is a mean over pairs of runs, and how many runs did not converge."""
    if model.stability is None:
        return []
    index, runs = np.asarray(model.stability), model.options.runs
    least, shaky = float(index.min()), np.flatnonzero(index < 0.8)
    numbers: dict[str, Any] = {"runs": runs, "least": least, "one": 1}
    opening = f"Over {runs} runs on different parts of the rows"
    if len(shaky):
        which = joined([f"{names[i]} ({index[i]:.2f})" for i in shaky.tolist()])
        words = f"{opening}, {which} came back only in part"
        numbers |= {f"stability_{i + 1}": float(index[i]) for i in shaky.tolist()}
    elif f"{least:.2f}" == "1.00":
        words = f"{opening}, every source came back with a stability of 1.00"
    else:
        words = f"{opening}, the least stable source has a stability of {least:.2f}"
    words = f"{words} (1 is a source that all runs find alike)."
    short = 0 if model.converged_runs is None else runs - model.converged_runs
    if short:
        words += f" {short} of these runs did not converge, so it may be lower than the rows would give."
        numbers["short"] = short
    return [Finding("source", words, numbers, {"stability": [float(i) for i in index]}, tuple(range(len(index))))]
