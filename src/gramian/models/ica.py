"""Independent components: whitening by PCA, then unmixing, then what is known of the sources."""

import warnings
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from gramian.arrays.namespace import HostArray, from_host, to_host
from gramian.arrays.precision import FLOAT32, FLOAT64
from gramian.errors import IdentifiabilityWarning, ParameterError, users_line
from gramian.models.ica_model import ICAModel, ICAOptions
from gramian.models.ica_whitening import require_rows, white_rows
from gramian.models.pca import PCAModel
from gramian.models.scoring import deviations
from gramian.models.spectrum import signs_of
from gramian.planning.machine import memory_budget, one_blas_thread, total_memory
from gramian.sources.rows import RowSource
from gramian.unmixing.contrast import CONTRASTS, Contrast, LogCosh, derivative_fault
from gramian.unmixing.fastica import Deflation, SymmetricFastICA
from gramian.unmixing.held_rows import small_blocks
from gramian.unmixing.independence import LEAST_A_SOURCE, Independence, look_gaussian, measure_independence, source_name
from gramian.unmixing.infomax import Infomax
from gramian.unmixing.method import Unmixing, UnmixingMethod, nearest_rotation
from gramian.unmixing.picard import PicardO
from gramian.unmixing.resamples import unmixed_quarters
from gramian.unmixing.stability import Stability, measure_stability
from gramian.unmixing.warm_start import unmix
from gramian.unmixing.white_rows import WhiteRows

__all__ = ["METHODS", "ICAModel", "ICAOptions", "fit_ica", "source_name"]

METHODS: dict[str, type[UnmixingMethod]] = {
    "picard": PicardO,
    "parallel": SymmetricFastICA,
    "deflation": Deflation,
    "infomax": Infomax,
}
"""Methods by name; adding one is a line here beside its own file."""

FEW_COLUMNS = 256
"""Columns up to which the whitening too is held to one BLAS thread a worker: its small eigenproblem gains nothing from
more, and idle threads of BLAS spin on the cores that the next passes need."""

WIDE = 2
"""Columns, in numbers of sources, beyond which white rows are held: half a copy at most, and cheaper passes."""

HELD_SHARE = 8
"""The part of the machine's memory that a copy of the white rows in float32 may take; its total, so that the way taken
does not vary from run to run."""

MEASURED_ROWS, MEASURED_SOURCES = (10_000, 100_000), 5
"""Rows, at least and at most, from which independence is measured where not all are asked for, and the number of
sources up to which it is the most: from there on fewer, as 1/k^3. Measuring then adds 59% to a fit of 10 sources and
47% to one of 30 (100,000 rows), 13% to 64 (300,000 rows), 12% to an EEG of 32: benchmarks/results/ica.md. Up to 5
sources of 100,000 rows it takes longer than the fit, twice as long on one core, and hundredths of a second."""

MEASURED_A_SOURCE = 200
"""Rows a source that are taken in any case, so that a quarter of them still unmixes."""

LEAST_QUARTERS = 40
"""Rows a source, at least, whose quarters are unmixed to tell the error of W; that of fewer is not known."""

STABILITY_ROWS = 20_000
"""Rows, at most, that are resampled for stability."""

MOST_NAMED = 8
"""Sources, at most, that a warning names; ``independence_.gaussian`` has them all."""


def fit_ica(source: RowSource, options: ICAOptions | None = None) -> ICAModel:
    """Fit independent sources to the rows of a source.

    Computes  s = W K (x - mean),  K the whitening by :func:`~gramian.models.pca.fit_pca` on the directions that the
    rows have, W by the algorithm asked for. Whitening is folded into W. White rows are stored in float64 only where
    there are more than twice as many columns as sources and they are in this process; else in float32, for all
    iterations but the last ones. Copies are made only within the budget (by default an eighth of the memory).

    Cost: that of the PCA, then one pass an iteration (4 n k^2 operations and n k nonlinearities).

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
    require_rows(source, options)
    source = small_blocks(source)
    with one_blas_thread() if source.n_columns <= FEW_COLUMNS else nullcontext():
        rows, pca = white_rows(source, options)
    method = METHODS[options.algorithm](options.contrast, options.tol, options.max_iter)
    with one_blas_thread():
        room = _room(options) if source.is_local else 0
        if source.n_columns > WIDE * rows.size and (held := _bytes_of(rows)) <= room:
            rows, room = rows.held(), room - held
        start, stability = _start(rows, method, options)
        found = unmix(rows, method, start, hold=_bytes_of(rows, FLOAT32) <= room)
        order, W = _ordered(found.matrix, rows, pca)
        independence = _independence(rows, W, method, options) if options.independence else None
    _warn(found, independence, options)
    _warn_of_runs(stability, options)
    index = None if stability is None else _matched(stability, found.matrix)[order]
    model = _assembled(
        W,
        found,
        second=rows.second,
        source=source,
        pca=pca,
        options=options,
        independence=independence,
        stability=index,
    )
    return model if stability is None else replace(model, converged_runs=stability.n_converged)


def _check_contrast(contrast: Contrast, source: RowSource) -> None:
    """Refuse a contrast of one's own that cannot tell sources apart, and warn of a derivative that is none."""
    fault = "" if type(contrast) in CONTRASTS.values() else derivative_fault(contrast, source.like())
    if fault:
        message = f"{fault} With a wrong derivative the sources found may not be the right ones."
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _bytes_of(rows: WhiteRows, dtype: np.dtype[Any] | None = None) -> int:
    """Return the bytes of a copy of the white rows."""
    return (dtype or rows.dtype).itemsize * rows.n_rows * rows.size


