"""Symmetric maps known by what they do to blocks of vectors."""

from gramian.operators.covariance import Covariance
from gramian.operators.gram import Gram
from gramian.operators.symmetric import DenseMatrix, Forming, Product, SymmetricOperator

__all__ = ["Covariance", "DenseMatrix", "Forming", "Gram", "Product", "SymmetricOperator"]
