"""Correspondence analysis as a fitted model: what was asked, coordinates of rows and columns, and back.

Both models are principal components of coded rows (:mod:`gramian.sources.indicator`). With p the share of the rows that
has a level, v the entry of a component at the level's column and w its eigenvalue, all else follows without a pass:
coordinates, contributions v^2, squared cosines, and correlation ratios of the categories with the component.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gramian.arrays.namespace import Array, HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.eigen.certificate import Certificate
from gramian.models.pca.model import PCAModel
from gramian.planning.plan import Plan
from gramian.sources.indicator import Coding
from gramian.sources.rows import RowSource


@dataclass(frozen=True)
class CategoryOptions:
    """What is asked of a correspondence analysis.

    Attributes
    ----------
    n_components : int, float, str or None
        ``None`` for all, a number, a share of the inertia in (0, 1), or "auto": as many as stand out of tables whose
        columns were shuffled.
    missing : str
        "level": cells without a value are a level of their own; "passive": they stand at the average of their column.
    tol : float
        Residual, relative to the first eigenvalue; 0 for the house default.
    seed : int
    memory_budget : int or None
    progress : callable or None
    """

    center: ClassVar[bool] = True
    ddof: ClassVar[int] = 0

    n_components: int | float | str | None = None
    missing: str = "level"
    tol: float = 0.0
    seed: int = 0
    memory_budget: int | None = None
    progress: Callable[[str], None] | None = None


@dataclass(frozen=True, eq=False)
class Supplementary:
    """Columns that were projected on the components and took no part in the fit.

    Attributes
    ----------
    quantities : tuple of str
    correlations : numpy array (m, k)
        Of each quantity with each component, over the rows where it is known.
    categories : tuple of str
    levels : tuple of tuple of str
    coordinates : numpy array (L, k)
        Of the levels, in the units of the active ones.
    v_tests : numpy array (L, k)
        Distance of a level's mean from that of all rows, in deviations of the mean of as many rows drawn at random.
    eta2 : numpy array (c, k)
        Correlation ratio of each category with each component.
    """

    quantities: tuple[str, ...]
    correlations: HostArray
    categories: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    coordinates: HostArray
    v_tests: HostArray
    eta2: HostArray

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the levels: "color=red"."""
        pairs = zip(self.categories, self.levels, strict=True)
        return tuple(f"{name}={level}" for name, own in pairs for level in own)

    def leading(self, k: int) -> "Supplementary":
        """Return the same on the first ``k`` components."""
        fields = ("correlations", "coordinates", "v_tests", "eta2")
        return replace(self, **{name: getattr(self, name)[:, :k] for name in fields})


@dataclass(frozen=True, eq=False)
class CodedModel(ABC):
    """Principal components of coded rows. Abstract: see :class:`MCAModel` and :class:`FAMDModel`.

    Attributes
    ----------
    coding : Coding
    pca : PCAModel
        Of the coded rows; its variances are the eigenvalues, its scores the coordinates of rows.
    options : CategoryOptions
    distances : numpy array (J,)
        Squared distance of each level from the mean of the rows, in the space of all components, in the units of the
        levels' coordinates.
    supplementary : Supplementary or None
    """

    kind: ClassVar[str] = "pca"
    prefix: ClassVar[str] = "PC"
    source: ClassVar[None] = None
    scores: ClassVar[None] = None

    coding: Coding
    pca: PCAModel
    options: CategoryOptions
    distances: HostArray
    supplementary: Supplementary | None = None

    def __getattr__(self, name: str) -> Any:
        """Give what principal components of the coded rows have: components, variances, shares, loadings and so on."""
        if name.startswith("__") or name not in PASSED_ON:
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(self.pca, name)

    @property
    def n_components(self) -> int:
        """Number of components."""
        return self.pca.n_components

    @property
    def certificate(self) -> Certificate:
        """How far each component can be from the truth, in eigenvalues."""
        return self.pca.certificate

    @property
    def plan(self) -> Plan:
        """What was done, and why."""
        return self.pca.plan

    @property
    def eigenvalues(self) -> HostArray:
        """Inertia along each component (k,)."""
        return to_host(self.pca.variances).astype(FLOAT64)

    @property
    def column_names(self) -> tuple[str, ...]:
        """Names of the coded columns: quantities, then levels."""
        return self.coding.names

    @property
    def contributions(self) -> HostArray:
        """Share of each coded column in the inertia of each component (D, k); a column of it sums to 1."""
        return self.pca.directions.T**2

    @property
    def column_coordinates(self) -> HostArray:
        """Where each coded column stands (D, k): correlations of quantities, coordinates of levels."""
        q = len(self.coding.quantities)
        found = self.pca.loadings
        found[q:] = self._level_means() / self.level_unit
        return found

    @property
    def cos2(self) -> HostArray:
        """Share of each coded column's squared distance from the center that each component shows (D, k)."""
        q, found = len(self.coding.quantities), self.column_coordinates**2
        found[q:] = np.divide(
            found[q:], self.distances[:, None], out=np.zeros_like(found[q:]), where=self.distances[:, None] > TINY
        )
        return found

    @property
    def v_tests(self) -> HostArray:
        """Distance of each level's mean row from the center, in deviations of a mean of as many rows (J, k).

        Beyond 2 or so, a level's rows are no random draw of all rows.
        """
        return v_tests(self._level_means(), self.eigenvalues, self.coding.proportions, self.pca.weight)

    @property
    def eta2(self) -> HostArray:
        """How much of each component its columns explain (q + Q, k).

        For a quantity the squared correlation, for a category the correlation ratio: the variance between its levels
        over the whole.
        """
        q = len(self.coding.quantities)
        squares = self.contributions * self.eigenvalues
        sums = [squares[group].sum(axis=0) / self.coding.share for group in self.coding.groups]
        return np.vstack([squares[:q], *sums])

    def truncated(self, k: int) -> "CodedModel":
        """Return the model of the first ``k`` components."""
        if k >= self.n_components:
            return self
        kept = None if self.supplementary is None else self.supplementary.leading(k)
        options = replace(self.options, n_components=k)
        return replace(self, pca=self.pca.truncated(k), supplementary=kept, options=options)

    def project(self, rows: RowSource | Array) -> Array:
        """Return the coordinates of coded rows (n, k)."""
        return self.pca.project(rows)

    def reconstruct(self, scores: Array) -> Array:
        """Return the coded rows that coordinates stand for (n, D)."""
        return self.pca.reconstruct(scores)

    def decoded(self, scores: HostArray) -> list[HostArray]:
        """Return the columns that coordinates stand for: numbers of quantities, the likeliest level of categories."""
        rows, coding = self.pca.reconstruct(scores), self.coding
        q = len(coding.quantities)
        columns = [rows[:, j] * coding.deviation[j] + coding.mean[j] for j in range(q)]
        chances = rows[:, q:] / coding.weights
        for group, levels in zip(coding.groups, coding.levels, strict=True):
            own = chances[:, group.start - q : group.stop - q]
            columns.append(np.array([level or None for level in levels], dtype=object)[np.argmax(own, axis=1)])
        return columns

    def _level_means(self) -> HostArray:
        """Return the mean coordinates of the rows of each level (J, k)."""
        q = len(self.coding.quantities)
        scaled = self.pca.directions.T[q:] * self.eigenvalues
        return scaled / self.coding.averages[:, None]

    @property
    @abstractmethod
    def level_unit(self) -> HostArray:
        """What means of rows are divided by to be coordinates of levels (k,)."""


