"""All that a model file may hold, by name: classes, the shapes of their arrays, and what their parts must agree on.

Nothing else is ever made from a file. Names of classes and fields here are the file format: a new one is added, an old
one keeps its name or gets a line in ``RENAMED``.
"""

from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from gramian.eigen.certificate import Certificate
from gramian.eigen.davidson import Davidson
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.pairs import PowerTrace
from gramian.eigen.power import Power
from gramian.errors import ModelFileError
from gramian.features.feature_map import FeatureMap
from gramian.features.fourier import FourierMap, RandomFourier
from gramian.features.kernel_error import KernelError
from gramian.features.nystrom import LandmarkMap, Landmarks
from gramian.features.polynomial import LARGEST_PHI, MonomialMap, Monomials, n_monomials
from gramian.kernels.centering import KernelCentering
from gramian.kernels.combination import Product, Scaled, Stretched, Sum
from gramian.kernels.named import FAMILIES
from gramian.kernels.widths import DataFacts
from gramian.models.categories.model import CategoryOptions, CodedModel, FAMDModel, MCAModel, Supplementary
from gramian.models.ica.model import ICAModel, ICAOptions
from gramian.models.kernel_pca.expansion import FeatureExpansion, MatrixExpansion, RowExpansion
from gramian.models.kernel_pca.model import KernelPCAModel, KernelPCAOptions
from gramian.models.kernel_pca.preimage import DistanceConstraints, FixedPoint, PreimageChoice, Ridge, Trial
from gramian.models.pca.model import PCAModel, PCAOptions
from gramian.models.probabilistic.model import ProbabilisticPCAModel
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.operators.symmetric import Forming
from gramian.planning.kernel_plan import KernelPlan
from gramian.planning.plan import Plan
from gramian.sources.indicator import Coding
from gramian.unmixing.contrast import CONTRASTS
from gramian.unmixing.independence import Independence

MODELS = (PCAModel, KernelPCAModel, ICAModel, MCAModel, FAMDModel)
"""Models of components, which pictures, pages and the command line know."""

ANY_MODEL = (*MODELS, ProbabilisticPCAModel, LandmarkMap, FourierMap, MonomialMap)
"""What a file may hold as its model; ``gramian.load`` opens them all."""

CLASSES: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *ANY_MODEL,
        *(PCAOptions, KernelPCAOptions, ICAOptions),
        *(Certificate, Plan, Forming, KernelPlan, Direct, Krylov, Power, PowerTrace, Davidson),
        *(CategoryOptions, Coding, Supplementary),
        *(RowExpansion, FeatureExpansion, MatrixExpansion, KernelCentering, PlacedKernel, KernelError),
        *(Landmarks, RandomFourier, Monomials),
        *(family for family, _ in FAMILIES.values()),
        *(Sum, Product, Scaled, Stretched),
        *(*CONTRASTS.values(), Independence),
        *(Ridge, FixedPoint, DistanceConstraints, PreimageChoice, Trial),
    )
}
"""Frozen values that a file may name. None of their constructors does more than check and store numbers."""

LEFT_OUT = {"progress", "warning"}
"""Fields that are functions or classes; a loaded value has their defaults."""

RENAMED = {("ICAOptions", "report"): "independence"}
"""Fields that files written before call by a former name."""

SHAPES: Mapping[str, Mapping[str, str]] = {
    "PCAModel": {
        "components": "kd",
        "variances": "k",
        "shares": "k",
        "singular_values": "k",
        "mean": "d",
        "factor": "d",
    },
    "Coding": {
        "quantities": "q",
        "categories": "Q",
        "levels": "Q",
        "proportions": "J",
        "mean": "q",
        "deviation": "q",
    },
    "MCAModel": {"distances": "J"},
    "FAMDModel": {"distances": "J"},
    "Supplementary": {
        "quantities": "m",
        "correlations": "mk",
        "categories": "c",
        "levels": "c",
        "coordinates": "Lk",
        "v_tests": "Lk",
        "eta2": "ck",
    },
    "Certificate": dict.fromkeys(
        ("values", "residuals", "bounds", "gaps", "grades", "gap_grades", "failure_probabilities", "ties"), "k"
    ),
    "PowerTrace": dict.fromkeys(("component", "value", "residual", "angle"), "s"),
    "KernelPCAModel": {"eigenvalues": "k", "vectors": "nk", "shares": "k", "weights": "n"},
    "KernelCentering": {"row_means": "n", "shares": "n"},
    "RowExpansion": {"coefficients": "nk"},
    "MatrixExpansion": {"coefficients": "nk"},
    "FeatureExpansion": {"mean": "D", "components": "Dk", "origin": "d"},
    "PlacedKernel": {"origin": "d"},
    "LandmarkMap": {"landmarks": "md", "root": "mD", "origin": "d", "positions": "m"},
    "FourierMap": {"frequencies": "qd", "origin": "d"},
    "ICAModel": {
        "components": "kd",
        "mixing": "dk",
        "mean": "d",
        "whitening": "kd",
        "unmixing": "kk",
        "variances": "k",
        "stability": "k",
    },
    "ICAOptions": {"start": "kk"},
    "ProbabilisticPCAModel": {
        "mean": "d",
        "factor": "d",
        "weights": "dk",
        "column_covariances": "dc",
        "components": "kd",
        "variances": "k",
        "shares": "k",
        "share_errors": "k",
        "cumulative_share_errors": "k",
        "weight_variances": "k",
        "row_means": "nr",
        "row_covariances": "ps",
        "row_patterns": "n",
    },
    "Independence": {
        "negentropy": "k",
        "negentropy_error": "k",
        "kurtosis": "k",
        "dependence": "kk",
    },
}
"""Shapes of arrays (lengths of tuples), one letter per side; the same letter in one value means the same number."""

