"""Fragments of 8, 4 and 16 bits: loads, stores, conversions, arithmetic, loops."""

import ml_dtypes
import numpy as np
import pytest
from kernel_failures import failure

import mlir_smem.language as sl
from mlir_smem.layout import pack_nibbles

BF16, E4M3, E5M2 = ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2

_RANGES = {
    np.uint8: (0, 256),
    np.int8: (-128, 128),
    np.int16: (-32768, 32768),
    np.int32: (-(1 << 20), 1 << 20),
}


def _numbers(dtype, shape=(64, 32), seed=0):
    rng = np.random.default_rng(seed)
    if dtype in _RANGES:
        return rng.integers(*_RANGES[dtype], shape).astype(dtype)
    return (rng.standard_normal(shape) * 40).astype(dtype)


def _bits(array):
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def _run(function, signature, *arrays, **constants):
    sl.kernel(signature)(function)[1](*arrays, on="cpu", **constants)


def _same(result, expected):
    np.testing.assert_array_equal(_bits(result), _bits(expected))


def _copy(W, C, *, memory="array", dtype=None):
    source = W[:, :]
    if memory == "tile":
        source = sl.alloc((64, 32), W.dtype)
        sl.copy(W[:, :], source)
    sl.store(sl.load(source, dtype), C[:, :])


@pytest.mark.parametrize("memory", ["array", "tile"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, E4M3, E5M2, BF16])
def test_a_load_keeps_the_elements(dtype, memory):
    if dtype is np.int16 and memory == "tile":
        pytest.skip("no tile holds i16")
    w = _numbers(dtype)
    c = np.zeros_like(w)
    _run(_copy, "(64,32), (64,32)", w, c, memory=memory, dtype=sl.dtype_of(w))
    _same(c, w)


@pytest.mark.parametrize("memory", ["array", "tile"])
@pytest.mark.parametrize("dtype", [E4M3, E5M2])
def test_floats_of_8_bits_are_loaded_as_f32(dtype, memory):
    w = np.arange(64 * 32).astype(np.uint8).view(dtype).reshape(64, 32)
    c = np.zeros(w.shape, np.float32)
    _run(_copy, "(64,32), (64,32)", w, c, memory=memory)
    np.testing.assert_array_equal(c, w.astype(np.float32))


def _convert(W, C):
    sl.store(sl.load(W[:, :], W.dtype).to(C.dtype), C[:, :])


def _nearest(x, dtype):
    """The nearest number that a type holds, of numbers that are truncated to integers."""
    if dtype in (E4M3, E5M2):
        most = float(ml_dtypes.finfo(dtype).max)
        return np.clip(x.astype(np.float32), -most, most).astype(dtype)
    if dtype in _RANGES and dtype is not np.int32:
        low, high = _RANGES[dtype]
        return np.clip(np.trunc(x.astype(np.float64)), low, high - 1).astype(dtype)
    return x.astype(np.float32).astype(dtype) if dtype == BF16 else x.astype(dtype)


_NARROW = [np.uint8, np.int8, np.int16, E4M3, E5M2, BF16, np.float16]


@pytest.mark.parametrize("target", [*_NARROW, np.float32, np.int32])
@pytest.mark.parametrize("source", _NARROW)
def test_conversions(source, target):
    w = _numbers(source)
    c = np.zeros(w.shape, target)
    _run(_convert, "(64,32), (64,32)", w, c)
    _same(c, _nearest(w, target))


@pytest.mark.parametrize("target", [np.uint8, np.int8, np.int16, E4M3, BF16])
@pytest.mark.parametrize("source", [np.float32, np.int32])
def test_conversions_of_32_bits(source, target):
    w = _numbers(source)
    w[0, :4] = [300, -300, 127, -128]
    c = np.zeros(w.shape, target)
    _run(_convert, "(64,32), (64,32)", w, c)
    _same(c, _nearest(w, target))


