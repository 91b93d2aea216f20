"""The GPUs of this machine: which one is current, and their architectures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .errors import LaunchError


def current_device() -> int:
    """Return the number of the current GPU, or of the first.

    Raises:
        LaunchError: without cuda-core.
    """
    return _device(None).device_id


def architecture(device: int) -> str:
    """Return the architecture of a GPU with the instructions that only it has, such as "sm_90a".

    Raises:
        LaunchError: without cuda-core, or a GPU of that number.
    """
    try:
        major, minor = _device(device).compute_capability
    except LaunchError:
        raise
    except Exception as error:
        raise LaunchError(f"no GPU can be used: {error}") from error
    return f"sm_{major}{minor}a"


def gpu_name(device: int | None = None) -> str:
    """Make a GPU current and return its name, which is part of the key of tuned configurations.

    Args:
        device: the GPU's number; if None, the current GPU, or the first.

    Raises:
        LaunchError: if there is no such GPU.
    """
    try:
        gpu = _device(device)
        gpu.set_current()
    except LaunchError:
        raise
    except Exception as error:
        raise LaunchError(f"no GPU can be used: {error}") from error
    return gpu.name


@contextmanager
def preserve_current_device() -> Iterator[None]:
    """Make the current GPU current again, after code that makes another one current.

    A library such as PyTorch takes the current GPU for the one that it works on.
    """
    import cuda.bindings.driver as driver

    _, context = driver.cuCtxGetCurrent()
    try:
        yield
    finally:
        if int(context):
            driver.cuCtxSetCurrent(context)


@contextmanager
def make_current(context: Any) -> Iterator[None]:
    """Make a GPU's `CUcontext` current, in a thread where another one or none may be.

    Raises:
        LaunchError: if the driver refuses it.
    """
    import cuda.bindings.driver as driver

    (error,) = driver.cuCtxPushCurrent(context)
    if error != driver.CUresult.CUDA_SUCCESS:
        raise LaunchError(f"the GPU cannot be made current: {error.name}")
    try:
        yield
    finally:
        driver.cuCtxPopCurrent()


def _device(number: int | None):
    try:
        from cuda.core import Device  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError:
        raise LaunchError(
            "running on a GPU needs cuda-core; install mlir-smem with its extra 'gpu'"
        ) from None
    return Device() if number is None else Device(number)
