"""The CUDA C++ of `choose --emit cuda`: compiled, and its functions executed on the CPU.

`tests/gpu/test_emitted_cuda.py` tests it on a GPU, for `wgmma`.
"""

import shutil
import subprocess

import numpy as np
import pytest
from emitted_kernels import EmittedCase, emitted_cases

from mlir_smem.advisor import choose_operands, cuda_source
from mlir_smem.layout.tcgen05 import Chunks

#: Start of tiles in these tests: a multiple of every swizzle pattern.
START = 0x1400

#: Every major-ness and swizzle of every element width, a CTA pair, and rows in two chunks.
TCGEN05 = [
    *(
        EmittedCase(
            f"128x128x{name}",
            f"128x128x{name}",
            {"arch": "sm_100", "a_major": a, "b_major": b, "max_swizzle": swizzle},
        )
        for name in ("bf16", "tf32", "e4m3")
        for a, b in (("k", "k"), ("m", "n"))
        for swizzle in (128, 64, 32, 0)
        if (name, a) != ("tf32", "m") or swizzle == 128
    ),
    EmittedCase("128x128xe2m1_p64", "128x64xe3m2_p32", {"arch": "sm_103", "stages": 2}),
    EmittedCase("256x256xs8", "256x48xu8", {"arch": "sm_100", "ctas": 2}),
    EmittedCase("128x256xe2m1", "256x72xe2m1", {"arch": "sm_100", "scale": "ue8m0"}),
    EmittedCase("256x768xe2m1", "768x64xe2m1", {"arch": "sm_103", "scale": "ue4m3", "k_bytes": 48}),
]
CASES = [*emitted_cases(), *TCGEN05]
COMMAND = "smem-layout choose ..."


def main_of(number, case):
    """Return C++ that writes, for each tile, its offsets and then the descriptor of each instruction."""
    lines = [f"namespace case{number} {{ {cuda_source(case.choice, COMMAND)} }}"]
    lines.append(f"static void write{number}() {{ using namespace case{number};")
    for operand in case.choice.each:
        rows, columns = operand.spec.shape[-2:]
        name = f"Tile{operand.role.name}"
        lines.append(
            f"for (unsigned r = 0; r < {rows}; ++r) for (unsigned c = 0; c < {columns}; ++c) "
            f"put({name}::offset(r, c));"
        )
        expression = f"{name}::descriptor({START}) + {name}::step({{}}, {{}})"
        if isinstance(operand.mma_tiles, Chunks):
            expression = f"{name}::descriptor({START}, {{}}, {{}})"
        lines += [
            f"put({expression.format(*first_element(operand, mma_tile))});"
            for mma_tile in operand.each_mma_tile
        ]
    return "\n".join([*lines, "}"])


def first_element(operand, mma_tile):
    """Return the first element of an MMA tile."""
    return (mma_tile.mn, mma_tile.k) if operand.role.value == "a" else (mma_tile.k, mma_tile.mn)


@pytest.fixture(scope="module")
def program_outputs(tmp_path_factory):
    """For each case, the results of its functions on the CPU, as `main_of` writes them."""
    compiler = shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("there is no C++ compiler")
    folder = tmp_path_factory.mktemp("emitted")
    calls = "".join(f"write{i}();" for i in range(len(CASES)))
    (folder / "all.cpp").write_text(
        "#include <cstdio>\n"
        "static void put(unsigned long long x) { std::fwrite(&x, 8, 1, stdout); }\n"
        + "\n".join(main_of(i, case) for i, case in enumerate(CASES))
        + f"\nint main() {{ {calls} }}\n"
    )
    flags = ["-std=c++14", "-O1", "-Wall", "-Wextra", "-Werror", "-D__host__=", "-D__device__="]
    subprocess.run([compiler, *flags, "all.cpp", "-o", "all"], cwd=folder, check=True)
    ran = subprocess.run([folder / "all"], capture_output=True, check=True)
    numbers, outputs = np.frombuffer(ran.stdout, np.uint64), {}
    for case in CASES:
        for operand in case.choice.each:
            rows, columns = operand.spec.shape[-2:]
            count, tiles = rows * columns, len(operand.each_mma_tile)
            offsets, rest = numbers[:count].reshape(rows, columns), numbers[count:]
            outputs[case, operand.role] = offsets.astype(np.int64), [int(x) for x in rest[:tiles]]
            numbers = rest[tiles:]
    assert not numbers.size
    return outputs


