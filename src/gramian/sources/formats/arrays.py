"""Files of several arrays (.npz, HDF5, Zarr): which one holds the rows, and which ones label or name them."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gramian.arrays.namespace import HostArray
from gramian.errors import InputError, Parameter, ParameterError, Sentence
from gramian.sources.names import near_or
from gramian.sources.roles import MOST_LEVELS
from gramian.sources.row_file import RowFile
from gramian.sources.table_facts import LABEL_NAME

NUMBERS, TEXTS = "fiub", "USTO"
"""Kinds of NumPy types that hold real numbers, and that may hold text."""


class StoredArray(NamedTuple):
    """An array of a file: its name there, its shape and its type; ``read()`` gives its values."""

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    read: Callable[[], Any]


def choose_array(
    arrays: Sequence[StoredArray], *, array: str | None, origin: str, remedy: str
) -> tuple[str, tuple[str, ...]]:
    """Return the name of the array that holds the rows, and what is said of that choice.

    The array named ``array``; else the only one of real numbers with two dimensions or more; of several the one with
    most numbers, of equal ones the one with most rows, and of these the first.

    Examples
    --------
    >>> two = [StoredArray(name, (n, 28, 28), np.dtype("u1"), list) for name, n in (("test", 10), ("train", 60))]
    >>> name, remarks = choose_array(two, array=None, origin="digits.npz", remedy="")
    >>> name, remarks[0]
    ('train', "digits.npz holds 2 arrays of rows: 'test' (10 x 28 x 28), 'train' (60 x 28 x 28). The largest, 'train',
      is used; array names another.")
    """
    if array is not None:
        _require_name(array, [found.name for found in arrays], origin, "array")
        return array, ()
    tables = [found for found in arrays if len(found.shape) > 1 and found.dtype.kind in NUMBERS]
    if not tables:
        listed = ", ".join(f"{found.name} {found.shape}" for found in arrays[:8]) or "none"
        message = (
            f"{origin} holds 0 arrays of numbers with two dimensions or more (arrays: {listed}), and one is wanted. "
            f"{remedy}"
        )
        raise InputError(message)
    best = max(tables, key=lambda found: (int(np.prod(found.shape, dtype=np.int64)), found.shape[0]))
    if len(tables) == 1:
        return best.name, ()
    more = f" and {len(tables) - 6:,} more" if len(tables) > 6 else ""
    remark = Sentence(
        "{origin} holds {count} arrays of rows: {listed}. The largest, {best!r}, is used; {array} names another.",
        origin=origin,
        count=len(tables),
        listed=", ".join(f"{found.name!r} ({' x '.join(map(str, found.shape))})" for found in tables[:6]) + more,
        best=best.name,
        array=Parameter("array"),
    )
    return best.name, (remark,)


def describe_rows(
    file: RowFile,
    arrays: Sequence[StoredArray],
    *,
    label: str | bool | None = None,
    id: str | bool | None = None,  # noqa: A002 - what a person calls it
) -> dict[str, HostArray]:
    """Find labels and names of the rows among the other arrays; tell the file, and return them by name.

    An array of one dimension with an entry per row whose text differs in every row names the rows. One of other text,
    or of few different numbers, labels them: that which is called so (``y``, ``labels``, ``target``), else the first.
    ``label`` and ``id`` name another array, or are ``False`` for none.

    Cost: reading these arrays.
    """
    n, found = file.shape[0], dict[str, HostArray]()
    vectors = {array.name: array for array in arrays if array.shape == (n,) and array.dtype.kind in NUMBERS + TEXTS}
    for word, parameter in ((label, "label"), (id, "id")):
        if isinstance(word, str):
            _require_name(word, list(vectors), file.origin, parameter)
            found[word] = _strings(vectors[word].read())
    file.label, file.id = (word if isinstance(word, str) else None for word in (label, id))
    likely = sorted(vectors, key=lambda name: LABEL_NAME.search(name) is None and name.lower()[:1] != "y")
    for name in likely if label is None or id is None else ():
        if name in found:
            continue
        stored, is_text = vectors[name].read(), vectors[name].dtype.kind in TEXTS
        if not is_text and len(np.unique(stored[:5000])) > MOST_LEVELS:
            continue  # amounts: no need to write out each
        values = _strings(stored)
        count = len(set(values))
        if is_text and count == n > 1:
            if id is None and file.id is None:
                file.id, found[name] = name, values
        elif (
            label is None
            and file.label is None
            and count > 1
            and (is_text or count <= min(MOST_LEVELS, max(2, n // 2)))
        ):
            file.label, found[name] = name, values
    return found


def refuse_choice(origin: str, what: str, **given: str | bool | None) -> None:
    """Refuse to choose among arrays where a file holds one thing alone."""
    for name, value in given.items():
        if isinstance(value, str):
            message = Sentence(
                "{origin} holds one {what} and no other arrays, so {given} has no meaning. Leave it out.",
                origin=origin,
                what=what,
                given=Parameter(name, (value,)),
            )
            raise ParameterError(message, parameter=name, value=value)


def _require_name(word: str, names: Sequence[str], origin: str, parameter: str) -> None:
    if word in names:
        return
    listed = ", ".join(map(repr, names[:8])) or "none"
    hint = near_or(word, names, f"There {'are' if len(names) > 1 else 'is'} {listed}.")
    message = Sentence(
        "{asked} is no array of {origin}{for_rows}. {hint}",
        asked=Parameter(parameter, (word,)),
        origin=origin,
        for_rows="" if parameter == "array" else " with one entry per row",
        hint=hint,
    )
    raise ParameterError(message, parameter=parameter, value=word)


def _strings(values: Any) -> HostArray:
    """Return values as strings: whole numbers without a point, bytes decoded."""
    array = np.asarray(values)
    if array.dtype.kind == "f":
        texts = [f"{value:.0f}" if value.is_integer() else f"{value:g}" for value in array.tolist()]
    else:
        texts = [
            value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value) for value in array.tolist()
        ]
    return np.array(texts, dtype=object)
