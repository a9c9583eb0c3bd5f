"""Principal components: the functions that fit a model of them, and how many components it keeps."""

import warnings
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy

from gramian.arrays.namespace import Array, HostArray, cast, from_host, namespace_of, to_host
from gramian.arrays.precision import FLOAT64, eps_of, resolve_tolerance
from gramian.choosing.auto import choose_automatically
from gramian.choosing.facts import AT_A_TIME, MAX_ENTRIES, MAX_SIDE, LeadingComponents, sample_bytes
from gramian.choosing.minka import choose_by_minka
from gramian.choosing.panel import Panel, panel
from gramian.choosing.share import choose_by_share
from gramian.eigen.certificate import Certificate
from gramian.eigen.pairs import Approximation
from gramian.errors import InputError, Parameter, ParameterError, Phrase, PrecisionWarning, Sentence, users_line
from gramian.machine import memory_budget, threads_for
from gramian.models.pca.decomposition import (
    Decomposition,
    Rows,
    Spectrum,
    all_count,
    completed_components,
    decompose,
    prepare_rows,
    rank_of,
    standardization_of,
)
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.operators.standardization import ROUNDING
from gramian.planning.plan import DIRECT_SIZE, Facts, Plan, RuleMemory, plan_in_doubt, plan_pca, require_free
from gramian.sources.dense import DenseRows
from gramian.sources.moments import Moments
from gramian.sources.opening import as_source
from gramian.sources.progress import say
from gramian.sources.rows import RowSource
from gramian.sources.scaled import Exponents
from gramian.sources.sparse import SparseRows

__all__ = [
    "PCAModel",
    "PCAOptions",
    "PCASolve",
    "certificate_of",
    "first_facts",
    "fit_pca",
    "fit_pca_from_moments",
    "solve_pca",
]

LARGE_SIDE = 4 * DIRECT_SIZE
"""Smaller side beyond which a rule is asked of leading components, doubled while it wants more, not of all."""

FIRST_LOOK = 64
"""Components that such a rule sees first."""


class Choice(NamedTuple):
    """A number of components, the reason, whether more of the spectrum should be seen, and how many were examined."""

    k: int
    reason: str = ""
    exhausted: bool = False
    examined: int = 0


def fit_pca(source: RowSource, options: PCAOptions = PCAOptions()) -> PCAModel:
    """Fit principal components to the rows of a source.

    Computes the k leading eigenpairs of  Xs'Xs / (W - ddof)  by the way that :func:`plan_pca` finds cheapest, with a
    certificate; see :class:`PCAModel`.

    Parameters
    ----------
    source : RowSource
    options : PCAOptions

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> t = np.arange(5.0)
    >>> model = fit_pca(as_source(np.column_stack([3 * t, 4 * t])))
    >>> model.components[0].round(12), model.rank
    (array([0.6, 0.8]), 1)
    """
    return solve_pca(source, options).model(options.n_components)


def solve_pca(source: RowSource, options: PCAOptions, *, moments: Moments | None = None, least: int = 0) -> "PCASolve":
    """Measure the rows of a source and solve once for as many components as the options need to see.

    Models of any number of them, and what each rule says of that number, come from the one solve.

    Parameters
    ----------
    source : RowSource
    options : PCAOptions
        ``n_components="auto"`` asks for all components, or for 64 where the smaller side is above 6,000.
    moments : Moments, optional
        Of the rows, where they are known already: that saves the pass that measures them.
    least : int
        Components that are solved for at least.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> solve = solve_pca(as_source(np.random.default_rng(0).standard_normal((50, 4))), PCAOptions("auto"))
    >>> solve.model(3).n_components, solve.panel().counts["minka"]
    (3, 1)
    """
    facts = first_facts(source, options)
    if facts.wanted < least:
        facts = replace(facts, k=min(least, facts.m))
    plan = _allowed_plan(source, facts)
    with _threads_of(source, plan):
        say(options, f"measuring {source.n_rows:,} x {source.n_columns:,} rows")
        prepared = prepare_rows(
            source, plan=plan, center=options.center, scale=options.scale, ddof=options.ddof, moments=moments
        )
        say(options, f"solving: {plan}" if options.progress else "")
        solved = decompose(prepared, plan=plan, k=facts.wanted, tol=facts.tol, seed=options.seed)
    return PCASolve(source, options, facts, plan, prepared, solved)


