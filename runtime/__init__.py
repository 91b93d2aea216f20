"""Launching compiled kernels on a GPU, or on the emulator."""

from .arguments import Matrix
from .arrays import Seen, seen
from .cache import cached_compile
from .cpu import run_on_cpu
from .errors import LaunchError
from .gpu import Kernel, run_on_gpu
from .prepared import Prepared

__all__ = [
    "Kernel",
    "LaunchError",
    "Matrix",
    "Prepared",
    "Seen",
    "cached_compile",
    "run_on_cpu",
    "run_on_gpu",
    "seen",
]
