"""An mma operand in shared memory: its MMA tiles, and the descriptors by which instructions read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property

import numpy as np

from .canonical import DENSE_FORMS, Canonical, Forms, Major, Mismatch, match
from .descriptor import Descriptor
from .elements import UNIT_BYTES, Element
from .instruction import INSTRUCTION_K_BYTES, instruction_k
from .modes import LayoutError, Term
from .swizzle import Swizzle
from .tile import TileLayout, size_problem


def addresses(d: Descriptor, element: Element, major: Major, rows: int, columns: int) -> np.ndarray:
    """Return the byte address of each element that a descriptor describes: int64[rows, columns].

    Whether instructions read that type with that majorness and swizzle is not checked.

    Args:
        d: the descriptor.
        element: the element type.
        major: the contiguous dimension.
        rows, columns: the extents along m/n and k, in elements.
    """
    row = np.arange(rows, dtype=np.int64)[:, None]
    k = np.arange(columns, dtype=np.int64)[None, :]
    width, lines = d.swizzle.width, d.swizzle.lines
    if major is Major.K:
        kb = k * element.bits // 8
        if d.swizzle is Swizzle.NONE:
            a = row // 8 * d.sbo + kb // UNIT_BYTES * d.lbo + row % 8 * UNIT_BYTES + kb % UNIT_BYTES
        else:
            # A dense operand has at most `width` bytes along k; B of a sparse wgmma may have more.
            a = row // 8 * d.sbo + row % 8 * width + kb % width + kb // width * d.lbo
    else:
        size, per_atom = element.bits // 8, width * 8 // element.bits
        along, across = (d.sbo, d.lbo) if d.swizzle is Swizzle.NONE else (d.lbo, d.sbo)
        a = (
            row // per_atom * along
            + row % per_atom * size
            + k % lines * width
            + k // lines * across
        )
    return d.swizzle.apply(d.start + a, d.base_offset)


class Role(Enum):
    """The role of an operand: A is M x K, B is K x N."""

    A = "a"
    B = "b"

    @property
    def extent_name(self) -> str:
        """The ISA's letter for the dimension that is not K."""
        return "M" if self is Role.A else "N"

    def orient(self, tile: TileLayout) -> TileLayout:
        """Return the tile as an operand of shape (m/n, k)."""
        return tile if self is Role.A else tile.transposed()


