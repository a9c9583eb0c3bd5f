"""Every source, operator and solver through the contract that third parties are offered."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.power import Power
from gramian.operators.covariance import Covariance
from gramian.operators.gram import Gram
from gramian.operators.standardization import Standardization
from gramian.operators.symmetric import DenseMatrix
from gramian.sources import as_source
from gramian.sources.dense import DenseRows
from gramian.sources.moments import measure_moments
from gramian.sources.scaled import ScaledRows
from gramian.testing import (
    CountingRows,
    EigenSolverSuite,
    RowSourceSuite,
    SymmetricOperatorSuite,
    symmetric_with_spectrum,
)
from tests.catalog import SOURCES, dense_rows, fortran_rows, sparse_rows, strided_rows, torch_rows


class TestDenseRows(RowSourceSuite):
    """Dense rows in small blocks."""

    def make_source(self, X, weights=None):
        """Blocks of five rows."""
        return dense_rows(X, weights)


class TestDenseRowsFloat32(TestDenseRows):
    """The same in float32."""

    dtype = "float32"


class TestFortranRows(RowSourceSuite):
    """Dense rows in column order."""

    def make_source(self, X, weights=None):
        """Column-major rows."""
        return fortran_rows(X, weights)


class TestStridedRows(RowSourceSuite):
    """Dense rows that are not contiguous in any order."""

    def make_source(self, X, weights=None):
        """Every second row and column."""
        return strided_rows(X, weights)


class TestTorchRows(RowSourceSuite):
    """Rows of a torch tensor."""

    def make_source(self, X, weights=None):
        """A tensor on the host."""
        return torch_rows(X, weights)


class TestSparseRows(RowSourceSuite):
    """Sparse rows."""

    def make_source(self, X, weights=None):
        """Three blocks of CSR rows."""
        return sparse_rows(X, weights)


class TestDaskRows(RowSourceSuite):
    """Rows of a Dask array that is cut between columns too."""

    def make_source(self, X, weights=None):
        """Three chunks of rows."""
        return SOURCES["dask"](X, weights)


class TestDaskRowsFloat32(TestDaskRows):
    """The same in float32."""

    dtype = "float32"


class TestDaskRowsOfUnknownSize(RowSourceSuite):
    """Rows of a Dask array whose chunk sizes are not known, one chunk being empty."""

    def make_source(self, X, weights=None):
        """Chunks as a filter leaves them."""
        return SOURCES["dask-unknown"](X, weights)


class TestDaskSparseRows(RowSourceSuite):
    """CSR chunks."""

    def make_source(self, X, weights=None):
        """Three chunks of CSR rows."""
        return SOURCES["dask-sparse"](X, weights)


class TestDaskFrame(RowSourceSuite):
    """Rows of a Dask data frame."""

    def make_source(self, X, weights=None):
        """Three partitions."""
        return SOURCES["dask-frame"](X, weights)


class TestScaledDaskRows(RowSourceSuite):
    """Rows of a Dask array times a power of two."""

    def make_source(self, X, weights=None):
        """Scale there and back."""
        return ScaledRows(SOURCES["dask"](X * 2.0**-20, weights), 20)


class TestScaledRows(RowSourceSuite):
    """Rows times a power of two, over rows divided by it."""

    def make_source(self, X, weights=None):
        """Scale there and back."""
        return ScaledRows(dense_rows(X * 2.0**-20, weights), 20)


class TestCountingRows(RowSourceSuite):
    """The counting wrapper is a source like any other."""

    def make_source(self, X, weights=None):
        """Count the passes over dense rows."""
        return CountingRows(dense_rows(X, weights))


class TestOpenedRows(RowSourceSuite):
    """What the one door opens is a source like any other."""

    def make_source(self, X, weights=None):
        """Open an array."""
        return as_source(X, weights=weights)


class TestOpenedSparseRows(RowSourceSuite):
    """The same for CSC input."""

    def make_source(self, X, weights=None):
        """Open a CSC array."""
        return as_source(sp.csc_array(X), weights=weights)


def _rows(seed, n=30, d=7):
    X = np.random.default_rng(seed).standard_normal((n, d)) * np.geomspace(3.0, 0.3, d) + 2.0
    X[np.abs(X) < 0.5] = 0.0
    return X


def _standardized(X, *, center, scale):
    Xs = X - X.mean(axis=0) if center else X
    return Xs / X.std(axis=0, ddof=1) if scale else Xs


class _RowOperatorSuite(SymmetricOperatorSuite):
    operator = Covariance
    make_source = staticmethod(dense_rows)
    center, scale = True, False
    shape = (30, 7)

    def make_operator(self, seed):
        """Build the operator over rows, and its matrix from the rows themselves."""
        X = _rows(seed, *self.shape)
        source = self.make_source(X)
        moments = measure_moments(source, scatter=False, center=self.center)
        factor = 1 / X.std(axis=0, ddof=1) if self.scale else None
        mean = X.mean(axis=0) if self.center else np.zeros(X.shape[1])
        operator = self.operator(source, moments, Standardization(mean, factor, self.center))
        Xs = _standardized(X, center=self.center, scale=self.scale)
        return operator, Xs.T @ Xs if self.operator is Covariance else Xs @ Xs.T


class TestCovariance(_RowOperatorSuite):
    """Covariance of dense rows."""


class TestCovarianceOfSparseRows(_RowOperatorSuite):
    """Covariance of sparse rows, centered without making them dense."""

    make_source = staticmethod(sparse_rows)


class TestCovarianceOfTensors(_RowOperatorSuite):
    """Covariance of a torch tensor."""

    make_source = staticmethod(torch_rows)


class TestScaledCovariance(_RowOperatorSuite):
    """Correlations."""

    scale = True


class TestUncenteredCovariance(_RowOperatorSuite):
    """Second moments about the origin."""

    center = False


class TestGram(_RowOperatorSuite):
    """Inner products of dense rows."""

    operator = Gram
    shape = (8, 25)


class TestGramOfSparseRows(_RowOperatorSuite):
    """Inner products of sparse rows."""

    operator = Gram
    shape = (8, 25)
    make_source = staticmethod(sparse_rows)


class TestGramOfTensors(_RowOperatorSuite):
    """Inner products of a torch tensor's rows."""

    operator = Gram
    shape = (8, 25)
    make_source = staticmethod(torch_rows)


