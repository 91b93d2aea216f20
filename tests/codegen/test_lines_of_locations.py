"""`debug_info="lines"` for each kind of location, and for kernels that Python builds."""

import re
from pathlib import Path

import pytest
from line_tables import (
    calls_of,
    disassemble,
    files,
    lines_of,
    needs_nvdisasm,
    numbers,
    with_lines,
    without_lines,
)
from programs import module

import mlir_smem
from mlir_smem.bindings import gpu, ir
from mlir_smem.dialect import ops
from mlir_smem.ir.walk import walk


def inline_asm_module(locations):
    """A kernel with an inline PTX instruction at each of the locations."""
    asm = '    llvm.inline_asm has_side_effects "membar.gl; // {0}", "" : () -> () loc({1})'
    body = "\n".join(asm.format(number, location) for number, location in enumerate(locations))
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
    compiled = with_lines(inline_asm_module(KINDS), emit="cubin")
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
    ptx = with_lines(inline_asm_module(locations), emit="cubin").ptx
    for number, expected in enumerate(calls):
        assert calls_of(ptx, rf"membar\.gl; // {number}$") == expected


@needs_nvdisasm
def test_calls_in_machine_code(tmp_path):
    text = inline_asm_module(['callsite("helper"("/s/helper.py":17:1) at "/s/main.py":18:1)'])
    cubin = with_lines(text, emit="cubin").cubin
    output = disassemble(cubin, tmp_path, "--print-line-info-inline", "--print-code")
    assert 'File "/s/helper.py", line 17 inlined at "/s/main.py", line 18' in output


def test_lines_that_leave_no_numbers_lose_their_calls():
    text = inline_asm_module(
        ['callsite("/s/helper.py":4294967295:1 at "/s/main.py":18:1)', '"/s/main.py":20:1']
    )
    calls = calls_of(with_lines(text).ptx, r"membar\.gl; // 0$")
    if len(calls) > 1:
        pytest.skip("the LLVM of the bindings writes calls itself")
    assert calls == [("/s/helper.py", 4294967295)]


def test_calls_in_llvm_ir():
    compiled = with_lines(inline_asm_module(KINDS), emit="llvm")
    assert re.search(r'DISubprogram\(name: "helper", .*', compiled.llvm)
    assert "inlinedAt" in compiled.llvm
    assert 'DISubprogram(name: "k", ' in compiled.llvm


def test_calls_that_lead_to_the_whole_kernel_are_left_out():
    text = inline_asm_module(
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
        matrix, result = (
            ir.Type.parse(f"memref<64x64x{element_type}>") for element_type in ("bf16", "f32")
        )
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
            tiles = [ops.alloc((64, 64), argument.type.element_type) for argument in (a, b)]
            for argument, tile in zip((a, b), tiles, strict=True):
                ops.copy(argument, tile)
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
