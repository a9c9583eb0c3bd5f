"""How Sphinx builds these pages. `make docs` does it, and every warning is an error."""

import re
import shutil
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

import gramian

project = "Gramian"
author = "The Gramian developers"
project_copyright = "2026, the Gramian developers"
release = gramian.__version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # for written_pictures

extensions = [
    "matplotlib.sphinxext.plot_directive",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "tutorials/data"]
# Headings deeper than these have no anchor in Markdown; links from page to page name the page.
myst_heading_anchors = 2
# Tutorials draw from the tables beside them.
plot_working_directory = str(HERE / "tutorials")
plot_formats = [("png", 110)]
plot_include_source = True
plot_html_show_source_link = False
plot_html_show_formats = False
# The gallery runs a copy of the examples, so that what they write is nowhere among the sources.
sphinx_gallery_conf = {
    "examples_dirs": "_build/examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "image_scrapers": ("written_pictures.collect",),
    "reset_modules": ("matplotlib",),
    "default_thumb_file": str(HERE / "images" / "in_words.png"),
    "backreferences_dir": None,
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_signature": False,
    "write_computation_times": False,
}
html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = "Gramian"
html_show_sphinx = False

autodoc_member_order = "bysource"
# The one module that cannot do without them is documented where they are not installed, too.
autodoc_mock_imports = [name for name in ("torch", "triton") if find_spec(name) is None]
# Types stand in the docstrings in words ("(n, k) array"); in signatures they would bury the names.
autodoc_typehints = "none"
# Types in words are not names of classes, so they are shown and not looked up.
napoleon_use_param = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_google_docstring = False

# Our own names must resolve; other projects' names are not looked up, so that the build needs no network.
nitpick_ignore_regex = [("py:.*", r"(?!gramian\.).*")]


def heading(text: str, line: str) -> str:
    """A heading in reStructuredText."""
    return f"{text}\n{line * len(text)}\n"


def package_page(package: str, folder: Path) -> str:
    """The page of a package: its own docstring, then every module in it with all that is public there."""
    modules = sorted(module.name for module in iter_modules([str(folder)]) if not module.ispkg)
    parts = [heading(package, "="), f".. automodule:: {package}\n"]
    # Whoever looks an estimator up finds all that it does in one place.
    options = "   :members:\n" + ("   :inherited-members: tuple\n" if package == "gramian.estimators" else "")
    for module in modules:
        parts += [heading(f"{package}.{module}", "-"), f".. automodule:: {package}.{module}\n{options}"]
    return "\n".join(parts)


def write(page: Path, text: str) -> None:
    """Write a page; an unchanged one keeps its date, so that Sphinx does not read it again."""
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")


def write_lectures(target: Path) -> None:
    """Execute every row of the lectures and write down what each gives."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    write(target, import_module("tests.lectures.rows").page())


def write_api_pages(target: Path) -> None:
    """Write a page per package, those inside others too, so that a new file appears in the documentation by itself."""
    root = Path(gramian.__file__).parent
    folders = [file.parent for file in root.rglob("__init__.py")]
    names = {folder: ".".join(("gramian", *folder.relative_to(root).parts)) for folder in folders}
    target.mkdir(exist_ok=True)
    pages = {name: package_page(name, folder) for folder, name in names.items()}
    listing = "".join(f"   {name}\n" for name in sorted(pages))
    pages["index"] = "\n".join((heading("Every name", "="), ".. toctree::\n   :maxdepth: 2\n", listing))
    for name, text in pages.items():
        write(target / f"{name}.rst", text)


def titled(script: str) -> str:
    """A script whose docstring begins with a title, as sphinx-gallery wants it: its own first sentence."""
    opening, docstring, rest = script.split('"""', 2)
    first, _, more = docstring.partition("\n")
    title, _, after = re.match(r"(.+?)(: (?=`)|[.](?=\s|$)|(?<=[?])(?=\s|$)|: )(.*)", first + " ").groups()
    words = re.sub(r"`([^`\n]+)`", r"``\1``", f"{after.strip()}\n{more}".strip())
    words = words[:1].upper() + words[1:]
    return f'{opening}"""{heading(title, "=")}\n{words}\n"""{rest}'


def copy_examples(target: Path) -> None:
    """Copy the examples to where the gallery runs them; sphinx-gallery runs again only those that have changed."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(HERE.parent / "examples", target, ignore=shutil.ignore_patterns("out", "__pycache__"))
    for script in target.rglob("*.py"):
        script.write_text(titled(script.read_text(encoding="utf-8")), encoding="utf-8")


def copy_records(target: Path) -> None:
    """Copy what the benchmarks recorded, so that it is read as pages."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(HERE.parent / "benchmarks" / "results", target, ignore=shutil.ignore_patterns("*.json"))


def keep_marks(_app: Any, what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Let docstrings write |x| for a size and coef_ for a name, which reStructuredText takes for markup."""
    if what in {"attribute", "data", "property"}:
        # Napoleon takes what stands before a colon in the first line for a type, and looks its words up; an escaped
        # space, which shows as nothing, is a first line without one.
        lines.insert(0, "\\ ")
    in_example = False
    for position, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if in_example:
            continue
        pieces = line.split("``")
        pieces[::2] = [re.sub(r"(\||(?<=\w)_(?!\w))", r"\\\1", piece) for piece in pieces[::2]]
        lines[position] = "``".join(pieces)


def inline_formula(translator: Any, node: Any) -> None:
    """A formula in a line, as MathML: browsers draw it without a script, and without a network."""
    translator.body.append(tex2mathml(node.astext()))
    raise nodes.SkipNode


def displayed_formula(translator: Any, node: Any) -> None:
    """A formula of its own, or several with empty lines between them."""
    for formula in re.split(r"\n\s*\n", node.astext().strip()):
        translator.body.append(f'<div class="formula">{tex2mathml(formula, as_block=True)}</div>')
    raise nodes.SkipNode


def skip_borrowed(_app: Any, _what: str, name: str, member: Any, skip: bool, _options: Any) -> bool:  # noqa: FBT001
    """Leave out what scikit-learn writes, with links into its own documentation."""
    theirs = str(getattr(member, "__module__", "")).startswith("sklearn.")
    return skip or theirs or bool(re.fullmatch(r"set_\w+_request", name))


def follow_exports(app: Any, env: Any, node: Any, contnode: Any) -> Any:
    """Let a name be referred to by the package that gives it as well as by the module that defines it."""
    package, _, name = node.get("reftarget", "").rpartition(".")
    if node.get("refdomain") != "py" or not package.startswith("gramian"):
        return None
    try:
        thing = getattr(import_module(package), name, None)
    except ImportError:
        return None
    home = f"{getattr(thing, '__module__', package)}.{name}"
    if home == node["reftarget"]:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, node["reftype"], home, node, contnode)


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline_formula, None), (displayed_formula, None))
    app.connect("autodoc-skip-member", skip_borrowed)
    app.connect("missing-reference", follow_exports)
    write_api_pages(HERE / "api")
    write_lectures(HERE / "lectures.rst")
    copy_examples(HERE / "_build" / "examples")
    copy_records(HERE / "records")
    app.connect("autodoc-process-docstring", keep_marks, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
