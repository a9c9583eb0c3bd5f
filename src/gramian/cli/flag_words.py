"""The library's sentences as the command line says them: flags for parameters, rows and columns counted from 1."""

import ast
import re
import shlex
from collections.abc import Callable

FLAGS = {
    "n_components": "-k",
    "columns": "--columns",
    "drop": "--drop",
    "label": "--color",
    "id": "--id",
    "memory_budget": "--memory",
    "landmarks": "--landmarks",
    "gamma": "--gamma",
}
"""Parameters by the flags that set them."""

_NAMES = "|".join(FLAGS)
_QUOTED = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""

Said = Callable[[re.Match[str]], str]


def _one_more(digits: str) -> str:
    return f"{int(digits.replace(',', '')) + 1:,}"


_RULES: tuple[tuple[str, Said], ...] = (
    (r"\brow ([\d,]*\d), column (\d+) \(both counted from 0\)", lambda m: _place(m[1], m[2])),
    (r"\brow ([\d,]*\d) \(counted from 0\), column (\d+)\b", lambda m: _place(m[1], m[2])),
    (r"\brow ([\d,]*\d) \(counted from 0\)", lambda m: f"row {_one_more(m[1])}"),
    (rf"(?<![\w'\"])({_NAMES})=({_QUOTED})", lambda m: f"{FLAGS[m[1]]} {shlex.quote(ast.literal_eval(m[2]))}"),
    (rf"(?<![\w'\"])({_NAMES})=([\d.]*\d)", lambda m: f"{FLAGS[m[1]]} {m[2]}"),
    (rf"(?<![\w'\"])({_NAMES})=(?!\S*[\w'\"\[(])", lambda m: FLAGS[m[1]]),
    (r"(?<![\w'\"])(n_components|memory_budget)(?![\w'\"=])", lambda m: FLAGS[m[1]]),
    (r"\bmin\(n_samples, n_features\)=(\d+)", lambda m: f"{m[1]}, the smaller side of the table"),
    (r"\bn_samples=(\d+)", lambda m: f"{m[1]}, the number of rows"),
    (r", 'mle', 'auto', or None for all\b", lambda _: ", or auto"),
    (r", or None for all with a non-zero eigenvalue\b", lambda _: ", or auto"),
    (r"\bLeave it out of columns\b", lambda _: "Leave it out with --drop"),
    (r"\bwith scale=True\b", lambda _: "with --scale"),
    (r"\bchoose_gamma\(\) looks for a width\b", lambda _: "--gamma sets a wider one"),
)
"""What is said in Python, and how it is said in flags."""


def in_flags(sentence: str) -> str:
    """Return a sentence of the library in the words of the command line.

    Examples
    --------
    >>> in_flags("label='my group' matches no column of t.csv.")
    "--color 'my group' matches no column of t.csv."
    >>> in_flags("t.csv, row 1,999 (counted from 0), column 'a': 'x' is no number.")
    "t.csv, row 2,000, column 'a': 'x' is no number."
    >>> in_flags("Ask for fewer components (n_components), or set memory_budget to 4000 or more.")
    'Ask for fewer components (-k), or set --memory to 4000 or more.'
    """
    for pattern, said in _RULES:
        sentence = re.sub(pattern, said, sentence)
    return sentence


def _place(row: str, column: str) -> str:
    return f"row {_one_more(row)}, column {_one_more(column)}"
