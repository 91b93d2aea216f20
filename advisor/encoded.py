"""The descriptors of an operand, from given fields or from the layout of its tile."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..layout import (
    Arch,
    Descriptor,
    Element,
    LayoutError,
    Mismatch,
    MmaTiles,
    Role,
    Swizzle,
    TileLayout,
    base_offset,
)
from ..layout.elements import UNIT_BYTES, WINDOW_BYTES
from ..layout.tile import size_problem
from .answer import Answer
from .decoded import decode
from .suspicions import Suspicion


@dataclass(frozen=True)
class Operand(Answer):
    """A tile as an operand, and its MMA tiles.

    Attributes:
        tile: the layout of one stage, (M, K) for A and (K, N) for B.
        role: A or B.
        mma_tiles: the subtile that each instruction reads.
        stage_steps: offset of the descriptor for each stage, in 16-byte units.
        arch: the architecture.
    """

    tile: TileLayout
    role: Role
    mma_tiles: MmaTiles
    stage_steps: tuple[int, ...] = (0,)
    arch: Arch = Arch.SM_90

    @property
    def form(self) -> str:
        """The canonical layout of every MMA tile, in the ISA's notation."""
        canonical = self.mma_tiles.canonical
        return f"{canonical.swizzle.cute} o {canonical.form.text}"

    @property
    def k_steps(self) -> tuple[int, ...]:
        """Offset of the descriptor for each instruction along K, in 16-byte units."""
        return self.mma_tiles.steps[0]

    @property
    def mn_steps(self) -> tuple[int, ...]:
        """Offset of the descriptor for each instruction along m/n, in 16-byte units."""
        return tuple(row[0] for row in self.mma_tiles.steps)


def operand_of(
    tile: TileLayout, role: Role, rows: int | None = None, arch: Arch = Arch.SM_90
) -> Operand | Mismatch:
    """Return a tile as an operand, or why no instruction reads it.

    Args:
        tile: (M, K) for A, (K, N) for B, or with stages as the first extent.
        role: A or B.
        rows: the extent along m/n of each instruction; None for A's M, and the MMA's N pieces for B.
        arch: the architecture.

    Example:
        >>> operand = operand_of(tile_of_atoms(element("bf16"), (128, 64), 1, Swizzle.B128), Role.A)
        >>> operand.mma_tiles.canonical.sbo
        1024
    """
    if not arch.multiplies(tile.element):
        return Mismatch(f"{tile.element} is not an A or B element type of {arch.instructions}")
    if problem := size_problem(tile.element, tile.shape):
        return Mismatch(problem)
    stage_steps, stage = (0,), tile
    if len(tile.shape) == 3:
        starts = [tile.stage(index).offset * tile.element.bits for index in range(tile.shape[0])]
        misaligned = next((start for start in starts if start % (UNIT_BYTES * 8)), None)
        if misaligned is not None:
            return Mismatch(
                f"a stage begins {misaligned / 8:g} bytes into the tile, not at a multiple of 16"
            )
        stage_steps = tuple(start // (UNIT_BYTES * 8) for start in starts)
        stage = tile.stage(0).layout
    if problem := tile.overlap_problem():
        return Mismatch(problem)
    mma_tiles = arch.mma_tiles(stage, role, rows=rows)
    if isinstance(mma_tiles, Mismatch):
        return mma_tiles
    return Operand(stage, role, mma_tiles, stage_steps, arch)


@dataclass(frozen=True)
class Encoded(Answer):
    """The descriptors of an operand.

    Attributes:
        descriptor: the descriptor of the first instruction.
        operand: the operand; None if the descriptor's fields were given.
        suspicions: suspicious values of the fields.
        arch: the architecture.
    """

    descriptor: Descriptor
    operand: Operand | None = None
    suspicions: tuple[Suspicion, ...] = ()
    arch: Arch = Arch.SM_90

    @property
    def bits(self) -> int:
        """The descriptor's 64 bits."""
        return self.descriptor.encode()

    @property
    def constant(self) -> int:
        """The descriptor without its address, a compile-time constant."""
        return replace(self.descriptor, start=0).encode()

    @property
    def descriptors(self) -> tuple[tuple[int, ...], ...]:
        """The descriptors of all instructions of the first stage, indexed [m/n][k]."""
        steps = self.operand.mma_tiles.steps if self.operand else ((0,),)
        return tuple(tuple(self.bits + step for step in row) for row in steps)


def encode(
    start: int,
    lbo: int,
    sbo: int,
    swizzle: Swizzle,
    offset: int = 0,
    arch: Arch = Arch.SM_90,
    absolute: bool = False,
    *,
    element: Element | None = None,
    rows: int | None = None,
) -> Encoded:
    """Return the descriptor with the given fields.

    Args:
        start, lbo, sbo: in bytes.
        swizzle: the swizzling mode.
        offset: the base offset.
        arch: the architecture.
        absolute: whether `lbo` is an absolute address, for a K of 48 bytes.
        element: the element type; with it, what an instruction reads is checked, too.
        rows: the extent along m/n of that instruction; None for the M of A.

    Raises:
        LayoutError: if a field cannot hold its value, the values contradict each other, or the
            architecture does not have the mode.

    Example:
        >>> hex(encode(start=0, lbo=16, sbo=1024, swizzle=Swizzle.B128).bits)
        '0x4000004000010000'
    """
    if offset and swizzle is Swizzle.NONE:
        raise LayoutError(f"base offset is {offset}, but without swizzle it must be 0")
    if absolute and not arch.has_absolute_lbo:
        raise LayoutError(
            f"LBO is an absolute address, which only sm_103 has; on {arch} it is a relative offset"
        )
    mode = {"absolute": True} if absolute else {}
    try:
        descriptor = arch.descriptor(start, lbo, sbo, offset, swizzle, **mode)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    bits = descriptor.encode()
    return Encoded(descriptor, None, decode(bits, element, None, rows, arch=arch).suspicions, arch)


def encode_operand(operand: Operand, start: int = 0) -> Encoded:
    """Return the descriptors of an operand whose tile starts at a byte address.

    Raises:
        LayoutError: if a tile cannot start there.

    Example:
        >>> operand = operand_of(tile_of_atoms(element("bf16"), (128, 64), 1, Swizzle.B128), Role.A)
        >>> hex(encode_operand(operand, start=1024).bits)
        '0x4000004000010040'
    """
    size = operand.tile.size_bytes + operand.stage_steps[-1] * UNIT_BYTES
    if start + size > WINDOW_BYTES:
        raise LayoutError(
            f"a tile of {size} bytes at {start:#x} ends above {WINDOW_BYTES:#x}, the limit of descriptor "
            "addresses"
        )
    try:
        offset = base_offset(start, operand.tile.swizzle)
        descriptor = operand.mma_tiles.descriptor(start, offset)
    except ValueError as error:
        raise LayoutError(str(error)) from None
    return Encoded(descriptor, operand, arch=operand.arch)
