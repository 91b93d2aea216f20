"""An mma operand in shared memory: what one instruction reads, and the descriptors of its blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from functools import lru_cache

import numpy as np

from .canonical import Canonical, Major, Mismatch, match
from .descriptor import Descriptor
from .elements import SPARSITY, UNIT_BYTES, Element
from .elements import element as element_named
from .instruction import INSTRUCTION_M, legal_n, n_pieces, n_rule
from .modes import LayoutError, Term
from .swizzle import Swizzle
from .tile import TileLayout

#: What a stride that nothing depends on is encoded as. The ISA assumes 1 for the LBO of swizzled
#: K-major layouts; the others are 0.
UNUSED_LBO_K_MAJOR = UNIT_BYTES


def operand_addresses(
    descriptor: int, element: str, major: str, rows: int, sparse: bool = False
) -> np.ndarray:
    """The byte address that one `wgmma` reads for each element of an operand (measured on an H200).

    Args:
        descriptor: the 64-bit matrix descriptor.
        element: the element type's name, for example "bf16".
        major: "k" or "mn".
        rows: the operand's extent along m or n.
        sparse: whether it is B of a sparse `wgmma`, which reads twice the K; A of one, compressed,
            is read as that of a dense one.

    Returns:
        int64[rows, k], absolute addresses in the shared window; k is the instruction's (32 bytes,
        or 64). Elements of b1 share a byte: element `i` along k is bit `i % 8`.

    Raises:
        ValueError: for an unknown element type or major, a malformed descriptor, MN-major data of a
            type that `wgmma` reads K-major only, or a type that it does not multiply sparse.
    """
    kind, order = element_named(element), Major(major)
    if order is Major.MN and not kind.mn_major:
        raise ValueError(f"wgmma reads {kind} K-major only; MN-major is for 16-bit types")
    if sparse and not kind.has_sparse:
        raise ValueError(f"wgmma does not multiply {kind} sparse")
    k = kind.instruction_k * (SPARSITY if sparse else 1)
    return addresses(Descriptor.decode(descriptor), kind, order, rows, k)


def addresses(d: Descriptor, kind: Element, order: Major, rows: int, columns: int) -> np.ndarray:
    """The address of each element that a descriptor stands for; what `operand_addresses` checks is not
    checked.

    Args:
        d: the descriptor.
        kind, order: the element type and the major.
        rows, columns: the extents along m/n and k.
    """
    row = np.arange(rows, dtype=np.int64)[:, None]
    k = np.arange(columns, dtype=np.int64)[None, :]
    width, lines = d.swizzle.width, d.swizzle.lines
    if order is Major.K:
        kb = k * kind.bits // 8
        if d.swizzle is Swizzle.NONE:
            a = row // 8 * d.sbo + kb // UNIT_BYTES * d.lbo + row % 8 * UNIT_BYTES + kb % UNIT_BYTES
        else:
            # A dense operand has no bytes behind the first `width`; see SPARSE_B_FORMS.
            a = row // 8 * d.sbo + row % 8 * width + kb % width + kb // width * d.lbo
    else:
        size, per_atom = kind.bits // 8, width * 8 // kind.bits
        along, across = (d.sbo, d.lbo) if d.swizzle is Swizzle.NONE else (d.lbo, d.sbo)
        a = (
            row // per_atom * along
            + row % per_atom * size
            + k % lines * width
            + k // lines * across
        )
    return d.swizzle.apply(d.start + a, d.base_offset)


class Role(Enum):
    """Which multiplicand an operand is: A is M x K, B is K x N."""

    A = "a"
    B = "b"

    @property
    def extent_name(self) -> str:
        """The ISA's letter for the dimension that is not K."""
        return "M" if self is Role.A else "N"

    def orient(self, tile: TileLayout) -> TileLayout:
        """The tile as an operand of shape (m/n, k)."""
        return tile if self is Role.A else tile.transposed()