@dataclass(frozen=True, eq=False)
class PCASolve:
    """Singular values and components of the rows of a source, from which models are made.

    Attributes
    ----------
    source : RowSource
    options : PCAOptions
    facts : Facts
        What the plan rests on; ``facts.wanted`` components are known.
    plan : Plan
    rows : Rows
        With the moments.
    solved : Decomposition
    """

    source: RowSource
    options: PCAOptions
    facts: Facts
    plan: Plan
    rows: Rows
    solved: Decomposition

    def panel(self, *, share: float = 0.95) -> Panel:
        """Return what every rule says about the number of components: one pass, for a sample of the rows."""
        squares = self.solved.spectrum[: min(self.source.n_rows, self.source.n_columns)]
        divisor = self.rows.moments.weight - 1
        known = _known(self.rows, self.solved.leading(), divisor, self.options.seed)
        return panel(_over(squares, divisor), _repeated(self.rows.source), share=share, **known)

    def seen_by(self, n_components: Any) -> "tuple[PCASolve, Choice]":
        """Return how many components are asked for, or a rule (a share, "mle", "auto") says, and the solve it saw.

        Where a rule wants to see more components than are known, more are solved for.
        """
        solve, shape, options = self, _Shape.of(self.source), replace(self.options, n_components=n_components)
        while True:
            choice = _choice(solve.solved, solve.rows, options, shape)
            is_seen = choice.k <= solve.facts.wanted and not choice.exhausted
            if is_seen or solve.facts.wanted >= solve.facts.m:
                return solve, choice
            solve = solve._twice()

    def model(self, n_components: Any) -> PCAModel:
        """Return the model of a number of components, or of what a rule says; see :meth:`seen_by`."""
        solve, choice = self.seen_by(n_components)
        options = replace(self.options, n_components=n_components)
        with _threads_of(self.source, solve.plan):
            facts = replace(solve.facts, kept=choice.k, examined=choice.examined)
            plan = _carried_out(solve.plan, facts, solve.solved)
            return _assembled(solve.solved, solve.rows, plan, options, shape=_Shape.of(self.source), choice=choice)

    def _twice(self) -> "PCASolve":
        """Return the solve of twice as many components, which starts from those known."""
        # A rule that has looked at all components found so far wants to see twice as many.
        known = Approximation(self.solved.pairs.values, self.solved.pairs.vectors)
        facts = replace(self.facts, k=min(2 * self.facts.wanted, self.facts.m))
        plan = _allowed_plan(self.source, facts)
        say(self.options, f"solving: {plan}" if self.options.progress else "")
        with _threads_of(self.source, plan):
            solved = decompose(self.rows, plan=plan, k=facts.wanted, tol=facts.tol, seed=self.options.seed, start=known)
        return replace(self, facts=facts, plan=plan, solved=solved)


def _allowed_plan(source: RowSource, facts: Facts) -> Plan:
    """Return the plan for some facts, refused where the memory that it takes is not free."""
    plan = plan_pca(facts)
    require_free(plan.peak_bytes, work=f"PCA of {source.n_rows:,} x {source.n_columns:,} rows")
    return plan


def _threads_of(source: RowSource, plan: Plan) -> AbstractContextManager[None]:
    """Leave BLAS as it is where it has too little to do for threads; else give a dense solve threads if they pay.

    Below a million operations per pass BLAS uses one thread anyway, and limiting it would cost a tenth of the fit.
    """
    m, is_dense = min(source.n_rows, source.n_columns), plan.solver.is_dense
    if is_dense and source.n_entries * m < 1e6:
        return nullcontext()
    return threads_for(10 * m**3 if is_dense else 0, shared=source.n_entries * m)


def _carried_out(plan: Plan, facts: Facts, solved: Decomposition) -> Plan:
    """Return the plan as it came out: with the memory of the components kept, of the dense solve if that took over."""
    if solved.taken_over:
        return plan_in_doubt(facts, plan)
    if facts.kept == facts.wanted:
        return plan
    again = plan_pca(facts)
    return replace(plan, peak_bytes=again.peak_bytes, dense_bytes=again.dense_bytes)


