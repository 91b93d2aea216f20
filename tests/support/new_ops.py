"""Ops that the package does not define, run through its passes in a separate process.

Each line of standard input is JSON: names of passes, and a module. The line of standard output that
answers it holds the remarks or the error of the passes, and the module after them.
"""

import json
import sys

from mlir_smem.bindings.diagnostics import format_location, remark_handler
from mlir_smem.bindings.mlir import ext, ir
from mlir_smem.dialect import new_context
from mlir_smem.dialect.effects import Completion, Effects, Proxy, Scope, read
from mlir_smem.dialect.op import SmemOp
from mlir_smem.dialect.types import TileType
from mlir_smem.layout.fragment_access import accumulator_access
from mlir_smem.layout.uses import FragmentUse
from mlir_smem.passes import OpError
from mlir_smem.passes.driver.base import pass_named


class PeekOp(SmemOp, name="peek"):
    """Read a tile with ordinary loads of a warpgroup."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.WARPGROUP, (read("tile"),))

    def use_of(self, operand, path, chooser):
        """The layout constraint on the tile."""
        user = f"the peek at {format_location(self.location)}"
        return FragmentUse(user, accumulator_access, path)


class PeekAloneOp(SmemOp, name="peek_alone"):
    """Read a tile with ordinary loads of one thread."""

    tile: ext.Operand[TileType]

    effects = Effects(accesses=(read("tile"),))


class PeekTogetherOp(SmemOp, name="peek_together"):
    """Read a tile with ordinary loads of all threads of the CTA."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.CTA, (read("tile"),))


class FetchOp(SmemOp, name="fetch"):
    """Read a tile as an mma does: through the async proxy, complete after a wgmma wait."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.WARPGROUP, (read("tile", Proxy.ASYNC, Completion.WGMMA_GROUP),))


class StreamOp(SmemOp, name="stream"):
    """Read a tile through the async proxy; complete when its `cp.async` group is."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.WARPGROUP, (read("tile", Proxy.ASYNC, Completion.CP_ASYNC_GROUP),))


class BulkAddOp(SmemOp, name="bulk_add"):
    """Add a tile to memory by a group of bulk copies, as `cp.reduce.async.bulk` does."""

    tile: ext.Operand[TileType]

    effects = Effects(accesses=(read("tile", Proxy.ASYNC, Completion.BULK_GROUP),))


class SettleOp(SmemOp, name="settle"):
    """Wait for all mma of the warpgroup; also a fence and a CTA barrier."""

    effects = Effects(Scope.CTA, awaits=Completion.WGMMA_GROUP, fences=True, barrier=Scope.CTA)


class GuardOp(SmemOp, name="guard", traits=[ir.NoTerminatorTrait]):
    """Read a tile, and execute a region with unknown control flow."""

    tile: ext.Operand[TileType]
    body: ext.Region

    effects = Effects(Scope.WARPGROUP, (read("tile"),))


def run(passes, text):
    """The remarks (or the error) of passes on a module, and the module after them."""
    remarks = []
    with new_context(), remark_handler(lambda _, message: remarks.append(message)):
        try:
            module = ir.Module.parse(text)
            for name in passes:
                options = {"explain": True} if name == "smem-assign-layouts" else {}
                pass_named(name)(**options).run(module)
            return remarks, str(module)
        except OpError as error:
            return [error.message], text
        except ir.MLIRError as error:
            return [str(error)], text


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(run(*json.loads(line))), flush=True)