def _arithmetic(X, Y, R):
    x, y = sl.load(X[:, :]), sl.load(Y[:, :])
    results = [
        *(x & y, x | y, x ^ y, ~x, x << 3, x >> 2, x + y, x - y, x * y),
        *(sl.maximum(x, y), sl.minimum(x, y), sl.where(x < y, x, y), x // (y | 1), x % (y | 1)),
        *(sl.where(x >= 100, x - 100, x), sl.abs(x), -x),
    ]
    for i, result in enumerate(results):
        sl.store(result, R[i, :, :])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
def test_arithmetic_of_integers(dtype):
    x, y = (_numbers(dtype, (64, 8), seed) for seed in (0, 1))
    results = np.zeros((17, 64, 8), dtype)
    _run(_arithmetic, "(64,8), (64,8), (17,64,8)", x, y, results)
    expected = [
        *(x & y, x | y, x ^ y, ~x, x << 3, x >> 2, x + y, x - y, x * y),
        *(np.maximum(x, y), np.minimum(x, y), np.minimum(x, y), x // (y | 1), x % (y | 1)),
        *(np.where(x >= 100, x - 100, x), np.abs(x), -x),
    ]
    for result, wanted in zip(results, expected, strict=True):
        _same(result, wanted.astype(dtype))


def _of_bf16(X, Y, R, C):
    x, y = sl.load(X[:, :], sl.bf16), sl.load(Y[:, :], sl.bf16)
    for i, result in enumerate(
        [x + y, x - y, x * y, -x, sl.maximum(x, y), sl.where(x < y, x, 1.5)]
    ):
        sl.store(result, R[i, :, :])
    sl.store((x.bitcast(sl.i16) >> 7) & 255, C[:, :])


def test_arithmetic_of_bf16():
    x, y = _numbers(BF16), _numbers(BF16, seed=1)
    r, c = np.zeros((6, 64, 32), BF16), np.zeros((64, 32), np.int16)
    _run(_of_bf16, "(64,32), (64,32), (6,64,32), (64,32)", x, y, r, c)
    expected = [x + y, x - y, x * y, -x, np.maximum(x, y), np.where(x < y, x, BF16(1.5))]
    for result, wanted in zip(r, expected, strict=True):
        _same(result, wanted)
    np.testing.assert_array_equal(c, x.view(np.int16) >> 7 & 255)


def _cast(W, A, B):
    w = sl.load(W[:, :])
    sl.store(w.bitcast(sl.i8) >> 1, A[:, :])
    sl.store(w.bitcast(sl.e4m3), B[:, :])


def test_bitcasts():
    w = np.arange(64 * 32).astype(np.uint8).reshape(64, 32)
    a, b = np.zeros(w.shape, np.int8), np.zeros(w.shape, E4M3)
    _run(_cast, "(64,32), (64,32), (64,32)", w, a, b)
    _same(a, w.view(np.int8) >> 1)
    _same(b, w.view(E4M3))


def _nibbles(W, C, B, *, dtype, memory, interleaved):
    source = W[:, :]
    if memory == "tile":
        source = sl.alloc((64, 32), W.dtype)
        sl.copy(W[:, :], source)
    if interleaved:
        w = sl.load(source.bitcast(dtype, interleaved=True))
    else:
        w = sl.load(source.bitcast(dtype))
    sl.store(w.to(C.dtype), C[:, :])
    sl.store(w, B[:, :].bitcast(dtype))


@pytest.mark.parametrize("target", [np.float32, BF16, np.float16, np.int8, np.uint8, np.int32])
@pytest.mark.parametrize("dtype", [sl.i4, sl.u4])
@pytest.mark.parametrize("memory", ["array", "tile", "interleaved"])
def test_nibbles(memory, dtype, target):
    low = -8 if dtype == sl.i4 else 0
    q = np.random.default_rng(0).integers(low, low + 16, (64, 64))
    interleaved = memory == "interleaved"
    c, b = np.zeros(q.shape, target), np.zeros((64, 32), np.uint8)
    memory = "tile" if interleaved else memory
    constants = {"dtype": dtype, "memory": memory, "interleaved": interleaved}
    w = pack_nibbles(q, interleaved)
    _run(_nibbles, "(64,32), (64,64), (64,32)", w, c, b, **constants)
    _same(c, np.maximum(q, 0).astype(target) if target is np.uint8 else q.astype(target))
    _same(b, pack_nibbles(q))


def _narrow(X, B, *, dtype):
    sl.store(sl.load(X[:, :]).to(dtype), B[:, :].bitcast(dtype))


@pytest.mark.parametrize("source", [np.int8, np.float32, np.int32])
@pytest.mark.parametrize("dtype", [sl.i4, sl.u4])
def test_nearest_nibbles(dtype, source):
    x = np.random.default_rng(0).integers(-30, 30, (64, 64)).astype(source)
    b = np.zeros((64, 32), np.uint8)
    _run(_narrow, "(64,64), (64,32)", x, b, dtype=dtype)
    low = -8 if dtype == sl.i4 else 0
    _same(b, pack_nibbles(np.clip(x, low, low + 15).astype(np.int32)))


def _slices(X, V, R, C):
    x, row, column = sl.load(X[:, :]), sl.load(V[0:64], axis=1), sl.load(V[0:32], axis=0)
    sl.store((x + row) ^ column, R[:, :])
    sl.store((row >> 1) + 1, C[:])


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16])
def test_slices(dtype):
    x, v = _numbers(dtype), _numbers(dtype, (64,), 1)
    r, c = np.zeros_like(x), np.zeros_like(v)
    _run(_slices, "(64,32), (64), (64,32), (64)", x, v, r, c)
    _same(r, (x + v[:, None]) ^ v[:32])
    _same(c, (v >> 1) + dtype(1))


