"""What a prediction gains or loses when columns are first projected on their leading components.

Fewer dimensions leave less to be learned, and generalize better where rows are few; but components are chosen without
a look at what is to be predicted, and lose it where it varies little.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gramian.arrays.namespace import HostArray, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import NotSupportedError, ParameterError
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source
from gramian.sources.rows import all_rows


@dataclass(frozen=True, eq=False)
class PredictionCurve:
    """Error on rows that were not learned from, against the number of components that columns are projected on.

    Attributes
    ----------
    dimensions : numpy array (p,) of int
    errors, spreads : numpy array (p,)
        Share of wrong labels, or of the variance of a number that is not predicted: mean and standard deviation over
        the splits. These share rows, so that the deviation over the root of their number would be no standard error of
        the mean (Nadeau and Bengio, 2003, doi:10.1023/A:1024068626366).
    full_error, full_spread : float
        Without PCA, from all columns.
    n_train, n_columns : int
    of_labels : bool
        Whether labels are predicted.
    """

    dimensions: HostArray
    errors: HostArray
    spreads: HostArray
    full_error: float
    full_spread: float
    n_train: int
    n_columns: int
    of_labels: bool

    def __str__(self) -> str:
        what = "labels that are wrong" if self.of_labels else "variance that is not predicted"
        lines = [f"{what}, of rows left out; {self.n_train:,} rows learned from; +- over the splits"]
        lines += [
            f"{m:>8,} components {error:>8.1%} +- {spread:.1%}"
            for m, error, spread in zip(self.dimensions, self.errors, self.spreads, strict=True)
        ]
        return "\n".join([*lines, f"{self.n_columns:>8,} columns    {self.full_error:>8.1%} +- {self.full_spread:.1%}"])


def prediction_curve(
    X: Any, y: Any, n_train: int, *, dimensions: Sequence[int] | None = None, repeats: int = 20, seed: int = 0
) -> PredictionCurve:
    """Measure how well least squares predict with and without PCA.

    Computes, for each of ``repeats`` random splits, the components of ``n_train`` rows, the least squares fit of y on
    their first m scores, and its error on the other rows, which neither has seen. Labels are predicted by the largest
    of the fits to their indicators (Hastie, Tibshirani and Friedman, The Elements of Statistical Learning, 4.2). Where
    columns outnumber the rows the fit is the one of least norm.

    Cost: one PCA and one small fit per split and dimension. The rows are held in memory.

    Parameters
    ----------
    X : array, table or path (n, d)
        Dense: sparse rows are refused.
    y : array (n,)
        Numbers (floats), or labels of any other type.
    n_train : int
        Rows to learn from; the rest is predicted.
    dimensions : sequence of int, optional
        Numbers of components; by default 1, 2, 5, 10, ... up to min(n_train - 1, d).
    repeats, seed : int

    Returns
    -------
    PredictionCurve
        Prints as a table.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> t = rng.standard_normal(400)
    >>> X = np.outer(t, np.ones(60)) + rng.standard_normal((400, 60))
    >>> curve = prediction_curve(X, t, 65, dimensions=[1])
    >>> bool(curve.errors[0] < 0.05 < curve.full_error)
    True
    """
    source, y = as_source(X), np.asarray(y)
    if source.is_sparse or not source.is_local:
        kind = "sparse" if source.is_sparse else "Dask's"
        message = f"prediction_curve holds dense rows in this process, and these are {kind}. Pass an array of them."
        raise NotSupportedError(message)
    n, d = source.n_rows, source.n_columns
    if not 2 <= n_train < n or len(y) != n:
        message = f"n_train={n_train} of {n:,} rows and {len(y):,} values of y: learn from 2 to n - 1 of as many rows."
        raise ParameterError(message, parameter="n_train", value=n_train)
    X, most = to_host(all_rows(source)).astype(FLOAT64), min(n_train - 1, d)
    tried = np.unique(
        dimensions if dimensions is not None else [m for m in (1, 2, 5, 10, 20, 50, 100, most) if m <= most]
    )
    if not 1 <= tried[0] <= tried[-1] <= most:
        message = f"dimensions={list(tried)}: each is a number of components from 1 to min(n_train - 1, d) = {most}."
        raise ParameterError(message, parameter="dimensions", value=dimensions)
    of_labels = y.dtype.kind != "f"
    # A column per label, or the number itself.
    target = (y[:, None] == np.unique(y)).astype(FLOAT64) if of_labels else y[:, None]
    rng, errors = np.random.default_rng(seed), np.empty((repeats, len(tried) + 1))
    for split in errors:
        order = rng.permutation(n)
        train, test = order[:n_train], order[n_train:]
        model = fit_pca(as_source(X[train]), PCAOptions(int(tried[-1]), seed=seed))
        scores = to_host(model.project(X))
        for i, Z in enumerate([*(scores[:, :m] for m in tried), X - X[train].mean(axis=0)]):
            mean = target[train].mean(axis=0)
            B = np.linalg.lstsq(Z[train], target[train] - mean, rcond=None)[0]
            found, truth = Z[test] @ B + mean, target[test]
            wrong = found.argmax(axis=1) != truth.argmax(axis=1) if of_labels else (found - truth) ** 2 / y[test].var()
            split[i] = wrong.mean()
    means, spreads = errors.mean(axis=0), errors.std(axis=0, ddof=1)
    full = float(means[-1]), float(spreads[-1])
    return PredictionCurve(tried, means[:-1], spreads[:-1], *full, n_train, d, of_labels)
