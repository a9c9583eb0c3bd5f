"""Numbers and names on their way into a page: small, exact enough, and never taken for markup."""

import json
from base64 import b64encode
from typing import Any

import numpy as np

from gramian.views.labels import shortened

LONGEST_NAME = 80
"""Letters of a name that a page keeps."""


def floats(values: Any) -> dict[str, str]:
    """Pack numbers as little-endian float32 in base64, column after column.

    Examples
    --------
    >>> floats(np.array([1.0, 2.0]))
    {'f32': 'AACAPwAAAEA='}
    """
    return {"f32": b64encode(np.asarray(values, dtype="<f4").tobytes(order="F")).decode("ascii")}


def integers(values: Any) -> dict[str, str]:
    """Pack whole numbers as little-endian int32 in base64."""
    return {"i32": b64encode(np.asarray(values, dtype="<i4").tobytes(order="F")).decode("ascii")}


def pixels(values: np.ndarray) -> dict[str, Any]:
    """Pack numbers as 16-bit steps between their extremes: 1/65535 of the range is finer than a screen shows.

    Examples
    --------
    >>> pixels(np.array([0.0, 1.0]))["high"]
    1.0
    """
    low, high = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    unit = (high - low) / 65535 or 1.0
    steps = np.round((np.asarray(values) - low) / unit).astype("<u2")
    return {"u16": b64encode(steps.tobytes()).decode("ascii"), "low": low, "high": high}


def rounded(values: Any, digits: int = 6) -> list[float | None]:
    """Return numbers as short JSON, ``None`` for those that JSON does not have.

    Examples
    --------
    >>> rounded([1 / 3, float("nan")])
    [0.333333, None]
    """
    return [float(f"{value:.{digits}g}") if np.isfinite(value) else None for value in np.asarray(values).tolist()]


def short(name: Any) -> str:
    """Return a name, cut in the middle where it is too long for a page.

    Examples
    --------
    >>> len(short("a" * 500))
    80
    """
    return shortened(str(name), LONGEST_NAME)


def safe_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element, whatever names are in it.

    Examples
    --------
    >>> safe_json({"a": "</script><script>"})
    '{"a":"\\u003c/script>\\u003cscript>"}'
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
