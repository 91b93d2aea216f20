"""`compile`: text or a host's module to every stage, and its errors."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from programs import COMPLAINT, PRODUCT, WRONG, kernel, module, tile

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.codegen import STAGES, CompileError
from mlir_smem.dialect import new_context
from mlir_smem.layout import Swizzle
from mlir_smem.passes import OptionError

EXAMPLE = Path(__file__).parents[2] / "examples" / "matmul.mlir"


@pytest.fixture(scope="module")
def cubin():
    """The example, compiled to a cubin."""
    return mlir_smem.compile(EXAMPLE.read_text())


def test_a_cubin_is_an_elf_file(cubin):
    assert cubin.cubin.startswith(b"\x7fELF")


def test_a_cubin_has_a_report_of_ptxas(cubin):
    assert 0 < cubin.report.registers <= 255
    assert (cubin.report.spill_bytes, cubin.report.warnings) == (0, ())


def test_ptx_is_for_the_architecture(cubin):
    assert ".target sm_90a" in cubin.ptx
    assert ".entry matmul(" in cubin.ptx


def test_llvm_ir_has_the_kernel(cubin):
    assert re.search(r"define .*ptx_kernel.* @matmul\(", cubin.llvm)


def test_nvvm_has_no_smem_ops(cubin):
    assert "!smem." not in cubin.nvvm
    with new_context():
        assert ir.Module.parse(cubin.nvvm).operation.verify()


def test_the_emulators_module_has_locations_and_is_text_or_bytecode():
    compiled = mlir_smem.compile(module(), emit="nvvm")
    assert len(compiled.bytecode) < len(compiled.located) / 2
    assert "loc(" in compiled.located and "loc(" not in compiled.nvvm
    with new_context():
        assert ir.Module.parse(compiled.bytecode).operation.verify()
    assert mlir_smem.compile(module(), emit="ptx").located is None


@pytest.mark.parametrize("last", STAGES)
def test_stages_after_the_last_are_left_out(last):
    compiled = mlir_smem.compile(module(), emit=last)
    stages = STAGES[: STAGES.index(last) + 1]
    assert [getattr(compiled, s) is not None for s in STAGES] == [s in stages for s in STAGES]
    assert (compiled.report is not None) == (last == "cubin")
    assert compiled.manifest["kernels"][0]["entry"] == "product"


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_by_its_name(cubin, name):
    assert cubin.stage(name) == getattr(cubin, name)


@pytest.mark.parametrize("name", ["ptx", "sass", "manifest"])
def test_a_stage_that_was_not_compiled(name):
    with pytest.raises(ValueError, match=f"no stage '{name}' was compiled; expected one of nvvm, "):
        mlir_smem.compile(module(), emit="llvm").stage(name)


def test_compiling_twice_gives_the_same(cubin):
    again = mlir_smem.compile(EXAMPLE.read_text())
    assert (again.ptx, again.cubin) == (cubin.ptx, cubin.cubin)


def test_options_are_those_of_the_pipeline():
    assert mlir_smem.compile(module(), emit="nvvm", max_swizzle=Swizzle.NONE).nvvm != (
        mlir_smem.compile(module(), emit="nvvm").nvvm
    )


# A host's module.


@pytest.fixture
def host():
    """A module in a context of the host, which does not know the dialect yet."""
    context = ir.Context()
    context.allow_unregistered_dialects = True
    return mlir_smem.register(context) and ir.Module.parse(module(), context)


def test_a_hosts_module_is_not_changed(host):
    before = str(host)
    mlir_smem.compile(host, emit="ptx")
    assert str(host) == before
    assert host.operation.verify()


def test_a_hosts_module_compiles_as_its_text_does(host):
    assert mlir_smem.compile(host, emit="ptx") == mlir_smem.compile(module(), emit="ptx")


def test_the_hosts_context_stays_current(host):
    with ir.Context() as current:
        mlir_smem.compile(host, emit="nvvm")
        assert ir.Context.current is current


def test_a_context_that_does_not_know_the_dialect():
    context = ir.Context()
    context.allow_unregistered_dialects = True
    empty = ir.Module.parse("gpu.module @k { gpu.func @f() kernel { gpu.return } }", context)
    assert mlir_smem.compile(empty, emit="ptx").manifest["kernels"][0]["entry"] == "f"


def test_text_compiles_while_the_host_builds_something():
    with ir.Context() as context, ir.Location.unknown():
        built = ir.Module.create()
        with ir.InsertionPoint(built.body):
            compiled = mlir_smem.compile(module(), emit="nvvm")
        assert ir.Context.current is context
        assert compiled == mlir_smem.compile(module(), emit="nvvm")
        assert str(built).strip() == "module {\n}"


def test_a_hosts_module_compiles_while_it_builds_something(host):
    with host.context, ir.Location.unknown():
        built = ir.Module.create()
        with ir.InsertionPoint(built.body):
            mlir_smem.compile(host, emit="nvvm")
        assert str(built).strip() == "module {\n}"


def test_errors_in_a_hosts_module_have_its_locations(host):
    alloc = f'%a = "smem.alloc"() : () -> {tile(60, 60)} loc("host.py":7:3)'
    wrong = ir.Module.parse(module(kernel(alloc)), host.context)
    with pytest.raises(ir.MLIRError, match=r'"host.py":7:3: \'smem.alloc\' op has no layout'):
        mlir_smem.compile(wrong)


# Errors.


def test_an_unknown_architecture():
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(module(), arch="sm_80")
    assert (
        str(error.value)
        == "no code is generated for 'sm_80'; expected sm_90a or sm_100a or sm_103a"
    )


def test_an_unknown_stage():
    with pytest.raises(
        ValueError, match="unknown stage 'sass'; expected one of nvvm, llvm, ptx, cubin"
    ):
        mlir_smem.compile(module(), emit="sass")


def test_an_unknown_option():
    with pytest.raises(OptionError, match="smem-to-nvvm has no option 'speed'"):
        mlir_smem.compile(module(), speed=1)


@pytest.mark.parametrize(
    "text, count",
    [("", 0), ("module {}", 0), ("module { module { gpu.module @k {} } }", 0)],
)
def test_no_gpu_module(text, count):
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(text)
    assert str(error.value) == f"expected one gpu.module that holds the kernels, found {count}"


def test_two_gpu_modules():
    with pytest.raises(CompileError, match=r"expected one gpu\.module that holds .*, found 2"):
        mlir_smem.compile(module(name="first") + module(name="second"))


def test_no_kernel():
    with pytest.raises(CompileError, match=r"no gpu\.func is marked `kernel`"):
        mlir_smem.compile("gpu.module @k { gpu.func @f() { gpu.return } }")


def test_text_that_does_not_parse():
    with pytest.raises(ir.MLIRError, match="\"-\":1:1: custom op 'nonsense' is unknown"):
        mlir_smem.compile("nonsense")


def test_a_module_that_breaks_a_rule():
    with pytest.raises(ir.MLIRError, match=COMPLAINT):
        mlir_smem.compile(WRONG)


def test_ir_that_llvm_refuses():
    from mlir_smem.codegen.nvptx_of_llvmlite import LlvmliteNvptx
    from mlir_smem.codegen.targets import target

    with pytest.raises(CompileError, match="LLVM refuses the module: "):
        LlvmliteNvptx().ptx(None, "define nonsense", target("sm_90a"), None)


UNLOWERED = {
    "an op without a translation": """
      %v = arith.constant dense<1.0> : vector<4xf32>
      vector.print %v : vector<4xf32>""",
    "an op that keeps its memref": """
      %one = arith.constant 1.0 : f32
      linalg.fill ins(%one : f32) outs(%D : memref<64x8xf32>)""",
}


@pytest.mark.parametrize("ops", UNLOWERED.values(), ids=UNLOWERED)
def test_an_op_that_has_no_lowering(ops):
    # In a separate process, because an error would be a crash.
    code = f"""
