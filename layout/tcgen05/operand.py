"""An operand of `tcgen05.mma` in shared memory: its MMA tiles and descriptors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..canonical import Major, Mismatch
from ..elements import Element
from ..elements import element as element_named
from ..instruction import INSTRUCTION_K_BYTES, MAX_N, cut_columns, instruction_k, rows_problem
from ..operand import MmaTiles, Role, addresses, mma_tiles_of, shape_problem
from ..swizzle import WIDEST_FIRST, Swizzle
from ..tile import TileLayout
from .descriptor import Tcgen05Descriptor
from .kinds import MN_MAJOR, Kind
from .shapes import LONG_K_BYTES, legal_m, legal_n


def swizzles_of(element: Element, major: Major) -> tuple[Swizzle, ...]:
    """Return the swizzling modes in which a type is read with that majorness; empty if it is not.

    The mode with atoms of 32 bytes is that of 32-bit types MN-major, and their only one (PTX ISA
    9.7.16.3, table of majornesses by type). The table also lists it for K-major; CuTe does not accept
    that, nor does this function.
    """
    if major is Major.K:
        return WIDEST_FIRST
    if element not in MN_MAJOR:
        return ()
    return (Swizzle.B128_ATOM_32B,) if element.bits == 32 else WIDEST_FIRST


def tcgen05_addresses(
    descriptor: int, element: str, major: str, rows: int, k_bytes: int = INSTRUCTION_K_BYTES
) -> np.ndarray:
    """Return the byte address that one `tcgen05.mma` reads for each element, according to the ISA.

    Args:
        descriptor: the 64-bit shared memory descriptor.
        element: the element type's name, for example "bf16".
        major: "k" or "mn".
        rows: the operand's extent along m or n, of one CTA.
        k_bytes: bytes along K: 32, or 48 on sm_103a.

    Returns:
        int64[rows, k], addresses in the shared window. Two elements of "e2m1" share a byte. For padded
        types, the address of element `i` of a 16-byte unit is that of its byte `i`.

    Raises:
        ValueError: for an unknown element type or majorness, a malformed descriptor, or an operand that
            the instruction does not read: for example rows that do not fit their lines.
    """
    type_, majorness = element_named(element), Major(major)
    d = Tcgen05Descriptor.decode(descriptor)
    if d.swizzle not in swizzles_of(type_, majorness):
        raise ValueError(f"tcgen05 does not read {type_} {majorness} with swizzle {d.swizzle}")
    if d.absolute and majorness is Major.MN:
        raise ValueError(f"the leading dimension of {type_} is absolute, but it is read MN-major")
    if k_bytes not in (INSTRUCTION_K_BYTES, LONG_K_BYTES):
        raise ValueError(f"K is {k_bytes} bytes; expected {INSTRUCTION_K_BYTES} or {LONG_K_BYTES}")
    if k_bytes == LONG_K_BYTES and type_.bits != 4:
        raise ValueError(f"K is {LONG_K_BYTES} bytes, which is for e2m1, not {type_}")
    if problem := d.row_problem(k_bytes):
        raise ValueError(problem)
    columns = instruction_k(type_, k_bytes)
    if not d.absolute:
        return addresses(d, type_, majorness, rows, columns)
    row = np.arange(rows, dtype=np.int64)[:, None]
    kb = np.arange(columns, dtype=np.int64)[None, :] * type_.bits // 8
    width = d.swizzle.width
    room = d.chunks(k_bytes)[0]
    a = np.where(kb < room, d.start + kb, d.lbo + kb - room)
    return d.swizzle.apply(a + row // 8 * d.sbo + row % 8 * width)


@lru_cache(maxsize=4096)
def tcgen05_mma_tiles(
    tile: TileLayout, role: Role, kind: Kind, ctas: int = 1, rows: int | None = None
) -> MmaTiles | Mismatch:
    """Cut a tile of one CTA, (M, K) for A and (K, N) for B, into MMA tiles.

    Args:
        tile: the tile's layout.
        role: A or B.
        kind: the instructions' kind.
        ctas: CTAs that execute each instruction, each with its share of the rows of A and columns of B.
        rows: the extent along m/n, of one CTA, of each instruction; None takes the widest.

    Returns:
        The MMA tiles, or why the instructions cannot read them.
    """
    if mismatch := shape_problem(tile):
        return mismatch
    operand = role.orient(tile)
    if tile.element not in kind.codes:
        return Mismatch(
            f"kind::{kind} does not multiply {tile.element}; it takes {', '.join(map(str, kind.codes))}"
        )
    problem = reading_problem(operand, role)
    if problem:
        return Mismatch(problem)
    pieces = operand_pieces(operand, role, kind, ctas, rows=rows)
    if isinstance(pieces, Mismatch):
        return pieces
    return mma_tiles_of(tile, role, pieces, Tcgen05Descriptor)


def reading_problem(operand: TileLayout, role: Role) -> str | None:
    """Return why tcgen05 does not read an operand, (m/n, k), of that type, majorness and swizzle, or
    None."""
    if operand.contiguous_dim is None:
        return None  # `match` gives a more precise reason
    major = Major.MN if operand.contiguous_dim == 0 else Major.K
    modes = swizzles_of(operand.element, major)
    if operand.swizzle in modes:
        return None
    letter = role.extent_name if major is Major.MN else "K"
    if not modes:
        return f"the tile is {letter}-major, but tcgen05 reads {operand.element} K-major only"
    return (
        f"the tile is {letter}-major with swizzle {operand.swizzle}, but tcgen05 reads {operand.element} "
        f"so with {' or '.join(map(str, modes))}"
    )


def operand_pieces(
    operand: TileLayout,
    role: Role,
    kind: Kind,
    ctas: int,
    k_bytes: int = INSTRUCTION_K_BYTES,
    rows: int | None = None,
) -> tuple[int, ...] | Mismatch:
    """Return the extents along m/n, of one CTA, of successive instructions, or why there are none.

    Args:
        operand: the operand's layout, (m/n, k).
        role, kind, ctas: as for `tcgen05_mma_tiles`.
        k_bytes: bytes along K that the instructions read.
        rows: the extent of each instruction; None takes the widest.
    """
    extent, letter = operand.shape[0], role.extent_name
    n_major = operand.contiguous_dim == 0
    if role is Role.A:
        legal = legal_m(kind, ctas)
    else:
        legal = legal_n(kind, operand.element, ctas, n_major, k_bytes)
    if rows is not None:
        if rows * ctas not in legal:
            return Mismatch(
                f"no instruction of kind::{kind} with cta_group::{ctas} on {operand.element} has "
                f"{letter} = {rows * ctas}"
            )
        if extent % rows:
            return Mismatch(rows_problem(letter, extent, rows, [n // ctas for n in legal]))
        return (rows,) * (extent // rows)
    if role is Role.A:
        m = next((m // ctas for m in reversed(legal) if extent * ctas % m == 0), None)
        if m is None:
            return Mismatch(
                f"M is {extent * ctas}; expected a multiple of {legal[0]} for kind::{kind} with "
                f"cta_group::{ctas}"
            )
        return (m,) * (extent // m)
    cut = cut_columns(legal, extent * ctas, 64 * ctas)
    if cut is None:
        b_text = f", of {operand.element} that is N-major" if n_major else ""
        return Mismatch(
            f"N is {extent * ctas}; kind::{kind} with cta_group::{ctas} takes N of {legal[0]} to {MAX_N} "
            f"by {legal[-1] - legal[-2]}, or several of them{b_text}"
        )
    return tuple(n // ctas for n in cut)
