"""How many components a fit keeps: what was asked for, or what a rule says of the measured spectrum."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from gramian.arrays.namespace import HostArray, namespace_of, to_host
from gramian.choosing.auto import choose_automatically
from gramian.choosing.facts import AT_A_TIME, MAX_ENTRIES, MAX_SIDE, LeadingComponents, sample_bytes
from gramian.choosing.minka import choose_by_minka
from gramian.choosing.panel import Panel, panel
from gramian.choosing.share import choose_by_share
from gramian.errors import Parameter, ParameterError, Phrase, Sentence
from gramian.models.pca.decomposition import Rows
from gramian.models.spectrum import Spectrum
from gramian.planning.memory import RuleMemory
from gramian.sources.dense import DenseRows
from gramian.sources.rows import RowSource
from gramian.sources.sparse import SparseRows

LARGEST_REPEATED = 1 << 22
"""Numbers up to which weighted rows are repeated for a rule that looks at rows."""


class Choice(NamedTuple):
    """A number of components, the reason, whether more of the spectrum should be seen, and how many were examined."""

    k: int
    reason: str = ""
    exhausted: bool = False
    examined: int = 0


def requested(n_components: Any, size: int) -> int | None:
    """Return how many components are asked for; ``None`` when the spectrum must be seen first.

    Examples
    --------
    >>> requested(None, 7), requested(3, 7), requested(0.95, 7)
    (7, 3, None)
    """
    if n_components is None:
        return size
    if n_components in {"mle", "auto"} or (isinstance(n_components, float) and 0 < n_components < 1):
        return None
    if isinstance(n_components, str) or not 0 <= n_components <= size or int(n_components) != n_components:
        message = Sentence(
            "{asked} is not a number of components between 0 and {most}. Pass an integer up to {size}, a share such as "
            "0.95, {others}.",
            asked=Parameter("n_components", (n_components,)),
            most=Phrase(f"min(n_samples, n_features)={size}", f"{size}, the smaller side of the table"),
            size=size,
            others=Phrase("'mle', 'auto', or None for all", "or auto"),
        )
        raise ParameterError(message, parameter="n_components", value=n_components)
    return int(n_components)


def choose(rule: Any, spectrum: Spectrum, rows: Rows, components: LeadingComponents, *, seed: int) -> Choice:
    """Return what a rule (a share, "mle" or "auto") says of a spectrum, whole or leading part."""
    squares, total = spectrum.squares[: spectrum.size], spectrum.total
    n, d = rows.moments.weight, len(rows.moments.mean)
    if total <= 0:
        return Choice(min(1, len(squares)), "Nothing varies.")
    if rule == "mle":
        k = choose_by_minka(squares, n_rows=n, n_columns=d, total_variance=total)
        return Choice(k, "It has the greatest evidence (Minka).")
    if rule == "auto":
        return _automatic(spectrum, rows, components, seed)
    share = float(rule)
    partial = len(squares) < spectrum.size and float(squares.sum()) <= share * total
    if partial:
        return Choice(len(squares), exhausted=True)
    return Choice(
        choose_by_share(squares, share, total_variance=total), f"It holds more than {share:.4g} of the variance."
    )


def rule_memory(rule: Any, source: RowSource) -> RuleMemory | None:
    """Return what a rule takes in addition to the spectrum; ``None`` for all but "auto", which looks at rows."""
    if rule != "auto":
        return None
    n, d, repeated = source.n_rows, source.n_columns, 0
    weights = _repetitions(source)
    if weights is not None:
        n = int(weights.sum())
        repeated = (n + source.n_rows) * d * source.dtype.itemsize
    sampled_columns = min(d, MAX_ENTRIES // min(source.n_rows, MAX_SIDE))
    return RuleMemory(sample_bytes(n, d) + repeated, sampled_columns, AT_A_TIME)


def _repetitions(source: RowSource) -> HostArray | None:
    """Return the weights of rows that are repeated for a rule: whole ones, of a small table in memory."""
    if source.weights is None or not source.is_local:
        return None
    weights = to_host(source.weights)
    if np.any(weights != np.floor(weights)) or weights.sum() * source.n_columns > LARGEST_REPEATED:
        return None
    return weights.astype(int)


def _repeated(source: RowSource | None) -> RowSource | None:
    """Return weighted rows as repetitions of themselves where weights are whole and the table is small.

    Rules that look at rows know nothing of weights. A weight is a repetition, so repeating small tables gives the same
    verdict as the repeated table would; in large ones a row counts once, whatever its weight.
    """
    weights = None if source is None else _repetitions(source)
    if source is None or weights is None:
        return source
    index = np.repeat(np.arange(source.n_rows), weights)
    blocks = [source.block(i).rows for i in range(source.n_blocks)]
    if source.is_sparse:
        return SparseRows(scipy.sparse.vstack(blocks, format="csr")[index])
    return DenseRows(namespace_of(blocks[0]).concat(blocks, axis=0)[index])


def _automatic(spectrum: Spectrum, rows: Rows, components: LeadingComponents, seed: int) -> Choice:
    known = _known(rows, components, spectrum.divisor, seed)
    variances = _over(spectrum.squares[: spectrum.size], spectrum.divisor)
    verdict = choose_automatically(variances, _repeated(rows.source), **known)
    exhausted = bool(verdict.detail.get("exhausted", False))
    return Choice(verdict.n_components, verdict.reason, exhausted, components.known)


def ask_every_rule(
    squares: HostArray, rows: Rows, components: LeadingComponents, *, share: float = 0.95, seed: int = 0
) -> Panel:
    """Return what every rule says of a spectrum, whole or leading part, and of the rows it comes from."""
    divisor = rows.moments.weight - 1
    known = _known(rows, components, divisor, seed)
    return panel(_over(squares, divisor), _repeated(rows.source), share=share, **known)


def _over(squares: HostArray, divisor: float) -> HostArray:
    """Return sums of squares as variances, which is how a reason names them."""
    return squares / divisor if divisor > 0 else squares


def _known(rows: Rows, components: LeadingComponents, divisor: float, seed: int) -> dict[str, Any]:
    """Return what rules may know of the rows in addition to their spectrum."""
    variances = _over(rows.standardized_squares, divisor)
    return {
        "n_rows": rows.moments.weight,
        "n_columns": len(rows.moments.mean),
        "total_variance": float(variances.sum()),
        "column_variances": variances,
        "components": components,
        "mean": rows.standardization.mean,
        "factor": rows.standardization.factor,
        "seed": seed,
    }
