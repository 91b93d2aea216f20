"""`ldmatrix` and `stmatrix`: lanes and registers, and the rules of shared memory."""

import numpy as np
import pytest
from emulated import faults, only_fault, run

from mlir_smem.emulator import EmulationError, ViolationKind

THREADS = 64
MATRIX = 8 * 16

#: Room for four matrices a warp.
BYTES = THREADS // 32 * 4 * MATRIX
SYMBOLS = (
    f"llvm.mlir.global internal @x() {{addr_space = 3 : i32}} : !llvm.array<{BYTES // 4} x i32>"
)

each_count = pytest.mark.parametrize("count", [1, 2, 4])
each_layout = pytest.mark.parametrize("transposed", [False, True])

#: Every thread has 16 bytes of shared memory: FILL stores A to them, EMPTY loads them to A.
ADDRESSES = """
    %x = llvm.mlir.addressof @x : !llvm.ptr<3>
    %sixteen = arith.constant 16 : i32
    %own = arith.muli %t32, %sixteen : i32
    %mine = llvm.getelementptr %x[%own] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8"""
FILL = """
    %v = vector.load %A[%tid, %c0] : memref<64x4xi32>, vector<4xi32>
    llvm.store %v, %mine : vector<4xi32>, !llvm.ptr<3>"""
EMPTY = """
    %v = llvm.load %mine : !llvm.ptr<3> -> vector<4xi32>
    vector.store %v, %A[%tid, %c0] : memref<64x4xi32>, vector<4xi32>"""

#: The address of each lane's row, from its byte offset in B.
ROW = """
    %at = memref.load %B[%tid] : memref<64xi32>
    %p = llvm.getelementptr %x[%at] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i8"""


def attributes(transposed, shape="<m = 8, n = 8>", element="b16"):
    layout = "col" if transposed else "row"
    return (
        f"layout = #nvvm.mma_layout<{layout}>, shape = #nvvm.ld_st_matrix_shape{shape}, "
        f"eltType = #nvvm.ld_st_matrix_elt_type<{element}>"
    )


def struct(count):
    return "i32" if count == 1 else f"!llvm.struct<({', '.join(['i32'] * count)})>"


def loads(count, transposed):
    """Lines that load matrices and store each thread's registers to C."""
    type_ = struct(count)
    lines = [
        f"%r = nvvm.ldmatrix %p {{num = {count} : i32, {attributes(transposed)}}} "
        f": (!llvm.ptr<3>) -> {type_}"
    ]
    for i in range(count):
        if count > 1:
            lines.append(f"%r{i} = llvm.extractvalue %r[{i}] : {type_}")
        lines.append(f"%i{i} = arith.constant {i} : index")
        name = f"r{i}" if count > 1 else "r"
        lines.append(f"memref.store %{name}, %C[%tid, %i{i}] : memref<64x{count}xi32>")
    return "\n    ".join(lines)


def stores(count, transposed):
    """Lines that store each thread's registers, from C, as matrices."""
    lines = []
    for i in range(count):
        lines.append(f"%i{i} = arith.constant {i} : index")
        lines.append(f"%r{i} = memref.load %C[%tid, %i{i}] : memref<64x{count}xi32>")
    names = ", ".join(f"%r{i}" for i in range(count))
    types = ", ".join(["i32"] * count)
    lines.append(f"nvvm.stmatrix %p, {names} {{{attributes(transposed)}}} : !llvm.ptr<3>, {types}")
    return "\n    ".join(lines)


