"""stub"""
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any
import re

import numpy as np


ROLES = ("quantity", "category", "id", "name", "date", "constant", "text", "empty")


@dataclass(frozen=True)
class Column:
    name: str
    kind: str
    role: str
    reason: str
    n_missing: int = 0
    low: float | None = None
    high: float | None = None
    levels: tuple[tuple[str, int], ...] = ()
    reading: Any = None
    remarks: tuple[str, ...] = ()
    bad_cells: tuple[tuple[int, str], ...] = ()
    n_bad: int = 0
    is_distinct: bool = False
    use: str = "left_out"


@dataclass(frozen=True)
class TableRoles:
    columns: tuple[Column, ...]
    remarks: tuple[str, ...] = ()


ID = re.compile(r"(^|[\s_.-])(id|key|uuid|guid|index|unnamed: ?\d+)$|^$", re.IGNORECASE)


def table_roles(columns: Mapping[str, Any], *, roles: Mapping[str, str] = {}, index: Collection[str] = ()) -> TableRoles:
    import pyarrow.compute as pc
    found = []
    for name, column in columns.items():
        kind = kind_of(column.type)
        n = len(column)
        distinct = pc.count_distinct(column).as_py() if kind in ("integer", "text") else 0
        if kind in ("number", "boolean"):
            role = "quantity"
        elif kind == "integer":
            v = column.to_numpy()
            role = "id" if (distinct == n > 1 and ID.search(name)) or (n >= 5 and distinct == n and min(v) in (0, 1) and max(v) - min(v) == n - 1) or abs(v).max() > 2**53 else "quantity"
        elif kind == "text":
            plain = pc.match_substring_regex(column, r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$").to_pandas()
            ok = plain.dropna()
            if ok.mean() > 0.9:
                role, kind = "quantity", "number"
            elif distinct == n > 1:
                role = "name"
            else:
                role = "category" if distinct <= 50 and 2 * distinct <= n else "text"
        else:
            role = kind if kind in ("date", "empty") else "text"
        if name in index:
            role = "name" if distinct == n and not name.startswith("__") else "id"
        found.append(Column(name, kind, roles.get(name, role), f"stub {role}", n_missing=column.null_count, is_distinct=distinct == n))
    return TableRoles(tuple(found))


def kind_of(kind: Any) -> str:
    """Return what an Arrow type holds: number, integer, boolean, text, date, nested or empty."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return "text" if not types.is_integer(kind.value_type) else "nested"
    for found, tests in {
        "integer": (types.is_integer,),
        "number": (types.is_floating, types.is_decimal),
        "boolean": (types.is_boolean,),
        "text": (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary),
        "date": (types.is_temporal,),
        "empty": (types.is_null,),
    }.items():
        if any(test(kind) for test in tests):
            return found
    return "text" if "string" in str(kind) or "binary" in str(kind) else "nested"
