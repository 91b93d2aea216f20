"""C = A * B on a Hopper GPU, as fast as we know: a generator of kernels, and a call that uses it."""

from .config import Config, ConfigError
from .matmul import matmul, prepare
from .problem import Problem, ProblemError

__all__ = ["Config", "ConfigError", "Problem", "ProblemError", "matmul", "prepare"]
