"""wgmma by several warpgroups that reach it together, at different times, or never."""

import re

import numpy as np
import pytest
from emulated import faults_of, kernel
from mma_programs import PRODUCT, lower_kernel

from mlir_smem.emulator import ViolationKind


@pytest.fixture(scope="module")
def instruction():
    """The operands and attributes of the first mma of a lowered kernel, as text."""
    text = lower_kernel(PRODUCT).text
    line = re.search(r"nvvm\.wgmma\.mma_async (%\w+), (%\w+), %\w+, (<m.*?) loc", text)
    return line[3]


DESCRIPTORS = f"""
    %x = llvm.mlir.addressof @x : !llvm.ptr<3>
    %n = llvm.ptrtoint %x : !llvm.ptr<3> to i64
    %four = arith.constant 4 : i64
    %start = arith.shrui %n, %four : i64
    %strides = arith.constant {(128 >> 4) << 16 | (256 >> 4) << 32} : i64
    %d = arith.ori %start, %strides : i64
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n192 = arith.constant 192 : i32
    %z = llvm.mlir.zero : !llvm.struct<(f32, f32, f32, f32)>
    %lead = arith.cmpi ult, %t32, %n128 : i32
    %last = arith.cmpi uge, %t32, %n192 : i32
    %q = llvm.getelementptr %x[%t32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i64
    %w = arith.constant 4575657222473777152 : i64
    llvm.store %w, %q : i64, !llvm.ptr<3>
    nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
    gpu.barrier
"""

SYMBOLS = "llvm.mlir.global internal @x() {addr_space = 3 : i32} : !llvm.array<384 x i64>"


def run_mma_between(instruction, before, after, block=256):
    """Return the faults of an mma between some lines, and each thread's first register."""
    body = f"""
    %n128 = arith.constant 128 : i32
    {DESCRIPTORS}
    {before}
    nvvm.wgmma.fence.aligned
    %r = nvvm.wgmma.mma_async %d, %d, %z, {instruction}
    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
    {after}
    %e = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>
    memref.store %e, %A[%tid] : memref<{block}xf32>"""
    out = np.zeros(block, np.float32)
    text = kernel(body, [f"memref<{block}xf32>"], SYMBOLS)
    return faults_of(text, "k", [out], block), out


@pytest.mark.parametrize("block", [256, 384])
def test_warpgroups_reach_the_mma_together(instruction, block):
    faults, out = run_mma_between(instruction, "", "", block)
    assert faults == []
    assert len(set(out.tolist())) == 1


def test_warpgroups_reach_the_mma_at_different_times(instruction):
    apart = """
    scf.if %lead {
      nvvm.barrier id = %one number_of_threads = %n128
    }"""
    faults, out = run_mma_between(instruction, apart, "")
    assert faults == []
    assert len(set(out.tolist())) == 1


def test_warpgroup_does_not_wait_for_warps_of_another(instruction):
    # Two warps of the second warpgroup wait for the first, which must execute its mma alone.
    before = "scf.if %last {\n nvvm.barrier id = %one number_of_threads = %n192\n }"
    after = "scf.if %lead {\n nvvm.barrier id = %one number_of_threads = %n192\n }"
    faults, out = run_mma_between(instruction, before, after)
    assert faults == []
    assert len(set(out.tolist())) == 1


def test_cta_of_less_than_a_warpgroup_waits_for_ever(instruction):
    faults, _ = run_mma_between(instruction, "", "", 64)
    assert [fault.kind for fault in faults] == [ViolationKind.DEADLOCK]
    assert "the other warps of its warpgroup" in faults[0].message


def test_incomplete_last_warpgroup_waits_for_ever(instruction):
    faults, _ = run_mma_between(instruction, "", "", 288)
    assert [fault.kind for fault in faults] == [ViolationKind.DEADLOCK]
    assert "threads 256 to 287" in faults[0].message
