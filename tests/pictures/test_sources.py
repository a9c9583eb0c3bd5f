import numpy as np
import pytest

from gramian import ICA
from gramian.pictures import source_traces


def test_spectrum_peaks_where_the_source_does():
    """A source of 12 Hz has its peak there, and traces cover every value of it."""
    t = np.arange(4000) / 200
    S = np.column_stack([np.sin(2 * np.pi * 12 * t), np.sign(np.sin(2 * np.pi * 1.3 * t))])
    ica = ICA(random_state=0).fit(S @ [[1.0, 0.4], [0.3, 1.0]])
    found = ica.transform(S @ [[1.0, 0.4], [0.3, 1.0]])
    view = source_traces(ica, found, sampling_rate=200.0, steps=100)
    wave = int(np.argmax([abs(np.corrcoef(s, S[:, 0])[0, 1]) for s in found.T]))
    assert view.frequencies[np.argmax(view.spectra[wave])] == pytest.approx(12.0, abs=1.0)
    np.testing.assert_allclose(view.spectra.sum(axis=1), 1.0)
    np.testing.assert_allclose([view.low.min(axis=1), view.high.max(axis=1)], [found.min(axis=0), found.max(axis=0)])
