"""Copies of the rows with every relation between columns destroyed: what noise alone would show."""

from dataclasses import dataclass
from math import prod

import numpy as np
from scipy.sparse.linalg import eigsh

from gramian.arrays.namespace import Array, HostArray, from_host, is_numpy, to_host
from gramian.choosing.noise_edge import noise_edge
from gramian.choosing.row_sample import RowSample, column_squares
from gramian.errors import ParameterError

DRAWS = 5
"""Copies drawn. Their spread is known from theory; draws only have to place the center."""

SIGN_CHUNK = 1 << 20
"""Signs drawn at once: 4 MB."""

SMALL = 64
"""Side up to which all eigenvalues are found at once; above it Lanczos steps find the largest sooner."""


@dataclass(frozen=True)
class NullDraws:
    """What the drawn copies say about the noise beyond the first k components.

    Attributes
    ----------
    inflation : float
        Largest variance in the copies, divided by what Gaussian noise with the same column variances gives.
        Above one for heavy tails, and where some rows are noisier than others.
    spread : float
        Its standard deviation over the copies, in the same unit.
    relation : float
        Sum of squared variances in the rows as they are, divided by that in the copies, less one. Near zero
        when columns are unrelated beyond the k components.
    """

    inflation: float
    spread: float
    relation: float


GAUSSIAN = NullDraws(1.0, 0.0, 0.0)
"""What is taken for granted when there are no rows to look at."""


def draw_nulls(sample: RowSample, k: int, *, null: str = "signflip", seed: int = 0) -> NullDraws:
    """Measure the largest variance of copies of the rows, after ``k`` components, that hold no relations.

    ``null="signflip"`` gives every entry a random sign (Hong, Sheng and Dobriban, 2020, arXiv:2012.02985):
    each entry keeps its size, so noisy rows, noisy columns and heavy tails stay as they are.
    ``null="permutation"`` shuffles every column (Horn, 1965; Buja and Eyuboglu, 1992): columns keep their
    distribution, rows do not keep their level.

    Cost: 5 products of the shorter side of the sample and as many eigenvalues; a tenth of a second each at
    the largest sample.
    """
    if null not in {"signflip", "permutation"}:
        message = f"null={null!r} is none of 'gaussian', 'signflip' and 'permutation'. Pass one of these."
        raise ParameterError(message)
    rng = np.random.default_rng([seed, k])
    copy = sample.residual(k) if null == "signflip" else to_host(sample.residual(k))
    gaussian = noise_edge(column_squares(copy) / len(copy), float(len(copy))).mean
    if gaussian <= 0.0:
        return GAUSSIAN
    squares = _sum_of_squares(_gram(copy))
    grams = (_gram(_destroy(copy, null, rng)) for _ in range(DRAWS))
    drawn = np.array([(_largest(gram), _sum_of_squares(gram)) for gram in grams])
    tops = drawn[:, 0] / len(copy) / gaussian
    expected = float(drawn[:, 1].mean()) * _residual_squares(sample, k)
    # Of a part of the columns, only that part of what each is related to is seen.
    relation = (squares / expected - 1.0) / sample.column_share
    return NullDraws(float(tops.mean()), float(tops.std(ddof=1)), relation)


def _destroy(copy: Array, null: str, rng: np.random.Generator) -> Array:
    """Shuffle or flip in place: a flip of a flip is as random as the first."""
    if null == "permutation":
        return rng.permuted(copy, axis=0, out=copy)
    step = max(1, SIGN_CHUNK // copy.shape[1])
    for low in range(0, len(copy), step):
        _flip(copy[low : low + step], rng)
    return copy


def _flip(part: Array, rng: np.random.Generator) -> None:
    """Give every float32 a random sign: its highest bit. Measured a third faster than a product with signs."""
    size = prod(part.shape)
    drawn = np.unpackbits(np.frombuffer(rng.bytes(-(-size // 8)), dtype=np.uint8), count=size)
    if not is_numpy(part):
        part *= from_host(1 - 2 * drawn.astype(np.float32).reshape(part.shape), like=part)
        return
    signs = drawn.astype(np.uint32) << np.uint32(31)
    bits = part.view(np.uint32)
    bits ^= signs.reshape(part.shape)


def _gram(rows: Array) -> HostArray:
    return to_host(rows.T @ rows if rows.shape[0] >= rows.shape[1] else rows @ rows.T)


def _largest(gram: HostArray) -> float:
    """Return the largest eigenvalue, to four digits: the draws differ by more."""
    if len(gram) <= SMALL:
        return float(np.linalg.eigvalsh(gram.astype(np.float64))[-1])
    start = np.random.default_rng(len(gram)).standard_normal(len(gram)).astype(gram.dtype)
    return float(eigsh(gram, k=1, v0=start, tol=1e-4, return_eigenvectors=False)[0])


def _sum_of_squares(gram: HostArray) -> float:
    return float(np.einsum("ij,ij->", gram, gram, dtype=np.float64))


def _residual_squares(sample: RowSample, k: int) -> float:
    """Return what taking out k components of noise-restored rows does to the sum of squared variances.

    Noise E becomes (I - UU') E (I - VV'), of which a rows and c columns are seen, at restored level:
    (a (1 + g c/d) + c (1 + h a/n)) / (a + c)  with  g = (k/d) / (1 - k/d)  and  h = (k/n) / (1 - k/n).
    """
    a, c = sample.rows.shape
    taken_rows = min(k * sample.row_share / a, 0.95)
    taken_columns = min(k * sample.column_share / c, 0.95)
    by_columns = 1.0 + sample.column_share * taken_columns / (1.0 - taken_columns)
    by_rows = 1.0 + sample.row_share * taken_rows / (1.0 - taken_rows)
    return float((a * by_columns + c * by_rows) / (a + c))
