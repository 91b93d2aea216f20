"""The way in from other compilers: programs in linalg, and host programs that launch kernels.

Names are imported at their first use.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dynamo.report import TorchGraph, TorchPart, torch_graphs
    from .executable import Executable
    from .jax_functions import JaxExecutable, from_jax
    from .linalg.lowering import lower_linalg
    from .torch_modules import TorchExecutable, from_torch

__all__ = [
    "Executable",
    "JaxExecutable",
    "TorchExecutable",
    "TorchGraph",
    "TorchPart",
    "from_jax",
    "from_torch",
    "lower_linalg",
    "torch_graphs",
]

_HOME = {
    "Executable": "executable",
    "JaxExecutable": "jax_functions",
    "TorchExecutable": "torch_modules",
    "TorchGraph": "dynamo.report",
    "TorchPart": "dynamo.report",
    "from_jax": "jax_functions",
    "from_torch": "torch_modules",
    "lower_linalg": "linalg.lowering",
    "torch_graphs": "dynamo.report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOME[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
