"""What a peer is: a way to answer, a ladder of settings, and honest reasons for staying out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from benchmarks.case import Arrays, Instance


@dataclass(frozen=True)
class Setting:
    """One way of calling a peer.

    ``in_float64`` means that rows in float32 are first copied to float64, inside the clock: what a user does
    when an answer in float32 is not good enough.
    """

    label: str
    options: Mapping[str, Any] = field(default_factory=dict)
    in_float64: bool = False

    def rows(self, X: Any) -> Any:
        """The rows as this setting wants them."""
        return X.astype(np.float64) if self.in_float64 else X


@dataclass(frozen=True)
class Ladder:
    """Settings from the loosest to the tightest, and which of them is the peer's default."""

    settings: tuple[Setting, ...]
    default: int = 0


@dataclass(frozen=True)
class Forecast:
    """What a fit would take: seconds, and bytes beyond the input."""

    seconds: float
    bytes: float = 0.0


class Peer(ABC):
    """A package, or a solver of it, that answers a problem.

    Attributes
    ----------
    name : str
        As tables show it.
    distribution : str
        The package whose version is recorded.
    problem : str
        The problem it solves.
    rank : int
        Where it stands in a table.
    is_floor : bool
        A floor answers nothing: it is what no method can be faster than, or the cost of its main step.
    only_when_named : bool
        Left out unless ``--peers`` names it.
    """

    name: str
    distribution: str
    problem: ClassVar[str] = "pca"
    rank: int = 50
    is_floor: ClassVar[bool] = False
    only_when_named: bool = False

    @abstractmethod
    def preload(self) -> None:
        """Import what a fit needs, before the measuring process is forked; nothing is computed."""

    @abstractmethod
    def fit(self, X: Any, instance: Instance, setting: Setting) -> Any:
        """Solve: this is what the clock sees."""

    def ladder(self, instance: Instance) -> Ladder:
        """The settings to try; only the default unless there is something to tighten."""
        del instance
        return Ladder((Setting("default"),))

    def refusal(self, instance: Instance) -> str | None:
        """Why this peer cannot answer at all, in a sentence, or None."""
        del instance
        return None

    def forecast(self, instance: Instance, rate: float) -> Forecast:
        """Price of a fit, given the machine's matrix product rate in flop/s."""
        del instance, rate
        return Forecast(seconds=0.0)

    def does_the_same_work(self, instance: Instance) -> bool:
        """Whether the time depends on the shape alone: dense methods do the same on any numbers."""
        del instance
        return False

    def prepare(self, X: Any) -> Any:
        """The rows in the form this package takes, outside the clock and without a copy where that can be."""
        return X

    def read(self, fitted: Any, instance: Instance) -> Arrays:
        """The answer as the problem's judge wants it, outside the clock."""
        del instance
        return read_estimator(fitted)

    def notes(self, fitted: Any) -> dict[str, Any]:
        """Facts to keep beside the figures: for Gramian, its plan."""
        del fitted
        return {}


def read_estimator(fitted: Any) -> Arrays:
    """The answer held by an estimator in scikit-learn's manners."""
    return {
        "vectors": np.asarray(fitted.components_).T,
        "variances": np.asarray(fitted.explained_variance_),
        "singular_values": np.asarray(fitted.singular_values_),
    }


def answer_from_svd(sigma: np.ndarray, V: np.ndarray, instance: Instance) -> Arrays:
    """The answer from singular values and right vectors in any order, cut to what was asked."""
    order = np.argsort(sigma)[::-1][: instance.rank_asked]
    sigma = np.asarray(sigma, dtype=np.float64)[order]
    variances = np.square(sigma) / (instance.n_rows - 1)
    return {"vectors": np.asarray(V)[:, order], "variances": variances, "singular_values": sigma}
