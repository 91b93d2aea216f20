"""Parts that bulk copies store and load: the order between clusters, on the emulator."""

import numpy as np
import pytest

import mlir_smem.language as sl
from mlir_smem.emulator import ViolationKind, Violations
from mlir_smem.runtime import run_on_cpu

PARTS = 3
F = sl.f32


@sl.kernel("(M,64), (64,64), (1,)", sync="manual")
def sums(W, C, S, *, wait="write", arrive=True, load="threads"):
    """Add parts of ones, which bulk stores write; `load` says how the last CTA reads them."""
    part, parts = sl.block_id(0), sl.grid_dim(0)
    part_tile, read = sl.alloc((64, 64), F), sl.alloc((1, 64, 64), F)
    pipe = sl.pipeline(1)
    sl.store(sl.zeros((64, 64), F) + 1.0, part_tile)
    sl.fence(), sl.warpgroup_barrier()
    with sl.elect():
        sl.tma_store(part_tile, W[sl.ds(part * 64, 64), 0:64])
        sl.tma_commit()
        sl.tma_wait(read=wait == "read")
    last = sl.semaphore_arrive(S, 0, parts) if arrive else part == parts - 1
    with sl.when(last):
        total = sl.zeros((64, 64), F) + 0.0
        for k in sl.range(parts):
            if load == "bulk":
                with sl.elect(), pipe.producer(k) as stage:
                    sl.tma_load(W[sl.ds(k * 64, 64), 0:64], read[stage], stage)
                with pipe.consumer(k) as stage:
                    total = total + sl.load(read[stage])
                    sl.fence(), sl.warpgroup_barrier()
            else:
                total = total + sl.load(W[sl.ds(k * 64, 64), 0:64])
        sl.store(total, C[0:64, 0:64])
    if wait == "read":
        with sl.elect():
            sl.tma_wait()


def run(**options):
    arguments = {
        "W": np.zeros((PARTS * 64, 64), np.float32),
        "C": np.zeros((64, 64), np.float32),
        "S": np.zeros(1, np.int32),
    }
    compiled = sums.compile(*arguments.values(), emit="nvvm", **options)
    return run_on_cpu(compiled, None, arguments, ["C"], grid=(PARTS,))["C"]


@pytest.mark.parametrize("load", ["threads", "bulk"])
def test_bulk_stores_that_are_waited_for_are_released(load):
    assert (run(load=load) == PARTS).all()


@pytest.mark.parametrize(
    "load, does", [("threads", "reads byte"), ("bulk", "a bulk copy reads byte")]
)
def test_without_an_arrival(load, does):
    with pytest.raises(Violations) as error:
        run(load=load, arrive=False)
    assert {violation.kind for violation in error.value.found} == {ViolationKind.RACE}
    assert all(violation.message.startswith(does) for violation in error.value.found)


@pytest.mark.parametrize("load", ["threads", "bulk"])
def test_a_bulk_store_whose_writes_are_not_waited_for(load):
    with pytest.raises(Violations) as error:
        run(load=load, wait="read")
    for violation in error.value.found:
        assert "which the bulk store at" in violation.message
        assert violation.message.endswith(
            "of CTA (0, 0, 0) may still be writing: smem.tma_wait (cp.async.bulk.wait_group) and then "
            "smem.semaphore_arrive (barriers, and an atomic that releases and acquires at gpu scope) are "
            "missing between them"
        )


def test_two_clusters_that_store_the_same_box():
    @sl.kernel("(64,64)", sync="manual")
    def kernel(C):
        tile = sl.alloc((64, 64), F)
        sl.store(sl.zeros((64, 64), F) + 1.0, tile)
        sl.fence(), sl.warpgroup_barrier()
        with sl.elect():
            sl.tma_store(tile, C[0:64, 0:64])
            sl.tma_commit()
            sl.tma_wait()

    compiled = kernel.compile(F, emit="nvvm")
    with pytest.raises(Violations) as error:
        run_on_cpu(compiled, None, {"C": np.zeros((64, 64), np.float32)}, ["C"], grid=(2,))
    (violation,) = error.value.found
    assert violation.kind is ViolationKind.RACE
    assert violation.message.startswith(
        "a bulk copy writes byte 0 of argument 0, which the bulk store at "
    )
