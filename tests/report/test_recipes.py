"""The code on a page runs as it stands, and gives the numbers of the page."""

import html
import re
import shlex

import numpy as np
import pytest

from gramian import ICA, PCA, FastICA, KernelPCA, load
from gramian.cli.main import main

matplotlib = pytest.importorskip("matplotlib", reason="the pictures need matplotlib: pip install 'gramian[plot]'")


def blocks(page):
    """Every block of code of a page, as a reader copies it."""
    found = re.findall(r"<code>(.*?)</code>", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [html.unescape(text) for text in found]


def execute(code, **given):
    """Run code in a namespace of its own, and return it."""
    matplotlib.use("Agg")
    names = dict(given)
    exec(compile(code, "a block of the page", "exec"), names)  # noqa: S102 - that is the test
    pytest.importorskip("matplotlib.pyplot").close("all")
    return names


def write(path, header, columns):
    """Write a table as a person would: text, holes and all."""
    lines = [",".join(header), *(",".join(map(str, line)) for line in zip(*columns, strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def messy(folder):
    """Names, groups, holes, a constant, a column with a star in its name, and different units."""
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 40))
    hole = [f"{x:.6f}" if i % 9 else "" for i, x in enumerate(50 * a + rng.standard_normal(40))]
    write(
        folder / "messy.csv",
        ["name", "side", "a*b", "a b", "weight", "same", "still*"],
        [[f"n{i}" for i in range(40)], np.where(a > 0, "left", "right"), a, b, hole, [1.0] * 40, [2.0] * 40],
    )


def wide(folder):
    """More columns than a line of code can name."""
    rows = np.random.default_rng(1).standard_normal((60, 2)) @ np.random.default_rng(2).standard_normal((2, 50))
    write(folder / "wide.csv", [f"column number {j}" for j in range(50)], rows.T)


def images(folder):
    """Rows of 3 x 4 pixels, one of which never changes."""
    rows = np.random.default_rng(3).standard_normal((30, 12))
    rows[:, 0] = 0.0
    write(folder / "images.csv", [f"pixel {j}" for j in range(12)], rows.T)


def sounds(folder):
    """Three sources in three columns."""
    rng = np.random.default_rng(4)
    write(folder / "sounds.csv", ["x", "y", "z"], (rng.laplace(size=(500, 3)) @ rng.standard_normal((3, 3))).T)


def nameless(folder):
    """Arrays, a few columns and many, one with missing values; and a text table without a header."""
    rng = np.random.default_rng(5)
    X = rng.laplace(size=(200, 5)) @ rng.standard_normal((5, 5))
    np.save(folder / "array.npy", X)
    np.save(folder / "wide.npy", rng.standard_normal((30, 60)))
    X[rng.random(X.shape) < 0.02] = np.nan
    np.save(folder / "missing.npy", X)
    lines = [",".join([f"n{i}", *(f"{value:.6f}" for value in row)]) for i, row in enumerate(np.nan_to_num(X))]
    (folder / "headless.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def slipped(folder):
    """A word in a column of numbers, which is left out for it."""
    rows = np.random.default_rng(6).standard_normal((40, 4)).astype(object)
    rows[7, 2] = "oops"
    write(folder / "slipped.csv", ["a", "b", "c", "d"], rows.T)


CASES = [
    (messy, "pca messy.csv"),
    (messy, "pca messy.csv --missing drop -k 2"),
    (messy, "pca messy.csv --drop weight --no-scale --color side --id name"),
    (wide, "pca wide.csv"),
    (images, "pca images.csv --no-scale -k 3 --image 3x4"),
    (messy, "kpca messy.csv -k 3"),
    (wide, "kpca wide.csv -k 2 --no-scale --kernel poly --degree 2"),
    (wide, "kpca wide.csv -k 2 --landmarks 20 --seed 3"),
    (images, "kpca images.csv -k 4 --no-scale --image 3x4"),
    (sounds, "ica sounds.csv --rate 100"),
    (nameless, "pca array.npy -k 2"),
    (nameless, "pca wide.npy -k 2"),
    (nameless, "pca missing.npy -k 2"),
    (nameless, "kpca array.npy -k 2"),
    (nameless, "ica array.npy"),
    (nameless, "pca headless.csv -k 2"),
    (slipped, "pca slipped.csv -k 2"),
]


def scores_of(folder):
    """The scores as the command line wrote them."""
    (path,) = folder.glob("*/scores.csv")
    return path.read_bytes()


@pytest.mark.parametrize("table, words", CASES, ids=[words for _, words in CASES])
@pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning", "ignore:X does not have valid feature")
def test_every_block_of_a_page_runs_and_gives_its_numbers(table, words, tmp_path, monkeypatch, capfd):
    """Each block opens the file, fits, and draws; the model is the one that was written; the command repeats it."""
    monkeypatch.chdir(tmp_path)
    table(tmp_path)
    assert main([*shlex.split(words), "--quiet"]) == 0
    (page,) = tmp_path.glob("*/report.html")
    kept, before = load(page.with_name("model.gramian")), scores_of(tmp_path)
    shell = [block for block in blocks(page) if block.startswith("gramian ")]
    code = [block for block in blocks(page) if block and block not in shell]
    assert len(code) >= 4
    for block in code:
        made = execute(block)
        expected = kept.transform(made["X"])
        scores = made["model"].transform(made["X"])[:, : expected.shape[1]]
        np.testing.assert_allclose(scores, expected, atol=1e-8 * np.abs(expected).max())
    assert [main(shlex.split(line)[1:]) for line in shell] == [0]
    assert scores_of(tmp_path) == before
    capfd.readouterr()


@pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")
def test_blocks_of_a_page_made_in_python_run_on_the_readers_rows(tmp_path):
    """With X, names and labels at hand, each block runs and fits the same model."""
    rng = np.random.default_rng(0)
    X, names = rng.standard_normal((50, 4)) * [1.0, 2.0, 3.0, 9.0], ["a", "b", "c", "d"]
    labels = {"side": np.where(X[:, 0] > 0, "left", "right")}
    for fitted in (
        PCA(2, scale=True).fit(X),
        PCA(1).fit(X),
        PCA(2, center=False).fit(X),
        KernelPCA(3, kernel="rbf", gamma=0.1).fit(X),
        ICA(2, random_state=0).fit(X),
    ):
        more = {"names": names, "labels": labels}
        page = getattr(fitted, "write_report", None) or fitted.report
        for block in filter(None, blocks(page(tmp_path / "page.html", X, **more))):
            made = execute(block, X=X, **more)
            expected = fitted.transform(X)
            np.testing.assert_allclose(made["model"].transform(X)[:, : expected.shape[1]], expected, atol=1e-8)


@pytest.mark.filterwarnings("ignore::gramian.errors.IdentifiabilityWarning")
def test_blocks_of_a_page_of_a_plain_array_need_nothing_but_the_rows(tmp_path):
    """Without names and labels, each block runs with X alone."""
    for d in (5, 60):
        X = np.random.default_rng(0).laplace(size=(100, d))
        for fitted in (PCA(2).fit(X), KernelPCA(2, kernel="rbf", gamma=0.3 / d).fit(X), ICA(2, random_state=0).fit(X)):
            for block in filter(None, blocks(fitted.report(tmp_path / "page.html", X))):
                np.testing.assert_allclose(
                    execute(block, X=X)["model"].transform(X)[:, :2], fitted.transform(X), atol=1e-8
                )


@pytest.mark.parametrize(
    "fitted",
    [
        ICA(2),
        ICA(fun="exp", tol=1e-4, max_iter=300, independence="all", runs=3, random_state=5),
        ICA(fun_args={"alpha": 1.5}, algorithm="infomax", independence=False),
        ICA(whiten="arbitrary-variance", memory_budget=10**9),
        ICA(whiten=False),
        FastICA(),
        FastICA(fun="cube", whiten="arbitrary-variance", max_iter=500, random_state=1),
        FastICA(algorithm="deflation", tol=1e-5),
    ],
    ids=str,
)
def test_fits_of_sources_are_written_with_all_that_differs_from_the_defaults(fitted, tmp_path):
    """Class, contrast and its arguments, variance, tolerance, iterations, measuring: the line has what the fit had."""
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(800, 3)) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    again = execute(blocks(fitted.fit(X).report(tmp_path / "page.html", X))[-1], X=X)["model"]
    asked = {name: value for name, value in fitted.get_params().items() if name not in ("n_components", "random_state")}
    assert type(again) is type(fitted)
    assert {name: again.get_params()[name] for name in asked} == asked
    np.testing.assert_array_equal(again.transform(X), fitted.transform(X))


def test_contrast_and_start_of_ones_own_are_left_to_the_reader_with_a_comment(tmp_path):
    """They stand as names, so that nothing else is fitted in silence; with them at hand the code gives the model."""
    rng = np.random.default_rng(0)
    X = rng.laplace(size=(800, 2)) @ rng.standard_normal((2, 2))
    own = {"fun": lambda x, a: (a * x**3, (3 * a * x**2).mean(axis=-1)), "w_init": np.eye(2)}
    fitted = ICA(**own, fun_args={"a": 0.5}).fit(X)
    code = blocks(fitted.report(tmp_path / "page.html", X))[-1]
    assert "# fun: the function or Contrast of this fit; w_init: the start of this fit" in code
    np.testing.assert_array_equal(execute(code, X=X, **own)["model"].transform(X), fitted.transform(X))
