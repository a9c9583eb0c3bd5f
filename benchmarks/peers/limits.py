"""Why a method stays out of a case, and what it would cost: sentences and prices that peers share."""

from __future__ import annotations

from benchmarks.case import Instance
from benchmarks.peers.peer import Forecast


def needs_a_number(instance: Instance) -> str | None:
    """Refusal of methods that take only a whole number of components."""
    if isinstance(instance.n_components, float):
        return "takes a number of components, not a share of the variance"
    return None


def needs_a_few(instance: Instance) -> str | None:
    """Refusal of Lanczos methods, which stop one component short of all."""
    if (reason := needs_a_number(instance)) is not None:
        return reason
    if instance.rank_asked >= instance.side:
        return f"gives at most {instance.side - 1:,} of the {instance.side:,} components asked for"
    return None


def needs_dense(instance: Instance) -> str | None:
    """Refusal of methods that would need the sparse rows made dense."""
    return "does not take sparse rows" if instance.is_sparse else None


def is_nearly_full(instance: Instance) -> bool:
    """Whether so many components are asked for that a block of vectors spans the whole space."""
    return instance.rank_asked + 2 >= instance.side / 1.25


def singular_values_price(instance: Instance, rate: float) -> Forecast:
    """A dense SVD: a QR of the long side and the SVD of a square.

    Measured on two cores: both run at about half the rate of a matrix product.
    """
    long, short = max(instance.n_rows, instance.n_columns), instance.side
    width = 8 if instance.dtype == "float64" else 4
    seconds = 8 * long * short**2 / (0.5 * rate) + 20 * short**3 / (0.5 * rate)
    return Forecast(seconds=seconds, bytes=2.5 * long * short * width)


def covariance_price(instance: Instance, rate: float) -> Forecast:
    """A d x d covariance and its eigenvalues; sparse rows make the matrix no smaller."""
    n, d = instance.n_rows, instance.n_columns
    width = 8 if instance.dtype == "float64" else 4
    density = instance.case.density or 1.0
    return Forecast(seconds=(2 * n * d**2 * density + 9 * d**3) / (0.5 * rate), bytes=3 * d**2 * width)


def subspace_price(instance: Instance, rate: float) -> Forecast:
    """A handful of block products and factorizations of n x k, and an SVD of k x d."""
    n, d, k = instance.n_rows, instance.n_columns, instance.rank_asked + 10
    density = instance.case.density or 1.0
    products = 2 * n * d * k * density * 12
    factors = 8 * (n + d) * k**2 * 6 + 20 * k**3
    return Forecast(seconds=(products + factors) / (0.5 * rate), bytes=3.0 * (n + d) * k * 8)
