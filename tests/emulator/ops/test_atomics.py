"""Atomics and fences that the emulator refuses, and the barrier that reduces a predicate."""

import numpy as np
import pytest
from emulated import only_fault, run

from mlir_smem.emulator import EmulationError, ViolationKind

POINTER = """
    %address = memref.extract_aligned_pointer_as_index %A : memref<4xi32> -> index
    %bits = arith.index_cast %address : index to i64
    %s = llvm.inttoptr %bits : i64 to !llvm.ptr<1>
    %one = arith.constant 1 : i32
"""
ANY = (
    'llvm.inline_asm has_side_effects "barrier.cta.red.or.pred $0, $1, {}, $2;", "=b,r,b,~{{memory}}" '
    "%number, %mine : (i32, i1) -> i1"
)


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "%o = llvm.atomicrmw xchg %s, %one acq_rel : !llvm.ptr<1>, i32",
            "is operation 0 of i32 at a !llvm.ptr<1>; the emulator knows add and uinc_wrap of i32",
        ),
        (
            '%o = llvm.atomicrmw add %s, %one syncscope("block") acq_rel : !llvm.ptr<1>, i32',
            'is of scope "block"; the emulator knows "device" and that of the system',
        ),
        ('llvm.fence syncscope("block") acq_rel', 'is of scope "block"'),
        (
            "llvm.fence acquire",
            "acquires or releases alone; the emulator knows acq_rel and seq_cst",
        ),
    ],
)
def test_refused(line, message):
    with pytest.raises(EmulationError) as error:
        run(POINTER + line, np.zeros(4, np.int32))
    assert message in str(error.value)


def test_atomics_of_shared_memory_are_refused():
    shared = "memref<4xi32, #gpu.address_space<workgroup>>"
    body = f"""
    %x = memref.get_global @x : {shared}
    %address = memref.extract_aligned_pointer_as_index %x : {shared} -> index
    %bits = arith.index_cast %address : index to i64
    %p = llvm.inttoptr %bits : i64 to !llvm.ptr<3>
    %s = llvm.addrspacecast %p : !llvm.ptr<3> to !llvm.ptr
    %one = arith.constant 1 : i32
    %o = llvm.atomicrmw add %s, %one acq_rel : !llvm.ptr, i32"""
    with pytest.raises(EmulationError, match="is not in global memory"):
        run(body, np.zeros(4, np.int32), symbols=f"memref.global @x : {shared}")


@pytest.mark.parametrize("chosen", [0, 31, 200, 255, 256])
def test_a_barrier_tells_each_group_whether_the_predicate_is_true_for_any_thread(chosen):
    out = np.zeros(256, np.int32)
    body = f"""
    %warpgroup = arith.divui %tid, %c128 : index
    %w = arith.index_cast %warpgroup : index to i32
    %one = arith.constant 1 : i32
    %number = arith.addi %w, %one : i32
    %thread = arith.constant {chosen} : index
    %mine = arith.cmpi eq, %tid, %thread : index
    %any = {ANY.format(128)}
    %x = arith.extui %any : i1 to i32
    memref.store %x, %A[%tid] : memref<256xi32>"""
    run(body, out, block=256)
    assert out.tolist() == [int(t // 128 == chosen // 128) for t in range(256)]


def test_a_barrier_that_reduces_for_some_threads_only():
    body = f"""
    %number = arith.constant 1 : i32
    %n = arith.constant 64 : i32
    %mine = arith.cmpi eq, %tid, %c0 : index
    %low = arith.cmpi ult, %tid, %c32 : index
    scf.if %low {{
      %any = {ANY.format(64)}
    }} else {{
      nvvm.barrier id = %number number_of_threads = %n
    }}"""
    fault = only_fault(body, np.zeros(4, np.int32), block=64)
    assert fault.kind is ViolationKind.BARRIER
    assert fault.message == (
        "arrives at barrier 1, at which some threads reduce a predicate and others do not"
    )


def test_the_barrier_orders_shared_memory():
    """What each thread reads of the element that another one has written before the barrier."""
    shared = "memref<64xi32, #gpu.address_space<workgroup>>"
    body = f"""
    %x = memref.get_global @x : {shared}
    memref.store %t32, %x[%tid] : {shared}
    %number = arith.constant 1 : i32
    %mine = arith.cmpi eq, %tid, %c0 : index
    %any = {ANY.format(64)}
    %last = arith.constant 63 : index
    %other = arith.subi %last, %tid : index
    %y = memref.load %x[%other] : {shared}
    memref.store %y, %A[%tid] : memref<64xi32>"""
    out = np.zeros(64, np.int32)
    run(body, out, block=64, symbols=f"memref.global @x : {shared}")
    assert out.tolist() == list(range(63, -1, -1))
