"""Parameters: numbers, words and names, what they become, and what is refused."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist

from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.kernels import (
    ChiSquared,
    Cosine,
    DataFacts,
    Gaussian,
    Laplacian,
    Linear,
    Matern,
    PointKernel,
    Polynomial,
    Precomputed,
    Sigmoid,
    as_kernel,
    facts_of,
)
from gramian.kernels.widths import median_distance, sampled_rows
from tests.kernels.catalog import FLOAT64, histogram, rows

FACTS = DataFacts(8, 0.25, lambda: 3.0, lambda: 5.0)


@pytest.mark.parametrize(
    "kernel, resolved",
    [
        (Gaussian(), Gaussian(1 / 8)),
        (Gaussian("scale"), Gaussian(0.5)),
        (Gaussian("median"), Gaussian(sigma=3.0)),
        (Gaussian(0.3), Gaussian(0.3)),
        (Matern(2.5), Matern(2.5, 1 / 8)),
        (Matern(2.5, "median"), Matern(2.5, length_scale=3.0)),
        (Laplacian(), Laplacian(1 / 8)),
        (Laplacian("scale"), Laplacian(1 / (8 * 0.5))),
        (Laplacian("median"), Laplacian(1 / 5)),
        (Polynomial(2, "scale", 0.5), Polynomial(2, 0.5, 0.5)),
        (Sigmoid(), Sigmoid(1 / 8)),
        (ChiSquared(), ChiSquared(1 / 8)),
        (Linear(), Linear()),
        (Cosine(), Cosine()),
        (Precomputed(), Precomputed()),
    ],
    ids=repr,
)
def test_words_become_numbers(kernel, resolved):
    """None is 1/d; "scale" and "median" follow the facts of the data."""
    assert kernel.resolved(FACTS) == resolved


def test_widths_can_be_read_back():
    """sigma and length_scale of a resolved kernel; none while gamma is a word."""
    assert Gaussian(sigma=2.5).sigma == pytest.approx(2.5, rel=1e-15)
    assert Matern(length_scale=0.2).length_scale == pytest.approx(0.2, rel=1e-15)
    assert Gaussian("median").sigma is None


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("n, d, seed", [(2, 1, 0), (80, 5, 1), (300, 20, 2)])
def test_facts_are_those_of_the_rows(offset, n, d, seed):
    """Variance and medians, dense and sparse, far from the origin too."""
    X = rows(n, d, seed=seed) + offset
    facts = facts_of(X)
    assert facts.n_columns == d
    assert facts.variance == pytest.approx(X.var(axis=0).mean(), rel=1e-9)
    assert facts.median_distance() == pytest.approx(np.median(pdist(X)), rel=1e-9)
    assert facts.median_cityblock() == pytest.approx(np.median(pdist(X, "cityblock")), rel=1e-9)
    if offset == 0:
        thin = sparse.csr_array(X)
        assert facts_of(thin).variance == pytest.approx(facts.variance, rel=1e-9)
        assert facts_of(thin).median_distance() == pytest.approx(facts.median_distance(), rel=1e-9)
        with pytest.raises(NotSupportedError, match="measured on dense rows"):
            facts_of(thin).median_cityblock()


@pytest.mark.parametrize("seed", [0, 1])
def test_median_on_a_sample_is_near_that_of_all_pairs(seed):
    """1,000 of 6,000 rows, drawn by the seed: within one percent, and the same again."""
    X = rows(6000, 3, seed=seed)
    found = facts_of(X, seed=seed).median_distance()
    assert found == pytest.approx(np.median(pdist(X)), rel=0.01)
    assert found == facts_of(X, seed=seed).median_distance()
    assert len(sampled_rows(X, seed=seed)) == 1000


def test_repeated_rows_do_not_make_the_median_zero():
    """Pairs of equal rows say nothing of a width; without any other pair gamma is 1."""
    X = np.repeat([[0.0, 0.0], [3.0, 4.0]], [90, 10], axis=0)
    assert median_distance(X) == 5.0
    assert median_distance(sparse.csr_array(X)) == 5.0
    assert Gaussian("median").resolved(facts_of(np.ones((5, 2)))) == Gaussian(1.0)
    assert Gaussian("scale").resolved(facts_of(np.ones((5, 2)))) == Gaussian(1.0)
    assert Laplacian("median").resolved(facts_of(np.ones((1, 2)))) == Laplacian(1.0)


def test_words_are_resolved_when_a_kernel_is_called_and_refused_in_a_block():
    """A block does not know the other rows."""
    X = rows(50, 4, seed=0)
    gamma = 0.5 / np.median(pdist(X)) ** 2
    np.testing.assert_allclose(Gaussian("median")(X), Gaussian(gamma)(X), rtol=1e-12)
    with pytest.raises(ParameterError, match=r'gamma="median" depends on all rows'):
        Gaussian("median").prepare(X, dtype=FLOAT64)
    with pytest.raises(ParameterError, match="needs dense rows to be sampled"):
        Laplacian("median").resolved(DataFacts(2, 1.0, lambda: 1.0))


@pytest.mark.parametrize("gamma", [-1, float("nan"), float("inf"), "wide", True, [1.0], 1j])
@pytest.mark.parametrize("make", [Gaussian, Laplacian, ChiSquared, Sigmoid])
def test_gamma_outside_its_limits_is_refused(make, gamma):
    """The sentence names the kernel and what may be passed."""
    with pytest.raises(ParameterError, match=rf"for the {make.name} kernel: pass a finite number that is not negative"):
        make(gamma)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: Gaussian(1.0, sigma=1.0), "two names of one width"),
        (lambda: Gaussian(sigma=0.0), "sigma=0.0 must be a finite number above zero"),
        (lambda: Gaussian(sigma=1e-200), "not too near it"),
        (lambda: Matern(length_scale=-1), "length_scale=-1 must be"),
        (lambda: Matern(1.0), "pass 0.5, 1.5 or 2.5"),
        (lambda: Matern("smooth"), "pass 0.5, 1.5 or 2.5"),
        (lambda: Polynomial(-1), "degree=-1 for the polynomial kernel"),
        (lambda: Polynomial("two"), "degree='two'"),
        (lambda: Polynomial(gamma="median"), 'pass a finite number that is not negative, "scale", or None'),
        (lambda: Polynomial(coef0=float("inf")), "coef0=inf for the polynomial kernel"),
        (lambda: Sigmoid(coef0="one"), "coef0='one' for the sigmoid kernel"),
        (lambda: ChiSquared("scale"), "or None for 1/d"),
    ],
)
def test_parameters_outside_their_limits_are_refused(make, said):
    """When the kernel is made, before any row is seen."""
    with pytest.raises(ParameterError, match=said):
        make()


@pytest.mark.parametrize(
    "name, kernel",
    [
        ("linear", Linear()),
        ("poly", Polynomial(4, 0.2, 0.5)),
        ("polynomial", Polynomial(4, 0.2, 0.5)),
        ("rbf", Gaussian(0.2)),
        ("gaussian", Gaussian(0.2)),
        ("laplacian", Laplacian(0.2)),
        ("matern", Matern(2.5, 0.2)),
        ("sigmoid", Sigmoid(0.2, 0.5)),
        ("cosine", Cosine()),
        ("chi2", ChiSquared(0.2)),
        ("precomputed", Precomputed()),
    ],
)
def test_names_are_those_of_scikit_learn(name, kernel):
    """Each takes the parameters it has and ignores the others."""
    assert as_kernel(name, gamma=0.2, degree=4, coef0=0.5, nu=2.5) == kernel


def test_functions_and_kernels_stand_for_themselves():
    """A callable is a function of two points; a kernel is returned as it is; sigma is a width."""
    assert as_kernel(histogram) == PointKernel(histogram)
    assert as_kernel(histogram, parameters={"a": 1}) == PointKernel(histogram, {"a": 1})
    kernel = Gaussian("median") + Linear()
    assert as_kernel(kernel) is kernel
    assert as_kernel("rbf", sigma=2.0) == Gaussian(sigma=2.0)


@pytest.mark.parametrize("kernel", ["gauss", None, 3])
def test_unknown_names_are_refused_with_the_known_ones(kernel):
    """The sentence lists what there is."""
    with pytest.raises(ParameterError, match=r"is not known.*linear, poly, rbf"):
        as_kernel(kernel)


def test_gamma_beside_a_kernel_is_refused():
    """It would be ignored silently."""
    with pytest.raises(ParameterError, match=r"gamma=0.5 is given beside the kernel Gaussian\(gamma=1.0\)"):
        as_kernel(Gaussian(1.0), gamma=0.5)


@pytest.mark.parametrize(
    "X, said",
    [
        ([1.0, 2.0], r"rows of numbers, shape \(n, d\), and was given shape \(2,\). For a single point"),
        (np.ones((2, 2, 2)), r"was given shape \(2, 2, 2\)"),
        ([[1.0, np.nan]], "Row 0 given to a kernel has NaN or infinity in column 1"),
        (sparse.csr_array([[1.0, np.inf]]), "sparse rows given to a kernel hold NaN"),
    ],
)
def test_rows_that_are_no_rows_are_refused(X, said):
    """One dimension, three dimensions, and holes."""
    with pytest.raises(InputError, match=said):
        Linear()(X)


def test_rows_of_two_lengths_are_refused():
    """Both numbers are named."""
    with pytest.raises(InputError, match="X has 3 columns and Y has 2"):
        Gaussian()(np.ones((4, 3)), np.ones((4, 2)))


@pytest.mark.parametrize("kernel", [Laplacian(), ChiSquared()], ids=repr)
def test_sparse_rows_are_refused_where_they_would_become_dense(kernel):
    """Called, and in a block."""
    X = sparse.csr_array(np.eye(3))
    with pytest.raises(NotSupportedError, match=f"The {kernel.name} kernel takes dense rows"):
        kernel(X)
    with pytest.raises(NotSupportedError, match="takes dense rows"):
        kernel.prepare(X, dtype=FLOAT64)


def test_negative_counts_are_refused_by_chi_squared():
    """Row and column are named, and carried."""
    with pytest.raises(InputError, match=r"Row 1 has -2 in column 0.*no negative numbers") as caught:
        ChiSquared()([[1.0, 2.0], [-2.0, 1.0]])
    assert (caught.value.row, caught.value.column) == (1, 0)
    with pytest.raises(InputError, match=r"Row 0 of Y has -2 in column 1"):
        ChiSquared()([[1.0, 2.0]], [[2.0, -2.0]])


def test_fractional_powers():
    """Of numbers that are not negative they are NumPy's; of negative ones there are none."""
    X = rows(10, 3, seed=0)
    np.testing.assert_allclose(Polynomial(2.5, 1.0)(X), (X @ X.T + 1) ** 2.5, rtol=1e-12)
    with pytest.raises(InputError, match=r"a negative number has no power of degree=2.5"):
        Polynomial(2.5, 1.0)([[3.0], [-3.0]])
    assert np.array_equal(Polynomial(0, 1.0)(X), np.ones((10, 10)))


def test_torch_rows_are_refused_by_kernels_of_numpy():
    """Nothing is copied between libraries unasked."""
    torch = pytest.importorskip("torch")
    with pytest.raises(NotSupportedError, match="takes NumPy rows, and was given Tensor"):
        Laplacian()(torch.eye(3))
