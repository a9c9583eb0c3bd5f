"""What a person says of rows in a file. Rows in memory need none of what opens one, and do not load it."""

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from gramian.sources.roles import Reading

Wanted = str | Sequence[str] | None
"""Names, globs or types of columns."""


class FileOptions(NamedTuple):
    """What a person says about reading files: parameters of :func:`~gramian.sources.opening.as_source`.

    ``names`` and ``labels`` are a path, or the words themselves.
    """

    array: str | None = None
    sheet: str | None = None
    decimal: str | None = None
    na: str | Sequence[str] | None = None
    transpose: bool = False
    names: str | os.PathLike[str] | Sequence[str] | None = None
    labels: str | os.PathLike[str] | Sequence[Any] | None = None


class Chosen(NamedTuple):
    """What a person says about columns: see :func:`~gramian.sources.table_facts.choose_columns`."""

    columns: Wanted = None
    drop: Wanted = None
    label: str | bool | None = None
    id: str | bool | None = None
    roles: Mapping[str, str] | None = None
    lenient: bool = False
    sentinels: bool = False
    readings: Mapping[str, "Reading"] | None = None
    needs_numbers: bool = True


def is_path(X: Any) -> bool:
    """Tell whether X names a file, a folder or a glob."""
    return isinstance(X, (str, os.PathLike)) and not hasattr(X, "shape")
