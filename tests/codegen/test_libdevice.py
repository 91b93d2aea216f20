"""Functions of CUDA's libdevice, linked into kernels that call them."""

import math
import re

import llvmlite.binding as llvmlite
import ml_dtypes
import numpy as np
import pytest
from math_cases import FUNCTIONS
from math_runs import kernel as kernel_of
from test_math_ops import kernel

import mlir_smem
from mlir_smem.bindings import ir
from mlir_smem.codegen import CompileError, libdevice, toolchain
from mlir_smem.dialect import new_context
from mlir_smem.runtime import run_on_cpu

CASES = [(function, element) for function in FUNCTIONS for element in function.elements]

#: f64 functions that libdevice does not inline.
INTERNAL = {"__internal_accurate_pow", "__internal_trig_reduction_slowpathd"}


def ptx_of(op, type_="f32", symbols="", arch="sm_90a"):
    return mlir_smem.compile(kernel(op, type_, symbols), arch, emit="ptx").ptx


def refusal(text):
    with pytest.raises(CompileError) as error:
        mlir_smem.compile(text, emit="ptx")
    return str(error.value)


# Linking.


@pytest.mark.parametrize("function, element", CASES, ids=str)
def test_no_op_leaves_an_extern_function(function, element):
    ptx = mlir_smem.compile(kernel_of(function, element, 1024), emit="ptx").ptx
    assert "__nv_" not in ptx
    assert ".extern" not in ptx
    called = set(re.findall(r"call\.uni[^;]*?\b(\w+), *\(|call\.uni \(\w+\),\s*(\w+)", ptx))
    assert {name for names in called for name in names if name} <= INTERNAL
    assert element == "f64" or not called


@pytest.mark.parametrize("arch", ["sm_90a", "sm_100a", "sm_103a"])
@pytest.mark.parametrize(
    "op", ["math.erf %a", "math.sin %a", "math.powf %a, %b", "arith.remf %a, %b"]
)
def test_every_architecture(op, arch):
    assert mlir_smem.compile(kernel(op), arch).cubin


@pytest.mark.parametrize("shape", ["1", "2", "2x2"])
@pytest.mark.parametrize("function, element", CASES, ids=str)
def test_vectors(function, element, shape):
    type_ = f"vector<{shape}x{element}>"
    line = function.line.replace(": i1", f": vector<{shape}xi1>").replace(
        "i32", f"vector<{shape}xi32>"
    )
    line = line.format(e=type_)
    if "fpowi" in line:
        line = line.replace("%b", "%n")
        line = f"%n = arith.fptosi %b : {type_} to vector<{shape}xi32>\n{line}"
    text = re.sub("  %r = .*", line, kernel("math.absf %a", type_))
    ptx = mlir_smem.compile(text, emit="ptx").ptx
    assert "__nv_" not in ptx and ".extern" not in ptx


def test_elements_of_a_vector_keep_their_positions():
    text = kernel("math.erf %v", "vector<2xf32>").replace(
        "  %r =", "  %v = vector.from_elements %a0, %b0 : vector<2xf32>\n  %r ="
    )
    llvm = mlir_smem.compile(text, emit="llvm").llvm
    calls = re.findall(r"(%\d+) = call float @__nv_erff\(float (%\d+)\)", llvm)
    assert len(calls) == 2
    for place, (result, operand) in enumerate(calls):
        assert re.search(rf"{operand} = extractelement .*, i(32|64) {place}\n", llvm)
        assert re.search(rf"insertelement .*, float {result}, i(32|64) {place}\n", llvm)


def test_both_results_of_a_vector():
    text = kernel("math.absf %c", "vector<2xf32>").replace(
        "  %p =",
        "  %sine, %cosine = math.sincos %a : vector<2xf32>\n"
        "  %both = arith.addf %sine, %cosine : vector<2xf32>\n  %p =",
    )
    assert mlir_smem.compile(text.replace("store %r", "store %both")).cubin


@pytest.mark.parametrize("type_, name", [("f16", "half"), ("bf16", "bfloat")])
def test_operands_of_16_bits_are_widened(type_, name):
    llvm = mlir_smem.compile(kernel("math.erf %a", type_), emit="llvm").llvm
    assert f"fpext {name}" in llvm
    assert "call float @__nv_erff(float" in llvm
    assert f"fptrunc float %6 to {name}" in llvm or re.search(
        rf"fptrunc float %\d+ to {name}", llvm
    )


def test_an_approximation_of_tan():
    for type_ in ("f32", "vector<2xf32>"):
        ptx = ptx_of("math.tan %a fastmath<afn>", type_)
        assert "sin.approx.f32" in ptx and "cos.approx.f32" in ptx


@pytest.mark.parametrize(
    "op",
    ["math.exp %a", "math.log %a", "math.sin %a", "math.rsqrt %a", "math.exp2 %a"],
)
def test_f64_is_never_approximated_in_f32(op):
    ptx = ptx_of(f"{op} fastmath<afn>", "f64")
    assert not re.search(r"(ex2|lg2|sin|tanh|rsqrt)\.approx(\.ftz)?\.f32", ptx)


