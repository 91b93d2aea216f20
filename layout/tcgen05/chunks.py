"""Operands whose instructions read 48 bytes along K, of which a row of 128 bytes holds no whole number.

The ISA's absolute mode of the leading dimension (9.7.16.3.1.2) reads such a row in two chunks; the second
begins at the address in the descriptor's LBO. As in CUTLASS and Triton, the tile has ordinary atoms of
128 bytes along K, and the second chunk is the row's start in the next atom. That the rows of the second
chunk have the strides of the first is implied by both, and stated nowhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..canonical import FORMS, Canonical, Major, Mismatch, match
from ..descriptor import UNUSED_LBO_K_MAJOR
from ..elements import UNIT_BYTES
from ..instruction import instruction_k
from ..modes import LayoutError, format_origin
from ..operand import MmaTiles, Role
from ..swizzle import Swizzle
from ..tile import TileLayout
from .descriptor import Tcgen05Descriptor
from .kinds import Kind
from .operand import operand_pieces, reading_problem
from .shapes import LONG_K_BYTES


@dataclass(frozen=True)
class Chunks(MmaTiles):
    """The MMA tiles of an operand with K blocks of 48 bytes. The descriptor of an MMA tile in two chunks
    holds the address of the second chunk, in addition to its start.

    Attributes:
        canonical, pieces, starts, encoding: as for `MmaTiles`.
        seconds: byte offset of the second chunk of each MMA tile's first row in the tile, before the
            swizzle; None for an MMA tile with one chunk.
    """

    seconds: tuple[tuple[int | None, ...], ...] = ()

    @property
    def sbo(self) -> int:
        """Stride dimension byte offset."""
        return self.canonical.sbo or 0

    @property
    def second_steps(self) -> tuple[tuple[int, ...], ...]:
        """The step from the tile's start to the second chunk of each MMA tile, in 16-byte units; -1 for
        an MMA tile with one chunk."""
        return tuple(
            tuple(-1 if s is None else s // UNIT_BYTES for s in row) for row in self.seconds
        )

    def descriptor(self, start: int, base_offset: int = 0) -> Tcgen05Descriptor:
        """Return the descriptor of the first MMA tile of a tile at byte address `start`; see
        `tile_descriptor`."""
        return replace(self.tile_descriptor(0, 0, start), base_offset=base_offset)

    def tile_descriptor(self, mn: int, k: int, start: int) -> Tcgen05Descriptor:
        """Return the descriptor of an MMA tile.

        Args:
            mn, k: the indices of the MMA tile.
            start: the byte address of the tile, aligned to the swizzle's pattern.

        Raises:
            ValueError: if `start` is not aligned.
        """
        if start % Swizzle.B128.pattern_bytes:
            raise ValueError(
                f"the tile begins at {start:#x}; with an absolute leading dimension the base offset is "
                f"0, so it begins at a multiple of {Swizzle.B128.pattern_bytes}"
            )
        second = self.seconds[mn][k]
        return Tcgen05Descriptor(
            start + self.starts[mn][k],
            UNUSED_LBO_K_MAJOR if second is None else start + second,
            self.sbo,
            swizzle=Swizzle.B128,
            absolute=second is not None,
        )

    def __str__(self) -> str:
        split = [str(k) for k, second in enumerate(self.seconds[0]) if second is not None]
        which = ", ".join(split) if split else "none"
        return f"K-major, {len(self.seconds[0])} K blocks of 48 bytes, in two chunks: {which}"


def chunked_mma_tiles(tile: TileLayout, role: Role, kind: Kind, ctas: int = 1) -> Chunks | Mismatch:
    """Cut a tile of one CTA, (M, K) for A and (K, N) for B, into MMA tiles with K blocks of 48 bytes.

    Args:
        tile: the tile's layout: K-major, 128-byte swizzle (9.7.16.3.1.2.1).
        role: A or B.
        kind: the instructions' kind, `mxf4` or `mxf4nvf4`.
        ctas: CTAs that execute each instruction.

    Returns:
        The MMA tiles, or why the instructions cannot read them.
    """
    operand, bits = role.orient(tile), tile.element.bits
    if tile.element not in kind.codes or bits != 4:
        return Mismatch(
            f"K steps of {LONG_K_BYTES} bytes are of 4-bit types in kind::mxf4 and kind::mxf4nvf4, not "
            f"of {tile.element} in kind::{kind}"
        )
    problem = reading_problem(operand, role)
    if problem:
        return Mismatch(problem)
    if operand.swizzle is not Swizzle.B128:
        return Mismatch(
            f"the leading dimension is absolute, which needs swizzle 128B with atoms of 16 bytes, not "
            f"{operand.swizzle}"
        )
    step, atom = instruction_k(tile.element, LONG_K_BYTES), Swizzle.B128.atom_elements(tile.element)
    if operand.shape[1] % step:
        return Mismatch(f"k is {operand.shape[1]}, not a multiple of {step} ({LONG_K_BYTES} bytes)")
    pieces = operand_pieces(operand, role, kind, ctas, LONG_K_BYTES)
    if isinstance(pieces, Mismatch):
        return pieces
    sbos: set[int] = set()
    starts: list[tuple[int, ...]] = []
    seconds: list[tuple[int | None, ...]] = []
    mn = 0
    for piece in pieces:
        atoms = [
            _atom(operand, mn, piece, k, min(atom, operand.shape[1] - k))
            for k in range(0, operand.shape[1], atom)
        ]
        problems = [problem for problem in atoms if isinstance(problem, Mismatch)]
        if problems:
            return problems[0]
        begins = [begin for _, begin in atoms]  # type: ignore[misc]
        sbos |= {canonical.sbo for canonical, _ in atoms if canonical.sbo is not None}  # type: ignore[misc]
        row: list[int] = []
        second_row: list[int | None] = []
        for k in range(0, operand.shape[1], step):
            index, within = divmod(k, atom)
            row.append(begins[index] + within * bits // 8)
            second_row.append(begins[index + 1] if within + step > atom else None)
        starts.append(tuple(row))
        seconds.append(tuple(second_row))
        mn += piece
    if len(sbos) > 1:
        return Mismatch(f"its MMA tiles need SBOs of {sorted(sbos)} bytes, and an operand has one")
    canonical = Canonical(FORMS[Major.K, Swizzle.B128], None, max(sbos, default=0))
    return Chunks(canonical, pieces, tuple(starts), Tcgen05Descriptor, seconds=tuple(seconds))


def _atom(
    operand: TileLayout, mn: int, piece: int, k: int, extent: int
) -> tuple[Canonical, int] | Mismatch:
    """Return the canonical layout of an instruction's rows in the atoms at `k`, and their byte offset."""
    where = f"the atoms of {piece}x{extent} at ({mn}, {k})"
    try:
        subtile = operand.slice((mn, k), (piece, extent))
    except LayoutError as error:
        return Mismatch(f"{where}: {error}")
    if subtile.terms or not subtile.layout.has_static_origin:
        return Mismatch(f"{where} begin at a position known at run time only; use whole tiles")
    if subtile.layout.origin:
        begin = format_origin(subtile.layout.origin)
        return Mismatch(f"{where} cut atoms: they begin at {begin} within them")
    canonical = match(subtile.layout)
    if isinstance(canonical, Mismatch):
        return Mismatch(f"{where}: {canonical.reason}")
    return canonical, subtile.offset * operand.element.bits // 8
