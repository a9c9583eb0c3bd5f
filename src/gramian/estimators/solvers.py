"""scikit-learn's names for solvers: what each allows, how it words a refusal, and which one its "auto" means.

The names decide limits and wording only. How the eigenproblem is solved is the plan's choice; see ``plan_``.
"""

from typing import Any

from gramian.errors import NotSupportedError, ParameterError
from gramian.estimators.parameters import is_whole

ITERATIVE = ("arpack", "randomized")
DENSE_ONLY = ("full", "randomized")


def name_solver(svd_solver: str, *, n_components: Any, shape: tuple[int, int], sparse: bool) -> str:
    """Return the name under which scikit-learn would do this fit: its rule for "auto", or the name itself.

    Examples
    --------
    >>> name_solver("auto", n_components=10, shape=(1000, 500), sparse=False)
    'randomized'
    >>> name_solver("auto", n_components=None, shape=(150, 4), sparse=False)
    'covariance_eigh'
    """
    if svd_solver != "auto":
        return svd_solver
    n, d = shape
    if sparse:
        return "arpack"
    if d <= 1000 and n >= 10 * d:
        return "covariance_eigh"
    if max(n, d) <= 500 or isinstance(n_components, str):
        return "full"
    return "randomized" if n_components is not None and 1 <= n_components < 0.8 * min(n, d) else "full"


def check_sparse(svd_solver: str, *, sparse: bool) -> None:
    """Refuse sparse rows for the names that scikit-learn refuses them for."""
    if sparse and svd_solver in DENSE_ONLY:
        message = (
            f'PCA only support sparse inputs with the "arpack" and "covariance_eigh" solvers, while "{svd_solver}" '
            "was passed. Pass svd_solver='auto', which takes sparse rows with every n_components."
        )
        raise NotSupportedError(message)


def check_components(n_components: Any, *, svd_solver: str, shape: tuple[int, int]) -> None:
    """Refuse a number of components that the rows, or the solver of that name, cannot give."""
    if n_components is None:
        return
    n, d = shape
    if n_components == "mle":
        _check_mle(svd_solver, n, d)
    elif is_whole(n_components):
        _check_count(int(n_components), svd_solver, n, d)


def _check_mle(svd_solver: str, n: int, d: int) -> None:
    if svd_solver in ITERATIVE:
        message = (
            f"n_components='mle' cannot be a string with svd_solver='{svd_solver}'. "
            "Pass an integer or a share, or svd_solver='auto'."
        )
        raise ParameterError(message)
    if n < d and svd_solver in {"full", "covariance_eigh"}:
        message = (
            f"n_components='mle' is only supported if n_samples >= n_features, and there are {n} rows of {d} "
            "columns. Pass n_components='auto', a share, or an integer."
        )
        raise ParameterError(message)


def _check_count(n_components: int, svd_solver: str, n: int, d: int) -> None:
    most = min(n, d)
    least = 1 if svd_solver in ITERATIVE else 0
    if not least <= n_components <= most:
        message = (
            f"n_components={n_components} must be between {least} and min(n_samples, n_features)={most} with "
            f"svd_solver='{svd_solver}'. Pass an integer up to {most}, or None for all."
        )
        raise ParameterError(message)
    if svd_solver == "arpack" and n_components == most:
        message = (
            f"n_components={n_components} must be strictly less than min(n_samples, n_features)={most} with "
            f"svd_solver='arpack', and n_samples={n}, n_features={d}. Pass a smaller integer, or svd_solver='auto'."
        )
        raise ParameterError(message)
