"""The project as a whole: who imports whom, what an import costs, and that all that is shown runs."""

import ast
import doctest
import json
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import textwrap
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

import gramian
from gramian.cli.demo import MAKERS
from gramian.cli.main import main
from gramian.models.archive.export import write_csv

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "gramian"
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
GENERATED = {"_build", "api", "gallery", "lectures.rst", "records"}
PAGES = [
    ROOT / "README.md",
    *(
        page
        for page in sorted((ROOT / "docs").rglob("*"))
        if page.suffix in {".rst", ".md"} and not GENERATED & set(page.relative_to(ROOT / "docs").parts)
    ),
]

HEAVY = {"sklearn", "pandas", "polars", "pyarrow", "plotly", "torch", "matplotlib", "scipy", "numpy"}
DRAWERS = {"utils", "helpers", "common", "misc", "base", "core", "tools"}

# All that estimators take from scikit-learn: manners (base classes, validation, tags), never mathematics.
ALLOWED_FROM_SCIKIT_LEARN = {
    "sklearn.base.BaseEstimator",
    "sklearn.base.ClassNamePrefixFeaturesOutMixin",
    "sklearn.base.TransformerMixin",
    "sklearn.exceptions.ConvergenceWarning",
    "sklearn.utils.Tags",
    "sklearn.utils.validation.check_is_fitted",
    "sklearn.utils.validation.validate_data",
}

UNIX_ALONE = re.compile(
    r"(fcntl|grp|pty|pwd|resource|syslog|termios|tty)(\..+)?"
    r"|os\.(chown|chroot|fork\w*|get(e?[gu]id|groups|loadavg|pgid|priority|resuid|sid)|killpg|lchown|mkfifo|mknod|nice"
    r"|openpty|preadv?|pwritev?|readv|writev|posix_\w+|register_at_fork|sched_\w+|sendfile|set[egu]+id|setsid|statvfs"
    r"|sync|sysconf|uname|wait|wait[34]|waitid|O_(CLOEXEC|DIRECT|DIRECTORY|NOFOLLOW|NONBLOCK|SYNC|TMPFILE))"
    r"|signal\.(SIG(ALRM|CHLD|CONT|HUP|KILL|PIPE|QUIT|STOP|TSTP|USR[12]|XCPU|XFSZ)|alarm|pause|setitimer|sigwait)"
    r"|time\.tzset|time\.clock_gettime|socket\.AF_UNIX|mmap\.(MAP|PROT)_\w+"
)
"""Names of the standard library that are not there on Windows."""


class RoundingBlind(doctest.OutputChecker):
    """Takes any two numbers of the size of rounding for equal: they differ between BLAS libraries."""

    def check_output(self, want, got, optionflags):
        """Compare after blurring numbers such as 2.9e-14."""
        want, got = (re.sub(r"\b\d\.\de-1\d\b", "tiny", text) for text in (want, got))
        return super().check_output(want, got, optionflags)


def modules_loaded_by(statement):
    """Top-level packages that a fresh interpreter has loaded after a statement."""
    return {name.split(".")[0] for name in all_loaded_by(statement)}


def all_loaded_by(statement):
    """Full names of the modules that a fresh interpreter has loaded after a statement."""
    code = f"{statement}\nimport json, sys\nprint(json.dumps(list(sys.modules)))"
    finished = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(json.loads(finished.stdout.splitlines()[-1]))


