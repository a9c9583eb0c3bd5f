import pytest

from tests.compat.run import SUITES, read_exceptions


def test_every_exception_names_a_test_of_a_suite():
    """Each entry has a reason and names a test of one of scikit-learn's modules that are run."""
    files = {suite.module.rpartition(".")[2] + ".py" for suite in SUITES} | {"estimator_checks.py"}
    assert all(entry.reason.strip() and entry.test.partition("::")[0] in files for entry in read_exceptions())


def test_more_than_five_exceptions_are_refused(tmp_path):
    """The list cannot grow beyond five."""
    path = tmp_path / "exceptions.toml"
    path.write_text('[[exception]]\ntest = "a.py::b"\nreason = "c"\n' * 6)
    with pytest.raises(SystemExit, match="lists 6 exceptions, and 5 is the most"):
        read_exceptions(path)


def test_an_exception_without_a_reason_is_refused(tmp_path):
    """Every entry says why."""
    path = tmp_path / "exceptions.toml"
    path.write_text('[[exception]]\ntest = "a.py::b"\nreason = " "\n')
    with pytest.raises(SystemExit, match=r"gives no reason for a\.py::b"):
        read_exceptions(path)
