"""Planted truths and contract suites, for Gramian's own tests and for anyone who adds a source, a kernel or a solver.

Nothing else in the library imports this package. The suites are plain classes of test methods: subclass one in a
test file, give it a maker, and pytest runs every test of the contract on what it makes.
"""

from gramian.testing.angles import (
    amari_distance,
    assert_same_subspace,
    largest_angle,
    mixed_sources,
    orthonormality_error,
)
from gramian.testing.counting import CountingRows
from gramian.testing.hard_matrices import graded, hilbert, kahan, laeuchli
from gramian.testing.kernel_suite import KernelSuite
from gramian.testing.operator_suite import SymmetricOperatorSuite
from gramian.testing.planted import (
    Planted,
    exact_rows,
    exact_symmetric,
    haar,
    rows_with_spectrum,
    symmetric_with_spectrum,
)
from gramian.testing.row_source_suite import RowSourceSuite
from gramian.testing.solver_suite import EigenSolverSuite
from gramian.testing.truth import centered, jacobi_svd, mpmath_singular_values, singular_values

__all__ = [
    "CountingRows",
    "EigenSolverSuite",
    "KernelSuite",
    "Planted",
    "RowSourceSuite",
    "SymmetricOperatorSuite",
    "amari_distance",
    "assert_same_subspace",
    "centered",
    "exact_rows",
    "exact_symmetric",
    "graded",
    "haar",
    "hilbert",
    "jacobi_svd",
    "kahan",
    "laeuchli",
    "largest_angle",
    "mixed_sources",
    "mpmath_singular_values",
    "orthonormality_error",
    "rows_with_spectrum",
    "singular_values",
    "symmetric_with_spectrum",
]