def imports_of(path):
    """Full names of all that a file imports, wherever in the file it does."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in {
            "__import__",
            "import_module",
        }:
            yield from (part.value for part in node.args if isinstance(getattr(part, "value", None), str))


def calls_that_windows_lacks(node, *, asked=False):
    """Names used in a source that Python has on Linux or macOS alone, each with its line.

    Below an ``if hasattr(...)`` they may be used.
    """
    names = []
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        names = [f"{node.value.id}.{node.attr}"]
    elif isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    elif isinstance(node, ast.If | ast.IfExp):
        asked = asked or "hasattr(" in ast.unparse(node.test)
    found = [f"{name} in line {node.lineno}" for name in names if UNIX_ALONE.fullmatch(name) and not asked]
    return sum((calls_that_windows_lacks(child, asked=asked) for child in ast.iter_child_nodes(node)), found)


@pytest.mark.parametrize(
    "text, found",
    [
        ("import os\nos.getuid()", ["os.getuid in line 2"]),
        ("def f():\n    import fcntl", ["fcntl in line 2"]),
        ("from os import sched_getaffinity", ["os.sched_getaffinity in line 1"]),
        ("import os, signal\nos.kill(1, signal.SIGKILL)", ["signal.SIGKILL in line 2"]),
        ("import os\nn = os.sysconf('x') if hasattr(os, 'sysconf') else 1", []),
        ("import os\nos.replace('a', 'b')", []),
    ],
)
def test_calls_that_windows_lacks_are_found(text, found):
    """What the next test looks for is noticed, in each way to import it, and what is guarded is not."""
    assert calls_that_windows_lacks(ast.parse(text)) == found


def test_nothing_is_called_that_windows_lacks():
    """The package uses no name of the standard library that is not there on Windows, but where it asks first."""
    assert not {
        str(path.relative_to(SOURCE)): found
        for path in SOURCE.rglob("*.py")
        if (found := calls_that_windows_lacks(ast.parse(path.read_text(encoding="utf-8"))))
    }


def test_import_of_gramian_loads_nothing_heavy():
    """`import gramian` loads no array library, no scikit-learn, no table library and no plotting."""
    assert not modules_loaded_by("import gramian") & HEAVY


NOT_FOR_ROWS_IN_MEMORY = {
    *("analysis", "cli", "features", "kernels", "pictures", "report", "testing", "unmixing"),
    *("models.archive", "models.ica", "models.kernel_pca", "models.probabilistic"),
    *("sources.dask", "sources.file_rows", "sources.formats", "sources.paths", "sources.roles", "sources.table_facts"),
}
"""Packages and modules of ours that `PCA` of an array does without."""


@pytest.mark.parametrize("and_fit", ["", "; import numpy; PCA(2).fit(numpy.eye(4))"], ids=["imported", "fitted"])
def test_import_of_pca_loads_no_library_that_scikit_learn_does_not(and_fit):
    """`from gramian import PCA`, and a fit, load of others what sklearn's PCA loads, and of ours no reader of files."""
    loaded = all_loaded_by(f"from gramian import PCA{and_fit}")
    others = {name for name in loaded if name.split(".")[0] not in {"gramian", *sys.stdlib_module_names}}
    theirs = all_loaded_by(f"from sklearn.decomposition import PCA{and_fit}")
    assert "gramian.estimators.pca" in loaded
    assert "sklearn.base" in others
    assert not others - theirs
    parts = {name.removeprefix("gramian.") for name in loaded if name.startswith("gramian.")}
    assert not {name for name in parts for out in NOT_FOR_ROWS_IN_MEMORY if f"{name}.".startswith(f"{out}.")}


def test_core_fits_without_scikit_learn_pandas_or_torch():
    """A fit through the core loads NumPy and SciPy, and no package that only some people need."""
    fit = (
        "import numpy as np\n"
        "from gramian.models.pca.fit import fit_pca\n"
        "from gramian.sources.opening import as_source\n"
        "fit_pca(as_source(np.eye(4)))"
    )
    assert not modules_loaded_by(fit) & (HEAVY - {"numpy", "scipy"})


def test_every_public_name_can_be_fetched_and_is_documented():
    """Each name in `__all__` resolves through the lazy door and has a docstring."""
    for name in gramian.__all__:
        assert getattr(gramian, name).__doc__, name


def test_unknown_name_is_refused_as_python_does():
    """A name that is not there raises AttributeError, and says which."""
    with pytest.raises(AttributeError, match="no_such_name"):
        gramian.no_such_name  # noqa: B018 - the look-up itself is what is tested


def test_version_has_one_home():
    """The installed version is the one that the package says."""
    assert version("gramian") == gramian.__version__


