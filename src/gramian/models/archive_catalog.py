"""All that a model file may hold, by name, with the shapes that must agree; nothing else is ever made from a file."""

from collections.abc import Mapping
from typing import Any

from gramian.eigen.certificate import Certificate
from gramian.eigen.davidson import Davidson
from gramian.eigen.direct import Direct
from gramian.eigen.krylov import Krylov
from gramian.eigen.power import Power
from gramian.features.fourier import FourierMap, RandomFourier
from gramian.features.kernel_error import KernelError
from gramian.features.nystrom import LandmarkMap, Landmarks
from gramian.features.polynomial import MonomialMap, Monomials
from gramian.kernels.chi_squared import ChiSquared
from gramian.kernels.combination import Product, Scaled, Sum
from gramian.kernels.inner_product import Cosine, Linear, Polynomial, Sigmoid
from gramian.kernels.laplacian import Laplacian
from gramian.kernels.precomputed import Precomputed
from gramian.kernels.radial import Gaussian, Matern
from gramian.kernels.stretched import Stretched
from gramian.models.ica import ICAModel, ICAOptions
from gramian.models.kernel_model import KernelPCAModel, KernelPCAOptions
from gramian.models.kernel_projection import FeatureExpansion, KernelCentering, MatrixExpansion, RowExpansion
from gramian.models.pca import PCAModel, PCAOptions
from gramian.models.preimage_choice import PreimageChoice, Trial
from gramian.models.preimage_distances import DistanceConstraints
from gramian.models.preimage_fixed_point import FixedPoint
from gramian.models.preimage_ridge import Ridge
from gramian.operators.kernel_tiles import PlacedKernel
from gramian.planning.kernel_plan import KernelPlan
from gramian.planning.plan import Forming, Plan
from gramian.unmixing.contrast import Cube, Exp, LogCosh
from gramian.unmixing.independence import Independence

MODELS = (PCAModel, KernelPCAModel, ICAModel)
"""What a file may hold as its model."""

CLASSES: Mapping[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        *MODELS,
        *(PCAOptions, KernelPCAOptions, ICAOptions),
        *(Certificate, Plan, Forming, KernelPlan, Direct, Krylov, Power, Davidson),
        *(RowExpansion, FeatureExpansion, MatrixExpansion, KernelCentering, PlacedKernel, KernelError),
        *(LandmarkMap, Landmarks, FourierMap, RandomFourier, MonomialMap, Monomials),
        *(Linear, Polynomial, Sigmoid, Cosine, Gaussian, Matern, Laplacian, ChiSquared, Precomputed),
        *(Sum, Product, Scaled, Stretched),
        *(LogCosh, Exp, Cube, Independence),
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
    "Certificate": dict.fromkeys(
        ("values", "residuals", "bounds", "gaps", "grades", "gap_grades", "failure_probabilities", "ties"), "k"
    ),
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
    "Independence": {
        "negentropy": "k",
        "negentropy_error": "k",
        "kurtosis": "k",
        "dependence": "kk",
    },
}
"""Shapes of arrays (lengths of tuples), one letter a side; the same letter in one value means the same number."""

NOT_FINITE = {"Certificate", "Independence", "KernelError", "Trial"}
"""Values in which NaN and infinity have a meaning: nothing claimed, no bound."""

MAY_OVERFLOW = {("PCAModel", name) for name in ("variances", "total_variance", "noise_variance")}
"""Fields that may be infinite, and not NaN: variances leave the floating-point range before anything else does."""

KINDS: Mapping[tuple[str, str], str] = {("Certificate", "ties"): "b", ("LandmarkMap", "positions"): "i"}
"""Kinds of arrays that are not floating-point numbers."""
