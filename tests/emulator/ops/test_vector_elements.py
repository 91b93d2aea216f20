"""Vector ops: slices, shuffles, element access, loads and stores, elementwise arithmetic."""

import numpy as np
import pytest
from emulated import elementwise, faults, only_fault, run

from mlir_smem.emulator import EmulationError, ViolationKind

THREADS = 8
MATRIX = np.arange(THREADS * 4, dtype=np.float32).reshape(THREADS, 4)

LOAD = "%v = vector.load %A[%tid, %c0] : memref<8x4xf32>, vector<4xf32>"


def rows(*lines, source=MATRIX):
    """Run lines that compute %w, of four elements, from each row %v."""
    out = np.zeros((THREADS, 4), np.float32)
    body = "\n    ".join(
        [LOAD, *lines, "vector.store %w, %B[%tid, %c0] : memref<8x4xf32>, vector<4xf32>"]
    )
    run(body, source, out, block=THREADS)
    return out


def test_vector_load_and_store():
    assert rows("%w = arith.addf %v, %v : vector<4xf32>").tolist() == (2 * MATRIX).tolist()


def test_slices():
    lines = [
        "%s = vector.extract_strided_slice %v {offsets = [1], sizes = [2], strides = [1]} "
        ": vector<4xf32> to vector<2xf32>",
        "%w = vector.insert_strided_slice %s, %v {offsets = [2], strides = [1]} "
        ": vector<2xf32> into vector<4xf32>",
    ]
    assert rows(*lines).tolist() == MATRIX[:, [0, 1, 1, 2]].tolist()


def test_slices_of_rows():
    lines = [
        "%m = vector.shape_cast %v : vector<4xf32> to vector<2x2xf32>",
        "%s = vector.extract_strided_slice %m {offsets = [1], sizes = [1], strides = [1]} "
        ": vector<2x2xf32> to vector<1x2xf32>",
        "%p = vector.shape_cast %s : vector<1x2xf32> to vector<2xf32>",
        "%n = vector.insert_strided_slice %p, %m {offsets = [0, 0], strides = [1]} "
        ": vector<2xf32> into vector<2x2xf32>",
        "%w = vector.shape_cast %n : vector<2x2xf32> to vector<4xf32>",
    ]
    assert rows(*lines).tolist() == MATRIX[:, [2, 3, 2, 3]].tolist()


def test_constant_slice_is_inserted_into_each_threads_vector():
    lines = [
        "%s = arith.constant dense<[-1.0, -2.0]> : vector<2xf32>",
        "%w = vector.insert_strided_slice %s, %v {offsets = [0], strides = [1]} "
        ": vector<2xf32> into vector<4xf32>",
    ]
    expected = MATRIX.copy()
    expected[:, :2] = -1, -2
    assert rows(*lines).tolist() == expected.tolist()


@pytest.mark.parametrize("op", ["vector.shuffle", "llvm.shufflevector"])
def test_shuffles_of_two_vectors(op):
    constant = "%k = arith.constant dense<[10.0, 11.0, 12.0, 13.0]> : vector<4xf32>"
    types = "vector<4xf32>, vector<4xf32>" if op == "vector.shuffle" else "vector<4xf32>"
    shuffled = rows(constant, f"%w = {op} %v, %k [3, 4, 0, 7] : {types}")
    assert shuffled.tolist() == [[r[3], 10, r[0], 13] for r in MATRIX.tolist()]


def test_shuffle_of_one_vector_and_poison():
    lines = [
        "%k = llvm.mlir.undef : vector<4xf32>",
        "%w = llvm.shufflevector %v, %k [3, 2, 1, 0] : vector<4xf32>",
    ]
    assert rows(*lines).tolist() == MATRIX[:, ::-1].tolist()


@pytest.mark.parametrize("element, wrong", [("0", False), ("1", True)])
def test_undefined_element_of_a_shuffle_is_poison(element, wrong):
    lines = f"""{LOAD}
    %s = llvm.shufflevector %v, %v [0, -1] : vector<4xf32>
    %i = arith.constant {element} : i32
    %r = llvm.extractelement %s[%i : i32] : vector<2xf32>
    %q = arith.addf %r, %r : f32"""
    violations = faults(lines, MATRIX, block=THREADS)
    assert [f.kind for f in violations] == ([ViolationKind.POISON] if wrong else [])


