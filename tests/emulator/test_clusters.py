"""Clusters: special registers, the cluster barrier, arrivals in other CTAs, and early returns."""

import gc
import weakref

import numpy as np
import pytest
from emulated import faults_of, memref, run_text

from mlir_smem.emulator import EmulationError, ViolationKind, cta

#: The address of eight bytes of each CTA's shared memory, which its mbarrier follows.
START = 0x400


def kernel(body, out, cluster, block=32):
    """A module with a kernel `k` of clusters; each CTA has eight bytes at %at and an mbarrier %bar."""
    x, y, z = (*cluster, 1, 1)[:3]
    return f"""gpu.module @m {{
  gpu.func @k(%A: {memref(out)}) kernel attributes {{
      known_cluster_size = array<i32: {x}, {y}, {z}>}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    %i0 = arith.constant 0 : i32
    %i1 = arith.constant 1 : i32
    %i2 = arith.constant 2 : i32
    %all = arith.constant {block} : i32
    %ticks = arith.constant 1000 : i32
    %tid = gpu.thread_id x
    %tid32 = arith.index_cast %tid : index to i32
    %bid = gpu.block_id x
    %rank = nvvm.read.ptx.sreg.cluster.ctarank : i32
    %leads = arith.cmpi eq, %rank, %i0 : i32
    %follows = arith.cmpi ne, %rank, %i0 : i32
    %first = arith.cmpi eq, %tid, %c0 : index
    %atn = arith.constant {START} : i64
    %at = llvm.inttoptr %atn : i64 to !llvm.ptr<3>
    %barn = arith.constant {START + 8} : i64
    %bar = llvm.inttoptr %barn : i64 to !llvm.ptr<3>
    {body}
    gpu.return
  }}
}}
"""


def run(body, out, grid, cluster, block=32):
    run_text(kernel(body, out, cluster, block), "k", (out,), block, grid, shared=1024)
    return out


def faults(body, cluster=(2,), block=32):
    out = np.zeros((int(np.prod(cluster)), 32), np.int32)
    text = kernel(body, out, cluster, block)
    return faults_of(text, "k", (out,), block, cluster, shared=1024)


def only(*arguments, **options):
    violations = faults(*arguments, **options)
    assert len(violations) == 1, violations
    return violations[0]


ARRIVE, RELAXED, WAIT = (
    f"nvvm.cluster.{op} {{aligned}}\n" for op in ("arrive", "arrive.relaxed", "wait")
)
BOTH = ARRIVE + WAIT


# The place of a CTA in its cluster.


NAMES = {
    "gpu.block_id {} ": lambda position, cluster, grid: position,
    "gpu.cluster_block_id {} ": lambda position, cluster, grid: position % cluster,
    "gpu.cluster_dim_blocks {} ": lambda position, cluster, grid: cluster,
    "gpu.cluster_id {} ": lambda position, cluster, grid: position // cluster,
    "gpu.cluster_dim {} ": lambda position, cluster, grid: grid // cluster,
    "nvvm.read.ptx.sreg.cluster.ctaid.{} : i32": lambda position, cluster, grid: position % cluster,
    "nvvm.read.ptx.sreg.cluster.nctaid.{} : i32": lambda position, cluster, grid: cluster,
    "nvvm.read.ptx.sreg.clusterid.{} : i32": lambda position, cluster, grid: position // cluster,
    "nvvm.read.ptx.sreg.nclusterid.{} : i32": lambda position, cluster, grid: grid // cluster,
}


@pytest.mark.parametrize("name", NAMES)
def test_places_in_the_grid_and_in_the_cluster(name):
    grid, cluster = (4, 6, 2), (2, 3, 1)
    body = "%x = gpu.block_id x\n%y = gpu.block_id y\n%z = gpu.block_id z\n"
    for dim, letter in enumerate("xyz"):
        body += f"%v{dim} = {name.format(letter)}\n"
        value = f"%v{dim}"
        if "i32" not in name:
            body += f"%w{dim} = arith.index_cast %v{dim} : index to i32\n"
            value = f"%w{dim}"
        body += f"%d{dim} = arith.constant {dim} : index\n"
        body += f"memref.store {value}, %A[%x, %y, %z, %d{dim}] : memref<4x6x2x3xi32>\n"
    indices = run(body, np.full((*grid, 3), -1, np.int32), grid, cluster, block=1)
    for position in np.ndindex(*grid):
        expected = NAMES[name](*map(np.array, (position, cluster, grid)))
        assert indices[position].tolist() == expected.tolist()


