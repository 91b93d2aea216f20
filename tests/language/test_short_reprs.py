"""What kernels, compiled code and launches print in a notebook: one short line."""

import pytest

import mlir_smem
import mlir_smem.language as sl
from mlir_smem.codegen import Compiled, Report
from mlir_smem.runtime.prepared import Extents, LoadedKernel, Prepared, Starter


@sl.kernel("(M,64), (M,64):(?,1):f32, ()")
def scale(A, B, a, *, rows=64, depth):
    row = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], rows), rows)) * rows
    sl.store(sl.load(A[row : row + rows, :]) * a, B[row : row + rows, :])


TYPES = (sl.f32, sl.f32, sl.f32)


def test_a_kernel_has_its_signature():
    text = "<kernel scale: A (M, 64), B (M, 64):(?, 1):f32, a (), *, rows=64, depth>"
    assert repr(scale) == str(scale) == text
    assert repr(scale[2]) == "<scale with the grid (2,)>"


def test_compiled_code_has_its_stages_and_the_report():
    assert repr(scale.compile(*TYPES, depth=1, emit="ptx")) == "<scale for sm_90a: nvvm, llvm, ptx>"
    compiled = Compiled(
        {"arch": "sm_90a", "kernels": [{"entry": "f"}, {"entry": "g"}]},
        cubin=b"1" * 100_000,
        report=Report(40, 0, ()),
    )
    report = "Report(registers=40, spill_bytes=0, warnings=())"
    assert repr(compiled) == f"<f, g for sm_90a: cubin; {report}>"


def test_a_prepared_launch_has_its_kernel_and_grid(monkeypatch):
    monkeypatch.setattr(Starter, "__init__", lambda *_: None)
    starter = Starter.__new__(Starter)
    starter._kernel = LoadedKernel("scale", None, None)
    starter._extents = Extents((4, 2, 1), (128, 1, 1), None, 0)
    frame = type("Frame", (), {"address": 0})()
    assert (
        repr(Prepared(starter, frame, [])) == "<prepared launch of scale with the grid (4, 2, 1)>"
    )


@pytest.mark.parametrize("package", ["mlir_smem", "mlir_smem.language", "mlir_smem.runtime"])
def test_no_public_class_has_an_address_for_a_repr(package):
    module = __import__(package, fromlist=["__all__"])
    classes = [value for name in module.__all__ if isinstance(value := getattr(module, name), type)]
    assert [cls for cls in classes if cls.__repr__ is object.__repr__] == []


def test_a_program_of_the_host_has_its_kernels():
    program = """
    func.func @main(%x: memref<?xf32>) {
      %c1 = arith.constant 1 : index
      gpu.launch blocks(%i, %j, %k) in (%a = %c1, %b = %c1, %c = %c1)
                 threads(%t, %u, %v) in (%d = %c1, %e = %c1, %f = %c1) {
        gpu.terminator
      }
      return
    }
    """
    executable = mlir_smem.frontend.Executable(program, on="cpu")
    assert repr(executable) == "<main, which launches main_kernel>"
