"""Shared memory: declarations, addresses, views and pointers."""

import numpy as np
import pytest
from emulated import SHARED, only_fault, run

from mlir_smem.emulator import ViolationKind

LLVM_GLOBAL = "llvm.mlir.global internal @{}() {{addr_space = 3 : i32{}}} : !llvm.array<{} x i32>"
MEMREF_GLOBAL = f"memref.global @{{}} : memref<{{}}xi32, {SHARED}>"


def through(access, out=None, block=32, **options):
    """Run lines that store %t32 to shared memory and load %r from it; return each thread's %r."""
    out = np.zeros(block, np.int32)
    run(f"{access}\nmemref.store %r, %A[%tid] : memref<{block}xi32>", out, block=block, **options)
    return out.tolist()


def mirror_lines(view, type_):
    """Lines by which thread t writes element t of a memref and reads element 31 - t."""
    return f"""
    {view}
    memref.store %t32, %s[%tid] : {type_}
    gpu.barrier
    %last = arith.constant 31 : index
    %m = arith.subi %last, %tid : index
    %r = memref.load %s[%m] : {type_}"""


MIRRORED = list(range(31, -1, -1))
PLAIN = f"memref<32xi32, {SHARED}>"


def test_global_variable():
    view = f"%s = memref.get_global @x : {PLAIN}"
    assert through(mirror_lines(view, PLAIN), symbols=MEMREF_GLOBAL.format("x", 32)) == MIRRORED


def test_workgroup_buffer():
    access = mirror_lines("", PLAIN)
    assert through(access, buffers=f"workgroup(%s: {PLAIN})") == MIRRORED


def test_global_variable_in_memory_space_3():
    type_ = "memref<32xi32, 3>"
    view = f"%s = memref.get_global @x : {type_}"
    assert through(mirror_lines(view, type_), symbols=f"memref.global @x : {type_}") == MIRRORED


def test_dynamic_shared_memory():
    view = f"""
    %d = gpu.dynamic_shared_memory : memref<?xi8, {SHARED}>
    %s = memref.view %d[%c128][] : memref<?xi8, {SHARED}> to {PLAIN}"""
    assert through(mirror_lines(view, PLAIN), shared=256) == MIRRORED


POINTERS = """
    %x = llvm.mlir.addressof @x : !llvm.ptr<3>
    {}
    %p = llvm.getelementptr %y[%t32] : ({pointer}, i32) -> {pointer}, i32
    llvm.store %t32, %p : i32, {pointer}
    gpu.barrier
    %last = arith.constant 31 : i32
    %m = arith.subi %last, %t32 : i32
    %q = llvm.getelementptr %y[%m] : ({pointer}, i32) -> {pointer}, i32
    %r = llvm.load %q : {pointer} -> i32"""


@pytest.mark.parametrize(
    "change, pointer",
    [
        ("%y = llvm.getelementptr %x[0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8", "!llvm.ptr<3>"),
        ("%y = llvm.addrspacecast %x : !llvm.ptr<3> to !llvm.ptr", "!llvm.ptr"),
        (
            "%g = llvm.addrspacecast %x : !llvm.ptr<3> to !llvm.ptr\n"
            "%y = llvm.addrspacecast %g : !llvm.ptr to !llvm.ptr<3>",
            "!llvm.ptr<3>",
        ),
        (
            "%n = llvm.ptrtoint %x : !llvm.ptr<3> to i32\n"
            "%y = llvm.inttoptr %n : i32 to !llvm.ptr<3>",
            "!llvm.ptr<3>",
        ),
    ],
    ids=["shared", "generic", "there and back", "a number"],
)
def test_pointers(change, pointer):
    body = POINTERS.format(change, pointer=pointer)
    assert through(body, symbols=LLVM_GLOBAL.format("x", "", 32)) == MIRRORED


def test_generic_pointers_to_shared_and_global_memory():
    source = np.arange(100, 132, dtype=np.int32)
    out = np.zeros(32, np.int32)
    body = """
    %x = llvm.mlir.addressof @x : !llvm.ptr<3>
    %g = llvm.addrspacecast %x : !llvm.ptr<3> to !llvm.ptr
    %i = memref.extract_aligned_pointer_as_index %A : memref<32xi32> -> index
    %n = arith.index_cast %i : index to i64
    %h = llvm.inttoptr %n : i64 to !llvm.ptr
    %p = llvm.getelementptr %g[%t32] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store %t32, %p : i32, !llvm.ptr
    %q = llvm.getelementptr %h[%t32] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    %low = arith.cmpi ult, %tid, %c16 : index
    %w = arith.select %low, %p, %q : !llvm.ptr
    %r = llvm.load %w : !llvm.ptr -> i32
    memref.store %r, %B[%tid] : memref<32xi32>"""
    run(body, source, out, symbols=LLVM_GLOBAL.format("x", "", 32))
    assert out.tolist() == [*range(16), *range(116, 132)]


