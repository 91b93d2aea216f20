"""A ring that bulk tensor copies fill, alone and in clusters: right as it is, and each fault is found."""

import numpy as np
import pytest
import tma_ring
from faults.edits import both, constant, sub, without
from kernels import faults_of, run_text

from mlir_smem.emulator import Kind

WAIT = r"try_wait\.parity %{}"
BLOCK = 2 * tma_ring.LANES


def arrays(blocks, grid):
    given = tma_ring.data(blocks, blocks)
    return [given, np.zeros((grid, *given.shape), np.float32)]


@pytest.mark.parametrize("blocks", [1, 2, 4, 8])
def test_every_block_gets_every_tile(blocks):
    grid = 2 * blocks
    given, result = arrays(blocks, grid)
    run_text(tma_ring.text(blocks, grid), "ring", (given, result), BLOCK, grid)
    assert (result == given).all()


FAULTS = {
    "no wait for a full stage": (without(WAIT.format("full")), {Kind.COPY_IN_FLIGHT}),
    "the wait of another stage": (
        sub(r"(parity %full), %parity", r"\1, %one"),
        {Kind.COPY_IN_FLIGHT},
    ),
    "no wait for an empty stage": (
        without(WAIT.format("empty")),
        {Kind.COPY_IN_FLIGHT, Kind.BARRIER},
    ),
    "a stage never given back": (without(r"mbarrier\.arrive %remote"), {Kind.DEADLOCK}),
    "given back before it is read": (
        both(
            without(r"mbarrier\.arrive %remote"),
            sub(
                r"^( *%unit = .*)$",
                r"\1\n%s0 = arith.cmpi ult, %lane, %blocks : index\nscf.if %s0 {\n"
                r"%p0 = arith.index_cast %lane : index to i32\n"
                r"%r0 = nvvm.mapa %empty, %p0 : !llvm.ptr<3> -> !llvm.ptr<7>\n"
                r"nvvm.mbarrier.arrive %r0 : !llvm.ptr<7>\n}",
            ),
        ),
        {Kind.RACE},
    ),
    "given back before all lanes have read": (without(r"bar\.warp\.sync"), {Kind.RACE}),
    "bytes that nobody expects": (
        sub(
            r"arrive\.expect_tx %full, %tile_bytes : !llvm.ptr<3>, i32",
            "arrive %full : !llvm.ptr<3>",
        ),
        {Kind.BARRIER},
    ),
    "more bytes expected than come": (
        sub(r"(%tile_bytes = arith\.constant) \d+", r"\1 16384"),
        {Kind.DEADLOCK},
    ),
    "fewer bytes expected than come": (constant("tile_bytes", 512), {Kind.BARRIER}),
    "mbarriers not known before they are used": (
        sub(r"^.*// known\n", "", 0),
        {Kind.RACE},
    ),
    "mbarriers never initialised": (without(r"mbarrier\.init %"), {Kind.UNINITIALISED}),
}

CLUSTER_FAULTS = {
    "peers left out of the mask": (constant("everyone", 1), {Kind.DEADLOCK}),
    "a peer that the cluster has not": (constant("everyone", 7), {Kind.OUT_OF_BOUNDS}),
    "stages given back to this block alone": (
        sub(r"mapa %empty, %peer", "mapa %empty, %mine_"),
        {Kind.RACE},
    ),
    "one arrival expected where two blocks must agree": (
        constant("consumers", 1),
        {Kind.RACE},
    ),
    "blocks leave while others still send": (sub(r"^.*// leaves\n", "", 0), {Kind.EXITED}),
    "blocks wait for others before they arrive": (
        sub(r"^.*cluster\.arrive.*// leaves\n", "", 0),
        {Kind.BARRIER},
    ),
    "part of a tile sent to the wrong place": (
        sub(r"addi %slot, %mine", "addi %slot, %c0"),
        {Kind.COPY_IN_FLIGHT},
    ),
}


def found(edit, blocks):
    text = edit(tma_ring.text(blocks, blocks))
    text = text.replace("%mine_", "%mine32").replace(
        "%rank = gpu.cluster_block_id x",
        "%rank = gpu.cluster_block_id x\n%mine32 = arith.index_cast %rank : index to i32",
    )
    return faults_of(text, "ring", arrays(blocks, blocks), BLOCK, blocks)


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name, blocks):
    edit, kinds = FAULTS[name]
    seen = {fault.kind for fault in found(edit, blocks)}
    assert seen & kinds, seen


@pytest.mark.parametrize("name", CLUSTER_FAULTS)
def test_a_fault_of_a_cluster_is_found(name):
    edit, kinds = CLUSTER_FAULTS[name]
    seen = {fault.kind for fault in found(edit, 2)}
    assert seen & kinds, seen
