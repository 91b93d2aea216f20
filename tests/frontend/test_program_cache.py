"""Programs that are kept on disk, and pickled executables."""

import pickle

import ml_dtypes
import numpy as np
import pytest
from host_programs import DYNAMIC, copying

from mlir_smem.bindings.diagnostics import remark_handler
from mlir_smem.codegen import CompileError
from mlir_smem.frontend import Executable, host_program

BF16 = np.dtype(ml_dtypes.bfloat16)
X = np.arange(64 * 64).reshape(64, 64).astype(BF16)

#: The CPU adds what it loads, of which a remark tells; the sum is asserted to be above 0.
SUM = """
func.func @main(%x: memref<2xf32>, %y: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %a = memref.load %x[%c0] : memref<2xf32>
  %b = memref.load %x[%c1] : memref<2xf32>
  %sum = arith.addf %a, %b : f32
  %above = arith.cmpf ogt, %sum, %zero : f32
  cf.assert %above, "the sum is above 0"
  memref.store %sum, %y[%c0] : memref<1xf32>
  return
}
"""


@pytest.fixture
def compilations(monkeypatch, tmp_path):
    """What is compiled, in a cache of its own."""
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    seen, host_code = [], host_program.host_code

    def count(module, *arguments, **options):
        seen.append(module)
        return host_code(module, *arguments, **options)

    monkeypatch.setattr(host_program, "host_code", count)
    return seen


def check_copy(program):
    y = np.zeros_like(X)
    program(X, y)
    assert np.array_equal(X, y)


def test_the_second_time_nothing_is_compiled(compilations):
    for _ in range(2):
        check_copy(Executable(copying(DYNAMIC), on="cpu"))
    assert len(compilations) == 1


def test_remarks_are_repeated(compilations):
    seen = []
    for _ in range(2):
        with remark_handler(lambda *remark: seen.append(tuple(map(str, remark)))):
            program = Executable(SUM, on="cpu", mixed=True)
        y = np.zeros(1, np.float32)
        program(np.array([1, 2], np.float32), y)
        assert y == [3]
        with pytest.raises(Exception, match="the sum is above 0"):
            program(np.array([1, -2], np.float32), y)
    first, second = seen[: len(seen) // 2], seen[len(seen) // 2 :]
    assert first == second and len(compilations) == 1
    assert first[0] == ('loc("-":6:8)', "'memref.load' runs on the CPU, on copies of memref<2xf32>")


def test_what_else_a_program_is_made_of(compilations):
    text = copying(DYNAMIC)
    for options in ({}, {"mixed": True}, {"reserved_bytes": 1024}, {"entry": "main"}):
        check_copy(Executable(text, on="cpu", **options))
    check_copy(Executable(text.replace("%b, %c64", "%c64, %b"), on="cpu"))
    Executable(text, on="gpu")
    assert len(compilations) == 6
    Executable(text, on="gpu")
    assert len(compilations) == 6


def test_with_explain_the_passes_run(compilations, capfd):
    for _ in range(2):
        Executable(copying(DYNAMIC), on="cpu", explain=True)
    assert len(compilations) == 2


def test_a_program_that_is_refused_is_refused_again(compilations):
    for _ in range(2):
        with pytest.raises(CompileError, match="works on memory that is the GPU's"):
            Executable(SUM, on="cpu")


def test_a_changed_file_is_not_read(compilations, tmp_path):
    for _ in range(2):
        check_copy(Executable(copying(DYNAMIC), on="cpu"))
        (file,) = tmp_path.glob("*.program")
        file.write_bytes(file.read_bytes()[:-1] + b"?")
    assert len(compilations) == 2


@pytest.mark.parametrize("cpu", [None, "another"])
def test_a_pickled_executable(compilations, monkeypatch, cpu):
    pickled = pickle.dumps(Executable(copying(DYNAMIC), on="cpu"))
    objects, host_object = [], host_program.host_object

    def compile_object(*arguments):
        objects.append(arguments)
        return host_object(*arguments)

    monkeypatch.setattr(host_program, "host_object", compile_object)
    if cpu:
        monkeypatch.setattr(host_program, "this_cpu", lambda: cpu)
    program = pickle.loads(pickled)
    check_copy(program)
    assert list(program.kernels) == ["kernels"] and program.on == "cpu"
    # Machine code of another CPU is not run.
    assert len(compilations) == 1 and len(objects) == (1 if cpu else 0)
