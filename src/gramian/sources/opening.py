"""What users pass as X becomes a source of rows: :func:`as_source`.

A new kind of X is one line in :data:`INPUTS`; a new kind of file one in ``FORMATS`` of :mod:`gramian.sources.formats`.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from errno import ENAMETOOLONG
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np
import scipy

from gramian.arrays.namespace import Array, HostArray, cast, is_cupy, is_dask, is_sparse, is_torch, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.machine import bytes_of
from gramian.sources.conversion import (
    array_of_lists,
    as_working_floats,
    real_foreign_numbers,
    real_numbers,
    refuse_masked,
    require_real_kind,
    working_dtype,
)
from gramian.sources.dense import DenseRows
from gramian.sources.file_options import Chosen, FileOptions, Wanted, is_path
from gramian.sources.locations import Names, dense_locations, sparse_locations
from gramian.sources.pass_log import PassLog
from gramian.sources.progress import Say
from gramian.sources.rows import RowSource, rows_here
from gramian.sources.sparse import SparseRows
from gramian.sources.table import is_table, open_table

if TYPE_CHECKING:
    from gramian.sources.roles import Reading


def as_source(
    X: Any,
    *,
    weights: Any = None,
    column_names: Sequence[str] | None = None,
    columns: Wanted = None,
    drop: Wanted = None,
    label: str | bool | None = None,
    id: str | bool | None = None,  # noqa: A002 - what a person calls it
    memory_budget: int | str | None = None,
    progress: Say | None = None,
    checkpoint: str | os.PathLike[str] | PassLog | None = None,
    array: str | None = None,
    sheet: str | None = None,
    decimal: str | None = None,
    na: str | Sequence[str] | None = None,
    transpose: bool = False,
    names: str | os.PathLike[str] | Sequence[str] | None = None,
    labels: str | os.PathLike[str] | Sequence[Any] | None = None,
    roles: Mapping[str, str] | None = None,
    bad_cells: str = "error",
    sentinels: bool | None = None,
    readings: Mapping[str, "Reading"] | None = None,
    needs_numbers: bool = True,
    missing: bool = False,
) -> RowSource:
    """Open X as rows that can be read again and again, without copying what need not be copied.

    Parameters
    ----------
    X : array (n, d), sparse array, table, list of lists, or path
        NumPy of any dtype, strides and byte order; masked arrays with nothing masked; SciPy sparse of any
        format; torch and other arrays of the array API, which stay in their library; pandas, polars and Arrow
        tables, and any other object that offers itself as a table or an array; Dask arrays and data frames, whose
        rows stay where they are (:class:`~gramian.sources.dask.DaskRows`). A source passes through.
        A string or path names a file, a folder of files or a glob, which is read in windows and never whole:
        Parquet, Arrow, CSV and its relatives, .npy, .npz, HDF5, Zarr, Matrix Market, images; or read whole: Excel
        workbooks, JSON and JSON lines. Arrays of more than two dimensions are flattened to (n, -1).
    weights : array (n,), optional
        How often each row counts: finite, not negative, not all zero.
    column_names : sequence of str, optional
        Names of the columns, in place of those a table has.
    columns, drop : str or sequence of str, optional
        For table files: which columns to use, or not to use, by name, by glob (``"temp*"``) or by type
        (``":number"``, ``":float"``, ``":integer"``, ``":boolean"``). By default all quantities.
    label, id : str, False or None
        For table files: the column kept for pictures, and the one that names the rows; ``None`` takes every category
        and the likeliest name, ``False`` wants none. Neither is used as a number.
    memory_budget : int or str, optional
        For files: bytes that the whole work may take, or a size such as ``"4GB"``; windows are sized by it. By
        default that of the process (``GRAMIAN_MEMORY``).
    progress : callable, optional
        For files: called with a sentence about once a second: the part done, the rate, the time left.
    checkpoint : path, optional
        For files: a folder in which passes are kept, so that a fit that was killed goes on where it was.
    array : str, optional
        For .npz, HDF5 and Zarr: the array that holds the rows, by default the largest of two dimensions or more. Other
        arrays with an entry per row may be named by ``label`` and ``id``.
    sheet : str, optional
        For Excel: the sheet, by default the first with a table of numbers.
    decimal : str, optional
        For text tables: the decimal sign, "," or ".", by default what the first rows show.
    na : str or sequence of str, optional
        For text tables, Excel and JSON: more words for a missing value, as they are written there (``"-999"``).
    transpose : bool
        For files: rows become columns, named by the first column of text. The table is held in memory.
    names : path or sequence of str, optional
        For files: names of all columns of the file, in place of those it has; in a text file one per line. Of a
        transposed file, names of its rows, which are the columns then.
    labels : path or sequence, optional
        For files: a label per row, in place of a column of the file; in a text file one per line.
    roles : mapping of str to str, optional
        For table files: what columns are, by name, in place of what the rules of :mod:`gramian.sources.roles` find:
        "quantity", "category", "id", "name", "date" or "text".
    bad_cells : str
        For table files: a cell that is no number in a column of numbers is an "error", or "missing".
    sentinels : bool, optional
        For table files: whether numbers that stand for a missing value (-999) are missing; by default where bad cells
        are.
    readings : mapping of str to Reading, optional
        For table files: how the cells of columns are read, as ``source.facts`` of another table says, so that new
        rows are read as the former were.
    needs_numbers : bool
        For table files: whether one without a column of numbers is refused. A table of categories alone has none: it
        is for :class:`~gramian.MCA`.
    missing : bool
        For what is no file: whether cells that stand for a missing value (nulls of a table, ``None``) become NaN, for
        :class:`~gramian.ProbabilisticPCA`, in place of being refused.

    Returns
    -------
    RowSource
        float32 rows stay float32 and float16 is worked in float32; all else is worked in float64. For files it
        has ``facts`` (what was made of each column), ``labels()`` and ``ids()``; missing values are NaN, which
        the first pass refuses with file, row and column.

    Raises
    ------
    InputError
        Complex numbers, dates, text, masked or missing entries, integers beyond 2**53, wrong shapes. NaN and
        infinity in float arrays are found by the first pass over the rows instead (:func:`require_finite`).
    NotSupportedError
        Objects that are no rows of numbers at all, and ``numpy.matrix``.

    Notes
    -----
    Cost: nothing that grows with X for native float32 and float64 of any layout, and for CSR in canonical
    form. Integers, float16 and foreign byte orders are converted at once when small, else block by block on
    every pass. Other sparse formats are copied once as CSR. Do not open the same X again for every call: a
    source can be kept.

    Examples
    --------
    >>> import numpy as np
    >>> source = as_source([[1, 2], [3, 4], [5, 6]], column_names=["left", "right"])
    >>> source.n_rows, source.n_columns, source.dtype.name, source.column_names
    (3, 2, 'float64', ('left', 'right'))
    >>> as_source(np.array([1.0, 2.0]))
    Traceback (most recent call last):
    ...
    gramian.errors.InputError: Expected 2D array, got 1D array instead: X has shape (2,). ...
    """
    options = OpenOptions(
        weights=weights,
        column_names=column_names,
        chosen=_checked(
            Chosen(columns, drop, label, id, roles, readings=readings, needs_numbers=needs_numbers),
            bad_cells,
            sentinels,
        ),
        memory_budget=None if memory_budget is None else bytes_of(memory_budget),
        progress=_checked_progress(progress),
        checkpoint=checkpoint,
        file=FileOptions(array, sheet, decimal, na, transpose, names, labels),
        missing=missing,
    )
    for kind in INPUTS:
        if kind.recognizes(X):
            return kind.open(X, options)
    raise NotSupportedError(_not_rows_sentence(X))


class OpenOptions(NamedTuple):
    """What is said about rows when they are opened: the parameters of :func:`as_source`."""

    weights: Any = None
    column_names: Sequence[str] | None = None
    chosen: Chosen = Chosen()
    memory_budget: int | None = None
    progress: Say | None = None
    checkpoint: str | os.PathLike[str] | PassLog | None = None
    file: FileOptions = FileOptions()
    missing: bool = False


class InputKind(NamedTuple):
    """A kind of X: ``recognizes(X)`` tells whether X is one, ``open(X, options)`` makes a source of it."""

    recognizes: Callable[[Any], bool]
    open: Callable[[Any, OpenOptions], RowSource]


def _open_file(X: Any, options: OpenOptions) -> RowSource:
    from gramian.sources.file_rows import FileRows  # only files pay for what reads them
    from gramian.sources.paths import labels_of, open_path

    _require_names(options.chosen)
    try:
        file, facts = open_path(X, options.chosen, options.file, budget=options.memory_budget, say=options.progress)
    except OSError as error:
        if error.errno != ENAMETOOLONG:
            raise
        name = str(X)
        message = f"X is a text of {len(name):,} characters, {name[:40]!r}..., and no path is that long. Name a file."
        raise InputError(message) from error
    log = options.checkpoint
    # Names and labels change no number.
    said = options.file._replace(names=None, labels=None)
    return FileRows(
        file,
        weights=None if options.weights is None else check_weights(options.weights, file.shape[0]),
        column_names=_checked_names(options.column_names, file.shape[1]),
        facts=facts,
        labels=None if options.file.labels is None else labels_of(options.file.labels, file.shape[0]),
        budget=options.memory_budget,
        progress=options.progress,
        log=log if log is None or isinstance(log, PassLog) else PassLog(log),
        read_as=_read_as(said, options.chosen),
    )


def _read_as(said: FileOptions, chosen: Chosen) -> str:
    """Return what a checkpoint has to know of how the numbers of a file were read; nothing where nothing was said."""
    how = (said, dict(chosen.roles or {}), chosen.lenient, chosen.sentinels, dict(chosen.readings or {}))
    return "" if how == (FileOptions(), {}, False, False, {}) else repr(how)


def require_mapping(roles: Any) -> None:
    """Refuse roles that are no mapping of names to roles."""
    if roles is not None and not isinstance(roles, Mapping):
        message = f"roles is {roles!r}. Pass a mapping of names to roles, such as {{'zip': 'category'}}."
        raise ParameterError(message, parameter="roles", value=roles)


def _checked(chosen: Chosen, bad_cells: str, sentinels: Any) -> Chosen:
    """Return what is said about columns, and what is made of cells that are no numbers."""
    if bad_cells not in ("error", "missing"):
        message = f"bad_cells is {bad_cells!r}. Pass 'error' or 'missing'."
        raise ParameterError(message, parameter="bad_cells", value=bad_cells)
    require_mapping(chosen.roles)
    lenient = bad_cells == "missing"
    return chosen._replace(lenient=lenient, sentinels=lenient if sentinels is None else bool(sentinels))


def _open_source(X: RowSource, options: OpenOptions) -> RowSource:
    _refuse_file_options(options)
    if options.weights is not None or options.column_names is not None:
        message = "X is a row source already. Give weights and column names where the source is made."
        raise ParameterError(message)
    return X


def _open_dask(X: Any, options: OpenOptions) -> RowSource:
    from gramian.sources.dask import DaskRows, require_rows

    _refuse_file_options(options)
    require_rows(X)
    source = DaskRows(X)
    names, weights = _checked_names(options.column_names, source.n_columns), rows_here(options.weights)
    if names is None and weights is None:
        return source
    w = None if weights is None else check_weights(weights, source.n_rows)
    return DaskRows(X, weights=w, column_names=names)


def _open_array(open_: Callable[[Any], tuple[Array, Names]], X: Any, options: OpenOptions) -> RowSource:
    """Open what becomes one array in memory."""
    _refuse_file_options(options)
    rows, names = open_(X)
    names = _checked_names(options.column_names, rows.shape[1]) or names
    w = None if options.weights is None else check_weights(options.weights, rows.shape[0])
    if is_sparse(rows):
        return SparseRows(rows, weights=w, column_names=names)
    return DenseRows(rows, weights=w, column_names=names, budget=options.memory_budget)


def _open_cells(open_: Callable[..., tuple[Array, Names]], X: Any, options: OpenOptions) -> RowSource:
    """Open what becomes one array in memory, and may hold cells that stand for a missing value."""
    return _open_array(partial(open_, missing=options.missing), X, options)


def _refuse_file_options(options: OpenOptions) -> None:
    """Refuse what is said about files and their columns where X is no file: it would be without effect."""
    chosen = options.chosen._asdict() | {"lenient": None, "sentinels": None, "readings": None, "needs_numbers": None}
    said = chosen | {"checkpoint": options.checkpoint} | options.file._asdict()
    for name, value in said.items():
        if value is not None and value is not False:
            message = (
                f"{name} is for files, and X is none: it would change nothing. Leave it out, and choose the columns "
                "of X before (X[names]), or pass the path of a file."
            )
            raise ParameterError(message)


def _require_names(chosen: Chosen) -> None:
    given: dict[str, Any] = {"columns": chosen.columns, "drop": chosen.drop}
    for name, value in given.items():
        words = [value] if value is None or isinstance(value, str) or not isinstance(value, Iterable) else list(value)
        odd = [word for word in words if word is not None and not isinstance(word, str)]
        if odd:
            message = f"{name} holds {odd[0]!r}, of type {type(odd[0]).__name__}. Pass names of columns, as strings."
            raise ParameterError(message)


def _checked_progress(progress: Any) -> Say | None:
    if progress is not None and not callable(progress):
        message = f"progress is {progress!r}. Pass a function that takes a sentence, for example progress=print."
        raise ParameterError(message)
    return progress  # type: ignore[no-any-return]


def _checked_names(column_names: Sequence[str] | None, n_columns: int) -> Names:
    if column_names is None:
        return None
    names: tuple[Any, ...] = tuple(column_names)
    if len(names) != n_columns:
        message = f"column_names has {len(names):,} names and X has {n_columns:,} columns. Pass one per column."
        raise ParameterError(message)
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        message = f"column_names holds {odd[0]!r}, of type {type(odd[0]).__name__}. Pass strings."
        raise ParameterError(message)
    return names


def _open_numpy(X: HostArray, names: Names = None, *, missing: bool = False) -> tuple[Array, Names]:
    if isinstance(X, np.matrix):
        message = (
            "np.matrix is not supported: its products and shapes differ from those of an array. Pass np.asarray(X)."
        )
        raise NotSupportedError(message)
    require_real_kind(X.dtype)
    _require_table_shape(X.shape)
    if isinstance(X, np.ma.MaskedArray):
        X = _without_mask(X, names)
    plain = np.asarray(X)
    return as_working_floats(real_numbers(plain, dense_locations(X.shape[1], names), missing=missing)), names


def _open_list(X: Sequence[Any], *, missing: bool) -> tuple[Array, Names]:
    return _open_numpy(array_of_lists(X), missing=missing)


def _open_foreign(X: Any) -> tuple[Array, Names]:
    if is_torch(X):
        X = _plain_tensor(X)
    _require_table_shape(tuple(X.shape))
    return as_working_floats(real_foreign_numbers(X, dense_locations(X.shape[1]))), None


def _open_offered(X: Any, *, missing: bool) -> tuple[Array, Names]:
    return _open_numpy(np.asarray(X), missing=missing)


def _open_table(X: Any, *, missing: bool) -> tuple[Array, Names]:
    array, names = open_table(X, missing=missing)
    if is_sparse(array):
        return _open_sparse(array, names)
    if isinstance(array, np.ndarray):
        return _open_numpy(array, names)
    _require_table_shape(array.shape)
    return array, names


def _open_sparse(X: Any, names: Names = None) -> tuple[Array, Names]:
    _require_table_shape(X.shape)
    require_real_kind(X.dtype)
    rows = X.tocsr()
    values = real_numbers(rows.data, sparse_locations(rows.indices, rows.indptr, names))
    return _canonical(cast(values, working_dtype(values)), rows), names


def _canonical(values: HostArray, rows: Any) -> Any:
    """Return CSR with sorted entries and no duplicates, sharing what can be shared with the user's own."""
    # A new array object, so that neither the entries nor the cached flags of the user's one are touched.
    csr = scipy.sparse.csr_array((values, rows.indices, rows.indptr), shape=rows.shape, copy=False)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def _plain_tensor(X: Any) -> Any:
    """Return the numbers of a tensor alone: no history of gradients, no lazy sign."""
    if X.is_nested or str(X.layout) != "torch.strided":
        message = f"X is a torch tensor of layout {X.layout}. Pass X.to_dense(), or a SciPy CSR array."
        raise NotSupportedError(message)
    # Detaching shares the memory and leaves the user's tensor, and its gradient, as they were.
    return X.detach().resolve_neg()


