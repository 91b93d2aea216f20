"""Copies of host arrays in memory that stands in for a GPU's."""

import ctypes
import types

import ml_dtypes
import numpy as np
import pytest

from mlir_smem.runtime import gpu
from mlir_smem.runtime.gpu import Buffer


@pytest.fixture
def device(monkeypatch):
    """A device whose memory is the host's."""

    def allocate(size, stream):
        memory = ctypes.create_string_buffer(size)
        return types.SimpleNamespace(handle=ctypes.addressof(memory), memory=memory)

    def copy(self, call, target, source):
        ctypes.memmove(target, source, self._bytes.nbytes)

    monkeypatch.setattr(gpu, "_cuda", lambda: types.SimpleNamespace(LEGACY_DEFAULT_STREAM=None))
    monkeypatch.setattr(Buffer, "_copy", copy)
    return types.SimpleNamespace(allocate=allocate)


def test_a_copy_keeps_the_strides(device):
    # A column of a matrix, whose rows are 16 elements apart, and its second half.
    for array in (np.arange(64).reshape(4, 16)[:, :1], np.arange(64).reshape(4, 16)[:, 8:]):
        buffer = Buffer(device, array)
        assert buffer.matrix.strides == (16, 1)
        assert (buffer.read() == array).all()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, np.int32], ids=str)
def test_the_interface_describes_the_copy(device, dtype, order):
    array = np.arange(24).astype(dtype).reshape((4, 6), order=order)
    buffer = Buffer(device, array)
    assert buffer.dtype == array.dtype
    assert buffer.matrix.strides == ((6, 1) if order == "C" else (1, 4))
    # NumPy's own interface has the same fields, except for the memory.
    seen = types.SimpleNamespace(__array_interface__=buffer.__cuda_array_interface__)
    assert (np.asarray(seen).view(dtype) == array).all()
    assert (buffer.read() == array).all()
