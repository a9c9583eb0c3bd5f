import ast
from pathlib import Path

import gramian.estimators

ALLOWED = {
    ("sklearn.base", "BaseEstimator"),
    ("sklearn.base", "ClassNamePrefixFeaturesOutMixin"),
    ("sklearn.base", "TransformerMixin"),
    ("sklearn.utils", "Tags"),
    ("sklearn.utils.validation", "check_is_fitted"),
    ("sklearn.utils.validation", "validate_data"),
}


def taken_from_scikit_learn():
    """List every name that the estimators import from scikit-learn."""
    folder = Path(gramian.estimators.__file__).parent
    for path in folder.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names if alias.name.startswith("sklearn"))
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sklearn"):
                yield from ((node.module, alias.name) for alias in node.names)


def test_estimators_take_only_manners_from_scikit_learn():
    """Base classes, validation and tags are all that is taken; no decomposition, no mathematics."""
    taken = set(taken_from_scikit_learn())
    assert taken <= ALLOWED
    assert ("sklearn.base", "BaseEstimator") in taken
