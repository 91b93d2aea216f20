"""Launch compiled kernels on a GPU, or on the emulator."""

from .arguments import Matrix
from .arrays import DeviceArray, device_array
from .cache import cache_folder, cached_compile, is_cached, read_cached, write_cached
from .cpu import launch_on_cpu, run_on_cpu
from .errors import LaunchError
from .gpu import Buffer, Kernel, run_on_gpu
from .prepared import Prepared

__all__ = [
    "Buffer",
    "DeviceArray",
    "Kernel",
    "LaunchError",
    "Matrix",
    "Prepared",
    "cache_folder",
    "cached_compile",
    "device_array",
    "is_cached",
    "launch_on_cpu",
    "read_cached",
    "run_on_cpu",
    "run_on_gpu",
    "write_cached",
]


def __dir__() -> list[str]:
    return __all__
