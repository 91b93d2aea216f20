"""The `smem` dialect: types, attributes, ops with their verifiers, registration, IRDL export.

Names are imported at their first use: many files need the bindings alone, and `--version` not even them.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .queries import coordinates_of, layout_of
    from .registration import dialects, irdl, new_context, register

__all__ = ["coordinates_of", "dialects", "irdl", "layout_of", "new_context", "register"]

#: The file that defines each name.
_DEFINED_IN = {
    "coordinates_of": "queries",
    "dialects": "registration",
    "irdl": "registration",
    "layout_of": "queries",
    "new_context": "registration",
    "register": "registration",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name not in _DEFINED_IN:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_DEFINED_IN[name]}", __name__), name)


def __dir__() -> list[str]:
    return __all__