def test_ranks_count_along_x_first():
    body = """%x = gpu.block_id x
    %y = gpu.block_id y
    %n = nvvm.read.ptx.sreg.cluster.nctarank : i32
    %both = arith.muli %n, %rank : i32
    memref.store %both, %A[%x, %y] : memref<4x4xi32>"""
    ranks = run(body, np.zeros((4, 4), np.int32), (4, 4), (2, 2), block=1)
    assert ranks.tolist() == [[4 * (x % 2 + 2 * (y % 2)) for y in range(4)] for x in range(4)]


@pytest.mark.parametrize(
    "grid, cluster, message",
    [
        (3, (2,), r"a grid of \(3, 1, 1\) is not possible; expected multiples of the cluster's"),
        ((2, 3), (2, 2), r"expected multiples of the cluster's \(2, 2, 1\) CTAs"),
        (32, (32,), r"a cluster of \(32, 1, 1\) CTAs is not possible; at most 16 in all"),
    ],
)
def test_illegal_grids_and_clusters(grid, cluster, message):
    with pytest.raises(EmulationError, match=message):
        run("", np.zeros(1, np.int32), grid, cluster)


# The cluster barrier.


def test_each_cta_has_its_own_shared_memory():
    body = f"""scf.if %first {{ llvm.store %rank, %at : i32, !llvm.ptr<3> }}
    {BOTH}
    %v = llvm.load %at : !llvm.ptr<3> -> i32
    memref.store %v, %A[%bid, %tid] : memref<4x32xi32>"""
    values = run(body, np.zeros((4, 32), np.int32), 4, (4,))
    assert values.tolist() == [[rank] * 32 for rank in range(4)]


@pytest.mark.parametrize("barrier, races", [(BOTH, False), (RELAXED + WAIT, True), (ARRIVE, True)])
def test_cluster_barrier_orders_the_threads_of_a_cta(barrier, races):
    body = f"""scf.if %first {{ llvm.store %rank, %at : i32, !llvm.ptr<3> }}
    {barrier}
    %v = llvm.load %at : !llvm.ptr<3> -> i32"""
    assert (
        ViolationKind.RACE in {f.kind for f in faults(body, block=64)}
        if races
        else not faults(body, block=64)
    )


def test_cluster_barrier_is_passed_repeatedly():
    body = f"""%c5 = arith.constant 5 : index
    scf.for %i = %c0 to %c5 step %c1 {{
      %iteration = arith.index_cast %i : index to i32
      scf.if %first {{ llvm.store %iteration, %at : i32, !llvm.ptr<3> }}
      {BOTH}
      %v = llvm.load %at : !llvm.ptr<3> -> i32
      memref.store %v, %A[%bid, %tid] : memref<2x32xi32>
      {BOTH}
    }}"""
    assert run(body, np.zeros((2, 32), np.int32), 2, (2,)).tolist() == [[4] * 32] * 2


def test_cluster_barrier_does_not_wait_for_threads_that_returned():
    body = f"""cf.cond_br %leads, ^end, ^go
  ^go:
    {BOTH}
    cf.br ^end
  ^end:"""
    assert not faults(body)


def test_cta_that_does_not_arrive():
    body = f"""scf.if %first {{ nvvm.mbarrier.init %bar, %i1 : !llvm.ptr<3>, i32 }}
    gpu.barrier
    scf.if %leads {{ {BOTH} }} else {{
      nvvm.mbarrier.try_wait.parity %bar, %i0, %ticks : !llvm.ptr<3>, i32, i32
    }}"""
    fault = only(body)
    assert fault.kind is ViolationKind.DEADLOCK
    assert "threads 0 to 31 of CTA 0 of the cluster at " in fault.message
    assert "the cluster's barrier, at which 32 threads have not arrived" in fault.message
    assert "threads 0 to 31 of CTA 1 of the cluster at " in fault.message


