"""The `smem` dialect: types, attributes, ops with their verifiers, registration, IRDL export."""

from .registration import dialects, irdl, new_context, register

__all__ = ["dialects", "irdl", "new_context", "register"]


def __dir__() -> list[str]:
    return __all__
