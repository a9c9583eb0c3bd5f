"""Random Fourier features: waves whose frequencies are drawn from a kernel's spectral density.

===============================  ===================================================
kernel                           frequencies
===============================  ===================================================
Gaussian                         normal, of variance 2 gamma
Laplacian                        independent Cauchy, of scale gamma
Matern                           Student's t in d dimensions, 2 nu degrees of freedom
c k                              those of k
k1 + k2                          of k1 or of k2, by the share of each in k(0)
k1 k2                            one of k1 plus one of k2
===============================  ===================================================

Each kernel draws its own (:meth:`~gramian.kernels.kernel.Kernel.draw_waves`), so that one of a user's joins by
having that method.
"""

from dataclasses import dataclass, field

import numpy as np

from gramian.arrays.namespace import (
    Array,
    HostArray,
    cast,
    device_of,
    dtype_of,
    from_host,
    is_numpy,
    is_sparse,
    namespace_of,
)
from gramian.arrays.precision import FLOAT64
from gramian.errors import ParameterError
from gramian.features.feature_map import FeatureMap, FeatureRecipe
from gramian.features.sampling import resolve_kernel
from gramian.kernels.kernel import Kernel, WaveDraw
from gramian.kernels.radial import Gaussian
from gramian.sources.rows import RowSource


@dataclass(frozen=True)
class RandomFourier(FeatureRecipe):
    """Random Fourier features of a kernel that depends on the difference of two points alone.

    Computes, with q = D/2 frequencies w drawn from the kernel's spectral density (Bochner's theorem),

        phi(x) = sqrt(k(0) / q) (cos w_1.x, ..., cos w_q.x, sin w_1.x, ..., sin w_q.x),

    so that  phi(x).phi(y) = k(0) mean_j cos w_j.(x - y)  has the kernel as its expectation, the exact diagonal, and an
    error that falls as 1/sqrt(D) (Rahimi and Recht, 2007, NIPS 20; pairs of cosine and sine have less variance than
    shifted cosines: Sutherland and Schneider, 2015, arXiv:1506.02785).

    Parameters
    ----------
    kernel : Kernel
        Gaussian, Laplacian or Matern, and their sums, products and positive multiples.
    n_features : int
        D. An odd one is made up by a single cosine of random phase, and the diagonal is then not exact.
    orthogonal : bool
        Whether frequencies come in orthogonal groups of d, with lengths drawn as before (Yu et al., 2016,
        arXiv:1610.09072): less error for the same D, for kernels of the Euclidean distance.
    seed : int

    Notes
    -----
    Cost: d D / 2 draws for a fit (and d^2 D operations where orthogonal); b d D operations and b D waves per block. Not
    where few features must do: landmarks adapt to the rows and need fewer for the same error.

    Examples
    --------
    >>> import numpy as np
    >>> from gramian.sources import as_source
    >>> X = np.random.default_rng(0).standard_normal((300, 3))
    >>> phi = RandomFourier(Gaussian(0.2), n_features=4000).fit(as_source(X)).map_block(X)
    >>> float(np.abs(phi @ phi.T - Gaussian(0.2)(X)).max()) < 0.1
    True
    """

    kernel: Kernel = field(default_factory=Gaussian)
    n_features: int = 100
    orthogonal: bool = False
    seed: int = 0

    def fit(self, source: RowSource) -> "FourierMap":
        """Draw the frequencies for rows of so many columns; gamma may be taken from the rows."""
        if self.n_features < 1:
            message = f"{self.n_features} random Fourier features make no map. Pass at least 1."
            raise ParameterError(message)
        resolved, rng = resolve_kernel(self.kernel, source), np.random.default_rng(self.seed)
        waves = resolved.kernel.draw_waves(WaveDraw(-(-self.n_features // 2), source.n_columns, self.orthogonal, rng))
        phase = 2 * np.pi * float(rng.random()) if self.n_features % 2 else None
        return FourierMap(resolved.kernel, waves.frequencies, waves.height, resolved.origin, phase)


@dataclass(frozen=True, eq=False)
class FourierMap(FeatureMap):
    """phi of :class:`RandomFourier`.

    Attributes
    ----------
    kernel : Kernel
    frequencies : numpy array (q, d), float64
        q is D/2, rounded up.
    height : float
        k(0), the kernel of a point with itself.
    origin : array (d,) or None
        Subtracted from dense rows first: inner products do not change, and angles stay small enough to be accurate.
    phase : float or None
        Of the last cosine, which has no sine of its own, where D is odd.
    """

    kernel: Kernel
    frequencies: HostArray
    height: float
    origin: Array | None = None
    phase: float | None = None

    @property
    def n_columns(self) -> int:  # type: ignore[override]
        """Columns of the rows."""
        return int(self.frequencies.shape[1])

    @property
    def n_features(self) -> int:  # type: ignore[override]
        """A cosine and a sine for each frequency, but for the last one of an odd number."""
        return 2 * int(self.frequencies.shape[0]) - (self.phase is not None)

    def map_block(self, rows: Array) -> Array:
        """Return phi of rows (b, D): one product for the angles, then their cosines and sines."""
        angles = self._angles(rows)
        xp, q = namespace_of(angles), angles.shape[1]
        phi = xp.empty((angles.shape[0], self.n_features), dtype=angles.dtype, **device_of(angles))
        if self.phase is not None:
            angles[:, -1] += self.phase
        sines = angles[:, : self.n_features - q]
        if is_numpy(angles):
            np.cos(angles, out=phi[:, :q])
            np.sin(sines, out=phi[:, q:])
        else:
            phi[:, :q], phi[:, q:] = xp.cos(angles), xp.sin(sines)
        phi *= float(np.sqrt(self.height / q))
        if self.phase is not None:
            phi[:, q - 1] *= float(np.sqrt(2.0))
        return phi

    def _angles(self, rows: Array) -> Array:
        if self.origin is not None and not is_sparse(rows):
            # In float64, before anything is rounded to the rows' type: an offset costs no digits of the angles.
            rows = cast(cast(rows, FLOAT64) - self.origin, dtype_of(rows))
        frequencies = self.frequencies.T.astype(dtype_of(rows))
        if is_sparse(rows):
            return rows @ frequencies
        return rows @ from_host(frequencies, like=rows)
