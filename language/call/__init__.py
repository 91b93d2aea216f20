"""Calling kernels of the language on arrays."""