def _scale(V, U, C, D):
    row, column = sl.load(V[0:64], axis=1), sl.load(V[0:32], axis=0)
    sl.store((sl.zeros((64, 32), sl.f32) + row) * column, C[:, :])
    sl.store(sl.load(U[0:64], sl.bf16, axis=1) * 2.0, D[:])


@pytest.mark.parametrize("dtype", [E4M3, E5M2])
def test_slices_of_floats(dtype):
    v, u = _numbers(dtype, (64,)), _numbers(BF16, (64,), 1)
    c, d = np.zeros((64, 32), np.float32), np.zeros_like(u)
    _run(_scale, "(64), (64), (64,32), (64)", v, u, c, d)
    wide = v.astype(np.float32)
    _same(c, wide[:, None] * wide[:32])
    _same(d, u * BF16(2))


def _first_rows(X, C, T):
    x = sl.load(X[:, :], X.dtype)
    sl.store(x, C[0:64, :], rows=C.shape[0] - 11)
    sl.store(x, T[:, :])


@pytest.mark.parametrize("dtype", [np.uint8, BF16])
def test_rows_and_columns_in_memory(dtype):
    x = _numbers(dtype)
    c, t = np.zeros((64, 32), dtype), np.zeros((32, 64), dtype)
    _run(_first_rows, "(64,32), (M,32), (64,32):(1,64)", x, c, t.T)
    _same(c[:53], x[:53])
    assert not _bits(c[53:]).any()
    _same(t.T, x)


def _fill(X, R, N, *, columns):
    x = sl.load(X[:, :])
    large = sl.full((128, columns), 200, sl.u8)
    nibbles = sl.zeros((128, 32), sl.u4)
    for _ in sl.range(3):
        large = sl.where(sl.iota(1) < sl.iota(0), x, large) + 1
        nibbles = (nibbles.to(sl.u8) + 5).to(sl.u4)
    sl.store(large, R[:, :])
    sl.store(nibbles[:, 16:32], N[:, :].bitcast(sl.u4))


@pytest.mark.parametrize("arch, columns", [("sm_90a", 264), ("sm_100a", 40)])
def test_fills_columns_and_loops_of_many_rows(arch, columns):
    x = _numbers(np.uint8, (128, columns))
    r, n = np.zeros_like(x), np.zeros((128, 8), np.uint8)
    signature = f"(128,{columns}), (128,{columns}), (128,8)"
    _run(_fill, signature, x, r, n, arch=arch, columns=columns)
    below = np.arange(columns) < np.arange(128)[:, None]
    _same(r, np.where(below, x + np.uint8(1), np.uint8(203)))
    assert (n == 0xFF).all()


