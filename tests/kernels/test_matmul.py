"""`matmul`: its launches, and the arrays that it makes."""

import sys
import types

import numpy as np
import pytest
from stand_in import OnGpu

from mlir_smem.kernels.gemm import Config, ProblemError, matmul, prepare
from mlir_smem.kernels.gemm.call import launches
from mlir_smem.kernels.gemm.call import matmul as matmul_module
from mlir_smem.kernels.libraries import element_named
from mlir_smem.runtime import LaunchError, streams
from mlir_smem.runtime.arguments import DTYPES

SMALL = Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=64)


@pytest.fixture(autouse=True)
def fresh(gpu, monkeypatch, tmp_path):
    """Clear loaded kernels and the libraries of classes, and use an empty cache on disk."""
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    launches._kernel.cache_clear()
    matmul_module.forget_calls()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))


def array(shape, element="bf16", pointer=0x1000):
    return OnGpu(shape, DTYPES[element], (shape[1], 1), pointer)


A, B, C = array((200, 72)), array((72, 136), pointer=0x20000), array((200, 136), pointer=0x40000)


def test_a_gemm_is_launched(gpu):
    assert matmul(A, B, C, config=SMALL) is C
    (launch,) = gpu.launches
    assert (launch.gridDimX, launch.gridDimY) == (4 * 3, 1)
    assert launch.blockDimX == 128 * 2
    assert [a.id for a in launch.attrs] == ["CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION"]
    assert [(m[2], m[3]) for m in gpu.maps] == [
        (0x1000, [72, 200]),
        (0x20000, [136, 72]),
        (0x40000, [136, 200]),
    ]


def test_the_grid_is_persistent(gpu):
    large = array((8192, 8192))
    prepare(large, large, large).launch()
    launch = gpu.launches[0]
    assert launch.gridDimX * launch.gridDimY == 132


def test_clusters_divide_the_grid(gpu):
    config = Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=64, cluster=(2, 2))
    matmul(A, B, C, config=config)
    assert (gpu.launches[0].gridDimX, gpu.launches[0].gridDimY) == (2 * 2 * 2, 2)


def test_a_second_call_reuses_the_launch(gpu):
    for _ in range(3):
        matmul(A, B, C, config=SMALL)
    matmul(array((200, 72), pointer=0x5000), B, C, config=SMALL)
    assert len(gpu.maps) == 3
    assert gpu.replaced == [0x5000]
    assert len(gpu.launches) == 4


def test_a_result_of_an_unknown_library(gpu):
    with pytest.raises(ProblemError) as error:
        matmul(A, B)
    assert str(error.value) == (
        "cannot make an array of stand_in for the result; give it as `out`, or use arrays of torch, "
        "cupy or jax"
    )


def test_out_dtype_with_a_given_result(gpu):
    with pytest.raises(ProblemError, match="out_dtype is the element type of a new array"):
        matmul(A, B, C, out_dtype="f32")


@pytest.mark.parametrize("element, name", [(None, "bfloat16"), ("f32", "float32")])
def test_a_result_of_the_operands_library(gpu, monkeypatch, element, name):
    allocations = []

    def empty(shape, dtype):
        allocations.append((shape, np.dtype(dtype).name))
        return array(shape, {"bfloat16": "bf16", "float32": "f32"}[allocations[-1][1]], 0x8000)

    stream = types.SimpleNamespace(ptr=7)
    cuda = types.SimpleNamespace(get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(empty=empty, cuda=cuda))
    monkeypatch.setattr(OnGpu, "__module__", "cupy._core")
    matmul(A, B, out_dtype=element)
    assert allocations == [((200, 136), name)]
    assert gpu.launches[0].hStream == 7


def test_rows_that_tma_would_write_beyond(gpu):
    out = OnGpu((200, 131), DTYPES["bf16"], (136, 1), 0x40000)
    b = OnGpu((72, 131), DTYPES["bf16"], (136, 1), 0x20000)
    with pytest.raises(ProblemError) as error:
        prepare(A, b, out)
    assert str(error.value) == (
        "the rows of C are 262 bytes, but TMA writes multiples of 16: it would write zeros after "
        "their ends; call matmul, which writes to a padded array first"
    )


def test_operands_that_are_read_k_major_only_are_transposed(gpu, monkeypatch):
    allocations = []

    def empty(shape, dtype):
        allocations.append(
            OnGpu(shape, np.dtype(dtype), (shape[1], 1), 0x8000 * (1 + len(allocations)))
        )
        return allocations[-1]

    stream = types.SimpleNamespace(get_current_stream=lambda: types.SimpleNamespace(ptr=0))
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(empty=empty, cuda=stream))
    monkeypatch.setattr(OnGpu, "__module__", "cupy._core")
    a = OnGpu((200, 72), DTYPES["i8"], (1, 208), 0x1000)
    b = OnGpu((72, 144), DTYPES["i8"], (144, 1), 0x2000)
    c = OnGpu((200, 144), DTYPES["i32"], (144, 1), 0x3000)
    config = Config(tile=(64, 64, 64), stages=2, consumers=1, store_columns=64)
    matmul(a, b, c, config=config)
    assert [launch.function for launch in gpu.launches] == [
        "function of transpose",
        "function of transpose",
        "function of gemm",
    ]
    # A has 200 rows of 72 elements, each at a multiple of 16 bytes; B has 144 columns of 72.
    starts = [(m[2], m[3], m[4]) for m in gpu.maps]
    assert starts == [
        (0x1000, [200, 72], [208]),
        (0x8000, [72, 200], [80]),
        (0x2000, [144, 72], [144]),
        (0x10000, [72, 144], [80]),
        (0x8000, [72, 200], [80]),
        (0x10000, [72, 144], [80]),
        (0x3000, [144, 200], [576]),
    ]


@pytest.mark.parametrize("dtype", ["i32", "f64", "i64", "f8E8M0FNU", "complex64"])
def test_a_result_of_an_unsupported_element_type(gpu, dtype):
    with pytest.raises(ProblemError) as error:
        matmul(A, B, out_dtype=dtype)
    assert str(error.value) == (
        f"a GEMM of bf16 does not store {dtype}; expected bf16 or f32 or f16"
    )


def test_operands_that_are_not_multiplied(gpu):
    with pytest.raises(ProblemError) as error:
        matmul(array((200, 72), "f64"), array((72, 136), "f64"))
    assert str(error.value) == "there is no GEMM of f64"


def test_an_array_in_host_memory(gpu):
    with pytest.raises(LaunchError, match="B is in host memory"):
        matmul(A, np.zeros((72, 136), np.float32), C)


@pytest.mark.parametrize(
    "dtype, name",
    [
        pytest.param(np.dtype(np.float32), "f32", id="given0-f32"),
        (np.float16, "f16"),
        ("bfloat16", "bf16"),
        ("f8E5M2", "f8E5M2"),
        pytest.param(types.SimpleNamespace(name="int8"), "i8", id="given4-i8"),
        ("complex64", "complex64"),
    ],
)
def test_names_of_element_types(dtype, name):
    assert element_named(dtype) == name
