"""Opens 100,000 mutations of model files, and asks that each is refused in one way or is harmless.

    python -m benchmarks.fuzz_archive [COUNT] [SEED]

Half of them change bytes anywhere. The other half are what a hostile writer makes: JSON or arrays changed in place and
the checksum made right again, so that the checks behind it are reached. Whatever opens must give a line of scores a
row or one of Gramian's errors; that the scores are finite is not asked. Prints how many were refused for what,
the slowest, and the peak of memory.
"""

import copy
import io
import json
import random
import resource
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load as parse
from safetensors.numpy import save as serialize

from gramian import kernels
from gramian.errors import GramianError, ModelFileError
from gramian.models.archive import file as archive
from gramian.models.ica.fit import fit_ica
from gramian.models.ica.model import ICAOptions
from gramian.models.kernel_pca.fit import fit_kernel_pca
from gramian.models.kernel_pca.model import KernelPCAOptions
from gramian.models.pca.fit import fit_pca
from gramian.models.pca.model import PCAOptions
from gramian.sources.opening import as_source

ODD = (None, True, -1, 0, 1, 2**62, 1e308, "", "x" * 50, [], {}, [[]], {"float": "nan"}, {"array": "components"})
"""Values that are put where others belong."""

ODD += ({"class": "Linear", "fields": {}}, {"class": "os.system", "fields": {"command": "true"}}, {"rows": None})


def seeds() -> list[bytes]:
    """Return small files of every kind."""
    source = as_source(np.random.default_rng(0).uniform(-1, 1, (20, 3)))
    models = [
        fit_pca(source, PCAOptions(2, scale=True)),
        fit_kernel_pca(source, KernelPCAOptions(2, kernels.Gaussian(0.5) + kernels.Linear())),
        fit_kernel_pca(source, KernelPCAOptions(2, kernels.Polynomial(2))),
        fit_kernel_pca(source, KernelPCAOptions(2, kernels.Gaussian(0.5), landmarks=6)),
        fit_ica(source, ICAOptions(independence=False)),
    ]
    with tempfile.TemporaryDirectory() as folder:
        return [archive.save(model, Path(folder) / "m", names="abc").read_bytes() for model in models]


def changed_bytes(content: bytes, rng: random.Random) -> bytes:
    """Cut, repeat, replace or insert bytes somewhere."""
    start = rng.randrange(len(content))
    stop = min(len(content), start + rng.choice((0, 1, 1, 2, 8, 100)))
    return content[:start] + rng.randbytes(rng.choice((0, 1, 1, 2, 8, 40))) + content[stop:]


def changed_values(content: bytes, rng: random.Random) -> bytes:
    """Change the JSON or an array, and make the checksum right."""
    length = int.from_bytes(content[:8], "little")
    document, arrays = archive._document(content[8 : 8 + length]), parse(content)  # noqa: SLF001
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
    place = archive._sum_place(made[8 : 8 + length], "0" * 64)  # noqa: SLF001
    digest = archive._digest(io.BytesIO(made), place)  # noqa: SLF001
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


def outcome(content: bytes, path: Path) -> str:
    """Open a file and say what came of it; anything but the one kind of error is raised."""
    path.write_bytes(content)
    try:
        model = archive.load(path)
    except ModelFileError as error:
        return str(error).partition("model file: ")[2][:24] or str(error)[-24:]
    rows = np.linspace(-1, 1, 2 * model.n_columns).reshape(2, -1)
    try:
        with np.errstate(all="ignore"):
            scores = model.project(rows)
    except GramianError:
        return "opened, refuses rows"
    assert scores.shape[0] == 2
    return "opened"


def main(count: int = 100_000, seed: int = 0) -> None:
    """Run and print what came of it."""
    rng, found, slowest = random.Random(seed), Counter[str](), 0.0  # noqa: S311 - no secret
    files, began = seeds(), time.perf_counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i in range(count):
            content = rng.choice(files)
            changed = (changed_bytes if i % 2 else changed_values)(content, rng)
            start = time.perf_counter()
            found[outcome(changed, Path(folder) / "m.gramian")] += 1
            slowest = max(slowest, time.perf_counter() - start)
            if i % 10_000 == 9_999:
                print(f"{i + 1:,} so far, {found['opened']:,} opened", flush=True)
    peak, spent = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, time.perf_counter() - began
    print(f"{count:,} mutations in {spent:.0f} s, slowest {slowest:.3f} s, {peak / 1024:.0f} MB more at the peak")
    for words, times in found.most_common(12):
        print(f"{times:8,}  {words}")


if __name__ == "__main__":
    main(*(int(word) for word in sys.argv[1:3]))
