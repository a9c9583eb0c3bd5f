"""A small table in the current folder, for tests of the command line."""

import numpy as np
import pytest


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder, the current one, with a small table."""
    monkeypatch.chdir(tmp_path)
    rows = np.random.default_rng(0).standard_normal((40, 3)) * [1.0, 2.0, 3.0]
    text = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows)
    (tmp_path / "table.csv").write_text(text)
    return tmp_path
