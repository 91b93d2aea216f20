"""`smem-check-async`: accesses of tiles are proven to be in order."""

from dataclasses import dataclass
from typing import Any

from ..base import Pass
from ..kernel import functions_of
from .check import check

__all__ = ["CheckAsync"]


@dataclass(frozen=True)
class CheckAsync(Pass):
    """Changes nothing. An error is a rule that some run breaks, a remark one that is not decided:

    - what `smem.mma` reads has been written, and `smem.copy_wait`, `smem.fence` and a barrier of the
      block lie between; for `smem.load`, or `smem.copy` of a tile, no fence,
    - nothing is copied or stored to a tile until a barrier has come after what reads it, and an
      `smem.wait` before that for an `smem.mma`.
    """

    name = "smem-check-async"
    description = "prove that copies, fences, barriers and mma are in order"

    def run(self, module: Any) -> None:
        for function in functions_of(module):
            check(function)