def test_to_elements_and_from_elements():
    lines = [
        "%e:4 = vector.to_elements %v : vector<4xf32>",
        "%w = vector.from_elements %e#3, %e#2, %e#1, %e#0 : vector<4xf32>",
    ]
    assert rows(*lines).tolist() == MATRIX[:, ::-1].tolist()


def test_bitcast_of_two_i16_to_i32():
    values = np.arange(16, dtype=np.uint16) * 4097
    out = np.zeros(8, np.uint32)
    body = """
    %n = arith.muli %tid, %c2 : index
    %v = vector.load %A[%n] : memref<16xi16>, vector<2xi16>
    %w = vector.bitcast %v : vector<2xi16> to vector<1xi32>
    %r = vector.extract %w[0] : i32 from vector<1xi32>
    memref.store %r, %B[%tid] : memref<8xi32>"""
    run(body, values, out, block=THREADS)
    assert out.tobytes() == values.tobytes()


def test_bitcast_of_i1_is_refused():
    body = """
    %v = arith.constant dense<true> : vector<8xi1>
    %w = vector.bitcast %v : vector<8xi1> to vector<1xi8>"""
    with pytest.raises(EmulationError, match=r"'vector\.bitcast' casts vectors of i1"):
        run(body)


# Vectors that are built element by element.


@pytest.mark.parametrize("undefined", ["llvm.mlir.undef", "llvm.mlir.poison", "ub.poison"])
@pytest.mark.parametrize("dialect", ["llvm", "vector"])
def test_vector_is_built_from_elements(undefined, dialect):
    lines = [f"%n0 = {undefined} : vector<4xf32>"]
    for i, position in enumerate((2, 0, 3, 1)):
        lines.append(f"%e{i} = vector.extract %v[{i}] : f32 from vector<4xf32>")
        if dialect == "llvm":
            lines.append(f"%i{i} = arith.constant {position} : i32")
            insert = f"llvm.insertelement %e{i}, %n{i}[%i{i} : i32] : vector<4xf32>"
        else:
            insert = f"vector.insert %e{i}, %n{i} [{position}] : f32 into vector<4xf32>"
        lines.append(f"%{'w' if i == 3 else f'n{i + 1}'} = {insert}")
    assert rows(*lines).tolist() == MATRIX[:, [1, 3, 0, 2]].tolist()


@pytest.mark.parametrize("dialect", ["llvm", "vector"])
@pytest.mark.parametrize("position", [0, 1])
def test_element_that_is_not_inserted_is_poison(dialect, position):
    take = {
        "llvm": f"%i = arith.constant {position} : i32\n"
        "    %r = llvm.extractelement %n[%i : i32] : vector<2xf32>",
        "vector": f"%r = vector.extract %n[{position}] : f32 from vector<2xf32>",
    }[dialect]
    body = f"""
    %one = arith.constant 1.0 : f32
    %zero = arith.constant 0 : i32
    %u = llvm.mlir.undef : vector<2xf32>
    %n = llvm.insertelement %one, %u[%zero : i32] : vector<2xf32>
    {take}
    %s = arith.addf %r, %r : f32"""
    assert [f.kind for f in faults(body)] == ([ViolationKind.POISON] if position else [])


def test_use_of_a_vector_with_a_poison_element():
    body = """
    %one = arith.constant 1.0 : f32
    %u = llvm.mlir.undef : vector<2xf32>
    %n = llvm.insertelement %one, %u[%t32 : i32] : vector<2xf32>
    %s = arith.addf %n, %n : vector<2xf32>"""
    assert only_fault(body, block=1).kind is ViolationKind.POISON


def test_threads_that_insert_into_poison_at_different_positions():
    body = """
    %one = arith.constant 1.0 : f32
    %u = llvm.mlir.undef : vector<8xf32>
    %n = llvm.insertelement %one, %u[%t32 : i32] : vector<8xf32>"""
    with pytest.raises(EmulationError, match="at positions on which threads disagree"):
        run(body, block=THREADS)


