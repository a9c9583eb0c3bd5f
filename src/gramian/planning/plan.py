"""What will be done, why, and at what price: a pure function of shape, type, k, tolerance, budget and machine.

:func:`plan_pca` is the choice: which operator (d x d or n x n), formed or applied, and which solver. The prices are
operations and bytes moved, turned into seconds by three rates only to compare one with another. The bytes that a way
holds beyond the rows are counted in the second half; a plan that does not fit is refused before any work.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from gramian.arrays.namespace import DRAWN_AT_ONCE
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.pairs import EigenSolver
from gramian.eigen.power import Power
from gramian.errors import MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE, available_memory, in_words, worker_count, workers_for
from gramian.operators.symmetric import Forming

FLOP_RATE = 4.2e10
"""Operations per second of SYRK on one core in float64 (benchmarks: floor rows of 4,000 x 4,000). Of the three rates
only the ratios matter: all of this work is shared out, so that the number of cores cancels."""

BYTE_RATE = 5.0e9
"""Bytes per second of a pass over memory by one core (benchmarks: floor rows of 1,000,000 x 100)."""

SPARSE_RATE = 8.5e8
"""Operations per second of a product of sparse rows and one vector (benchmarks: sparse 100,000 x 50,000)."""

FORECAST = 60
"""Applications assumed for a spectrum not yet seen: what noise of size 4,000 takes for twenty pairs."""

PROOF = 1.6
"""How many times as long as products alone a proof may take where they cannot rank the eigenvalues (benchmarks: 4,000 x
4,000 noise in float64, twenty pairs: 1.0 s unproved, 1.5 to 1.7 proved; ARPACK, which proves nothing, takes 1.7 to 2.5
at its default and 1.4 to 2.1 at the loosest tolerance that is as accurate)."""

DIRECT_SIZE = 1500
"""Size up to which a dense solve for few pairs is no slower than an iteration (benchmarks: 100,000 x 1,000)."""


class RuleMemory(NamedTuple):
    """What a rule for the number of components takes, as :mod:`gramian.choosing` says.

    Attributes
    ----------
    sample_bytes : int
        Of the rows that it samples.
    sampled_columns : int
        Of these rows, at most.
    at_a_time : int
        Components that are made for it at a time.
    """

    sample_bytes: int
    sampled_columns: int
    at_a_time: int


@dataclass(frozen=True)
class Facts:
    """All that a plan depends on.

    Attributes
    ----------
    n, d : int
        Rows and columns.
    entries : int
        Stored numbers: n d for dense rows.
    itemsize : int
        Bytes per number of the rows.
    k : int or None
        Pairs wanted; ``None`` when the whole spectrum is needed.
    sparse, by_columns : bool
        Whether rows are sparse, and whether blocks of columns can be read.
    tol : float
    solver : str
        "auto" or what was asked for.
    budget : int
        Bytes that the work may take beyond the rows.
    on_disk : bool
        Whether each pass reads the rows anew, from a file or by Dask: then the matrix is formed in one pass wherever it
        fits.
    pass_bytes : int
        Bytes that a pass over the rows holds, as their source says; zero where only moments are known.
    kept : int or None
        Components that are kept of ``wanted``; ``None`` while that is not known.
    rule : RuleMemory or None
        What the rule that says how many are kept takes; ``None`` where it does not look at rows.
    examined : int or None
        Components that such a rule has looked at; ``None`` while that is not known.
    share : float
        Share of the variance that the components kept are to hold: a dense solve repairs no digits beyond them.
    most_steps : int or None
        Steps that the power method may take for each pair; ``None`` for its own limit.
    """

    n: int
    d: int
    entries: int
    itemsize: int
    k: int | None
    sparse: bool
    by_columns: bool
    tol: float
    solver: str
    budget: int
    on_disk: bool = False
    pass_bytes: int = 0
    kept: int | None = None
    rule: RuleMemory | None = None
    examined: int | None = None
    share: float = 1.0
    most_steps: int | None = None

    @property
    def m(self) -> int:
        """The smaller side."""
        return min(self.n, self.d)

    @property
    def wanted(self) -> int:
        """Pairs wanted, all of the smaller side when the whole spectrum is needed."""
        return self.m if self.k is None else min(self.k, self.m)

    @property
    def mapped(self) -> int:
        """Components that are made over the columns: those kept, else those asked for, else all."""
        known = self.k if self.kept is None else self.kept
        return self.m if known is None else known


@dataclass(frozen=True)
class Plan:
    """What was chosen: operator, solver, the reason in a sentence, and the predicted price.

    Attributes
    ----------
    operator : str
        "covariance" (d x d) or "gram" (n x n).
    held : bool
        Whether the small matrix is formed.
    solver : EigenSolver
    reason : str
    passes : int
        Passes over the rows; for an iteration, the number assumed for a hard spectrum.
    operations : float
    peak_bytes : int
        Memory beyond the rows; never less than what is used, unless a dense solve takes over.
    dense_fits : bool
        Whether a dense solve would fit too, should an iteration end in doubt.
    dense_bytes : int
        Memory beyond the rows that it would take; zero where it would not fit, or is the plan.
    forming : Forming or None
        When the iteration goes over to the formed matrix; ``None`` for never.
    moved : str
        How the rows come to the device of the fit, where they are not there.
    """

    operator: str
    held: bool
    solver: EigenSolver
    reason: str
    passes: int
    operations: float
    peak_bytes: int
    dense_fits: bool = True
    forming: Forming | None = None
    dense_bytes: int = 0
    moved: str = ""

    @property
    def summary(self) -> str:
        """The solver, what it is applied to, and why, in one line."""
        size = "d x d covariance" if self.operator == "covariance" else "n x n Gram matrix"
        how = (
            "formed" if self.held else "applied, never formed" if self.forming is None else "applied, formed if it pays"
        )
        return f"{type(self.solver).__name__} on the {size} ({how}), {self.reason}"

    def __str__(self) -> str:
        return (
            f"{self.summary}\nabout {self.passes} passes, {self.operations:.2g} operations, "
            f"{self.peak_bytes / 1e6:.0f} MB beyond the rows"
            + self._in_doubt()
            + (f"\n{self.moved}" if self.moved else "")
        )

    def _in_doubt(self) -> str:
        if self.dense_bytes <= self.peak_bytes:
            return ""
        return f" ({self.dense_bytes / 1e6:.0f} MB if it ends in doubt and a dense solve takes over)"


def plan_pca(facts: Facts) -> Plan:
    """Choose how to find the principal components of rows with these facts.

    Raises
    ------
    MemoryBudgetError
        When nothing fits the budget; the sentence says what would.
    """
    side = _side(facts)
    way = SOLVERS[facts.solver]
    plan = way(facts, side)
    # A dense solve that was asked for by name is not replaced by an iteration, which proves less.
    if way is _dense or (way is _iterate_on_rows and not plan.solver.is_dense):
        plan = replace(plan, reason=f"because {facts.solver!r} was asked for")
    elif plan.peak_bytes > facts.budget and plan.held and facts.wanted <= facts.m // 4:
        why = f"because the {facts.m:,} x {facts.m:,} matrix would take more than the memory budget"
        plan = replace(_iterate_on_rows(facts, side), reason=why)
    if plan.peak_bytes > facts.budget:
        raise _too_large(facts, plan)
    if plan.solver.is_dense or not plan.dense_fits:
        return plan
    needed = in_doubt_bytes(facts, side)
    return replace(plan, dense_bytes=needed) if needed <= facts.budget else replace(plan, dense_fits=False)


def plan_in_doubt(facts: Facts, plan: Plan) -> Plan:
    """Return the plan of the dense solve that took over from the iteration of ``plan``, the price of both in it."""
    dense = _dense(facts, _side(facts))
    return replace(
        dense,
        reason="because the iteration that was planned ended in doubt",
        passes=plan.passes + dense.passes,
        operations=plan.operations + dense.operations,
        peak_bytes=max(plan.peak_bytes, plan.dense_bytes),
    )


def _side(facts: Facts) -> str:
    if facts.solver == "gram":
        return "gram"
    return "gram" if facts.n < facts.d else "covariance"


def _cheapest(facts: Facts, side: str) -> Plan:
    """Dense for a small side or many pairs; else an iteration on the rows, which forms the matrix if that pays."""
    if facts.m <= DIRECT_SIZE or facts.wanted > facts.m // 5:
        return _dense(facts, side)
    if facts.on_disk and side == "covariance" and (formed := _iterate(facts, side)).peak_bytes <= facts.budget:
        return replace(
            formed, reason="because forming it takes one pass over the file, and each product would take one"
        )
    rows, forming = _iterate_on_rows(facts, side), _forming_price(facts)
    if facts.sparse:
        return _iterate(facts, side) if forming.price < forming.gain * rows.passes else rows
    needed = rows.peak_bytes + formed_bytes(facts)
    if not forming.pays(FORECAST, certain=False) or needed > facts.budget:
        return rows
    many, unsure = forming.price / forming.gain, forming.price / (forming.worth - 1 + forming.gain)
    why = (
        f"because an easy spectrum takes a few passes and a hard one {FORECAST} or more: the {facts.m:,} x {facts.m:,} "
        f"matrix is formed when more than {many:.0f} are to come, or {unsure:.0f} that would not prove the answer"
    )
    return replace(rows, forming=forming, reason=why, peak_bytes=needed)


def _forming_price(facts: Facts) -> Forming:
    """Compare forming the matrix with a pass over the rows.

    Its Cholesky factorization for the proof is included, at half the rate of SYRK.
    """
    a_pass = _apply_seconds(facts)
    forming = (_forming(facts) * facts.itemsize / 8 + 2 * facts.m**3 / 3) / FLOP_RATE
    by_matrix = 8 * facts.m**2 / BYTE_RATE
    return Forming(forming / a_pass, max(1 - by_matrix / a_pass, 1e-3), PROOF)


def _apply_seconds(facts: Facts) -> float:
    if facts.sparse:
        return 4.0 * facts.entries / SPARSE_RATE
    return 2.0 * facts.itemsize * facts.entries / BYTE_RATE


def _forming(facts: Facts) -> float:
    """Count the operations of forming the small matrix."""
    if facts.sparse:
        # Every pair of entries in a row (or column) is one product, at a fiftieth of the dense rate.
        return 50.0 * facts.entries**2 / max(facts.n, facts.d)
    return float(facts.n) * facts.d * facts.m


def _dense(facts: Facts, side: str) -> Plan:
    m = facts.n if side == "gram" else facts.d
    k = facts.wanted
    solve = 9.0 * m**3 if k > m // 3 else 4.0 / 3 * m**3
    why = (
        f"because the smaller side is {m:,}: a dense solve is exact and proves itself"
        if m <= DIRECT_SIZE
        else f"because {k:,} of {m:,} pairs are wanted: too many for an iteration to pay"
    )
    # Moments (with the scatter, or before the Gram matrix and the way back), and one more where digits are repaired.
    passes = 2 if side == "covariance" else 4
    work = _forming(facts) + solve
    solver = Direct(share=facts.share)
    memory = dense_bytes(facts, side, m)
    return Plan(side, held=True, solver=solver, reason=why, passes=passes, operations=work, peak_bytes=memory)


def _iterate(facts: Facts, side: str) -> Plan:
    """Iterate on the formed matrix, which proves that no pair was passed over."""
    m, solver = facts.m, replace(_krylov(facts), block=16)
    why = f"because forming {m:,} x {m:,} once is cheaper than {FORECAST} passes"
    work = _forming(facts) + FORECAST * 2.0 * m * m * 16 + m**3 / 3
    memory = dense_bytes(facts, side, m) + basis_bytes(facts, m)
    return Plan(side, held=True, solver=solver, reason=why, passes=2, operations=work, peak_bytes=memory)


def _iterate_on_rows(facts: Facts, side: str) -> Plan:
    if facts.m <= 64 or facts.wanted > facts.m // 3:
        return _dense(facts, side)
    m = facts.m
    why = f"because a {m:,} x {m:,} matrix would cost more to form than to apply"
    solver = _krylov(facts)
    # One column at a time takes twice the products that a block of eight takes (sparse noise, benchmarks).
    products = FORECAST * (2 if facts.sparse else 1)
    work = products * 4.0 * facts.entries * (solver.block or 8)
    passes = products if side == "covariance" or facts.by_columns else 2 * products
    memory = basis_bytes(facts, m) + pass_or_rule_bytes(facts)
    return Plan(side, held=False, solver=solver, reason=why, passes=passes, operations=work, peak_bytes=memory)


def _power(facts: Facts, side: str) -> Plan:
    m = facts.n if side == "gram" else facts.d
    why = "because the power method was asked for"
    formed = m <= 4 * DIRECT_SIZE
    memory = dense_bytes(facts, side, m) if formed else basis_bytes(facts, m) + pass_or_rule_bytes(facts)
    solver = Power(tol=facts.tol) if facts.most_steps is None else Power(facts.tol, facts.most_steps)
    passes = 2 if formed else FORECAST * facts.wanted
    # What was asked for is not replaced by a dense solve: it warns.
    return Plan(side, formed, solver, why, passes, _forming(facts), memory, dense_fits=False)


def _krylov(facts: Facts) -> Krylov:
    # A sparse product costs about the same per column, however many there are: one at a time needs the fewest columns.
    # Where a pass reads the rows anew, eight share it: the reading costs more than their products.
    narrow = 8 if facts.on_disk else 1
    # Columns that a pass over dense rows is used for at least: they are multiplied while the rows are read.
    block = narrow if facts.sparse else int(np.clip(facts.wanted // 4, 12, 32))
    return Krylov(tol=facts.tol, block=block, basis=basis_columns(facts))


def _too_large(facts: Facts, plan: Plan) -> MemoryBudgetError:
    solver = type(plan.solver).__name__
    message = Sentence(
        f"{solver} on {facts.n:,} x {facts.d:,} rows with {facts.wanted:,} components needs "
        f"{in_words(plan.peak_bytes)} beyond the rows, and {{budget}} is {in_words(facts.budget)}. Ask for fewer "
        f"components ({{count}}), or set {{budget}} to {plan.peak_bytes} or more.",
        budget=Parameter("memory_budget"),
        count=Parameter("n_components"),
    )
    return MemoryBudgetError(message, needed=plan.peak_bytes, budget=facts.budget)


SOLVERS: Mapping[str, Callable[[Facts, str], Plan]] = {
    "auto": _cheapest,
    "full": _dense,
    "covariance_eigh": _dense,
    "arpack": _cheapest,
    "randomized": _cheapest,
    "gram": _dense,
    "krylov": _iterate_on_rows,
    "power": _power,
}
"""How each solver that users can name is planned and priced."""

OVERSAMPLE = 10
"""Columns above k that memory is planned for."""


def basis_columns(facts: Facts) -> int:
    """Columns of the basis: seven times what is wanted, within two times (n + d) (k + 10) numbers for both blocks.

    Ten times where a product is expensive: it saves one product in fifty (4,000 x 4,000 noise), for a larger basis.
    """
    wanted, times = facts.wanted + OVERSAMPLE, 10 if facts.sparse or facts.on_disk else 7
    room = (2 * (facts.n + facts.d) * wanted + 16 * MEGABYTE // 8) // (2 * facts.m)
    return min(times * wanted, max(room, 3 * wanted))


def dense_bytes(facts: Facts, side: str, m: int) -> int:
    """Bytes of a dense solve: the matrix, its vectors, and what LAPACK or a repair of lost digits holds with them.

    LAPACK takes three matrices more. A repair sums the matrix of a subspace, once per worker, and solves it; whether it
    is needed only the rows can tell. Products of sparse rows are sparse until they are added: one more matrix.
    """
    matrix, k = 8 * m * m, facts.wanted
    solved = max(5 * matrix, 2 * matrix + summed_bytes(facts, matrix)) + pass_or_rule_bytes(facts)
    solved += 8 * m * (k if k <= m // 3 else 0)
    if side != "gram":
        return solved + (matrix if facts.sparse else 0)
    return max(solved, matrix + mapped_bytes(facts))


def in_doubt_bytes(facts: Facts, side: str) -> int:
    """Bytes of a dense solve that takes over from an iteration, whose pairs are there until it has succeeded."""
    return dense_bytes(facts, side, facts.m) + 8 * 4 * facts.m * (facts.wanted + OVERSAMPLE)


def formed_bytes(facts: Facts) -> int:
    """Bytes of a matrix that is formed on the way; the check works in it."""
    return summed_bytes(facts, 8 * facts.m * facts.m)


def summed_bytes(facts: Facts, matrix: int) -> int:
    """Bytes of a matrix that is summed over the rows: a running sum and a product per worker (see sources.dense)."""
    room = facts.budget // 8
    if not facts.on_disk and not facts.sparse:
        room = min(room, facts.entries * facts.itemsize)
    return 2 * matrix * workers_for(matrix, room=room)


def mapped_bytes(facts: Facts) -> int:
    """Bytes of the way from vectors over the rows to components over the columns, after the passes that lead to it.

    Where columns can be read they are made in place, and once more in float32, with a sum of their inner products and
    a term of it; then null directions are drawn. Else workers sum them.
    """
    d, k = facts.d, facts.mapped + OVERSAMPLE
    rows = 16 * facts.n * k
    if facts.sparse:
        # The entries are summed before the matrix is there.
        return max(rows + 32 * d * k, pass_or_rule_bytes(facts) - 8 * facts.m * facts.m)
    if not facts.by_columns:
        return rows + 32 * d * k + pass_or_rule_bytes(facts)
    made = 8 * k + (4 * k if facts.itemsize < 8 else 0)
    inner = 8 * min(k, facts.m) ** 2
    rows += summed_bytes(facts, inner)
    components = d * made + 24 * max(8 * d, DRAWN_AT_ONCE) + 16 * MEGABYTE
    return rows + max(components, _examined_bytes(facts) + pass_or_rule_bytes(facts))


def _examined_bytes(facts: Facts) -> int:
    """Bytes of the components that a rule looks at, in float32, of those made at a time, and of a sample of them.

    Of the sampled columns, the entries of components are there twice.
    """
    if facts.rule is None:
        return 0
    examined = facts.m if facts.examined is None else facts.examined
    made = 16 * facts.d * min(examined, facts.rule.at_a_time) + 16 * MEGABYTE * worker_count()
    return 4 * facts.d * examined + made + 8 * facts.rule.sampled_columns * examined


def pass_or_rule_bytes(facts: Facts) -> int:
    """Bytes of a pass or, when all passes are made, of the rule that says how many components are kept."""
    return facts.pass_bytes if facts.rule is None else max(facts.pass_bytes, facts.rule.sample_bytes)


def basis_bytes(facts: Facts, m: int) -> int:
    """Bytes of an iteration: its basis and the products of it, blocks of vectors, and the components."""
    k = facts.wanted
    return 8 * (2 * m * basis_columns(facts) + 5 * m * (k + OVERSAMPLE) + 2 * facts.d * (k + OVERSAMPLE))


def require_free(needed: int, *, work: str) -> None:
    """Raise when ``work`` needs more bytes than are free now.

    A plan is made for the machine's total memory, so that it does not vary from run to run; what other programs have
    taken meanwhile is looked at here.

    Raises
    ------
    MemoryBudgetError

    Examples
    --------
    >>> require_free(1000, work="PCA of 3 x 2 rows")
    """
    # Needs below this are not compared with anything: asking the system costs a tenth of a small fit.
    if needed <= (64 * MEGABYTE) or needed <= (free := available_memory()):
        return
    message = Sentence(
        f"{work} needs {in_words(needed)} beyond the rows, and {in_words(free)} are free now. Close other "
        f"programs, ask for fewer components, or set {{budget}} to {free} or less: a way that fits is then looked "
        "for, slower but within it.",
        budget=Parameter("memory_budget"),
    )
    raise MemoryBudgetError(message, needed=needed, budget=free)
