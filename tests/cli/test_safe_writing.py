"""What is a user's own stays as it is, and a fit is written whole or not at all."""

from gramian.cli import exits
from gramian.cli.options import stem_of
from tests.cli.command import run_here


def test_demo_leaves_a_file_of_the_same_name(folder, capfd):
    """A table of one's own called wine.csv is not written over; the demo's own table is."""
    (folder / "wine.csv").write_text("mine\n")
    code, _, err = run_here(capfd, "demo", "wine", "-o", ".", "--quiet")
    assert code == exits.WRITE
    assert "wine.csv" in err
    assert (folder / "wine.csv").read_text() == "mine\n"
    assert run_here(capfd, "demo", "particle", "--quiet")[0] == 0
    assert run_here(capfd, "demo", "particle", "--quiet")[0] == 0


def test_input_inside_the_folder_is_refused(folder, capfd):
    """A file that the fit would write is not also what it reads."""
    assert run_here(capfd, "pca", "table.csv", "-o", "loop", "--no-report", "--quiet")[0] == 0
    before = (folder / "loop" / "scores.csv").read_bytes()
    for path in ("loop/scores.csv", "loop/*.csv", "./loop/../loop/scores.csv"):
        assert run_here(capfd, "pca", path, "-o", "loop", "--quiet")[0] == exits.USAGE, path
    assert (folder / "loop" / "scores.csv").read_bytes() == before


def test_name_of_a_model_does_not_make_a_folder_ours(folder, capfd):
    """A folder with a file that is only called model.gramian is somebody else's."""
    (folder / "mine").mkdir()
    for name in ("model.gramian", "scores.csv"):
        (folder / "mine" / name).write_text("dear")
    assert run_here(capfd, "pca", "table.csv", "-o", "mine", "--quiet")[0] == exits.WRITE
    assert {path.read_text() for path in (folder / "mine").iterdir()} == {"dear"}


def test_only_known_endings_are_cut():
    """Two files with dots in their names are written to two folders."""
    assert [stem_of(name) for name in ("s.2023.csv", "s.2024.csv.gz", "v1.2")] == ["s.2023", "s.2024", "v1.2"]


def test_failed_run_leaves_no_folder(folder, capfd):
    """Folders that were made for a run that failed are removed, also those above."""
    assert run_here(capfd, "pca", "missing.csv", "-o", "a/b/c", "--quiet")[0] == exits.DATA
    assert not (folder / "a").exists()


def test_fit_is_written_whole(folder, capfd, monkeypatch):
    """Where the last file cannot be written, the first ones are those of the fit before."""
    assert run_here(capfd, "pca", "table.csv", "-o", "out", "--quiet")[0] == 0
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gramian.report.analysis.write_material", full)
    assert run_here(capfd, "pca", "table.csv", "-k", "2", "-o", "out", "--quiet")[0] == exits.WRITE
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == before


def test_page_of_another_fit_does_not_stay(folder, capfd):
    """With --no-report the page of the fit before is removed."""
    assert run_here(capfd, "pca", "table.csv", "-o", "out", "--quiet")[0] == 0
    assert run_here(capfd, "pca", "table.csv", "-o", "out", "--quiet", "--no-report")[0] == 0
    assert sorted(path.name for path in (folder / "out").iterdir()) == ["loadings.csv", "model.gramian", "scores.csv"]