def _select(X, Y, C):
    x, y = sl.load(X[:, :], X.dtype), sl.load(Y[:, :], X.dtype)
    sl.store(sl.where(sl.iota(0) < 20, x, y), C[:, :])


@pytest.mark.parametrize("dtype", [E4M3, E5M2, np.int8])
def test_a_selection(dtype):
    x, y = _numbers(dtype), _numbers(dtype, seed=1)
    c = np.zeros_like(x)
    _run(_select, "(64,32), (64,32), (64,32)", x, y, c)
    _same(c, np.concatenate([x[:20], y[20:]]))


@pytest.mark.parametrize("columns", [64, 96])
def test_interleaved_nibbles_of_128_rows(columns):
    q = np.random.default_rng(0).integers(-8, 8, (128, columns))
    c = np.zeros(q.shape, BF16)

    def kernel(W, C):
        w = sl.alloc((128, columns // 2), W.dtype)
        sl.copy(W[:, :], w)
        sl.store(sl.load(w.bitcast(sl.i4, interleaved=True)).to(C.dtype), C[:, :])

    signature = f"(128,{columns // 2}), (128,{columns})"
    for arch in ("sm_90a", "sm_100a"):
        _run(kernel, signature, pack_nibbles(q, interleaved=True), c, arch=arch)
        _same(c, q.astype(BF16))


def _mix(X, Y, C):
    x, y = sl.load(X[:, :]), sl.load(Y[:, :])
    sl.store(x.to(sl.i32) * 3 + y.to(sl.i32), C[:, :])


def test_elements_of_several_types_in_one_expression():
    x, y = _numbers(np.uint8), _numbers(np.float32, seed=1)
    c = np.zeros(x.shape, np.int32)
    _run(_mix, "(64,32), (64,32), (64,32)", x, y, c)
    _same(c, x.astype(np.int32) * 3 + y.astype(np.int32))


def _in_turn(X, Y, C):
    sl.store(sl.interleave(sl.load(X[:, :], X.dtype), sl.load(Y[:, :], X.dtype)), C[:, :])


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, BF16, E4M3, np.float32])
def test_columns_of_two_fragments_in_turn(dtype):
    x, y = _numbers(dtype, (128, 24)), _numbers(dtype, (128, 24), 1)
    c = np.zeros((128, 48), dtype)
    _run(_in_turn, "(128,24), (128,24), (128,48)", x, y, c)
    _same(c, np.stack([x, y], axis=2).reshape(128, 48))


def _halves_in_turn(W, C):
    w = sl.load(W[:, :])
    sl.store(sl.interleave(w & 15, w >> 4).to(sl.bf16), C[:, :])


def test_nibbles_by_interleaving():
    q = np.random.default_rng(0).integers(0, 16, (64, 64))
    c = np.zeros(q.shape, BF16)
    _run(_halves_in_turn, "(64,32), (64,64)", pack_nibbles(q), c)
    _same(c, q.astype(BF16))


def _integer_product(A, B, C, D, E, F, *, n):
    a, b = sl.alloc((64, 32), A.dtype), sl.alloc((32, n), B.dtype)
    sl.copy(A[:, :], a)
    sl.copy(B[:, :], b)
    acc = sl.mma(a, b)
    sl.store(acc.to(sl.f32), C[:, :])
    sl.store(acc.to(sl.bf16), D[:, :])
    sl.store(acc.to(sl.i8), E[:, :])
    sl.store(acc, F[:, :])


@pytest.mark.parametrize("n", [32, 40])
def test_an_integer_product_is_converted_and_stored(n):
    a, b = _numbers(np.int8), _numbers(np.int8, (n, 32), 1)
    outputs = [np.zeros((64, n), dtype) for dtype in (np.float32, BF16, np.int8, np.float32)]
    signature = f"(64,32), (32,{n}):(1,32), (64,{n}), (64,{n}), (64,{n}), (64,{n})"
    _run(_integer_product, signature, a, b.T, *outputs, n=n)
    product = a.astype(np.int32) @ b.T.astype(np.int32)
    for output, wanted in zip(
        outputs,
        [product, product.astype(np.float32), np.clip(product, -128, 127), product],
        strict=True,
    ):
        _same(output, wanted.astype(output.dtype))


