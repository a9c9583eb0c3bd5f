"""Whether the widths of a kernel suit the rows: no part of K nearly the identity, none nearly constant."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.errors import KernelWidthWarning, users_line
from gramian.features.resolving import Resolved
from gramian.kernels.chi_squared import ChiSquared
from gramian.kernels.combination import Product, Scaled, Sum
from gramian.kernels.kernel import Kernel
from gramian.kernels.laplacian import Laplacian
from gramian.kernels.radial import Gaussian, Matern
from gramian.kernels.stretched import Stretched, leaves_on
from gramian.kernels.widths import facts_of, inverse_or_one
from gramian.operators.kernel_tiles import PlacedKernel

NARROW = 1e-2
"""Sum of a row of K beside its diagonal, as a share of the diagonal, under which K counts as the identity."""

WIDE = 1e-7
"""Share of the diagonal of K that is left beside a constant, under which K counts as constant."""

WITH_WIDTH = (Gaussian, Laplacian, Matern, ChiSquared)
"""Kernels that are one for equal rows and fall to zero, the sooner the larger gamma is."""


def warn_of_widths(resolved: Resolved, rows: Any, K: HostArray, *, n: int, centered: bool, seed: int) -> None:
    """Say so when the kernel, or a term of a sum, is nearly diagonal or constant on sampled rows for its gamma.

    In a product the factors with a width count together: where they leave nothing beside the diagonal, no other factor
    can; where they are constant, another one may still vary. Nothing is said of rows that are all equal.

    Cost: for a sum, one more matrix between the rows for each term. ``K`` is that of the kernel, ``n`` counts all rows.
    """
    for term in _split(resolved.kernel, Sum):
        factors = _split(term, Product)
        widths = tuple(f for f in factors if all(isinstance(leaf, WITH_WIDTH) for leaf in f.leaves))
        if not widths:
            continue
        part = widths[0] if len(widths) == 1 else Product(widths)
        placed = PlacedKernel.of(part, resolved.origin, centered=centered)
        narrow, wide = _judged(K if part == resolved.kernel else placed.between(rows, rows), n)
        if narrow or (wide and len(widths) == len(factors)):
            _warn(part, resolved.kernel, rows, narrow=narrow, seed=seed)


def _split(kernel: Kernel, kind: type[Sum] | type[Product]) -> list[Kernel]:
    """Return the terms of a sum, or the factors of a product, without the numbers that they are multiplied by."""
    if isinstance(kernel, Stretched):
        return [Stretched(part, kernel.factors) for part in _split(kernel.kernel, kind)]
    if isinstance(kernel, kind | Scaled):
        return [piece for part in kernel.parts for piece in _split(part, kind)]
    return [kernel]


def _judged(K: HostArray, n: int) -> tuple[bool, bool]:
    """Tell whether K counts as the identity, and whether it counts as constant."""
    diagonal = float(np.mean(np.diagonal(K)))
    beside = (float(K.sum()) - len(K) * diagonal) / (len(K) * (len(K) - 1))
    return n * beside < NARROW * diagonal, diagonal - beside < WIDE * diagonal


def _warn(part: Kernel, kernel: Kernel, rows: Any, *, narrow: bool, seed: int) -> None:
    if facts_of(rows, seed=seed).median_distance() == 0:
        return
    gammas = [(_median_gamma(leaf, seen, seed), leaf.name) for leaf, seen in leaves_on(part, rows)]
    suggested = gammas[0][0] if len(gammas) == 1 else None
    words = " and ".join(f"gamma={gamma:.3g}" + f" ({name})" * (suggested is None) for gamma, name in gammas)
    message = f"{_diagnosis(part, kernel, narrow=narrow)}. The median distance of the rows suggests {words}."
    warnings.warn(KernelWidthWarning(message, suggested=suggested), stacklevel=users_line())


def _diagnosis(part: Kernel, kernel: Kernel, *, narrow: bool) -> str:
    size = (
        "so large that the kernel of two different rows is nearly zero"
        if narrow
        else "so small that the kernel of any two rows is nearly the same"
    )
    if part == kernel:
        so = (
            "K is nearly the identity: all components hold about the same share"
            if narrow
            else "K is nearly constant: what is left after centering is close to rounding"
        )
        return f"{kernel!r}: gamma is {size} and {so}"
    so = "diagonal: no structure of the rows" if narrow else "constant, of which centering leaves little but rounding"
    return f"{part!r} in {kernel!r}: gamma is {size}, and what it gives to K is nearly {so}"


def _median_gamma(kernel: Any, rows: Any, seed: int) -> float:
    """Return the gamma that suits the median distance of rows, in the kernel's own sense of distance."""
    if not isinstance(kernel, ChiSquared):
        return float(replace(kernel, gamma="median").resolved(facts_of(rows, seed=seed)).gamma)
    # Distances are at most the sum of two rows: with this gamma, hardly one is lost to underflow.
    rows = to_host(rows)
    gamma = inverse_or_one(float(rows.sum(axis=1).mean()))
    with np.errstate(divide="ignore"):
        distances = -np.log(ChiSquared(gamma)(rows)) / gamma
    return inverse_or_one(float(np.median(distances[distances > 0])) if (distances > 0).any() else 0.0)
