"""All that a plan depends on."""

from dataclasses import dataclass


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
        Bytes a number of the rows.
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
    kept : int or None
        Components that are kept of ``wanted``; ``None`` while that is not known.
    rule_bytes : int
        Memory of the rule that says how many are kept.
    looked : int or None
        Components that such a rule has looked at; ``None`` while that is not known.
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
    kept: int | None = None
    rule_bytes: int = 0
    looked: int | None = None

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
