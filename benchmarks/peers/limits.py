"""Why a method stays out of a case, and what it would cost: sentences and prices that peers share."""

from __future__ import annotations

from benchmarks.case import Instance
from benchmarks.peers.peer import Forecast

_LARGE = 10_000_000


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


def needs_room(instance: Instance) -> str | None:
    """Refusal of block methods where the block would be the whole space of a large table."""
    if (reason := needs_a_number(instance)) is not None:
        return reason
    if instance.rank_asked + 2 >= instance.side / 1.25 and instance.input_bytes > _LARGE:
        return "with nearly all components it does the dense SVD of 'full', and its own steps before"
    return None


def singular_values_price(instance: Instance, rate: float) -> Forecast:
    """A dense SVD of the rows.

    Fitted to LAPACK's gesdd at 1,000,000 x 100, 200,000 x 500, 4,000 x 4,000 and 1,000 x 50,000: narrow rows run
    far below the rate of a matrix product, which the 500 stands for.
    """
    long, short = max(instance.n_rows, instance.n_columns), instance.side
    work = 8 * long * short * (short + 500) + 20 * short**3
    return Forecast(seconds=work / (0.55 * rate), bytes=2.5 * long * short * _width(instance))


def covariance_price(instance: Instance, rate: float) -> Forecast:
    """A d x d covariance and its eigenvalues; sparse rows make the matrix no smaller."""
    n, d = instance.n_rows, instance.n_columns
    work = 2 * n * d**2 * (instance.case.density or 1.0) + 9 * d**3
    return Forecast(seconds=work / (0.5 * rate), bytes=3 * d**2 * _width(instance))


def subspace_price(instance: Instance, rate: float) -> Forecast:
    """Twelve block products, and as many factorizations of a tall block, fitted as above."""
    n, d, k = instance.n_rows, instance.n_columns, instance.rank_asked + 10
    work = 24 * n * d * k * (instance.case.density or 1.0) + 24 * max(n, d) * k * (k + 400)
    return Forecast(seconds=work / (0.85 * rate), bytes=3.0 * (n + d) * k * 8)


def _width(instance: Instance) -> int:
    """Bytes a number of the rows."""
    return 8 if instance.dtype == "float64" else 4
