"""`smem.offset`: where an element of a tile is in the memory of the host."""

from ...bindings.diagnostics import Invalid, format_location
from ...bindings.irtypes import Value
from ...bindings.mlir import ext, ir
from ...layout.elements import UNIT_BYTES
from ...layout.modes import LayoutError
from ...layout.uses import Use
from ...layout.vector_use import VectorUse, check_contiguous_vectors
from ..arguments import Index, Tile
from ..build import as_index, create
from ..builder import builder
from ..divisibility import constant_of
from ..op import SmemOp
from ..types import TileType, layout_of, shape_of, tensor_of, tile_element
from ..uses import Chooser, Path
from ..verifier import verifier

_NAMES = ("row", "column")


class OffsetOp(SmemOp, name="offset"):
    """Returns the offset of the element of `tile` at (`row`, `column`): elements from the first element
    of the tile's memory, which is that of the `memref` of its `smem.view` (or of its `smem.alloc`). The
    offset of a stage or a subtile is counted from there, too.

    The host stores at that offset in its memref, flattened to one dimension, or reads. The offset is
    that of the layout that `smem-assign-layouts` chooses later. In a memref of bytes, it is multiplied
    by the bytes of an element; of a type of 4 or 1 bits, 2 or 8 elements share a byte, and the first is
    in its low bits. 6-bit types and `!smem.padded` have no offset of one element.

    Every swizzle moves units of 16 bytes whole. The optional attribute `vector`, (rows, columns), states
    that the host moves a vector at once: one row of up to 16 bytes, or one column. Then a layout is
    chosen in which such a vector is contiguous at each multiple of its length, and a given layout is
    checked. A vector is contiguous only in elements of whole bytes. A row or column that is out of the
    tile, or no multiple of the vector's length, is undefined behaviour.

    A store by another op is seen by `smem-check-async` as a store to unknown bytes of the memref.
    """

    tile: ext.Operand[TileType]
    row: ext.Operand[ir.IndexType]
    column: ext.Operand[ir.IndexType]
    result: ext.Result[ir.IndexType]

    @property
    def vector(self) -> tuple[int, int]:
        """(Rows, columns) that are contiguous; (1, 1) without the attribute.

        Raises:
            Invalid: if it is no row or column of up to 16 bytes.
        """
        if "vector" not in self.attributes:
            return 1, 1
        attribute, element = self.attributes["vector"], tile_element(self.tile.type)
        numbers = list(attribute) if isinstance(attribute, ir.DenseI64ArrayAttr) else []
        is_line = len(numbers) == 2 and min(numbers) == 1
        if not is_line or element.unit % max(numbers) or max(numbers) * element.bits % 8:
            raise Invalid(
                f"has vector = {attribute}; expected array<i64: 1, n> or array<i64: n, 1>, where n "
                f"divides {element.unit}, the elements of {UNIT_BYTES} bytes, and fills bytes"
            )
        return numbers[0], numbers[1]

    def use_of(self, operand: str, path: Path, chooser: Chooser) -> Use | None:
        """The constraint on the layout of the tile; None for a single element."""
        if self.vector == (1, 1):
            return None
        return VectorUse(f"the offset at {format_location(self.location)}", self.vector, path)

    @verifier
    def verify_region_invariants(self) -> None:
        tile = self.tile.type
        shape, vector = shape_of(tile), self.vector
        if len(shape) != 2:
            raise Invalid(
                f"takes an element of a tile (rows, columns), not {list(shape)}; take a stage"
            )
        if tile_element(tile).padding:
            raise Invalid(
                f"takes an element of {tensor_of(tile).element_type}, of which {UNIT_BYTES} share "
                f"{UNIT_BYTES} bytes with padding; expected a type without padding"
            )
        starts = (constant_of(self.row), constant_of(self.column))
        for name, start, count, extent in zip(_NAMES, starts, vector, shape, strict=True):
            if start is None:
                continue
            if not 0 <= start <= extent - count:
                raise Invalid(f"takes {name} {_span(start, count)} of a tile of {extent} {name}s")
            if start % count:
                raise Invalid(f"takes a vector at {name} {start}; expected a multiple of {count}")
        layout = layout_of(tile)
        if layout is not None:
            try:
                check_contiguous_vectors(layout, vector)
            except LayoutError as error:
                raise Invalid(str(error)) from None


def _span(start: int, count: int) -> str:
    return str(start) if count == 1 else f"{start} to {start + count - 1}"


@builder
def offset(tile: Tile, row: Index, column: Index, vector: tuple[int, int] | None = None) -> Value:
    """Build an `smem.offset`, and return the offset in elements (index).

    Args:
        tile: a tile (rows, columns), a stage or a subtile.
        row, column: integers or index values.
        vector: (rows, columns) that are contiguous there; one of them is 1.

    Returns:
        The offset in elements, an index.

    Example:
        >>> print(smem.offset(a, 3, 8, vector=(1, 8)).type)  # 8 elements of row 3
        index
    """
    numbers = None if vector is None else list(vector)
    operands = [tile, as_index(row), as_index(column)]
    return create(OffsetOp, operands, [ir.IndexType.get()], vector=numbers).result
