"""`debug_info="lines"`: the lines of the source in PTX and cubin, and code that stays the same."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from line_tables import (
    disassemble,
    files,
    lines_of,
    machine_lines,
    needs_nvdisasm,
    numbers,
    with_lines,
    without_lines,
)
from programs import module

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.bindings.locations import frames
from mlir_smem.bindings.parsing import parse_module
from mlir_smem.codegen.llvm_dialect import device_module, lower_to_llvm_dialect
from mlir_smem.dialect import new_context
from mlir_smem.ir.walk import walk
from mlir_smem.kernels.gemm.generator.config import Config
from mlir_smem.kernels.gemm.generator.kernel import text as gemm_text
from mlir_smem.kernels.gemm.generator.problem import Problem

EXAMPLES = Path(__file__).parents[2] / "examples"
ARCH = {"nvfp4": "sm_100a", "nvfp4_pair": "sm_100a"}
NAMES = ("mma", "matmul", "attention", *ARCH)


def example(name):
    return (EXAMPLES / f"{name}.mlir").read_text()


# The code stays the same.


@pytest.mark.parametrize("name", NAMES)
def test_ptx_is_the_same_but_for_the_lines(name):
    arch = ARCH.get(name, "sm_90a")
    plain = mlir_smem.compile(example(name), arch, "ptx").ptx
    ptx = with_lines(example(name), arch).ptx
    assert without_lines(ptx) == without_lines(plain)
    assert ".loc" in ptx and ".loc" not in plain


def test_a_gemm_is_the_same_but_for_the_lines():
    problem = Problem()
    text = gemm_text(problem, Config())
    assert without_lines(with_lines(text).ptx) == without_lines(
        mlir_smem.compile(text, emit="ptx").ptx
    )


@needs_nvdisasm
@pytest.mark.parametrize("name", ["mma", "matmul"])
def test_machine_code_is_the_same(name, tmp_path):
    plain, lines = mlir_smem.compile(example(name)), with_lines(example(name), emit="cubin")
    code = [
        disassemble(kernel.cubin, tmp_path, "--print-code", "-hex") for kernel in (plain, lines)
    ]
    assert code[0] == code[1]
    assert "WGMMA" in code[0] or "HGMMA" in code[0]
    assert plain.report == lines.report


def test_compiling_twice_gives_the_same():
    assert with_lines(module(), emit="cubin").cubin == with_lines(module(), emit="cubin").cubin


# Each instruction has the line of its op.

#: Instructions of the examples' PTX, and the ops of the source that they come from.
ORIGINS = [
    ("matmul", r"^\s*wgmma\.mma_async", r"smem\.mma\b"),
    ("matmul", r"^\s*cp\.async\.commit_group", r"smem\.copy_commit"),
    ("matmul", r"^\s*cp\.async\.cg", r"smem\.copy_async"),
    ("matmul", r"^\s*fence\.proxy", r"smem\.fence"),
    ("matmul", r"^\s*st\.global", r"smem\.store"),
    ("attention", r"^\s*wgmma\.mma_async", r"smem\.mma\b"),
    ("nvfp4", r"^\s*tcgen05\.mma", r"smem\.mma_scaled"),
    ("nvfp4", r"^\s*cp\.async\.bulk\.tensor", r"smem\.tma_load"),
    ("nvfp4", r"^\s*ret;", r"gpu\.return"),
]


@pytest.mark.parametrize("name, instruction, op", ORIGINS)
def test_instructions_have_the_line_of_their_op(name, instruction, op):
    text = example(name)
    lines = lines_of(with_lines(text, ARCH.get(name, "sm_90a")).ptx, instruction)
    assert lines and lines <= {("<string>", line) for line in numbers(text, op)}


def test_every_mma_of_an_example_has_its_line():
    text = example("attention")
    lines = numbers(text, r'"smem\.mma"')
    assert len(lines) > 1
    mma_lines = lines_of(with_lines(text).ptx, r"^\s*wgmma\.mma_async")
    assert mma_lines == {("<string>", line) for line in lines}


@needs_nvdisasm
def test_machine_code_has_the_lines(tmp_path):
    text = example("matmul")
    cubin = with_lines(text, emit="cubin", source_name="/sources/matmul.mlir").cubin
    for instruction, op in (("HGMMA", "mma"), ("LDGSTS", "copy_async"), ("STG", "store")):
        lines = {("/sources/matmul.mlir", n) for n in numbers(text, rf'"smem\.{op}"')}
        assert lines and lines <= machine_lines(cubin, tmp_path, rf"\b{instruction}\b")


@pytest.mark.parametrize("name", NAMES)
def test_every_lowered_op_has_a_line_of_the_source(name):
    text = example(name)
    located = mlir_smem.compile(text, ARCH.get(name, "sm_90a"), "nvvm").located
    assert located is not None
    begin = min(numbers(text, r"gpu\.module"))
    with new_context():
        for op in walk(device_module(parse_module(located))):
            stack = frames(op.location)
            assert stack and begin <= stack[0].line <= len(text.splitlines()), str(op)


@pytest.mark.parametrize("name", NAMES)
def test_only_constants_and_addresses_lose_their_line_in_upstreams_passes(name):
    arch = ARCH.get(name, "sm_90a")
    with new_context():
        lowered = parse_module(mlir_smem.compile(example(name), arch, "nvvm").located)
        lower_to_llvm_dialect(lowered)
        without = {op.name for op in walk(device_module(lowered)) if not frames(op.location)}
    values = ("constant", "poison", "addressof", "zero")
    assert without <= {f"llvm.mlir.{value}" for value in values}


def test_registers_of_a_partition_are_on_its_line():
    text = """gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    "smem.warp_specialize"() ({
      "smem.partition"() ({
        "smem.warpgroup_barrier"() : () -> ()
      }) {registers = 40 : i32, warpgroups = 1 : i32} : () -> ()
      "smem.partition"() ({
        "smem.warpgroup_barrier"() : () -> ()
      }) {registers = 232 : i32, warpgroups = 1 : i32} : () -> ()
    }) : () -> ()
    gpu.return
  }
}
"""
    ptx = with_lines(text).ptx
    assert lines_of(ptx, r"setmaxnreg\.dec\b.*\b40;") == {("<string>", 4)}
    assert lines_of(ptx, r"setmaxnreg\.\w+\b.*\b232;") == {("<string>", 7)}


# File names.

NAMES_OF_FILES = {
    "/s/k.mlir": "/s/k.mlir",
    "/s/a b's.mlir": "/s/a b's.mlir",
    '/s/a"b.mlir': "/s/a%22b.mlir",
    "/s/a\\b.mlir": "/s/a%5Cb.mlir",
    "/s/é\udcff.mlir": "/s/%C3%A9%FF.mlir",
    "/s/a\n\t\0.mlir": "/s/a%0A%09%00.mlir",
    "/" + "x" * 300_000: "x" * 4095,
    "<stdin>": "<stdin>",
    "": "<string>",
}


@pytest.mark.parametrize("name", NAMES_OF_FILES, ids=range(len(NAMES_OF_FILES)))
def test_names_of_files(name):
    compiled = with_lines(module(), emit="cubin", source_name=name)
    assert set(files(compiled.ptx).values()) == {NAMES_OF_FILES[name]}


def test_a_relative_name_is_in_the_current_directory(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    ptx = with_lines(module(), source_name="folder/k.mlir").ptx
    assert set(files(ptx).values()) == {f"{tmp_path}/folder/k.mlir"}


def test_the_current_directory_was_deleted(monkeypatch, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert set(files(with_lines(module(), source_name="k.mlir").ptx).values()) == {"k.mlir"}


@settings(max_examples=12, deadline=None)
@given(
    st.lists(
        st.tuples(st.text(), st.text(), *[st.integers(0, 2**31 - 1)] * 2), min_size=1, max_size=6
    )
)
def test_any_location_reaches_a_cubin(places):
    with ir.Context() as context, ir.Location.unknown():
        mlir_smem.register(context)
        host = ir.Module.parse(module())
        for number, op in enumerate(walk(host)):
            file, function, line, column = places[number % len(places)]
            inner = ir.Location.name(function, ir.Location.file(file, line, column))
            outer = ir.Location.file(*places[-1][:1], *places[-1][2:])
            op.location = ir.Location.callsite(inner, [outer]) if number % 2 else inner
        compiled = with_lines(host, emit="cubin")
    assert without_lines(compiled.ptx) == without_lines(mlir_smem.compile(module(), emit="ptx").ptx)


# Bad options.


def test_unknown_debug_information():
    with pytest.raises(ValueError, match="unknown debug_info 'full'; expected none or lines"):
        mlir_smem.compile(module(), debug_info="full")


@pytest.mark.parametrize("option", ["debug_info", "source_name"])
def test_options_that_are_not_text(option):
    with pytest.raises(TypeError, match=f"mlir_smem.compile: {option} is 1; expected text"):
        mlir_smem.compile(module(), **{option: 1})
