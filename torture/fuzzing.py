"""Hostile input: damaged model files, tables, arrays and command lines.

Whatever is read gives numbers or one of the errors that are meant for people, in time; the command line never ends in
a traceback. Model files are changed in two ways: bytes anywhere, and what a hostile writer makes, JSON or arrays
changed in place and the checksum made right again, so that the checks behind it are reached. Tables are text of random
dialects, cells and damage; arrays are .npy and .npz files with changed headers; command lines are words of the real
one, shuffled.
"""

import contextlib
import copy
import io
import json
import random
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as parse
from safetensors.numpy import save as serialize

from gramian import kernels
from gramian.cli.main import VERBS, main
from gramian.errors import GramianError, ModelFileError
from gramian.models.archive import file as archive
from gramian.models.ica.fit import fit_ica
from gramian.models.ica.model import ICAOptions
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source
from torture.family import Broken, Counts

A_TIME = 20
"""Executions of an attack."""

SLOW = 20.0
"""Seconds after which an answer to a file of a few kilobytes counts as none."""

ODD = (None, True, -1, 0, 1, 2**62, 1e308, "", "x" * 50, [], {}, [[]], {"float": "nan"}, {"array": "components"})
"""Values that are put where others belong."""

ODD += ({"class": "Linear", "fields": {}}, {"class": "os.system", "fields": {"command": "true"}}, {"rows": None})


