"""Proved bounds: never exceeded, and not far too large, over problems of known spectrum, in the sweep more than 500."""

from dataclasses import replace

import numpy as np
import pytest

from gramian.eigen.certificate import certify
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.operators.symmetric import DenseMatrix
from tests.catalog import slowly
from tests.certificates.problems import (
    SPECTRA,
    exact_problem,
    exceeded,
    haar_problem,
    median_ratio,
    outcomes,
)

TOL = 1e-10


def _problems(seeds):
    exact = [exact_problem(kind, m, seed) for kind in SPECTRA for m in (16, 64) for seed in range(seeds)]
    return exact + [haar_problem(kind, 12 + seed, seed) for kind in SPECTRA for seed in range(12)]


def _certified(problems, solver, k):
    """Lines of every problem beside the truth."""
    found = []
    for seed, problem in enumerate(problems):
        operator = DenseMatrix(problem.A)
        pairs = solver.solve(operator, k or operator.size, seed=seed)
        found += outcomes(problem, certify(operator, pairs, tol=TOL), pairs.vectors)
    return found


CASES = {
    "direct, all pairs": (Direct(), None),
    "direct, four pairs": (Direct(), 4),
    "krylov and inertia": (Krylov(tol=TOL, block=4, basis=40), 3),
}


@pytest.fixture(scope="module", params=[6, *slowly(30)])
def problems(request):
    """Problems of so many seeds: 168, and in the sweep 504."""
    return _problems(request.param)


@pytest.fixture(scope="module", params=CASES)
def lines(request, problems):
    """Certificate lines of all problems, for one way of solving them."""
    solver, k = CASES[request.param]
    return _certified(problems, solver, k)


def test_no_bound_is_exceeded(lines):
    """Values and angles keep every bound that is called proved."""
    broken = [word for outcome in lines if outcome.line.grade == "proved" for word in exceeded(outcome)]
    assert not broken, f"{len(broken)} bounds exceeded, first: " + "\n".join(broken[:5])


def test_every_pair_is_proved(lines):
    """A held matrix leaves no excuse: every line is proved."""
    weaker = [(o.problem, o.line.grade, o.line.index) for o in lines if o.line.grade != "proved"]
    assert not weaker, f"{len(weaker)} of {len(lines)} lines are not proved, first: {weaker[:5]}"


def test_value_bounds_are_not_far_too_large(lines):
    """The tighter bound on a value is at most 100 times the error made, in the median."""
    ratio = median_ratio([(min(o.line.value_bound, o.line.quadratic_bound), o.value_error) for o in lines])
    assert ratio <= 100, f"the median bound is {ratio:.0f} times too large"


def test_angle_bounds_are_not_far_too_large(lines):
    """The bound on the angle, where there is one, is at most 100 times the angle made, in the median."""
    ratio = median_ratio([(o.line.angle_bound, o.sine) for o in lines if np.isfinite(o.line.angle_bound)])
    assert ratio <= 100, f"the median bound is {ratio:.0f} times too large"


def test_exact_ties_are_called_ties(lines):
    """Two equal values are never told apart, and values a tenth apart are never called a tie."""
    for outcome in lines:
        if "exact tied" in outcome.problem and outcome.sine > 0.01:
            assert outcome.line.tie
        if outcome.line.tie:
            assert outcome.line.gap <= 0.1 * abs(outcome.line.value) + outcome.line.value_bound


def test_a_matrix_that_may_be_wrong_widens_bounds_and_narrows_gaps():
    """Planted bounds hold for the matrix that is moved; a gap that closes is a tie, one that is unknown is none."""
    rng = np.random.default_rng(0)
    Q = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    A = (Q * np.r_[4.0, 3.0, 2.9, np.full(27, 1.0)]) @ Q.T
    E = rng.standard_normal((30, 30))
    E = 0.06 * (E + E.T) / np.linalg.norm(E + E.T, 2)
    operator = DenseMatrix(A)
    own = certify(operator, Direct().solve(operator, 3, seed=0), tol=TOL)
    found = own.widened(0.06)
    moved = np.linalg.eigvalsh(A + E)[::-1][:3]
    assert (np.abs(moved - found.values) <= found.bounds).all()
    assert found.bounds == pytest.approx(own.bounds + 0.06)
    assert found.ties.tolist() == [False, True, True]
    assert found.missed_bound == pytest.approx(own.missed_bound + 0.06)
    unknown = replace(own, gaps=np.array([*own.gaps[:2], 0.0])).widened(0.06)
    assert unknown.ties.tolist() == [False, True, False]
    assert unknown.lines[2].angle_bound == np.inf
