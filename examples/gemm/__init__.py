"""C = A * B on a Hopper GPU, as fast as we know: a generator of kernels, and a call that uses it."""

from .candidates import candidates
from .config import Config, ConfigError
from .halving import TuningError
from .matmul import matmul, prepare
from .problem import Problem, ProblemError
from .tuner import tune

__all__ = [
    "Config",
    "ConfigError",
    "Problem",
    "ProblemError",
    "TuningError",
    "candidates",
    "matmul",
    "prepare",
    "tune",
]
