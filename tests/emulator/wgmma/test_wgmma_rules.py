"""Synchronisation between writes of a tile and wgmma, and between wgmma and what follows it.

Each test removes one instruction from a lowered kernel that keeps every rule.
"""

import re

import pytest
from mma_programs import AGAIN, ASYNC, PRODUCT, lower_kernel

from mlir_smem.emulator import ViolationKind

FENCE, BARRIER = r"nvvm\.fence\.proxy[^\n]*", r"gpu\.barrier loc[^\n]*"
WGMMA_FENCE, COMMIT = r"nvvm\.wgmma\.fence\.aligned[^\n]*", r"nvvm\.wgmma\.commit[^\n]*"
MMA = "mma_async"


@pytest.fixture(scope="module")
def product():
    return lower_kernel(PRODUCT)


@pytest.fixture(scope="module")
def asynchronous():
    return lower_kernel(ASYNC)


@pytest.fixture(scope="module")
def two_products():
    return lower_kernel(AGAIN)


@pytest.mark.parametrize("body, times", [(PRODUCT, 1), (ASYNC, 1), (AGAIN, 2)])
def test_correct_kernels_have_no_faults(body, times):
    faults, d, expected = lower_kernel(body).run()
    assert faults == []
    assert (d == times * expected).all()


# Before wgmma.


def test_no_proxy_fence(product):
    fault = product.without(FENCE).only_fault()
    assert fault.kind is ViolationKind.UNFENCED
    assert '"smem.mma"' in fault.line
    assert re.match(r"wgmma reads (\d+ bytes|the bytes) from 0x400 to 0x[0-9a-f]+, ", fault.message)
    assert " which thread " in fault.message
    assert fault.message.endswith(
        ": smem.fence (fence.proxy.async) is missing between the write and the wgmma"
    )


def test_no_barrier(product):
    fault = product.without(BARRIER).only_fault()
    assert fault.kind is ViolationKind.RACE
    assert '"smem.mma"' in fault.line
    assert fault.message.endswith("gpu.barrier is missing after smem.fence")


def test_neither_fence_nor_barrier(product):
    fault = product.without(BARRIER).without(FENCE).only_fault()
    assert fault.kind is ViolationKind.UNFENCED
    assert fault.message.endswith(
        "smem.fence (fence.proxy.async) and gpu.barrier are missing between them"
    )


def test_readers_may_fence_after_the_barrier(product):
    fence = (
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
    )
    faults, d, expected = product.without(FENCE).before(r"wgmma\.fence", fence).run()
    assert faults == []
    assert (d == expected).all()


def test_fence_before_the_writes_has_no_effect(product):
    fence = (
        "nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}"
    )
    first = r"llvm\.mlir\.addressof"
    assert product.without(FENCE).before(first, fence).only_fault().kind is ViolationKind.UNFENCED


def test_fence_of_global_memory_has_no_effect(product):
    changed = product.without(
        r"async\.shared>, space = #nvvm.shared_space<cta>", into="async.global>"
    )
    assert changed.only_fault().kind is ViolationKind.UNFENCED


@pytest.mark.parametrize("which", [0, -1])
def test_subtile_that_is_uninitialised(product, which):
    fault = product.without(r"llvm\.store [^\n]*ptr<3>[^\n]*", which).only_fault()
    assert fault.kind is ViolationKind.UNINITIALISED
    assert '"smem.mma"' in fault.line
    assert fault.message.endswith("of shared memory, which nothing has written")


@pytest.mark.parametrize("name", [r"wait\.group", r"commit\.group"])
def test_copy_without_a_wait_or_a_commit(asynchronous, name):
    faults = asynchronous.without(rf"nvvm\.cp\.async\.{name}[^\n]*").faults()
    assert {fault.kind for fault in faults} == {ViolationKind.COPY_IN_FLIGHT}
    assert '"smem.mma"' in faults[0].line
    assert "which the copy at " in faults[0].message
    assert "smem.copy_commit and smem.copy_wait" in faults[0].message


def test_wait_that_leaves_the_last_group_pending(asynchronous):
    changed = asynchronous.without(
        r"nvvm\.cp\.async\.wait\.group 0", into="nvvm.cp.async.wait.group 1"
    )
    assert {fault.kind for fault in changed.faults()} == {ViolationKind.COPY_IN_FLIGHT}


def test_copy_without_a_proxy_fence(asynchronous):
    assert asynchronous.without(FENCE).only_fault().kind is ViolationKind.UNFENCED


# After wgmma.


def test_wgmma_without_a_commit(product):
    faults = product.without(COMMIT).faults()
    assert {fault.kind for fault in faults} == {ViolationKind.ACCUMULATOR_IN_FLIGHT}
    assert '"smem.store"' in faults[0].line
    assert faults[0].message == (
        "reads registers of an accumulator that a wgmma may still be writing: smem.wait "
        "(wgmma.commit_group and wgmma.wait_group) is missing before it"
    )


