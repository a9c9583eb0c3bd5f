"""Independent components: whitening by PCA, then unmixing, then what is known of the sources."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import linear_sum_assignment

from gramian.arrays.namespace import HostArray, free_bytes, from_host, on_device, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.eigen.pairs import signs_of
from gramian.errors import (
    IdentifiabilityWarning,
    InputError,
    Parameter,
    ParameterError,
    RankWarning,
    Sentence,
    users_line,
)
from gramian.machine import memory_budget, one_blas_thread, total_memory
from gramian.models.ica.model import ICAModel, ICAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.models.pca.scoring import deviations
from gramian.sources.moments import measure_moments
from gramian.sources.progress import say
from gramian.sources.rows import RowSource
from gramian.unmixing.contrast import CONTRASTS, Contrast, LogCosh, derivative_fault
from gramian.unmixing.fastica import Deflation, SymmetricFastICA
from gramian.unmixing.independence import LEAST_A_SOURCE, Independence, look_gaussian, measure_independence, source_name
from gramian.unmixing.infomax import Infomax
from gramian.unmixing.method import Unmixing, UnmixingMethod, nearest_rotation, unmix
from gramian.unmixing.picard import PicardO
from gramian.unmixing.stability import Stability, measure_stability, unmixed_quarters
from gramian.unmixing.white_rows import WhiteRows

__all__ = ["METHODS", "ICAModel", "ICAOptions", "fit_ica", "source_name"]

METHODS: dict[str, type[UnmixingMethod]] = {
    "picard": PicardO,
    "parallel": SymmetricFastICA,
    "deflation": Deflation,
    "infomax": Infomax,
}
"""Methods by name; adding one is its own file and a line here."""

NOT_WHITE = 0.1
"""Entry of the second moments less the identity above which rows given as white are said not to be."""


def fit_ica(source: RowSource, options: ICAOptions | None = None) -> ICAModel:
    """Fit independent sources to the rows of a source.

    Computes  s = W K (x - mean),  K the whitening by :func:`~gramian.models.pca.fit.fit_pca` on the directions that the
    rows have, W by the algorithm asked for. Whitening is folded into W. White rows are stored in float32, for all
    iterations but the last ones, where they are in this process and within the budget (by default an eighth of the
    memory); not where the rows are float32 already and hardly wider than their sources are many.

    Cost: that of the PCA, then one pass per iteration (4 n k^2 operations and n k nonlinearities).

    Parameters
    ----------
    source : RowSource
    options : ICAOptions, optional

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> s = np.random.default_rng(0).uniform(-1.0, 1.0, size=(5000, 2))
    >>> model = fit_ica(as_source(s @ np.array([[2.0, 1.0], [1.0, 1.0]])))
    >>> np.abs(model.components @ np.array([[2.0, 1.0], [1.0, 1.0]]).T).round(1).max(axis=1)
    array([1.7, 1.7])
    """
    options = options or ICAOptions()
    METHODS[options.algorithm](options.contrast).require_suited(source.like())
    _check_contrast(options.contrast, source)
    _require_rows(source, options)
    rows, pca = _white_rows(source, options)
    method = METHODS[options.algorithm](options.contrast, options.tol, options.max_iter)
    say(options, f"unmixing {rows.n_rows:,} rows into {rows.size} sources")
    with one_blas_thread():
        start, stability = _start(rows, method, options)
        found = unmix(rows, method, start, copy=_copy_pays(rows, options))
        order, W = _ordered(found.matrix, rows, pca)
        if options.independence:
            say(options, "measuring how independent the sources are")
        independence = _independence(rows, W, method, options) if options.independence else None
    _warn(found, independence, options)
    _warn_of_runs(stability, options)
    index = None if stability is None else _matched(stability, found.matrix)[order]
    model = _assembled(W, found, rows, pca=pca, options=options, independence=independence, stability=index)
    return model if stability is None else replace(model, converged_runs=stability.n_converged)


def _check_contrast(contrast: Contrast, source: RowSource) -> None:
    """Refuse a contrast of one's own that cannot tell sources apart, and warn of a derivative that is none."""
    fault = "" if type(contrast) in CONTRASTS.values() else derivative_fault(contrast, source.like())
    if fault:
        message = f"{fault} With a wrong derivative the sources found may not be the right ones."
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _require_rows(source: RowSource, options: ICAOptions) -> None:
    """Refuse a single row."""
    if source.n_rows < 2:
        message = (
            f"Found array with 1 sample(s) (shape={(source.n_rows, source.n_columns)}) while a minimum of 2 is "
            f"required by {options.name}: one row has no variation to unmix."
        )
        raise InputError(message)


