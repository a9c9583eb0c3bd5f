"""How far two fitted linear models agree: angles between their spaces, and components matched one to one."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import subspace_angles
from scipy.optimize import linear_sum_assignment

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError, ParameterError
from gramian.models.archive.file import Archive


@dataclass(frozen=True, eq=False)
class Comparison:
    """What two models have in common.

    Attributes
    ----------
    angles : numpy array
        Principal angles between the spaces that their components span, in degrees, smallest first.
    matches : tuple of (int, int, float)
        Component of the first, of the second, and the cosine between them; strongest first.
    n_columns : int
        Columns that both have.
    sizes : tuple of (int, int)
        Components of the first and of the second.
    """

    angles: HostArray
    matches: tuple[tuple[int, int, float], ...]
    n_columns: int
    sizes: tuple[int, int]

    def as_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        matches = [{"first": i + 1, "second": j + 1, "cosine": c} for i, j, c in self.matches]
        sizes = list(self.sizes)
        return {"columns": self.n_columns, "components": sizes, "angles": self.angles.tolist(), "matches": matches}

    def __str__(self) -> str:
        worst = float(self.angles[-1]) if len(self.angles) else 0.0
        # Sine of the largest angle under which two spaces are called the same.
        if np.sin(np.radians(worst)) < 1e-6:
            small, large = sorted(self.sizes)
            inside = f"The space of the smaller, {small} of {large} components, lies inside that of the larger."
            first = "Both span the same space." if small == large else inside
        else:
            first = f"The spaces differ by up to {worst:.1f} degrees."
        angles = ", ".join(f"{angle:.3g}" for angle in self.angles)
        lines = [f"{self.n_columns:,} columns in common. {first}", f"Angles between the spaces (degrees): {angles}"]
        lines += [
            f"component {i + 1} of the first is {j + 1} of the second: cosine {c:+.4f}" for i, j, c in self.matches
        ]
        return "\n".join(lines)


def compare_models(first: Archive, second: Archive) -> Comparison:
    """Compare two models by the columns that both have.

    Computes  the principal angles between the spans of the components, small ones by their sine
    (Bjorck and Golub, 1973, doi:10.1090/S0025-5718-1973-0348991-3), and the assignment of unit components with the
    largest sum of |cosines|. Cost: 2 d k^2 operations.

    Raises
    ------
    NotSupportedError
        For kernel models, whose components are no combinations of columns.
    ParameterError
        Where the models have no column in common.
    """
    names = [found.column_names for found in (first, second)]
    both = [name for name in names[0] if name in set(names[1])]
    if not both:
        message = "These models have no column in common. Compare models of the same table, or of tables alike."
        raise ParameterError(message)
    A, B = (
        _directions(found.model)[:, [own.index(name) for name in both]]
        for found, own in zip((first, second), names, strict=True)
    )
    between = _unit(A) @ _unit(B).T
    left, right = linear_sum_assignment(np.abs(between), maximize=True)
    matches = sorted(
        zip(left.tolist(), right.tolist(), between[left, right].tolist(), strict=True), key=lambda m: -abs(m[2])
    )
    return Comparison(np.degrees(subspace_angles(A.T, B.T)[::-1]), tuple(matches), len(both), (len(A), len(B)))


def _directions(model: Any) -> HostArray:
    if model.kind == "kernel":
        message = "Components of a kernel model are no combinations of columns, so there is nothing to compare here."
        raise NotSupportedError(message)
    return to_host(model.components).astype(FLOAT64)


def _unit(A: HostArray) -> HostArray:
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    return np.asarray(A / np.where(norms > 0, norms, 1.0))
