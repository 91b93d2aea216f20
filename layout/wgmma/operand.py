"""An operand of `wgmma` in shared memory: its MMA tiles and descriptors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..arch import Arch
from ..canonical import FORMS, Canonical, Form, Forms, Major, Mismatch
from ..elements import Element
from ..elements import element as element_named
from ..instruction import INSTRUCTION_K_BYTES, instruction_k, rows_problem
from ..operand import MmaTiles, Role, addresses, mma_tiles_of, shape_problem
from ..swizzle import Swizzle
from ..tile import TileLayout
from .descriptor import WgmmaDescriptor
from .shapes import INSTRUCTION_M, legal_n, n_pieces, n_rule
from .sparsity import SPARSITY
from .types import MN_MAJOR, SPARSE

#: Bytes along K that a sparse instruction reads of each column of B.
SPARSE_B_K_BYTES = INSTRUCTION_K_BYTES * SPARSITY

#: The canonical layouts of a sparse instruction's B, whose columns have 64 bytes along k. One of them
#: differs from the ISA's table: with the 32-byte swizzle, the second 32 bytes of a column are LBO bytes
#: after the first (measured on an H200). A dense operand does not have them, and its LBO has no effect.
SPARSE_B_FORMS: Forms = {
    **FORMS,
    (Major.K, Swizzle.B32): Form(Major.K, Swizzle.B32, "((8,m),(T,2,k)):((2T,SBO),(1,T,LBO))"),
}


def operand_addresses(
    descriptor: int, element: str, major: str, rows: int, sparse: bool = False
) -> np.ndarray:
    """Return the byte address that one `wgmma` reads for each element (measured on an H200).

    Args:
        descriptor: the 64-bit matrix descriptor.
        element: the element type's name, for example "bf16".
        major: "k" or "mn".
        rows: the operand's extent along m or n.
        sparse: whether it is B of a sparse `wgmma`, which reads twice the K. A compressed A is read like
            the A of a dense `wgmma`.

    Returns:
        int64[rows, k], absolute addresses in the shared window; k is the instruction's K (32 or 64
        bytes). Elements of b1 share a byte: element `i` along k is bit `i % 8`.

    Raises:
        ValueError: for an unknown element type or majorness, a malformed descriptor, MN-major data of a
            type that `wgmma` reads K-major only, or a type without a sparse `wgmma`.

    Example:
        >>> addresses = operand_addresses(0x4000004000010000, "bf16", "k", rows=64)
        >>> addresses.shape, addresses[1, :8].tolist()
        ((64, 16), [144, 146, 148, 150, 152, 154, 156, 158])
    """
    type_, majorness = element_named(element), Major(major)
    if majorness is Major.MN and type_ not in MN_MAJOR:
        raise ValueError(f"wgmma reads {type_} K-major only; MN-major is for 16-bit types")
    if sparse and type_ not in SPARSE:
        raise ValueError(f"wgmma does not multiply {type_} sparse")
    k = instruction_k(type_, SPARSE_B_K_BYTES if sparse else INSTRUCTION_K_BYTES)
    return addresses(WgmmaDescriptor.decode(descriptor), type_, majorness, rows, k)


def descriptor_of(canonical: Canonical, start: int, base_offset: int = 0) -> WgmmaDescriptor:
    """Return the descriptor of an operand with that canonical layout at byte address `start`.

    Args:
        canonical: the canonical layout, with LBO and SBO.
        start: the byte address of the operand's first element.
        base_offset: the base offset of its swizzle pattern.

    Example:
        >>> tile = tile_of_atoms(element("bf16"), (64, 16), 1, Swizzle.B32)
        >>> hex(descriptor_of(match(tile), start=1024).encode())
        '0xc000001000010040'
    """
    return WgmmaDescriptor.of(canonical, start, base_offset)


@lru_cache(maxsize=4096)
def mma_tiles(
    tile: TileLayout, role: Role, sparse: bool = False, rows: int | None = None
) -> MmaTiles | Mismatch:
    """Cut a tile, (M, K) for A and (K, N) for B, into MMA tiles.

    Args:
        tile: the tile's layout; for a sparse A that of the compressed A, (M, K / 2).
        role: A or B.
        sparse: whether the instructions are sparse; each then reads twice the K of B.
        rows: the extent along m/n of each instruction; None cuts the tile as an mma does.

    Returns:
        The MMA tiles, or why the instructions cannot read them.

    Example:
        >>> tile = tile_of_atoms(element("bf16"), (128, 64), 1, Swizzle.B128)
        >>> mma_tiles(tile, Role.A).starts  # bytes, for each M piece and K block
        ((0, 32, 64, 96), (8192, 8224, 8256, 8288))
    """
    if problem := shape_problem(tile):
        return problem
    operand = role.orient(tile)
    element, extent = tile.element, operand.shape[0]
    if sparse and element not in SPARSE:
        return Mismatch(f"wgmma does not multiply {element} sparse")
    pieces = _pieces(element, role, extent, rows)
    if isinstance(pieces, Mismatch):
        return pieces
    if operand.contiguous_dim == 0 and element not in MN_MAJOR:
        return Mismatch(
            f"the tile is {role.extent_name}-major, but wgmma reads {element} K-major only (MN-major "
            "is for 16-bit types); a copy can make it K-major (smem.copy with the unit attribute "
            "relayout)" + ("" if sparse else _mn_major_reader_text(element))
        )
    if operand.swizzle not in WgmmaDescriptor.modes:
        capable_sets = dict.fromkeys(a.isa.name for a in Arch if operand.swizzle in a.swizzles)
        verb = "have" if len(capable_sets) > 1 else "has"
        return Mismatch(
            f"wgmma has no swizzle {operand.swizzle}; {' and '.join(capable_sets)} {verb}"
        )
    if sparse and role is Role.B:
        read = SPARSE_B_K_BYTES, SPARSE_B_FORMS
    else:
        read = INSTRUCTION_K_BYTES, FORMS
    return mma_tiles_of(tile, role, pieces, WgmmaDescriptor, *read)


def _mn_major_reader_text(element: Element) -> str:
    """Return, for a message, the first other instruction set that reads the type MN-major."""
    readers = (f"{arch.isa.name} ({arch})" for arch in Arch if Major.MN in arch.majors_of(element))
    return next((f", and {reader} can read it so" for reader in readers), "")


def _pieces(
    element: Element, role: Role, extent: int, rows: int | None
) -> tuple[int, ...] | Mismatch:
    """Return the extents along m/n of successive instructions, or why there are none."""
    if rows is not None:
        legal = (INSTRUCTION_M,) if role is Role.A else legal_n(element)
        if rows not in legal:
            return Mismatch(f"no instruction on {element} has {role.extent_name} = {rows}")
        if extent % rows:
            return Mismatch(rows_problem(role.extent_name, extent, rows, legal))
        return (rows,) * (extent // rows)
    if role is Role.A:
        if extent % INSTRUCTION_M:
            return Mismatch(f"M is {extent}, not a multiple of {INSTRUCTION_M}")
        return (INSTRUCTION_M,) * (extent // INSTRUCTION_M)
    cut = n_pieces(element, extent)
    return cut or Mismatch(f"N is {extent}; expected {n_rule(extent)}")
