"""The way in from other compilers: host programs that launch kernels.

Names are imported at their first use.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .executable import Executable

__all__ = ["Executable"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import executable

    return getattr(executable, name)


def __dir__() -> list[str]:
    return __all__
