"""Inside a fit, too, torch tensors stay tensors: only the small dense problem and a few columns go to the host."""

from math import prod

import numpy as np
import pytest

from gramian import PCA
from tests.catalog import slowly

SHAPES = {"tall": (8000, 300), "wide": (300, 8000), "square": (700, 700)}

ASKED = {"few": 5, "share": 0.5, "auto": "auto", "all": None}


@pytest.fixture
def converted(monkeypatch):
    """Return a list that every conversion of a tensor to NumPy adds its shape to."""
    torch = pytest.importorskip("torch")
    shapes = []

    def counting(convert):
        def counted(tensor, *arguments, **named):
            shapes.append(tuple(tensor.shape))
            return convert(tensor, *arguments, **named)

        return counted

    for name in ("numpy", "__array__", "tolist", "__dlpack__"):
        monkeypatch.setattr(torch.Tensor, name, counting(getattr(torch.Tensor, name)))
    return shapes


def _require_small(shapes, n, d):
    """Every conversion, and all together that are no square matrices, fit four small matrices, 64 rows and columns."""
    most = 4 * min(n, d) ** 2 + 64 * (n + d)
    assert shapes
    assert max(map(prod, shapes)) <= most
    assert sum(prod(shape) for shape in shapes if len(set(shape)) > 1 or len(shape) < 2) <= most


def _walked(X, **options):
    """Fit, project and rebuild; return the results."""
    pca = PCA(**options).fit(X)
    scores = pca.transform(X)
    return scores, pca.inverse_transform(scores), pca


def _rows(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    weak = rng.standard_normal((shape[0], 5)) @ (3 * rng.standard_normal((5, shape[1])))
    return (weak + rng.standard_normal(shape)).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("whiten", [False, *slowly(True)])
@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_table_is_converted(converted, shape, asked, whiten, dtype):
    """Neither at once nor block by block are the rows, or factors of their size, converted; the results are NumPy's."""
    import torch

    (n, d), k = SHAPES[shape], ASKED[asked]
    X = _rows((n, d), dtype, seed=n)
    scores, rebuilt, pca = _walked(torch.asarray(X), n_components=k, whiten=whiten)
    _require_small(converted, n, d)
    assert all(isinstance(result, torch.Tensor) for result in (scores, rebuilt, pca.components_, pca.mean_))
    here = PCA(k, whiten=whiten).fit(X)
    assert pca.n_components_ == here.n_components_
    np.testing.assert_allclose(pca.explained_variance_, here.explained_variance_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("asked", ["few", "auto", "share"])
@pytest.mark.parametrize(
    "shape, solver",
    # The n x n matrix of a tall table, or the d x d one of a wide one, would be larger than the table itself.
    [
        (shape, solver)
        for shape, (n, d) in SHAPES.items()
        for solver in ("gram", "krylov", "covariance_eigh")
        if max(n, d) ** 2 <= 10**6 or (solver, n < d) not in {("gram", False), ("covariance_eigh", True)}
    ],
)
def test_no_table_is_converted_by_any_solver(converted, shape, asked, solver):
    """The same for each solver by name."""
    import torch

    n, d = SHAPES[shape]
    X = torch.asarray(_rows((n, d), np.float64, seed=d))
    scores, rebuilt, _ = _walked(X, n_components=ASKED[asked], svd_solver=solver)
    _require_small(converted, n, d)
    assert isinstance(scores, torch.Tensor)
    assert rebuilt.shape == X.shape