def _white_rows(source: RowSource, options: ICAOptions) -> tuple[WhiteRows, PCAModel | None]:
    """Return the rows seen as white, and the PCA that made them so."""
    if not options.whiten:
        moments = measure_moments(source, center=False)
        second = to_host(moments.scatter) / moments.weight
        _check_white(source, second)
        return WhiteRows(source, np.eye(source.n_columns), None, second), None
    most = min(source.n_rows, source.n_columns)
    k = most if options.n_components is None else options.n_components
    if k > most:
        message = Sentence(
            f"{{count}} is too large: it will be set to {most}, the smaller side of these rows.",
            count=Parameter("n_components"),
        )
        warnings.warn(message, RankWarning, stacklevel=users_line())
        k, options = most, replace(options, n_components=None)
    pca = fit_pca(
        source,
        PCAOptions(
            n_components=k,
            ddof=0,
            seed=options.seed,
            memory_budget=options.memory_budget,
            progress=options.progress,
        ),
    )
    _check_rank(pca, k, options)
    K = to_host(pca.components).astype(FLOAT64)[: pca.rank] / deviations(pca)[: pca.rank, None]
    return WhiteRows(source, K, to_host(pca.mean).astype(FLOAT64), np.eye(pca.rank)), pca


def _check_white(source: RowSource, second: HostArray) -> None:
    """Refuse rows that do not vary or are far from any unit, and warn of others that are not white."""
    with np.errstate(invalid="ignore"):
        apart, largest = float(np.abs(second - np.eye(len(second))).max()), float(np.diagonal(second).max())
    # Equal rows have second moments of rank one: only those of a single column can look white.
    if (not apart <= NOT_WHITE or len(second) == 1) and not _vary(source):
        message = f"All {source.n_rows:,} rows are equal, so there is nothing to unmix. Pass rows that vary."
        raise InputError(message)
    # Float32 has to hold their powers.
    if not 1e-30 <= largest <= 1e30:
        message = (
            f"whiten=False takes rows that are white already, and the largest mean square of these columns is "
            f"{largest:.3g}, too far from 1 to unmix them. Let ICA whiten them (whiten='unit-variance')."
        )
        raise InputError(message)
    if apart > NOT_WHITE:
        message = (
            "whiten=False takes rows that are white already, and the second moments of these differ from the identity "
            f"by up to {apart:.3g}: the sources found may not be independent. Let ICA whiten the rows "
            "(whiten='unit-variance'), or center them and divide by their principal deviations first."
        )
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _vary(source: RowSource) -> bool:
    """Tell whether any column varies by more than the rounding of its mean: one pass."""
    moments = measure_moments(source, scatter=False)
    rounding = 8 * np.finfo(FLOAT64).eps * np.abs(moments.mean)
    with np.errstate(over="ignore", invalid="ignore"):
        return not (np.sqrt(moments.squares / moments.weight) <= rounding).all()


def _check_rank(pca: PCAModel, k: int, options: ICAOptions) -> None:
    if pca.rank == 0:
        message = f"All {pca.n_rows:,} rows are equal, so there is nothing to unmix. Pass rows that vary."
        raise InputError(message)
    natural = min(pca.n_rows - 1, pca.n_columns)
    if pca.rank < (k if options.n_components is not None else min(k, natural)):
        message = Sentence(
            f"There are some small singular values: the rows have {pca.rank} directions, so {pca.rank} sources are "
            f"returned and not {k}. Columns may be constant or repeated, or the rows too few; pass {{meant}} to say "
            "that this is meant.",
            meant=Parameter("n_components", (pca.rank,)),
        )
        warnings.warn(message, RankWarning, stacklevel=users_line())


