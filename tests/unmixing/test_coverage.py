"""How often the truth is within the errors that independence_ states."""

import warnings

import numpy as np
import pytest

from gramian import ICA
from gramian.unmixing.independence import GAUSSIAN_ENTROPY
from tests.catalog import slowly

WIDTH, SIZE = 60.0, 1 << 12
ENTROPIES = {"u": np.log(np.sqrt(12.0)), "l": 1 + np.log(np.sqrt(2.0))}


def _entropy_of_sum(weights, kinds):
    """Entropy of a sum of uniform (u) and Laplace (l) numbers of unit variance, by its characteristic function."""
    t = 2 * np.pi * np.fft.fftfreq(SIZE, WIDTH / SIZE)
    phi = np.ones(SIZE)
    for a, kind in zip(weights, kinds, strict=True):
        phi = phi * (np.sinc(np.sqrt(3.0) * a * t / np.pi) if kind == "u" else 1 / (1 + (a * t) ** 2 / 2))
    density = np.maximum(np.fft.ifft(phi).real * SIZE / WIDTH, 1e-300)
    return -(density * np.log(density)).sum() * WIDTH / SIZE


def _within(kinds, n, seed):
    """Tell whether the drop, and each negentropy, of a fit to a draw is within its error."""
    rng, k = np.random.default_rng([seed, n]), len(kinds)
    S = np.column_stack(
        [
            rng.uniform(-np.sqrt(3), np.sqrt(3), n) if c == "u" else rng.laplace(scale=np.sqrt(0.5), size=n)
            for c in kinds
        ]
    )
    A = rng.standard_normal((k, k))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ica = ICA(tol=1e-4).fit(S @ A.T)
    G, found = ica.whitening_ * np.sqrt(n) @ A, ica.independence_
    truth = sum(_entropy_of_sum(row, kinds) for row in G) - np.linalg.slogdet(G)[1] - sum(ENTROPIES[c] for c in kinds)
    matches = np.abs(ica.components_ @ A).argmax(axis=1)
    negentropy = np.array([GAUSSIAN_ENTROPY - ENTROPIES[kinds[j]] for j in matches])
    return abs(found.drop - truth) <= found.drop_error, np.abs(found.negentropy - negentropy) <= found.negentropy_error


@pytest.mark.parametrize("kinds", ["uu", "uuu", "uuuuu", "ll", "lllll", "ul", "ululu"])
@pytest.mark.parametrize("n", [1_000, *slowly(300, 5_000)])
def test_errors_stated_cover_the_truth(kinds, n):
    """Of 40 draws nine in ten, at least, have the analytic drop within its error, and nine in ten negentropies."""
    drops, negentropies = zip(*(_within(kinds, n, seed) for seed in range(40)), strict=True)
    assert np.mean(drops) >= 0.9
    assert np.mean(negentropies) >= 0.9


@pytest.mark.parametrize("kinds", ["ul", *slowly("uu", "uuu")])
def test_errors_stated_cover_the_truth_of_many_rows(kinds):
    """Ten draws of 100,000 rows: nine drops at least, and nine in ten negentropies."""
    drops, negentropies = zip(*(_within(kinds, 100_000, seed) for seed in range(10)), strict=True)
    assert np.mean(drops) >= 0.9
    assert np.mean(negentropies) >= 0.9


def test_error_of_few_rows_a_source_is_unknown():
    """100 rows of five sources have no quarters that unmix: the error is not stated, and the line says so."""
    X = np.random.default_rng(0).uniform(size=(100, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = ICA(tol=1e-3).fit(X).independence_
    assert found.drop_error == np.inf
    assert np.all(found.negentropy_error == np.inf)
    assert "of unknown error" in str(found).splitlines()[0]


@pytest.mark.parametrize("seed", range(4))
def test_integers_have_no_error_that_is_known(seed):
    """Tables of ten values a column: their negentropies are artefacts, with an error that is said to be unknown."""
    X = np.random.default_rng(seed).integers(0, 10, (1000, 3))
    found = ICA().fit(X).independence_
    assert not np.isfinite(found.drop_error)
    assert not np.isfinite(found.negentropy_error).any()
    assert "unknown error" in str(found) or "not known" in str(found)