def _without_mask(X: Any, names: Names) -> HostArray:
    if np.ma.is_masked(X):
        mask = np.ma.getmaskarray(X)
        place = dense_locations(X.shape[1], names)(int(np.argmax(mask)))
        refuse_masked(place, int(np.count_nonzero(mask)))
    return np.asarray(X.data)


def _require_table_shape(shape: tuple[int, ...]) -> None:
    if len(shape) < 2:
        kind = "1D" if shape else "scalar"
        message = (
            f"Expected 2D array, got {kind} array instead: X has shape {shape}. Reshape your data: "
            "X.reshape(-1, 1) if it is one column, X.reshape(1, -1) if it is one row."
        )
        raise InputError(message)
    if len(shape) > 2:
        message = (
            f"Found array with dim {len(shape)}, while dim <= 2 is required: X has shape {shape}. Flatten "
            "each row first: X.reshape(len(X), -1)."
        )
        raise InputError(message)
    for count, what in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            message = (
                f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required. "
                "Check the filter or the file that X comes from."
            )
            raise InputError(message)


def _not_rows_sentence(X: Any) -> str:
    if isinstance(X, bytes):
        return f"X is {X[:40]!r}, bytes and not rows of numbers. Pass the path of a file as a string."
    if isinstance(X, dict):
        return "X is a dict. Pass a table of it, for example pandas.DataFrame(X), or a list of rows."
    if hasattr(X, "collect"):
        return f"X is a lazy table ({type(X).__name__}). Pass X.collect(): nothing is loaded unasked."
    return (
        f"X is of type {type(X).__name__}, not rows of numbers. Pass a 2-D array, a sparse array, a table, "
        "or a list of lists."
    )