def test_each_thread_has_its_own_position():
    values = np.array([3, 1, 0, 2, 2, 0, 1, 3], np.int32)
    out = np.zeros((THREADS, 4), np.float32)
    taken = np.zeros(THREADS, np.float32)
    body = f"""{LOAD}
    %i = memref.load %C[%tid] : memref<8xi32>
    %k = arith.constant -1.0 : f32
    %w = llvm.insertelement %k, %v[%i : i32] : vector<4xf32>
    vector.store %w, %B[%tid, %c0] : memref<8x4xf32>, vector<4xf32>
    %e = llvm.extractelement %v[%i : i32] : vector<4xf32>
    memref.store %e, %D[%tid] : memref<8xf32>"""
    run(body, MATRIX, out, values, taken, block=THREADS)
    expected = MATRIX.copy()
    expected[np.arange(THREADS), values] = -1
    assert out.tolist() == expected.tolist()
    assert taken.tolist() == MATRIX[np.arange(THREADS), values].tolist()


@pytest.mark.parametrize("op", ["insert", "extract"])
@pytest.mark.parametrize("position", [4, -1])
def test_position_out_of_range_is_poison(op, position):
    take = {
        "insert": "%w = llvm.insertelement %k, %v[%i : i32] : vector<4xf32>",
        "extract": "%w = llvm.extractelement %v[%i : i32] : vector<4xf32>",
    }[op]
    body = f"""{LOAD}
    %i = arith.constant {position} : i32
    %k = arith.constant -1.0 : f32
    {take}"""
    fault = only_fault(body, MATRIX, block=THREADS)
    assert fault.kind is ViolationKind.POISON
    assert fault.message == f"takes element {position} of a vector of 4 elements"


def test_extraction_at_a_position_of_each_thread():
    values = np.array([3, 0, 1, 2, 2, 1, 0, 3], np.int32)
    out = np.zeros((THREADS, 2), np.float32)
    body = f"""{LOAD}
    %m = vector.shape_cast %v : vector<4xf32> to vector<2x2xf32>
    %i32 = memref.load %C[%tid] : memref<8xi32>
    %i = arith.index_cast %i32 : i32 to index
    %j = arith.remui %i, %c2 : index
    %e = vector.extract %v[%i] : f32 from vector<4xf32>
    %r = vector.extract %m[%j, 1] : f32 from vector<2x2xf32>
    %w = vector.from_elements %e, %r : vector<2xf32>
    vector.store %w, %B[%tid, %c0] : memref<8x2xf32>, vector<2xf32>"""
    run(body, MATRIX, out, values, block=THREADS)
    thread = np.arange(THREADS)
    assert out[:, 0].tolist() == MATRIX[thread, values].tolist()
    assert out[:, 1].tolist() == MATRIX[thread, values % 2 * 2 + 1].tolist()


def test_extraction_out_of_range_is_poison():
    body = f"""{LOAD}
    %i = arith.addi %c2, %tid : index
    %e = vector.extract %v[%i] : f32 from vector<4xf32>"""
    fault = only_fault(body, MATRIX, block=THREADS)
    assert fault.kind is ViolationKind.POISON
    assert fault.message == "takes element 4 of a vector of 4 elements"


# Loads and stores of every type of fragments, in both memory spaces.

TYPES = ["i8", "i16", "f16", "bf16", "i32", "f32"]


