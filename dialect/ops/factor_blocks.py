"""Scale factors in global memory: blocks of 512 bytes that reach tiles as they are."""

from collections.abc import Sequence
from typing import Any

from ...layout import LayoutError, Mismatch
from ...layout.tcgen05 import scale_blocks, scale_layout
from ...layout.tcgen05.scales import BLOCK_COLUMNS, BLOCK_FACTORS, BLOCK_ROWS, LANES
from ..bindings import ir
from ..caching import cached_in_context
from ..diagnostics import Invalid
from ..divisibility import constant_of
from ..memrefs import is_dynamic, strides_of
from ..types import layout_of, shape_of, tensor_of, tile_element

#: What a memref of blocks has behind the numbers of blocks along rows and along K, and its strides there.
_BLOCK_SHAPE = (LANES, BLOCK_COLUMNS, BLOCK_FACTORS)
_BLOCK_STRIDES = (BLOCK_COLUMNS * BLOCK_FACTORS, BLOCK_FACTORS, 1)

#: The scale factors that an 8-bit integer may hold, and those that nothing else can be.
_BYTES, _FACTORS = ("i8", "si8", "ui8"), "ue8m0"


def holds_blocks(memref: Any) -> bool:
    """Whether a memref is one of blocks of scale factors: its last dimensions are those of a block. The
    lines of such a matrix would have 4 bytes, which no copy moves."""
    if not isinstance(memref, ir.MemRefType) or memref.rank != 5:
        return False
    element = memref.element_type
    of_bytes = isinstance(element, ir.IntegerType | ir.FloatType) and element.width == 8
    return of_bytes and tuple(memref.shape[2:]) == _BLOCK_SHAPE


def refuse_rows(memref: Any, tile: Any) -> None:
    """Refuses to fill a tile of scale factors from a matrix of them.

    Raises:
        Invalid: if the tile holds scale factors by its type or its layout.
    """
    layout = layout_of(tile)
    blocks = layout is not None and not isinstance(scale_blocks(layout), Mismatch)
    if tile_element(tile).name == _FACTORS or blocks:
        element = tensor_of(tile).element_type
        raise Invalid(
            f"takes {memref} for a tile of scale factors, which lie in blocks; order them on the host by "
            f"layout.tcgen05.blocked and take memref<{_blocks_text(shape_of(tile))}x{element}>"
        )


@cached_in_context
def check_blocks(memref: Any, tile: Any, does: str) -> None:
    """Checks that the bytes of a memref of blocks are those of a tile.

    Raises:
        Invalid: if they are not; `does` says what is done with the memref, for example "copies".
    """
    check_block_type(memref, tile, does)
    shape = shape_of(tile)
    expected = (shape[0] // BLOCK_ROWS, shape[1] // BLOCK_FACTORS, *_BLOCK_SHAPE)
    if tuple(memref.shape) != expected:
        raise Invalid(
            f"{does} {memref} to a tile of {shape[0]}x{shape[1]} scale factors; take a memref.subview of "
            f"static shape {_blocks_text(shape)}"
        )


@cached_in_context
def check_block_type(memref: Any, tile: Any, does: str) -> None:
    """Checks all of `check_blocks` but how many blocks there are."""
    rows, factors = shape_of(tile)
    held, kept = str(memref.element_type), str(tensor_of(tile).element_type)
    try:
        scale_layout(tile_element(tile), rows, factors)
    except LayoutError as error:
        raise Invalid(f"{does} {memref}, which holds blocks of scale factors: {error}") from None
    if held != kept and held not in _BYTES:
        raise Invalid(f"{does} {held} to a tile of {kept}; expected {kept} or i8")
    layout = layout_of(tile)
    found = scale_blocks(layout) if layout else None
    if isinstance(found, Mismatch):
        raise Invalid(f"{does} blocks of scale factors, but {found.reason}")
    strides, offset = strides_of(memref)
    if strides[2:] != _BLOCK_STRIDES:
        raise Invalid(
            f"{does} {memref}; the last dimensions of blocks of scale factors are "
            f"{'x'.join(map(str, _BLOCK_SHAPE))} with strides {list(_BLOCK_STRIDES)}"
        )
    for name, number in (("offset", offset), *(("stride", stride) for stride in strides[:2])):
        if not is_dynamic(number) and number % _BLOCK_STRIDES[0]:
            raise Invalid(
                f"{does} {memref}: the {name} of {number} is no multiple of {_BLOCK_STRIDES[0]}, the "
                "bytes of an access"
            )


def check_block_load(
    memref: Any, tile: Any, multicast: str | None, coordinates: Sequence[Any]
) -> None:
    """Checks an `smem.tma_load` of blocks from a memref to a tile of those types.

    Raises:
        Invalid: if blocks cannot be loaded so, or constant coordinates are not where one begins.
    """
    if len(shape_of(tile)) != 2:
        raise Invalid(f"loads a tile (rows, factors), not {list(shape_of(tile))}; take a stage")
    check_block_type(memref, tile, "loads")
    if multicast is not None:
        raise Invalid(
            "loads blocks of scale factors, which are not multicast; each block loads them"
        )
    if len(coordinates) != 2:
        raise Invalid(
            f"loads blocks of scale factors at {len(coordinates)} coordinates; expected 2, the row and "
            "the factor"
        )
    for name, value, of in zip(
        ("row", "factor"), coordinates, (BLOCK_ROWS, BLOCK_FACTORS), strict=True
    ):
        number = constant_of(value)
        if number is not None and (number < 0 or number % of):
            raise Invalid(
                f"loads blocks of scale factors from {name} {number}; expected a multiple of {of} from 0"
            )


def _blocks_text(shape: tuple[int, ...]) -> str:
    blocks = (-(-shape[0] // BLOCK_ROWS), -(-shape[1] // BLOCK_FACTORS), *_BLOCK_SHAPE)
    return "x".join(map(str, blocks))