@dataclass(frozen=True)
class MmaTiles:
    """The MMA tiles of an operand, each read by one instruction: one descriptor plus constant steps.

    A subtile that cuts atoms at a run-time start needs several descriptors: the distances between its MMA
    tiles vary, and each set of MMA tiles with constant distances has its own descriptor.

    Attributes:
        canonical: the canonical layout of every MMA tile.
        pieces: extents along m/n of successive instructions.
        starts: byte offset of each MMA tile from the start of the tile's modes, before the swizzle; the
            constant part, indexed [m/n tile][k block].
        encoding: the descriptors of the instructions.
        terms: the terms that the run-time origin adds, in elements, for each descriptor; their
            dimensions are those of the tile.
        bases: the descriptor to which the step of each MMA tile is added, indexed as `starts`.
    """

    canonical: Canonical
    pieces: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]
    encoding: type[Descriptor]
    terms: tuple[tuple[Term, ...], ...] = ((),)
    bases: tuple[tuple[int, ...], ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash(
            (self.canonical, self.pieces, self.starts, self.encoding, self.terms, self.bases)
        )

    def __hash__(self) -> int:
        # Cached: MMA tiles are keys of caches, like layouts.
        return self._hash

    def __getstate__(self) -> dict[str, object]:
        # Hashes differ between processes.
        return {name: value for name, value in vars(self).items() if name != "_hash"}

    def descriptor(self, start: int, base_offset: int = 0) -> Descriptor:
        """Return the descriptor of the first MMA tile of a tile at byte address `start`."""
        first = start + self.starts[0][0]
        return self.encoding.of(self.canonical, first, base_offset)

    @property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """The step from the first MMA tile's descriptor to that of each MMA tile, in 16-byte units."""
        first = self.starts[0][0]
        return tuple(tuple((s - first) // UNIT_BYTES for s in row) for row in self.starts)

    def __str__(self) -> str:
        form = f"{self.canonical.swizzle.cute} o {self.canonical.form.text}"
        count = len(self.terms)
        descriptors_text = f", by {count} descriptors computed at run time" if count > 1 else ""
        return f"{self.canonical.major}, {form}{descriptors_text}"


def shape_problem(tile: TileLayout) -> Mismatch | None:
    """Return why the rank or the size of a tile does not fit an operand, or None."""
    if len(tile.shape) != 2:
        return Mismatch(
            f"an operand has rank 2, but the tile has rank {len(tile.shape)}: use one stage of it"
        )
    problem = size_problem(tile.element, tile.shape)
    return Mismatch(problem) if problem else None


def mma_tiles_of(
    tile: TileLayout,
    role: Role,
    pieces: tuple[int, ...],
    encoding: type[Descriptor],
    k_bytes: int = INSTRUCTION_K_BYTES,
    forms: Forms = DENSE_FORMS,
) -> MmaTiles | Mismatch:
    """Return the MMA tiles of a tile, (M, K) for A and (K, N) for B, as `operand_mma_tiles` does.

    Args:
        tile: the tile's layout.
        role: A or B.
        pieces, encoding, k_bytes, forms: as for `operand_mma_tiles`.
    """
    mma_tiles = operand_mma_tiles(role.orient(tile), pieces, encoding, k_bytes, forms)
    if isinstance(mma_tiles, Mismatch) or role is Role.A:
        return mma_tiles
    # Terms count the operand's dimensions; B is transposed.
    transposed = [tuple(replace(t, dim=1 - t.dim) for t in terms) for terms in mma_tiles.terms]
    return replace(mma_tiles, terms=tuple(transposed))


def operand_mma_tiles(
    operand: TileLayout,
    pieces: tuple[int, ...],
    encoding: type[Descriptor],
    k_bytes: int = INSTRUCTION_K_BYTES,
    forms: Forms = DENSE_FORMS,
) -> MmaTiles | Mismatch:
    """Cut an operand of shape (m/n, k) into MMA tiles.

    Args:
        operand: the operand's layout, (m/n, k).
        pieces: the extents along m/n of successive instructions, the widest first; their sum is the
            operand's extent.
        encoding: the descriptors of the instructions.
        k_bytes: bytes along k that one instruction reads of each row.
        forms: the canonical layouts that the instructions read.

    Returns:
        The MMA tiles, or which of them is not canonical, and why.
    """
    element = operand.element
    step = instruction_k(element, k_bytes)
    if operand.shape[1] % step:
        return Mismatch(
            f"k is {operand.shape[1]}, not a multiple of {step} ({element.bytes(step)} bytes of "
            f"{element})"
        )
    tile_canonical: Canonical | None = None
    starts: list[tuple[int, ...]] = []
    bases: list[tuple[int, ...]] = []
    terms: dict[tuple[Term, ...], int] = {}
    mn = 0
    for piece in pieces:
        row: list[int] = []
        base: list[int] = []
        for k in range(0, operand.shape[1], step):
            where = f"the MMA tile of {piece}x{step} at ({mn}, {k})"
            try:
                subtile = operand.slice((mn, k), (piece, step))
            except LayoutError as error:
                return Mismatch(f"{where}: {error}")
            canonical = match(subtile.layout, forms)
            if isinstance(canonical, Mismatch):
                return replace(canonical, reason=f"{where}: {canonical.reason}")
            if subtile.multiple * element.bits % (UNIT_BYTES * 8):
                or_multiple = " or a multiple of that" if subtile.terms else ""
                return Mismatch(
                    f"{where} starts {subtile.multiple} elements{or_multiple} into the tile, which is "
                    f"not a multiple of {UNIT_BYTES} bytes"
                )
            # All MMA tiles have the tile's strides; the first, the widest, needs all of them.
            tile_canonical = tile_canonical or canonical
            row.append(subtile.offset * element.bits // 8)
            subtile_terms = tuple(replace(term, added=(mn, k)[term.dim]) for term in subtile.terms)
            base.append(terms.setdefault(subtile_terms, len(terms)))
        starts.append(tuple(row))
        bases.append(tuple(base))
        mn += piece
    assert tile_canonical is not None
    return MmaTiles(tile_canonical, pieces, tuple(starts), encoding, tuple(terms), tuple(bases))
