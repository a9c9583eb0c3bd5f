import numpy as np
import pytest

from gramian import PCA
from gramian.models.row_values import open_rows
from gramian.pictures import model_of, scores_of, shown_rows

RNG = np.random.default_rng(0)
X = RNG.standard_normal((80, 6)) @ RNG.standard_normal((6, 6)) * np.arange(1, 7)


@pytest.mark.parametrize("limit, always", [(10, [3, 79]), (80, []), (200, [])])
def test_sample_keeps_what_it_must_and_is_the_same_again(limit, always):
    """Rows that must be shown are, no row twice, in the order of the table, and the same for the same seed."""
    pca = PCA().fit(X)
    model, source = model_of(pca), open_rows(X)
    first, second = (
        shown_rows(model, source, scores_of(model, source), limit=limit, always=always, seed=4) for _ in range(2)
    )
    assert first.positions.tolist() == second.positions.tolist() == sorted(set(first.positions.tolist()))
    assert len(first.positions) == min(limit, 80)
    assert set(always) <= set(first.positions.tolist())
    np.testing.assert_allclose(first.values, X[first.positions][:, first.columns])
    np.testing.assert_allclose(first.scores, pca.transform(X)[first.positions], atol=1e-10)
    np.testing.assert_allclose(first.spread, X.std(axis=0, ddof=1))
