"""A call with `on="cpu"` refuses what a call on a GPU refuses, with the same words."""

import sys
import types

import numpy as np
import pytest
from stand_in import Tensor

import mlir_smem.language as sl
from mlir_smem.runtime import readers, streams
from mlir_smem.runtime.arguments import DTYPES
from mlir_smem.runtime.cpu import _address

BF16 = DTYPES["bf16"]


@sl.kernel("(M,64), (M,64):f32")
def widen(A, C):
    row = sl.grid(sl.cdiv(sl.multiple_of(A.shape[0], 64), 64)) * 64
    a = sl.alloc((64, 64), A.dtype)
    sl.copy(A[row : row + 64, :], a)
    sl.store(sl.load(a), C[row : row + 64, :])


@pytest.fixture(autouse=True)
def fresh(gpu, monkeypatch, tmp_path):
    """Use empty caches; the stand-in's tensors belong to PyTorch."""
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    monkeypatch.setattr(readers, "_BY_CLASS", {})
    raw = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: 0)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(_C=raw))
    monkeypatch.setattr(Tensor, "__module__", "torch")


def array(shape=(64, 64), offset=0, strides=None, dtype=BF16):
    """A NumPy array of ones, `offset` bytes into its memory, with strides in elements."""
    memory = np.zeros(1 << 16, np.uint8)
    steps = None if strides is None else [stride * dtype.itemsize for stride in strides]
    ones = np.ndarray(shape, dtype, memory, offset, steps)
    ones[...] = 1
    return ones


def tensor(array):
    """A tensor on a GPU like a NumPy array."""
    strides = tuple(stride // array.itemsize for stride in array.strides)
    return Tensor(array.shape, str(array.dtype), _address(array), strides)


def first_line(kernel, arguments, **options):
    with pytest.raises(sl.CallError) as error:
        kernel(*arguments, **options)
    return str(error.value).splitlines()[0]


C = array(dtype=DTYPES["f32"])
CASES = {
    "misaligned": ([array(offset=2), C], None, "not a multiple of 16"),
    "not dense": ([array(strides=(128, 1)), C], None, "expected a contiguous array"),
    "not dense and misaligned": ([array((64, 64), 2, (128, 1)), C], None, "a contiguous array"),
    "a transposed one": ([array(strides=(1, 64)), C], None, "expected a contiguous array"),
    "an extent": ([array((64, 32)), C], None, "expected (M, 64)"),
    "rows": ([array((32, 64)), C], None, "M is 32"),
    "a rank": ([array((64,)), C], None, "A has 1 dimensions; expected 2"),
    "a type": ([array(), array()], None, "C has elements of bfloat16; expected f32"),
    "a number": ([array(), 1.0], None, "C is 1.0; expected an array"),
    "too few": ([array()], None, "takes 2 arguments"),
    "a grid": ([array(), C], (1, 1 << 16), "a grid of [1, 65536, 1] is not possible"),
}


@pytest.mark.parametrize("arguments, grid, message", CASES.values(), ids=CASES)
def test_both_refuse_with_the_same_words(gpu, arguments, grid, message):
    kernel = widen if grid is None else widen[grid]
    on_gpu = [tensor(x) if isinstance(x, np.ndarray) else x for x in arguments]
    words = first_line(kernel, on_gpu)
    assert message in words
    assert first_line(kernel, arguments, on="cpu") == words
    assert gpu.launches == []


def test_what_both_take(gpu):
    a, c = array(offset=32), np.zeros((64, 64), np.float32)
    widen(tensor(a), tensor(c))
    widen(a, c, on="cpu")
    assert len(gpu.launches) == 1
    assert (c == 1).all()
