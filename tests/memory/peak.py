"""Fit in this process and print the peak memory beyond the input, beside what was planned: a program of its own.

Called as ``python peak.py '{"n": 1000, "d": 50, ...}'``; prints one line of JSON.
"""

import json
import sys
from pathlib import Path

import numpy as np
import scipy.sparse as sp


def status(field):
    """One number of /proc/self/status, in bytes."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def make_rows(n, d, dtype, density, *, falling=True, steep=False, rank=None):
    """Rows of that shape and type, sparse where a density is given, and their bytes.

    Columns differ in scale, so that an iteration is soon done: what is measured here is memory. Not so where
    ``falling`` is False, which is noise. Rows of a ``steep`` table fall by eight powers of ten. A ``rank`` leaves that
    many rows, the others are multiples of them.
    """
    rng = np.random.default_rng(0)
    scale = np.geomspace(10.0, 0.1, d).astype(dtype) if falling else np.ones(d, dtype=dtype)
    if density is None:
        X = rng.standard_normal((n, d), dtype=dtype)
        X *= scale
        if steep:
            X *= np.geomspace(1.0, 1e-8, n)[:, None]
        for i in range(rank or n, n):
            X[i] = (1 + i) * X[i % rank]
        return X, X.nbytes
    count = int(n * d * density)
    rows, columns = rng.integers(0, n, count, dtype=np.int32), rng.integers(0, d, count, dtype=np.int32)
    values = rng.standard_normal(count).astype(dtype) * scale[columns]
    X = sp.csr_array(sp.coo_array((values, (rows, columns)), shape=(n, d)))
    X.sum_duplicates()
    return X, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes


def main(case):
    """Fit once small to load every library, then fit, and report."""
    from gramian import PCA

    dtype, density = case.get("dtype", "float64"), case.get("density")
    options = case.get("options", {})
    for size in ((200, 40), (40, 200)):
        PCA(n_components=3).fit(make_rows(*size, dtype, None if density is None else 0.5)[0])
    shape = {name: case[name] for name in ("falling", "steep", "rank") if name in case}
    X, bytes_in = make_rows(case["n"], case["d"], dtype, density, **shape)
    weights = np.arange(len(X)) % 3 + 1.0 if case.get("weighted") else None
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = status("VmRSS")
    pca = PCA(**options).fit(X, sample_weight=weights)
    used = status("VmHWM") - before
    sys.stdout.write(
        json.dumps({"input": bytes_in, "used": used, "planned": pca.plan_.peak_bytes, "k": int(pca.n_components_)})
        + "\n"
    )


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
