"""What a lecturer varies has a flag: divisor, centering, solver, steps, width, kernel."""

import json

import numpy as np
import pytest

from gramian import PCA, KernelPCA
from gramian.cli import exits
from gramian.cli.pca import SOLVER_NAMES
from gramian.planning.plan import SOLVERS
from tests.cli.command import run_here


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A small table, in table.csv of the current folder."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((80, 4)) * [2.0, 1.5, 1.2, 1.0] + 3.0
    np.savetxt("table.csv", X, delimiter=",", header="a,b,c,d", comments="", fmt="%.17g")
    return X


def answer(capfd, *words):
    """Run a verb and return its JSON."""
    code, out, err = run_here(capfd, *words, "--json", "--quiet", "--no-report")
    assert code == 0, err
    return json.loads(out)


def test_f1_a_particle_has_the_lectures_variance(tmp_path, monkeypatch, capfd):
    """u^2 (T^2 - 1) / 12 with --ddof 0, from the command line."""
    monkeypatch.chdir(tmp_path)
    seen = 0.5 * np.outer(np.arange(200.0), np.array([2.0, -1.0, 2.0]) / 3)
    np.savetxt("line.csv", seen, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    found = answer(capfd, "pca", "line.csv", "--no-scale", "--ddof", "0", "-k", "1")
    assert found["variances"][0] == pytest.approx(0.25 * (200**2 - 1) / 12, rel=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_gives_the_estimators_numbers(rows, capfd, solver):
    """--solver, --no-center and --ddof are svd_solver, center and ddof."""
    found = answer(capfd, "pca", "table.csv", "--no-scale", "-k", "2", "--solver", solver, "--no-center", "--ddof", "0")
    own = PCA(2, svd_solver=solver, center=False, ddof=0).fit(rows)
    np.testing.assert_allclose(found["variances"], own.explained_variance_, rtol=1e-9)


def test_the_solvers_of_the_command_line_are_those_of_plans():
    """A new solver is named in both places."""
    assert set(SOLVER_NAMES) == set(SOLVERS)


def test_the_trace_shows_each_component_and_the_claim(rows, capfd):
    """--trace prints the steps of as many components as were asked for, and how many the claim allows."""
    words = ["pca", "table.csv", "--no-scale", "-k", "2", "--solver", "power", "--trace", "--quiet", "--no-report"]
    code, out, err = run_here(capfd, *words)
    assert code == 0, err
    own = PCA(2, svd_solver="power", random_state=0).fit(rows).power_trace_
    for i, steps in enumerate(own.n_steps):
        assert f"PC{i + 1}: {steps} steps of the power method" in out
    assert "log(m / e) / e = 599 steps are claimed" in out


@pytest.mark.usefixtures("rows")
def test_steps_are_limited(capfd):
    """--steps ends the power method early, with the exit code of what has not converged."""
    code, _, _ = run_here(capfd, "pca", "table.csv", "-k", "1", "--solver", "power", "--steps", "2", "--no-report")
    assert code == exits.NOT_CONVERGED


def test_kernels_by_width_and_by_text(rows, capfd):
    """--sigma, --no-center and a kernel as text give the numbers of the estimator."""
    found = answer(capfd, "kpca", "table.csv", "--no-scale", "--sigma", "2", "--no-center", "-k", "3")
    own = KernelPCA(3, kernel="rbf", gamma=1 / 8, center=False).fit(rows)
    np.testing.assert_allclose(found["kernel_eigenvalues"], own.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(found["variances"], own.eigenvalues_ / len(rows), rtol=1e-6)
    found = answer(capfd, "kpca", "table.csv", "--no-scale", "--kernel", "rbf(0.1) + poly(2, gamma=1)", "-k", "3")
    own = KernelPCA(3, kernel="rbf(0.1) + poly(2, gamma=1)").fit(rows)
    np.testing.assert_allclose(found["kernel_eigenvalues"], own.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("ending", ["npy", "csv"])
def test_a_kernel_matrix_is_a_table_too(rows, capfd, ending):
    """--kernel precomputed gives the eigenvalues and scores of the estimator, and takes kernel values of new rows."""
    K = (1 + rows @ rows.T) ** 2
    np.save("K.npy", K)
    np.savetxt("K.csv", K, delimiter=",", fmt="%.17g")
    found = answer(capfd, "kpca", f"K.{ending}", "--kernel", "precomputed", "-k", "3")
    own = KernelPCA(3, kernel="precomputed").fit(K)
    np.testing.assert_allclose(found["kernel_eigenvalues"], own.eigenvalues_, rtol=1e-9)
    np.save("new.npy", K[:5])
    code, _, err = run_here(capfd, "project", "K-kpca/model.gramian", "new.npy", "-o", "scores.npy", "--quiet")
    assert code == 0, err
    np.testing.assert_allclose(np.load("scores.npy"), own.transform(K[:5]), atol=1e-9 * np.abs(K).max())


@pytest.mark.usefixtures("rows")
def test_a_table_is_no_kernel_matrix(capfd):
    """A table that is not square is refused as data, with its shape."""
    code, _, err = run_here(capfd, "kpca", "table.csv", "--kernel", "precomputed", "--no-report")
    assert code == exits.DATA
    assert "80 x 4" in err


@pytest.mark.parametrize("method", ["ridge", "fixed_point", "distances", "auto"])
def test_pre_images_say_what_is_left(rows, capfd, method):
    """--pre-image and --errors are pre_image and the errors of pre_images."""
    answer(capfd, "kpca", "table.csv", "--no-scale", "--gamma", "0.1", "-k", "6")
    words = ["table-kpca/model.gramian", "table.csv", "--pre-image", method, "--errors", "-o", "near.npy"]
    code, _, err = run_here(capfd, "rebuild", *words)
    assert code == 0, err
    own = KernelPCA(6, kernel="rbf", gamma=0.1, pre_image=method, random_state=0).fit(rows)
    truth = own.pre_images(own.transform(rows))
    np.testing.assert_allclose(np.load("near.npy"), np.column_stack([truth.rows, truth.errors]), atol=1e-5)
    assert f"{np.median(truth.errors):.3g} for the median row" in err


@pytest.mark.parametrize("method", ["ridge", "fixed_point", "distances", "auto"])
def test_pre_images_of_scaled_columns_are_those_of_the_scaled_table(rows, capfd, method):
    """Each way back serves a kernel with scales inside it, and gives rows in the units that they came in."""
    answer(capfd, "kpca", "table.csv", "--scale", "--gamma", "0.1", "-k", "6")
    words = ["table-kpca/model.gramian", "table.csv", "--pre-image", method, "-o", "near.npy", "--quiet"]
    code, _, err = run_here(capfd, "rebuild", *words)
    assert code == 0, err
    spread = rows.std(axis=0, ddof=1)
    own = KernelPCA(6, kernel="rbf", gamma=0.1, pre_image=method, random_state=0).fit(rows / spread)
    truth = own.pre_images(own.transform(rows / spread)).rows * spread
    np.testing.assert_allclose(np.load("near.npy"), truth, atol=1e-4)


@pytest.mark.usefixtures("rows")
def test_what_is_not_centered_is_not_said_to_be(capfd):
    """--no-center with --scale divides by the root of the mean square, and the answer says so."""
    code, out, _ = run_here(capfd, "pca", "table.csv", "--no-center", "--scale", "-k", "2", "--no-report", "--quiet")
    assert code == 0
    assert "each scaled to unit mean square, not centered" in out
    assert "Principal components of the cosines of the columns" in out


@pytest.mark.usefixtures("rows")
def test_a_divisor_is_left(capfd):
    """--ddof of as many as there are rows is refused: every variance would be divided by nothing."""
    code, _, err = run_here(capfd, "pca", "table.csv", "--ddof", "80", "--no-report", "--quiet")
    assert code == exits.DATA
    assert "a ddof below 80" in err


@pytest.mark.usefixtures("rows")
def test_pre_images_are_of_kernels(capfd):
    """A linear model has its rows themselves: the flags are refused."""
    answer(capfd, "pca", "table.csv", "-k", "2")
    for flag in (["--pre-image", "ridge"], ["--errors"]):
        code, _, err = run_here(capfd, "rebuild", "table-pca/model.gramian", "table.csv", *flag)
        assert code == exits.USAGE
        assert f"{flag[0]} is for kernel models" in err


def test_the_answer_shows_eigenvalues_beside_shares(rows, capfd):
    """Of PCA those of the covariance, of a kernel those of K / n, so named."""
    values = PCA(2, ddof=0).fit(rows).explained_variance_
    words = ["pca", "table.csv", "--no-scale", "--ddof", "0", "-k", "2", "--no-report", "--quiet"]
    out = run_here(capfd, *words)[1]
    assert "eigenvalue   share" in out
    assert all(f"{value:.5g}" in out for value in values)
    values = KernelPCA(2, kernel="rbf", gamma=0.1).fit(rows).eigenvalues_ / len(rows)
    words = ["kpca", "table.csv", "--no-scale", "--gamma", "0.1", "-k", "2", "--no-report", "--quiet"]
    out = run_here(capfd, *words)[1]
    assert "of K / n   share" in out
    assert all(f"{value:.5g}" in out for value in values)


@pytest.mark.parametrize(
    "words, said",
    [
        (["pca", "--trace", "-k", "1"], "Add --solver power"),
        (["pca", "--steps", "3"], "Add --solver power"),
        (["pca", "--solver", "power", "--trace"], "Say how many with -k"),
        (["pca", "--solver", "lanczos"], "lanczos"),
        (["kpca", "--kernel", "rbf(0.1"], "is no kernel"),
        (["kpca", "--kernel", "precomputed", "--scale"], "no columns to scale"),
        (["kpca", "--sigma", "0"], "--sigma"),
        (["kpca", "--sigma", "2", "--kernel", "polynomial"], "--sigma says nothing to --kernel polynomial"),
        (["kpca", "--degree", "2"], "which has --gamma and --sigma"),
        (["kpca", "--kernel", "cosine", "--gamma", "1"], "which has no parameter"),
    ],
)
@pytest.mark.usefixtures("rows")
def test_wrong_words_are_usage(capfd, words, said):
    """They are refused before any work, in a sentence."""
    code, _, err = run_here(capfd, words[0], "table.csv", *words[1:])
    assert code == exits.USAGE
    assert said in err
    assert "Traceback" not in err
