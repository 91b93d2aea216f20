"""Launching compiled kernels on a GPU."""

from .arguments import Matrix
from .errors import LaunchError
from .gpu import Kernel, run_on_gpu

__all__ = ["Kernel", "LaunchError", "Matrix", "run_on_gpu"]
