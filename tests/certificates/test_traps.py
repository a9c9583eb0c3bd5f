"""Planted traps: a start orthogonal to an eigenvector, a wrong pair, a missed eigenvalue."""

from dataclasses import replace

import numpy as np
import pytest

from gramian import PCA
from gramian.eigen.certificate import certify
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.pairs import Approximation, EigenPairs
from gramian.operators.symmetric import DenseMatrix
from gramian.testing import exact_symmetric, rows_with_spectrum
from tests.certificates.problems import SPECTRA, MatrixFree, exact_problem, exceeded, outcomes

TOL = 1e-10
SEEDS = range(8)
OPERATORS = {"held": DenseMatrix, "matrix-free": MatrixFree}
# Kinds whose leading values are well apart, so that a missed or a wrong one is beyond doubt.
DISTINCT = ("geometric", "linear", "noisy", "low_rank")


def _pairs(problem, columns, *, residuals=None, **changes):
    """Pairs made of the true ones in ``columns``, with their honest residuals unless others are given."""
    values = problem.values[columns].astype(float)
    vectors = np.ascontiguousarray(problem.vectors[:, columns])
    measured = np.linalg.norm(problem.A @ vectors - vectors * values, axis=0)
    claimed = measured if residuals is None else residuals
    return replace(
        EigenPairs(values, vectors, claimed, applications=1, converged=len(columns), stopped="planted"), **changes
    )


def _turned(problem, pairs, column, angle, *, honest):
    """The pairs with one vector turned by an angle toward an eigenvector of another value."""
    vectors = pairs.vectors.copy()
    other = problem.vectors[:, -1]
    vectors[:, column] = np.cos(angle) * vectors[:, column] + np.sin(angle) * other
    residuals = np.linalg.norm(problem.A @ vectors - vectors * pairs.values, axis=0)
    return replace(pairs, vectors=vectors, residuals=residuals if honest else pairs.residuals)


class TestMissedEigenvalue:
    """One of the leading pairs is left out of what is certified."""

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("kind", DISTINCT)
    @pytest.mark.parametrize("missed", [0, 1, 2])
    def test_is_found_in_a_held_matrix(self, kind, seed, missed):
        """Every pair below the missed one is rejected, and the ones above it stand."""
        problem = exact_problem(kind, 32, seed)
        columns = [i for i in range(5) if i != missed]
        certificate = certify(DenseMatrix(problem.A), _pairs(problem, columns), tol=TOL)
        grades = [line.grade for line in certificate.lines]
        assert grades == ["proved"] * missed + ["rejected"] * (4 - missed)

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("kind", DISTINCT)
    @pytest.mark.parametrize("missed", [0, 2])
    def test_is_within_the_trace_bound_without_the_matrix(self, kind, seed, missed):
        """Residuals alone cannot see it: the grade is conditional, and the trace still bounds it."""
        problem = exact_problem(kind, 32, seed)
        columns = [i for i in range(5) if i != missed]
        certificate = certify(MatrixFree(problem.A), _pairs(problem, columns), tol=TOL)
        assert {line.grade for line in certificate.lines} == {"conditional"}
        assert certificate.missed_bound >= float(problem.values[missed])

    @pytest.mark.parametrize("seed", SEEDS)
    def test_one_of_a_tie_is_found(self, seed):
        """Missing one of three equal values is seen by what is left of them."""
        A_values = [4.0, 4.0, 4.0, 3.0, 2.0, 1.0, *([0.5] * 10)]
        A, lam, V = exact_symmetric(A_values, seed=seed)
        columns = [0, 1, 3]
        pairs = EigenPairs(lam[columns], V[:, columns], np.zeros(3), applications=1, converged=3, stopped="planted")
        grades = [line.grade for line in certify(DenseMatrix(A), pairs, tol=TOL).lines]
        assert grades[2] == "rejected"

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("apart", [0.0, 1e-11, 2e-10])
    def test_one_that_lies_as_near_as_the_uncertainty_is_in_the_bounds(self, seed, apart):
        """A missed eigenvalue that the check cannot tell from the found one may be the true one of its rank."""
        A, lam, V = exact_symmetric([4.0 * (1 + apart), 4.0, 3.0, 2.0, *([0.5] * 12)], seed=seed)
        columns = [1, 2, 3]
        vectors = V[:, columns] + 1e-9 * V[:, [5, 6, 7]]
        residuals = np.linalg.norm(A @ vectors - vectors * lam[columns], axis=0)
        pairs = EigenPairs(lam[columns], vectors, residuals, applications=1, converged=3, stopped="planted")
        first = certify(DenseMatrix(A), pairs, tol=1e-6).lines[0]
        assert first.grade == "proved"
        assert first.tie
        assert lam[0] - lam[1] <= first.value_bound
        assert first.angle_bound == np.inf


