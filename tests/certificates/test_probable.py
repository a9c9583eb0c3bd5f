"""Probable bounds: exceeded no more often than stated."""

import numpy as np
import pytest

from gramian.eigen.certificate import certify
from gramian.eigen.krylov import Krylov
from gramian.eigen.power import Power
from tests.certificates.problems import SPECTRA, MatrixFree, exact_problem, exceeded, outcomes

K = 4
M = 128
TOLERANCES = (1e-2, 1e-4, 1e-8)
# Spectra on which an iteration can earn the grade: the leading values stand apart from the rest.
SEPARATE = ("stepped", "noisy", "geometric")


def _solved(tol, seeds, *, kinds=SEPARATE, block=4):
    """Certificates of matrix-free problems, solved with small blocks so that something can be missed."""
    for kind in kinds:
        for seed in seeds:
            problem = exact_problem(kind, M, seed)
            operator = MatrixFree(problem.A)
            pairs = Krylov(tol=tol, block=block, basis=60, max_applications=200).solve(operator, K, seed=1000 * seed)
            yield problem, pairs, certify(operator, pairs, tol=tol)


@pytest.mark.parametrize("block", [1, 2, 4])
@pytest.mark.parametrize("tol", TOLERANCES)
def test_exceeded_no_more_often_than_stated(tol, block):
    """The number of lines whose bounds fail stays within what their stated chances allow."""
    failures, expected, lines, first = 0, 0.0, 0, []
    for problem, pairs, certificate in _solved(tol, range(12), block=block):
        for outcome in outcomes(problem, certificate, pairs.vectors):
            if outcome.line.grade == "probable":
                assert 0.0 < outcome.line.failure_probability < 1.0
                lines += 1
                expected += outcome.line.failure_probability
                broken = exceeded(outcome)
                failures += bool(broken)
                first += broken
    assert lines >= 20
    # Three standard deviations of a sum of rare events above its mean.
    allowed = expected + 3 * np.sqrt(expected)
    assert failures <= allowed, f"{failures} of {lines} lines failed, {expected:.2g} expected:\n" + "\n".join(first[:5])


@pytest.mark.parametrize("tol", TOLERANCES)
def test_never_called_proved(tol):
    """Without the matrix nothing is proved, unless the basis came to span the whole space."""
    for problem, pairs, certificate in _solved(tol, range(3)):
        if not pairs.complete:
            assert all(line.grade != "proved" for line in certificate.lines), problem.name


@pytest.mark.parametrize("kind", SPECTRA)
def test_the_trace_bounds_what_was_missed(kind):
    """Nothing that was not returned exceeds ``missed_bound``."""
    for problem, pairs, certificate in _solved(1e-3, range(5), kinds=[kind]):
        rest = problem.values[K] if not pairs.complete else 0.0
        assert float(rest) <= certificate.missed_bound


def test_the_power_method_claims_no_more_than_it_knows():
    """One vector at a time says nothing about what was passed over: conditional at best."""
    for seed in range(5):
        problem = exact_problem("noisy", 64, seed)
        operator = MatrixFree(problem.A)
        pairs = Power(tol=1e-6).solve(operator, 2, seed=seed)
        certificate = certify(operator, pairs, tol=1e-6)
        assert {line.grade for line in certificate.lines} <= {"conditional", "rejected"}


def test_most_lines_are_probable():
    """The grade is not bought by refusing: well separated pairs are called probable."""
    grades = [
        line.grade for _, _, certificate in _solved(1e-8, range(10), kinds=["stepped"]) for line in certificate.lines
    ]
    assert np.mean([grade == "probable" for grade in grades]) >= 0.9