class TestScaledUncenteredGram(_RowOperatorSuite):
    """Inner products of scaled rows about the origin."""

    operator = Gram
    shape = (8, 25)
    center, scale = False, True


class TestHeldMatrix(SymmetricOperatorSuite):
    """A matrix in memory."""

    def make_operator(self, seed):
        """Hold a matrix of known spectrum."""
        A, _ = symmetric_with_spectrum([4.0, 2.0, 1.0, 0.5, 0.0], seed=seed)
        return DenseMatrix(A), A


class TestIndefiniteHeldMatrix(SymmetricOperatorSuite):
    """A matrix with negative eigenvalues."""

    def make_operator(self, seed):
        """Hold an indefinite matrix, and say so."""
        A, _ = symmetric_with_spectrum([4.0, 2.0, -1.0, -3.0], seed=seed)
        return DenseMatrix(A, is_psd=False), A


class TestDirect(EigenSolverSuite):
    """Dense eigendecomposition."""

    def make_solver(self):
        """Return it with its defaults."""
        return Direct()


class TestKrylov(EigenSolverSuite):
    """Block Krylov iteration."""

    def make_solver(self):
        """Return it with a small block, so that it has to iterate."""
        return Krylov(block=3, basis=11)


class TestKrylovByDefault(EigenSolverSuite):
    """Block Krylov iteration as it comes."""

    def make_solver(self):
        """Return it with its defaults."""
        return Krylov()


class TestPower(EigenSolverSuite):
    """The power method with deflation."""

    def make_solver(self):
        """Return it with its defaults."""
        return Power()


@pytest.mark.parametrize("name", SOURCES)
def test_passes_are_counted(name):
    """Each reduction and each map is one pass, from every kind of source."""
    rows = CountingRows(SOURCES[name](_rows(0)))
    measure_moments(rows)
    assert rows.passes == 1
    rows.map_rows(lambda block: block.rows @ np.ones((7, 1)) if name != "torch" else block.rows[:, :1])
    assert rows.passes == 2


def test_a_source_that_skips_rows_fails_its_suite():
    """The suite can fail: a source whose blocks leave out the last row is caught."""

    class Skips(TestDenseRows):
        __test__ = False

        def make_source(self, X, weights=None):
            source = DenseRows(X, weights=weights, block_rows=3)
            source.block = lambda i: source.cut(slice(3 * i, min(3 * i + 2, len(X))))
            return source

    with pytest.raises(AssertionError):
        Skips().test_blocks_tile_the_rows_in_order()


def test_a_wrong_operator_fails_its_suite():
    """The suite can fail: an operator that is another matrix is caught."""

    class Wrong(SymmetricOperatorSuite):
        def make_operator(self, seed):
            A, _ = symmetric_with_spectrum([3.0, 2.0, 1.0], seed=seed)
            return DenseMatrix(A), A + np.eye(3)

    with pytest.raises(AssertionError):
        Wrong().test_apply_is_the_matrix()


def test_a_solver_that_stops_early_fails_its_suite():
    """The suite can fail: a solver that gives up after two products is caught."""

    class Lazy(EigenSolverSuite):
        def make_solver(self):
            return Krylov(block=3, basis=11, max_applications=2)

    with pytest.raises(AssertionError):
        Lazy().test_planted_values_are_found()
