"""Arrays in global memory: every element type and stride, and accesses out of bounds."""

import numpy as np
import pytest
from emulated import ELEMENTS, faults, memref, only_fault, run

from mlir_smem.emulator import EmulationError, ViolationKind, emulate

each_dtype = pytest.mark.parametrize("dtype", ELEMENTS, ids=ELEMENTS.values())


@each_dtype
def test_copies_of_every_element_type(dtype):
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2 if dtype.kind == "b" else 256, 64 * dtype.itemsize, np.uint8)
    source = bits.view(dtype)
    target = np.zeros(64, dtype)
    type_ = memref(source)
    run(
        f"%v = memref.load %A[%tid] : {type_}\nmemref.store %v, %B[%tid] : {type_}",
        source,
        target,
        block=64,
    )
    assert target.tobytes() == source.tobytes()


@each_dtype
def test_pointers_to_the_same_bytes(dtype):
    element = ELEMENTS[dtype]
    source = np.arange(32).astype(dtype)
    target = np.zeros(32, dtype)
    body = ""
    for name in "AB":
        body += f"""
    %i{name} = memref.extract_aligned_pointer_as_index %{name} : {memref(source)} -> index
    %n{name} = arith.index_cast %i{name} : index to i64
    %p{name} = llvm.inttoptr %n{name} : i64 to !llvm.ptr<1>
    %q{name} = llvm.getelementptr %p{name}[%t32] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {element}"""
    body += f"""
    %v = llvm.load %qA : !llvm.ptr<1> -> {element}
    llvm.store %v, %qB : {element}, !llvm.ptr<1>"""
    run(body, source, target)
    assert target.tobytes() == source.tobytes()


@pytest.mark.parametrize("width", [2, 3, 4, 8])
@pytest.mark.parametrize("element, dtype", [("f32", np.float32), ("i16", np.uint16)])
def test_vectors_are_loaded_and_stored(element, dtype, width):
    source, target = np.arange(256, dtype=dtype), np.zeros(256, dtype)
    vector = f"vector<{width}x{element}>"
    body = ""
    for name in "AB":
        body += f"""
    %i{name} = memref.extract_aligned_pointer_as_index %{name} : {memref(source)} -> index
    %n{name} = arith.index_cast %i{name} : index to i64
    %p{name} = llvm.inttoptr %n{name} : i64 to !llvm.ptr<1>
    %q{name} = llvm.getelementptr %p{name}[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {element}"""
    body += f"""
    %v = llvm.load %qA {{alignment = {dtype().itemsize} : i64}} : !llvm.ptr<1> -> {vector}
    llvm.store %v, %qB {{alignment = {dtype().itemsize} : i64}} : {vector}, !llvm.ptr<1>"""
    start = f"%w = arith.constant {width} : i32\n%k = arith.muli %t32, %w : i32\n"
    run(start + body, source, target)
    assert target.tolist() == [*range(32 * width), *([0] * (256 - 32 * width))]


@pytest.mark.parametrize("width, size", [(2, 8), (3, 12), (4, 16)])
def test_vector_loads_have_llvms_default_alignment(width, size):
    source, target = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    body = f"""
    %i = memref.extract_aligned_pointer_as_index %A : {memref(source)} -> index
    %n = arith.index_cast %i : index to i64
    %p = llvm.inttoptr %n : i64 to !llvm.ptr<1>
    %v = llvm.load %p : !llvm.ptr<1> -> vector<{width}xf32>
    %r = vector.extract %v[{width - 1}] : f32 from vector<{width}xf32>
    memref.store %r, %B[%c0] : {memref(target)}"""
    run(body, source, target, block=1)
    assert target[0] == width - 1


@pytest.mark.parametrize("order", ["C", "F"])
def test_indices_follow_the_strides(order):
    source = np.asfortranarray(np.arange(60).reshape(3, 4, 5)) if order == "F" else None
    source = np.arange(60).reshape(3, 4, 5) if source is None else source
    target = np.zeros((5, 4, 3), source.dtype)
    body = f"""
    %x = gpu.thread_id x
    %y = gpu.thread_id y
    %z = gpu.thread_id z
    %v = memref.load %A[%x, %y, %z] : {memref(source)}
    memref.store %v, %B[%z, %y, %x] : {memref(target)}"""
    run(body, source, target, block=(3, 4, 5))
    assert (target == source.T).all()


