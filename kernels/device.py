"""The current GPU, whose name is part of the key of tuned configurations."""

from __future__ import annotations

from ..runtime import LaunchError


def gpu_name(device: int | None = None) -> str:
    """Make a GPU current and return its name.

    Args:
        device: the GPU's number; if None, the current GPU, or the first.

    Raises:
        LaunchError: if there is no such GPU.
    """
    from cuda.core import Device  # pyright: ignore[reportAttributeAccessIssue]

    try:
        gpu = Device() if device is None else Device(device)
        gpu.set_current()
    except Exception as error:
        raise LaunchError(f"no GPU can be used: {error}") from error
    return gpu.name
