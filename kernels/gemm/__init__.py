"""C = A * B on a Hopper GPU, as fast as we know: a generator of kernels, a call, and its tuning.

`generator` builds kernels, `call` launches them on arrays, and `tuning` searches for the fastest. The
names of the last two load the runtime when they are first used, so that a kernel is built without it.
"""

from typing import TYPE_CHECKING, Any

from .generator.candidates import candidates
from .generator.config import Config, ConfigError
from .generator.problem import Problem, ProblemError

if TYPE_CHECKING:
    from .call.matmul import matmul, prepare
    from .tuning.halving import TuningError
    from .tuning.tuner import tune

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

_HOME = {
    "TuningError": "tuning.halving",
    "matmul": "call.matmul",
    "prepare": "call.matmul",
    "tune": "tuning.tuner",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOME[name]}", __name__), name)
