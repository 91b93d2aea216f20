"""The GPU that is current: what was tuned is remembered by its name."""

from __future__ import annotations

from ....runtime import LaunchError


def gpu_name(device: int | None = None) -> str:
    """The name of a GPU, the current one or else the first if no number is given; it is current then.

    Raises:
        LaunchError: if there is none.
    """
    from cuda.core import Device

    try:
        gpu = Device() if device is None else Device(device)
        gpu.set_current()
    except Exception as error:
        raise LaunchError(f"no GPU can be used: {error}") from error
    return gpu.name