def first_facts(source: RowSource, options: PCAOptions) -> Facts:
    """Return the facts that the first plan of a fit rests on."""
    shape = _Shape.of(source)
    k = requested(options.n_components, shape.size)
    if k is None and options.n_components != "mle" and min(shape.n, shape.d) > LARGE_SIDE:
        k = FIRST_LOOK
    return _facts(
        shape,
        options,
        k,
        n=shape.n,
        entries=source.n_entries,
        sparse=source.is_sparse,
        by_columns=source.has_columns,
        solver=options.solver,
        on_disk=source.on_disk,
        pass_bytes=source.pass_bytes,
        rule=rule_memory(options.n_components, source),
    )


def fit_pca_from_moments(
    moments: Moments, options: PCAOptions = PCAOptions(), *, dtype: np.dtype[Any] = FLOAT64
) -> PCAModel:
    """Fit principal components to moments alone, as batches leave them.

    Without rows the small singular values cannot be repaired: those under about 1e-8 of the first are rounding.
    """
    d = len(moments.mean)
    shape = _Shape(moments.count, d, min(_effective_count(moments), d), dtype, moments.mean[:0])
    k = requested(options.n_components, shape.size)
    facts = _facts(shape, options, k, n=max(shape.n, d), entries=d * d, sparse=False, by_columns=True, solver="full")
    plan = plan_pca(facts)
    # Each batch was read once, when its moments were merged.
    plan = replace(plan, reason="because the d x d scatter of the batches is all that is kept", passes=1)
    standardization = standardization_of(moments, center=options.center, scale=options.scale, ddof=options.ddof)
    rows = Rows(None, moments, standardization)
    solved = decompose(rows, plan=plan, k=shape.size if k is None else k, tol=facts.tol, seed=options.seed)
    choice = _choice(solved, rows, options, shape)
    return _assembled(solved, rows, plan, options, shape=shape, choice=choice)


@dataclass(frozen=True, eq=False)
class _Shape:
    n: int
    d: int
    size: int
    dtype: np.dtype[Any]
    like: Array

    @classmethod
    def of(cls, source: RowSource) -> "_Shape":
        size = min(effective_rows(source), source.n_columns)
        return cls(source.n_rows, source.n_columns, size, source.dtype, source.like())


def _choice(solved: Decomposition, rows: Rows, options: PCAOptions, shape: _Shape) -> Choice:
    k = requested(options.n_components, shape.size)
    if k is not None:
        return Choice(k)
    spectrum = _spectrum(solved, rows, options, shape)
    return choose(options.n_components, spectrum, rows, solved.leading(), seed=options.seed)


def _spectrum(solved: Decomposition, rows: Rows, options: PCAOptions, shape: _Shape) -> Spectrum:
    divisor = rows.moments.weight - options.ddof
    return Spectrum(solved.spectrum, float(rows.standardized_squares.sum()), divisor, shape.size)


def _assembled(
    solved: Decomposition, rows: Rows, plan: Plan, options: PCAOptions, *, shape: _Shape, choice: Choice
) -> PCAModel:
    """Put a fitted model together: rank, signs, units and types."""
    k = choice.k
    whole = _spectrum(solved, rows, options, shape)
    components = solved.components(k)
    rank = _rank(solved.spectrum, components, rows, shape)
    components = completed_components(components, rank=rank, k=k, seed=options.seed)
    kept = whole.leading(k)
    divisor = whole.divisor
    sized = partial(_sized, rows.exponent)
    _warn_of_range(kept, rows.exponent, shape.dtype)
    factor = rows.standardization.factor
    variances, shares, singular_values, mean, factor = _as_rows(
        shape,
        sized(2, kept.variances),
        kept.shares,
        sized(1, np.sqrt(kept.squares)),
        _sized(rows.exponents, 1, rows.moments.mean),
        None if factor is None else _sized(rows.exponents, -1, factor),
    )
    return PCAModel(
        components=cast(components.T, shape.dtype),
        variances=variances,
        shares=shares,
        singular_values=singular_values,
        mean=mean,
        factor=factor,
        n_rows=shape.n,
        n_columns=shape.d,
        rank=min(rank, k),
        weight=rows.moments.weight,
        total_variance=float(sized(2, whole.total / divisor if divisor > 0 else 0.0)),
        noise_variance=float(sized(2, whole.noise(k, rank=rank))),
        certificate=certificate_of(
            solved.certificate, k=k, rank=rank, dtype=shape.dtype, divisor=divisor, exponent=rows.exponent
        ),
        plan=plan,
        options=options,
        verdict=choice.reason,
        left_out_dimensions=whole.spread_beyond(k, square_sum=solved.pairs.square_sum, eps=eps_of(shape.dtype)),
        power_trace=None
        if solved.pairs.trace is None
        else solved.pairs.trace.scaled(float(sized(2, 1.0 / divisor if divisor > 0 else 0.0))),
    )


