"""How a kernel PCA will go about it, why, and at what price: a pure function of its facts.

Four ways, from small to large n: the matrix and a dense solve; its tiles kept, or made anew for every product, with an
iteration that starts from landmarks; and PCA of the kernel's own features where those are fewer than the rows.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gramian.eigen.davidson import PROBES, ROOM, WIDEST, Davidson, step_width
from gramian.eigen.direct import Direct
from gramian.eigen.pairs import EigenSolver
from gramian.errors import MemoryBudgetError, Parameter, Sentence
from gramian.machine import MEGABYTE, cores, in_words
from gramian.operators.kernel_gram import READY_BYTES
from gramian.operators.kernel_tiles import tile_rows
from gramian.planning.plan import Facts, plan_pca

WAYS = ("auto", "dense", "stored", "tiled", "features")
"""What can be asked for by name."""

DENSE_SIZE = 400
"""Rows up to which a dense solve for few pairs is no slower than an iteration."""

DOUBLE_SIZE = 8192
"""Rows up to which tiles are float64 without asking: a product takes a tenth of a second or so."""

PRODUCTS = 3
"""Products assumed; two or three were seen for Gaussian kernels of median width, k = 10 and tol from 1e-5 to 1e-6."""

WIDTH = 16
"""Columns of a product: fewer cost the same where tiles are made for it."""


PCA_TOLERANCE = 1e-9
"""Residuals asked of PCA of features: its products are cheap, and small values of K come out with their digits."""

SLACK = 6 * MEGABYTE
"""Bytes of what has no term of its own: sampled rows, blocks on their way, objects."""


def strip_bytes(budget: int) -> int:
    """Return the bytes of a strip of kernel values with landmarks, from 256 kB to 4 MB.

    A sixteenth of each worker's share of the budget.

    Examples
    --------
    >>> strip_bytes(10**12) == 4 * MEGABYTE, strip_bytes(10**6) == MEGABYTE // 4
    (True, True)
    """
    return min(4 * MEGABYTE, max(MEGABYTE // 4, budget // (16 * cores())))


@dataclass(frozen=True)
class KernelFacts:
    """All that a plan depends on.

    Attributes
    ----------
    n, d : int
        Rows and columns.
    k : int or None
        Pairs wanted; ``None`` for all of them.
    tol : float
    way : str
        "auto" or one of :data:`WAYS`.
    budget : int
        Bytes that the work may take beyond the rows.
    slow : bool
        Whether a kernel value costs much more than a product with it (a user's own function, city-block distances).
    features : int or None
        Size of the kernel's own explicit map, where there is one.
    approximate : bool
        Whether those features are landmarks or others that only come near the kernel's.
    landmarks : bool
        Whether they are landmarks: solved in strips, not by PCA with a plan of its own.
    pass_bytes : int
        Bytes that a pass over the rows holds, as their source says.
    """

    n: int
    d: int
    k: int | None
    tol: float
    way: str
    budget: int
    slow: bool = False
    features: int | None = None
    approximate: bool = False
    landmarks: bool = False
    pass_bytes: int = 0

    @property
    def wanted(self) -> int:
        """Pairs wanted."""
        return self.n if self.k is None else min(self.k, self.n)


@dataclass(frozen=True)
class KernelPlan:
    """The chosen way: what is held, the solver, the reason in a sentence, and the predicted price.

    Attributes
    ----------
    way : str
        "dense", "stored", "tiled" or "features"; "landmarks" and "map" for approximate models.
    solver : EigenSolver or None
        ``None`` where PCA of features has a plan of its own.
    reason : str
    landmarks, pairs : int
        Of the start.
    products : int
        Products with the kernel matrix that are assumed.
    operations : float
    peak_bytes : int
        Memory beyond the rows; never less than what is used.
    double : bool
        Whether tiles are float64, unless rows are float32 and the start shows that this is enough.
    moved : str
        How the rows come to the device of the fit, where they are not there.
    """

    way: str
    solver: EigenSolver | None
    reason: str
    landmarks: int = 0
    pairs: int = 0
    products: int = 0
    operations: float = 0.0
    peak_bytes: int = 0
    double: bool = True
    moved: str = ""

    @property
    def summary(self) -> str:
        """What is solved, and why, in one line."""
        names = {
            "dense": "dense solve of the kernel matrix",
            "stored": "iteration on the kernel matrix, its tiles kept",
            "tiled": "iteration on the kernel matrix, made in tiles and never stored",
            "features": "PCA of the kernel's own features",
            "landmarks": "PCA of landmark features (approximate)",
            "map": "PCA of explicit features (approximate)",
        }
        return f"{names[self.way]}, {self.reason}"

    def __str__(self) -> str:
        price = [] if not self.products else [f"about {self.products} products with {self.landmarks:,} landmarks first"]
        price += [f"{self.operations:.2g} operations", f"{self.peak_bytes / 1e6:.0f} MB beyond the rows"]
        return "\n".join([self.summary, ", ".join(price), *filter(None, [self.moved])])


def plan_kernel_pca(facts: KernelFacts) -> KernelPlan:
    """Choose how to find the leading eigenpairs of a centered kernel matrix.

    Raises
    ------
    MemoryBudgetError
        When no way fits the budget; the sentence says what would.

    Examples
    --------
    >>> plan_kernel_pca(KernelFacts(n=100_000, d=50, k=10, tol=1e-5, way="auto", budget=2_000_000_000)).way
    'tiled'
    """
    plan = _ways(facts)
    if plan.peak_bytes <= facts.budget:
        return plan
    if plan.way in {"stored", "dense", "features"} and facts.way == "auto" and facts.wanted <= facts.n // 4:
        plan = _iterate(facts, stored=False)
    if plan.way == "tiled" and plan.peak_bytes > facts.budget:
        plan = _iterate(facts, stored=False, pairs=facts.wanted + 2 * WIDTH)
    if plan.peak_bytes > facts.budget:
        raise _too_large(facts, plan)
    return plan


def fits(facts: KernelFacts) -> bool:
    """Tell whether some way fits the budget."""
    try:
        plan_kernel_pca(facts)
    except MemoryBudgetError:
        return False
    return True


def largest_k(facts: KernelFacts) -> int:
    """Return how many components fit the budget without the matrix, at most a quarter of the rows."""
    low, high = 0, max(facts.n // 4, 1)
    while low < high:
        middle = (low + high + 1) // 2
        tight = _iterate(replace(facts, k=middle), stored=False, pairs=middle + 2 * WIDTH)
        low, high = (middle, high) if tight.peak_bytes <= facts.budget else (low, middle - 1)
    return low


def _ways(facts: KernelFacts) -> KernelPlan:
    if facts.way == "dense":
        return _dense(facts, "because a dense solve was asked for")
    if facts.way in {"stored", "tiled"}:
        return _iterate(facts, stored=facts.way == "stored")
    if facts.features is not None and (facts.way == "features" or _features_pay(facts)):
        return _features(facts)
    if facts.n <= DENSE_SIZE or facts.wanted > facts.n // 10:
        return _dense(facts, _dense_reason(facts))
    # Tiles that are quick to make are kept among few rows alone: for 20,000 rows of 50 columns, keeping them costs a
    # product 0.3 s in new memory and saves the next ones 0.2 s each, and there are two or three.
    return _iterate(facts, stored=facts.n <= 8192 or (facts.slow and _stored_fits(facts)))


def _features_pay(facts: KernelFacts) -> bool:
    """Tell whether forming D x D from n rows of D features costs less than products with n x n."""
    D = facts.features or facts.n
    return facts.n > D and float(D) * D <= 3.0 * facts.n * (facts.d + 2 * WIDTH)


def _stored_fits(facts: KernelFacts) -> bool:
    return _iterate(facts, stored=True).peak_bytes <= facts.budget


def _dense_reason(facts: KernelFacts) -> str:
    if facts.n <= DENSE_SIZE:
        return f"because {facts.n:,} rows are few: a dense solve is quick and proves itself"
    return f"because {facts.wanted:,} of {facts.n:,} pairs are wanted: too many for an iteration to pay"


def _dense(facts: KernelFacts, why: str) -> KernelPlan:
    n, k = facts.n, facts.wanted
    work = n**2 * (facts.d + 8.0) + (9.0 if k > n // 3 else 4.0 / 3) * n**3
    matrices = 8 * n * n * (4 if k > n // 3 else 3)
    memory = matrices + 32 * n * k + 16 * n * (facts.d + 2) + 16 * MEGABYTE
    return KernelPlan("dense", Direct(repair=False), why, operations=work, peak_bytes=memory)


def _features(facts: KernelFacts) -> KernelPlan:
    D, k = facts.features or 1, min(facts.wanted, facts.features or 1)
    why = f"because the kernel has {D:,} features of its own and there are {facts.n:,} rows"
    # 4,096: the features of 2,048 rows, twice, where the error of an approximation is measured.
    memory = 8 * D * D * (5 + 2 * cores()) + 8 * (facts.n * (4 * k + 4) + D * (3 * (k + WIDTH) + 4096))
    memory += 4 * strip_bytes(facts.budget) * cores() + SLACK
    memory = memory if facts.landmarks else max(memory, _pca_bytes(facts, D, k))
    return KernelPlan("features", None, why, operations=float(facts.n) * D * D, peak_bytes=memory)


def _pca_bytes(facts: KernelFacts, D: int, k: int) -> int:
    """Return what PCA of the features asks for under the budget, or would need beyond it."""
    asked: dict[str, Any] = {"n": facts.n, "d": D, "entries": facts.n * D, "itemsize": 8, "k": k, "solver": "auto"}
    asked |= {"tol": min(facts.tol, PCA_TOLERANCE), "sparse": False, "by_columns": True, "pass_bytes": facts.pass_bytes}
    try:
        return plan_pca(Facts(budget=facts.budget, **asked)).peak_bytes
    except MemoryBudgetError as refusal:
        return refusal.needed


def _iterate(facts: KernelFacts, *, stored: bool, pairs: int | None = None) -> KernelPlan:
    n, k, double = facts.n, facts.wanted, facts.n <= DOUBLE_SIZE
    # Pairs of the approximation that corrections are made with, besides those wanted.
    pairs = k + 256 if pairs is None else pairs
    # More than 3.5 sqrt(n) landmarks save less than they cost (1.5 to 7.5 were tried at 2,000 to 100,000 rows, Gaussian
    # of median width: from 3 to 6 the products are as many, two for tol 1e-5, three for 1e-6). Of few rows, a tenth at
    # most: another product costs less (0.05 to 0.1 were tried at 600 to 3,000 rows).
    landmarks = int(min(max(min(3.5 * np.sqrt(n), 0.1 * n), 2 * (k + 2 * WIDTH)), n))
    pairs = min(pairs, landmarks // 2)
    solver = Davidson(tol=facts.tol, width=WIDTH, reserved=1, thrifty=stored)
    why = (
        f"because {n:,} rows have {n * (n - 1) // 2:,} pairs, and the tiles of K fit in memory and serve again"
        if stored
        else f"because the {n:,} x {n:,} matrix would take {in_words(8.0 * n * n)}: time is spent instead of memory"
    )
    work = PRODUCTS * n**2 * (facts.d + 2.0 + 2 * WIDTH) + n * landmarks * (landmarks + 2.0 * (pairs + facts.d))
    memory = _iteration_bytes(facts, k, pairs, landmarks, double=double)
    memory += 4 * n * n + 16 * n * 512 if stored else 0
    way = "stored" if stored else "tiled"
    return KernelPlan(way, solver, why, landmarks, pairs, PRODUCTS, work, memory, double)


def _iteration_bytes(facts: KernelFacts, k: int, pairs: int, landmarks: int, *, double: bool) -> int:
    """Bytes of an iteration at its peak, in the start or in the products after it; the widest first block is assumed.

    Start: the pairs found, the small problem once per worker and in five copies, strips. Products: the pairs, basis and
    its products, vectors on their way in and out, sums of every worker, prepared rows, tiles.
    """
    n, item = facts.n, 8 if double else 4
    first = WIDTH * (-(-(k + 3 + PROBES) // WIDTH) + WIDEST - 1)
    start = 8 * landmarks**2 * (cores() + 5) + 3 * strip_bytes(facts.budget) * cores()
    basis = 16 * n * (first + ROOM * step_width(k, WIDTH))
    vectors = n * first * (8 * (cores() + 2) + item)
    ready = min(2 * item * n * (facts.d + 2), READY_BYTES)
    products = basis + vectors + ready + 2 * item * tile_rows(n) ** 2 * cores()
    return 4 * n * pairs + max(start, products) + SLACK


def _too_large(facts: KernelFacts, plan: KernelPlan) -> MemoryBudgetError:
    fits = 0 if facts.approximate else largest_k(facts)
    advice = f"Ask for at most {fits:,} components ({{count}}), or" if fits else "Use {landmarks}, or"
    if facts.approximate:
        advice = f"Use fewer than these {facts.features:,} landmarks or features, ask for fewer components, or"
    asked = "all" if facts.k is None else f"{facts.k:,}"
    message = Sentence(
        f"Kernel PCA of {facts.n:,} rows with {asked} components needs {in_words(plan.peak_bytes)} beyond the rows "
        f"({plan.way}), and {{budget}} is {in_words(facts.budget)}. {advice} set {{budget}} to {plan.peak_bytes} "
        "or more.",
        budget=Parameter("memory_budget"),
        count=Parameter("n_components"),
        landmarks=Parameter("landmarks"),
    )
    return MemoryBudgetError(message, needed=plan.peak_bytes, budget=facts.budget)
