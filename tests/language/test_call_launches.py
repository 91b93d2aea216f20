"""Calls on a stand-in GPU: the driver's arguments, streams, GPUs, caches, and what is refused."""

import sys
import types
from ctypes import c_float, c_int64

import numpy as np
import pytest
import text_kernels
from stand_in import CONTEXTS, Result, Tensor, parameters
from text_kernels import make

from mlir_smem.language.call import specialisation
from mlir_smem.language.call.errors import CallError
from mlir_smem.runtime import LaunchError, readers, streams


@pytest.fixture(autouse=True)
def fresh(gpu, monkeypatch, tmp_path):
    """Use empty caches; the stand-in's classes belong to PyTorch."""
    monkeypatch.setenv("MLIR_SMEM_CACHE", str(tmp_path))
    monkeypatch.setattr(streams, "_BY_CLASS", {})
    monkeypatch.setattr(readers, "_BY_CLASS", {})
    current = types.SimpleNamespace(handle=0)
    raw = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda device: current.handle)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(_C=raw))
    monkeypatch.setattr(Tensor, "__module__", "torch")
    gpu.torch = current


X, Y = Tensor((256,)), Tensor((256,), pointer=0x2000)


def packed_parameters(launch):
    """Return X's pointers, offset, extent and stride, the number, and Y's."""
    return [p.value for p in parameters(launch, *[c_int64] * 5, c_float, *[c_int64] * 5)]


def test_a_call_is_a_launch(gpu):
    scaled = make()  # The kernel holds the memory of the arguments.
    assert scaled(X, 1.5, Y) is None
    (launch,) = gpu.launches
    assert packed_parameters(launch) == [0x1000, 0x1000, 0, 256, 1, 1.5, 0x2000, 0x2000, 0, 256, 1]
    assert (launch.gridDimX, launch.blockDimX, launch.function) == (2, 128, "function of scaled")
    assert launch.hStream == 1


def test_a_grid_can_be_given(gpu):
    scaled = make()
    scaled[5](X, 1.0, Y, grid=False)
    scaled[1, 2](X, 1.0, Y)
    assert [(launch.gridDimX, launch.gridDimY) for launch in gpu.launches] == [(5, 1), (1, 2)]
    with pytest.raises(CallError, match=r"a grid of \[3\] blocks is larger than the one .*: \[2\]"):
        scaled[3](X, 1.0, Y)


def test_later_calls_are_not_traced(gpu):
    scaled = make()
    for size, pointer in ((256, 0x1000), (256, 0x4000), (512, 0x1000), (256, 0x1000)):
        scaled(Tensor((size,), pointer=pointer), 1.0, Tensor((size,), pointer=0x8000))
        assert packed_parameters(gpu.launches[-1])[:4] == [pointer, pointer, 0, size]
    assert scaled.traces == 1
    assert len(gpu.shared) == 1


@pytest.mark.parametrize("constants", [{"block": 64}, {"grid": False}])
def test_constants_make_another_kernel(gpu, constants):
    scaled = make()
    for options in ({}, constants, {}, constants):
        scaled[2](X, 1.0, Y, **options)
    assert scaled.traces == 2
    assert len(gpu.launches) == 4


def test_constants_that_are_equal_and_not_the_same(gpu):
    scaled = make()
    for grid in (True, 1, 1.0, True):
        scaled[2](X, 1.0, Y, grid=grid)
    assert scaled.traces == 3


def test_a_global_that_changed_is_traced_again(gpu, monkeypatch):
    scaled = make()
    scaled(X, 1.0, Y)
    scaled(X, 1.0, Y)
    monkeypatch.setattr(text_kernels, "FACTOR", 5.0)
    scaled(X, 1.0, Y)
    assert scaled.traces == 2
    assert len(gpu.shared) == 2
    monkeypatch.undo()


