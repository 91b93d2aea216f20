"""The registry of lowerings, and the lowerings of ops that need no more than one function.

Each file of this folder registers its own.
"""

from ...bindings.irtypes import Attribute, Value
from ...bindings.mlir import ir
from ...dialect.divisibility import constant_of
from ...dialect.ops import CopyCommitOp, CopyWaitOp, FenceOp, OffsetOp, TmaCommitOp, TmaWaitOp
from ...ir import emit
from ...ir.i32 import I32
from ...ir.lowerings import Lowerings
from ...ir.subtiles import subtile_from
from ...ir.tile_address import Number, TileOffset
from ...layout.vector_use import check_vectors
from .tensor_maps import TensorMaps

#: Functions of the op (an op view) and the `TensorMaps` of the module, called with the insertion point at
#: the op. The op is erased later.
LOWERINGS = Lowerings()


@LOWERINGS.of(FenceOp)
def lower_fence(op: FenceOp, _: TensorMaps) -> None:
    """Emit `fence.proxy.async` of shared memory."""
    emit.op(
        "nvvm.fence.proxy",
        kind=ir.Attribute.parse("#nvvm.proxy_kind<async.shared>"),
        space=ir.Attribute.parse("#nvvm.shared_space<cta>"),
    )


@LOWERINGS.of(CopyCommitOp)
def lower_copy_commit(op: CopyCommitOp, _: TensorMaps) -> None:
    """Emit the commit of a group of `cp.async`."""
    emit.op("nvvm.cp.async.commit.group")


@LOWERINGS.of(CopyWaitOp)
def lower_copy_wait(op: CopyWaitOp, _: TensorMaps) -> None:
    """Emit a wait for groups of `cp.async`."""
    emit.op("nvvm.cp.async.wait.group", n=_i32(op.pending))


@LOWERINGS.of(TmaCommitOp)
def lower_tma_commit(op: TmaCommitOp, _: TensorMaps) -> None:
    """Emit the commit of a group of bulk copies."""
    emit.op("nvvm.cp.async.bulk.commit.group")


@LOWERINGS.of(TmaWaitOp)
def lower_tma_wait(op: TmaWaitOp, _: TensorMaps) -> None:
    """Emit a wait for groups of bulk copies; with `read`, only until their sources may be written."""
    attributes = {"group": _i32(op.pending)}
    if op.read:
        attributes["read"] = ir.UnitAttr.get()
    emit.op("nvvm.cp.async.bulk.wait_group", **attributes)


@LOWERINGS.of(OffsetOp)
def lower_offset(op: OffsetOp, _: TensorMaps) -> None:
    """Replace the offset by arithmetic on i32, or by a constant where row, column and start are known."""
    subtile = subtile_from(op.tile, op)
    check_vectors(subtile.slice, op.vector)
    offset = TileOffset(subtile).element_offset(_number(op.row), _number(op.column))
    index = ir.IndexType.get()
    if isinstance(offset, int):
        value = emit.constant(offset, index)
    else:
        value = emit.value("arith.index_castui", (offset.value,), index)
    op.result.replace_all_uses_with(value)


def _number(index: Value) -> Number:
    constant = constant_of(index)
    return I32(emit.cast_index(index, emit.i32())) if constant is None else constant


def _i32(attribute: Attribute) -> Attribute:
    return ir.IntegerAttr.get(emit.i32(), attribute.value)
