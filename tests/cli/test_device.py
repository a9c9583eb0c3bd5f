"""``--device``: the fit computes there, and the answer is that of the host."""

import json

import pytest

from tests.cli.command import run_here

torch = pytest.importorskip("torch", reason="rows are moved by torch")


@pytest.fixture
def there(request):
    """The name of a device: CUDA's, or the host's memory that passes for one."""
    if not torch.cuda.is_available():
        request.getfixturevalue("device")
    return "cuda" if torch.cuda.is_available() else "cpu"


@pytest.mark.parametrize("verb", ["pca", "kpca", "ica"])
def test_the_answer_is_that_of_the_host(verb, folder, capfd, there):
    """The shares are the same, and the plan says beforehand how the rows come there."""
    words = (verb, "table.csv", "-k", "2", "--json", "--quiet", "--no-report")
    here = json.loads(run_here(capfd, *words, "-o", "here")[1])
    moved = json.loads(run_here(capfd, *words, "-o", "there", "--device", there)[1])
    assert moved["shares"] == pytest.approx(here["shares"], rel=1e-4)
    assert (folder / "there" / "model.gramian").exists()
    assert "of rows moved to" in run_here(capfd, verb, "table.csv", "--dry-run", "--quiet", "--device", there)[1]


@pytest.mark.parametrize("words", [("mca",), ("kpca", "--landmarks", "9"), ("pca", "--method", "famd")])
def test_what_is_computed_on_the_host_refuses_a_device(words, folder, capfd, there):
    """With what to do, and no folder is made."""
    code, _, said = run_here(capfd, words[0], "table.csv", *words[1:], "--device", there)
    assert code != 0
    assert "on the host" in said
    assert not list(folder.glob("table-*"))
