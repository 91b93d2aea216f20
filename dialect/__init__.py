"""The `smem` dialect: types, attributes, ops with their verifiers, registration, IRDL export.

Names are imported at their first use: many files need the bindings alone, and `--version` not even them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .queries import coordinates_of, layout_of
    from .registration import dialects, irdl, new_context, register

__all__ = ["coordinates_of", "dialects", "irdl", "layout_of", "new_context", "register"]


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file = "queries" if name in ("coordinates_of", "layout_of") else "registration"
    return getattr(import_module(f".{file}", __name__), name)


def __dir__() -> list[str]:
    return __all__