def addresses(names, symbols, shared=0, extra=""):
    """The addresses of variables."""
    out = np.zeros(len(names), np.int64)
    body = extra
    for i, name in enumerate(names):
        body += f"""
    %p{i} = llvm.mlir.addressof @{name} : !llvm.ptr<3>
    %n{i} = llvm.ptrtoint %p{i} : !llvm.ptr<3> to i64
    memref.store %n{i}, %A[%c{i}] : memref<{len(names)}xi64>"""
    run(body, out, block=1, symbols=symbols, shared=shared)
    return out.tolist()


def test_variables_do_not_overlap_and_are_aligned():
    symbols = "\n".join(
        [
            LLVM_GLOBAL.format("x", "", 5),
            LLVM_GLOBAL.format("y", "", 1),
            LLVM_GLOBAL.format("z", ", alignment = 256 : i64", 4),
        ]
    )
    x, y, z = addresses("xyz", symbols)
    assert x == 0x400
    assert y >= x + 20
    assert z >= y + 4
    assert z % 256 == 0


def test_dynamic_shared_memory_follows_the_variables():
    symbols = LLVM_GLOBAL.format("x", "", 5) + "\n" + LLVM_GLOBAL.format("y", "", 0)
    assert addresses("xy", symbols, shared=64) == [0x400, 0x800]


def test_dynamic_shared_memory_alone_begins_at_0x400():
    assert addresses("y", LLVM_GLOBAL.format("y", "", 0), shared=64) == [0x400]


def test_ctas_have_separate_shared_memory():
    body = f"""
    %b = gpu.block_id x
    %s = memref.get_global @x : {PLAIN}
    %first = arith.cmpi eq, %b, %c0 : index
    scf.if %first {{
      memref.store %t32, %s[%tid] : {PLAIN}
    }}
    %r = memref.load %s[%tid] : {PLAIN} // here"""
    fault = only_fault(body, grid=2, symbols=MEMREF_GLOBAL.format("x", 32))
    assert fault.kind is ViolationKind.UNINITIALISED


@pytest.mark.parametrize(
    "symbols, shared, where",
    [
        (MEMREF_GLOBAL.format("x", 8), 0, "from 0x400 to 0x41f"),
        (MEMREF_GLOBAL.format("x", 8), 64, "from 0x400 to 0x83f"),
    ],
)
def test_access_beyond_shared_memory(symbols, shared, where):
    body = f"""
    %s = memref.get_global @x : memref<8xi32, {SHARED}>
    %i = arith.constant 5000 : index
    memref.store %t32, %s[%i] : memref<8xi32, {SHARED}>"""
    fault = only_fault(body, block=1, symbols=symbols, shared=shared)
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert fault.line.startswith("memref.store")
    assert fault.message == (
        "thread 0 writes 4 bytes at shared address 0x5220; the CTA's shared memory is " + where
    )


def test_access_in_a_kernel_without_shared_memory():
    body = f"""
    %d = gpu.dynamic_shared_memory : memref<?xi8, {SHARED}>
    %v = memref.load %d[%c0] : memref<?xi8, {SHARED}>"""
    assert only_fault(body, block=1).kind is ViolationKind.OUT_OF_BOUNDS


def test_buffer_of_vectors():
    type_ = f"memref<32xvector<2xi32>, {SHARED}>"
    body = f"""
    %v = vector.from_elements %t32, %r : vector<2xi32>
    memref.store %v, %s[%tid] : {type_}
    %w = memref.load %s[%tid] : {type_}
    %x = vector.extract %w[1] : i32 from vector<2xi32>
    memref.store %x, %A[%tid] : memref<32xi32>"""
    first = "%two = arith.constant 2 : i32\n%r = arith.muli %t32, %two : i32"
    out = np.zeros(32, np.int32)
    run(first + body, out, buffers=f"workgroup(%s: {type_})")
    assert out.tolist() == [2 * t for t in range(32)]