def _is_sequence(X: Any) -> bool:
    return isinstance(X, Sequence) and not isinstance(X, (str, bytes, bytearray))


def _is_foreign_array(X: Any) -> bool:
    return is_torch(X) or is_cupy(X) or (hasattr(X, "__array_namespace__") and not np.isscalar(X))


def _offers_array(X: Any) -> bool:
    return any(hasattr(X, name) for name in ("__array__", "__array_interface__", "__float__", "__complex__"))


def check_weights(weights: Any, n_rows: int) -> HostArray:
    """Return one float64 weight per row, on the host; refuse what cannot be a number of repetitions.

    A weight w counts its row w times: 0 leaves it out, and fractions are allowed.

    Examples
    --------
    >>> check_weights([1, 0, 2.5], 3)
    array([1. , 0. , 2.5])
    """
    w = _as_floats(weights)
    if w.ndim != 1:
        message = f"sample_weight has shape {w.shape}. Pass a 1-D array of {n_rows:,} weights, one per row."
        raise InputError(message)
    if len(w) != n_rows:
        message = f"sample_weight has {len(w):,} values and X has {n_rows:,} rows. Pass one weight per row."
        raise InputError(message)
    _require_repetitions(w)
    return w


def _as_floats(weights: Any) -> HostArray:
    if is_torch(weights):
        weights = to_host(weights)
    if np.ma.is_masked(weights):
        first = int(np.argmax(np.ma.getmaskarray(weights)))
        message = f"sample_weight[{first}] is masked. Pass 0 to leave a row out."
        raise InputError(message)
    array = np.asarray(weights)
    if array.dtype.kind not in "biufO":
        message = f"sample_weight has dtype {array.dtype}. Pass real numbers, one per row of X."
        raise InputError(message)
    try:
        return array.astype(FLOAT64, copy=False)
    except (TypeError, ValueError) as error:
        message = f"sample_weight holds something that is no number ({error}). Pass real numbers, one per row."
        raise InputError(message) from error


