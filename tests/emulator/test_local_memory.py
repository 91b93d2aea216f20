"""Local memory of threads: `llvm.alloca`."""

import numpy as np
import pytest
from emulated import only_fault, run

from mlir_smem.emulator import EmulationError, ViolationKind

VARIABLE = """%one = arith.constant 1 : i32
    %p = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
    """
OUT = "memref.store %v, %A[%tid] : memref<64xi32>"


def stored_values(body):
    """The value that each of 64 threads stores."""
    out = np.full(64, -1, np.int32)
    run(VARIABLE + body, out, block=64)
    return out


def fault(body):
    """The only fault of a kernel of 64 threads."""
    return only_fault(VARIABLE + body, block=64)


def test_each_thread_has_its_own_variable():
    body = f"""llvm.store %t32, %p : i32, !llvm.ptr
    gpu.barrier
    %v = llvm.load %p : !llvm.ptr -> i32
    {OUT}"""
    assert stored_values(body).tolist() == list(range(64))


def test_values_are_kept_through_control_flow():
    # Thread t adds 1 t times, and even threads once more.
    body = f"""%zero = arith.constant 0 : i32
    %two = arith.constant 2 : i32
    llvm.store %zero, %p : i32, !llvm.ptr
    scf.for %i = %c0 to %tid step %c1 {{
      %a = llvm.load %p : !llvm.ptr -> i32
      %b = arith.addi %a, %one : i32
      llvm.store %b, %p : i32, !llvm.ptr
    }}
    %half = arith.remui %t32, %two : i32
    %even = arith.cmpi eq, %half, %zero : i32
    cf.cond_br %even, ^more, ^end
  ^more:
    %c = llvm.load %p : !llvm.ptr -> i32
    %d = arith.addi %c, %one : i32
    llvm.store %d, %p : i32, !llvm.ptr
    cf.br ^end
  ^end:
    %v = llvm.load %p : !llvm.ptr -> i32
    {OUT}"""
    assert stored_values(body).tolist() == [t + (t % 2 == 0) for t in range(64)]


def test_several_values_of_several_types():
    body = f"""%three = arith.constant 3 : i32
    %q = llvm.alloca %three x i64 : (i32) -> !llvm.ptr
    %last = llvm.getelementptr %q[2] : (!llvm.ptr) -> !llvm.ptr, i64
    %wide = arith.extui %t32 : i32 to i64
    llvm.store %wide, %last : i64, !llvm.ptr
    llvm.store %one, %p : i32, !llvm.ptr
    %w = llvm.load %last : !llvm.ptr -> i64
    %v = arith.trunci %w : i64 to i32
    {OUT}"""
    assert stored_values(body).tolist() == list(range(64))


def test_read_of_an_uninitialised_variable():
    body = """scf.if %first {{ llvm.store %one, %p : i32, !llvm.ptr }}
    %v = llvm.load %p : !llvm.ptr -> i32"""
    first = "%first = arith.cmpi ult, %tid, %c32 : index\n"
    wrong = fault(first + body.replace("{{", "{").replace("}}", "}"))
    assert wrong.kind is ViolationKind.UNINITIALISED
    assert wrong.message == "reads 4 bytes of local memory, which a thread has not written"


@pytest.mark.parametrize("by", [1, -1, 1000])
def test_access_beyond_a_variable(by):
    wrong = fault(
        f"%o = llvm.getelementptr %p[{by}] : (!llvm.ptr) -> !llvm.ptr, i32\n"
        "llvm.store %one, %o : i32, !llvm.ptr"
    )
    assert wrong.kind is ViolationKind.OUT_OF_BOUNDS
    assert wrong.message.startswith("thread 0 writes 4 bytes at ")


def test_access_of_another_variable_by_an_offset():
    wrong = fault(
        """%q = llvm.alloca %one x i32 : (i32) -> !llvm.ptr
    llvm.store %one, %q : i32, !llvm.ptr
    %o = llvm.getelementptr %p[1] : (!llvm.ptr) -> !llvm.ptr, i32
    %v = llvm.load %o : !llvm.ptr -> i32"""
    )
    assert wrong.kind is ViolationKind.OUT_OF_BOUNDS
    assert wrong.message == (
        "thread 0 reads 4 bytes at byte 4 of its local memory, where it has no variable"
    )


def test_variables_that_exceed_local_memory():
    with pytest.raises(EmulationError, match="has no room; the emulator has 4096 bytes for each"):
        stored_values(
            "%n = arith.constant 1024 : i32\n%q = llvm.alloca %n x i32 : (i32) -> !llvm.ptr"
        )


def test_alloca_in_another_address_space():
    with pytest.raises(EmulationError, match=r"gives a !llvm\.ptr<5>; the emulator knows those of"):
        stored_values("%q = llvm.alloca %one x i32 : (i32) -> !llvm.ptr<5>")