@pytest.mark.parametrize("count", [1, 2, 4, 8])
@pytest.mark.parametrize("element", TYPES)
def test_loads_and_stores_through_both_spaces(element, count):
    size = int(element.lstrip("bfi")) // 8 * count
    values = np.random.default_rng(size).integers(0, 256, THREADS * size, np.uint8)
    out = np.zeros_like(values)
    type_ = element if count == 1 else f"vector<{count}x{element}>"
    body = f"""
    %x = llvm.mlir.addressof @x : !llvm.ptr<3>
    %p = llvm.getelementptr %x[%t32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, {type_}
    %from = memref.extract_aligned_pointer_as_index %A : memref<{THREADS * size}xi8> -> index
    %from64 = arith.index_cast %from : index to i64
    %fromp = llvm.inttoptr %from64 : i64 to !llvm.ptr<1>
    %q = llvm.getelementptr %fromp[%t32] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {type_}
    %to = memref.extract_aligned_pointer_as_index %B : memref<{THREADS * size}xi8> -> index
    %to64 = arith.index_cast %to : index to i64
    %top = llvm.inttoptr %to64 : i64 to !llvm.ptr<1>
    %s = llvm.getelementptr %top[%t32] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, {type_}
    %v = llvm.load %q : !llvm.ptr<1> -> {type_}
    llvm.store %v, %p : {type_}, !llvm.ptr<3>
    %w = llvm.load %p : !llvm.ptr<3> -> {type_}
    llvm.store %w, %s : {type_}, !llvm.ptr<1>"""
    symbols = "llvm.mlir.global internal @x() {addr_space = 3 : i32} : !llvm.array<64 x i64>"
    run(body, values, out, block=THREADS, symbols=symbols)
    assert out.tobytes() == values.tobytes()


def test_vector_load_has_the_alignment_of_its_elements():
    # The row need not begin at a multiple of 16 bytes, so that four accesses are made.
    flat, out = np.arange(40, dtype=np.float32), np.zeros((THREADS, 4), np.float32)
    body = """
    %n = arith.muli %tid, %c4 : index
    %m = arith.addi %n, %c1 : index
    %w = vector.load %A[%m] : memref<40xf32>, vector<4xf32>
    vector.store %w, %B[%tid, %c0] : memref<8x4xf32>, vector<4xf32>"""
    run(body, flat, out, block=THREADS)
    assert out.reshape(-1).tolist() == flat[1:33].tolist()
    aligned = body.replace("%A[%m]", "%A[%m] {alignment = 16 : i64}")
    assert only_fault(aligned, flat, out, block=THREADS).kind is ViolationKind.MISALIGNED


def test_vector_load_out_of_bounds():
    body = """
    %w = vector.load %A[%tid, %c2] : memref<8x4xf32>, vector<4xf32>"""
    fault = only_fault(body, MATRIX.copy(), block=THREADS)
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS


def test_vectors_of_vectors_are_refused():
    with pytest.raises(EmulationError, match=r"'vector\.load' moves vector<2x2xf32> of memref"):
        run("%w = vector.load %A[%c0, %c0] : memref<8x4xf32>, vector<2x2xf32>", MATRIX, block=1)


# Elementwise arithmetic.

BINARY = {
    "f32": ["addf", "subf", "mulf", "divf", "maximumf", "minimumf", "maxnumf", "minnumf"],
    "i32": ["addi", "subi", "muli", "andi", "ori", "xori", "shli", "shrui", "shrsi", "maxsi"],
}
BINARY["f16"] = BINARY["bf16"] = BINARY["f32"]


@pytest.mark.parametrize("element, op", [(e, op) for e, ops in BINARY.items() for op in ops])
def test_binary_ops_of_vectors(element, op):
    import ml_dtypes

    dtype = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i32": np.int32}[
        element
    ]
    a = np.array([1, 2, 3, 4, 30, 6, 7, 8]).astype(dtype)
    b = np.array([3, 1, 2, 4, 5, 2, 9, 1]).astype(dtype)
    alone = elementwise(f"arith.{op} %a, %b : {element}", [a, b], dtype)
    out = np.zeros((THREADS, 2), dtype)
    body = f"""
    %a = memref.load %A[%tid] : memref<8x{element}>
    %b = memref.load %B[%tid] : memref<8x{element}>
    %v = vector.from_elements %a, %b : vector<2x{element}>
    %w = vector.from_elements %b, %b : vector<2x{element}>
    %r = arith.{op} %v, %w : vector<2x{element}>
    vector.store %r, %C[%tid, %c0] : memref<8x2x{element}>, vector<2x{element}>"""
    run(body, a, b, out, block=THREADS)
    assert out[:, 0].tobytes() == alone.tobytes()
    twice = elementwise(f"arith.{op} %b, %b : {element}", [a, b], dtype)
    assert out[:, 1].tobytes() == twice.tobytes()
