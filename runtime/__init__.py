"""Launch compiled kernels on a GPU, or on the emulator."""

from .arguments import Matrix
from .arrays import Seen, seen
from .cache import cache_folder, cached_compile, is_kept, keep, kept
from .cpu import run_on_cpu
from .errors import LaunchError
from .gpu import Buffer, Kernel, run_on_gpu
from .prepared import Prepared

__all__ = [
    "Buffer",
    "Kernel",
    "LaunchError",
    "Matrix",
    "Prepared",
    "Seen",
    "cache_folder",
    "cached_compile",
    "is_kept",
    "keep",
    "kept",
    "run_on_cpu",
    "run_on_gpu",
    "seen",
]
