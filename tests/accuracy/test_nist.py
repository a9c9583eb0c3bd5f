"""NIST's univariate accuracy sets NumAcc1 to NumAcc4, seen as tables of one column.

The values follow the published rule of each set, and the certified means and standard deviations are exact by it
(Statistical Reference Datasets, National Institute of Standards and Technology, 1998).
"""

import numpy as np
import pytest

from gramian import PCA, IncrementalPCA

# name: (first value, the two that alternate, how many in all, certified mean, certified deviation, digits asked)
SETS = {
    "NumAcc1": ([10000001.0, 10000003.0, 10000002.0], 10000002.0, 1.0, 14),
    "NumAcc2": ([1.2, *([1.1, 1.3] * 500)], 1.2, 0.1, 13),
    "NumAcc3": ([1000000.2, *([1000000.1, 1000000.3] * 500)], 1000000.2, 0.1, 9),
    "NumAcc4": ([10000000.2, *([10000000.1, 10000000.3] * 500)], 10000000.2, 0.1, 8),
}


def digits(found, certified):
    """Digits that agree: -log10 of the relative error."""
    error = abs(float(found) - certified) / certified
    return 16.0 if error == 0 else -np.log10(error)


@pytest.mark.parametrize("svd_solver", ["auto", "full", "covariance_eigh", "gram"])
@pytest.mark.parametrize("name", SETS)
def test_standard_deviation(name, svd_solver):
    """The root of the one variance has the certified digits: 9 for NumAcc3 and 8 for NumAcc4."""
    values, mean, deviation, asked = SETS[name]
    pca = PCA(svd_solver=svd_solver).fit(np.array(values)[:, np.newaxis])
    assert digits(np.sqrt(pca.explained_variance_[0]), deviation) >= asked
    assert digits(pca.singular_values_[0] / np.sqrt(len(values) - 1), deviation) >= asked
    assert digits(pca.mean_[0], mean) >= 14


@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("name", ["NumAcc3", "NumAcc4"])
def test_repeated_columns(name, d):
    """The same column d times is one component of d times the variance."""
    values, _, deviation, asked = SETS[name]
    pca = PCA().fit(np.tile(np.array(values)[:, np.newaxis], (1, d)))
    assert digits(np.sqrt(pca.explained_variance_[0] / d), deviation) >= asked
    np.testing.assert_allclose(pca.components_[0], 1 / np.sqrt(d), rtol=1e-9)


@pytest.mark.parametrize("batch", [7, 100, 1001])
@pytest.mark.parametrize("name", ["NumAcc3", "NumAcc4"])
def test_in_batches(name, batch):
    """Batches merge to the same digits."""
    values, _, deviation, asked = SETS[name]
    fit = IncrementalPCA(n_components=1, batch_size=batch).fit(np.array(values)[:, np.newaxis])
    assert digits(np.sqrt(fit.explained_variance_[0]), deviation) >= asked


@pytest.mark.parametrize("name", ["NumAcc3", "NumAcc4"])
def test_wide(name):
    """The set as one row among two is a wide table, and the dual keeps the digits of the differences."""
    values = np.array(SETS[name][0])
    X = np.vstack([values, np.full_like(values, values[0])])
    truth = np.linalg.norm((values - values[0]).astype(np.longdouble) / 2) * np.sqrt(2)
    found = PCA(n_components=1).fit(X).singular_values_[0]
    assert digits(found, float(truth)) >= 13