def _product_of_a_fragment(A, B, C, *, dtype):
    b = sl.alloc((32, 16), B.dtype)
    sl.copy(B[:, :], b)
    sl.store(sl.mma(sl.load(A[:, :], dtype), b).to(sl.f32), C[:, :])


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, E4M3, E5M2, BF16])
def test_an_a_of_a_loaded_fragment(dtype):
    a, b = _numbers(dtype), _numbers(dtype, (16, 32), 1)
    if dtype in (E4M3, E5M2, BF16):
        # Products and sums are exact.
        a, b = ((np.arange(x.size).reshape(x.shape) % 7 - 3).astype(dtype) for x in (a, b))
    c = np.zeros((64, 16), np.float32)
    signature = "(64,32), (32,16):(1,32), (64,16)"
    _run(_product_of_a_fragment, signature, a, b.T, c, dtype=sl.dtype_of(a))
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b.T.astype(np.float32))


def _carry(A, B, C, D, *, steps):
    a, b = sl.alloc((64, 32), A.dtype), sl.alloc((32, 32), B.dtype)
    sl.copy(A[:, :], a)
    sl.copy(B[:, :], b)
    p, q = sl.load(a).to(B.dtype), sl.load(a, a=True)
    acc = other = sl.zeros((64, 32), sl.f32)
    for _ in sl.range(steps):
        acc = sl.mma(p, b, acc)
        other = sl.mma(q, b, other)
        p = (acc * 0.125).to(B.dtype)
        q = sl.load(a, a=True)
    sl.store(acc, C[:, :])
    sl.store(other, D[:, :])


@pytest.mark.parametrize("dtype", [BF16, np.float16])
def test_a_loop_carries_an_a_of_16_bits(dtype):
    a, b = (
        (_numbers(t, s, i) / 40).astype(dtype)
        for i, (t, s) in enumerate([(dtype, (64, 32)), (dtype, (32, 32))])
    )
    c, d = (np.zeros((64, 32), np.float32) for _ in range(2))
    _run(_carry, "(64,32), (32,32), (64,32), (64,32)", a, b, c, d, steps=3)
    acc, p = np.zeros((64, 32), np.float64), a
    for _ in range(3):
        acc += p.astype(np.float64) @ b.astype(np.float64)
        p = (acc * 0.125).astype(np.float32).astype(dtype)
    np.testing.assert_allclose(c, acc, rtol=1e-2, atol=0.05)
    np.testing.assert_allclose(
        d, 3 * (a.astype(np.float64) @ b.astype(np.float64)), rtol=1e-3, atol=1e-3
    )


