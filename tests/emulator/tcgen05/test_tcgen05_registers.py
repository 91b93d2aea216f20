"""`tcgen05.ld` and `tcgen05.st`: the cells of tensor memory for each register of a warp's threads."""

import numpy as np
import pytest
from emulated import faults_of, kernel
from tcgen05_kernels import (
    BYTES,
    SYMBOLS,
    WAIT_LOAD,
    WAIT_STORE,
    Tcgen05Kernel,
    load,
    store,
    transfer,
)

from mlir_smem.emulator import EmulationError
from mlir_smem.emulator.tcgen05.cells import SHAPES, cells_of, lanes_of
from mlir_smem.emulator.wgmma.fragments import to_elements

#: CuTe's layouts of the smallest transfers (`DstLayout`): the region's width in columns; then extents and
#: strides, in words, of the thread and of the register, the fastest first.
CUTE = {
    "32x32b": (1, [(32, 1)], []),
    "16x64b": (2, [(2, 16), (2, 1), (8, 2)], []),
    "16x128b": (4, [(4, 1), (8, 4)], [(2, 32)]),
    "16x256b": (8, [(4, 2), (8, 8)], [(2, 1), (2, 64)]),
}


def strided_offset(number, modes):
    """The offset of a linear index in a layout of (extent, stride) modes."""
    offset = 0
    for extent, stride in modes:
        offset, number = offset + number % extent * stride, number // extent
    return offset


@pytest.mark.parametrize("times", [1, 2, 8, 32])
@pytest.mark.parametrize("shape", SHAPES)
def test_registers_are_in_the_cells_of_cutes_layouts(shape, times):
    width, thread_modes, register_modes = CUTE[shape]
    least = 2 ** len(register_modes)
    lanes, columns = cells_of(shape, least * times)
    for thread in range(32):
        for register in range(least * times):
            word = strided_offset(thread, thread_modes)
            word += strided_offset(register % least, register_modes)
            column = word % width + register // least * width
            assert (lanes[thread, register], columns[thread, register]) == (word // width, column)


@pytest.mark.parametrize("shape", SHAPES)
def test_each_cell_belongs_to_one_register(shape):
    lanes, columns = cells_of(shape, 16)
    height = lanes_of(shape)
    assert sorted((lanes * (512 // height) + columns).reshape(-1).tolist()) == [
        lane * (512 // height) + column for lane in range(height) for column in range(512 // height)
    ]


def test_shape_16x256b_is_the_wgmma_fragment():
    matrix = np.arange(64 * 32, dtype=np.int32).reshape(64, 32)
    lanes, columns = cells_of("16x256b", 16)
    fragments = np.concatenate([matrix[16 * warp :][lanes, columns] for warp in range(4)])
    assert (fragments == to_elements(matrix)).all()


def store_and_load(stored, loaded, columns):
    """Store random registers in one shape and load them in another; return both."""
    counts = [columns * lanes_of(shape) // 32 for shape in (stored, loaded)]
    halves = [(0, 16) if lanes_of(shape) == 16 else (0,) for shape in (stored, loaded)]
    lines = ["%all = arith.constant 0 : index"]
    for half in halves[0]:
        lines += [
            f"%h{half} = arith.constant {half * counts[0] // 16} : index",
            f"%v{half} = vector.load %I[%tid, %h{half}] : INPUT, vector<{counts[0]}xi32>",
            store(f"s{half}", f"v{half}", half, 0, stored, counts[0]),
        ]
    lines.append(WAIT_STORE)
    lines += [load(f"r{half}", half, 0, loaded, counts[1]) for half in halves[1]]
    lines.append(WAIT_LOAD)
    for half in halves[1]:
        lines += [
            f"%o{half} = arith.constant {half * counts[1] // 16} : index",
            f"vector.store %r{half}, %B[%tid, %o{half}] : OUTPUT, vector<{counts[1]}xi32>",
        ]
    source = np.random.default_rng(0).integers(0, 1 << 31, (128, counts[0] * len(halves[0])))
    source = source.astype(np.int32)
    registers = np.zeros((128, counts[1] * len(halves[1])), np.int32)
    types = [f"memref<128x{array.shape[1]}xi32>" for array in (registers, source)]
    body = (
        "\n".join(lines).replace("%I", "%C").replace("OUTPUT", types[0]).replace("INPUT", types[1])
    )
    text = kernel(
        Tcgen05Kernel(body, max(columns, 32)).text, [f"memref<{BYTES // 4}xi32>", *types], SYMBOLS
    )
    assert faults_of(text, "k", [np.zeros(BYTES // 4, np.int32), registers, source], 128) == []
    return source, registers


def cells(registers, shape, columns):
    """The cells of tensor memory that hold the registers, [128, columns]."""
    lanes, cell_columns = cells_of(shape, columns * lanes_of(shape) // 32)
    width = cell_columns.shape[1]
    memory = np.zeros((128, columns), registers.dtype)
    for warp in range(4):
        for i in range(32 // lanes_of(shape)):
            first = warp * 32 + i * lanes_of(shape)
            warp_registers = registers[warp * 32 :][:32, i * width :][:, :width]
            memory[first + lanes, cell_columns] = warp_registers
    return memory


@pytest.mark.parametrize("loaded", SHAPES)
@pytest.mark.parametrize("stored", SHAPES)
def test_store_in_one_shape_and_load_in_another(stored, loaded):
    source, registers = store_and_load(stored, loaded, 32)
    assert (cells(registers, loaded, 32) == cells(source, stored, 32)).all()


@pytest.mark.parametrize("columns", [8, 16, 64, 128, 256])
def test_numbers_of_registers(columns):
    source, registers = store_and_load("16x256b", "16x256b", columns)
    assert (source == registers).all()


@pytest.mark.parametrize(
    "operands, shape, words",
    [
        ("ld %base, %o", "16x32bx2", "is of shape 16x32bx2; the emulator knows 32x32b, 16x64b, "),
        ("ld %base pack", "32x32b", "packs 16 bits, which the emulator does not know"),
        ("st %base, %v unpack", "32x32b", "packs 16 bits, which the emulator does not know"),
        ("st %base, %v, %o", "32x32b", "has an offset, which these shapes do not take"),
    ],
)
def test_forms_that_the_emulator_does_not_know(operands, shape, words):
    result = "%r = " if operands.startswith("ld") else ""
    lines = f"""%o = llvm.mlir.constant(16 : i64) : i64
    %v = arith.constant dense<0> : vector<2xi32>
    {result}nvvm.tcgen05.{operands} {transfer(shape, 2)}"""
    with pytest.raises(EmulationError, match=words):
        Tcgen05Kernel(lines).run()
