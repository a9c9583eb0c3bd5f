"""Example E6 of the lectures on real recordings: artefacts and hearts come out as sources of their own."""

import numpy as np
import pytest

from gramian import ICA
from tests.shared_data import data_at


def recording(name):
    """A recording, or a skip that says where it was looked for."""
    return np.load(data_at(f"signals/{name}"))


@pytest.fixture(scope="module")
def brain():
    """The EEG, its channels, and a fit."""
    file = recording("eeg_32_channels_128hz_eeglab.npz")
    X = file["data"].T.astype(np.float64)
    return X, [str(name) for name in file["channels"]], ICA(random_state=0).fit(X)


def correlations(S, x):
    """|correlation| of each source with a signal."""
    return np.abs([np.corrcoef(s, x)[0, 1] for s in S.T])


@pytest.mark.parametrize("algorithm", ["picard", "infomax"])
def test_e6_converges_on_a_recording(brain, algorithm):
    """The gradient norm reaches 1e-6 on 32 channels of EEG."""
    ica = ICA(algorithm=algorithm, random_state=0, independence=False, max_iter=500).fit(brain[0])
    assert ica.gradient_norm_ <= 1e-6


def test_e6_blinks_end_in_one_or_two_sources(brain):
    """Frontal channels see blinks; one or two sources hold them, and without those the rest stays."""
    X, channels, ica = brain
    frontal = [i for i, name in enumerate(channels) if name.upper().startswith("FP")]
    S = ica.transform(X)
    eyes = X[:, frontal].mean(axis=1)
    found = np.flatnonzero(correlations(S, eyes) > 0.4)
    assert 1 <= len(found) <= 2
    clean = ica.remove(X, sources=found.tolist())
    back = [i for i, name in enumerate(channels) if name.upper().startswith(("O", "PO"))]
    assert clean[:, frontal].var() < 0.5 * X[:, frontal].var()
    kept = [np.corrcoef(clean[:, i], X[:, i])[0, 1] for i in back]
    assert min(kept) > 0.9


def test_e6_foetal_heart_is_a_source_of_its_own():
    """Eight leads on a mother: a source beats at the child's rate, faster than hers, and does not beat at hers too."""
    file = recording("ecg_8_leads_mother_and_foetus.npz")
    X, rate = file["data"].T.astype(np.float64), float(file["sampling_rate"])
    S = ICA(random_state=0, independence=False).fit_transform(X)
    pulses = np.array([beats_a_minute(s, rate) for s in S.T])
    mother, child = (pulses > 60) & (pulses < 100), (pulses > 110) & (pulses < 170)
    assert mother.any()
    assert child.any()
    hers, its = np.median(pulses[mother]), np.median(pulses[child])
    # Every lead shows her heart; a source that is the child's alone does not.
    assert min(beat_at(x, rate, hers) for x in X.T) > 0.4
    for s in S[:, child].T:
        assert beat_at(s, rate, hers) < 0.1
        assert beat_at(s, rate, its) > 0.4
        assert correlations(energies(S[:, mother]), energies(s)).max() < 0.1


def energies(s):
    """Squares of a source in deviations, those of outliers cut at 25."""
    return np.minimum(np.abs(s - s.mean(axis=0)) / s.std(axis=0), 5.0) ** 2


def autocorrelation(s):
    """The likeness of the squares of a source to themselves, some samples later."""
    x = energies(s)
    x = np.convolve(x - x.mean(), np.ones(9) / 9, mode="same")
    spectrum = np.abs(np.fft.rfft(x, 2 * len(x))) ** 2
    lags = np.fft.irfft(spectrum)[: len(x)]
    return lags / lags[0]


def beat_at(s, rate, pulse):
    """How much a source beats at a pulse: its autocorrelation one beat later, give or take three samples."""
    lag = round(60 * rate / pulse)
    return autocorrelation(s)[lag - 3 : lag + 4].max()


def beats_a_minute(s, rate):
    """The pulse of a source, by the autocorrelation of its squares; NaN where there is none."""
    lags = autocorrelation(s)
    low, high = int(rate * 60 / 180), int(rate * 60 / 50)
    best = low + int(np.argmax(lags[low:high]))
    peak = lags[best] > max(0.2, lags[best - 5], lags[best + 5])
    return 60 * rate / best if peak else np.nan
