"""The current stream of an array's library, and libraries that hide their streams."""

import sys
import types

import numpy as np
import pytest

from mlir_smem.runtime import LaunchError, streams
from mlir_smem.runtime.devices import architecture, current_device, preserve_current_device


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(streams, "_BY_CLASS", {})


def array_of(package, **attributes):
    """Return an array whose class is in a module of a package."""
    return type("Array", (), {"__module__": f"{package}.core", **attributes})()


@pytest.mark.parametrize("handle, expected", [(0, None), (7, 7)])
@pytest.mark.parametrize("has_raw", [True, False])
def test_the_current_stream_of_pytorch(monkeypatch, has_raw, handle, expected):
    indices = []

    def raw(index):
        indices.append(index)
        return handle

    stream = types.SimpleNamespace(cuda_stream=handle)
    cuda = types.SimpleNamespace(
        current_stream=lambda device: indices.append(device.index) or stream
    )
    inner = types.SimpleNamespace(**({"_cuda_getCurrentRawStream": raw} if has_raw else {}))
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(_C=inner, cuda=cuda))
    tensor = array_of("torch", device=types.SimpleNamespace(index=3))
    for _ in range(2):
        assert streams.current_stream(tensor) == expected
    assert indices == [3, 3]


def test_the_current_stream_of_a_subclass(monkeypatch):
    raw = types.SimpleNamespace(_cuda_getCurrentRawStream=lambda index: 5)
    monkeypatch.setitem(sys.modules, "torch", types.SimpleNamespace(_C=raw))
    base = type(array_of("torch", device=types.SimpleNamespace(index=0)))
    assert streams.current_stream(type("Mine", (base,), {"__module__": "author"})()) == 5


@pytest.mark.parametrize("handle, expected", [(0, None), (7, 7)])
def test_the_current_stream_of_cupy(monkeypatch, handle, expected):
    stream = types.SimpleNamespace(ptr=handle)
    cuda = types.SimpleNamespace(get_current_stream=lambda: stream)
    monkeypatch.setitem(sys.modules, "cupy", types.SimpleNamespace(cuda=cuda))
    assert streams.current_stream(array_of("cupy")) == expected


@pytest.mark.parametrize("package", ["jax", "jaxlib", "numba", "author"])
def test_libraries_without_a_current_stream(package):
    assert streams.current_stream(array_of(package)) is None


@pytest.mark.parametrize("package, waits", [("jaxlib", True), ("jax", True), ("torch", False)])
def test_only_jax_is_waited_for(gpu, monkeypatch, package, waits):
    events = []
    legacy = types.SimpleNamespace(sync=lambda: events.append("finished"))
    monkeypatch.setattr(sys.modules["cuda.core"], "LEGACY_DEFAULT_STREAM", legacy, raising=False)
    array = array_of(package, block_until_ready=lambda self: events.append("ready"))
    streams.wait_for(array)
    streams.finish(array)
    assert events == (["ready", "finished"] if waits else [])


# GPUs.


def test_the_architecture_of_a_gpu(gpu):
    assert (current_device(), architecture(1)) == (0, "sm_90a")
    with pytest.raises(LaunchError, match="no GPU can be used: invalid device ordinal"):
        architecture(2)


@pytest.mark.parametrize("call", [current_device, lambda: architecture(0)])
def test_without_cuda_core(gpu, monkeypatch, call):
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    with pytest.raises(LaunchError, match="running on a GPU needs cuda-core; install mlir-smem"):
        call()


@pytest.mark.parametrize("before, after", [(0xC1, 0xC1), (0, 0xC0)])
def test_the_current_gpu_is_kept(gpu, before, after):
    """A thread without a GPU keeps the one that is made current for it."""
    gpu.current.append(before)
    with pytest.raises(ZeroDivisionError), preserve_current_device():
        gpu.current.append(0xC0)
        raise ZeroDivisionError
    assert gpu.current[-1] == after


def test_the_library_of_an_array():
    assert streams.library(np.zeros(1)) == "numpy"
