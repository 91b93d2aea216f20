"""Violations that a kernel commits, and errors for kernels that the emulator cannot run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from ..bindings.diagnostics import format_location


class EmulationError(Exception):
    """A kernel that the emulator cannot run: an unsupported op, or arguments that do not fit.

    Attributes:
        location: the op's location, or None.
    """

    def __init__(self, message: str, location: Any = None) -> None:
        super().__init__(message if location is None else f"{format_location(location)}: {message}")
        self.location = location
        self.message = message


class ViolationKind(Enum):
    """The rules of the hardware that a kernel can violate."""

    UNINITIALISED = "uninitialised"
    UNFENCED = "unfenced"
    RACE = "race"
    COPY_IN_FLIGHT = "copy-in-flight"
    OVERWRITTEN = "overwritten"
    ACCUMULATOR_IN_FLIGHT = "accumulator-in-flight"
    TENSOR_MEMORY_IN_FLIGHT = "tensor-memory-in-flight"
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


#: Reports a violation: its kind and its message.
Report = Callable[[ViolationKind, str], None]


@dataclass(frozen=True)
class Violation:
    """A violation of one rule at one op.

    Attributes:
        kind: the rule.
        location: of the op that violates it.
        message: the bytes or registers that are accessed, and the op that is missing.
        cta: the CTA's indices along x, y, z.

    Example:
        >>> violation = Violation(ViolationKind.UNFENCED, None, "reads unfenced bytes", (0, 0, 0))
        >>> violation.kind, violation.cta
        (<ViolationKind.UNFENCED: 'unfenced'>, (0, 0, 0))
    """

    kind: ViolationKind
    location: Any
    message: str
    cta: tuple[int, int, int]

    @property
    def place(self) -> tuple[ViolationKind, str]:
        """The rule and the location; violations that agree in both are reported once."""
        return self.kind, str(self.location)

    def __str__(self) -> str:
        where = ", ".join(map(str, self.cta))
        return f"{format_location(self.location)}: {self.message} (CTA {where})"


class Violations(Exception):
    """A kernel violated rules of the hardware, so its results are not valid.

    Attributes:
        found: the violations, one for each op and kind, in the order of discovery.

    Example:
        >>> import ml_dtypes
        >>> text = mlir_smem.examples.path("mma.mlir").read_text()
        >>> nvvm = mlir_smem.compile(text, emit="nvvm").nvvm.replace("nvvm.fence.proxy", "// ")
        >>> a, b = (np.eye(64, dtype=ml_dtypes.bfloat16) for _ in "AB")
        >>> matrices = [a, b, np.zeros((64, 64), np.float32)]
        >>> sizes = {"grid": (1, 1, 1), "block": (128, 1, 1), "dynamic_shared_bytes": 16384}
        >>> try:
        ...     emulate(nvvm, "mma", matrices, **sizes)
        ... except Violations as error:
        ...     print(error.found[0].kind)
        ViolationKind.UNFENCED
    """

    def __init__(self, found: Sequence[Violation]) -> None:
        super().__init__("\n".join(map(str, found)))
        self.found = tuple(found)


class Stop(Exception):
    """Ends the emulation after a violation from which it cannot continue; the violation is reported."""
