"""Bytes beyond the rows that a fit takes at most, whichever way it goes."""

from gramian.planning.facts import Facts
from gramian.planning.machine import LARGE_STATE, MEGABYTE, cores

OVERSAMPLE = 10
"""Columns beside k that memory is planned for."""

DRAWN = 2**19
"""Entries of null directions that are drawn at a time, eight columns at least: see models.decomposition."""

AT_A_TIME, SAMPLED = 16, 6_000_000
"""Components that are made at a time for a rule, and numbers of the table that it samples: see choosing."""

KEPT_BY_SYSTEM = 32 * MEGABYTE
"""Size below which memory that was given back may stay with the process (the limit of glibc's malloc)."""


def basis_columns(facts: Facts) -> int:
    """Columns of the basis: seven times what is wanted, within two times (n + d) (k + 10) numbers for both blocks.

    Ten times where a product is dear: it saves one product in fifty (4,000 x 4,000 noise), and the basis costs more.
    """
    wanted, times = facts.wanted + OVERSAMPLE, 10 if facts.sparse or facts.on_disk else 7
    room = (2 * (facts.n + facts.d) * wanted + 16 * MEGABYTE // 8) // (2 * facts.m)
    return min(times * wanted, max(room, 3 * wanted))


def dense_bytes(facts: Facts, side: str, m: int) -> int:
    """Bytes of a dense way: the matrix, its vectors, and what LAPACK or a repair of lost digits holds beside them.

    A repair takes the matrix of its subspace, and LAPACK two more; whether it is needed only the rows can tell.
    Products of sparse rows are sparse until they are added: one more matrix and a half.
    """
    matrix, k = 8 * m * m, facts.wanted
    solved = 5 * matrix + 8 * m * (k if k <= m // 3 else 0) + beside_bytes(facts)
    if side != "gram":
        return solved + (matrix if facts.sparse else 0)
    lingering = matrix if matrix < KEPT_BY_SYSTEM else 0
    return max(solved, matrix + lingering + mapped_bytes(facts))


def formed_bytes(facts: Facts) -> int:
    """Bytes of a matrix that is formed on the way: a small one is summed once a worker; the check works in it."""
    size = 8 * facts.m * facts.m
    return size + min(size, LARGE_STATE)


def mapped_bytes(facts: Facts) -> int:
    """Bytes of the way from vectors over the rows to components over the columns, after the passes that lead to it.

    Where columns can be read they are made in place, and once more in float32, beside a sum of their inner products and
    a term of it; then null directions are drawn. Else workers sum them.
    """
    d, k = facts.d, facts.mapped + OVERSAMPLE
    rows = 16 * facts.n * k
    if facts.sparse:
        # The entries are summed before the matrix is there.
        return max(rows + 32 * d * k, beside_bytes(facts) - 8 * facts.m * facts.m)
    if not facts.by_columns:
        return rows + 32 * d * k + beside_bytes(facts)
    made = 8 * k + (4 * k if facts.itemsize < 8 else 0)
    inner = 8 * min(k, facts.m) ** 2
    rows += 2 * inner * (cores() if inner <= LARGE_STATE else 1)
    return rows + max(d * made + 24 * max(8 * d, DRAWN) + 16 * MEGABYTE, _looked_bytes(facts) + beside_bytes(facts))


def _looked_bytes(facts: Facts) -> int:
    """Bytes of the components that a rule looks at, in float32, of those made at a time, and of a sample of them.

    It samples some million numbers of the table, and twice the entries that components have in those columns.
    """
    if not facts.rule_bytes:
        return 0
    looked, sampled = facts.m if facts.looked is None else facts.looked, min(facts.d, SAMPLED // min(facts.n, 600))
    made = 16 * facts.d * min(looked, AT_A_TIME) + 16 * MEGABYTE * cores()
    return 4 * facts.d * looked + made + 8 * sampled * looked


def beside_bytes(facts: Facts) -> int:
    """Bytes of a pass or, when all passes are made, of the rule that says how many components are kept."""
    return max(_pass_bytes(facts), facts.rule_bytes)


def basis_bytes(facts: Facts, m: int) -> int:
    """Bytes of an iteration: its basis and the products of it, blocks of vectors, and the components."""
    k = facts.wanted
    return 8 * (2 * m * basis_columns(facts) + 5 * m * (k + OVERSAMPLE) + 2 * facts.d * (k + OVERSAMPLE))


def _pass_bytes(facts: Facts) -> int:
    """Bytes that a pass holds: a block and a copy of it a worker; three numbers an entry of a piece of sparse rows."""
    if facts.sparse and facts.on_disk:
        # Two windows a worker, one of them converted, and results of eight columns (see sources.file_rows, _krylov).
        window = min(64 * MEGABYTE, max(2 * MEGABYTE, 120 * facts.d), 12 * facts.entries)
        return (min(4 * window, facts.budget * 5 // 24) + 8 * 6 * 8 * facts.d) * cores() + 4 * MEGABYTE
    if facts.sparse:
        copied = 8 * facts.entries if facts.itemsize < 8 else 0
        return copied + min(24 << 18, 24 * facts.entries) * cores() + 8 * 6 * facts.d * cores() + 4 * MEGABYTE
    held = min(2 * 16 * MEGABYTE, 2 * 8 * facts.entries) * cores()
    # Windows of a file are cut to fit the budget: see sources.file_rows.
    return (min(held, facts.budget * 5 // 12) if facts.on_disk else held) + 4 * MEGABYTE