@dataclass(frozen=True, eq=False)
class MCAModel(CodedModel):
    """Multiple correspondence analysis; see :class:`CodedModel`.

    A level's coordinate is the mean of its rows' coordinates over the root of the eigenvalue.
    """

    @property
    def level_unit(self) -> HostArray:
        """Roots of the eigenvalues."""
        return np.sqrt(np.maximum(self.eigenvalues, TINY))

    @property
    def benzecri(self) -> HostArray:
        """Eigenvalues without what coding by indicators adds (k,):  (Q / (Q - 1))^2 (w - 1/Q)^2  where w > 1/Q."""
        q = len(self.coding.categories)
        if q < 2:
            return self.eigenvalues
        return (q / (q - 1) * np.maximum(self.eigenvalues - 1 / q, 0.0)) ** 2

    @property
    def greenacre_shares(self) -> HostArray | None:
        """Shares of the inertia between different columns that the corrected eigenvalues hold (k,).

        The whole is  Q / (Q - 1) (sum of w^2 - (J - Q) / Q^2)  over all components; None where the fit formed no
        matrix to measure the sum by.
        """
        q, j = len(self.coding.categories), len(self.coding.proportions)
        rest = max(self.pca.total_variance - float(self.eigenvalues.sum()), 0.0)
        beyond = 0.0
        if rest > 1e-9 * self.pca.total_variance:
            if self.pca.left_out_dimensions is None:
                return None
            beyond = rest**2 / self.pca.left_out_dimensions
        if q < 2:
            return None
        whole = q / (q - 1) * (float((self.eigenvalues**2).sum()) + beyond - (j - q) / q**2)
        return self.benzecri / whole if whole > TINY else None


@dataclass(frozen=True, eq=False)
class FAMDModel(CodedModel):
    """Factor analysis of mixed data; see :class:`CodedModel`.

    A quantity's coordinate is its correlation with the component, a level's is the mean of its rows' coordinates.
    """

    @property
    def level_unit(self) -> HostArray:
        """Ones."""
        return np.ones(self.n_components)


TINY = 1e-14
"""Inertia, relative to that of one column, that is rounding."""

PASSED_ON = frozenset(
    (
        *("components", "variances", "shares", "singular_values", "mean", "factor", "n_rows", "n_columns", "rank"),
        *("weight", "total_variance", "noise_variance", "verdict", "left_out_dimensions", "is_centered", "is_scaled"),
        *("is_whole", "directions", "loadings", "column_deviations"),
    )
)
"""What is asked of a model of principal components by those who draw, measure and explain one."""


def v_tests(means: HostArray, eigenvalues: HostArray, proportions: HostArray, weight: float) -> HostArray:
    """Return how far means of some of the rows lie from the center, in deviations of a mean of as many rows.

    Computes  mean / sqrt(w) sqrt(n_j (n - 1) / (n - n_j)),  w being the variance of all rows and n_j = p n those of
    the level: drawing n_j of n rows without replacement.
    """
    counts = proportions * weight
    rest = weight - counts
    factors = np.sqrt(np.divide(counts * (weight - 1), rest, out=np.zeros_like(rest), where=rest > 1e-9 * weight))
    return means * factors[:, None] / np.sqrt(np.maximum(eigenvalues, TINY))
