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
from .cells import Cells


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
class Touched:
    """The elements of an access.

    Attributes:
        what: a sentence about the access and its bank conflicts.
        lane: int64[rows, columns], the lane that accesses each element; -1 for none.
        access: the wavefronts, where they are known.
        word: the unit of `lane`: "lane" of a warp, "line" of a core matrix, or "".
    """

    what: str
    lane: np.ndarray
    access: Access | None = None
    word: str = ""


def touched(
    cells: Cells,
    kind: AccessKind,
    at: tuple[int, int] = (0, 0),
    role: Role = Role.A,
    arch: Arch = Arch.SM_90,
) -> Touched:
    """Return the elements of an access.

    Args:
        cells: the tile.
        kind: the kind of access.
        at: (row, column) of its first element.
        role: the operand: A as (M, K) or B as (K, N).
        arch: the architecture, for `MMA`.

    Raises:
        LayoutError: if the tile does not allow the access, or the access leaves it.
    """
    layout = cells.layout
    if not all(0 <= a < extent for a, extent in zip(at, layout.shape, strict=True)):
        raise LayoutError(
            f"an access at ({at[0]}, {at[1]}) begins outside of a tile of "
            f"{layout.shape[0]}x{layout.shape[1]}"
        )
    if kind is AccessKind.MMA:
        return _mma(cells, at, role, arch)
    unit, contiguous = layout.element.unit, layout.contiguous_dim
    if contiguous is None or not has_contiguous_runs(layout, contiguous, unit):
        raise LayoutError(
            f"{_NAMES[kind]} accesses 16 bytes at a time, but the tile has no {unit} contiguous elements"
        )
    if at[contiguous] % unit:
        raise LayoutError(
            f"{_NAMES[kind]} begins at {('row', 'column')[contiguous]} {at[contiguous]}; expected a "
            f"multiple of {unit}, which is 16 bytes"
        )
    row, column = _lanes(cells, kind, at, contiguous)
    lane = np.full(layout.shape, -1, np.int64)
    along = np.arange(unit)[:, None]
    rows, columns = (row + along, column) if contiguous == 0 else (row, column + along)
    if np.any(rows >= layout.shape[0]) or np.any(columns >= layout.shape[1]):
        raise LayoutError(
            f"{_NAMES[kind]} at ({at[0]}, {at[1]}) reaches ({rows.max()}, {columns.max()}), outside "
            f"of a tile of {layout.shape[0]}x{layout.shape[1]}"
        )
    lane[rows, columns] = np.arange(len(row))
    addresses = cells.address_at(row, column)
    if np.any(addresses % UNIT_BYTES):
        bad = int(addresses[addresses % UNIT_BYTES != 0][0])
        raise LayoutError(
            f"{_NAMES[kind]} reaches the address {bad:#x}; expected multiples of {UNIT_BYTES}"
        )
    access = warp_access(addresses, UNIT_BYTES)
    what = f"{_NAMES[kind]} at ({at[0]}, {at[1]}): {_wavefronts(access)}"
    return Touched(what, lane, access, "line" if kind is AccessKind.CORE else "lane")


_NAMES = {
    AccessKind.STORE: "a warp's 16-byte store",
    AccessKind.LDMATRIX: "ldmatrix.x4",
    AccessKind.CORE: "a core matrix",
}


def _lanes(
    cells: Cells, kind: AccessKind, at: tuple[int, int], contiguous: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return (row, column) of the first element of each lane."""
    layout = cells.layout
    if kind is AccessKind.STORE:
        rest = (layout.shape[0] - at[0], layout.shape[1] - at[1])
        row, column = Transfer(layout.element, rest, contiguous, WARP).coordinates(0)
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
    return np.asarray(row) + at[0], np.asarray(column) + at[1]


def _wavefronts(access: Access) -> str:
    if not access.conflicts:
        return f"{access.ideal} wavefront{'s' * (access.ideal > 1)}, no bank conflicts"
    return f"{access.wavefronts} wavefronts, {access.ideal} without conflicts: " + (
        f"{access.conflicts} bank conflict{'s' * (access.conflicts > 1)}"
    )


def _mma(cells: Cells, at: tuple[int, int], role: Role, arch: Arch) -> Touched:
    layout, k_extent = cells.layout, cells.k_extent
    name = arch.descriptor.reader
    mn, k = (0, 1) if role is Role.A else (1, 0)
    if at[k] % k_extent or layout.shape[k] < at[k] + k_extent:
        raise LayoutError(
            f"a {name} reads {k_extent} elements of k from a multiple of {k_extent}, not from {at[k]} of "
            f"{layout.shape[k]}"
        )
    size = [0, 0]
    most = arch.instruction_m[0] if role is Role.A else MAX_N
    size[mn], size[k] = min(most, layout.shape[mn] - at[mn]), k_extent
    lane = np.full(layout.shape, -1, np.int64)
    lane[at[0] : at[0] + size[0], at[1] : at[1] + size[1]] = 0
    added = _offset(layout, at)
    what = (
        f"one {name} reads {role.extent_name.lower()} {at[mn]} to {at[mn] + size[mn] - 1}, k {at[k]} to "
        f"{at[k] + k_extent - 1}: descriptor + {added // UNIT_BYTES} ({added} bytes)"
    )
    line = layout.swizzle.atom_elements(layout.element)
    if k_extent > instruction_k(layout.element) and at[k] % line + k_extent > line:
        rest = list(at)
        rest[k] = at[k] // line * line + line
        what += f", LBO = address {_offset(layout, rest)} bytes into the tile"
    return Touched(what, lane)


def _offset(layout: TileLayout, at: Sequence[int]) -> int:
    """Return the bytes from a tile's start to an element, before the swizzle."""
    return int(layout.linear_at(*map(np.asarray, at))) * layout.element.bits // 8


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
