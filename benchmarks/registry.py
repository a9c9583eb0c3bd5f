"""Every case and every peer there is: what the files of ``cases/`` and ``peers/`` list, found by looking."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from fnmatch import fnmatch
from types import ModuleType
from typing import TYPE_CHECKING

from benchmarks import cases, peers

if TYPE_CHECKING:
    from benchmarks.case import Case
    from benchmarks.peers.peer import Peer


def all_cases() -> list[Case]:
    """The cases, in the order of their files' names."""
    return [case for module in _modules(cases) for case in getattr(module, "CASES", ())]


def all_peers() -> list[Peer]:
    """The peers, in the order in which their files say they stand in a table."""
    modules = [*_modules(peers), *_modules(cases)]
    return sorted((peer for module in modules for peer in getattr(module, "PEERS", ())), key=lambda peer: peer.rank)


def chosen_cases(pattern: str | None) -> list[Case]:
    """The cases whose name matches one of the patterns, separated by commas (a part of a name is enough)."""
    return [case for case in all_cases() if _matches(case.name, pattern)]


def chosen_peers(pattern: str | None) -> list[Peer]:
    """The peers that match; those that are only there to be asked for must be named in full."""
    wanted = [part.strip() for part in (pattern or "").split(",")]
    return [
        peer for peer in all_peers() if (peer.name in wanted if peer.only_when_named else _matches(peer.name, pattern))
    ]


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    """Import every module of a package, by name."""
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda module: module.name):
        yield importlib.import_module(f"{package.__name__}.{found.name}")


def _matches(name: str, pattern: str | None) -> bool:
    """Whether one of the patterns is part of the name; stars stand for anything."""
    return pattern is None or any(fnmatch(name, f"*{part.strip()}*") for part in pattern.split(","))
