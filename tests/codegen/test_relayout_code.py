"""The instructions of a transposing copy: the number that the algorithm needs, and no spills."""

import re

import pytest
from relayouts import Filled
from tile_copies import End, TileCopyKernel
from transposed import text_of

import mlir_smem
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptxas import find_ptxas

try:
    find_ptxas()
except CompileError as error:
    pytest.skip(str(error), allow_module_level=True)


@pytest.mark.parametrize(
    "case, loads, load, permutes, selects, stores, store",
    [
        # 16 blocks of 4 x 4 bytes: two steps on two pairs of registers.
        (Filled("f8E4M3FN", lines=256), 16, "v4.b32", 128, 0, 16, "v4.b32"),
        (Filled("f8E4M3FN", lines=128), 16, "v2.b32", 64, 0, 8, "v4.b32"),
        # 16 blocks of 2 x 2 elements.
        (Filled("bf16", lines=128), 8, "v4.b32", 32, 0, 8, "v4.b32"),
        (Filled("tf32", lines=64), 4, "v4.b32", 0, 0, 4, "v4.b32"),
        # Two bits of a line's number come from the thread: each needs a select for every register.
        (Filled("f8E4M3FN", "32B", lines=256), 16, "v4.b32", 128, 128, 16, "v4.b32"),
        # 32 bits of each of 32 lines: steps of 16 and 8 bits permute bytes.
        (Filled("i1", lines=128), 32, "b32", 64, 96, 32, "b32"),
    ],
    ids=str,
)
def test_a_block_in_registers(case, loads, load, permutes, selects, stores, store):
    compiled = case.compile()
    assert compiled.ptx is not None and compiled.report is not None
    # The code before the copy clears the tile, and the code after it reads the tile, byte by byte.
    assert len(re.findall(rf"\sld\.global\.{load}\s", compiled.ptx)) == loads
    assert len(re.findall(r"\sprmt\.b32\s", compiled.ptx)) == permutes
    assert len(re.findall(r"\sselp\.b32\s", compiled.ptx)) == selects
    assert len(re.findall(rf"\sst\.shared\.{store}\s", compiled.ptx)) == stores
    assert compiled.report.spill_bytes == 0
    assert compiled.report.registers <= 96


def test_a_line_costs_one_xor():
    # 16 lines of 128 bytes at swizzled addresses: lines that differ by two rows of the atom differ by a
    # constant.
    compiled = Filled("f8E4M3FN", lines=256).compile()
    assert compiled.ptx is not None
    assert len(re.findall(r"\sxor\.b32\s", compiled.ptx)) <= 16


@pytest.mark.parametrize("permuted", [False, True])
@pytest.mark.parametrize(
    "name, lines, blocks, loads, load, permutes, selects, stores",
    [
        # Blocks of 4 lines of 16; two bits of a line's number come from the thread.
        ("i8", 128, 2, 32, "b32", 64, 64, 8),
        # Of 2 lines of 8, and one bit.
        ("bf16", 64, 2, 16, "b32", 16, 16, 4),
        # Of 2 lines of 4.
        ("f32", 32, 1, 4, "v2.b32", 0, 0, 2),
    ],
)
def test_a_tile_is_transposed(
    name, lines, permuted, blocks, loads, load, permutes, selects, stores
):
    case = TileCopyKernel(name, (lines, lines), End(contiguous=int(permuted)), End(), permuted)
    compiled = case.compile()
    assert compiled.nvvm is not None and compiled.ptx is not None
    # The source tile is filled by 16 bytes of each thread at a time.
    filled = lines * 128 // 16 // 128
    assert len(re.findall(rf"\sld\.shared\.{load}\s", compiled.ptx)) == loads
    assert len(re.findall(r"\sst\.shared\.v4\.b32\s", compiled.ptx)) == stores + filled
    assert len(re.findall(r"\sprmt\.b32\s", compiled.ptx)) == permutes
    assert len(re.findall(r"\sselp\.b32\s", compiled.ptx)) == selects
    # The swizzle of the source is computed once a block, then advanced.
    assert compiled.nvvm.count("arith.shrui") == 1 + blocks + stores
    assert compiled.report is not None and compiled.report.spill_bytes == 0


@pytest.mark.parametrize("element", ["i8", "f32"])
def test_two_ctas_of_the_transpose_kernel_fit_a_multiprocessor(element):
    compiled = mlir_smem.compile(text_of(element))
    assert compiled.report is not None
    assert compiled.report.spill_bytes == 0
    assert compiled.report.registers <= 128
    kernel = compiled.manifest["kernels"][0]
    # The system reserves 1 KiB of a CTA's shared memory.
    assert kernel["block"] == [256, 1, 1] and 2 * (kernel["shared_bytes"] + 1024) <= 228 * 1024
    assert [described["argument"] for described in kernel["tensor_maps"]] == ["X", "Y"]
