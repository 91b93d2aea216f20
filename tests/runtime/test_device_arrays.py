"""Arrays of other packages: address, GPU and element type."""

import types

import ml_dtypes
import numpy as np
import pytest
from stand_in import OnGpu

from mlir_smem.runtime import LaunchError, Matrix
from mlir_smem.runtime.arguments import DTYPES
from mlir_smem.runtime.arrays import matrix_of


def argument(element="bf16"):
    return {"name": "X", "element": element}


class Dtype:
    """An element type of PyTorch."""

    def __init__(self, name):
        self.name = name

    def __str__(self):
        return f"torch.{self.name}"


class Tensor:
    """A stand-in for a tensor of PyTorch."""

    negated = False

    def __init__(self, dtype="bfloat16", device="cuda", index=0):
        self.dtype, self.shape = Dtype(dtype), (256, 64)
        self.device = types.SimpleNamespace(type=device, index=index)

    def data_ptr(self):
        return 0x2000

    def stride(self):
        return (72, 1)

    def is_neg(self):
        return self.negated


class JaxArray:
    """A stand-in for an array of JAX."""

    def __init__(self, dtype="bfloat16", platform="gpu", devices=(0,)):
        self.dtype, self.shape = np.dtype(dtype), (256, 64)
        self._devices = [
            types.SimpleNamespace(platform=platform, local_hardware_id=number) for number in devices
        ]

    def devices(self):
        return self._devices

    def unsafe_buffer_pointer(self):
        return 0x3000


def error_message(array, element="bf16", device=0):
    with pytest.raises(LaunchError) as error:
        matrix_of(argument(element), array, device)
    return str(error.value)


@pytest.mark.parametrize("element", DTYPES)
def test_elements_of_arrays(gpu, element):
    array = OnGpu((4, 8), DTYPES[element], strides=(16, 1))
    size = DTYPES[element].itemsize
    assert matrix_of(argument(element), array, 0) == Matrix(0x1000, (4, 8), (16, 1), size)


@pytest.mark.parametrize(
    "name, element",
    [
        ("float64", "f64"),
        ("float32", "f32"),
        ("float16", "f16"),
        ("bfloat16", "bf16"),
        ("float8_e4m3fn", "f8E4M3FN"),
        ("float8_e5m2", "f8E5M2"),
        ("int64", "i64"),
        ("uint64", "ui64"),
        ("int32", "i32"),
        ("int16", "si16"),
        ("int8", "i8"),
        ("int8", "si8"),
        ("uint8", "ui8"),
    ],
)
def test_elements_of_tensors(name, element):
    matrix = matrix_of(argument(element), Tensor(name), 0)
    assert matrix == Matrix(0x2000, (256, 64), (72, 1), DTYPES[element].itemsize)


@pytest.mark.parametrize(
    "shape, strides", [((2, 3, 4), (12, 4, 1)), ((5,), (1,)), ((), ()), ((1, 1), (1, 1))]
)
def test_arrays_without_strides_are_row_major(gpu, shape, strides):
    array = OnGpu(shape, np.dtype(np.float32))
    assert matrix_of(argument("f32"), array, 0).strides == strides


def test_an_array_may_be_on_any_gpu(gpu):
    assert matrix_of(argument(), OnGpu((4, 8), DTYPES["bf16"], device=1), 1).pointer == 0x1000
    assert matrix_of(argument(), Tensor(index=1), 1).pointer == 0x2000


@pytest.mark.parametrize("array", [OnGpu((4, 8), DTYPES["bf16"], device=1), Tensor(index=1)])
def test_an_array_on_another_gpu(gpu, array):
    assert error_message(array) == "X is on GPU 1, but the kernel is on GPU 0"


@pytest.mark.parametrize(
    "array, element, message",
    [
        (OnGpu((4, 8), np.dtype(np.float32)), "bf16", "float32; expected bf16"),
        (OnGpu((4, 8), np.dtype(np.int8)), "ui8", "int8; expected ui8"),
        (OnGpu((4, 8), np.dtype(np.float64)), "f32", "float64; expected f32"),
        (OnGpu((4, 8), np.dtype(np.int64)), "i32", "int64; expected i32"),
        (OnGpu((4, 8), np.dtype(np.float64)), "f80", "float64; expected f80"),
        (Tensor("float16"), "bf16", "float16; expected bf16"),
        (Tensor("float8_e4m3fnuz"), "f8E4M3FN", "float8_e4m3fnuz; expected f8E4M3FN"),
        (Tensor("quint8"), "ui8", "quint8; expected ui8"),
    ],
)
def test_other_element_types(gpu, array, element, message):
    assert error_message(array, element) == f"X has elements of {message}"


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_arrays_of_numpy(dtype):
    message = "X is in host memory; move it to the GPU, or let run_on_gpu copy the arrays"
    assert error_message(np.ones((4, 8), dtype)) == message


@pytest.mark.parametrize(
    "array", [OnGpu((4, 8), DTYPES["bf16"], accessible=False), Tensor(device="cpu")]
)
def test_arrays_in_host_memory(gpu, array):
    assert error_message(array) == "X is in host memory; move it to the GPU"


def test_an_object_that_is_not_an_array(gpu):
    assert error_message(object()) == "X is not an array on a GPU: no interface"


def test_an_array_of_jax():
    assert matrix_of(argument(), JaxArray(), 0) == Matrix(0x3000, (256, 64), (64, 1), 2)


def test_an_array_of_jax_in_host_memory_or_on_another_gpu():
    assert error_message(JaxArray(platform="cpu")) == "X is in host memory; move it to the GPU"
    assert error_message(JaxArray(devices=(1,))) == "X is on GPU 1, but the kernel is on GPU 0"
    assert error_message(JaxArray(devices=(0, 1))).startswith(
        "X is not an array on a GPU: too many values"
    )