def _require_repetitions(w: HostArray) -> None:
    good = w >= 0
    good &= w < np.inf
    if not good.all():
        _refuse_weight(w, int(np.argmin(good)))
    if not w.any():
        message = "Every sample_weight is zero, so no row counts. Pass at least one positive weight."
        raise InputError(message)


def _refuse_weight(w: HostArray, i: int) -> NoReturn:
    message = f"sample_weight[{i}] is {w[i]}. A weight is a number of repetitions: pass finite numbers from 0 up."
    raise InputError(message, row=i)


INPUTS: list[InputKind] = [
    InputKind(is_path, _open_file),
    InputKind(lambda X: isinstance(X, RowSource), _open_source),
    InputKind(is_dask, _open_dask),
    InputKind(lambda X: isinstance(X, np.ndarray), partial(_open_cells, _open_numpy)),
    InputKind(is_sparse, partial(_open_array, _open_sparse)),
    InputKind(is_table, partial(_open_cells, _open_table)),
    InputKind(_is_foreign_array, partial(_open_array, _open_foreign)),
    InputKind(_is_sequence, partial(_open_cells, _open_list)),
    InputKind(_offers_array, partial(_open_cells, _open_offered)),
]
"""Kinds of X in the order they are tried; the first that recognizes X opens it."""
