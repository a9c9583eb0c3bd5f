"""K(X, Y) V in one Triton kernel: each tile of K is made, used and dropped on the chip, never kept in memory.

The matrix products are of float16 numbers summed in float32, which the tensor cores make ten to twenty times faster
than float32 ones. A float32 number is two float16 ones, x = h + l to 22 bits, and three products of the parts give the
product of two such numbers:  h h' + h l' + l h'.  How much of that is needed differs between the two products that a
tile takes part in (:class:`Precision`):

- A row rounded to float16 is another row, and its errors add up along the whole row of K: the exponents need the parts
  for anything but a rough product (1e-3).
- A kernel value rounded to float16 is wrong by 2^-12 of itself one way or the other, and among n rows such errors
  cancel to 2^-12 / sqrt(n): K and V seldom need the parts. The operator measures what a product is wrong by and takes
  the cheapest that serves.

Tensor cores cut the bits that they cannot hold, they do not round: a sum that is carried on through them over a million
rows is biased by up to 2e-3. So each tile's product is summed from zero and added in float32, some dozens of tiles to a
first sum, those to a second one. Sums are made in one order: the same rows give the same bits.

A kernel says what its tiles are by its :class:`~gramian.kernels.kernel.FusedForm`.
"""

import math
from contextlib import nullcontext
from enum import IntEnum
from typing import Any, NamedTuple

import torch
import triton
import triton.language as tl

from gramian.kernels.kernel import FusedForm

PADDED = 128
"""Rows come in multiples of this: the largest side of a tile."""

CHUNK = 64
"""Columns of the rows that a tile's product takes at a time, where rows do not fit the chip whole."""

WHOLE = 128
"""Columns up to which rows are held on the chip whole."""

WIDEST = 64
"""Columns of V that a pass multiplies at most."""

INNER = 32
"""Tiles in a first sum."""

ROWS_TOP, VECTORS_TOP, VALUES_TOP = 256.0, 1024.0, 4096.0
"""Where the largest numbers of the rows, of each column of V and of K are put, by powers of two, before they are split:
within the range of float16, and high in it, so that the parts of small ones are not lost below it."""


class Precision(IntEnum):
    """Which products are made of both parts."""

    COARSE = 0
    """Neither: rows, K and V are float16."""

    ROWS = 1
    """The one of the rows: exponents are those of float32, K and V are rounded to float16."""

    FULL = 2
    """Both."""


class FusedRows(NamedTuple):
    """Rows as the kernel takes them, padded with zero rows and columns.

    Attributes
    ----------
    n_rows : int
        Rows without the padding.
    high, low : tensors (n, d), float16
        The two parts of the rows, times a power of two.
    half : tensor (n,), float32
        |z|^2 / 2 of the rows that the parts make.
    scale : float
        What a product of two such rows is multiplied by.
    height : float
        No kernel value is larger.
    """

    n_rows: int
    high: Any
    low: Any
    half: Any
    scale: float
    height: float


class Shape(NamedTuple):
    """How the work is cut: rows and columns of a tile, warps of a program, stages of its pipeline."""

    rows: int
    columns: int
    warps: int
    stages: int


NARROW, WIDE = Shape(128, 64, 4, 3), Shape(128, 64, 8, 2)
"""For products of rows of up to 64 columns the fastest of twelve on an H200, in every precision; and for the others,
which need more registers and shared memory."""


