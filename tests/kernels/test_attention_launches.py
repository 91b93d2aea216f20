"""Calls of attention on a GPU, by a stand-in for the driver: they are checked once."""

import sys
import types

import numpy as np
import pytest
from stand_in import OnGpu

from mlir_smem.kernels.attention import ProblemError, attention
from mlir_smem.kernels.attention.call import launch, launches
from mlir_smem.runtime import LaunchError, streams
from mlir_smem.runtime.arguments import DTYPES, row_major_strides
from mlir_smem.runtime.scratch import Scratch


@pytest.fixture(autouse=True)
def fresh(gpu, monkeypatch, compiled_kernels):
    """No loaded kernels, no known calls, no scratch memory. All tests share compiled kernels."""
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    monkeypatch.setattr(launches, "_SCRATCH", Scratch())
    launches._kernel.cache_clear()
    launches._combine_kernel.cache_clear()
    launch._CALLS.clear()
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(compiled_kernels))


def array(shape, pointer, element="bf16", strides=None):
    return OnGpu(shape, DTYPES[element], strides or row_major_strides(shape), pointer)


#: 2 sequences of 3000 queries, whose tiles fill the GPU.
Q, K, V, OUT = (array((2, 3000, heads, 128), 0x100000 * heads) for heads in (8, 2, 2, 8))


def test_a_call_is_checked_once(gpu):
    for _ in range(2):
        assert attention(Q, K, V, out=OUT) is OUT
    assert len(gpu.maps) == 4
    assert [(one.gridDimX, one.blockDimX) for one in gpu.launches] == [(132, 3 * 128)] * 2
    moved = array(Q.view.shape, 0x900000)
    attention(moved, K, V, out=OUT)
    assert gpu.replaced == [0x900000]
    assert len(gpu.maps) == 4


@pytest.mark.parametrize(
    "changed", [{"scale": 0.5}, {"causal": True}, {"window": (5, None)}, {"layout": "bhsd"}]
)
def test_another_call_is_checked(changed):
    equal = [array((4, 4, 4, 64), 0x1000 * i) for i in range(1, 5)]
    for options in ({}, changed, {}, changed):
        attention(*equal[:3], out=equal[3], **options)
    assert len(launch._CALLS._values) == 2


def test_an_address_that_tma_does_not_read():
    attention(Q, K, V, out=OUT)
    with pytest.raises(ProblemError, match="q is at 0x100008; expected a multiple of 16 bytes"):
        attention(array(Q.view.shape, 0x100008), K, V, out=OUT)


def test_a_window_that_cannot_be_hashed(gpu):
    """It is checked at each call."""
    for _ in range(2):
        attention(Q, K, V, out=OUT, window=[100, 0])
    assert len(gpu.launches) == 2
    assert not launch._CALLS._values


def test_arrays_that_are_on_no_gpu():
    with pytest.raises(LaunchError, match="q is in host memory"):
        attention(np.zeros((1, 8, 1, 64), np.float16), K, V)
    far = OnGpu(V.view.shape, DTYPES["bf16"], V.view.strides, 0x5000, device=1)
    with pytest.raises(ProblemError, match="q is on GPU 0, but v is on GPU 1; expected one"):
        attention(Q, K, far)


def test_parts_of_the_keys_are_combined(gpu):
    """The 235 blocks of each head of keys are 24 parts; 8 query heads are 4 rows of 2 of these heads."""
    q, o = (array((2, 1, 8, 128), pointer) for pointer in (0x1000, 0x2000))
    k, v = (array((2, 30000, 2, 128), pointer) for pointer in (0x1000000, 0x4000000))
    for _ in range(2):
        attention(q, k, v, out=o)
    parts = 24 * 4 * 64 * (128 + 1) * 4
    assert gpu.allocated == [parts]
    assert [(one.gridDimX, one.gridDimY) for one in gpu.launches] == [(96, 1), (4, 8)] * 2
    attention(q, k, v, out=o, stream=7)
    assert gpu.allocated == [parts] * 2


def test_packed_sequences(gpu):
    q, o = (array((3000, 8, 128), pointer) for pointer in (0x100000, 0x800000))
    k, v = (array((4000, 2, 128), pointer) for pointer in (0x1000000, 0x2000000))
    longer, *starts = (array((n,), 0x1000 * n, "i32") for n in (5, 4, 4))

    def call(of_queries, of_keys):
        packing = {"cu_seqlens_q": of_queries, "cu_seqlens_k": of_keys, "max_seqlen_q": 1500}
        attention(q, k, v, out=o, **packing)

    call(*starts)
    call(array((4,), 0x9000, "i32"), starts[1])
    # O is stored from registers.
    assert len(gpu.maps) == 3
    assert [one.gridDimX for one in gpu.launches] == [132] * 2
    with pytest.raises(ProblemError, match="expected a contiguous vector of i32, of 4 elements"):
        call(starts[0], longer)


def test_values_of_e4m3_are_transposed(gpu):
    of_heads = array((2, 2), 0x6000, "f32")
    q = array((2, 3000, 8, 128), 0x100000, "f8E4M3FN")
    k, v = (array((2, 3000, 2, 128), pointer, "f8E4M3FN") for pointer in (0x800000, 0x900000))
    for _ in range(2):
        attention(q, k, v, out=OUT, v_descale=of_heads, k_descale=0.5)
    lines = 2 * 2 * 128 * 3008
    assert gpu.allocated == [lines]
    # 24 windows of each of 4 matrices.
    assert [(one.gridDimX, one.gridDimY) for one in gpu.launches] == [(24, 4), (132, 1)] * 2
    # The lines of transposed values end with the last key.
    assert [m[3] for m in gpu.maps][:2] == [[128, 3000, 2, 2], [3000, 128, 2, 2]]


def test_new_arrays_of_the_library(gpu, monkeypatch):
    allocations = []

    def empty(shape, dtype):
        allocations.append((shape, np.dtype(dtype).name))
        return OnGpu(shape, np.dtype(dtype), row_major_strides(shape), 0x8000 * len(allocations))

    stream = types.SimpleNamespace(ptr=7)
    cuda = types.SimpleNamespace(get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(empty=empty, cuda=cuda))
    monkeypatch.setattr(OnGpu, "__module__", "cupy._core")
    for _ in range(2):
        attention(Q, K, V, return_lse=True)
    assert allocations == [(Q.view.shape, "bfloat16"), ((2, 8, 3000), "float32")] * 2
    assert [one.hStream for one in gpu.launches] == [7, 7]
