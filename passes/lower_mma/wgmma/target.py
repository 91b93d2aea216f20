"""`wgmma` as `smem-lower-mma` lowers to it."""

from ....ir.lowerings import Lowerings
from ..target import MmaTarget

#: The ops that `wgmma` lowers in its own way; see `MmaTarget.lowerings`.
LOWERINGS = Lowerings()


class WgmmaTarget(MmaTarget):
    """`wgmma` needs nothing beside registers."""

    isa = "wgmma"
    lowerings = LOWERINGS
