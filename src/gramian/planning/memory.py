"""The facts that a plan rests on, and the bytes beyond the rows that a fit takes at most, whichever way it goes.

What is counted is memory in use. A process may show more: glibc keeps up to 64 MB that were given back to it. Sizes of
blocks, pieces and samples are those that operators and rules declare. :func:`require_free` refuses work that the memory
now free cannot hold, before it starts.
"""

from dataclasses import dataclass
from typing import NamedTuple

from gramian.arrays.draws import DRAWN_AT_ONCE
from gramian.errors import MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE, available_memory, in_words, worker_count, workers_for


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


ALWAYS_FREE = 64 * MEGABYTE
"""Needs below this are not compared with anything: asking the system costs a tenth of a small fit."""


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
    if needed <= ALWAYS_FREE or needed <= (free := available_memory()):
        return
    message = Sentence(
        f"{work} needs {in_words(needed)} beyond the rows, and {in_words(free)} are free now. Close other "
        f"programs, ask for fewer components, or set {{budget}} to {free} or less: a way that fits is then looked "
        "for, slower but within it.",
        budget=Parameter("memory_budget"),
    )
    raise MemoryBudgetError(message, needed=needed, budget=free)
