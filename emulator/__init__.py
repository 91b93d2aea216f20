"""Executes lowered kernels on the CPU, byte for byte, by the rules of the hardware.

It knows nothing of tiles and layouts: what it runs is what the GPU would run.
"""

from .errors import EmulationError, Violation, ViolationKind, Violations
from .launch import emulate

__all__ = ["EmulationError", "Violation", "ViolationKind", "Violations", "emulate"]
