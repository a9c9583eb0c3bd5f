"""The lectures, row by row: what each says, the Python call and the command that give it, and both numbers.

Each row is executed: by ``test_rows.py``, which compares the numbers, and by ``docs/conf.py``, which writes them down.
"""

import ast
import csv
import json
import re
import shlex
import tempfile
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from textwrap import indent
from typing import Any

import numpy as np

import gramian

HERE = Path(__file__).parent
FITS = {"pca", "kpca", "ica", "fill"}
"""Verbs that answer in JSON."""


@dataclass(frozen=True)
class Row:
    """A row of the lectures.

    Attributes
    ----------
    id : str
        M1 to M11, F1 to F19 or E1 to E11.
    what : str
    lecture : str
        The lectures' number, as a Python expression; of a claim, the bound that it is held to.
    python : str
        The call; its last line is our number.
    command : str
        Lines of the command line, on the rows ``X`` of the call, which are in rows.csv, and ``new``, in new.csv.
    answer : str
        The number of the command line, an expression of ``found``, the JSON of the last fit, and ``read(file)``; empty
        where the command prints it in words.
    relation : str
        How ours stands to the lectures': "==", "<=" or ">=".
    tolerance : float
        Of "==", relative to the largest number.
    """

    id: str
    what: str
    lecture: str
    python: str
    command: str = ""
    answer: str = ""
    relation: str = "=="
    tolerance: float = 1e-8


@dataclass(frozen=True)
class Proof:
    """What a row gives: the lectures' number, ours, and that of the command line, None where there is no command."""

    row: Row
    lecture: Any
    ours: Any
    command: Any

    def holds(self, number: Any) -> bool:
        """Tell whether a number stands to the lectures' as the row says."""
        number, lecture = np.asarray(number, dtype=float), np.asarray(self.lecture, dtype=float)
        if self.row.relation != "==":
            return bool(np.all(number <= lecture if self.row.relation == "<=" else number >= lecture))
        size = max(1e-300, float(np.abs(lecture).max())) if np.any(lecture) else 1.0
        return number.shape == lecture.shape and bool(np.all(np.abs(number - lecture) <= self.row.tolerance * size))


def prove(row: Row) -> Proof:
    """Execute a row in a folder of its own."""
    names: dict[str, Any] = {name: getattr(gramian, name) for name in gramian.__all__} | {"np": np, "demo": demo}
    *before, last = ast.parse(row.python).body
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        exec(compile(ast.Module(before, []), row.id, "exec"), names)  # noqa: S102 - the rows below
        ours = eval(ast.unparse(last), names)  # noqa: S307 - the same
        lecture = eval(row.lecture, names)  # noqa: S307 - the same
        if not row.command:
            return Proof(row, lecture, ours, None)
        for name, file in (("X", "rows.csv"), ("X", "rows.npy"), ("new", "new.csv")):
            if file in row.command:
                write(names[name], file)
        names |= {"found": _run(row.command), "read": read}
        answer = eval(row.answer, names) if row.answer else None  # noqa: S307 - the same
        return Proof(row, lecture, ours, answer)


def demo(name: str) -> Any:
    """Return the numbers of the first table that ``gramian demo NAME`` writes."""
    from gramian.cli.demo import MAKERS

    return MAKERS[name]()[0].numbers


def write(X: Any, file: str) -> None:
    """Write rows, all digits of them."""
    if file.endswith("npy"):
        return np.save(file, X)
    header = ",".join(f"x{j + 1}" for j in range(np.shape(X)[1]))
    return np.savetxt(file, X, delimiter=",", header=header, comments="", fmt="%.17g")


def read(file: str) -> Any:
    """Return the columns of numbers of a CSV file that the command line wrote, but for names of rows."""
    with Path(file).open(encoding="utf-8", newline="") as text:
        lines = list(csv.reader(text))
    used = [j for j, name in enumerate(lines[0]) if re.fullmatch(r"(K?PC|IC|x)\d+|pixel .*", name)]
    return np.array([[float(line[j]) for j in used] for line in lines[1:]])