def test_column_major_results():
    target = np.zeros((4, 8), np.float32, order="F")
    body = f"""
    %y = gpu.thread_id y
    %n = arith.muli %y, %c8 : index
    %m = arith.addi %n, %tid : index
    %i = arith.index_cast %m : index to i32
    %v = arith.sitofp %i : i32 to f32
    memref.store %v, %A[%y, %tid] : {memref(target)}"""
    run(body, target, block=(8, 4))
    assert (target == np.arange(32).reshape(4, 8)).all()


def test_arrays_without_dimensions_or_elements():
    one, none = np.array(5, np.int32), np.zeros((0, 3), np.int32)
    out = np.zeros(2, np.int32)
    body = """
    %v = memref.load %A[] : memref<i32>
    %d = memref.dim %B, %c1 : memref<0x3xi32>
    %e = arith.index_cast %d : index to i32
    memref.store %v, %C[%c0] : memref<2xi32>
    memref.store %e, %C[%c1] : memref<2xi32>"""
    run(body, one, none, out, block=1)
    assert out.tolist() == [5, 3]


def test_dynamic_extents():
    source, out = np.arange(12, dtype=np.int32).reshape(3, 4), np.zeros(2, np.int64)
    body = """
    %d = memref.dim %A, %c0 : memref<?x?xi32>
    %e = memref.dim %A, %c1 : memref<?x?xi32>
    memref.store %d, %B[%c0] : memref<2xindex>
    memref.store %e, %B[%c1] : memref<2xindex>"""
    run(body, source, out.view(np.uint64), block=1, types=["memref<?x?xi32>", "memref<2xindex>"])
    assert out.tolist() == [3, 4]


def test_scalar_arguments():
    out = np.zeros(3, np.float64)
    body = """
    %i = arith.sitofp %B : i32 to f64
    %f = arith.extf %C : f32 to f64
    %u = arith.index_castui %D : index to i64
    %g = arith.uitofp %u : i64 to f64
    memref.store %i, %A[%c0] : memref<3xf64>
    memref.store %f, %A[%c1] : memref<3xf64>
    memref.store %g, %A[%c2] : memref<3xf64>"""
    run(body, out, -7, 0.5, 2**40, types=["memref<3xf64>", "i32", "f32", "index"], block=1)
    assert out.tolist() == [-7, 0.5, 2**40]


def test_every_cta_of_a_grid_has_its_own_indices():
    out = np.zeros((3, 2, 4, 6), np.int32)
    body = f"""
    %bx = gpu.block_id x
    %by = gpu.block_id y
    %bz = gpu.block_id z
    %nx = gpu.grid_dim x
    %ny = gpu.grid_dim y
    %g = gpu.global_id x
    %a = arith.muli %bz, %ny : index
    %b = arith.addi %a, %by : index
    %c = arith.muli %b, %nx : index
    %d = arith.muli %c, %c4 : index
    %six = arith.constant 6 : index
    %r = arith.addi %d, %g : index
    %v = arith.index_cast %r : index to i32
    memref.store %v, %A[%bz, %by, %tid, %bx] : {memref(out)}"""
    run(body, out, grid=(6, 2, 3), block=4)
    expected = [
        [[[(z * 2 + y) * 24 + x * 4 + t for x in range(6)] for t in range(4)] for y in range(2)]
        for z in range(3)
    ]
    assert out.tolist() == expected


# Accesses out of bounds, and misaligned ones.


