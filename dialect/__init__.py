"""The `smem` dialect: types, attributes, ops with their verifiers, registration, IRDL export."""

from .registration import irdl, new_context, register

__all__ = ["irdl", "new_context", "register"]
