"""LBO and SBO as strides of a tile, shown as brackets next to a picture."""

from __future__ import annotations

from dataclasses import dataclass

from ...layout.arch import Arch
from ...layout.canonical import Mismatch, match
from ...layout.instruction import instruction_k
from ...layout.modes import LayoutError
from ...layout.operand import Role
from ...layout.tile import TileLayout


@dataclass(frozen=True)
class Stride:
    """A stride of a descriptor, from element (0, 0) of the tile.

    Attributes:
        name: LBO or SBO.
        size: the stride in bytes.
        to: (row, column) of the element at its end.
    """

    name: str
    size: int
    to: tuple[int, int]

    def __str__(self) -> str:
        return f"{self.name} {self.size} bytes"


def descriptor_strides(layout: TileLayout, role: Role, arch: Arch = Arch.SM_90) -> list[Stride]:
    """Return LBO and SBO, if the instruction uses them.

    Args:
        layout: the tile, (M, K) or (K, N).
        role: A or B.
        arch: the architecture.

    Raises:
        LayoutError: if the architecture does not have the swizzle, or the K block has no canonical
            layout.
    """
    if layout.swizzle not in arch.swizzles:
        have = [str(candidate) for candidate in Arch if layout.swizzle in candidate.swizzles]
        raise LayoutError(
            f"no LBO and SBO: {arch} has no swizzle {layout.swizzle}; {' and '.join(have)} have (--arch)"
        )
    operand = role.orient(layout)
    k = min(operand.shape[1], instruction_k(operand.element))
    canonical = match(operand.slice((0, 0), (operand.shape[0], k)).layout)
    if isinstance(canonical, Mismatch):
        raise LayoutError(f"no LBO and SBO: {canonical.reason}")
    strides = []
    for name, size in (("LBO", canonical.lbo), ("SBO", canonical.sbo)):
        step = canonical.form.step(name, operand.element)
        if size is None or step is None:
            continue
        dim, count = step
        along_rows = (dim == 0) == (role is Role.A)
        strides.append(Stride(name, size, (count, 0) if along_rows else (0, count)))
    return strides
