import numpy as np
import pytest

from gramian import ICA, PCA
from gramian.views import biplot_of, column_map, image_strip, model_of, scores_of, shown_rows, source_traces
from gramian.views.rows import open_source

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 6)) @ RNG.standard_normal((6, 6)) * np.arange(1, 7)


@pytest.mark.parametrize("scale, k", [(False, None), (True, None), (True, 2)])
def test_positions_are_correlations(scale, k):
    """Positions equal NumPy's correlations of columns with scores, whether or not columns were scaled."""
    pca = PCA(k, scale=scale).fit(X)
    view = column_map(pca)
    Y = pca.transform(X)
    expected = np.corrcoef(X.T, Y.T)[:6, 6:]
    assert view.correlations
    np.testing.assert_allclose(view.positions, expected, atol=1e-10)
    assert view.lengths.max() <= 1 + 1e-9


def test_unknown_deviations_leave_loadings_and_say_so():
    """Few components of unscaled columns do not tell correlations; given the deviations, they do."""
    pca = PCA(2).fit(X)
    assert not column_map(pca).correlations
    assert column_map(pca).scaling.startswith("loadings")
    view = column_map(pca, deviations=X.std(axis=0, ddof=1))
    np.testing.assert_allclose(view.positions, np.corrcoef(X.T, pca.transform(X).T)[:6, 6:], atol=1e-10)


@pytest.mark.parametrize("scaling", ["rows", "columns"])
def test_biplot_gives_the_table_back(scaling):
    """Points times arrows is the part of the table that two components hold, for both scalings."""
    pca = PCA(2).fit(X)
    view = biplot_of(pca, pca.transform(X), scaling=scaling)
    np.testing.assert_allclose(
        view.points @ view.arrows.T + pca.mean_, pca.inverse_transform(pca.transform(X)), atol=1e-9
    )


def test_images_from_more_numbers_are_nearer():
    """Errors fall with the number of components, to zero with all; counts beyond the model are one."""
    strip = image_strip(PCA().fit(X), X[4], (2, 3), counts=(1, 3, 6, 50))
    assert strip.counts == (1, 3, 6)
    assert np.all(np.diff(strip.errors) < 0)
    assert strip.errors[-1] < 1e-10


@pytest.mark.parametrize("limit, always", [(10, [3, 79]), (80, []), (200, [])])
def test_sample_keeps_what_it_must_and_is_the_same_again(limit, always):
    """Rows that must be shown are, no row twice, in the order of the table, and the same for the same seed."""
    pca = PCA().fit(X)
    model, source = model_of(pca), open_source(X)
    first, second = (
        shown_rows(model, source, scores_of(model, source), limit=limit, always=always, seed=4) for _ in range(2)
    )
    assert first.positions.tolist() == second.positions.tolist() == sorted(set(first.positions.tolist()))
    assert len(first.positions) == min(limit, 80)
    assert set(always) <= set(first.positions.tolist())
    np.testing.assert_allclose(first.values, X[first.positions][:, first.columns])
    np.testing.assert_allclose(first.scores, pca.transform(X)[first.positions], atol=1e-10)
    np.testing.assert_allclose(first.spread, X.std(axis=0, ddof=1))


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
