"""What an emulated kernel did wrong, and what the emulator cannot run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..dialect.diagnostics import format_location


class EmulationError(Exception):
    """What the emulator cannot execute: an op that it does not know, arguments that do not fit.

    Attributes:
        location: the op's location, or None.
    """

    def __init__(self, message: str, location: Any = None) -> None:
        super().__init__(message if location is None else f"{format_location(location)}: {message}")
        self.location = location
        self.message = message


class ViolationKind(Enum):
    """The rules that a kernel can break."""

    UNINITIALISED = "uninitialised"
    UNFENCED = "unfenced"
    RACE = "race"
    COPY_IN_FLIGHT = "copy-in-flight"
    OVERWRITTEN = "overwritten"
    ACCUMULATOR_IN_FLIGHT = "accumulator-in-flight"
    TENSOR_IN_FLIGHT = "tensor-in-flight"
    TENSOR_MEMORY = "tensor-memory"
    REGISTERS_UNFENCED = "registers-unfenced"
    POISON = "poison"
    OUT_OF_BOUNDS = "out-of-bounds"
    MISALIGNED = "misaligned"
    DESCRIPTOR = "descriptor"
    METADATA = "metadata"
    DIVERGENT = "divergent"
    BARRIER = "barrier"
    EXITED = "exited"
    DEADLOCK = "deadlock"
    ASSERTION = "assertion"


@dataclass(frozen=True)
class Violation:
    """One rule that a kernel broke at one op.

    Attributes:
        kind: the rule.
        location: the op that broke it.
        message: what happened: the bytes or registers concerned, and the op that is missing.
        cta: the CTA's indices along x, y, z.
    """

    kind: ViolationKind
    location: Any
    message: str
    cta: tuple[int, int, int]

    @property
    def place(self) -> tuple[ViolationKind, str]:
        """What makes two violations the same: the rule, and where it was broken."""
        return self.kind, str(self.location)

    def __str__(self) -> str:
        where = ", ".join(map(str, self.cta))
        return f"{format_location(self.location)}: {self.message} (CTA {where})"


class Violations(Exception):
    """A kernel ran, but broke rules; its results mean nothing.

    Attributes:
        found: each violation once for its op and kind, in the order of discovery.
    """

    def __init__(self, found: Sequence[Violation]) -> None:
        super().__init__("\n".join(map(str, found)))
        self.found = tuple(found)


class Stop(Exception):
    """Ends the emulation where nothing sensible can follow a violation that was reported."""