def _run(command: str) -> Any:
    """Run lines of the command line; return the JSON of the last fit."""
    from gramian.cli.main import main

    found = None
    for line in command.strip().splitlines():
        words = shlex.split(line)[1:]
        fits = words[0] in FITS
        out, err = StringIO(), StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main([*words, "--quiet", *(["--json", "--no-report"] if fits else [])])
        if code:
            message = f"{line}: exit code {code}\n{err.getvalue()}"
            raise RuntimeError(message)
        found = json.loads(out.getvalue()) if fits else found
    return found


def proofs_elsewhere(row: str) -> Iterator[tuple[str, str, str]]:
    """Yield file, name and sentence of the other tests that prove a row: test_f9_..., TestF9..."""
    for file in sorted(HERE.glob("test_*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            named = isinstance(node, ast.FunctionDef | ast.ClassDef) and re.match(
                rf"(test_{row.lower()}_|Test{row}[A-Z])", node.name
            )
            if named and isinstance(node, ast.ClassDef):
                tests = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test")]
                yield from ((file.name, f"{node.name}.{one.name}", ast.get_docstring(one) or "") for one in tests)
            elif named:
                yield file.name, node.name, ast.get_docstring(node) or ""


def page() -> str:
    """Return the page of all rows, in reStructuredText: each is executed."""
    proofs = [prove(row) for row in ROWS]
    table = [
        ".. list-table::",
        "   :header-rows: 1",
        "   :widths: 7 43 25 25",
        "",
        "   * - row",
        "     - what",
        "     - the lectures",
        "     - Gramian",
    ]
    for proof in proofs:
        row = proof.row
        table += [f"   * - :ref:`{row.id} <row-{_anchor(row)}>`", f"     - {_escaped(row.what)}"]
        table += [f"     - {_bound(proof)}", f"     - {_shown(proof.ours)}"]
    return "\n".join([INTRODUCTION, *table, "", *map(section_of, proofs)])


def section_of(proof: Proof) -> str:
    """Return the section of a row: its calls, both numbers, its picture and further proofs."""
    row = proof.row
    title = f"{row.id}: {_escaped(row.what)}"
    parts = [f".. _row-{_anchor(row)}:", "", title, "-" * len(title), "", ".. code-block:: python", ""]
    parts += [indent(row.python.strip(), "   "), "", f"The lectures: ``{row.lecture}``"]
    parts += [f"  {_bound(proof)}", "", "Gramian", f"  {_shown(proof.ours)}", ""]
    if row.command:
        parts += [".. code-block:: console", "", indent(row.command.strip(), "   $ "), ""]
    else:
        parts += ["No command: library only.", ""]
    if row.answer:
        parts += [f"The command line: ``{row.answer}``", f"  {_shown(proof.command)}", ""]
    if row.id in PICTURES:
        script, picture, words = PICTURES[row.id]
        parts += [f"``examples/{script}`` draws this:", "", f".. image:: images/{picture}", f"   :alt: {words}", ""]
    elsewhere = list(proofs_elsewhere(row.id)) if row is [one for one in ROWS if one.id == row.id][-1] else []
    if elsewhere:
        parts += ["Further proofs, in ``tests/lectures``:", ""]
        parts += [
            f"* {_escaped(sentence.splitlines()[0])} (``{file}``, ``{name}``)" for file, name, sentence in elsewhere
        ]
        parts += [""]
    return "\n".join(parts)


def _anchor(row: Row) -> str:
    same = [one for one in ROWS if one.id == row.id]
    return f"{row.id.lower()}-{same.index(row) + 1}" if len(same) > 1 else row.id.lower()


def _bound(proof: Proof) -> str:
    words = {"==": "", "<=": "at most ", ">=": "at least "}[proof.row.relation]
    return words + _shown(proof.lecture)


def _shown(number: Any) -> str:
    values = np.asarray(number, dtype=float).ravel()
    # What rounding left of a zero is a zero to a reader.
    return ", ".join("0" if abs(value) < 1e-9 else f"{value:.7g}" for value in values)


def _escaped(sentence: str) -> str:
    parts = [re.sub(r"([\\*|_])", r"\\\1", part) for part in sentence.split("`")]
    # What is between backticks is code, as in docstrings.
    return "".join(f"``{part}``" if i % 2 and part else part for i, part in enumerate(parts))


INTRODUCTION = """\
The lectures, row by row
========================

.. This page is written by docs/conf.py from tests/lectures/rows.py: every number on it was just computed.

Five lecture notes are behind this library. Each method (M), fact (F) and example (E) in them is a row here: the call,
the command where one makes sense, the lectures' number and ours. The tests execute every row and compare; this page is
what they gave when it was built.

The calls need ``import numpy as np`` and ``from gramian import *``. Commands read ``rows.csv`` or ``rows.npy``, which
has the rows ``X`` of the call; ``found`` is what they print with ``--json``, and ``read`` takes the numbers of a file
that they wrote. ``demo(name)`` stands for the numbers of the table that ``gramian demo NAME`` writes. Where a lecture
claims without a number, *at least* and *at most* are what the claim is held to here. In place of the lectures' own data
the examples use what comes along or is made: digits of 8 x 8 pixels for MNIST, drawn faces, made signals.
"""

SPREAD = "X = np.random.default_rng(0).standard_normal((50, 6)) * [5, 4, 3, 2, 1, 0.5] + 3\n"
PLANE = "X = np.random.default_rng(0).standard_normal((50, 2))\n"
CIRCLE = "t = 2 * np.pi * np.arange(60) / 60\nX = 10 * np.column_stack([np.cos(t), np.sin(t)])\n"
COVARIANCE = "np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1]"
DIGITS = "from sklearn.datasets import load_digits\nX, digit = load_digits({}return_X_y=True)\n"

PICTURES = {
    "M4": ("power_method.py", "power_method.png", "The value of 200 starts on five spectra, beside the claim."),
    "E1": ("zero_one.py", "zero_one.png", "Two clouds on two components, of zeros and of ones."),
    "E2": ("faces.py", "faces.png", "The mean of drawn faces, components, and a face from 1, 5, 15 and 50 numbers."),
    "E3": ("documents.py", "documents.png", "The words at both ends of four components."),
    "E4": ("kmeans.py", "kmeans.png", "Cost of k-means falling to that of all columns, below a bound."),
    "E5": (
        "ratings.py",
        "ratings.png",
        "Ratings of four people for six films, seven of them filled in with their errors.",
    ),
    "E6": ("meg.py", "meg.png", "A sensor with and without blinks; objects by kind once blinks are taken out."),
    "E7": ("denoise.py", "denoise.png", "Digits, digits with noise, and rebuilt; error least at 15 components."),
    "E8": ("kernel_pictures.py", "kernel_eigenfunctions.png", "Contours of eight eigenfunctions over the plane."),
    "E9": (
        "kernel_pictures.py",
        "kernel_made_linear.png",
        "A circle and two rings, and features that make them linear.",
    ),
    "E11": ("classifier.py", "classifier.png", "Error against components: PCA helps, does not matter, and harms."),
}
"""The script that draws a row, its picture, and the picture in words."""

ROWS = (
    Row(
        "M1",
        "PCA by the covariance, with the lectures' 1/n",
        f"{COVARIANCE}[:3]",
        f"{SPREAD}PCA(3, svd_solver='covariance_eigh', ddof=0).fit(X).explained_variance_",
        "gramian pca rows.csv --no-scale --solver covariance_eigh --ddof 0 -k 3",
        "found['variances']",
    ),
    Row(
        "M2",
        "PCA by the SVD: eigenvalues are s²/n",
        "np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2 / 50",
        f"{SPREAD}PCA(svd_solver='full', ddof=0).fit(X).explained_variance_",
        "gramian pca rows.csv --no-scale --solver full --ddof 0 -k 6",
        "found['variances']",
    ),
    Row(
        "M3",
        "dual PCA: eigenvectors of Xc Xc' where columns are many",
        "np.linalg.eigvalsh((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)[::-1][:3] / 20",
        "X = np.random.default_rng(0).standard_normal((20, 300))\n"
        "PCA(3, svd_solver='gram', ddof=0).fit(X).explained_variance_",
        "gramian pca rows.csv --no-scale --solver gram --ddof 0 -k 3",
        "found['variances']",
    ),
    Row(
        "M4",
        "the power method: steps until v'Av is 99% of the first eigenvalue",
        "np.log(6 / 0.01) / 0.01",
        f"{SPREAD}trace = PCA(1, svd_solver='power', random_state=0).fit(X).power_trace_.of(0)\n"
        "1 + np.sum(trace.value < 0.99 * trace.value[-1])",
        "gramian pca rows.csv --no-scale --solver power --trace -k 1",
        "1 + np.sum(np.array(found['power_trace'][0]['value']) < 0.99 * found['variances'][0])",
        "<=",
    ),
    Row(
        "M5",
        "eigenvalues of X'X, without 1/n, are squares of singular values",
        "np.linalg.svd(X, compute_uv=False) ** 2",
        f"{SPREAD}50 * PCA(center=False, ddof=0).fit(X).explained_variance_",
        "gramian pca rows.csv --no-scale --no-center --ddof 0 -k 6",
        "50 * np.array(found['variances'])",
    ),
    Row(
        "M6",
        "phi of (1 + x.y)² for x = (3, -2), its columns taken in the lectures' order",
        "[1, 2**0.5 * 3, 2**0.5 * -2, 2**0.5 * 3 * -2, 3**2, (-2) ** 2]",
        "PolynomialMap(2).fit_transform([[3.0, -2.0]])[0, [0, 1, 2, 4, 3, 5]]",
    ),
    Row(
        "M7",
        "kernel PCA with a Gaussian kernel of sigma 2: eigenvalues of the centered K",
        "np.linalg.eigvalsh(H @ K @ H)[::-1][:3]",
        f"{PLANE}H = np.eye(50) - 1 / 50\nK = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * 2**2))\n"
        "KernelPCA(3, kernel=kernels.Gaussian(sigma=2.0)).fit(X).eigenvalues_",
        "gramian kpca rows.csv --no-scale --sigma 2 -k 3",
        "found['kernel_eigenvalues']",
        tolerance=1e-6,
    ),
    Row(
        "M8",
        "the centered kernel matrix is K - 1K - K1 + 1K1: its eigenvalues",
        "np.linalg.eigvalsh(X - ones @ X - X @ ones + ones @ X @ ones)[::-1][:3]",
        f"{PLANE}X = (1 + X @ X.T) ** 2\nones = np.full((50, 50), 1 / 50)\n"
        "np.linalg.eigvalsh(center_kernel(X))[::-1][:3]",
        "gramian kpca rows.csv --kernel precomputed -k 3",
        "found['kernel_eigenvalues']",
    ),
    Row(
        "M9",
        "kernels by their formulas, added",
        "np.linalg.eigvalsh(H @ (np.exp(-0.1 * squares) + (1 + X @ X.T) ** 2) @ H)[::-1][:3]",
        f"{PLANE}H, squares = np.eye(50) - 1 / 50, ((X[:, None] - X) ** 2).sum(axis=2)\n"
        "KernelPCA(3, kernel='rbf(0.1) + poly(2, gamma=1)').fit(X).eigenvalues_",
        "gramian kpca rows.csv --no-scale --kernel 'rbf(0.1) + poly(2, gamma=1)' -k 3",
        "found['kernel_eigenvalues']",
        tolerance=1e-6,
    ),
    Row(
        "M10",
        "“reconstruction cannot be done”: pre-images, squared distance from the rows over their spread",
        "0.01",
        "t = np.random.default_rng(0).uniform(0, 2 * np.pi, 200)\nX = np.column_stack([np.cos(t), np.sin(t)])\n"
        "kpca = KernelPCA(8, kernel='rbf', gamma=0.5, pre_image='distances').fit(X)\n"
        "np.sum((kpca.inverse_transform(kpca.transform(X)) - X) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)",
        "gramian kpca rows.csv --no-scale --gamma 0.5 -k 8\n"
        "gramian rebuild rows-kpca/model.gramian rows.csv --pre-image distances -o near.csv",
        "np.sum((read('near.csv') - X) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)",
        "<=",
    ),
    Row(
        "M11",
        "ICA of two uniform sources turned by 45°: mutual information that it takes away, in nats",
        "2 * (np.log(np.cos(np.pi / 4)) + np.tan(np.pi / 4) / 2)",
        "S = np.random.default_rng(0).uniform(-1, 1, (50_000, 2))\nX = S @ np.array([[1, 1], [-1, 1]]) * [2, 1]\n"
        "ICA(random_state=0).fit(X).mutual_information_drop_",
        "gramian ica rows.csv",
        "found['mutual_information_drop']",
        tolerance=0.05,
    ),
    Row(
        "F1",
        "a particle on a straight line at speed u = 1/2 for T = 200 instants: u² (T² - 1) / 12",
        "0.5**2 * (200**2 - 1) / 12",
        "X = 0.5 * np.outer(np.arange(200), [2 / 3, -1 / 3, 2 / 3])\nPCA(1, ddof=0).fit(X).explained_variance_[0]",
        "gramian pca rows.csv --no-scale --ddof 0 -k 1",
        "found['variances'][0]",
    ),
    Row(
        "F2",
        "share kept: the first k eigenvalues over all of them",
        f"np.cumsum({COVARIANCE}[:3]) / np.sum({COVARIANCE})",
        f"{SPREAD}np.cumsum(PCA(3).fit(X).explained_variance_ratio_)",
        "gramian pca rows.csv --no-scale -k 3",
        "np.cumsum(found['shares'])",
    ),
    Row(
        "F3",
        "the 95% rule chooses k",
        f"1 + np.sum(np.cumsum({COVARIANCE}) / np.sum({COVARIANCE}) < 0.95)",
        f"{SPREAD}PCA(0.95).fit(X).n_components_",
        "gramian pca rows.csv --no-scale -k 0.95",
        "found['components']",
    ),
    Row(
        "F4",
        "a round cloud gains nothing: each direction holds 1/d",
        "[1 / 3, 1 / 3, 1 / 3]",
        "from gramian.testing import rows_with_spectrum\nX, _ = rows_with_spectrum(60, 3, np.ones(3))\n"
        "PCA().fit(X).explained_variance_ratio_",
        "gramian pca rows.csv --no-scale -k 3",
        "found['shares']",
    ),
    Row(
        "F5",
        "twice the columns, eight times the work: operations planned for 400 over those for 200",
        "8",
        "X = np.random.default_rng(0).standard_normal((400, 400))\n"
        "twice, once = (PCA(svd_solver='covariance_eigh').fit(X[:d, :d]).plan_.operations for d in (400, 200))\n"
        "twice / once",
        tolerance=0.125,
    ),
    Row(
        "F6",
        "Xc Xc' and Xc'Xc share their non-zero eigenvalues",
        "np.linalg.eigvalsh((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)[::-1][:3] / 49",
        f"{SPREAD}PCA(3, svd_solver='covariance_eigh').fit(X).explained_variance_",
        "gramian pca rows.csv --no-scale --solver covariance_eigh -k 3",
        "found['variances']",
    ),
    Row(
        "F7",
        "squares make a circle linear: share of (1, -1)/√2, and its slope",
        "[1, -1]",
        f"{CIRCLE}X = X**2\npca = PCA(1).fit(X)\n"
        "[pca.explained_variance_ratio_[0], pca.components_[0, 0] / pca.components_[0, 1]]",
        "gramian pca rows.csv --no-scale -k 1",
        "[found['shares'][0], np.divide(*read('rows-pca/loadings.csv')[:2, 0])]",
    ),
    Row(
        "F8",
        "features of the polynomial kernel, d = 100 and p = 2: C(102, 2)",
        "102 * 101 / 2",
        "PolynomialMap(2).fit(np.ones((1, 100))).n_output_features_",
    ),
    Row(
        "F9",
        "60 points on a circle of radius 10, (1 + x.y)²: eigenvalues of K/n without centering",
        "[5001, 2500, 2500, 100, 100]",
        f"{CIRCLE}KernelPCA(5, kernel='poly(2, gamma=1)', center=False).fit(X).eigenvalues_ / 60",
        "gramian kpca rows.csv --no-scale --kernel 'poly(2, gamma=1)' --no-center -k 5",
        "found['variances']",
    ),
    Row(
        "F9",
        "the same with centering",
        "[2500, 2500, 100, 100]",
        f"{CIRCLE}KernelPCA(4, kernel='poly(2, gamma=1)').fit(X).eigenvalues_ / 60",
        "gramian kpca rows.csv --no-scale --kernel 'poly(2, gamma=1)' -k 4",
        "found['variances']",
    ),
    Row(
        "F10",
        "kept + lost = total (Pythagoras)",
        "np.sum((X - X.mean(axis=0)) ** 2)",
        f"{SPREAD}pca = PCA(2).fit(X)\nnp.sum(pca.transform(X) ** 2) + np.sum(pca.reconstruction_error(X))",
        "gramian pca rows.csv --no-scale -k 2\ngramian rebuild rows-pca/model.gramian rows.csv -o near.csv",
        "np.sum(read('rows-pca/scores.csv')[:, :2] ** 2) + np.sum((X - read('near.csv')) ** 2)",
    ),
    Row(
        "F11",
        "mean squared error of the rows rebuilt = the eigenvalues left out",
        f"np.sum({COVARIANCE}[2:])",
        f"{SPREAD}np.mean(PCA(2).fit(X).reconstruction_error(X))",
        "gramian pca rows.csv --no-scale -k 2\ngramian rebuild rows-pca/model.gramian rows.csv -o near.csv",
        "np.sum((X - read('near.csv')) ** 2) / 50",
    ),
    Row(
        "F12",
        "zero eigenvalues: rows exactly in a subspace of three dimensions",
        "3",
        "rng = np.random.default_rng(0)\nX = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 8))\n"
        "PCA().fit(X).rank_",
        "gramian pca rows.csv --no-scale -k 8",
        "np.sum(np.array(found['variances']) > 1e-12 * found['variances'][0])",
    ),
    Row(
        "F13",
        "scores are uncorrelated: the largest correlation of two",
        "0",
        f"{SPREAD}np.abs(np.corrcoef(PCA(3).fit_transform(X).T) - np.eye(3)).max()",
        "gramian pca rows.csv --no-scale -k 3",
        "np.abs(np.corrcoef(read('rows-pca/scores.csv')[:, :3].T) - np.eye(3)).max()",
    ),
    Row(
        "F14",
        "components lie in the span of the centered rows: what is outside",
        "0",
        "X = np.random.default_rng(0).standard_normal((6, 30))\nW = PCA(5).fit(X).components_\n"
        "inside = np.linalg.pinv(X - X.mean(axis=0)) @ (X - X.mean(axis=0))\nnp.abs(W - W @ inside).max()",
    ),
    Row(
        "F15",
        "new points are projected by the kernel alone, as by phi: their first scores",
        "np.abs(PCA(3).fit(phi(X)).transform(phi(new))[0])",
        f"{PLANE}new, phi = np.array([[0.5, 1.0], [2.0, -1.0]]), PolynomialMap(2).fit(X).transform\n"
        "np.abs(KernelPCA(3, kernel='poly(2, gamma=1)').fit(X).transform(new)[0])",
        "gramian kpca rows.csv --no-scale --kernel 'poly(2, gamma=1)' -k 3\n"
        "gramian project rows-kpca/model.gramian new.csv -o scores.csv",
        "np.abs(read('scores.csv')[0])",
    ),
    Row(
        "F16",
        "with a linear kernel, kernel PCA is PCA: eigenvalues are n - 1 variances",
        "49 * PCA(3).fit(X).explained_variance_",
        f"{SPREAD}KernelPCA(3, kernel='linear').fit(X).eigenvalues_",
        "gramian kpca rows.csv --no-scale --kernel linear -k 3",
        "found['kernel_eigenvalues']",
        tolerance=1e-6,
    ),
    Row(
        "F17",
        "ICA separates what PCA cannot: two uniform sources turned, correlation of each with its estimate",
        "0.99",
        "S = np.random.default_rng(0).uniform(-1, 1, (5000, 2))\nX = S @ np.array([[1, 1], [-1, 1]]) / 2**0.5\n"
        "found = np.abs(np.corrcoef(ICA(random_state=0).fit_transform(X).T, S.T)[:2, 2:])\nfound.max(axis=1)",
        "gramian ica rows.csv",
        "np.abs(np.corrcoef(read('rows-ica/scores.csv').T, S.T)[:2, 2:]).max(axis=1)",
        ">=",
    ),
    Row(
        "F18",
        "the error that is minimized, by the kernel alone: of a new point",
        "np.sum((phi(new) - PCA(3).fit(phi(X)).inverse_transform(PCA(3).fit(phi(X)).transform(phi(new)))) ** 2)",
        f"{PLANE}new, phi = np.array([[0.5, 1.0]]), PolynomialMap(2).fit(X).transform\n"
        "KernelPCA(3, kernel='poly(2, gamma=1)').fit(X).reconstruction_error(new)[0]",
    ),
    Row(
        "F19",
        "K K a = n λ K a has more solutions than K a = n λ a, with the same projections: what differs",
        "0",
        f"{PLANE}kpca = KernelPCA(3, kernel='poly(2, gamma=1)').fit(X)\nK = center_kernel((1 + X @ X.T) ** 2)\n"
        "a = kpca.eigenvectors_ / kpca.eigenvalues_**0.5\n"
        "null = np.linalg.eigh(K)[1][:, :40] @ np.ones((40, 3))\n"
        "np.abs(K @ (a + null) - K @ a).max() / np.abs(K @ a).max()",
    ),
    Row(
        "E1",
        "handwritten 0 and 1: two components part them; share that a line in their plane tells right",
        "0.99",
        f"{DIGITS.format('n_class=2, ')}Y = PCA(2).fit_transform(X)\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "LogisticRegression().fit(Y, digit).score(Y, digit)",
        "gramian demo zero-one",
        "LogisticRegression().fit(read('demo/zero-one-pca/scores.csv')[:, :2], digit)"
        ".score(read('demo/zero-one-pca/scores.csv')[:, :2], digit)",
        ">=",
    ),
    Row(
        "E2",
        "a face from 15 numbers: share of the variance of drawn faces that is lost",
        "0.1",
        "X = demo('faces')\nnp.sum(PCA(15).fit(X).reconstruction_error(X)) / np.sum((X - X.mean(axis=0)) ** 2)",
        "gramian demo faces\ngramian rebuild demo/faces-pca/model.gramian demo/faces.csv -o near.csv",
        "np.sum((read('near.csv') - X) ** 2) / np.sum((X - X.mean(axis=0)) ** 2)",
        "<=",
    ),
    Row(
        "E3",
        "documents: a sparse table, centered without becoming dense; variances of topics",
        "np.linalg.eigvalsh((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)[::-1][:4] / (len(X) - 1)",
        "from scipy import sparse\nX = demo('documents')\nPCA(4).fit(sparse.csr_array(X)).explained_variance_",
        "gramian demo documents\ngramian pca demo/documents.csv --no-scale --id page -k 4",
        "found['variances']",
    ),
    Row(
        "E4",
        "k-means of digits on 10 of 64 components: how much more it costs",
        "0.05",
        f"{DIGITS.format('')}kmeans_cost(X, 10, dimensions=[10]).increases[0]",
        "gramian demo kmeans",
        relation="<=",
    ),
    Row(
        "E5",
        "ratings with question marks, 60% of them: error of what is filled in, over the spread",
        "0.2",
        "rng = np.random.default_rng(0)\ntruth = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 12))\n"
        "missing = rng.random(truth.shape) < 0.6\n"
        "X = np.where(missing, np.nan, truth + 0.1 * rng.standard_normal(truth.shape))\n"
        "model = ProbabilisticPCA(2, random_state=0).fit(X)\n"
        "np.std((model.impute(X) - truth)[missing]) / np.std(truth)",
        "gramian fill rows.csv --no-scale -k 2",
        "np.std((read('rows-fill/filled.csv') - truth)[missing]) / np.std(truth)",
        "<=",
    ),
    Row(
        "E6",
        "MEG, 120 sensors x 500 instants x 20 objects: correlation of each source with its estimate",
        "0.98",
        "rng = np.random.default_rng(0)\nS = rng.laplace(size=(20 * 500, 4))\n"
        "recording = (S @ rng.standard_normal((4, 120))).reshape(20, 500, 120)\n"
        "X = (recording + 0.1 * rng.standard_normal(recording.shape)).reshape(-1, 120)\n"
        "np.abs(np.corrcoef(ICA(4, random_state=0).fit_transform(X).T, S.T)[:4, 4:]).max(axis=1)",
        "gramian ica rows.npy -k 4",
        "np.abs(np.corrcoef(read('rows-ica/scores.csv').T, S.T)[:4, 4:]).max(axis=1)",
        ">=",
    ),
    Row(
        "E7",
        "digits with noise, rebuilt from 15 components: noise that is left, of what was there",
        "0.5",
        "X, clean = demo('denoise'), demo('digits')\npca = PCA(15).fit(X)\n"
        "np.sum((pca.inverse_transform(pca.transform(X)) - clean) ** 2) / np.sum((X - clean) ** 2)",
        "gramian demo denoise\ngramian rebuild demo/denoise-pca/model.gramian demo/denoise.csv -o near.csv",
        "np.sum((read('near.csv') - clean) ** 2) / np.sum((X - clean) ** 2)",
        "<=",
    ),
    Row(
        "E8",
        "an eigenfunction of a Gaussian kernel at two points of the plane: the sum of coefficients times kc(x, x_i)",
        "np.abs(center_kernel(k(new, X), fitted=k(X, X)) @ kpca.eigenvectors_[:, 0]) / kpca.eigenvalues_[0] ** 0.5",
        f"{PLANE}new, k = np.array([[0.0, 0.0], [1.0, -1.0]]), kernels.Gaussian(sigma=1.0)\n"
        "kpca = KernelPCA(1, kernel=k).fit(X)\nnp.abs(kpca.transform(new)[:, 0])",
        "gramian kpca rows.csv --no-scale --sigma 1 -k 1\n"
        "gramian project rows-kpca/model.gramian new.csv -o scores.csv",
        "np.abs(read('scores.csv')[:, 0])",
        tolerance=1e-5,
    ),
    Row(
        "E9",
        "two rings, made linear by a kernel: share that a plane on four components tells right",
        "1",
        "from sklearn.linear_model import LogisticRegression\nX, ring = demo('rings'), np.arange(600) % 2\n"
        "Y = KernelPCA(4, kernel='rbf', gamma=2.0).fit_transform(X)\nLogisticRegression().fit(Y, ring).score(Y, ring)",
        "gramian demo rings",
        "LogisticRegression().fit(read('demo/rings-kpca/scores.csv'), ring)"
        ".score(read('demo/rings-kpca/scores.csv'), ring)",
    ),
    Row(
        "E10",
        "wide data, 40 rows of 20,000 columns, by the dual",
        "np.linalg.eigvalsh((X - X.mean(axis=0)) @ (X - X.mean(axis=0)).T)[::-1][:3] / 39",
        "X = np.random.default_rng(0).standard_normal((40, 20_000))\nPCA(3).fit(X).explained_variance_",
        "gramian pca rows.npy --no-scale -k 3",
        "found['variances']",
    ),
    Row(
        "E11",
        "digits learned from 60 rows: errors with PCA over errors without",
        "0.5",
        f"{DIGITS.format('')}from gramian.models.prediction import prediction_curve\n"
        "curve = prediction_curve(X, digit, 60)\ncurve.errors.min() / curve.full_error",
        "gramian demo classifier",
        relation="<=",
    ),
)
"""Every row of the lectures."""
