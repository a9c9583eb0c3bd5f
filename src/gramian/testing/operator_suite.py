"""The contract of a symmetric operator, as tests that any operator can be put through."""

from typing import Any

import numpy as np
import numpy.typing as npt

from gramian.arrays.namespace import from_host, to_host
from gramian.operators.symmetric import SymmetricOperator

Array = npt.NDArray[Any]

__all__ = ["SymmetricOperatorSuite"]


class SymmetricOperatorSuite:
    """Tests that every symmetric operator must pass.

    Subclass it with a name that starts with ``Test`` and give it :meth:`make_operator`, which returns the
    operator and the dense matrix that it stands for.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.operators.symmetric import DenseMatrix
    >>> class TestDenseMatrix(SymmetricOperatorSuite):
    ...     def make_operator(self, seed):
    ...         A = np.diag(np.arange(1.0, 5.0))
    ...         return DenseMatrix(A), A
    >>> TestDenseMatrix().test_apply_is_the_matrix()
    """

    tol: float = 1e-11
    seeds: tuple[int, ...] = (0, 1)

    def make_operator(self, seed: int) -> tuple[SymmetricOperator, Array]:
        """Return an operator and its (m, m) matrix, computed some other way."""
        raise NotImplementedError

    def _each(self) -> list[tuple[SymmetricOperator, Array]]:
        return [self.make_operator(seed) for seed in self.seeds]

    def test_size_and_type_are_declared(self) -> None:
        """The operator says its size and type, and has not been applied to find out."""
        for operator, A in self._each():
            assert operator.size == A.shape[0]
            assert operator.dtype in (np.float32, np.float64)
            assert operator.applications == 0

    def test_apply_is_the_matrix(self) -> None:
        """A block of vectors comes back multiplied by the matrix, within the error that is stated."""
        for operator, A in self._each():
            for k in sorted({1, min(3, operator.size), operator.size}):
                V = _block(operator.size, k)
                product = _apply(operator, V)
                assert product.shape == (operator.size, k)
                assert _norm(product - A @ V) <= self.tol * _norm(A) * _norm(V)

    def test_stated_error_covers_the_real_one(self) -> None:
        """The relative error that comes with a product is not exceeded, however coarse a product is allowed."""
        for operator, A in self._each():
            V = _block(operator.size, 2)
            for accuracy in (None, 1e-3, 1e-6):
                product = operator.apply(_move(V, operator), accuracy=accuracy)
                actual = _norm(_host(product.values) - A @ V)
                assert actual <= (product.error + self.tol) * _norm(A) * _norm(V)
                assert product.error <= (accuracy or self.tol)

    def test_apply_is_symmetric(self) -> None:
        """U'(A V) = (A U)'V for any two blocks."""
        for operator, A in self._each():
            V, W = _block(operator.size, 2), _block(operator.size, 3)[:, ::-1].copy()
            left, right = W.T @ _apply(operator, V), _apply(operator, W).T @ V
            assert _norm(left - right) <= self.tol * _norm(A) * _norm(V) * _norm(W)

    def test_every_application_is_counted(self) -> None:
        """The counter grows by one for each block applied."""
        for operator, _ in self._each():
            before = operator.applications
            for _ in range(3):
                _apply(operator, _block(operator.size, 2))
            assert operator.applications >= before + 3

    def test_trace(self) -> None:
        """The trace is the sum of the diagonal."""
        for operator, A in self._each():
            assert abs(float(operator.trace()) - np.trace(A)) <= self.tol * np.abs(np.diag(A)).sum()

    def test_materialize_gives_the_same_matrix(self) -> None:
        """The dense matrix is the operator's own, symmetric to the last bit."""
        for operator, A in self._each():
            dense = _host(operator.materialize().matrix)
            np.testing.assert_array_equal(dense, dense.T)
            assert _norm(dense - A) <= self.tol * _norm(A)

    def test_root_squares_to_the_operator(self) -> None:
        """R'R = V'A V where the operator has a factor; None where it has none."""
        for operator, A in self._each():
            V = np.linalg.qr(_block(operator.size, min(3, operator.size)))[0]
            R = operator.root(_move(V, operator))
            if R is not None:
                assert operator.is_psd
                assert _norm(_host(R.T @ R) - V.T @ A @ V) <= self.tol * _norm(A)

    def test_residual_weight_has_one_number_per_value(self) -> None:
        """Each eigenvalue has its factor, at least one wherever the vectors stay where they are."""
        for operator, A in self._each():
            lam = np.linalg.eigvalsh(A)[::-1][:2]
            factors = operator.residual_weight(lam)
            assert factors.shape == lam.shape
            assert (factors > 0).all()

    def test_positive_semidefinite_is_the_truth(self) -> None:
        """An operator that calls itself positive semidefinite has no negative eigenvalue."""
        for operator, A in self._each():
            if operator.is_psd:
                assert np.linalg.eigvalsh(A)[0] >= -self.tol * _norm(A)


def _block(m: int, k: int) -> Array:
    return np.random.default_rng(m + k).standard_normal((m, k))


def _move(V: Array, operator: SymmetricOperator) -> Any:
    return from_host(V, like=operator.like(), dtype=operator.dtype)


def _host(values: Any) -> Array:
    return np.asarray(to_host(values), dtype=np.float64)


def _apply(operator: SymmetricOperator, V: Array) -> Array:
    return _host(operator.apply(_move(V, operator)).values)


def _norm(A: Array) -> float:
    return float(np.linalg.norm(A, 2))
