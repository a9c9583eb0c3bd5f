"""How much time is spent on whom, so that a whole run is minutes and no row is dropped in silence."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Rules:
    """The limits of a run; every time is compared with Gramian's on the same instance.

    Attributes
    ----------
    repeats : int
        Processes per setting that is shown.
    limit : float
        Seconds that a fit may take, or be forecast to take.
    patience : float
        Tightening a peer ends when this many times Gramian's time is used up, or is forecast to be.
    once_beyond : float
        A setting that takes over a second and this many times Gramian's time is measured once.
    hopeless : float
        A peer whose default takes this many times Gramian's time is not tuned to be faster, and a dense
        method not measured again on other data of the same shape. A fit is stopped at twice this time, but
        not before 20 seconds.
    """

    repeats: int = 3
    limit: float = 120.0
    patience: float = 3.0
    once_beyond: float = 2.0
    hopeless: float = 5.0

    def runs_once(self, seconds: float, gramian: float) -> bool:
        """Whether one reading is enough; over five seconds a peer must be close to Gramian to be run again."""
        return seconds > max(1.0, self.once_beyond * gramian) or seconds > max(5.0, 1.3 * gramian)

    def is_hopeless(self, seconds: float, gramian: float) -> bool:
        """Whether no setting could make up for this time."""
        return seconds > max(0.1, self.hopeless * gramian)

    def is_too_slow(self, seconds: float, gramian: float) -> bool:
        """Whether an inaccurate setting already took longer than patience allows."""
        return seconds > max(0.05, self.patience * gramian)

    def stops_after(self, gramian: float) -> float:
        """Seconds after which a fit is stopped."""
        return min(self.limit, max(20.0, 2 * self.hopeless * gramian))