class TestWrongPair:
    """One vector is turned away from its eigenvector."""

    @pytest.mark.parametrize("make", OPERATORS)
    @pytest.mark.parametrize("angle", [1e-6, 1e-3, 0.1, 1.0])
    @pytest.mark.parametrize("kind", DISTINCT)
    def test_is_rejected(self, kind, angle, make):
        """With its residual measured, a wrong pair is rejected, or its bounds cover the error."""
        for seed in SEEDS:
            problem = exact_problem(kind, 32, seed)
            wrong = _turned(problem, _pairs(problem, [0, 1, 2]), 1, angle, honest=True)
            certificate = certify(OPERATORS[make](problem.A), wrong, tol=TOL)
            assert certificate.lines[1].grade == "rejected"

    @pytest.mark.parametrize("angle", [1e-3, 0.1, 1.0])
    @pytest.mark.parametrize("kind", DISTINCT)
    def test_with_a_lying_residual_is_rejected_where_the_matrix_is_held(self, kind, angle):
        """A certificate of a held matrix does not take the solver's word for its residuals."""
        for seed in SEEDS:
            problem = exact_problem(kind, 32, seed)
            wrong = _turned(problem, _pairs(problem, [0, 1, 2]), 1, angle, honest=False)
            certificate = certify(DenseMatrix(problem.A), wrong, tol=TOL)
            assert certificate.lines[1].grade == "rejected"

    @pytest.mark.parametrize("shift", [1e-6, 1e-2, 0.3])
    def test_a_wrong_value_is_rejected(self, shift):
        """A true vector with a wrong value has a residual as large as the mistake."""
        for seed in SEEDS:
            problem = exact_problem("noisy", 32, seed)
            pairs = _pairs(problem, [0, 1, 2])
            values = pairs.values * np.array([1.0, 1.0 - shift, 1.0])
            residuals = np.linalg.norm(problem.A @ pairs.vectors - pairs.vectors * values, axis=0)
            wrong = replace(pairs, values=values, residuals=residuals)
            assert certify(DenseMatrix(problem.A), wrong, tol=TOL).lines[1].grade == "rejected"

    @pytest.mark.parametrize("make", OPERATORS)
    def test_the_same_vector_twice_is_not_two_pairs(self, make):
        """A pair given twice, with the second one missing, is not certified as two."""
        for seed in SEEDS:
            problem = exact_problem("noisy", 32, seed)
            certificate = certify(OPERATORS[make](problem.A), _pairs(problem, [0, 0, 1]), tol=TOL)
            assert {line.grade for line in certificate.lines} & {"rejected", "conditional"}


class TestOrthogonalStart:
    """The start has no part at all in the direction of a leading eigenvector, to the last bit."""

    @pytest.mark.parametrize("make", OPERATORS)
    @pytest.mark.parametrize("kind", DISTINCT)
    def test_the_eigenvector_is_found_or_nothing_is_claimed(self, kind, make):
        """Either the hidden pair is found, or the lines below it are not called proved or probable."""
        for seed in SEEDS:
            problem = exact_problem(kind, 64, seed)
            # Columns 3 to 5 are eigenvectors themselves: exact products keep them exactly orthogonal to the first.
            start = np.ascontiguousarray(problem.vectors[:, 3:6])
            operator = OPERATORS[make](problem.A)
            start = Approximation(problem.values[3:6], start)
            pairs = Krylov(tol=1e-8, block=3, basis=16).solve(operator, 3, seed=seed, start=start)
            certificate = certify(operator, pairs, tol=1e-8)
            for outcome in outcomes(problem, certificate, pairs.vectors):
                if outcome.line.grade in {"proved", "probable"}:
                    assert not exceeded(outcome)

    @pytest.mark.parametrize("kind", DISTINCT)
    def test_is_found_by_the_fresh_columns(self, kind):
        """Random columns beside the start bring the hidden pair in before the others have converged."""
        for seed in SEEDS:
            problem = exact_problem(kind, 64, seed)
            mix = np.random.default_rng(seed).choice([-1.0, 1.0], (63, 3))
            start = problem.vectors[:, 1:] @ mix
            assert np.abs(problem.vectors[:, 0] @ start).max() == 0.0
            start = Approximation(problem.values[1:4], start)
            pairs = Krylov(tol=1e-8, block=3, basis=16).solve(MatrixFree(problem.A), 3, seed=seed, start=start)
            truth = problem.values[:3].astype(float)
            np.testing.assert_allclose(pairs.values, truth, atol=1e-6 * truth[0])