def test_the_cache_on_disk_is_shared(gpu, monkeypatch):
    make()(X, 1.0, Y)

    def fail(*_, **__):
        raise AssertionError("compiled again")

    monkeypatch.setattr("mlir_smem.runtime.cache.compile", fail)
    make()(X, 1.0, Y)
    assert len(gpu.launches) == 2


# Streams and GPUs.


def test_the_current_stream_of_the_library(gpu):
    scaled = make()
    for handle in (0, 7, 8, 7):
        gpu.torch.handle = handle
        scaled(X, 1.0, Y)
    scaled(X, 1.0, Y, stream=9)
    assert [launch.hStream for launch in gpu.launches] == [1, 7, 8, 7, 9]


def test_a_stream_that_is_none(gpu):
    scaled = make()
    with pytest.raises(CallError, match=r"^1\.5 is not a stream; expected one of cuda-core"):
        scaled(X, 1.0, Y, stream=1.5)
    assert gpu.launches == []


def test_the_gpu_of_the_arrays(gpu):
    """Another GPU is current before and after the call."""
    gpu.current.append(CONTEXTS[0])
    scaled = make()
    on_second = [Tensor((256,), device=1), 1.0, Tensor((256,), device=1)]
    scaled(*on_second)
    scaled(*on_second)
    assert [launch.context for launch in gpu.launches] == [CONTEXTS[1]] * 2
    assert gpu.current[-1] == CONTEXTS[0]


def test_jax_is_waited_for(gpu, monkeypatch):
    events = []

    class Array(Tensor):
        def block_until_ready(self):
            events.append(self.pointer)

    monkeypatch.setattr(Array, "__module__", "jaxlib._jax")
    stream = types.SimpleNamespace(sync=lambda: events.append(f"sync {len(gpu.launches)}"))
    monkeypatch.setattr(sys.modules["cuda.core"], "LEGACY_DEFAULT_STREAM", stream, raising=False)
    scaled = make()
    for count in (1, 2):
        scaled(Array((256,), pointer=0x10), 1.0, Array((256,), pointer=0x20))
        assert events == [0x10, 0x20, f"sync {count}"]
        events.clear()


def test_a_kernel_without_arrays_runs_on_the_current_gpu(gpu):
    def none(n):
        return f"""
gpu.module @kernels {{ gpu.func @none(%n: {n.mlir} {{smem.name = "n"}})
    kernel attributes {{known_block_size = array<i32: 32, 1, 1>}} {{ gpu.return }} }}"""

    kernel = text_kernels.TextKernel(none, "()", "n")
    kernel[1](3)
    kernel[1](4.0)
    assert [launch.hStream for launch in gpu.launches] == [1, 1]
    assert kernel.traces == 2


# Prepared launches.


def test_a_prepared_launch(gpu):
    prepared = make().prepare(X, 1.5, Y)
    assert gpu.launches == []
    gpu.torch.handle = 7
    prepared.launch()
    gpu.torch.handle = 8
    prepared.launch()
    prepared.launch(9)
    assert [launch.hStream for launch in gpu.launches] == [7, 8, 9]
    assert packed_parameters(gpu.launches[0])[3:7] == [256, 1, 1.5, 0x2000]


def test_a_prepared_launch_with_a_grid(gpu):
    make()[7].prepare(X, 1.5, Y, grid=False).launch()
    assert gpu.launches[0].gridDimX == 7


# What is refused.

TAKES = "\n  scaled takes X (M), a ():f32, Y (M):f32; given: "

