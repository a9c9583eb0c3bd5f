"""`gramian pca` with no flag on every table of ../shared/data, and on what comes through a pipe."""

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import run, run_here
from tests.shared_data import DATA, files_of, needs_data

TABLES = DATA / "tables"

WORDS = {
    "decathlon": ["Scaled to unit variance", "Competition"],
    "usarrests": ["Scaled to unit variance"],
    "swiss_banknotes": ["Scaled to unit variance", "Status"],
    "winequality_red_semicolon": ["1,599 rows", "Scaled to unit variance"],
    "spam_emails": ["4,601 rows", "type"],
    "airquality_with_missing": ["Filled 44 missing values"],
    "mammal_sleep_with_missing": ["Filled 38 missing values", "species"],
    "orange_juice_with_missing": ["Filled 19 missing values"],
    "penguins_raw_messy": ["344 rows", "Species", "Left out 'Comments'", "free text"],
    "mtcars": ["32 rows", "Scaled to unit variance"],
}


@pytest.mark.parametrize("path", files_of("tables/*.csv*"))
def test_every_table_needs_no_flag(path, tmp_path, monkeypatch, capfd):
    """Exit 0, sensible words, a model and a page."""
    monkeypatch.chdir(tmp_path)
    code, out, err = run_here(capfd, "pca", path, "--quiet")
    assert code == 0, err
    stem = path.name.partition(".")[0]
    said = " ".join(out.split())
    assert all(word in said for word in WORDS.get(stem, [])), out
    assert "PC1" in out
    assert (tmp_path / f"{stem}-pca" / "report.html").stat().st_size > 10_000
    assert (tmp_path / f"{stem}-pca" / "model.gramian").exists()


@needs_data("tables")
def test_shares_are_those_of_the_reference(tmp_path, monkeypatch, capfd):
    """Published shares of the first components come out of the command."""
    monkeypatch.chdir(tmp_path)
    expected = {
        "usarrests.csv": [0.620060, 0.247441],
        "mtcars.csv": [0.600764, 0.240952],
        "swiss_banknotes.csv": [0.667517, 0.208160],
    }
    for name, shares in expected.items():
        # All lengths of the notes are in mm, which their names do not say.
        unscaled = ["--no-scale"] if name == "swiss_banknotes.csv" else []
        _, out, _ = run_here(capfd, "pca", TABLES / name, "-k", "2", "--json", "--no-report", "--quiet", *unscaled)
        assert json.loads(out)["shares"] == pytest.approx(shares, abs=2e-6), name


def rows(sep=","):
    """A small table as text."""
    lines = [sep.join(["name", "x", "y", "z"])]
    lines += [sep.join([f"n{i}", str(i % 7), str(3 * (i % 7) + i % 3), str((i * i) % 11)]) for i in range(30)]
    return "\n".join(lines)


@pytest.fixture
def piped(tmp_path, monkeypatch, capfd):
    """Run the command line in an empty folder on what comes through a pipe."""
    monkeypatch.chdir(tmp_path)

    def run_on(content, *words):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        return run_here(capfd, *words)

    return run_on


def test_standard_input(tmp_path):
    """A table from another program."""
    finished = run("pca", "-", "--quiet", cwd=tmp_path, stdin=rows().encode())
    assert finished.returncode == 0, finished.stderr
    assert b"PCA of standard input: 30 rows, 3 columns" in finished.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"stdin-pca"}


@pytest.mark.parametrize("content", [rows(";").encode(), gzip.compress(rows().encode())], ids=["semicolons", "packed"])
def test_standard_input_of_another_kind(content, piped, tmp_path):
    """The same with any separator, packed or not."""
    code, out, err = piped(content, "pca", "-", "--quiet")
    assert code == 0, err
    assert "PCA of standard input: 30 rows, 3 columns" in out
    assert {path.name for path in tmp_path.iterdir()} == {"stdin-pca"}


def test_empty_standard_input_is_named_as_such(piped):
    """No path of a temporary file is shown."""
    code, _, err = piped(b"", "look", "-")
    assert code != 0
    assert "Standard input is empty" in err
    assert "stdin.csv" not in err


def test_a_bad_row_of_standard_input_is_said_to_be_there(piped):
    """The copy in a temporary folder is nobody's concern."""
    code, _, err = piped(b"a,b\n1,2\n3\n", "look", "-")
    assert code == 3
    assert "gramian: standard input, row 2 has 1 cells" in err
    assert "stdin.csv" not in err


def test_look_shows_deviations_beside_their_columns_without_a_header(tmp_path, monkeypatch, capfd):
    """Columns are counted from 1 by their place in the file, and the missing header is said."""
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("\n".join(f"row {i},{i}.5,{i % 2}.25" for i in range(20)))
    code, out, _ = run_here(capfd, "look", "t.csv", "--json", "--quiet")
    found = json.loads(out)
    assert code == 0
    assert [column["name"] for column in found["columns"]] == ["column 1", "column 2", "column 3"]
    assert [column["deviation"] for column in found["columns"]] == pytest.approx([None, 5.916, 0.513], abs=1e-3)
    assert any("No header found" in note for note in found["notes"])


def test_cells_are_never_formulas(tmp_path, monkeypatch, capfd):
    """Names that a spreadsheet would compute are shown as text; markup in names is not run on the page."""
    monkeypatch.chdir(tmp_path)
    header = "who,=cmd(),<script>alert(1)</script>\n"
    Path("evil.csv").write_text(header + "\n".join(f"@sum{i},{i % 5},{(i * i) % 7}" for i in range(30)))
    assert run_here(capfd, "pca", "evil.csv", "-k", "2", "--quiet")[0] == 0
    for name in ("scores.csv", "loadings.csv"):
        cells = [cell for line in Path("evil-pca", name).read_text().splitlines() for cell in line.split(",")]
        assert not [cell for cell in cells if cell.startswith(("=", "@", "+"))]
    assert "<script>alert(1)</script>" not in Path("evil-pca/report.html").read_text(encoding="utf-8")


def test_command_line_loads_no_estimator(tmp_path):
    """A whole fit with its page loads no estimator."""
    (tmp_path / "t.csv").write_text(rows())
    code = (
        "import sys\nfrom gramian.cli.main import main\n"
        "assert main(['pca', 't.csv', '--quiet']) == 0\n"
        "assert main(['project', 't-pca/model.gramian', 't.csv', '--quiet', '-o', 's.csv']) == 0\n"
        "bad = [name for name in sys.modules if name.startswith('gramian.estimators')]\n"
        "assert not bad, bad[:5]"
    )
    finished = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


def test_help_is_quick(tmp_path):
    """`gramian --help` loads click, the standard library and the table of verbs: no library that takes time to load."""
    code = (
        "import json, sys\nbefore = set(sys.modules)\n"
        "from gramian.cli.main import main\nassert main(['--help']) == 0\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    finished = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    loaded = json.loads(finished.stdout.splitlines()[-1])
    assert {name.partition(".")[0] for name in loaded} - sys.stdlib_module_names == {"click", "gramian"}
    ours = {name for name in loaded if name.startswith("gramian.")}
    assert ours <= {"gramian.cli", "gramian.errors", *(f"gramian.cli.{name}" for name in ("main", "exits", "output"))}


def test_shell_completion_knows_the_verbs(tmp_path):
    """What a shell asks for completion is answered with the verbs."""
    words = {"_GRAMIAN_COMPLETE": "bash_complete", "COMP_WORDS": "gramian pr", "COMP_CWORD": "1"}
    finished = run(cwd=tmp_path, env=words)
    assert b"project" in finished.stdout