import mlir_smem
from mlir_smem.codegen import CompileError
from mlir_smem.bindings import ir
try:
    mlir_smem.compile({module(kernel(PRODUCT + ops))!r}, emit="llvm")
except (CompileError, ir.MLIRError) as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    assert ran.returncode == 0
    assert "vector.print" in ran.stdout or "linalg.fill" in ran.stdout


# Several kernels, and other code in the module.


def test_two_kernels():
    compiled = mlir_smem.compile(module(kernel(), kernel(name="second")))
    assert [k["entry"] for k in compiled.manifest["kernels"]] == ["product", "second"]
    assert compiled.ptx.count(".entry") == 2


def test_functions_that_are_not_kernels():
    helper = "gpu.func @helper() { gpu.return }"
    compiled = mlir_smem.compile(module(helper, kernel()), emit="ptx")
    assert [k["entry"] for k in compiled.manifest["kernels"]] == ["product"]


def test_host_code_next_to_the_kernels():
    host = "func.func @host(%x: index) -> index { return %x : index }\n"
    assert mlir_smem.compile(host + module(), emit="ptx").ptx == (
        mlir_smem.compile(module(), emit="ptx").ptx
    )


# Constants: the LLVM of llvmlite must read what MLIR's LLVM prints.


@pytest.mark.parametrize(
    "number, bits",
    [
        ("0.0", 0x00000000),
        ("-1.5", 0xBFC00000),
        ("0.1", 0x3DCCCCCD),
        ("3.0e-20", 0x1F0DABC6),
        ("1.44269504", 0x3FB8AA3B),
        ("-1.44269504", 0xBFB8AA3B),
        pytest.param("0x7F800000", 0x7F800000, id="inf"),
        pytest.param("0xFF800000", 0xFF800000, id="-inf"),
        pytest.param("0x7FC00000", 0x7FC00000, id="nan"),
    ],
)
def test_float_constants_keep_their_bits(number, bits):
    body = f"""
      %zero = arith.constant 0 : index
      %number = arith.constant {number} : f32
      memref.store %number, %x[%zero] : memref<4xf32>"""
    ptx = mlir_smem.compile(module(kernel(body, arguments="%x: memref<4xf32>")), emit="ptx").ptx
    stored = re.search(r"st\.global\.b32\s+\[%\w+\], (-?\d+);", ptx)[1]
    assert int(stored) & 0xFFFFFFFF == bits


@pytest.mark.parametrize(
    "type_, number, bits",
    [
        ("f64", "1.4426950408889634", 0x3FF71547652B82FE),
        ("f16", "0.333251953125", 0x3555),
        ("bf16", "0.333984375", 0x3EAB),
        ("vector<2xf32>", "dense<[1.44269504, 0.1]>", 0x3FB8AA3B),
    ],
)
def test_constants_of_other_types_keep_their_bits(type_, number, bits):
    body = f"""
      %at = memref.extract_aligned_pointer_as_index %x : memref<4xf64> -> index
      %at64 = arith.index_cast %at : index to i64
      %to = llvm.inttoptr %at64 : i64 to !llvm.ptr<1>
      %number = arith.constant {number} : {type_}
      llvm.store %number, %to : {type_}, !llvm.ptr<1>"""
    ptx = mlir_smem.compile(module(kernel(body, arguments="%x: memref<4xf64>")), emit="ptx").ptx
    stored = re.search(r"st\.global\.\S+\s+\[%\w+\], \{?(?:0f|0x)?(-?\w+)", ptx)[1]
    # PTX prints 64-bit integers in decimal.
    assert (int(stored) if type_ == "f64" else int(stored, 16)) == bits