class TestTieWiderThanTheBlock:
    """A Krylov space from b starts holds b copies of a tied value at most: the others are hidden from it."""

    @pytest.mark.parametrize("make", OPERATORS)
    @pytest.mark.parametrize("copies, block, k", [(2, 1, 3), (3, 2, 4), (6, 4, 5), (6, 4, 8)])
    @pytest.mark.parametrize("tol", [1e-2, 1e-5, 1e-8])
    def test_hidden_copies_are_found_or_nothing_is_claimed(self, copies, block, k, tol, make):
        """Where a copy is missing, no line below it is called proved or probable."""
        tail = [0.6, 0.5, 0.4, *np.linspace(0.1, 0.0, 125 - copies)]
        for seed in range(4):
            A, lam, _ = exact_symmetric([1.0] * copies + tail, seed=seed)
            operator = OPERATORS[make](A)
            pairs = Krylov(tol=tol, block=block).solve(operator, k, seed=seed)
            for line, truth in zip(certify(operator, pairs, tol=tol).lines, lam, strict=False):
                if line.grade in {"proved", "probable"}:
                    assert abs(line.value - truth) <= line.value_bound

    @pytest.mark.parametrize("tol", [1e-3, 1e-6, 1e-8, 0.0])
    def test_a_fit_finds_every_copy(self, tol):
        """Ten components of rows with fourteen equal leading variances are ten of those."""
        lam = np.concatenate([np.full(14, 9.0), [4.0, 2.0, 1.0], np.linspace(0.1, 0.01, 250)])
        X, _ = rows_with_spectrum(400, 300, lam, seed=0)
        pca = PCA(n_components=10, svd_solver="krylov", tol=tol, random_state=0).fit(X)
        np.testing.assert_allclose(pca.explained_variance_, 9.0, rtol=max(tol, 1e-8))


@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_solve_that_was_cut_short_says_so(kind, seed):
    """Stopped after two products, the pairs that are not there yet are rejected or their bounds hold."""
    problem = exact_problem(kind, 128, seed)
    operator = MatrixFree(problem.A)
    pairs = Krylov(tol=TOL, block=4, basis=16, max_applications=2).solve(operator, 3, seed=seed)
    certificate = certify(operator, pairs, tol=TOL)
    for outcome in outcomes(problem, certificate, pairs.vectors):
        if outcome.line.grade in {"proved", "probable"}:
            assert not exceeded(outcome)
    if pairs.converged < 3:
        assert {line.grade for line in certificate.lines[pairs.converged :]} == {"rejected"}


def test_an_indefinite_matrix_has_no_trace_bound():
    """With negative eigenvalues the trace bounds nothing, and the certificate says inf."""
    A, _, _ = exact_symmetric([3.0, 2.0, -1.0, -4.0], seed=0)
    operator = DenseMatrix(A, is_psd=False)
    certificate = certify(operator, Direct().solve(operator, 2), tol=TOL)
    assert certificate.missed_bound == np.inf


class TestUnknownGap:
    """Matrix-free pairs that come without an estimate of the next eigenvalue."""

    @pytest.mark.parametrize("seed", SEEDS)
    @pytest.mark.parametrize("kind", DISTINCT)
    def test_is_neither_a_tie_nor_a_bound_on_the_angle(self, kind, seed):
        """Nothing is claimed of the last vector; the others keep the gaps to their neighbours."""
        problem = exact_problem(kind, 32, seed)
        pairs = _pairs(problem, [0, 1, 2])
        assert pairs.next_value is None
        *others, last = certify(MatrixFree(problem.A), pairs, tol=TOL).lines
        assert (last.gap, last.tie, last.angle_bound) == (0.0, False, np.inf)
        assert last.value_bound < 1e-8 * problem.values[0]
        assert all(line.gap > 0 and np.isfinite(line.angle_bound) for line in others)

    def test_is_known_where_every_pair_is_there(self):
        """There is no next eigenvalue to be near."""
        problem = exact_problem("geometric", 32, 0)
        pairs = _pairs(problem, list(range(32)))
        assert certify(MatrixFree(problem.A), pairs, tol=TOL).lines[-1].gap >= 0