@pytest.mark.parametrize(
    "body, message",
    [
        (ARRIVE + ARRIVE, "arrives at the cluster's barrier again before it has waited"),
        (WAIT, "arrives at the cluster's barrier never before it waits"),
        (BOTH + WAIT, "arrives at the cluster's barrier never before it waits"),
    ],
)
def test_arrivals_and_waits_alternate(body, message):
    fault = only(body, cluster=(1,))
    assert fault.kind is ViolationKind.BARRIER
    assert message in fault.message


@pytest.mark.parametrize("op", [ARRIVE, WAIT])
def test_cluster_barrier_by_some_threads_of_a_warp(op):
    fault = only(f"scf.if %first {{ {op} }}", cluster=(1,))
    assert fault.kind is ViolationKind.DIVERGENT


# Arrivals in other CTAs.

INIT = f"""scf.if %first {{ nvvm.mbarrier.init %bar, %i1 : !llvm.ptr<3>, i32 }}
    nvvm.fence.mbarrier.init
    {BOTH}"""

#: CTA 1 arrives at the mbarrier of CTA 0.
SEND = """
    %there = nvvm.mapa %bar, %i0 : !llvm.ptr<3> -> !llvm.ptr<7>
    scf.if %follows { scf.if %first { nvvm.mbarrier.arrive %there : !llvm.ptr<7> } }
    """
RECEIVE = """scf.if %leads {
      nvvm.mbarrier.try_wait.parity %bar, %i0, %ticks : !llvm.ptr<3>, i32, i32
    }
    """


def test_arrival_in_another_cta():
    assert not faults(INIT + SEND + RECEIVE)


def test_arrival_that_no_thread_waits_for():
    fault = only(INIT + SEND)
    assert fault.kind is ViolationKind.EXITED
    assert not faults(INIT + SEND + BOTH)


def test_arrival_in_a_cta_that_has_returned():
    # CTA 1 waits at a barrier; CTA 0 has returned before it arrives.
    body = INIT + "scf.if %follows { nvvm.barrier id = %i1 number_of_threads = %all }" + SEND
    violations = faults(body)
    assert {fault.kind for fault in violations} == {ViolationKind.EXITED}
    assert "CTA 0 of the cluster" in violations[0].message


def test_mbarrier_that_is_initialised_without_a_cluster_barrier():
    body = INIT.replace(BOTH, "gpu.barrier\n") + SEND + RECEIVE + BOTH
    violations = faults(body)
    assert [fault.kind for fault in violations] == [ViolationKind.RACE]
    assert "nvvm.cluster.arrive and nvvm.cluster.wait" in violations[0].message


def test_rank_outside_the_cluster():
    fault = only(INIT + "%there = nvvm.mapa %bar, %i2 : !llvm.ptr<3> -> !llvm.ptr<7>")
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert fault.message == "names CTA 2 of a cluster of 2"


#: CTA 0 writes four bytes of its shared memory, which CTA 1 reads.
WRITE = "scf.if %leads { scf.if %first { llvm.store %i1, %bar : i32, !llvm.ptr<3> } }\n"
READ = """
    scf.if %follows {
      %there = nvvm.mapa %bar, %i0 : !llvm.ptr<3> -> !llvm.ptr<7>
      %v = llvm.load %there : !llvm.ptr<7> -> i32
    }
"""


def test_loads_from_another_cta():
    assert not faults(WRITE + BOTH + READ + BOTH)
    assert ViolationKind.RACE in {fault.kind for fault in faults(WRITE + READ + BOTH)}
    assert only(WRITE + BOTH + READ).kind is ViolationKind.EXITED
    assert only(READ + BOTH).kind is ViolationKind.UNINITIALISED