def test_import_layers_hold():
    """No package imports what the table of the design forbids it."""
    lint = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports())"
    finished = subprocess.run([sys.executable, "-c", lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout


def test_every_package_has_its_import_contract():
    """A new package cannot be forgotten in the table of who may import whom."""
    layers, *_ = PYPROJECT["tool"]["importlinter"]["contracts"]
    covered = set(re.findall(r"\w+", " ".join(layers["layers"])))
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} <= covered


def test_estimators_take_only_manners_from_scikit_learn():
    """Every name that estimators import from scikit-learn is on a short list, and none is a decomposition."""
    taken = {
        name
        for path in (SOURCE / "estimators").rglob("*.py")
        for name in imports_of(path)
        if name.split(".")[0] == "sklearn"
    }
    assert taken <= ALLOWED_FROM_SCIKIT_LEARN


def test_no_solver_of_scipy_iterates_for_us():
    """No answer comes from SciPy's iterative eigensolvers: residuals, precision and passes are ours."""
    answering = [path for name in ("operators", "eigen", "models") for path in (SOURCE / name).rglob("*.py")]
    borrowed = {
        name for path in answering for name in imports_of(path) if re.search(r"\b(eigsh|eigs|svds|lobpcg)$", name)
    }
    assert not borrowed


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_module_says_what_it_is(path):
    """A module opens with a docstring, and is named for a concept."""
    text = path.read_text(encoding="utf-8")
    assert ast.get_docstring(ast.parse(text))
    assert path.stem not in DRAWERS


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_page_shows_what_is_so(path, tmp_path, monkeypatch):
    """Every example in the README and the documentation gives what it says it gives."""
    monkeypatch.chdir(tmp_path)
    # Pages read the tables beside them as their readers do, from the folder that they are in.
    if (path.parent / "data").is_dir():
        (tmp_path / "data").symlink_to(path.parent / "data")
    # The fence that closes a block in Markdown would otherwise be read as part of the expected output.
    text = re.sub(r"^```.*$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    examples = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    runner = doctest.DocTestRunner(RoundingBlind(), optionflags=flags)
    assert runner.run(examples).failed == 0


@pytest.mark.parametrize(
    "path",
    # One of them chooses widths and numbers of components for three methods, in ten seconds.
    [pytest.param(path, marks=[pytest.mark.slow] * (path.stem == "denoise_digits")) for path in EXAMPLES],
    ids=lambda path: path.stem,
)
def test_example_runs(path, tmp_path, monkeypatch, capsys):
    """Every example script runs to its end in an empty folder, without a warning, and says what it found."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out


def test_example_runs_as_a_program(tmp_path):
    """The first example needs nothing that a test has imported."""
    command = [sys.executable, "-W", "error", str(ROOT / "examples" / "demo.py")]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "benchmarks/README.md", "docs/speed.md"])
def test_links_to_files_lead_somewhere(name):
    """Each file that a page in Markdown links to or shows is there; those of records are where the build puts them."""
    page = ROOT / name
    links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)\)", page.read_text(encoding="utf-8"))
    homes = [link.replace("records/", "../benchmarks/results/") for link in links]
    assert not [link for link in homes if not (page.parent / link).exists()]


def test_make_help_lists_every_command():
    """`make help` names the commands that the README promises."""
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout  # noqa: S607
    assert all(f"make {name} " in listed for name in ("help", "demo", "test", "check", "compat", "bench", "docs"))


def test_every_dependency_is_named_with_its_job():
    """Each package that a plain install brings is in the table of the questions that people ask."""
    answers = (ROOT / "docs" / "faq.rst").read_text(encoding="utf-8")
    names = [re.match(r"[A-Za-z0-9-]+", entry)[0] for entry in PYPROJECT["project"]["dependencies"]]
    assert not [name for name in names if f"* - ``{name}``" not in answers]


def test_figures_of_the_readme_are_those_of_the_records():
    """Every figure of the README's table stands in the line of its case in the record that is cited."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (.+?) \| (.+) \| \[.+?\]\((.+?)\) \|$", readme, re.MULTILINE)
    assert len(lines) == 5
    for case, figures, record in lines:
        measured = [line for line in (ROOT / record).read_text(encoding="utf-8").splitlines() if f"| {case}" in line]
        assert len(measured) == 1, case
        assert not [cell for cell in figures.split(" | ") if cell.strip("* ") not in measured[0]], case


def commands_on(page):
    """Each ``$ gramian ...`` of a page: its words, and the lines of its answer that the page shows."""
    found = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.strip().startswith("$ gramian "):
            words = shlex.split(re.split(r"\s>\s", line.strip().removeprefix("$ gramian "))[0], comments=True)
            shown = []
            found.append((words, shown))
        elif not line.strip() or line.strip().startswith(("$", "```")):
            shown = None
        elif found and shown is not None and line.strip() != "...":
            shown.append(line.strip())
    return found


@pytest.fixture
def tables_of_the_pages(tmp_path, monkeypatch):
    """The tables that pages name, in the current folder."""
    monkeypatch.chdir(tmp_path)
    for name in ("penguins", "mine", "survey"):
        shutil.copy(ROOT / "docs" / "tutorials" / "data" / "penguins.csv", f"{name}.csv")
    wine = MAKERS["wine"]()[0]
    write_csv(Path("wine.csv"), wine.header, wine.columns)
    shops = "\n".join(f"{10115 + 7 * i},{i % 3},{20.5 + i},{(i * 37) % 11}" for i in range(40))
    Path("shops.csv").write_text(f"zip,floor,area,staff\n{shops}\n", encoding="utf-8")


@pytest.mark.parametrize("path", [page for page in PAGES if commands_on(page)], ids=lambda path: path.stem)
@pytest.mark.usefixtures("tables_of_the_pages")
def test_commands_on_a_page_run(path, capfd):
    """Every ``$ gramian ...`` on a page runs to its end and prints the lines that the page shows of its answer."""
    for words, shown in commands_on(path):
        if words[0] == "project":
            shutil.copy(words[1].replace("-pca/model.gramian", ".csv"), "new.csv")
        assert main([*words, "--quiet"]) == 0, capfd.readouterr().err
        printed = [line.strip() for line in capfd.readouterr().out.splitlines()]
        assert not [line for line in shown if line not in printed]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_on_a_page_is_code(path):
    """Every block of Python that is not run as an example is at least Python."""
    text = path.read_text(encoding="utf-8")
    for block in re.findall(r"^\.\. code-block:: python\n\n((?:[ ]{3}.*\n|\n)+)", text, re.MULTILINE):
        assert ast.parse(textwrap.dedent(block)).body
