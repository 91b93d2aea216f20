"""Partitions, pipelines and TMA in traced kernels, on the emulator."""

import ml_dtypes
import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.runtime import run_on_cpu

RNG = np.random.default_rng(3)
B = sl.bf16


@sl.kernel("(M,K):(?,1), (K,N):(?,1), (M,N):(?,1)", warpgroups=3, sync="manual", min_blocks=1)
def gemm(A, B, C, *, bm=128, bn=64, bk=64, stages=3):
    """A persistent GEMM: a producer warpgroup, and two consumers."""
    (M, K), N = A.shape, B.shape[1]
    a, b = sl.alloc((stages, bm, bk), A.dtype), sl.alloc((stages, bk, bn), B.dtype)
    c = sl.alloc((2, bm // 2, bn), C.dtype)
    pipe = sl.pipeline(stages, consumers=2)
    steps, columns = sl.cdiv(K, bk), sl.cdiv(N, bn)
    first, total, blocks = sl.block_id(0), sl.cdiv(M, bm) * columns, sl.grid_dim(0)
    with sl.warp_specialize():
        with sl.partition(registers=40), sl.elect():
            index = 0
            for tile in sl.range(first, total, blocks):
                row, column = tile // columns * bm, tile % columns * bn
                for k in sl.range(steps):
                    with pipe.producer(index + k) as stage:
                        k_start = k * bk
                        sl.tma_load(A[row : row + bm, k_start : k_start + bk], a[stage], stage)
                        sl.tma_load(
                            B[k_start : k_start + bk, column : column + bn], b[stage], stage
                        )
                index = index + steps
        with sl.partition(warpgroups=2, registers=232) as warpgroup:
            index, offset = 0, warpgroup * (bm // 2)
            for tile in sl.range(first, total, blocks):
                row, column = tile // columns * bm, tile % columns * bn
                stage = pipe.wait(index)
                acc = sl.mma(a[stage][offset : offset + bm // 2, :], b[stage])
                for k in sl.range(1, steps):
                    stage = pipe.wait(index + k)
                    acc = sl.mma(a[stage][offset : offset + bm // 2, :], b[stage], acc)
                    acc = sl.wait(acc, pending=1)
                    pipe.release(sl.unsigned(index + k - 1))
                acc = sl.wait(acc)
                pipe.release(sl.unsigned(index + steps - 1))
                index = index + steps
                sl.store(acc, c[warpgroup])
                sl.fence(), sl.warpgroup_barrier()
                with sl.elect():
                    sl.tma_store(
                        c[warpgroup], C[sl.ds(row + offset, bm // 2), column : column + bn]
                    )
                    sl.tma_commit()
                    sl.tma_wait()
                sl.warpgroup_barrier()


@pytest.mark.parametrize(("m", "n", "k", "blocks"), [(128, 64, 64, 1), (200, 136, 192, 2)])
def test_a_warp_specialised_gemm(m, n, k, blocks):
    a = RNG.standard_normal((m, k)).astype(ml_dtypes.bfloat16)
    b = RNG.standard_normal((k, n)).astype(ml_dtypes.bfloat16)
    compiled = gemm.compile(B, B, B, emit="nvvm")
    arguments = {"A": a, "B": b, "C": np.zeros((m, n), ml_dtypes.bfloat16)}
    c = run_on_cpu(compiled, None, arguments, ["C"], grid=(blocks,))["C"]
    expected = a.astype(np.float32) @ b.astype(np.float32)
    np.testing.assert_allclose(c.astype(np.float32), expected, rtol=1e-2, atol=0.2)


def test_the_gemm_is_proven():
    assert gemm.check(B, B, B) == ()


def test_the_attributes_of_a_kernel():
    @sl.kernel("(M,64)", warpgroups=2, cluster=(2, 1), min_blocks=2, sync="manual")
    def kernel(A):
        sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], 64), 128))

    text = kernel.mlir(sl.f32)
    for attribute in (
        "known_block_size = array<i32: 256, 1, 1>",
        "known_cluster_size = array<i32: 2, 1, 1>",
        "nvvm.minctasm = 2 : i32",
        'smem.grid = [["M", 128]]',
        "smem.multiples = {M = 64 : i64}",
        'smem.name = "A"',
        'smem.shape = ["M", 64]',
    ):
        assert attribute in text


def test_a_partition_sees_the_variables_from_before_the_others():
    @sl.kernel("(128,64), (128,64)", warpgroups=2, sync="manual")
    def kernel(A, D):
        row = sl.block_id(0) * 0
        with sl.warp_specialize():
            with sl.partition():
                row = row + 64
                sl.store(sl.load(A[sl.ds(row, 64), :]) * 2.0, D[sl.ds(row, 64), :])
            with sl.partition():
                sl.store(sl.load(A[sl.ds(row, 64), :]) * 3.0, D[sl.ds(row, 64), :])

    a = RNG.standard_normal((128, 64)).astype(np.float32)
    compiled = kernel.compile(sl.f32, sl.f32, emit="nvvm")
    d = run_on_cpu(compiled, None, {"A": a}, ["D"], grid=(1,))["D"]
    np.testing.assert_array_equal(d, np.concatenate([a[:64] * 3, a[64:] * 2]))


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (
            lambda a, A, pipe: sl.tma_load(A[0:64, :], a, 0),
            "expected that of pipe.producer(k), not 0",
        ),
        (lambda a, A, pipe: sl.tma_load(A, a, pipe.acquire(0)), "TMA copies a window of an array"),
        (
            lambda a, A, pipe: sl.tma_load(A[0:64, 0:32], a, pipe.acquire(0)),
            "is copied to a tile 64x64 of bf16; expected a window 64x64",
        ),
        (
            lambda a, A, pipe: sl.tma_load(A[0:64, :], a, pipe.acquire(0), multicast="y"),
            'sl.tma_load has multicast="y", but a cluster of the kernel has one CTA; write '
            "cluster=(1, 2) in sl.kernel, for example",
        ),
        (lambda a, A, pipe: sl.tma_store(A[0:64, :], A[0:64, :]), "expected a tile, not a window"),
        (lambda a, A, pipe: sl.elect("warp").__enter__(), 'expected "warpgroup" or "cta"'),
        (lambda a, A, pipe: sl.pipeline(0), "'smem.create_pipeline' op has stages = 0"),
        (
            lambda a, A, pipe: sl.block_id(3),
            "a grid has the dimensions 0, 1 and 2 (x, y, z), not 3",
        ),
        (lambda a, A, pipe: sl.cdiv(64, 0), "sl.cdiv divides by 0; expected a positive integer"),
        (
            lambda a, A, pipe: sl.copy(A[0:64, :], A),
            "expected a tile, not the array A (M, 64) of bf16",
        ),
        (lambda a, A, pipe: sl.load(A), "is taken whole; take a window of a static shape"),
        (lambda a, A, pipe: sl.load(pipe), "expected a tile, or a window of an array such as"),
        (lambda a, A, pipe: sl.load(A[0, :]), "expected axis=1 for rows, or axis=0 for columns"),
        (
            lambda a, A, pipe: sl.store(a, A[0:64, :]),
            "expected a fragment, not a tile 64x64 of bf16",
        ),
        (lambda a, A, pipe: pipe.acquire("x"), "expected an index or an integer, not 'x'"),
        (lambda a, A, pipe: sl.grid(1, 2, 3, 4), "a grid has 1 to 3 dimensions, not 4"),
        (
            lambda a, A, pipe: A.__setitem__(slice(0, 64), 0),
            "a window of A is assigned; write sl.store",
        ),
    ],
)
def test_mistakes(use, expected):
    def kernel(A):
        use(sl.alloc((64, 64), sl.bf16), A, sl.pipeline(2))

    with pytest.raises(sl.TraceError) as caught:
        sl.kernel("(M,64)", sync="manual")(kernel).trace(B)
    assert expected in str(caught.value)


@pytest.mark.parametrize("min_blocks, expected", [(None, "1 : i32"), (2, "2 : i32")])
def test_registers_of_partitions_need_a_number_of_blocks(min_blocks, expected):
    """Without one, ptxas ignores setmaxnreg (C7508)."""

    def kernel(registers):
        @sl.kernel("(64,64)", warpgroups=2, min_blocks=min_blocks)
        def store(D):
            with sl.warp_specialize():
                with sl.partition(1, registers=registers):
                    sl.store(sl.zeros((64, 64), sl.f32), D)
                with sl.partition(1):
                    pass

        return store.mlir(sl.f32)

    assert f"nvvm.minctasm = {expected}" in kernel(40)
    assert ("minctasm" in kernel(None)) == (min_blocks is not None)
