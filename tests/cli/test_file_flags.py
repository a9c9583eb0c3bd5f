"""Flags that say how a file is read: each with its use, and each wrong use with its sentence and exit code."""

import json
import shutil

import numpy as np
import pytest

from tests.cli.command import run, run_here

X = np.random.default_rng(0).standard_normal((30, 12))


@pytest.fixture(autouse=True)
def _files(folder):
    """The same rows in several kinds of files."""
    openpyxl = pytest.importorskip("openpyxl")
    np.save(folder / "x.npy", X)
    np.savez(folder / "x.npz", X=X.reshape(30, 4, 3), Z=X[:9], y=np.arange(30) % 3)
    book = openpyxl.Workbook()
    for title in ("first", "second"):
        sheet = book.create_sheet(title)
        for line in [[f"{title}{j}" for j in range(3)], *X[:, :3].tolist()]:
            sheet.append(line)
    book.remove(book["Sheet"])
    book.save(folder / "x.xlsx")
    (folder / "x.jsonl").write_text("\n".join(json.dumps({"a": a, "b": b}) for a, b in X[:, :2].tolist()))
    lines = [
        ";".join([f"{a:.3f}".replace(".", ","), "nope" if i == 4 else f"{b:.3f}".replace(".", ",")])
        for i, (a, b) in enumerate(X[:, :2])
    ]
    (folder / "x.csv").write_text("\n".join(["a;b", *lines]))
    (folder / "names.txt").write_text("\n".join(f"n{j}" for j in range(12)))
    (folder / "team.txt").write_text("\n".join("uv"[i % 2] for i in range(30)))


def look(capfd, *words):
    """What `look --json` finds."""
    code, out, err = run_here(capfd, "look", *words, "--json", "--quiet")
    assert code == 0, err
    return json.loads(out)


def test_excel_and_json_are_looked_at_and_fitted(capfd, folder):
    """Which sheet is read is said, in flags; a fit writes its files."""
    found = look(capfd, "x.xlsx")
    assert [column["name"] for column in found["columns"]] == ["first0", "first1", "first2"]
    assert "x.xlsx has 2 sheets, and 'first' is read" in found["notes"][0]
    assert "--sheet names another: 'second'" in found["notes"][0]
    assert look(capfd, "x.xlsx", "--sheet", "second")["columns"][0]["name"] == "second0"
    assert look(capfd, "x.jsonl")["rows"] == 30
    code, out, _ = run_here(capfd, "pca", "x.xlsx", "--sheet", "second", "--quiet", "--no-report")
    assert code == 0
    assert "PCA of x.xlsx: 30 rows, 3 columns" in out
    assert (folder / "x-pca" / "model.gramian").exists()


def test_rows_of_height_and_width_are_images(capfd, folder):
    """The largest array of an .npz is read, its vector colors the rows, and the page shows images without a flag."""
    code, out, _ = run_here(capfd, "pca", "x.npz", "--quiet", "-o", "out")
    assert code == 0
    for note in (
        "The largest, 'X', is used; --array names another.",
        "Rows are colored by 'y'.",
        "images of 4 x 3 pixels",
    ):
        assert note in " ".join(out.split())
    page = (folder / "out" / "report.html").read_text()
    assert "plot.reconstructions(model, X[0], (4, 3))" in page
    found = look(capfd, "x.npz", "--array", "Z")
    assert (found["rows"], len(found["columns"])) == (9, 12)


def test_a_folder_of_gray_images_is_shown_as_images(capfd, folder):
    """What `--image` says of arrays is known of pictures; kernel PCA shows them too."""
    image = pytest.importorskip("PIL.Image")
    (folder / "many").mkdir()
    for i, pixels in enumerate(np.random.default_rng(1).integers(0, 255, size=(9, 4, 3)).astype(np.uint8)):
        image.fromarray(pixels).save(folder / "many" / f"{i}.png")
    for verb in ("pca", "kpca"):
        code, out, err = run_here(capfd, verb, "many", "-k", "2", "--quiet", "-o", f"out-{verb}")
        assert code == 0, err
        assert "Rows are images of 4 x 3 pixels" in " ".join(out.split())
        assert "leading columns" not in out


def test_pixels_that_are_left_out_leave_no_image(capfd, folder):
    """Where columns have names, one that is mostly missing is left out, and rows are no images any more."""
    holes = X.reshape(30, 4, 3).copy()
    holes[:20, 1, 1] = np.nan
    np.save(folder / "holes.npy", holes)
    code, out, err = run_here(capfd, "pca", "holes.npy", "--names", "names.txt", "--quiet", "-o", "out")
    assert code == 0, err
    assert "leading columns" in out