def test_wgmma_without_a_wait(product):
    fault = product.without(r"aligned 0;", into="aligned 1;").only_fault()
    assert fault.kind is ViolationKind.ACCUMULATOR_IN_FLIGHT
    assert '"smem.store"' in fault.line
    assert fault.message.endswith(
        "may still be writing: smem.wait (wgmma.wait_group) is missing before it"
    )


def test_tile_is_overwritten_before_the_wgmma_completes(two_products):
    faults = two_products.without(r"aligned 0;", into="aligned 1;").faults()
    fault = next(fault for fault in faults if fault.kind is ViolationKind.OVERWRITTEN)
    assert fault.line.endswith("// the second copy")
    assert fault.message.startswith("writes ")
    assert fault.message.endswith(
        "which a wgmma of warpgroup 0 may still be reading: smem.wait (wgmma.wait_group) is missing "
        "before it"
    )


def test_tile_is_overwritten_before_other_warpgroups_have_waited(two_products):
    fault = two_products.without(BARRIER, which=1).only_fault()
    assert fault.kind is ViolationKind.OVERWRITTEN
    assert fault.line.endswith("// the second copy")
    assert fault.message.endswith(
        "that warpgroup has waited for it, but gpu.barrier is missing after the wait"
    )


def test_no_wgmma_fence(product):
    fault = product.without(WGMMA_FENCE).only_fault()
    assert fault.kind is ViolationKind.REGISTERS_UNFENCED
    assert '"smem.mma"' in fault.line
    assert fault.message.endswith("wgmma.fence is missing before it")


def test_no_wgmma_fence_after_the_registers_were_written(two_products):
    zero = "%z = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>"
    changed = two_products.before(MMA, zero, which=4)
    words = changed.text.split(MMA)[5].split(",")
    changed_mma = f"{MMA}{words[0]},{words[1]}, %z"
    changed = changed.without(r"mma_async %\w+, %\w+, %\w+", which=4, into=changed_mma)
    assert {fault.kind for fault in changed.faults()} == {ViolationKind.REGISTERS_UNFENCED}


def test_poison_accumulator_of_a_lowered_kernel(product):
    faults = product.without("<zero>", into="<one>").faults()
    fault = next(fault for fault in faults if fault.kind is ViolationKind.POISON)
    assert '"smem.mma"' in fault.line
    assert "nothing has defined it" in fault.message


# Descriptors.


@pytest.mark.parametrize("bit", [14, 30, 46, 48, 52, 61])
def test_descriptor_bits_outside_the_fields(product, bit):
    line = f"%bit = arith.constant {1 << bit} : i64\n%bad = arith.ori %d, %bit : i64"
    fault = product.with_descriptor(line).only_fault()
    assert fault.kind is ViolationKind.DESCRIPTOR
    assert '"smem.mma"' in fault.line
    assert "has an invalid descriptor of A: " in fault.message
    assert f"sets bits {1 << bit:#018x}" in fault.message


def test_descriptor_that_differs_between_threads(product):
    line = """
    %tid = gpu.thread_id x
    %t64 = arith.index_cast %tid : index to i64
    %bad = arith.xori %d, %t64 : i64"""
    fault = product.with_descriptor(line).only_fault()
    assert fault.kind is ViolationKind.DIVERGENT
    assert "has a descriptor that the threads of a warpgroup disagree on" in fault.message


def test_descriptor_of_an_operand_outside_shared_memory(product):
    line = "%far = arith.constant 16383 : i64\n%bad = arith.ori %d, %far : i64"
    fault = product.with_descriptor(line).only_fault()
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert "reads A from 0x3f" in fault.message
    assert fault.message.endswith("the CTA's shared memory is from 0x400 to 0x27ff")


# Threads that execute it.


def with_early_return(product, bound):
    """The kernel, in which threads below `bound` return before the mma."""
    lines = f"""
    %tid = gpu.thread_id x
    %bound = arith.constant {bound} : index
    %go = arith.cmpi uge, %tid, %bound : index
    cf.cond_br %go, ^go, ^stop
  ^stop:
    gpu.return
  ^go:"""
    return product.before(WGMMA_FENCE, lines)


def test_wgmma_by_half_a_warp(product):
    fault = with_early_return(product, 16).only_fault()
    assert fault.kind is ViolationKind.DIVERGENT
    assert "threads 16 to 31, a part of a warp" in fault.message


@pytest.mark.parametrize("threads", [32, 64, 96])
def test_wgmma_by_some_warps_of_a_warpgroup(product, threads):
    fault = with_early_return(product, threads).only_fault()
    assert fault.kind is ViolationKind.DEADLOCK
    assert '"smem.mma"' in fault.line
    assert f"threads {threads} to 127 at " in fault.message
    assert "the other warps of its warpgroup at 'nvvm.wgmma.mma_async'" in fault.message


def test_warpgroups_that_have_returned_are_not_waited_for(product):
    assert with_early_return(product, 0).faults() == []
