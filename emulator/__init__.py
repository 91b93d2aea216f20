"""Executes lowered kernels on the CPU, byte for byte, and checks the rules of the hardware.

It does not use tiles and layouts: it runs the same NVVM as the GPU.
"""

from .errors import EmulationError, Violation, ViolationKind, Violations
from .launch import emulate, parse_lowered

__all__ = ["EmulationError", "Violation", "ViolationKind", "Violations", "emulate", "parse_lowered"]


def __dir__() -> list[str]:
    return __all__