def _room(options: ICAOptions) -> int:
    """Return the bytes that copies of the white rows may take."""
    return options.memory_budget or min(memory_budget() // 2, total_memory() // HELD_SHARE)


def _start(rows: WhiteRows, method: UnmixingMethod, options: ICAOptions) -> tuple[HostArray, Stability | None]:
    k = rows.size
    if options.start is not None and options.start.shape != (k, k):
        message = f"w_init has invalid shape {options.start.shape} -- should be {(k, k)}, one row a source."
        raise ParameterError(message)
    stability = None
    if options.runs > 1:
        sample = rows.sampled(min(STABILITY_ROWS, rows.n_rows))
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
    z = to_host(rows.sampled(min(most, rows.n_rows), dtype=FLOAT32).source.array)  # type: ignore[attr-defined]
    enough = len(z) >= LEAST_QUARTERS * rows.size
    parts = unmixed_quarters(z, method, W, whiten=options.whiten) if enough else ()
    found = measure_independence(z, W, parts, fewer=4 * rows.n_rows / len(z))
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
    alike = look_gaussian(moments.slope - np.diagonal(moments.cross), rows.n_rows, rows.size)
    return tuple(j for j, is_so in zip(suspects, alike, strict=True) if is_so)


def measured_rows(k: int) -> int:
    """Return the number of rows, at most, from which the independence of k sources is measured by default.

    Examples
    --------
    >>> measured_rows(5), measured_rows(10), measured_rows(30), measured_rows(100)
    (100000, 12500, 10000, 20000)
    """
    least, most = MEASURED_ROWS
    return max(least, most * MEASURED_SOURCES**3 // max(MEASURED_SOURCES, k) ** 3, MEASURED_A_SOURCE * k)


def _matched(stability: Stability, W: HostArray) -> HostArray:
    """Return the stability of each source of W: that of the source of the central run it is most like."""
    unit = [M / np.linalg.norm(M, axis=1, keepdims=True) for M in (W, stability.matrix)]
    matches = linear_sum_assignment(np.abs(unit[0] @ unit[1].T), maximize=True)[1]
    return stability.index[matches]


def _warn(found: Unmixing, independence: Independence | None, options: ICAOptions) -> None:
    if not found.converged:
        message = (
            f"{options.name} did not converge. Consider increasing tolerance or the maximum number of iterations: "
            f"after {found.n_iter} iterations the gradient norm is {found.gradient_norm:.1e}, and tol is "
            f"{options.tol:g}. Otherwise try {_advice(options)}; sources that are nearly Gaussian converge slowly and "
            "mean little."
        )
        warnings.warn(message, options.warning, stacklevel=users_line())
    if independence is not None and independence.n_rows < LEAST_A_SOURCE * len(independence.kurtosis):
        message = (
            f"{independence.n_rows:,} rows for {len(independence.kurtosis):,} sources: so few can be turned into "
            "sources of any shape, noise too. Ask for fewer components (n_components), or pass more rows."
        )
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())
    if independence is not None and len(independence.gaussian) > 1:
        advice = "or use them together" if independence.can_tell else "or pass more rows"
        doubt = independence.doubt(
            f"{'Sources' if independence.can_tell else 'sources'} {_listed(independence.gaussian)}"
        )
        message = f"{doubt} Keep fewer sources (n_components), {advice}."
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _listed(sources: tuple[int, ...]) -> str:
    """Name sources, the first of them where they are many.

    Examples
    --------
    >>> _listed((0, 2)), _listed(tuple(range(157)))
    ('IC1, IC3', 'IC1, IC2, IC3, IC4, IC5, IC6, IC7, IC8 and 149 more')
    """
    more = len(sources) - MOST_NAMED
    words = ", ".join(map(source_name, sources[:MOST_NAMED]))
    return f"{words} and {more} more" if more > 0 else words


def _warn_of_runs(stability: Stability | None, options: ICAOptions) -> None:
    """Warn where stability is that of runs cut short. The fit itself may have converged: it is no such warning."""
    if stability is not None and stability.n_converged < stability.n_runs:
        message = (
            f"{stability.n_runs - stability.n_converged} of {stability.n_runs} runs did not converge within "
            f"{options.max_iter} iterations, so stability_ may be lower than these rows would give. Raise max_iter, or "
            "keep fewer sources (n_components): nearly Gaussian ones converge slowly."
        )
        warnings.warn(message, IdentifiabilityWarning, stacklevel=users_line())


def _advice(options: ICAOptions) -> str:
    """Return what to try where a fit has not converged; FastICA has no other algorithm than its own two."""
    if options.algorithm == "picard":
        return "fewer sources (n_components)"
    return "gramian.ICA, whose algorithm='picard' converges" if options.name == "FastICA" else "algorithm='picard'"


def _assembled(
    W: HostArray,
    found: Unmixing,
    *,
    second: HostArray,
    source: RowSource,
    pca: PCAModel | None,
    options: ICAOptions,
    independence: Independence | None,
    stability: HostArray | None,
) -> ICAModel:
    """Put a fitted model together in the type, library and device of the rows."""
    to_rows = partial(from_host, like=source.like(), dtype=source.dtype)
    mixing = _mixing(W, pca)
    spread = np.einsum("ij,jk,ik->i", W, second, W)
    with np.errstate(over="ignore"):
        # PCA has warned of variances that cannot be held.
        variances = to_rows((mixing**2).sum(axis=0) * spread)
    K = None if pca is None else to_host(pca.components).astype(FLOAT64)[: pca.rank] / deviations(pca)[: pca.rank, None]
    return ICAModel(
        components=to_rows(W if K is None else W @ K),
        mixing=to_rows(mixing),
        mean=None if pca is None else pca.mean,
        whitening=None if K is None else to_rows(K),
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
    )
