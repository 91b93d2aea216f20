"""`debug_info="lines"`: the lines of the source in PTX and cubin, and code that stays the same."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from line_tables import (
    calls_of,
    disassembled,
    files,
    find_nvdisasm,
    lines_of,
    machine_lines,
    without_lines,
)
from programs import module

import mlir_smem
from mlir_smem.codegen.llvm_dialect import device_module
from mlir_smem.dialect import new_context, ops
from mlir_smem.dialect.bindings import gpu, ir
from mlir_smem.dialect.locations import frames
from mlir_smem.ir.walk import walk
from mlir_smem.kernels.gemm.generator.config import default_config
from mlir_smem.kernels.gemm.generator.kernel import text as gemm_text
from mlir_smem.kernels.gemm.generator.problem import Problem

EXAMPLES = Path(__file__).parents[2] / "examples"
ARCH = {"nvfp4": "sm_100a", "nvfp4_pair": "sm_100a"}
NAMES = ("mma", "matmul", "attention", *ARCH)

needs_nvdisasm = pytest.mark.skipif(
    find_nvdisasm() is None, reason="nvdisasm is not installed (nvidia-cuda-nvdisasm)"
)


def example(name):
    return (EXAMPLES / f"{name}.mlir").read_text()


def with_lines(module, arch="sm_90a", emit="ptx", **options):
    return mlir_smem.compile(module, arch, emit, debug_info="lines", **options)


def numbers(text, pattern):
    """The lines of a text that a pattern matches."""
    return {n for n, line in enumerate(text.splitlines(), 1) if re.search(pattern, line)}


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
    text = gemm_text(problem, default_config(problem, 4096, 4096, 4096))
    assert without_lines(with_lines(text).ptx) == without_lines(
        mlir_smem.compile(text, emit="ptx").ptx
    )


@needs_nvdisasm
@pytest.mark.parametrize("name", ["mma", "matmul"])
def test_machine_code_is_the_same(name, tmp_path):
    plain, lines = mlir_smem.compile(example(name)), with_lines(example(name), emit="cubin")
    code = [disassembled(each.cubin, tmp_path, "--print-code", "-hex") for each in (plain, lines)]
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
    found = lines_of(with_lines(text, ARCH.get(name, "sm_90a")).ptx, instruction)
    assert found and found <= {("<string>", line) for line in numbers(text, op)}


def test_every_mma_of_an_example_has_its_line():
    text = example("attention")
    lines = numbers(text, r'"smem\.mma"')
    assert len(lines) > 1
    found = lines_of(with_lines(text).ptx, r"^\s*wgmma\.mma_async")
    assert found == {("<string>", line) for line in lines}


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
        for op in walk(device_module(ir.Module.parse(located))):
            found = frames(op.location)
            assert found and begin <= found[0].line <= len(text.splitlines()), str(op)


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


# Kinds of locations.


def hand_written(locations):
    """A kernel with an inline PTX instruction at each of the locations."""
    asm = '    llvm.inline_asm has_side_effects "membar.gl; // {0}", "" : () -> () loc({1})'
    body = "\n".join(asm.format(number, at) for number, at in enumerate(locations))
    return f"""gpu.module @kernels {{
  gpu.func @k() kernel attributes {{known_block_size = array<i32: 128, 1, 1>}} {{
{body}
    gpu.return
  }} loc("/s/main.py":10:2)
}}
"""


KINDS = {
    '"/s/main.py":11:3': ("/s/main.py", 11),
    '"/s/other.py":12:3': ("/s/other.py", 12),
    '"function"("/s/main.py":13:3)': ("/s/main.py", 13),
    'fused["/s/main.py":14:1, "/s/other.py":15:1]': ("/s/main.py", 14),
    'fused<"why">["name", "/s/other.py":16:1]': ("/s/other.py", 16),
    'callsite("helper"("/s/helper.py":17:1) at "/s/main.py":18:1)': ("/s/helper.py", 17),
    'callsite("helper"("/s/helper.py":19:1) at callsite("/s/other.py":1:1 at "/s/main.py":18:1))': (
        "/s/helper.py",
        19,
    ),
    'callsite(unknown at "/s/main.py":20:1)': ("/s/main.py", 20),
    '"/s/main.py":4000000:70000': ("/s/main.py", 4000000),
}


def test_kinds_of_locations():
    compiled = with_lines(hand_written(KINDS), emit="cubin")
    for number, expected in enumerate(KINDS.values()):
        assert lines_of(compiled.ptx, rf"membar\.gl; // {number}$") == {expected}


def test_calls_of_inlined_instructions():
    main = ("/s/main.py", 18)
    calls = [
        [("helper", "/s/helper.py", 17), main],
        [("inner é", "/s/helper.py", 19), ("outer", "/s/b.py", 1), main],
        [("inner é", "/s/helper.py", 19), main],
        [("/s/helper.py", "/s/helper.py", 19), ("/s/main.py", 19)],
        [("/s/main.py", 20)],
    ]
    locations = [
        'callsite("helper"("/s/helper.py":17:1) at "/s/main.py":18:1)',
        'callsite("inner é"("/s/helper.py":19:1) at '
        'callsite("outer"("/s/b.py":1:0) at "/s/main.py":18:1))',
        'callsite("inner é"("/s/helper.py":19:1) at "/s/main.py":18:1)',
        'callsite("/s/helper.py":19:1 at "/s/main.py":19:70000)',
        '"/s/main.py":20:1',
    ]
    ptx = with_lines(hand_written(locations), emit="cubin").ptx
    for number, expected in enumerate(calls):
        assert calls_of(ptx, rf"membar\.gl; // {number}$") == expected


@needs_nvdisasm
def test_calls_in_machine_code(tmp_path):
    text = hand_written(['callsite("helper"("/s/helper.py":17:1) at "/s/main.py":18:1)'])
    cubin = with_lines(text, emit="cubin").cubin
    output = disassembled(cubin, tmp_path, "--print-line-info-inline", "--print-code")
    assert 'File "/s/helper.py", line 17 inlined at "/s/main.py", line 18' in output


def test_lines_that_leave_no_numbers_lose_their_calls():
    text = hand_written(
        ['callsite("/s/helper.py":4294967295:1 at "/s/main.py":18:1)', '"/s/main.py":20:1']
    )
    ptx = with_lines(text).ptx
    assert calls_of(ptx, r"membar\.gl; // 0$") == [("/s/helper.py", 4294967295)]


def test_calls_in_llvm_ir():
    compiled = with_lines(hand_written(KINDS), emit="llvm")
    assert re.search(r'DISubprogram\(name: "helper", .*', compiled.llvm)
    assert "inlinedAt" in compiled.llvm
    assert 'DISubprogram(name: "k", ' in compiled.llvm


def test_calls_that_lead_to_the_whole_kernel_are_left_out():
    text = hand_written(
        ['callsite("/s/body.py":30:1 at callsite("/s/main.py":7:1 at "/s/x.py":1:1))']
    )
    text = text.replace(
        'loc("/s/main.py":10:2)', 'loc(callsite("/s/main.py":6:1 at "/s/x.py":1:1))'
    )
    compiled = with_lines(text, emit="llvm")
    assert "x.py" not in compiled.llvm and "body.py" in compiled.llvm


def test_a_call_without_a_location():
    ptx = with_lines(
        """gpu.module @kernels {
  func.func @add(%x: f32) -> f32 {
    %y = arith.addf %x, %x : f32
    func.return %y : f32
  }
  gpu.func @k(%m: memref<1xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %i = arith.constant 0 : index
    %x = memref.load %m[%i] : memref<1xf32>
    %y = func.call @add(%x) : (f32) -> f32 loc(unknown)
    memref.store %y, %m[%i] : memref<1xf32>
    gpu.return
  }
}
""",
        emit="cubin",
    ).ptx
    assert lines_of(ptx, r"add\.(rn\.)?f32") == {("<string>", 3)}


def test_a_module_without_locations():
    with ir.Context() as context, ir.Location.unknown():
        mlir_smem.register(context)
        host = ir.Module.parse(module())
        for op in walk(host):
            op.location = ir.Location.unknown()
        host.operation.location = ir.Location.unknown()
        compiled = with_lines(host, emit="cubin")
    assert set(files(compiled.ptx).values()) <= {"<string>"}
    assert without_lines(compiled.ptx) == without_lines(mlir_smem.compile(module(), emit="ptx").ptx)


def test_a_function_with_debug_information_keeps_its_own():
    text = """
