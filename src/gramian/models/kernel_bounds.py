"""Bounds of kernel eigenpairs: what the rounding of kernel values adds to them, and what the norm of K takes off."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial

import numpy as np

from gramian.eigen.certificate import Certificate
from gramian.eigen.pairs import EigenPairs
from gramian.operators.kernel_gram import KernelGram, Sums
from gramian.planning.machine import one_blas_thread
from gramian.sources.dense import DenseRows

Proof = Certificate | Callable[[], Certificate]
"""A certificate, or what draws it up."""


def widened(certificate: Certificate, by: float) -> Certificate:
    """Return the certificate of an operator that may itself be wrong by ``by``, in the spectral norm.

    Every eigenvalue, found or not, moves by at most that (Weyl), and a gap is less by it for its other end.
    """
    known = (certificate.gaps > 0) | certificate.ties
    bounds, gaps = certificate.bounds + by, np.maximum(certificate.gaps - by, 0.0)
    return replace(
        certificate,
        bounds=bounds,
        gaps=gaps,
        ties=(gaps <= bounds) & known,
        missed_bound=certificate.missed_bound + by,
        rounding=certificate.rounding + by,
    )


def widened_later(certificate: Certificate, gram: KernelGram) -> Callable[[], Certificate]:
    """Return what widens a certificate by the rounding of kernel values, measured then, on a copy of the rows."""
    rows = copy(gram.source)
    if isinstance(rows, DenseRows):
        rows.array = rows.array.copy(order="K")
    return partial(_measured_and_widened, certificate, gram.rounding_of(rows))


def _measured_and_widened(certificate: Certificate, rounding: Callable[[], float]) -> Certificate:
    with one_blas_thread():
        return widened(certificate, rounding())


def with_norm(certificate: Certificate, pairs: EigenPairs, sums: Sums) -> Certificate:
    """Bound the eigenvalues that were not returned by what the Frobenius norm of the matrix leaves for them.

    With A = [[T, R'], [R, C]] in the basis Q and its complement,  |C|_F^2 = |A|_F^2 - |T|_F^2 - 2 |R|_F^2,  and no
    eigenvalue beyond the k found exceeds the larger one of  [[theta, |R|], [|R|, |C|]],  theta being Ritz value k + 1.
    A pair above that bound is proved to be a leading one, without a search.
    """
    seen = pairs.compression
    if seen is None or len(certificate.values) == 0 or pairs.complete:
        return certificate
    k = len(certificate.values)
    theta = max(float(seen.values[k]), 0.0) if len(seen.values) > k else 0.0
    rest = sums.squares + sums.squares_error - float(np.sum(seen.values**2)) - 2 * seen.coupling**2
    largest = float(np.sqrt(max(rest, sums.squares_error, 0.0)))
    bound = (theta + largest) / 2 + float(np.hypot((theta - largest) / 2, seen.coupling)) + certificate.rounding
    proved = (bound < certificate.values - certificate.bounds) & np.array([g != "rejected" for g in certificate.grades])
    return replace(
        certificate,
        grades=tuple("proved" if ok else grade for ok, grade in zip(proved, certificate.grades, strict=True)),
        failure_probabilities=np.where(proved, 0.0, certificate.failure_probabilities),
        missed_bound=min(certificate.missed_bound, bound),
    )
