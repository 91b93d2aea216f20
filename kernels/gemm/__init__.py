"""A GEMM, C = A * B, on a Hopper GPU: a generator of kernels, a function that calls them, and its tuning.

`generator` builds kernels, `call` launches them on arrays, and `tuning` searches for the fastest one. The
names of `call` and `tuning` are imported at their first use, so building a kernel does not load the
runtime.
"""

from typing import TYPE_CHECKING, Any

from .generator.candidates import candidates, choose
from .generator.config import Config, ConfigError
from .generator.problem import Problem, ProblemError

if TYPE_CHECKING:
    from ...runtime.tuning.halving import TuningError
    from .call.matmul import matmul, prepare
    from .tuning.tuner import tune

__all__ = [
    "Config",
    "ConfigError",
    "Problem",
    "ProblemError",
    "TuningError",
    "candidates",
    "choose",
    "matmul",
    "prepare",
    "tune",
]

_DEFINED_IN = {
    "TuningError": "..runtime.tuning.halving",
    "matmul": "call.matmul",
    "prepare": "call.matmul",
    "tune": "tuning.tuner",
}


def __getattr__(name: str) -> Any:
    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