def _copy_pays(rows: WhiteRows, options: ICAOptions) -> bool:
    """Tell whether a copy of the white rows in float32 pays, and fits in what copies may take."""
    source = rows.source
    pays = rows.dtype != FLOAT32 or source.n_columns > 2 * rows.size
    # Of the machine's total memory, so that the way taken does not vary from run to run.
    room = options.memory_budget or min(memory_budget() // 2, total_memory() // 8)
    if on_device(source.like()):
        room = min(room, free_bytes(source.like()) // 2)
    return source.is_local and pays and FLOAT32.itemsize * rows.n_rows * rows.size <= room


def _start(rows: WhiteRows, method: UnmixingMethod, options: ICAOptions) -> tuple[HostArray, Stability | None]:
    k = rows.size
    if options.start is not None and options.start.shape != (k, k):
        message = f"w_init has invalid shape {options.start.shape} -- should be {(k, k)}, one row per source."
        raise ParameterError(message)
    stability = None
    if options.runs > 1:
        say(options, f"measuring how stable the sources are over {options.runs} runs")
        sample = rows.sampled(min(20_000, rows.n_rows))
        stability = measure_stability(sample, method, runs=options.runs, seed=options.seed)
    if options.start is not None:
        return np.asarray(options.start, dtype=FLOAT64), stability
    if stability is not None:
        return stability.matrix, stability
    return nearest_rotation(np.random.default_rng(options.seed).standard_normal((k, k))), None


def _ordered(W: HostArray, rows: WhiteRows, pca: PCAModel | None) -> tuple[HostArray, HostArray]:
    """Return the order of the sources by explained variance, and W in it with unit variances and the house's signs."""
    if pca is not None:
        W = W / np.sqrt(np.einsum("ij,jk,ik->i", W, rows.second, W))[:, None]
    variance = np.einsum("ij,jk,ik->i", W, rows.second, W)
    mixing = _mixing(W, pca)
    # In units of the largest entry, whose square may be beyond any number.
    shares = ((mixing / np.abs(mixing).max()) ** 2).sum(axis=0)
    order = np.argsort(-shares * variance, kind="stable")
    return order, W[order] * signs_of(mixing[:, order])[:, None]


def _mixing(W: HostArray, pca: PCAModel | None) -> HostArray:
    inverse = np.linalg.pinv(W)
    if pca is None:
        return inverse
    V = to_host(pca.components).astype(FLOAT64)[: pca.rank]
    mixing: HostArray = (V.T * deviations(pca)[: pca.rank]) @ inverse
    return mixing


def _independence(rows: WhiteRows, W: HostArray, method: UnmixingMethod, options: ICAOptions) -> Independence:
    most = rows.n_rows if options.independence == "all" else measured_rows(rows.size)
    # Entropies are known to three digits at best: float32 keeps the sample to half a copy of the rows.
    sample = rows.sampled(min(most, rows.n_rows), dtype=FLOAT32).source
    z = to_host(sample.whole)
    if sample.weights is not None:
        z = z[drawn_by_weight(to_host(sample.weights), seed=options.seed)]
    # The error of W is known from quarters of the rows, which need ten rows per source each.
    enough = len(z) >= 40 * rows.size
    parts = unmixed_quarters(z, method, W, whiten=options.whiten) if enough else ()
    found = measure_independence(z, W, parts, fewer=4 * _effective_rows(rows) / len(z))
    if not enough:
        # What the error of W costs cannot be told from so few rows.
        found = replace(found, drop_error=np.inf, negentropy_error=np.full(rows.size, np.inf))
    if not found.gaussian or len(z) == rows.n_rows:
        return found
    return replace(found, gaussian=_confirmed(rows, W, found.gaussian))


def _confirmed(rows: WhiteRows, W: HostArray, suspects: tuple[int, ...]) -> tuple[int, ...]:
    """Return the sources that neither a sample nor all rows can tell from a Gaussian: one pass."""
    part = W[list(suspects)]
    part = part / np.sqrt(np.einsum("ij,jk,ik->i", part, rows.second, part))[:, None]
    moments = rows.score_moments(part, LogCosh())
    alike = look_gaussian(moments.slope - np.diagonal(moments.cross), _effective_rows(rows), rows.size)
    return tuple(j for j, is_so in zip(suspects, alike, strict=True) if is_so)


def drawn_by_weight(weights: HostArray, *, seed: int) -> HostArray:
    """Return positions drawn with probability w / max w, none twice: rows of equal weight, distributed as the weighted.

    Entropies come from the spacings of values, which a repeated row would make zero.

    Examples
    --------
    >>> drawn_by_weight(np.array([0.0, 2.0, 2.0]), seed=0)
    array([1, 2])
    """
    return np.flatnonzero(np.random.default_rng(seed).random(len(weights)) * weights.max() < weights)


def _effective_rows(rows: WhiteRows) -> int:
    """Return the rows of equal weight that tell as much as these: (sum w)^2 / sum w^2 (Kish, 1965)."""
    if rows.source.weights is None:
        return rows.n_rows
    weights = to_host(rows.source.weights).astype(FLOAT64)
    return max(1, round(float(weights.sum()) ** 2 / float((weights**2).sum())))


def measured_rows(k: int) -> int:
    """Return the number of rows, at most, from which the independence of k sources is measured by default.

    It is 100,000 of up to 5 sources, from there on fewer, as 1/k^3, but 10,000 at least and 200 per source, so that a
    quarter of them still unmixes. Measuring then adds 59% to a fit of 10 sources and 47% to one of 30 (100,000 rows),
    13% to 64 (300,000 rows), 12% to an EEG of 32: benchmarks/results/ica.md. Up to 5 sources of 100,000 rows it takes
    longer than the fit, twice as long on one core, and hundredths of a second.

    Examples
    --------
    >>> measured_rows(5), measured_rows(10), measured_rows(30), measured_rows(100)
    (100000, 12500, 10000, 20000)
    """
    return max(10_000, 100_000 * 5**3 // max(5, k) ** 3, 200 * k)


def _matched(stability: Stability, W: HostArray) -> HostArray:
    """Return the stability of each source of W: that of the source of the central run it is most like."""
    unit = [M / np.linalg.norm(M, axis=1, keepdims=True) for M in (W, stability.matrix)]
    matches = linear_sum_assignment(np.abs(unit[0] @ unit[1].T), maximize=True)[1]
    return stability.index[matches]


def _warn(found: Unmixing, independence: Independence | None, options: ICAOptions) -> None:
    if not found.converged:
        message = Sentence(
            f"{options.name} did not converge. Consider increasing tolerance or the maximum number of iterations: "
            f"after {found.n_iter} iterations the gradient norm is {found.gradient_norm:.1e}, and tol is "
            f"{options.tol:g}. Otherwise try {_advice(options)}; sources that are nearly Gaussian converge slowly and "
            "mean little.",
            count=Parameter("n_components"),
        )
        warnings.warn(message, options.warning, stacklevel=users_line())
    if independence is not None and independence.n_rows < LEAST_A_SOURCE * len(independence.kurtosis):
        message = Sentence(
            f"{independence.n_rows:,} rows for {len(independence.kurtosis):,} sources: so few can be turned into "
            "sources of any shape, noise too. Ask for fewer components ({count}), or pass more rows.",
            count=Parameter("n_components"),
        )
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())
    if independence is not None and len(independence.gaussian) > 1:
        advice = "or use them together" if independence.can_tell else "or pass more rows"
        doubt = independence.doubt(
            f"{'Sources' if independence.can_tell else 'sources'} {_listed(independence.gaussian)}"
        )
        message = Sentence(f"{doubt} Keep fewer sources ({{count}}), {advice}.", count=Parameter("n_components"))
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _listed(sources: tuple[int, ...]) -> str:
    """Name sources, the first eight where they are many; ``independence_.gaussian`` has them all.

    Examples
    --------
    >>> _listed((0, 2)), _listed(tuple(range(157)))
    ('IC1, IC3', 'IC1, IC2, IC3, IC4, IC5, IC6, IC7, IC8 and 149 more')
    """
    more = len(sources) - 8
    words = ", ".join(map(source_name, sources[:8]))
    return f"{words} and {more} more" if more > 0 else words


def _warn_of_runs(stability: Stability | None, options: ICAOptions) -> None:
    """Warn where stability is that of runs cut short. The fit itself may have converged: it is no such warning."""
    if stability is not None and stability.n_converged < stability.n_runs:
        message = Sentence(
            f"{stability.n_runs - stability.n_converged} of {stability.n_runs} runs did not converge within "
            f"{options.max_iter} iterations, so stability_ may be lower than these rows would give. Raise max_iter, or "
            "keep fewer sources ({count}): nearly Gaussian ones converge slowly.",
            count=Parameter("n_components"),
        )
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _advice(options: ICAOptions) -> str:
    """Return what to try where a fit has not converged; FastICA has no other algorithm than its own two."""
    if options.algorithm == "picard":
        return "fewer sources ({count})"
    return "gramian.ICA, whose algorithm='picard' converges" if options.name == "FastICA" else "algorithm='picard'"


def _assembled(
    W: HostArray,
    found: Unmixing,
    rows: WhiteRows,
    *,
    pca: PCAModel | None,
    options: ICAOptions,
    independence: Independence | None,
    stability: HostArray | None,
) -> ICAModel:
    """Put a fitted model together in the type, library and device of the rows."""
    source = rows.source
    to_rows = partial(from_host, like=source.like(), dtype=source.dtype)
    mixing = _mixing(W, pca)
    spread = np.einsum("ij,jk,ik->i", W, rows.second, W)
    with np.errstate(over="ignore"):
        # PCA has warned of variances that cannot be held.
        variances = to_rows((mixing**2).sum(axis=0) * spread)
    return ICAModel(
        components=to_rows(W if pca is None else W @ rows.whitening),
        mixing=to_rows(mixing),
        mean=None if pca is None else pca.mean,
        whitening=None if pca is None else to_rows(rows.whitening),
        unmixing=to_rows(W),
        variances=variances,
        n_rows=source.n_rows,
        n_columns=source.n_columns,
        gradient_norm=found.gradient_norm,
        n_iter=found.n_iter,
        converged=found.converged,
        independence=independence,
        stability=stability,
        options=options,
        weight=None if source.weights is None else float(to_host(source.weights).sum(dtype=FLOAT64)),
    )
