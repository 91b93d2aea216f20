"""Machine code of functions of the host."""

import ctypes
import platform

import llvmlite.binding as llvmlite
import ml_dtypes
import numpy as np
import pytest

from mlir_smem.bindings import ir
from mlir_smem.bindings.mlir import PACKAGE
from mlir_smem.codegen import CompileError
from mlir_smem.codegen.ptx import to_llvm_ir
from mlir_smem.dialect import new_context
from mlir_smem.frontend import Executable
from mlir_smem.frontend.host_engine import HostEngine, host_object

TYPES = {"i8": ctypes.c_int8, "i64": ctypes.c_int64, "f32": ctypes.c_float, "f64": ctypes.c_double}

add_object_img = llvmlite.JITLibraryBuilder.add_object_img


def engine(text, functions=None):
    with new_context():
        llvm_ir = to_llvm_ir(ir.Module.parse(text).operation, PACKAGE)
    return HostEngine(host_object(llvm_ir, "f"), functions or {})


def call(host_engine, *memory):
    addresses = (ctypes.c_void_p * len(memory))(*map(ctypes.addressof, memory))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(host_engine.address)(ctypes.addressof(addresses))


@pytest.mark.parametrize("type_", TYPES)
def test_arguments_and_the_result_are_at_addresses(type_):
    add = "fadd" if type_.startswith("f") else "add"
    host_engine = engine(f"""
      llvm.func @f(%x: {type_}, %y: {type_}) -> {type_} {{
        %sum = llvm.{add} %x, %y : {type_}
        llvm.return %sum : {type_}
      }}""")
    result = TYPES[type_](0)
    call(host_engine, TYPES[type_](3), TYPES[type_](4), result)
    assert result.value == 7


def test_functions_that_are_given():
    seen = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_int32)(seen.append)
    host_engine = engine(
        """
        llvm.func @tell(i32)
        llvm.func @f(%x: i32) {
          llvm.call @tell(%x) : (i32) -> ()
          llvm.return
        }""",
        {"tell": ctypes.cast(function, ctypes.c_void_p).value or 0},
    )
    call(host_engine, ctypes.c_int32(5))
    assert seen == [5]


def test_a_function_that_nobody_has():
    with pytest.raises(CompileError, match="of the host call nowhere, which this process has not"):
        engine("""
        llvm.func @nowhere(i32)
        llvm.func @f(%x: i32) {
          llvm.call @nowhere(%x) : (i32) -> ()
          llvm.return
        }""")


def test_code_has_no_unwind_tables(monkeypatch):
    objects = []
    monkeypatch.setattr(
        llvmlite.JITLibraryBuilder,
        "add_object_img",
        lambda self, code: objects.append(code) or add_object_img(self, code),
    )
    Executable(
        """
        func.func @main(%x: memref<?xf32>) {
          %c1 = arith.constant 1 : index
          gpu.launch blocks(%i, %j, %k) in (%a = %c1, %b = %c1, %c = %c1)
                     threads(%t, %u, %v) in (%d = %c1, %e = %c1, %f = %c1) {
            gpu.terminator
          }
          return
        }""",
        on="cpu",
    )
    (code,) = objects
    assert b"mgpuModuleLoad" in code and b".eh_frame" not in code


@pytest.mark.parametrize("cpu", ["native", "x86-64"])
def test_bf16_is_rounded_as_numpy_does(cpu, monkeypatch):
    if cpu != "native":
        if platform.machine() != "x86_64":
            pytest.skip("the CPU is none of x86")
        monkeypatch.setattr(llvmlite, "get_host_cpu_name", lambda: cpu)
        monkeypatch.setattr(llvmlite, "get_host_cpu_features", llvmlite.FeatureMap)
    program = Executable(
        """
        func.func @main(%x: memref<?xf32>, %y: memref<?xbf16>) {
          linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                          iterator_types = ["parallel"]}
            ins(%x : memref<?xf32>) outs(%y : memref<?xbf16>) {
          ^bb0(%in: f32, %out: bf16):
            %rounded = arith.truncf %in : f32 to bf16
            %double = arith.addf %rounded, %rounded : bf16
            linalg.yield %double : bf16
          }
          return
        }""",
        on="cpu",
        mixed=True,
    )
    bits = np.random.default_rng(0).integers(0, 1 << 32, 1 << 16, dtype=np.uint32)
    ties = np.arange(1 << 16, dtype=np.uint32) << 16 | 0x8000
    x = np.concatenate([bits, ties]).view(np.float32)
    y = np.empty(len(x), ml_dtypes.bfloat16)
    program(x, y)
    with np.errstate(all="ignore"):
        once = x.astype(ml_dtypes.bfloat16)
        expected = once + once
    assert np.array_equal(np.isnan(y), np.isnan(expected))
    assert np.array_equal(y[~np.isnan(y)], expected[~np.isnan(y)])
