"""Attention on a Hopper GPU: a generator of kernels, and a function that calls them.

The names of `call` and `tuning` are imported at their first use, so building a kernel does not load the
runtime.
"""

from typing import TYPE_CHECKING, Any

from ..errors import ProblemError
from .generator.candidates import candidates
from .generator.config import Config, ConfigError, default_config
from .generator.problem import Problem

if TYPE_CHECKING:
    from ...runtime.tuning.halving import TuningError
    from .call.attention import attention
    from .tuning import tune

__all__ = [
    "Config",
    "ConfigError",
    "Problem",
    "ProblemError",
    "TuningError",
    "attention",
    "candidates",
    "default_config",
    "tune",
]

_DEFINED_IN = {
    "TuningError": "..runtime.tuning.halving",
    "attention": "call.attention",
    "tune": "tuning",
}


def __getattr__(name: str) -> Any:
    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