def test_cluster_addresses_that_the_emulator_does_not_know():
    body = "%there = nvvm.mapa %bar, %i0 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
    with pytest.raises(EmulationError, match="writes a cluster's shared memory"):
        faults(body + "llvm.store %i0, %there : i32, !llvm.ptr<7>")
    with pytest.raises(EmulationError, match="casts to or from a cluster's shared memory"):
        faults(body + "%v = llvm.addrspacecast %there : !llvm.ptr<7> to !llvm.ptr")
    with pytest.raises(EmulationError, match="maps an address that is not in shared memory"):
        faults(
            "%g = llvm.addrspacecast %bar : !llvm.ptr<3> to !llvm.ptr\n"
            "%v = nvvm.mapa %g, %i0 : !llvm.ptr -> !llvm.ptr"
        )


def test_warps_wait_for_different_mbarriers():
    # Warp 1 completes the phase of warp 0's mbarrier, after it has waited for its own.
    body = """
    %warp = arith.divui %tid, %c32 : index
    %warp32 = arith.index_cast %warp : index to i32
    %own = llvm.getelementptr %bar[%warp32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %lane = arith.remui %tid, %c32 : index
    %leader = arith.cmpi eq, %lane, %c0 : index
    scf.if %leader { nvvm.mbarrier.init %own, %i1 : !llvm.ptr<3>, i32 }
    gpu.barrier
    %last = llvm.getelementptr %bar[1] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i64
    scf.if %first { %t = nvvm.mbarrier.arrive %last : !llvm.ptr<3> -> i64 }
    nvvm.mbarrier.try_wait.parity %own, %i0, %ticks : !llvm.ptr<3>, i32, i32
    %second = arith.cmpi eq, %tid, %c32 : index
    scf.if %second { %t = nvvm.mbarrier.arrive %bar : !llvm.ptr<3> -> i64 }
    gpu.barrier"""
    assert not faults(body, cluster=(1,), block=64)


# Instructions of whole warps and warpgroups.


def test_setmaxregister_by_whole_warpgroups():
    body = """%c128 = arith.constant 128 : index
    %fewer = arith.cmpi ult, %tid, %c128 : index
    scf.if %fewer { nvvm.setmaxregister decrease 40 } else { nvvm.setmaxregister increase 232 }"""
    assert not faults(body, cluster=(1,), block=256)


def test_setmaxregister_by_some_warps_of_a_warpgroup():
    body = """%some = arith.cmpi ult, %tid, %c32 : index
    scf.if %some { nvvm.setmaxregister decrease 40 }"""
    fault = only(body, cluster=(1,), block=128)
    assert fault.kind is ViolationKind.DEADLOCK
    assert "the other warps of its warpgroup at 'nvvm.setmaxregister'" in fault.message


def test_one_thread_of_each_warp_is_elected():
    body = """%elected = nvvm.elect.sync -> i1
    %v = arith.extui %elected : i1 to i32
    memref.store %v, %A[%tid] : memref<64xi32>"""
    elected = run(body, np.zeros(64, np.int32), 1, (1,), block=64)
    assert elected.tolist() == ([1] + [0] * 31) * 2


def test_elect_in_divergent_code_of_a_warp():
    fault = only("scf.if %first { %e = nvvm.elect.sync -> i1 }", cluster=(1,))
    assert fault.kind is ViolationKind.DIVERGENT
    assert "is executed by thread 0, a part of a warp" in fault.message


def test_memory_is_freed_when_a_cluster_has_run(monkeypatch):
    clocks = []

    class Clocks(cta.VectorClocks):
        def __init__(self, *sizes):
            clocks.append(weakref.ref(self))
            super().__init__(*sizes)

    monkeypatch.setattr(cta, "VectorClocks", Clocks)
    gc.disable()
    try:
        run("nvvm.cluster.arrive\nnvvm.cluster.wait", np.zeros((8, 32), np.int32), 8, (2,))
        assert [reference() for reference in clocks] == [None] * 4
    finally:
        gc.enable()
