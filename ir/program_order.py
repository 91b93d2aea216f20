"""Modules whose ops mean what program order says: `smem-insert-sync` has not run yet."""

from ..bindings.irtypes import Module
from ..dialect.ops import TileMma
from ..dialect.types import is_in_flight
from .errors import OpError
from .walk import walk


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
