"""Scale factors in global memory: blocks of 512 bytes, which are copied to tiles unchanged."""

from collections.abc import Sequence

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Type, Value
from ...bindings.mlir import ir
from ...layout import LayoutError, Mismatch
from ...layout.tcgen05 import scale_blocks, scale_layout
from ...layout.tcgen05.scales import BLOCK_COLUMNS, BLOCK_FACTORS, BLOCK_ROWS, LANES
from ..caching import cached_in_context
from ..divisibility import constant_of
from ..memrefs import is_dynamic, strides_of
from ..types import layout_of, shape_of, tensor_of, tile_element

#: The last dimensions of a memref of blocks, after the numbers of blocks along rows and along K, and
#: their strides, in elements.
_BLOCK_SHAPE = (LANES, BLOCK_COLUMNS, BLOCK_FACTORS)
_BLOCK_STRIDES = (BLOCK_COLUMNS * BLOCK_FACTORS, BLOCK_FACTORS, 1)

#: Integer types that can hold scale factors, and the element type that only scale factors have.
_BYTES, _FACTORS = ("i8", "si8", "ui8"), "ue8m0"


def holds_scale_blocks(memref: Type) -> bool:
    """Whether a memref holds blocks of scale factors: its last dimensions are those of a block.

    No copy of a matrix has that type, as its lines would have 4 bytes.
    """
    if not isinstance(memref, ir.MemRefType) or memref.rank != 5:
        return False
    element = memref.element_type
    of_bytes = isinstance(element, ir.IntegerType | ir.FloatType) and element.width == 8
    return of_bytes and tuple(memref.shape[2:]) == _BLOCK_SHAPE


def reject_rows(memref: Type, tile: Type) -> None:
    """Reject a copy of a row-major matrix to a tile of scale factors.

    Raises:
        Invalid: if the element type or the layout of the tile is that of scale factors.
    """
    layout = layout_of(tile)
    blocks = layout is not None and not isinstance(scale_blocks(layout), Mismatch)
    if tile_element(tile).name == _FACTORS or blocks:
        expected = f"{_blocks_text(shape_of(tile))}x{tensor_of(tile).element_type}"
        raise Invalid(
            f"takes {memref} for a tile of scale factors, which are stored in blocks; reorder them on "
            f"the host by layout.tcgen05.blocked and take memref<{expected}>"
        )


@cached_in_context
def check_blocks(memref: Type, tile: Type, verb: str) -> None:
    """Check that a memref of blocks has the bytes of a tile.

    Args:
        memref, tile: their types.
        verb: the verb of the message, for example "copies".

    Raises:
        Invalid: if it has not.
    """
    check_block_type(memref, tile, verb)
    shape = shape_of(tile)
    expected = (shape[0] // BLOCK_ROWS, shape[1] // BLOCK_FACTORS, *_BLOCK_SHAPE)
    if tuple(memref.shape) != expected:
        raise Invalid(
            f"{verb} {memref} to a tile of {shape[0]}x{shape[1]} scale factors; take a memref.subview of "
            f"static shape {_blocks_text(shape)}"
        )


@cached_in_context
def check_block_type(memref: Type, tile: Type, verb: str) -> None:
    """Check the rules of `check_blocks`, except for the number of blocks."""
    rows, factors = shape_of(tile)
    source_element, element = str(memref.element_type), str(tensor_of(tile).element_type)
    try:
        scale_layout(tile_element(tile), rows, factors)
    except LayoutError as error:
        raise Invalid(f"{verb} {memref}, which holds blocks of scale factors: {error}") from None
    if source_element != element and source_element not in _BYTES:
        raise Invalid(f"{verb} {source_element} to a tile of {element}; expected {element} or i8")
    layout = layout_of(tile)
    blocks = scale_blocks(layout) if layout else None
    if isinstance(blocks, Mismatch):
        raise Invalid(f"{verb} blocks of scale factors, but {blocks.reason}")
    strides, offset = strides_of(memref)
    if strides[2:] != _BLOCK_STRIDES:
        raise Invalid(
            f"{verb} {memref}; the last dimensions of blocks of scale factors are "
            f"{'x'.join(map(str, _BLOCK_SHAPE))} with strides {list(_BLOCK_STRIDES)}"
        )
    for name, number in (("offset", offset), *(("stride", stride) for stride in strides[:2])):
        if not is_dynamic(number) and number % _BLOCK_STRIDES[0]:
            raise Invalid(
                f"{verb} {memref}: the {name} of {number} is not a multiple of {_BLOCK_STRIDES[0]}, the "
                "bytes of an access"
            )


def check_block_load(
    memref: Type, tile: Type, multicast: str | None, coordinates: Sequence[Value]
) -> None:
    """Check an `smem.tma_load` of blocks of scale factors.

    Args:
        memref, tile: their types.
        multicast: the op's attribute.
        coordinates: values, the row and the factor.

    Raises:
        Invalid: if blocks cannot be loaded so, or constant coordinates are not the start of a block.
    """
    if len(shape_of(tile)) != 2:
        raise Invalid(f"loads a tile (rows, factors), not {list(shape_of(tile))}; take a stage")
    check_block_type(memref, tile, "loads")
    if multicast is not None:
        raise Invalid("loads blocks of scale factors, which are not multicast; each CTA loads them")
    if len(coordinates) != 2:
        raise Invalid(
            f"loads blocks of scale factors at {len(coordinates)} coordinates; expected 2, the row and "
            "the factor"
        )
    for name, value, multiple in zip(
        ("row", "factor"), coordinates, (BLOCK_ROWS, BLOCK_FACTORS), strict=True
    ):
        number = constant_of(value)
        if number is not None and (number < 0 or number % multiple):
            raise Invalid(
                f"loads blocks of scale factors from {name} {number}; expected a multiple of "
                f"{multiple} from 0"
            )


def _blocks_text(shape: tuple[int, ...]) -> str:
    blocks = (-(-shape[0] // BLOCK_ROWS), -(-shape[1] // BLOCK_FACTORS), *_BLOCK_SHAPE)
    return "x".join(map(str, blocks))