def _of_scalars(W, X, C, B):
    total = W[0, 0]
    for i in sl.range(1, 4):
        total = total + W[0, i]
    C[0] = total.to(sl.i32)
    C[1] = (W[0, 0] >> 1).to(sl.i32)
    C[2] = sl.where(W[0, 1] < W[0, 0], W[0, 1], W[0, 0]).to(sl.i32)
    C[3] = X[0, 0].to(sl.f32).to(sl.i32)
    large, small = W[0, 0], W[0, 1]
    numbers = [large // small, large % 7, ~large, -large, sl.maximum(large, small), large]
    for i, number in enumerate([*numbers, min(large, small), large + sl.block_id(0)]):
        C[4 + i] = number.to(sl.i32)
    B[0] = total
    B[1] = (total.to(sl.i32) + 300).to(sl.u8)


def test_unsigned_numbers_stay_unsigned():
    w = np.full((64, 32), 200, np.uint8)
    w[0, :4] = [200, 100, 3, 4]
    x, c, b = np.full((64, 32), 96, E4M3), np.zeros(12, np.int32), np.zeros(2, np.uint8)
    _run(_of_scalars, "(64,32), (64,32), (12):i32, (2)", w, x, c, b)
    assert c.tolist() == [307 % 256, 100, 100, 96, 2, 4, 55, 56, 200, 200, 100, 200]
    assert b.tolist() == [307 % 256, 255]


def _contract(X, Y, Z, R):
    x, y, z = sl.load(X[:, :], X.dtype), sl.load(Y[:, :], X.dtype), sl.load(Z[:, :], X.dtype)
    for i, result in enumerate([x * y + z, z - x * y]):
        sl.store(result, R[i, :, :])


@pytest.mark.parametrize("contract", [True, False])
def test_products_and_sums_of_bf16_are_contracted(contract):
    kernel = sl.kernel("(64,8), (64,8), (64,8), (2,64,8)", contract=contract)(_contract)
    x, y, z = (_numbers(BF16, (64, 8), seed) for seed in range(3))
    r = np.zeros((2, 64, 8), BF16)
    kernel[1](x, y, z, r, on="cpu")
    # f32 has room for products of bf16, and f64 for the sums.
    product = x.astype(np.float64) * y.astype(np.float64)
    product = product if contract else product.astype(BF16).astype(np.float64)
    wide = z.astype(np.float64)
    _same(r, np.stack([product + wide, wide - product]).astype(BF16))
    assert kernel.ptx(x, y, z, r).count("fma.rn.bf16x2") == (4 if contract else 0)


def _load_edges(X, C, D):
    x = sl.load(X[sl.ds(0, 64), sl.ds(0, 32)], C.dtype, other=3)
    sl.store(x, C[:, :])
    sl.store(x, D[sl.ds(0, 64), sl.ds(0, 32)], rows=X.shape[0] - 1, columns=X.shape[1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, E4M3, BF16, np.float32])
def test_windows_over_the_edges(dtype, order):
    x = _numbers(np.uint8 if dtype is np.float32 else dtype, (50, 18)).copy(order)
    c, d = np.full((64, 32), 7, dtype), np.zeros((50, 18), dtype).copy(order)
    sizes = "(M,N):(1,?)" if order == "F" else "(M,N)"
    _run(_load_edges, f"{sizes}, (64,32), {sizes}", x, c, d)
    expected = np.full((64, 32), 3, dtype)
    expected[:50, :18] = x.astype(dtype)
    _same(c, expected)
    expected[49] = 0
    _same(d.copy("C"), expected[:50, :18].copy())


def _bounded_vectors(V, C, B):
    row = sl.load(V[sl.ds(0, 64)], rows=V.shape[0], other=3, axis=1)
    sl.store(row, C[:])
    nibbles = (sl.zeros((64, 32), V.dtype) + row).to(sl.u4)
    sl.store(nibbles, B[sl.ds(0, 64), :].bitcast(sl.u4), rows=B.shape[0])


def test_slices_and_nibbles_over_the_edges():
    v, c, b = _numbers(np.uint8, (50,)), np.zeros(64, np.uint8), np.zeros((60, 16), np.uint8)
    _run(_bounded_vectors, "(K), (64), (M,16)", v, c, b)
    _same(c, np.concatenate([v, np.full(14, 3, np.uint8)]))
    _same(b, np.repeat(np.minimum(c, 15)[:60, None] * np.uint8(17), 16, axis=1))


def _transpose(X, C, N):
    x = sl.alloc((64, 64), X.dtype)
    sl.copy(X[:, :], x)
    sl.store(sl.load(x.T, X.dtype), C[0, :, :])
    sl.store(sl.load(X[:, :].T, X.dtype), C[1, :, :])
    if X.dtype == sl.u8:
        sl.store(sl.load(x.T.bitcast(sl.u4)).to(sl.u8), N[0, :, :])
        sl.store(sl.load(X[:, :].T.bitcast(sl.u4)).to(sl.u8), N[1, :, :])


@pytest.mark.parametrize("dtype", [np.uint8, E4M3, BF16])
def test_transposes(dtype):
    x = _numbers(dtype, (64, 64))
    c, n = np.zeros((2, 64, 64), dtype), np.zeros((2, 64, 128), np.uint8)
    _run(_transpose, "(64,64), (2,64,64), (2,64,128)", x, c, n)
    for half in range(2):
        _same(c[half], x.T.copy())
        if dtype is np.uint8:
            _same(pack_nibbles(n[half].astype(np.int32)), x.T.copy())


def _early(X, Y):
    if sl.block_id(0) == Y.shape[0]:
        return sl.load(Y[:, :], X.dtype), X[0, 1]
    sl.barrier()
    return sl.load(X[:, :], X.dtype), X[0, 0]


def _return_early(X, Y, C, D):
    x, number = _early(X, Y)
    nibbles = sl.zeros((64, 32), sl.u4)
    if X.dtype == sl.u8:
        while number < 200:
            number = number + 1
            nibbles = x.to(sl.u4)
    sl.store(x if sl.block_id(0) == 0 else 7, C[:, :])
    if X.dtype == sl.u8:
        sl.store(nibbles, D[:, :].bitcast(sl.u4))
        D[0, 0] = number


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, E4M3, BF16])
def test_branches_and_while_loops(dtype):
    x, y = _numbers(dtype), _numbers(dtype, seed=1)
    x[0, 0] = 100
    c, d = np.zeros_like(x), np.zeros((64, 16), np.uint8)
    _run(_return_early, "(64,32), (64,32), (64,32), (64,16)", x, y, c, d)
    _same(c, x)
    if dtype is np.uint8:
        wanted = pack_nibbles(np.minimum(x, 15).astype(np.int32))
        wanted[0, 0] = 200
        _same(d, wanted)