def certificate_of(
    graded: Certificate, *, k: int, rank: int, dtype: np.dtype[Any], divisor: float, exponent: int = 0
) -> Certificate:
    """Return the certificate of a model of ``k`` components from that of squared singular values, in variances."""
    kept = graded.leading(k).null_beyond(rank).kept_in(dtype)
    return kept.rescaled(1.0 / divisor if divisor > 0 else 1.0, exponent=2 * exponent)


def _rank(squares: HostArray, components: Array, rows: Rows, shape: _Shape) -> int:
    eps = eps_of(FLOAT64) if rows.source is not None else float(np.sqrt(eps_of(FLOAT64)))
    if rows.source is not None and rows.source.is_sparse:
        # Sparse products are corrected for the mean afterwards: they are rounded at its size, not at the spread's.
        # A sum of t products is wrong by sqrt(t) roundings or so.
        roundings = ROUNDING + np.sqrt(rows.source.n_entries / max(shape.n, 1))
        rounded = roundings * rows.standardization.error_of_products(rows.moments.weight, 1.0)
        squares = squares[: np.count_nonzero(squares > rounded**2)]
    # Centered rows sum to zero: whatever rounding has left of the last direction is none.
    squares = squares[: max(shape.n - 1, 0)] if rows.standardization.centered else squares
    unit = eps_of(shape.dtype)
    if all_count(squares, n=shape.n, d=shape.d, eps=eps, rounding=unit * rows.largest_size):
        return len(squares)
    return rank_of(squares, components, n=shape.n, eps=eps, rounding=unit * rows.column_sizes)


def _as_rows(shape: _Shape, *values: Array | None) -> list[Array]:
    """Move values to the type, library and device of the rows; what leaves the type's range becomes 0 or inf."""
    with np.errstate(over="ignore", under="ignore") if shape.dtype != FLOAT64 else nullcontext():
        return [None if x is None else from_host(x, like=shape.like, dtype=shape.dtype) for x in values]


def _sized(exponent: Exponents, power: int, values: Any) -> Any:
    """Give values, which have a power of the rows' unit, their true size again."""
    if isinstance(exponent, int) and exponent == 0:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, power * exponent)


def _warn_of_range(kept: Spectrum, exponent: int, dtype: np.dtype[Any]) -> None:
    """Say so when variances leave the range of their type; nothing else does."""
    if exponent == 0:
        return
    largest = float(np.max(_sized(exponent, 2, kept.variances[:1]), initial=0.0))
    limits = np.finfo(dtype)
    if kept.divisor <= 0 or kept.total <= 0 or float(limits.tiny) < largest < float(limits.max):
        return
    message = (
        f"Variances of these rows are about 2**{2 * exponent} and cannot be held in {dtype.name}: explained_variance_ "
        f"is {largest:g}. Singular values, shares, components and scores are right. Scale the rows to use variances."
    )
    warnings.warn(message, PrecisionWarning, stacklevel=users_line())


def _facts(shape: _Shape, options: PCAOptions, k: int | None, **known: Any) -> Facts:
    """Add to the facts that are ``known`` of the rows those that follow from their type and from what is asked."""
    tol, budget = resolve_tolerance(options.tol, shape.dtype), options.memory_budget or memory_budget()
    asked = options.n_components
    share = asked if isinstance(asked, float) and asked < 1 else 1.0
    return Facts(
        d=shape.d,
        itemsize=shape.dtype.itemsize,
        k=k,
        tol=tol,
        budget=budget,
        share=share,
        most_steps=options.most_steps,
        **known,
    )


