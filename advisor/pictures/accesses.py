"""One access to a tile, shown on its picture: the elements of each lane, and the wavefronts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from ...layout.arch import Arch
from ...layout.banks import Access, warp_access
from ...layout.elements import E2M1, UNIT_BYTES
from ...layout.fragment_access import a_fragment_access, has_contiguous_runs
from ...layout.instruction import MAX_N, instruction_k
from ...layout.modes import LayoutError
from ...layout.operand import Role
from ...layout.swizzle import Swizzle
from ...layout.tcgen05 import LONG_K_BYTES
from ...layout.tile import TileLayout
from ...layout.transfer import WARP, Transfer
from .cells import TileCells


class AccessKind(Enum):
    """An access that a picture can show."""

    STORE = "store"
    """A warp's 16-byte store, consecutive lanes along lines."""
    LDMATRIX = "ldmatrix"
    """A warp's `ldmatrix.x4`: four matrices of 8 rows of 16 bytes, each a phase of 8 lanes."""
    CORE = "core"
    """A core matrix: 8 lines of 16 bytes."""
    MMA = "mma"
    """The MMA tile of one `wgmma` or `tcgen05.mma`: up to 64 or 128 of m, or 256 of n; 32 or 48 bytes
    of k."""


@dataclass(frozen=True)
class AccessedElements:
    """The elements of an access.

    Attributes:
        sentence: the access and its bank conflicts in words.
        lane: int64[rows, columns], the lane that accesses each element; -1 for none.
        access: the wavefronts, where they are known.
        lane_name: what `lane` counts: the "lane" of a warp, the "line" of a core matrix, or "".
    """

    sentence: str
    lane: np.ndarray
    access: Access | None = None
    lane_name: str = ""


def find_accessed_elements(
    cells: TileCells,
    kind: AccessKind,
    begin: tuple[int, int] = (0, 0),
    role: Role = Role.A,
    arch: Arch = Arch.SM_90,
) -> AccessedElements:
    """Return the elements of an access.

    Args:
        cells: the tile.
        kind: the kind of access.
        begin: (row, column) of its first element.
        role: the operand: A as (M, K) or B as (K, N).
        arch: the architecture, for `MMA`.

    Raises:
        LayoutError: if the tile does not allow the access, or the access leaves it.
    """
    layout = cells.layout
    if not all(0 <= a < extent for a, extent in zip(begin, layout.shape, strict=True)):
        raise LayoutError(
            f"an access at ({begin[0]}, {begin[1]}) begins outside of a tile of "
            f"{layout.shape[0]}x{layout.shape[1]}"
        )
    if kind is AccessKind.MMA:
        return _mma_elements(cells, begin, role, arch)
    unit, contiguous = layout.element.unit, layout.contiguous_dim
    if contiguous is None or not has_contiguous_runs(layout, contiguous, unit):
        raise LayoutError(
            f"{_NAMES[kind]} accesses 16 bytes at a time, but the tile has no {unit} contiguous elements"
        )
    if begin[contiguous] % unit:
        raise LayoutError(
            f"{_NAMES[kind]} begins at {('row', 'column')[contiguous]} {begin[contiguous]}; expected a "
            f"multiple of {unit}, which is 16 bytes"
        )
    row, column = _lanes(cells, kind, begin, contiguous)
    lane = np.full(layout.shape, -1, np.int64)
    along = np.arange(unit)[:, None]
    rows, columns = (row + along, column) if contiguous == 0 else (row, column + along)
    if np.any(rows >= layout.shape[0]) or np.any(columns >= layout.shape[1]):
        raise LayoutError(
            f"{_NAMES[kind]} at ({begin[0]}, {begin[1]}) reaches ({rows.max()}, {columns.max()}), "
            f"outside of a tile of {layout.shape[0]}x{layout.shape[1]}"
        )
    lane[rows, columns] = np.arange(len(row))
    addresses = cells.address_at(row, column)
    if np.any(addresses % UNIT_BYTES):
        misaligned = int(addresses[addresses % UNIT_BYTES != 0][0])
        raise LayoutError(
            f"{_NAMES[kind]} reaches the address {misaligned:#x}; expected multiples of {UNIT_BYTES}"
        )
    access = warp_access(addresses, UNIT_BYTES)
    sentence = f"{_NAMES[kind]} at ({begin[0]}, {begin[1]}): {_wavefronts(access)}"
    return AccessedElements(sentence, lane, access, "line" if kind is AccessKind.CORE else "lane")


