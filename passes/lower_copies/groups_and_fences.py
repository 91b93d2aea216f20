"""Commit groups of copies, waits for them, and fences."""

from ...bindings.irtypes import Attribute
from ...bindings.mlir import ir
from ...dialect.ops import CopyCommitOp, CopyWaitOp, FenceOp, TmaCommitOp, TmaWaitOp
from ...ir import emit
from .lowerings import LOWERINGS
from .tensor_maps import TensorMaps


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


def _i32(attribute: Attribute) -> Attribute:
    return ir.IntegerAttr.get(emit.i32(), attribute.value)
