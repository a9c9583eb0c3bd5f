"""How Sphinx builds these pages. `make docs` does it, and every warning is an error."""

import re
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import gramian

project = "Gramian"
author = "The Gramian developers"
project_copyright = "2026, the Gramian developers"
release = gramian.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.doctest",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "Gramian"
html_show_sphinx = False

autodoc_member_order = "bysource"
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
    for module in modules:
        parts += [heading(f"{package}.{module}", "-"), f".. automodule:: {package}.{module}\n   :members:\n"]
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


def keep_marks(_app: Any, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]) -> None:
    """Let docstrings write |x| for a size and coef_ for a name, which reStructuredText takes for markup."""
    in_example = False
    for position, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if in_example:
            continue
        pieces = line.split("``")
        pieces[::2] = [re.sub(r"(\||(?<=\w)_(?!\w))", r"\\\1", piece) for piece in pieces[::2]]
        lines[position] = "``".join(pieces)


def skip_borrowed(_app: Any, _what: str, name: str, _object: Any, skip: bool, _options: Any) -> bool:  # noqa: FBT001
    """Leave out the request methods that scikit-learn writes, with links into its own documentation."""
    return skip or bool(re.fullmatch(r"set_\w+_request", name))


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


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-skip-member", skip_borrowed)
    app.connect("missing-reference", follow_exports)
    write_api_pages(Path(__file__).parent / "api")
    write_lectures(Path(__file__).parent / "lectures.rst")
    app.connect("autodoc-process-docstring", keep_marks, priority=100)