def test_names_labels_and_transposed_tables(capfd, folder):
    """Columns have the names given, rows the labels; the code of the page opens the file the same way."""
    found = look(capfd, "x.npy", "--names", "names.txt", "--labels", "team.txt")
    assert [column["name"] for column in found["columns"]][:2] == ["n0", "n1"]
    assert "Rows are colored by 'team'." in found["notes"]
    found = look(capfd, "x.npy", "--transpose")
    assert (found["rows"], len(found["columns"])) == (12, 30)
    code, *_ = run_here(capfd, "pca", "x.npy", "--labels", "team.txt", "--transpose", "--quiet", "-o", "out")
    assert code == 2  # twelve rows, thirty labels
    code, *_ = run_here(capfd, "pca", "x.npy", "--names", "names.txt", "--labels", "team.txt", "--quiet", "-o", "out")
    assert code == 0
    page = (folder / "out" / "report.html").read_text()
    assert (
        "as_source(&#x27;x.npy&#x27;, names=" in page
        or "as_source('x.npy', names='names.txt', labels='team.txt')" in page
    )
    scores = (folder / "out" / "scores.csv").read_text().splitlines()
    assert "team" in scores[0]


def test_decimal_signs_and_words_for_missing_values(capfd):
    """Both are found in the table once they are said."""
    found = look(capfd, "x.csv", "--decimal", ",", "--na", "nope")
    assert [(column["kind"], column["missing"] or 0) for column in found["columns"]] == [("number", 0), ("number", 1)]


def test_new_rows_are_read_with_the_same_flags(capfd):
    """A model of one sheet projects another file's sheet, and names columns of arrays the same way."""
    assert run_here(capfd, "pca", "x.npy", "--names", "names.txt", "--quiet", "--no-report", "-o", "out")[0] == 0
    code, out, err = run_here(capfd, "project", "out/model.gramian", "x.npy", "--names", "names.txt", "--quiet")
    assert code == 0, err
    assert len(out.splitlines()) == 31


@pytest.mark.parametrize("name", ["x.xlsx", "x.jsonl"])
def test_standard_input_may_be_excel_or_json(folder, name):
    """What comes through a pipe is known by how it begins, and called standard input."""
    found = run("look", "-", "--json", "--quiet", cwd=folder, stdin=(folder / name).read_bytes())
    assert found.returncode == 0, found.stderr
    answer = json.loads(found.stdout)
    assert answer["rows"] == 30
    if name == "x.xlsx":
        assert answer["notes"][0].startswith("standard input has 2 sheets")


WRONG = {
    "a sheet of an array": (("x.npy", "--sheet", "a"), 2, "--sheet is for files of .xlsx, and x.npy is none of them"),
    "no such sheet": (("x.xlsx", "--sheet", "secnd"), 2, "--sheet secnd is no sheet of x.xlsx. Did you mean 'second'?"),
    "an array of a table": (("x.csv", "--array", "a"), 2, "--array is for files of .npz, .h5 and .zarr"),
    "no such array": (("x.npz", "--array", "W"), 2, "--array W is no array of x.npz. There are 'X', 'Z', 'y'."),
    "a vector": (("x.npz", "--array", "y"), 3, "holds an array of shape (30,)"),
    "another decimal sign": (("x.csv", "--decimal", ";"), 2, "'--decimal'"),
    "a decimal sign of an array": (("x.npy", "--decimal", ","), 2, "--decimal is for files of .csv"),
    "words of an array": (("x.npy", "--na", "x"), 2, "--na is for files of .csv, .xlsx and .json"),
    "names too few": (("x.npy", "--names", "team.txt"), 2, "--names gives 30 names and x.npy has 12 columns"),
    "no names": (
        ("x.npy", "--names", "name.txt"),
        3,
        "There is no file 'name.txt' for names. Did you mean 'names.txt'?",
    ),
    "labels too few": (("x.npy", "--labels", "names.txt"), 2, "--labels gives 12 labels, and there are 30 rows"),
    "two labels": (("x.csv", "--labels", "team.txt", "--color", "a"), 2, "--color a and --labels both say what labels"),
    "too large to transpose": (
        ("x.npy", "--transpose", "--memory", "4kB"),
        6,
        "--transpose holds all of x.npy in memory",
    ),
}


@pytest.mark.parametrize("verb", ["look", "pca"])
@pytest.mark.parametrize("words, code, said", WRONG.values(), ids=WRONG)
def test_a_wrong_use_ends_in_a_sentence(capfd, folder, verb, words, code, said):
    """No traceback, no folder, and the exit code that was designed."""
    found, out, err = run_here(capfd, verb, *words, "--quiet")
    assert (found, out) == (code, "")
    assert said in " ".join(err.split())
    assert "Traceback" not in err
    shutil.rmtree(folder / "x-pca", ignore_errors=True)
