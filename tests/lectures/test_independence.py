"""Method M11 and fact F17 of the lectures: ICA finds what PCA cannot, and says how much mutual information it took."""

import numpy as np
import pytest

from gramian import ICA, PCA
from gramian.testing import amari_distance


def _rotated(angle, n=50_000, seed=0):
    S = np.random.default_rng(seed).uniform(-np.sqrt(3), np.sqrt(3), (n, 2))
    Q = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    return S, Q


@pytest.mark.parametrize("algorithm", ["picard", "parallel", "deflation", "infomax"])
@pytest.mark.parametrize("angle", [0.3, 0.6, np.pi / 4])
def test_f17_ica_separates_what_pca_cannot(angle, algorithm):
    """Two rotated uniform sources look round to PCA; ICA turns them back."""
    S, Q = _rotated(angle)
    X = S @ Q.T
    pca, ica = PCA().fit(X), ICA(algorithm=algorithm).fit(X)
    # Second moments hold no angle at all: the two variances are equal, to sampling.
    assert pca.explained_variance_[0] / pca.explained_variance_[1] < 1.03
    assert amari_distance(ica.components_, Q) <= 0.02
    correlations = np.abs(np.corrcoef(ica.transform(X).T, S.T)[:2, 2:])
    assert correlations.max(axis=1).min() > 0.999


def test_f17_unequal_variances_mislead_pca_too():
    """With a mixing that is no rotation, the components of PCA are mixtures still."""
    S, _ = _rotated(0.0, seed=1)
    A = np.array([[2.0, 1.0], [1.0, 1.5]])
    X = S @ A.T
    correlations = [np.abs(np.corrcoef(Y.T, S.T)[:2, 2:]) for Y in (PCA().fit_transform(X), ICA().fit_transform(X))]
    assert correlations[0].max(axis=1).max() < 0.95
    assert correlations[1].max(axis=1).min() > 0.999


@pytest.mark.parametrize("angle", [0.3, np.pi / 4])
def test_m11_drop_of_mutual_information(angle):
    """For white z and a rotation W the drop is sum H(z_i) - sum H(s_i): here 2 (log cos a + tan(a) / 2) in nats."""
    S, Q = _rotated(angle, n=100_000, seed=2)
    ica = ICA(whiten=False).fit(S @ Q.T)
    truth = 2 * (np.log(np.cos(angle)) + np.tan(angle) / 2)
    assert ica.mutual_information_drop_ == pytest.approx(truth, abs=0.02)
    assert ica.mutual_information_drop_ == pytest.approx(truth, abs=ica.independence_.drop_error)


def test_m11_independent_columns_have_nothing_to_lose():
    """Where the columns are independent already, the drop is zero to what 50,000 rows leave unknown of the angle."""
    S, _ = _rotated(0.0, seed=3)
    ica = ICA(whiten=False).fit(S)
    assert abs(ica.mutual_information_drop_) <= 0.01
