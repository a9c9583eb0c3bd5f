"""Files of several arrays, and arrays of several dimensions: which is read, how it is flattened, what labels it."""

import numpy as np
import pytest
import scipy.sparse as sp

from gramian import PCA
from gramian.errors import InputError, InputWarning, ParameterError
from gramian.sources import as_source
from gramian.sources.scaled import ScaledRows
from gramian.testing import CountingRows

rng = np.random.default_rng(0)
IMAGES = rng.standard_normal((40, 5, 4))
DIGITS = np.arange(40) % 3
NAMES = np.array([f"Zoë {i}" for i in range(40)])


def npz(folder, **arrays):
    """Write arrays and return the path."""
    np.savez(folder / "t.npz", **arrays)
    return folder / "t.npz"


def hdf5(folder, **arrays):
    """The same in HDF5, texts as HDF5 has them."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(folder / "t.h5", "w") as file:
        for name, array in arrays.items():
            file[name] = array.astype(object) if array.dtype.kind == "U" else array
    return folder / "t.h5"


def zarr(folder, **arrays):
    """The same in Zarr, without texts."""
    library = pytest.importorskip("zarr")
    group = library.open_group(str(folder / "t.zarr"), mode="w")
    for name, array in arrays.items():
        made = group.create_array(name, shape=array.shape, dtype=array.dtype)
        made[...] = array
    return folder / "t.zarr"


def npy(folder, X):
    """One array."""
    np.save(folder / "t.npy", X)
    return folder / "t.npy"


@pytest.mark.parametrize("write", [npz, hdf5, zarr])
def test_the_largest_array_is_read_and_said(tmp_path, write, read):
    """Of several arrays of rows the one with most numbers is used; a name chooses another."""
    path = write(tmp_path, x_test=IMAGES[:9], x_train=IMAGES, scores=IMAGES[:, 0])
    source = as_source(path)
    np.testing.assert_array_equal(read(source), IMAGES.reshape(40, 20))
    (said,) = source.remarks
    assert "holds 3 arrays of rows" in said
    assert "The largest, 'x_train', is used; array names another." in said
    other = as_source(path, array="x_test")
    assert (other.n_rows, other.remarks) == (9, ())
    assert as_source(path, array="scores").row_shape is None
    with pytest.warns(InputWarning, match="The largest, 'x_train', is used"):
        PCA(2).fit(path)


def test_of_arrays_of_one_size_that_with_most_rows_is_read(tmp_path):
    """The rule has a second step: as many numbers, more rows."""
    assert as_source(npz(tmp_path, wide=np.ones((4, 9)), long=np.ones((9, 4)), same=np.ones((9, 4)))).n_rows == 9


def test_the_only_array_of_numbers_needs_no_word(tmp_path):
    """Text, single numbers and vectors leave one choice, which nothing is said of."""
    source = as_source(
        npz(tmp_path, rows=IMAGES[:, 0], words=np.full((50, 50), "x"), k=np.array(3), v=np.arange(900.0))
    )
    assert (source.n_columns, source.remarks, source.label_names, source.id_name) == (4, (), (), None)


@pytest.mark.parametrize("write", [npz, hdf5, zarr])
@pytest.mark.parametrize("shape", [(40, 5, 4), (40, 2, 5, 2), (40, 20, 1)])
def test_more_dimensions_are_flattened_and_the_shape_of_a_row_is_kept(tmp_path, write, shape, read):
    """Rows are those of ``X.reshape(len(X), -1)``."""
    X = IMAGES.reshape(shape)
    source = as_source(write(tmp_path, X=X))
    assert source.row_shape == shape[1:]
    np.testing.assert_array_equal(read(source), X.reshape(40, -1))
    for wrapped in (ScaledRows(source, 0), CountingRows(source)):
        assert wrapped.row_shape == shape[1:]


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_npy_array_of_any_order_is_flattened_alike(tmp_path, order, read):
    """Also where its first axis varies fastest on disk."""
    source = as_source(npy(tmp_path, np.asarray(IMAGES, order=order)))
    np.testing.assert_array_equal(read(source), IMAGES.reshape(40, -1))
    assert source.row_shape == (5, 4)


def test_a_folder_of_arrays_keeps_the_shape_of_rows_and_their_labels(tmp_path, read):
    """What all files agree on holds for the whole."""
    for i in range(2):
        np.savez(tmp_path / f"{i}.npz", X=IMAGES[i::2], y=DIGITS[i::2])
    source = as_source(tmp_path)
    assert (source.row_shape, source.label_names) == ((5, 4), ("y",))
    np.testing.assert_array_equal(read(source), np.vstack([IMAGES[0::2], IMAGES[1::2]]).reshape(40, -1))
    assert source.labels().tolist() == [str(y) for y in (*DIGITS[0::2], *DIGITS[1::2])]


@pytest.mark.parametrize("write", [npz, hdf5])
def test_vectors_of_one_entry_per_row_label_and_name_the_rows(tmp_path, write):
    """Few different numbers label, text all different names; amounts and other lengths are neither."""
    more = {"mass": rng.standard_normal(40), "wave": np.arange(7), "one": np.ones(40)}
    source = as_source(write(tmp_path, X=IMAGES, y=DIGITS, who=NAMES, **more))
    assert (source.label_names, source.id_name) == (("y",), "who")
    assert source.labels().tolist() == [str(y) for y in DIGITS]
    assert source.ids().tolist() == NAMES.tolist()


def test_what_is_called_a_label_is_taken_before_others(tmp_path):
    """Among several candidates the name decides; text that repeats labels too, floats are written as whole numbers."""
    path = npz(tmp_path, X=IMAGES, fold=np.arange(40) % 2, target=DIGITS.astype(float), site=np.array(["a", "b"] * 20))
    source = as_source(path)
    assert (source.label_names, source.labels()[:3].tolist()) == (("target",), ["0", "1", "2"])
    assert as_source(path, label="site").labels()[:2].tolist() == ["a", "b"]
    assert as_source(path, label=False).labels() is None
    assert as_source(path, id="fold").id_name == "fold"


WRONG = {
    "no such array": (
        {"X": IMAGES},
        {"array": "Y"},
        ParameterError,
        r"array='Y' is no array of .*t\.npz\. There is 'X'",
    ),
    "nearly": ({"rows": IMAGES}, {"array": "row"}, ParameterError, r"Did you mean 'rows'\?"),
    "a vector": ({"X": IMAGES, "y": DIGITS}, {"array": "y"}, InputError, "holds an array of shape .40,., and rows"),
    "no rows": ({"y": DIGITS}, {}, InputError, r"holds 0 arrays of numbers with two dimensions or more \(arrays: y"),
    "text": ({"X": IMAGES, "t": np.full((3, 3), "x")}, {"array": "t"}, InputError, "holds text"),
    "a label of another length": (
        {"X": IMAGES, "y": DIGITS[:5]},
        {"label": "y"},
        ParameterError,
        r"label='y' is no array of .* with one entry per row\. There is none",
    ),
    "columns": ({"X": IMAGES}, {"columns": "a"}, ParameterError, "so columns has no meaning"),
    "a sheet": ({"X": IMAGES}, {"sheet": "a"}, ParameterError, r"sheet is for files of \.xlsx"),
    "an array by its number": (
        {"X": IMAGES},
        {"array": 0},
        ParameterError,
        "array holds 0, of type int. Pass a string",
    ),
}


@pytest.mark.parametrize("arrays, options, kind, said", WRONG.values(), ids=WRONG)
def test_a_wrong_use_is_told(tmp_path, arrays, options, kind, said):
    """What was asked, what is so, what to do."""
    with pytest.raises(kind, match=said):
        as_source(npz(tmp_path, **arrays), **options)


def test_a_vector_alone_keeps_its_error(tmp_path):
    """One dimension is no table, and what to do is said."""
    with pytest.raises(InputError, match=r"rows of numbers have two dimensions\. Save it as a table"):
        as_source(npy(tmp_path, np.arange(5.0)))


@pytest.mark.parametrize("kind", ["sparse", "zarr"])
def test_there_is_nothing_to_choose_in_one_matrix(tmp_path, kind):
    """A sparse matrix and a plain Zarr array are all that their file holds."""
    if kind == "sparse":
        path = tmp_path / "t.npz"
        sp.save_npz(path, sp.csr_array(np.eye(4)))
    else:
        library = pytest.importorskip("zarr")
        path = tmp_path / "t.zarr"
        library.open(str(path), mode="w", shape=(4, 4), dtype="f8")[:] = np.eye(4)
    with pytest.raises(ParameterError, match="and no other arrays, so array='a' has no meaning"):
        as_source(path, array="a")


def test_objects_of_python_are_not_opened(tmp_path):
    """An array that only running code could open is no label, and no rows."""
    source = as_source(npz(tmp_path, X=IMAGES, who=NAMES.astype(object)))
    assert (source.id_name, source.label_names) == (None, ())
