"""What is measured: a case is a shape and a question, an instance fixes its data and precision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

Arrays = Mapping[str, Any]
Accuracy = dict[str, float]


@dataclass(frozen=True)
class Problem:
    """A question with a judge: how the true answer is found, and how far another answer is from it.

    Attributes
    ----------
    name : str
        Peers say which problem they solve by this name.
    solve : callable
        ``solve(instance, X) -> arrays``: a slow, accurate answer; it is cached on disk.
    reference_key : callable
        ``reference_key(instance) -> str``: instances with the same key share that answer.
    judge : callable
        ``judge(instance, X, reference, answer) -> accuracy``: errors by name, smaller is better.
    target : callable
        ``target(instance, reference) -> accuracy``: what each error may be at most.
    """

    name: str
    solve: Callable[[Instance, Any], Arrays]
    reference_key: Callable[[Instance], str]
    judge: Callable[[Instance, Any, Arrays, Arrays], Accuracy]
    target: Callable[[Instance, Arrays], Accuracy]


@dataclass(frozen=True)
class Promise:
    """At least ``times`` faster than ``peer`` at its default, on every instance of the case."""

    peer: str
    times: float


@dataclass(frozen=True)
class Case:
    """A shape, a number of components and what is promised of them.

    Attributes
    ----------
    name, title : str
        What the command line says, and what the tables say.
    make : callable
        ``make(instance) -> X`` in float32, seeded. The float64 instance holds the same numbers, so that both
        precisions share one reference.
    decay : float
        Ratio of consecutive standard deviations of the fast-decaying data.
    quick : tuple of int
        The shape used by ``--quick``.
    """

    name: str
    title: str
    shape: tuple[int, int]
    n_components: float | None
    problem: Problem
    make: Callable[[Instance], Any]
    quick: tuple[int, int]
    density: float | None = None
    decay: float = 0.8
    spectra: tuple[str, ...] = ("decay", "noise")
    dtypes: tuple[str, ...] = ("float64", "float32")
    promises: tuple[Promise, ...] = ()

    def instances(self, *, quick: bool = False) -> list[Instance]:
        """Every combination of spectrum and precision, in the order in which they are run."""
        return [
            Instance(case=self, spectrum=spectrum, dtype=dtype, quick=quick)
            for spectrum in self.spectra
            for dtype in self.dtypes
        ]


@dataclass(frozen=True)
class Instance:
    """A case with its spectrum and precision: one table of numbers and one question about it."""

    case: Case
    spectrum: str
    dtype: str
    quick: bool = False

    @property
    def n_rows(self) -> int:
        """Rows n."""
        return (self.case.quick if self.quick else self.case.shape)[0]

    @property
    def n_columns(self) -> int:
        """Columns d."""
        return (self.case.quick if self.quick else self.case.shape)[1]

    @property
    def side(self) -> int:
        """The smaller of n and d."""
        return min(self.n_rows, self.n_columns)

    @property
    def n_components(self) -> float | None:
        """What is asked for; an integer is cut to a quarter of the smaller side under ``--quick``."""
        k = self.case.n_components
        return min(k, max(1, self.side // 4)) if self.quick and isinstance(k, int) else k

    @property
    def is_sparse(self) -> bool:
        """Whether the rows are a CSR matrix."""
        return self.case.density is not None

    @property
    def rank_asked(self) -> int:
        """How many components a peer must be ready to compute: all of them when a share is asked for."""
        return self.n_components if isinstance(self.n_components, int) else self.side

    @property
    def input_bytes(self) -> int:
        """Memory that the rows themselves take."""
        width = np.dtype(self.dtype).itemsize
        if self.case.density is None:
            return self.n_rows * self.n_columns * width
        return int(self.n_rows * self.n_columns * self.case.density) * (width + 4)

    @property
    def data_key(self) -> str:
        """Name of the rows on disk: the same for both precisions, and for every question about these rows."""
        shape = f"{self.n_rows}x{self.n_columns}"
        kind = f"sparse{self.case.density:g}" if self.is_sparse else "dense"
        return f"{shape}-{kind}-{self.spectrum}-{self.case.decay:g}"

    @property
    def key(self) -> str:
        """Name of the instance in results and on the command line."""
        return f"{self.case.name}/{self.spectrum}/{self.dtype}"
