"""Where real data is looked for: in ``$GRAMIAN_DATA``, else in ``../shared/data`` beside the checkout."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("GRAMIAN_DATA") or Path(__file__).parents[2] / "shared" / "data")


def _reason(path):
    return f"{DATA / path} is not there; set GRAMIAN_DATA to the folder of the data"


def data_at(path):
    """Return where a file of the data is, or skip the test and say where it was sought."""
    if not (DATA / path).exists():
        pytest.skip(_reason(path))
    return DATA / path


def needs_data(path):
    """Return a mark that skips a test where a file or folder of the data is not there, and says where it was sought."""
    return pytest.mark.skipif(not (DATA / path).exists(), reason=_reason(path))


def files_of(pattern):
    """Return parameters for a test of each file of the data, or one that is skipped and says where they were sought."""
    found = sorted(DATA.glob(pattern))
    return [pytest.param(path, id=path.name.partition(".")[0]) for path in found] or [
        pytest.param(None, marks=pytest.mark.skip(reason=_reason(pattern)), id="none")
    ]
