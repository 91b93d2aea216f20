"""Programs of the host on a GPU: kernels with tensor maps, memory and results of each library."""

import gc

import ml_dtypes
import numpy as np
import pytest
from host_programs import DYNAMIC, STATIC, copying

from mlir_smem.frontend import Executable
from mlir_smem.runtime import LaunchError

#: `main` doubles a copy of its argument, and returns it.
DOUBLED = """module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @twice(%x: memref<?xELEMENT>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
      %i = gpu.block_id x
      %v = memref.load %x[%i] : memref<?xELEMENT>
      %w = arith.addf %v, %v : ELEMENT
      memref.store %w, %x[%i] : memref<?xELEMENT>
      gpu.return
    }
  }
  func.func @main(%x: memref<?xELEMENT>) -> (memref<?xELEMENT>, index, memref<?xELEMENT>) {
    %zero = arith.constant 0 : index
    %one = arith.constant 1 : index
    %n = memref.dim %x, %zero : memref<?xELEMENT>
    %holds = arith.cmpi ne, %n, %one : index
    cf.assert %holds, "more than one element"
    %a = memref.alloc(%n) : memref<?xELEMENT>
    memref.copy %x, %a : memref<?xELEMENT> to memref<?xELEMENT>
    gpu.launch_func @kernels::@twice blocks in (%n, %one, %one) threads in (%one, %one, %one)
      args(%a : memref<?xELEMENT>)
    return %a, %n, %x : memref<?xELEMENT>, index, memref<?xELEMENT>
  }
}"""


@pytest.mark.parametrize("type_, rows", [(STATIC, 128), (DYNAMIC, 64), (DYNAMIC, 6400)])
def test_kernels_with_tensor_maps(type_, rows):
    torch = pytest.importorskip("torch")
    program = Executable(copying(type_))
    for _ in range(2):
        x, y = torch.randn(rows, 64, device="cuda").bfloat16(), torch.zeros(rows, 64, device="cuda")
        y = y.bfloat16()
        program(x, y)
        assert torch.equal(x, y)


def test_rows_that_tma_cannot_read():
    torch = pytest.importorskip("torch")
    program, wide = Executable(copying(DYNAMIC)), torch.zeros(64, 68, device="cuda").bfloat16()
    with pytest.raises(LaunchError, match="stride"):
        program(wide[:, :64], wide[:, :64].contiguous())


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_results_of_pytorch(element):
    torch = pytest.importorskip("torch")
    dtype = {"f32": torch.float32, "bf16": torch.bfloat16}[element]
    program = Executable(DOUBLED.replace("ELEMENT", element))
    x = torch.arange(5, device="cuda", dtype=dtype)
    # Other work of the stream comes before and after.
    with torch.cuda.stream(torch.cuda.Stream()):
        outputs = [program(x + i) for i in range(20)]
        gc.collect()
        sums = [
            (doubled - 2 * (x + i)).abs().sum().item() for i, (doubled, _, _) in enumerate(outputs)
        ]
    assert sums == [0.0] * 20
    doubled, count, same = program(x)
    assert doubled.dtype == dtype and count == 5 and same is x and x.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(LaunchError, match="more than one element"):
        program(x[:1])


def test_results_of_cupy():
    cupy = pytest.importorskip("cupy")
    doubled, _, _ = Executable(DOUBLED.replace("ELEMENT", "f32"))(
        cupy.arange(5, dtype=cupy.float32)
    )
    gc.collect()
    assert doubled.get().tolist() == [0, 2, 4, 6, 8]


def test_results_of_jax():
    jnp = pytest.importorskip("jax.numpy")
    doubled, _, _ = Executable(DOUBLED.replace("ELEMENT", "bf16"))(jnp.arange(5, dtype="bfloat16"))
    assert np.asarray(doubled).tolist() == [0, 2, 4, 6, 8]
    assert doubled.dtype == ml_dtypes.bfloat16


def test_arrays_in_host_memory():
    torch = pytest.importorskip("torch")
    with pytest.raises(LaunchError, match="is in host memory"):
        Executable(copying(STATIC))(torch.zeros(128, 64), torch.zeros(128, 64))
