"""Every family of attacks; a new one is a line here and a file of its own."""

from torture import certificates, faults, fuzzing, threads, traps
from torture.family import Family

FAMILIES = {
    family.name: family
    for family in (
        Family(
            "certificates",
            "no proved or measured bound is exceeded, probable ones no more often than stated, wrong pairs rejected",
            10_000,
            certificates.attack,
            verdict=certificates.verdict,
        ),
        Family(
            "traps",
            "numbers are right where careless arithmetic is not",
            len(traps.traps()),
            traps.attack,
            repeats=len(traps.traps()),
        ),
        Family(
            "faults",
            "the old file or the new one, a clear error, nothing left lying about, the former fit as it was",
            1_500,
            faults.attack,
        ),
        Family(
            "fuzzing",
            f"whatever is read gives numbers or a clear error ({fuzzing.A_TIME} executions each)",
            1_000_000 // fuzzing.A_TIME,
            fuzzing.attack,
        ),
        Family(
            "threads",
            "many threads and processes get the same answers; no global state is left changed, no thread left alive",
            1_000,
            threads.attack,
        ),
    )
}