#file = #llvm.di_file<"theirs.py" in "/s">
#unit = #llvm.di_compile_unit<id = distinct[0]<>, sourceLanguage = DW_LANG_C, file = #file,
  isOptimized = true, emissionKind = DebugDirectivesOnly>
#scope = #llvm.di_subprogram<id = distinct[1]<>, compileUnit = #unit, scope = #file, name = "k",
  file = #file, subprogramFlags = Definition, type = #llvm.di_subroutine_type<>>
gpu.module @kernels {
  gpu.func @k() kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    llvm.inline_asm has_side_effects "membar.gl;", "" : () -> () loc(fused<#scope>["mine.py":5:1])
    gpu.return
  } loc(fused<#scope>["mine.py":4:1])
}
"""
    compiled = with_lines(text, emit="cubin")
    assert lines_of(compiled.ptx, r"membar\.gl") == {("/s/theirs.py", 5)}


# Kernels built in Python.


def multiply(a, b):
    return ops.wait(ops.mma(a, b))


def test_a_kernel_built_in_python_has_the_lines_of_the_file():
    with ir.Context() as context, ir.Location.unknown(), ir.loc_tracebacks():
        mlir_smem.register(context)
        built = ir.Module.create()
        matrix, result = (ir.Type.parse(f"memref<64x64x{each}>") for each in ("bf16", "f32"))
        with ir.InsertionPoint(built.body):
            block = gpu.GPUModuleOp("kernels").bodyRegion.blocks.append()
        with ir.InsertionPoint(block):
            function = gpu.GPUFuncOp(
                ir.FunctionType.get([matrix, matrix, result], []),
                "k",
                kernel=True,
                known_block_size=[128, 1, 1],
            )
        with ir.InsertionPoint(function.add_entry_block()):
            a, b, d = function.entry_block.arguments
            tiles = [ops.alloc((64, 64), each.type.element_type) for each in (a, b)]
            for each, tile in zip((a, b), tiles, strict=True):
                ops.copy(each, tile)
            ops.fence()
            gpu.barrier()
            product = multiply(*tiles)
            ops.store(product, d)
            gpu.ReturnOp([])
    compiled = with_lines(built)
    here = Path(__file__).read_text()

    def lines(call):
        # The first line with the call is the kernel's: this function follows it.
        return {(__file__, min(numbers(here, rf"^\s+{call}")))}

    assert lines_of(compiled.ptx, r"^\s*wgmma\.mma_async") == lines(r"return ops\.wait")
    (inner,), (outer,) = lines(r"return ops\.wait"), lines(r"product = multiply")
    assert calls_of(compiled.ptx, r"^\s*wgmma\.mma_async") == [("multiply", *inner), outer]
    assert lines_of(compiled.ptx, r"^\s*fence\.proxy") == lines(r"ops\.fence\(")
    assert lines_of(compiled.ptx, r"^\s*st\.global") == lines(r"ops\.store\(")
    assert set(files(compiled.ptx).values()) == {__file__}


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