@pytest.mark.parametrize("case", CASES, ids=str)
def test_offsets_are_those_of_the_layout(case, program_outputs):
    for operand in case.choice.each:
        offsets, _ = program_outputs[case, operand.role]
        np.testing.assert_array_equal(offsets, operand.tile.offsets())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_instructions_read_at_the_offsets(case, program_outputs):
    for operand in case.choice.each:
        offsets, descriptors = program_outputs[case, operand.role]
        element, op = operand.spec.element, operand.op
        places = offsets if operand.role.value == "a" else offsets.T
        for mma_tile, descriptor in zip(operand.each_mma_tile, descriptors, strict=True):
            read = op.arch.addresses(
                descriptor, element, operand.major, mma_tile.extent, op.k_bytes
            )
            part = places[mma_tile.mn :][
                : mma_tile.extent, mma_tile.k : mma_tile.k + operand.instruction_k
            ]
            np.testing.assert_array_equal(read - START, part)


@pytest.mark.parametrize("case", emitted_cases()[::11], ids=str)
def test_nvcc_compiles_it(case, tmp_path):
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("there is no nvcc")
    (tmp_path / "kernel.cu").write_text(case.source)
    flags = ["-arch=sm_90a", "-std=c++17", "-Werror=all-warnings"]
    ran = subprocess.run(
        [compiler, *flags, "-cubin", "kernel.cu"],
        check=False,
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr


def test_the_source_is_commented():
    chosen = choose_operands("128x64xbf16", "64x256xbf16", stages=2)
    source = cuda_source(chosen, "smem-layout choose --a 128x64xbf16")
    expected = [
        "//   smem-layout choose --a 128x64xbf16\n",
        "//   8 x wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16, imm-trans-a = 0, "
        "imm-trans-b = 1\n",
        "//   Swizzle<3,4,3> o (128,64):(64,1)\n",
        "  static constexpr unsigned kAlignment = 1024;",
        "  static constexpr unsigned kStageBytes = 16384;",
        "return 0x4000004000010000ull | ((address & 0x3ffff) >> 4);",
        "  //   m = 64, k = 0, 16, ...: +512, +514, +516, +518\n",
    ]
    assert [text for text in expected if text not in source] == []


def test_an_operand_in_registers_has_offsets_only():
    source = cuda_source(choose_operands("64x64xbf16", load_a="tma,ldmatrix"), COMMAND)
    assert "offset(unsigned m, unsigned k)" in source
    assert "descriptor" not in source.replace("there is no descriptor", "")


def test_rows_in_two_chunks_have_descriptors_of_their_own():
    source = cuda_source(TCGEN05[-1].choice, COMMAND)
    assert source.count("? 0x4010404000000000ull |") == 2
    assert "step(" not in source


def test_padded_elements_are_commented():
    source = cuda_source(choose_operands("128x128xe2m1_p64", arch="sm_100"), COMMAND)
    expected = [
        "//   16 elements of 4 bits take 16 bytes, of which the last 8 are padding",
        "  // k = 0 to 15, 16 to 31, ... are packed at the offset of the first, 4 bits each.\n",
        "tcgen05 (sm_100a)",
    ]
    assert [text for text in expected if text not in source] == []


def test_cases_hold_every_swizzle_and_major_of_both():
    both = [(case.choice.a, case.choice.b) for case in CASES]
    assert len({(a.tile.swizzle, a.major, b.tile.swizzle, b.major) for a, b in both}) >= 16
