"""Tables of categories and quantities: each category as whole numbers that stand for its levels, quantities as rows.

A category is held as one small integer per row (:class:`LevelColumn`), never as a column per level. Levels are text,
whatever held them, so that a file, a data frame and an array of the same values have the same levels.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from gramian.arrays.namespace import HostArray, is_dask, is_sparse, is_torch, to_host
from gramian.arrays.precision import FLOAT64
from gramian.errors import InputError, NotSupportedError, ParameterError
from gramian.sources.arrow import from_words, to_numpy
from gramian.sources.dense import DenseRows
from gramian.sources.file_options import is_path
from gramian.sources.opening import as_source, check_weights
from gramian.sources.rows import RowSource, block_length
from gramian.sources.table import is_table, open_frame_columns

Columns = Sequence[str | int] | None
"""Columns by name, or by place, counted from 0."""


class LevelColumn(NamedTuple):
    """A category: its levels, sorted, and the place of each row's level among them, -1 where it is missing."""

    levels: tuple[str, ...]
    codes: HostArray


@dataclass(frozen=True, eq=False)
class MixedTable:
    """A table whose columns are categories and quantities.

    Attributes
    ----------
    numbers : RowSource
        The quantities, (n, q); q may be zero. NaN is missing. It has the weights.
    quantities : tuple of str
        Their names.
    categories : mapping of str to LevelColumn
    names : tuple of str
        Of all columns, in the order of the table.
    """

    numbers: RowSource
    quantities: tuple[str, ...]
    categories: Mapping[str, LevelColumn]
    names: tuple[str, ...]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.numbers.n_rows


def level_column(values: Any) -> LevelColumn:
    """Return the levels of some values, sorted, and the code of each value.

    Levels are text: 1, 1.0 and "1" are one level. They are sorted as numbers where all of them are. None, NaN, and
    text without a letter are missing.

    Cost: a sort of numbers, a hash of text.

    Examples
    --------
    >>> level_column(["b", "a", None, "b"])
    LevelColumn(levels=('a', 'b'), codes=array([ 1,  0, -1,  1], dtype=int32))
    >>> level_column(np.array([10.0, 9.0, np.nan])).levels
    ('9', '10')
    """
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype.kind in "fiub":
        found, places = np.unique(array, return_inverse=True)
        texts = [_text(value) for value in found.tolist()]
    else:
        texts, places = _encoded(values)
    levels = sorted({text for text in texts if text}, key=_sorting(texts))
    place = {level: i for i, level in enumerate(levels)} | {"": -1}
    return LevelColumn(tuple(levels), np.array([place[text] for text in texts], dtype=np.int32)[places])


def _encoded(values: Any) -> tuple[list[str], HostArray]:
    """Return the different values as text, and the place of each value among them."""
    import pyarrow as pa

    column = values
    if isinstance(values, np.ndarray) and all(isinstance(value, str) for value in values.tolist()):
        column = from_words(values)
    elif not isinstance(values, pa.Array | pa.ChunkedArray):
        try:
            column = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
            # Values of several kinds, or of one that Arrow does not know.
            column = pa.array([_text(value) for value in values])
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.ChunkedArray):
        column = pa.concat_arrays(column.chunks)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    texts = [_text(value) for value in column.dictionary.to_pylist()]
    codes = to_numpy(column.indices)
    return [*texts, ""], np.where(np.isnan(codes), len(texts), codes).astype(np.intp)


def _text(value: Any) -> str:
    """Return a level as text; nothing where the value is missing."""
    text = str(value).strip()
    # pandas' NA cannot be compared; NaN and NaT are not equal to themselves.
    if value is None or text == "<NA>" or value != value:  # noqa: PLR0124
        return ""
    if isinstance(value, bytes):
        return value.decode(errors="replace").strip()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return text


def _sorting(texts: Sequence[str]) -> Callable[[str], Any]:
    """Return what levels are sorted by: their numbers where all are numbers, else the text."""
    try:
        numbers = {text: float(text) for text in texts if text}
    except ValueError:
        return str
    return lambda text: (numbers[text], text)


