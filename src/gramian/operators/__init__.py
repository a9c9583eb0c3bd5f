"""Symmetric maps known by what they do to blocks of vectors."""

from gramian.operators.covariance import Covariance
from gramian.operators.formed_later import FormedLater
from gramian.operators.gram import Gram
from gramian.operators.held import HeldMatrix
from gramian.operators.symmetric import Product, SymmetricOperator

__all__ = ["Covariance", "FormedLater", "Gram", "HeldMatrix", "Product", "SymmetricOperator"]
