"""Bulk copies without tensor maps: results, and violations."""

import numpy as np
import pytest
from emulated import faults, run

from mlir_smem.emulator import ViolationKind

SYMBOLS = """memref.global @data : memref<64xi32, #gpu.address_space<workgroup>>
  memref.global @flag : memref<2xi64, #gpu.address_space<workgroup>>"""
WAIT = "nvvm.mbarrier.try_wait.parity %flag, %p0, %ticks : !llvm.ptr<3>, i32, i32"


def body(size=64, to=0, start=0, wait=WAIT):
    """Lines by which thread 0 copies bytes of A to shared memory, and all threads copy them to B."""
    return f"""
    %data = memref.get_global @data : memref<64xi32, #gpu.address_space<workgroup>>
    %flags = memref.get_global @flag : memref<2xi64, #gpu.address_space<workgroup>>
    %fa = memref.extract_aligned_pointer_as_index %flags
      : memref<2xi64, #gpu.address_space<workgroup>> -> index
    %fn = arith.index_cast %fa : index to i64
    %flag = llvm.inttoptr %fn : i64 to !llvm.ptr<3>
    %da = memref.extract_aligned_pointer_as_index %data
      : memref<64xi32, #gpu.address_space<workgroup>> -> index
    %to = arith.constant {to} : index
    %db = arith.addi %da, %to : index
    %dn = arith.index_cast %db : index to i64
    %shared = llvm.inttoptr %dn : i64 to !llvm.ptr<3>
    %there = llvm.addrspacecast %shared : !llvm.ptr<3> to !llvm.ptr<7>
    %aa = memref.extract_aligned_pointer_as_index %A : memref<64xi32> -> index
    %start = arith.constant {start} : index
    %ab = arith.addi %aa, %start : index
    %an = arith.index_cast %ab : index to i64
    %from = llvm.inttoptr %an : i64 to !llvm.ptr<1>
    %size = arith.constant {size} : i32
    %one = arith.constant 1 : i32
    %p0 = arith.constant 0 : i32
    %ticks = arith.constant 10000000 : i32
    %first = arith.cmpi eq, %tid, %c0 : index
    scf.if %first {{
      nvvm.mbarrier.init %flag, %one : !llvm.ptr<3>, i32
    }}
    gpu.barrier
    scf.if %first {{
      nvvm.mbarrier.expect_tx %flag, %size : !llvm.ptr<3>, i32
      nvvm.cp.async.bulk.shared.cluster.global %there, %from, %flag, %size
        : !llvm.ptr<7>, !llvm.ptr<1>
      %token = nvvm.mbarrier.arrive %flag : !llvm.ptr<3> -> i64
    }}
    {wait}
    %v = memref.load %data[%tid] : memref<64xi32, #gpu.address_space<workgroup>>
    memref.store %v, %B[%tid] : memref<32xi32>"""


def arrays():
    return np.arange(64, dtype=np.int32), np.zeros(32, np.int32)


def test_bytes_are_copied():
    a, b = arrays()
    run(body(size=128, start=64), a, b, symbols=SYMBOLS)
    assert np.array_equal(b, a[16:48])


@pytest.mark.parametrize(
    "options, kind, message",
    [
        (
            {"size": 24},
            ViolationKind.MISALIGNED,
            "copies bytes of 0x18; a bulk copy takes multiples of 16",
        ),
        ({"to": 8}, ViolationKind.MISALIGNED, "copies bytes to 0x"),
        ({"start": 4}, ViolationKind.MISALIGNED, "copies bytes from 0x"),
        ({"to": 4096}, ViolationKind.OUT_OF_BOUNDS, "writes 64 bytes from shared address 0x"),
        ({"start": 224}, ViolationKind.OUT_OF_BOUNDS, "reads 16 bytes"),
    ],
)
def test_alignment_and_bounds_of_bulk_copies(options, kind, message):
    violations = faults(body(**options), *arrays(), symbols=SYMBOLS)
    assert violations[0].kind is kind and message in violations[0].message
    assert "cp.async.bulk" in violations[0].line


def test_read_without_a_wait_for_the_copy():
    violations = faults(body(size=128, wait=""), *arrays(), symbols=SYMBOLS)
    assert violations and "%data" in violations[0].line