def open_mixed(
    X: Any,
    *,
    categories: Columns | str = None,
    judged: Columns = None,
    weights: Any = None,
    known: tuple[Sequence[str], Sequence[str]] | None = None,
    memory_budget: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> MixedTable:
    """Open X as categories and quantities.

    Of a table in memory, columns that do not hold numbers are categories, true and false among them; of a file those
    that :mod:`gramian.sources.roles` finds, and names, dates and the like are left out. Of an array of numbers none is.

    Cost: categories are held as integers, 4 bytes a cell; quantities of a file stay there, others are not copied where
    they are one array already.

    Parameters
    ----------
    X : path, table, array (n, d), or a source with labels
    categories : sequence of str or int, or "all", optional
        Columns of a table or array that are categories; "all" for every column.
    judged : sequence of str or int, optional
        Columns that are what they hold, numbers or not, whatever ``categories`` says.
    weights : array (n,), optional
    known : pair of sequences of str, optional
        Names of the categories and of the quantities to read from a file, as a fit has found them.
    memory_budget : int, optional
    progress : callable, optional

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = open_mixed(pa.table({"size": [1.5, 2.5, 0.5], "kind": ["a", "b", "a"]}))
    >>> table.quantities, table.categories["kind"].codes.tolist()
    (('size',), [0, 1, 0])
    """
    if is_path(X):
        said: dict[str, Any] = {"needs_numbers": False, "memory_budget": memory_budget, "progress": progress}
        if known is not None:
            labels, numbers = known
            said |= {"columns": list(numbers), "id": False, "roles": dict.fromkeys(labels, "category")}
        return _of_source(as_source(X, weights=weights, **said), categories, judged)
    if isinstance(X, RowSource):
        if weights is not None:
            message = "X is a row source already. Give weights where the source is made."
            raise ParameterError(message)
        return _of_source(X, categories, judged)
    if is_dask(X):
        message = "Categories are coded in this process, and X is a Dask collection. Pass X.compute() if it fits here."
        raise NotSupportedError(message)
    if is_sparse(X):
        message = (
            "X is sparse, and a table of categories has a level in every cell. Pass a dense array or a table, or use "
            "PCA or TruncatedSVD for sparse indicator columns."
        )
        raise NotSupportedError(message)
    if is_table(X):
        return _of_frame(X, categories, judged, weights)
    return _of_array(X, categories, judged, weights)


def _of_source(source: RowSource, categories: Columns | str, judged: Columns) -> MixedTable:
    """Return the labels of a source as categories, and its columns as quantities; "all" leaves unnamed ones out."""
    if categories is not None and categories != "all":
        message = (
            "categories names columns of a table or array, and of a file they are found. To choose, pass "
            "gramian.as_source(path, roles={'zip': 'category'}) in place of the path."
        )
        raise ParameterError(message, parameter="categories", value=categories)
    if not source.is_local:
        message = "Categories are coded in this process, and these rows are Dask's. Pass X.compute() if they fit here."
        raise NotSupportedError(message)
    found = {name: level_column(source.labels(name)) for name in source.label_names}
    quantities = source.column_names or tuple(f"x{j}" for j in range(source.n_columns))
    if source.facts is not None:
        quantities = tuple(column.name for column in source.facts.used)
        order = [column.name for column in source.facts.columns]
        found = {name: found[name] for name in sorted(found, key=order.index)}
        names = tuple(name for name in order if name in found or name in quantities)
    else:
        names = (*quantities, *found)
    if categories == "all":
        kept = {name for name in judged or () if name in quantities}
        names = tuple(name for name in names if name in found or name in kept)
    if categories == "all" and not kept:
        return MixedTable(_no_numbers(source.n_rows, source.weights), (), found, names)
    numbers = source if quantities else _no_numbers(source.n_rows, source.weights)
    return MixedTable(numbers, quantities, found, names)


def _of_frame(X: Any, categories: Columns | str, judged: Columns, weights: Any) -> MixedTable:
    columns = open_frame_columns(X)
    names = tuple(name for name, _ in columns)
    n = 0 if not columns else len(columns[0][1])
    _require_size(n, len(columns))
    chosen, looked = _chosen(categories, names), places_of(judged, names, "supplementary")
    found, numbers = {}, {}
    for j, (name, column) in enumerate(columns):
        is_category = not column.dtype.is_numeric() if chosen is None or j in looked else j in chosen
        if is_category:
            found[name] = level_column(_arrow_or_array(column))
        elif not (column.dtype.is_numeric() or type(column.dtype).__name__ == "Boolean"):
            _refuse_text(name)
        else:
            numbers[name] = np.asarray(column.cast(_float64()).to_numpy(), dtype=FLOAT64)
    checked = None if weights is None else check_weights(weights, n)
    if not numbers:
        return MixedTable(_no_numbers(n, checked), (), found, names)
    rows = DenseRows(np.column_stack(list(numbers.values())), weights=checked, column_names=tuple(numbers))
    return MixedTable(rows, tuple(numbers), found, names)


def _float64() -> Any:
    import narwhals as nw

    return nw.Float64


def _arrow_or_array(column: Any) -> Any:
    """Return a column of a table as Arrow's, or as NumPy's where Arrow does not take its values."""
    import pyarrow as pa

    if isinstance(getattr(column.to_native(), "dtype", None), np.dtype):
        return column.to_numpy()
    try:
        return column.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        return column.to_numpy()


def _of_array(X: Any, categories: Columns | str, judged: Columns, weights: Any) -> MixedTable:
    array = X if isinstance(X, np.ndarray) or is_torch(X) or hasattr(X, "__array__") else _listed(X)
    if getattr(getattr(array, "dtype", None), "kind", "f") not in "OUS":
        source = as_source(array, weights=weights)
        whole: Any = source.whole
        values = to_host(whole) if hasattr(whole, "ndim") else whole[:, :]
        checked = source.weights
    else:
        values = np.asarray(array, dtype=object)
        if values.ndim != 2:
            message = (
                f"Expected 2D array, got {values.ndim}D array instead: X has shape {values.shape}. Reshape your data: "
                "one row per sample, one column per category or quantity."
            )
            raise InputError(message)
        _require_size(*values.shape)
        checked = None if weights is None else check_weights(weights, len(values))
    d = values.shape[1]
    names = tuple(f"x{j}" for j in range(d))
    chosen = _chosen(categories, names)
    looked = range(d) if chosen is None else places_of(judged, names, "supplementary")
    chosen = (chosen or set()) - set(looked)
    chosen |= {j for j in looked if values.dtype.kind == "O" and _floats(values[:, j]) is None}
    found = {names[j]: level_column(values[:, j]) for j in range(d) if j in chosen}
    left = [j for j in range(d) if j not in chosen]
    if not left:
        return MixedTable(_no_numbers(len(values), checked), (), found, names)
    if values.dtype.kind == "O":
        rows = np.column_stack([_require_floats(values[:, j], names[j]) for j in left])
    else:
        rows = values if len(left) == d else np.ascontiguousarray(values[:, left])
    quantities = tuple(names[j] for j in left)
    return MixedTable(DenseRows(rows, weights=checked), quantities, found, names)


def _listed(X: Any) -> Any:
    """Return lists as an array: of numbers where all entries are, else of what they are."""
    array = np.asarray(X)
    return array if array.dtype.kind not in "US" else np.asarray(X, dtype=object)


def _floats(column: HostArray) -> HostArray | None:
    """Return the numbers of a column of any values, NaN where there is none; ``None`` where it holds anything else."""
    if all(value is None for value in column) or not all(
        value is None or isinstance(value, int | float | np.number) for value in column
    ):
        return None
    return np.array([np.nan if value is None else value for value in column], dtype=FLOAT64)


def _require_floats(column: HostArray, name: str) -> HostArray:
    found = _floats(column)
    if found is None:
        _refuse_text(name)
    return found


def _chosen(categories: Columns | str, names: tuple[str, ...]) -> set[int] | None:
    """Return the places of the columns that are said to be categories."""
    if categories is None:
        return None
    if isinstance(categories, str) and categories == "all":
        return set(range(len(names)))
    return set(places_of(categories, names, "categories"))


def places_of(words: Columns | str, names: Sequence[str], parameter: str) -> list[int]:
    """Return the places of columns that are given by name or place; one that is not there is refused.

    Examples
    --------
    >>> places_of(["b", 0], ("a", "b"), "supplementary")
    [1, 0]
    """
    listed: Sequence[Any] = [words] if isinstance(words, str | int | np.integer) else list(words or ())
    places = []
    for word in listed:
        if isinstance(word, str) and word in names:
            places.append(list(names).index(word))
        elif isinstance(word, int | np.integer) and not isinstance(word, bool) and 0 <= word < len(names):
            places.append(int(word))
        else:
            more = "" if len(names) <= 8 else f" and {len(names) - 8} more"
            message = (
                f"{parameter} names {word!r}, which is no column of X. It has {', '.join(map(repr, names[:8]))}{more}, "
                f"at places 0 to {len(names) - 1}."
            )
            raise ParameterError(message, parameter=parameter, value=word)
    return places


def _no_numbers(n: int, weights: HostArray | None) -> RowSource:
    """Return rows without columns: a table of categories alone."""
    return DenseRows(np.empty((n, 0)), weights=weights, block_rows=block_length(1))


def _require_size(n: int, d: int) -> None:
    if n == 0:
        message = f"Found array with 0 sample(s) (shape=({n}, {d})) while a minimum of 1 is required: X has no rows."
        raise InputError(message)
    if d == 0:
        message = (
            f"Found array with 0 feature(s) (shape=({n}, {d})) while a minimum of 1 is required: X has no columns."
        )
        raise InputError(message)


def _refuse_text(name: str) -> NoReturn:
    message = f"Column {name!r} of X holds no numbers, and is not among the categories. Name it in categories too."
    raise InputError(message, column=name)
