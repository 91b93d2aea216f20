"""Attention on a Hopper GPU: a generator of kernels, and a function that calls them.

The names of `call` are imported at their first use, so building a kernel does not load the runtime.
"""

from typing import TYPE_CHECKING, Any

from ..errors import ProblemError
from .generator.config import Config, ConfigError, default_config
from .generator.problem import Problem

if TYPE_CHECKING:
    from .call.attention import attention

__all__ = ["Config", "ConfigError", "Problem", "ProblemError", "attention", "default_config"]


def __getattr__(name: str) -> Any:
    if name != "attention":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .call.attention import attention

    return attention


def __dir__() -> list[str]:
    return __all__
