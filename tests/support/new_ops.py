"""Ops that the package does not know, run through its passes in a process of their own.

Each line of the standard input is the names of passes and a module, as JSON; the line of the standard
output that answers it is what the passes say, and the module after them.
"""

import json
import sys

from mlir_smem.dialect import new_context
from mlir_smem.dialect.bindings import ext, ir
from mlir_smem.dialect.diagnostics import format_location, remark_handler
from mlir_smem.dialect.effects import Completion, Effects, Proxy, Scope, read
from mlir_smem.dialect.op import SmemOp
from mlir_smem.dialect.types import TileType
from mlir_smem.layout.fragment_access import accumulator_access
from mlir_smem.layout.uses import FragmentUse
from mlir_smem.passes import OpError
from mlir_smem.passes.driver.registry import pass_named


class PeekOp(SmemOp, name="peek"):
    """Reads a tile by the loads of a warpgroup's threads."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.WARPGROUP, (read("tile"),))

    def use_of(self, operand, path, chooser):
        """What it asks of its tile's layout."""
        what = f"the peek at {format_location(self.location)}"
        return FragmentUse(what, accumulator_access, path)


class PeekAloneOp(SmemOp, name="peek_alone"):
    """Reads a tile by the loads of the thread that executes it."""

    tile: ext.Operand[TileType]

    effects = Effects(accesses=(read("tile"),))


class PeekTogetherOp(SmemOp, name="peek_together"):
    """Reads a tile by the loads of all threads of the block."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.BLOCK, (read("tile"),))


class FetchOp(SmemOp, name="fetch"):
    """Reads a tile as an mma does."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.WARPGROUP, (read("tile", Proxy.ASYNC, Completion.WGMMA_GROUP),))


class StreamOp(SmemOp, name="stream"):
    """Reads a tile by the async proxy, and is over when a group of `cp.async` is."""

    tile: ext.Operand[TileType]

    effects = Effects(Scope.WARPGROUP, (read("tile", Proxy.ASYNC, Completion.CP_ASYNC_GROUP),))


class SettleOp(SmemOp, name="settle"):
    """Waits for all mma of the warpgroup, and is a fence and a barrier of the block."""

    effects = Effects(Scope.BLOCK, awaits=Completion.WGMMA_GROUP, fences=True, barrier=Scope.BLOCK)


class GuardOp(SmemOp, name="guard", traits=[ir.NoTerminatorTrait]):
    """Reads a tile, and runs a region of which nothing is known."""

    tile: ext.Operand[TileType]
    body: ext.Region

    effects = Effects(Scope.WARPGROUP, (read("tile"),))


def ran(passes, text):
    """What passes say of a module, and the module after them."""
    said = []
    with new_context(), remark_handler(lambda _, message: said.append(message)):
        try:
            module = ir.Module.parse(text)
            for name in passes:
                options = {"explain": True} if name == "smem-assign-layouts" else {}
                pass_named(name)(**options).run(module)
            return said, str(module)
        except OpError as error:
            return [error.message], text
        except ir.MLIRError as error:
            return [str(error)], text


if __name__ == "__main__":
    for line in sys.stdin:
        print(json.dumps(ran(*json.loads(line))), flush=True)