REFUSED = {
    "host memory": (
        (np.zeros(256, "f4"), 1.0, Y),
        'X is in host memory; move it to the GPU, or call with on="cpu" for the emulator',
    ),
    "another GPU": (
        (X, 1.0, Tensor((256,), device=1)),
        "Y is on GPU 1, but the kernel is on GPU 0",
    ),
    "too few": ((X, 1.0), "scaled takes 3 arguments (X, a, Y), not 2"),
    "another fixed element type": (
        (X, 1.0, Tensor((256,), "float16")),
        "Y has elements of float16; expected f32",
    ),
    "elements that have no type": (
        (Tensor((256,), "complex64"), 1.0, Y),
        "X is complex64[256]; expected elements of a type of the language",
    ),
    "extents that disagree": (
        (X, 1.0, Tensor((128,))),
        "M is 256 in X but 128 in Y",
    ),
    "no multiple": (
        (Tensor((100,)), 1.0, Tensor((100,))),
        "M is 100; expected a positive multiple of 128",
    ),
    "strides": (
        (Tensor((256,), stride=(2,)), 1.0, Y),
        "X has the strides [2]; the kernel takes [1] (elements)",
    ),
    "an address": (
        (Tensor((256,), pointer=0x1002), 1.0, Y),
        "X begins at 0x1002, not a multiple of 4",
    ),
    "no memory": ((Tensor((256,), pointer=0), 1.0, Y), "X has no memory: its address is 0"),
    "a text for a number": ((X, "1", Y), "a is '1', which is not of type f32"),
    "a number out of range": ((X, 1e300, Y), "a is 1e+300, which is not of type f32"),
    "no array": (("X", 1.0, Y), "X is 'X'; expected an array of (M)"),
    "no elements": (
        (Tensor((0,)), 1.0, Tensor((0,))),
        "X is [0]; expected at least one element",
    ),
}


@pytest.mark.parametrize("warm", [False, True])
@pytest.mark.parametrize("arguments, message", REFUSED.values(), ids=REFUSED)
def test_arguments_that_do_not_fit(gpu, arguments, message, warm):
    scaled = make()
    if warm:
        scaled(X, 1.0, Y)
    for _ in range(2):
        with pytest.raises(CallError) as error:
            scaled(*arguments)
        first, second = str(error.value).split("\n")
        assert first == message
        assert f"\n{second}".startswith(TAKES)
    assert len(gpu.launches) == warm


def test_a_launch_that_the_driver_refuses(gpu):
    gpu.refusals["launch"] = Result.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(CallError, match=r"^the driver refuses to launch scaled with Extents"):
        make()(X, 1.0, Y)


def test_a_gpu_that_there_is_not(gpu):
    with pytest.raises(CallError, match=r"^no GPU can be used: invalid device ordinal"):
        make()(Tensor((256,), device=5), 1.0, Tensor((256,), device=5))


def test_a_kernel_without_a_grid(gpu):
    with pytest.raises(CallError, match=r"^scaled declares no grid; begin it with sl.grid"):
        make()(X, 1.0, Y, grid=False)


def test_old_launches_are_dropped(gpu, monkeypatch):
    monkeypatch.setattr("mlir_smem.language.call.calls._LAUNCHES", 4)
    scaled = make()
    for number in range(1, 10):
        scaled[number](X, 1.0, Y, grid=False)
    assert len(scaled._calls._launches) <= 4
    assert scaled.traces == 1
    assert [launch.gridDimX for launch in gpu.launches] == [*range(1, 10)]


def test_a_signature_that_cannot_be_hashed(gpu):
    tensor = Tensor((256,))
    tensor.shape = [256]
    scaled = make()
    for _ in range(2):
        scaled(tensor, 1.0, Y)
    assert scaled.traces == 1 and len(gpu.launches) == 2
    assert not scaled._calls._launches


def test_the_specialisation_is_loaded_once(gpu, monkeypatch):
    loads = []

    class Counted(specialisation.Kernel):
        def __init__(self, *arguments, **options):
            loads.append(options)
            super().__init__(*arguments, **options)

    monkeypatch.setattr(specialisation, "Kernel", Counted)
    scaled = make()
    scaled(X, 1.0, Y)
    scaled.prepare(X, 1.0, Y)
    scaled[1](X, 1.0, Y)
    assert loads == [{"device": 0}]


def test_call_errors_are_launch_errors():
    assert issubclass(CallError, LaunchError)
