"""The `wgmma` target of `smem-lower-mma`."""

from ....ir.lowerings import Lowerings
from ..target import MmaTarget

#: The ops that have their own lowering for `wgmma`; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class WgmmaTarget(MmaTarget):
    """`wgmma` keeps accumulators in registers."""

    isa = "wgmma"
    lowerings = LOWERINGS