def prepare(rows: Any, form: FusedForm, origin: Any = None) -> FusedRows:
    """Scale, split and pad rows (n, d), a tensor.

    Cost: 4 n d bytes, a few passes over the rows in float64, a piece at a time; one number to the host.
    """
    n, d = rows.shape
    width = _padded_columns(d)
    at_once = max(PADDED, (1 << 26) // max(d, 1))
    pieces = [slice(start, min(start + at_once, n)) for start in range(0, n, at_once)]
    if form.curve == "cityblock":
        return _columns_of(rows, form, origin)
    largest = max(float(_placed(rows[piece], form, origin).abs().amax()) for piece in pieces)
    power = _power_below(ROWS_TOP / largest if largest > 0 else 1.0)
    high = torch.zeros((_padded(n), width), dtype=torch.float16, device=rows.device)
    low, half = torch.zeros_like(high), torch.zeros(_padded(n), dtype=torch.float32, device=rows.device)
    longest = 0.0
    for piece in pieces:
        z = _placed(rows[piece], form, origin) * power
        high[piece, :d] = z.half()
        low[piece, :d] = (z - high[piece, :d]).half()
        both = high[piece, :d].double() + low[piece, :d]
        squares = (both * both).sum(dim=1) / power**2
        half[piece] = 0.5 * squares
        longest = max(longest, float(squares.amax()))
    return FusedRows(n, high, low, half, 1.0 / power**2, form.height(longest))


def multiply(
    left: FusedRows,
    right: FusedRows,
    V: Any,
    form: FusedForm,
    *,
    precision: Precision,
    shift: float = 0.0,
    weights: Any = None,
    shape: Shape | None = None,
) -> tuple[Any, Any]:
    """Return (K - shift) V, (n, c) in float64, and for each row of K - shift the sum of its squares times ``weights``.

    Without ``weights`` (m,) there are no squares. Cost: n m (d + c) multiplications, once or three times; n m
    exponentials; 8 n c bytes a few times.
    """
    device = V.device
    shape = shape or (NARROW if right.high.shape[1] <= 64 and form.curve != "cityblock" else WIDE)
    # So that no value of K - shift is above VALUES_TOP.
    lift = _power_below(VALUES_TOP / max(right.height + abs(shift), 1e-300))
    columns, squares = [], None
    for start in range(0, max(V.shape[1], 1), WIDEST):
        part = V[:, start : start + WIDEST]
        own = weights if start == 0 else None
        product, found = _multiply(left, right, part, form, precision, shift, own, shape, lift, device)
        columns.append(product)
        squares = found if start == 0 else squares
    return (columns[0] if len(columns) == 1 else torch.cat(columns, dim=1)), squares


def _multiply(
    left: FusedRows,
    right: FusedRows,
    V: Any,
    form: FusedForm,
    precision: Precision,
    shift: float,
    weights: Any,
    shape: Shape,
    lift: float,
    device: Any,
) -> tuple[Any, Any]:
    c = V.shape[1]
    width = max(16, 1 << (c - 1).bit_length())
    high, low, sizes = _split(V, right.high.shape[0], width)
    tall = left.high.shape[0]
    programs = tall // shape.rows
    steps = right.high.shape[0] // shape.columns
    # Where rows are few, columns are shared out too, so that there are some programs for each multiprocessor.
    splits = max(1, min(1024 // programs, steps // INNER))
    each = -(-steps // splits)
    splits = -(-steps // each)
    out = torch.empty((splits, tall, width), dtype=torch.float32, device=device)
    with_squares = weights is not None
    squares = torch.empty((splits, tall) if with_squares else (1, 1), dtype=torch.float32, device=device)
    counted = out
    if with_squares:
        counted = torch.zeros(right.high.shape[0], dtype=torch.float32, device=device)
        counted[: right.n_rows] = weights
    d = right.high.shape[1]
    cityblock = form.curve == "cityblock"
    with torch.cuda.device(device) if device.type == "cuda" else nullcontext():
        _kernel[(programs, splits)](
            left.high,
            left.low,
            left.half,
            right.high,
            right.low,
            right.half,
            high,
            low,
            counted,
            out,
            squares,
            tall,
            right.high.shape[0],
            each * shape.columns,
            left.scale**0.5 * right.scale**0.5,
            form.coef0,
            float(form.degree),
            lift,
            shift * lift,
            D=d,
            DIMS=d if cityblock or d <= WHOLE else CHUNK,
            C=width,
            M=shape.rows,
            N=shape.columns,
            STEPS=INNER,
            CURVE=form.curve,
            DEGREE=form.degree if isinstance(form.degree, int) else 0,
            PARTS=3 if precision >= Precision.ROWS else 1,
            VALUE_PARTS=3 if precision >= Precision.FULL else 1,
            SQUARES=with_squares,
            num_warps=shape.warps,
            num_stages=shape.stages,
        )
    product = out[:, : left.n_rows, :c].sum(dim=0, dtype=torch.float64)
    product *= sizes[:c] / lift
    return product, squares[:, : left.n_rows].sum(dim=0, dtype=torch.float64) / lift**2 if with_squares else None


def _split(V: Any, rows: int, width: int) -> tuple[Any, Any, Any]:
    """Return the parts of V, padded, and what their columns are to be multiplied by."""
    largest = V.abs().amax(dim=0).double().clamp_min(1e-300)
    sizes = torch.exp2(torch.ceil(torch.log2(largest / VECTORS_TOP)))
    high = torch.zeros((rows, width), dtype=torch.float16, device=V.device)
    low = torch.zeros_like(high)
    n, c = V.shape
    scaled = V / sizes
    high[:n, :c] = scaled.half()
    low[:n, :c] = (scaled - high[:n, :c]).half()
    return high, low, sizes


def _placed(rows: Any, form: FusedForm, origin: Any) -> Any:
    """Return some rows about the origin, in the units of the kernel, in float64."""
    rows = rows.double()
    if form.about_origin and origin is not None:
        rows = rows - torch.as_tensor(origin, dtype=torch.float64, device=rows.device)
    if form.unit_rows:
        rows = rows / rows.abs().amax(dim=1, keepdim=True).clamp_min(1e-300)
        rows = rows / rows.norm(dim=1, keepdim=True).clamp_min(1e-300)
    return rows * form.scale


def _columns_of(rows: Any, form: FusedForm, origin: Any) -> FusedRows:
    """Return rows for sums of absolute differences: float32, column by column."""
    n, d = rows.shape
    columns = torch.zeros((d, _padded(n)), dtype=torch.float32, device=rows.device)
    columns[:, :n] = _placed(rows, form, origin).T
    # The kernel reads a row of it per column; only the shape (n, d) is asked for elsewhere.
    return FusedRows(n, columns.T, columns, columns[0], 1.0, form.height(0.0))


def _padded(n: int) -> int:
    return -(-max(n, 1) // PADDED) * PADDED


def _padded_columns(d: int) -> int:
    """Return d, or what a product of tiles takes instead: a power of two, or some chunks."""
    return max(16, 1 << (d - 1).bit_length()) if d <= WHOLE else -(-d // CHUNK) * CHUNK


def _power_below(x: float) -> float:
    """Return the largest power of two up to x, within what float32 squares hold."""
    return 2.0 ** min(max(math.floor(math.log2(x)), -60), 60)


@triton.jit
def _curve(s, left, right, scale, coef0, degree, CURVE: tl.constexpr, DEGREE: tl.constexpr):  # type: ignore[no-untyped-def]
    """Return kernel values from products s of rows and from their halved squared norms."""
    if CURVE == "gaussian":
        # The rows are in units in which this is a power of two.
        value = tl.exp2(s * scale - (left[:, None] + right[None, :]))
    elif CURVE == "matern12" or CURVE == "matern32" or CURVE == "matern52":
        t = tl.sqrt(tl.maximum(2.0 * ((left[:, None] + right[None, :]) - s * scale), 0.0))
        value = tl.exp2(t * -1.4426950408889634)
        if CURVE == "matern32":
            value = value * (1.0 + t)
        if CURVE == "matern52":
            value = value * (1.0 + t * (1.0 + t * 0.3333333333333333))
    elif CURVE == "sigmoid":
        base = s * scale + coef0
        # tanh(|x|) from exp(-2 |x|), with the sign of x.
        fall = tl.exp2(tl.abs(base) * -2.8853900817779268)
        size = (1.0 - fall) / (1.0 + fall)
        value = tl.where(base < 0, -size, size)
    elif DEGREE > 0:
        base = s * scale + coef0
        value = base
        for _ in tl.static_range(DEGREE - 1):
            value = value * base
    else:
        value = tl.exp2(degree * tl.log2(s * scale + coef0))
    return value


@triton.jit
def _kernel(  # type: ignore[no-untyped-def]
    xh, xl, xn, yh, yl, yn, vh, vl, weights, out, squares,
    tall, wide, each, scale, coef0, degree, lift, lifted_shift,
    D: tl.constexpr, DIMS: tl.constexpr, C: tl.constexpr, M: tl.constexpr, N: tl.constexpr, STEPS: tl.constexpr,
    CURVE: tl.constexpr, DEGREE: tl.constexpr, PARTS: tl.constexpr, VALUE_PARTS: tl.constexpr, SQUARES: tl.constexpr,
):  # fmt: skip
    """Multiply the tiles between M rows and a range of columns of K with the rows of V that those columns meet."""
    rows = tl.program_id(0) * M + tl.arange(0, M)
    first = tl.program_id(1) * each
    last = tl.minimum(first + each, wide)
    c, j = tl.arange(0, C), tl.arange(0, N)
    if CURVE != "cityblock":
        dims = tl.arange(0, DIMS)
        norms = tl.load(xn + rows)
        at = rows.to(tl.int64)[:, None] * D + dims[None, :]
        if D == DIMS:
            own_high = tl.load(xh + at)
            if PARTS == 3:
                own_low = tl.load(xl + at)
    total = tl.zeros([M, C], tl.float32)
    squared = tl.zeros([M], tl.float32)
    for stretch in range(first, last, N * STEPS):
        part = tl.zeros([M, C], tl.float32)
        for start in range(stretch, tl.minimum(stretch + N * STEPS, last), N):
            columns = start + j
            s = tl.zeros([M, N], tl.float32)
            if CURVE == "cityblock":
                for dim in range(D):
                    x = tl.load(xl + dim * tall + rows)
                    y = tl.load(yl + dim * wide + columns)
                    s += tl.abs(x[:, None] - y[None, :])
                K = tl.exp2(-s)
            else:
                there = columns.to(tl.int64)[None, :] * D + dims[:, None]
                if D == DIMS:
                    high = tl.load(yh + there)
                    if PARTS == 3:
                        low = tl.load(yl + there)
                        s = tl.dot(own_high, low)
                        s = tl.dot(own_low, high, s)
                        s = tl.dot(own_high, high, s)
                    else:
                        s = tl.dot(own_high, high)
                else:
                    for chunk in range(0, D, DIMS):
                        mine_high = tl.load(xh + at + chunk)
                        high = tl.load(yh + there + chunk)
                        # Each chunk from zero, for the reason that tiles are.
                        if PARTS == 3:
                            mine_low = tl.load(xl + at + chunk)
                            low = tl.load(yl + there + chunk)
                            some = tl.dot(mine_high, low)
                            some = tl.dot(mine_low, high, some)
                            some = tl.dot(mine_high, high, some)
                        else:
                            some = tl.dot(mine_high, high)
                        s += some
                K = _curve(s, norms, tl.load(yn + columns), scale, coef0, degree, CURVE, DEGREE)
            K = K * lift - lifted_shift
            if SQUARES:
                squared += tl.sum(K * K * tl.load(weights + columns)[None, :], axis=1)
            vectors = columns.to(tl.int64)[:, None] * C + c[None, :]
            v_high = tl.load(vh + vectors)
            K_high = K.to(tl.float16)
            if VALUE_PARTS == 3:
                v_low = tl.load(vl + vectors)
                K_low = (K - K_high.to(tl.float32)).to(tl.float16)
                product = tl.dot(K_high, v_low)
                product = tl.dot(K_low, v_high, product)
                product = tl.dot(K_high, v_high, product)
            else:
                product = tl.dot(K_high, v_high)
            part += product
        total += part
    place = tl.program_id(1).to(tl.int64) * tall + rows
    tl.store(out + place[:, None] * C + c[None, :], total)
    if SQUARES:
        tl.store(squares + place, squared)
