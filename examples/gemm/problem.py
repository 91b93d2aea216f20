"""What a GEMM kernel computes: element types, and which dimensions are contiguous."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mlir_smem.dialect.bindings import ir


@dataclass(frozen=True)
class Problem:
    """C = A * B of matrices in global memory.

    Attributes:
        a, b, c: MLIR's names of the element types.
        a_major: "k" if A's rows are contiguous, "m" if its columns are.
        b_major: "k" if B's columns are contiguous, "n" if its rows are.
    """

    a: str = "bf16"
    b: str = "bf16"
    c: str = "bf16"
    a_major: str = "k"
    b_major: str = "n"

    def matrix_types(self) -> list[Any]:
        """The kernel's arguments."""
        a = "[?, 1]" if self.a_major == "k" else "[1, ?]"
        b = "[?, 1]" if self.b_major == "n" else "[1, ?]"
        return [
            ir.Type.parse(f"memref<?x?x{element}, strided<{strides}>>")
            for element, strides in ((self.a, a), (self.b, b), (self.c, "[?, 1]"))
        ]

    def a_element(self) -> Any:
        return ir.Type.parse(self.a)

    def b_element(self) -> Any:
        return ir.Type.parse(self.b)

    def c_element(self) -> Any:
        return ir.Type.parse(self.c)
