"""Checks of a module before passes run: the nesting of its regions, and its accumulators in flight."""

from ..bindings.irtypes import Module
from ..dialect.ops import TileMma
from ..dialect.types import is_in_flight
from .errors import OpError
from .walk import walk

#: Maximum nesting of regions, which passes recurse into: kernels have fewer, and Python's stack suffices.
MAX_REGIONS = 64


def check_nesting(module: Module) -> None:
    """Check that the regions of a module do not nest too deep.

    Raises:
        OpError: at the first op that is too deep.
    """
    level = [module.operation]
    for _ in range(MAX_REGIONS + 1):
        level = [
            inner
            for op in level
            for region in op.regions
            for block in region.blocks
            for inner in block.operations
        ]
        if not level:
            return
    raise OpError(
        level[0], f"is in {MAX_REGIONS + 1} regions, one within the other; expected {MAX_REGIONS}"
    )


def check_in_flight(module: Module) -> None:
    """Check that mma result in accumulators in flight.

    Raises:
        OpError: at the first that results in a readable one.
    """
    for op in walk(module, TileMma):
        if not is_in_flight(op.result.type):
            raise OpError(
                op,
                f"results in {op.result.type}, which is readable; run smem-insert-sync, or give it a "
                "result #smem.in_flight and wait for that",
            )