@dataclass(frozen=True)
class OperandBlocks:
    """The instructions' shares of an operand tile: one descriptor plus constant steps.

    Only a part that cuts atoms where the running kernel says has blocks whose distance varies; each
    set of blocks that keep theirs then has a descriptor of its own.

    Attributes:
        canonical: the canonical layout that every block has.
        pieces: extents along m/n of successive instructions.
        starts: byte offset of each block from where the tile's modes begin, before the swizzle, as
            far as it is constant, indexed [m/n block][k block].
        terms: what the run-time origin adds to blocks, in elements, for each descriptor; its
            dimensions are those of the tile.
        bases: which descriptor each block is a constant step from, indexed as `starts`.
        encoding: the descriptors of the instructions.
    """

    canonical: Canonical
    pieces: tuple[int, ...]
    starts: tuple[tuple[int, ...], ...]
    terms: tuple[tuple[Term, ...], ...] = ((),)
    bases: tuple[tuple[int, ...], ...] = ()
    encoding: type[Descriptor] = Descriptor

    def descriptor(self, start: int = 0, base_offset: int = 0) -> Descriptor:
        """The descriptor of the first block of a tile at byte address `start`."""
        first = start + self.starts[0][0]
        return descriptor_of(self.canonical, first, base_offset, self.encoding)

    @property
    def steps(self) -> tuple[tuple[int, ...], ...]:
        """What is added to each block's descriptor, in 16-byte units; that of the first block is 0."""
        first = self.starts[0][0]
        return tuple(tuple((s - first) // UNIT_BYTES for s in row) for row in self.starts)


def descriptor_of(
    canonical: Canonical,
    start: int,
    base_offset: int = 0,
    encoding: type[Descriptor] = Descriptor,
) -> Descriptor:
    """The descriptor of an operand with that canonical layout at byte address `start`."""
    swizzled_k_major = canonical.major is Major.K and canonical.swizzle is not Swizzle.NONE
    unused = UNUSED_LBO_K_MAJOR if swizzled_k_major else 0
    lbo = unused if canonical.lbo is None else canonical.lbo
    return encoding(start, lbo, canonical.sbo or 0, base_offset, canonical.swizzle)


def rank_problem(tile: TileLayout) -> Mismatch | None:
    """Why a tile is no operand because of its rank; None if it may be one."""
    if len(tile.shape) == 2:
        return None
    return Mismatch(
        f"an operand has rank 2, but the tile has rank {len(tile.shape)}: use one stage of it"
    )


@lru_cache(maxsize=4096)
def operand_blocks(
    tile: TileLayout, role: Role, sparse: bool = False, rows: int | None = None
) -> OperandBlocks | Mismatch:
    """Cuts a tile, (M, K) for A and (K, N) for B, into what each instruction of an mma reads.

    Args:
        tile: the tile's layout; of a sparse A the compressed one, (M, K / 2).
        role: which operand it is.
        sparse: whether the instructions are sparse: each reads twice as much of B along K.
        rows: the extent along m/n of each instruction; None cuts the tile as an mma does.

    Returns:
        The blocks, or why the instructions cannot read them.
    """
    if problem := rank_problem(tile):
        return problem
    operand = role.orient(tile)
    kind, extent = tile.element, operand.shape[0]
    if sparse and not kind.has_sparse:
        return Mismatch(f"wgmma does not multiply {kind} sparse")
    pieces = _pieces(kind, role, extent, rows)
    if isinstance(pieces, Mismatch):
        return pieces
    if operand.contiguous_dim == 0 and not kind.mn_major:
        return Mismatch(
            f"the tile is {role.extent_name}-major, but wgmma reads {kind} K-major only (MN-major "
            "is for 16-bit types); a copy can make it K-major (smem.copy with the unit attribute "
            "relayout)" + ("" if sparse else _read_by_tcgen05(kind))
        )
    if operand.swizzle not in Descriptor.modes:
        return Mismatch(f"wgmma has no swizzle {operand.swizzle}; tcgen05 has")
    return blocks_of_tile(tile, role, pieces, sparse)


def _read_by_tcgen05(kind: Element) -> str:
    """What is said of other instructions, which read MN-major what `wgmma` does not."""
    return ", and tcgen05 (sm_100) can read it so" if kind.tcgen05_mn_major else ""


def _pieces(kind: Element, role: Role, extent: int, rows: int | None) -> tuple[int, ...] | Mismatch:
    """The extents along m/n of successive instructions, or why there are none."""
    if rows is not None:
        if rows not in ((INSTRUCTION_M,) if role is Role.A else legal_n(kind)):
            return Mismatch(f"no instruction on {kind} has {role.extent_name} = {rows}")
        if extent % rows:
            return Mismatch(f"{role.extent_name} is {extent}, not a multiple of {rows}")
        return (rows,) * (extent // rows)
    if role is Role.A:
        if extent % INSTRUCTION_M:
            return Mismatch(f"M is {extent}, not a multiple of {INSTRUCTION_M}")
        return (INSTRUCTION_M,) * (extent // INSTRUCTION_M)
    cut = n_pieces(kind, extent)
    return cut or Mismatch(f"N is {extent}; expected {n_rule(kind, extent)}")


def blocks_of_tile(
    tile: TileLayout,
    role: Role,
    pieces: tuple[int, ...],
    sparse: bool = False,
    encoding: type[Descriptor] = Descriptor,
) -> OperandBlocks | Mismatch:
    """Cuts a tile, (M, K) for A and (K, N) for B, as `blocks` does an operand.

    Args:
        tile: the tile's layout.
        role: which operand it is.
        pieces: the extents along m/n of successive instructions; their sum is the operand's.
        sparse: whether the instructions are sparse.
        encoding: the descriptors of the instructions.
    """
    found = blocks(role.orient(tile), pieces, sparse and role is Role.B, encoding)
    if isinstance(found, Mismatch) or role is Role.A:
        return found
    # Terms speak of the tile's dimensions, which B's blocks have transposed.
    turned = [tuple(replace(t, dim=1 - t.dim) for t in terms) for terms in found.terms]
    return replace(found, terms=tuple(turned))


def blocks(
    operand: TileLayout,
    pieces: tuple[int, ...],
    sparse_b: bool = False,
    encoding: type[Descriptor] = Descriptor,
) -> OperandBlocks | Mismatch:
    """Cuts an operand of shape (m/n, k) into what each instruction reads.

    Args:
        operand: the operand's layout, (m/n, k).
        pieces: the extents along m/n of successive instructions; their sum is the operand's.
        sparse_b: whether it is B of sparse instructions.
        encoding: the descriptors of the instructions.

    Returns:
        The blocks, or why one of them is not canonical: which block, and what does not fit.
    """
    kind = operand.element
    step = kind.instruction_k * (SPARSITY if sparse_b else 1)
    if operand.shape[1] % step:
        return Mismatch(
            f"k is {operand.shape[1]}, not a multiple of {step} ({kind.bytes(step)} bytes of {kind})"
        )
    found: Canonical | None = None
    starts: list[tuple[int, ...]] = []
    bases: list[tuple[int, ...]] = []
    terms: dict[tuple[Term, ...], int] = {}
    at = 0
    for piece in pieces:
        row: list[int] = []
        base: list[int] = []
        for k in range(0, operand.shape[1], step):
            where = f"the instruction's block of {piece}x{step} at ({at}, {k})"
            try:
                part = operand.slice((at, k), (piece, step))
            except LayoutError as error:
                return Mismatch(f"{where}: {error}")
            canonical = match(part.layout, sparse_b)
            if isinstance(canonical, Mismatch):
                return replace(canonical, reason=f"{where}: {canonical.reason}")
            if part.multiple * kind.bits % (UNIT_BYTES * 8):
                some = " or a multiple of that" if part.terms else ""
                return Mismatch(
                    f"{where} starts {part.multiple} elements{some} into the tile, which is not a "
                    f"multiple of {UNIT_BYTES} bytes"
                )
            # Blocks of one tile have its strides; they differ only in which of them matter.
            found = canonical if found is None else _joined(found, canonical)
            row.append(part.offset * kind.bits // 8)
            own = tuple(replace(term, added=(at, k)[term.dim]) for term in part.terms)
            base.append(terms.setdefault(own, len(terms)))
        starts.append(tuple(row))
        bases.append(tuple(base))
        at += piece
    assert found is not None
    return OperandBlocks(found, pieces, tuple(starts), tuple(terms), tuple(bases), encoding)


def _joined(a: Canonical, b: Canonical) -> Canonical:
    """The canonical layout of two blocks, each of which may lack a stride that it does not need."""
    assert all(x is None or y is None or x == y for x, y in ((a.lbo, b.lbo), (a.sbo, b.sbo)))
    return Canonical(
        a.major,
        a.swizzle,
        b.lbo if a.lbo is None else a.lbo,
        b.sbo if a.sbo is None else a.sbo,
    )