def shuffled_rows(seed):
    """The byte offset of each lane's row, a random permutation of the rows of its warp."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(32) * 16 + warp * 4 * MATRIX for warp in range(THREADS // 32)]
    return np.concatenate(rows).astype(np.int32)


def places(rows, count, transposed):
    """Yield for each thread and register the byte offsets of its two elements, by the PTX ISA."""
    for thread in range(THREADS):
        lane = thread % 32
        for matrix in range(count):
            row_of = [int(rows[thread - lane + 8 * matrix + j]) for j in range(8)]
            pair = []
            for j in (0, 1):
                major, minor = lane // 4, 2 * (lane % 4) + j
                row, column = (minor, major) if transposed else (major, minor)
                pair.append(row_of[row] + 2 * column)
            yield thread, matrix, pair


@each_count
@each_layout
def test_ldmatrix(count, transposed):
    memory = np.random.default_rng(count).integers(0, 2**31, (THREADS, 4), np.int32)
    rows = shuffled_rows(count)
    out = np.zeros((THREADS, count), np.int32)
    body = f"{ADDRESSES}{FILL}\n    gpu.barrier\n{ROW}\n    {loads(count, transposed)}"
    run(body, memory, rows, out, block=THREADS, symbols=SYMBOLS)
    halves, loaded = (
        memory.reshape(-1).view(np.uint16),
        out.view(np.uint16).reshape(THREADS, count, 2),
    )
    for thread, matrix, pair in places(rows, count, transposed):
        assert loaded[thread, matrix].tolist() == [halves[offset // 2] for offset in pair]


@each_count
@each_layout
def test_stmatrix(count, transposed):
    registers = np.random.default_rng(count).integers(0, 2**31, (THREADS, count), np.int32)
    rows = shuffled_rows(count)
    memory = np.zeros((THREADS, 4), np.int32)
    body = f"""{ADDRESSES}
    %none = arith.constant dense<-1> : vector<4xi32>
    llvm.store %none, %mine : vector<4xi32>, !llvm.ptr<3>
    gpu.barrier
    {ROW}
    {stores(count, transposed)}
    gpu.barrier{EMPTY}"""
    run(body, memory, rows, registers, block=THREADS, symbols=SYMBOLS)
    expected = np.full(BYTES // 2, 0xFFFF, np.uint16)
    halves = registers.view(np.uint16).reshape(THREADS, count, 2)
    for thread, matrix, pair in places(rows, count, transposed):
        expected[[offset // 2 for offset in pair]] = halves[thread, matrix]
    assert memory.view(np.uint16).reshape(-1).tolist() == expected.tolist()


def loading(lines="", rows=None, before="gpu.barrier", count=4, fill=FILL):
    """The faults of an ldmatrix."""
    rows = shuffled_rows(0) if rows is None else rows
    body = f"{ADDRESSES}{fill}\n    {before}\n{ROW}\n    {lines or loads(count, False)}"
    memory, out = np.zeros((THREADS, 4), np.int32), np.zeros((THREADS, count), np.int32)
    return faults(body, memory, rows, out, block=THREADS, symbols=SYMBOLS)


def test_correct_ldmatrix_has_no_faults():
    assert loading() == []


def test_row_that_is_not_aligned():
    rows = shuffled_rows(0)
    rows[3] += 8
    (fault,) = loading(rows=rows)
    assert fault.kind is ViolationKind.MISALIGNED
    assert fault.line.startswith("%r = nvvm.ldmatrix")
    assert "reads 16 bytes at shared address" in fault.message
    assert "which is not a multiple of 16" in fault.message


def test_addresses_of_unused_lanes_are_ignored():
    rows = shuffled_rows(0)
    rows[16:32] = rows[48:] = -5
    assert loading(rows=rows, count=2) == []
    (fault,) = loading(rows=rows, count=4)
    assert fault.kind is ViolationKind.MISALIGNED


def test_row_out_of_bounds_names_its_thread():
    rows = shuffled_rows(0)
    rows[37] = BYTES
    (fault,) = loading(rows=rows)
    assert fault.kind is ViolationKind.OUT_OF_BOUNDS
    assert fault.message.startswith("thread 37 reads 16 bytes at shared address")


def test_missing_barrier_before_ldmatrix():
    (fault,) = loading(before="")
    assert fault.kind is ViolationKind.RACE
    assert "gpu.barrier is missing" in fault.message


def test_warp_barrier_orders_rows_of_the_same_warp():
    before = "%full = arith.constant -1 : i32\n    nvvm.bar.warp.sync %full : i32"
    assert loading(before=before) == []


def test_uninitialised_rows():
    (fault,) = loading(fill="")
    assert fault.kind is ViolationKind.UNINITIALISED


def test_rows_of_a_copy_that_is_not_waited_for():
    fill = """
    %g = memref.extract_aligned_pointer_as_index %A : memref<64x4xi32> -> index
    %g64 = arith.index_cast %g : index to i64
    %o64 = arith.extui %own : i32 to i64
    %sum = arith.addi %g64, %o64 : i64
    %from = llvm.inttoptr %sum : i64 to !llvm.ptr<1>
    nvvm.cp.async.shared.global %mine, %from, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group"""
    (fault,) = loading(fill=fill)
    assert fault.kind is ViolationKind.COPY_IN_FLIGHT
    assert loading(fill=fill, before="nvvm.cp.async.wait.group 0\n    gpu.barrier") == []


def test_store_after_ldmatrix_without_a_barrier():
    later = loads(4, False) + "\n    llvm.store %v, %mine : vector<4xi32>, !llvm.ptr<3>"
    (fault,) = loading(later)
    assert fault.kind is ViolationKind.RACE
    assert "may still be reading" in fault.message


def storing(rows, before="", after="", block=THREADS):
    body = f"{ADDRESSES}{ROW}\n    {before}\n    {stores(4, False)}\n    {after}"
    memory, registers = np.zeros((THREADS, 4), np.int32), np.zeros((THREADS, 4), np.int32)
    return faults(body, memory, rows, registers, block=block, symbols=SYMBOLS)


def test_stmatrix_and_a_load_without_a_barrier():
    (fault,) = storing(shuffled_rows(0), after=EMPTY)
    assert fault.kind is ViolationKind.RACE
    assert storing(shuffled_rows(0), after=f"gpu.barrier{EMPTY}") == []


def test_two_rows_of_stmatrix_at_one_address():
    rows = shuffled_rows(0)
    rows[5] = rows[40]
    (fault,) = storing(rows)
    assert fault.kind is ViolationKind.RACE
    assert "several threads write" in fault.message


def test_stmatrix_that_is_not_aligned():
    (fault,) = storing(shuffled_rows(0) + 2)
    assert fault.kind is ViolationKind.MISALIGNED
    assert "writes 16 bytes" in fault.message


@pytest.mark.parametrize("name", ["ldmatrix", "stmatrix"])
def test_matrix_ops_by_some_threads_of_a_warp(name):
    lines = loads(4, False) if name == "ldmatrix" else stores(4, False)
    body = f"""{ADDRESSES}{FILL}
    gpu.barrier
    {ROW}
    %few = arith.cmpi ult, %tid, %c8 : index
    scf.if %few {{
    {lines}
    }}"""
    arrays = np.zeros((THREADS, 4), np.int32), shuffled_rows(0), np.zeros((THREADS, 4), np.int32)
    fault = only_fault(body, *arrays, block=THREADS, symbols=SYMBOLS)
    assert fault.kind is ViolationKind.DIVERGENT
    assert "is executed by threads 0 to 7, a part of a warp" in fault.message


def test_matrix_op_in_an_incomplete_warp():
    (fault,) = storing(shuffled_rows(0), block=48)
    assert fault.kind is ViolationKind.DIVERGENT
    assert "is executed by a warp of 16 threads; it needs all 32" in fault.message


def test_matrices_of_other_shapes_are_refused():
    line = (
        "%r = nvvm.ldmatrix %x {num = 1 : i32, "
        + attributes(True, "<m = 16, n = 16>", "b8")
        + "} : (!llvm.ptr<3>) -> !llvm.struct<(i32, i32)>"
    )
    with pytest.raises(EmulationError, match=r"'nvvm.ldmatrix' moves matrices .*m = 16, n = 16"):
        run(f"{ADDRESSES}\n{line}", symbols=SYMBOLS)
