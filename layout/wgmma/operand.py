"""An operand of `wgmma` in shared memory: what one instruction reads, and its descriptors."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from ..arch import Arch
from ..canonical import FORMS, Canonical, Form, Forms, Major, Mismatch
from ..elements import Element
from ..elements import element as element_named
from ..instruction import INSTRUCTION_K_BYTES, instruction_k
from ..operand import MmaTiles, Role, addresses, mma_tiles_of, shape_problem
from ..swizzle import Swizzle
from ..tile import TileLayout
from .descriptor import WgmmaDescriptor
from .shapes import INSTRUCTION_M, legal_n, n_pieces, n_rule
from .sparsity import SPARSITY
from .types import MN_MAJOR, SPARSE

#: Bytes along K that a sparse instruction reads of each column of B.
SPARSE_B_K_BYTES = INSTRUCTION_K_BYTES * SPARSITY

#: The forms of a sparse instruction's B, whose columns have 64 bytes of k: one of them needs more than
#: the ISA's table says. Where a line of a swizzled atom holds 32 bytes, the others lie LBO further
#: (measured on an H200). A dense operand has no such bytes, and its LBO no effect.
SPARSE_B_FORMS: Forms = {
    **FORMS,
    (Major.K, Swizzle.B32): Form(Major.K, Swizzle.B32, "((8,m),(T,2,k)):((2T,SBO),(1,T,LBO))"),
}


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
    if order is Major.MN and kind not in MN_MAJOR:
        raise ValueError(f"wgmma reads {kind} K-major only; MN-major is for 16-bit types")
    if sparse and kind not in SPARSE:
        raise ValueError(f"wgmma does not multiply {kind} sparse")
    k = instruction_k(kind, SPARSE_B_K_BYTES if sparse else INSTRUCTION_K_BYTES)
    return addresses(WgmmaDescriptor.decode(descriptor), kind, order, rows, k)


def descriptor_of(canonical: Canonical, start: int, base_offset: int = 0) -> WgmmaDescriptor:
    """The descriptor of an operand with that canonical layout at byte address `start`."""
    return WgmmaDescriptor.of(canonical, start, base_offset)


@lru_cache(maxsize=4096)
def mma_tiles(
    tile: TileLayout, role: Role, sparse: bool = False, rows: int | None = None
) -> MmaTiles | Mismatch:
    """Cuts a tile, (M, K) for A and (K, N) for B, into what each instruction of an mma reads.

    Args:
        tile: the tile's layout; of a sparse A the compressed one, (M, K / 2).
        role: which operand it is.
        sparse: whether the instructions are sparse: each reads twice as much of B along K.
        rows: the extent along m/n of each instruction; None cuts the tile as an mma does.

    Returns:
        The blocks, or why the instructions cannot read them.
    """
    if problem := shape_problem(tile):
        return problem
    operand = role.orient(tile)
    kind, extent = tile.element, operand.shape[0]
    if sparse and kind not in SPARSE:
        return Mismatch(f"wgmma does not multiply {kind} sparse")
    pieces = _pieces(kind, role, extent, rows)
    if isinstance(pieces, Mismatch):
        return pieces
    if operand.contiguous_dim == 0 and kind not in MN_MAJOR:
        return Mismatch(
            f"the tile is {role.extent_name}-major, but wgmma reads {kind} K-major only (MN-major "
            "is for 16-bit types); a copy can make it K-major (smem.copy with the unit attribute "
            "relayout)" + ("" if sparse else _others_that_read_mn_major(kind))
        )
    if operand.swizzle not in WgmmaDescriptor.modes:
        others = dict.fromkeys(a.isa.name for a in Arch if operand.swizzle in a.swizzles)
        have = "have" if len(others) > 1 else "has"
        return Mismatch(f"wgmma has no swizzle {operand.swizzle}; {' and '.join(others)} {have}")
    if sparse and role is Role.B:
        read = SPARSE_B_K_BYTES, SPARSE_B_FORMS
    else:
        read = INSTRUCTION_K_BYTES, FORMS
    return mma_tiles_of(tile, role, pieces, WgmmaDescriptor, *read)


def _others_that_read_mn_major(kind: Element) -> str:
    """What is said of the first other instructions that read MN-major what `wgmma` does not."""
    others = (f"{arch.isa.name} ({arch})" for arch in Arch if Major.MN in arch.majors_of(kind))
    return next((f", and {other} can read it so" for other in others), "")


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
    return cut or Mismatch(f"N is {extent}; expected {n_rule(extent)}")