@cache
def models() -> tuple[bytes, ...]:
    """Return small files of every kind."""
    source = as_source(np.random.default_rng(0).uniform(-1, 1, (20, 3)))
    fitted = [
        fit_pca(source, PCAOptions(2, scale=True)),
        fit_kernel_pca(source, KernelPCAOptions(2, kernels.Gaussian(0.5) + kernels.Linear())),
        fit_kernel_pca(source, KernelPCAOptions(2, kernels.Polynomial(2))),
        fit_kernel_pca(source, KernelPCAOptions(2, kernels.Gaussian(0.5), landmarks=6)),
        fit_ica(source, ICAOptions(independence=False)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        return tuple(archive.save(model, Path(folder) / "m", names="abc").read_bytes() for model in fitted)


def changed_bytes(content: bytes, rng: random.Random) -> bytes:
    """Cut, repeat, replace or insert bytes somewhere."""
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.choice((0, 1, 1, 2, 8, 100)))
    return content[:start] + rng.randbytes(rng.choice((0, 1, 1, 2, 8, 40))) + content[stop:]


def changed_values(content: bytes, rng: random.Random) -> bytes:
    """Change the JSON or an array, and make the checksum right."""
    length = int.from_bytes(content[:8], "little")
    document, arrays = archive._document(content[8 : 8 + length]), parse(content)
    document = copy.deepcopy(document)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if rng.random() < 0.25 and arrays:
            _change_array(arrays, rng)
        else:
            _change_json(document, rng)
    document["sha256"] = "0" * 64
    ordered = {"sha256": document.pop("sha256"), **document}
    made = serialize(arrays, metadata={"gramian": json.dumps(ordered, separators=(",", ":"))})
    length = int.from_bytes(made[:8], "little")
    place = archive._sum_place(made[8 : 8 + length], "0" * 64)
    digest = archive._digest(io.BytesIO(made), place)
    return made[:place] + digest.encode() + made[place + 64 :]


def _change_array(arrays: dict[str, Any], rng: random.Random) -> None:
    name = rng.choice(sorted(arrays))
    array = np.array(arrays[name])
    what = rng.randrange(5)
    if what == 0 and array.size:
        array.flat[rng.randrange(array.size)] = (
            rng.choice((0, 1)) if array.dtype == bool else 1e30 * (array.dtype.kind == "f")
        )
    elif what == 1 and array.size and array.dtype.kind == "f":
        array.flat[rng.randrange(array.size)] = rng.choice((np.nan, np.inf, -np.inf))
    elif what == 2:
        array = array.reshape(-1)[: rng.randrange(array.size + 1)]
    elif what == 3:
        array = array.astype(rng.choice(("float32", "int64", "bool", "float16")))
    else:
        array = np.ascontiguousarray(array.T)
    arrays[name] = array


def _change_json(document: dict[str, Any], rng: random.Random) -> None:
    """Walk to a random place and put something odd there, take it away, or copy another part to it."""
    node: Any = document
    places = [key for key in document if key != "sha256"]
    while True:
        key = rng.choice(places)
        below = node[key]
        inside = list(below) if isinstance(below, dict) else list(range(len(below))) if isinstance(below, list) else []
        if not inside or rng.random() < 0.15:
            break
        node, places = below, inside
    if rng.random() < 0.2 and isinstance(node, dict):
        del node[key]
    else:
        node[key] = copy.deepcopy(rng.choice((*ODD, document.get("model"))))


def _model(rng: random.Random, folder: Path) -> None:
    content = rng.choice(models())
    path = folder / "m.gramian"
    path.write_bytes((changed_bytes if rng.random() < 0.5 else changed_values)(content, rng))
    try:
        model = archive.load(path)
    except ModelFileError:
        return
    rows = np.linspace(-1, 1, 2 * model.n_columns).reshape(2, -1)
    with contextlib.suppress(GramianError):
        scores = model.project(rows)
        if scores.shape[0] != 2:
            raise Broken(f"a changed model gave scores of shape {scores.shape}")


WORDS = (
    *("1", "2.5", "-3e4", "0", "", " ", "NA", "nan", "inf", "-inf", "1e400", "1,5", "1.234,56", "$3.20", "12 %", "007"),
    *("2024-01-31", "31.01.24", "20010601", "yes", "no", "red", "blue", "a b", "\u00e9", "\u4e2d", "\x00", "-999"),
    *(
        "'",
        '"',
        '""',
        '"a',
        'a"b',
        ",",
        ";",
        "\t",
        "|",
        "#",
        "\ufeff",
        "\r",
        "1\n2",
        "9" * 40,
        "x" * 300,
        "1_000",
        "0x1F",
    ),
)


def _cells(rng: random.Random, rows: int, columns: int) -> list[list[str]]:
    kinds = [rng.choice((WORDS, WORDS[:8], ("1", "2", "3"), ("red", "blue", "green"))) for _ in range(columns)]
    return [[rng.choice(kind) for kind in kinds] for _ in range(rows)]


def _text_table(rng: random.Random, folder: Path) -> None:
    rows, columns = rng.randrange(0, 30), rng.randrange(1, 7)
    delimiter, ending = rng.choice(",;\t| "), rng.choice(("\n", "\r\n", "\r"))
    lines = [delimiter.join(rng.choice(("a", "id", "zip", "date", "x%", "", "n")) + str(j) for j in range(columns))]
    lines += [delimiter.join(row) for row in _cells(rng, rows, columns)]
    content = ending.join(lines[rng.randrange(2) :]).encode(rng.choice(("utf-8", "utf-16", "latin-1")), "replace")
    if rng.random() < 0.5:
        content = changed_bytes(content or b"1", rng)
    path = folder / rng.choice(("t.csv", "t.tsv", "t.txt"))
    path.write_bytes(content)
    _read(path)


def _json_table(rng: random.Random, folder: Path) -> None:
    cells = _cells(rng, rng.randrange(0, 12), rng.randrange(1, 5))
    records: Any = [{f"c{j}": _typed(cell, rng) for j, cell in enumerate(row)} for row in cells]
    shape = rng.randrange(4)
    if shape == 0:
        records = {"rows": records, "n": 1}
    elif shape == 1:
        records = {f"c{j}": [row[j] for row in cells] for j in range(len(cells[0]) if cells else 0)}
    elif shape == 2:
        records = cells
    lines = rng.random() < 0.3 and isinstance(records, list)
    text = "\n".join(json.dumps(record) for record in records) if lines else json.dumps(records)
    content = text.encode()
    path = folder / ("t.jsonl" if lines else "t.json")
    path.write_bytes(changed_bytes(content or b"1", rng) if rng.random() < 0.6 else content)
    _read(path)


def _typed(cell: str, rng: random.Random) -> Any:
    return rng.choice((cell, 1.5, 3, None, True, [cell], {"inner": cell}, 10**30, float("nan")))


def _array(rng: random.Random, folder: Path) -> None:
    drawn = np.random.default_rng(rng.randrange(2**31))
    X = drawn.standard_normal((rng.randrange(0, 9), rng.randrange(0, 5)))
    X = X.astype(rng.choice(("float64", "float32", "float16", "int8", "uint64", "complex64", ">f8", "bool", "U3")))
    made = io.BytesIO()
    if rng.random() < 0.3:
        np.savez(made, **{rng.choice("abX"): X, "labels": np.arange(len(X))})
        path = folder / "t.npz"
    else:
        np.save(made, X if rng.random() < 0.9 else X.reshape(-1))
        path = folder / "t.npy"
    content = made.getvalue()
    if rng.random() < 0.8:
        start = rng.randrange(min(len(content), 128))
        content = content[:start] + changed_bytes(content[start:] or b"1", rng)
    path.write_bytes(content)
    _read(path)


def _read(path: Path) -> None:
    """Open a file as rows and read them all; one of Gramian's errors is an answer too."""
    with contextlib.suppress(GramianError, FileNotFoundError):
        source = as_source(str(path))
        for i in range(source.n_blocks):
            rows = source.block(i).rows
            if rows.shape[1] != source.n_columns:
                raise Broken(f"a block of {rows.shape[1]} columns where {source.n_columns} were stated")


FLAGS = (
    *(
        "-k",
        "--k",
        "-o",
        "--scale",
        "--no-scale",
        "--no-report",
        "--quiet",
        "--json",
        "--dry-run",
        "--seed",
        "--memory",
    ),
    *("--role", "--decimal", "--na", "--transpose", "--names", "--labels", "--array", "--missing", "--color", "--id"),
    *("--columns", "--drop", "--kernel", "--gamma", "--sigma", "--solver", "--tol", "--ddof", "--help", "--version"),
)
VALUES = (
    "2",
    "0",
    "-1",
    "0.95",
    "auto",
    "nan",
    "a=id",
    "a=",
    "=",
    "a",
    "4GB",
    "1e9",
    "rbf",
    "poly(2)",
    "error",
    "drop",
    "",
)


def _command_line(rng: random.Random, folder: Path) -> None:
    table = folder / "t.csv"
    if not table.exists():
        rows = np.random.default_rng(0).standard_normal((12, 3))
        np.savetxt(table, rows, delimiter=",", header="a,b,c", comments="")
    verbs = [verb for verb in VERBS if verb not in ("demo", "doctor")]
    words = [rng.choice((*verbs, "pac")), rng.choice((str(table), str(folder / "none.csv"), "", str(folder)))]
    for _ in range(rng.randrange(4)):
        words += [rng.choice(FLAGS), rng.choice(VALUES)][: rng.randrange(1, 3)]
    if rng.random() < 0.3:
        rng.shuffle(words)
    if rng.random() < 0.8:
        words += ["-o", str(folder / "out"), "--no-report"]
    quiet = contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())
    # Where nothing is named, results go to the folder one is in.
    with contextlib.chdir(folder), quiet[0], quiet[1] as said:
        code = main(words)
    if code not in (0, 2, 3, 4, 5, 6, 7) or "Traceback" in said.getvalue():
        raise Broken(f"gramian {' '.join(words)}: exit code {code}: {said.getvalue()[-300:]}")


TARGETS: tuple[Callable[[random.Random, Path], None], ...] = (_model, _text_table, _json_table, _array, _command_line)


def attack(number: int) -> Counts:
    """Try one target some times."""
    target = TARGETS[number % len(TARGETS)]
    slowest = 0.0
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for i in range(A_TIME):
            rng, began = random.Random(number * A_TIME + i), time.perf_counter()
            try:
                target(rng, Path(folder))
            except Exception as error:
                message = f"{target.__name__} with seed {number * A_TIME + i}: {type(error).__name__}: {error}"
                raise Broken(message) from error
            slowest = max(slowest, time.perf_counter() - began)
    if slowest > SLOW:
        raise Broken(f"{target.__name__} took {slowest:.1f} s")
    return {f"executions{target.__name__}": A_TIME}
