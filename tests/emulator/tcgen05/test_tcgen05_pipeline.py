"""`tcgen05.mma` with operands loaded by TMA: one thread loads, multiplies and reloads a single stage."""

import numpy as np
import pytest
from emulated import faults_of
from tcgen05_kernels import AFTER, WAIT_LOAD, mma, transfer
from tma_copies import START, kernel, map_type

from mlir_smem.emulator import ViolationKind

#: 64 rows of 16 f16, K-major with 32-byte swizzle; the first 8 rows are B, too.
BYTES = 64 * 32
MATRIX = START >> 4 | 1 << 16 | (256 >> 4) << 32 | 1 << 46 | 6 << 61
FORM = 0x04020010

K_BLOCKS = 3


def wait(barrier, parity):
    """A line that waits for a phase of an mbarrier."""
    return f"nvvm.mbarrier.try_wait.parity %{barrier}, %i{parity}, %ticks : !llvm.ptr<3>, i32, i32"


def k_block(number):
    """Lines that load and multiply a K block."""
    lines = []
    if number:
        lines.append(f"{wait('empty', (number - 1) % 2)} // free for {number}")
    lines += [
        f"%x{number} = arith.constant {16 * number} : i32",
        "nvvm.mbarrier.arrive.expect_tx %bar, %bytes : !llvm.ptr<3>, i32",
        "nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map0, %bar, "
        f"box[%x{number}, %i0] : !llvm.ptr<7>, !llvm.ptr",
        f"{wait('bar', number % 2)} // full for {number}",
        mma(f"m{number}", "f16", MATRIX, MATRIX, FORM, number > 0),
        f"nvvm.tcgen05.commit %empty : !llvm.ptr<3> // of {number}",
    ]
    return "\n".join(lines)


LOOP = "\n".join(k_block(number) for number in range(K_BLOCKS))

PIPELINE = f"""
    %emptyn = arith.constant {START + BYTES + 8} : i64
    %empty = llvm.inttoptr %emptyn : i64 to !llvm.ptr<3>
    %slotn = arith.constant {START + BYTES + 16} : i64
    %slot = llvm.inttoptr %slotn : i64 to !llvm.ptr<3>
    nvvm.tcgen05.alloc %slot, %i32 : !llvm.ptr<3>, i32
    %address = llvm.load %slot : !llvm.ptr<3> -> i32
    %d = llvm.inttoptr %address : i32 to !llvm.ptr<6>
    scf.if %first {{
      nvvm.mbarrier.init %empty, %i1 : !llvm.ptr<3>, i32
      {LOOP}
    }}
    gpu.barrier
    {wait("empty", (K_BLOCKS - 1) % 2)} // done
    {AFTER}
    %r = nvvm.tcgen05.ld %d {transfer("16x256b", 4)}
    {WAIT_LOAD}
    vector.store %r, %B[%tid, %c0] : memref<32x4xi32>, vector<4xi32>
    nvvm.tcgen05.dealloc %d, %i32 : !llvm.ptr<6>, i32"""


def run(text):
    """Return the faults of a kernel of these lines, the array that it loads, and its result."""
    array = np.random.default_rng(0).integers(-4, 5, (64, 16 * K_BLOCKS)).astype(np.float16)
    out = np.zeros((32, 4), np.int32)
    module = kernel(text, [array, out], [map_type((64, 16), "f16", "32B", 1)], BYTES)
    return faults_of(module, "k", (array, out), shared=BYTES + 32), array, out


def without(end):
    """The kernel's lines without the one that ends so."""
    lines = PIPELINE.splitlines()
    remaining = [line for line in lines if not line.endswith(end)]
    assert len(remaining) == len(lines) - 1
    return "\n".join(remaining)


def test_sum_over_all_k_blocks():
    faults, array, out = run(PIPELINE)
    assert faults == []
    expected = (array.astype(np.float32) @ array[:8].astype(np.float32).T)[:16]
    thread, i = np.mgrid[:32, :4]
    assert (
        out.view(np.float32) == expected[thread // 4 + i // 2 * 8, thread % 4 * 2 + i % 2]
    ).all()


@pytest.mark.parametrize("number", range(K_BLOCKS))
def test_mma_without_a_wait_for_the_load(number):
    faults, _, _ = run(without(f"// full for {number}"))
    assert ViolationKind.COPY_IN_FLIGHT in {fault.kind for fault in faults}
    fault = next(fault for fault in faults if fault.kind is ViolationKind.COPY_IN_FLIGHT)
    assert fault.message.startswith("tcgen05.mma reads the bytes from 0x400 to 0xbff")
    assert "a wait for the mbarrier at which it completes (mbarrier.try_wait)" in fault.message


@pytest.mark.parametrize("number", range(1, K_BLOCKS))
def test_load_over_a_k_block_that_the_mma_still_reads(number):
    faults, _, _ = run(without(f"// free for {number}"))
    assert faults[0].kind is ViolationKind.OVERWRITTEN
    assert faults[0].line.startswith("nvvm.cp.async.bulk.tensor")
    assert "which the tcgen05.mma at " in faults[0].message
    assert "a wait for the mbarrier of its tcgen05.commit" in faults[0].message


def test_load_of_d_without_a_wait_for_the_last_commit():
    faults, _, _ = run(without("// done"))
    assert {fault.kind for fault in faults} == {ViolationKind.TENSOR_MEMORY_IN_FLIGHT}
