"""`.T` of tiles and windows: on the emulator against NumPy, what is proven, and what is refused."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
from kernel_failures import failure

import mlir_smem.language as sl
from mlir_smem.layout import compress, prune
from mlir_smem.layout.tcgen05 import blocked

BF16, E4M3 = np.dtype(ml_dtypes.bfloat16), np.dtype(ml_dtypes.float8_e4m3fn)
E8M0 = np.dtype(ml_dtypes.float8_e8m0fnu)
F16, F32 = np.dtype(np.float16), np.dtype(np.float32)
RNG = np.random.default_rng(45)

#: Views of 64x64 of a tile (2, 80, 128), or of a NumPy array; `r` is 16, in a kernel at run time.
STRAIGHT: dict[str, Callable] = {
    "subtile": lambda x, r: x[1][0:64, 64:128],
    "T.T": lambda x, r: x[0][:, 0:64].T.T[16:80, :],
    "T, subtile, T": lambda x, r: x[1].T[r : r + 64, 0:64].T,
    "subtile, T, subtile, T": lambda x, r: x[1][r : r + 64, :].T[32:96, :].T,
}
TRANSPOSED: dict[str, Callable] = {
    "subtile, T": lambda x, r: x[1][r : r + 64, 64:128].T,
    "T, subtile": lambda x, r: x[0].T[64:128, 16:80],
    "T, subtile at run time": lambda x, r: x[1].T[r : r + 64, r : r + 64],
    "subtile, T, subtile": lambda x, r: x[0][16:80, :].T[64:128, :],
    "index in both": lambda x, r: x[r // 16, 0:64, r : r + 96].T[r : r + 64, :],
}
SHAPE = (2, 80, 128)


def exact(shape, dtype):
    """Integers whose products and sums of 64 are exact in every type."""
    return RNG.integers(-3, 4, shape).astype(dtype)


def emulate(kernel, *arrays):
    assert kernel.check(*arrays) == ()
    kernel[1](*arrays, on="cpu")


USES: dict[str, tuple[Callable, Callable]] = {
    "A": (sl.mma, np.matmul),
    "B": (lambda view, other: sl.mma(other, view), lambda view, other: other @ view),
    "A in registers": (lambda view, other: sl.mma(sl.load(view, a=True), other), np.matmul),
    "load": (lambda view, other: sl.load(view), lambda view, other: view),
}


def read_views(dtype, views, use, column_major=False, arch="sm_90a"):
    """Read views of one tile in one way, and compare each with that of the array.

    Args:
        dtype: of the elements.
        views: the views, by name.
        use: one of `USES`.
        column_major: whether the array in global memory is; windows are transposed then.
        arch: the architecture.
    """
    traced, computed = USES[use]
    x, other = exact(SHAPE, dtype), exact((64, 64), dtype)
    y = np.zeros((len(views) * 64, 64), F32)
    extents = "(2,128,80)" if column_major else "(2,80,128)"
    # The other operand is contiguous along K, as wgmma needs it for 8-bit types.
    strides = "(?,1)" if use == "B" else "(1,?)"

    @sl.kernel(f"{extents}, (64,64):{strides}, (Y,64), ()")
    def kernel(X, Other, Y, start):
        element = sl.tf32 if dtype == F32 and use != "load" else X.dtype
        tile, other = sl.alloc(SHAPE, element), sl.alloc((64, 64), element)
        for stage in range(2):
            window = X[stage, :, :]
            sl.copy(window.T if column_major else window, tile[stage])
        sl.copy(Other[:, :], other)
        r = sl.unsigned(start.to(sl.index)) % 2 * 16
        for i, view in enumerate(views.values()):
            sl.store(traced(view(tile, r), other), Y[i * 64 : i * 64 + 64, :])

    source = x.transpose(0, 2, 1).copy() if column_major else x
    arrays = source, np.asarray(other, order="C" if use == "B" else "F"), y, 1
    assert kernel.check(*arrays, arch=arch) == ()
    kernel[1](*arrays, on="cpu", arch=arch)
    for i, (name, view) in enumerate(views.items()):
        expected = computed(view(x, 16).astype(F32), other.astype(F32))
        assert np.array_equal(y[i * 64 :][:64], expected), name


@pytest.mark.parametrize(
    "dtype, use", [(BF16, "A"), (BF16, "B"), (F16, "A in registers"), (F16, "load"), (F32, "load")]
)
def test_both_orders_of_one_tile(dtype, use):
    read_views(dtype, STRAIGHT | TRANSPOSED, use)


@pytest.mark.parametrize("dtype", [E4M3, F32], ids=str)
@pytest.mark.parametrize("use", ["A", "B"])
@pytest.mark.parametrize("views", [STRAIGHT, TRANSPOSED], ids=["straight", "transposed"])
def test_one_order_of_elements_that_wgmma_reads_along_k(dtype, use, views):
    read_views(dtype, views, use, column_major=(use == "A") == (views is TRANSPOSED))


def test_tcgen05_reads_both_orders_of_bytes():
    views = {"straight": lambda x, r: x[1][0:64, r : r + 64]}
    read_views(E4M3, views | TRANSPOSED, "B", arch="sm_100a")


def test_a_sparse_product_of_transposes():
    @sl.kernel("(32,64), (1,1,128):i32, (64,64), (64,64)")
    def kernel(X, W, Y, Z):
        a, b = sl.alloc((32, 64), X.dtype), sl.alloc((64, 64), Y.dtype)
        sl.copy(X[:, :], a)
        sl.copy(Y[:, :], b)
        metadata = sl.load_metadata(W, (64, 64), Y.dtype)
        sl.store(sl.mma_sp(a.T, b.T, metadata), Z[:, :])

    a, b, z = prune(exact((64, 64), F32), "bf16"), exact((64, 64), BF16), np.zeros((64, 64), F32)
    values, words = compress(a, "bf16")
    kernel[1](values.T.astype(BF16, order="C"), words, b, z, on="cpu")
    assert np.array_equal(z, a @ b.T.astype(F32))


def test_a_scaled_product_of_transposes():
    @sl.kernel("(128,128), (128,128), (1,1,32,4,4), (1,1,32,4,4), (128,128)")
    def kernel(X, Y, ScaleX, ScaleY, Z):
        a, b = sl.alloc((128, 128), X.dtype), sl.alloc((128, 128), Y.dtype)
        a_scales, b_scales = (sl.alloc((128, 4), ScaleX.dtype) for _ in range(2))
        for source, tile in ((X, a), (Y, b), (ScaleX, a_scales), (ScaleY, b_scales)):
            sl.copy(source, tile)
        sl.store(sl.mma_scaled(a.T, b.T, a_scales, b_scales), Z[:, :])

    a, b = exact((128, 128), E4M3), exact((128, 128), E4M3)
    exponents = [RNG.integers(-2, 3, (128, 4)) for _ in range(2)]
    scales = [blocked((e + 127).astype(np.uint8)).view(E8M0) for e in exponents]
    z = np.zeros((128, 128), F32)
    kernel[1](a, b, *scales, z, on="cpu", arch="sm_100a")
    factors = [np.repeat(2.0**e, 32, axis=1) for e in exponents]
    assert np.array_equal(z, (a.T.astype(F32) * factors[0]) @ (b.T.astype(F32) * factors[1].T))


@pytest.mark.parametrize(
    "write, dtype", [("store", BF16), ("copy", BF16), ("copy_async", F32), ("from a tile", F16)]
)
def test_views_are_written(write, dtype):
    """Each view is written after the one before; the tile then equals the array so treated."""
    views = {
        name: view
        for name, view in (STRAIGHT | TRANSPOSED).items()
        if write != "from a tile" or "run time" in name or name == "subtile"
    }
    x, parts = exact(SHAPE, dtype), exact((len(views) * 64, 64), dtype)
    y = np.zeros((160, 128), F32)

    @sl.kernel("(2,80,128), (P,64), (160,128), ()")
    def kernel(X, P, Y, start):
        tile, part = sl.alloc(SHAPE, X.dtype), sl.alloc((64, 64), X.dtype)
        for stage in range(2):
            sl.copy(X[stage, :, :], tile[stage])
        r = sl.unsigned(start.to(sl.index)) % 2 * 16
        for i, (name, view) in enumerate(views.items()):
            window, target = P[i * 64 : i * 64 + 64, :], view(tile, r)
            if write == "store":
                sl.store(sl.load(window), target)
            elif write == "from a tile":
                sl.copy(window, part)
                sl.copy(part, target, relayout=name in TRANSPOSED)
            elif name in TRANSPOSED:
                # The tile is row-major: columns of its transpose are written.
                getattr(sl, write)(window, target.T)
            else:
                getattr(sl, write)(window, target)
        for stage in range(2):
            row = stage * 80
            sl.store(sl.load(tile[stage][0:64, :]), Y[row : row + 64, :])
            sl.store(sl.load(tile[stage][16:80, :]), Y[row + 16 : row + 80, :])

    assert kernel.check(x, parts, y, 1) == ()
    kernel[1](x, parts, y, 1, on="cpu")
    for i, (name, view) in enumerate(views.items()):
        target = view(x, 16)
        part = parts[i * 64 :][:64]
        transposes = write.startswith("copy") and name in TRANSPOSED
        target[:] = part.T if transposes else part
    assert np.array_equal(y.reshape(SHAPE), x.astype(F32))


@pytest.mark.parametrize("dtype", [BF16, E4M3], ids=str)
def test_tma_fills_and_reads_transposed_windows(dtype):
    """TMA of a transposed window and a tile is TMA of the window and the transposed tile."""

    @sl.kernel("(64,128), (64,128), (128,64):(1,?)", warpgroups=2)
    def kernel(X, Y, Z):
        x, z = sl.alloc((128, 64), X.dtype), sl.alloc((1, 64, 128), X.dtype)
        filled = sl.pipeline(1)
        with sl.warp_specialize():
            with sl.partition(1), sl.elect(), filled.producer(0) as stage:
                sl.tma_load(X[:, :].T, x, stage)
                sl.tma_load(X[:, :], z[stage], stage)
            with sl.partition(1), filled.consumer(0) as stage, sl.elect():
                sl.tma_store(x.T, Y[:, :])
                sl.tma_store(z[stage].T, Z[:, :])
                sl.tma_commit()
                sl.tma_wait(read=True)

    x, y, z = exact((64, 128), dtype), np.zeros((64, 128), dtype), np.zeros((64, 128), dtype).T
    assert kernel.check(x, y, z) == ()
    kernel[1](x, y, z, on="cpu")
    assert np.array_equal(x, y)
    assert np.array_equal(x.T, z)


def test_ragged_rows_of_a_transposed_window():
    @sl.kernel("(64,64), (64,C):(?,1)")
    def kernel(X, Y):
        column = sl.block_id(0) * 64
        part = Y[:, sl.ds(column, 64)].T
        sl.store(sl.load(X), part, rows=Y.shape[1] - column)

    x, y = exact((64, 64), F32), np.zeros((64, 200), F32)
    kernel[2](x, y[:, :100], on="cpu")
    assert np.array_equal(y[:, :100].T, np.concatenate([x, x[:36]]))
    assert not y[:, 100:].any()


def test_a_transposed_window_is_another_window():
    """Threads read what others wrote: a barrier is inserted between."""

    @sl.kernel("(64,64)")
    def kernel(X):
        sl.store(sl.load(X[:, :]) * 2.0, X[:, :])
        sl.store(sl.load(X[:, :].T), X[:, :])

    x = exact((64, 64), F32)
    expected = 2 * x.T
    kernel[1](x, on="cpu")
    assert np.array_equal(x, expected)


def test_a_thread_reads_what_it_wrote_to_a_transposed_window():
    """Without a barrier, which partitions could not have."""

    @sl.kernel("(128,64), (64,128)", warpgroups=2)
    def kernel(X, Y):
        with sl.warp_specialize(), sl.partition(2) as warpgroup:
            own = sl.ds(warpgroup * 64, 64)
            sl.store(sl.load(Y[:, own].T) + sl.load(X[own, :]), Y[:, own].T)

    x, y = exact((128, 64), F32), exact((64, 128), F32)
    expected = x.T + y
    assert kernel.check(x, y) == ()
    kernel[1](x, y, on="cpu")
    assert np.array_equal(y, expected)


def test_bytes_are_not_read_in_both_orders():
    @sl.kernel("(64,64), (64,64), (64,64)")
    def kernel(Q, K, S):
        q, k = sl.alloc((64, 64), Q.dtype), sl.alloc((64, 64), K.dtype)
        sl.copy(Q[:, :], q)
        sl.copy(K[:, :], k)
        s = sl.mma(q, k.T)
        sl.store(s + sl.mma(q, k), S[:, :])

    with pytest.raises(sl.TraceError, match="wgmma reads e4m3 K-major only") as caught:
        kernel.compile(sl.e4m3, sl.e4m3, sl.f32)
    lines = str(caught.value).splitlines()
    first = kernel.function.__code__.co_firstlineno
    refusals = {
        (how, line)
        for text in lines
        for how in ("row-major", "column-major")
        for line in (5, 6)
        if f"32B, {how}" in text and f":{first + line}:" in text
    }
    assert refusals == {("row-major", 6), ("column-major", 5)}


def test_a_tile_with_stages_has_no_transpose():
    def kernel(A, B):
        sl.load(sl.alloc((2, 64, 64), A.dtype).T)

    message, _, _ = failure(kernel)
    assert message == "a tile 2x64x64 of f32 is transposed; take a stage before: t[i].T"


OTHERS = {
    "the array A (M, 64) of f32": (lambda A: A, "take that of a window, such as A[0:64, 0:64].T"),
    "a fragment 64x64 of f32": (
        lambda A: sl.load(A[0:64, :]),
        "store it to a tile t, and read t.T",
    ),
    "a number of f32": (lambda A: A[0, 0], "tiles and windows have one"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_values_have_no_transpose(name):
    take, instead = OTHERS[name]

    def kernel(A, B):
        _ = take(A).T

    assert failure(kernel)[0] == f"{name} has no transpose; {instead}"


@pytest.mark.parametrize("rank", [1, 3])
def test_a_window_that_is_no_matrix_has_no_transpose(rank):
    def kernel(A, B):
        sl.load(A[0, 0:64, 0, 0].T if rank == 1 else A[0:2, 0:32, 0:64, 0].T)

    message, _, _ = failure(kernel, "(2,64,64,64), (M,64)")
    extents = "64" if rank == 1 else "2x32x64"
    assert message == (
        f"a window {extents} of the array A (2, 64, 64, 64) of f32 is transposed; expected one of rows "
        "and columns"
    )
