"""Offsets of elements, which the host asks for."""

from ...bindings.irtypes import Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.ops import OffsetOp
from ...ir import emit
from ...ir.i32 import I32
from ...ir.subtiles import subtile_from
from ...ir.tile_address import Number, TileOffset
from ...layout.vector_use import check_vectors
from .lowerings import LOWERINGS
from .tensor_maps import TensorMaps


@LOWERINGS.of(OffsetOp)
def lower_offset(op: OffsetOp, _: TensorMaps) -> None:
    """Replace the offset by arithmetic on i32, or by a constant where row, column and start are known."""
    subtile = subtile_from(op.tile, op)
    check_vectors(subtile.slice, op.vector)
    found = TileOffset(subtile).element_offset(_number(op.row), _number(op.column))
    index = ir.IndexType.get()
    if isinstance(found, int):
        value = emit.constant(found, index)
    else:
        value = emit.value("arith.index_castui", (found.value,), index)
    op.result.replace_all_uses_with(value)


def _number(index: Value) -> Number:
    constant = constant_of(index)
    return I32(emit.cast_index(index, emit.i32())) if constant is None else constant
