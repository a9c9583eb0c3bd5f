"""Parts of white rows, whitened anew, and what each of them says of W."""

from dataclasses import replace

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.sources.dense import DenseRows
from gramian.sources.measuring import measure_moments
from gramian.unmixing.method import UnmixingMethod
from gramian.unmixing.thinning import thinned_rows
from gramian.unmixing.white_rows import WhiteRows

MOST_ITERATIONS = 50
"""Iterations on a quarter of the rows, at most: they begin at the solution of all."""


def whitened_anew(source: DenseRows) -> WhiteRows:
    """Return part of white rows, or a resample of them, as white.

    Its correlations, of size 1/sqrt(N), would otherwise turn sources by that much over their curvature: ten times more
    than the sampling of the sources themselves does.

    Examples
    --------
    >>> import numpy as np
    >>> part = DenseRows(np.random.default_rng(0).standard_normal((100, 2)))
    >>> z = whitened_anew(part).sources(np.eye(2))
    >>> np.abs(np.cov(z.T, bias=True) - np.eye(2)).max() < 1e-12
    np.True_
    """
    moments = measure_moments(source)
    values, vectors = np.linalg.eigh(to_host(moments.scatter) / moments.weight)
    whitening = (vectors / np.sqrt(np.maximum(values, np.finfo(float).eps * values[-1]))) @ vectors.T
    return WhiteRows(source, whitening, moments.mean, np.eye(source.n_columns))


def unmixed_quarters(z: HostArray, method: UnmixingMethod, W: HostArray, *, whiten: bool) -> list[HostArray]:
    """Return the W that each quarter of white rows z (N, k) gives by itself, begun at W.

    Their angles are twice as uncertain as those of W.  Cost: a few passes over z.
    """
    near = replace(method, tol=max(method.tol, 0.1 / np.sqrt(len(z))), max_iter=min(method.max_iter, MOST_ITERATIONS))
    found = []
    for shift in range(4):
        source, size = DenseRows(thinned_rows(z, 4, shift=shift)), len(W)
        rows = whitened_anew(source) if whiten else WhiteRows(source, np.eye(size), None, np.eye(size))
        found.append(near.solve(rows, W).matrix @ rows.whitening)
    return found
