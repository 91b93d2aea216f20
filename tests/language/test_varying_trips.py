"""Pipelines whose loops have another number of iterations for each tile: proofs, and what loses them."""

import numpy as np
import pytest
import varying_trips
from varying_trips import chosen, least, operands, products, remainder, triangle

import mlir_smem.language as sl
from mlir_smem.emulator import Violations
from mlir_smem.kernels.gemm import Config, Problem
from mlir_smem.kernels.gemm.generator.kernel import text
from mlir_smem.language.errors import TraceError
from mlir_smem.runtime import run_on_cpu

COUNTS = {
    triangle: lambda tile: tile + 1,
    remainder: lambda tile: tile % 2 + 1,
    chosen: lambda tile: max(tile if tile < 2 else 4 - tile, 1),
}


def _run(kernel, arguments, ctas):
    compiled = kernel.compile(*arguments.values(), emit="nvvm")
    return run_on_cpu(compiled, None, arguments, ["C"], grid=(ctas,))["C"]


@pytest.mark.parametrize("ctas", [1, 2])
@pytest.mark.parametrize("peeled", [True, False])
@pytest.mark.parametrize("warpgroups", [1, 2])
@pytest.mark.parametrize("blocks", COUNTS)
def test_the_order_is_proven_for_every_count(blocks, warpgroups, peeled, ctas):
    arguments = operands(4)
    kernel = products(blocks, warpgroups, peeled)
    assert kernel.check(*arguments.values()) == ()
    assert np.array_equal(
        _run(kernel, arguments, ctas), varying_trips.expected_products(arguments, COUNTS[blocks])
    )


def one_more(tile):
    return triangle(tile) + 1


#: What is wrong, and what the emulator finds.
FAULTS = {
    "the first index is the second": ({"start": 1}, "deadlock"),
    "the consumer takes a block more": ({"taken": one_more}, "deadlock"),
    "the producer loads a block more": ({"loaded": one_more}, "exited"),
    "the index advances too far": ({"step": one_more}, "deadlock"),
    "the index advances by another number": ({"step": remainder}, "deadlock"),
    "the index stays": ({"step": lambda tile: 0}, "deadlock"),
    "the consumer has a tile more": ({"tiles": 1}, "deadlock"),
}


@pytest.mark.parametrize("peeled", [True, False])
@pytest.mark.parametrize("name", FAULTS)
def test_what_goes_wrong_is_not_proven(name, peeled):
    changed, kind = FAULTS[name]
    arguments = operands(4)
    kernel = products(peeled=peeled, **changed)
    try:
        assert kernel.check(*arguments.values()) != ()
    except TraceError:
        return
    with pytest.raises(Violations) as error:
        _run(kernel, arguments, 1)
    assert kind in {violation.kind.value for violation in error.value.found}


def test_a_stage_that_is_not_released_is_not_proven():
    kernel = products(released=False)
    try:
        assert kernel.check(*operands(4).values()) != ()
    except TraceError as error:
        assert "released" in error.message


def test_a_count_that_may_be_zero_is_not_proven_where_the_first_block_is_peeled():
    """With no block, the consumer waits for one that is never loaded."""

    def before(tile):
        return sl.unsigned(tile)

    remarks = products(before).check(*operands(4).values())
    assert remarks
    assert products(before, peeled=False).check(*operands(4).values()) == ()
    assert products(least).check(*operands(4).values()) == ()


def test_counts_that_threads_compute_of_their_own_number_are_not_proven():
    def of_thread(tile):
        return sl.thread_id() % 2 + 1

    remarks = products(of_thread, peeled=False).check(*operands(4).values())
    assert "its bounds are not known to be the same for all threads" in str(remarks[0])


def test_numbers_that_are_equal_by_their_bounds_are_proven():
    kernel = products(taken=lambda tile: tile + sl.minimum(tile + 1, 1), step=triangle)
    assert kernel.check(*operands(4).values()) == ()


def test_equal_numbers_that_are_computed_otherwise_are_not_proven():
    """Beside bounds, numbers are compared as they are computed."""
    kernel = products(taken=lambda tile: tile + (tile * tile) // (tile * tile), step=triangle)
    assert kernel.check(*operands(4).values()) != ()


def test_the_order_of_synchronisation_is_found_for_it():
    """`sync="auto"` inserts the waits of the same kernel."""

    @sl.kernel("(M,K), (K,N), (M,N)", warpgroups=2)
    def kernel(A, B, C):
        a, b = sl.alloc((4, 64, 64), sl.bf16), sl.alloc((4, 64, 64), sl.bf16)
        loads = sl.pipeline(4, consumers=1)
        tiles = sl.cdiv(A.shape[0], 64)
        with sl.warp_specialize():
            with sl.partition(), sl.elect():
                index = 0
                for tile in sl.range(tiles):
                    for k in sl.range(tile + 1):
                        with loads.producer(index + k) as stage:
                            k_block = sl.ds(k * 64, 64)
                            sl.tma_load(A[sl.ds(tile * 64, 64), k_block], a[stage], stage)
                            sl.tma_load(B[k_block, 0:64], b[stage], stage)
                    index = index + (tile + 1)
            with sl.partition():
                index = 0
                for tile in sl.range(tiles):
                    acc = sl.zeros((64, 64), sl.f32)
                    for k in sl.range(tile + 1):
                        with loads.consumer(index + k) as stage:
                            acc = sl.mma(a[stage], b[stage], acc)
                    sl.store(acc, C[sl.ds(tile * 64, 64), 0:64])
                    index = index + (tile + 1)

    arguments = operands(3)
    assert kernel.check(*arguments.values()) == ()
    c = _run(kernel, arguments, 1)
    assert np.array_equal(c, varying_trips.expected_products(arguments, COUNTS[triangle]))


@pytest.mark.parametrize(
    "config",
    [
        Config((64, 64, 64), consumers=1, store_columns=64, split_k=4),
        Config((64, 16, 64), consumers=1, store_columns=16, split_k=3, exchanged=True),
        Config(split_k=2, store_columns=64),
        Config(split_k=2, store_columns=64, cluster=(2, 1)),
        Config((192, 128, 64), consumers=3, split_k=3, store_columns=64, cluster=(1, 2)),
    ],
    ids=str,
)
def test_stream_k_is_proven(config, capfd):
    from mlir_smem.codegen import compile

    compile(text(Problem(), config), emit="nvvm")
    assert capfd.readouterr().err == ""