NOT_FINITE = {"Certificate", "Independence", "KernelError", "Trial"}
"""Values in which NaN and infinity have a meaning: nothing claimed, no bound."""

MAY_OVERFLOW = {("PCAModel", name) for name in ("variances", "total_variance", "noise_variance")}
"""Fields that may be infinite, and not NaN: variances leave the floating-point range before anything else does."""

KINDS: Mapping[tuple[str, str], str] = {
    ("Certificate", "ties"): "b",
    ("LandmarkMap", "positions"): "i",
    ("PowerTrace", "component"): "i",
    ("ProbabilisticPCAModel", "row_patterns"): "i",
}
"""Kinds of arrays that are not floating-point numbers."""


def refuse(words: str) -> NoReturn:
    """Refuse a file; ``open_archive`` adds which one."""
    raise ModelFileError(words)


def require_agreement(model: Any) -> None:
    """Refuse a model whose parts contradict each other; shapes within a part are known to agree."""
    _AGREEMENTS.get(type(model), _require_map)(model)


def _require_pca(model: PCAModel) -> None:
    _require("columns", model.components.shape[1], model.n_columns)
    _require_certificate(model.certificate, len(model.components), model.rank)


def _require_coded(model: CodedModel) -> None:
    coding = model.coding
    _require_pca(model.pca)
    _require("levels", sum(map(len, coding.levels)), len(coding.proportions))
    _require("distances", len(model.distances), len(coding.proportions))
    _require("columns", coding.n_columns, model.pca.n_columns)
    if not (coding.proportions > 0).all() or not (coding.deviation > 0).all() or coding.share <= 0:
        refuse("its levels have no shares")
    if (more := model.supplementary) is not None:
        _require("supplementary levels", sum(map(len, more.levels)), len(more.coordinates))
        _require("components", more.coordinates.shape[1], model.n_components)


def _require_ica(model: ICAModel) -> None:
    _require("columns", model.components.shape[1], model.n_columns)
    _require("means", int(model.mean is None), int(model.whitening is None))


def _require_probabilistic(model: ProbabilisticPCAModel) -> None:
    if model.n_rows < 1 or model.noise_variance <= 0 or model.prior_variance < 0 or model.row_bias_variance < 0:
        refuse("it was fitted to nothing")
    k, r = model.n_components, model.n_components + (model.row_bias_variance > 0)
    _require("covariances of columns", model.column_covariances.shape[1], (k + 1) * (k + 2) // 2)
    if model.row_means is None or model.row_covariances is None or model.row_patterns is None:
        return
    _require("rows", len(model.row_means), model.n_rows)
    _require("numbers of rows", model.row_means.shape[1], r)
    _require("covariances of rows", model.row_covariances.shape[1], r * (r + 1) // 2)
    if not ((model.row_patterns >= 0) & (model.row_patterns < len(model.row_covariances))).all():
        refuse("its rows have covariances that are not there")


def _require_kernel(model: KernelPCAModel) -> None:
    found, k = model.expansion, len(model.eigenvalues)
    _require("rows", model.vectors.shape[0], model.n_rows)
    _require_certificate(model.certificate, k, model.rank)
    if model.n_rows < 1 or model.n_columns < 1:
        refuse("it was fitted to nothing")
    _require_numbers(model.kernel, model.n_columns)
    if model.source.n_rows not in {0, model.n_rows}:
        refuse("its rows are not as many as it says")
    _require("columns", model.source.n_columns, model.n_columns)
    _require("centering", len(model.centering.row_means), model.n_rows)
    if isinstance(found, FeatureExpansion):
        _require("components", found.components.shape[1], k)
        if found.phi is None:
            _require("columns", len(found.mean), model.n_columns)
        else:
            _require("columns", found.phi.n_columns, model.n_columns)
            _require("features", found.phi.n_features, len(found.mean))
            _require_map(found.phi)
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


def _require_map(phi: FeatureMap) -> None:
    if phi.kernel is not None:
        _require_numbers(phi.kernel, phi.n_columns)
    if isinstance(phi, MonomialMap):
        # Counting monomials of a higher degree takes time, and none can be evaluated.
        if not 1 <= phi.degree <= 100 or phi.n_features > LARGEST_PHI:
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


_AGREEMENTS: dict[type[Any], Callable[[Any], None]] = {
    PCAModel: _require_pca,
    KernelPCAModel: _require_kernel,
    ICAModel: _require_ica,
    MCAModel: _require_coded,
    FAMDModel: _require_coded,
    ProbabilisticPCAModel: _require_probabilistic,
}
"""What is checked of each kind of model; the others are feature maps."""
