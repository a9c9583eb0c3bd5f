"""The rows of the ICA measurements, and the measure that every answer is held to."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

SIZES = {"10": (10, 100_000), "30": (30, 100_000), "64": (64, 300_000)}
DATA = Path(os.environ.get("GRAMIAN_DATA", Path(__file__).parents[2] / "shared" / "data"))
EEG = DATA / "signals" / "eeg_32_channels_128hz_eeglab.npz"


def rows_of(case: str) -> np.ndarray:
    """Return the rows of a case, samples by sensors, always the same."""
    if case == "eeg":
        return np.ascontiguousarray(np.load(EEG)["data"].T, dtype=np.float64)
    from gramian.testing import mixed_sources

    k, n = SIZES[case]
    return mixed_sources(n, k, seed=k) @ np.random.default_rng(k).standard_normal((k, k)).T


def left_to_turn(X: np.ndarray, components: np.ndarray) -> float:
    """Return the largest entry of the skew part of E[psi(s) s'] on unit-variance sources, by its definition."""
    mean = X.mean(axis=0)
    S = (X - mean) @ np.asarray(components, dtype=np.float64).T
    S /= S.std(axis=0)
    psi = np.tanh(S)
    cross = psi.T @ S / len(S)
    signs = np.where(1.0 - (psi * psi).mean(axis=0) < np.diagonal(cross), -1.0, 1.0)
    turned = signs[:, None] * cross
    return float(np.abs(turned - turned.T).max() / 2)