@pytest.mark.parametrize("op", ["load", "store"])
@pytest.mark.parametrize("index, offset", [(16, 64), (17, 68), (1000, 4000)])
def test_access_beyond_an_array(op, index, offset):
    first, second = np.zeros(16, np.float32), np.zeros(16, np.float32)
    line = {
        "load": "%v = memref.load %B[%i] : memref<16xf32>",
        "store": "%z = arith.constant 0.0 : f32\nmemref.store %z, %B[%i] : memref<16xf32>",
    }[op]
    fault = only_fault(f"%i = arith.constant {index} : index\n{line}", first, second, block=2)
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert f"memref.{op}" in fault.line
    verb = {"load": "reads", "store": "writes"}[op]
    assert fault.message == (
        f"thread 0 {verb} 4 bytes at argument 1 + {offset} bytes; argument 1 has 64 bytes"
    )


def test_message_names_the_first_thread_out_of_bounds():
    body = "%i = arith.addi %tid, %c2 : index\n%v = memref.load %A[%i] : memref<16xf32>"
    fault = only_fault(body, np.zeros(16, np.float32), block=16)
    assert fault.message.startswith("thread 14 reads 4 bytes at argument 0 + 64 bytes")


def test_access_before_an_array():
    body = "%i = arith.constant -1 : index\n%v = memref.load %A[%i] : memref<16xf32>"
    fault = only_fault(body, np.zeros(16, np.float32), block=1)
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert "at argument 0 - 4 bytes; argument 0 has 64 bytes" in fault.message


def test_access_that_overlaps_the_end_of_an_array():
    body = """
    %i = memref.extract_aligned_pointer_as_index %A : memref<3xi32> -> index
    %j = arith.addi %i, %c8 : index
    %n = arith.index_cast %j : index to i64
    %p = llvm.inttoptr %n : i64 to !llvm.ptr<1>
    %v = llvm.load %p : !llvm.ptr<1> -> i64"""
    fault = only_fault(body, np.zeros(3, np.int32), block=1)
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert "reads 8 bytes at argument 0 + 8 bytes; argument 0 has 12 bytes" in fault.message


@pytest.mark.parametrize("shift, misaligned", [(1, True), (2, True), (4, False)])
def test_misaligned_access(shift, misaligned):
    body = f"""
    %i = memref.extract_aligned_pointer_as_index %A : memref<8xi32> -> index
    %k = arith.constant {shift} : index
    %j = arith.addi %i, %k : index
    %n = arith.index_cast %j : index to i64
    %p = llvm.inttoptr %n : i64 to !llvm.ptr<1>
    %v = llvm.load %p : !llvm.ptr<1> -> i32"""
    violations = faults(body, np.zeros(8, np.int32), block=1)
    assert [fault.kind for fault in violations] == [ViolationKind.MISALIGNED] * misaligned
    if misaligned:
        assert "reads 4 bytes at global address 0x" in violations[0].message
        assert violations[0].message.endswith("which is not a multiple of 4")


def test_violations_leave_the_arrays_unchanged():
    out = np.zeros(16, np.int32)
    body = (
        "memref.store %t32, %A[%tid] : memref<16xi32>\n%v = memref.load %A[%c16] : memref<16xi32>"
    )
    assert faults(body, out, block=16)
    assert not out.any()


def test_each_location_is_reported_once_for_the_whole_grid():
    body = "%v = memref.load %A[%c16] : memref<16xi32>"
    assert len(faults(body, np.zeros(16, np.int32), grid=5)) == 1


def test_array_that_is_passed_twice():
    x = np.arange(8, dtype=np.int32)
    text = """
gpu.module @kernels {
  gpu.func @twice(%A: memref<8xi32>, %B: memref<8xi32>) kernel {
    %t = gpu.thread_id x
    %v = memref.load %A[%t] : memref<8xi32>
    %w = arith.addi %v, %v : i32
    memref.store %w, %B[%t] : memref<8xi32>
    gpu.return
  }
}
"""
    extents = {"grid": (1, 1, 1), "block": (8, 1, 1), "dynamic_shared_bytes": 0}
    emulate(text, "twice", [x, x], **extents)
    assert (x == 2 * np.arange(8)).all()
    x.flags.writeable = False
    with pytest.raises(EmulationError, match="writes to an array that is read-only"):
        emulate(text, "twice", [x, x], **extents)
    emulate(text, "twice", [x, np.zeros(8, np.int32)], **extents)
