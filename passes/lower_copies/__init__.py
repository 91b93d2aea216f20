"""`smem-lower-copies`: lower copies and fences to NVVM and LLVM, and erase tiles."""

from dataclasses import dataclass

from ...bindings.diagnostics import Invalid
from ...bindings.irtypes import Module, Op, Type
from ...bindings.mlir import ir
from ...dialect.op import SmemOp, effects_of
from ...dialect.ops import AllocationOp, AnyMma, SubviewOp, ViewOp
from ...dialect.types import PipelineType, TileType
from ...ir.errors import OpError
from ...ir.kernel import functions_of
from ...ir.lowerings import load
from ...ir.shared_memory import assume_alignment
from ...ir.walk import gather
from ...layout import LayoutError
from ..driver.base import Pass
from .lowerings import LOWERINGS, TensorMaps

load(__name__, __path__)


@dataclass(frozen=True)
class LowerCopies(Pass):
    """Copies become 16-byte accesses of all threads at swizzled addresses.

    Data that a copy transposes goes through registers in blocks. Afterwards only fragments are left of
    `smem`: allocs, views, stages and subtiles are erased.
    """

    name = "smem-lower-copies"
    description = "lower copies and fences to NVVM and LLVM, and erase what only named tiles"

    def run(self, module: Module) -> None:
        ops, tiles = gather(module, LOWERINGS.classes, [AllocationOp, SubviewOp])
        maps = TensorMaps(module.operation)
        for op in ops:
            with ir.InsertionPoint(op), op.location:
                try:
                    LOWERINGS[op](op, maps)
                except LayoutError as error:
                    raise OpError(op, str(error)) from None
        maps.prefetch()
        # Ops are erased after all are lowered: the lowering of a pipeline needs its loads, to know which
        # CTAs share them.
        for op in reversed(ops):
            _erase(op)
        for tile in reversed(tiles):
            if isinstance(tile, ViewOp):
                with ir.InsertionPoint(tile.operation), tile.location:
                    try:
                        assume_alignment(tile)
                    except Invalid as error:
                        raise OpError(tile, str(error)) from None
            _erase(tile)
        for function in functions_of(module, declared=True):
            _check_signature(function)


def _check_signature(function: Op) -> None:
    """Check that a function neither takes nor returns a tile or a pipeline.

    Raises:
        OpError: if it does; these types only name bytes of shared memory, and no caller could pass them.
    """
    attribute = function.attributes.get("function_type")
    signature: Type = (
        attribute.value.maybe_downcast() if isinstance(attribute, ir.TypeAttr) else None
    )
    if not isinstance(signature, ir.FunctionType):
        return
    for type_ in (*signature.inputs, *signature.results):
        if isinstance(type_.maybe_downcast(), TileType | PipelineType):
            raise OpError(
                function,
                f"takes or returns {type_}; a kernel makes its tiles and pipelines itself (smem.alloc, "
                "smem.view, smem.create_pipeline)",
            )


def _erase(op: Op) -> None:
    """Erase an op that has been lowered, or that makes a tile or a subtile.

    Raises:
        OpError: if another op still uses it.
    """
    user = next((use.owner for result in op.results for use in result.uses), None)
    if user is None:
        op.operation.erase()
        return
    reason = f"is still used by '{user.operation.name}'"
    if not isinstance(user, SmemOp):
        raise OpError(op, f"{reason}; expected ops of smem")
    accesses_fragments = effects_of(user).accesses and not isinstance(user, AnyMma)
    lowering = "smem-lower-mma" if accesses_fragments else "smem-materialize-descriptors"
    raise OpError(op, f"{reason}; run {lowering} before")