def effective_rows(source: RowSource) -> int:
    """Count rows as repetitions: rows of weight zero are not there, a weight of three is three rows."""
    if source.weights is None:
        return source.n_rows
    weights = to_host(source.weights)
    return max(int(np.count_nonzero(weights > 0)), int(np.floor(weights.sum() + 1e-9)))


def _effective_count(moments: Moments) -> int:
    return moments.count if moments.weight == moments.count else max(1, int(np.floor(moments.weight + 1e-9)))


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
            "{asked} is not a number of components between {least} and {most}. Pass an integer up to {size}, a "
            "share such as 0.95, {others}.",
            asked=Parameter("n_components", (n_components,)),
            least=Phrase("0", "1"),
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
    if np.any(weights != np.floor(weights)) or weights.sum() * source.n_columns > 1 << 22:
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


def _over(squares: HostArray, divisor: float) -> HostArray:
    """Return sums of squares as variances, which is how a reason names them."""
    return squares / divisor if divisor > 0 else squares


def _known(rows: Rows, components: LeadingComponents, divisor: float, seed: int) -> dict[str, Any]:
    """Return what rules may know of the rows in addition to their spectrum."""
    variances, own = _over(to_host(rows.standardized_squares), divisor), rows.standardization
    return {
        "n_rows": rows.moments.weight,
        "n_columns": len(rows.moments.mean),
        "total_variance": float(variances.sum()),
        "column_variances": variances,
        "components": components,
        "mean": to_host(own.mean),
        "factor": None if own.factor is None else to_host(own.factor),
        "seed": seed,
    }


def how_many(X: Any, *, share: float = 0.95, center: bool = True, scale: bool = False, seed: int = 0) -> Panel:
    """Ask every rule how many principal components a table has.

    Solves for all components, or for the leading 64 where the smaller side is above 6,000, and puts their answers side
    by side: the automatic choice, parallel analysis, Minka's, Gavish and Donoho's, the broken stick, generalized and
    row-wise cross-validation, and the share of variance. ``PCA(n_components="auto")`` keeps what the first line says.

    Cost: that of a fit of all components, and about a second for the rules that read rows.

    Parameters
    ----------
    X : anything that ``PCA.fit`` takes
    share : float, default=0.95
        What the rule of the share asks for.
    center, scale : bool
        As for :class:`~gramian.PCA`.
    seed : int, default=0
        Of the draws that some rules make.

    Returns
    -------
    Panel
        Prints as a table; ``panel.n_components`` is the automatic choice, ``panel["minka"]`` what one rule answers.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((300, 2)) @ (5 * rng.standard_normal((2, 8))) + rng.standard_normal((300, 8))
    >>> panel = how_many(X)
    >>> panel.n_components, panel["minka"].n_components
    (2, 2)
    """
    options = PCAOptions(n_components="auto", center=center, scale=scale, seed=seed)
    return solve_pca(as_source(X), options).panel(share=share)


def check_divisor(source: RowSource, ddof: int) -> None:
    """Refuse rows, or weights, that leave nothing to divide sums of squares by: W - ddof."""
    weights = source.weights
    if weights is None:
        require_divisor(source.n_rows, ddof, weight=source.n_rows)
    else:
        require_divisor(int((weights > 0).sum()), ddof, weight=float(weights.sum()))


def require_divisor(n_rows: int, ddof: int, *, weight: float) -> None:
    """Refuse a sum of weights up to ddof; one row that counts is its own mean, with no variance."""
    if weight > ddof or (n_rows == 1 and ddof == 1):
        return
    if weight == n_rows:
        rows = "There is 1 row" if n_rows == 1 else f"There are {n_rows} rows"
        message = (
            f"{rows} and ddof={ddof}, so variances have nothing to be divided by. "
            f"Pass more than {ddof} rows, or a ddof below {n_rows}."
        )
    else:
        message = (
            f"sample_weight sums to {weight:g} and ddof={ddof}, so variances have nothing to be divided by. "
            "A weight is a number of repetitions: multiply them, or pass ddof=0."
        )
    raise InputError(message)
