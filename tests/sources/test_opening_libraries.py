import numpy as np
import pytest
from array_api_compat.numpy import isdtype

from gramian.arrays.namespace import is_torch
from gramian.errors import InputError, NotSupportedError
from gramian.sources.opening import as_source

TORCH_DTYPES = {
    "float16": "float32",
    "bfloat16": "float32",
    "float32": "float32",
    "float64": "float64",
    "uint8": "float64",
    "int16": "float64",
    "int64": "float64",
    "uint64": "float64",
    "bool": "float64",
}


@pytest.mark.parametrize("dtype", TORCH_DTYPES)
@pytest.mark.parametrize("transposed", [False, True])
def test_tensors_stay_tensors(X, read, dtype, transposed):
    """A tensor of any real dtype and layout stays torch, and reads as the plain array does."""
    torch = pytest.importorskip("torch")
    tensor = torch.from_numpy(X.T if transposed else X).to(getattr(torch, dtype))
    tensor = tensor.T if transposed else tensor
    source = as_source(tensor)
    assert is_torch(source.block(0).rows)
    assert source.dtype == np.dtype(TORCH_DTYPES[dtype])
    np.testing.assert_array_equal(read(source), X.astype(bool) if dtype == "bool" else X)


def test_a_tensor_with_gradients_is_detached_without_being_changed(X):
    """Opening shares the memory, and leaves the tensor's own gradient history alone."""
    torch = pytest.importorskip("torch")
    leaf = torch.from_numpy(X.copy()).requires_grad_()
    rows = as_source(leaf).block(0).rows
    assert not rows.requires_grad
    assert rows.data_ptr() == leaf.data_ptr()
    assert leaf.requires_grad
    assert leaf.is_leaf


def test_tensors_that_hold_no_rows_of_numbers_are_refused():
    """Complex, sparse and misshapen tensors are refused as arrays are."""
    torch = pytest.importorskip("torch")
    with pytest.raises(InputError, match=r"Complex data not supported: X has dtype torch\.complex64"):
        as_source(torch.ones((2, 2), dtype=torch.complex64))
    with pytest.raises(NotSupportedError, match=r"layout torch\.sparse_coo\. Pass X\.to_dense\(\)"):
        as_source(torch.eye(3).to_sparse_coo())
    with pytest.raises(InputError, match=r"Expected 2D array, got 1D array instead.*Reshape your data"):
        as_source(torch.ones(3))
    with pytest.raises(InputError, match=r"Found array with 0 sample\(s\)"):
        as_source(torch.ones((0, 3)))


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_large_integers_in_a_tensor_are_refused_with_their_place(dtype):
    """The first integer beyond 2**53 is named; 2**53 itself is not refused."""
    torch = pytest.importorskip("torch")
    values = np.zeros((3, 2), dtype=dtype)
    values[0, 0] = 2**53
    as_source(torch.from_numpy(values))
    values[1, 1] = 2**53 + 1
    with pytest.raises(InputError, match=r"9007199254740993 in row 1, column 1"):
        as_source(torch.from_numpy(values))


class DeviceArray:
    """An array of a made-up library: it follows the array API and cannot become a NumPy array unasked."""

    def __init__(self, host):
        self._host = host
        self.shape, self.dtype = host.shape, host.dtype
        self.ndim, self.device = host.ndim, "device:0"

    def __array_namespace__(self, api_version=None):
        return DeviceLibrary

    def __array__(self, dtype=None, copy=None):
        message = "implicit conversion to a NumPy array is not allowed"
        raise TypeError(message)

    def __getitem__(self, key):
        return DeviceArray(self._host[key])

    def __invert__(self):
        return DeviceArray(~self._host)

    def __float__(self):
        return float(self._host)

    def __int__(self):
        return int(self._host)

    def get(self):
        """Copy to the host, when asked."""
        return self._host


class DeviceLibrary:
    """The functions of the made-up library that opening and searching need."""

    float32, float64, int64, uint64 = (np.dtype(name) for name in ("float32", "float64", "int64", "uint64"))
    isdtype = staticmethod(isdtype)

    @staticmethod
    def astype(x, dtype, copy=True):
        """Convert on the device."""
        return DeviceArray(x._host.astype(dtype, copy=copy))

    @staticmethod
    def sum(x):
        """Sum on the device."""
        return DeviceArray(np.asarray(x._host.sum()))

    @staticmethod
    def isfinite(x):
        """Compare on the device."""
        return DeviceArray(np.isfinite(x._host))

    @staticmethod
    def nonzero(x):
        """Search on the device."""
        return tuple(map(DeviceArray, np.nonzero(x._host)))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "bool"])
def test_arrays_of_other_libraries_stay_where_they_are(X, read, dtype):
    """An array-API array is converted by its own library and never through the host."""
    source = as_source(DeviceArray(X.astype(dtype)))
    assert isinstance(source.block(0).rows, DeviceArray)
    assert source.dtype == (np.float32 if dtype in ("float16", "float32") else np.float64)
    np.testing.assert_array_equal(read(source), X.astype(dtype))


def test_other_libraries_types_that_are_no_numbers_are_refused():
    """A type that the array API does not know as real numbers is refused by name."""
    with pytest.raises(NotSupportedError, match=r"X has dtype datetime64\[s\], which holds no plain numbers"):
        as_source(DeviceArray(np.zeros((2, 2), "datetime64[s]")))
