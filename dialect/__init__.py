"""The `smem` dialect: types, attributes, ops with their verifiers, registration, IRDL export."""

from .queries import coordinates_of, layout_of
from .registration import dialects, irdl, new_context, register

__all__ = ["coordinates_of", "dialects", "irdl", "layout_of", "new_context", "register"]


def __dir__() -> list[str]:
    return __all__
