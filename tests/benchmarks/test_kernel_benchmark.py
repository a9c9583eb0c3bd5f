"""The kernel PCA benchmark judges by K itself, and keeps what it measured."""

import json

import numpy as np
import pytest

from benchmarks import speed_page
from benchmarks.kernel_pca import fits, judging, landmarks, record
from benchmarks.kernel_pca.rows import rows_of, width_of
from benchmarks.kernel_pca.ways import ways_at
from gramian import KernelPCA

MACHINE = {
    "date": "2026-01-01",
    "cpu": "a",
    "cores": 2,
    "memory_bytes": 2**34,
    "python": "3",
    "versions": {"numpy": "2"},
}


def _matrix(X, gamma):
    rows = X.astype(float)
    return np.exp(-gamma * ((rows[:, None] - rows) ** 2).sum(axis=2))


def test_the_product_is_that_of_the_whole_matrix(monkeypatch):
    """Pieces of K make K V, also where they do not come out even."""
    monkeypatch.setattr(judging, "ROWS", 37)
    monkeypatch.setattr(judging, "COLUMNS", 50)
    X, V = rows_of(130), np.random.default_rng(0).standard_normal((130, 3))
    np.testing.assert_allclose(judging.kernel_product(X, 0.02, V), _matrix(X, 0.02) @ V, rtol=1e-10)


@pytest.mark.parametrize("spoilt", [0.0, 1e-3])
def test_a_residual_is_what_an_answer_is_wrong_by(spoilt):
    """Exact pairs have none, and a vector that was turned has the one of its turn."""
    X = rows_of(200)
    model = KernelPCA(3, kernel="rbf", gamma=width_of(X)).fit(X.astype(float))
    U = model.eigenvectors_ + spoilt * np.roll(model.eigenvectors_, 1, axis=1)
    model.eigenvectors_ = U
    K = _matrix(X, width_of(X))
    A = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    expected = np.linalg.norm(A @ U - U * model.eigenvalues_, axis=0).max() / model.eigenvalues_[0]
    found = judging.residual_of(X, width_of(X), model)
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert (found > 1e-4) == (spoilt > 0)


def test_every_way_is_measured_and_judged():
    """Each way gives a time, its memory and a residual; time that goes like n^2 has the power two."""
    rows = fits.measure(500, ways_at(500)[:2], tol=1e-6, runs=1, pause=0.0)
    assert [row.way for row in rows] == ["Gramian", "scikit-learn arpack, float32"]
    assert all(row.seconds > 0 and row.residual < 1e-4 and row.pause == 0 for row in rows)
    square = [fits.Row(n, "x", 1e-6, 3e-9 * n**2, 1, 1.0, None) for n in (10, 100, 1000)]
    assert fits.fitted_power(square) == pytest.approx(2.0)


def test_the_error_on_new_rows_is_that_of_the_features():
    """With all rows as landmarks nothing is lost on them; fewer landmarks lose more."""
    X = rows_of(300)
    errors = []
    for count in (300, 20):
        model = KernelPCA(2, kernel="rbf", gamma=width_of(X), landmarks=count).fit(X)
        errors.append(landmarks._error_on(X, model, len(X)))
    assert errors[0] < 1e-6 < errors[1]
    assert errors[1] == pytest.approx(model.error_estimate_.relative, rel=1e-3)


def test_parts_are_kept_beside_each_other(tmp_path, monkeypatch):
    """A part that is measured again takes its own place, and every table shows it."""
    page = tmp_path / "speed.md"
    page.write_text(f"before\n{record.BEGIN}\n{record.END}\nafter\n")
    monkeypatch.setattr(record, "RESULTS", tmp_path)
    monkeypatch.setattr(speed_page, "PAGE", page)
    row = {"n": 7000, "way": "Gramian", "tol": 1e-6, "seconds": 1.5, "runs": 3, "megabytes": 21.0, "residual": 3e-7}
    for seconds in (1.5, 2.25):
        rows = [
            row | {"seconds": seconds, "note": ""},
            row | {"seconds": None, "way": "scikit-learn x", "note": "no memory"},
        ]
        record.keep("fits", {"machine": MACHINE, "rows": rows})
        record.keep("growth", {"machine": MACHINE, "rows": rows, "power": 1.97})
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    for words in ("2.25", "no memory", "n^1.97", "3.0 kB a row"):
        assert words in text
    assert "1.50" not in text
    assert set(json.loads((tmp_path / "kernel_pca.json").read_text())) == {"fits", "growth"}


def test_fits_at_once_have_lines_of_their_own():
    """What was measured while BLAS's threads were awake is not mixed with what was measured after a pause."""
    row = {"n": 2000, "way": "Gramian", "tol": 1e-6, "seconds": 0.04, "runs": 3, "megabytes": 1.0, "residual": 3e-7}
    peer = row | {"way": "scikit-learn x", "seconds": 0.05, "note": ""}
    rows = [
        one | {"note": "", "pause": pause} for pause in (0.0, 0.2) for one in (row, peer | {"seconds": 0.05 + pause})
    ]
    text = record.summary({"fits": {"machine": MACHINE, "rows": rows}})
    assert "| 2,000, at once | 1e-06 | 0.040 s (3e-07) | 0.050 s" in text
    assert "| 2,000 | 1e-06 | 0.040 s (3e-07) | 0.250 s" in text
