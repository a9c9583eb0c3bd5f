"""The rules of the arithmetic, and how each of them is broken once on purpose."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """A patch that breaks a rule: ``new`` in place of ``old``, which is there once, and the tests that may notice."""

    number: int
    rule: str
    broken: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


RULES = (
    Rule(
        1,
        "Center before squaring",
        "rows are squared about the origin, and the mean is taken off afterwards",
        "src/gramian/sources/moments.py",
        "shift = shift.astype(dtype).astype(FLOAT64)",
        "shift = np.zeros(d)",
        ("tests/accuracy/test_large_mean.py",),
    ),
    Rule(
        2,
        "A Gram matrix squares the condition number",
        "small values are left as the squared matrix gives them",
        "src/gramian/eigen/direct.py",
        "if self.repair and _has_lost_digits(",
        "if False and _has_lost_digits(",
        ("tests/accuracy/test_hard_spectra.py",),
    ),
    Rule(
        3,
        "Scale by a power of two before squaring",
        "rows near overflow and underflow are squared as they are",
        "src/gramian/models/pca/decomposition.py",
        "exponents = exponent_of(source, mean, each=scale)",
        "exponents = 0",
        ("tests/accuracy/test_scaling.py",),
    ),
    Rule(
        4,
        "Rank is decided once",
        "the rounding in float32 rows is taken for that of float64 ones",
        "src/gramian/models/pca/fit.py",
        "unit = eps_of(shape.dtype)",
        "unit = eps_of(FLOAT64)",
        ("tests/accuracy/test_uneven_columns.py", "tests/accuracy/test_whitening.py"),
    ),
    Rule(
        5,
        "Converged means measured residuals",
        "pairs count as converged whatever their residuals are",
        "src/gramian/eigen/krylov.py",
        "return self.k if met.all() else int(np.argmin(met))",
        "return self.k",
        ("tests/eigen/test_solvers.py", "tests/eigen/test_krylov_limits.py"),
    ),
    Rule(
        6,
        "Coarse products are for early iterations only",
        "the product that refines the pairs is a coarse one too",
        "src/gramian/eigen/krylov.py",
        'return self.tol / 10 if self.phase in {"refine", "full"} else COARSE_ACCURACY',
        "return COARSE_ACCURACY",
        ("tests/eigen/test_single_precision.py",),
    ),
    Rule(
        7,
        "Rounding is in the bound",
        "bounds are made of residuals alone",
        "src/gramian/eigen/certificate.py",
        "bounds = _cluster_norms(steps, residuals) + rounding",
        "bounds = _cluster_norms(steps, residuals)",
        ("tests/certificates/test_proved.py",),
    ),
    Rule(
        8,
        "The same input and seed give the same output",
        "Gaussian columns are drawn without the seed",
        "src/gramian/arrays/namespace.py",
        "np.random.default_rng(seed).standard_normal(shape)",
        "np.random.default_rng().standard_normal(shape)",
        ("tests/accuracy/test_invariance.py",),
    ),
    Rule(
        8,
        "Signs by one rule",
        "vectors keep the sign that the solver gave them",
        "src/gramian/eigen/pairs.py",
        "signs = np.copysign(1.0, lead)",
        "signs = np.ones_like(lead)",
        ("tests/accuracy/test_invariance.py",),
    ),
)