def _print(X):
    sl.print("n", X[0, 1])
    sl.print("x", sl.load(X[:, :], X.dtype))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, E4M3, BF16])
def test_prints(dtype, capfd):
    x = _numbers(dtype, (64, 8))
    kernel = sl.kernel("(64,8)")(_print)
    kernel[1](x, on="cpu")
    lines = capfd.readouterr().out.splitlines()
    printed = {line.split("thread ")[1].split(" ", 1)[1] for line in lines}
    elements = {f"({i}, {j}) x: {float(n):.8g}" for (i, j), n in np.ndenumerate(x)}
    assert printed == {f"n: {float(x[0, 1]):.8g}"} | elements
    assert "vprintf" in kernel.ptx(x)


_MISTAKES = {
    "elements of u8 meet an index; convert one, for example by x.to(sl.u8)": (
        "u8",
        lambda x: x + sl.block_id(0),
    ),
    "elements of bf16 meet an index; convert one, for example by x.to(sl.bf16)": (
        "f32",
        lambda x: x.to(sl.bf16) * sl.block_id(0),
    ),
    "elements of i8 meet elements of index; convert one, for example by x.to(sl.i8)": (
        "i8",
        lambda x: x < sl.iota(1),
    ),
    "an index meets a number of u8; expected a number of u8": (
        "u8",
        lambda x: sl.full((64, 32), sl.block_id(0), sl.u8),
    ),
    "-129 is used with i8, which holds -128 to 127": ("i8", lambda x: sl.where(x > 0, x, -129)),
    "256 is used with u8, which holds 0 to 255": ("u8", lambda x: sl.full((64, 32), 256, sl.u8)),
    "inf is used with u8; expected a whole number": (
        "u8",
        lambda x: sl.full((64, 32), float("inf"), sl.u8),
    ),
    "a fragment 64x32 of u8 is reduced; convert it, by x.to(sl.i32)": ("u8", lambda x: x.max()),
    "300 is used with u8, which holds 0 to 255": ("u8", lambda x: x + 300),
    "elements of u8 are shifted by 8 bits; expected 0 to 7": ("u8", lambda x: x << 8),
    "elements of u8 have no /": ("u8", lambda x: x / x),
    "elements of u8 meet elements of i8; convert one": ("u8", lambda x: x + x.bitcast(sl.i8)),
    "elements of u8 are cast to bf16, which has 16 bits": ("u8", lambda x: x.bitcast(sl.bf16)),
    "elements of u4 have no +; convert them, for example by x.to(sl.u8)": (
        "u8",
        lambda x: x.to(sl.u4) + 1,
    ),
    "elements of e4m3 have no *; convert them, for example by x.to(sl.f32)": (
        "f32",
        lambda x: x.to(sl.e4m3) * 2.0,
    ),
    "a fragment 64x32 of bf16 is reduced; convert it, by x.to(sl.f32)": (
        "f32",
        lambda x: x.to(sl.bf16).max(axis=1),
    ),
    "expected all 64 rows, from a multiple of 16": ("u8", lambda x: x.to(sl.u4)[:, 8:24]),
    "takes 64x32 of u4; expected elements of 8 bits": (
        "u8",
        lambda x: sl.to_registers(x.to(sl.u4)),
    ),
    "a fragment 64x32 of u8 is interleaved with a fragment 64x32 of f32; expected two accumulators": (
        "u8",
        lambda x: sl.interleave(x, x.to(sl.f32)),
    ),
    "has a slice of u4; expected elements of 16 or 32 bits, i8 or u8": (
        "u8",
        lambda x: sl.zeros((64,), sl.u4, axis=1),
    ),
    "has an accumulator of [64, 8]; expected (M, N) with M a multiple of 64 and N of 16": (
        "u8",
        lambda x: sl.zeros((64, 8), sl.u4),
    ),
}


