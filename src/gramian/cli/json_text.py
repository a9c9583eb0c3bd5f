"""Answers for machines: JSON as every reader of it knows it."""

import json
import math
from typing import Any


def json_text(value: Any) -> str:
    """Return plain values as JSON; what is not finite, which JSON has no word for, is null.

    Examples
    --------
    >>> json_text([1.5, float("inf"), float("nan")]).split()
    ['[', '1.5,', 'null,', 'null', ']']
    """
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
