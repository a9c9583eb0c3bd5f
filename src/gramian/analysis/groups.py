"""Labels of rows: which are numbers, and which group each row is in."""

from typing import Any

import numpy as np


def is_number(values: np.ndarray) -> bool:
    """Tell whether a label is a number and not a group.

    Examples
    --------
    >>> is_number(np.array([1.5, 2.0])), is_number(np.array(["a", "b"]))
    (True, False)
    """
    return values.dtype.kind in "fiu"


def groups_of(values: np.ndarray) -> np.ndarray:
    """Return labels as text, with one word for what is missing.

    Examples
    --------
    >>> groups_of(np.array(["a", None], dtype=object)).tolist()
    ['a', 'missing']
    """
    return np.array(["missing" if _is_missing(value) else str(value) for value in values.tolist()], dtype=object)


def groups_by_label(labels: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return, for labels that are no numbers, the number of the group of each row, groups numbered as they come.

    Examples
    --------
    >>> groups_by_label({"side": np.array(["left", "right", "left"]), "size": np.array([1.0, 2.0, 3.0])})
    {'side': array([0, 1, 0])}
    """
    return {name: _codes(values) for name, values in labels.items() if not is_number(values)}


def label_values(values: Any) -> np.ndarray:
    """Return a column of labels: numbers as floats, all else as it is."""
    column = np.asarray(values)
    if column.dtype.kind == "O" and all(_is_missing(v) or isinstance(v, int | float) for v in column.tolist()):
        return np.array([np.nan if _is_missing(v) else float(v) for v in column.tolist()])
    return column


def _codes(values: np.ndarray) -> np.ndarray:
    place: dict[str, int] = {}
    return np.array([place.setdefault(group, len(place)) for group in groups_of(values).tolist()], dtype=np.int64)


def _is_missing(value: Any) -> bool:
    return value is None or bool(value != value)  # noqa: PLR0124 - NaN alone differs from itself
