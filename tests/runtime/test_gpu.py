"""Launches on a machine without a usable GPU: the error names what is missing."""

import importlib
import sys
import types

import ml_dtypes
import numpy as np
import pytest
from programs import module

import mlir_smem
from mlir_smem.runtime import Kernel, LaunchError, run_on_gpu

INSTALL = "running on a GPU needs cuda-core; install mlir-smem with its extra 'gpu'"


@pytest.fixture(scope="module")
def compiled_kernel():
    return mlir_smem.compile(module())


@pytest.fixture
def no_cuda(monkeypatch):
    """Hide cuda-core."""
    for name in [m for m in sys.modules if m == "cuda" or m.startswith("cuda.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cuda", None)


@pytest.fixture
def device(monkeypatch):
    """Return a function that replaces cuda-core's device by one with a compute capability, or one that
    raises."""

    def install(capability_or_error):
        class Device:
            compute_capability = capability_or_error

            def set_current(self):
                if isinstance(capability_or_error, Exception):
                    raise capability_or_error

        core = types.ModuleType("cuda.core")
        core.Device = Device
        package = types.ModuleType("cuda")
        package.core = core
        monkeypatch.setitem(sys.modules, "cuda", package)
        monkeypatch.setitem(sys.modules, "cuda.core", core)

    return install


def inputs():
    bf16 = ml_dtypes.bfloat16
    return {"A": np.ones((64, 64), bf16), "B": np.ones((64, 8), bf16)}


def test_importing_it_needs_no_cuda(no_cuda, monkeypatch):
    # The import assigns the package's attribute; it is the old module again after the test.
    monkeypatch.setattr(mlir_smem, "runtime", sys.modules["mlir_smem.runtime"])
    for name in [m for m in sys.modules if m.startswith("mlir_smem.runtime")]:
        monkeypatch.delitem(sys.modules, name)
    importlib.import_module("mlir_smem.runtime")


def test_a_kernel_without_cuda_core(no_cuda, compiled_kernel):
    with pytest.raises(LaunchError) as error:
        Kernel(compiled_kernel)
    assert str(error.value) == INSTALL


def test_running_without_cuda_core(no_cuda, compiled_kernel):
    with pytest.raises(LaunchError) as error:
        run_on_gpu(compiled_kernel, None, inputs(), ["D"])
    assert str(error.value) == INSTALL


def test_arrays_are_checked_before_the_gpu(no_cuda, compiled_kernel):
    with pytest.raises(LaunchError, match="nothing is given for A, B"):
        run_on_gpu(compiled_kernel, None, {}, ["D"])


def test_the_kernels_name_is_checked_before_the_gpu(no_cuda, compiled_kernel):
    with pytest.raises(LaunchError, match="no kernel is named 'matmul'; the module has product"):
        run_on_gpu(compiled_kernel, "matmul", inputs(), ["D"])


def test_a_machine_without_a_gpu(device, compiled_kernel):
    device(RuntimeError("no CUDA-capable device is detected"))
    with pytest.raises(LaunchError) as error:
        Kernel(compiled_kernel)
    assert str(error.value) == "no GPU can be used: no CUDA-capable device is detected"


@pytest.mark.parametrize(
    "found, name", [((8, 0), "sm_80"), ((10, 0), "sm_100"), ((12, 0), "sm_120")]
)
def test_a_gpu_of_another_architecture(device, compiled_kernel, found, name):
    device(found)
    with pytest.raises(LaunchError) as error:
        Kernel(compiled_kernel)
    assert str(error.value) == f"the kernel is compiled for sm_90a, but the GPU is {name}"


def test_a_kernel_without_a_block_size(device):
    device((9, 0))
    text = "gpu.module @k { gpu.func @f() kernel { gpu.return } }"
    with pytest.raises(LaunchError, match="f has no known_block_size"):
        Kernel(mlir_smem.compile(text))


def test_a_kernel_without_machine_code(device):
    device((9, 0))
    with pytest.raises(LaunchError, match="was compiled without a cubin"):
        Kernel(mlir_smem.compile(module(), emit="ptx"))
