"""Run scikit-learn's own tests with Gramian's classes in place of its own, and its checks on every estimator.

The tests are the ones inside the installed scikit-learn wheel, found at run time. ``make compat`` runs this file;
words after it go to pytest (``-k whiten``).
"""

import os
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest

HERE = Path(__file__).parent
MOST_EXCEPTIONS = 5


class Suite(NamedTuple):
    """A test module of scikit-learn and the classes it is run with."""

    module: str
    replaced: tuple[str, ...]


SUITES = (
    Suite("sklearn.decomposition.tests.test_pca", ("PCA",)),
    Suite("sklearn.decomposition.tests.test_incremental_pca", ("PCA", "IncrementalPCA")),
    Suite("sklearn.decomposition.tests.test_truncated_svd", ("PCA", "TruncatedSVD")),
    Suite("sklearn.decomposition.tests.test_kernel_pca", ("PCA", "KernelPCA")),
    Suite("sklearn.decomposition.tests.test_fastica", ("PCA", "FastICA", "fastica")),
)

# Off by default in scikit-learn: torch tensors in place of arrays, and float32.
SWITCHES = {"SCIPY_ARRAY_API": "1", "SKLEARN_RUN_FLOAT32_TESTS": "1"}


@dataclass(frozen=True)
class ListedException:
    """A test that is known to fail, and why."""

    test: str
    reason: str

    def covers(self, item: pytest.Item) -> bool:
        """Tell whether a test is the one named here, whatever its parameters."""
        return self.test == f"{item.path.name}::{item.name.partition('[')[0]}"


def read_exceptions(path: Path = HERE / "exceptions.toml") -> list[ListedException]:
    """Read the list of exceptions, at most five, each with a reason."""
    entries = [ListedException(**entry) for entry in tomllib.loads(path.read_text()).get("exception", [])]
    if len(entries) > MOST_EXCEPTIONS:
        message = f"{path.name} lists {len(entries)} exceptions, and {MOST_EXCEPTIONS} is the most there may be."
        raise SystemExit(message)
    if unexplained := [entry.test for entry in entries if not entry.reason.strip()]:
        message = f"{path.name} gives no reason for {', '.join(unexplained)}."
        raise SystemExit(message)
    return entries


def put_in_place(suites: Sequence[Suite]) -> None:
    """Replace scikit-learn's classes by Gramian's before any test module is imported."""
    import sklearn.decomposition

    import gramian

    for name in {name for suite in suites for name in suite.replaced}:
        setattr(sklearn.decomposition, name, getattr(gramian, name))


class StrictExceptions:
    """A pytest plugin: listed tests must fail, every other one must pass, and the classes must be ours."""

    def __init__(self, suites: Sequence[Suite], exceptions: Sequence[ListedException]) -> None:
        self.suites = suites
        self.exceptions = exceptions

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Mark the listed tests as strict expected failures; refuse a list that names no test."""
        self._require_our_classes()
        for entry in self.exceptions:
            covered = [item for item in items if entry.covers(item)]
            if not covered and not config.option.keyword:
                message = f"exceptions.toml names {entry.test}, and scikit-learn has no such test."
                raise pytest.UsageError(message)
            for item in covered:
                item.add_marker(pytest.mark.xfail(reason=entry.reason.strip(), strict=True))

    def _require_our_classes(self) -> None:
        for suite in self.suites:
            for name in suite.replaced:
                home = getattr(import_module(suite.module), name).__module__
                if not home.startswith("gramian."):
                    message = f"{suite.module} would test {name} of {home}, not Gramian's."
                    raise pytest.UsageError(message)


def main(words: Sequence[str]) -> int:
    """Run all suites and the estimator checks; return pytest's exit status."""
    os.environ.update(SWITCHES)
    exceptions = read_exceptions()
    put_in_place(SUITES)
    # scikit-learn's tests keep their own settings: ours (errors for warnings, random order) are for our tests.
    settings = ["-c", os.devnull, "-p", "no:randomly", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestWarning"]
    targets = [suite.module for suite in SUITES] + [str(HERE / "estimator_checks.py")]
    plugin = StrictExceptions(SUITES, exceptions)
    return int(pytest.main([*settings, "-q", "-rxX", "--pyargs", *targets, *words], plugins=[plugin]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
