"""What must agree between the parts of a model, beside what each part can tell of itself."""

from typing import Any, NoReturn

from gramian.errors import ModelFileError
from gramian.features.polynomial import LARGEST_PHI, MonomialMap, n_monomials
from gramian.kernels.kernel import DataFacts
from gramian.models.ica import ICAModel
from gramian.models.kernel_model import KernelPCAModel
from gramian.models.kernel_projection import FeatureExpansion, MatrixExpansion, RowExpansion
from gramian.models.pca import PCAModel

HIGHEST_DEGREE = 100
"""Of monomials, in a file: counting those of a higher one takes time, and none can be evaluated."""


def refuse(words: str) -> NoReturn:
    """Refuse a file; ``open_archive`` adds which one."""
    raise ModelFileError(words)


def require_agreement(model: Any) -> None:
    """Refuse a model whose parts contradict each other; shapes within a part are known to agree."""
    if isinstance(model, PCAModel):
        _require("columns", model.components.shape[1], model.n_columns)
        _require_certificate(model.certificate, len(model.components), model.rank)
    elif isinstance(model, KernelPCAModel):
        _require("rows", model.vectors.shape[0], model.n_rows)
        _require_certificate(model.certificate, len(model.eigenvalues), model.rank)
        _require_expansion(model)
    elif isinstance(model, ICAModel):
        _require("columns", model.components.shape[1], model.n_columns)
        _require("means", int(model.mean is None), int(model.whitening is None))


def _require_expansion(model: KernelPCAModel) -> None:
    found, k = model.expansion, len(model.eigenvalues)
    if model.n_rows < 1 or model.n_columns < 1:
        refuse("it was fitted to nothing")
    _require_numbers(model.kernel, model.n_columns)
    if model.source.n_rows not in {0, model.n_rows}:
        refuse("its rows are not as many as it says")
    _require("columns", model.source.n_columns, model.n_columns)
    _require("centering", len(model.centering.row_means), model.n_rows)
    if isinstance(found, FeatureExpansion):
        _require("components", found.components.shape[1], k)
        _require_features(found, model.n_columns)
        return
    _require("components", found.coefficients.shape[1], k)  # type: ignore[attr-defined]
    _require("rows", found.coefficients.shape[0], model.n_rows)  # type: ignore[attr-defined]
    _require("centering", len(found.centering.row_means), model.n_rows)  # type: ignore[attr-defined]
    if isinstance(found, RowExpansion):
        _require("rows", found.source.n_rows, model.n_rows)
        _require("columns", found.source.n_columns, model.n_columns)
        _require_placed(found, model.n_columns)
    elif not isinstance(found, MatrixExpansion):
        refuse("its expansion is of no kind that is known")


def _require_features(found: FeatureExpansion, n_columns: int) -> None:
    if found.phi is None:
        _require("columns", len(found.mean), n_columns)
        return
    phi = found.phi
    _require("columns", phi.n_columns, n_columns)
    _require("features", phi.n_features, len(found.mean))
    _require_numbers(phi.kernel, n_columns)
    if isinstance(phi, MonomialMap):
        if not 1 <= phi.degree <= HIGHEST_DEGREE or phi.n_features > LARGEST_PHI:
            refuse("its monomials are more than can be")
        size = n_monomials(phi.n_columns, phi.degree, homogeneous=phi.weights and phi.coef0 == 0)
        _require("features", phi.n_features, size)


def _require_placed(found: RowExpansion, n_columns: int) -> None:
    placed = found.placed
    _require_numbers(placed.kernel, n_columns)
    if placed.origin is not None:
        _require("columns", len(placed.origin), n_columns)
    elif placed.moves:
        refuse("it moves rows and does not say where to")
    if found.source.is_sparse and not placed.kernel.takes_sparse:
        refuse("its kernel does not take sparse rows")


def _require_numbers(kernel: Any, n_columns: int) -> None:
    """Refuse a kernel that still has words for parameters: a fitted one has numbers."""
    facts = DataFacts(n_columns, 1.0, lambda: 1.0, lambda: 1.0)
    if kernel is None or kernel.resolved(facts) != kernel:
        refuse("its kernel has words where numbers belong")


def _require_certificate(certificate: Any, k: int, rank: int) -> None:
    if len(certificate.values) > k or rank > k:
        refuse("its certificate is of another model")


def _require(what: str, found: int, said: int) -> None:
    if found != said:
        refuse(f"its {what} do not agree: {found:,} and {said:,}")