def test_subnormals_and_roots_are_precise():
    declared = "llvm.func @__nv_hypotf(f32, f32) -> f32"
    ptx = ptx_of("llvm.call @__nv_hypotf(%a, %b) : (f32, f32) -> f32 //", symbols=declared)
    assert "sqrt.rn.f32" in ptx
    assert ".ftz" not in ptx


def test_a_function_that_the_module_defines_itself():
    defined = """llvm.func @__nv_erff(%x: f32) -> f32 {
      %y = llvm.fadd %x, %x : f32
      llvm.return %y : f32 }"""
    ptx = ptx_of("math.erf %a", symbols=defined)
    assert "__nv_erff" in ptx
    assert "fma.rn" not in ptx


def test_conflicting_module_flags():
    flag = '#llvm.mlir.module_flag<override, "nvvm-reflect-ftz", 1 : i32>'
    message = refusal(kernel("math.erf %a", symbols=f"llvm.module_flags [{flag}]"))
    assert "LLVM cannot link" in message
    assert "'nvvm-reflect-ftz': IDs have conflicting override values" in message


# Search for the library.


@pytest.fixture
def nothing_installed(monkeypatch, tmp_path):
    for name in ("MLIR_SMEM_LIBDEVICE", "CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(libdevice.importlib.util, "find_spec", lambda name: None)
    return tmp_path


def toolkit(root):
    """A toolkit with an empty library."""
    file = root / "nvvm" / "libdevice" / "libdevice.10.bc"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"BC\xc0\xde")
    return file


def test_the_library_of_the_wheel(monkeypatch, tmp_path):
    monkeypatch.delenv("MLIR_SMEM_LIBDEVICE", raising=False)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    toolkit(tmp_path)
    assert not libdevice.find_libdevice().is_relative_to(tmp_path)


@pytest.mark.parametrize("name", ["CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"])
def test_the_library_of_a_toolkit(nothing_installed, monkeypatch, name):
    file = toolkit(nothing_installed / "cuda")
    monkeypatch.setenv(name, str(nothing_installed / "cuda"))
    assert libdevice.find_libdevice() == file


def test_the_library_next_to_ptxas(nothing_installed, monkeypatch):
    file = toolkit(nothing_installed / "cuda")
    ptxas = nothing_installed / "cuda" / "bin" / "ptxas"
    ptxas.parent.mkdir()
    ptxas.write_text("#!/bin/sh\n")
    ptxas.chmod(0o700)
    monkeypatch.setenv("PATH", str(ptxas.parent))
    assert libdevice.find_libdevice() == file


def test_the_environment_variable_comes_first(monkeypatch, tmp_path):
    file = toolkit(tmp_path)
    monkeypatch.setenv("MLIR_SMEM_LIBDEVICE", str(file))
    assert libdevice.find_libdevice() == file


def test_no_library(nothing_installed):
    absent = (
        "CUDA's libdevice was not found; install nvidia-nvvm, set CUDA_HOME to a CUDA toolkit, or name "
        "libdevice.10.bc in MLIR_SMEM_LIBDEVICE"
    )
    assert refusal(kernel("math.erf %a")) == f"'llvm.call' at 6:8 calls '__nv_erff': {absent}"
    assert refusal(kernel("math.exp %a fastmath<afn>", "f64")) == (
        f"'llvm.call' at 6:8 calls '__nv_exp': {absent}"
    )
    declared = "llvm.func @__nv_erff(f32) -> f32"
    call = "llvm.call @__nv_erff(%a) : (f32) -> f32 //"
    assert refusal(kernel(call, symbols=declared)) == (
        f"'llvm.func' at 1:17 declares '__nv_erff': {absent}"
    )


def test_instructions_need_no_library(nothing_installed):
    for op in (
        "math.exp2 %a",
        "math.tanh %a fastmath<afn>",
        "math.isnan %a",
        "math.fma %a, %b, %c",
    ):
        text = kernel(op).replace("store %r", "store %a")
        assert mlir_smem.compile(text, emit="ptx").ptx


def test_a_missing_file(monkeypatch, tmp_path):
    monkeypatch.setenv("MLIR_SMEM_LIBDEVICE", str(tmp_path / "none.bc"))
    assert refusal(kernel("math.erf %a")) == (
        f"'llvm.call' at 6:8 calls '__nv_erff': MLIR_SMEM_LIBDEVICE names '{tmp_path / 'none.bc'}', "
        "which cannot be read: No such file or directory"
    )


def test_a_file_that_is_not_bitcode(monkeypatch, tmp_path):
    (tmp_path / "text.bc").write_text("define void @f() { ret void }")
    monkeypatch.setenv("MLIR_SMEM_LIBDEVICE", str(tmp_path / "text.bc"))
    assert refusal(kernel("math.erf %a")).endswith("text.bc', which is not LLVM bitcode")


