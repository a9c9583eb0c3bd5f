"""What a person says of a file: names, labels, decimal sign, words for missing values, transposed tables, encodings."""

import numpy as np
import pytest

from gramian.errors import InputError, MemoryBudgetError, ParameterError
from gramian.sources import as_source
from tests.sources.files import write

X = np.random.default_rng(0).integers(-99, 99, size=(12, 4)) / 8


def save(folder, content, name="t.csv"):
    """Write text or bytes and return the path."""
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder / name


def text(head="a,b,c,d", delimiter=",", decimal="."):
    """The rows as text."""
    lines = [delimiter.join(str(value).replace(".", decimal) for value in row) for row in X.tolist()]
    return "\n".join([head.replace(",", delimiter), *lines]) + "\n"


KINDS = [
    "csv",
    "parquet",
    "feather",
    "excel",
    "json",
    "json lines",
    "npy",
    "npz",
    "hdf5",
    "zarr",
    "matrix market array",
]


@pytest.mark.parametrize("kind", KINDS)
def test_names_and_labels_are_given_for_every_kind_of_file(tmp_path, kind, read):
    """As a sequence or as a file, in place of what the file has; names are those that columns are chosen by."""
    path = write(tmp_path, kind, X)
    (tmp_path / "names.txt").write_text("größe\nw\nx\ny\n", encoding="utf-8")
    (tmp_path / "kind.txt").write_text("\n".join("pq"[i % 2] for i in range(12)) + "\n")
    source = as_source(path, names=tmp_path / "names.txt", labels=str(tmp_path / "kind.txt"))
    assert source.column_names == ("größe", "w", "x", "y")
    assert (source.label_names, source.labels().tolist()) == (("kind",), ["p", "q"] * 6)
    np.testing.assert_array_equal(read(source), X)
    source = as_source(path, names=["k", "l", "m", "n"], labels=list(range(12)))
    assert (source.label_names, source.labels()[-1]) == (("labels",), "11")
    if kind in KINDS[:6]:
        taken = as_source(path, names=["k", "l", "m", "n"], columns=["n", "k"])
        np.testing.assert_array_equal(read(taken), X[:, [3, 0]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_transposed_file_has_the_columns_as_rows(tmp_path, kind, read):
    """The numbers are those of the transposed table; of tables the former names name the rows."""
    source = as_source(write(tmp_path, kind, X), transpose=True)
    np.testing.assert_array_equal(read(source), X.T)
    if kind in KINDS[:6]:
        assert source.ids().tolist() == ["c0", "c1", "c2", "c3"]
        assert "Transposed, as asked: the 4 columns of numbers" in source.remarks[0]


def test_the_first_column_of_text_names_the_columns_of_a_transposed_table(tmp_path, read):
    """Names that repeat are made different, columns can be chosen by them, and labels are one per former column."""
    head, *lines = text().splitlines()
    genes = ["g1", "g1", *(f"g{i}" for i in range(3, 13))]
    path = save(
        tmp_path, "\n".join([f"gene,{head}", *(f"{gene},{line}" for gene, line in zip(genes, lines, strict=True))])
    )
    source = as_source(path, transpose=True, labels=["u", "v", "u", "v"])
    assert source.column_names == ("g1", "g1.1", *genes[2:])
    assert (source.ids().tolist(), source.labels().tolist()) == (["a", "b", "c", "d"], ["u", "v", "u", "v"])
    np.testing.assert_array_equal(read(source), X.T)
    chosen = as_source(path, transpose=True, columns=["g5", "g1"])
    np.testing.assert_array_equal(read(chosen), X.T[:, [4, 0]])
    named = as_source(path, transpose=True, names=[f"n{i}" for i in range(12)])
    assert named.column_names[:2] == ("n0", "n1")


def test_a_transposed_folder_is_that_of_all_its_rows(tmp_path, read):
    """Files are joined first."""
    source = as_source(write(tmp_path, "folder of csv", X, rows=5), transpose=True)
    np.testing.assert_array_equal(read(source), X.T)


@pytest.mark.parametrize(
    "content, decimal, expected",
    [
        (text(delimiter=";", decimal=","), ",", X),
        (text(delimiter=" ", decimal=","), ",", X),
        (text(delimiter="\t", decimal=","), ",", X),
        (
            "a,b\n" + "\n".join(f'"{a},5","{b},25"' for a, b in [(1, 2), (3, 4), (5, 6)]),
            ",",
            [[1.5, 2.25], [3.5, 4.25], [5.5, 6.25]],
        ),
        ("a\n1,5\n2,5\n3,5\n", ",", [[1.5], [2.5], [3.5]]),
        ("a\n1,5\n2,5\n3,7\n", ".", [[5], [5], [7]]),
        ("a;b\n1,500;2\n2,250;3\n", ",", [[1.5, 2], [2.25, 3]]),
    ],
    ids=["semicolons", "blanks", "tabs", "quotes", "one column", "a number and a value", "few digits"],
)
def test_the_decimal_sign_is_as_said(tmp_path, content, decimal, expected, read):
    """Commas are decimal commas where a person says so, whatever is between the cells."""
    source = as_source(save(tmp_path, content), decimal=decimal)
    np.testing.assert_array_equal(read(source), expected)


def test_what_is_unclear_of_commas_names_the_option_that_decides(tmp_path):
    """A counter and a value, or numbers with decimal commas: the error names both words."""
    with pytest.raises(InputError, match=r"Say which of them: decimal=',' or decimal='\.'\."):
        as_source(save(tmp_path, "a\n1,5\n2,5\n3,5\n"))


@pytest.mark.parametrize("na", ["-999", ["-999", "nicht da"], ("nicht da", "-999")])
def test_more_words_are_missing_values(tmp_path, na, read):
    """Words given count with blanks around them too, also behind the first megabyte; other cells stay."""
    lines = [f"{i % 97 + 0.5},{i % 89}" for i in range(120_000)]
    lines[3], lines[4], lines[100_000] = "-999,4", "-999.00,4", "1.5, -999 "
    if not isinstance(na, str):
        lines[5] = "nicht da,2"
    rows = read(as_source(save(tmp_path, "\n".join(["a,b", *lines])), na=na))
    places = [[3, 0], [4, 0], *([] if isinstance(na, str) else [[5, 0]]), [100_000, 1]]
    np.testing.assert_array_equal(np.argwhere(np.isnan(rows)), places)


ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "latin-1", "cp1252"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_letters_are_right_in_every_encoding(tmp_path, encoding):
    """Names, labels and names of rows have their letters; smart quotes and the euro sign where an encoding has them."""
    name, label = ("größe", "Köln") if encoding == "latin-1" else ("größe €", "“Köln”")
    lines = [f"Zoë {i};{label if i % 2 else 'Orléans'};{i}.5" for i in range(10)]
    source = as_source(save(tmp_path, "\n".join([f"wer;Straße;{name}", *lines]).encode(encoding)))
    assert source.column_names == (name,)
    assert (source.id_name, source.label_names) == ("wer", ("Straße",))
    assert source.labels()[:2].tolist() == ["Orléans", label]
    assert source.ids()[7] == "Zoë 7"
    (tmp_path / "names.txt").write_bytes(f"a\nb\n{name}\n".encode(encoding))
    assert as_source(tmp_path / "t.csv", names=tmp_path / "names.txt").column_names == (name,)


def test_letters_behind_the_first_megabyte_are_right_too(tmp_path):
    """A file that begins with plain letters alone may go on in Windows-1252."""
    lines = [f"{'Köln' if i > 99_990 else 'Bonn' if i % 2 else 'Ulm'},{i % 97}.5" for i in range(100_000)]
    source = as_source(save(tmp_path, "\n".join(["town,h", *lines]).encode("cp1252")))
    assert source.label_names == ("town",)
    assert source.labels()[-1] == "Köln"


def test_a_row_too_long_in_such_letters_is_named(tmp_path, capfd):
    """A row with a cell too many behind the first megabyte is said with its place, whatever its letters."""
    lines = [f"{'Köln,' if i == 99_995 else 'Ulm'},{i % 97}.5" for i in range(100_000)]
    with pytest.raises(InputError, match=r"row 99,995 .* has 3 cells, and the rows before it have 2 \(line 99,997\)"):
        as_source(save(tmp_path, "\n".join(["town,h", *lines]).encode("cp1252")))
    assert not capfd.readouterr().err


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather"])
def test_names_that_come_twice_are_made_different_and_said(tmp_path, kind, read):
    """No file is refused for its names; columns of one name keep their order."""
    import pyarrow as pa
    from pyarrow import feather, parquet

    path = tmp_path / f"t.{kind}"
    table = pa.table(list(np.ascontiguousarray(X.T)), names=["a", "b", "a", "a"])
    if kind == "csv":
        path.write_text(text(head="a,b,a,a"))
    else:
        (parquet.write_table if kind == "parquet" else feather.write_feather)(table, path)
    source = as_source(path)
    assert source.column_names == ("a", "b", "a.1", "a.2")
    np.testing.assert_array_equal(read(source), X)
    np.testing.assert_array_equal(read(as_source(path, columns=["a.2", "b"])), X[:, [3, 1]])
    assert "several columns called 'a'; the others are called 'a.1', 'a.2'." in source.remarks[0]


WRONG = {
    "a decimal sign of an array": (
        "npy",
        {"decimal": ","},
        ParameterError,
        r"decimal is for files of \.csv, and .*x\.npy",
    ),
    "another decimal sign": ("csv", {"decimal": ";"}, ParameterError, r"decimal=';': a decimal sign is ',' or '\.'"),
    "na of Parquet": ("parquet", {"na": "x"}, ParameterError, r"na is for files of \.csv, \.xlsx and \.json"),
    "na by its number": ("csv", {"na": [-999]}, ParameterError, "na holds -999, of type int. Pass a string"),
    "names too many": ("csv", {"names": list("abcde")}, ParameterError, "names gives 5 names and .* has 4 columns"),
    "names of an array": ("npy", {"names": list("abc")}, ParameterError, "names gives 3 names and .* has 4 columns"),
    "names that are none": ("npy", {"names": [1, 2, 3, 4]}, ParameterError, "names holds 1, of type int. Pass strings"),
    "names of no kind": ("csv", {"names": 5}, ParameterError, "names is 5. Pass the path of a file, or a sequence"),
    "no file of names": ("csv", {"names": "nowhere.txt"}, InputError, r"There is no file 'nowhere\.txt' for names"),
    "labels too few": ("npy", {"labels": ["a"]}, ParameterError, "labels gives 1 labels, and there are 12 rows"),
    "no file of labels": ("npy", {"labels": "nowhere.txt"}, InputError, r"There is no file 'nowhere\.txt' for labels"),
    "two labels": (
        "csv",
        {"labels": ["a"] * 12, "label": "c0"},
        ParameterError,
        "label='c0' and labels both say what labels the rows",
    ),
    "transposed names too few": (
        "csv",
        {"transpose": True, "names": ["a"]},
        ParameterError,
        "names gives 1 names, and .* has 12 rows, which are the columns when it is transposed",
    ),
    "transposed sparse rows": ("sparse npz", {"transpose": True}, InputError, r"sparse rows, .* Save X\.T\.tocsr"),
}


@pytest.mark.parametrize("kind, options, error, said", WRONG.values(), ids=WRONG)
def test_a_wrong_use_is_told(tmp_path, kind, options, error, said):
    """What was asked, what is so, what to do."""
    with pytest.raises(error, match=said):
        as_source(write(tmp_path, kind, X), **options)


def test_a_table_too_large_to_be_transposed_is_refused(tmp_path):
    """It would be held in memory: the error names the setting."""
    path = write(tmp_path, "npy", np.zeros((500, 300)))
    with pytest.raises(MemoryBudgetError, match=r"transpose holds all of .* in memory, 3\.\d MB, and the budget is"):
        as_source(path, transpose=True, memory_budget="1MB")


@pytest.mark.parametrize(
    "option",
    [
        {"array": "a"},
        {"sheet": "a"},
        {"decimal": ","},
        {"na": "x"},
        {"transpose": True},
        {"names": ["a"]},
        {"labels": "f"},
    ],
    ids=lambda option: next(iter(option)),
)
def test_options_of_files_are_refused_elsewhere(option):
    """Of rows in memory they would change nothing."""
    with pytest.raises(ParameterError, match=f"{next(iter(option))} is for files, and X is none"):
        as_source(X, **option)


def test_labels_of_a_file_may_have_a_name_and_be_an_array(tmp_path):
    """A first line too many is what they are called; an .npy file holds one per row."""
    path = write(tmp_path, "npy", X)
    save(tmp_path, "color\n" + "red\nblue\n" * 6, "l.txt")
    assert as_source(path, labels=tmp_path / "l.txt").label_names == ("color",)
    np.save(tmp_path / "l.npy", np.arange(12) % 2)
    assert as_source(path, labels=tmp_path / "l.npy").labels()[:3].tolist() == ["0", "1", "0"]


@pytest.mark.parametrize("kind", ["npy", "h5ad", "h5ad csr"])
def test_columns_of_arrays_with_names_can_be_chosen(tmp_path, kind, read):
    """By name and glob, in the order asked for, from dense and sparse rows."""
    options = {"names": ["g0", "g1", "g2", "g3"]} if kind == "npy" else {}
    path = write(tmp_path, kind, X)
    source = as_source(path, columns=["g3", "g0"], **options)
    assert source.column_names == ("g3", "g0")
    np.testing.assert_array_equal(read(source), X[:, [3, 0]])
    np.testing.assert_array_equal(read(as_source(path, drop="g[12]", **options)), X[:, [0, 3]])
    assert source.n_entries > 0
    with pytest.raises(ParameterError, match="columns='h' matches no column"):
        as_source(path, columns="h", **options)


@pytest.mark.parametrize("option", ["array", "sheet", "na", "transpose"])
def test_a_checkpoint_of_a_file_read_otherwise_is_not_taken(tmp_path, option):
    """Passes that were kept of another array, sheet, reading of missing values or order of axes are other passes."""
    Y = X[:, ::-1] * [1, 2, 3, 4]
    if option == "array":
        np.savez(tmp_path / "t.npz", a=X, b=Y)
        path, first, second = tmp_path / "t.npz", {"array": "a"}, {"array": "b"}
    elif option == "sheet":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for title, rows in (("a", X), ("b", Y)):
            sheet = book.create_sheet(title)
            for line in [list("wxyz"), *rows.tolist()]:
                sheet.append(line)
        book.save(tmp_path / "t.xlsx")
        path, first, second = tmp_path / "t.xlsx", {"sheet": "a"}, {"sheet": "b"}
    elif option == "na":
        path = save(tmp_path, text(head="w,x,y,z"))
        first, second = {}, {"na": str(X[3, 2])}
    else:
        path, first, second = write(tmp_path, "npy", X[:4]), {}, {"transpose": True}
    sources = [as_source(path, checkpoint=tmp_path / "log", **said) for said in (first, second)]
    totals = [source.reduce(_total, np.add) for source in sources]
    for total, said in zip(totals, (first, second), strict=True):
        np.testing.assert_array_equal(total, as_source(path, **said).reduce(_total, np.add))


def _total(state, block):
    here = block.rows.sum(axis=0)
    return here if state is None else state + here


def test_labels_given_take_the_place_of_a_column(tmp_path):
    """The column that would have been the label is left out."""
    lines = [f"{'uv'[i % 2]},{i}.5" for i in range(12)]
    path = save(tmp_path, "\n".join(["team,h", *lines]))
    assert as_source(path).label_names == ("team",)
    source = as_source(path, labels=["x", "y"] * 6)
    assert (source.label_names, source.labels()[0], source.column_names) == (("labels",), "x", ("h",))