_NAMES = {
    AccessKind.STORE: "a warp's 16-byte store",
    AccessKind.LDMATRIX: "ldmatrix.x4",
    AccessKind.CORE: "a core matrix",
}


def _lanes(
    cells: TileCells, kind: AccessKind, begin: tuple[int, int], contiguous: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, column) of the first element of each lane."""
    layout = cells.layout
    if kind is AccessKind.STORE:
        remaining = (layout.shape[0] - begin[0], layout.shape[1] - begin[1])
        row, column = Transfer(layout.element, remaining, contiguous, WARP).coordinates(0)
    elif kind is AccessKind.LDMATRIX:
        plan = a_fragment_access(layout)
        if not plan.matrices:
            raise LayoutError(
                f"ldmatrix does not transpose {layout.element}: it reads rows of 16 bytes along k"
            )
        row, column = plan.start(np.arange(WARP))
    else:
        line = np.arange(Swizzle.NONE.lines)  # of a core matrix
        zero = np.zeros_like(line)
        row, column = (zero, line) if contiguous == 0 else (line, zero)
    return np.asarray(row) + begin[0], np.asarray(column) + begin[1]


def _wavefronts(access: Access) -> str:
    if not access.conflicts:
        return f"{access.ideal} wavefront{'s' * (access.ideal > 1)}, no bank conflicts"
    return f"{access.wavefronts} wavefronts, {access.ideal} without conflicts: " + (
        f"{access.conflicts} bank conflict{'s' * (access.conflicts > 1)}"
    )


def _mma_elements(
    cells: TileCells, begin: tuple[int, int], role: Role, arch: Arch
) -> AccessedElements:
    layout, k_extent = cells.layout, cells.k_extent
    name = arch.descriptor.reader
    mn, k = (0, 1) if role is Role.A else (1, 0)
    if begin[k] % k_extent or layout.shape[k] < begin[k] + k_extent:
        raise LayoutError(
            f"a {name} reads {k_extent} elements of k from a multiple of {k_extent}, not from "
            f"{begin[k]} of {layout.shape[k]}"
        )
    size = [0, 0]
    most = arch.instruction_m[0] if role is Role.A else MAX_N
    size[mn], size[k] = min(most, layout.shape[mn] - begin[mn]), k_extent
    lane = np.full(layout.shape, -1, np.int64)
    lane[begin[0] : begin[0] + size[0], begin[1] : begin[1] + size[1]] = 0
    offset = _offset(layout, begin)
    sentence = (
        f"one {name} reads {role.extent_name.lower()} {begin[mn]} to {begin[mn] + size[mn] - 1}, "
        f"k {begin[k]} to {begin[k] + k_extent - 1}: descriptor + {offset // UNIT_BYTES} "
        f"({offset} bytes)"
    )
    line = layout.swizzle.atom_elements(layout.element)
    if k_extent > instruction_k(layout.element) and begin[k] % line + k_extent > line:
        second_chunk = list(begin)
        second_chunk[k] = begin[k] // line * line + line
        sentence += f", LBO = address {_offset(layout, second_chunk)} bytes into the tile"
    return AccessedElements(sentence, lane)


def _offset(layout: TileLayout, index: Sequence[int]) -> int:
    """Return the bytes from a tile's start to an element, before the swizzle."""
    return int(layout.linear_at(*map(np.asarray, index))) * layout.element.bits // 8


def k_extent_of(layout: TileLayout, arch: Arch, k_bytes: int) -> int:
    """Return the elements along K that an instruction reads.

    Raises:
        LayoutError: if the architecture does not read that number of bytes, or not from such a tile.
    """
    if k_bytes not in arch.k_bytes:
        has = " or ".join(map(str, arch.k_bytes))
        raise LayoutError(f"K is {k_bytes} bytes, but {arch} reads {has} of each row")
    if k_bytes == LONG_K_BYTES and (layout.element, layout.swizzle) != (E2M1, Swizzle.B128):
        raise LayoutError(
            f"K is {k_bytes} bytes, which needs {E2M1} with swizzle 128B, not {layout.element} with "
            f"{layout.swizzle}"
        )
    return k_bytes * 8 // layout.element.bits