@pytest.mark.parametrize("size", [4, 400, 200_000])
def test_a_truncated_file(monkeypatch, tmp_path, size):
    file = tmp_path / "cut.bc"
    file.write_bytes(libdevice.find_libdevice().read_bytes()[:size])
    monkeypatch.setenv("MLIR_SMEM_LIBDEVICE", str(file))
    assert refusal(kernel("math.erf %a")).startswith(f"{file} cannot be read as LLVM bitcode: ")


def test_a_library_without_a_function(monkeypatch, tmp_path):
    file = tmp_path / "other.bc"
    file.write_bytes(
        llvmlite.parse_assembly("define float @__nv_erff(float %x) { ret float %x }").as_bitcode()
    )
    monkeypatch.setenv("MLIR_SMEM_LIBDEVICE", str(file))
    assert "fma" not in ptx_of("math.erf %a")
    assert refusal(kernel("math.erfc %a")) == f"{file} has no function '__nv_erfcf'"


# Declarations in the module.


@pytest.mark.parametrize(
    "declared, message",
    [
        (
            "llvm.func @__nv_erff(f64) -> f32",
            "declares '__nv_erff' as float (double); CUDA's libdevice has it as float (float)",
        ),
        (
            "llvm.func @__nv_sincos(f64, !llvm.ptr) -> f32",
            "declares '__nv_sincos' as float (double, ptr); CUDA's libdevice has it as "
            "void (double, ptr, ptr)",
        ),
        (
            "llvm.func @__nv_magic(f32) -> f32",
            "declares '__nv_magic', which CUDA's libdevice does not have",
        ),
    ],
)
def test_a_declaration_that_does_not_fit_libdevice(declared, message):
    assert refusal(kernel("math.absf %a", symbols=declared)) == f"'llvm.func' at 1:17 {message}"


def test_types_are_spelled_as_llvm_does():
    with new_context():
        type_ = ir.Type.parse("!llvm.func<void (f32, f64, i32, i64, i16, ptr, ptr)>")
        assert libdevice.in_llvm(type_) == "void (float, double, i32, i64, i16, ptr, ptr)"


def test_the_cache_key_has_the_library(monkeypatch, tmp_path):
    before = libdevice.libdevice_version()
    assert f"libdevice {before}" in toolchain()
    monkeypatch.setenv("MLIR_SMEM_LIBDEVICE", str(toolkit(tmp_path)))
    assert libdevice.libdevice_version() not in (None, before)
    monkeypatch.setenv("MLIR_SMEM_LIBDEVICE", str(tmp_path))
    assert libdevice.libdevice_version() is None


# Elements of a fragment.

PRODUCT = """
!a = !smem.tile<tensor<64x16xbf16>, #smem.auto>
!b = !smem.tile<tensor<16x8xbf16>, #smem.auto>
!flying = !smem.fragment<tensor<64x8xf32>, #smem.in_flight>
!ready = !smem.fragment<tensor<64x8xf32>, #smem.accumulator>
gpu.module @m {
  gpu.func @product(%A: memref<64x16xbf16> {smem.name = "A"}, %B: memref<16x8xbf16> {smem.name = "B"},
                    %D: memref<64x8xf32> {smem.name = "D"})
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %a = "smem.alloc"() : () -> !a
    %b = "smem.alloc"() : () -> !b
    "smem.copy"(%A, %a) : (memref<64x16xbf16>, !a) -> ()
    "smem.copy"(%B, %b) : (memref<16x8xbf16>, !b) -> ()
    "smem.fence"() : () -> ()
    gpu.barrier
    %d = "smem.mma"(%a, %b) : (!a, !b) -> !flying
    %r = "smem.wait"(%d) {pending = 0 : i32} : (!flying) -> !ready
    %m = "smem.map"(%r) ({
    ^bb0(%x: f32):
      %y = math.erf %x : f32
      gpu.yield %y : f32
    }) : (!ready) -> !ready
    "smem.store"(%m, %D) : (!ready, memref<64x8xf32>) -> ()
    gpu.return
  }
}
"""


def test_functions_of_a_fragment():
    compiled = mlir_smem.compile(PRODUCT)
    assert "__nv_" not in compiled.ptx and "call" not in compiled.ptx
    assert compiled.report.warnings == ()
    random = np.random.default_rng(0)
    a, b = (random.normal(size=s).astype(ml_dtypes.bfloat16) for s in ((64, 16), (16, 8)))
    lowered = mlir_smem.compile(PRODUCT, emit="nvvm")
    output = run_on_cpu(lowered, "product", {"A": a, "B": b}, ["D"], (1,))["D"]
    exact = np.vectorize(math.erf)(a.astype(float) @ b.astype(float))
    assert np.abs(output - exact).max() < 1e-6