@pytest.mark.parametrize("message", _MISTAKES)
def test_mistakes_with_elements(message):
    dtype, statement = _MISTAKES[message]

    def kernel(A):
        statement(sl.load(A[:, :]))

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(64,32)")(kernel).trace(dtype)
    assert message in str(caught.value)


def test_a_number_becomes_no_float_of_8_bits():
    def kernel(A, B):
        A[0, 0].to(sl.e4m3)

    assert failure(kernel)[0] == "a number of f32 is converted to e4m3; only fragments are"


def test_mistakes_with_nibbles_in_memory():
    def cast(A, B):
        A[0:64, :].bitcast(sl.u4)

    message = "a window 64x64 of the array A (M, 64) of f32 is cast to u4; expected (rows, columns)"
    assert message in failure(cast)[0]

    def stores_interleaved(A, B):
        a = sl.alloc((64, 32), sl.u8)
        sl.store(sl.load(a.bitcast(sl.u4)), a.bitcast(sl.u4, interleaved=True))

    assert "is interleaved; only sl.load takes it" in failure(stores_interleaved)[0]

    def of_24_bytes(A, B):
        sl.load(sl.alloc((64, 24), sl.u8).bitcast(sl.u4, interleaved=True))

    assert "with columns in multiples of 32" in failure(of_24_bytes)[0]

    def rows(A, B):
        a = sl.alloc((64, 32), sl.u8)
        sl.store(sl.load(a.bitcast(sl.u4)), a.bitcast(sl.u4), rows=8)

    assert "sl.store with rows takes a window of an array" in failure(rows)[0]

    def columns(A, B):
        a = sl.alloc((64, 32), sl.u8)
        sl.store(sl.load(a.bitcast(sl.u4)), a.bitcast(sl.u4), columns=8)

    assert "as 64x64 of u4 is stored with columns; expected rows alone" in failure(columns)[0]

    def bounds(A, B):
        sl.load(sl.alloc((64, 32), sl.u8).bitcast(sl.u4), other=0)

    assert "is loaded with more than a dtype; expected sl.load(view)" in failure(bounds)[0]

    def arithmetic(A, B):
        sl.alloc((64, 32), sl.u8).bitcast(sl.u4) + 1

    message = "a tile 64x32 of u8 as 64x64 of u4 is an operand of +; read it first, by sl.load"
    assert failure(arithmetic)[0] == message

    def element(A, B):
        sl.alloc((64, 32), sl.u8).bitcast(sl.u4)[0]

    assert failure(element)[0] == "a packed view object is not subscriptable"
