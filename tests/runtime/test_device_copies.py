"""Copies of a call's arrays, with host memory in a GPU's stead."""

import ctypes
import sys
import types

import numpy as np
import pytest

from mlir_smem.runtime import LaunchError, Matrix
from mlir_smem.runtime.tuning import copies
from mlir_smem.runtime.tuning.copies import DeviceCopy


class Driver:
    """Memory of the host; it records what is not freed yet."""

    CUresult = types.SimpleNamespace(CUDA_SUCCESS=types.SimpleNamespace(name="CUDA_SUCCESS"))
    limit = 1 << 20

    def __init__(self):
        self.allocated, self.calls = {}, []

    def cuCtxSynchronize(self):  # noqa: N802
        return (self.CUresult.CUDA_SUCCESS,)

    def cuMemAlloc(self, size):  # noqa: N802
        if size > self.limit:
            return (types.SimpleNamespace(name="CUDA_ERROR_OUT_OF_MEMORY"), 0)
        buffer = ctypes.create_string_buffer(size + 256)
        address = -(-ctypes.addressof(buffer) // 256) * 256
        self.allocated[address] = buffer
        return self.CUresult.CUDA_SUCCESS, address

    def cuMemcpyDtoDAsync(self, target, source, size, stream):  # noqa: N802
        self.calls.append(stream)
        ctypes.memmove(target, source, size)
        return (self.CUresult.CUDA_SUCCESS,)

    def cuMemFree(self, address):  # noqa: N802
        del self.allocated[address]
        return (self.CUresult.CUDA_SUCCESS,)


@pytest.fixture
def driver(monkeypatch):
    driver = Driver()
    bindings = types.SimpleNamespace(driver=driver)
    monkeypatch.setitem(sys.modules, "cuda", types.SimpleNamespace(bindings=bindings))
    monkeypatch.setitem(sys.modules, "cuda.bindings", bindings)
    monkeypatch.setitem(sys.modules, "cuda.bindings.driver", driver)

    def device_array(name, array):
        strides = tuple(step // array.itemsize for step in array.strides)
        matrix = Matrix(array.ctypes.data, array.shape, strides, array.itemsize)
        return types.SimpleNamespace(matrix=matrix)

    monkeypatch.setattr(copies, "device_array", device_array)
    return driver


def view(copy):
    """The copy as an array of NumPy."""
    interface = {**copy.__cuda_array_interface__, "typestr": copy.dtype.str}
    holder = types.SimpleNamespace(__array_interface__=interface)
    return np.asarray(holder)


WHOLE = np.arange(24 * 10, dtype=np.int32).reshape(24, 10)


@pytest.mark.parametrize(
    "array",
    [
        WHOLE,
        WHOLE[3:7, 2:5],
        WHOLE.T,
        WHOLE[::-1, 1::2],
        WHOLE[:, ::-3],
        np.broadcast_to(WHOLE[5], (4, 10)),
        WHOLE[0:0],
        WHOLE[1, 1:2],
    ],
)
def test_a_copy_has_the_elements_strides_and_alignment(driver, array):
    copy = DeviceCopy("A", array)
    copied = view(copy)
    assert np.array_equal(copied, array)
    assert (copied.strides, copy.shape, copy.dtype) == (array.strides, array.shape, array.dtype)
    if array.size:
        assert (copied.ctypes.data - array.ctypes.data) % 256 == 0
    copy.close()
    assert not driver.allocated


def test_a_write_to_the_copy_is_undone_and_none_to_the_array(driver):
    array = WHOLE[3:7, 2:5].copy()
    copy = DeviceCopy("A", array)
    view(copy)[...] = -1
    assert (array >= 0).all()
    copy.restore(7)
    assert np.array_equal(view(copy), array)
    assert driver.calls == [0, 7]


def test_no_memory(driver):
    driver.limit = 100
    with pytest.raises(LaunchError) as caught:
        DeviceCopy("A", WHOLE)
    assert str(caught.value) == (
        "configurations are measured on copies, but cuMemAlloc for A, 960 bytes, fails: "
        "CUDA_ERROR_OUT_OF_MEMORY"
    )
